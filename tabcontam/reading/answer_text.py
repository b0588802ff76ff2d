"""Preparation of answers before they are read: preambles and fences are removed, and refusals are recognized."""

import re
from decimal import Context, Decimal
from functools import lru_cache

from tabcontam.reading.languages import DECLINES_POLITELY, FILLER, REFUSES
from tabcontam.reading.numbers import is_number, ungrouped
from tabcontam.reading.thresholds import SHORT_CHOICE_LETTERS
from tabcontam.reading.typography import plain_signs

FENCE = re.compile(r"^\s*```[\w+-]*\s*$", re.MULTILINE)
LABEL = re.compile(r"^[\s*_]*answer[\s*_]*:[\s*_]*", re.IGNORECASE)
FOOTNOTE = re.compile(r"(?<=[\w.)\"'*])\s?(?:\[\^?\d{1,2}(?:\u2020[^\]\n]*)?\]|[\u00b9\u2070\u2074-\u2079])+(?=\W|$)")
CELL, ROW_END = re.compile(r"<t[dh]\b[^>]*>", re.IGNORECASE), re.compile(r"</tr\s*>", re.IGNORECASE)
TABLE = re.compile(r"</?(?:table|thead|tbody|tr|t[dh])\b[^>]*>", re.IGNORECASE)
LATEX_TEXT = re.compile(r"\\(?:text\w*|math\w+)\{([^{}]*)\}")
STRUCK = re.compile(r"~~[^~\n]+~~\s*|<(del|s|strike)>.*?</\1>\s*", re.IGNORECASE)
FRAME = re.compile(
    r"^[ \t]*[\u2500-\u257f]*[\u2500\u2501\u2550][\u2500-\u257f]*[ \t]*$\n?", re.MULTILINE
)  # lines of a drawn table
BARS = str.maketrans(dict.fromkeys("\u2502\u2503\u2551", "|"))
LATEX = re.compile(r"\$([^$\n]+)\$")
BULLET = re.compile(  # a sign that is not a letter
    r"^[ \t]*(?:[-*] \[[ xX]\]|[^\w\s\x00-\x7f\u20ac\u00a3\u00a5\u2026\u2013\u2014\u00b0]+)\s*(?=\S)", re.MULTILINE
)
DIGITS = Context(prec=12)
WHOLE = Context(prec=100)  # identifiers may have more digits than a float
MISSING = re.compile(r"\?|na|n/a|nan|null|none|-|missing", re.IGNORECASE)
MARKS = "\"'`*"  # signs around a value
DECLINES = re.compile(  # for lower-case text, which is three times as fast as ignoring case
    r"\b(?:i(?: a|')m (?:sorry|unable|not able)|i (?:cannot|can't|can not|do not|don't|couldn't|could not)|unable to"
    r"|as an? (?:ai|language model)\b|(?:not |im)possible (?:for me )?to|no (?:access|information|idea|memory|way to)"
    r"|i apologi[sz]e|beyond what i"
    r"|(?:cannot|can't|could not) be (?:determined|known)"
    r"|(?:does|do) not (?:mention|contain|provide|specify|have (?:access|enough))"
    rf"|{REFUSES}|{DECLINES_POLITELY})"
)


def declines(text: str) -> bool:
    """Return whether a text refuses to answer."""
    return DECLINES.search(text.replace("\u2019", "'").lower()) is not None


def plain(text: str) -> str:
    """Return a text without code fences, and without emphasis around its lines."""
    if text.isprintable() and "`" not in text and "*" not in text:  # a single line without marks
        return text.strip()
    lines = (line.strip() for line in FENCE.sub("", text).splitlines())
    bare = (line.strip("*`").strip() if line[:1] in ("*", "`") and line[:2] != "* " else line for line in lines)
    return "\n".join(line for line in bare if line)


