"""Every fault found in the published code and results (B1 to B17), each named after what went wrong there.

Some are tested from other angles too: B1 to B4, B6 and B11 as they stand in recorded answers (tests/replay), B2 and B4
by hand-made guesses (tests/evidence/rows/test_row_test.py), B5 to B7 by what prompts show
(tests/evidence/test_queries.py), B10 by the names of other data (tests/evidence/knowledge/test_word_test.py). Two of
them are tested elsewhere alone:

| fault | what went wrong | tested by |
|---|---|---|
| B11 | an answer was cut at the prompt's length, too late | `test_nothing_is_lost_to_clean_up` (models/hf) |
| B15 | cells differ from their own logs | `test_rescore_judges_again_without_asking` (cli/test_commands.py) |
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tabcontam.asking.query_plan import RunSource, plan
from tabcontam.calibration.power_study import AnswererPlan, AnswererResults, ask, judge, planned
from tabcontam.config import RunConfig
from tabcontam.errors import Skip
from tabcontam.evidence.base import Capability, Evidence, Query, Reading, Reply, ReplyState, Trial, Verdict
from tabcontam.evidence.checks import rendered
from tabcontam.evidence.knowledge.feature_values import FeatureValuesInformed
from tabcontam.evidence.registry import all_tests, by_id
from tabcontam.evidence.rows.completion_tests import IncompleteCompletion
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.tables.row_draws import seeded
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Cell, Table, load_table
from tabcontam.verdicts import result_types as judged_cells
from tabcontam.verdicts.llm_ranking import ranking
from tabcontam.verdicts.result_building import build_unjudged, conclude
from tabcontam.verdicts.result_types import ResultKey
from tabcontam.verdicts.thresholds import ALPHA
from tests.made_tables import ships
from tests.usual import USUAL

SERIALIZERS = load_serializers()
IS = SERIALIZERS["is"]
ROW_TESTS = ("incomplete_completion", "full_completion", "feature_completion")
WORD_TESTS = tuple(test.id for test in all_tests() if test.number is not None and test.number <= 6)
MEMBERSHIPS = ("membership", "matched_membership")
CLASSIFICATIONS = ("classification_0shot", "classification_1shot")
LEVEL = 0.001
SHIPS = ships(180)
Answerer = Callable[[Query], str]


@cache
def run(serializer: str = "is") -> AnswererPlan:
    """All tests, for what hangs on no guess: planned cheaply."""
    return planned(ships(180), USUAL, SERIALIZERS[serializer], 0, ALPHA)


def asked(test: str) -> Sequence[Query]:
    return next(cell.written for cell in run().cells if cell.test.id == test)


@cache
def weighable(test: str) -> Sequence[Query]:
    """What one test asks, with the guesser's word on it."""
    (cell,) = planned(SHIPS, [by_id()[test]], IS, 0, ALPHA).cells
    return cell.written


def read(query: Query, text: str) -> Reading:
    return by_id()[query.id.partition("-")[0]].read(query, Reply(text, ReplyState.OK), IS)


def trials(queries: Sequence[Query], answer: Answerer) -> list[Trial]:
    texts = [answer(query) for query in queries]
    return [
        Trial(query, Reply(text, ReplyState.OK), read(query, text)) for query, text in zip(queries, texts, strict=True)
    ]


def weighed(queries: Sequence[Query], answer: Answerer) -> Evidence:
    return by_id()[queries[0].id.partition("-")[0]].weigh(trials(queries, answer), LEVEL)


def p_value(queries: Sequence[Query], answer: Answerer) -> float:
    found = weighed(queries, answer).p_value
    assert found is not None
    return found


def verdicts(outcomes: AnswererResults) -> dict[str, Verdict | None]:
    return {test: each["verdict"] for test, each in outcomes.parts.items()}


# --- B1


