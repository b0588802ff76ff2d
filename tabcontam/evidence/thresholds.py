"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

LEAST_SHARE_OF_BEST_GAIN = 0.5  # share of the best gain that a query needs to be bet on next; benchmarks.decided
MOST_DRAWS_OF_A_QUERY = 200  # draws of a query before its result is skipped; by hand
LONGEST_HARMLESS_PREFIX = 3  # letters of a word up to which only a whole word gives it away; by hand
LEAST_DRAWABLE_ROWS = 20  # rows with a drawable cell that a table needs; by hand
MOST_RANKED_ROWS = 900  # rows of a table that are asked about or searched for, at most; by hand
MOST_HIDDEN_FEATURES = 4  # features of a table, one of which is hidden in each row; by hand; benchmarks.overlap
LEAST_CHANCE = 1e-12  # least chance of any value; by hand (numerical floor)
# chance of a word that a reader may infer from the topic; by hand; benchmarks.verdicts (knowledge table)
CHANCE_OF_INFERRED_WORD = 0.5
LEAST_HIDDEN_NAMES = 2  # names of features that a query must leave to name; by hand
PAPERS_FEATURES = 2  # features that the paper's own queries ask about; Ronval et al. 2024, code of tests 5 and 6
MOST_ASKED_FEATURES = 20  # features of a table that are asked about, at most; by hand
SHOWN_EXAMPLES = 4  # rows that a prompt shows; Ronval et al. 2024, section 3.1
LEAST_FEATURE_VALUES = 3  # values of a feature of which some are shown; by hand
VALUE_DECOYS = 4  # decoys of a query about a feature's values; by hand; benchmarks.verdicts (knowledge table)
# queries about the table itself; one is the paper's; by hand; benchmarks.verdicts (knowledge table)
RECOGNITION_QUERIES = 8
RECOGNITION_DECOYS = 10  # decoys of each kind; by hand; benchmarks.verdicts (knowledge table)
LISTED_SHARE = 2 / 3  # share of the features that a list shows; by hand
KEPT_SHARE = 1 / 3  # share of a mixed list, or of mixed rows' features, that is the table's own; by hand
MIXED_DECOYS = 3  # decoys with rows of other tables that get features of this one; by hand
LONGEST_ITEM_WORDS = 6  # words of the median item of an answer that counts as a list; by hand; tests of reading
MOST_ROWS_A_SIDE = 300  # published rows, and withheld rows, at most; by hand
LEAST_ROWS_A_SIDE = 10  # published rows, and withheld rows, at least; by hand
MEMORYLESS_LEVEL = 0.05  # p-value at which a predictor without memory stops the test; by hand
LEAST_NUMBER_DIGITS = 3  # digits of a number without leading zeros, at least; by hand
MOST_GROUP_ROWS = 12  # rows of a group whose numbers differ in the last digits; by hand
ADJACENT_GROUP_ROWS = 6  # rows of a group whose numbers are adjacent in size; by hand
LEAST_EXCHANGED_ROWS = 12  # rows of a column that is asked about, at least; by hand
MOST_SEPARATE_VALUES = 10  # values of a column up to which each has a feature or count of its own; by hand
PRIOR_COUNT = 0.5  # added to each count before its logarithm is taken; by hand
UNREAD_SHOTS = 7  # unread rows before a row, at most; Xie et al. 2024 (ReCaLL), section 3: their fewest
MOST_SHOT_CHARACTERS = 1500  # characters of all rows before a row, at most; by hand
MOST_DIGIT_ROWS = 100  # rows that are asked about for a column, at most; by hand
MOST_DIGIT_COLUMNS = 4  # columns that are asked about, at most; by hand
MOST_TRIED_COLUMNS = 6  # columns that are tried by predictors without memory, at most; by hand
ASSIGNMENT_SEED = 0  # seed of the drawn assignments of numbers to rows; by hand
SCORED_ROWS = 100  # rows that are scored, each with its twin's; by hand; benchmarks.likelihood
LEAST_LIKELY_SHARE = 0.2  # share of the tokens of values that Min-K% averages; Shi et al. 2024, section 3
LEAST_TOKEN_DEVIATION = 0.01  # nats; a smaller deviation of a token counts as this one in Min-K%++; by hand
RANKED_SURROGATES = 99  # values drawn for each ranked cell; by hand; benchmarks.surrogates
SCORED_CELLS_AFTER = 3  # cells after the hidden one that are scored with it; by hand; benchmarks.surrogates
DOUBT_FACTOR = 10  # factor of the p-value without a column; benchmarks.surrogates (docs/method/by-copies.md)
HIT_PERCENT = 10  # per cent of the likeliest values among which the own one is a hit; by hand
LONGEST_SAMPLED_CELL = 12  # characters of the longest cell of a feature that is asked in words; by hand
MOST_SAMPLED_ROWS = 60  # rows that are asked about in words, at most; by hand
SAMPLE_TEMPERATURE = 1.0  # temperature of the samples; by hand (samples have the model's own distribution)
LEAST_READ_SAMPLES = 0.5  # share of a row's samples that must be readable; by hand
ZLIB_LEVEL = 9  # zlib's level of compression, the best; by hand
MOST_PAIRED_VALUES = 30  # values of a column up to which each pair of neighbours is counted; by hand
LEAST_SHARED_CELLS = 0.05  # share of a column's cells that another column must hold to be compared; by hand
MOST_COMPARED_COLUMNS = 20  # other columns with which a column's cells are compared; by hand
MOST_SHARDS = 50  # shards that are asked about, at most; Oren et al. 2024, section 4 (50 shards; from memory, check)
AIMED_SHARDS = 20  # shards into which a table is cut at least, if it has enough rows; by hand
AIMED_SHARDS_OF_FEW_ROWS = 12  # shards into which a small table is cut at least; by hand (2 ** -12 is below the level)
MOST_SHARD_TOKENS = 1000  # tokens of a shard by a cautious count, at most; by hand
MOST_EXAMINED_ROWS = 2000  # rows in which a visible order is looked for, at most; by hand
# p-value at which the published rule counts a table as contaminated; by hand (Oren et al. 2024 report p-values)
SHARDED_T_LEVEL = 0.05
COMPARED_ORDERS = 400  # orders with which the file's order is compared, itself among them; by hand
VISIBLE_ORDER_LEVEL = 0.05  # p-value at which columns show the order, shared by all of them; by hand
MOST_LEAST_P_VALUE = 0.002  # p-value that must be within reach if all shards keep the order; by hand
LONGEST_READ_REPLY = 10_000  # characters of a reply that are read; by hand
CLASSIFIED_ROWS = 100  # rows that are classified by default; Ronval et al. 2024, section 4.3
MOST_CLASSIFIED_ROWS = 1000  # rows of a table that are ever classified, at most; by hand
BASELINE_ROWS_A_CLASS = 16  # rows of each class from which the few-shot baseline learns; by hand
BASELINE_DRAWS = 5  # draws of the rows from which the few-shot baseline learns; by hand
MOST_BASELINE_VALUES = 20  # values of a feature that the baseline distinguishes; by hand
FIFTHS = 5  # parts into which a table's rows are cut; by hand (usual in cross-validation)
LEAST_CLASS_CHANCE = 0.01  # a smaller chance of a class counts as this one; by hand; benchmarks.scored_share
# largest p-value at which a share is reported as above 0; benchmarks.memory_share (docs/method/memorys-share-
# errors.md)
MEMORY_SHARE_LEVEL = 0.01
ALTERATION_ROWS = 2000  # rows at most that give false values and neighbours; by hand
ALTERED_COPIES = 1000  # rows at most that the classifier sees, each as it is and once altered; by hand
# rows that a classifier needs to learn from; by hand (docs: matched membership needs 150 rows)
LEAST_ALTERABLE_ROWS = 150
ALTERATION_CANDIDATES = 3  # features that are compared as the altered one; by hand
MOST_ALTERATIONS_TRIED = 12  # features at most that are tried as the altered one; by hand
MOST_BLIND_AUC = 0.6  # AUC, farther from 0.5 than which a classifier is not blind; by hand
ALTERATION_FOLDS = 3  # folds of the classifier's cross-validation; by hand
LEAST_ALIKE_ROWS = 20  # similar rows in a leaf, which give a false value; by hand
DONOR_RANK_STEPS = 0.03  # share of the rows: rank steps from a similar row's number to the false one; by hand
MOST_DONOR_DRAWS = 20  # draws at most of another row's value for a row; by hand
CLASSIFIER_NEIGHBOURS = 8  # nearest rows whose values the classifier sees; by hand
MOST_CLASSIFIER_LOG_ODDS = 8.0  # bound of the classifier's log-odds, in nats; by hand
MOST_FEW_VALUES = 30  # values at most of a column whose answers are read by all of its values; by hand
# characters of a Yes/No answer that the published rule reads; Ronval et al. 2024, the authors' code
READ_CHOICE_CHARACTERS = 3
NEXT_ROW_PART = 1  # number of the rows' part for tests that ask for the next row; by hand
FURTHER_NEXT_ROWS = 59  # queries of test 8 besides the paper's; by hand
MOST_COUNTED_FEATURES = 8  # features at most of a row whose cells count: the hardest to predict; by hand
FITTED_FEATURES = 3  # features that are fitted at a time to find the least sure ones; by hand
MOST_FITTED_FEATURES = 9  # features at most that are fitted to find the least sure ones; by hand
LEAST_OPEN_BITS = 0.5  # average bits of a cell from which on memory differs from prediction; by hand
LEAST_SECOND_FEATURE_SHARE = 0.1  # share of the first feature's bits from which on a second one is asked; by hand
FURTHER_FEATURES = 2  # features that the further queries of test 9 ask; by hand
LEAST_REPEATED_SHARE = 0.5  # share of a text feature's cells with a recurring value, to draw it; by hand
PUBLISHED_COMPLETIONS = 5  # queries of the paper in tests 7 and 9; Ronval et al. 2024, section 3.1
MOST_FRUITLESS_ROWS = 50  # rows without fitting examples before the test is skipped; by hand
ROW_PARTS = 3  # parts of a table's rows, one for each of tests 7 to 9; by hand
LEAST_PART_FACTOR = 3  # times the asked rows that a part must have to be used alone; by hand
MATCHED_ROWS = 60  # rows that matched membership asks, half of them altered; by hand
CANDIDATES_PER_QUERY = 3  # candidates for each asked row; the least sure ones are asked; by hand
MEMBERSHIP_ROWS = 40  # rows that membership asks, half of them perturbed; by hand
PUBLISHED_MEMBERSHIP_ROWS = 100  # rows that the paper asks, half of them perturbed; Ronval et al. 2024, section 3.1
LEAST_REPEATS = 2  # times that a text must come to count as repeated; by hand
MOST_REPEATED_SHARE = 0.5  # share of the answers above which a repeated text is no answer; by hand
LEAST_FOLLOWING_SHARE = 0.95  # share of rows in which one column must go with another to follow from it; by hand
MOST_USUAL_VALUE_SHARE = 0.8  # share of rows with the usual value from which agreement shows nothing; by hand
LEAST_SHARING_ROWS = 20  # rows that share a cell with another row, to judge that a column follows; by hand
MOST_CLASSIFIER_HINTS = 3  # laws, and columns that go with a value, that the classifier is shown; by hand
# share of the rows that a model remembers, for which power is computed; by hand (docs/method/level.md)
REMEMBERED_SHARE = 0.5
LEAST_POWER = 0.5  # power below which a test is uninformative; by hand (docs/method/level.md)
# standard deviations that a silent predictor may lead by luck; by hand (docs/method/null.md)
SILENT_LUCK_DEVIATIONS = 1.0
LEAST_READ_FEATURES = 0.5  # share of the asked features that must be read in an answer; by hand
# different rows of a table that a row test needs; benchmarks.skill (few rows; docs/method/level.md)
LEAST_DIFFERENT_ROWS = 20
ENOUGH_EXACT = 1  # exact matches that Algorithm 2 requires; Golchin and Surdeanu 2024, Algorithm 2
ENOUGH_NEAR = 2  # near-exact matches that Algorithm 2 requires instead; Golchin and Surdeanu 2024, Algorithm 2
EXCHANGED_TAILS = (1, 2)  # last digits that may differ within a group; by hand
LEAST_SHARD_ROWS = 4  # rows of a shard, if rows are short enough; by hand
MOST_SHARD_ROWS = 15  # rows of a shard, if the table has enough of them; by hand
