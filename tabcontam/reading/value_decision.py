"""Algorithm 2: decide from values (Ronval et al., section 3.2), as the authors' last code has it, faults included.

It looks for each expected value anywhere in the kept line of the answer: case matters, the feature's name does not, and
`256` is not `256.0`. The tests read by feature themselves, not in this file.
"""

from collections.abc import Collection, Mapping

from tabcontam.reading.thresholds import LEAST_WORDS_OF_ROW

MISSING = "nan"  # the authors' code prints a missing value so, and searches for it
AROUND = ",\n:;!?'"  # stripped by them from a word of the answer; neither full stop nor double quotes


def decide_values(output: str, expected: Mapping[str, str | None], *, missing_shown: Collection[str] = ()) -> bool:
    """Return whether Algorithm 2 finds the value of every asked feature in `output`, a line that is already cut.

    None is a missing value: found as `nan`, or if the caller has read one for that feature (`missing_shown`).
    """
    return bool(expected) and all(
        _appears(value, output) or (value is None and feature in missing_shown) for feature, value in expected.items()
    )


def first_line(text: str) -> str:
    """Return the part of an answer that the authors keep."""
    return text.split("\n", 1)[0]


def completion_line(text: str) -> str:
    """Return the part that they keep of a full completion: the second line, if the first is a short preamble."""
    lines = text.split("\n", 2)
    return lines[1] if len(lines) > 1 and len(lines[0].split()) < LEAST_WORDS_OF_ROW else lines[0]


def _appears(value: str | None, output: str) -> bool:
    shown = MISSING if value is None else value
    try:
        number = int(output)
    except ValueError:
        return _stands_in(shown, output)
    return number == _number(shown)


def _stands_in(shown: str, output: str) -> bool:
    """Return whether a value with a space is a substring, or another a word of the answer without marks around it."""
    if " " in shown:
        return shown in output
    return any(shown in word and len(word.strip(AROUND)) == len(shown) for word in output.split())


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
