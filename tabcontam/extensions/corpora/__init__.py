"""Documents that are searched for the rows of a table."""

from tabcontam.cli.command import Command, later

INDEX = Command(
    "index documents on disk, so that searches are fast",
    later("tabcontam.extensions.corpora.index_command:add_index"),
    later("tabcontam.extensions.corpora.index_command:index"),
)
