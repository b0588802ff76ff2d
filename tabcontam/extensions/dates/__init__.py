"""Accuracies before and after the end of training data, the openness of models, and their generations."""

from tabcontam.cli.command import Command, later

CHRONOLOGY = Command(
    "compare accuracies on tables from before and after the end of training data",
    later("tabcontam.extensions.dates.chronology_command:add_chronology"),
    later("tabcontam.extensions.dates.chronology_command:chronology"),
)
