"""What the controls read of a large table: all asked rows, what is around them and begins as they do, and a sample."""

import asyncio
from dataclasses import replace
from random import Random

import pytest

from tabcontam.evidence.base import Prompt, Query, Reply
from tabcontam.models.base import Model, ModelRequest
from tabcontam.models.known import control as control_excerpt
from tabcontam.models.known.control import control_documents, drawn_places, open_control, places_read
from tabcontam.models.thresholds import EXCERPT_ROWS_AFTER, EXCERPT_ROWS_BEFORE
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Table
from tabcontam.tables.thresholds import SAMPLED_BLOCK
from tabcontam.tables.twin_tables import twin

ROWS, SAMPLED = 3000, 400


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a table of a few thousand rows is a large one."""
    monkeypatch.setattr(control_excerpt, "MOST_ROWS_READ_WHOLE", 1000)
    monkeypatch.setattr(control_excerpt, "SAMPLED_ROWS", SAMPLED)


@pytest.fixture(scope="module")
def large() -> Table:
    """A table whose rows share their first cells with some others, and all cells but the last with one other."""
    rng = Random(0)
    rows = []
    for number in range(ROWS // 2):
        row = (f"{rng.randrange(200)}", rng.choice("abc"), f"{number}", f"{rng.randrange(10**6)}")
        rows += [row, (*row[:3], f"{rng.randrange(10**6)}")]
    rng.shuffle(rows)
    columns = ("group", "letter", "number", "value")
    return Table(name="large", title="large", edition="1", sha256="0" * 64, columns=columns, rows=tuple(rows))


def asking(*rows: int, shown: tuple[int, ...] = ()) -> Query:
    return Query("q", lambda: Prompt((), "", ""), (), (), 1, rows=(*shown, *rows), row=rows[-1])


def said(model: Model, prompt: str) -> str:
    reply = asyncio.run(model.generate(ModelRequest(Prompt((), prompt, "", ("\n",)), 200)))
    assert isinstance(reply, Reply)
    return reply.text


def test_up_to_the_stated_size_all_is_read(large: Table) -> None:
    small = replace(large, rows=large.rows[:1000])

    assert places_read(small, [asking(3)]) is None
    assert open_control("exposed").sampled(small, [asking(3)]) == ""


def test_the_sample_has_the_asked_rows_those_around_them_and_those_that_begin_as_they_do(large: Table) -> None:
    places = places_read(large, [asking(0, shown=(1234,)), asking(ROWS - 1)])

    assert places is not None
    assert list(places) == sorted(set(places))
    assert {
        *range(EXCERPT_ROWS_AFTER + 1),
        *range(1234 - EXCERPT_ROWS_BEFORE, 1234 + EXCERPT_ROWS_AFTER + 1),
        *range(ROWS - 1 - EXCERPT_ROWS_BEFORE, ROWS),
    } <= {*places}
    for asked in (0, 1234, ROWS - 1):
        head = large.rows[asked][:3]
        assert {place for place, row in enumerate(large.rows) if row[:3] == head} <= {*places}
    assert SAMPLED <= len(places) < SAMPLED + 150


def test_what_is_drawn_are_blocks_of_the_file_and_the_same_every_time() -> None:
    drawn = drawn_places(ROWS)

    assert drawn is not None
    assert drawn == drawn_places(ROWS)
    assert len(drawn) == SAMPLED
    assert all(place + 1 in drawn for place in drawn if (place + 1) % SAMPLED_BLOCK)


@pytest.mark.slow
def test_the_exposed_control_knows_as_much_of_asked_rows_as_when_it_has_read_all(
    large: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it is shown fits two rows or more: who read a single one of them would seem to know more than it did."""
    serializer = load_serializer("is")
    asked = Random(1).sample(range(ROWS), 60)
    queries = [asking(row) for row in asked]
    sampled = open_control("exposed").prepare(large, queries)
    monkeypatch.setattr(control_excerpt, "MOST_ROWS_READ_WHOLE", ROWS)
    whole = open_control("exposed").prepare(large, queries)
    written = {serializer.row(large.columns, row) for row in large.rows}
    right = dict.fromkeys((sampled, whole), 0)

    for row in asked:
        for shown in (2, 3):
            prompt = serializer.prefix(large.columns, large.rows[row], shown)
            for model in right:
                text = prompt + said(model, prompt)
                right[model] += text == serializer.row(large.columns, large.rows[row])
                assert text in written

    assert sampled.version != whole.version
    assert abs(right[sampled] - right[whole]) <= 3
    assert 20 < right[whole] < 80


def test_what_the_unexposed_control_reads_is_of_the_whole_tables_twin_whatever_is_asked(large: Table) -> None:
    control = open_control("unexposed")
    one, two = control.prepare(large, [asking(5)]), control.prepare(large, [asking(9)])
    file = [*control_documents(large, [], exposed=False, places=drawn_places(ROWS))][-1].splitlines()

    assert one is two
    assert len(file) == 1 + SAMPLED
    assert {*file[1:]} <= {",".join(map(str, row)) for row in twin(large).rows}
    assert not {*file[1:]} & {",".join(map(str, row)) for row in large.rows}


def test_a_control_asked_about_other_rows_reads_them(large: Table) -> None:
    control = open_control("exposed")

    assert control.prepare(large, [asking(5)]) is control.prepare(large, [asking(5)])
    assert control.prepare(large, [asking(5)]) is not control.prepare(large, [asking(9)])


def test_they_say_how_many_rows_they_read(large: Table) -> None:
    number = len(places_read(large, [asking(7)]) or ())

    assert open_control("exposed").sampled(large, [asking(7)]) == (
        f"read a sample of large: {number} of 3,000 rows, with all rows that queries ask about or show"
    )
    assert (
        open_control("unexposed").sampled(large, [asking(7)]) == "read a sample of a twin of large: 400 of 3,000 rows"
    )
