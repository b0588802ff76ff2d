"""From the bytes of a file to columns and rows: one module a kind of file, `kinds.py` chooses which."""
