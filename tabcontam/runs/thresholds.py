"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

MOST_SAMPLES = 200  # largest number of times that one query is asked; each time is a request; by hand
