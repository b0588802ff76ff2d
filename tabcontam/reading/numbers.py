"""Numbers as people write them: grouped thousands, decimal commas, a unit after the number, a hedge before it."""

import re
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite

from tabcontam.reading.languages import BECAUSE, NO_UNIT, PRESUMABLY, TAKEN_BACK

THINKING = (
    r"(?:i think|i believe|i guess|from memory|estimated|guess|geschätzt|vermutlich|estimée?|estimado|stima|geschat)"
)
PER = r"(?:[²³]|\^[23])?(?:\s?/\s?[^\W\d_]{1,6}(?:[²³]|\^[23])?)?"  # km/h, g/cm³
UNIT = (
    rf"(?:\s*(?:%|°[cf]?|€|\$|£|years?|yrs?|hours?|months?|days?|(?:[cmk]?m|[mk]?g|[md]?l){PER}|dollars?|usd|eur|euros?)"
    rf"|(?:st|nd|rd|th)\b|[\u3040-\u30ff\u4e00-\u9fff]{{1,2}}|\s+(?!{NO_UNIT}\b)[^\W\d_]{{1,20}}{PER})?(?:\s+(?:old|alt)\b)?"
)
MONEY = r"(?:(?:us|ca|au|r|hk)?[$\u20ac\u00a3\u00a5]|(?:usd|eur|gbp|chf|jpy|inr|brl)\s)"
AFTER_NUMBER = re.compile(
    rf"{UNIT}(?:,?\s*\(?{THINKING}\)?)?[.!]?$"
    r"|\.\s+(?!(?:no|not|or|but|however|wait|actually|hmm|nein|oder|aber|non|mais|ou|pero)\b)[^\d]*$"
    rf"|{UNIT}(?:\s*\(|\s+[-\u2013\u2014]\s|,?\s+{BECAUSE}\b)(?!(?:.*\s)?{TAKEN_BACK})[^\d]*$",
    re.IGNORECASE,
)
NUMBER = re.compile(
    rf"(?:{PRESUMABLY}\s+)*[~\u2248]?\s*{MONEY}?\s*"
    r"([-+\u2212]?(?:\d{1,2}(?:,\d{2})+,\d{3}(?!\d)(?:\.\d+)?"
    r"|\d{1,3}(?:[.,'\u2019\u00a0\u202f]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)?|\.\d+)(?:e[-+]?\d+)?)"
    r"(?![\d.,]*\d)[*`]*",
    re.IGNORECASE,
)
BY_COMMAS = re.compile(r"[-+]?(?:[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d?(?:,\d{2})+,\d{3})(?:\.\d*)?")  # also as in India
GROUPED = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3})(?:\.\d*)?")
BY_POINTS = re.compile(r"[-+]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?")
COMMA = re.compile(r"[-+]?\d*,\d+(?:e[-+]?\d+)?", re.IGNORECASE)
AROUND = "\"'`*\u201c\u201d\u201e\u00ab\u00bb \u00a0\u202f"
APART = re.compile(r"(?<=\d)['\u2019\u00a0\u202f](?=\d{3}(?!\d))")


@dataclass(frozen=True)
class NumberStyle:
    """The form of a column's numbers. It decides how a comma or a point in an answer is read."""

    decimals: bool  # whether some of its numbers have decimals
    thousands: bool  # whether some of its numbers are 1000 or more

    def plain(self, text: str) -> str | None:
        """Return a number with a decimal point and without thousands separators; None if the text is not a number.

        `1,234` means 1.234 if the column has decimals and no number of 1000 or more, else 1234. `1.234` means 1234 only
        in a column of whole numbers, some of 1000 or more. `39,14` is a number only if the column has decimals.
        """
        text = APART.sub("", text.replace("\u2212", "-"))
        if BY_COMMAS.fullmatch(text):
            small = self.decimals and not self.thousands and text.count(",") == 1 and "." not in text
            return text.replace(",", "." if small else "")
        if BY_POINTS.fullmatch(text) and ("," in text or text.count(".") > 1 or (self.thousands and not self.decimals)):
            return text.replace(".", "").replace(",", ".")
        if COMMA.fullmatch(text):
            whole, _, decimals = text.partition(",")
            return f"{whole}.{decimals}" if self.decimals or not decimals.strip("0") else None
        return text if is_finite(text) else None


@lru_cache(maxsize=1_000)
def writing_of(values: tuple[str, ...]) -> NumberStyle:
    """Return the form of the numbers among these values."""
    numbers = [abs(float(ungrouped(value))) for value in values if is_finite(value)]
    return NumberStyle(any(number % 1 for number in numbers), any(number >= 1000 for number in numbers))


@lru_cache(maxsize=100_000)
def is_number(text: str) -> bool:
    """Return whether a text is a number. It may have commas between thousands."""
    if "_" in text:  # Python accepts 1_000, but it is no number in a table
        return False
    try:
        float(ungrouped(text))
    except ValueError:
        return False
    return True


@lru_cache(maxsize=100_000)
def is_finite(text: str) -> bool:
    """Return whether a text is a number that a table can contain. `nan` and `1e999999999` are not."""
    return is_number(text) and isfinite(float(ungrouped(text)))


def number_in(text: str, writing: NumberStyle) -> str:
    """Return the number in `39. This is a guess.` or `39 years`. Return other texts (`39 or 40`) unchanged."""
    text = text.strip(AROUND)
    if (whole := writing.plain(text.removesuffix("."))) is not None:
        return whole
    match = NUMBER.match(text)
    if not match or not AFTER_NUMBER.match(text, match.end()):
        return text
    return writing.plain(match.group(1)) or text


def ungrouped(text: str) -> str:
    """Return a number without commas between thousands."""
    return text.replace(",", "") if "," in text and GROUPED.fullmatch(text) else text
