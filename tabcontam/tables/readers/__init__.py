"""Readers from the bytes of a file to columns and rows: one module for each kind of file, chosen by `file_kinds.py`."""
