"""A name of the user's own for an LLM, before an equals sign: `mine=openai:NAME@http://host:port/v1`.

It stands in reports in the LLM's place, and in no key of a stored reply.
"""

from collections.abc import Iterable, Mapping
from itertools import product

from tabcontam.errors import UsageError
from tabcontam.subjects.catalogue import find_entry, standing_for

NOT_IN_LABELS = "=:@#"
LONGEST = 60


def split_label(spec: str) -> tuple[str, str]:
    """The label, "" without one, and the LLM as it is written behind it: no `PROVIDER:MODEL` is taken for a label.

    Raises `UsageError` for a label that is no name, and for one without an LLM.
    """
    label, equals, rest = spec.partition("=")
    if not equals or any(sign in label for sign in NOT_IN_LABELS):
        return "", spec
    if not label.isprintable() or label != label.strip() or not label or len(label) > LONGEST:
        raise UsageError(
            f"bad label {label[:LONGEST]!r}; write at most {LONGEST} letters that can be seen, no blank at its ends"
        )
    if not rest.strip():
        raise UsageError(f"the label {label!r} names no LLM; write {label}=PROVIDER:MODEL")
    return label, rest


def name_of(spec: str) -> str:
    """What an LLM is called in reports: its label, or as it is written."""
    return split_label(spec)[0] or spec


def by_name(specs: Iterable[str]) -> dict[str, str]:
    """The LLMs as they are written, each once, by their names in reports. Raises `UsageError` for two of one name."""
    named: dict[str, str] = {}
    for spec in specs:
        name = name_of(spec)
        if named.setdefault(name, spec) != spec:
            raise UsageError(f"two LLMs of one run are both named {name!r}; give one of them another label")
    labels = [name for name, spec in named.items() if name != spec]
    for label, (name, spec) in product(labels, named.items()):
        entry = find_entry(label)
        if name != label and entry is not None and entry is standing_for(split_label(spec)[1]):
            raise UsageError(
                f"the label {label!r} names {name}, another LLM of this run; give one of them another label"
            )
    return named


def written(labelled: Mapping[str, str]) -> tuple[str, ...]:
    """LLMs by their labels, as `--llm` takes them. Raises `UsageError` for what is no label."""
    specs = tuple(f"{label}={spec}" for label, spec in labelled.items())
    for label, spec in zip(labelled, specs, strict=True):
        if split_label(spec)[0] != label:
            raise UsageError(f"bad label {label!r}; write a name without {' '.join(NOT_IN_LABELS)}")
    return specs
