"""Bits a character of rows and of their twins: what is counted, what is paired, and what is concluded."""

import asyncio
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.likelihood import apart, found
from tabcontam.asking.query_plan import PlannedResult, RunSource, plan
from tabcontam.asking.run_progress import Progress
from tabcontam.asking.session import Session
from tabcontam.asking.trial_file import Journal
from tabcontam.config import RunConfig
from tabcontam.errors import Skip
from tabcontam.evidence.base import Evidence, Passage, Query, ReplyState, Scores, Token, Trial
from tabcontam.evidence.likelihood.published_scores import Perplexity
from tabcontam.evidence.trial_reading import read_trial
from tabcontam.models.base import Model
from tabcontam.models.known.control import open_control
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.models.openai.provider import OpenAIModel
from tabcontam.tables.serializers import Serializer, load_serializers
from tabcontam.tables.serializers.base import quoted
from tabcontam.tables.table import Table, load_table
from tabcontam.tables.twin_tables import twin, twin_rows
from tabcontam.verdicts.result_types import Result
from tests.loopback import LoopbackServer, Response, completion
from tests.made_tables import ships

TEST = Perplexity()
SERIALIZERS = load_serializers()
IS = SERIALIZERS["is"]
NEEDED = frozenset(TEST.needs)


def queries(table: Table, seed: int = 0, serializer: Serializer = IS) -> list[Query]:
    return TEST.queries(table, serializer, Random(seed))


def query(*cells: str | None) -> Query:
    columns = ("age", "job", "city")[: len(cells)]
    return Query("q", lambda: Passage(IS.row(columns, cells)), columns, cells, 1)


def read(of: Query, tokens: Sequence[tuple[str, float]], state: ReplyState = ReplyState.OK) -> float | None:
    """The bits a character that are read; scores are given in bits, too."""
    scores = Scores(tuple(Token(text, -bits * math.log(2)) for text, bits in tokens), state)
    parsed = TEST.read(of, scores, IS).parsed
    return None if parsed is None else float(str(parsed).split()[0])


def test_only_the_characters_of_values_count() -> None:
    tokens = [("The age is ", 9.0), ("39", 4.0), (", The job is ", 9.0), ("cook", 2.0)]
    assert read(query("39", "cook"), tokens) == pytest.approx((4 + 2) / 6)


def test_a_token_counts_with_the_share_of_it_that_lies_in_a_value() -> None:
    tokens = [("The", 9.0), (" age is 3", 9.0), ("9, T", 8.0), ("he job is cook", 14.0)]
    assert read(query("39", "cook"), tokens) == pytest.approx((1 + 2 + 4) / 6, abs=1e-5)


def test_the_first_token_is_left_out_with_its_characters() -> None:
    assert read(query("39", "cook"), [("The age is 39, ", 0.0), ("The job is ", 5.0), ("cook", 2.0)]) == 0.5
    assert read(query("39"), [("The age is 39", 0.0)]) is None


def test_what_a_split_letter_takes_counts_once() -> None:
    tokens = [("The age is ", 0.0), ("é", 3.0), ("", 5.0)]
    assert read(query("é"), tokens) == 8.0


def test_missing_values_have_no_characters() -> None:
    assert read(query(None, "cook"), [("The age is , The job is ", 3.0), ("cook", 2.0)]) == 0.5


@pytest.mark.parametrize(
    ("tokens", "state"),
    [
        ([("The age is 40", 1.0), ("!", 1.0)], ReplyState.OK),
        ([], ReplyState.OK),
        ([("The age is ", 1.0), ("39", 1.0)], ReplyState.FAILED),
        ([("The age is ", 1.0), ("39", math.inf)], ReplyState.OK),
    ],
)
def test_scores_of_anything_else_are_not_read(tokens: list[tuple[str, float]], state: ReplyState) -> None:
    assert read(query("39"), tokens, state) is None


CELLS = st.lists(
    st.none() | st.text() | st.sampled_from([", The b is 1", '"', "a, The c is", " "]), min_size=3, max_size=3
)


