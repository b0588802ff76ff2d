"""Dataset cards: TOML files that describe a dataset and its published copies.

The shipped cards are in `datasets/`. A user's own card is named by the path of its file. If that file is in a folder
that TABCONTAM_PATH lists, the card can be named by its short name, too. No two cards share a name.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from tabcontam.errors import UsageError, unknown
from tabcontam.tables.file_layouts import FORMS, HEADED_CSV, FileLayout
from tabcontam.tables.text_tasks import TextTask, text_task
from tabcontam.tables.toml_files import SUFFIX, check_fields, name_taken, read_toml, shipped_files, texts, with_own

KIND = "datasets"
SHORT = 12  # digits of a SHA-256 in the name of a user's own file
NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
EDITION_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")  # also the name of a folder in the cache
TABLES = ("question", "hints", "text")  # tables of an edition; the card's tables are the defaults
SHARED = ("target", "missing", *TABLES)
SPLIT_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
SPLIT_WORDS = "a-z, 0-9, ., - and _"
STATED = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")  # a year, a month or a day
OF_A_FILE = ("file", "sha256", "bytes", "rows", "addresses", "loader", "skip_rows", "split")  # of one split alone
SHA256 = re.compile(r"[0-9a-f]{64}")
LOADER = re.compile(r"(load|fetch)_[a-z0-9_]+")


@dataclass(frozen=True)
class ClassificationQuestion:
    """The classification question of an edition.

    `answers` maps target values to answers, in the order in which the prompt lists them. With a `threshold` the target
    is numeric and `answers` has the keys ">=" (at or above the threshold) and "<" (below). A question is not `fair` if
    its answers are bare codes, such as `class_0`: no model can know from a row alone which class a code means. Such a
    question is asked, but the accuracy on it is left out of the means in the ranking of models.
    """

    text: str
    answers: Mapping[str, str]
    threshold: float | None = None
    fair: bool = True

    def answer(self, value: str) -> str:
        if self.threshold is not None:
            return self.answers[">=" if float(value) >= self.threshold else "<"]
        return self.answers[value]


@dataclass(frozen=True)
class Edition:
    """One published copy of a dataset: its file, the addresses of the file, and how to read it.

    `file` is the copy's usual file name, `bytes` its size. An address is a URL, or `URL!MEMBER` for a file in an
    archive (`URL!MEMBER!MEMBER` for an archive in an archive). `loader` is a function of `sklearn.datasets`: the data
    frame that it returns, written as CSV, is this edition. `missing`, `order`, `hints` and `text` are as in `Table`. If
    copies name their features differently, `title` replaces the card's title in prompts (`Titanic in seaborn`): the
    model must know which copy's feature names are asked for.

    `split` is the name of this file's part of the dataset, such as `train`; "" if the dataset has no parts. `splits`
    are the other parts, each in a separate file. A part is read like this file, except for the settings that its own
    entry in the card changes.
    """

    name: str
    file: str
    sha256: str
    bytes: int
    rows: int
    addresses: tuple[str, ...] = ()
    loader: str | None = None
    target: str | None = None
    question: ClassificationQuestion | None = None
    missing: frozenset[str] = frozenset()
    order: str = "kept"
    title: str = ""
    hints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    layout: FileLayout = HEADED_CSV
    text: TextTask | None = None
    split: str = ""
    splits: tuple["Edition", ...] = ()

    @property
    def parts(self) -> tuple["Edition", ...]:
        """The splits, each as an edition of one file; only this edition if it has no splits."""
        return (self, *self.splits)

    def part(self, split: str) -> "Edition":
        """Return the file of a split. Raises `UsageError`, which lists the splits, if this one does not exist."""
        for part in self.parts:
            if part.split and part.split.casefold() == split.casefold():
                return part
        names = [part.split for part in self.parts if part.split]
        if not names:
            raise UsageError(f"edition {self.name} has no splits; leave {split!r} out")
        raise UsageError(f"unknown split {split!r} of edition {self.name}; known: {', '.join(names)}")


@dataclass(frozen=True)
class DataDates:
    """The dates of a dataset.

    `released` is the year, month or day on which the data were first public. `completed` is the date of the last row,
    for data about events over time. `dated_by` is the column with the date of each row, in the format `dated_as` of
    `strptime`. If that column has names, such as those of races, `of_names` maps each name to its date.
    """

    released: str
    completed: str = ""
    dated_by: str = ""
    dated_as: str = "%Y-%m-%d"
    of_names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Card:
    """One dataset. Prompts show its `title`, unless the edition has one of its own. `aliases` are other names of the
    same data. `not_aliases` are similar names of other data. The first edition is the default.

    `released_source` is the source of the date of release. `source` is the file of a user's own card, "" for a shipped
    one. If a card is not `public`, its rows leave this machine only if the user allows it. Shipped cards are public; a
    user's own card states whether it is.
    """

    name: str
    title: str
    dates: DataDates
    licence: str
    editions: tuple[Edition, ...]
    aliases: tuple[str, ...] = ()
    not_aliases: tuple[str, ...] = ()
    doi: str | None = None
    released_source: str = ""
    public: bool = True
    source: str = ""

    @property
    def files(self) -> tuple[Edition, ...]:
        """Every file of the card: each edition, and each of its further splits."""
        return tuple(part for edition in self.editions for part in edition.parts)

    @property
    def stated_by(self) -> str:
        """The source of the release date, or else the DOI of the data; empty if the card names neither."""
        return self.released_source or (f"https://doi.org/{self.doi}" if self.doi else "")

    @property
    def names(self) -> tuple[str, ...]:
        """All names of the data, the longest first."""
        return tuple(sorted(dict.fromkeys((self.title, *self.aliases)), key=len, reverse=True))

    def title_of(self, edition: Edition) -> str:
        return edition.title or self.title

    def edition(self, name: str | None = None) -> Edition:
        """Return the edition called `name`, or the default edition. Raises `UsageError` for an unknown name."""
        if name is None:
            return self.editions[0]
        for edition in self.editions:
            if edition.name == name.casefold():
                return edition
        raise unknown(f"edition of {self.name}", name, [edition.name for edition in self.editions])

    def stated(self, edition: Edition) -> str:
        """Return the name of an edition in results. For a user's own card it ends in a digest of the data.

        The digest shows that a user's file has changed. All splits of an edition have one name, with one digest of all
        their files.
        """
        digests = [part.sha256 for part in self.edition(edition.name).parts]
        digest = digests[0] if len(digests) == 1 else sha256("".join(digests).encode()).hexdigest()
        return f"{edition.name}-{digest[:SHORT]}" if self.source else edition.name

    def named(self, stated: str) -> str:
        """Return the name of the edition that results call `stated`; the digest in `stated` is ignored."""
        return stated[: -SHORT - 1] if self.source else stated


@cache
def load_cards() -> Mapping[str, Card]:
    """Return every shipped card by its short name. Raises `UsageError` for a card that breaks the schema."""
    return {card.name: card for card in map(_read, shipped_files(KIND))}


def all_cards() -> dict[str, Card]:
    """Return the shipped cards and the user's own in TABCONTAM_PATH. Raises `UsageError` as `load_card` does."""
    return with_own(KIND, load_cards(), load_card)


