"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

from tabcontam.config import RunConfig

LEAST_COMMON_QUERIES = 0.5  # share of queries in common below which the test is unpaired; by hand
SCORE_PRECISION = 1e-4  # largest difference of a recorded score from hits per query; by hand
LEAST_READ_SHARE = 0.5  # share of queries, or of tests, with a readable answer for "not detected"; by hand
LEAST_EXPLAINED_P = 0.05  # p-value above which a reason states that the baseline explains the rest; by hand
LEAST_REFERENCE_SHARE = 0.5  # share of queries answered by the reference below which it is reported; by hand
# false discovery rate over a model's results of a family; by hand; errors measured by benchmarks.verdicts
ALPHA = RunConfig.alpha.default
# share of remembered rows that must be detectable for "not detected"; by hand; measured by benchmarks.decided
MIN_POWER = RunConfig.min_power.default
MOST_UNREAD_ANSWERS = 20  # answers after which asking stops if none can be read; by hand
LARGEST_E = 1e299  # E above which only the limit is shown; by hand
LEAST_FIGURE_LLMS = 3  # models with both measures that a table's figure needs; by hand
