"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

BLIND_HALVES = 2  # parts of the rows: a classifier learns from one and scores the other; by hand
BLIND_PASSES = 3  # rounds of choosing draws, each with a newly trained classifier; benchmarks.memory_share
MOST_LOG_ODDS_OF_A_PASS = 4.0  # log-odds that a draw is a twin, at most, that one pass adds; by hand
LAST_DIGITS_NOISE = 0.01  # of a feature's standard deviation: the farthest move of a number; benchmarks.versions
LAST_DIGITS_VALUES = 10  # distinct numbers of a feature, above which they are moved; benchmarks.versions
ADDED_DIGIT_DEVIATION = 0.2  # of the last digit: the standard deviation of the digit that is added; benchmarks.versions
LEAST_CLASS_CHANCE = 1e-4  # least chance of a class by the baseline of the label; by hand
VALUE_INFORMATION_LEVEL = 0.05  # one-sided level of the tests and limits of what values add; benchmarks.memory_share
# variance of a class's chance by values from which they add something; benchmarks.memory_share
LEAST_VALUE_INFORMATION = 0.1**2
# upper limit of that variance up to which repeated values are moved; benchmarks.memory_share
MOST_VALUE_INFORMATION = 0.15**2
ORDER_LEVEL = 0.01  # level of Kruskal-Wallis at which whole numbers are ordered by label; benchmarks.memory_share
RANK_BINS = 10  # groups by rank of numbers that hardly repeat; by hand
LEAST_ROWS_PER_VALUE = 2.0  # rows for each value on average, from which values repeat; by hand
ROWS_PER_PAIRED_GROUP = 4  # rows, about, in each group that two features form together; by hand
LEAST_PARTNER_GROUPS = 3  # groups of the second of two features, at least; by hand
NEAREST_ROWS = 10  # nearest rows whose cells a row may take; benchmarks.memory_share
RANK_REACH = 0.05  # of a column's cells: the farthest move of a number in rank; benchmarks.memory_share
TIED_CORRELATION = 0.8  # rank correlation from which two features are moved together; benchmarks.memory_share
CONSTANT_SHARE = 0.95  # share of rows with one value, from which a feature is as good as constant; by hand
FOLLOWING_SHARE = 0.995  # share of rows in which a feature follows from another: moved together; by hand
LEAST_CATEGORY_ROWS = 30  # rows of a category, below which it is not moved; benchmarks.memory_share
TEXT_WORDS = 10  # words of a cell on average, above which a feature has texts to read; by hand
NAME_DRAWS = 5  # draws of a new name until no row has it, at most; by hand
PERTURBING_ROUNDS = 24  # rounds of moving cells, each less far than the one before; by hand
DRAWS_OF_A_ROW = 8  # accepted draws of a row, among which one is chosen; by hand
LEAST_MOVED_GROUPS = 0.5  # least share of the groups of features that a round moves; by hand
LEAST_MOVED_FEATURES = 1 / 6  # least share of a row's features that have another value; benchmarks.memory_share
MOST_CHANCE_CHANGE = 0.1  # largest change of the chance of any class by a move; benchmarks.memory_share
LEAST_TWINNED_SHARE = 0.5  # least share of the rows that must get a twin; by hand
CODED_VALUES = 20  # most frequent values of a feature that get their own code; by hand
MOST_MULTIPLIED_FEATURES = 20  # features of numbers up to which products of two are learned; by hand
RESAMPLING_ROUNDS = 8  # draws around each row, among which one is chosen; by hand
MOST_TWIN_AUC = 0.55  # AUC of a blind classifier that the 95 % interval must reach down to; benchmarks.memory_share
LEARNED_ROWS = 2000  # rows of a table that the learners see, at most; by hand
TWINNED_ROWS = 1000  # rows of a table that get a twin, at most; by hand
LEAST_TWIN_ROWS = 40  # rows that a table needs for a twin; by hand
MOST_TWIN_FEATURES = 300  # features of a table that gets a twin, at most; by hand
TWIN_FOLDS = 5  # folds of the rows: learners of the others predict for each; by hand
BORDT_FACTOR = -3.33  # factor of a standardised number; Bordt et al. 2024, version 2
BORDT_BLUR = 0.05  # standard deviation of the noise on a standardised number; Bordt et al. 2024, version 2
BORDT_DIGITS = 2  # decimals of a standardised number; Bordt et al. 2024, version 2
PULL_SHARES = (0.2, 0.6)  # shares of the distance to a near row, by which related numbers move; by hand
# factors between units in use; by definition: international units
UNIT_FACTORS = (0.3048, 0.4536, 1.609, 2.205, 2.54, 3.281, 4.546)
