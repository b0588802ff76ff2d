"""What a server of OpenAI's protocol alone does. What it does as every provider is in `tests.models.conformance`."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability, Passage, Reply, ReplyState, Scores, Usage
from tabcontam.models.base import FatalError, LackError, ModelRequest, PromptForm, TransientError
from tabcontam.models.keys import OPENAI, is_loopback, parse_address
from tabcontam.models.openai import connection
from tabcontam.models.openai.connection import NoAnswer
from tabcontam.models.openai.errors import Problem
from tabcontam.models.openai.provider import OpenAIModel
from tabcontam.models.openai.replies import READERS
from tabcontam.models.thresholds import MOST_THINKING_TOKENS
from tests.loopback import LoopbackServer, Response, completion, error, reply
from tests.models.conformance.openai import OpenAI, costing, reasoning
from tests.models.conformance.provider import ASKED, OTHER, SECRET, ask, ask_once, in_turn, refusal_to_connect, within

NOT_CHAT = error(404, "This is not a chat model and thus not supported in the v1/chat/completions endpoint.")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the developer's own keys."""
    OpenAI().bare(monkeypatch)


def opened(server: LoopbackServer, form: str = "auto", model: str = "model") -> OpenAIModel:
    return OpenAIModel(model, server.url, form)


def answered(response: str | Response, form: str = "auto") -> Reply:
    """What a single response becomes."""
    with LoopbackServer(lambda body: response) as server:
        return ask_once(opened(server, form))


def transient(response: str | Response, form: str = "auto") -> TransientError:
    """What passes, after one request."""
    with LoopbackServer(lambda body: response) as server:
        with pytest.raises(TransientError) as caught:
            ask_once(opened(server, form))
        assert len(server.asked) == 1
    return caught.value


def fatal(response: Response, form: str = "auto") -> str:
    """The line of what does not."""
    with LoopbackServer(lambda body: response) as server:
        with pytest.raises(FatalError) as caught:
            ask_once(opened(server, form))
        line = str(caught.value)
        assert server.url in line
    assert "\n" not in line
    return line


def connect(model: OpenAIModel) -> None:
    within(model, model.connect)


class TestAddress:
    @pytest.mark.parametrize(
        ("rest", "expected"),
        [
            ("gpt-4o", ("gpt-4o", None)),
            ("meta/llama:8b@http://localhost:8000/v1", ("meta/llama:8b", "http://localhost:8000/v1")),
            ("a@b@https://host/x/v1/", ("a@b", "https://host/x/v1/")),
            ("a@b", ("a@b", None)),
            ("m@http://[::1]:80", ("m", "http://[::1]:80")),
        ],
    )
    def test_is_split_at_the_last_scheme(self, rest: str, expected: tuple[str, str | None]) -> None:
        assert parse_address(rest) == expected

    @pytest.mark.parametrize(
        "rest",
        [
            "",
            "@http://host/v1",
            "m@http://",
            "m@http:///v1",
            "m@http://host:99999/v1",
            "m@http://host:0/v1",
            "m@http://ho st/v1",
            "m@http://host\\@evil/v1",
            "m@ftp://host/v1",
            "m@http://host/v1\n",
        ],
    )
    def test_that_is_none_is_a_mistake_of_the_user(self, rest: str) -> None:
        with pytest.raises(UsageError):
            parse_address(rest)

    @pytest.mark.parametrize(
        "rest",
        [
            f"m@http://user:{SECRET}@host/v1",
            f"m@https://{SECRET}@host/v1",
            f"m@http://host/v1?key={SECRET}",
            f"m@http://host/v1#{SECRET}",
            f"m@http://user:{SECRET}@https://host/v1",
        ],
    )
    def test_holds_no_key_and_none_is_repeated(self, rest: str) -> None:
        with pytest.raises(UsageError) as caught:
            parse_address(rest)
        assert SECRET not in str(caught.value)

    @given(st.text(st.characters(exclude_characters="@", exclude_categories=["Cs"]), min_size=1))
    def test_keeps_every_name(self, name: str) -> None:
        if not name.strip() or "://" in name:
            return
        assert parse_address(f"{name}@http://h/v1") == (name, "http://h/v1")

    @pytest.mark.parametrize(
        ("url", "local"),
        [
            ("http://localhost:1/v1", True),
            ("http://LOCALHOST/v1", True),
            ("http://127.0.0.1/v1", True),
            ("http://127.9.9.9/v1", True),
            ("http://[::1]:8000/v1", True),
            ("http://localhost.example.com/v1", False),
            ("http://127.0.0.1.example.com/v1", False),
            ("http://10.0.0.1/v1", False),
            ("http://0.0.0.0/v1", False),
            (OPENAI, False),
        ],
    )
    def test_is_local_by_its_spelling_alone(self, url: str, local: bool) -> None:
        assert is_loopback(url) is local
        assert OpenAIModel("m", url).local is local


