"""Names, words and facts that tables of the skill benchmark are made of."""

import tomllib
from pathlib import Path
from random import Random
from typing import Any

FACTS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("facts.toml").read_text("utf-8"))
WOMEN, MEN, SURNAMES, WORDS = (FACTS["words"][kind].split() for kind in ("women", "men", "surnames", "words"))
START = ("Bel", "Kar", "Tol", "Mar", "Ven", "Ost", "Qui", "Dra", "Sel", "Hor", "Zan", "Pel", "Wex", "Lun", "Fir", "Gor")
MIDDLE = ("a", "e", "i", "o", "u", "an", "er", "il", "om", "us", "ar", "en")
END = ("dor", "mund", "vik", "stad", "berg", "ton", "ric", "las", "nov", "zen", "ford", "ham", "mere", "wick", "gate")


def person(rng: Random) -> tuple[str, str]:
    """A first name and a surname."""
    return rng.choice(rng.choice((WOMEN, MEN))), rng.choice(SURNAMES)


def invented(rng: Random) -> str:
    """A name that nobody has: of a place, a player, a firm."""
    return rng.choice(START) + rng.choice(MIDDLE) + rng.choice(END)


def invented_names(rng: Random, count: int, words: int = 2) -> list[str]:
    """So many different names."""
    found: dict[str, None] = {}
    while len(found) < count:
        found[" ".join(invented(rng) for _ in range(words))] = None
    return list(found)
