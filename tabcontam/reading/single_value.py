"""The value that an answer gives for one asked cell, found by what sets it apart (marks it) in the text.

A marked place is read first: a line of its own, a box, tags, a label, the feature's name, emphasis, quotes. If no
marked place has a value, a number or a listed value counts if it is the only one in the text.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, islice

from tabcontam.reading.answer_readers import AFTER_NAME, CALLED, CORRECTION, PREFIX, bare, cleaned, fits
from tabcontam.reading.languages import ARTICLE, ELSEWHERE, NO_UNIT, NOT, SAYS, THING
from tabcontam.reading.named_values import PAIR, any_name, as_text, key_of, read_pairs, read_tags, spelled
from tabcontam.reading.numbers import NUMBER, is_finite
from tabcontam.reading.thresholds import (
    MOST_PLACES_IN_ANSWER,
    MOST_WORDS_AFTER_NAME,
    MOST_WORDS_BEFORE_VALUE,
    MOST_WRAPPINGS,
    SHORT_VALUE_LETTERS,
)
from tabcontam.reading.value_forms import SAYING, FeatureValues

BOXED = re.compile(r"\\boxed\{\s*((?:[^{}]|\{[^{}]*\})*)\}")
TAG = re.compile(r"<(?P<key>[A-Za-z][\w.-]*)>\s*(?P<value>[^<>]+?)\s*</(?P=key)>")
STRESSED = re.compile(r"\*\*(.+?)\*\*|__(.+?)__|`([^`\n]+)`|(?<![\w*])\*([^*\n]+)\*(?![\w*])")
QUOTED = re.compile(r"(?<![a-zA-Z0-9,])\"([^\"\n]+)\"(?![a-zA-Z0-9])|(?<!\w)'([^'\n]+)'(?!\w)")
LABELLED = re.compile(
    r"^\W*(?P<label>[^\W\d_][^:=\n]{0,60}?)\W*?(?::|=>?|->|\u2192|\s[-\u2013\u2014]\s)\W*?\s*(?P<value>.+)$",
    re.MULTILINE,
)
LABEL = re.compile(  # the last words before a colon
    rf"(?:^|\W)(?:{THING}|a|correct|output|prediction|guess|pick|completion|response|final)s?(?:\s+{SAYS})?\W*$",
    re.IGNORECASE,
)
BULLET = re.compile(r"^(?:[^\w\s\"'(\[{<$\u20ac\u00a3\u00a5+.~\\`_]+\s+|\d+[.)]\s+)+")
STATED_TO_BE = re.compile(
    rf"\b(?:{THING})\b[^.:\n]{{0,60}}?\s(?:{SAYS}|(?:should|must|would|could|may|might|will)\s+be)\s*:?\s*(.+)",
    re.IGNORECASE,
)
WRAPS = (("[", "]"), ("(", ")"), ('"', '"'), ("'", "'"), ("`", "`"), ("**", "**"), ("*", "*"), ("__", "__"), ("_", "_"),
         ("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"))  # fmt: skip
PLACE = re.compile(  # words before a number that is not a value
    r"\b(?:rows?|lines?|columns?|records?|entry|index|number|no\.?)\s*#?$", re.IGNORECASE
)
NAMING = re.compile(rf"^(?:\w+\s+)*?{THING}\s+(?:{SAYS}\s+)?", re.IGNORECASE)
IS_THE = re.compile(rf"\s+{SAYS}\s+(?:{ARTICLE}\s+)?[*`_\"']*$", re.IGNORECASE)
OTHERWISE = re.compile(rf"\s+{NO_UNIT}\b", re.IGNORECASE)  # words after a number that change it
WORD = re.compile(rf"^[\W_]*(?:{ARTICLE}\s+)?$", re.IGNORECASE)
TWO_OF = re.compile(r"(?:either|between|entweder|soit)\b", re.IGNORECASE)
SAYING_IT = re.compile(rf"(?:{AFTER_NAME}|:=\s*|\.{{2,}}\s*|[-\u2013\u2014]\s+)=?\s*", re.IGNORECASE)
BUT = re.compile(  # doubts after a value
    rf"[,;]?\s+(?:but|though|although)\b[^.\n]*|,\s+[^,;\n\dA-Z]*(?:{NOT.pattern})[^,;\n\dA-Z]*$"
)
FOLDED = re.compile(r"<details\b.*?</details>", re.IGNORECASE | re.DOTALL)
LINE_END = re.compile(r"<br\s*/?>|</p>|</div>|</li>", re.IGNORECASE)
STRONG = re.compile(r"</?(?:strong|b)>", re.IGNORECASE)
LOOKS = re.compile(r"</?(?:p|div|span|em|i|u|code|pre|small|ul|ol|li|font|center|html|body)\b[^<>]*>", re.IGNORECASE)


def unmarked(text: str) -> str:
    """Return the text without HTML tags for its look, and without folded sections, which contain no answer."""
    if "<" not in text:
        return text
    text = LINE_END.sub("\n", FOLDED.sub("", text))
    return LOOKS.sub("", STRONG.sub("**", text)).strip()


def peeled(text: str) -> str:
    """Return a text without its wrapping: brackets, emphasis, quotes, or the only box, pair of tags or pair of JSON."""
    for _ in range(MOST_WRAPPINGS):
        inside = _inside(text.strip())
        if inside is None or not inside.strip():
            break
        text = inside.strip()
    return text


def _inside(text: str) -> str | None:
    if text.startswith('"') and isinstance(value := _decoded(text), str) and value.strip():
        return value
    if "boxed" in text and len(boxes := list(_boxed(text))) == 1:
        return boxes[0]
    if "<" in text and len(tags := list(TAG.finditer(text))) == 1:
        return tags[0]["value"]
    if text.startswith("{") and len(pairs := list(PAIR.finditer(text))) == 1 and pairs[0]["value"]:
        return as_text(pairs[0])
    for begin, end in WRAPS:
        if text.startswith(begin) and (closed := text.removesuffix(".")).endswith(end):
            inside = closed[len(begin) : -len(end)]
            if begin == '"' and '"' not in inside.replace('""', ""):
                return inside.replace('""', '"')
            if _whole(inside, begin, end):
                return inside
    return None


def _decoded(text: str) -> object:
    """Return the value of a JSON text; None for any other text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _whole(inside: str, begin: str, end: str) -> bool:
    """Return whether `begin` and `end` around `inside` belong together, as in `[a]`; in `[a] or [b]` they do not."""
    if begin in "([":
        depth = list(accumulate((letter == begin) - (letter == end) for letter in inside))
        return not depth or (min(depth) >= 0 and depth[-1] == 0)
    return re.search(rf"(?<!\w){re.escape(begin)}|{re.escape(end)}(?!\w)", inside) is None


