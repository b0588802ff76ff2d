"""Few-shot classification of table rows by an LLM, after TabLLM (Hegselmann et al. 2023), by `tabcontam evaluate`."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tabcontam.cli.commands import main

ASKED, SHOTS = 50, (0, 4)  # rows, and how many are shown


@dataclass(frozen=True)
class Accuracy:
    """How often rows were classified right, with a 95 % interval, and how often without an LLM.

    That is by the largest class where no row is shown, and else by gradient boosting that learned from the rows shown.
    """

    right: float
    interval: tuple[float, float]
    free: float

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.right:.2f} right [{low:.2f}, {high:.2f}], without an LLM {self.free:.2f}"


def classify(llm: str, dataset: str, shots: int) -> Accuracy:
    """Ask an LLM for the class of some rows, each shown as text behind `shots` others with their classes."""
    (found,) = [at for at in evaluated(llm, dataset) if at["shots"] == shots]
    own = found["own"]
    learned = {learner["name"]: learner["accuracy"] for learner in found["learners"]}
    return Accuracy(own["accuracy"], tuple(own["interval"]), learned.get("gradient boosting", found["majority"]))


@cache
def evaluated(llm: str, dataset: str) -> list[dict[str, Any]]:
    """What `evaluate` finds at each number of shots."""
    with TemporaryDirectory() as folder:
        asked = ["--shots", ",".join(map(str, SHOTS)), "--queries", str(ASKED), "--no-memory-share"]
        code = main(["evaluate", "--llm", llm, "--dataset", dataset, *asked, "--out", folder])
        if code:
            raise RuntimeError(f"evaluate ended with exit code {code}; its line is above")
        held = json.loads((Path(folder) / "evaluation.json").read_text("utf-8"))
    evaluations: list[dict[str, Any]] = held["evaluations"]
    return list(evaluations[0]["shots"])
