"""Numbers that decide verdicts, for all modules of this folder, each with its source."""

DEFAULT_TEXTS = 50  # texts that are collected unless the user asks for more; by hand
LEAST_PASSAGES_OF_A_SIDE = 10  # passages of each side (old, fresh) that a comparison needs; by hand
LEAST_COPIED_RUN = 5  # consecutive words that count as copied; by hand
FAMILIARITY_LEVEL = 0.01  # error rate of the three familiarity measures of a model together; by hand
EXCHANGE_DRAWS = 9_999  # random assignments of passages to old and fresh for a p-value; by hand
COMPARED_CONTINUATIONS = 10  # other passages whose continuations a reply is compared with; by hand
TOKENS_PER_CONTINUED_WORD = 3  # tokens of an answer allowed for each word to be continued; by hand
JUDGED_CHARACTERS = 4000  # characters of an answer that a judge is shown; by hand
QUESTIONS_PER_KIND = 2  # key sentences (or terms) of one kind in a passage, at most; by hand
LEAST_ANSWER_WORDS = 3  # words of an answer; shorter ones may occur anywhere in a passage; by hand
MOST_TOPIC_WORDS = 12  # words of the topic that a question names, at most; by hand
TERM_SENTENCES = 3  # sentences with a term that the writing model is shown, at most; by hand
COPIED_RUN = 8  # consecutive words that no two texts share by coincidence; by hand
MOST_PASSAGE_WORDS = 200  # words of a compared passage, at most; by hand
LEAST_PASSAGE_WORDS = 60  # words of a compared passage, at least; by hand
