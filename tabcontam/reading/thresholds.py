"""Numbers that decide verdicts, for all modules of `reading`, each with its source."""

MOST_JSON_STARTS = 20  # opening brackets of an answer after which JSON is sought; by hand
# times the words of a column's longest value; a longer answer is not a value; benchmarks.answers
MOST_TIMES_LONGEST_VALUE = 4
MOST_VALUE_WORDS = 8  # words of a value, unless known values of the column have more; benchmarks.answers
SHORT_CHOICE_LETTERS = 3  # letters; so short a choice counts only at the ends of an answer; benchmarks.answers
# bytes of a word; longer words are unknown; by hand: versions of enchant cut them differently
LONGEST_DICTIONARY_WORD = 100
# rows in a line of an answer: the four shown rows and the asked row; the prompts of tests 7 to 9; benchmarks.answers
# checks it
MOST_ROWS_IN_A_LINE = 5
LEAST_REPEATS = 3  # times that one piece ends an answer that counts as endless; benchmarks.answers
LONGEST_REPEATED_PIECE = 200  # characters of a repeated piece at the end of an answer; benchmarks.answers
MOST_HYPHENS = 10  # hyphens; a word with as many or more counts as unknown; hunspell 1.7 has this limit
MOST_WRAPPINGS = 4  # pairs of marks around a value that are removed, from outside to inside; benchmarks.answers
MOST_WORDS_BEFORE_VALUE = 12  # words before a value, where the form of the column's values is known; benchmarks.answers
MOST_PLACES_IN_ANSWER = 20  # names, numbers or lines of an answer that are examined; by hand
SHORT_VALUE_LETTERS = 3  # letters; a listed value with fewer counts only at the end of an answer; benchmarks.answers
MOST_WORDS_AFTER_NAME = 4  # words between a column's name and its value, in any language; benchmarks.answers
# words; a shorter first line announces the row on the second line; Ronval et al. 2024, section 3.2: the authors' code
LEAST_WORDS_OF_ROW = 5
LEAST_VALUES_OF_FORM = 3  # known values that show the form of a column's values; benchmarks.answers
LEAST_VALUES_OF_RANGE = 30  # known values that show the range of nearly all values; benchmarks.answers
LEAST_REPEATED_CHARACTERS = 60  # characters of all repetitions in one line together; by hand
LEAST_REPEATED_LINES_CHARACTERS = 100  # characters of all repetitions over several lines together; by hand
