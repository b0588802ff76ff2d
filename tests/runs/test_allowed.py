"""What an LLM may know without having seen a table: rows of a known file, and what a reference LLM answers, too."""

import csv
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tabcontam.asking.run_progress import Progress
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Verdict
from tabcontam.report.plan_text import plan_text
from tabcontam.runs.folder import load, merge
from tabcontam.runs.rescoring import rescore
from tabcontam.runs.run import Outcome, check_rows_may_leave, execute, prepare, survey
from tabcontam.verdicts.gate import judge
from tabcontam.verdicts.notes import NoteKind
from tests.loopback import LoopbackServer, Response, error

FIRST = ("Luca", "Ana", "Jon", "Mia", "Leo", "Eva", "Tom", "Ida", "Max", "Zoe")
LAST = ("Berg", "Costa", "Dahl", "Egger", "Falk", "Gross", "Holm", "Jansen", "Kuhn", "Lang", "Moser", "Novak")
USUAL = {"name": "Ana Berg", "club": "North", "date_of_birth": "1990-01-01", "fee": "1.00"}
TEST = "feature_completion"
MODELS = ("new", "old", "silent", "broken", "sixth")

pytestmark = pytest.mark.usefixtures("cheaply")


def born(name: str) -> str:
    """The date of birth of a player, which everybody can look up."""
    rng = Random(name)
    return f"{rng.randint(1985, 2005)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"


def fee(name: str) -> str:
    """What a club paid for a player, in millions, which everybody can look up as well: no single column is all."""
    return f"{Random(f'fee of {name}').uniform(1, 99):.2f}"


FACTS = {"date_of_birth": born, "fee": fee}


@pytest.fixture
def players(tmp_path: Path) -> Path:
    """A file of made players, whose names tell those who know them when they were born and what they cost."""
    rng, path = Random(1), tmp_path / "players.csv"
    names = [f"{first} {last}" for first in FIRST for last in LAST]
    rng.shuffle(names)
    with path.open("w", newline="") as file:
        rows = [(name, rng.choice(("North", "South", "East")), born(name), fee(name)) for name in names]
        csv.writer(file).writerows([("name", "club", "date_of_birth", "fee"), *rows])
    return path


def answer(body: dict[str, object]) -> str | Response:
    """A server of LLMs of which two know players, one nothing, one a sixth of the players; and one is out of order."""
    messages = body["messages"]
    assert isinstance(messages, list)
    text = messages[-1]["content"]
    asked, named = re.search(r"Which value of (.*) does", text), re.findall(r"The name is ([^,\n]*)", text)
    if body["model"] == "broken":
        return error(400, "out of order")
    knows = body["model"] in ("new", "old") or (body["model"] == "sixth" and Random(text).random() < 1 / 6)
    if asked and asked[1] in FACTS and named and knows:
        return FACTS[asked[1]](named[-1])
    return "I cannot say that." if body["model"] == "silent" or not asked else USUAL[asked[1]]


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    """The LLMs on loopback."""
    with LoopbackServer(answer, models=MODELS) as running:
        yield running


def order(server: LoopbackServer, players: Path, out: str, reference: str | None = None, **more: object) -> RunConfig:
    """What a run of the LLM `new` about the players asks for."""
    basis = RunConfig(
        llm=(f"openai:new@{server.url}",),
        dataset=(str(players),),
        tests=TEST,
        controls=False,
        cache=False,
        reference=() if reference is None else (f"openai:{reference}@{server.url}",),
        out=players.parent / out,
    )
    return basis.replace(**more)


def made(asked: RunConfig) -> Outcome:
    """The run of an order."""
    return execute(prepare(asked), Progress())


def asked_of(server: LoopbackServer, model: str) -> int:
    """How many queries were put to a model."""
    return sum(body["model"] == model for body in server.asked)


@pytest.mark.slow
def test_facts_that_a_reference_answers_too_count_for_nothing(server: LoopbackServer, players: Path) -> None:
    alone, beside = made(order(server, players, "alone")), made(order(server, players, "beside", "old"))
    (before,), (after,) = alone.results.results, beside.results.results
    assert (before.verdict, after.verdict) == (Verdict.CONTAMINATED, Verdict.UNINFORMATIVE)  # all of it is known
    assert after.evidence.hits == before.evidence.hits
    assert after.evidence.recalled_bits == 0
    assert after.reference == f"openai:old@{server.url}"
    assert "queries, which count for nothing" in after.evidence.sentence
    assert asked_of(server, "old") == after.queries


