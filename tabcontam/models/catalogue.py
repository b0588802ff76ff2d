"""The LLMs that the user can name by one word (`catalogue.toml`), and the user's own labels in reports, LABEL=LLM."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import product
from pathlib import Path

from tabcontam.errors import UsageError
from tabcontam.models.keys import split_variable
from tabcontam.models.services import load_services
from tabcontam.tables.toml_files import check_fields

FILE = Path(__file__).with_name("catalogue.toml")
CHOICES = {
    "openness": ("closed", "semi-open", "open"),
    "variant": ("base", "instruct"),
    "ollama_variant": ("base", "instruct"),
}
MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")
ADDRESS = re.compile(r"https://\S+")
TOGETHER = (("cutoff", "cutoff_source"), ("retired", "successor"))
NOT_IN_LABELS = "=:@#"


@dataclass(frozen=True)
class CatalogueEntry:
    """One LLM of `catalogue.toml`, which explains the fields. `size`: billions of parameters, None if not stated."""

    name: str
    title: str
    family: str
    order: int
    openness: str
    variant: str
    aliases: tuple[str, ...] = ()
    size: float | None = None
    cutoff: str | None = None
    cutoff_source: str | None = None
    reasons: bool = False
    openai: str | None = None
    gemini: str | None = None
    anthropic: str | None = None
    api: tuple[str, ...] = ()
    hf: str | None = None
    gguf: tuple[str, ...] = ()
    ollama: tuple[str, ...] = ()
    ollama_variant: str | None = None
    retired: date | None = None
    successor: str | None = None
    paper: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Every word that names this LLM: its name, aliases and identifiers."""
        identifiers = (*(model for _, model in self._apis), self.hf)
        return tuple(dict.fromkeys((self.name, *self.aliases, *filter(None, identifiers))))

    @property
    def served(self) -> tuple[str, ...]:
        """PROVIDER:MODEL for every provider that can serve this LLM."""
        here = [
            ("hf", self.hf),
            *(("gguf", package) for package in self.gguf),
            *(("ollama", tag) for tag in self.ollama[:1]),
        ]
        return tuple(f"{provider}:{model}" for provider, model in (*self._apis, *here) if model)

    @property
    def asked(self) -> Mapping[str, str]:
        """The provider and model of the LLM's first API, by which its price is found; empty if no API serves it."""
        return dict(zip(("provider", "model"), self._apis[0], strict=True)) if self._apis else {}

    @property
    def _apis(self) -> tuple[tuple[str, str], ...]:
        """The providers whose API serves it, its maker's first, each with the LLM's identifier there."""
        makers = {"openai": self.openai, "gemini": self.gemini, "anthropic": self.anthropic}
        services = (one.partition(":") for one in self.api)
        own = [(provider, model) for provider, model in makers.items() if model]
        return (*own, *((provider, model) for provider, _, model in services))

    def at(self, provider: str) -> str:
        """Return the LLM's identifier at the API of `provider`; "" if that provider does not serve it."""
        return next((model for name, model in self._apis if name == provider), "")

    def gone(self, today: date) -> bool:
        return self.retired is not None and self.retired <= today


def plain(name: str) -> str:
    """Return a name without capitals, blanks, dashes and underscores: `Llama 3` and `llama-3` become equal."""
    return re.sub(r"[\s_-]+", "", name.casefold())


@cache
def load_catalogue() -> Mapping[str, CatalogueEntry]:
    """Return every entry by its name. Raises `UsageError` for a catalogue that breaks the schema."""
    return parse_catalogue(FILE.read_text("utf-8"), FILE.name)


def find_entry(name: str) -> CatalogueEntry | None:
    wanted = plain(name)
    return next((entry for entry in load_catalogue().values() if wanted in map(plain, entry.names)), None)


def is_tag_of_ollama(spec: str) -> bool:
    """Return whether `spec` is Ollama's name of a model of the catalogue, such as `mistral:7b`."""
    return any(spec.casefold() in map(str.casefold, entry.ollama) for entry in load_catalogue().values())