def read_one(text: str, name: str, sort: FeatureValues, begin: Callable[[str], str]) -> str | None:
    """Return the value that a text gives for one feature; None if it gives no value or two values.

    `begin` returns the first cell of a line that may be a row.
    """
    lines = [line for line in text.splitlines() if spelled(line) not in ("", spelled(name))]
    named = any_name((name,))

    def names_it(line: str) -> bool:
        found = islice(named.finditer(line), MOST_PLACES_IN_ANSWER)
        return any(SAYING_IT.match(line, match.end()) or not WORD.sub("", line[: match.start()]) for match in found)

    first, *further = [None if names_it(line) else begin(line) for line in lines] or [None]
    if first is not None and (found := _alone([first], sort)) is not None:
        return found
    if (value := {**read_tags(text, (name,)), **read_pairs(text, (name,))}.get(name)) is not None:
        return _value(value, sort)
    for places in (_boxed(text), (match["value"] for match in TAG.finditer(text)), _keyed(text)):
        if values := _values(places, sort):
            return values[-1]
    if after := list(_after_name(text, name, sort)):
        return after[-1]
    open_text = not sort.numeric and not sort.closed
    labelled = (match["value"] for match in LABELLED.finditer(text) if not open_text or LABEL.search(match["label"]))
    if values := _values(labelled, sort):
        return values[-1]
    if before := _values(_before_name(text, name), sort):
        return before[0]
    for marked in (STATED_TO_BE, STRESSED, QUOTED):
        if values := _values((next(filter(None, match.groups())) for match in marked.finditer(text)), sort):
            return values[-1] if len(set(values)) == 1 else None
    if (found := _alone(filter(None, further), sort)) is not None:
        return found
    weak = (_begun(text, sort), _only(text, sort))
    doubted = ELSEWHERE.search(text) or NOT.search(BUT.sub("", text))
    return None if doubted else next(filter(None, weak), None)


def _value(text: str, sort: FeatureValues) -> str | None:
    """Return a text as a value, without an announcement such as "the answer is"; None if it cannot be a value."""
    if sort.numeric and is_finite(number := cleaned(bare(text), sort)):
        return number
    text = BULLET.sub("", text.strip())
    text = text if sort.form.bracketed else peeled(text)
    if TWO_OF.match(text) and not sort.has(text):
        return None
    if (call := CALLED.match(text)) and (sort.numeric or sort.has(bare(text[call.end() :]))):
        text = text[call.end() :]
    text = PREFIX.sub("", text)
    value = cleaned(bare(text if sort.has(bare(text)) else NAMING.sub("", text)), sort)
    if not sort.has(value) and (NOT.match(value) or (NOT.search(value) and not sort.form.denies)):
        return None
    return value if value and fits(value, sort) else None


