"""The command `list datasets|llms|tests|serializers|prompts`: all available names, read from TOML and docstrings."""

import inspect
import re
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from textwrap import indent
from typing import TYPE_CHECKING, Any

from tabcontam.errors import UsageError, near

if TYPE_CHECKING:
    from tabcontam.models.catalogue import CatalogueEntry
    from tabcontam.models.prices import Price
    from tabcontam.tables.dataset_cards import Card

Item = dict[str, Any]


def tests() -> list[Item]:
    """Return every contamination test. Its text is its docstring, and its one-line description the first sentence."""
    from tabcontam.evidence.registry import all_tests

    items = []
    for test in all_tests():
        about, _, text = (inspect.getdoc(test) or "").partition("\n\n")
        number = f"test {test.number}, " if test.number else ""
        about = " ".join(about.split())
        text = f"Marks: {', '.join(test.marks)}.\n\n{text}".rstrip()
        items.append({"name": test.id, "about": f"({number}{test.kind}) {about}", "text": text, "marks": test.marks})
    return items


def serializers() -> list[Item]:
    """Return every built-in serializer, and the user's serializers in the folders of TABCONTAM_PATH."""
    from tabcontam.tables.serializers import all_serializers

    items = []
    for item in all_serializers().values():
        text = item.row(["age", "sex"], ["39", "Male"])
        items.append({"name": item.name, "about": _with_source(item.about, item.source), "text": text})
    return items


def prompts() -> list[Item]:
    """Return every built-in prompt set with the text of its file, and the user's prompt sets in TABCONTAM_PATH."""
    from tabcontam.evidence.prompts import all_prompts

    return [
        {"name": item.name, "about": _with_source(item.about, item.source), "text": item.file.read_text("utf-8")}
        for item in all_prompts().values()
    ]


def llms() -> list[Item]:
    """Return the names for LLMs: those in the catalogue, and those of providers, including other packages' providers.

    A provider that cannot be loaded is reported in a line on standard error.
    """
    from tabcontam.models.catalogue import load_catalogue
    from tabcontam.models.gguf.provider import carried
    from tabcontam.models.prices import load_prices, price_of
    from tabcontam.models.provider_registry import BUILT_IN, load_plugins

    prices = load_prices()
    return [
        *(_named(entry, price_of(entry.asked, False, prices)) for entry in load_catalogue().values()),
        *(
            {"name": spelling, "about": about, "text": provider.details}
            for provider in BUILT_IN.values()
            for spelling, about in provider.spellings.items()
        ),
        *(
            {"name": f"gguf:{name}", "about": f"{file.name}, {file.stat().st_size / 1e6:,.0f} MB, is here", "text": ""}
            for name, file in carried().items()
        ),
        *(
            {
                "name": f"{point.name}:MODEL",
                "about": f"from the package {point.package}",
                "text": inspect.getdoc(opener) or "",
            }
            for point, opener in load_plugins()
        ),
    ]


def _named(entry: "CatalogueEntry", price: "Price | None") -> Item:
    about = asdict(entry) | {"retired": entry.retired and entry.retired.isoformat(), "price": price and asdict(price)}
    cutoff = f"cut-off {entry.cutoff}" if entry.cutoff else "cut-off not stated"
    size = f"{entry.size:g}B" if entry.size else "size not stated"
    retired = ""
    if entry.retired:
        word = "retired" if entry.gone(datetime.now(UTC).date()) else "retires"
        retired = f"; {word} {entry.retired}, then {entry.successor}"
    served = ", ".join(entry.served)
    lines = [
        f"{entry.title}: {entry.variant}" + ("; one of the paper's fifteen" if entry.paper else ""),
        *([_papers(entry)] if entry.paper else []),
        f"names: {', '.join(entry.names)}",
        f"family {entry.family}, number {entry.order} in the catalogue",
        cutoff + (f" ({entry.cutoff_source})" if entry.cutoff_source else ""),
    ]
    if entry.reasons:
        lines.append("reasons before it answers, unless the request turns that off")
    if price:
        lines.append(f"${price.input:g} for a million tokens of prompts, ${price.output:g} for a million written")
    if entry.ollama_variant:
        lines.append(
            f"{entry.name} means Ollama's {entry.ollama[0]} if Ollama runs and has it: "
            f"the {entry.ollama_variant} model; write {entry.served[0]} for the {entry.variant} model"
        )
    facts = f"{entry.openness}, {entry.variant}, {size}, {cutoff}; {served}{retired}"
    return {"name": entry.name, "about": facts, "text": "\n".join(lines), "entry": about}


def _papers(entry: "CatalogueEntry") -> str:
    """Return a note on the model that Ronval et al. 2024 asked. Their section 4.1 names only OpenAI's models."""
    stated = f"{entry.size:g}B and names" if entry.size else "names"
    source = (
        "its text" if entry.openai else f"its code; its text {'states ' if entry.size else ''}{stated} no checkpoint"
    )
    return f"the paper asked {entry.served[0]}, the {entry.variant} model, by {source}"


