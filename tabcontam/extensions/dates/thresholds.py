"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

LEAST_GROUP_LLMS = 5  # models of a group that allow a conclusion; by hand
MOST_CROSS_VALIDATED_ROWS = 2000  # rows of a table that are cross-validated, at most; by hand
