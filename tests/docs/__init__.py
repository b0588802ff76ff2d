"""The checks of README and docs, and what writes those of their pages that are made: `python -m tests.docs`."""
