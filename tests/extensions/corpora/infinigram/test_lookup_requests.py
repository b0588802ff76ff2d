"""What stands in somebody else's index: rows in any rendering, and texts; and when nobody can say what is absent."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest

from tabcontam.evidence.questions import Lookup, LookupMode, Matches, ReplyState
from tabcontam.extensions.corpora.infinigram import index_memory, lookup_requests
from tabcontam.extensions.corpora.infinigram.lookup_requests import found_in
from tabcontam.extensions.corpora.infinigram.provider import InfinigramModel
from tabcontam.extensions.corpora.infinigram.replies import Excerpt, places_in
from tabcontam.extensions.corpora.search import exact_places
from tabcontam.models.base import LackError, ModelRequest, SpentError
from tests.extensions.corpora.loopback_infinigram import InfinigramServer
from tests.loopback import Response

NAMES = ("port", "cargo", "length", "built", "flag")
CARGO = ("Coal", "grain", "Timber", "iron ore", "wool")
PROSE = ["In 1907 the port of Zand took 211 ships, and 35 of them carried coal.", "Nothing of 5.10 and 3.5."] * 20


def made(rows: int, seed: int = 0) -> list[tuple[str, ...]]:
    rng = Random(seed)
    return [
        (
            rng.choice(("Zand", "Marle", "Oud-Hove")),
            rng.choice(CARGO),
            f"{rng.randrange(2000, 9999) / 100:.2f}",
            str(rng.randrange(1850, 1930)),
            rng.choice(("NL", "UK")),
        )
        for _ in range(rows)
    ]


ROWS = made(40)
RENDERINGS: dict[str, Callable[[Sequence[str]], str]] = {
    "csv": ",".join,
    "tsv": "\t".join,
    "quoted": lambda row: ",".join(f'"{cell}"' for cell in row),
    "markdown": lambda row: f"| {' | '.join(row)} |",
    "json": lambda row: "{" + ", ".join(f'"{name}": "{cell}"' for name, cell in zip(NAMES, row, strict=True)) + "}",
    "prose": lambda row: f"The {row[1]} ship of {row[0]}, built in {row[3]}, sails under {row[4]}, {row[2]} m long.",
    "small letters": lambda row: ",".join(row).lower(),
    "backwards": lambda row: "; ".join(reversed(row)),
}


def row_of(row: Sequence[str], hidden: int = 2, decoys: Sequence[str] = ("11.11", "98.76"), **given: Any) -> Lookup:
    beside = tuple(cell for place, cell in enumerate(row) if place != hidden)
    return Lookup((row[hidden], *decoys), by=LookupMode.CELLS, context=beside, **given)


@contextmanager
def index(documents: Sequence[str], **given: Any) -> Iterator[tuple[InfinigramServer, InfinigramModel]]:
    with InfinigramServer({"tiny": documents}, **given) as server:
        yield server, InfinigramModel("tiny", address=server.url)


def ask(model: InfinigramModel, *lookups: Lookup, again: Callable[[], None] = lambda: None) -> list[Matches]:
    """The answers, one after the other."""

    async def work() -> list[Matches]:
        try:
            return [await model.search(ModelRequest(lookup, again=again)) for lookup in lookups]
        finally:
            await model.close()

    return asyncio.run(work())


def found(documents: Sequence[str], lookup: Lookup, **given: Any) -> Matches:
    with index(documents, **given) as (_, model):
        return ask(model, lookup)[0]


# Rows


@pytest.mark.parametrize("rendering", RENDERINGS)
def test_a_planted_row_is_found_in_any_rendering_and_no_other(rendering: str) -> None:
    text = RENDERINGS[rendering](ROWS[0])
    there, absent = row_of(ROWS[0]), row_of(ROWS[1])
    with index([*PROSE, f"Ships. {text}\nThat is all.", *PROSE]) as (_, model):
        planted, other = ask(model, there, absent)
    assert (planted.state, planted.counts, planted.documents, planted.more) == (ReplyState.OK, (1, 0, 0), 1, False)
    assert (other.state, other.counts, other.places, other.more) == (ReplyState.OK, (0, 0, 0), (), False)
    (match,) = planted.places
    assert match.source == "document 40 (part-0.jsonl, line 40)"
    assert ROWS[0][2] in match.quote[match.begin : match.end]
    assert match.offset == -1


def test_of_a_table_in_a_file_every_row_is_found_by_its_own_cell_and_no_decoy_wins() -> None:
    own = ["\n".join([",".join(NAMES), *map(",".join, ROWS[:20])])]
    with index([*PROSE, *own]) as (_, model):
        planted = ask(model, *map(row_of, ROWS[:20]))
        others = ask(model, *map(row_of, ROWS[20:]))
    assert [answer.counts for answer in planted] == [(1, 0, 0)] * 20
    assert [answer.counts for answer in others] == [(0, 0, 0)] * 20


def test_a_decoy_that_stands_there_is_counted_and_the_row_is_not() -> None:
    """What is compared is in no query, so that its alternatives are found alike."""
    planted = (*ROWS[0][:2], "98.76", *ROWS[0][3:])
    with index([*PROSE, ",".join(planted)]) as (server, model):
        (answer,) = ask(model, row_of(ROWS[0]))
        sent = [request.body.get("query", "") for request in server.requests]
    assert answer.counts == (0, 0, 1)
    assert not any(text in query for query in sent for text in (ROWS[0][2], "98.76", "11.11"))


def test_documents_are_counted_once_each() -> None:
    text = ",".join(ROWS[0])
    answer = found([*PROSE, f"{text}\n{text}\nand again {text}", f"A copy: {text}"], row_of(ROWS[0]))
    assert (answer.counts, answer.documents, answer.more) == ((2, 0, 0), 2, False)


@pytest.mark.parametrize(("lacking", "counts"), [(0, (0, 0, 0)), (1, (1, 0, 0))])
def test_a_row_may_lack_a_value_where_that_is_allowed(lacking: int, counts: tuple[int, ...]) -> None:
    there = (*ROWS[0][:3], ROWS[0][4])  # without the year
    assert found([*PROSE, ",".join(there)], row_of(ROWS[0], lacking=lacking)).counts == counts


def test_numbers_are_found_by_their_value() -> None:
    documents = [*PROSE, "Zand;7.1;12;3.50;1902"]
    lookup = Lookup(("1902", "1903"), by=LookupMode.CELLS, context=("Zand", "7.10", "12.0", "3.5"))
    assert found(documents, lookup).counts == (1, 0)


def test_at_the_edge_of_a_stretch_no_cell_of_the_next_row_wins_in_place_of_one_that_is_cut_off() -> None:
    lookup = Lookup(("5.1", "4.9"), by=LookupMode.CELLS, context=("3.5", "1.4", "0.2"))
    whole = "7.0,3.2,4.7,1.4\n5.1,3.5,1.4,0.2\n4.9,3.0,1.3,0.1\n6.3,3.3,6.0,2.5"
    (match,) = found_in(lookup, Excerpt(0, whole, "all", begins=False, ends=False))
    assert match.text == 0
    cut = whole[whole.index("3.5") :]
    assert [match.text for match in found_in(lookup, Excerpt(0, cut, "a document that begins so"))] == [1]
    assert found_in(lookup, Excerpt(0, cut, "a stretch", begins=False)) == []


@pytest.mark.slow
def test_what_is_found_in_stretches_is_what_stands_in_the_whole_document() -> None:
    rng = Random(4)
    rows = [[f"{rng.randrange(10)}.{rng.randrange(5)}" for _ in range(5)] for _ in range(300)]
    document = "\n".join(map(",".join, rows))
    lookups = [row_of(row, decoys=("0.0", "4.4", "9.1")) for row in rows[::50]]
    with index([*PROSE, document], shards=1) as (_, model):
        answers = ask(model, *lookups)
    for lookup, answer in zip(lookups, answers, strict=True):
        there = {place.text for place in exact_places.places(document.encode(), lookup)}
        told = {text for text, count in enumerate(answer.counts) if count}
        assert told == there or (answer.more and told < there)
    assert sum(answer.counts[0] for answer in answers) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("rendering", ["csv", "json", "prose"])
def test_of_rows_a_document_each_none_is_cleared_that_stands_there(rendering: str) -> None:
    """Who is cleared wrongly: a table in an instruction set, a row a document, beside others of the same values.

    The server drops what it finds on both sides of a value where one side is in another document.
    """
    rows = made(60, seed=3)
    with index([RENDERINGS[rendering](row) for row in rows]) as (_, model):
        planted = ask(model, *map(row_of, rows[:20]))
        absent = ask(model, *map(row_of, ROWS[:20]))
    assert all(answer.counts[0] == 1 or answer.state is ReplyState.TRUNCATED for answer in planted)
    assert sum(answer.counts[0] for answer in planted) >= 15
    assert [answer.counts for answer in absent] == [(0, 0, 0)] * 20


@pytest.mark.parametrize(("beside", "lacking"), [(("?", "-"), 0), ((), 0), (("7", "8"), 2)])
def test_too_few_values_are_no_row(beside: tuple[str, ...], lacking: int) -> None:
    answer = found(PROSE, Lookup(("5", "6"), by=LookupMode.CELLS, context=beside, lacking=lacking))
    assert (answer.state, answer.detail) == (ReplyState.FAILED, "too few of the row's other values can be searched for")


def test_operators_of_the_server_in_a_cell_are_no_operators() -> None:
    documents = [*PROSE, "bread AND butter,7.25,1911,round OR square"]
    lookup = Lookup(("7.25", "7.26"), by=LookupMode.CELLS, context=("bread AND butter", "1911", "round OR square"))
    assert found(documents, lookup).counts == (1, 0)
    assert found(documents, Lookup(("bread AND butter", "butter OR bread"))).counts == (1, 0)


# What the server cannot say


@pytest.fixture
def common(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every value of a row is so common that the server looks at a sample of its places."""
    monkeypatch.setattr(index_memory, "MOST_LISTED_PLACES", 6)
    monkeypatch.setattr(lookup_requests, "MOST_LISTED_PLACES", 6)
    monkeypatch.setattr(lookup_requests, "MOST_SEARCHED_PLACES", 6)