@pytest.mark.slow
@pytest.mark.parametrize(
    "before",
    [
        "Sure! Based on what I recall of this dataset, this is my answer:\n\n",
        "I can't be certain, but from memory:\n\n```\n",
        "**Answer**\n\n",
        "### Final answer\n",
    ],
)
@pytest.mark.parametrize("test", [test.id for test in USUAL if Capability.GENERATE in test.needs])
@pytest.mark.usefixtures("cheaply")
def test_a_preamble_does_not_hide_the_answer(test: str, before: str) -> None:
    """B1: the first line alone was kept, so that GPT-4 and GPT-4o got nothing in tests 7 and 9."""
    queries = [query for query in asked(test) if not query.decoy_of][:5]
    assert queries
    for query in queries:
        bare, announced = read(query, answer_of(query)), read(query, before + answer_of(query))
        assert bare.hit
        assert announced == replace(bare, paper_hit=announced.paper_hit)


def answer_of(query: Query) -> str:
    """The true answer, in the form that is asked for."""
    cells = ["missing" if cell is None else cell for cell in query.expected]
    if query.id.startswith(ROW_TESTS[:2]):
        return IS.row(query.asked, cells)
    return ", ".join(cells) if query.id.startswith(("feature_list", "feature_values")) else cells[0]


# --- B2


def bank(rows: int = 600) -> Table:
    """A made-up bank whose last three columns are the same in 74 % of the rows."""
    rng = Random("bank")

    def row(number: int) -> tuple[Cell, ...]:
        shown = (str(1000 + 7 * number + rng.randrange(7)), rng.choice(("clerk", "nurse")), str(rng.randrange(5000)))
        if rng.random() < 0.743:
            return (*shown, "0", "unknown", "no")
        return (*shown, str(rng.randrange(1, 9)), rng.choice(("failure", "success")), rng.choice(("no", "yes")))

    columns = ("account", "job", "balance", "previous", "poutcome", "y")
    return replace(SHIPS, columns=columns, rows=tuple(map(row, range(rows))), target="y", question=None)


@pytest.fixture(scope="module")
def of_bank() -> AnswererPlan:
    return planned(bank(), [by_id()[test] for test in ROW_TESTS], IS, 0, ALPHA)


@pytest.mark.parametrize("kind", ["mode", "guesser", "schema-expert"])
@pytest.mark.slow
def test_the_most_frequent_values_of_bank_are_no_memory(of_bank: AnswererPlan, kind: str) -> None:
    """B2: always answering `0, unknown, no` passed test 7 with probability 0.888."""
    found = judge(of_bank, ask(of_bank, kind, 0), ALPHA)
    assert set(verdicts(found).values()) == {Verdict.NOT_DETECTED}
    assert found.results["incomplete_completion"].evidence.p_value is not None
    assert found.results["incomplete_completion"].evidence.p_value > 0.05


@pytest.mark.slow
def test_rows_of_bank_that_are_remembered_are_told_from_the_most_frequent(of_bank: AnswererPlan) -> None:
    """B2, the other way: the rows whose tail is rare are asked, so that memory shows."""
    found = judge(of_bank, ask(of_bank, "memoriser:0.5", 0), ALPHA)
    assert found.results["incomplete_completion"].verdict is Verdict.CONTAMINATED


# --- B3


@pytest.mark.usefixtures("cheaply")
@given(
    before=st.sampled_from(["", " ", "It is ", "crewCnt: "]),
    digits=st.tuples(st.sampled_from(["", "1", "37"]), st.sampled_from(["", "0", "45"])).filter(any),
    number=st.integers(0, 40),
)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_number_inside_a_longer_one_is_not_said(before: str, digits: tuple[str, str], number: int) -> None:
    """B3: the ticket 3101282 counted as PassengerId 3, and 373450 as 5."""
    query = passenger(number)
    longer = f"{digits[0]}{query.expected[0]}{digits[1]}"
    assert not read(query, before + longer).right
    assert read(query, f"{before}{query.expected[0]}").right == query.asked


def passenger(number: int) -> Query:
    """A question about a crew's size, which is a whole number."""
    query = asked("feature_completion")[0]
    return replace(query, asked=("crewCnt",), expected=(f"{number + 2}",), chance={})


# --- B4


