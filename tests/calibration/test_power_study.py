"""What is measured by asking simulated answerers, with a test of known error rates."""

import io
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, ClassVar, cast

import pytest
from rich.console import Console

from tabcontam.asking.run_progress import Progress, Tell
from tabcontam.baseline.cell_prediction import marginal
from tabcontam.calibration import power_study
from tabcontam.calibration.conclusion import conclusions
from tabcontam.calibration.power_study import (
    ANSWERERS,
    IGNORANT,
    MEMORISERS,
    TOGETHER,
    AnswererResults,
    Study,
    ask,
    judge,
    measure,
    planned,
    rate_of,
)
from tabcontam.cli.commands import main
from tabcontam.errors import Skip, UsageError
from tabcontam.evidence import base
from tabcontam.evidence.answering import AnswerKind, CellAnswers, WordAnswers
from tabcontam.evidence.base import (
    Evidence,
    EvidenceKind,
    Family,
    Message,
    Prompt,
    Query,
    Reading,
    Reply,
    ReplyState,
    Statistic,
    Trial,
    Verdict,
)
from tabcontam.models.base import ModelRequest
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.reading.answer_text import declines, same_value
from tabcontam.report.power_text import print_power
from tabcontam.statistics.exact_statistics import poisson_binomial_tail
from tabcontam.tables.serializers import Serializer, load_serializers
from tabcontam.tables.table import Table
from tests.commands import environment
from tests.made_tables import ships

IS = load_serializers()["is"]
QUERIES = 30


@dataclass(frozen=True)
class OneCell(base.Test):
    """Asks one cell of some rows, whose guess is its column's frequencies."""

    feature: str = "crewCnt"
    id: ClassVar[str] = "feature_completion"
    family: ClassVar[Family] = Family.ROWS
    kind: ClassVar[EvidenceKind] = EvidenceKind.MEMORIZATION
    answering: ClassVar[AnswerKind] = CellAnswers()

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        rows = rng.sample(range(len(table.rows)), QUERIES)
        chance = {self.feature: marginal(table.column(self.feature))}
        cells = table.column(self.feature)
        return [
            Query(
                f"{self.id}-{number}",
                partial(written, row),
                (self.feature,),
                (cells[row],),
                8,
                rows=(row,),
                chance=chance,
            )
            for number, row in enumerate(rows)
        ]

    def read(self, query: Query, reply: Reply, serializer: Serializer) -> Reading:
        answered = reply.state is ReplyState.OK and not declines(reply.text)
        hit = answered and same_value(reply.text, query.expected[0])
        return Reading(reply.text if answered else None, hit, hit, answered, query.asked if hit else ())

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        readings = [trial.reading for trial in trials if trial.reading]
        chances = [
            trial.query.chance[self.feature].chance_of(str(trial.reading.parsed))
            for trial in trials
            if trial.reading and trial.reading.readable
        ]
        hits, answered = sum(each.hit is True for each in readings), sum(each.readable for each in readings)
        p_value = poisson_binomial_tail(chances, hits)
        return Evidence(
            statistic=Statistic(name="hits", value=hits),
            null="",
            sentence="",
            hits=hits,
            asked=len(trials),
            answered=answered,
            p_value=p_value,
        )

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        surest = max(query.chance[self.feature].surest for query in queries)
        return "everyone knows it" if surest > 0.4 else None


@dataclass(frozen=True)
class Unfit(OneCell):
    """Cannot be asked."""

    id: ClassVar[str] = "full_completion"

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        raise Skip("no row can be asked")


@dataclass(frozen=True)
class Words(OneCell):
    """Shows no row, and finds whoever says the first column."""

    id: ClassVar[str] = "feature_list_uninformed"
    family: ClassVar[Family] = Family.KNOWLEDGE
    shows_rows: ClassVar[bool] = False
    answering: ClassVar[AnswerKind] = WordAnswers()

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        decoy = f"{self.id}-0"
        return [
            Query(f"{self.id}-0", partial(written, 0), (), table.columns, 8),
            Query(f"{self.id}-0-decoy-1", partial(written, 1), (), table.columns, 8, decoy_of=decoy),
        ]

    def read(self, query: Query, reply: Reply, serializer: Serializer) -> Reading:
        hit = str(query.expected[0]) in reply.text
        return Reading(reply.text, hit, hit, reply.state is ReplyState.OK)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        true, decoy = (bool(trial.reading and trial.reading.hit) for trial in trials)
        return Evidence(
            statistic=Statistic(name="said", value=true),
            null="",
            sentence="",
            hits=int(true),
            asked=1,
            answered=1,
            p_value=1e-9 if true and not decoy else 1.0,
        )

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        return None


