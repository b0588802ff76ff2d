"""The texts of a lookup that stand in a stretch of a document, decided on the text itself."""

from tabcontam.evidence.questions import Lookup, Match
from tabcontam.models.corpora.exact_places import places
from tabcontam.models.corpora.row_places import TextSpan
from tabcontam.models.infinigram.replies import Excerpt


def found_in(lookup: Lookup, excerpt: Excerpt) -> list[Match]:
    """Return a match for each text of the lookup that stands in the stretch, at its first place.

    A place at an edge does not count if the document continues there: a better place may lie beyond the edge.
    """
    text, first = excerpt.text.encode("utf-8", "replace"), dict[int, TextSpan]()
    for place in places(text, lookup):
        size = place.end - place.begin
        if (excerpt.begins or place.begin >= size) and (excerpt.ends or len(text) - place.end >= size):
            first.setdefault(place.text, place)
    return [_match(excerpt.name, text, place) for place in first.values()]


# around: characters of a quote on either side
def _match(name: str, text: bytes, place: TextSpan, *, around: int = 80) -> Match:
    """Return a match that quotes a place. Its offset is unknown, since no reply states where the stretch begins."""
    before, found, after = (
        part.decode("utf-8", "replace")
        for part in (text[: place.begin], text[place.begin : place.end], text[place.end :])
    )
    before = before[-around:]
    quote = before + found + after[:around]
    return Match(name, -1, quote, len(before), len(before) + len(found), place.text, place.lacking)