def datasets() -> list[Item]:
    """Return every built-in dataset card with its editions, and the user's cards in the folders of TABCONTAM_PATH."""
    from tabcontam.tables.dataset_cards import all_cards

    items = []
    for card in all_cards().values():
        editions = ", ".join(edition.name for edition in card.editions)
        lines = [
            f"aliases: {', '.join(card.aliases)}",
            f"not: {', '.join(card.not_aliases)}",
            f"released {card.dates.released}{_completed(card)}; licence {card.licence}; DOI {card.doi or 'none'}",
            *(
                f"{card.name}@{edition.name}: {edition.file}, sha256 {edition.sha256}, target {edition.target}, "
                f"order {edition.order}"
                + (f", splits {', '.join(part.split for part in edition.parts)}" if edition.split else "")
                for edition in card.editions
            ),
        ]
        if not card.public:
            lines.append("private: its rows leave this machine only with --send-rows")
        about = _with_source(f"{card.title} ({editions})", card.source)
        items.append({"name": card.name, "about": about, "text": "\n".join(lines), "card": _flat(card)})
    return items


def _flat(card: "Card") -> dict[str, Any]:
    """Return the fields of a card by the keys of its file."""
    fields = asdict(card)
    dates = fields.pop("dates")
    fields["dates"] = dates.pop("of_names")
    fields |= dates
    for edition in fields["editions"]:
        for one in (edition, *edition["splits"]):
            one.update(one.pop("layout"))
    return fields


def _completed(card: "Card") -> str:
    """Return in words until when a card's data grew, and the column with the date of each row, or ""."""
    until = f", up to {card.dates.completed}" if card.dates.completed else ""
    return f"{until}, rows dated by {card.dates.dated_by}" if card.dates.dated_by else until


def _with_source(about: str, source: str) -> str:
    """Return a description, followed by its file if `source` names a file of the user."""
    return "; ".join(part for part in (about, source and f"from {source}") if part)


def matching(what: str, items: Sequence[Item], patterns: Sequence[str]) -> list[Item]:
    """Return the items that match every pattern: part of a name, words of the description, or a glob for a whole name.

    Case, blanks, `-` and `_` are ignored. Raises `UsageError` with the nearest names if no item matches.
    """
    found = [item for item in items if all(_matches(item, pattern) for pattern in patterns)]
    if not found:
        names = {_plain(name): item["name"] for item in items for name in _names(item)}
        wanted = "".join(map(_plain, patterns))
        close = list(dict.fromkeys(names[name] for name in near(wanted, names, limit=12)))[:3]
        advice = f"did you mean {' or '.join(close)}?" if close else f"list {what} without a pattern shows all"
        raise UsageError(f"none of the {len(items)} {what} matches {' '.join(patterns)!r}; {advice}")
    return found


def _matches(item: Item, pattern: str) -> bool:
    wanted = _plain(pattern)
    if any(sign in pattern for sign in "*?["):
        return any(fnmatchcase(_plain(name), wanted) for name in _names(item))
    words = re.compile(rf"\b{re.escape(pattern)}", re.IGNORECASE)  # `llama` does not match `ollama:`
    texts = (item["about"], *item.get("marks", ()))
    return any(wanted in _plain(name) for name in _names(item)) or any(map(words.search, texts))


def _names(item: Item) -> list[str]:
    """Return all names by which an item can be found."""
    card = item.get("card", {})
    entry = item.get("entry", {})
    others = [card.get("title"), *card.get("aliases", ()), entry.get("title"), *entry.get("aliases", ())]
    identifiers = [entry.get(key) for key in ("openai", "gemini", "hf")] + list(entry.get("ollama", ()))
    return [item["name"], *filter(None, [*others, *identifiers])]


def _plain(text: str) -> str:
    """Return a text without the characters that matching ignores. Brackets in a glob are kept."""
    return re.sub(r"[\s_-]+(?![^\[]*\])", "", text.casefold())


def as_text(items: Sequence[Item], verbose: bool) -> str:
    """Return the items as aligned lines. With `verbose`, each item's text follows its line."""
    width = max(len(item["name"]) for item in items)
    lines = []
    for item in items:
        if verbose and item["text"]:
            lines += [f"{item['name']}: {item['about']}", indent(item["text"], "    "), ""]
        else:
            lines.append(f"{item['name']:<{width}}  {item['about']}")
    return "\n".join(lines)


# The items of each kind: `name`, one-line description `about`, full `text`; datasets also have the whole `card`.
LISTED = {"datasets": datasets, "llms": llms, "tests": tests, "serializers": serializers, "prompts": prompts}
