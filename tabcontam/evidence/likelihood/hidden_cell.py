"""Questions in words for a hidden cell of a row, for models without log-probabilities, and the reading of answers."""

from tabcontam.evidence.base import Prompt, Query, Reading, Reply
from tabcontam.evidence.prompts import ask
from tabcontam.evidence.rows.completion_tests import FeatureCompletion
from tabcontam.reading.word_decision import Dictionary
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table

TOKENS = 64  # of an answer
READER = FeatureCompletion()  # which asks for one cell as well


def without_cell(table: Table, serializer: Serializer, row: int, place: int) -> Prompt:
    """Return the prompt that asks for one cell of a row, given all its other cells and no other row.

    A base model gets the row up to the cell, and goes on with it.
    """
    name, cells = table.columns[place], table.rows[row]
    others = [number for number in range(len(table.columns)) if number != place]
    shown = serializer.alone([table.columns[number] for number in others], [cells[number] for number in others])
    asked = f"The value of its feature {name} is left out. What is it in the dataset? Write the value alone."
    beginning = serializer.prefix(table.columns, cells, place)
    return ask(f"Dataset: {table.title}\nOne of its rows:\n{shown}", asked, f"Dataset: {table.title}\n{beginning}")


def read_cell(query: Query, reply: Reply, serializer: Serializer, dictionary: Dictionary) -> Reading:
    """Return the asked cell in an answer, read as in other tests; a hit if it is the row's own."""
    return READER.read(query, reply, serializer, dictionary)
