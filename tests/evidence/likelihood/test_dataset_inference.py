"""Dataset inference: which rows are compared, when nothing is asked, and what is concluded, by the command as well.

| fault of others | here |
|---|---|
| p-values of several splits of the same rows are combined as if they were independent | there is one p-value, of one permutation: `test_the_p_values_of_one_who_has_read_none_are_uniform_unlike_in_dataset_inference` |
| withheld rows of another time or source are a finding | `test_withheld_rows_that_anyone_can_tell_are_not_asked_about` |
"""  # noqa: E501

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tabcontam.asking.query_plan import RunSource, plan, rows_shown
from tabcontam.config import RunConfig
from tabcontam.errors import Skip, UsageError
from tabcontam.evidence.base import Evidence, Passage, Query, ReplyState, Scores, Token, Trial
from tabcontam.evidence.likelihood.dataset_inference import DatasetInference
from tabcontam.evidence.thresholds import MOST_ROWS_A_SIDE
from tabcontam.evidence.trial_reading import read_trial
from tabcontam.models.base import Model
from tabcontam.models.openai.provider import OpenAIModel
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.twin_tables import twin
from tabcontam.tables.unread_rows import comparable_rows, with_withheld
from tabcontam.verdicts.document import read_results
from tests.commands import tabcontam
from tests.made_tables import ships
from tests.made_tables import with_withheld as parted

IS = load_serializers()["is"]
TEST = DatasetInference()
TABLE = parted(ships(200))


def asked(table: Table = TABLE, seed: int = 0) -> list[Query]:
    return TEST.queries(table, IS, Random(seed))


def answered(queries: Iterable[Query], nats: Sequence[float]) -> list[Trial]:
    """Each row with so many nats a value."""
    trials = []
    for query, loss in zip(queries, nats, strict=True):
        question = query.question
        assert isinstance(question, Passage)
        places, tokens, before = IS.places(query.asked, query.expected), [], 0
        for start, end in places:
            tokens += [Token(question.text[before:start], -1.0), Token(question.text[start:end], -loss)]
            before = end
        told = (
            *(token for token in tokens if token.text),
            *([Token(question.text[before:], 0.0)] * (before < len(question.text))),
        )
        trials.append(read_trial(TEST, Trial(query, Scores(told, ReplyState.OK)), IS))
    return trials


def weighed(nats: Sequence[float], table: Table = TABLE) -> Evidence:
    return TEST.weigh(answered(asked(table), nats), 0.01)


# What is asked


def test_published_and_withheld_rows_take_turns_and_say_which_they_are() -> None:
    queries = asked()
    assert len(queries) == 200
    for own, other in zip(queries[::2], queries[1::2], strict=True):
        (place,) = own.rows
        assert (own.expected, own.withheld, own.decoy_of) == (TABLE.rows[place], False, "")
        assert (other.rows, other.withheld, other.decoy_of) == ((), True, own.id)
        assert other.expected in TABLE.withheld
        assert own.question == Passage(IS.row(TABLE.columns, own.expected))
    assert len({query.expected for query in queries}) == 200


@pytest.mark.slow
def test_of_a_large_table_some_rows_are_drawn() -> None:
    large = parted(ships(1400), 5)
    assert len(asked(large)) == 2 * MOST_ROWS_A_SIDE
    assert {query.expected for query in asked(large)} != {query.expected for query in asked(large, 1)}


def test_contents_that_stand_twice_are_left_out_on_both_sides() -> None:
    """To leave out only withheld rows would leave the common contents to the published ones."""
    twice = replace(
        TABLE, rows=(*TABLE.rows, TABLE.rows[0], TABLE.withheld[1]), withheld=(*TABLE.withheld, TABLE.withheld[2])
    )
    rows = comparable_rows(twice)
    assert set(rows.published) == set(range(1, 100))
    assert set(rows.withheld) == set(range(100)) - {1, 2}


def test_rows_that_may_be_known_are_compared_on_neither_side() -> None:
    known = replace(TABLE, known=((TABLE.rows[0], TABLE.withheld[0]),))
    assert 0 not in comparable_rows(known).published
    assert 0 not in comparable_rows(known).withheld


