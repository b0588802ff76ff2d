"""Results of LLMs of the catalogue on tables with cards, as a run would hold them, for what is said by dates."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tabcontam.models.catalogue import load_catalogue
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.verdicts.document import parse_results
from tabcontam.verdicts.results import RunResults
from tests.report.synthetic import cell, document

LLMS = ("gpt-3.5-turbo", "llama-2", "llama-3", "gpt-4o", "gemma-2", "tidal")  # the last two: no cut-off, no entry
TABLES = ("iris", "titanic", "housing", "penguins", "gsm8k", "spaceship", "heart", "thyroid", "own.csv")
ASKED = 100
FACTS = ("name", "title", "family", "order")
Hits = Callable[[str, str, bool], int]  # of an LLM on a table, by whether it came out before the LLM's cut-off


def read(llm: str, table: str, before: bool) -> int:
    """What an LLM can have read it classifies right; of the rest it gets what the majority class gets."""
    return 80 if before else 50


def dated(hits: Hits = read, llms: Sequence[str] = LLMS, tables: Sequence[str] = TABLES) -> dict[str, Any]:
    """A results.json with 0-shot classification of each LLM on each table, of which half are of the majority class."""
    catalogue = load_catalogue()
    cells = [_cell(llm, table, hits) for llm in llms for table in tables]
    entries = {llm: {fact: getattr(catalogue[llm], fact) for fact in FACTS} for llm in llms if llm in catalogue}
    return document(cells, catalogue=entries, datasets=[_dataset(table) for table in tables])


def results(*arguments: Any) -> RunResults:
    """The same as a report reads it."""
    return parse_results(dated(*arguments))


def folder(of: dict[str, Any], where: Path) -> Path:
    """A run's folder with these results, and no trials."""
    where.mkdir()
    (where / "results.json").write_text(json.dumps(of), "utf-8")
    (where / "trials.jsonl").write_text("", "utf-8")
    return where


def _dataset(table: str) -> dict[str, Any]:
    card = load_cards().get(table)
    if card is None:
        return {"name": table, "title": table, "edition": "3f2a91bc3f2a", "sha256": "3f2a91bc" * 8}
    edition = card.editions[0]
    return {
        "name": table,
        "title": card.title,
        "edition": edition.name,
        "split": edition.split or None,
        "sha256": edition.sha256,
    }


def _cell(llm: str, table: str, hits: Hits) -> dict[str, Any]:
    card, entry = load_cards().get(table), load_catalogue().get(llm)
    right = hits(llm, table, bool(card and entry and entry.cutoff and card.dates.released < entry.cutoff))
    dataset = _dataset(table)
    return cell(
        llm,
        table,
        "classification_0shot",
        None,
        edition=dataset["edition"],
        split=dataset.get("split"),
        hits=right,
        answered=ASKED,
        queries=ASKED,
        score=right / ASKED,
        statistic={"name": "share of valid answers that are right", "value": right / ASKED, "expected": 0.5},
    )
