"""Every fault found in the one other tool that looks for memorised tables (1 to 12), each named after what went wrong.

Some are tested elsewhere as well, from the side of the part that they belong to:

| fault | what went wrong | also tested by |
|---|---|---|
| 3 | a run crashed where no answer came | `test_no_answer_is_never_clean` (evidence/test_answerers.py) |
| 7 | how to ask a model was guessed from its name | `TestForm`, `TestHabits` (models/openai) |
| 8 | rows of a file were its lines | tables/test_files.py |
| 11 | an error of the server was a negative | models/openai/test_errors.py |
| 11 | the last run overwrote the results of the others | `test_one_report_from_two_runs` (test_cli.py) |
| 1, 3, 4, 8 to 10 | the same in its own tests | extensions/papers/memcheck/test_peer_faults.py |
| 12 | values were markup | `test_hostile_text_is_shown_as_text` (report/test_html.py) |
"""

import asyncio
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tabcontam.asking.query_plan import RunSource, plan
from tabcontam.asking.run_progress import Progress
from tabcontam.asking.session import Session
from tabcontam.asking.trial_file import Journal
from tabcontam.baseline.table_predictions import predict_rows
from tabcontam.calibration.power_study import planned
from tabcontam.config import RunConfig
from tabcontam.errors import Skip
from tabcontam.evidence.base import Capability, Evidence, Query, Reading, Reply, ReplyState, Trial, Verdict
from tabcontam.evidence.registry import all_tests, by_id
from tabcontam.evidence.rows.completion_tests import FeatureCompletion, IncompleteCompletion
from tabcontam.evidence.trial_reading import read_trial
from tabcontam.models.base import PromptForm
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.models.openai.provider import OpenAIModel
from tabcontam.runs.folder import record
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.row_draws import seeded
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Cell, Table, load_table
from tabcontam.verdicts import result_types as judged_cells
from tabcontam.verdicts.document import parse_results
from tabcontam.verdicts.result_building import build_result, build_results, build_unjudged, conclude
from tabcontam.verdicts.result_types import ResultKey
from tabcontam.verdicts.thresholds import ALPHA
from tests.made_tables import ships
from tests.report.synthetic import document

IS = load_serializers()["is"]
LEVEL = 0.001
SHIPS = ships(180)
# documents answer no question in words: tests/extensions/corpora/overlap has what they leave unsaid
ALL = [test.id for test in all_tests() if Capability.SEARCH not in test.needs]
VALUE = FeatureCompletion()


@cache
def asked(test: str) -> Sequence[Query]:
    (cell,) = planned(SHIPS, [by_id()[test]], IS, 0, ALPHA).cells
    return cell.written


@cache
def asked_by_all() -> dict[str, Sequence[Query]]:
    """The queries of all tests, of which nothing but the answers is looked at."""
    return {cell.test.id: cell.written for cell in planned(ships(180), all_tests(), IS, 0, ALPHA).cells}


def read(query: Query, text: str) -> Reading:
    return by_id()[query.id.partition("-")[0]].read(query, Reply(text, ReplyState.OK), IS)


def weighed(queries: Sequence[Query], texts: Sequence[str]) -> Evidence:
    test = by_id()[queries[0].id.partition("-")[0]]
    trials = [
        Trial(query, Reply(text, ReplyState.OK), read(query, text)) for query, text in zip(queries, texts, strict=True)
    ]
    return test.weigh(trials, LEVEL)


def value(expected: str) -> Query:
    """A question of test 9 whose answer is this."""
    return replace(asked(VALUE.id)[0], asked=("load",), expected=(expected,), chance={})


def judged(test: str, replies: Sequence[Reply], queries: Sequence[Query] = ()) -> judged_cells.Result:
    """The cell that these replies make."""
    name = ResultKey("m", "ships", "e", "is", test)
    trials = [
        read_trial(by_id()[test], Trial(query, reply), IS)
        for query, reply in zip(queries or asked(test), replies, strict=True)
    ]
    (cell,) = conclude(
        [build_result(name, by_id()[test], trials, len(replies), "calibrated", LEVEL)], "calibrated", ALPHA
    )
    return cell


# --- 1


def grades(rows: int = 400) -> Table:
    """Rows whose grade is `g0` in three of ten, and cannot be told from what is shown."""
    rng = Random("grades")
    chosen = rng.choices([f"g{number}" for number in range(15)], [0.3, *[0.05] * 14], k=rows)
    cells = [(f"{10_000 + 11 * row + rng.randrange(11)}", grade) for row, grade in enumerate(chosen)]
    return replace(SHIPS, columns=("ticket", "grade"), rows=tuple(cells), target=None, question=None)