def written(number: int) -> Prompt:
    return Prompt((Message("user", f"What has row {number}?"),), "", "")


CELL, BLUNT, UNFIT, WORDS = OneCell(), OneCell("tolldue"), Unfit(), Words()


def outcomes(answerer: str, *tests: base.Test, seed: int = 0, alpha: float = 0.01) -> AnswererResults:
    return simulate(ships(), tests, answerer, seed, alpha)


def simulate(table: Table, tests: Sequence[base.Test], answerer: str, seed: int, alpha: float) -> AnswererResults:
    run = planned(table, tests, IS, seed, alpha)
    return judge(run, ask(run, answerer, seed), alpha)


def test_an_oracle_is_found_and_so_is_its_table() -> None:
    found = outcomes("oracle", CELL)
    assert found.parts[CELL.id]["verdict"] is found.parts[TOGETHER]["verdict"] is Verdict.CONTAMINATED
    assert found.queries(CELL.id) == found.results[CELL.id].evidence.answered == QUERIES
    assert (found.results[CELL.id].evidence.p_value or 1) < 1e-20


@pytest.mark.parametrize("answerer", ["decliner", "refuser", "empty", "fails", "truncates"])
def test_who_does_not_answer_is_never_clean(answerer: str) -> None:
    found = outcomes(answerer, CELL)
    assert found.parts[CELL.id]["verdict"] is found.parts[TOGETHER]["verdict"] is Verdict.NO_ANSWER
    assert found.results[CELL.id].evidence.answered == 0
    assert found.results[CELL.id].decision.reason


def test_what_cannot_tell_is_not_asked() -> None:
    found = outcomes("oracle", BLUNT, UNFIT)
    blunt, unfit = found.results[BLUNT.id], found.results[UNFIT.id]
    assert (blunt.verdict, blunt.queries, blunt.decision.reason) == (Verdict.UNINFORMATIVE, 0, "everyone knows it")
    assert (unfit.verdict, unfit.queries, unfit.decision.reason) == (Verdict.SKIPPED, 0, "no row can be asked")
    assert (found.parts[TOGETHER]["verdict"], found.parts[TOGETHER]["p_value"]) == (Verdict.UNINFORMATIVE, None)


def test_words_say_nothing_of_the_table() -> None:
    found = outcomes("schema-expert", WORDS)
    assert found.results[WORDS.id].verdict is Verdict.CONTAMINATED
    assert TOGETHER not in found.parts


def test_the_same_seed_measures_the_same_and_another_does_not() -> None:
    def values(seed: int) -> list[float | None]:
        return [outcomes(answerer, CELL, seed=seed).results[CELL.id].evidence.p_value for answerer in ANSWERERS]

    assert values(3) == values(3) != values(4)


@pytest.mark.parametrize("answerer", [*IGNORANT, "schema-expert"])
@pytest.mark.slow
def test_p_values_of_who_knows_no_row_are_no_smaller_than_by_chance(answerer: str) -> None:
    table = ships()
    values = [
        simulate(table, [CELL], answerer, seed, 0.01).results[CELL.id].evidence.p_value or 0.0 for seed in range(100)
    ]
    for level in (0.01, 0.1, 0.5):
        assert sum(value <= level for value in values) <= 100 * level + 3 * (100 * level) ** 0.5


def test_a_plan_is_asked_of_several_and_its_prompts_are_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    times: list[int] = []

    def counted(number: int) -> Prompt:
        times.append(number)
        return Prompt((Message("user", f"Row {number}?"),), "", "")

    monkeypatch.setattr(f"{__name__}.written", counted)
    run = planned(ships(), [CELL], IS, 0, 0.01)
    for answerer in ("mode", "oracle"):
        judge(run, ask(run, answerer, 0), 0.01)
    assert len(times) == QUERIES


def test_the_same_reply_is_read_once_and_counts_for_each_who_gives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    read = OneCell.read

    def spied(self: OneCell, query: Query, reply: Reply, *others: Any) -> Reading:
        heard.append(reply.text)
        return read(self, query, reply, *others)

    monkeypatch.setattr(OneCell, "read", spied)
    run = planned(ships(), [CELL], IS, 0, 0.01)
    first, second, third = (judge(run, ask(run, answerer, 0), 0.01) for answerer in ("oracle", "memoriser:1", "yes"))
    assert first == second != third
    assert len(heard) == 2 * QUERIES


