"""The ∞-gram model against a brute-force one that counts by looking everywhere."""

from collections import Counter
from math import exp, log

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tabcontam.models.known.ngram_model import SEPARATOR, UNKNOWN, WORD, InfiniGram, build

LETTERS = st.text(alphabet="ab ", max_size=12)
DOCUMENTS = st.lists(st.text(alphabet="ab ,", max_size=30), min_size=1, max_size=4)
END = ""  # closes a document in the brute-force corpus


def brute_corpus(documents: list[str]) -> list[str]:
    return [token for document in documents for token in [*WORD.findall(document), END]]


def brute_counts(corpus: list[str], context: list[str]) -> Counter[str]:
    """What follows a context, wherever it stands."""
    width = len(context)
    starts = range(len(corpus) - width)
    return Counter(corpus[start + width] for start in starts if corpus[start : start + width] == context)


def brute_longest_suffix(corpus: list[str], tokens: list[str]) -> list[str]:
    suffixes = (tokens[start:] for start in range(len(tokens)))
    return next((suffix for suffix in suffixes if brute_counts(corpus, suffix)), [])


def brute_generate(documents: list[str], prompt: str, words: int) -> str:
    """Greedy, anew at every token; of equals the one that the corpus has first, the end of a document last."""
    corpus, tokens, text = brute_corpus(documents), WORD.findall(prompt), ""
    while True:
        counts = brute_counts(corpus, brute_longest_suffix(corpus, tokens))
        best = max(counts, key=lambda token: (counts[token], token != END, -corpus.index(token)))
        words -= best != " "
        if best == END:
            return text
        if words < 0:
            return text.rstrip(" ")
        text += best
        tokens.append(best)


def brute_log_probability(corpus: list[str], context: list[str], token: str) -> float:
    probability = 1 / (len(set(corpus)) + 1)
    for start in range(len(context), -1, -1):
        counts = brute_counts(corpus, context[start:])
        if counts:
            probability = (counts[token] + probability) / (counts.total() + 1)
    return log(probability)


@given(st.text())
def test_tokens_joined_are_the_text(text: str) -> None:
    assert "".join(WORD.findall(text)) == text


@given(st.lists(st.text(), min_size=1, max_size=3), st.text())
def test_tokens_joined_are_the_text_when_words_are_spelled(documents: list[str], text: str) -> None:
    model = build(documents, largest_vocabulary=len(set("".join(documents))))

    assert "".join(model.vocabulary.pieces(text)) == text


@given(DOCUMENTS, LETTERS)
def test_the_longest_suffix_is_the_one_found_by_looking_everywhere(documents: list[str], prompt: str) -> None:
    model, tokens = build(documents), WORD.findall(prompt)

    length, matches = model.longest_suffix(model.vocabulary.encode(tokens))

    corpus = brute_corpus(documents)
    expected = brute_longest_suffix(corpus, tokens)
    assert length == len(expected)
    assert len(matches) == (brute_counts(corpus, expected).total() if expected else len(corpus))


@given(DOCUMENTS, LETTERS, st.integers(0, 20))
def test_generates_what_brute_force_generates(documents: list[str], prompt: str, words: int) -> None:
    assert build(documents).generate(prompt, words).text == brute_generate(documents, prompt, words)


@given(DOCUMENTS, LETTERS)
def test_scores_as_brute_force_scores(documents: list[str], text: str) -> None:
    corpus, tokens = brute_corpus(documents), WORD.findall(text)

    scores = build(documents).score(text)

    assert [token for token, *_ in scores] == tokens
    for end, (token, score, *_) in enumerate(scores):
        assert score == pytest.approx(brute_log_probability(corpus, tokens[:end], token))


@given(DOCUMENTS, LETTERS, st.lists(LETTERS, min_size=1, max_size=4))
def test_endings_are_compared_as_whole_texts(documents: list[str], beginning: str, endings: list[str]) -> None:
    model = build(documents)
    whole = [sum(token.log_probability for token in model.score(beginning + ending)) for ending in endings]

    values = model.compare(beginning, endings)

    assert [value - values[0] for value in values] == pytest.approx([value - whole[0] for value in whole])


@given(DOCUMENTS, LETTERS)
def test_the_probabilities_after_any_context_add_up_to_one(documents: list[str], context: str) -> None:
    model = build(documents)
    ids = model.vocabulary.encode(WORD.findall(context))
    following = [*range(len(model.vocabulary.words)), SEPARATOR, UNKNOWN]

    assert sum(exp(model.log_probabilities([*ids, token])[-1]) for token in following) == pytest.approx(1)


@given(DOCUMENTS, LETTERS)
def test_a_corpus_without_room_for_words_is_one_of_letters(documents: list[str], text: str) -> None:
    model = build(documents, largest_vocabulary=len(set("".join(documents))))
    assume(model.vocabulary.spelled)

    length, matches = model.longest_suffix(model.vocabulary.encode(model.vocabulary.pieces(text)))

    corpus = [letter for document in documents for letter in [*document, END]]
    expected = brute_longest_suffix(corpus, list(text))
    assert length == len(expected)
    assert len(matches) == (brute_counts(corpus, expected).total() if expected else len(corpus))


def spelled_model() -> InfiniGram:
    """Numbers that appear once do not fit into 40 tokens; `age` does."""
    rows = "".join(f"age {number}, next {number + 1000}\n" for number in range(100, 200))
    return build([rows], largest_vocabulary=40)


def test_rare_words_are_spelled_and_still_continued_to_their_end() -> None:
    model = spelled_model()

    assert model.vocabulary.spelled
    assert "age" in model.vocabulary.ids
    assert model.generate("age 150,", 20, ["\n"]).text == " next 1150"


@pytest.mark.parametrize(("prompt", "text"), [("The age is", " 39"), ("The age is ", "39")])
def test_a_prompt_is_continued_with_and_without_its_closing_space(prompt: str, text: str) -> None:
    assert build(["The age is 39, The sex is Male\n"]).generate(prompt, 1).text == text


def test_a_stop_string_ends_the_text_and_is_cut_off() -> None:
    model = build(["one two, three four\nfive"])

    assert model.generate("one", 99, ["\n"]) == (" two, three four", "stop", 4)
    assert model.generate("one", 99, ["ee f", "\n"]) == (" two, thr", "stop", 3)
    assert model.generate("four", 99, ["\n"]) == ("", "stop", 0)


def test_the_token_limit_counts_a_space_with_its_word() -> None:
    model = build(["one two, three four\nfive"])

    assert model.generate("one", 3) == (" two, three", "length", 3)
    assert model.generate("one", 0) == ("", "length", 0)


def test_a_document_ends_the_text() -> None:
    assert build(["one two", "three"]).generate("one", 99) == (" two", "end", 1)


def test_the_longer_context_decides() -> None:
    model = build(["b c b c b c a b d"])

    assert model.generate("x b", 1).text == " c"
    assert model.generate("a b", 1).text == " d"


def test_of_equally_frequent_tokens_the_first_in_the_corpus_is_generated() -> None:
    assert build(["a z", "a b"]).generate("a ", 1).text == "z"


def test_a_long_text_never_underflows() -> None:
    model = build(["a" + " a" * 400])

    assert model.score("a" + " a" * 200 + " x")[-1].log_probability < -700
