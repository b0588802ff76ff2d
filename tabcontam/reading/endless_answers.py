"""Detection of an answer that goes on without end, so that no further text changes how it is read.

Small models often answer in twenty tokens and write on to the limit: further rows, one number over and over.
"""

from collections import Counter
from collections.abc import Sequence

from tabcontam.reading.named_values import any_name
from tabcontam.reading.thresholds import LEAST_REPEATS, LONGEST_REPEATED_PIECE, MOST_ROWS_IN_A_LINE
from tabcontam.reading.wrapping import without_thought

LEAST, LEAST_LINES = 60, 100  # characters of all its times together, within a line and in several


def goes_on(text: str, asked: Sequence[str], shown: str = "") -> bool:
    """Return whether an answer so far names an asked feature too often in a line, or ends with one piece repeated.

    Text in `shown`, the prompt, may be repeated: a row of many zeros is no sign. Thinking before the answer does not
    count.
    """
    answer = without_thought(text)[0]
    return _names_again(answer, tuple(asked)) or _repeats(answer, shown)


def _names_again(text: str, asked: tuple[str, ...]) -> bool:
    """Return whether a line names a feature, always in one way, more often than rows fit there."""
    named, last = Counter[str](), 0
    for match in any_name(asked).finditer(text):
        if "\n" in text[last : match.start()]:
            named.clear()
        last = match.end()
        # prose names a feature often, too, but not always followed by the sign or the word for "is"
        name = match.group() + text[last : last + 2].rstrip("0123456789")
        named[name] += 1
        if named[name] > MOST_ROWS_IN_A_LINE:
            return True
    return False


def _repeats(text: str, shown: str) -> bool:
    """Return whether the text ends with one piece three times or more."""
    for size in range(1, min(LONGEST_REPEATED_PIECE, len(text) // LEAST_REPEATS) + 1):
        piece = text[-size:]
        length = max(LEAST_REPEATS * size, LEAST_LINES if "\n" in piece else LEAST)
        end = text[-length:]
        # a rule of dashes, or blanks that fill a column, is no value
        if len(end) == length and end[size:] == end[:-size] and any(map(str.isalnum, piece)):
            return end not in shown
    return False