@pytest.mark.slow
def test_a_reference_is_in_no_cell_ranking_gate_or_comparison(server: LoopbackServer, players: Path) -> None:
    found = made(order(server, players, "run", "old")).results
    new, old = (f"openai:{model}@{server.url}" for model in ("new", "old"))
    assert {cell.llm for cell in found.results} == {rank.llm for rank in found.ranking} == {new}
    assert [llm.spec for llm in found.run.llms] == [new]
    assert [(llm.spec, llm.requests) for llm in found.run.references] == [(old, found.results[0].queries)]
    assert [finding.llm for finding in judge(found).findings] == [new]
    assert [note.text for note in found.notes if note.kind is NoteKind.REFERENCE] == [
        f"reference {old}: right answers that it gives, too, count for nothing ({found.results[0].queries} requests)"
    ]


@pytest.mark.slow
def test_what_a_reference_knows_is_worth_no_bits_in_the_list_of_what_was_recalled(
    server: LoopbackServer, players: Path
) -> None:
    def worth(outcome: Outcome) -> list[float]:
        with (outcome.folder / "recalled.csv").open(newline="") as file:
            return [float(line["bits"]) for line in csv.DictReader(file) if line["right"] == "true"]

    alone, beside = (worth(made(order(server, players, f"run-{name}", name))) for name in (None, "old"))
    assert len(alone) == len(beside)
    assert min(alone) > 1
    assert set(beside) == {0.0}


@pytest.mark.slow
def test_what_only_the_llm_knows_is_found_beside_a_reference(server: LoopbackServer, players: Path) -> None:
    (cell,) = made(order(server, players, "run", "sixth")).results.results
    assert cell.verdict is Verdict.CONTAMINATED


@pytest.mark.parametrize("model", ["silent", "broken"])
@pytest.mark.slow
def test_refusals_and_failures_of_a_reference_are_no_knowledge(
    server: LoopbackServer, players: Path, model: str
) -> None:
    (alone,) = made(order(server, players, "alone")).results.results
    (beside,) = made(order(server, players, "beside", model)).results.results
    assert (beside.verdict, beside.evidence.p_value) == (Verdict.CONTAMINATED, alone.evidence.p_value)
    assert f"the reference openai:{model}@{server.url} answered only 0 of {beside.queries} queries" in (
        beside.evidence.sentence or ""
    )


@pytest.mark.slow
def test_a_folder_with_a_reference_gives_the_same_result_again(server: LoopbackServer, players: Path) -> None:
    outcome = made(order(server, players, "run", "old"))
    lines = [json.loads(line) for line in (outcome.folder / "trials.jsonl").read_text().splitlines()]
    assert sum(line["llm"].startswith("openai:old@") for line in lines) == outcome.results.results[0].queries
    assert rescore(outcome.folder, None).results == outcome.results.results
    merged = merge([outcome.folder], players.parent / "merged")
    assert merged.results == outcome.results.results
    assert [llm.spec for llm in merged.run.references] == [f"openai:old@{server.url}"]
    assert rescore(players.parent / "merged", None).results == outcome.results.results


@pytest.mark.slow
def test_runs_that_asked_a_reference_something_else_are_not_made_one(server: LoopbackServer, players: Path) -> None:
    one = made(order(server, players, "one", "old"))
    changes: dict[str, Any] = {"llm": (f"openai:sixth@{server.url}",), "seed": 1}
    other = made(order(server, players, "other", "old", **changes))
    with pytest.raises(UsageError, match=r"asked the reference openai:old@\S+ different queries of feature_completion"):
        merge([one.folder, other.folder], players.parent / "merged")
    third = made(order(server, players, "third", **changes))
    notes = merge([one.folder, third.folder], players.parent / "merged").run.notes
    assert any("different references" in note.text for note in notes)


@pytest.mark.slow
def test_a_reference_counts_in_the_budget_and_is_asked_first(server: LoopbackServer, players: Path) -> None:
    outcome = made(order(server, players, "run", "old", max_requests=50))
    (cell,) = outcome.results.results
    assert (asked_of(server, "old"), asked_of(server, "new")) == (cell.queries, 50 - cell.queries)
    assert 0 < cell.queries < 50
    assert outcome.results.run.limit == "--max-requests 50 is reached"
    assert cell.verdict is Verdict.NO_ANSWER
    whole = made(order(server, players, "run", "old"))  # which goes on
    assert (asked_of(server, "old"), asked_of(server, "new")) == (cell.queries, cell.queries)
    assert whole.results.results[0].verdict is Verdict.UNINFORMATIVE


@pytest.mark.slow
def test_a_reference_that_was_not_asked_to_the_end_is_told(server: LoopbackServer, players: Path) -> None:
    outcome = made(order(server, players, "run", "old"))
    path = outcome.folder / "trials.jsonl"
    lines = path.read_text().splitlines()
    kept = [line for line in lines if "openai:old@" not in line]
    path.write_text("\n".join([*kept, *(line for line in lines if line not in kept)][:-5]) + "\n")
    (cell,) = rescore(outcome.folder, None).results
    assert "answered only" in cell.evidence.sentence


