"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

LEAST_SHARE_OF_BEST_GAIN = 0.5  # share of the best gain that a query needs to be bet on next; benchmarks.decided
MOST_DRAWS_OF_A_QUERY = 200  # draws of a query before its result is skipped; by hand
LONGEST_HARMLESS_PREFIX = 3  # letters of a word up to which only a whole word gives it away; by hand
MOST_COUNTED_DOCUMENTS = 200  # documents that are counted for a lookup of task_overlap, at most; by hand
# share of a row's words in found 8-grams above which Tülu 3's rule counts it; Lambert et al. 2024, section 3.2
TULU_CONTAMINATED_SHARE = 0.5
LEAST_DRAWABLE_ROWS = 20  # rows with a drawable cell that a table needs; by hand
# words of a piece of GPT-2, PaLM and Tülu 3; Radford et al. 2019, section 4; Chowdhery et al. 2022, section 8;
# Lambert et al. 2024, 3.2
SHORT_PIECE_WORDS = 8
LLAMA_RUN_WORDS = 11  # words of the shortest run that Llama 2's rule counts; Touvron et al. 2023, appendix A.6
# percentile of the rows' lengths that is the length of GPT-3's pieces; Brown et al. 2020, appendix C
GPT3_SHORT_ROW_SHARE = 0.05
# documents with a piece beyond which GPT-3's rule leaves it out; Brown et al. 2020, appendix C
GPT3_MOST_DOCUMENTS = 10
# values drawn for each searched cell; by hand (p of one row can be 0.001); benchmarks.overlap
SEARCHED_SURROGATES = 999
MOST_RANKED_ROWS = 900  # rows of a table that are asked about or searched for, at most; by hand
MOST_HIDDEN_FEATURES = 4  # features of a table, one of which is hidden in each row; by hand; benchmarks.overlap
MOST_EQUAL_SLOTS = 0.9  # largest share of a cell's slots that may be one value; by hand
LEAST_SEARCHED_VALUES = 3  # values of a row that a search needs; by hand; benchmarks.overlap
LEAST_CHANCE = 1e-12  # least chance of any value; by hand (numerical floor)
LEAST_NAMED_FEATURES_SHARE = 0.5  # share of the features that a document must name to count; by hand
MOST_SEARCHED_FEATURES = 10  # features of a table that are searched for, at most; by hand
MOST_LISTED_ANSWERS = 5  # answers up to which their list is searched for before one of them, too; by hand
# chance of a word that a reader may infer from the topic; by hand; benchmarks.verdicts (knowledge table)
CHANCE_OF_INFERRED_WORD = 0.5
LEAST_HIDDEN_NAMES = 2  # names of features that a query must leave to name; by hand
ROWS_PER_SHOWN_NAME = 4  # names of features for each one that is shown; tabmemcheck 0.1.6, feature_names_test
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
MOST_CROSS_VALIDATED_ROWS = 2000  # rows of a table that are cross-validated, at most; by hand
FIFTHS = 5  # parts into which a table's rows are cut; by hand (usual in cross-validation)
LEAST_CLASS_CHANCE = 0.01  # a smaller chance of a class counts as this one; by hand; benchmarks.scored_share
# largest p-value at which a share is reported as above 0; benchmarks.memory_share (docs/method/memorys-share-
# errors.md)
MEMORY_SHARE_LEVEL = 0.01
ROWS_A_LEAF = 8  # rows for each row that a leaf of a boosted tree needs; by hand
MOST_COPIED_SHARE = 0.1  # share of another table's rows that the tested one may hold; by hand
MOST_SEARCHED_ROWS = 2_000  # rows of the tested table that are searched for copies; by hand
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
# p-value at which Algorithm 1 calls a partition contaminated; Golchin and Surdeanu 2024, appendix B
ALGORITHM_ONE_LEVEL = 0.05
PUBLISHED_INSTANCES = 10  # instances of the published rule; Golchin and Surdeanu 2024, section 4
LEAST_SECOND_PIECE_WORDS = 12  # words at least of a further text's second piece; by hand (benchmarks.guided)
MOST_PHRASE_ROWS = 20_000  # rows at most in which phrases of the asked texts are searched for; by hand
MOST_TEXTS_CUT = 400  # texts at most that are cut for the further instances; by hand
MOST_SLOT_WORD_SHARE = 0.05  # share of the texts in which a word that fills a slot may stand; by hand
LEAST_RECITED_TEXTS = 2  # texts that have to be recited for a verdict; by hand
# bits of a run of words that fluent writing gives; benchmarks.guided (docs/method/other-papers.md)
LUCKY_RUN_BITS = 3.0
MOST_RECITED_CHANCE = 0.01  # chance of a run of words up to which it counts as recited; by hand
LEAST_JUDGED_SHARE = 0.5  # share of completions that must be readable before Algorithm 2 says no; by hand
PAIRED_TEXTS = 20  # texts that are also asked in the general and wrong-name arms; by hand (benchmarks.guided)
SECOND_PIECE_TOKENS = 500  # tokens at most of an answer about a text; Golchin and Surdeanu 2024, section 4
LEAST_ROW_PIECE_TOKENS = 256  # tokens that an answer about a row may have at least; by hand
MOST_OVERLAP_TOKENS = 512  # tokens of a text or pair that a model reads if it sets no limit; by hand (BERT's limit)
# depth of the encoder's layer that BERTScore compares, as a share; by hand (near BERTScore's choice)
OVERLAP_LAYER_SHARE = 0.75
PHRASE_WORDS = 4  # words in a row of another text that do not count; by hand (docs/method/other-papers.md)
SHOWN_PHRASE_WORDS = 2  # words in a row of the prompt that do not count; by hand (docs/method/other-papers.md)
# chance that a fluent writer has the next word after a right one; benchmarks.guided (1,017 recorded completions)
FLUENT_WORD_CHANCE = 0.5
# share of a text's places at which a lucky run may begin; benchmarks.guided (1,017 recorded completions)
RUN_START_SHARE = 0.25
PUBLISHED_COMPLETIONS = 5  # queries of the paper in tests 7 and 9; Ronval et al. 2024, section 3.1
MOST_FRUITLESS_ROWS = 50  # rows without fitting examples before the test is skipped; by hand
ROW_PARTS = 3  # parts of a table's rows, one for each of tests 7 to 9; by hand
LEAST_PART_FACTOR = 3  # times the asked rows that a part must have to be used alone; by hand
LISTED_INSTANCES = 10  # instances that the test asks for; by hand, after Sainz et al. 2023
MOST_PHRASE_TEXTS = 2000  # texts at most in which phrases of the first texts are searched for; by hand
LEAST_NEAR_CELL_SHARE = 0.5  # share of an instance's cells from which on it is nearly the dataset's; by hand
LEAST_NEAR_WORDS = 5  # words in a row from which on a text is nearly the dataset's; by hand
MATCHED_ROWS = 60  # rows that matched membership asks, half of them altered; by hand
CANDIDATES_PER_QUERY = 3  # candidates for each asked row; the least sure ones are asked; by hand
MEMBERSHIP_ROWS = 40  # rows that membership asks, half of them perturbed; by hand
PUBLISHED_MEMBERSHIP_ROWS = 100  # rows that the paper asks, half of them perturbed; Ronval et al. 2024, section 3.1
CSV_PLACES = 25  # places of a table that a CSV row test asks; tabmemcheck 0.1.6
CSV_EXAMPLES = 5  # whole rows that the CSV feature completion shows; by hand
MOST_FIRST_CHARACTERS = 6  # characters at most of a row's beginning that are compared; by hand
LEAST_BEGINNINGS = 3  # different beginnings that a table's rows need; by hand
MOST_COMMON_BEGINNING_SHARE = 0.5  # share of the rows that the most frequent beginning stays below; by hand
HEADER_CHARACTERS = 500  # characters of the continuation after the last cut, about; tabmemcheck 0.1.6 (500 characters)
MOST_HEADER_ROWS = 6  # rows at most of the continuation after the last cut; by hand
CSV_ROWS_BEFORE = 10  # rows that are shown before the asked one; tabmemcheck 0.1.6
SAMPLED_ROWS = 25  # rows that a model draws; by hand
SAMPLING_TEMPERATURE = 0.7  # temperature of the drawn rows; tabmemcheck 0.1.6
SAMPLING_SEEDS = 10_000  # different sets of draws, by the run's seed; by hand
MOST_ROW_CHANCE = 0.01  # chance that independent cells make a row; above it the test is skipped; by hand
# characters at most of the rows that a query carries; by hand (memory; a larger table is skipped)
MOST_CARRIED_CHARACTERS = 2**26
QUIZ_OPTIONS = 4  # options of a question, besides none of these; Golchin and Surdeanu 2025, section 3
QUIZ_DRAWS = 99  # values that are drawn for each row to choose options from; by hand
MOST_QUIZ_ROWS = 900  # rows at most from which questions are made; by hand
MOST_QUIZ_FEATURES = 4  # features at most that are altered, each in other rows; by hand
MOST_QUIZ_FEATURES_TRIED = 12  # features at most that are tried as altered ones; by hand
# rows in which a feature can be altered, for the solvers to learn from; benchmarks.skill (--test quiz; 120 rows
# failed)
LEAST_QUIZ_ROWS = 130
BLIND_SOLVED_SHARE = 0.45  # share up to which a feature is good enough to end the search; by hand
QUIZ_FOLDS = 3  # folds of the solver's cross-validation; by hand
LEAST_ANSWERED_PLACES = 0.5  # share of a question's places that must be answered for it to count; by hand
LEAST_QUESTIONS_LEFT = 48  # questions that remain without those about any one feature; by hand
PUBLISHED_QUIZ_QUESTIONS = 100  # questions that the paper asks; Golchin and Surdeanu 2025, section 3
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
PUBLISHED_OUTPUTS = 20  # instances of the published rule, of any length; by hand
FURTHER_OUTPUTS = 20  # further instances with outputs of twelve words or more; by hand
MOST_OUTPUT_ROWS = 400  # rows at most by which a column of texts is recognized; by hand
LEAST_OUTPUT_WORDS = 4  # words of the median row of a column of texts, at least; by hand
LEAST_DISTINCT_OUTPUTS = 0.5  # share of a column's texts that must differ; by hand
IDENTIFYING_WORDS = 5  # words in a row that identify a row of the table; by hand
LEAST_PASSAGE_WORDS = 8  # words at least of a line that is a text; by hand
MOST_NEAR_ROW_CELLS = 2  # cells in which a written row may differ from a row and nearly equal it; by hand
LEAST_NAMED_FEATURES = 0.5  # share of the features that a text must name to be a row; by hand
MOST_ROWS_READ = 500  # rows at most that are read in one answer; by hand
MOST_JSON_CHARACTERS = 200_000  # characters at most of an answer that are searched for JSON; by hand
TEXT_LIST_TOKENS = 1024  # tokens at most of an answer that lists texts; by hand
MOST_ASKED_LABELS = 5  # labels at most for each of which examples are asked; by hand
MOST_CLASS_LABELS = 20  # values of a label up to which they are classes, for simulated models; by hand
PROBED_ROWS = 60  # rows from which the power of the test is computed; by hand
MOST_READING_VALUES = 64  # most frequent values of a feature by which its cells are read; by hand
MOST_CLASS_WORDS = 20  # different words of a feature up to which any other word is another form; by hand
LEAST_JUDGED_WORDS = 8  # words of a piece in which one change is small; by hand
LEAST_JUDGED_CELLS = 4  # cells of a piece in which one change is small; by hand
ENOUGH_EXACT = 1  # exact matches that Algorithm 2 requires; Golchin and Surdeanu 2024, Algorithm 2
ENOUGH_NEAR = 2  # near-exact matches that Algorithm 2 requires instead; Golchin and Surdeanu 2024, Algorithm 2
OVERLAP_ROWS = 100  # rows that are searched for; by hand
OVERLAP_POOL = 900  # rows of which they are drawn; by hand
PALM_SHARE = 0.7  # share of a row from which PaLM's rule counts it; Chowdhery et al. 2022, section 8
LLAMA_CLEAN_SHARE = 0.2  # share of a row below which Llama 2's rule calls it clean; Touvron et al. 2023, appendix A.6
LLAMA_DIRTY_SHARE = 0.8  # share of a row from which Llama 2's rule calls it dirty; Touvron et al. 2023, appendix A.6
ONE_ABSENT_VALUES = 6  # values of a row from which on one of them may be absent; by hand
TWO_ABSENT_VALUES = 12  # values of a row from which on two of them may be absent; by hand
GPT3_LEAST_WORDS = 8  # words of the shortest piece of GPT-3; Brown et al. 2020, appendix C
GPT3_MOST_WORDS = 13  # words of the longest piece of GPT-3; Brown et al. 2020, appendix C
GPT4_PIECE_CHARACTERS = 50  # letters and digits of a piece of GPT-4; OpenAI 2023, appendix C
GPT4_PIECES = 3  # pieces of a row that GPT-4's rule draws; OpenAI 2023, appendix C
EXCHANGED_TAILS = (1, 2)  # last digits that may differ within a group; by hand
LEAST_SHARD_ROWS = 4  # rows of a shard, if rows are short enough; by hand
MOST_SHARD_ROWS = 15  # rows of a shard, if the table has enough of them; by hand
MOST_PREDICTED_CELLS = 8  # cells of a row that are predicted, at most; by hand
LEAST_LATE_CELLS = 4  # cells among these that every cut hides; by hand
SHOWN_SHARES = (0.4, 0.7)  # least and largest share of an instance that is shown; by hand
FURTHER_CUT_ROWS = 35  # rows in addition to the paper's ten instances; by hand
FURTHER_CUT_TEXTS = 30  # texts in addition to the paper's ten instances; by hand
# rows, counted from 0, in which the shown text stops; by hand (tabmemcheck 0.1.6: 2, 4, 6, 8)
HEADER_CUTS = (1, 3, 5, 7)
PRINTED_FIRST_ROWS = 10  # first rows of a file, which web pages print: they do not count; by hand
PRINTED_LAST_ROWS = 5  # last rows of a file, which web pages print: they do not count; by hand
ASKED_EXAMPLES = 20  # rows that one query asks for; by hand
ASKED_TEXTS = 10  # texts that one query asks for; by hand
LEAST_EXAMPLE_TOKENS = 16  # tokens for a row, at least; by hand
MOST_EXAMPLES_TOKENS = 2048  # tokens for an answer, at most; whole rows of a cut answer are read; by hand
TABLLM_SHOTS = (0, 1, 4, 16, 64)  # rows that are shown, in turn; Hegselmann et al. 2023, section 4
