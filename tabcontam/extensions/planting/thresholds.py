"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

LEAST_DISTINCT_NUMBERS = 30  # distinct numbers of a column that can be planted; by hand
MOST_DEFAULT_STEPS = 5  # steps by which a planted cell may change; by hand
MOST_STEPS_OF_AMOUNT = 50  # steps by which a cell may change where the user names an amount; by hand
# digits of a number that programs read without rounding; double precision: 15 decimal digits are exact
MOST_EXACT_DIGITS = 15
LEAST_SHARE_OF_DECIMALS = 0.2  # share of numbers with at least the decimals of the last place; by hand
LEAST_SHARE_ON_STEPS = 0.97  # share of numbers that are multiples of the step; by hand
LEAST_SHARE_OF_IDENTIFIERS = 0.98  # share of numbers that differ, in a column that numbers the rows; by hand
MOST_SHARE_OF_REPEATS = 0.5  # share of rows that repeat a number, above which neighbours must occur; by hand
PLANTED_CELLS = 200  # cells that are planted by default; by hand
MOST_CHANGE_OF_CELL = 0.1  # standard deviations of a column by which a cell may change; by hand
MOST_P_VALUE_OF_PLANTING = 1e-3  # p-value of a model that has every planted cell right; by hand
MOST_ROWS_FOR_LAWS = 300  # rows in which a law that ties a column to others is searched for; by hand
# rows of one number, and its rows for each row of the numbers around it, that make it a code; by hand
SPIKE_ROWS = (10, 5)
