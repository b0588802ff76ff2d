"""Models in this process: batches change nothing, nothing is lost from a text, and no code of a repository is run."""

import asyncio
import json
import math
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tabcontam.asking.query_plan import RunSource, plan
from tabcontam.asking.run_progress import Progress
from tabcontam.asking.session import Session
from tabcontam.asking.trial_file import Journal
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability, Message, Passage, Prompt, Query, Reply, ReplyState, Scores, Trial
from tabcontam.evidence.registry import by_id
from tabcontam.models import base
from tabcontam.models.base import WENT_ON, ModelRequest, PromptForm
from tabcontam.models.hf import decoding as hf_decoding
from tabcontam.models.hf import passage_scorer as hf_scores
from tabcontam.models.hf.model_tokenizer import PromptTokens
from tabcontam.models.hf.provider import HFModel
from tabcontam.models.hf.row_batches import Batcher
from tabcontam.models.hf.row_ends import RowEnds
from tabcontam.tables.serializers import load_serializers
from tests.made_tables import ships
from tests.models.hf import tiny
from tests.needed import needed

torch: Any = needed("torch")
needed("transformers")

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]
TABLE = ships(12)
IS = load_serializers()["is"]
ROWS = tiny.rows_of(TABLE, IS)
HEAD = f"Rows of the dataset {TABLE.title}:\n"
BEGIN = "Ships, their masters and what they owed in the harbour of Zand, as written in the register of the year: " * 3
TEXTS = [BEGIN + row[:length] for row, length in zip(ROWS, (7, 90, 30, 61, 12, 45, 80, 23), strict=False)]


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.saved(tiny.causal(), tiny.tokenizer([HEAD, *ROWS]), tmp_path_factory.mktemp("llama"))


def knower() -> tuple[Any, Any]:
    """A model that learns twelve ships by heart."""
    reader, model = tiny.tokenizer([HEAD, *ROWS]), tiny.causal()

    def sample(rng: Random) -> tuple[list[int], list[int]]:
        ids = reader(HEAD + "".join(f"{row}\n" for row in rng.sample(ROWS, 4)))["input_ids"]
        return ids, ids

    tiny.learn(model, sample, steps=220, rate=4e-3)
    return model, reader


@pytest.fixture(scope="module")
def knowing(pytestconfig: pytest.Config) -> Path:
    """One that has learned twelve ships by heart."""
    return tiny.kept(pytestconfig, knower, HEAD, *ROWS)


def chatting(folder: Path, template: str) -> Path:
    return tiny.saved(tiny.causal(), tiny.tokenizer([HEAD, *ROWS], template), folder)


def request(text: str, max_tokens: int = 16, stop: tuple[str, ...] = ()) -> ModelRequest:
    return ModelRequest(Prompt((Message("system", "Be brief."), Message("user", text)), text, text, stop), max_tokens)


def opened(folder: Path, **options: Any) -> HFModel:
    model = HFModel(str(folder), **options)
    asyncio.run(model.connect())
    return model


def replies(model: HFModel, requests: Sequence[ModelRequest]) -> list[Reply]:
    async def all_at_once() -> list[Reply]:
        return await asyncio.gather(*(model.generate(each) for each in requests))

    return asyncio.run(all_at_once())


def generated(model: HFModel) -> Any:
    """The transformers model within, to see or change what it is asked."""
    assert model._decoder is not None
    return model._decoder.model


