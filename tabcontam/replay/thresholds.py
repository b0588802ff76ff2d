"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

MOST_CELLS_OF_RECORDED_ROW = 200  # cells; a longer answer counts as no row of the file; by hand
# characters of a long value in a print of pandas, by which rows are found; pandas' display.max_colwidth of 50, less
# the cut mark
PRINTED_CHARACTERS = 46
# rows of the file that a query about the next row shows; Ronval et al. 2024, the authors' queries: rows 1 to 4 before
# the fifth
FIRST_ROWS_SHOWN = 4
NEAREST_ROWS = 20  # neighbouring rows whose cells are candidates for the hidden cell; by hand
LARGEST_NUMBER_DISTANCE = 2.0  # standard deviations; a larger distance of two numbers counts as this; by hand
# largest difference of a score and its rounding to two decimals; by definition: half a unit of the second decimal
ROUNDING_TOLERANCE = 5e-3 + 1e-9
