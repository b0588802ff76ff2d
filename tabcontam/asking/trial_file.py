"""A run's folder. Trials are appended as answers come; every other file is replaced in one step."""

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
from tabcontam.evidence.base import (
    BetPlace,
    Endings,
    FeatureFacts,
    Likelihoods,
    Lookup,
    LookupMode,
    Match,
    Matches,
    Query,
    Scores,
    Trial,
)
from tabcontam.evidence.mixins import FeatureTest
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
UNREAD = "unread"  # the name under which a line says why no answer was read
NUMBER = "line"  # the name for the number of a line in its file, from 1; never written
PASSAGE, ENDINGS, LOOKUP = "passage", "endings", "lookup"  # the names for kinds of questions other than prompts
Line = dict[str, Any]
Key = tuple[str, ...]


def open_folder(path: Path) -> Path:
    """Return the run's folder, made if it is missing and tested for writing. Raises `UsageError`."""
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
    """The file `trials.jsonl`: one trial a line, appended and flushed as each answer arrives.

    A line that a crash cut off is skipped when the file is read. The next line that is written begins on a new line.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / TRIALS
        self.unsaved: list[Mapping[str, Any]] = []
        self._whole = False  # True once the file is known to end with a line end

    def lines(self) -> Iterator[Line]:
        """Yield the trials in the file, oldest first."""
        if self.path.exists():
            with self.path.open("rb") as file:
                yield from filter(None, map(line_of, file))

    def append(self, line: Mapping[str, Any]) -> None:
        """Append a trial and flush it to the system. Raises OSError, and then keeps the line for `rescue`."""
        try:
            self._write(line)
        except OSError:
            self.unsaved.append(line)
            raise

    def rescue(self) -> None:
        """Write the unsaved lines to this file, or else to the system's temporary folder, or else to standard error.

        Raises `UsageError` with the place of the answers if this file cannot be written.
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
        """Add a line to the file, in a single call of the operating system if possible."""
        text = as_lines([line]).encode("utf-8", "backslashreplace")
        if not self._whole and last_line_is_cut_off(self.path):
            text = b"\n" + text
        self._whole = False
        with self.path.open("ab", buffering=0) as file:
            while text:
                text = text[file.write(text) :]
        self._whole = True


def line_of(text: bytes, *, whole: bool = True) -> Line | None:
    """Return the trial in a line; None if the line contains no trial, for example because a crash cut it off.

    If `whole` is False, any JSON object is returned.
    """
    line: object
    try:
        line = _fast_reader()(text)  # the slower reader below accepts more texts
    except ValueError:
        try:
            line = json.loads(text.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return None  # a crash cut it off, or it is not JSON
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
    """Return whether a line of trials.jsonl is a trial. All other lines of the file are skipped."""
    if not isinstance(line, dict) or not all(isinstance(line.get(name), types) for name, types in FIELDS.items()):
        return False
    return line["state"] in STATES and line["test"] in by_id()


@contextmanager
def lock_run_folder(folder: Path) -> Iterator[None]:
    """Lock a run's folder, since two runs at once would ask, and pay for, everything twice. Raises `UsageError`.

    The lock ends with the process, even after a crash.
    """
    with (folder / TRIALS).open("ab") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass  # Windows: its locks would keep this run from the file too
        except OSError as error:
            raise UsageError(
                f"{folder} is in use by another run; wait for it or choose another {option('out')}"
            ) from error
        yield


def as_lines(lines: Iterable[Mapping[str, Any]]) -> str:
    """Return the lines as the text of trials.jsonl, without the line numbers of the file they were read from."""
    kept = ({name: value for name, value in line.items() if name != NUMBER} for line in lines)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in kept)


def line_key(line: Mapping[str, Any]) -> Key:
    """Return the key of a trial, which no other trial of its folder has."""
    return tuple(str(line.get(name)) for name in (*ResultKey._fields, "query"))