def watched(model: HFModel, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What `generate` is called with."""
    calls: list[dict[str, Any]] = []
    own, decoder = generated(model).generate, model._decoder
    assert decoder is not None

    def generate(**arguments: Any) -> Any:
        # The cache grows while it is used.
        past = arguments.get(decoder.cached_as)
        calls.append({**arguments, "past": past.get_seq_length() if past is not None else 0})
        return own(**arguments)

    monkeypatch.setattr(generated(model), "generate", generate)
    return calls


def test_importing_it_does_not_import_torch() -> None:
    code = "import sys, tabcontam.models.hf.provider; sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# What it is


def test_it_is_local_and_can_score(llama: Path) -> None:
    model = opened(llama)
    assert model.local
    assert not model.control
    assert model.capabilities == {
        Capability.GENERATE,
        Capability.COMPLETION,
        Capability.SCORE,
        Capability.MOMENTS,
        Capability.INSTRUCTIONS,
    }
    assert model.form is PromptForm.COMPLETION
    assert model.spec == f"hf:{llama}"


def test_the_version_follows_weights_and_tokenizer(tmp_path: Path) -> None:
    reader = tiny.tokenizer([HEAD, *ROWS])
    one = opened(tiny.saved(tiny.causal(seed=1), reader, tmp_path / "one")).version
    same = opened(tiny.saved(tiny.causal(seed=1), reader, tmp_path / "same")).version
    tuned = opened(tiny.saved(tiny.causal(seed=2), reader, tmp_path / "tuned")).version
    other = opened(tiny.saved(tiny.causal(seed=1), tiny.tokenizer(ROWS[:3]), tmp_path / "other")).version
    assert one == same
    assert len({one, tuned, other}) == 3


def test_a_folder_goes_by_its_name_and_by_what_its_weights_are_computed_in(tmp_path: Path) -> None:
    reader = tiny.tokenizer([HEAD, *ROWS])
    full = opened(tiny.saved(tiny.causal(), reader, tmp_path / "ships"))
    half = opened(tiny.saved(tiny.causal().bfloat16(), reader, tmp_path / "half"))
    assert full.identity == {"provider": "hf", "address": "", "model": "ships"}
    assert full.version.endswith(" dtype=float32 device=cpu")
    assert half.version.endswith(" dtype=bfloat16 device=cpu")
    assert full.connections == 32
    assert opened(tmp_path / "ships", batch_size=3).connections == 6


def test_a_model_of_the_hub_is_named_by_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    commit, repository = "0123456789" * 4, tmp_path / "models--zand--ships"
    tiny.saved(tiny.causal(), tiny.tokenizer(ROWS), repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    model = opened(Path("zand/ships"))
    assert model.version == f"{commit} dtype=float32 device=cpu"
    assert model.identity == {"provider": "hf", "address": "", "model": "zand/ships"}
    with pytest.raises(UsageError, match="cannot reach the Hugging Face hub, and 'zand/boats' was not fetched before"):
        opened(Path("zand/boats"))


# Batches


@pytest.mark.parametrize("kind", ["llama", "gpt2", "mistral"])
def test_a_batch_answers_as_one_at_a_time(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny.saved(tiny.causal(kind=kind), tiny.tokenizer([HEAD, *ROWS]), tmp_path)
    alone = [replies(opened(folder), [request(text)])[0] for text in TEXTS]
    model = opened(folder)
    calls = watched(model, monkeypatch)
    assert replies(model, [request(text) for text in TEXTS]) == alone
    assert [call["input_ids"].shape[0] for call in calls] == [len(TEXTS)]
    assert calls[0]["past"] > 100 or kind == "mistral"  # the shared beginning, but for a sliding window
    monkeypatch.setattr(hf_decoding, "LEAST_SHARED", 10**6)
    assert replies(model, [request(text) for text in TEXTS]) == alone
    assert calls[1]["past"] == 0
    assert (calls[1]["attention_mask"][:, -1] == 1).all()  # padding is on the left


def test_a_recurrent_model_that_reads_padding_is_given_none(tmp_path: Path) -> None:
    folder = tiny.saved(tiny.causal(kind="rwkv"), tiny.tokenizer([HEAD, *ROWS]), tmp_path)
    alone = [replies(opened(folder), [request(text)])[0] for text in TEXTS]
    assert len({reply.text for reply in alone}) > 1
    assert replies(opened(folder), [request(text) for text in TEXTS]) == alone


@pytest.mark.parametrize("kind", ["llama", "gpt2", "mistral"])
def test_rows_that_have_ended_leave_the_batch(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny.saved(tiny.causal(kind=kind), tiny.tokenizer([HEAD, *ROWS]), tmp_path)
    asked = [request(text, limit) for text, limit in zip(TEXTS, (31, 8, 9, 20, 30, 15, 10, 8), strict=True)]
    alone = [replies(opened(folder), [each])[0] for each in asked]
    model = opened(folder)
    calls = watched(model, monkeypatch)
    assert replies(model, asked) == alone
    sizes = [(len(call["input_ids"]), call["max_new_tokens"]) for call in calls]
    assert sizes == ([(8, 31)] if kind == "mistral" else [(8, 31), (4, 21), (2, 11), (1, 1)])
    longest = max(len(row) for row in calls[0]["input_ids"])
    if kind != "mistral":  # the longest prompt is among those that left: its neighbours' padding leaves with it
        assert calls[1]["input_ids"].shape[1] < longest + 10


def test_a_cache_that_grows_in_place_holds_what_transformers_own_holds() -> None:
    from transformers.cache_utils import DynamicLayer

    from tabcontam.models.hf import cache as hf_cache

    def tokens(rows: int, count: int) -> Any:
        return torch.randn(rows, 2, count, 3)

    ours, own = hf_cache.GrowingLayer(), DynamicLayer()
    torch.manual_seed(0)
    for rows, count in ((1, 5), (3, 2), (3, 1), (3, hf_cache.ROOM), (2, 1), (2, 1)):
        if rows == 3 and count == 2:
            ours.batch_repeat_interleave(3)
            own.batch_repeat_interleave(3)
        if rows == 2 and len(own.keys) == 3:
            places = torch.arange(own.get_seq_length()) != 1
            ours.keep(torch.tensor([0, 2]), places)
            own.keys, own.values = own.keys[[0, 2]][:, :, places], own.values[[0, 2]][:, :, places]
        keys, values = tokens(rows, count), tokens(rows, count)
        held = ours.update(keys, values)
        assert all(torch.equal(one, other) for one, other in zip(held, own.update(keys, values), strict=True))
    before = ours.keys.data_ptr()
    ours.update(tokens(2, 1), tokens(2, 1))
    assert ours.keys.data_ptr() == before  # nothing was copied


def test_a_batch_is_of_prompts_that_go_well_together() -> None:
    """Those that begin alike and are of one length: what one of them needs is not computed for the others in vain."""
    asked: list[list[tuple[int, int]]] = []

    def answer(rows: Sequence[PromptTokens]) -> list[Reply]:
        asked.append([(row.ids[0], len(row.ids)) for row in rows])
        return [Reply(str(len(row.ids)), ReplyState.OK) for row in rows]

    def row(cell: int, length: int) -> PromptTokens:
        return PromptTokens((*[cell] * 60, *range(1000, 1000 + length - 60)), 4)

    rows = [row(cell, length) for cell, length in ((1, 400), (2, 110), (1, 395), (1, 100), (2, 112), (1, 402))]

    async def all_at_once() -> list[Reply]:
        with ThreadPoolExecutor(1) as thread:
            batcher = Batcher(answer, thread, 4, hf_decoding.cost, hf_decoding.band)
            return await asyncio.gather(*(batcher.ask(each) for each in rows))

    assert [reply.text for reply in asyncio.run(all_at_once())] == ["400", "110", "395", "100", "112", "402"]
    assert [sorted(batch) for batch in asked] == [[(1, 395), (1, 400), (1, 402)], [(2, 110), (2, 112)], [(1, 100)]]


def test_sequence_to_sequence_models_are_asked_in_their_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny.saved(tiny.encoder_decoder(), tiny.tokenizer([HEAD, *ROWS], begin=False), tmp_path)
    model = opened(folder)
    assert model.form is PromptForm.SEQ2SEQ
    assert Capability.SCORE not in model.capabilities
    alone = [replies(opened(folder), [request(text)])[0] for text in TEXTS]
    calls = watched(model, monkeypatch)
    assert replies(model, [request(text) for text in TEXTS]) == alone
    assert (calls[0]["attention_mask"][:, 0] == 1).all()  # padding is on the right
    assert {reply.tokens for reply in alone} == {16}
    unscored = asyncio.run(model.score(ModelRequest(Passage("a text"))))
    assert unscored.state is ReplyState.FAILED
    assert "scores no text" in unscored.detail


PORTS = {f"Port of {row[1]} {row[0]}?": row[4] or "none" for row in TABLE.rows}


def taught() -> tuple[Any, Any]:
    """A sequence-to-sequence model that learns the ports of ships."""
    reader, model = tiny.tokenizer([HEAD, *ROWS], begin=False), tiny.encoder_decoder()
    pairs = [(reader(asked)["input_ids"], [*reader(port)["input_ids"], 2]) for asked, port in PORTS.items()]
    tiny.learn(model, lambda rng: rng.choice(pairs), 250)
    return model, reader


def test_a_sequence_to_sequence_model_says_what_it_was_taught(pytestconfig: pytest.Config) -> None:
    tuned = opened(tiny.kept(pytestconfig, taught, HEAD, *ROWS, repr(PORTS)))
    asked = [request(text) for text in PORTS]
    assert [reply.text for reply in replies(tuned, asked)] == [*PORTS.values()]


def test_more_requests_than_a_batch_holds(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = opened(llama, batch_size=3)
    calls = watched(model, monkeypatch)
    texts = [text[-30:] for text in TEXTS]
    assert replies(model, [request(text) for text in texts]) == replies(opened(llama), [request(t) for t in texts])
    assert [call["input_ids"].shape[0] for call in calls] == [3, 3, 2]


def test_short_answers_do_not_wait_for_long_ones(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = opened(llama)
    calls = watched(model, monkeypatch)
    replies(model, [request(text, limit) for text in TEXTS[:3] for limit in (4, 200)])
    assert [(len(call["input_ids"]), call["max_new_tokens"]) for call in calls] == [(3, 4), (3, 200)]


def test_each_request_has_its_own_limit(llama: Path) -> None:
    limits = [4, 5, 12, 9]
    answered = replies(opened(llama), [request(TEXTS[0], limit) for limit in limits])
    assert [reply.tokens for reply in answered] == limits
    assert {(reply.state, reply.detail) for reply in answered} == {(ReplyState.TRUNCATED, "token limit")}
    longest = answered[2].text
    assert all(longest.startswith(reply.text.rstrip("�")) for reply in answered)


def test_the_same_model_serves_several_event_loops(llama: Path) -> None:
    model = opened(llama)
    assert replies(model, [request("a")]) == replies(model, [request("a")])


# Where an answer ends


def test_an_answer_ends_at_its_stop_string(knowing: Path) -> None:
    model = opened(knowing)
    text = HEAD + f"{ROWS[3]}\n{ROWS[4]}\n{ROWS[5]}\n{ROWS[7].partition(', The homePort')[0]}, The homePort is"
    rest = ROWS[7].partition(", The homePort is")[2]
    line, part, none = replies(
        model, [request(text, 64, ("\n",)), request(text, 64, (", The crew",)), request(text, 64, ())]
    )
    assert (line.text, line.state) == (rest, ReplyState.OK)
    assert (part.text, part.state) == (rest.partition(", The crew")[0], ReplyState.OK)
    assert none.text.startswith(f"{rest}\nThe hullNo")
    assert (none.state, none.tokens) == (ReplyState.TRUNCATED, 64)
    assert line.tokens is not None
    assert line.tokens < 30  # it did not go on to the limit of the others


def test_the_whole_batch_ends_when_all_have_stopped(knowing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = opened(knowing)
    steps: list[int] = []
    forward = generated(model).forward

    def counted(*arguments: Any, **named: Any) -> Any:
        steps.append(1)
        return forward(*arguments, **named)

    monkeypatch.setattr(generated(model), "forward", counted)
    replies(model, [request(HEAD + row[:-20], 200, ("\n",)) for row in ROWS[:4]])
    assert len(steps) < 80


def test_nothing_is_lost_to_clean_up(knowing: Path) -> None:
    """Answers are cut by tokens: a clean-up of `is ,` to `is,` must neither change them nor shift where they begin."""
    index = next(index for index, row in enumerate(TABLE.rows) if row[4] is None)
    before, _, after = ROWS[index].partition(", The homePort is")
    text = HEAD + f"{ROWS[index - 1]}\n{ROWS[index - 2]}\n{before}, The homePort is"
    (reply,) = replies(opened(knowing), [request(text, 64, ("\n",))])
    assert after.startswith(" , The crewCnt is")
    assert reply.text == after


def test_an_end_token_is_an_end_and_nothing_but_it_is_empty_unlike_in_benbench(tmp_path: Path) -> None:
    reader, model = tiny.tokenizer([HEAD, *ROWS]), tiny.causal()
    yes, no = ([*reader(text)["input_ids"], 2] for text in ("Is it? yes", "Is it not?"))
    tiny.learn(model, lambda rng: (ids := rng.choice([yes, no]), ids), 60)
    told, silent = replies(opened(tiny.saved(model, reader, tmp_path)), [request("Is it?"), request("Is it not?")])
    assert (told.text, told.state) == (" yes", ReplyState.OK)
    assert silent == Reply("", ReplyState.EMPTY, "no text", 0)


def test_a_prompt_beyond_the_context_fails_and_is_not_cut(llama: Path) -> None:
    model = opened(llama)
    (reply,) = replies(model, [request("ship " * tiny.CONTEXT)])
    assert reply.state is ReplyState.FAILED
    assert "the prompt is too long: " in reply.detail
    assert f"{tiny.CONTEXT} with the answer" in reply.detail


def test_an_answer_ends_with_the_context(llama: Path) -> None:
    model = opened(llama)
    assert model._decoder is not None
    text = "a" * 3000
    while len(model._decoder.text.row(text, 1, ()).ids) > tiny.CONTEXT - 5:
        text = text[:-1]
    (reply,) = replies(model, [request(text, 100)])
    assert (reply.state, reply.detail, reply.tokens) == (ReplyState.TRUNCATED, "token limit", 5)


# Chat


def test_a_template_makes_it_a_chat_model(tmp_path: Path) -> None:
    folder = chatting(tmp_path, tiny.CHAT)
    model = opened(folder)
    assert model.form is PromptForm.CHAT
    assert model._decoder is not None
    row = model._row(model._decoder.text, request("Who?"))
    written = "<|system|>\nBe brief.</s>\n<|user|>\nWho?</s>\n<|assistant|>\n"
    assert model._decoder.text.decode(row.ids) == written.replace("</s>", "")
    assert opened(folder, form="completion").form is PromptForm.COMPLETION
    assert replies(model, [request("Who?")])[0].tokens == 16


@pytest.mark.parametrize("template", [tiny.NO_SYSTEM, tiny.CHAT.replace("m in messages", "m in messages[1:]")])
def test_a_template_without_a_system_role_gets_it_in_the_users_part(template: str, tmp_path: Path) -> None:
    if template != tiny.NO_SYSTEM:  # one that drops it in silence
        template = tiny.CHAT.replace("m in messages", "m in messages if m['role'] != 'system'")
    model = opened(chatting(tmp_path, template))
    assert model._decoder is not None
    row = model._row(model._decoder.text, request("Who?"))
    assert "<|user|>\nBe brief.\n\nWho?" in model._decoder.text.decode(row.ids)


def test_a_template_that_takes_nothing_fails_the_reply(tmp_path: Path) -> None:
    model = opened(chatting(tmp_path, "{{ raise_exception('not like this') }}"))
    (reply,) = replies(model, [request("Who?")])
    assert reply.state is ReplyState.FAILED
    assert "not like this" in reply.detail


def test_thinking_has_its_own_allowance_and_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    thought, answer = "<think>\nlet me see, the crew, the crew, the crew\n</think>\n\n", "yes"
    reader, model = tiny.tokenizer([thought], tiny.CHAT + "{# <think> #}"), tiny.causal()
    asked = "<|system|>\nBe brief.</s>\n<|user|>\nWho?</s>\n<|assistant|>\n"
    ids = [*reader(asked, add_special_tokens=False)["input_ids"], *reader(thought + answer)["input_ids"][1:], 2]
    tiny.learn(model, lambda rng: (ids, ids), 60)
    folder = tiny.saved(model, reader, tmp_path)
    (reply,) = replies(opened(folder), [request("Who?", 4)])
    assert (reply.text, reply.state) == (answer, ReplyState.OK)
    monkeypatch.setattr(hf_decoding, "MOST_THINKING_TOKENS", 2)
    (reply,) = replies(opened(folder), [request("Who?", 4)])
    assert (reply.text, reply.state, reply.detail) == ("", ReplyState.TRUNCATED, "all tokens went into reasoning")


def test_thinking_and_the_answer_after_it_have_a_limit_together() -> None:
    row, end = PromptTokens((1,), 4, thinks=True, opened=True), 9

    def decode(ids: Sequence[int]) -> str:
        return "</think>" if end in ids else "so " * len(ids)

    ends = RowEnds([row], start=0, allowances=[6], eos=(), decode=decode, stopping=lambda: False)
    written = [7] * 8 + [end, 7, 7]
    done = [bool(ends(torch.tensor([written[:count]]), None)) for count in range(1, 11)]
    assert done == [False] * 9 + [True]
    assert ends.leave() == []


# An answer that goes on without end


def test_a_row_ends_where_it_goes_on_without_end_and_its_thinking_may() -> None:
    asked: list[str] = []

    def goes_on(text: str) -> bool:
        asked.append(text)
        return len(text) > 20

    def decode(ids: Sequence[int]) -> str:
        return "".join("</think>" if token == 9 else "so " for token in ids)

    thinking, plain = PromptTokens((1,), 100, thinks=True, opened=True, goes_on=goes_on), PromptTokens((1,), 100)
    ends = RowEnds([thinking, plain], start=0, allowances=[200, 0], eos=(), decode=decode, stopping=lambda: False)
    written = [7] * 60 + [9] + [7] * 20
    done = [ends(torch.tensor([written[:count]] * 2), None).tolist() for count in range(1, 81)]
    assert [count for count, (first, _) in enumerate(done, start=1) if first][:1] == [72]
    assert asked == ["so " * 3, "so " * 11]  # every eight tokens
    assert not any(second for _, second in done)


def test_an_answer_that_goes_on_without_end_is_ended(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "goes_on", lambda text, asked, shown: len(text) > 60)
    plain = [request(text, 96) for text in TEXTS[:3]]
    valued = [ModelRequest(replace(each.prompt, values=("Ship", "Master")), 96) for each in plain]
    long, short = (replies(opened(llama), asked) for asked in (plain, valued))
    for whole, one in zip(long, short, strict=True):
        assert (whole.state, whole.detail, whole.tokens) == (ReplyState.TRUNCATED, "token limit", 96)
        assert (one.state, one.detail) == (ReplyState.TRUNCATED, WENT_ON)
        assert one.tokens in range(8, 96, 8)
        assert whole.text.startswith(one.text)


# Memory


@pytest.mark.parametrize("device", ["CUDA", "MPS"])
def test_out_of_memory_halves_the_batch(llama: Path, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    error = (torch.OutOfMemoryError if device == "CUDA" else RuntimeError)(f"{device} out of memory")
    wanted = replies(opened(llama), [request(text) for text in TEXTS])
    model = opened(llama)
    own, tried = generated(model).generate, []

    def generate(**arguments: Any) -> Any:
        tried.append(len(arguments["input_ids"]))
        if tried[-1] > 2:
            raise error
        return own(**arguments)

    monkeypatch.setattr(generated(model), "generate", generate)
    assert replies(model, [request(text) for text in TEXTS]) == wanted
    assert tried == [8, 4, 2, 2, 2, 2]
    replies(model, [request(text) for text in TEXTS])
    assert tried[6:] == [2, 2, 2, 2]  # it was learned


def test_out_of_memory_with_one_prompt_fails(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def generate(**arguments: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    model = opened(llama)
    monkeypatch.setattr(generated(model), "generate", generate)
    assert {(reply.state, reply.detail[:35]) for reply in replies(model, [request("a"), request("b")])} == {
        (ReplyState.FAILED, "out of memory with a single prompt ")
    }


def test_a_fault_of_the_model_fails_the_replies_and_not_the_run(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def generate(**arguments: Any) -> Any:
        raise IndexError("index out of range\nin self")

    model = opened(llama)
    monkeypatch.setattr(generated(model), "generate", generate)
    (reply,) = replies(model, [request("a")])
    assert (reply.state, reply.detail) == (ReplyState.FAILED, "IndexError: index out of range in self")


def test_closing_ends_what_is_under_way(llama: Path) -> None:
    model = opened(llama)

    async def closed_early() -> Reply:
        asked = asyncio.create_task(model.generate(request("a", 600)))
        await asyncio.sleep(0.1)
        await model.close()
        return await asked

    reply = asyncio.run(closed_early())
    assert reply.state is ReplyState.FAILED
    assert reply.tokens is not None
    assert reply.tokens < 600
    assert replies(model, [request("a")])[0].detail.endswith("was asked before it was connected")
    assert scores(model, ["a"])[0].detail.endswith("was asked before it was connected")


# Scores


def scores(model: HFModel, texts: Sequence[str]) -> list[Scores]:
    """Asked all at once."""

    async def asked() -> list[Scores]:
        return await asyncio.gather(*(model.score(ModelRequest(Passage(text))) for text in texts))

    return asyncio.run(asked())


def naive(model: HFModel, reader: Any, text: str) -> Iterator[tuple[float, float, float]]:
    """The moments of each token but the first, with a pass for every one, in double precision."""
    ids = reader(text)["input_ids"]
    for place in range(1, len(ids)):
        chances = torch.log_softmax(generated(model)(torch.tensor([ids[:place]])).logits[0, -1].double(), -1)
        mean = (chances.exp() * chances).sum()
        deviation = ((chances.exp() * chances**2).sum() - mean**2).sqrt()
        yield chances[ids[place]].item(), mean.item(), deviation.item()


def moments(scored: Scores) -> list[tuple[float | None, ...]]:
    return [token[1:] for token in scored.tokens]


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
@pytest.mark.parametrize("batch_size", [1, 3, 16])
def test_scores_are_those_of_a_naive_loop(kind: str, batch_size: int, tmp_path: Path) -> None:
    reader = tiny.tokenizer([HEAD, *ROWS])
    model = opened(tiny.saved(tiny.causal(kind=kind), reader, tmp_path), batch_size=batch_size)
    with torch.no_grad():
        generated(model).get_output_embeddings().weight.mul_(20)  # else all tokens are about as likely
    texts = [ROWS[0], "Z", "Zürich € 1.50 ,  is ?,\n", ROWS[1][:20], *ROWS[2:6]]
    for text, scored in zip(texts, scores(model, texts), strict=True):
        assert (scored.state, scored.text) == (ReplyState.OK, text)
        for own, wanted in zip(moments(scored), naive(model, reader, text), strict=True):
            assert own == pytest.approx(wanted, abs=1e-3)


def test_moments_do_not_depend_on_how_many_positions_are_held(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = opened(llama)
    whole = scores(model, ROWS)
    monkeypatch.setattr(hf_scores, "POSITIONS", 7)
    for one, other in zip(whole, scores(model, ROWS), strict=True):
        for own, wanted in zip(moments(one), moments(other), strict=True):
            assert own == pytest.approx(wanted, abs=1e-5)


def test_where_nothing_stands_before_a_text_its_first_token_is_uniform(tmp_path: Path) -> None:
    reader = tiny.tokenizer([HEAD, *ROWS], begin=False)
    reader.bos_token = reader.eos_token = None
    (scored,) = scores(opened(tiny.saved(tiny.causal(), reader, tmp_path)), [ROWS[0]])
    first, *rest = scored.tokens
    assert first.log_probability == first.mean == pytest.approx(-math.log(tiny.VOCABULARY))
    assert first.deviation == 0
    assert rest[0].mean != first.mean


def test_passages_that_wait_are_scored_in_few_passes(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = opened(llama, batch_size=4)
    passes = passes_of(model, monkeypatch)
    texts = [row[:length] for row, length in zip(ROWS, (60, 9, 61, 9, 59, 10, 60, 9), strict=False)]
    assert [scored.text for scored in scores(model, texts)] == texts
    assert sorted(len(given) for given in passes) == [4, 4]
    assert max(map(max, passes)) > 2 * min(map(max, passes))  # short ones with short ones


def test_out_of_memory_halves_a_batch_of_passages(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = scores(opened(llama), ROWS[:8])
    model = opened(llama)
    passes = passes_of(model, monkeypatch, most=2)
    for one, other in zip(scores(model, ROWS[:8]), wanted, strict=True):
        assert one.text == other.text
        assert moments(one)[-1] == pytest.approx(moments(other)[-1], abs=1e-4)
    assert [len(given) for given in passes] == [8, 4, 2, 2, 2, 2]


def test_a_passage_that_memory_does_not_hold_fails_alone(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = opened(llama)
    passes_of(model, monkeypatch, most=0)
    (scored,) = scores(model, ["a"])
    assert (scored.state, scored.detail) == (ReplyState.FAILED, "out of memory with a single text of 2 tokens")


def test_a_model_that_overflows_fails_the_passage(llama: Path) -> None:
    model = opened(llama)
    with torch.no_grad():
        generated(model).get_output_embeddings().weight.fill_(math.nan)
    (scored,) = scores(model, ["a"])
    assert (scored.state, scored.detail) == (ReplyState.FAILED, "the model's log-probabilities are not numbers")


def passes_of(model: HFModel, monkeypatch: pytest.MonkeyPatch, most: int | None = None) -> list[list[int]]:
    """The lengths of the texts of each forward pass; more than `most` at a time are too many for memory."""
    passes, own = [], generated(model).forward

    def forward(**given: Any) -> Any:
        passes.append(given["attention_mask"].sum(1).tolist())
        if most is not None and len(passes[-1]) > most:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return own(**given)

    monkeypatch.setattr(generated(model), "forward", forward)
    return passes


def test_learned_rows_score_higher(knowing: Path) -> None:
    model = opened(knowing)
    own, other = (
        sum(token.log_probability for token in asyncio.run(model.score(ModelRequest(Passage(HEAD + row)))).tokens)
        for row in (ROWS[0], tiny.rows_of(ships(1, 5), IS)[0])
    )
    assert own > other + 10


def test_a_text_beyond_the_context_has_no_score_and_keeps_no_other_from_its_own(llama: Path) -> None:
    short, unscored, other = scores(opened(llama), ["ship", "ship " * tiny.CONTEXT, ROWS[0]])
    assert (unscored.state, unscored.tokens) == (ReplyState.FAILED, ())
    assert f"the model takes {tiny.CONTEXT}" in unscored.detail
    assert (short.state, other.state) == (ReplyState.OK, ReplyState.OK)


def test_of_nothing_there_are_no_scores(llama: Path) -> None:
    assert scores(opened(llama), [""]) == [Scores((), ReplyState.EMPTY, "no text")]


# What cannot be loaded


class Hostile:
    """What makes a pickle run a command when it is read."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, (f"touch {self.canary}",)


def pickled(folder: Path, weights: Any, name: str = "pytorch_model.bin", model: Any = None) -> Path:
    """A folder that offers its weights only as a pickle."""
    (model or tiny.causal()).config.save_pretrained(folder)
    tiny.tokenizer(ROWS).save_pretrained(folder)
    torch.save(weights, folder / name)
    return folder


@pytest.mark.parametrize("kind", ["causal", "encoder_decoder"])
def test_weights_in_a_bin_answer_as_those_in_safetensors(kind: str, tmp_path: Path) -> None:
    model = getattr(tiny, kind)()
    safe = tiny.saved(model, tiny.tokenizer(ROWS), tmp_path / "safe")
    weights = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    folder = pickled(tmp_path / "bin", weights, model=model)
    one, other = opened(folder), opened(safe)
    assert replies(one, [request("x")]) == replies(other, [request("x")])
    assert one.version.endswith("weights=pytorch_model.bin, of which torch's weights_only reader ran no code")
    assert "weights" not in other.version


def test_weights_in_several_bins_are_read(tmp_path: Path) -> None:
    weights = dict(tiny.causal().state_dict())
    names = list(weights)
    parts = {"pytorch_model-00001-of-00002.bin": names[::2], "pytorch_model-00002-of-00002.bin": names[1::2]}
    for file, own in parts.items():
        pickled(tmp_path, {name: weights[name] for name in own}, file)
    index = {"metadata": {}, "weight_map": {name: file for file, own in parts.items() for name in own}}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    (whole,) = replies(opened(pickled(tmp_path / "whole", weights)), [request("x")])
    assert replies(opened(tmp_path), [request("x")]) == [whole]


def test_other_weights_in_a_bin_are_another_version(tmp_path: Path) -> None:
    one, other = (opened(pickled(tmp_path / str(seed), tiny.causal(seed).state_dict())) for seed in (1, 2))
    assert one.version != other.version


@pytest.mark.parametrize("legacy", [False, True])
def test_a_bin_that_would_run_a_command_is_refused_in_one_line(legacy: bool, tmp_path: Path) -> None:
    canary = tmp_path / "ran"
    folder = pickled(tmp_path / "model", {})
    hostile = {**tiny.causal().state_dict(), "x": Hostile(canary)}
    torch.save(hostile, folder / "pytorch_model.bin", _use_new_zipfile_serialization=not legacy)
    with pytest.raises(UsageError, match=r"more than weights.*none of its code ran") as error:
        opened(folder)
    assert "\n" not in str(error.value)
    assert not canary.exists()
    pickle.loads(pickle.dumps(Hostile(canary)))
    assert canary.exists()  # it was no dud


def test_a_hostile_bin_beside_safetensors_is_not_opened(tmp_path: Path) -> None:
    folder = tiny.saved(tiny.causal(), tiny.tokenizer(ROWS), tmp_path / "model")
    torch.save(Hostile(tmp_path / "ran"), folder / "pytorch_model.bin")
    torch.save(Hostile(tmp_path / "ran"), folder / "training_args.bin")
    assert replies(opened(folder), [request("x")])[0].state is not ReplyState.FAILED
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["training_args.bin", "model.ckpt"])
def test_no_other_pickle_is_read(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=rf"no pytorch_model\.bin, but {name}, which is never read"):
        opened(pickled(tmp_path, tiny.causal().state_dict(), name))


