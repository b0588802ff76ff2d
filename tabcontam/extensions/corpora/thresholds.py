"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

# bytes of the largest record that is parsed; a larger one is read as text; by hand; README.md
LARGEST_PARSED_RECORD = 1 << 24
# documents that are counted for a lookup; `more` reports further ones; by hand; README.md
MOST_COUNTED_DOCUMENTS = 200
MOST_WORDS_BETWEEN_VALUES = 12  # other words in a row between two values of a row; by hand; README.md
MOST_NUMBERS_BETWEEN_VALUES = 2  # numbers among the other words between two values of a row; by hand; README.md
LONGEST_ROW_SPAN = 20_000  # bytes of a stretch of text that counts as a row; by hand; README.md
MOST_ROW_PLACES = 20_000  # places in a block that are checked for a row; by hand
MOST_CHECKED_WORDS = 300_000  # words that are checked for a row, times its texts; about 3 seconds; by hand
EXCERPT_STRIDE = 0.618  # share of all places between two that are read after each other; by hand
MOST_LISTED_PLACES = 50_000  # places of a clause up to which the server returns all of them; by hand
MOST_EXCERPTS = 20  # stretches of documents that are read for one search; by hand
MOST_SEARCHED_PLACES = 500_000  # places of a clause that the server searches; by hand (the public server's limit)
MOST_TOKENS_BETWEEN_CLAUSES = 1000  # tokens between two clauses of a query; by hand (the public server's limit)
MOST_ROW_TOKENS = 2500  # tokens of a row; the text is read as far on either side of a place; by hand
MOST_TOKENS_BETWEEN_VALUES = 60  # tokens between two values: twelve words and their punctuation; by hand
TOKENS_AROUND_TEXT = 100  # tokens that are read on either side of a text; by hand
LONGEST_SEARCH_TERM = 200  # characters of one search term; a longer text is cut; by hand
NEAR_TOKENS = (4, 20)  # tokens between two values, without and with names before them; by hand
DIGIT_BITS = 3.3  # bits by which each digit makes a word rarer; by hand
LETTER_BITS = 2.0  # bits by which each letter makes a word rarer; by hand
# share of a row's words in found 8-grams above which Tülu 3's rule counts it; Lambert et al. 2024, section 3.2
TULU_CONTAMINATED_SHARE = 0.5
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
MOST_EQUAL_SLOTS = 0.9  # largest share of a cell's slots that may be one value; by hand
LEAST_SEARCHED_VALUES = 3  # values of a row that a search needs; by hand; benchmarks.overlap
LEAST_NAMED_FEATURES_SHARE = 0.5  # share of the features that a document must name to count; by hand
MOST_SEARCHED_FEATURES = 10  # features of a table that are searched for, at most; by hand
MOST_LISTED_ANSWERS = 5  # answers up to which their list is searched for before one of them, too; by hand
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