def find_entry_of_spec(spec: str) -> CatalogueEntry | None:
    """Return the entry of an LLM that is named as in the catalogue or as PROVIDER:MODEL; None if it is unknown."""
    provider, colon, model = split_variable(spec)[0].partition(":")
    if not colon:
        return find_entry(spec)
    name, at, _ = model.partition("@http")
    entries = load_catalogue().values()
    if provider in load_services():  # a service uses its own names, or names of repositories
        found = (entry for entry in entries if name in (entry.at(provider), entry.hf))
        return next(found, None)
    if provider == "gguf":
        return next((entry for entry in entries if name in entry.gguf), None)
    if provider not in ("openai", "gemini", "anthropic", "hf", "ollama"):
        return None
    # A user's own server is most often an Ollama, whose names differ: its mistral is not the catalogue's.
    if provider == "ollama" or at:
        tag = name.casefold().removesuffix(":latest")
        for entry in entries:
            if tag in map(str.casefold, entry.ollama):
                return entry
    return find_entry(name) if provider != "ollama" else None


def successor(entry: CatalogueEntry, today: date) -> CatalogueEntry:
    entries = load_catalogue()
    while entry.successor is not None and entry.gone(today):
        entry = entries[entry.successor]
    return entry


def parse_catalogue(text: str, source: str) -> dict[str, CatalogueEntry]:
    """Return the entries in the text of a TOML file. Raises `UsageError`, which names `source` and the bad entry."""
    entries: dict[str, CatalogueEntry] = {}
    try:
        for name, about in tomllib.loads(text).items():
            if not isinstance(about, dict):
                raise ValueError(f"{name!r} is outside any entry")
            entries[name] = CatalogueEntry(name=name, **check_fields(CatalogueEntry, about, f"[{name}]", ("name",)))
            _check(entries[name])
        _check_together(entries)
    except ValueError as error:  # a TOMLDecodeError is one
        raise UsageError(f"catalogue {source} cannot be read: {error}") from error
    return entries


def _check(entry: CatalogueEntry) -> None:
    where = f"[{entry.name}]"
    for key, choices in CHOICES.items():
        if getattr(entry, key) not in (None, *choices):
            raise ValueError(f"{where} {key} is {getattr(entry, key)!r}; known: {', '.join(choices)}")
    for one, other in TOGETHER:
        if (getattr(entry, one) is None) != (getattr(entry, other) is None):
            raise ValueError(f"{where} {one} and {other} must be given together")
    if entry.cutoff is not None and not MONTH.fullmatch(entry.cutoff):
        raise ValueError(f"{where} cutoff is {entry.cutoff!r}; write YYYY-MM")
    if entry.cutoff_source is not None and not ADDRESS.fullmatch(entry.cutoff_source):
        raise ValueError(f"{where} cutoff_source is {entry.cutoff_source!r}; write the https:// address that states it")
    if entry.size is not None and entry.size <= 0:
        raise ValueError(f"{where} size is {entry.size}; write billions of parameters")
    if entry.ollama_variant and not entry.ollama:
        raise ValueError(f"{where} has ollama_variant without ollama")
    if not entry.served:
        raise ValueError(f"{where} names no provider; write openai, gemini, anthropic, api, hf, gguf or ollama")
    for written in entry.api:
        provider, _, model = written.partition(":")
        if provider not in load_services() or not model:
            raise ValueError(f"{where} api has {written!r}; write SERVICE:MODEL, known: {', '.join(load_services())}")


def _check_together(entries: Mapping[str, CatalogueEntry]) -> None:
    """Raise ValueError for a name of two entries, and for a chain of successors that is endless or leads nowhere."""
    owners: dict[str, str] = {}
    for entry in entries.values():
        for name in {plain(name) for name in entry.names}:
            if name in owners:
                raise ValueError(f"[{owners[name]}] and [{entry.name}] are both named {name!r}")
            owners[name] = entry.name
        seen = [entry.name]
        while (after := entries[seen[-1]].successor) is not None:
            if after not in entries:
                raise ValueError(f"[{seen[-1]}] successor {after!r} has no entry")
            if after in seen:
                raise ValueError(f"[{entry.name}] succeeds itself")
            seen.append(after)


def split_label(spec: str, *, longest: int = 60) -> tuple[str, str]:
    """Return the label ("" without one) and the LLM after it. Raises `UsageError` for a bad label or a missing LLM."""
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
