"""Dataset cards: what the TOML files in `datasets/` say about a dataset and the copies of it that circulate."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any

from tabcontam.errors import UsageError, unknown
from tabcontam.paths import shipped


@dataclass(frozen=True)
class Question:
    """The classification question of an edition.

    `answers` maps target values to answers, in the order they are offered. With a `threshold` the target is numeric
    and the first answer means at or above it, the second below (`answers` then has the keys ">=" and "<").
    """

    text: str
    answers: Mapping[str, str]
    threshold: float | None = None

    def answer(self, value: str) -> str:
        """The answer for a target value."""
        if self.threshold is not None:
            return self.answers[">=" if float(value) >= self.threshold else "<"]
        return self.answers[value]


@dataclass(frozen=True)
class Edition:
    """One published copy of a dataset: the bytes it has, where they are, and how they are read.

    `file` is the copy's usual file name, `bytes` its size. An address is a URL, or `URL!MEMBER` for a file in an
    archive (`URL!MEMBER!MEMBER` for an archive in an archive). `loader` is the function of `sklearn.datasets` whose
    frame, written as CSV, is this edition. Without `columns` the file's first line is the header. `strip` takes
    the padding off every cell; `drop` names columns that are no part of the data, such as a saved row index.
    """

    name: str
    file: str
    sha256: str
    bytes: int
    rows: int
    addresses: tuple[str, ...] = ()
    loader: str | None = None
    target: str | None = None
    question: Question | None = None
    missing: frozenset[str] = frozenset()
    order: str = "kept"
    hints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    columns: tuple[str, ...] | None = None
    delimiter: str = ","
    skip_initial_space: bool = False
    strip: bool = False
    skip_rows: int = 0
    drop: tuple[str, ...] = ()


@dataclass(frozen=True)
class Card:
    """One dataset. `title` stands in prompts, `aliases` are other names of the same data, `not_aliases` names of
    other data that sound alike. The first edition is the default.
    """

    name: str
    title: str
    released: str
    licence: str
    editions: tuple[Edition, ...]
    aliases: tuple[str, ...] = ()
    not_aliases: tuple[str, ...] = ()
    doi: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Every name of the data, long ones first."""
        return tuple(sorted(dict.fromkeys((self.title, *self.aliases)), key=len, reverse=True))

    def edition(self, name: str | None = None) -> Edition:
        """The edition called `name`, or the default; raises `UsageError` for a name that is not there."""
        if name is None:
            return self.editions[0]
        for edition in self.editions:
            if edition.name == name.casefold():
                return edition
        raise unknown(f"edition of {self.name}", name, [edition.name for edition in self.editions])


def load_cards() -> dict[str, Card]:
    """Every shipped card by its short name; raises `UsageError` for a card that breaks the schema."""
    return dict(_cards())


def card_names() -> list[str]:
    """The short names of the shipped cards."""
    return list(_cards())


def find_card(name: str) -> Card | None:
    """The card that has this short name, title or alias, whatever its case and word separators."""
    wanted = _plain(name)
    for card in _cards().values():
        if wanted in map(_plain, (card.name, *card.names)):
            return card
    return None


def mistaken_card(name: str) -> Card | None:
    """The card that lists this name among those that are not its own: Boston Housing for California Housing."""
    wanted = _plain(name)
    return next((card for card in _cards().values() if wanted in map(_plain, card.not_aliases)), None)


def parse_card(text: str, source: str) -> Card:
    """A card from the text of its TOML file; raises `UsageError`, which names `source` and the key at fault."""
    try:
        raw = tomllib.loads(text)
        return _card(raw)
    except (tomllib.TOMLDecodeError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"dataset card {source} cannot be read: {error}") from error


@cache
def _cards() -> Mapping[str, Card]:
    paths = sorted(shipped("datasets").glob("*.toml"))
    cards = [parse_card(path.read_text(encoding="utf-8"), path.name) for path in paths]
    return {card.name: card for card in cards}


def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("-", " ").replace("_", " ").split())


def _card(raw: dict[str, Any]) -> Card:
    # What a card says of target, question, missing marks and hints holds for each edition that does not say otherwise.
    shared = {key: raw.pop(key, None) for key in ("target", "question", "missing", "hints")}
    editions = tuple(_edition(edition, shared) for edition in raw.pop("editions", []))
    if not editions:
        raise ValueError("no [[editions]]")
    _check_keys(Card, {**raw, "editions": editions}, "the card")
    return Card(**_tuples(raw), editions=editions)


def _edition(raw: dict[str, Any], shared: Mapping[str, Any]) -> Edition:
    where = f"edition {raw.get('name')!r}"
    question = {**(shared["question"] or {}), **raw.pop("question", {})}
    hints = {**(shared["hints"] or {}), **raw.pop("hints", {})}
    missing = raw.pop("missing", shared["missing"]) or []
    raw.setdefault("target", shared["target"])
    _check_keys(Edition, raw, where)
    _check_keys(Question, question, f"the question of {where}", optional=not question)
    return Edition(
        **_tuples(raw),
        question=Question(**question) if question else None,
        hints=_tuples(hints),
        missing=frozenset(missing),
    )


def _check_keys(kind: type, raw: Mapping[str, Any], where: str, *, optional: bool = False) -> None:
    known = [item.name for item in fields(kind)]
    required = {item.name for item in fields(kind) if item.default is MISSING and item.default_factory is MISSING}
    if wrong := [key for key in raw if key not in known]:
        raise ValueError(f"{where} has the unknown key {wrong[0]!r}; known: {', '.join(known)}")
    if (lacking := sorted(required - raw.keys())) and not optional:
        raise ValueError(f"{where} lacks {_listed(lacking)}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _tuples(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()}
