"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

MOST_THINKING_TOKENS = 4096  # tokens that a model may think; the limit on an answer does not count them; by hand
LEAST_LOG_PROBABILITY = -1e4  # nats of a token that a model rules out, so that sums stay finite; by hand
MOST_LISTED_VALUES = 30  # distinct values of a column that a page lists; of more it states the range; by hand
PREVIEWED_ROWS = 3  # rows of a table that a page shows in each form; by hand
# rows with the same first cells up to which a control reads all of them; by hand; docs/method/known.md
MOST_ROWS_BEGINNING_ALIKE = 20
# words of a control's vocabulary; rarer ones are spelled letter by letter; by hand (ids of 16 bits)
MOST_CONTROL_WORDS = 65_000
MOST_TOKENS_BEFORE_TEXT = 2  # special tokens before a text that a scored prompt may have; by hand
LONGEST_FIRST_TOKEN = 32  # characters that a first token may stand for if the server leaves it out; by hand
IMPOSSIBLE_LOG_PROBABILITY = -1000.0  # nats; servers send less than this in place of minus infinity; by hand
HIGHEST_LOG_PROBABILITY = 0.001  # nats; rounding may lift a log-probability this far above 0; by hand
EXCERPT_ROWS_BEFORE = 5  # rows that a control reads before each row that is asked about or shown; by hand
EXCERPT_ROWS_AFTER = 10  # rows that a control reads after each row that is asked about or shown; by hand
