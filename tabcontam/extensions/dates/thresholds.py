"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

DATE_LEVEL = 0.01  # level of all significance tests on dated pairs; Li and Flanigan 2024, section 4
LEAST_GROUP_LLMS = 5  # models of a group that allow a conclusion; by hand
MOST_CROSS_VALIDATED_ROWS = 2000  # rows of a table that are cross-validated, at most; by hand
DATE_EXCHANGES = 20_000  # ways to exchange dates: all up to this number, else so many draws; benchmarks.chronology
DRAWN_P_CONFIDENCE = 0.999  # one-sided confidence of the limit of a p-value from drawn ways; benchmarks.chronology
LEAST_TREND_DATASETS = 4  # datasets that a trend over years needs at least; by hand
