"""Labels: the user's own names for LLMs, before an equals sign, as in `mine=openai:NAME@http://host:port/v1`.

Reports show the label in place of the LLM. The key of a stored reply does not depend on it.
"""

from collections.abc import Iterable, Mapping
from itertools import product

from tabcontam.errors import UsageError
from tabcontam.models.catalogue import find_entry, find_entry_of_spec

NOT_IN_LABELS = "=:@#"


def split_label(spec: str, *, longest: int = 60) -> tuple[str, str]:
    """Return the label ("" without one) and the LLM that is written after it. A `PROVIDER:MODEL` is never a label.

    Raises `UsageError` for a bad label, and for a label without an LLM.
    """
    label, equals, rest = spec.partition("=")
    if not equals or any(sign in label for sign in NOT_IN_LABELS):
        return "", spec
    if not label.isprintable() or label != label.strip() or not label or len(label) > longest:
        raise UsageError(
            f"bad label {label[:longest]!r}; write at most {longest} printable characters, without blanks at the ends"
        )
    if not rest.strip():
        raise UsageError(f"the label {label!r} names no model; write {label}=PROVIDER:MODEL")
    return label, rest


def name_of(spec: str) -> str:
    """Return what reports call an LLM: its label if it has one, else `spec`."""
    return split_label(spec)[0] or spec


def by_name(specs: Iterable[str]) -> dict[str, str]:
    """Return the LLMs as the user wrote them, by their names in reports. Raises `UsageError` if two share a name."""
    named: dict[str, str] = {}
    for spec in specs:
        name = name_of(spec)
        if named.setdefault(name, spec) != spec:
            raise UsageError(f"two models of one run are both named {name!r}; give one of them another label")
    labels = [name for name, spec in named.items() if name != spec]
    for label, (name, spec) in product(labels, named.items()):
        entry = find_entry(label)
        if name != label and entry is not None and entry is find_entry_of_spec(split_label(spec)[1]):
            raise UsageError(
                f"the label {label!r} names {name}, another model of this run; give one of them another label"
            )
    return named


def write_labels(labelled: Mapping[str, str]) -> tuple[str, ...]:
    """Return LLMs with their labels, in the form of `--llm`. Raises `UsageError` for a bad label."""
    specs = tuple(f"{label}={spec}" for label, spec in labelled.items())
    for label, spec in zip(labelled, specs, strict=True):
        if split_label(spec)[0] != label:
            raise UsageError(f"bad label {label!r}; write a name without {' '.join(NOT_IN_LABELS)}")
    return specs