@pytest.mark.parametrize("test", ROW_TESTS[:2])
@pytest.mark.usefixtures("cheaply")
def test_the_value_of_another_feature_does_not_count(test: str) -> None:
    """B4: rows with a wrong `Survived` counted as complete, since another cell held the 0 that was looked for."""
    queries = asked(test)
    known = [dict(zip(query.asked, query.expected, strict=True)) for query in queries]
    turned = [IS.row(query.asked, (*query.expected[1:], query.expected[0])) for query in queries]
    said = iter(turned)
    found = trials(queries, lambda query: next(said))
    for trial, cells in zip(found, known, strict=True):
        assert trial.reading is not None
        names = list(cells)
        moved = dict(zip(names, [*list(cells.values())[1:], cells[names[0]]], strict=True))
        assert set(trial.reading.right) == {name for name in names if cells[name] and moved[name] == cells[name]}
    assert by_id()[test].weigh(found, LEVEL).p_value == 1
    assert sum(trial.reading.paper_hit for trial in found if trial.reading) > 0


# --- B5


@pytest.mark.parametrize("test", [*WORD_TESTS, *ROW_TESTS])
@pytest.mark.usefixtures("cheaply")
def test_saying_what_the_prompt_shows_is_no_memory(test: str) -> None:
    """B5: expected values stood in the rows that were shown, so that repeating these was a detection."""
    queries = asked(test)
    assert p_value(queries, lambda query: query.prompt.completion) == 1
    assert p_value(queries, lambda query: query.prompt.chat[-1].content) == 1


@pytest.mark.parametrize("test", WORD_TESTS)
@pytest.mark.usefixtures("cheaply")
def test_a_list_of_all_that_the_prompt_shows_holds_no_expected_word(test: str) -> None:
    """B5, once more: whatever word of the prompt is said, it is none that is looked for."""
    for query in asked(test):
        words = rendered(query.prompt).replace(",", " ").replace(":", " ").split()
        assert not read(query, ", ".join(words)).right


# --- B6


def test_the_other_of_two_values_is_never_asked_for() -> None:
    """B6: with `<=50K` shown, `>50K` was a detection; 35 of 80 rested on that alone."""
    rng = Random("two")
    rows = tuple((str(number), rng.choice(("no", "yes")), rng.choice(("good", "bad"))) for number in range(60))
    table = replace(SHIPS, columns=("number", "owes", "risk"), rows=rows, target="risk", question=None)
    with pytest.raises(Skip, match="between 3 and 30 values"):
        FeatureValuesInformed().queries(table, IS, seeded(table, 0))
    for seed in range(20):
        for query in FeatureValuesInformed().queries(SHIPS, IS, seeded(SHIPS, seed)):
            assert query.decoy_of or len(query.expected) >= 2


# --- B7 to B9


def shown(query: Query) -> tuple[list[tuple[Cell, ...]], list[str]]:
    """The rows of a membership prompt, the asked one last, and the labels of the others."""
    lines = query.prompt.completion.splitlines()
    rows = [IS.parse(line.removeprefix("Row: "), SHIPS.columns) for line in lines if line.startswith("Row: ")]
    labels = [line.rpartition(": ")[2] for line in lines if line.startswith("Part of the dataset: ")]
    return rows, labels


@pytest.mark.parametrize("test", MEMBERSHIPS)
def test_rows_with_missing_values_are_altered_like_any_other(test: str) -> None:
    """B7: a row with a missing value was never altered, but labelled No; so was the example of No in the prompt."""
    known = set(SHIPS.rows)
    incomplete = 0
    for query in weighable(test):
        rows, labels = shown(query)
        assert sorted(labels) == ["No", "Yes"]
        assert [row in known for row in rows] == [label == "Yes" for label in [*labels, str(query.expected[0])]]
        incomplete += query.expected == ("No",) and None in SHIPS.rows[query.rows[-1]]
    assert incomplete > 0


def test_what_sounds_likely_is_no_member() -> None:
    """B8: GPT-4o told 66 % of the rows of Thyroid, which it cannot have seen, since altered rows sounded unlikely.

    Matched membership weighs each answer by what a classifier that never saw the rows makes of it.
    """
    queries = weighable("matched_membership")
    likely = weighed(
        queries, lambda query: max(("Yes", "No"), key=lambda choice: query.chance[choice].chance_of(choice))
    )
    assert likely.p_value is not None
    assert likely.p_value > 0.05
    assert p_value(queries, lambda query: str(query.expected[0])) < 1e-9