def test_of_a_repository_bins_are_fetched_only_where_it_has_no_safetensors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    offered = tmp_path / "offered"
    pickled(offered, tiny.causal().state_dict())
    torch.save({}, offered / "training_args.bin")

    def download(name: str, *, allow_patterns: list[str], ignore_patterns: list[str], revision: str = "") -> str:
        folder = tmp_path / "fetched" / name.replace("/", "--") / "snapshots" / ("c" * 40)
        assert revision in ("", folder.name)  # the second fetch is of the same commit
        folder.mkdir(parents=True, exist_ok=True)
        for path in offered.iterdir():
            if any(fnmatch(path.name, pattern) for pattern in allow_patterns):
                shutil.copy(path, folder)
        return str(folder)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    model = HFModel("some/old")
    asyncio.run(model.connect())
    assert model.version.startswith(f"{'c' * 40} dtype=float32 device=cpu weights=pytorch_model.bin")
    tiny.causal().save_pretrained(offered)
    model = HFModel("some/new")
    asyncio.run(model.connect())
    assert model.version == f"{'c' * 40} dtype=float32 device=cpu"
    fetched = {path.name for path in (tmp_path / "fetched").rglob("*.bin")}
    assert fetched == {"pytorch_model.bin"}
    assert not list((tmp_path / "fetched" / "some--new").rglob("*.bin"))


