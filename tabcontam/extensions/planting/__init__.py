"""Last digits that are drawn from a secret key before a table is published."""

from tabcontam.cli.command import Command, later

PLANT = Command(
    "draw last digits of a table from a secret key, before you publish it",
    later("tabcontam.extensions.planting.plant_command:add_plant"),
    later("tabcontam.extensions.planting.plant_command:plant"),
)
