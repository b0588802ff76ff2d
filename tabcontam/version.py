"""The version of tabcontam. Results and reports contain it."""

__version__ = "0.1.0"
