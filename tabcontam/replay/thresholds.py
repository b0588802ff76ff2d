"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

# characters of a long value in a print of pandas, by which rows are found; pandas' display.max_colwidth of 50, less
# the cut mark
PRINTED_CHARACTERS = 46
# rows of the file that a query about the next row shows; Ronval et al. 2024, the authors' queries: rows 1 to 4 before
# the fifth
FIRST_ROWS_SHOWN = 4
NEAREST_ROWS = 20  # neighbouring rows whose cells are candidates for the hidden cell; by hand
LARGEST_NUMBER_DISTANCE = 2.0  # standard deviations; a larger distance of two numbers counts as this; by hand
