"""The agreement of two judges of the same items: the share, and its excess over chance (Cohen 1960)."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class KappaAgreement:
    """The agreement of two judges on `agree` of `items` items; `kappa` is None if chance alone makes them agree."""

    items: int
    agree: int
    kappa: float | None

    @property
    def share(self) -> float | None:
        """The share of items on which the judges agree, from 0 to 1; None if there are no items."""
        return self.agree / self.items if self.items else None


def measure_agreement(pairs: Sequence[tuple[Hashable, Hashable]]) -> KappaAgreement:
    """Return the agreement of two judges, from the pair of labels that they gave to each item.

    Kappa is (observed - expected) / (1 - expected). The expected agreement is that of two independent judges with equal
    frequencies of labels (Cohen 1960, "A coefficient of agreement for nominal scales"). If both judges use one label
    for every item, the expected agreement is 1 and there is no kappa.

    >>> measure_agreement([("yes", "yes"), ("no", "no"), ("no", "no"), ("no", "yes")]).kappa
    0.5
    """
    items, agree = len(pairs), sum(one == other for one, other in pairs)
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    by_chance = sum(count * second[word] for word, count in first.items())  # of items * items
    if not items or by_chance == items * items:
        return KappaAgreement(items, agree, None)
    return KappaAgreement(items, agree, (items * agree - by_chance) / (items * items - by_chance))
