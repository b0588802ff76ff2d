"""The contamination tests of the papers, as published."""

from tabcontam.cli.command import Command, later

JUDGE = Command(
    "judge by hand which completions of a run match, and compare judges",
    later("tabcontam.extensions.papers.judge_command:add_judge"),
    later("tabcontam.extensions.papers.judge_command:judge"),
)
