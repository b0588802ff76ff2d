"""A reader that finds the letter of the option that an answer chooses."""

import re
from collections.abc import Mapping

from tabcontam.extensions.papers.quiz.levels import NONE, PLACES
from tabcontam.reading.answer_text import declines, plain

LETTERS = (*PLACES, NONE)
ANY = "".join(LETTERS)
OPTION = re.compile(rf"^([{ANY}])\) (.+)$", re.MULTILINE)
ALONE = re.compile(rf"^\W*([{ANY}])(?:\W*$|\s*[).:,\]*\"'-])", re.MULTILINE)
NAMED_LETTER = re.compile(
    rf"(?:\b(?i:answer|option|choice|letter|row|value|choose|pick|select)\b|:)\W*(?i:is|would be|was)?\W*"
    rf"(?<![\w'])([{ANY}])(?![\w'])"
)


def options_of(text: str) -> dict[str, str]:
    """Return the options of a question by letter."""
    return {letter: option.strip() for letter, option in OPTION.findall(text)}


def chosen_letter(text: str, options: Mapping[str, str]) -> str | None:
    """Return the letter that an answer chooses, or None if it chooses none or several.

    The letter comes first, or after a word such as `answer`. An answer may also repeat the text of one of the
    `options`.
    """
    answer = plain(text).strip()
    if not answer or (declines(answer) and not ALONE.match(answer)):
        return None
    first = answer.splitlines()[0]
    if found := ALONE.match(first):
        others = set(re.findall(rf"(?<![\w'])([{ANY}])(?![\w'])", first[: found.end() + 8])) - {found[1], "A"}
        either = re.match(rf"\W*[{ANY}]\W*(?:or|and|/|,)\W*[{ANY}](?!\w)", first)
        return None if either and others else found[1]
    named = set(NAMED_LETTER.findall(answer))
    if len(named) == 1:
        return str(named.pop())
    lines = [line.strip() for line in answer.splitlines()]
    whole = [letter for letter, option in options.items() if option in lines]
    return whole[0] if len(whole) == 1 else None
