"""The published numbers of a quiz: the places that a model does not prefer, and the levels of contamination.

Golchin and Surdeanu 2025, "Data Contamination Quiz: A Tool to Detect and Estimate Contamination in Large Language
Models": the options of a question are an original instance and altered copies of it. There are two quizzes. In the
*bias detector quiz* all options are copies, so that the answers show which letters a model prefers. In the *bias
compensator quiz* the original is put at each letter that the model does not prefer.
"""

from collections.abc import Mapping
from dataclasses import dataclass

PLACES = ("A", "B", "C", "D")  # of the options
NONE = "E"  # the choice that no option is right
SHARES = len(PLACES) + 1  # a model without bias names each letter in this fraction of its answers


@dataclass(frozen=True)
class ContaminationLevels:
    """The smallest and the largest contaminated share of a dataset, by the quiz's own count; from 0 to 1.

    `highest` is the share of right answers with the original at the best place: where most answers are right. `kappa`
    corrects this share for the answers that the same letter got without the original (Cohen's kappa). `lowest` is the
    larger of `kappa` and the share of right answers at the second-best place.
    """

    lowest: float
    highest: float
    kappa: float
    place: str


def non_preferred(bias: Mapping[str, int], questions: int) -> tuple[str, ...]:
    """Return the letters that fewer than a fifth of the answers without an original named, or all if there are none.

    `bias` counts the answers to `questions` quizzes without the original, by letter. If `questions` is not a multiple
    of five, the fifth is rounded up, as in the published code. `NONE` is never among the letters.
    """
    fifth = -(-questions // SHARES)
    return tuple(place for place in PLACES if bias.get(place, 0) < fifth) or PLACES


def levels(bias: Mapping[str, int], right: Mapping[str, int], questions: int) -> ContaminationLevels | None:
    """Return the levels of contamination, or None if nothing was asked.

    `bias` counts the answers without the original by letter, and `right` the right answers by the letter of the
    original. If only one letter is not preferred, the lowest level is kappa; the published code fails in this case,
    since it needs a second letter.
    """
    if not right or questions < 1:
        return None
    ranked = sorted(right, key=lambda place: (-right[place], place))
    place, second = ranked[0], [right[other] / questions for other in ranked[1:2]]
    most, usual = right[place], min(bias.get(place, 0), questions)
    kappa = (most - usual) / (questions - usual) if usual < questions else 0.0
    return ContaminationLevels(max([kappa, *second]), most / questions, kappa, place)