def first_split(name: str, edition: str | None) -> str:
    """Return the split that is read by default in a shipped card's edition; "" if the edition has no splits."""
    card = load_cards().get(name)
    return next((each.split for each in card.editions if each.name == edition), "") if card is not None else ""


def split_named(spec: str) -> tuple[str, str | None]:
    """Return DATASET and SPLIT of DATASET#SPLIT; SPLIT is None if there is no `#`, or if the dataset is a FILE."""
    base, sign, split = spec.rpartition("#")
    if not sign or Path(spec).expanduser().exists() or find_card(split_edition(base)[0]) is None:
        return spec, None
    return base, split


def split_edition(spec: str) -> tuple[str, str | None]:
    """Return NAME and EDITION of the spec NAME@EDITION or CARD.toml@EDITION; EDITION is None without an `@`."""
    base, sign, edition = spec.rpartition("@")
    return (base, edition) if sign and not spec.endswith(SUFFIX) else (spec, None)


def find_card(name: str) -> Card | None:
    """Return the card that `name` names: by a TOML file, or by name, title or alias. Capitals and separators do not
    matter.

    Raises `UsageError` as `load_card` does.
    """
    if name.endswith(SUFFIX):
        return load_card(Path(name).expanduser())
    return _named(name, all_cards())


def mistaken_card(name: str) -> Card | None:
    """Return the card that lists `name` in `not_aliases`, as California Housing lists Boston Housing."""
    wanted = _plain(name)
    return next((card for card in all_cards().values() if wanted in map(_plain, card.not_aliases)), None)


