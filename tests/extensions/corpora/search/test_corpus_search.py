"""The search that is quick finds what the definition finds, and nothing else."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabcontam.evidence.questions import Lookup, LookupMode
from tabcontam.extensions.corpora.search import documents, text_blocks
from tabcontam.extensions.corpora.search.corpus_search import CorpusSearch
from tabcontam.extensions.corpora.search.corpus_words import blank_punctuation, words
from tabcontam.extensions.corpora.search.documents import DocumentStretch, Portion, ReaderInput
from tabcontam.extensions.corpora.search.exact_places import places
from tabcontam.extensions.corpora.search.file_forms import FileForm
from tabcontam.extensions.corpora.search.tally import Tally
from tabcontam.extensions.corpora.search.word_arrays import tokens

SCRAPS = ["1", "2", "12", "1.50", "1.5", ".5", "-2", "0", "00", ".0", "a", "A", "b", "a b", "New York", "é", "x-1"]
BETWEEN = [" ", ",", "\n", " | ", "&amp;", "\\n", "-", ".", "; word ", "\N{EM DASH}", ""]


def text_of(rng: Random, pieces: int) -> str:
    return "".join(rng.choice(SCRAPS) + rng.choice(BETWEEN) for _ in range(pieces))


def lookup_of(rng: Random, by: LookupMode) -> Lookup:
    if by is LookupMode.CELLS:
        beside = tuple(rng.choices(SCRAPS, k=rng.randrange(4)))
        return Lookup(tuple(rng.choices([*SCRAPS, "?"], k=rng.randint(1, 4))), 10, by, beside, rng.randrange(3))
    return Lookup(tuple(text_of(rng, rng.randint(1, 9)) for _ in range(rng.randint(1, 4))), 10, by)


def by_definition(texts: Sequence[bytes], lookup: Lookup) -> dict[str, set[int]]:
    held = {f"d{number}": {place.text for place in places(text, lookup)} for number, text in enumerate(texts)}
    return {source: found for source, found in held.items() if found}


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_search_agrees_with_the_definition(rng: Random) -> None:
    texts = [text_of(rng, rng.randrange(60)).encode() for _ in range(rng.randint(1, 6))]
    lookups = [lookup_of(rng, by) for by in LookupMode for _ in range(6)]
    found = CorpusSearch(lookups).find_matches(
        DocumentStretch(f"d{number}", 0, text) for number, text in enumerate(texts)
    )
    for number, lookup in enumerate(lookups):
        expected = by_definition(texts, lookup)
        assert (found[number].documents if number in found else {}) == expected, lookup
        for match in found[number].found if number in found else ():
            text = texts[int(match.source[1:])]
            assert (
                match.quote[match.begin : match.end].encode()
                == text[match.offset :][: match.end - match.begin + 99][
                    : len(match.quote[match.begin : match.end].encode())
                ]
            )


@given(st.text(alphabet="ab01.0 .-_é&;nr\\\u2212\u00a0\u201c\u3002\uff0c\u00b5", max_size=60))
def test_words_are_the_same_one_by_one_and_by_the_million(text: str) -> None:
    clean = blank_punctuation(text.encode())
    assert len(clean) == len(text.encode())
    found, many = words(clean), tokens(text.encode())
    assert [(word.begin, word.end) for word in found] == list(
        zip(many.begins.tolist(), many.ends.tolist(), strict=True)
    )
    known = {word.key: hashed for word, hashed in zip(found, many.hashes.tolist(), strict=True)}
    assert [known[word.key] for word in found] == many.hashes.tolist()
    assert all(tokens(key).hashes.tolist() == [hashed] for key, hashed in known.items())
    assert all(found[place].number for place in many.numbers.tolist())


@pytest.mark.slow
@pytest.mark.parametrize("by", LookupMode)
def test_nothing_is_lost_or_twice_at_the_borders_of_stretches(by: LookupMode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "STRETCH", 3000)
    monkeypatch.setattr(text_blocks, "LONGEST_ROW_SPAN", 300)
    monkeypatch.setattr(text_blocks, "MARGIN", 400)
    monkeypatch.setattr(text_blocks, "BLOCK", 5000)
    rng = Random(by.value)
    for _ in range(2 if by is LookupMode.CELLS else 8):
        texts = [text_of(rng, rng.choice([10, 1500])).encode() for _ in range(4)]
        lookups = [lookup_of(rng, by) for _ in range(6)]
        given = ReaderInput(Portion(Path(), "", FileForm.TEXT), BytesIO(), 1000, 1 << 24, Tally())
        parts = [part for n, text in enumerate(texts) for part in given.document(f"d{n}", text)]
        found = CorpusSearch(lookups).find_matches(parts)
        for number, lookup in enumerate(lookups):
            assert (found[number].documents if number in found else {}) == by_definition(texts, lookup), lookup


def test_a_row_is_found_in_which_block_ever_it_stands() -> None:
    lookups = [Lookup((f"v{n}",), by=LookupMode.CELLS, context=(f"{n}", "male", f"{n}.25")) for n in range(300)]
    filler = "Words that say nothing, 7 and 8. " * 900
    parts = (DocumentStretch(f"d{n}", 0, f"{filler} {n}, male, {n}.250, v{n} {filler}".encode()) for n in range(300))
    found = CorpusSearch(lookups).find_matches(parts)
    assert {number: list(counted.documents) for number, counted in found.items()} == {
        number: [f"d{number}"] for number in range(300)
    }


def test_counting_ends_where_there_are_very_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabcontam.extensions.corpora.search.lookup_matches.MOST_COUNTED_DOCUMENTS", 5)
    lookup = Lookup(("x", "y"), 2, LookupMode.CELLS, ("1",))
    parts = [DocumentStretch(f"d{n}", 0, b"1,x" if n else b"1,y") for n in range(9)]
    (counted,) = CorpusSearch([lookup]).find_matches(parts).values()
    answer = counted.matches(lookup)
    assert (answer.documents, answer.counts, answer.more) == (5, (4, 1), True)
    assert [(match.source, match.text) for match in answer.places] == [("d0", 1), ("d1", 0)]


def test_a_row_that_nearly_everything_may_be_takes_seconds_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabcontam.extensions.corpora.search.row_search.MOST_ROW_PLACES", 500)
    monkeypatch.setattr("tabcontam.extensions.corpora.search.row_search.MOST_CHECKED_WORDS", 9000)
    rng = Random(0)
    noise = [DocumentStretch(f"d{n}", 0, ",".join(rng.choices("01", k=20_000)).encode()) for n in range(3)]
    lookups = [
        Lookup(("1", "0"), by=LookupMode.CELLS, context=tuple("1101001101")),
        Lookup(("x",), by=LookupMode.CELLS, context=("7",)),
    ]
    found = CorpusSearch(lookups).find_matches([*noise, DocumentStretch("rare", 0, b"x 7")])
    assert found[0].more
    assert not found[0].full
    assert list(found[1].documents) == ["rare"]
    assert not found[1].more