@pytest.mark.slow
@pytest.mark.parametrize(("constant", "least", "most"), [("g0", 0.2, 0.6), ("zz", 0, 0.05)])
def test_what_chance_explains_is_counted_in_the_table_and_not_in_the_answers(
    constant: str, least: float, most: float
) -> None:
    """1: the baseline was how often the model said the mode, so that always `39` had one of 30 in 30."""
    table = grades()
    queries = VALUE.queries(table, IS, seeded(table, 0))
    found = weighed(queries, [constant] * len(queries))
    assert found.expected_hits is not None
    assert found.p_value is not None
    assert least <= found.expected_hits / (found.asked or 1) <= most
    assert found.p_value > ALPHA


@pytest.mark.slow
def test_the_majority_class_is_that_of_the_rows() -> None:
    """1, for classification: the baseline is the same whatever a model says."""
    queries = asked("classification_0shot")
    truth = Counter(query.expected[0] for query in queries)
    found = [weighed(queries, [said] * len(queries)).measured.expected for said in ("Yes", "No")]
    assert found[0] == found[1]
    assert found[0] in [count / len(queries) for count in truth.values()]


# --- 2


@pytest.mark.slow
def test_the_predictor_that_fits_better_is_taken() -> None:
    """2: of two predictors the one with the lower score was taken, the worse one, and chance explained too little."""
    rng = Random("double")
    first = [str(rng.randrange(500)) for _ in range(300)]
    cells = [(cell, str(2 * int(cell)), str(rng.randrange(500))) for cell in first]
    table = replace(SHIPS, columns=("a", "double", "noise"), rows=tuple(cells), target=None, question=None)
    rows = list(range(0, 300, 10))
    known, noise = (predict_rows(table, [name], ["a"], rows) for name in ("double", "noise"))
    assert sum(known[row].cells["double"].chance_of(cells[row][1]) > 0.5 for row in rows) > len(rows) / 2
    assert all(noise[row].cells["noise"].surest < 0.1 for row in rows)


@pytest.mark.slow
def test_the_guesser_is_no_other_in_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """2, again: it drew from numpy's global state."""
    found = []
    for seed in (1, 2):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / str(seed)))  # what the other made is not read
        np.random.seed(seed)
        found.append(predict_rows(replace(ships(120)), ["homePort", "crewCnt"], ["shipKind", "length_m"], range(40)))
    assert found[0] == found[1]


# --- 3


@pytest.mark.slow  # every test is planned
@pytest.mark.usefixtures("cheaply")
@pytest.mark.parametrize(
    "reply", [Reply("", ReplyState.OK), Reply(" \n\n", ReplyState.OK), Reply("", ReplyState.EMPTY)], ids=repr
)
def test_nothing_but_empty_answers_is_no_answer(reply: Reply) -> None:
    """3: a variable was never set where all answers were empty, which is what two adapters made of any error."""
    asked_of = {test: queries for test, queries in asked_by_all().items() if test in ALL}
    cells = {test: judged(test, [reply] * len(queries), queries) for test, queries in asked_of.items()}
    assert set(cells) == set(ALL)
    assert {test for test, cell in cells.items() if (cell.verdict, cell.evidence.answered) != ("no answer", 0)} == set()


@pytest.mark.slow
@pytest.mark.parametrize("rows", range(2, 9))
def test_a_table_of_a_few_rows_is_asked_or_skipped(rows: int) -> None:
    """3, again: fewer than nine rows were an IndexError."""
    for cell in planned(ships(rows), all_tests(), IS, 0, ALPHA).cells:
        assert cell.written or cell.unfit


# --- 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["", "I would have to look.", "???", "{", "| load |", "load =", "\x00", "load is\nload is"]
)
def test_an_answer_that_does_not_parse_is_none(text: str) -> None:
    """4: a KeyError where no answer could be read."""
    reading = read(value("22.5"), text)
    assert (reading.hit, reading.right) == (False, ())
    assert weighed([value("22.5")], [text]).hits == 0


@pytest.mark.parametrize(
    ("expected", "said"),
    [(".28", "0.28"), ("0.28", ".28"), ("22.0", "22"), ("22", "load = 22.0"), ("1000", "1,000"), ("5e-3", "0.005")],
)
def test_a_number_is_right_however_it_is_written(expected: str, said: str) -> None:
    """4, again: the text `.28` was not `0.28`, nor `22` that of `22.0`."""
    assert read(value(expected), said).right == ("load",)
    assert not read(value(expected), said.replace("2", "3") if "2" in said else f"7{said}").right


# --- 5


@pytest.mark.slow
def test_the_tests_need_no_pandas() -> None:
    """5: four of the tests crashed from pandas 3 on, since columns of text are of another type there."""
    code = (
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'pandas':\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Without())\n"
        "from tabcontam.calibration.power_study import planned, ask, judge\n"
        "from tabcontam.tables.serializers import load_serializers\n"
        "from tabcontam.evidence.registry import all_tests\n"
        "from tests.test_peer_faults import narrow\n"
        "run = planned(narrow(), all_tests(), load_serializers()['is'], 0, 0.01)\n"
        "print(judge(run, ask(run, 'oracle', 0), 0.01).results['full_completion'].verdict)\n"
    )
    root = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "contaminated"