COMMON = [*(f"{row[0]} {row[1]} {row[3]} {row[4]}" for row in ROWS for _ in range(5)), *PROSE]


@pytest.mark.usefixtures("common")
def test_a_sample_of_common_values_is_never_read_as_not_there() -> None:
    answer = found(COMMON, row_of(ROWS[0]))
    assert (answer.state, answer.counts, answer.more) == (ReplyState.TRUNCATED, (0, 0, 0), True)
    assert answer.detail == "the text is so common that the index searched only a sample of its places"


@pytest.mark.usefixtures("common")
def test_a_row_of_common_values_is_found_as_files_have_it() -> None:
    answer = found([*COMMON, "\n".join(map(",".join, ROWS))], row_of(ROWS[0]))
    assert (answer.state, answer.counts, answer.more) == (ReplyState.OK, (1, 0, 0), True)


def test_a_sample_that_the_server_calls_exact_is_told_all_the_same() -> None:
    """It divides by whole numbers: of a value with 30 places it looks at 20, and calls that exact."""
    places = places_in({"cnt": 20, "approx": False, "ptrs_by_shard": [list(range(20)), []]})
    assert not places.complete(40)
    assert places.complete(42)


def test_more_places_than_are_read_are_never_read_as_not_there() -> None:
    other = (*ROWS[0][:2], "55.55", *ROWS[0][3:])
    with index([",".join(other) for _ in range(30)]) as (server, model):
        (answer,) = ask(model, row_of(ROWS[0], most=3))
        read = server.kinds().count("get_doc_by_ptr")
    assert (answer.state, answer.counts, answer.more) == (ReplyState.TRUNCATED, (0, 0, 0), True)
    assert answer.detail == "there may be more places than the 6 that were read"
    assert read == 6


