"""Answers in a form that a server is held to: what is asked, what is read, and which LLMs are asked for it."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tabcontam.asking.query_plan import PlannedResult, RunSource, plan
from tabcontam.asking.reply_store import Store
from tabcontam.asking.run_progress import Progress
from tabcontam.asking.session import Session
from tabcontam.asking.trial_file import Journal
from tabcontam.config import RunConfig
from tabcontam.evidence.base import Reply, ReplyState, UnreadReason, Verdict
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.structured_answers import in_json, read_structured_answer, schema_of, write_structured_answer
from tabcontam.models.base import NO_SCHEMA, Model, ModelRequest, PromptForm, TransientError
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.tables.serializers import load_serializers
from tabcontam.verdicts.notes import Note, NoteKind
from tests.made_tables import ships

pytestmark = pytest.mark.usefixtures("cheaply")

IS = load_serializers()["is"]
TESTS = [by_id()[name] for name in ("incomplete_completion", "full_completion", "feature_completion")]
OPTIONS = RunConfig(queries=4, form="structured")
ASKED = ("age", "name (given)")


class Deaf(SimulatedModel):
    """Knows the table, does as it is told, and has a server that takes no notice of a schema."""

    def __init__(self) -> None:
        super().__init__("oracle")
        self.spec = "simulated:deaf"
        self.asked: list[ModelRequest] = []

    async def generate(self, request: ModelRequest) -> Reply:
        self.asked.append(request)
        if not request.structured:
            return await super().generate(request)
        told = "JSON" in request.prompt.chat[-1].content
        return Reply(write_structured_answer(["blue"], ("colour",)) if told else "Blue.", ReplyState.OK)


def cells_of(model: Model, options: RunConfig = OPTIONS) -> list[PlannedResult]:
    return plan([RunSource(model)], [ships()], [IS], TESTS, options)


def verdicts(session: Session) -> set[Verdict | None]:
    return {result.verdict for result in session.results()}


def asked(model: Model, folder: Path, store: Store | None = None, options: RunConfig = OPTIONS) -> Session:
    """The session of a whole run."""
    folder.mkdir(exist_ok=True)
    session = Session(cells_of(model, options), options, Journal(folder), Progress(), store or Store())

    async def whole() -> None:
        await session.hold()
        session.recall()
        await session.ask()

    asyncio.run(whole())
    return session


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"known": true, "values": {"age": "31", "name (given)": "Ann"}}', {"age": "31", "name (given)": "Ann"}),
        ('{"known": true, "values": {"age": 31, "name (given)": ""}}', {"age": "31", "name (given)": None}),
        # it says that it does not know, and says what: a guess, as any answer may be
        ('{"known": false, "values": {"age": "31", "name (given)": "Ann"}}', {"age": "31", "name (given)": "Ann"}),
        ('{"known": false, "values": null}', {}),
        ('{"known": true, "values": null}', {}),
        ('{"known": false, "values": {"age": "", "name (given)": ""}}', {}),
        ('{"known": true, "values": {"age": "", "name (given)": ""}}', {"age": None, "name (given)": None}),
        ('{"known": true, "values": {"age": "31"}}', None),  # cut, or of another server: read as any text
        ('{"known": "yes", "values": {"age": "31", "name (given)": "Ann"}}', None),
        ('{"age": "31", "name (given)": "Ann"}', None),
        ('{"known": true, "values": {"age": "31", "name (gi', None),
        ("[" * 100_000, None),
        ('{"a":' * 100_000, None),
        ("The age is 31", None),
    ],
)
def test_an_answer_is_its_values_and_nothing_is_guessed(text: str, values: object) -> None:
    assert read_structured_answer(text, ASKED) == values


def test_what_is_said_in_the_form_is_read_from_it() -> None:
    assert read_structured_answer(write_structured_answer(("31", None), ASKED), ASKED) == {
        "age": "31",
        "name (given)": None,
    }
    assert read_structured_answer(write_structured_answer((), ()), ASKED) == {}


def test_the_schema_wants_every_value_and_has_a_place_to_decline() -> None:
    schema = schema_of(ASKED)
    values, nothing = schema["properties"]["values"]["anyOf"]
    assert schema["required"] == ["known", "values"]
    assert values["required"] == list(ASKED) == list(values["properties"])
    assert nothing == {"type": "null"}
    assert [each["additionalProperties"] for each in (schema, values)] == [False, False]


def test_every_test_asks_for_the_values_of_what_it_asks_and_reads_them_as_if_written_in_words() -> None:
    for cell in cells_of(SimulatedModel("oracle")):
        for query in cell.queries:
            assert query.prompt.values == query.asked
            assert in_json(query.prompt).chat[-1].content.startswith(query.prompt.chat[-1].content)
            held = Reply(write_structured_answer(query.expected, query.asked), ReplyState.OK)
            words = Reply(query.answering.text(query, query.expected, query.prompt), ReplyState.OK)
            readings = [cell.test.read(query, reply, IS) for reply in (held, words)]
            assert readings[0].hit
            assert replace(readings[0], paper_hit=True) == replace(readings[1], paper_hit=True)
            declined = cell.test.read(query, Reply('{"known": false, "values": null}', ReplyState.OK), IS)
            assert (declined.readable, declined.unread) == (False, UnreadReason.DECLINED)


def test_who_knows_is_found_and_who_declines_is_not_clean(tmp_path: Path) -> None:
    found = {
        kind: verdicts(asked(SimulatedModel(kind), tmp_path / kind))
        for kind in ("oracle", "decliner", "refuser", "fails", "truncates")
    }
    assert found.pop("oracle") == {Verdict.CONTAMINATED}
    assert set.union(*found.values()) == {Verdict.NO_ANSWER}


def test_one_request_shows_who_can_be_held_and_is_kept(tmp_path: Path) -> None:
    deaf = Deaf()
    session = asked(deaf, tmp_path / "deaf")
    assert [request.structured for request in deaf.asked] == [True]  # the table's queries go to the prepared one
    assert session.notes() == [Note(NoteKind.SENT, f"simulated:deaf: {NO_SCHEMA}")]
    line = json.loads((tmp_path / "deaf" / "trials.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert "JSON" not in line["prompt"][-1]["content"]
    held = asked(SimulatedModel("oracle"), tmp_path / "held")
    assert held.notes() == []
    line = json.loads((tmp_path / "held" / "trials.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert "JSON" in line["prompt"][-1]["content"]
    assert json.loads(line["reply"])["known"] is True


def test_what_was_found_out_is_not_asked_again(tmp_path: Path) -> None:
    class Counted(SimulatedModel):
        def __init__(self) -> None:
            super().__init__("oracle")
            self.probes = 0
            self.identity = {"provider": "simulated", "address": "", "model": "counted"}  # type: ignore[assignment]

        async def generate(self, request: ModelRequest) -> Reply:
            self.probes += 1
            return await super().generate(request)

    store, first, second = Store.open(tmp_path / "replies.sqlite"), Counted(), Counted()
    for model in (first, second):
        asked(model, tmp_path / str(id(model)), store)
    assert (first.probes, second.probes, second.structured) == (1, 0, True)
    store.close()


def test_a_server_that_is_not_there_ends_the_llm_as_any_request_would(tmp_path: Path) -> None:
    class Gone(SimulatedModel):
        async def generate(self, request: ModelRequest) -> Reply:
            raise TransientError("nobody answers", "cut connection", wait=10_000.0)

    session = asked(Gone("oracle"), tmp_path)
    assert verdicts(session) == {Verdict.NO_ANSWER}
    assert "nobody answers" in session.askers["simulated:oracle"].ended


def test_another_form_has_another_place_in_the_store() -> None:
    held, plain = SimulatedModel("oracle"), SimulatedModel("oracle")
    held.structured = True
    assert (held.sent_in, plain.sent_in) == (PromptForm.STRUCTURED, PromptForm.CHAT)
