"""Readers that find the asked cells of a row in an answer's text, in any form."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial

from tabcontam.evidence.base import Query
from tabcontam.evidence.checks import rendered
from tabcontam.evidence.thresholds import MOST_FEW_VALUES
from tabcontam.reading.answer_readers import (
    GAP,
    PREFIX,
    SEPARATORS,
    TABLE_RULE,
    answers,
    cleaned,
    fits,
    read_json,
    read_named,
    spelling,
    stated_values,
)
from tabcontam.reading.answer_text import same_value
from tabcontam.reading.languages import FILLER
from tabcontam.reading.named_values import first_row, read_aligned, read_pairs, read_tags
from tabcontam.reading.numbers import is_number
from tabcontam.reading.value_forms import FeatureValues
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.serializers import Serializer, TemplateRows, in_order_of_finding, shipped_templates
from tabcontam.tables.table import Cell, Table

Reader = Callable[[str, Sequence[str]], dict[str, Cell]]
OTHER_SIGN = re.compile(r"[:=]|equal to\b", re.IGNORECASE)  # a sign of another serializer, after this serializer's sign
SIGN = re.compile(r"[:=]")
OBJECT = re.compile(r"\{[^{}]*\}")


def sorts_of(query: Query, serializer: Serializer) -> dict[str, FeatureValues]:
    """Return for each asked feature its values: all if they are few, else the baseline's and those in the prompt."""
    shown = cache(lambda: _shown(query, serializer))

    def values(name: str) -> list[str]:
        return [cell for cells in shown() if (cell := cells.get(name))]

    def sort(name: str) -> FeatureValues:
        if name in query.features.values:
            return FeatureValues(query.features.values[name], listed=True)
        prediction = query.chance.get(name)
        return FeatureValues(prediction.values if prediction else (), partial(values, name))

    return {name: sort(name) for name in query.asked}


def few_values(table: Table, column: str) -> tuple[str, ...]:
    """Return all values of a column if they are few and occur in at least two rows on average, else ().

    The baseline's prediction does not list them all: it leaves out unlikely values, and the hidden one may be unlikely.
    """

    def find() -> tuple[str, ...]:
        values = table.distinct(column)
        cells = sum(not table.is_missing(cell) for cell in table.column(column))
        return values if 1 < len(values) <= min(MOST_FEW_VALUES, cells / 2) else ()

    return cached_fact(table, ("few values", column), find)


def _shown(query: Query, serializer: Serializer) -> list[dict[str, str | None]]:
    """Return the asked features of each complete row that the prompt shows."""
    rows, lines = [], dict.fromkeys(rendered(query.prompt).splitlines())
    headers = {} if serializer.names_features else _headers(query, serializer)
    for line in lines:
        if serializer.names_features:
            cells = serializer.read(line, query.asked)
            rows += [cells] if len(cells) == len(query.asked) else []
            continue
        for cut in () if TABLE_RULE.match(line) else serializer.cuts(line):
            if (places := headers.get(len(cut))) and not _places(cut, query.asked):
                rows.append({name: cut[place] for name, place in zip(query.asked, places, strict=True)})
                break
    return rows


def could_be(cell: Cell, sort: FeatureValues) -> bool:
    """Return whether a cell may be one of the feature values `sort`, and not a part of a sentence."""
    return cell is None or fits(cell, sort)


def values_bare(cells: dict[str, Cell], sorts: Mapping[str, FeatureValues]) -> dict[str, Cell]:
    """Return the cells without the explanations that follow a number, or a value that the baseline lists."""
    return {name: (cleaned(cell, sorts[name]) or None) if cell else None for name, cell in cells.items()}


def named_cells(text: str, sorts: Mapping[str, FeatureValues], serializer: Serializer) -> dict[str, Cell]:
    """Return the asked features that an answer names.

    The reader with the most values and the fewest mixed-up ones counts; ties go to the first reader.
    """
    asked = tuple(sorts)
    folded = text.casefold()
    if "[" not in text and not any(piece in folded for piece in _first_pieces(asked)):
        return {}
    best, most = dict[str, Cell](), 0
    for structured in (read_json, read_pairs, read_tags):
        cells = values_bare(answers(structured(text, asked), sorts), sorts)
        if len(cells) == len(asked) and any(cells.values()):
            return cells
    for read in (*_readers(serializer), None):
        found = read(text, asked) if read else read_aligned(text, sorts)
        cells = values_bare(answers(found, sorts), sorts)
        if not cells or cells == best:
            continue
        good = sum((1 + (cell is not None)) * could_be(cell, sorts[name]) for name, cell in cells.items())
        rank = good - 2 * _mixed(cells, asked)
        if rank > most:
            best, most = cells, rank
        if most == 2 * len(asked):
            break
    return best


