"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

AUC_RESAMPLES = 2_000  # bootstrap resamples for the interval of a difference of AUCs; by hand
LEAST_CORRELATED_PAIRS = 4  # pairs that a correlation needs: orders of three show nothing; by hand
CORRELATION_ORDERS = 50_000  # random orders of a correlation's permutation test; by hand
SMALLEST_GAP_TO_ONE = 1e-9  # gap between a correlation and 1 below which there is no interval; by hand
SAME_SUM = 1e-12  # largest difference of equal sums that were added in another order; by hand
WHOLE_QUERY_STAKE = 0.7  # part of a stake that is bet on all cells of a query being right; benchmarks.decided
LEAST_EVIDENT_RETURN = 2.0  # return of a query's stake that makes its row evidence for memory; benchmarks.decided
LEAST_EVIDENT_ROWS = 3  # rows that must be evidence for memory before E exceeds 1; benchmarks.decided
LARGEST_WEALTH = 1e300  # largest E, since readers of JSON may reject larger numbers; by hand
BIT_UNITS = 8  # parts of a bit, the units in which evidence is counted; by hand
TARGET_POWER = 0.95  # power (share of runs) at which a share of remembered rows is detectable; by hand
AUC_INTERVAL_RATES = 101  # hit rates that are tried for the AUC's exact interval; by hand
MOST_PAIRS_NEEDED = 1_000_000  # largest number of pairs in the search for the number that is needed; by hand
# pairs added for the interval, a quarter to each of four cells; Agresti and Min 2005, section 3, halved by hand
ADDED_PAIRS = 1.0
PERMUTATION_DRAWS = 9_999  # random permutations of a permutation test; by hand
MOST_LISTED_PAIRS = 20  # pairs up to which all 2^pairs sign flips are counted; by hand
POWER_RUNS = 200  # simulated runs that estimate a power; by hand
SMALLEST_DIVISOR = 1e-12  # smallest divisor of the saddlepoint approximation; by hand
SHARE_STEPS = 100  # steps from 0 to 1 in which the remembered share is searched; by hand
LEAST_TRANSFORM_TAIL = 1e-6  # tail below which a sum of positive terms replaces the transform; by hand
PREDICTOR_DRAWS = 1_999  # random permutations of each predictor's test; by hand
PREDICTOR_NEIGHBOURS = 5  # nearest rows from which a predictor copies labels; by hand
PREDICTOR_PENALTY = 1.0  # ridge penalty of the weighted sum, times the root of the rows; by hand
SAME_STATISTIC = 1e-9  # largest difference of equal statistics, and least spread; by hand
BET_SHARES = (0.03, 0.07, 0.16, 0.38, 0.9)  # shares of remembered rows, each with a bet of its own; benchmarks.decided
REFERENCE_DRAWS = 2_000  # redrawn pairs and references for a p-value; by hand
ADDED_SPREAD = 0.5  # distance from the mean of the two values added to each sample; Agresti and Caffo 2000, section 3