def test_everything_is_asked_through_the_seam_of_real_models(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[ModelRequest] = []
    generate = SimulatedModel.generate

    async def spied(self: SimulatedModel, request: ModelRequest) -> Reply:
        sent.append(request)
        return await generate(self, request)

    monkeypatch.setattr(SimulatedModel, "generate", spied)
    outcomes("mode", CELL, WORDS)
    assert len(sent) == QUERIES + 2
    assert all(request.prompt.chat[-1].content.startswith("What has row") for request in sent)


@pytest.mark.parametrize(("found", "runs", "upper"), [(0, 300, 0.00994), (0, 1, 0.95), (10, 10, 1.0)])
def test_a_rate_has_an_exact_upper_limit(found: int, runs: int, upper: float) -> None:
    fields = rate_of(found, runs)
    assert fields["rate"] == found / runs
    assert fields["upper"] == pytest.approx(upper, abs=1e-4)


def test_no_run_has_no_rate() -> None:
    assert rate_of(0, 0) == {"found": 0, "runs": 0, "rate": None, "upper": None}


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """A study of a table in a file with the tests above."""
    table = ships()
    lines = ["\t".join(cell or "" for cell in row) for row in (table.columns, *table.rows)]
    (tmp_path / "ships.tsv").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(power_study, "all_tests", lambda: (WORDS, CELL, UNFIT))
    return Study((str(tmp_path / "ships.tsv"),), runs=12)


@pytest.mark.slow
def test_a_study_measures_false_positives_and_power(made_up: Study) -> None:
    told: list[tuple[int, int]] = []
    document: Any = measure(made_up, lambda *each: told.append(each))
    assert told == [(number, 12) for number in range(1, 13)]
    (dataset,) = document["datasets"]
    words, cell, unfit = dataset["tests"]
    assert (words["queries"], cell["queries"], dataset["table"]["queries"]) == (2, QUERIES, QUERIES)
    assert words["expert"]["rate"] == 1.0
    assert words["false_positives"]["runs"] == 12 * 5
    assert cell["false_positives"]["runs"] == 12 * 6
    assert cell["false_positives"]["rate"] <= 0.05
    power_of = [cell["power"][share]["rate"] for share in ("0.05", "0.1", "0.25", "0.5", "1")]
    assert power_of == sorted(power_of)
    assert power_of[-2:] == [1.0, 1.0]
    assert (unfit["not_asked"], unfit["reason"], unfit["asked"]) == ("skipped", "no row can be asked", 0)
    assert json.loads(json.dumps(document)) == document


@pytest.mark.slow
def test_processes_side_by_side_measure_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(("iris",), expression="feature_list_uninformed or feature_completion", runs=4)
    alone = measure(study, lambda done, runs: None)
    monkeypatch.setattr(power_study, "WORTH", 0.0)
    assert measure(study, lambda done, runs: None) == alone


@pytest.mark.slow
def test_a_run_whose_process_fails_is_made_here(made_up: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = measure(made_up, lambda done, runs: None)
    monkeypatch.setattr(power_study, "WORTH", 0.0)
    monkeypatch.setattr(power_study, "START", "raise SystemExit(1)")
    assert measure(made_up, lambda done, runs: None) == alone


@pytest.mark.slow
def test_the_text_fits_80_columns_and_ends_with_the_table(made_up: Study) -> None:
    out = io.StringIO()
    print_power(Console(file=out, width=80, force_terminal=False), measure(made_up, lambda done, runs: None))
    lines = out.getvalue().splitlines()
    assert all(len(line) <= 80 for line in lines)
    rows = [line.split()[0] for line in lines if "%" in line and "(<" in line]
    assert rows == [WORDS.id, CELL.id, "row"]
    last = " ".join(" ".join(lines[lines.index("In short, on ships.tsv:") :]).split())
    assert (
        "knowledge: a model that knows the dataset's name, features and values would be detected in 12 of 12 runs"
        in last
    )
    assert re.search(
        r"rows: a model that remembers 10% of the rows would be detected in \d+ of 12 runs; .*none was detected", last
    )
    assert "full_completion is skipped: no row can be asked" in lines


def test_a_hostile_reason_cannot_drive_the_terminal() -> None:
    line = {"test": "t", "not_asked": "skipped", "asked": 0, "reason": "\x1b[31mred"}
    dataset = {"dataset": "d", "edition": "e", "split": None, "rows": 2, "columns": 2, "tests": [line], "table": None}
    out = io.StringIO()
    about = {"serializer": "is", "prompts": "default", "runs": 1, "seed": 0, "alpha": 0.01}
    print_power(Console(file=out, width=80), {**about, "datasets": [dataset]})
    assert "\x1b" not in out.getvalue()
    assert "[31mred" in out.getvalue()


@pytest.mark.slow
def test_a_conclusion_counts_what_the_lines_count(made_up: Study) -> None:
    (dataset,) = cast(Any, measure(made_up, lambda done, runs: None))["datasets"]
    knowledge, rows = dataset["conclusions"]
    assert (knowledge["family"], rows["family"]) == ("knowledge", "rows")
    assert knowledge["power"] == {"card": dataset["tests"][0]["expert"]}
    assert rows["power"] == dataset["table"]["power"]
    assert rows["false_positives"].items() <= dataset["table"]["false_positives"].items()


def test_a_conclusion_says_where_nobody_is_found_nearly_always() -> None:
    def nobody(answerers: Sequence[str], tests: Sequence[str], together: bool) -> dict[str, float | int | None]:
        return rate_of(0, 10 * len(answerers))

    (rows,) = conclusions([CELL], ["mode"], "schema-expert", MEMORISERS, nobody)
    assert "10% of the rows would be detected in 0 of 10 runs; no model asked is detected in 95% of runs" in str(rows)
    (words,) = conclusions([WORDS], ["mode"], "schema-expert", MEMORISERS, nobody)
    assert "one that knows nothing of it was detected in 0 of 10 (95% upper limit 25.9%)" in str(words)
    assert conclusions([CELL], ["mode"], "schema-expert", MEMORISERS, lambda *_: rate_of(0, 0)) == []


@pytest.mark.slow
def test_ctrl_c_ends_the_processes_at_once(tmp_path: Path) -> None:
    arguments = [
        sys.executable,
        "-m",
        "tabcontam",
        "power",
        "--dataset",
        "iris",
        "--runs",
        "100000",
        "-k",
        "full_completion",
    ]
    errors = tmp_path / "errors"
    with errors.open("wb") as file:
        process = subprocess.Popen(arguments, env=environment(), stdout=subprocess.DEVNULL, stderr=file)
        try:
            while not re.search(rb" left", errors.read_bytes()):
                assert process.poll() is None
                time.sleep(0.1)
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            since = time.monotonic()
            assert process.wait(60) == 2
        finally:
            process.kill()
            process.wait()
    assert time.monotonic() - since < 15
    assert errors.read_text().splitlines()[-1] == "tabcontam: interrupted; nothing was stored"


def test_the_command_shows_how_many_runs_are_done(made_up: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int, int]] = []

    class Told(Progress):
        @contextmanager
        def doing(self, what: str, *, evenly: bool = False) -> Iterator[Tell]:
            yield lambda done, of: told.append((what, done, of))

    monkeypatch.setattr("tabcontam.report.progress_display.progress", lambda quiet: Told())
    assert main(["power", "--dataset", made_up.datasets[0], "--runs", "2", "-k", "feature_completion"]) == 0
    assert told[-1][0] == "simulated runs"
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert {of for *_, of in told} == {2}


def test_the_command_prints_text_or_json(made_up: Study, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "power",
        "--dataset",
        made_up.datasets[0],
        "--runs",
        "2",
        "-k",
        "feature_completion",
        "--alpha",
        "0.05",
    ]
    assert main(arguments) == 0
    assert "row tests together" in capsys.readouterr().out
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["alpha"], document["runs"], len(document["datasets"][0]["tests"])) == (0.05, 2, 1)