def whole_row(text: str, asked: tuple[str, ...], serializer: Serializer) -> dict[str, Cell]:
    """Return a row of the asked features that has exactly the asked form, as most answers do, else {}.

    The form is a line in the words of a template, a line that continues after the first feature's name, or JSON.
    """
    if text.startswith("{"):
        cells = read_json(text, asked)
        return cells if len(cells) == len(asked) else {}
    if not isinstance(serializer, TemplateRows):
        return {}
    lead = serializer.lead(asked[0])
    lines = text.splitlines()
    row = next((line[line.index(lead) :] for line in lines if lead in line), None)
    if row is None and lines:
        row = f"{lead} {lines[0].removeprefix(' ')}"
    try:
        values = serializer.parse(row or "", asked)
    except ValueError:
        return {}
    cells = {name: (value and value.strip()) or None for name, value in zip(asked, values, strict=True)}
    ended = serializer.feature_separator not in (values[-1] or "")  # otherwise another feature may follow
    ended = ended and not any(value and OTHER_SIGN.match(value) for value in values)
    return cells if ended and not _mixed(cells, asked) else {}


def plain_row(text: str, sorts: Mapping[str, FeatureValues], serializer: Serializer) -> dict[str, Cell]:
    """Return a row in the asked form that has only numbers and known values, after an announcement at most, else {}.

    Most answers are such rows, in which nothing else has to be searched for.
    """
    asked, lines = tuple(sorts), text.splitlines()
    if not isinstance(serializer, TemplateRows) or not lines or not lines[-1].startswith(serializer.lead(asked[0])):
        return {}
    if any(not (line.endswith(":") or FILLER.match(line)) for line in lines[:-1]):
        return {}
    row = whole_row(lines[-1], asked, serializer)
    known = all(cell is None or is_number(cell) or sorts[name].has(cell) for name, cell in row.items())
    return row if known and any(row.values()) else {}


def cells_by_order(
    text: str, query: Query, sorts: Mapping[str, FeatureValues], serializer: Serializer, exact: bool = False
) -> dict[str, Cell]:
    """Return the asked cells of a line without feature names, if the serializer's rows have no feature names.

    Usually the line holds only the asked cells. If the line is longer, for example a whole row, a header in the prompt
    or the answer names the features of its cells. With `exact`, the line is as the serializer writes it. Otherwise it
    may be a sentence, so each cell has to be a value of its feature.
    """
    if serializer.names_features:
        return {}
    places = {len(query.asked): list(range(len(query.asked)))}
    headers = dict[int, list[int]]()
    for line in text.splitlines():
        if TABLE_RULE.match(line) or line.startswith(("{", "[", "(")):
            continue
        for cells in serializer.cuts(PREFIX.sub("", line.strip())):
            if len(cells) > len(query.asked) and not headers:
                headers = _headers(query, serializer) | places
            if header := _places(cells, query.asked):
                places[len(cells)] = header
                continue
            asked_places = places.get(len(cells)) or headers.get(len(cells)) or _after_separator(cells, headers)
            if not asked_places or len(query.asked) == len(cells) == 1:  # a single cell is read as a short answer
                continue
            row = {name: cells[place] for name, place in zip(query.asked, asked_places, strict=True)}
            if all(_fitting(name, cell, sorts[name], exact) for name, cell in row.items()):
                written = serializer.row([""] * len(cells), cells)
                if not exact or written.endswith(line.strip()):
                    return values_bare(row, sorts)
    return {}


def _after_separator(cells: Sequence[Cell], headers: Mapping[int, list[int]]) -> list[int] | None:
    """Return the places of the asked cells in a line that begins with a separator and continues to the end of the row.

    After `275,1,3,` a model may write `,"Healy, Miss. Hanora",female`. This line has an empty first cell, which is one
    cell too many.
    """
    if cells[:1] != [None]:
        return None
    asked = (places for width, places in headers.items() if len(cells) == 1 + width - places[0])
    return next(([1 + place - places[0] for place in places] for places in asked), None)


def _fitting(name: str, cell: Cell, sort: FeatureValues, exact: bool) -> bool:
    """Return whether a cell may be a value of the feature `name`, and neither a sentence nor a name with a value."""
    if cell is None or GAP.fullmatch(cell):
        return True
    named = SIGN.search(cell) and spelling(SIGN.split(cell, maxsplit=1)[0]) == spelling(name)
    return not named and ((exact and not sort.numeric) or could_be(cell, sort))


