"""The same cells in the words of many people: languages, decimal commas, units, rounding, thinking, lists, prose.

`form(name)` gives a function that words the values of the asked features as that form does. It changes how values are
said, never which ones: what is rounded aside, each answer means the values that it was given.
"""

import json
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal

Values = Sequence[str | None]
Wording = Callable[[Sequence[str], Values], str]
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


def form(name: str) -> Wording:
    """How this form words values: asked features and their values to a text. Raises KeyError for an unknown form."""
    return FORMS[name]


def _bare(asked: Sequence[str], values: Values) -> str:
    return _shown(values[0]) if len(asked) == 1 else _named(asked, values, "The {} is {}", ", ")


def _german(asked: Sequence[str], values: Values) -> str:
    cells = _named(asked, list(map(_with_comma, values)), "{} ist {}", ", ")
    return f"Der Wert von {asked[0]} beträgt {_with_comma(values[0])}." if len(asked) == 1 else _list_of("de", cells)


def _french(asked: Sequence[str], values: Values) -> str:
    cells = _named(asked, list(map(_with_comma, values)), "{} est {}", ", ")
    return f"La valeur manquante est {_with_comma(values[0])}." if len(asked) == 1 else _list_of("fr", cells)


def _spanish(asked: Sequence[str], values: Values) -> str:
    cells = _named(asked, list(map(_with_comma, values)), "{} es {}", ", ")
    return f"El valor de {asked[0]} es {_with_comma(values[0])}." if len(asked) == 1 else _list_of("es", cells)


def _list_of(language: str, cells: str) -> str:
    said = {"de": "Die fehlenden Werte lauten", "fr": "Les valeurs manquantes sont", "es": "Los valores que faltan son"}
    return f"{said[language]}: {cells}"


def _decimal_comma(asked: Sequence[str], values: Values) -> str:
    return _bare(asked, list(map(_with_comma, values)))


def _unit(asked: Sequence[str], values: Values) -> str:
    return _bare(asked, [f"{value} units" if value and NUMBER.fullmatch(value) else value for value in values])


def _rounded(asked: Sequence[str], values: Values) -> str:
    return _bare(asked, list(map(_one_digit_fewer, values)))


def _think(asked: Sequence[str], values: Values) -> str:
    guesses = " or ".join(_shown(value) + "1" for value in values)
    return f"<think>\nLet me see. It could be {guesses}.\nThe {asked[0]} is 7.\n</think>\n\n{_bare(asked, values)}"


def _markdown(asked: Sequence[str], values: Values) -> str:
    names, cells = " | ".join(asked), " | ".join(map(_shown, values))
    return f"| {names} |\n|{'---|' * len(asked)}\n| {cells} |"


def _bullets(asked: Sequence[str], values: Values) -> str:
    return _named(asked, values, "- **{}**: {}", "\n")


def _prose(asked: Sequence[str], values: Values) -> str:
    return f"Sure! Based on the other rows:\n\n{_named(asked, values, 'The value of {} is {}', '. ')}."


def _json(asked: Sequence[str], values: Values) -> str:
    return json.dumps(dict(zip(asked, values, strict=True)), ensure_ascii=False)


def _upper(asked: Sequence[str], values: Values) -> str:
    return _bare(asked, values).upper()


def _thousands(asked: Sequence[str], values: Values) -> str:
    return _bare(asked, [_grouped(value) for value in values])


def _named(asked: Sequence[str], values: Values, words: str, between: str) -> str:
    return between.join(words.format(name, _shown(value)) for name, value in zip(asked, values, strict=True))


def _shown(value: str | None) -> str:
    return "" if value is None else value


def _with_comma(value: str | None) -> str | None:
    return value.replace(".", ",") if value and NUMBER.fullmatch(value) else value


def _one_digit_fewer(value: str | None) -> str | None:
    """A number without its last decimal, halves rounded up; whole numbers stay."""
    if not value or not NUMBER.fullmatch(value) or "." not in value:
        return value
    number = Decimal(value)
    place = int(number.as_tuple().exponent) + 1
    return str(number.quantize(Decimal(1).scaleb(place), rounding=ROUND_HALF_UP))


def _grouped(value: str | None) -> str | None:
    if not value or not NUMBER.fullmatch(value) or (value.lstrip("-+").startswith("0") and "." not in value):
        return value
    whole, point, decimals = value.partition(".")
    return f"{int(whole):,}{point}{decimals}" if abs(int(whole)) > 999 else value


FORMS: dict[str, Wording] = {
    "bare": _bare,
    "german": _german,
    "french": _french,
    "spanish": _spanish,
    "decimal comma": _decimal_comma,
    "unit": _unit,
    "rounded": _rounded,
    "think block": _think,
    "markdown": _markdown,
    "bullets": _bullets,
    "prose": _prose,
    "JSON": _json,
    "upper case": _upper,
    "thousands commas": _thousands,
}
