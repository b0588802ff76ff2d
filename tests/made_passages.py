"""Made texts of the kinds that fresh passages are, each of its own words, with a sentence for each kind of question."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "ji", "ko", "lu", "me", "ni", "po", "ra", "se", "ti", "vo", "wa", "zu")
FILLERS = (
    "The {0} of the {1} was seen near the {2} on a quiet morning.",
    "Nobody in the {0} had asked the {1} about its {2} before that week.",
    "Several {0} and a {1} were moved to the {2} by hand.",
    "Later the {0} turned out to be smaller than the {1}, and the {2} stayed where it was.",
    "A second {0} was tried with the {1}, with no change in the {2}.",
)


@dataclass(frozen=True)
class Text:
    """A text, when it came out by its feed and by its own page, and what its authors say of it in short."""

    title: str
    paragraphs: tuple[str, ...]
    summary: str
    published: datetime
    stated: datetime


def made_text(number: int, published: datetime, stated: datetime | None = None) -> Text:
    """A text of about 300 words; the same number makes the same one."""
    rng = Random(f"made text {number}")

    def word() -> str:
        return "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(2, 4)))

    def filler() -> str:
        return rng.choice(FILLERS).format(word(), word(), word())

    def run(count: int) -> str:
        return " ".join(word() for _ in range(count))

    term = word().capitalize()
    keys = [
        f"A {term} is a {word()} that holds the {run(5)} of a {word()} together.",
        f"We build it to aim to reduce the {run(4)} because the {run(6)} fails in winter.",
        f"Many {word()} are affected, for example the {run(4)} and the {run(3)}.",
        f"In future work the {word()} will be joined with the {run(5)} by the {word()}.",
        f"In summary, the {run(4)} made the {run(3)} twice as {word()}.",
    ]
    paragraphs = []
    for key in keys:
        paragraphs.append(" ".join([*(filler() for _ in range(2)), key, *(filler() for _ in range(2))]))
    summary = f"A new {word()} makes the {run(5)} of the {run(3)} much {word()} than before."
    return Text(f"On the {word()} of {term}", tuple(paragraphs), summary, published, stated or published)


def made_texts(count: int, first: datetime, apart: timedelta = timedelta(hours=3), begin: int = 0) -> list[Text]:
    """So many, the newest first."""
    return [made_text(begin + number, first + apart * number) for number in range(count)][::-1]


MARCH = datetime(2026, 3, 1, tzinfo=UTC)
