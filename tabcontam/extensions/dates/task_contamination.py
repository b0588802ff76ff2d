"""The results of Li and Flanigan (2024) on twelve models and sixteen datasets, with the statistics of our runs.

The numbers, and a list of missing numbers, are in `task_contamination.toml`. The intervals printed in the paper are too
narrow, about half of a 99% interval: their half-width is Student's t times the *variance* of an answer over the root of
the number of answers, instead of the deviation over this root. But the paper's sentence that one pair of 51 is
significant uses the deviation, as our t-test does.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tabcontam.evidence.registry import by_id
from tabcontam.extensions.dates.chronological_analysis import OpennessGroup, groups_of
from tabcontam.extensions.dates.dated_pairs import DatedPair
from tabcontam.verdicts.dating import AFTER, BEFORE

FILE = Path(__file__).with_name("task_contamination.toml")
SHOTS = {"zero_shot": "0-shot", "few_shot": "few-shot"}
OURS = {"zero_shot": "zero_shot", "one_shot": "few_shot"}  # the measures of our tests that are nearest


@dataclass(frozen=True)
class PublishedAccuracies:
    """The published accuracies at one number of shots, in groups like ours, and further counts of the paper.

    `printed` counts the pairs before and after the cut-off that exceed the majority by more than the printed
    half-width. `unextracted` counts the pairs after it without an extracted task example; `significant` names the
    significant ones. `baseline` is R squared of a trained model's accuracy by the year of release.
    """

    shots: str
    title: str
    pairs: tuple[DatedPair, ...]
    groups: tuple[OpennessGroup, ...]
    printed: tuple[int, int]
    unextracted: int
    significant: tuple[tuple[str, str], ...]
    baseline: float

    @property
    def whole(self) -> OpennessGroup:
        return self.groups[0]


def source() -> tuple[str, str]:
    held = _file()
    return held["citation"], held["address"]


def side(dates: tuple[str, str], cutoff: str) -> int:
    """Return the side of the cut-off as in the paper: a dataset from the year of the cut-off counts as before."""
    return BEFORE if dates[0][:4] <= cutoff[:4] else AFTER


@cache
def published() -> tuple[PublishedAccuracies, ...]:
    """Return the published results at each number of shots."""
    return tuple(_published(shots) for shots in SHOTS)


def _published(shots: str) -> PublishedAccuracies:
    paper, pairs = _file(), []
    printed, extracted = {BEFORE: 0, AFTER: 0}, set()
    for llm, about in paper["llms"].items():
        for place, name in enumerate(paper["names"]):
            pair = _pair(paper, llm, about, shots, place)
            pairs.append(pair)
            printed[pair.side] += about[shots][place] - about[f"{shots}_half"][place] > paper["majority"][place]
            if about["extracted"][place] == "+":
                extracted.add((llm, name))
    unextracted = [pair for pair in pairs if pair.side == AFTER and (pair.llm, pair.dataset) not in extracted]
    return PublishedAccuracies(
        shots,
        SHOTS[shots],
        tuple(pairs),
        groups_of(pairs, rule=side),
        (printed[BEFORE], printed[AFTER]),
        len(unextracted),
        tuple((pair.title, pair.dataset) for pair in unextracted if pair.significant),
        paper["baseline_r_squared"],
    )


def _pair(paper: Mapping[str, Any], llm: str, about: Mapping[str, Any], shots: str, place: int) -> DatedPair:
    released, asked = str(paper["years"][place]), paper["sizes"][place]
    return DatedPair(
        llm=llm,
        title=about["title"],
        openness=about["openness"],
        cutoff=about["cutoff"],
        cutoff_source=paper["address"],
        dataset=paper["names"][place],
        released=released,
        released_source=paper["address"],
        hits=round(about[shots][place] / 100 * asked),
        answered=asked,
        majority=round(paper["majority"][place] / 100 * asked) / asked,
        side=side((released, ""), about["cutoff"]),
    )


@cache
def _file() -> Mapping[str, Any]:
    return tomllib.loads(FILE.read_text("utf-8"))


def published_for_tests(tests: Sequence[str]) -> tuple[PublishedAccuracies, ...]:
    """Return the published results at the shots of our tests, in the order of the tests."""
    measures = [known.measure for test in tests if (known := by_id().get(test))]
    wanted = [OURS[measure] for measure in measures if measure in OURS]
    return tuple(one for shots in wanted for one in published() if one.shots == shots)