class TestModel:
    def test_is_what_the_protocol_asks_for(self) -> None:
        model = OpenAIModel("a/b", "http://127.0.0.1:1/v1")
        assert model.spec == "openai:a/b@http://127.0.0.1:1/v1"
        assert OpenAIModel("gpt-4o", None).spec == "openai:gpt-4o"
        assert OpenAIModel("gpt-4o", None, spec="gpt-4o").spec == "gpt-4o"
        assert not model.control
        assert model.version == ""
        either = {
            Capability.GENERATE,
            Capability.CHAT,
            Capability.COMPLETION,
            Capability.SAMPLE,
            Capability.INSTRUCTIONS,
        }
        assert model.capabilities == either
        forced = OpenAIModel("a/b", "http://127.0.0.1:1/v1", form="completion")
        assert forced.capabilities == either - {Capability.CHAT}
        assert model.identity == {"provider": "openai", "address": "http://127.0.0.1:1/v1", "model": "a/b"}
        assert model.allowance == 0

    def test_knows_the_forms(self) -> None:
        assert OpenAIModel("gpt-4o", None).form is PromptForm.CHAT
        assert OpenAIModel("davinci-002", None).form is PromptForm.COMPLETION
        assert OpenAIModel("davinci-002", "http://127.0.0.1:1/v1").form is PromptForm.CHAT
        assert OpenAIModel("m", None, "completion").form is PromptForm.COMPLETION
        with pytest.raises(UsageError, match="did you mean chat"):
            OpenAIModel("m", None, "chatt")


