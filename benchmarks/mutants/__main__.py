"""Put each mutant into a copy and run the tests that cover it; or, with --cover, see which tests run which lines."""

import argparse
import math
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from benchmarks.mutants.contexts import Contexts
from benchmarks.mutants.patches import MutantError, mutants
from benchmarks.mutants.running import KILLED, Outcome, covered, tried


def main() -> int:
    """Run what the command line asks for; 1 where a mutant was not killed, 4 where it cannot be run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID", help="of mutants, or an area; default: all")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the checkout whose package and tests are used")
    parser.add_argument(
        "--contexts", type=Path, default=Path("build/contexts.sqlite"), help="which tests run which lines"
    )
    parser.add_argument("-n", type=int, default=1, help="processes at once")
    parser.add_argument("--most", type=int, help="tests that are run for a mutant, at most; default: all that cover it")
    parser.add_argument("--cover", action="store_true", help="make the file of --contexts: run all tests once")
    parser.add_argument("-m", default="", help="with --cover: only tests with these marks, as pytest takes them")
    parser.add_argument("-k", default="", help="with --cover: only tests with these names, as pytest takes them")
    parser.add_argument(
        "--leave-out", action="append", default=[], help="with --cover: test files with this in their path"
    )
    parser.add_argument("--seconds", type=float, default=math.inf, help="with --cover: begin nothing after so long")
    given = parser.parse_args()
    root, contexts = given.root.resolve(), Contexts(given.contexts.resolve())
    if find_spec("coverage") is None:
        print("coverage is not installed; type python -m pip install coverage", file=sys.stderr)
        return 4
    if given.cover:
        covered(root, contexts, given.n, ["-m", given.m, "-k", given.k], given.leave_out, given.seconds)
        return _lines(contexts, root)
    if not contexts.file.exists():
        print(f"{given.contexts} is not there; type python -m benchmarks.mutants --cover", file=sys.stderr)
        return 4
    return _killed(root, contexts, given.ids, given.n, given.most)


def _lines(contexts: Contexts, root: Path) -> int:
    """Print how many lines of each folder the tests ran."""
    found = contexts.lines(root)
    took = contexts.seconds()
    print(f"{sum(one is not None for one in took.values())} of {len(took)} tests passed")
    for room, (ran, all_lines) in (found | {"all": tuple(map(sum, zip(*found.values(), strict=True)))}).items():
        print(f"{room:<20} {ran:>6} of {all_lines:>6} lines, {ran / max(all_lines, 1):.1%}")
    return 0


def _killed(root: Path, contexts: Contexts, ids: list[str], processes: int, most: int | None) -> int:
    """Print what became of each mutant."""
    known = mutants()
    if lacking := [one for one in ids if not any(one in (mutant.id, mutant.area) for mutant in known)]:
        print(f"no mutant {', '.join(lacking)}; known: {', '.join(mutant.id for mutant in known)}", file=sys.stderr)
        return 4
    chosen = [mutant for mutant in known if not ids or mutant.id in ids or mutant.area in ids]
    found: dict[str, Outcome] = {}
    try:
        for outcome in tried(root, contexts, chosen, processes, most):
            again = "again: " if outcome.mutant.id in found else ""
            found[outcome.mutant.id] = outcome
            print(f"{again}{outcome.mutant.id:<34} {outcome.word:<11} {outcome.tests:>6}  {outcome.by}", flush=True)
    except MutantError as error:
        print(error, file=sys.stderr)
        return 4
    words = Counter(outcome.word for outcome in found.values())
    print(", ".join(f"{number} {word}" for word, number in words.items()))
    return int(words[KILLED] < len(chosen))


if __name__ == "__main__":
    sys.exit(main())