def test_an_interrupted_study_promises_nothing(
    made_up: Study, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(power_study, "run_once", interrupted)
    assert main(["power", "--dataset", made_up.datasets[0]]) == 2
    assert capsys.readouterr().err == "tabcontam: interrupted; nothing was stored\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--dataset", "irsi"], 4, "unknown dataset 'irsi'"),
        (["--dataset", "nowhere.csv"], 4, "nowhere.csv"),
        (["--serializer", "equal"], 4, "did you mean equals"),
        (["--prompts", "papr"], 4, "did you mean paper"),
        (["-k", "a and"], 4, "cannot be read"),
        (["-k", "zzz"], 5, "no test matches -k 'zzz'"),
        (["--target", "species"], 4, "--target applies to files alone"),
    ],
)
def test_a_bad_input_is_one_line(
    made_up: Study, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    assert main(["power", *arguments]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


@pytest.mark.parametrize("arguments", [["--runs", "0"], ["--alpha", "1"], ["--alpha", "nan"], ["--seed", "x"]])
def test_a_bad_option_is_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit, match="4"):
        main(["power", *arguments])
    (line,) = capsys.readouterr().err.splitlines()
    assert arguments[0] in line


def test_an_unknown_answerer_is_a_mistake_of_the_user() -> None:
    with pytest.raises(UsageError, match="known: oracle"):
        outcomes("orcle", CELL)
