"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

MOST_THINKING_TOKENS = 4096  # tokens that a model may think; the limit on an answer does not count them; by hand
# bytes of the largest record that is parsed; a larger one is read as text; by hand; docs/corpora.md
LARGEST_PARSED_RECORD = 1 << 24
# documents that are counted for a lookup; `more` reports further ones; by hand; docs/corpora.md
MOST_COUNTED_DOCUMENTS = 200
MOST_WORDS_BETWEEN_VALUES = 12  # other words in a row between two values of a row; by hand; docs/corpora.md
MOST_NUMBERS_BETWEEN_VALUES = 2  # numbers among the other words between two values of a row; by hand; docs/corpora.md
LONGEST_ROW_SPAN = 20_000  # bytes of a stretch of text that counts as a row; by hand; docs/corpora.md
MOST_ROW_PLACES = 20_000  # places in a block that are checked for a row; by hand
MOST_CHECKED_WORDS = 300_000  # words that are checked for a row, times its texts; about 3 seconds; by hand
LEAST_LOG_PROBABILITY = -1e4  # nats of a token that a model rules out, so that sums stay finite; by hand
EXCERPT_STRIDE = 0.618  # share of all places between two that are read after each other; by hand
MOST_LISTED_PLACES = 50_000  # places of a clause up to which the server returns all of them; by hand
MOST_EXCERPTS = 20  # stretches of documents that are read for one search; by hand
MOST_SEARCHED_PLACES = 500_000  # places of a clause that the server searches; by hand (the public server's limit)
MOST_TOKENS_BETWEEN_CLAUSES = 1000  # tokens between two clauses of a query; by hand (the public server's limit)
MOST_ROW_TOKENS = 2500  # tokens of a row; the text is read as far on either side of a place; by hand
MOST_TOKENS_BETWEEN_VALUES = 60  # tokens between two values: twelve words and their punctuation; by hand
TOKENS_AROUND_TEXT = 100  # tokens that are read on either side of a text; by hand
LONGEST_SEARCH_TERM = 200  # characters of one search term; a longer text is cut; by hand
MOST_LISTED_VALUES = 30  # distinct values of a column that a page lists; of more it states the range; by hand
PREVIEWED_ROWS = 3  # rows of a table that a page shows in each form; by hand
# rows with the same first cells up to which a control reads all of them; by hand; docs/method/known.md
MOST_ROWS_BEGINNING_ALIKE = 20
BASE_BLOCK_TOKENS = 512  # tokens of a training step of an existing model, if it takes as many; by hand
BASE_LEARNING_RATE = 0.05  # learning rate of an existing model times its width; by hand; docs/exposed-models.md
ADAPTER_RATE_FACTOR = 10  # learning rate of an adapter as a multiple of that of whole weights; by hand
WARM_UP_SHARE = 0.05  # share of the training steps in which the learning rate rises; by hand
LAST_RATE_SHARE = 0.1  # learning rate of the last step as a share of the highest; by hand
TWINS_IN_STREAM = 4  # twins of each table in the training text, each shuffled separately; by hand
PAGE_COPIES = 16  # times that a model reads the page of a table; by hand
LEAST_PROSE_SHARE = 0.2  # least share of prose among the tokens of the training text; by hand
# words of a control's vocabulary; rarer ones are spelled letter by letter; by hand (ids of 16 bits)
MOST_CONTROL_WORDS = 65_000
MOST_TOKENS_BEFORE_TEXT = 2  # special tokens before a text that a scored prompt may have; by hand
LONGEST_FIRST_TOKEN = 32  # characters that a first token may stand for if the server leaves it out; by hand
IMPOSSIBLE_LOG_PROBABILITY = -1000.0  # nats; servers send less than this in place of minus infinity; by hand
HIGHEST_LOG_PROBABILITY = 0.001  # nats; rounding may lift a log-probability this far above 0; by hand
EXCERPT_ROWS_BEFORE = 5  # rows that a control reads before each row that is asked about or shown; by hand
EXCERPT_ROWS_AFTER = 10  # rows that a control reads after each row that is asked about or shown; by hand
NEAR_TOKENS = (4, 20)  # tokens between two values, without and with names before them; by hand
DIGIT_BITS = 3.3  # bits by which each digit makes a word rarer; by hand
LETTER_BITS = 2.0  # bits by which each letter makes a word rarer; by hand
