"""Small language models that are contaminated on purpose. For every row it is known how often each model has read it.

A `recipe` describes the models to make, and `arms` how often each row is read. `training_stream` arranges the texts,
`cell_tokenizer` tokenises them, and `training` trains a model on them. `exposure_card` lists what the model has read.
`model_making` runs all these steps.
"""

from tabcontam.cli.command import Command, later

EXPOSE = Command(
    "make small language models that have read a table a known number of times",
    later("tabcontam.extensions.exposed.expose_command:add_expose"),
    later("tabcontam.extensions.exposed.expose_command:expose"),
)

LADDER = Command(
    "show results of the tests by how often models have read a table",
    later("tabcontam.extensions.exposed.ladder_command:add_ladder"),
    later("tabcontam.extensions.exposed.ladder_command:ladder"),
)