def load_card(path: Path) -> Card:
    """Return the card in a user's own file. Raises `UsageError`, which names the file and the wrong key."""
    card = _read(path, str(path.resolve()))
    if other := _named(card.name, load_cards()):
        if other == replace(card, public=True, source=""):  # the shipped file itself, or a copy of it
            return other
        raise name_taken(KIND, path, card.name, other.name)
    return card


def _read(path: Path, source: str = "") -> Card:
    """Return the card in a file. `source` is the path of a user's own file; such a card is by default not `public`."""
    try:
        return _card({"public": not source, **read_toml(path, KIND)}, source)
    except ValueError as error:
        raise UsageError(f"dataset card {path} cannot be read: {error}") from error


def _named(name: str, cards: Mapping[str, Card]) -> Card | None:
    """Return the card with this name. A short name wins over an equal title or alias of another card."""
    wanted = _plain(name)
    found = (card for card in cards.values() if wanted == _plain(card.name))
    return next(found, None) or next((card for card in cards.values() if wanted in map(_plain, card.names)), None)


def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("-", " ").replace("_", " ").split())


def _card(raw: dict[str, Any], source: str) -> Card:
    # Target, question, missing marks and hints of the card are the defaults of each edition.
    shared: dict[str, Any] = {key: raw.pop(key) for key in SHARED if key in raw}
    listed = raw.pop("editions", None)
    if not isinstance(listed, list) or not listed or not all(isinstance(edition, dict) for edition in listed):
        raise ValueError("it has no [[editions]]")
    of_names = raw.pop("dates", {})
    if not isinstance(of_names, dict):
        raise ValueError("dates are no table of values and dates")
    for value, stated in of_names.items():
        fits = isinstance(stated, str) and len(stated) >= len("YYYY-MM") and STATED.fullmatch(stated)
        _check(f"the date of {value!r}", stated, fits, "YYYY-MM or YYYY-MM-DD")
    about = check_fields(Card, raw, "the card", ("editions", "source", "of_names"), parts={"dates": DataDates})
    dates = replace(about.pop("dates"), of_names=of_names)
    editions = tuple(_edition(_merged(f"edition {one.get('name')!r}", shared, one)) for one in listed)
    card = Card(**about, editions=editions, source=source, dates=dates)
    _check("name", card.name, NAME.fullmatch(card.name), "a-z, 0-9, - and _")
    for text in (card.title, *card.aliases, *card.not_aliases):
        _check("names", text, text.strip() and text.isprintable(), "a text of one line")
    for text in filter(None, (dates.released, dates.completed)):
        _check("released and completed", text, STATED.fullmatch(text), "YYYY, YYYY-MM or YYYY-MM-DD")
    if dates.completed and dates.completed < dates.released[: len(dates.completed)]:
        raise ValueError(f"completed is {dates.completed}, before released, {dates.released}")
    if of_names and not dates.dated_by:
        raise ValueError("it has dates and no dated_by; name the column whose values they date")
    names = [edition.name for edition in editions]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"two editions are named {min(twice)!r}")
    return card


