"""The `simulated:` answerers: each answers in its kind, and knows only what it was prepared for."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from random import Random

import pytest

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.errors import UsageError
from tabcontam.evidence.answering import MISSING, USUAL_FEATURES
from tabcontam.evidence.base import Capability, Message, Prompt, Query, Reply, ReplyState
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.rows.completion_tests import FeatureCompletion, FullCompletion, IncompleteCompletion
from tabcontam.models.base import ModelRequest, PromptForm
from tabcontam.models.known.simulated import KINDS, SimulatedModel
from tabcontam.reading.answer_text import choice_in, declines
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tests.answerers import reply_of
from tests.made_tables import ships

TABLE = Table(
    name="people",
    title="People",
    edition="1",
    sha256="0",
    columns=("age", "job", "city"),
    rows=(("39", "clerk", "Rome"), ("50", None, "Oslo"), ("28", "nurse", "Bonn"), ("39", "nurse", "Bonn")),
)
SOFT = ("oracle", "mode", "guesser", "schema-expert", "yes", "no", "decliner", "rambler", "formatter", "memoriser:0.5")
OPENED = tuple(kind.replace("P", "0.3") for kind in KINDS)


def query(
    test: str,
    asked: tuple[str, ...],
    expected: tuple[str | None, ...],
    chance: Mapping[str, Mapping[str, float]] | None = None,
    decoy_of: str = "",
    rows: tuple[int, ...] = (),
) -> Query:
    number = "0-decoy-1" if decoy_of else "0"
    prompt = Prompt((Message("user", f"{test} {asked} {number}?"),), f"The {(*asked, '')[0]} is", "")
    guesses = {name: CellPrediction(values, 0.01) for name, values in (chance or {}).items()}
    made = Query(f"{test}-{number}", lambda: prompt, asked, expected, 16, rows=rows, chance=guesses, decoy_of=decoy_of)
    return replace(made, answering=by_id()[test].answering)


GUESSES = {"job": {"nurse": 0.6, "cook": 0.4}, "city": {"Pisa": 0.9, "Rome": 0.1}}
INCOMPLETE = query("incomplete_completion", ("job", "city"), ("clerk", "Rome"), GUESSES, rows=(2, 0))
FULL = query("full_completion", ("age", "job", "city"), ("50", None, "Oslo"), rows=(0,))
FEATURE = query("feature_completion", ("age",), ("39",), {"age": {"28": 0.5}}, rows=(2, 0))
FEATURES = query("feature_list_informed", (), ("job", "city"), {"job": {"job": 1.0}, "city": {"city": 0.0}})
VALUES = query("feature_values_informed", ("job",), ("clerk", "nurse"))
NAMES = query("recognition_features", (), ("People Table", "people"))
MEMBER = query("membership", ("Yes", "No"), ("No",), {"Yes": {"Yes": 0.3}, "No": {"No": 0.7}}, rows=(2, 0))
CLASS = query(
    "classification_0shot", ("rich", "poor"), ("poor",), {"majority": {"rich": 1.0}, "few-shot": {"poor": 0.8}}
)
DECOY = query("feature_list_informed", (), ("job", "city"), decoy_of=FEATURES.id)
TWIN = query("recognition_examples", (), ("People Table", "people"), decoy_of="recognition_examples-0")
TWIN = replace(TWIN, id="recognition_examples-0-twin-0")
QUERIES = (INCOMPLETE, FULL, FEATURE, FEATURES, VALUES, NAMES, MEMBER, CLASS, DECOY, TWIN)


def ask(kind: str, asked: Query, seed: int = 0) -> Reply:
    model = SimulatedModel(kind, seed).prepare(TABLE, QUERIES)
    return asyncio.run(model.generate(ModelRequest(asked.prompt, asked.max_tokens)))


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (INCOMPLETE, "The job is clerk, The city is Rome"),
        (FULL, "The age is 50, The job is , The city is Oslo"),
        (FEATURE, "39"),
        (FEATURES, "job, city"),
        (VALUES, "clerk, nurse"),
        (NAMES, "People Table"),
        (MEMBER, "No"),
        (CLASS, "poor"),
        (DECOY, ", ".join(USUAL_FEATURES)),  # of other tables it says what anybody would
    ],
)
def test_an_oracle_gives_the_truth_in_the_asked_shape(asked: Query, text: str) -> None:
    assert ask("oracle", asked) == Reply(text, ReplyState.OK, tokens=len(text.split()))


@pytest.mark.parametrize("asked", QUERIES)
def test_a_formatter_is_an_oracle_behind_a_preamble(asked: Query) -> None:
    text = ask("formatter", asked).text
    assert f"```\n{ask('oracle', asked).text}\n```" in text
    assert text.startswith("Sure!")


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (INCOMPLETE, "The job is nurse, The city is Bonn"),
        (FULL, "The age is 39, The job is nurse, The city is Bonn"),
        (FEATURE, "39"),
        (FEATURES, ", ".join(USUAL_FEATURES)),
        (DECOY, ", ".join(USUAL_FEATURES)),
        (MEMBER, "Yes"),
        (CLASS, "rich"),
    ],
)
def test_the_mode_is_the_most_frequent_value_of_its_column(asked: Query, text: str) -> None:
    assert ask("mode", asked).text == text


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (INCOMPLETE, "The job is nurse, The city is Pisa"),
        (FULL, "The age is 39, The job is nurse, The city is Bonn"),  # nothing is known: the mode
        (FEATURE, "28"),
        (MEMBER, "No"),
        (CLASS, "poor"),
    ],
)
def test_a_guesser_gives_the_likeliest(asked: Query, text: str) -> None:
    assert ask("guesser", asked).text == text


def test_a_guesser_says_a_word_as_often_as_it_is_due_and_to_decoys_as_to_true_queries() -> None:
    for asked in (FEATURES, DECOY):
        assert ask("guesser", asked).text == f"job, {', '.join(USUAL_FEATURES)}"


def test_a_schema_expert_knows_words_and_draws_rows() -> None:
    assert ask("schema-expert", FEATURES).text == "job, city"
    assert ask("schema-expert", DECOY).text == ", ".join(USUAL_FEATURES)
    drawn = {ask("schema-expert", INCOMPLETE, seed).text for seed in range(60)}
    assert drawn == {f"The job is {job}, The city is {city}" for job in ("nurse", "cook") for city in ("Pisa", "Rome")}


def test_a_schema_expert_takes_no_other_table_for_its_own() -> None:
    asked = replace(TWIN, id="recognition_examples-0-decoy-0")
    named = [reply_of("schema-expert", asked, replace(TABLE, names=(name,))).text for name in ("People", "The Titanic")]
    assert named == ["Titanic", "Adult"]


def test_a_schema_expert_cannot_tell_twin_rows_from_true_ones() -> None:
    assert ask("schema-expert", TWIN).text == "People Table"


def test_a_reader_knows_a_share_of_the_page_and_says_it_of_no_other_data() -> None:
    features = replace(FEATURES, expected=tuple(f"word{number}" for number in range(400)))

    def said(kind: str, asked: Query, seed: int = 0) -> str:
        return reply_of(kind, asked, TABLE, seed).text

    def known(share: str, seed: int = 0) -> set[str]:
        return set(said(f"reader:{share}", features, seed).split(", "))

    assert known("1") == set(features.expected)
    assert 150 < len(known("0.5")) < 250
    assert known("0.5") != known("0.5", seed=1)
    assert said("reader:1", replace(features, decoy_of="x")) == ", ".join(USUAL_FEATURES)
    named = [said("reader:0.5", replace(NAMES, id=f"recognition_features-{one}")) for one in range(40)]
    assert 10 < named.count("People Table") < 30
    assert said("reader:1", INCOMPLETE) == said("guesser", INCOMPLETE)
    assert SimulatedModel("reader:1").exposure(TABLE, 0) == 0


@pytest.mark.parametrize(("kind", "text"), [("yes", "Yes"), ("no", "No")])
@pytest.mark.parametrize("asked", QUERIES)
def test_yes_and_no_say_nothing_else(kind: str, text: str, asked: Query) -> None:
    assert ask(kind, asked).text == text


@pytest.mark.parametrize("seed", range(10))
def test_a_decliner_is_read_as_one(seed: int) -> None:
    reply = ask("decliner", FULL, seed)
    assert reply.state is ReplyState.OK
    assert declines(reply.text)


def test_a_rambler_is_varied_and_chooses_nothing() -> None:
    texts = {ask("rambler", asked, seed).text for asked in QUERIES for seed in range(10)}
    assert len(texts) > 0.9 * 10 * len(QUERIES)
    assert all(choice_in(text, ("Yes", "No")) is None for text in texts)
    assert any(name in text for text in texts for name in TABLE.columns)


@pytest.mark.parametrize("kind", SOFT)
def test_the_same_seed_says_the_same_in_whatever_order(kind: str) -> None:
    model = SimulatedModel(kind, 5).prepare(TABLE, QUERIES)
    backwards = [asyncio.run(model.generate(ModelRequest(asked.prompt, 16))) for asked in reversed(QUERIES)]
    assert backwards[::-1] == [ask(kind, asked, 5) for asked in QUERIES]


@pytest.mark.slow
@pytest.mark.parametrize("share", ["0.05", "0.5", "1"])
def test_a_memoriser_remembers_its_share_of_rows(share: str) -> None:
    table = ships(1000)
    queries = [
        query("feature_completion", ("hullNo",), (row[0],), rows=(0, place)) for place, row in enumerate(table.rows)
    ]
    known = sum(reply_of(f"memoriser:{share}", asked, table).text == asked.expected[0] for asked in queries)
    assert abs(known / 1000 - float(share)) < 0.05


def test_a_memoriser_of_a_split_guesses_those_of_another() -> None:
    table = replace(ships(1000), split="old")
    asked = query("membership", ("Yes", "No"), ("No",), rows=(3,))
    member = [reply_of(f"memoriser:1#{split}", asked, table).text for split in ("old", "new")]
    assert member[0] == "No"
    for split, copies in (("old", 1.0), ("new", 0.0)):
        assert SimulatedModel(f"memoriser:1#{split}").exposure(table, 3) == copies
    with pytest.raises(UsageError, match="unknown simulated model"):
        SimulatedModel("memoriser:1#")


def test_a_memoriser_remembers_the_same_rows_in_every_test_and_in_whatever_order_of_columns() -> None:
    table = ships(40)
    columns = table.columns[::-1]
    turned = replace(table, columns=columns, rows=tuple(row[::-1] for row in table.rows))
    whole = query("full_completion", table.columns, table.rows[7])
    member = query("membership", ("Yes", "No"), ("No",), rows=(7,))
    number = str(table.rows[7][0])
    for seed in range(20):
        known = number in reply_of("memoriser:0.5", whole, table, seed).text
        for each in (table, turned):
            assert (reply_of("memoriser:0.5", member, each, seed).text == "No") == known


def test_a_memoriser_of_more_rows_remembers_those_of_one_of_fewer() -> None:
    table = ships(300)
    asked = [query("membership", ("Yes", "No"), ("No",), rows=(place,)) for place in range(300)]
    few, more = (
        {one.rows for one in asked if reply_of(f"memoriser:{share}", one, table).text == "No"} for share in (0.1, 0.5)
    )
    assert few
    assert few < more


def test_a_memoriser_knows_no_words() -> None:
    assert [ask("memoriser:1", asked) for asked in (FEATURES, VALUES, NAMES)] == [
        ask("guesser", asked) for asked in (FEATURES, VALUES, NAMES)
    ]


def test_a_missing_cell_is_said_to_be_missing() -> None:
    asked = query("feature_completion", ("job",), (None,), rows=(1,))
    assert reply_of("oracle", asked, TABLE).text == MISSING


@pytest.mark.slow
@pytest.mark.parametrize("serializer", load_serializers().values(), ids=lambda one: one.name)
@pytest.mark.parametrize(
    "test", [IncompleteCompletion(), FullCompletion(), FeatureCompletion()], ids=lambda one: one.id
)
def test_rows_come_in_the_form_of_the_prompt_and_are_read(test: IncompleteCompletion, serializer: object) -> None:
    form = load_serializers()[getattr(serializer, "name", "is")]
    table = ships()
    for asked in test.planned(table, form, Random(1)):
        for kind in ("oracle", "formatter"):
            reply = reply_of(kind, asked, table)
            assert test.read(asked, reply, form).hit
        if len(asked.asked) > 1:
            assert reply_of("oracle", asked, table).text == form.row(asked.asked, asked.expected)


@pytest.mark.parametrize("asked", QUERIES)
def test_one_that_truncates_is_cut_within_the_first_item(asked: Query) -> None:
    got = ask("truncates", asked)
    assert got.state is ReplyState.TRUNCATED
    assert not any(value and value in got.text for value in asked.expected)


@pytest.mark.parametrize(
    ("kind", "state"), [("refuser", ReplyState.REFUSED), ("fails", ReplyState.FAILED), ("empty", ReplyState.EMPTY)]
)
def test_others_give_no_answer(kind: str, state: ReplyState) -> None:
    got = ask(kind, FULL)
    assert (got.text, got.state) == ("", state)
    assert got.detail


@pytest.mark.parametrize("kind", OPENED)
def test_every_kind_keeps_the_protocol(kind: str) -> None:
    model = SimulatedModel(kind)
    asyncio.run(model.connect())
    prepared = model.prepare(TABLE, QUERIES)
    asyncio.run(model.close())
    assert prepared.spec == model.spec == f"simulated:{kind}"
    assert (model.control, model.local, model.version, model.form) == (False, True, "1", PromptForm.CHAT)
    wanted = {Capability.GENERATE, Capability.CHAT, Capability.SAMPLE, Capability.INSTRUCTIONS}
    assert model.capabilities == wanted


@pytest.mark.parametrize("kind", OPENED)
def test_every_kind_answers_of_odd_tables(kind: str) -> None:
    cells: tuple[tuple[tuple[str | None], ...], ...] = ((), (("",),), (("a\nb",), (None,)))
    for rows in cells:
        table = Table(name="t", title="t", edition="1", sha256="0", columns=("x",), rows=rows)
        for test in ("feature_completion", "full_completion", "feature_values_uninformed", "recognition_features"):
            assert isinstance(reply_of(kind, query(test, ("x",), (None,)), table).text, str), rows


def test_prompts_are_written_no_oftener_than_needed() -> None:
    written = []

    def counted(asked: Query) -> Query:
        def write() -> Prompt:
            written.append(asked.id)
            return asked.prompt

        return replace(asked, write=write)

    model = SimulatedModel("oracle").prepare(TABLE, [counted(asked) for asked in QUERIES])
    assert not written
    for asked in QUERIES:
        asyncio.run(model.generate(ModelRequest(asked.prompt, 16)))
    assert written == [asked.id for asked in QUERIES]


def test_the_unprepared_fail() -> None:
    reply = asyncio.run(SimulatedModel("oracle").generate(ModelRequest(FULL.prompt, 16)))
    assert reply.state is ReplyState.FAILED


@pytest.mark.parametrize(
    "kind", ["know", "", "oracle:1", "memoriser", "memoriser:", "memoriser:0", "memoriser:1.01", "memoriser:nan"]
)
def test_a_bad_kind_is_a_mistake_of_the_user(kind: str) -> None:
    with pytest.raises(UsageError, match=r"known: oracle, mode, .*memoriser:P.*simulated:memoriser:0\.5"):
        SimulatedModel(kind)


def test_an_answer_is_a_text_of_the_asked_shape() -> None:
    assert VALUES.answering.text(VALUES, ["a", None]) == f"a, {MISSING}"
