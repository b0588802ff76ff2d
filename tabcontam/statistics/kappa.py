"""How far two who judged the same things agree: the share, and what of it is more than chance (Cohen 1960)."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Agreeing:
    """Of so many `items` that both judged they `agree` on some; `kappa` is None where there is no room for chance."""

    items: int
    agree: int
    kappa: float | None

    @property
    def share(self) -> float | None:
        """The share on which they agree, from 0 to 1; None where both judged nothing."""
        return self.agree / self.items if self.items else None


def agreeing(pairs: Sequence[tuple[Hashable, Hashable]]) -> Agreeing:
    """How far two agree, by what each said of the same things.

    Kappa is (observed - expected) / (1 - expected) with the agreement expected of two who say each word as often as
    these do, independently (Cohen 1960, "A coefficient of agreement for nominal scales"). Where both say one and the
    same word of everything, nothing is left to chance, and there is no kappa.

    >>> agreeing([("yes", "yes"), ("no", "no"), ("no", "no"), ("no", "yes")]).kappa
    0.5
    """
    items, agree = len(pairs), sum(one == other for one, other in pairs)
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    by_chance = sum(count * second[word] for word, count in first.items())  # of items * items
    if not items or by_chance == items * items:
        return Agreeing(items, agree, None)
    return Agreeing(items, agree, (items * agree - by_chance) / (items * items - by_chance))