def test_blanks_around_a_value_are_no_part_of_it(tmp_path: Path) -> None:
    """5, again: ` State-gov` stayed as it was, and was no `State-gov` any more."""
    path = tmp_path / "work.csv"
    path.write_text("age, work\n39, State-gov\n40, Private\n41, State-gov\n")
    cell = load_table(str(path)).rows[0][1]
    assert cell is not None
    assert read(value(cell), "State-gov").right == ("load",)


# --- 6


def test_a_dataset_is_the_one_of_its_name() -> None:
    """6: `load_wine` opened the file of iris, `load_housing` one that was never there."""
    iris, wine = load_table("iris"), load_table("wine@scikit-learn")
    assert (len(iris.rows), len(wine.rows)) == (150, 178)
    assert "petal width (cm)" in iris.columns
    assert "proline" in wine.columns
    for card in load_cards().values():
        for edition in card.editions:
            if edition.layout.columns:
                assert edition.target in edition.layout.columns
                assert {name for names in edition.hints.values() for name in names} <= set(edition.layout.columns)


def test_a_model_has_a_name_to_print() -> None:
    """6, again: to print the model of the tests raised an AttributeError."""
    assert repr(SimulatedModel("memoriser:0.5")) == "<SimulatedModel simulated:memoriser:0.5>"


# --- 7


@pytest.mark.parametrize("name", ["o1", "o3-mini", "gpt-5", "gpt-4o", "chatgpt-4o-latest", "llama-3", "mygpt-4"])
def test_a_name_does_not_say_how_a_model_is_asked(name: str) -> None:
    """7: all but names with `gpt-3.5` or `gpt-4` in them were asked as base models, o1 and gpt-5 too."""
    for address in (None, "http://127.0.0.1:1/v1"):
        assert OpenAIModel(name, address).form is PromptForm.CHAT


def test_an_instruct_model_that_only_completes_is_not_asked_to_chat() -> None:
    """7, again: gpt-3.5-turbo-instruct was taken for a chat model."""
    assert OpenAIModel("gpt-3.5-turbo-instruct", None).form is PromptForm.COMPLETION


# --- 8


@pytest.mark.slow
def test_rows_of_a_file_are_not_its_lines(tmp_path: Path) -> None:
    """8: quoted line ends broke rows apart, a file without a header lost its first, wide ones had no delimiter."""
    rng = Random("lines")
    rows = [[f"{row}", *(f"{rng.randrange(90)}" for _ in range(120)), f'"a {row},\nb; c"'] for row in range(40)]
    path = tmp_path / "wide.csv"
    path.write_text("".join(";".join(row) + "\n" for row in rows))
    table = load_table(str(path))
    assert (len(table.rows), len(table.columns)) == (40, 122)
    assert table.rows[0][0] == "0"
    assert table.rows[3][-1] == "a 3,\nb; c"
    query = IncompleteCompletion().queries(table, IS, seeded(table, 0))[0]
    assert query.expected == table.rows[query.rows[-1]][-3:]
    assert read(query, IS.row(query.asked, query.expected)).hit


# --- 9


def test_the_best_of_many_is_held_against_how_many_they_are() -> None:
    """9: the best of four attempts was shown, and no number of tests was ever corrected for."""
    rng, test = Random("null"), by_id()["full_completion"]
    alone = together = 0
    for _ in range(200):
        cells = [
            build_unjudged(ResultKey("m", f"d{number}", "e", "is", test.id), test, Verdict.NOT_DETECTED, "").changed(
                p_value=rng.random()
            )
            for number in range(20)
        ]
        alone += any((cell.evidence.p_value or 0.0) <= ALPHA for cell in cells)
        together += any(cell.verdict == "contaminated" for cell in conclude(cells, "calibrated", ALPHA))
    assert alone > 20
    assert together <= 6


def test_a_row_that_stands_twice_is_no_evidence() -> None:
    """9, again: duplicates were printed, and counted as recalled all the same."""
    table = replace(SHIPS, rows=tuple(row for row in SHIPS.rows for _ in range(2)))
    for test in (IncompleteCompletion(), FeatureCompletion()):
        try:
            queries = test.queries(table, IS, seeded(table, 0))
        except Skip:
            continue
        assert not any(query.chance for query in queries)
        assert weighed(queries, [IS.row(query.asked, query.expected) for query in queries]).p_value == 1