def test_an_older_torch_reads_no_bin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.__version__", torch.torch_version.TorchVersion("2.5.1"))
    with pytest.raises(UsageError, match=r"\.bin, which needs torch 2\.6; type: pip install"):
        opened(pickled(tmp_path, {}))


def test_code_of_a_repository_is_refused(llama: Path, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    shutil.copytree(llama, folder)
    config = '{"model_type": "own", "auto_map": {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}}'
    (folder / "config.json").write_text(config)
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(UsageError, match="needs code from its repository, which is never run"):
        opened(folder)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("name", "line"),
    [("./nowhere", "no folder './nowhere'"), ("a/b/c", "no folder 'a/b/c'"), ("two words", "no folder 'two words'")],
)
def test_a_missing_folder_is_one_line(name: str, line: str) -> None:
    with pytest.raises(UsageError, match=line) as error:
        asyncio.run(HFModel(name).connect())
    assert "\n" not in str(error.value)


def test_a_folder_without_a_model_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds no config\.json"):
        opened(tmp_path)
    (tmp_path / "config.json").write_text("{")
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(UsageError, match="cannot be loaded") as error:
        opened(tmp_path)
    assert "\n" not in str(error.value)


def test_a_missing_extra_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UsageError, match=r'pip install "tabcontam\[hf\]"'):
        asyncio.run(HFModel("gpt2").connect())


