"""Values after their features' names, with any text between name and value: JSON's colon, a tag, a word for "is"."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import takewhile

from tabcontam.reading.answer_readers import NOTE, SEPARATORS, Cells, bare, cleaned, fits
from tabcontam.reading.languages import ARTICLE, EITHER, ELSEWHERE, JOINED, NOT, THING
from tabcontam.reading.typography import script
from tabcontam.reading.value_forms import FeatureValues

STRING = r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
PAIR = re.compile(  # "age": 39, 'age' => 39, ("age", 39), row["age"] = 39; only the key or the value needs quotes
    r"""(?:(?P<round>\(\s*)?(?P<quote>["'])(?P<key>(?:\\.|(?!(?P=quote))[^\\\n])*)(?P=quote)"""
    r"""\s*(?:\]?\s*(?::|=>?)|(?(round),|(?!)))\s*"""
    rf"""(?:(?P<value>{STRING})|(?P<open>\{{)|(?P<plain>[^,{{}}()\[\]\n"']*?)\s*(?=//|[#,)}}\n]|$))"""
    rf"""|(?P<bare>[^\W\d][\w ./()-]{{0,60}}?)\s*[:=]\s*(?P<text>{STRING}))"""
)
TAGGED = re.compile(
    r"<(?:(?P<tag>[^\W\d][\w .:-]{0,60})|\w+\s[^<>]*?\"(?P<key>[^<>\"]+)\"[^<>]*)>(?P<value>[^<>]*)</[\w .:-]+>"
)
NEXT_WORD = re.compile(r"\s*[,;|.\n][\s*_`-]*(?:[^\W\d_]{1,12})\s*$")
NOT_THIS = re.compile(
    rf"(?:{NOT.pattern})\s+(?:this|that|it|these|the (?:row|value|following|answer))\W*:", re.IGNORECASE
)
OR_ELSE = re.compile(rf"\b(?:either|{EITHER})\W*(?:{ARTICLE}\W*)?$", re.IGNORECASE)  # directly before a second row
OFFERED = re.compile(
    r"[\s*-]*(?:[A-Za-z]\)|(?:\w+ )?(?:attempt|option|candidate|guess|choice|alternative|version)[^:\n]{0,20}:)\s",
    re.IGNORECASE,
)
CALLED_VALUE = re.compile(rf".*{THING}s?", re.IGNORECASE)
OPENED = re.compile(r"[.;:!?]\s|\n")
NO_DENIAL = re.compile(  # a "no" that is a value or a column: "The loan is no, The No is 1"
    rf"(?:\b(?:is|to)|[=:])\s*(?:{NOT.pattern})\s*(?=[,;|])|(?:{NOT.pattern})\s*(?=\bis\b|=)", re.IGNORECASE
)
NEW_SENTENCE = re.compile(rf"(?:[.;!?]\s+|\n\W*)(?:{ARTICLE}\s+)?$", re.IGNORECASE)  # directly before a name
NULL = {"null", "none", "nan", "nil", "undefined", ""}
AFTER_VALUE = re.compile(  # between a value and the next name
    rf"(?:\s*[,;|.\n]\s*|\s[-\u2013\u2014]\s+|\s+(?={JOINED} ))+(?:{JOINED} +)?(?:(?i:{ARTICLE}) +)?"
    r"[\s\u2022*_`#>(\[{\"'-]*$"
)
MARKUP = " \t\"'`*_"


def spelled(name: str) -> str:
    """Return only the letters and digits of a name, so `unit_price_eur` and `Unit Price (EUR)` give the same."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


@lru_cache(maxsize=64)
def names_of(asked: tuple[str, ...]) -> Mapping[str, str]:
    """Return the asked names by their unambiguous spellings, with and without the note in parentheses."""
    found: dict[str, set[str]] = {}
    for name in asked:
        for form in {name, NOTE.sub("", name)}:
            found.setdefault(spelled(form), set()).add(name)
    return {form: next(iter(names)) for form, names in found.items() if len(names) == 1 and form}


def read_pairs(text: str, asked: Sequence[str]) -> Cells:
    """Return the asked features of a JSON object, which may have comments, other quotes or other spellings of names.

    If a feature occurs again, it belongs to a further row: the first value is the answer.
    """
    names, cells = names_of(tuple(asked)), Cells()
    named, inside = None, False  # from the pair before, as in {"feature": "age", "value": 39}
    for match in PAIR.finditer(text):
        if match["open"]:  # an object for one feature: a first key such as "value" has its value
            named, inside = names.get(spelled(key_of(match))), True
            continue
        value = as_text(match)
        own = named if not inside or CALLED_VALUE.fullmatch(key_of(match)) else None
        name = names.get(spelled(key_of(match))) or own
        named, inside = None if name else names.get(spelled(value or "")), False
        if name is not None and name not in cells:
            cells[name] = value
    return cells


def key_of(match: re.Match[str]) -> str:
    """Return the key of a matched pair."""
    return str(match["bare"] if match["key"] is None else match["key"])


def as_text(match: re.Match[str]) -> str | None:
    """Return the value of a matched pair, or None if it is a word for "no value"."""
    string = match["value"] or match["text"]
    if string is None:
        plain = match["plain"] or ""
        return None if plain.casefold() in NULL else plain
    inside = string[1:-1]
    if string[0] == "'":
        inside = inside.replace("\\'", "'").replace('"', '\\"')
    try:
        value = str(json.loads(f'"{inside}"', strict=False))
    except ValueError:
        value = inside
    return value.strip() or None


def read_tags(text: str, asked: Sequence[str]) -> Cells:
    """Return the asked features that are in tags of their names: `<age>39</age>`."""
    names, cells = names_of(tuple(asked)), Cells()
    for match in TAGGED.finditer(text):
        if (name := names.get(spelled(match["tag"] or match["key"]))) is not None:
            cells.setdefault(name, match["value"].strip() or None)
    return cells


def read_aligned(text: str, sorts: Mapping[str, FeatureValues]) -> Cells:
    """Return the asked features that a text names, at least two, each with the text between its name and the next name.

    If the same text follows all names, it means "is" in some language. Where a feature is named again, a further row
    begins.
    """
    places = _first_names(text, tuple(sorts))
    if len(places) < 2 or all(
        text[start - 1 : start] == "(" and text[end : end + 1] == ")" for _, start, end in places
    ):
        return {}  # each name may come after its value
    ends = [*(start for _, start, _ in places[1:]), _end(text, places[-1][2])]
    pieces = [text[end:following] for (_, _, end), following in zip(places, ends, strict=True)]
    parted = [AFTER_VALUE.sub("", piece) for piece in pieces[:-1]]
    if len(parted) > 1 and (word := NEXT_WORD.search(_common([piece[::-1] for piece in parted])[::-1])):
        parted = [piece[: -len(word.group())] for piece in parted]  # an article in any language
    pieces = [*parted, pieces[-1]]
    filled = [piece for piece in pieces if any(map(str.isalnum, piece))]
    common = _cut_back(_common(filled), filled) if len(filled) > 1 else ""
    if not common or all(piece.strip() == common.strip() for piece in pieces):
        return {}  # all pieces are equal: the word for "is" and the value are not separable
    cells: Cells = {}
    for (name, _, _), piece in zip(places, pieces, strict=True):
        value = bare(piece[len(common) :].strip(MARKUP)) if piece.startswith(common) else ""
        value = value.removesuffix(")") if common.endswith("(") else value
        value = cleaned(value, sorts[name])
        if not value:
            cells[name] = None
        elif fits(value, sorts[name]):
            cells[name] = value
    return cells


def denied(text: str, asked: tuple[str, ...]) -> set[str]:
    """Return the asked features for which a text denies a value, or gives the value of another row.

    A denial before a name also applies to the later names of the same sentence.
    """
    found, last, is_denied = set[str](), 0, False
    for match in any_name(asked).finditer(text):
        between = text[last : match.start()]
        if not last:
            is_denied = (
                NOT.search(OPENED.split(NO_DENIAL.sub("", between))[-1]) is not None
                or NOT_THIS.search(between) is not None
            )
        elif NEW_SENTENCE.search(between):
            is_denied = False
        is_denied = is_denied or ELSEWHERE.search(re.split(r"[.!?]\s|\n", between)[-1]) is not None
        if is_denied and (name := names_of(asked).get(spelled(match.group()))):
            found.add(name)
        last = match.end()
    return found


def without_choices(text: str) -> str:
    """Return the text without lines that offer a choice of answers, each with a letter or a label."""
    offered = [line for line in text.splitlines() if OFFERED.match(line)]
    return "\n".join(line for line in text.splitlines() if line not in offered) if len(offered) > 1 else text


def first_row(text: str, asked: tuple[str, ...]) -> str:
    """Return the text before a second row, which begins with the same name as the first; "" without a complete row."""
    places = [(names_of(asked).get(spelled(match.group())), match.start()) for match in any_name(asked).finditer(text)]
    names, rows = [name for name, _ in places], len(asked)
    follows = len(names) > rows > 1 and set(names[:rows]) == set(asked) and names[rows : rows + 2] == names[:2]
    before = NO_DENIAL.sub("", text[: places[0][1]] if places else "")
    if not follows or NOT.search(before) or OR_ELSE.search(text[: places[rows][1]]):
        return ""
    return AFTER_VALUE.sub("", text[: places[rows][1]])


def _first_names(text: str, asked: tuple[str, ...]) -> list[tuple[str, int, int]]:
    """Return the first place of each name, in text order, up to the first name that is repeated."""
    found: dict[str, tuple[str, int, int]] = {}
    for match in any_name(asked).finditer(text):
        name = names_of(asked).get(spelled(match.group()))
        if name is None or name in found:
            break
        found[name] = (name, match.start(), match.end())
    return list(found.values())


@lru_cache(maxsize=256)
def any_name(asked: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern that matches any of the names, also in other spellings."""
    forms = sorted({NOTE.sub("", name) for name in asked} | set(asked), key=len, reverse=True)
    patterns = (r"[-_ .]?".join(map(re.escape, SEPARATORS.split(form))) for form in forms)
    return re.compile(rf"(?<![a-zA-Z0-9])(?:{'|'.join(patterns)})(?![a-zA-Z0-9])", re.IGNORECASE)


def _end(text: str, start: int) -> int:
    """Return where the last value ends: at the end of its line, or of the next line if the name is a heading."""
    begun = start + len(text[start:]) - len(text[start:].lstrip(" \t\n*_:#"))
    end = text.find("\n", begun)
    return len(text) if end < 0 else end


def _common(pieces: Sequence[str]) -> str:
    least, most = min(pieces), max(pieces)
    same = takewhile(lambda letters: letters[0] == letters[1], zip(least, most, strict=False))
    return "".join(letter for letter, _ in same)


def _cut_back(common: str, pieces: Sequence[str]) -> str:
    """Return the common beginning, cut back until it ends no piece within a word or number."""
    while common and any(_go_on(common[-1], piece[len(common) : len(common) + 1]) for piece in pieces):
        common = common[:-1]
    return common


def _go_on(letter: str, following: str) -> bool:
    """Return whether two characters belong to one word or number. A change of script separates two words."""
    if not (letter.isalnum() and following.isalnum()):
        return False
    return letter.isdigit() == following.isdigit() and script(letter) == script(following)
