"""The `infinigram:` provider: how an index is named and reached, and what becomes of a server's faults."""

import asyncio
import csv
import json
import socket
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tabcontam.asking.query_plan import RunSource, plan, rows_shown
from tabcontam.config import RunConfig
from tabcontam.errors import Exit, UsageError
from tabcontam.evidence.base import Capability, Lookup, LookupMode, Matches, ReplyState
from tabcontam.evidence.registry import by_id
from tabcontam.extensions.corpora.infinigram import connection, provider
from tabcontam.extensions.corpora.infinigram.provider import PUBLIC, InfinigramModel
from tabcontam.models.base import FatalError, ModelRequest, TransientError
from tabcontam.models.prices import FREE, price_of
from tabcontam.models.provider_record import ModelSettings
from tabcontam.models.provider_registry import resolve
from tabcontam.tables.serializers import load_serializers
from tabcontam.verdicts.run_facts import known_tests
from tests.asking.test_session import answer, session
from tests.commands import tabcontam
from tests.extensions.corpora.loopback_infinigram import InfinigramServer, refused
from tests.loopback import Response
from tests.made_tables import ships
from tests.packages.witnesses import Found

IS = load_serializers()["is"]
ASKED = Lookup(("coal", "wool"))
DOCUMENTS = ["Of 211 ships 35 carried coal."]
HOSTILE = "no \x1b[31msuch\nindex\u202e " + "x" * 5000
Trouble = TypeVar("Trouble", TransientError, FatalError)
LIMITED = refused("Too many requests", 429, {"Retry-After": "7"})
SLOW = refused("[Flask] Web request timed out. Please try again later.", 500)
NO_INDEX = refused("[Flask] Invalid index: tiny")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No waiting between tries."""
    monkeypatch.setattr(provider, "CONNECT_WAIT", 0.0)
    monkeypatch.setattr(provider, "MOST_CONNECT_WAIT", 0.0)


def opened(spec: str) -> InfinigramModel:
    model = resolve(spec).open(ModelSettings())
    assert isinstance(model, InfinigramModel)
    return model


def reached(server: InfinigramServer, index: str = "tiny") -> InfinigramModel:
    """The index after it was connected and closed again."""
    model = InfinigramModel(index, address=server.url)

    async def work() -> None:
        try:
            await model.connect()
        finally:
            await model.close()

    asyncio.run(work())
    return model


def wrong(server: InfinigramServer, index: str = "tiny") -> str:
    """The one line that says why an index cannot be reached."""
    with pytest.raises(UsageError) as caught:
        reached(server, index)
    line = str(caught.value)
    assert line.isprintable()
    assert len(line) <= 600
    return line


def ask(server: InfinigramServer, lookup: Lookup = ASKED) -> Matches:
    model = InfinigramModel("tiny", address=server.url)

    async def work() -> Matches:
        try:
            return await model.search(ModelRequest(lookup))
        finally:
            await model.close()

    return asyncio.run(work())


def trouble(response: Response, kind: type[Trouble]) -> Trouble:
    """What a search raises that gets this response."""
    with InfinigramServer({"tiny": DOCUMENTS}, lambda body: response) as server, pytest.raises(kind) as caught:
        ask(server)
    assert str(caught.value).isprintable()
    return caught.value


# Names and addresses


def test_an_index_is_asked_at_the_public_server_or_where_the_user_says() -> None:
    public = opened("infinigram:v4_dolma-v1_7_llama")
    assert public.identity == {"provider": "infinigram", "address": PUBLIC, "model": "v4_dolma-v1_7_llama"}
    assert not public.local
    own = opened("infinigram:tiny@http://127.0.0.1:8000/")
    assert own.identity == {"provider": "infinigram", "address": "http://127.0.0.1:8000", "model": "tiny"}
    assert own.local
    assert own.capabilities == {Capability.SEARCH}


def test_only_loopback_is_local() -> None:
    addresses = ["http://192.168.0.7:8000/", "http://index.example/", "https://127.0.0.1.example.org/"]
    assert not any(opened(f"infinigram:tiny@{address}").local for address in addresses)
    assert opened("infinigram:tiny@http://localhost:1/").local


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("infinigram:", "names no model; write for example infinigram:NAME"),
        ("infinigram:a b", "bad name of an index 'a b'; type for example infinigram:v4_dolma-v1_7_llama"),
        ("infinigram:../up", "bad name of an index"),
        ("infinigram:tiny@ftp://host/", "bad address after infinigram:"),
        ("infinigram:tiny@http://me:secret@host/", "an address must hold no user name or password"),
        ("infini-gram:tiny", "did you mean infinigram?"),
    ],
)
def test_what_is_typed_wrongly_is_one_line(spec: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        opened(spec)
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


def test_nobody_is_charged() -> None:
    identity = {"provider": "infinigram", "address": PUBLIC, "model": "v4_rpj_llama_s4"}
    assert price_of(identity, False, {}) == FREE


def test_the_public_server_is_asked_little_at_a_time() -> None:
    assert opened("infinigram:v4_rpj_llama_s4").connections == 2
    assert opened("infinigram:tiny@http://127.0.0.1:8000/").connections is None


def test_no_key_is_sent_to_anybody(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TABCONTAM_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "sk-secret-0123456789abcdef")
    with InfinigramServer({"tiny": DOCUMENTS}) as server:
        reached(server)
        ask(server)
        assert not any("secret" in str(request) for request in server.requests)
        assert not any("authorization" in request.headers for request in server.requests)


# Connecting


def test_connecting_sends_no_row_and_takes_down_how_large_the_index_is() -> None:
    with InfinigramServer({"tiny": DOCUMENTS}) as server:
        model = reached(server)
        (request,) = server.requests
    assert request.body == {"index": "tiny", "query_type": "count", "query": ""}
    assert model.version == "tokens=15"


def test_an_unknown_index_is_told_in_the_servers_words() -> None:
    with InfinigramServer({"tiny": DOCUMENTS}) as server:
        line = wrong(server, "large")
    assert f"the server at {server.url.rstrip('/')} has no index large" in line
    assert "it answered HTTP 400: [Flask] Invalid index: large" in line


def test_what_a_server_says_is_made_harmless() -> None:
    with InfinigramServer({}, lambda body: refused(HOSTILE)) as server:
        assert "no [31msuch index" in wrong(server)


@pytest.mark.parametrize(
    ("response", "said"),
    [
        (Response(raw=b"<html>hello</html>"), "the reply is no JSON"),
        (Response(raw=b"[" * 100_000), "the reply is no JSON"),
        (Response(["count"]), "the reply is no JSON object"),
        (Response({"count": "many"}), "does not speak the infini-gram protocol"),
        (Response(raw=b"<html>", status=404), "does not speak the infini-gram protocol"),
        (Response({}, status=302, headers={"Location": "http://127.0.0.1:9/"}), "does not speak the infini-gram"),
        (refused("[Flask] Invalid query_type: count"), "does not speak the infini-gram protocol"),
        (refused("Unauthorized", 401), "wants a key, and tabcontam sends no key to an index"),
        (LIMITED, "HTTP 429: Too many requests: cannot reach"),
        (refused("Forbidden", 403), "HTTP 403: Forbidden: cannot reach"),
        (SLOW, "timed out"),
        (Response({}, cut=True), "connection failed"),
        (refused("query must be a string!", 200), "does not describe the index; it answered HTTP 200"),
    ],
)
def test_a_server_that_cannot_be_used_is_one_line(response: Response, said: str) -> None:
    with InfinigramServer({"tiny": DOCUMENTS}, lambda body: response) as server:
        assert said in wrong(server)


def test_nobody_there_is_one_line() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    model = InfinigramModel("tiny", address=f"http://127.0.0.1:{port}/")
    with pytest.raises(UsageError, match="cannot reach the server at http"):
        asyncio.run(model.connect())


def test_a_server_that_is_busy_for_a_moment_is_asked_again() -> None:
    faults = [LIMITED, SLOW]
    with InfinigramServer({"tiny": DOCUMENTS}, lambda body: faults.pop() if faults else None) as server:
        assert reached(server).version == "tokens=15"
        assert len(server.requests) == 3


def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "SECONDS", 0.05)
    with InfinigramServer({}, lambda body: Response(hang=True)) as server:
        assert "timed out after 0.05 s" in wrong(server)


# Faults of a search


@pytest.mark.parametrize(
    ("response", "kind", "wait", "crowded"),
    [
        (LIMITED, "429", 7.0, True),
        (refused("Forbidden", 403), "403", None, True),
        (refused("Server overloaded", 503), "503", None, True),
        (SLOW, "500", None, False),
        (refused("Please try again later.", 200), "200", None, False),
        (Response(raw=b"{", status=502), "502", None, False),
        (Response(raw=b"{"), "broken JSON", None, False),
        (Response([]), "broken JSON", None, False),
        (Response({}, cut=True), "cut connection", None, False),
        (Response({"count": 1}), "no reply", None, False),
    ],
)
def test_what_may_pass_is_told_as_that(response: Response, kind: str, wait: float | None, crowded: bool) -> None:
    error = trouble(response, TransientError)
    assert (error.kind, error.wait, error.crowded) == (kind, wait, crowded)


@pytest.mark.parametrize("response", [NO_INDEX, refused("[Flask] Invalid query_type: find_cnf"), refused("", 401)])
def test_what_will_not_pass_ends_the_index(response: Response) -> None:
    assert "it answered HTTP 40" in str(trouble(response, FatalError))


def test_what_concerns_a_query_alone_is_no_answer_to_it() -> None:
    answered = Response({"error": "Please limit your input to <= 500 tokens!"})
    with InfinigramServer({"tiny": DOCUMENTS}, lambda body: answered) as server:
        found = ask(server)
    assert found.state is ReplyState.FAILED
    assert found.detail == "HTTP 200: Please limit your input to <= 500 tokens!"


ODD: list[dict[str, Any]] = [
    {"cnt": 1, "approx": False},
    {"cnt": 1, "approx": False, "ptrs_by_shard": [["0"]]},
    {"cnt": 1, "approx": False, "ptrs_by_shard": [[-2]]},
    {"cnt": 1, "approx": False, "ptrs_by_shard": [[1 << 80]]},
    {"cnt": "1", "approx": False, "ptrs_by_shard": []},
    {"cnt": 1, "approx": "no", "ptrs_by_shard": []},
]


@pytest.mark.parametrize("odd", ODD)
def test_odd_places_are_no_answer(odd: dict[str, Any]) -> None:
    def instead(body: dict[str, Any]) -> Response | None:
        return Response(odd) if body["query_type"] == "find_cnf" else None

    with InfinigramServer({"tiny": DOCUMENTS}, instead) as server, pytest.raises(TransientError) as caught:
        ask(server)
    assert str(caught.value).startswith("the reply holds ")


def test_after_a_fault_only_what_is_missing_is_asked() -> None:
    faults = {"find_cnf": [SLOW], "get_doc_by_ptr": [LIMITED, SLOW]}

    def instead(body: dict[str, Any]) -> Response | None:
        left = faults.get(body["query_type"])
        return left.pop() if left else None

    counted = list[int]()
    with InfinigramServer({"tiny": DOCUMENTS}, instead) as server:
        model = InfinigramModel("tiny", address=server.url)

        async def work() -> Matches:
            while True:
                try:
                    return await model.search(ModelRequest(ASKED, again=lambda: counted.append(1)))
                except TransientError:
                    continue
                finally:
                    await model.close()

        found = asyncio.run(work())
        kinds = server.kinds()
    assert found.counts == (1, 0)
    assert kinds == ["count", "find_cnf", "find_cnf", *["get_doc_by_ptr"] * 3]
    assert len(counted) == len(kinds) - 4  # each of the four tries counts its first request itself


# Through the engine


class InDocuments(Found):
    """Does a document hold the row, beside a value that it does not have?"""

    id = "in_documents"

    def question(self, text: str) -> Lookup:
        cells = [part.split(" is ", 1)[-1].strip(" .") for part in text.split(",")]
        return Lookup((cells[-1], "nothing of this kind"), by=LookupMode.CELLS, context=tuple(cells[:-1]))


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> InDocuments:
    monkeypatch.setitem(by_id(), InDocuments.id, InDocuments())
    known = {**known_tests(), InDocuments.id: InDocuments().facts}
    monkeypatch.setattr("tabcontam.verdicts.result_building.known_tests", lambda: known)
    return InDocuments()


def cells_of(model: InfinigramModel, test: InDocuments, options: RunConfig | None = None, private: bool = False) -> Any:
    table = replace(ships(), private=private)
    return plan([RunSource(model)], [table], [IS], [test], options or RunConfig())


def texts() -> list[str]:
    return [IS.row(ships().columns, row) for row in ships().rows[:12]]


@pytest.mark.slow
def test_a_run_finds_the_rows_that_stand_there_through_limits_and_faults(made: InDocuments, tmp_path: Path) -> None:
    faults = [Response(raw=b"{"), refused("Too many requests", 429, {"Retry-After": "0"}), SLOW] * 3
    planted = texts()[:6]
    with InfinigramServer({"tiny": [*DOCUMENTS, *planted]}, lambda body: faults.pop() if faults else None) as server:
        model = InfinigramModel("tiny", address=server.url)
        running = session(cells_of(model, made), tmp_path)
        answer(running)
        (cell,) = running.results()
    assert not faults
    assert (cell.queries, cell.evidence.answered, cell.evidence.hits) == (12, 12, 6)


def test_a_limit_on_requests_holds_for_every_single_one(made: InDocuments, tmp_path: Path) -> None:
    with InfinigramServer({"tiny": [*DOCUMENTS, *texts()]}) as server:
        model = InfinigramModel("tiny", address=server.url)
        options = RunConfig(max_requests=10)
        running = session(cells_of(model, made, options), tmp_path, options)
        answer(running)
        assert len(server.requests) <= 10
    assert running.askers[model.spec].spent


def test_an_index_that_goes_ends_the_run_with_its_words(made: InDocuments, tmp_path: Path) -> None:
    with InfinigramServer({"tiny": DOCUMENTS}, lambda body: NO_INDEX) as server:
        model = InfinigramModel("tiny", address=server.url)
        running = session(cells_of(model, made), tmp_path)
        answer(running)
    assert "has no index tiny" in running.askers[model.spec].ended
    assert [cell.verdict for cell in running.results()] == ["no answer"]


def test_rows_that_would_leave_for_an_index_are_counted(made: InDocuments) -> None:
    elsewhere = InfinigramModel("tiny", address="http://192.0.2.1/")
    here = InfinigramModel("tiny", address="http://127.0.0.1:9/")
    assert rows_shown(cells_of(elsewhere, made, private=True)) == {("infinigram:tiny", "ships"): 12}
    assert rows_shown(cells_of(elsewhere, made)) == {}
    assert rows_shown(cells_of(here, made, private=True)) == {}


# On the command line


@pytest.fixture
def file(made: InDocuments, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A user's own table, and one test: whether documents hold its rows."""
    monkeypatch.setattr("tabcontam.runs.run.all_tests", lambda: (made,))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    table = ships()
    path = tmp_path / "harbour.csv"
    with path.open("w", newline="") as written:
        csv.writer(written).writerows((table.columns, *table.rows[:40]))
    return path