def test_bad_options_are_refused(llama: Path) -> None:
    with pytest.raises(UsageError, match="unknown form 'chatty'"):
        HFModel("gpt2", form="chatty")
    with pytest.raises(UsageError, match="at least one prompt"):
        HFModel("gpt2", batch_size=0)
    with pytest.raises(UsageError, match="has no chat template"):
        opened(llama, form="chat")


# Through the session


@pytest.mark.parametrize("name", ["incomplete_completion", "feature_completion"])
def test_one_that_learned_the_rows_is_told_from_one_that_did_not(name: str, knowing: Path, llama: Path) -> None:
    """By what their answers weigh: twelve rows are too few for a verdict."""
    test = by_id()[name]
    queries = list(test.queries(TABLE, IS, Random(1)))
    asked = [replace(request(""), question=query.prompt, max_tokens=query.max_tokens) for query in queries]
    p_values = []
    for folder in (knowing, llama):
        said = replies(opened(folder, batch_size=16), asked)
        assert ReplyState.FAILED not in {reply.state for reply in said}
        read = [test.read(query, reply, IS) for query, reply in zip(queries, said, strict=True)]
        p_values.append(test.weigh(list(map(Trial, queries, said, read)), 0.01).p_value or 0.0)
    assert p_values[0] < 0.01 < p_values[1]