def _values(places: Iterable[str], sort: FeatureValues) -> list[str]:
    return [value for place in places if (value := _value(place, sort)) is not None]


def _alone(lines: Iterable[str], sort: FeatureValues) -> str | None:
    found = (
        value
        for value in _values(lines, sort)
        if sort.numeric or sort.closed or not set(value) & set(SAYING) - sort.form.signs
    )
    return next(found, None)


def _boxed(text: str) -> Iterator[str]:
    return (match.group(1).strip() for match in BOXED.finditer(text))


def _keyed(text: str) -> Iterator[str]:
    """Yield the values of an object's keys that mean "answer". If an object has only one key, yield its value."""
    pairs = [(key_of(match), as_text(match) or "") for match in PAIR.finditer(text)]
    yield from (value for key, value in pairs if len(pairs) == 1 or re.fullmatch(rf".*{THING}s?", key, re.IGNORECASE))


def _after_name(text: str, name: str, sort: FeatureValues) -> Iterator[str]:
    """Yield the value after each mention of the feature's name: after a word for "is", or after a few words."""
    for match in islice(any_name((name,)).finditer(text), MOST_PLACES_IN_ANSWER):
        rest = text[match.end() :].lstrip(" *_`\"'\n").partition("\n")[0]
        if (verb := SAYING_IT.match(rest)) and (value := _value(rest[verb.end() :], sort)) is not None:
            yield value
            continue
        candidates = list(_after_words(rest, sort)) if sort.numeric or sort.closed or sort.form.known else []
        yield from [value for value in candidates if sort.form.begins_large(value)][:1] or candidates[:1]


def _after_words(rest: str, sort: FeatureValues) -> Iterator[str]:
    """Yield each value at the end of a line, after zero, one or a few skipped words."""
    words = rest.split()
    for skipped in range(min(MOST_WORDS_AFTER_NAME, len(words) - 1) + 1):
        before = " ".join(words[:skipped])
        if NOT.search(before) or CORRECTION.search(before) or (sort.numeric and any(map(str.isdigit, before))):
            break
        value = _value(rest.split(maxsplit=skipped)[-1], sort)
        if value is not None and (sort.has(value) or sort.numeric or sort.form.is_like(value)):
            yield value


def _begun(text: str, sort: FeatureValues) -> str | None:
    """Return the value at a line's end after words that cannot belong to it; None if lines give different values."""
    if sort.numeric or sort.closed or not sort.form.known:
        return None
    ends = (_end_of(line.split(), sort) for line in text.splitlines()[:MOST_PLACES_IN_ANSWER])
    found = {value for value in ends if value is not None}
    return found.pop() if len(found) == 1 else None


def _end_of(words: list[str], sort: FeatureValues) -> str | None:
    for skipped in range(1, min(MOST_WORDS_BEFORE_VALUE, len(words))):
        before = " ".join(words[:skipped])
        if NOT.search(before) or CORRECTION.search(before) or TWO_OF.search(before):
            break
        value = _value(" ".join(words[skipped:]), sort)
        if value is not None and sort.form.is_like(value):
            return value
    return None


def _before_name(text: str, name: str) -> Iterator[str]:
    """Yield the text before each "is the NAME", such as `39` in `39 is the age`."""
    for match in islice(any_name((name,)).finditer(text), MOST_PLACES_IN_ANSWER):
        line = text[: match.start()].rpartition("\n")[2]
        if verb := IS_THE.search(line):
            yield line[: verb.start()]


def _only(text: str, sort: FeatureValues) -> str | None:
    """Return the only number or listed value in a text; None if there are two."""
    if sort.numeric:
        numbers = list(islice(NUMBER.finditer(text), MOST_PLACES_IN_ANSWER))
        if any(OTHERWISE.match(text, match.end()) for match in numbers):
            return None
        numbers = [match for match in numbers if not PLACE.search(text[: match.start()])]
        found = {value for match in numbers if sort.among(value := cleaned(match.group(), sort))}
        if len(re.findall(r"\d+(?:\.\d+)?", text)) > len(found):
            return None
    elif sort.likely:
        ends = {value: r"\W*$" if len(value) < SHORT_VALUE_LETTERS else r"(?!\w)" for value in sort.values}
        found = {value for value, end in ends.items() if re.search(rf"(?<!\w){re.escape(value)}{end}", text)}
    else:
        return None
    return found.pop() if len(found) == 1 else None
