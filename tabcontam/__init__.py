"""How much of a table has an LLM already seen?"""

__version__ = "0.1.0"