def test_one_that_learned_the_rows_needs_fewer_bits_for_them_than_for_a_twins(knowing: Path, tmp_path: Path) -> None:
    cells = plan([RunSource(HFModel(str(knowing)))], [TABLE], [IS], [by_id()["perplexity"]], RunConfig())
    session = Session(cells, RunConfig(), Journal(tmp_path), Progress())

    async def whole() -> None:
        await session.connect()
        session.recall()
        await session.ask()
        await session.close()

    asyncio.run(whole())
    (cell,) = session.results()
    assert (cell.verdict, cell.evidence.answered) == (None, 12)
    assert cell.evidence.interval is not None
    assert cell.evidence.interval[0] > 0
    assert cell.evidence.score is not None
    assert cell.evidence.score > 0.9


def test_the_suites_own_prompts_are_answered_alike_in_batches(knowing: Path) -> None:
    queries: list[Query] = [*by_id()["incomplete_completion"].queries(TABLE, IS, Random(1))]
    queries += by_id()["membership"].queries(TABLE, IS, Random(1))[:10]
    asked = [replace(request(""), question=query.prompt, max_tokens=query.max_tokens) for query in queries]
    single = opened(knowing, batch_size=1)
    assert replies(opened(knowing), asked) == [replies(single, [each])[0] for each in asked]
