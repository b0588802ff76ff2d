"""The record: a file of answers for each LLM, each under a hash of what was sent. Prompts are not in it."""

import json
import lzma
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.real.asked import Place
from tabcontam.asking.reply_store import key
from tabcontam.asking.trial_file import answer_fields, answer_held
from tabcontam.evidence.base import Query
from tabcontam.evidence.questions import Answer, Likelihoods, Reply, ReplyState, Scores
from tabcontam.models.base import PromptForm
from tabcontam.paths import last_line_is_cut_off

KEY = 24  # hexadecimal digits of a hash: enough that no two of a million are the same
KINDS: dict[str, type[Answer]] = {"scores": Scores, "log_probabilities": Likelihoods}
Line = dict[str, Any]


class Answers:
    """What the LLM of this name answered: `NAME.jsonl.xz` in the record's folder.

    New lines are first appended to `NAME.jsonl`, so that no answer is lost however the process ends, and are packed
    into the other file by `pack`. A line has an answer, or says of those behind it who was asked, with what, and about
    which table.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._packed, self._open = folder / f"{name}.jsonl.xz", folder / f"{name}.jsonl"

    @cached_property
    def lines(self) -> list[Line]:
        """Every line, oldest first; one that a crash cut off is left out."""
        return list(self._read())

    @cached_property
    def _by_key(self) -> dict[str, Line]:
        return {line["key"]: line for line in self.lines if "key" in line}

    def of(self, query: Query, form: PromptForm) -> Answer | None:
        """The answer to a query; None where there is none to exactly these words."""
        line = self._by_key.get(key_of(query, form))
        if line is None:
            return None
        kind = next((KINDS[name] for name in KINDS if name in line), Reply)
        return answer_held(kind, {"text": "", "detail": "", "tokens": None, **line})

    @property
    def count(self) -> int:
        """How many answers there are."""
        return len(self._by_key)

    def begin(self, session: Line) -> None:
        """Note who is asked from now on, with what, and about which table."""
        self._append({"session": session})

    def add(self, place: Place, test: str, query: Query, answer: Answer) -> None:
        """Keep an answer. One that failed is none, and is asked again."""
        if answer.state is ReplyState.FAILED:
            return
        line = {
            "key": key_of(query, place.form),
            "table": place.table,
            "form": place.form,
            "writing": place.writing,
            "test": test,
            "query": query.id,
            **({} if query.row is None else {"row": query.row}),
            "state": answer.state,
            **({"detail": answer.detail} if answer.detail else {}),
            **({"text": answer.text} if isinstance(answer, Reply) else {}),
            **{name: value for name, value in answer_fields(answer).items() if value is not None},
        }
        self._append(line)
        self._by_key[line["key"]] = line

    def _append(self, line: Line) -> None:
        self._open.parent.mkdir(parents=True, exist_ok=True)
        ended = "\n" if last_line_is_cut_off(self._open) else ""
        with self._open.open("a", encoding="utf-8") as file:
            file.write(ended + _text(line))
        self.lines.append(line)

    def pack(self) -> None:
        """Pack all lines into the compressed file, which is replaced in one step."""
        if not self._open.exists():
            return
        text = "".join(map(_text, self._read()))
        new = self._packed.with_suffix(".new")
        new.write_bytes(lzma.compress(text.encode("utf-8"), preset=9))
        os.replace(new, self._packed)
        self._open.unlink()

    def _read(self) -> Iterator[Line]:
        texts = lzma.decompress(self._packed.read_bytes()).decode("utf-8") if self._packed.exists() else ""
        texts += self._open.read_text(encoding="utf-8", errors="replace") if self._open.exists() else ""
        for text in texts.split("\n"):
            try:
                line = json.loads(text)
            except ValueError:
                continue  # cut off by a crash, or the end of the file
            yield line


def _text(line: Line) -> str:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"


def key_of(query: Query, form: PromptForm) -> str:
    """The hash of what an LLM is sent for a query, the same for every LLM."""
    return key({}, "", form, query.question, query.max_tokens)[:KEY]
