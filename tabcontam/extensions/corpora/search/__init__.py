"""Corpora: the reader of their files, and the index of their text."""
