"""The version of tabcontam, which results and reports state."""

__version__ = "0.1.0"
