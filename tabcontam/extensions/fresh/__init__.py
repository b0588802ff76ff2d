"""Rows and texts that were published since a day."""

from tabcontam.cli.command import Command, later

FRESH = Command(
    "collect rows or texts published since a day, which no older LLM has read",
    later("tabcontam.extensions.fresh.fresh_command:add_fresh"),
    later("tabcontam.extensions.fresh.fresh_command:fresh"),
)