def run(file: Path, server: str, *more: str) -> subprocess.CompletedProcess[str]:
    return tabcontam("run", "--llm", f"infinigram:tiny@{server}", "--dataset", str(file), "--no-controls", *more)


@pytest.mark.slow
def test_the_command_searches_an_index_on_this_machine_without_leave(file: Path) -> None:
    with InfinigramServer({"tiny": [*DOCUMENTS, *texts()]}) as server:
        done = run(file, server.url, "--json")
        sent = len(server.requests)
        assert (done.returncode, done.stderr.count("Traceback")) == (0, 0)
        again = run(file, server.url, "--json")
        # All answers were stored: the size of the index alone is asked.
        assert {request.body.get("query") for request in server.requests[sent:]} == {""}
    assert json.loads(done.stdout)["results"][0]["hits"] == json.loads(again.stdout)["results"][0]["hits"] == 12


def test_private_rows_go_to_no_index_elsewhere_without_leave(file: Path) -> None:
    done = run(file, "http://192.0.2.1/", "--out", str(file.parent / "run"))
    assert done.returncode == Exit.USAGE
    assert "harbour.csv: 12 rows would be shown to infinigram:tiny@http://192.0.2.1/; add --send-rows" in done.stderr
    assert not (file.parent / "run").exists()


def test_the_plan_says_how_many_rows_would_leave(file: Path) -> None:
    assert "12 rows" in run(file, "http://192.0.2.1/", "--dry-run", "--send-rows").stdout


def test_what_an_index_cannot_be_searched_for_is_not_planned_and_the_rest_is_scored(tmp_path: Path) -> None:
    """It knows whole words: of `ngram_overlap` it is not asked for letters and digits, and what it is asked stands."""
    test = by_id()["ngram_overlap"]
    with InfinigramServer({"tiny": [*DOCUMENTS, *texts()]}) as server:
        model = InfinigramModel("tiny", address=server.url)
        options = RunConfig(queries=8)
        (cell,) = plan([RunSource(model)], [ships()], [IS], [test], options)
        assert {query.question.by for query in cell.queries if isinstance(query.question, Lookup)} == {LookupMode.WORDS}
        running = session([cell], tmp_path, options)
        answer(running)
        (found,) = running.results()
    assert (found.verdict, found.cut_short, found.queries) == (None, False, len(cell.queries))
    assert "GPT-4's pieces of letters and digits were not searched for" in found.evidence.sentence