def test_a_document_that_is_not_shown_is_never_read_as_not_there() -> None:
    def taken_down(body: dict[str, Any]) -> Response | None:
        blocked = {"doc_ix": 1, "doc_len": 9, "disp_len": 0, "token_ids": [], "spans": [], "blocked": True}
        return Response(blocked) if body["query_type"] == "get_doc_by_ptr" else None

    answer = found([*PROSE, ",".join(ROWS[0])], row_of(ROWS[0]), answer=taken_down)
    assert (answer.state, answer.more) == (ReplyState.TRUNCATED, True)
    assert "does not show every document" in answer.detail


# Texts


@pytest.mark.parametrize("before", [" ", ",", '"', "\n", "\t", "("])
@pytest.mark.parametrize("by", [LookupMode.LETTERS, LookupMode.WORDS])
def test_a_text_is_found_behind_any_sign(before: str, by: LookupMode) -> None:
    answer = found([*PROSE, f"x{before}Timber of Marle, 1911"], Lookup(("Timber of Marle", "Wool of Marle"), by=by))
    assert answer.counts == (1, 0)


def test_case_counts_by_letters_alone() -> None:
    documents = [*PROSE, "timber of marle"]
    assert found(documents, Lookup(("Timber of Marle",))).counts == (0,)
    assert found(documents, Lookup(("Timber of Marle",), by=LookupMode.WORDS)).counts == (1,)