class TestConnect:
    @pytest.mark.parametrize("owner", ["vllm", "someone"])
    def test_does_not_take_the_time_of_the_listing_for_a_version(self, owner: str) -> None:
        created = int(time.time()) - (7200 if owner == "vllm" else 0)
        with LoopbackServer(models=[{"id": "model", "created": created, "owned_by": owner, "root": "model"}]) as server:
            model = opened(server)
            connect(model)
        assert model.version == ""

    @pytest.mark.parametrize("status", [404, 405])
    def test_accepts_servers_without_a_list(self, status: int) -> None:
        with LoopbackServer(models_response=Response({"detail": "no"}, status)) as server:
            connect(opened(server))

    @pytest.mark.parametrize("body", [{"data": []}, {"data": None}, {"data": [3, {"id": 4}]}, [], {}, "x", None])
    def test_accepts_an_odd_list(self, body: object) -> None:
        with LoopbackServer(models_response=Response(body)) as server:
            connect(opened(server))

    def test_lists_no_terminal_codes(self) -> None:
        with LoopbackServer(models=["modem\x1b[31m\nred"]) as server:
            assert "\x1b" not in refusal_to_connect(opened(server))

    @pytest.mark.parametrize(
        ("status", "said"),
        [
            (401, "You have insufficient permissions for this operation. Missing scopes: api.model.read."),
            (403, "You have insufficient permissions for this operation."),
            (403, ""),
        ],
    )
    def test_accepts_a_key_that_may_only_chat(self, status: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TABCONTAM_API_KEY", OTHER)
        with LoopbackServer(models_response=error(status, said)) as server:
            model = opened(server)
            connect(model)
        assert model.version == ""

    def test_tries_a_cut_connection_once_more_and_nothing_else(self) -> None:
        with LoopbackServer(models_response=Response({"data": []}, cut=True)) as server:
            assert "connection failed" in refusal_to_connect(opened(server))
            assert len(server.requests) == 2
            server.models_response = error(503, "loading")
            refusal_to_connect(opened(server))
            assert len(server.requests) == 3


def test_what_is_fatal_shows_no_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABCONTAM_API_KEY", OTHER)
    line = fatal(error(401, f"Incorrect API key provided: {OTHER}, or {OTHER[:16]}***, or tk-o****cdef"))
    assert "refused the key in TABCONTAM_API_KEY" in line
    assert OTHER[:12] not in line
    assert "cdef" not in line


class TestHabits:
    """What a model does not take is learned once, and no query is lost."""

    def test_adapts_with_many_queries_under_way(self) -> None:
        with LoopbackServer(reasoning) as server:
            assert [got.state for got in ask(opened(server), times=20)] == [ReplyState.OK] * 20

    @pytest.mark.parametrize(
        "cut", [reply("<think>Hm", "length"), reply(None, "length", reasoning_content="Hm"), reply("", "length", 0, 16)]
    )
    def test_gives_thinking_its_own_allowance(self, cut: Response) -> None:
        with LoopbackServer(lambda body: reply("42") if body["max_tokens"] > 16 else cut) as server:
            assert ask_once(opened(server)).text == "42"
        assert server.asked[-1]["max_tokens"] == 16 + MOST_THINKING_TOKENS

    @staticmethod
    def small(context: int, prompt: int, words: str) -> Callable[[dict[str, Any]], str | Response]:
        """A server of a model that thinks, in a small context, and that says so in these words."""

        def answer(body: dict[str, Any]) -> str | Response:
            limit = body["max_tokens"]
            if prompt + limit > context:
                return error(400, words.format(context=context, prompt=prompt, limit=limit, sum=prompt + limit))
            return reply("42") if limit > 100 else reply("<think>Hm", "length")

        return answer

    @pytest.mark.parametrize(
        "words",
        [
            "This model's maximum context length is {context} tokens. However, you requested {sum} tokens "
            "({prompt} in the messages, {limit} in the completion). Please reduce the length of the messages.",
            "'max_tokens' or 'max_completion_tokens' is too large: {limit}. This model's maximum context length is "
            "{context} tokens and your request has {prompt} input tokens ({limit} > {context} - {prompt}).",
            "max_tokens={limit} cannot be greater than max_model_len=max_total_tokens={context}. Please request fewer "
            "output tokens.",
            "This model's maximum context length is {context} tokens. However, you requested {limit} output tokens and "
            "your prompt contains at least 1 input tokens, for a total of at least {sum} tokens.",
        ],
    )
    def test_asks_for_as_much_thinking_as_fits(self, words: str) -> None:
        with LoopbackServer(self.small(1000, 30, words)) as server:
            model = opened(server)
            assert [got.text for got in in_turn(model, 3)] == ["42"] * 3
        limits = [body["max_tokens"] for body in server.asked]
        assert limits[:2] == [16, 16 + MOST_THINKING_TOKENS]
        assert len(limits) == 3 + 2
        assert 900 < limits[-1] <= 970
        assert len(set(limits[2:])) == 1
        assert model.allowance == 1000

    def test_asks_for_less_where_the_prompt_is_longer_than_it_looks(self) -> None:
        words = "max_model_len={context}: context length exceeded by {sum}"
        with LoopbackServer(self.small(1000, 600, words)) as server:
            assert ask_once(opened(server)).text == "42"
        assert 100 < server.asked[-1]["max_tokens"] <= 400

    def test_keeps_to_the_most_that_a_model_writes(self) -> None:
        said = "max_tokens is too large: {}. This model supports at most 2048 completion tokens"

        def answer(body: dict[str, Any]) -> Response:
            limit = body["max_tokens"]
            if limit > 2048:
                return error(400, said.format(limit))
            return reply("42") if limit > 16 else reply("<think>Hm", "length")

        with LoopbackServer(answer) as server:
            assert ask_once(opened(server)).text == "42"
        assert [body["max_tokens"] for body in server.asked] == [16, 16 + MOST_THINKING_TOKENS, 2048]

    def test_fails_where_the_prompt_alone_is_too_long(self) -> None:
        said = "This model's maximum context length is 8 tokens. However, your messages resulted in 9 tokens."
        with LoopbackServer(lambda body: error(400, said, code="context_length_exceeded")) as server:
            got = ask_once(opened(server))
        assert got.state is ReplyState.FAILED
        assert got.detail.startswith("the prompt is too long: HTTP 400: This model's maximum")
        assert len(server.asked) == 1


class TestCompletion:
    def test_costs_what_the_server_states(self) -> None:
        response = costing(completion("3", tokens=2), prompt_tokens=40)
        assert answered(response, "completion").usage == Usage(40, 2)

    def test_sends_the_text_and_its_stop(self) -> None:
        with LoopbackServer(lambda body: completion(" 3", tokens=2)) as server:
            assert ask_once(opened(server, "completion")) == Reply(" 3", ReplyState.OK, "", 2)
        sent = {"model": "model", "prompt": "1, 2,", "temperature": 0, "max_tokens": 16, "stop": ["\n"]}
        assert server.asked == [sent]
        assert server.requests[0].path == "/v1/completions"

    def test_stops_itself_where_the_server_does_not(self) -> None:
        def answer(body: dict[str, Any]) -> Response:
            return error(400, "Unsupported parameter: 'stop'") if "stop" in body else completion(" 3\n4\n5", "length")

        with LoopbackServer(answer) as server:
            assert ask_once(opened(server, "completion")) == Reply(" 3", ReplyState.OK, "", 3)

    @pytest.mark.parametrize("text", [7, ["a"], {}])
    def test_takes_no_other_thing_for_a_text(self, text: object) -> None:
        assert transient(completion(text), "completion").kind == "no reply"

    @pytest.mark.parametrize(
        ("response", "state"),
        [
            (completion(None), ReplyState.EMPTY),
            (completion(" 3", "length"), ReplyState.TRUNCATED),
            (completion("", "content_filter"), ReplyState.REFUSED),
        ],
    )
    def test_reads_the_state(self, response: Response, state: ReplyState) -> None:
        assert answered(response, "completion").state is state


class TestForm:
    @pytest.mark.parametrize(
        "no_chat",
        [
            NOT_CHAT,
            error(400, "As of transformers v4.44, default chat template is no longer allowed"),
            Response({"detail": "Not Found"}, 404),
        ],
    )
    def test_turns_to_completion_and_remembers(self, no_chat: Response) -> None:
        with LoopbackServer(lambda body: no_chat if "messages" in body else "3") as server:
            model = opened(server)
            assert [got.text for got in ask(model, times=10)] == ["3"] * 10
            assert model.form is PromptForm.COMPLETION
            server.requests.clear()
            ask_once(model)
        assert [request.path for request in server.requests] == ["/v1/completions"]

    def test_is_told_by_the_paths_that_exist(self) -> None:
        with LoopbackServer(paths=["/completions"]) as server:
            model = opened(server)
            asked: list[int] = []
            request = replace(ASKED, again=lambda: asked.append(len(server.asked)))
            assert ask_once(model, request).text == "fine"
        assert (model.form, asked) == (PromptForm.COMPLETION, [1])

    def test_stays_where_neither_exists(self) -> None:
        with LoopbackServer(paths=[]) as server:
            model = opened(server)
            with pytest.raises(FatalError, match="HTTP 404: Not Found"):
                ask_once(model)
        assert model.form is PromptForm.CHAT

    def test_stays_once_chat_has_worked(self) -> None:
        chat: list[str | Response] = ["fine", Response({}, 404)]
        with LoopbackServer(lambda body: chat.pop(0) if "messages" in body else "other") as server:
            model = opened(server)

            async def work() -> None:
                assert (await model.generate(ASKED)).state is ReplyState.OK
                with pytest.raises(FatalError):
                    await model.generate(ASKED)

            within(model, work)
        assert model.form is PromptForm.CHAT

    def test_stays_where_the_user_chose_it(self) -> None:
        assert "--form" in fatal(NOT_CHAT, "chat")

    def test_stays_when_the_model_is_unknown(self) -> None:
        unknown = error(404, "The model `m` does not exist", code="model_not_found")
        with LoopbackServer(lambda body: unknown) as server, pytest.raises(FatalError):
            ask_once(opened(server))
        assert len(server.asked) == 1

    def test_is_not_asked_for_again_once_it_is_settled(self) -> None:
        with LoopbackServer(paths=["/completions"]) as server:
            model = opened(server)
            assert not model.settled
            model.settle(PromptForm.COMPLETION)
            assert model.settled
            ask_once(model)
            model.settle(PromptForm.CHAT)
        assert model.form is PromptForm.COMPLETION
        assert [request.path for request in server.requests] == ["/v1/completions"]

    def test_of_the_user_is_never_settled_anew(self) -> None:
        model = OpenAIModel("m", "http://127.0.0.1:1/v1", "chat")
        assert model.settled
        model.settle(PromptForm.COMPLETION)
        assert model.form is PromptForm.CHAT


class TestConnections:
    def test_are_no_more_than_allowed_and_waiting_is_no_failure(self) -> None:
        with LoopbackServer(lambda body: Response(reply("fine").body, latency=0.02)) as server:
            model = OpenAIModel("model", server.url, max_connections=3)
            assert {got.state for got in ask(model, times=30)} == {ReplyState.OK}
        assert server.most_concurrent <= 3

    @pytest.mark.slow
    def test_are_shared_among_clients(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connection, "EACH", 2)
        with LoopbackServer(lambda body: Response(reply("fine").body, latency=0.3)) as server:
            model = OpenAIModel("model", server.url, max_connections=5)
            assert {got.state for got in ask(model, times=20)} == {ReplyState.OK}
            assert server.most_concurrent == 5
            unlimited = OpenAIModel("model", server.url, max_connections=None)
            assert {got.state for got in ask(unlimited, times=9)} == {ReplyState.OK}
        assert server.most_concurrent == 9

    def test_end_with_the_query_that_is_called_off(self) -> None:
        async def work() -> None:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(model.generate(ASKED), 0.05)

        with LoopbackServer(lambda body: Response(hang=True)) as server:
            model = opened(server)
            within(model, work)


class TestScore:
    """Servers as they are: each answers the query for a text's log-probabilities in its own way."""

    @staticmethod
    def scoring(server: LoopbackServer) -> OpenAIModel:
        return OpenAIModel("model", server.url, needs=frozenset({Capability.SCORE}))

    @staticmethod
    def echo(body: dict[str, Any]) -> Response:
        """A token a character, and one that was generated."""
        if not body.get("echo"):
            return completion("?")
        tokens = [*body["prompt"], "?"]
        scores = [None, *(-float(number) for number in range(1, len(tokens)))]
        choice = {"text": body["prompt"] + "?", "logprobs": {"tokens": tokens, "token_logprobs": scores}}
        return Response({"choices": [choice]})

    @staticmethod
    def prompt_logprobs(body: dict[str, Any]) -> Response:
        """vLLM with a special token before the text, and without echo."""
        if "prompt_logprobs" not in body:
            return error(400, "echo is not supported")
        entries = [{str(ord(sign)): {"logprob": -0.5, "rank": 1, "decoded_token": sign}} for sign in body["prompt"]]
        return Response({"choices": [{"text": "?", "prompt_logprobs": [None, *entries]}]})

    @staticmethod
    def scored(model: OpenAIModel, *texts: str) -> list[Scores]:
        """What the model makes of texts, all asked at once."""

        async def work() -> list[Scores]:
            await model.connect()
            return list(await asyncio.gather(*(model.score(ModelRequest(Passage(text))) for text in texts)))

        return within(model, work)

    def scores(self, answer: Callable[[dict[str, Any]], Response], text: str) -> list[tuple[str, float]]:
        with LoopbackServer(answer) as server:
            model = self.scoring(server)
            (scored,) = self.scored(model, text)
            assert scored.text == text
            assert not text or Capability.SCORE in model.capabilities
            return [(token.text, token.log_probability) for token in scored.tokens]

    def test_reads_an_echo(self) -> None:
        assert self.scores(self.echo, "ab\n") == [("a", 0.0), ("b", -1.0), ("\n", -2.0)]

    def test_reads_the_log_probabilities_of_the_prompt(self) -> None:
        assert self.scores(self.prompt_logprobs, "ab") == [("a", -0.5), ("b", -0.5)]

    def test_of_nothing_is_nothing(self) -> None:
        assert self.scores(self.echo, "") == []

    @staticmethod
    def generated_alone(body: dict[str, Any]) -> Response:
        logprobs = {"tokens": ["6"], "token_logprobs": [-0.1], "content": [{"token": "6", "logprob": -0.1}]}
        return Response({"choices": [{"text": "6", "logprobs": logprobs, "prompt_logprobs": [None]}]})

    @staticmethod
    def unscored_echo(body: dict[str, Any]) -> Response:
        tokens = list(body["prompt"])
        logprobs = {"tokens": tokens, "token_logprobs": [None] * len(tokens)}
        return Response({"choices": [{"text": body["prompt"], "logprobs": logprobs}]})

    @pytest.mark.parametrize(
        "answer",
        [
            generated_alone,
            unscored_echo,
            lambda body: completion("6"),
            lambda body: error(400, "Only no echo is supported"),
            lambda body: error(401, "Incorrect API key provided"),
        ],
    )
    def test_is_not_offered_by_every_server(self, answer: Callable[[dict[str, Any]], Response]) -> None:
        """Two requests of the first passage find it out, whatever else is asked at the same time."""
        with LoopbackServer(answer) as server:
            model = self.scoring(server)
            assert model.may_have == {Capability.SCORE}
            counted: list[int] = []

            async def work() -> list[Scores | BaseException]:
                await model.connect()
                asked = (
                    model.score(ModelRequest(Passage(text), 1, again=lambda: counted.append(1)))
                    for text in ("ab", "cd")
                )
                return list(await asyncio.gather(*asked, return_exceptions=True))

            found = within(model, work)
        assert [type(one) for one in found] == [LackError, LackError]
        assert Capability.SCORE not in model.capabilities
        assert model.may_have == frozenset()
        assert len(server.asked) == 1 + len(counted) == 2

    @pytest.mark.parametrize("response", [error(500, "engine broke"), Response(raw=b"[")])
    def test_a_server_that_breaks_at_it_three_times_is_asked_no_more(self, response: Response) -> None:
        with LoopbackServer(lambda body: response) as server:
            model = self.scoring(server)
            for _ in range(2):
                with pytest.raises(TransientError):
                    self.scored(model, "ab")
            with pytest.raises(LackError):
                self.scored(model, "ab")
        assert model.may_have == frozenset()

    def test_a_slow_or_busy_server_is_not_taken_to_lack_it(self) -> None:
        responses = [error(429, "slow", {"Retry-After": "0.01"})] * 5
        with LoopbackServer(lambda body: responses.pop() if responses else self.echo(body)) as server:
            model = self.scoring(server)
            for _ in range(5):
                with pytest.raises(TransientError):
                    self.scored(model, "ab")
            assert self.scored(model, "ab")[0].state is ReplyState.OK
        assert Capability.SCORE in model.capabilities

    def test_a_text_that_is_too_long_says_nothing_of_others(self) -> None:
        def answer(body: dict[str, Any]) -> Response:
            too_long = "This model's maximum context length is 8 tokens"
            return error(400, too_long) if len(body["prompt"]) > 8 else self.echo(body)

        with LoopbackServer(answer) as server:
            model = self.scoring(server)
            first, second = self.scored(model, "a text of many tokens", "ab")
        assert (first.state, first.tokens) == (ReplyState.FAILED, ())
        assert "too long" in first.detail
        assert second.state is ReplyState.OK

    def test_is_not_asked_of_a_model_that_chats_at_openai(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        asked = []

        async def post(clients: object, path: str, body: dict[str, Any], *others: object) -> object:
            asked.append(body["model"])
            raise NoAnswer(Problem(400))

        async def listing(clients: object) -> object:
            return {"data": [{"id": "gpt-4o"}, {"id": "davinci-002"}]}

        monkeypatch.setattr("tabcontam.models.served_llm.post", post)
        monkeypatch.setattr("tabcontam.models.openai.provider.listing", listing)
        wanted = frozenset({Capability.SCORE})
        assert OpenAIModel("gpt-4o", None, needs=wanted).may_have == frozenset()
        with pytest.raises(LackError):
            self.scored(OpenAIModel("gpt-4o", None, needs=wanted), "ab")
        with pytest.raises(LackError):
            self.scored(OpenAIModel("davinci-002", None, needs=wanted), "ab")
        assert asked == ["davinci-002", "davinci-002"]

    def test_says_what_the_server_charged_and_never_the_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TABCONTAM_API_KEY", "sk-secret-of-mine")
        usage = {"prompt_tokens": 2, "completion_tokens": 1}

        def answer(body: dict[str, Any]) -> Response:
            if body["prompt"] == "no":
                return error(400, "sk-secret-of-mine may not do this")
            echoed = self.echo(body).body
            assert isinstance(echoed, dict)
            return Response({**echoed, "usage": usage})

        with LoopbackServer(answer) as server:
            model = self.scoring(server)

            scored, refused = self.scored(model, "ab", "no")
        assert scored.usage == Usage(2, 1)
        assert refused.state is ReplyState.FAILED
        assert "sk-secret" not in refused.detail

    def test_is_found_out_only_if_it_is_needed(self) -> None:
        with LoopbackServer(self.echo) as server:
            assert opened(server).may_have == frozenset()
            model = self.scoring(server)
            connect(model)
            assert server.asked == []
            self.scored(model, "ab", "cd", "ef")
            assert len(server.asked) == 3


@pytest.mark.parametrize("rest", ["m@127.0.0.1:8801", "m@localhost", "m@host:80", "m@example.org/v1"])
def test_an_address_without_http_is_not_taken_for_a_model_of_openai(rest: str) -> None:
    with pytest.raises(UsageError, match="type openai:NAME@http://host:port/v1"):
        parse_address(rest)


@pytest.mark.parametrize("rest", ["claude@20240229", "org/model:7b", "model@main"])
def test_a_name_may_hold_an_at(rest: str) -> None:
    assert parse_address(rest) == (rest, None)


def with_numbers(*numbers: object) -> dict[str, Any]:
    told = {"content": [{"token": "t", "logprob": number} for number in numbers]}
    return {"choices": [{"message": {"content": "42"}, "text": "42", "logprobs": told}]}


@pytest.mark.parametrize("read", READERS.values())
def test_an_answer_is_as_likely_as_all_its_tokens_where_each_has_a_number(read: Callable[[object], Any]) -> None:
    assert read(with_numbers(-0.5, -0.25)).log_probability == -0.75
    for numbers in ((), (-0.5, None), (-0.5, "-1"), (float("nan"),), (float("-inf"), -1)):
        assert read(with_numbers(*numbers)).log_probability is None
    for odd in (None, {"content": "text"}, {"tokens": ["4"], "token_logprobs": [-0.1]}):
        body = {"choices": [{"message": {"content": "42"}, "text": "42", "logprobs": odd}]}
        assert read(body).log_probability is None
