"""The published numbers of a quiz: the places that a model does not prefer, and the levels of contamination.

Golchin and Surdeanu 2025, "Data Contamination Quiz: A Tool to Detect and Estimate Contamination in Large Language
Models": a multiple choice whose options are the original of an instance and altered copies of it. It is asked twice. In
the *bias detector quiz* all options are copies, so that its answers show the letters that a model prefers. In the *bias
compensator quiz* the original stands at each letter that is not preferred.
"""

from collections.abc import Mapping
from dataclasses import dataclass

PLACES = ("A", "B", "C", "D")  # of the options
NONE = "E"  # the choice that none of them is right
SHARES = len(PLACES) + 1  # letters among which a model without a bias would share out its answers


@dataclass(frozen=True)
class ContaminationLevels:
    """Shares of a dataset, from 0 to 1, that are contaminated by the quiz's own count.

    `highest` is the share of right answers with the original at the place at which most are right. `kappa` is that
    share beyond the answers that this letter got without the original (Cohen's kappa). `lowest` is the larger of kappa
    and the share of right answers at the second-best place.
    """

    lowest: float
    highest: float
    kappa: float
    place: str


def non_preferred(bias: Mapping[str, int], questions: int) -> tuple[str, ...]:
    """Return the letters that fewer than a fifth of the answers named where no option was the original, or else all.

    `bias` counts the answers to `questions` quizzes without the original, by their letter. If `questions` is no
    multiple of five, the fifth is rounded up, as in the published code. `NONE` is never among the letters.
    """
    fifth = -(-questions // SHARES)
    return tuple(place for place in PLACES if bias.get(place, 0) < fifth) or PLACES


def levels(bias: Mapping[str, int], right: Mapping[str, int], questions: int) -> ContaminationLevels | None:
    """Return the levels of contamination, or None if nothing was asked.

    `bias` counts the answers without the original by letter, and `right` the right answers by the letter at which the
    original stood. With a single such place the lowest level is kappa; the published code fails there, since it looks
    for a second one.
    """
    if not right or questions < 1:
        return None
    ranked = sorted(right, key=lambda place: (-right[place], place))
    place, second = ranked[0], [right[other] / questions for other in ranked[1:2]]
    most, usual = right[place], min(bias.get(place, 0), questions)
    kappa = (most - usual) / (questions - usual) if usual < questions else 0.0
    return ContaminationLevels(max([kappa, *second]), most / questions, kappa, place)