def test_texts_that_stand_in_more_places_than_are_read_are_counted_in_part() -> None:
    answer = found(PROSE, Lookup(("ships",), most=3))
    assert (answer.counts, answer.documents, len(answer.places), answer.more) == ((3,), 3, 3, True)


def test_signs_alone_cannot_be_asked_and_nothing_is_sent() -> None:
    with index(PROSE) as (server, model), pytest.raises(LackError, match="not letters across blanks") as caught:
        ask(model, Lookup(("5.10and3.5",), by=LookupMode.SIGNS))
    assert not caught.value.sent
    assert server.requests == []


# Frugality


def test_a_row_takes_few_requests_and_each_but_the_first_is_counted() -> None:
    counted = list[int]()
    with index([*PROSE, *map(",".join, ROWS[:20])]) as (server, model):
        answers = ask(model, *map(row_of, ROWS), again=lambda: counted.append(1))
        sent = len(server.requests)
    assert sent == len(counted) + len(answers)
    assert sent <= 12 * len(ROWS)


def test_how_texts_are_tokenised_is_asked_once() -> None:
    with index([*PROSE, ",".join(ROWS[0])]) as (server, model):
        ask(model, row_of(ROWS[0]), row_of(ROWS[0], decoys=("1.23",)))
        assert server.kinds().count("count") == 1


def test_no_further_request_is_sent_beyond_the_limit() -> None:
    def again() -> None:
        raise SpentError("the limit of 1 request is reached")

    with index([*PROSE, ",".join(ROWS[0])]) as (server, model):
        with pytest.raises(SpentError):
            ask(model, row_of(ROWS[0]), again=again)
        assert len(server.requests) == 1


def test_a_long_document_with_many_places_is_read_in_few_stretches() -> None:
    rows = "\n".join(",".join((*ROWS[0][:2], f"{number}.5", *ROWS[0][3:])) for number in range(100, 400))
    with index([rows, *PROSE], shards=1) as (server, model):
        (answer,) = ask(model, row_of(ROWS[0]))
        assert server.kinds().count("get_doc_by_ptr") < 10
    assert (answer.state, answer.more) == (ReplyState.OK, False)
