"""The Python interface of `fresh`: `tabcontam.fresh(...)`."""

import os.path
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from tabcontam.api import checked_argument, several_of
from tabcontam.cli.run_arguments import OF_LIMITS
from tabcontam.config import COUNT
from tabcontam.errors import UsageError, name_options_in_python
from tabcontam.verdicts.wording import visible


def _number_of_texts(most: int) -> int:
    try:
        return COUNT.take(most)
    except ValueError as error:
        raise UsageError(f"most is {most!r}; write {error}") from None


@dataclass(frozen=True)
class Fresh:
    """Rows or texts that no LLM trained before a day can have read. `folder` contains them.

    For a table, `dataset` is the card of its fresh rows, which `run(dataset=…)` accepts, and `rows` is their number.
    For texts `dataset` is None. `document` is the content of fresh.json, or for a table the output of `fresh --json`.
    `ended` is the reason why asking ended, if one of your limits was reached.
    """

    folder: Path
    document: Mapping[str, Any]
    dataset: Path | None = None
    rows: int = 0
    ended: str = ""

    def __repr__(self) -> str:
        held = f"{self.rows} rows" if self.dataset else f"{self.document['passages']} texts"
        return visible(f"<Fresh {self.folder}: {held}>", line=True)


@name_options_in_python()
def fresh(
    source: str | Path,
    since: str | date,
    out: str | Path,
    *,
    until: str | date | None = None,
    seed: int = 0,
    dated_by: str | None = None,
    dated_as: str | None = None,
    target: str | None = None,
    name: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    header_line: int | None = None,
    address: str | None = None,
    most: int | None = None,
    llm: str | None = None,
    judge: str | None = None,
    ask: str | Sequence[str] = (),
    human: str | Path | None = None,
    old: str | Path | None = None,
    max_connections: int | None = None,
    max_requests: int | None = None,
    max_cost: float | Decimal | str | None = None,
    prices: str | Path | None = None,
    cache: bool = True,
    retry_unanswered: bool = False,
    progress: bool = False,
) -> Fresh:
    """Collect rows or texts that no LLM trained before a day can have read, as `python -m tabcontam fresh` does.

    `source` is a table with dates (any value of `--dataset`) or a feed of texts: "arxiv", "bbc", "github", the address
    of an RSS or Atom feed, or a card of your own. Rows of a table dated `since` or later are written to `out`, with a
    card. `since` and `until` are days, as texts or dates. The day `until` and later days do not count.

    For a table, `dated_by` names the column of dates, and `dated_as` their format, in the directives of `strptime`.
    `target`, `name`, `delimiter`, `encoding`, `header` and `header_line` mean the same as in `run`. Of a feed at most
    `most` texts are read (default: 50), from another `address` if one is given. `llm` writes questions on the texts,
    with masked answers (LatestEval, Li, Guerin and Lin 2024, section 3). `judge` judges the questions (default: `llm`),
    and the LLMs of `ask` answer them. `human` is a file of people's judgements. `old` is an earlier set, or a file of
    earlier texts, to compare how familiar old and new texts are to the LLMs of `ask`. The limits are the same as in
    `run`. The call prints nothing, unless `progress` is true: then it prints to standard error.

    The same call continues where it was stopped. Ctrl-C stores the replies and raises `KeyboardInterrupt`. Raises
    `UsageError` for a bad input, if nothing counts as fresh, and if an LLM could not be asked everything.
    """
    from tabcontam.extensions.fresh.fresh_command import fresh_order, named_feed, write_fresh_rows

    words = locals() | {
        "source": os.path.join(".", source.expanduser()) if isinstance(source, Path) else source,
        "ask": several_of(ask),
        "most": None if most is None else _number_of_texts(most),
        **{word: None if given is None else Path(given) for word, given in (("human", human), ("old", old))},
    }
    words |= {word: checked_argument(word, words[word]) for word in ("out", "seed", "header", *OF_LIMITS[1:])}
    feed = named_feed(words)
    if feed is None:
        found, card, file = write_fresh_rows(words)
        return Fresh(words["out"], found.facts(card, file), card, len(found.table.rows))
    from tabcontam.extensions.fresh.fresh_set import make
    from tabcontam.report import progress_display as report_progress

    made = make(fresh_order(words, feed), report_progress.progress(quiet=not progress))
    if made.interrupted:
        raise KeyboardInterrupt(f"the answers are in {made.folder}; the same call continues from there")
    if made.ended and not made.spent:
        raise UsageError(f"{made.ended}; the same call continues from here")
    return Fresh(made.folder, made.document, ended=made.ended)