@pytest.mark.slow
@pytest.mark.parametrize("separator", [", ", " or ", "\n", " "])
def test_to_name_every_value_is_to_name_none(separator: str) -> None:
    """9, once more: `suffix in response` was true of any answer that was long enough."""
    query = replace(value("22"), chance=asked(VALUE.id)[0].chance)
    listed = [str(number) for number in range(60)]
    Random("order").shuffle(listed)
    listed.sort(key=lambda number: number == "22")  # not the first
    assert not read(query, separator.join(listed)).right
    row = asked("full_completion")[0]
    others = separator.join(IS.row(row.asked, cells) for cells in SHIPS.rows[50:90])
    assert not read(row, f"{others}{separator}{IS.row(row.asked, row.expected)}").hit


# --- 10


def narrow() -> Table:
    """A small register of ships with a column of each kind, of which nothing is found out yet."""
    table = ships(40)
    places = [table.columns.index(name) for name in ("shipKind", "length_m", "crewCnt", "tolldue")]
    rows = tuple(tuple(row[place] for place in places) for row in table.rows)
    return replace(table, columns=tuple(table.columns[place] for place in places), rows=rows)


@pytest.mark.slow
def test_a_plan_draws_from_its_seed_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """10: four functions took no generator, and nobody could ask the same twice."""
    plans = []
    for seed in (1, 2):
        if seed == 2:  # what was found for the first plan is not read: all is found anew
            monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        random.seed(seed)
        np.random.seed(seed)
        before = random.getstate()
        cells = planned(narrow(), all_tests(), IS, 0, ALPHA).cells  # found anew
        assert random.getstate() == before
        plans.append([(query, query.question) for cell in cells for query in cell.written])
    assert plans[0] == plans[1]


# --- 11


def wrong_row(number: int) -> str:
    """Another row each time: one text for most queries would be no answer."""
    return IS.row(SHIPS.columns, [str(number), "raft", f"{number}.5", "Nobody at 1", "Nowhere", "0", "maybe"])


@pytest.mark.slow
@pytest.mark.parametrize("test", ["full_completion", "feature_list_uninformed", "matched_membership"])
def test_an_answer_that_came_is_no_detection(test: str) -> None:
    """11: `header 15/15` was the number of calls that did not fail; of 675 rows none was right."""
    texts = [wrong_row(number) if test == "full_completion" else "No" for number in range(len(asked(test)))]
    cell = judged(test, [Reply(text, ReplyState.OK) for text in texts])
    assert cell.verdict == "not detected"
    assert cell.evidence.hits == (0 if test != "matched_membership" else 30)


@pytest.mark.parametrize("state", [ReplyState.FAILED, ReplyState.REFUSED, ReplyState.TRUNCATED])
def test_a_call_that_failed_is_missing_and_no_negative(state: ReplyState) -> None:
    """11, again: errors of the server were scored as rows that the model did not know."""
    queries = asked("full_completion")
    failed = [Reply("", state, "HTTP 500")] * 20
    wrong = [Reply(wrong_row(number), ReplyState.OK) for number in range(len(queries) - 20)]
    cell = judged("full_completion", [*failed, *wrong])
    assert (cell.verdict, cell.evidence.answered) == ("no answer", len(queries) - 20)
    right = [Reply(IS.row(query.asked, query.expected), ReplyState.OK) for query in queries[20:]]
    assert judged("full_completion", [*failed, *right]).verdict == "contaminated"


# --- 12


@pytest.mark.slow
def test_values_that_look_like_markup_are_shown_as_they_are(tmp_path: Path) -> None:
    """12: `<=50K` was written into the page as it is, and read as a tag."""
    rng = Random("income")

    def row(number: int) -> tuple[Cell, ...]:
        return (f"{1000 + 3 * number}", f"<b>{rng.randrange(10**6)}</b>", rng.choice(("<=50K", ">50K")))

    table = replace(
        SHIPS,
        name="<b>ships",
        columns=("id", "<i>name", "income"),
        rows=tuple(map(row, range(60))),
        target="income",
        question=None,
    )
    options = RunConfig()
    cells = plan([RunSource(SimulatedModel("oracle"))], [table], [IS], [VALUE], options)
    session = Session(cells, options, Journal(tmp_path), Progress())
    session.recall()
    asyncio.run(session.ask())
    of = build_results(replace(parse_results(document([])).run, alpha=ALPHA), session.results())
    assert (of.results[0].verdict, of.results[0].decision.rests_on) == (
        "uninformative",
        "<i>name",
    )  # one column is all that it asks
    record(tmp_path, of)
    page = (tmp_path / "index.html").read_text()
    assert "&lt;b&gt;ships" in page
    assert "<b>" not in page
    assert "<i>name" not in page
    assert "<=50K" not in page
    assert json.loads((tmp_path / "results.json").read_text())["results"][0]["test"] == VALUE.id
