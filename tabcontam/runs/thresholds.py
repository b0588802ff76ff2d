"""Numbers that decide verdicts, for all modules of this room, each with its source."""

MOST_SAMPLES = 200  # times that one query may be asked; each time is a request; by hand
