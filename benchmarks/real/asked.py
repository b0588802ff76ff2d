"""What real LLMs are asked: which tests, about which tables, in which forms and ways of writing rows."""

import hashlib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tabcontam.asking.query_plan import PlannedResult, RunSource, plan
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.evidence.registry import by_id
from tabcontam.models.base import PromptForm
from tabcontam.models.gguf.provider import GGUFModel, carried
from tabcontam.tables.dataset_splits import load_tables
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Table

OLD = ("iris", "wine", "titanic", "adult", "penguins", "heart", "diabetes", "breast-cancer", "bank")
CAR = "car"  # it lists all combinations of its values, so that no row test asks about it
# Tables that no LLM of the list can have read: its weights are older than the rows.
FRESH = ("f1-2026", "premier-league-2025-26#after-2025-12", "world-cup-2026-squads", "world-cup-2026",
         "internationals#after-2025-06")  # fmt: skip
TABLES = (*FRESH, *OLD, CAR)
HALF_KNOWN = ("iris", "titanic")  # the largest LLM writes rows of their beginning, or names in them
EVERYWHERE = ("incomplete_completion", "full_completion", "feature_completion", "header", "row_completion")
ONCE = ("feature_list_informed", "feature_list_uninformed", "recognition_features", "recognition_examples",
        "feature_values_informed", "feature_values_uninformed", "membership", "matched_membership",
        "classification_0shot", "classification_1shot", "first_token", "quiz")  # fmt: skip
ASKED_ONCE = ("iris", "titanic", "adult", CAR)  # the tables of the tests of `ONCE`
QUERIES, SEED = 15, 0  # of a test about a table
ONCE_A_TABLE = "once"  # the group of the tests of `ONCE`
SENTENCE, CSV, EQUALS = "is", "csv", "equals"
FORMS = (PromptForm.COMPLETION, PromptForm.CHAT)


@dataclass(frozen=True)
class LLM:
    """An entry of `llms.toml`."""

    name: str
    title: str
    sha256: str
    licence: str
    chat: bool
    small: bool
    once: bool
    source: str

    @property
    def forms(self) -> tuple[PromptForm, ...]:
        """The forms in which it is asked."""
        return FORMS if self.chat else (PromptForm.COMPLETION,)

    @property
    def own_form(self) -> PromptForm:
        """The form in which `run` would ask it."""
        return PromptForm.CHAT if self.chat else PromptForm.COMPLETION


class Place(NamedTuple):
    """What is asked together, and has a verdict of its own: a table in one form and one way of writing rows."""

    table: str
    form: PromptForm
    writing: str
    group: str = ""  # of tests, where they are not those of `EVERYWHERE`

    @property
    def words(self) -> tuple[str, ...]:
        """What names it on the command line."""
        return self.table, str(self.form), self.writing, *([self.group] if self.group else [])


def llms() -> dict[str, LLM]:
    """The LLMs of the record by their names."""
    listed = tomllib.loads(Path(__file__).with_name("llms.toml").read_text(encoding="utf-8"))
    return {name: LLM(name, source=entry.pop("from"), **entry) for name, entry in listed.items()}


def places(llm: LLM) -> Iterator[Place]:
    """What an LLM is asked, the most telling first.

    What tells least is left out, so that all of it fits ten hours of two processors. The largest LLM takes four times
    as long as the others and is asked in completion form alone. About old tables the small ones are asked as CSV in
    that form, since they recite none. `once` says which LLM takes the tests of `ONCE`, about a few tables. A third way
    of writing rows is for small LLMs and tables of 2026, whose verdicts must not err.
    """
    chat = PromptForm.CHAT in llm.forms and llm.small
    yield from (Place(table, PromptForm.COMPLETION, CSV) for table in (*FRESH, *OLD))
    yield from (Place(table, PromptForm.COMPLETION, SENTENCE) for table in (FRESH if llm.small else HALF_KNOWN))
    yield from (Place(table, PromptForm.CHAT, writing) for writing in (SENTENCE, CSV) for table in FRESH if chat)
    yield from (Place(table, form, EQUALS) for table in FRESH for form in llm.forms if llm.small)
    yield from (Place(table, llm.own_form, SENTENCE, ONCE_A_TABLE) for table in ASKED_ONCE if llm.once)


def at_hand() -> list[str]:
    """The tables whose files are here."""
    found = []
    for name in TABLES:
        with suppress(UsageError):
            table_of(name)
            found.append(name)
    return found


def places_of(table: str) -> set[Place]:
    """What is asked about a table, whatever the form."""
    every = (place for llm in llms().values() for place in places(llm) if place.table == table)
    return {place._replace(form=PromptForm.COMPLETION) for place in every}


def forget() -> None:
    """Forget the tables, and what was found out about them."""
    table_of.cache_clear()
    _planned.cache_clear()


@cache
def table_of(name: str) -> Table:
    """The table of a place. Raises `UsageError` where its file is not here."""
    return load_tables([name])[0][0]


def planned(place: Place) -> Sequence[PlannedResult]:
    """The cells of a place as a run plans them, the same for every LLM and form. Raises `UsageError`."""
    return _planned(place.table, place.writing, place.group)


@cache
def _planned(table: str, writing: str, group: str) -> Sequence[PlannedResult]:
    tests = [by_id()[name] for name in (ONCE if group == ONCE_A_TABLE else EVERYWHERE)]
    anybody, options = RunSource(GGUFModel("anybody")), RunConfig(queries=QUERIES, seed=SEED)
    return plan([anybody], [table_of(table)], [load_serializer(writing)], tests, options)


def weights(folder: Path | None, wanted: Sequence[LLM]) -> Mapping[str, Path]:
    """The files of these LLMs that lie in a folder or come with an installed package, by the name of the LLM."""
    here = [*carried().values(), *(sorted(folder.glob("*.gguf")) if folder else ())]
    digests = {}
    for path in here:
        with path.open("rb") as file:
            digests[hashlib.file_digest(file, "sha256").hexdigest()] = path
    return {llm.name: digests[llm.sha256] for llm in wanted if llm.sha256 in digests}