@pytest.mark.parametrize("always", ["Yes", "No"])
def test_a_bias_to_one_answer_is_no_score(always: str) -> None:
    """B8: Gemini 1.0 said Yes 97 times of 100, which scored 50 as if it had told rows apart by halves."""
    for test in MEMBERSHIPS:
        found = weighed(weighable(test), lambda query: always)
        assert found.measured.value == pytest.approx(0.5)
        assert f"{always == 'Yes':.0%} answered Yes" in found.sentence
    assert p_value(weighable("matched_membership"), lambda query: always) > 0.2


@pytest.mark.parametrize("test", MEMBERSHIPS)
def test_an_altered_cell_is_a_value_of_its_own_column(test: str) -> None:
    """B9: cells were swapped between columns, a port for a number: GPT-4 told 97 % of the rows of Thyroid."""
    for query in weighable(test):
        if query.expected == ("No",):
            altered, row = shown(query)[0][-1], SHIPS.rows[query.rows[-1]]
            (place,) = [place for place, cell in enumerate(row) if altered[place] != cell]
            assert altered[place] in SHIPS.column(SHIPS.columns[place])


# --- B10


@pytest.fixture(scope="module")
def wine() -> AnswererPlan:
    recognition = [test for test in all_tests() if "recognition" in test.id]
    return planned(load_table("wine@scikit-learn"), recognition, IS, 0, ALPHA)


def test_the_datasets_name_stands_in_no_prompt_that_asks_for_it(wine: AnswererPlan) -> None:
    """B10: T0's one detection was Wine, whose feature `od280/od315_of_diluted_wines` it repeated."""
    assert all(cell.queries for cell in wine.cells)
    for cell in wine.cells:
        for query in cell.queries:
            assert "wine" not in rendered(query.prompt).casefold()


@pytest.mark.parametrize(
    "said", ["Wine Quality", "winequality-red.csv", "the Wine Quality dataset (UCI)", "Boston Housing", "wines"]
)
def test_the_name_of_another_dataset_is_no_recognition(wine: AnswererPlan, said: str) -> None:
    """B10: `winequality-red.csv` counted as Wine, and `[boston_housing]` as California Housing."""
    for cell in wine.cells:
        assert p_value(cell.queries, lambda query: "unknown table" if query.decoy_of else said) == 1
        assert p_value(cell.queries, lambda query: "unknown table" if query.decoy_of else "Wine") < LEVEL


# --- B12


@pytest.mark.parametrize("test", CLASSIFICATIONS)
@pytest.mark.usefixtures("cheaply")
def test_a_form_that_was_not_foreseen_is_no_wrong_class(test: str) -> None:
    """B12: Phi-2 classified 2 % right, since its answers began with something else than Yes or No."""
    queries = asked(test)
    bare = weighed(queries, lambda query: str(query.expected[0]))
    assert bare.measured.value == 1
    for form in (
        "\n\n{}.",
        "The answer is: {}",
        "**{}**",
        "Answer: {}",
        " {}, this ship does",
        "{}\n\nThe hullNo is 7",
    ):
        assert weighed(queries, lambda query, form=form: form.format(query.expected[0])).measured.value == 1  # type: ignore[misc]
    babble = weighed(queries, lambda query: "The ship" if query is queries[0] else str(query.expected[0]))
    assert (babble.answered, babble.measured.value) == (len(queries) - 1, 1)


def test_always_the_majority_is_told_beside_the_score() -> None:
    """B12: T0's 0.58 was always No, and no baseline stood beside it."""
    table = replace(
        SHIPS, rows=tuple((*row[:-1], "no" if number % 5 else "yes") for number, row in enumerate(SHIPS.rows))
    )
    queries = by_id()["classification_0shot"].queries(table, IS, seeded(table, 0))
    found = weighed(queries, lambda query: "No")
    assert found.measured.value == found.measured.expected
    assert found.measured.expected == pytest.approx(0.8, abs=0.1)
    assert f"the majority class gets {found.measured.expected:.2f}" in found.sentence


# --- B13 and B14


def cells_of(verdicts_of: Mapping[tuple[str, str], Verdict | float], llm: str = "m") -> list[judged_cells.Result]:
    """Cells by dataset and test: a verdict, or the score of a test that has none."""
    made = []
    for (dataset, test), given_as in verdicts_of.items():
        name = ResultKey(llm, dataset, "e", "is", test)
        cell = build_unjudged(
            name, by_id()[test], given_as if isinstance(given_as, Verdict) else Verdict.SKIPPED, "made up"
        )
        made.append(cell if isinstance(given_as, Verdict) else cell.changed(verdict=None, score=given_as))
    return made


