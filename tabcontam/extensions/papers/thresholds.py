"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

OVERLAP_RESAMPLES = 10_000  # bootstrap resamples of Algorithm 1; Golchin and Surdeanu 2024, Algorithm 1
SAME_SCORE_SUM = 1e-9  # largest difference of equal sums of scores, for each instance; by hand
STEP_DECIMALS = 9  # decimals of the step between two rows; by hand
MOST_CELLS_OF_RECORDED_ROW = 200  # cells; a longer answer counts as no row of the file; by hand
# largest difference of a score and its rounding to two decimals; by definition: half a unit of the second decimal
ROUNDING_TOLERANCE = 5e-3 + 1e-9
ROWS_PER_SHOWN_NAME = 4  # names of features for each one that is shown; tabmemcheck 0.1.6, feature_names_test
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
LISTED_INSTANCES = 10  # instances that the test asks for; by hand, after Sainz et al. 2023
MOST_PHRASE_TEXTS = 2000  # texts at most in which phrases of the first texts are searched for; by hand
LEAST_NEAR_CELL_SHARE = 0.5  # share of an instance's cells from which on it is nearly the dataset's; by hand
LEAST_NEAR_WORDS = 5  # words in a row from which on a text is nearly the dataset's; by hand
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
