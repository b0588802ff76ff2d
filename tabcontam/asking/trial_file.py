"""A run's folder: trials are appended as answers come, everything else is replaced in one step."""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeGuard

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.rounded_numbers import RoundedPrediction
from tabcontam.errors import UsageError, option
from tabcontam.evidence.base import Endings, Likelihoods, Lookup, LookupMode, Match, Matches, Query, Scores, Trial
from tabcontam.evidence.questions import Answer, Message, Passage, Prompt, Question, Reply, ReplyState, Token, Usage
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.structured_answers import in_json
from tabcontam.models.base import PromptForm
from tabcontam.paths import check_own_files, last_line_is_cut_off
from tabcontam.verdicts.result_types import ResultKey

TRIALS = "trials.jsonl"
RESULTS = "results.json"
JUNIT = "junit.xml"
RECALLED = "recalled.csv"
UNREAD = "unread"  # why nothing was read in a text
NUMBER = "line"  # of a line that was read: its place in its file, from 1; never written
PASSAGE, ENDINGS, LOOKUP = "passage", "endings", "lookup"  # a line's names for questions that are no prompts
Line = dict[str, Any]
Key = tuple[str, ...]


def open_folder(path: Path) -> Path:
    """Return the run's folder, made if need be and tried for writing. Raises `UsageError`."""
    check_own_files(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UsageError(
            f"cannot write to {path}: {error.strerror or error}; choose another folder with {option('out')}"
        ) from error
    return path


class Journal:
    """The file `trials.jsonl`: one line a trial, appended and flushed as each answer arrives.

    A line that a crash cut off is skipped when the file is read, and ended before the next one is written.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / TRIALS
        self.unsaved: list[Mapping[str, Any]] = []
        self._whole = False  # whether the file is known to end with a whole line

    def lines(self) -> Iterator[Line]:
        """Return the trials in the file, oldest first."""
        return (line for _, line in self.numbered())

    def numbered(self) -> Iterator[tuple[int, Line]]:
        """Yield the trials in the file, oldest first, each with the number of its line, from 1."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            for number, text in enumerate(file, start=1):
                if (line := line_of(text)) is not None:
                    yield number, line

    def append(self, line: Mapping[str, Any]) -> None:
        """Add one trial; the operating system has it when this returns. Raises OSError, and keeps the line."""
        try:
            self._write(line)
        except OSError:
            self.unsaved.append(line)
            raise

    def rescue(self) -> None:
        """Write down the unsaved lines: here, or else in the system's temporary folder, or on stderr.

        Raises `UsageError` with the place where the answers are.
        """
        if not self.unsaved:
            return
        lines, self.unsaved = self.unsaved, []
        try:
            for line in lines:
                self._write(line)
        except OSError as error:
            text = "".join(json.dumps(line) + "\n" for line in lines)
            try:
                handle, where = tempfile.mkstemp(prefix="tabcontam-", suffix=".jsonl")
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                where = f"in {where}"
            except OSError:
                print(text, end="", file=sys.stderr)
                where = "above, on standard error"
            raise UsageError(
                f"{self.path}: {error.strerror}; the last {len(lines)} answers are {where}: "
                f"make room, append them to {self.path} and run the same command again"
            ) from error

    def _write(self, line: Mapping[str, Any]) -> None:
        """Add a line in one call of the system if it can be: an answer waits for no more than that."""
        text = as_lines([line]).encode("utf-8", "backslashreplace")
        if not self._whole and last_line_is_cut_off(self.path):
            text = b"\n" + text
        self._whole = False
        with self.path.open("ab", buffering=0) as file:
            while text:
                text = text[file.write(text) :]
        self._whole = True


def line_of(text: bytes, *, whole: bool = True) -> Line | None:
    """Return the trial that a line holds; None if it holds none, for example if a crash cut it off.

    Unless it is to be `whole`, any object counts.
    """
    line: object
    try:
        line = _fast_reader()(text)  # the slower reader below takes more
    except ValueError:
        try:
            line = json.loads(text.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return None  # cut off by a crash, or not a trial
    if not whole:
        return line if isinstance(line, dict) else None
    return line if is_trial(line) else None


@cache
def _fast_reader() -> Callable[[bytes], Any]:
    from pydantic_core import from_json

    return from_json


FIELDS: dict[str, tuple[type, ...]] = {
    "llm": (str,), "dataset": (str,), "edition": (str,), "split": (str,), "serializer": (str,), "prompts": (str,),
    "test": (str,),
    "query": (str,), "paper": (bool,), "prompt": (str, list), "asked": (list,), "expected": (list, dict),
    "reply": (str,), "state": (str,),
}  # fmt: skip


STATES = frozenset(ReplyState)


def is_trial(line: object) -> TypeGuard[Line]:
    """Return whether a line of trials.jsonl is a trial; anything else in the file is skipped."""
    if not isinstance(line, dict) or not all(isinstance(line.get(name), types) for name, types in FIELDS.items()):
        return False
    return line["state"] in STATES and line["test"] in by_id()


@contextmanager
def lock_run_folder(folder: Path) -> Iterator[None]:
    """Lock a run's folder: two runs at once would ask, and pay for, everything twice. Raises `UsageError`.

    The lock goes with the process, however it ends.
    """
    with (folder / TRIALS).open("ab") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass  # Windows: its locks would keep us from the file ourselves
        except OSError as error:
            raise UsageError(
                f"{folder} is in use by another run; wait for it or choose another {option('out')}"
            ) from error
        yield


def as_lines(lines: Iterable[Mapping[str, Any]]) -> str:
    """Return the lines as trials.jsonl's text, without the numbers that they had in another file."""
    kept = ({name: value for name, value in line.items() if name != NUMBER} for line in lines)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in kept)


def line_key(line: Mapping[str, Any]) -> Key:
    """Return the key of a trial, which no other trial of its folder has."""
    return tuple(str(line.get(name)) for name in (*ResultKey._fields, "query"))


def write_question(question: Question, form: PromptForm) -> str | list[dict[str, str]]:
    """Return a question as trials.jsonl holds it: a prompt's rendering, the text before endings, a lookup's texts, a
    line each; values searched for next to others come after these.
    """
    match question:
        case Passage():
            return question.text
        case Endings():
            return question.beginning
        case Lookup():
            return _sought(question)
    if form is PromptForm.STRUCTURED:
        question, form = in_json(question), PromptForm.CHAT
    if form is PromptForm.CHAT:
        return [{"role": message.role, "content": message.content} for message in question.chat]
    return question.completion if form is PromptForm.COMPLETION else question.seq2seq


def _sought(question: Lookup) -> str:
    """Return the texts that a lookup searches for, in words that a person can follow."""
    if question.by is not LookupMode.CELLS:
        return "\n".join(question.texts)
    given_cells = ", ".join(question.context)
    lacking = f" (all but {question.lacking} of them at least)" if question.lacking else ""
    one_of = "one of " * (len(question.texts) > 1)
    return f"{given_cells}{lacking}{' next to ' if given_cells else ''}{one_of}{', '.join(question.texts)}"


def trial_line(
    key: Mapping[str, str], form: PromptForm, trial: Trial, paper_rules: bool, exposure: float | None = None
) -> Line:
    """Return a trial as a line of trials.jsonl; `exposure` is how many copies of its row the LLM has read."""
    query, reply = trial.query, trial.reply
    by_feature = by_id()[key["test"]].by_feature
    return {
        **key,
        "query": query.id,
        "paper": query.paper,
        **asked_in(query.question, form),
        "asked": list(query.asked),
        "not_expected": list(query.not_expected),
        "expected": dict(zip(query.asked, query.expected, strict=True)) if by_feature else list(query.expected),
        "reply": reply.text,
        "state": str(reply.state),
        "detail": reply.detail,
        **judged(trial, paper_rules),
        "decoy_of": query.decoy_of,
        "chance": {name: prediction.fields() for name, prediction in query.chance.items()},
        "row": query.row,
        "exposure": exposure,
        "turn": query.turn,
        "kept": list(query.shared_features),
        "lies_in": dict(query.lies_in),
        "values": {name: list(values) for name, values in query.values.items()},
        **answer_fields(reply),
        "cached": trial.cached,
    }


def asked_in(question: Question, form: PromptForm) -> Line:
    """Return the fields of a line that hold the question: "question" names its kind, unless it is a prompt."""
    written: Line = {"prompt": write_question(question, form)}
    match question:
        case Passage():
            return {"question": PASSAGE, **written}
        case Endings():
            return {"question": ENDINGS, **written, "endings": list(question.endings)}
        case Lookup():
            return {"question": LOOKUP, **written, **looked_up(question)}
    drawn = {"temperature": question.temperature, "sample": question.sample} if question.sample else {}
    return {**written, **drawn}


def looked_up(question: Lookup) -> Line:
    """Return the fields of a lookup, as trials.jsonl and the store hold them."""
    return {
        "texts": list(question.texts),
        "most": question.most,
        "by": question.by,
        "context": list(question.context),
        "lacking": question.lacking,
    }


def answer_fields(answer: Answer) -> Line:
    """Return the fields of an answer besides its text, as trials.jsonl and the store hold them."""
    match answer:
        case Reply():
            weighed = {} if answer.log_probability is None else {"log_probability": answer.log_probability}
            return {"tokens": answer.tokens, **weighed}
        case Scores():
            return {"scores": list(answer.tokens)}
        case Likelihoods():
            return {"log_probabilities": list(answer.values)}
        case Matches():
            found = [list(match) for match in answer.places]
            return {"documents": answer.documents, "counts": list(answer.counts), "more": answer.more, "found": found}


def judged(trial: Trial, paper_rules: bool) -> Line:
    """Return the fields of a line that depend on how its reply was read."""
    reading = trial.reading
    if reading is None:
        return {"parsed": None, "hit": None, "readable": None, UNREAD: None}
    hit = reading.paper_hit if paper_rules and reading.hit is not None else reading.hit
    return {"parsed": reading.parsed, "hit": hit, "readable": reading.readable, UNREAD: trial.unread}


def trial_of(line: Mapping[str, Any]) -> Trial:
    """Return the trial of a line, to be read again. Raises KeyError, TypeError or ValueError if it is none."""
    question, expected, test = question_of(line), line["expected"], by_id()[line["test"]]
    asked = tuple(expected if isinstance(expected, dict) else line["asked"])
    if test.by_feature and not (asked and isinstance(expected, dict)):
        raise ValueError("no feature is asked")
    chance = {name: _prediction(item, may_be_nothing=not test.decides) for name, item in dict(line["chance"]).items()}
    if test.by_feature and not chance.keys() <= set(asked):
        raise ValueError("a prediction is of no feature that is asked")
    query = Query(
        id=line["query"],
        write=lambda: question,
        asked=asked,
        expected=tuple(expected.values() if isinstance(expected, dict) else expected),
        max_tokens=0,
        paper=line["paper"],
        not_expected=tuple(line.get("not_expected", ())),
        chance=chance,
        decoy_of=line.get("decoy_of") or "",
        row=row_of(line),
        lies_in=_lies_in(line),
        values=_values(line),
        turn=_whole(line.get("turn")),
        shared_features=tuple(map(str, line.get("kept") or ())),
    )
    return Trial(query, answer_of(line), cached=bool(line.get("cached")))


def row_of(line: Mapping[str, Any]) -> int | None:
    """Return the table's row that a line asks about, from 0; None if it asks about none."""
    return _whole(line.get("row"))


def _whole(value: object) -> int | None:
    """Return a whole number that is not below 0; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _lies_in(line: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns that hold a line's answers. Raises ValueError if they are not a mapping of texts."""
    held = line.get("lies_in") or {}
    if not isinstance(held, Mapping) or not all(isinstance(name, str) for name in held.values()):
        raise ValueError(f"no columns in {held!r}"[:200])
    return dict(held)


def _values(line: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return all values of a line's features that have few. Raises ValueError for anything else."""
    held = line.get("values") or {}
    if not isinstance(held, Mapping) or not all(
        isinstance(values, list) and all(isinstance(value, str) for value in values) for values in held.values()
    ):
        raise ValueError(f"no values in {held!r}"[:200])
    return {name: tuple(values) for name, values in held.items()}


def question_of(line: Mapping[str, Any]) -> Question:
    """Return the question that a line holds; of a prompt the one rendering that was sent."""
    prompt, kind = line["prompt"], line.get("question")
    if kind == PASSAGE:
        return Passage(prompt)
    if kind == ENDINGS:
        return Endings(prompt, tuple(line["endings"]))
    if kind == LOOKUP:
        by, given_cells = LookupMode(line.get("by", LookupMode.LETTERS)), tuple(line.get("context", ()))
        return Lookup(tuple(line["texts"]), line["most"], by, given_cells, line.get("lacking", 0))
    temperature, sample = float(line.get("temperature") or 0), int(line.get("sample") or 0)
    if isinstance(prompt, str):
        return Prompt((), prompt, prompt, temperature=temperature, sample=sample)
    messages = tuple(Message(item["role"], item["content"]) for item in prompt)
    return Prompt(messages, "", "", temperature=temperature, sample=sample)


def token_of(fields: Sequence[Any]) -> Token:
    """Return a token from its JSON. Raises TypeError or ValueError for anything else."""
    text, log_probability, mean, deviation = fields
    if not isinstance(text, str):
        raise TypeError(f"no text: {text!r}"[:200])
    moments = (None if number is None else float(number) for number in (mean, deviation))
    return Token(text, float(log_probability), *moments)


def answer_of(line: Mapping[str, Any]) -> Answer:
    """Return the answer that a line holds. Raises KeyError, TypeError or ValueError if it is none."""
    kind = {PASSAGE: Scores, ENDINGS: Likelihoods, LOOKUP: Matches}.get(line.get("question", ""), Reply)
    fields = {"tokens": None, **line, "text": line["reply"], "detail": line.get("detail") or ""}
    return answer_held(kind, fields)


def answer_held(kind: type[Answer], fields: Mapping[str, Any], usage: Usage | None = None) -> Answer:
    """Return the answer of a kind from its JSON. Raises KeyError, TypeError or ValueError if there is none."""
    state, detail = ReplyState(fields["state"]), fields["detail"]
    if kind is Scores:
        return Scores(tuple(map(token_of, fields["scores"])), state, detail, usage)
    if kind is Likelihoods:
        return Likelihoods(tuple(map(float, fields["log_probabilities"])), state, detail, usage)
    if kind is Matches:
        found, counts = tuple(Match(*match) for match in fields["found"]), tuple(fields.get("counts", ()))
        return Matches(found, fields["documents"], state, detail, usage, counts=counts, more=bool(fields.get("more")))
    given = fields.get("log_probability")
    log_probability = None if given is None else float(given)
    return Reply(fields["text"], state, detail, fields["tokens"], usage, log_probability=log_probability)


def _prediction(fields: Mapping[str, Any], may_be_nothing: bool) -> CellPrediction:
    """Return a prediction from a line. Raises ValueError if it has no probabilities: a p-value is made of them."""
    prediction = CellPrediction(**{**fields, "coarser": tuple(map(RoundedPrediction.read, fields.get("coarser", ())))})
    listed = prediction.values.values() if isinstance(prediction.values, dict) else [None]
    known = [*listed, prediction.rest, prediction.missing]
    if not all(isinstance(chance, int | float) and 0 <= chance <= 1 for chance in known):
        raise ValueError(f"no probability in {fields!r}"[:200])
    if not (prediction.rest or may_be_nothing):
        raise ValueError("a prediction rules a value out")
    return prediction


def answers(line: Line, query: Query) -> bool:
    """Return whether a line's question is this query's, in any form: only an answer shows which a server takes."""
    question = query.question
    return any(asked_in(question, form).items() <= line.items() for form in _forms(question))


def _forms(question: Question) -> Iterable[PromptForm]:
    """Return the forms in which a question can be sent: one that is no prompt has a single form."""
    return PromptForm if isinstance(question, Prompt) else (PromptForm.COMPLETION,)
