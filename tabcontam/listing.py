"""`list datasets|llms|tests|serializers`: what there is to name, read from TOML and docstrings alone."""

import inspect
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

Item = dict[str, Any]


def listed(what: str) -> list[Item]:
    """The things of one kind: `name`, `about` in a line, `text` with what is known, for datasets the whole `card`."""
    return {"datasets": datasets, "llms": llms, "tests": tests, "serializers": serializers}[what]()


def tests() -> list[Item]:
    """Every contamination test; its docstring is its page."""
    from tabcontam.suite.registry import TESTS

    items = []
    for test in TESTS:
        text = inspect.getdoc(test) or ""
        number = f"test {test.number}, " if test.number else ""
        about = " ".join(text.split("\n\n")[0].split())
        items.append({"name": test.id, "about": f"({number}{test.kind}) {about}", "text": text})
    return items


def serializers() -> list[Item]:
    """Every shipped serializer."""
    from tabcontam.serializers import load_serializers

    return [
        {"name": item.name, "about": item.about, "text": item.row(["age", "sex"], ["39", "Male"])}
        for item in load_serializers().values()
    ]


def llms() -> list[Item]:
    """How an LLM is named."""
    from tabcontam.models.registry import FORMS
    from tabcontam.models.simulated import KINDS

    kinds = {"simulated:KIND": f"kinds: {', '.join(KINDS)}"}
    return [{"name": form, "about": about, "text": kinds.get(form, "")} for form, about in FORMS.items()]


def datasets() -> list[Item]:
    """Every dataset card with its editions."""
    from tabcontam.cards import load_cards

    items = []
    for card in load_cards().values():
        editions = ", ".join(edition.name for edition in card.editions)
        lines = [
            f"aliases: {', '.join(card.aliases)}",
            f"not: {', '.join(card.not_aliases)}",
            f"released {card.released}; licence {card.licence}; DOI {card.doi or 'none'}",
            *(
                f"{card.name}@{edition.name}: {edition.file}, sha256 {edition.sha256}, target {edition.target}, "
                f"order {edition.order}"
                for edition in card.editions
            ),
        ]
        about = {"name": card.name, "about": f"{card.title} ({editions})", "text": "\n".join(lines)}
        items.append(about | {"card": asdict(card)})
    return items


def as_text(items: Sequence[Item], verbose: bool) -> str:
    """The items as aligned lines; with `verbose`, each with its text below."""
    width = max(len(item["name"]) for item in items)
    lines = []
    for item in items:
        if verbose and item["text"]:
            lines += [f"{item['name']}: {item['about']}", *_indented(item["text"]), ""]
        else:
            lines.append(f"{item['name']:<{width}}  {item['about']}")
    return "\n".join(lines)


def _indented(text: str) -> list[str]:
    return [f"    {line}".rstrip() for line in text.splitlines()]
