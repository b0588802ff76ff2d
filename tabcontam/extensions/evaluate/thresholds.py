"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

ROWS_A_LEAF = 8  # rows for each row that a leaf of a boosted tree needs; by hand
TABLLM_SHOTS = (0, 1, 4, 16, 64)  # rows that are shown, in turn; Hegselmann et al. 2023, section 4