@pytest.mark.slow
@given(CELLS, st.sampled_from(sorted(SERIALIZERS)))
def test_values_are_found_where_they_stand_whatever_they_hold(cells: list[str | None], name: str) -> None:
    columns, serializer = ("a", "b", "c"), SERIALIZERS[name]
    row = serializer.row(columns, cells)
    places = serializer.places(columns, cells)
    assert len(places) == len(cells)
    for (start, end), cell in zip(places, cells, strict=True):
        assert row[start:end] in (serializer.value(cell), json.dumps(cell), cell or "", quoted(cell or ""))
    others = "".join(row[end:start] for (_, end), (start, _) in pairwise(places))
    empty = serializer.row(columns, [None] * 3)
    gaps = "".join(empty[end:start] for (_, end), (start, _) in pairwise(serializer.places(columns, [None] * 3)))
    assert others == gaps


@given(CELLS)
def test_bits_are_those_of_the_values_however_the_row_is_cut(cells: list[str | None]) -> None:
    """Every character of a value takes two bits, every other one seven; tokens are single characters."""
    columns = ("a", "b", "c")
    row = IS.row(columns, cells)
    valued = {place for start, end in IS.places(columns, cells) for place in range(start, end)}
    asked = replace(query("", "", ""), asked=columns, expected=tuple(cells))
    found = read(asked, [(sign, 2.0 if place in valued else 7.0) for place, sign in enumerate(row)])
    assert found == (pytest.approx(2.0) if valued else None)


def test_each_row_has_its_twins_row_behind_it() -> None:
    asked = queries(ships())
    twins = dict(twin_rows(ships(), "perplexity"))
    assert len(asked) == 200
    for own, other in zip(asked[::2], asked[1::2], strict=True):
        (place,) = own.rows
        assert (own.expected, other.expected) == (ships().rows[place], twins[place])
        assert (own.decoy_of, other.decoy_of, other.rows) == ("", own.id, ())
        assert own.question == Passage(IS.row(ships().columns, ships().rows[place]))
        assert other.expected not in ships().row_set


def test_which_rows_are_asked_depends_on_the_seed_alone() -> None:
    def asked(table: Table, seed: int = 0, serializer: Serializer = IS) -> list[tuple[str | None, ...]]:
        return [each.expected for each in queries(table, seed, serializer)]

    turned = replace(ships(), rows=tuple(reversed(ships().rows)), sha256="f" * 64)
    assert asked(ships()) == asked(ships(), 0, SERIALIZERS["colon"]) == asked(turned)
    assert asked(ships()) != asked(ships(), 1)


def test_its_twin_is_neither_the_decoys_nor_the_controls() -> None:
    own = [row for _, row in twin_rows(ships(), "perplexity")]
    assert sum(row in own for _, row in twin_rows(ships())) < len(own) / 10
    assert sum(row in own for row in twin(ships()).rows) < len(own) / 10


def test_a_table_without_a_twin_is_skipped() -> None:
    cells = tuple((one, other) for one in "abcd" for other in "xyz")
    table = replace(ships(), columns=("a", "b"), rows=cells, target="b", question=None)
    with pytest.raises(Skip, match="12 of 12 rows of a shuffled twin"):
        queries(table)


def weighed(*pairs: tuple[float | None, float | None]) -> Evidence:
    """Of pairs of bits a character; None where a side was not scored."""
    trials = []
    for number, sides in enumerate(pairs):
        for decoy_of, bits in zip(("", f"q{number}"), sides, strict=True):
            asked = replace(query("39"), id=f"q{number}{'-twin' * bool(decoy_of)}", decoy_of=decoy_of)
            tokens = (Token("The age is ", 0.0), Token("39", -2 * (bits or 0.0) * math.log(2)))
            scores = Scores((), ReplyState.FAILED, "gone") if bits is None else Scores(tokens, ReplyState.OK)
            trials.append(read_trial(TEST, Trial(asked, scores), IS))
    return TEST.weigh(trials, 0.01)


def test_the_evidence_is_the_mean_difference_of_pairs() -> None:
    evidence = weighed((1.0, 2.0), (2.0, 4.0), (3.0, 3.5), (2.0, 1.5))
    assert (evidence.measured.value, evidence.measured.expected) == (2.0, 2.75)
    low, high = evidence.interval or (0, 0)
    assert (low + high) / 2 == pytest.approx(0.75)
    assert (evidence.hits, evidence.asked, evidence.answered, evidence.score) == (3, 4, 4, 0.75)
    assert evidence.p_value is None
    assert evidence.sentence.startswith("2.00 bits a character in rows, 2.75 in a shuffled twin's: +0.75 [")
    assert evidence.sentence.endswith("3 of 4 rows take fewer bits than their twin's row")