def later(rows: Iterable[tuple[Cell, ...]]) -> list[tuple[Cell, ...]]:
    return sorted(rows, key=lambda row: int(row[0] or 0))


def test_withheld_rows_that_anyone_can_tell_are_not_asked_about() -> None:
    every = later([*TABLE.rows, *TABLE.withheld])
    sorted_off = replace(TABLE, rows=tuple(every[:100]), withheld=tuple(every[100:]))
    with pytest.raises(Skip, match=r"distinguishes the withheld rows from those of .*, by (a|rows) "):
        asked(sorted_off)
    one = TABLE.columns.index("length_m")
    written = replace(
        TABLE, withheld=tuple((*row[:one], f"{float(row[one] or 0):.1f}", *row[one + 1 :]) for row in TABLE.withheld)
    )
    with pytest.raises(Skip, match="another program wrote them"):
        asked(written)


def test_too_few_rows_are_not_asked_about() -> None:
    with pytest.raises(
        Skip, match="100 published and 9 withheld rows occur once among all of them; the test needs 10 of"
    ):
        asked(replace(TABLE, withheld=TABLE.withheld[:9]))
    with pytest.raises(Skip, match="no unpublished rows of the table's source were given"):
        asked(replace(TABLE, withheld=()))
    assert "too few rows for a verdict" in str(TEST.uninformative(asked()[:4], 0.01))
    assert TEST.uninformative(asked(), 0.01) is None


# What is concluded


def test_one_who_finds_published_rows_likelier_is_found() -> None:
    rng = Random(0)
    evidence = weighed([rng.uniform(0.8, 2.0) + 0.5 * query.withheld for query in asked()])
    assert evidence.p_value is not None
    assert evidence.p_value <= 0.001
    assert evidence.measured.value > 0.7
    assert (evidence.asked, evidence.answered, evidence.without) == (100, 100, {})
    assert "in published rows" in evidence.sentence


def test_one_who_finds_withheld_rows_likelier_is_not() -> None:
    rng = Random(0)
    assert weighed([rng.uniform(0.8, 2.0) - 0.5 * query.withheld for query in asked()]).p_value == pytest.approx(
        1, abs=0.01
    )


def query_of(row: tuple[Cell, ...], decoy_of: str = "") -> Query:
    return Query("q", lambda: Passage(IS.row(TABLE.columns, row)), TABLE.columns, row, 1, decoy_of=decoy_of)


@pytest.mark.slow
def test_the_p_values_of_one_who_has_read_none_are_uniform_unlike_in_dataset_inference() -> None:
    """Whatever is likely to it: here long rows are."""
    found = []
    for seed in range(60):
        table = parted(ships(60), seed)
        rng = Random(seed)
        queries = [*(query_of(row) for row in table.rows), *(query_of(row, "beside") for row in table.withheld)]
        nats = [3 - len(IS.row(query.asked, query.expected)) / 200 + rng.uniform(0, 0.3) for query in queries]
        found.append(TEST.weigh(answered(queries, nats), 0.01).p_value or 0.0)
    assert 0.38 < sum(found) / len(found) < 0.62
    assert min(found) > 0.001


def test_what_is_usual_is_set_off() -> None:
    """Long rows take more: the difference between rows of one length shows all the same."""
    rng = Random(1)
    queries = asked()
    long = [len(IS.row(query.asked, query.expected)) for query in queries]
    nats = [own / 20 + 0.15 * query.withheld + rng.uniform(0, 0.2) for own, query in zip(long, queries, strict=True)]
    assert (weighed(nats).p_value or 1) <= 0.001


def test_rows_that_were_not_scored_are_no_answers() -> None:
    failed = [Trial(query, Scores((), ReplyState.FAILED, "gone")) for query in asked()]
    evidence = TEST.weigh([read_trial(TEST, trial, IS) for trial in failed], 0.01)
    assert (evidence.answered, evidence.p_value, evidence.interval) == (0, 1.0, None)


# What leaves, and what is published


def test_withheld_rows_leave_by_leave_alone_also_beside_a_public_table() -> None:
    assert not TABLE.private
    remote: Model = OpenAIModel("model", "https://example.com/v1", needs=frozenset(TEST.needs))
    cells = plan([RunSource(remote)], [TABLE], [IS], [TEST], RunConfig())
    assert list(rows_shown(cells).values()) == [100]