def tidy(text: str) -> str:
    """Return a text in the signs of a keyboard, without LaTeX and footnote numbers. Tables are in Markdown."""
    text = plain_signs(text)
    if "<td" in text:
        text = TABLE.sub("", ROW_END.sub(" |\n", CELL.sub("| ", text)))
    if "\\" in text:
        text = LATEX.sub(r"\1", LATEX_TEXT.sub(r"\1", text)).replace("\\\\", "")
    if not text.isascii():
        text = FRAME.sub("", text).translate(BARS)
    return FOOTNOTE.sub("", BULLET.sub("- ", STRUCK.sub("", text))).removesuffix("\\n")


def answer_line(text: str) -> str:
    """Return the line with a short answer: the first line that is more than an announcement."""
    lines = plain(text).splitlines()
    answers = (line for line in lines if not line.endswith(":") and not (FILLER.match(line) and len(lines) > 1))
    return next(answers, lines[0] if lines else "")


def unlabelled(line: str) -> str:
    """Return a line without a label such as "Answer:"."""
    return LABEL.sub("", line)


def same_value(answer: str | None, expected: str | None) -> bool:
    """Return whether two values are equal. Case, outer spaces, quotes, full stop and number notation are ignored."""
    if answer is None or expected is None:
        return False
    return value_key(answer) == value_key(expected)


def is_mark(cell: str | None) -> bool:
    """Return whether a cell is None or a sign that answers use for a missing value, such as `?`."""
    return cell is None or MISSING.fullmatch(cell.strip("\"'`*. ")) is not None


@lru_cache(maxsize=100_000)
def value_key(text: str) -> str:
    """Return a key that equal values share: one for `256`, `256.0` and `2.56e2`, another for `No.` and `no`."""
    text = text if text.isascii() else plain_signs(text).replace("\u2013", "-")
    bare = " ".join(text.split()).strip(MARKS).casefold()
    bare = bare[:-1].rstrip(MARKS) if bare.endswith(".") and len(bare) > 1 else bare
    if not is_number(bare):
        return bare
    try:
        exact = Decimal(ungrouped(bare)).normalize(WHOLE)
        is_whole = exact.is_finite() and int(exact.as_tuple().exponent) >= 0
        number = exact if is_whole else DIGITS.plus(exact)  # as many digits as a float has
    except ArithmeticError:  # too large even for a decimal
        return bare
    if not number.is_finite():
        return bare
    return format(number.normalize(WHOLE), "e") if number else "0"


def choice_in(text: str, choices: tuple[str, ...]) -> str | None:
    """Return the choice with which a text begins or ends, or a long one that it has and does not deny.

    None if the text also names another choice.
    """
    line = answer_line(text).strip("\"'*` ")
    if declines(line):
        return None
    longest_first = sorted(choices, key=len, reverse=True)
    named = [name for name in longest_first if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", line, re.IGNORECASE)]
    # "very good" also names "good".
    separate = [choice for choice in named if not any(choice in other for other in named if other != choice)]
    if _names_two(line, named):
        return None
    for choice in separate:
        answer = re.escape(choice)
        if re.match(rf"{answer}(?!\w)(?!\s+or\b)", line, re.IGNORECASE):
            return choice
        if len(separate) == 1 and re.search(rf"(?:\bis|:)[\s\"'*]*{answer}[\"'*.!]*\s*\}}?$", line, re.IGNORECASE):
            return choice
    only = separate[0] if len(separate) == 1 else ""
    denied = re.search(rf"\b(?:not|no|n't)\s+(?:an?\s+)?{re.escape(only)}", line, re.IGNORECASE)
    return only if len(only) > SHORT_CHOICE_LETTERS and not denied else None


def _names_two(line: str, choices: list[str]) -> bool:
    """Return whether two choices are next to each other (`Yes/No`, `Yes, No.`). `Yes, no doubt` has only one choice."""
    either = "|".join(map(re.escape, choices)) or "$"
    between = rf"(?:[/|&]|,?\s*\b(?:and|or)\b|,(?=\s*(?:{either})\W*$))"
    two = rf"(?<!\w)(?:{either})[\"'*]*\s*{between}\s*[\"'*]*(?:{either})(?!\w)"
    return re.search(two, line, re.IGNORECASE) is not None
