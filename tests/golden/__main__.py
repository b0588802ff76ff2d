"""Compute the golden verdicts anew and print what moved: `python -m tests.golden`.

Computes the chances of every card whose file is here (TABCONTAM_DATA), judges every result from them and judges the
recorded answers again (TABCONTAM_REPLAY). The differences are printed as a Markdown table, for the commit that means
them; then the files are written. Results of cards and recorded answers that are not here stay as they are.
`--stored` keeps the stored chances, where no fit and no query changed; `--dry-run` writes nothing.
"""

import argparse
import os

from tests.golden.chances import write
from tests.golden.stored import CHANCES, SAME, chances, differences, found, golden, keep, of_parts, table
from tests.golden.verdicts import RECORDED, at_hand


def main() -> None:
    """Print the differences and write the files."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--stored", action="store_true", help="judge from the stored chances")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    options = parser.parse_args()
    cards, recorded = at_hand(), list(RECORDED if os.environ.get("TABCONTAM_REPLAY") else ())
    names, before = [*recorded, *cards], golden()
    if not options.stored:
        _, archive = found(cards, anew=True)
        write(CHANCES, chances() | archive)
    now, _ = found(names)
    lines = differences(of_parts(before, names), now, SAME)
    print(table(lines) if lines else f"All {len(now):,} results are as they were.")
    if not options.dry_run:
        keep(before | now)


if __name__ == "__main__":
    main()