def test_the_twin_of_a_control_has_read_as_much_of_both() -> None:
    """Else it would know the published cells, and be found though it has read no row."""
    names = {row[3] for row in twin(TABLE).rows}
    assert len(names & {row[3] for row in TABLE.withheld}) > 80
    assert not set(twin(TABLE).rows) & {*TABLE.rows, *TABLE.withheld}


# The files


def write(folder: Path, name: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    with (folder / name).open("w", newline="") as file:
        csv.writer(file).writerows([columns, *([cell or "" for cell in row] for row in rows)])
    return str(folder / name)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a published table and its withheld rows, whose columns stand in another order."""
    write(tmp_path, "my.csv", TABLE.columns, TABLE.rows)
    write(tmp_path, "held.csv", TABLE.columns[::-1], (row[::-1] for row in (*TABLE.withheld, TABLE.rows[0])))
    return tmp_path


def test_bad_files_are_one_line_that_says_what_to_give(tmp_path: Path) -> None:
    def refused(columns: Sequence[str], rows: Iterable[Sequence[Cell]], tables: Sequence[Table] = (TABLE,)) -> str:
        with pytest.raises(UsageError) as error:
            with_withheld(tables, [write(tmp_path, "held.csv", columns, rows)])
        assert "\n" not in str(error.value)
        return str(error.value)

    bare = replace(TABLE, withheld=())
    lacking = refused(TABLE.columns[1:], (row[1:] for row in TABLE.withheld), [bare])
    assert f"held.csv lacks the column {TABLE.columns[0]!r} of {TABLE.name}; give rows of the same source" in lacking
    assert "every row of held.csv stands in" in refused(TABLE.columns, TABLE.rows[:30], [bare])
    two = [bare, replace(bare, name="other")]
    assert "has the columns of ships and other; test one of them at a time" in refused(
        TABLE.columns, TABLE.withheld, two
    ).replace(TABLE.name, "ships")


@pytest.mark.slow
def test_the_command_finds_who_has_read_the_published_rows(home: Path) -> None:
    cache, given = str(home / "cache"), ("--dataset", "my.csv", "--withheld", "held.csv", "-k", "dataset_inference")
    done = tabcontam("run", *given, "--out", "run", cwd=home, XDG_CACHE_HOME=cache)
    assert done.returncode == 0, done.stderr
    assert "held.csv: 1 of 101 rows are in my.csv, too, and not compared" in done.stderr
    cells = {cell["llm"]: cell for cell in json.loads((home / "run" / "results.json").read_text())["results"]}
    assert (cells["control:exposed"]["verdict"], cells["control:exposed"]["p_value"]) == ("contaminated", 0.0001)
    assert cells["control:unexposed"]["verdict"] == "not detected"
    (dataset,) = read_results(home / "run").run.datasets
    assert dataset.withheld == 101
    assert len(dataset.withheld_sha256) == 64

    assert tabcontam("rescore", "run", cwd=home).returncode == 0
    after = json.loads((home / "run" / "results.json").read_text())["results"]
    assert [cell["p_value"] for cell in after] == [cell["p_value"] for cell in cells.values()]
    write(home, "held.csv", TABLE.columns, TABLE.withheld[1:])
    other = tabcontam("run", *given, "--out", "run", cwd=home, XDG_CACHE_HOME=cache)
    assert other.returncode == 4
    assert "run holds a run with 101 withheld rows of my.csv; choose another folder" in other.stderr


def test_a_run_without_withheld_rows_does_not_ask_it(home: Path) -> None:
    done = tabcontam("run", "--dataset", "my.csv", "-k", "dataset_inference", cwd=home)
    assert done.returncode == 5
    assert "dataset_inference needs rows of the table's source that were never published; add --withheld" in done.stderr
    done = tabcontam("run", "--dataset", "my.csv", "--withheld", "my.csv", "--out", "run", cwd=home)
    assert done.returncode == 4
    assert "every row of my.csv stands in my.csv, too" in done.stderr
    assert not (home / "run").exists()
