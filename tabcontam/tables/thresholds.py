"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

# rows of each target value that are sampled, if there are so many; benchmarks.large_knowers
LEAST_SAMPLED_PER_CLASS = 30
MOST_TARGET_VALUES = 30  # values of a target up to which they are classes; by hand
MOST_STORED_VALUES = 1000  # distinct values of a column up to which all are stored; by hand
LEAST_ORDER_CORRELATION = 0.99  # rank correlation of the file's order with the order column's; benchmarks.large_knowers
LEAST_ORDERED_SHARE = 0.9  # share of adjacent rows of a kind that must be in a column's order; benchmarks.large_knowers
MOST_CONSECUTIVE_SHARE = 0.5  # share of consecutive rows that may be of one kind; benchmarks.large_knowers
LEAST_KIND_PAIRS = 100  # pairs of rows by which a kind is judged; by hand
MOST_EXAMINED_KINDS = 40  # columns that are examined as kinds; by hand
ORDER_SAMPLE_ROWS = 100  # rows by which most columns without an order are excluded; by hand
MOST_ADJOINING_KINDS = 2  # kinds of rows whose adjoining rows are used; benchmarks.large_knowers
LEAST_NEARNESS_GAIN = 0.02  # least advantage of near rows over distant ones, by which kinds rank; by hand
BLOOM_BITS_PER_HASH = 12  # bits of a Bloom filter for each hash: 2 in 100 others seem held; Bloom 1970
MOST_STREAMED_COLUMNS = 100  # columns of a table that is sampled; a wider one is read whole; by hand
LONGEST_MARKED_CELL = 24  # bytes of a cell whose digits give an order; by hand
MOST_MARK_DIGITS = 18  # digits of an order mark, a number of 64 bits; by hand
MOST_TESTED_PAIRS = 2000  # pairs of rows that share a value, by which it is judged; by hand
PAIR_TEST_LEVEL = 1e-6  # level of the test that rows that share a value are more alike; benchmarks.large_knowers
MOST_ROWS_PER_VALUE = 5  # rows that are taken for a value that a sampled row has; benchmarks.large_knowers
ENOUGH_ROWS_PER_VALUE = 5  # rows of the sample with a value, enough to learn from; benchmarks.large_knowers
MOST_SHARED_KEY_ROWS = 30_000  # rows that are taken in all; by hand
# times the apparent number of rows with a value that are expected; benchmarks.large_knowers
EXPECTED_ROWS_FACTOR = 1.25
SUREST_KEY_SHARE = 2 / 3  # share of the taken rows for the surest key, if it has the values; benchmarks.large_knowers
LEAST_KEY_PAIRS = 5  # pairs of rows that share a key, below which nothing is judged; by hand
RATIO_TOLERANCE = 1e-3  # difference of logarithms of two ratios that count as equal; benchmarks.large_knowers
MOST_RATIO_PAIRS = 15  # pairs of number columns whose ratios are compared; benchmarks.large_knowers
LEAST_POSITIVE_SHARE = 0.9  # share of a column's numbers that must be positive, for ratios; by hand
NEAR_RANK_SHARE = 0.1  # share of all ranks within which two numbers count as alike; benchmarks.large_knowers
LEAST_SEPARATED_SHARE = 0.2  # share of a column's cells that must have a separator; benchmarks.large_knowers
MOST_KEY_SEPARATORS = 3  # separators of a column by which its cells are cut; by hand
MOST_NEARLY_ALL_KEYS = 30  # sets of all columns but one that are tried, and of all but two; benchmarks.large_knowers
MOST_KEY_PARTS = 60  # parts that such a set of columns is compared with; by hand
MOST_PIECE_PAIRS = 200  # pairs of a piece and a column that are tried; benchmarks.large_knowers
LEAST_ONE_LENGTH_SHARE = 0.98  # share of a code column's cells that must have one length; benchmarks.large_knowers
LONGEST_KEY_CODE = 24  # characters of a code whose middle is examined; by hand
LEAST_COVERED_SHARE = 0.9  # share of pairs of one key that share another, which then suffices; benchmarks.large_knowers
MOST_ROWS_READ_WHOLE = 60_000  # rows of a table up to which all are stored; by hand
SAMPLED_ROWS = 10_000  # rows that are drawn from a larger table; benchmarks.large_knowers
SAMPLED_BLOCK = 20  # consecutive rows that are drawn together, to show the file's order; by hand
# share of errors in naming a value that vanish if the other is known; by hand; docs/method/level.md
LEAST_DETERMINED_SHARE = 0.9
LEAST_SHARE_OF_REPEATED_ROWS = 0.1  # share of rows that share a value, for a column to be judged by them; by hand
LEAST_ROWS_OF_ENTITIES = 10  # rows that share a value, for a column to be judged by them; by hand
LEAST_SHARE_OF_NAMES = 0.95  # share of values that differ, in a column that names things; by hand
# characters of the median value, in a column of names; by hand; docs/method/level.md
MOST_NAME_CHARACTERS = 40
# digits of each number, in a column of identifiers; by hand; docs/method/level.md
LEAST_IDENTIFIER_DIGITS = 5
MOST_ROWS_PER_KEY = 3.0  # rows that share a value of a key, on average over shared values; by hand
LEAST_KEY_AGREEMENT = 0.25  # agreement beyond chance of rows that share a key: 0 chance, 1 always; by hand
MOST_ENTROPY_DIFFERENCE = 2.5  # bits between two columns' entropies, of which each determines the other; by hand
LEAST_ROWS_OF_EQUIVALENTS = 20  # rows that share their value, before two columns count as equivalent; by hand
# fresh rows with a class, to compare two accuracies; by hand; docs/method/memorys-share.md
LEAST_FRESH_ROWS = 20
ENCODING_SAMPLE_BYTES = 64 * 1024  # bytes by which an unknown encoding is detected; by hand
SAMPLE_RECORDS = 1000  # records by which delimiter, quoting and header are detected; by hand
MOST_SECOND_HEADER_RECORDS = 3  # records below the header that may hold units or names again; by hand
LONGEST_FEATURE_NAME = 80  # characters of a feature's name that ends a value in an answer; by hand
MOST_CATEGORIES = 30  # distinct values of a column that counts as categorical; by hand
# distinct values of a FILE's target that has a classification question; by hand; docs/test-your-own-
# table.md
MOST_CLASSES = 10
MOST_ROWS_FOR_TEXTS = 1000  # rows of a FILE by which columns of texts are detected; by hand
MOST_COLUMNS_WITH_TEXTS = 8  # columns of a FILE whose rows are texts; more are a table with a remark; by hand
LEAST_WORDS_OF_TEXTS = 8  # words of the median cell, in a column of texts; by hand
LEAST_SHARE_OF_DISTINCT_TEXTS = 0.9  # share of cells that differ, in a column of texts; by hand
LEAST_SHARE_OF_LETTERS = 0.7  # share of the characters except blanks that are letters; by hand
MOST_CLASSES_OF_TWINS = 20  # distinct values of a target that are classes; more numbers: quartiles; by hand
MOST_SWAPS = 100  # swaps that are tried to make a twin's row unlike a real one; by hand
MOST_ROWS_OF_RARE_VALUE = 4  # rows with one value of a feature that may reveal their class; by hand
NEAR_NUMBERS = 10  # consecutive rare numbers that are shuffled among each other; by hand
MOST_ROWS_FOR_DECOYS = 2000  # rows of a table from which the rows of decoys are made; by hand
# bytes at the beginning and at the end of a cell that may be a key; benchmarks.large_knowers
KEY_END_BYTES = (2, 3, 4, 5, 6)
MOST_SEARCHED_ORDERS = 4  # columns that are tried as the order of a shuffled file; benchmarks.large_knowers
MOST_SEARCHED_GROUPS = 8  # columns that are tried as groups of a shuffled file; benchmarks.large_knowers
