"""Check the arguments of `@pytest.mark.uncontaminated`."""

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tabcontam.config import CONDITIONS, MARK, RunConfig, settings
from tabcontam.entry_points import load_settings

STOPS = ("fail", "xfail", "skip")  # the severest first
RUN = "run"
EMPTY, PLACED, NAMED = (
    inspect.Parameter.empty, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY,
)  # fmt: skip


@dataclass(frozen=True)
class Condition:
    """The requirement that one mark states, and the action for its test if the table does not meet it.

    `asking` has the settings of a run except the tables. Tables with equal settings are asked about in one run.
    """

    asking: RunConfig
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
    try:
        known |= signature().bind_partial(*mark.args, **mark.kwargs).arguments
        signature().bind(**known)
    except TypeError as error:
        raise ValueError(error) from None
    return uncontaminated(**known)


def signature() -> inspect.Signature:
    """Return the arguments of the mark. Those of a condition are None if they are not given."""
    load_settings()
    own = {name: None if setting.group == CONDITIONS else setting.default for name, setting in settings(MARK).items()}
    words = {"llm": EMPTY, "dataset": EMPTY, "contaminated": STOPS[0], "undecided": STOPS[2], **own}
    return inspect.Signature(
        [
            inspect.Parameter(word, PLACED if word in ("llm", "dataset") else NAMED, default=default)
            for word, default in words.items()
        ]
    )


def uncontaminated(llm: str, dataset: str | Path, *, contaminated: str, undecided: str, **further: Any) -> Condition:
    """Return the condition that these arguments of the mark describe. Raises ValueError with one line."""
    _check("contaminated", contaminated, contaminated in STOPS, f"one of {', '.join(STOPS)}")
    _check("undecided", undecided, undecided in (*STOPS, RUN), f"one of {', '.join(STOPS)} or {RUN}")
    _check("llm", llm, isinstance(llm, str) and llm.strip(), "the name of an LLM")
    _check("dataset", dataset, isinstance(dataset, str | Path) and str(dataset).strip(), "a dataset's name or a file")
    taken = {word: _taken(word, value) for word, value in further.items() if value is not None}
    conditions = {word: taken.pop(word, None) for word in ("fail_on", "min_power", "max_memory_share")}
    until = {"min_power": conditions["min_power"]} if taken.get("until_decided") else {}
    shared = conditions["max_memory_share"] is not None
    asking = RunConfig(llm=[llm], **taken, **until, memory_share=shared or taken.pop("memory_share", False))
    return Condition(
        asking, str(dataset), contaminated, undecided, **conditions | {"fail_on": conditions["fail_on"] or ()}
    )


def _taken(word: str, value: object) -> Any:
    setting = settings()[word]
    try:
        found = setting.take(value)
    except ValueError as error:
        raise ValueError(f"{word} is {error}, not {value!r}") from None
    right = not setting.choices or set(found if setting.several else [found]) <= set(setting.choices)
    _check(word, value, right, f"{'one or more' if setting.several else 'one'} of {', '.join(setting.choices)}")
    return tuple(sorted(map(str, found))) if word == "known" else found


def _check(name: str, value: object, right: object, wanted: str) -> None:
    if not right:
        raise ValueError(f"{name} is {wanted}, not {value!r}")