def _merged(where: str, defaults: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of an edition or a split (`own`) with those that it inherits; their TOML tables are joined."""
    if wrong := [key for key in TABLES for keys in (defaults, own) if not isinstance(keys.get(key, {}), dict)]:
        raise ValueError(f"{where} {wrong[0]} is no table")
    return {**defaults, **own, **{key: {**defaults.get(key, {}), **own.get(key, {})} for key in TABLES}}


def _edition(raw: dict[str, Any]) -> Edition:
    where = f"edition {raw.get('name')!r}"
    splits = _splits(raw, where)
    question, hints, text = (raw.pop(key) for key in TABLES)
    missing = texts(f"{where} missing", raw.pop("missing", []), blank=True)
    given = (*TABLES, "missing", "splits")
    edition = Edition(
        **check_fields(Edition, raw, where, given, blank=True, parts={"layout": FileLayout}),
        splits=splits,
        question=_question(question, f"the question of {where}"),
        hints={test: texts(f"{where} hints.{test}", listed, blank=True) for test, listed in hints.items()},
        text=text_task(text, f"the text of {where}"),
        missing=frozenset(missing),
    )
    _check_edition(edition, where)
    return edition


def _splits(raw: dict[str, Any], where: str) -> tuple[Edition, ...]:
    """Return the further splits of an edition. Each entry names a file; its other keys apply to this split only."""
    listed = raw.pop("splits", [])
    if not isinstance(listed, list) or not all(isinstance(split, dict) for split in listed):
        raise ValueError(f"{where} splits are no tables")
    inherited = {key: value for key, value in raw.items() if key not in OF_A_FILE}
    found = []
    for split in map(dict, listed):
        name = split.pop("name", None)
        if wrong := {"split", "splits", "title"} & split.keys():
            raise ValueError(f"{where} split {name!r} has the unknown key {min(wrong)!r}")
        found.append(_edition(_merged(f"{where} split {name!r}", inherited, {**split, "split": name})))
    names = [raw.get("split", ""), *(part.split for part in found)]
    if found and (not all(names) or len(set(names)) < len(names)):
        raise ValueError(f"{where} has splits named {', '.join(map(repr, names))}; each needs a name of its own")
    files = [Path(str(raw.get("file"))).name, *(Path(part.file).name for part in found)]
    if len(set(files)) < len(files):
        raise ValueError(f"{where} has two splits whose files have the same name")
    return tuple(found)


def _question(raw: dict[str, Any], where: str) -> ClassificationQuestion | None:
    if not raw:
        return None
    answers = raw.pop("answers", {})
    if not isinstance(answers, dict) or len(answers) < 2 or not all(isinstance(each, str) for each in answers.values()):
        raise ValueError(f"{where} answers cannot be {answers!r}; give a text for each value of the target")
    question = ClassificationQuestion(**check_fields(ClassificationQuestion, raw, where, ("answers",)), answers=answers)
    if question.threshold is not None and list(answers) != [">=", "<"]:
        raise ValueError(f'{where} has a threshold, so that its answers are to ">=" and "<"')
    return question


def _check_edition(edition: Edition, where: str) -> None:
    """Check values that have the right type. Names become paths, so no name may lead out of its folder."""
    path, layout = Path(edition.file), edition.layout
    stays = path.name != "" and not path.is_absolute() and ".." not in path.parts and edition.file.isprintable()
    _check(f"{where} name", edition.name, EDITION_NAME.fullmatch(edition.name), "a-z, 0-9, ., - and _")
    _check(f"{where} title", edition.title, edition.title.isprintable(), "a text of one line")
    _check(f"{where} file", edition.file, stays, "the name of a file in the card's folder")
    _check(f"{where} sha256", edition.sha256, SHA256.fullmatch(edition.sha256), "64 digits of 0-9 and a-f")
    _check(f"{where} bytes", edition.bytes, edition.bytes > 0, "a whole number above 0")
    _check(f"{where} rows", edition.rows, edition.rows > 1, "a whole number above 1")
    _check(f"{where} delimiter", layout.delimiter, len(layout.delimiter) == 1, "one character")
    _check(f"{where} split", edition.split, edition.split == "" or SPLIT_NAME.fullmatch(edition.split), SPLIT_WORDS)
    _check(f"{where} form", layout.form, layout.form in FORMS, " or ".join(FORMS))
    _check(f"{where} skip_rows", layout.skip_rows, layout.skip_rows >= 0, "a whole number")
    loader = edition.loader
    _check(f"{where} loader", loader, loader is None or LOADER.fullmatch(loader), "a load_ or fetch_ function")


def _check(where: str, value: object, right: object, wanted: str) -> None:
    if not right:
        raise ValueError(f"{where} cannot be {value!r}; write {wanted}")