def _headers(query: Query, serializer: Serializer) -> dict[int, list[int]]:
    """Return the places of the asked features in each header line of the prompt; a key is the number of its names."""
    lines = dict.fromkeys(rendered(query.prompt).splitlines())
    cut = (next(serializer.cuts(line), []) for line in lines)
    return {len(cells): places for cells in cut if (places := _places(cells, query.asked))}


def _places(cells: Sequence[Cell], asked: Sequence[str]) -> list[int] | None:
    """Return the places of the asked features in a header line, or None if a name is missing or occurs twice."""
    places = [_place(cells, name) for name in asked]
    return [place for place in places if place is not None] if None not in places else None


def _place(cells: Sequence[Cell], name: str) -> int | None:
    """Return the only place of a name, or None if there is not exactly one. Other spellings count if none is exact."""
    exact = [place for place, cell in enumerate(cells) if cell == name]
    alike = exact or [place for place, cell in enumerate(cells) if spelling(cell or "") == spelling(name)]
    return alike[0] if len(alike) == 1 else None


@lru_cache(maxsize=64)
def _first_pieces(asked: tuple[str, ...]) -> tuple[str, ...]:
    """Return the first word of each name: any text with the feature contains it, whatever separates its words."""
    return tuple(re.split(r"[-_ .(]", name, maxsplit=1)[0].casefold() for name in asked)


@lru_cache(maxsize=16)
def _readers(serializer: Serializer) -> tuple[Reader, ...]:
    own = (serializer,) if serializer.names_features else ()
    forms = in_order_of_finding(dict.fromkeys((*own, *shipped_templates().values())))
    return (*(form.read for form in forms), read_json, read_pairs, read_tags, read_named)


def _mixed(cells: dict[str, Cell], asked: tuple[str, ...]) -> int:
    """Return how many cells contain the name of another asked feature: such a cell was cut off too late."""
    text = "\n".join(filter(None, cells.values())).casefold()
    names = {name: found for name, found in _whole_names(asked).items() if found[0] in text}
    folded = [(name, cell.casefold()) for name, cell in cells.items() if cell] if names else []
    return sum(
        any(other != name and part in cell and pattern.search(cell) for other, (part, pattern) in names.items())
        for name, cell in folded
    )


@lru_cache(maxsize=64)
def _whole_names(asked: tuple[str, ...]) -> dict[str, tuple[str, re.Pattern[str]]]:
    folded = {name: name.casefold() for name in asked}
    return {name: (part, re.compile(rf"(?<!\w){re.escape(part)}(?!\w)")) for name, part in folded.items()}


def fresh(text: str, query: Query, sorts: Mapping[str, FeatureValues]) -> str:
    """Return an answer without the lines that repeat lines of its prompt, unless it is a single line.

    Lines that contradict themselves are left out, too.
    """
    if "\n" not in text:
        return unambiguous(text, query, sorts)
    shown = {line.strip() for line in rendered(query.prompt).splitlines()}
    lines = text.splitlines()
    new = [line for line in lines if line.strip() not in shown]
    announced = all(line.endswith(":") or FILLER.match(line) for line in new)
    return unambiguous(text if announced and len(lines) == len(new) + 1 else "\n".join(new), query, sorts)


def unambiguous(text: str, query: Query, sorts: Mapping[str, FeatureValues]) -> str:
    """Return a text without the lines and JSON objects that have a feature twice with different values.

    It is unclear which value is meant. Further rows, on other lines or after a complete row, are no contradiction: base
    models continue with further rows, and the first row is the answer.
    """
    rows = {*OBJECT.findall(text), *text.splitlines()} if "{" in text else set(text.splitlines())
    for row in sorted(rows, key=len, reverse=True):
        if _contradicts_itself(row, query, sorts):
            text = text.replace(row, first_row(row, query.asked))
    return text.strip()


def _contradicts_itself(row: str, query: Query, sorts: Mapping[str, FeatureValues]) -> bool:
    close = SEPARATORS.sub("", row).casefold()
    for name, spelled in _spelled_apart(query.asked).items():
        if close.count(spelled) > 1:
            sort = sorts[name]
            values = (value and cleaned(value, sort) for value in stated_values(row, name))
            first = next(values, None)
            if any(value != first and not same_value(value, first) for value in values):
                return True
    return False


@lru_cache(maxsize=64)
def _spelled_apart(asked: tuple[str, ...]) -> dict[str, str]:
    """Return the names with their spelling, except names with equal spellings: these may have different values."""
    spelled = list(map(spelling, asked))
    return {name: own for name, own in zip(asked, spelled, strict=True) if own and spelled.count(own) == 1}
