"""Algorithm 2: decide from values (Ronval et al., section 3.2), exactly as in the authors' last code, with its faults.

It searches one line of the answer for each expected value. Case matters, the feature's name does not, and `256` is not
`256.0`. The tests read values by feature elsewhere.
"""

from collections.abc import Collection, Mapping

from tabcontam.reading.thresholds import LEAST_WORDS_OF_ROW

MISSING = "nan"  # the authors' code searches for this text if a value is missing
AROUND = ",\n:;!?'"  # the authors strip these from a word, but no full stop or double quotes


def decide_values(output: str, expected: Mapping[str, str | None], *, missing_shown: Collection[str] = ()) -> bool:
    """Return whether Algorithm 2 finds the value of every asked feature in `output`, which is one line of an answer.

    None is a missing value. It is found if `output` contains `nan`, or if the feature is in `missing_shown`.
    """
    return bool(expected) and all(
        _appears(value, output) or (value is None and feature in missing_shown) for feature, value in expected.items()
    )


def first_line(text: str) -> str:
    """Return the line of an answer that the authors keep."""
    return text.split("\n", 1)[0]


def completion_line(text: str) -> str:
    """Return the line of a full completion that the authors keep: the second if the first is a short preamble."""
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
    """Return whether a value with spaces is a substring of `output`, or a value without spaces is a word of it."""
    if " " in shown:
        return shown in output
    return any(shown in word and len(word.strip(AROUND)) == len(shown) for word in output.split())


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
