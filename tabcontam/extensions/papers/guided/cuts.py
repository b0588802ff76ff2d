"""The place where an instance is cut in two: Golchin and Surdeanu 2024, section 3.1 (2).

A text is cut at the end of a sentence, a single sentence between two words, and a row between two cells. The shown
share is drawn for each instance; the authors' public code draws one share for all instances.
"""

import re
from random import Random
from typing import NamedTuple

from tabcontam.extensions.papers.thresholds import SHOWN_SHARES

END = re.compile(r"""[.!?\u2026]+['")\]\u2019\u201d]*(?=\s)|[\u3002\uff01\uff1f]+['")\]\u2019\u201d\u300d]*""")
BEGINNING = re.compile(r"""\s*['"(\[\u2018\u201c]*[\w$\u20ac\u00a3#&-]""")
WORD_BEFORE = re.compile(r"[\w.&-]+\.\Z")
INITIALS = re.compile(r"(?:[^\W\d_]\.)+\Z")  # J., U.S., e.g.
ABBREVIATIONS = frozenset(
    """adm al approx apr aug ave capt cf ch cmdr co col corp cpl dec dept dr ed eds eq esp est etc ex feb fig figs ft
    gen gov hon inc jan jr jul jun lt ltd maj mar messrs mm mr mrs ms mt no nos nov oct op pp prof pvt rep reps rev sec
    sen sens sep sept sgt sr st str univ viz vol vols vs z""".split()  # noqa: SIM905 - so many words are read more easily as a text
)


class Halves(NamedTuple):
    """An instance in two pieces, which make the whole text if joined by a space."""

    first: str
    second: str


def share_shown(rng: Random) -> float:
    """Return a random share of an instance to show, from 40 to 70 %."""
    return rng.uniform(*SHOWN_SHARES)


def pieces_shown(share: float, pieces: int) -> int:
    """Return how many of `pieces` (two or more) are shown: at least one, and not all."""
    return min(pieces - 1, max(1, round(share * pieces)))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text in their order, without the white space between them.

    A sentence ends at a full stop, an exclamation or question mark or an ellipsis, with quotes and brackets closed
    after it, if white space follows and then no small letter. The full stops of titles and other abbreviations (Mr.,
    Inc., No.) and of initials (J. F., U.S.) end no sentence. If two sentences stay together, this only moves a cut.
    """
    found, begun = [], 0
    for end in END.finditer(text):
        rest = text[end.end() :]
        if not rest.strip():
            break
        going_on = BEGINNING.match(rest)
        begins = going_on is not None and not text[end.end() + going_on.end() - 1].islower()
        if begins and not _abbreviated(text[begun : end.end()]):
            found.append(text[begun : end.end()].strip())
            begun = end.end()
    return [*found, text[begun:].strip()] if text[begun:].strip() else found


def cut(text: str, share: float) -> Halves | None:
    """Return a text cut after this share of its sentences, or of the words of a single one; None for one word."""
    whole = " ".join(text.split())
    parts = sentences(whole)
    if len(parts) < 2:
        parts = whole.split(" ")
    if len(parts) < 2:
        return None
    place = pieces_shown(share, len(parts))
    return Halves(" ".join(parts[:place]), " ".join(parts[place:]))


def _abbreviated(sentence: str) -> bool:
    """Return whether a text ends with an abbreviation: the full stop belongs to its last word."""
    last = WORD_BEFORE.search(sentence)
    if last is None:
        return False
    return INITIALS.match(last[0]) is not None or last[0].rstrip(".").casefold() in ABBREVIATIONS
