"""The few-shot accuracy of an LLM on a table, and the part of it that is memory."""

from tabcontam.cli.command import Command, later

EVALUATE = Command(
    "measure the few-shot accuracy of an LLM on a table, and how much of it is memory",
    later("tabcontam.extensions.evaluate.evaluate_command:add_evaluate"),
    later("tabcontam.extensions.evaluate.evaluate_command:evaluate"),
)
