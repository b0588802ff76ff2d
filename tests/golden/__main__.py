"""Compute the golden verdicts anew and print what moved: `python -m tests.golden`.

Computes the chances of every card whose file is here (TABCONTAM_DATA), judges every result from them and judges the
recorded answers again, of the papers (TABCONTAM_REPLAY), of real LLMs and of one that was contaminated on purpose: that
takes about an hour. The differences are
printed as a Markdown table, for the commit that means them; then the files are written. Results of cards and recorded
answers that are not here stay as they are.
`--stored` keeps the stored chances, where no fit and no query changed: a few minutes. `--dry-run` writes nothing, and
exits with 1 where something moved: results from computed chances may then differ as the slow test allows.
"""

import argparse
import os

from benchmarks.exposed.found import RECORD as EXPOSED_RECORD
from benchmarks.real.chances import RECORD, store
from tests.golden.chances import write
from tests.golden.stored import (
    CHANCES,
    SAME,
    chances,
    differences,
    differences_anew,
    found,
    golden,
    keep,
    of_parts,
    table,
)
from tests.golden.verdicts import RECORDED, at_hand, exposed_at_hand, real_at_hand


def main() -> int:
    """Print the differences, write the files, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--stored", action="store_true", help="judge from the stored chances")
    parser.add_argument("--dry-run", action="store_true", help="write nothing; exit with 1 where something moved")
    options = parser.parse_args()
    cards, recorded = at_hand(), list(RECORDED if os.environ.get("TABCONTAM_REPLAY") else ())
    real, exposed = real_at_hand(), exposed_at_hand()
    names, before = [*recorded, *cards, *real, *exposed], golden()
    if options.dry_run and not options.stored:
        now, _ = found(names, anew=True)
        lines = differences_anew(of_parts(before, names), now)
    else:
        if not options.stored:
            _, archive = found(cards, anew=True)
            write(CHANCES, chances() | archive)
            store(RECORD, found(real, anew=True)[1])
            store(EXPOSED_RECORD, found(exposed, anew=True)[1])
        now, _ = found(names)
        lines = differences(of_parts(before, names), now, SAME)
    print(table(lines) if lines else f"All {len(now):,} results are as they were.")
    if options.dry_run:
        return 1 if lines else 0
    keep(before | now)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