@pytest.mark.slow
def test_an_llm_is_asked_to_the_end_where_its_finding_is_what_the_reference_knows(
    server: LoopbackServer, players: Path
) -> None:
    expression = f"{TEST} or full_completion"
    asked = order(server, players, "run", "old", stop_at_first=True, tests=expression)
    cells = made(asked).results.results
    assert Verdict.SKIPPED not in {cell.verdict for cell in cells}
    assert all(cell.queries == cell.evidence.answered or cell.verdict is Verdict.NO_ANSWER for cell in cells)


@pytest.mark.slow
def test_a_plan_counts_the_queries_of_the_reference(server: LoopbackServer, players: Path) -> None:
    run = prepare(order(server, players, "run", "old", tests=TEST))
    estimates, planned = survey(run), sum(len(cell.queries) for cell in run.plan if cell.subject.reference)
    assert [(each.llm.split("@")[0], each.requests) for each in estimates][-1] == ("openai:old", planned)
    text = plan_text(run.plan, estimates, {})
    assert f"openai:old@{server.url}  players.csv" in text
    assert f"{planned} to ask (the reference)" in text
    assert not server.asked


@pytest.mark.slow
def test_a_reference_is_asked_row_tests_alone(server: LoopbackServer, players: Path) -> None:
    run = prepare(order(server, players, "run", "old", tests=None, queries=30))
    tests = {cell.test.id for cell in run.plan if cell.subject.reference}
    assert tests == {"incomplete_completion", "full_completion", TEST, "matched_membership"}


def test_rows_are_shown_to_a_reference_elsewhere_only_with_leave(server: LoopbackServer, players: Path) -> None:
    elsewhere = "openai:old@http://llm.example/v1"
    run = prepare(order(server, players, "run").replace(reference=(elsewhere,)))
    with pytest.raises(UsageError, match=rf"rows would be shown to {re.escape(elsewhere)}; add --send-rows"):
        check_rows_may_leave(run)
    with pytest.raises(UsageError, match="no price is known for openai:old"):
        prepare(run.config.replace(max_cost=Decimal(1)))


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("openai:new@{url}", r"is openai:new@.*, which is under test"),
        ("control:unexposed", "is a control"),
        ("nobody", "unknown model 'nobody'"),
    ],
)
def test_a_reference_is_another_llm_than_those_under_test(
    server: LoopbackServer, players: Path, reference: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        prepare(order(server, players, "run").replace(reference=(reference.format(url=server.url),)))


def test_a_reference_that_cannot_be_reached_ends_the_run_before_anything_is_asked(
    server: LoopbackServer, players: Path
) -> None:
    with pytest.raises(UsageError, match=r"--reference: .*absent"):
        made(order(server, players, "run", "absent"))
    assert not server.asked


@pytest.mark.parametrize(("first", "second"), [("old", None), (None, "old"), ("old", "silent")])
@pytest.mark.slow
def test_a_folder_is_continued_with_the_same_reference_alone(
    server: LoopbackServer, players: Path, first: str | None, second: str | None
) -> None:
    made(order(server, players, "run", first))
    with pytest.raises(UsageError, match=r"holds a run with(out)? --reference"):
        made(order(server, players, "run", second))


@pytest.mark.slow
def test_known_rows_stand_in_the_facts_of_the_run(server: LoopbackServer, players: Path) -> None:
    lines = players.read_text().splitlines()
    known = players.parent / "known.csv"
    known.write_text("\n".join(lines[:41]) + "\n")
    outcome = made(order(server, players, "run", known=(str(known),)))
    (file,) = load(outcome.folder).run.known
    assert (file.name, file.rows, file.datasets) == ("known.csv", 40, ("players.csv",))
    assert len(file.sha256) == 64
    notes = [note.text for note in outcome.results.notes if note.kind is NoteKind.KNOWN]
    assert notes == [f"models may know rows of {file}; no query on players.csv is about them"]
    for body in server.asked:
        text = body["messages"][-1]["content"]
        asked = re.findall(r"The name is ([^,\n]*)", text)[-1]
        assert not any(line.startswith(f"{asked},") for line in lines[1:41])
    assert merge([outcome.folder], players.parent / "merged").run.known == (file,)
    assert rescore(outcome.folder, None).results == outcome.results.results


@pytest.mark.slow
def test_a_folder_is_continued_with_the_same_known_rows_alone(server: LoopbackServer, players: Path) -> None:
    lines = players.read_text().splitlines()
    for name, end in (("known.csv", 41), ("other.csv", 51)):
        (players.parent / name).write_text("\n".join(lines[:end]) + "\n")
    first, second = ((str(players.parent / name),) for name in ("known.csv", "other.csv"))
    made(order(server, players, "run", known=first))
    made(order(server, players, "run", known=first))
    with pytest.raises(UsageError, match=r"holds a run with --known known\.csv; choose another folder"):
        made(order(server, players, "run", known=second))
    with pytest.raises(UsageError, match=r"holds a run with --known known\.csv; choose another folder"):
        made(order(server, players, "run"))