def write_question(question: Question, form: PromptForm) -> str | list[dict[str, str]]:
    """Return a question as trials.jsonl writes it.

    A prompt becomes its rendering in this `form`. A question about endings becomes the text before them, a lookup the
    texts that it seeks, one a line. In a lookup for values next to other cells, the other cells come first.
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
    """Return the texts that a lookup searches for, in words for a person."""
    if question.by is not LookupMode.CELLS:
        return "\n".join(question.texts)
    given_cells = ", ".join(question.context)
    lacking = f" (all but {question.lacking} of them at least)" if question.lacking else ""
    one_of = "one of " * (len(question.texts) > 1)
    return f"{given_cells}{lacking}{' next to ' if given_cells else ''}{one_of}{', '.join(question.texts)}"


def trial_line(
    key: Mapping[str, str], form: PromptForm, trial: Trial, paper_rules: bool, exposure: float | None = None
) -> Line:
    """Return a trial as a line of trials.jsonl. `exposure` is the number of copies of its row that the LLM has read."""
    query, reply = trial.query, trial.reply
    by_feature = isinstance(by_id()[key["test"]], FeatureTest)
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
        "turn": query.bet.turn,
        "kept": list(query.features.shared),
        "lies_in": dict(query.features.lies_in),
        "values": {name: list(values) for name, values in query.features.values.items()},
        **answer_fields(reply),
        "cached": trial.cached,
    }


def asked_in(question: Question, form: PromptForm) -> Line:
    """Return the fields of a line that contain the question. "question" names its kind, unless it is a prompt."""
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
    """Return the fields of a lookup, as trials.jsonl and the store have them."""
    return {
        "texts": list(question.texts),
        "most": question.most,
        "by": question.by,
        "context": list(question.context),
        "lacking": question.lacking,
    }


def answer_fields(answer: Answer) -> Line:
    """Return the fields of an answer except its text, as trials.jsonl and the store have them."""
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
    """Return the trial of a line, not yet read. Raises KeyError, TypeError or ValueError if the line is damaged."""
    question, expected, test = question_of(line), line["expected"], by_id()[line["test"]]
    asked = tuple(expected if isinstance(expected, dict) else line["asked"])
    by_feature = isinstance(test, FeatureTest)
    if by_feature and not (asked and isinstance(expected, dict)):
        raise ValueError("no feature is asked")
    chance = {name: _prediction(item, may_be_nothing=not test.decides) for name, item in dict(line["chance"]).items()}
    if by_feature and not chance.keys() <= set(asked):
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
        row=_whole(line.get("row")),
        bet=BetPlace(turn=_whole(line.get("turn"))),
        features=FeatureFacts(_lies_in(line), _values(line), tuple(map(str, line.get("kept") or ()))),
    )
    return Trial(query, answer_of(line), cached=bool(line.get("cached")))


def _whole(value: object) -> int | None:
    """Return a whole number of 0 or more; None for any other value."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _lies_in(line: Mapping[str, Any]) -> dict[str, str]:
    """Return, by feature, the column that contains the answer. Raises ValueError if the field is damaged."""
    held = line.get("lies_in") or {}
    if not isinstance(held, Mapping) or not all(isinstance(name, str) for name in held.values()):
        raise ValueError(f"no columns in {held!r}"[:200])
    return dict(held)


def _values(line: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return all values of each asked feature that has few values. Raises ValueError if the field is damaged."""
    held = line.get("values") or {}
    if not isinstance(held, Mapping) or not all(
        isinstance(values, list) and all(isinstance(value, str) for value in values) for values in held.values()
    ):
        raise ValueError(f"no values in {held!r}"[:200])
    return {name: tuple(values) for name, values in held.items()}


def question_of(line: Mapping[str, Any]) -> Question:
    """Return the question of a line. A prompt has only the rendering that was sent."""
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
    """Return a token from its JSON. Raises TypeError or ValueError if that is damaged."""
    text, log_probability, mean, deviation = fields
    if not isinstance(text, str):
        raise TypeError(f"no text: {text!r}"[:200])
    moments = (None if number is None else float(number) for number in (mean, deviation))
    return Token(text, float(log_probability), *moments)


def answer_of(line: Mapping[str, Any]) -> Answer:
    """Return the answer of a line. Raises KeyError, TypeError or ValueError if it is damaged."""
    kind = {PASSAGE: Scores, ENDINGS: Likelihoods, LOOKUP: Matches}.get(line.get("question", ""), Reply)
    fields = {"tokens": None, **line, "text": line["reply"], "detail": line.get("detail") or ""}
    return answer_held(kind, fields)


def answer_held(kind: type[Answer], fields: Mapping[str, Any], usage: Usage | None = None) -> Answer:
    """Return an answer of this `kind` from its JSON. Raises KeyError, TypeError or ValueError if that is damaged."""
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
    """Return a prediction from its JSON. Raises ValueError if it has no probabilities, as a p-value needs them."""
    prediction = CellPrediction(**{**fields, "coarser": tuple(map(RoundedPrediction.read, fields.get("coarser", ())))})
    listed = prediction.values.values() if isinstance(prediction.values, dict) else [None]
    known = [*listed, prediction.rest, prediction.missing]
    if not all(isinstance(chance, int | float) and 0 <= chance <= 1 for chance in known):
        raise ValueError(f"no probability in {fields!r}"[:200])
    if not (prediction.rest or may_be_nothing):
        raise ValueError("a prediction rules a value out")
    return prediction


def answers(line: Line, query: Query) -> bool:
    """Return whether a line has this query's question, in any form: the form is known only after an answer."""
    question = query.question
    return any(asked_in(question, form).items() <= line.items() for form in _forms(question))


def _forms(question: Question) -> Iterable[PromptForm]:
    """Return the forms in which a question can be sent. A question that is no prompt has a single form."""
    return PromptForm if isinstance(question, Prompt) else (PromptForm.COMPLETION,)