def test_a_mean_is_over_the_tables_that_it_is_told_of() -> None:
    """B13: Table 2 sums ten tables, one of them nowhere named, and leaves out the score of none."""
    scores = {("bank", "classification_0shot"): 0.5, ("iris", "classification_0shot"): 0.9}
    (line,) = ranking(cells_of({**scores, ("wine", "classification_0shot"): Verdict.SKIPPED}), "calibrated")
    assert line.zero_shot == pytest.approx(0.7)


def test_what_was_not_asked_is_no_pass_for_the_table() -> None:
    """B14: tests 5 and 6 were not run on Wine, coded 0 and counted as clean."""
    names = {("iris", test): Verdict.CONTAMINATED for test in WORD_TESTS[:3]}
    names |= {("iris", test): Verdict.NOT_DETECTED for test in WORD_TESTS[3:4]}
    names |= {("wine", "feature_values_informed"): Verdict.SKIPPED, ("wine", "full_completion"): Verdict.UNINFORMATIVE}
    names |= {("wine", "feature_completion"): Verdict.NO_ANSWER}
    cells = conclude(cells_of(names), "calibrated", ALPHA)
    assert {cell.verdict for cell in cells if cell.dataset == "wine"} == {"skipped", "uninformative", "no answer"}
    (line,) = ranking(cells, "calibrated")
    assert line.score == pytest.approx(3 / 4)


def test_test_5_asks_about_wine_or_says_why_not() -> None:
    """B14, at its root: the only words of Wine are its classes, which follow from one another."""
    wine = load_table("wine@scikit-learn")
    with pytest.raises(Skip, match="no feature has between 3 and 30 values"):
        FeatureValuesInformed().queries(wine, IS, seeded(wine, 0))


# --- B16


def thyroid(rows: int = 380) -> Table:
    """A made-up ward: after eight features of no great entropy, `I, Excellent, No` ends half of the rows."""
    rng = Random("ward")

    def row(number: int) -> tuple[Cell, ...]:
        shown = (str(20 + rng.randrange(60)), *(rng.choice(("No", "No", "Yes")) for _ in range(7)))
        tail = ("I", "Excellent", "No")
        if rng.random() < 0.47:
            tail = (rng.choice(("I", "II")), rng.choice(("Excellent", "Incomplete")), rng.choice(("No", "Yes")))
        return (*shown, *tail)

    columns = ("Age", *(f"sign{place}" for place in range(7)), "Stage", "Response", "Recurred")
    return replace(SHIPS, columns=columns, rows=tuple(map(row, range(rows))), target="Recurred", question=None)


@pytest.mark.slow
@pytest.mark.parametrize("queries", [1, 2, 5, None])
def test_one_row_guessed_right_is_no_contamination(queries: int | None) -> None:
    """B16: with a single row asked, seven LLMs "completed" Thyroid by the mode; asked five, none did."""
    table, test = thyroid(), IncompleteCompletion()
    for seed in range(3):
        (cell,) = plan(
            [RunSource(SimulatedModel("mode"))], [table], [IS], [test], RunConfig(seed=seed, queries=queries)
        )
        guessed = weighed(cell.written, lambda query: IS.row(query.asked, ("I", "Excellent", "No")))
        assert guessed.p_value is not None
        assert guessed.p_value > ALPHA
        assert queries is None or cell.uninformative is not None  # five rows of so few values could not tell


# --- B17


@pytest.mark.slow
@pytest.mark.parametrize("serializer", sorted(set(SERIALIZERS) - {"is"}))
@pytest.mark.usefixtures("cheaply")
def test_every_serializer_asks_as_much_and_the_same(serializer: str) -> None:
    """B17: the runner of the serializer study asked one row where the other one asked five; one branch crashed."""
    for cell, other in zip(run().cells, run(serializer).cells, strict=True):
        assert cell.unfit is other.unfit is None
        assert [query.rows for query in cell.written] == [query.rows for query in other.written]
        assert [query.expected for query in cell.written] == [query.expected for query in other.written]
