"""Check the arguments of `@pytest.mark.uncontaminated`."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tabcontam.verdicts.rules import FAILURES, PAPER, Queries
from tabcontam.verdicts.thresholds import MIN_POWER

STOPS = ("fail", "xfail", "skip")  # the severest first
RUN = "run"


@dataclass(frozen=True)
class AskingOptions:
    """The options of a run except the tables. Tables with equal options are asked about in one run."""

    llm: str
    serializer: str | None
    prompts: str | None
    target: str | None
    queries: Queries
    send_rows: bool
    known: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()
    trained_on: tuple[str, ...] = ()
    memory_share: bool = False  # whether memory's share of the accuracy is measured, too
    rows: int | None = None  # number of a table's rows to classify for memory's share
    until_decided: float | None = None  # the detectable share at which asking may stop; None: never


@dataclass(frozen=True)
class Condition:
    """The requirement that one mark states, and the action for its test if the table does not meet it."""

    asking: AskingOptions
    dataset: str
    contaminated: str
    undecided: str
    fail_on: tuple[str, ...]
    min_power: float | None
    max_memory_share: float | None = None

    def action(self, conclusion: str) -> str:
        """Return the action for the test at this conclusion: one of `STOPS`, or "run"."""
        undecided = self.contaminated if "undecided" in self.fail_on else self.undecided
        return {"contaminated": self.contaminated, "cannot tell": undecided}.get(conclusion, RUN)


def read_mark(item: pytest.Item, mark: pytest.Mark) -> Condition:
    """Return the condition of a mark. The test's parameters and the project's settings replace omitted arguments."""
    callspec = getattr(item, "callspec", None)
    params = callspec.params if callspec else {}
    known: dict[str, Any] = {name: params[name] for name in ("llm", "dataset") if name in params}
    known |= {name: item.config.getini(f"tabcontam_{name}") for name in ("contaminated", "undecided")}
    signature = inspect.signature(uncontaminated)
    try:
        known |= signature.bind_partial(*mark.args, **mark.kwargs).arguments
        signature.bind(**known)
    except TypeError as error:
        raise ValueError(error) from None
    return uncontaminated(**known)


def uncontaminated(
    llm: str,
    dataset: str | Path,
    *,
    contaminated: str,
    undecided: str,
    fail_on: str | Sequence[str] = (),
    min_power: float | None = None,
    max_memory_share: float | None = None,
    serializer: str | None = None,
    prompts: str | None = None,
    target: str | None = None,
    queries: Queries = None,
    rows: int | None = None,
    send_rows: bool = False,
    known: str | Path | Sequence[str | Path] = (),
    reference: str | Sequence[str] | None = (),
    until_decided: bool = False,
    trained_on: str | Sequence[str] = (),
) -> Condition:
    """Return the condition that these arguments of the mark describe. Raises ValueError with one line."""
    listed = (fail_on,) if isinstance(fail_on, str) else fail_on
    all_known = isinstance(listed, list | tuple) and all(each in FAILURES for each in listed)
    _check("fail_on", fail_on, all_known, f"one or more of {', '.join(FAILURES)}")
    _check("contaminated", contaminated, contaminated in STOPS, f"one of {', '.join(STOPS)}")
    _check("undecided", undecided, undecided in (*STOPS, RUN), f"one of {', '.join(STOPS)} or {RUN}")
    for name, share in (("min_power", min_power), ("max_memory_share", max_memory_share)):
        known_share = share is None or (isinstance(share, float) and 0 < share < 1)
        _check(name, share, known_share, "a share between 0 and 1")
    counted = type(queries) is int and queries > 0
    _check("queries", queries, queries in (None, PAPER) or counted, f"a whole number above 0, or {PAPER!r}")
    _check("rows", rows, rows is None or (type(rows) is int and rows > 0), "a whole number above 0")
    _check("llm", llm, isinstance(llm, str) and llm.strip(), "the name of an LLM")
    _check("dataset", dataset, isinstance(dataset, str | Path) and str(dataset).strip(), "a dataset's name or a file")
    _check("serializer", serializer, serializer is None or isinstance(serializer, str), "a serializer's name")
    _check("prompts", prompts, prompts is None or isinstance(prompts, str), "a prompt set's name")
    _check("target", target, target is None or isinstance(target, str), "a column's name")
    files = (known,) if isinstance(known, str | Path) else known
    named = isinstance(files, list | tuple) and all(
        isinstance(each, str | Path) and str(each).strip() for each in files
    )
    _check("known", known, named, "a file, or several")
    references = _texts("reference", () if reference is None else reference, "the name of an LLM, or several")
    corpora = _texts("trained_on", trained_on, "documents as corpus:PATH, or several")
    allowed = tuple(sorted(map(str, files)))
    needed_share = (min_power or MIN_POWER) if until_decided else None
    read = tuple(dict.fromkeys(corpora))
    shared = max_memory_share is not None
    asking = AskingOptions(
        llm,
        serializer,
        prompts,
        target,
        queries,
        bool(send_rows),
        allowed,
        references,
        read,
        shared,
        rows,
        needed_share,
    )
    return Condition(asking, str(dataset), contaminated, undecided, tuple(listed), min_power, max_memory_share)


def _texts(name: str, value: Any, wanted: str) -> tuple[str, ...]:
    """Return one text, or several, as a tuple. Raises ValueError."""
    several = (value,) if isinstance(value, str) else value
    are_texts = isinstance(several, list | tuple) and all(isinstance(one, str) and one.strip() for one in several)
    _check(name, value, are_texts, wanted)
    return tuple(several)


def _check(name: str, value: object, right: object, wanted: str) -> None:
    if not right:
        raise ValueError(f"{name} is {wanted}, not {value!r}")
