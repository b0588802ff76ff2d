"""How often is an LLM wrongly above its references? `python -m benchmarks.reference_curve [--runs N] [--docs]`

LLMs whose memory's share is known by construction are weighed beside several references, through the real weighing of
`memory_share` (`among`). All are right on a row with a skill of their own, and on its twin with a little less, by the
same bend for all; every other twin is answered with the luck of its row, and rows differ in how hard they are, for all
LLMs alike. The tested LLM recalls the labels of a share m of the rows. Skills of the references are drawn from 0.6 to
0.8; the tested LLM is one of these, or is `better` than all of them (0.9), or references are all of `one skill` (0.7).
`one contaminated`, `all contaminated`: references recall a half of the rows, one or all of them.
Prints Markdown, which with --docs takes the place of its table in the docs.
"""

import argparse
from random import Random
from statistics import fmean

from benchmarks.rate_tables import Rate, RateTable
from tabcontam.evidence.base import Prompt, Query, Reading, Reply, ReplyState, Trial
from tabcontam.evidence.score.memory_share import MemoryShare
from tabcontam.evidence.thresholds import MEMORY_SHARE_LEVEL
from tabcontam.evidence.twin_comparison import ReferenceCurveExcess

TEST, RUNS, PAIRS, BEND = MemoryShare(), 300, 100, 0.2
CASES = ("usual", "better", "one skill", "one contaminated", "all contaminated")


def unasked() -> Prompt:
    """The answers are known, so that nothing is worded."""
    raise NotImplementedError


def answered(skill: float, share: float, hard: list[float], rng: Random) -> list[Trial]:
    """The read trials of one LLM: right on twins by its skill, and on rows by that and the bend, or where recalled."""
    trials = []
    for number, harder in enumerate(hard):
        twin = min(1.0, max(0.0, skill + harder))
        own = twin + BEND * twin * (1 - twin)
        recalled, luck = rng.random() < share, rng.random()
        other = luck if number % 2 else rng.random()
        for name, of, right in (
            (f"{number:03}", "", recalled or luck < own),
            (f"{number:03}-twin", f"{number:03}", other < twin),
        ):
            said = "yes" if right else "no"
            query = Query(name, unasked, asked=("yes", "no"), expected=("yes",), max_tokens=1, decoy_of=of)
            reading = Reading(said, right, paper_hit=False, readable=True)
            trials.append(Trial(query, Reply(said, ReplyState.OK), reading))
    return trials


def run(case: str, references: int, share: float, rng: Random) -> tuple[ReferenceCurveExcess, float]:
    """What is found of one LLM, and what it gains by memory on average."""
    hard = [rng.uniform(-0.2, 0.2) for _ in range(PAIRS)]
    skills = [0.7 if case == "one skill" else rng.uniform(0.6, 0.8) for _ in range(references)]
    known = {"one contaminated": 1, "all contaminated": references}.get(case, 0)
    others = {
        f"reference {number}": answered(skill, 0.5 if number < known else 0.0, hard, rng)
        for number, skill in enumerate(skills)
    }
    skill = 0.9 if case == "better" else rng.uniform(0.6, 0.8)
    found = TEST.compare_with_references(answered(skill, share, hard, rng), others)
    assert found is not None
    own = [twin + BEND * twin * (1 - twin) for twin in (min(1.0, max(0.0, skill + harder)) for harder in hard)]
    return found, share * (1 - fmean(own))


def main() -> None:
    """Print, and with --docs write, how often an LLM is said to be above its references."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--docs", action="store_true")
    given = parser.parse_args()
    made = RateTable(["models", "references", "m", "true", "mean error", "95 % interval covers", "p ≤ 0.01"])
    for case in CASES:
        for references in (2, 5, 10) if case == "usual" else (5,):
            for share in (0.0, 0.25, 0.5):
                own = [
                    run(case, references, share, Random(f"{case} {references} {share} {n}")) for n in range(given.runs)
                ]
                above = sum(found.p_value <= MEMORY_SHARE_LEVEL for found, _ in own)
                covered = fmean(found.interval[0] <= true <= found.interval[1] for found, true in own)
                reported = f"{above / len(own):.0%}" if share else Rate(above, len(own))
                error = fmean(found.share - true for found, true in own)
                true = fmean(true for _, true in own)
                shown = [f"{share:g}", f"{true:.3f}", f"{error:+.3f}", f"{covered:.1%}"]
                made.rows.append([case, str(references), *shown, reported])
                print(made.lines[-1], flush=True)
    made.notes = [f"{given.runs:,} runs a line, {PAIRS} pairs each."]
    if given.docs:
        made.put("references")


if __name__ == "__main__":
    main()