def test_a_row_without_its_twin_is_not_counted() -> None:
    evidence = weighed((1.0, 2.0), (9.0, None), (None, 9.0), (1.0, 2.0))
    assert (evidence.measured.value, evidence.measured.expected, evidence.asked, evidence.answered) == (1.0, 2.0, 4, 2)
    assert "2 of 4 pairs were not scored" in evidence.sentence


def test_nothing_scored_is_no_evidence() -> None:
    evidence = weighed((None, None), (None, 2.0))
    assert (evidence.answered, evidence.hits, evidence.interval, evidence.score) == (0, 0, None, None)
    assert weighed((1.0, 2.0)).interval is None


@pytest.mark.slow
@pytest.mark.parametrize("table", ["iris", "wine", "ships"])
def test_one_who_read_the_table_is_told_from_one_who_read_a_twin(table: str) -> None:
    rows = ships() if table == "ships" else load_table(table)
    exposed, unexposed = (found(kind, rows) for kind in ("exposed", "unexposed"))
    assert apart(exposed, unexposed)
    low, high = unexposed.interval or (1, 1)
    assert low < 0 < high
    assert exposed.hits > 90


def session(model: Model, folder: Path, table: Table) -> Session:
    cells: list[PlannedResult] = plan([RunSource(model)], [table], [IS], [TEST], RunConfig(queries=40))
    return Session(cells, RunConfig(queries=40), Journal(folder), Progress())


def result(model: Model, folder: Path, table: Table) -> Result:
    """Of a cell that is asked to the end."""
    own = session(model, folder, table)

    async def whole() -> None:
        await own.connect()
        own.recall()
        await own.ask()
        await own.close()

    asyncio.run(whole())
    (cell,) = own.results()
    return cell


def knowing(rows: frozenset[str]) -> Callable[[dict[str, Any]], Response]:
    """A server with a token a character, to whom characters of rows that it knows are likelier."""

    def answer(body: dict[str, Any]) -> Response:
        if not body.get("echo"):
            return completion("?")
        text = body["prompt"]
        score = -0.1 if text in rows else -2.0
        logprobs = {"tokens": [*text, "?"], "token_logprobs": [None, *[score] * len(text)]}
        usage = {"prompt_tokens": len(text), "completion_tokens": 1}
        return Response({"choices": [{"text": text + "?", "logprobs": logprobs}], "usage": usage})

    return answer


def test_a_server_that_scores_texts_is_asked(tmp_path: Path) -> None:
    table = ships()
    rows = frozenset(IS.row(table.columns, row) for row in table.rows)
    with LoopbackServer(knowing(rows)) as server:
        cell = result(OpenAIModel("model", server.url, needs=NEEDED), tmp_path, table)
        assert len(server.asked) == 40
        again = result(OpenAIModel("model", server.url, needs=NEEDED), tmp_path, table)
        assert len(server.asked) == 40  # from the folder
    assert (cell.verdict, cell.evidence.score, cell.evidence.hits, cell.queries, cell.evidence.p_value) == (
        None,
        1.0,
        20,
        40,
        None,
    )
    assert cell.evidence.statistic is not None
    assert cell.evidence.measured.value == pytest.approx(0.1 / math.log(2), abs=1e-5)
    assert cell.evidence.measured.expected == pytest.approx(2 / math.log(2), abs=1e-5)
    assert again == cell


def test_a_server_that_scores_none_is_skipped_with_the_reason(tmp_path: Path) -> None:
    with LoopbackServer(lambda body: completion("?")) as server:
        cell = result(OpenAIModel("model", server.url, needs=NEEDED), tmp_path, ships())
        assert len(server.asked) == 2
    assert cell.verdict == "skipped"
    assert "needs log-probabilities" in str(cell.decision.reason)


def test_one_that_gives_no_log_probabilities_is_skipped(tmp_path: Path) -> None:
    assert result(SimulatedModel("oracle"), tmp_path, ships()).verdict == "skipped"


def test_a_control_is_scored_through_the_session(tmp_path: Path) -> None:
    cell = result(open_control("exposed", [IS]), tmp_path, ships())
    assert (cell.verdict, cell.evidence.score, cell.evidence.answered) == (None, 1.0, 20)
