"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

ROWS_A_LEAF = 8  # rows for each row that a leaf of a boosted tree needs; by hand
MOST_COPIED_SHARE = 0.1  # share of another table's rows that the tested one may hold; by hand
MOST_SEARCHED_ROWS = 2_000  # rows of the tested table that are searched for copies; by hand
TABLLM_SHOTS = (0, 1, 4, 16, 64)  # rows that are shown, in turn; Hegselmann et al. 2023, section 4
