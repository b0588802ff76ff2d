"""The command `doctor`: the facts that a run finds on this machine, and advice about what is missing."""

import argparse
from dataclasses import asdict

from tabcontam.cli.printing import print_json
from tabcontam.errors import Exit


def doctor(options: argparse.Namespace) -> int:
    """Print every check as it is made. The exit code is 4 if a plain `run` cannot work."""
    from tabcontam.runs.checkup import CheckState, checkup
    from tabcontam.verdicts.wording import visible

    found = []
    for check in checkup(options.llm):
        found.append(check)
        if not options.json:
            line = f"{check.state:<7} {check.name:<17} {check.detail}" + (f"; {check.advice}" if check.advice else "")
            print(visible(line, line=True), flush=True)
    broken = any(check.state is CheckState.BROKEN for check in found)
    if options.json:
        print_json({"ok": not broken, "checks": [asdict(check) for check in found]})
    return Exit.USAGE if broken else Exit.DONE
