"""Corpora: the reader that streams their files, and the index in which their text is found."""
