"""The reference run: what a paper would publish, made by one command; `python -m reference --help`."""
