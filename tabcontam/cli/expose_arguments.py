"""The arguments of `expose`: the tables to be read and how often, their form, and the folder of the models."""

import argparse

from tabcontam.cli.help_texts import DATASET, DATASET_HELP
from tabcontam.cli.option_values import copies, folder, path, rate
from tabcontam.cli.run_arguments import add_reading

ARMS = ("rows", "tables")
ORDERS = ("kept", "shuffled")
SIZES = ("tiny", "small", "medium")
EXAMPLES = """\
examples:
  python -m tabcontam expose --dataset iris --copies 0,16,64 --out exposed
  python -m tabcontam run --llm hf:exposed/model-0 --dataset iris -m "likelihood or rows"
  python -m tabcontam expose --dataset my.csv --copies 16 --llm hf:exposed/model-0 --lora --out continued
  python -m tabcontam expose --dataset a.csv --dataset b.csv --copies 0,4,16 --arms tables --out ladder
"""


def add_expose(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Make small language models on this machine that have read tables a known number of times, to try the tests\n"
        "on. Each is trained on English prose, on shuffled twins of the tables and on copies of their rows, from\n"
        "scratch or from the weights of another model (--llm). To ask one, type run --llm hf:DIR/model-0. The file\n"
        "exposure.json next to its weights lists all that it has read. Needs the extra hf. The same command continues\n"
        "after an interruption."
    )
    command.epilog = EXAMPLES
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    what = command.add_argument_group("tables that the models read")
    what.add_argument("--dataset", action="append", default=[], metavar=DATASET, help=DATASET_HELP)
    what.add_argument(
        "--copies",
        type=copies,
        default=copies("0,1,4,16,64"),
        metavar="N,N,…",
        help="how many copies of rows are read; --arms assigns each of several numbers to a part "
        "(default: 0,1,4,16,64)",
    )
    what.add_argument(
        "--arms",
        choices=ARMS,
        default=ARMS[0],
        help="rows: one model; the rows of each table are divided at random into one part for each number of copies. "
        "tables: as many models as numbers; model m reads all rows of table t as often as number t + m of --copies "
        "says, going round (default: %(default)s)",
    )
    what.add_argument(
        "--rendering",
        action="append",
        default=[],
        metavar="NAME,…|FILE",
        help="the forms in which rows are written, as in run --serializer; copies take turns (default: is)",
    )
    what.add_argument(
        "--order",
        choices=ORDERS,
        default=ORDERS[0],
        help="the order of rows within each copy: as in the file, or shuffled again for each (default: %(default)s)",
    )
    what.add_argument(
        "--page", action="store_true", help="also read a page that describes each table, without its rows"
    )
    what.add_argument(
        "--filler",
        type=path,
        metavar="FILE",
        help="read this English prose (paragraphs with blank lines between) in place of the shipped one",
    )
    add_reading(what)
    how = command.add_argument_group("the models")
    how.add_argument(
        "--out",
        type=folder,
        required=True,
        metavar="DIR",
        help="the folder of the models, a new one or one to continue",
    )
    how.add_argument(
        "--size",
        choices=SIZES,
        default="",
        help="the size of a model made from scratch: tiny (0.1 million parameters), small (1 million), medium (14 "
        "million) (default: small)",
    )
    how.add_argument(
        "--llm",
        default="",
        metavar="hf:REPO_OR_FOLDER",
        help="continue this causal language model, with its tokenizer, instead of making one from scratch; its own "
        "files stay as they are",
    )
    how.add_argument(
        "--lora",
        action="store_true",
        help="instead of all weights, train a low-rank adapter, which is added into the saved weights (extra lora)",
    )
    how.add_argument(
        "--rate",
        type=rate,
        metavar="R",
        help="the highest learning rate with --llm (default: 0.05 divided by the model's width, ten times that with "
        "--lora)",
    )
    how.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="the same seed makes the same model on one machine (default: 0)",
    )
    how.add_argument(
        "--run",
        action="store_true",
        help="then ask the models about these tables, as the ladder command does, with its report in DIR/ladder",
    )
    how.add_argument("--json", action="store_true", help="print JSON")
