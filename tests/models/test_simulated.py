"""The `simulated:` answerers: each answers in its kind, and knows only what it was prepared for."""

import asyncio

import pytest

from tabcontam.datasets import Table
from tabcontam.errors import UsageError
from tabcontam.models.base import Form, Request
from tabcontam.models.simulated import KINDS, answer_text, open_simulated
from tabcontam.suite.base import Capability, Message, Prompt, Query, Reply, State

TABLE = Table(
    name="people",
    title="People",
    edition="1",
    sha256="0",
    columns=("age", "job", "city"),
    rows=(("39", "clerk", "Rome"), ("50", None, "Oslo"), ("28", "nurse", "Bonn")),
)


def query(test: str, asked: tuple[str, ...], expected: tuple[str | None, ...]) -> Query:
    prompt = Prompt((Message("user", f"{test} {asked}?"),), "", "")
    return Query(f"{test}-0", lambda: prompt, asked, expected, 16)


INCOMPLETE = query("incomplete_completion", ("job", "city"), ("clerk", "Rome"))
FULL = query("full_completion", ("age", "job", "city"), ("50", None, "Oslo"))
FEATURE = query("feature_completion", ("age",), ("39",))
FEATURES = query("feature_list_informed", (), ("job", "city"))
VALUES = query("feature_values_informed", ("job",), ("clerk", "nurse"))
NAMES = query("recognition_features", (), ("People Table", "people"))
MEMBER = query("membership", ("Yes", "No"), ("No",))
CLASS = query("classification_0shot", ("rich", "poor"), ("poor",))
QUERIES = (INCOMPLETE, FULL, FEATURE, FEATURES, VALUES, NAMES, MEMBER, CLASS)


def ask(kind: str, asked: Query) -> Reply:
    model = open_simulated(kind).prepare(TABLE, QUERIES)
    return asyncio.run(model.generate(Request(asked.prompt, asked.max_tokens)))


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
    ],
)
def test_one_that_knows_gives_the_truth_in_the_asked_shape(asked: Query, text: str) -> None:
    assert ask("knows", asked) == Reply(text, State.OK, tokens=len(text.split()))


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (INCOMPLETE, "The job is nurse, The city is Bonn"),
        (FULL, "The age is 39, The job is clerk, The city is Rome"),
        (FEATURE, "50"),
        (MEMBER, "Yes"),
        (CLASS, "rich"),
    ],
)
def test_one_that_guesses_gives_what_is_plausible(asked: Query, text: str) -> None:
    assert ask("guesses", asked).text == text


@pytest.mark.parametrize("asked", [INCOMPLETE, FULL, FEATURE, FEATURES, VALUES, NAMES])
def test_one_that_guesses_is_wrong(asked: Query) -> None:
    got = ask("guesses", asked)
    assert got.state is State.OK
    assert got.text != answer_text(asked, asked.expected)
    if asked in (FEATURES, VALUES, NAMES):
        assert not any(str(word) in got.text for word in asked.expected)


def test_one_that_guesses_needs_no_other_row() -> None:
    model = open_simulated("guesses").prepare(
        Table(name="t", title="t", edition="1", sha256="0", columns=("age",), rows=(("0",),)),
        [zero := query("feature_completion", ("age",), ("0",))],
    )
    assert asyncio.run(model.generate(Request(zero.prompt, 8))).text == "1"


@pytest.mark.parametrize("asked", QUERIES)
def test_one_that_rambles_buries_the_answer(asked: Query) -> None:
    text = ask("rambles", asked).text
    assert f"```\n{answer_text(asked, asked.expected)}\n```" in text
    assert text.startswith("Sure!")


@pytest.mark.parametrize("asked", QUERIES)
def test_one_that_truncates_is_cut_within_the_first_item(asked: Query) -> None:
    got = ask("truncates", asked)
    assert got.state is State.TRUNCATED
    assert not any(value and value in got.text for value in asked.expected)


def test_one_that_declines_does_so_politely() -> None:
    got = ask("declines", FULL)
    assert got.state is State.OK
    assert "cannot" in got.text


@pytest.mark.parametrize(
    ("kind", "state"), [("refuses", State.REFUSED), ("fails", State.FAILED), ("empty", State.EMPTY)]
)
def test_others_give_no_answer(kind: str, state: State) -> None:
    got = ask(kind, FULL)
    assert (got.text, got.state) == ("", state)
    assert got.detail


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_keeps_the_protocol(kind: str) -> None:
    model = open_simulated(kind)
    asyncio.run(model.connect())
    prepared = model.prepare(TABLE, QUERIES)
    asyncio.run(model.close())
    assert prepared.spec == model.spec == f"simulated:{kind}"
    assert (model.control, model.local, model.version, model.form) == (False, True, "1", Form.CHAT)
    assert model.capabilities == {Capability.GENERATE, Capability.CHAT, Capability.INSTRUCTIONS}


def test_the_unprepared_fail() -> None:
    reply = asyncio.run(open_simulated("knows").generate(Request(FULL.prompt, 16)))
    assert reply.state is State.FAILED


def test_an_unknown_kind_is_a_mistake_of_the_user() -> None:
    with pytest.raises(UsageError, match="unknown simulated model 'know'; did you mean knows"):
        open_simulated("know")
