"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

TYPICAL_SHARE = 0.1  # share of remembered rows that a conclusion reports first; by hand
SURE_DETECTION_RATE = 0.95  # share of runs from which on detection is called sure; by hand
SEED_STEP = 1_000_000  # distance between the seeds of the first runs for seeds n and n + 1; by hand
LEAST_ARMS = 4  # numbers of copies that a rank correlation by dose needs; by hand
