"""The command `expose`: train models with known exposure to tables. Standard error shows the progress of training."""

import argparse
from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING

from tabcontam.cli.option_values import copies, level, path
from tabcontam.cli.printing import print_json
from tabcontam.cli.run_arguments import OF_FILES, add_settings
from tabcontam.errors import Exit

if TYPE_CHECKING:
    from tabcontam.asking.run_progress import Tell
    from tabcontam.extensions.exposed.model_making import ExposedModel
    from tabcontam.extensions.exposed.training import TrainingProgress

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
    add_settings(what, "dataset")
    what.add_argument(
        "--copies",
        type=copies,
        default=copies("0,1,4,16,64"),
        metavar="N,N,…",
        help="how many copies of its rows a model reads; --arms says which rows or tables get which number "
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
        help="the forms in which rows are written, as in run --serializer; copies use them in turn (default: is)",
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
    add_settings(what, *OF_FILES)
    how = command.add_argument_group("the models")
    how.add_argument(
        "--out", type=path, required=True, metavar="DIR", help="the folder of the models, a new one or one to continue"
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
        type=level,
        metavar="R",
        help="the highest learning rate with --llm (default: 0.05 divided by the model's width, ten times that with "
        "--lora)",
    )
    add_settings(how, "seed", default=0, help="the same seed makes the same model on one machine (default: 0)")
    how.add_argument(
        "--run",
        action="store_true",
        help="after training, ask the models about these tables, as the ladder command does (report in DIR/ladder)",
    )
    how.add_argument("--json", action="store_true", help="print JSON")


def expose(options: argparse.Namespace) -> int:
    from tabcontam.extensions.exposed.model_making import check_installed, make
    from tabcontam.extensions.exposed.recipe import recipe
    from tabcontam.report.progress_display import progress
    from tabcontam.tables.readers.base import text_format
    from tabcontam.tables.table import load_table

    check_installed()
    text = text_format(options.delimiter, options.encoding, options.header, options.header_line)
    named = dict.fromkeys(options.dataset)
    wanted = recipe(
        [load_table(spec, target=options.target, name=options.name, form=text, whole=True) for spec in named],
        options.copies,
        arms=options.arms,
        renderings=[name.strip() for each in options.rendering for name in each.split(",") if name.strip()],
        order=options.order,
        page=options.page,
        seed=options.seed,
        size=options.size,
        filler=options.filler,
        llm=options.llm,
        lora=options.lora,
        rate=options.rate,
    )
    shown = progress(quiet=False)
    with ExitStack() as under_way:
        begun: dict[int, Tell] = {}
        under_way.enter_context(shown.doing("the texts are written"))

        def tell(number: int, models: int, step: "TrainingProgress") -> None:
            if number not in begun:
                under_way.close()
                what = f"model {number + 1} of {models} reads tokens" if models > 1 else "the model reads tokens"
                begun[number] = under_way.enter_context(shown.doing(what))
            shown.note(_note(step))
            begun[number](step.tokens, step.total)

        made = make(wanted, options.out, tell)
    if options.json and not options.run:
        print_json([_facts(one) for one in made])
    elif not options.json:
        print("\n".join(line for one in made for line in _lines(one)))
        names = " ".join(f"--dataset {spec}" for spec in named)
        forms = " ".join(f"--serializer {form.name}" for form in wanted.renderings)
        if not options.run:
            print(f"Ask it: python -m tabcontam run --llm hf:{made[0].folder} {names} {forms}")
    if not options.run:
        return Exit.DONE
    from tabcontam.extensions.exposed.ladder_command import ask_exposed_models

    return ask_exposed_models(options)


def _note(step: "TrainingProgress") -> str:
    """Return in words the loss, the speed and the time left. The speed is that of tokens read since the last start."""
    from tabcontam.report.llm_progress import duration

    left = f", about {duration((step.total - step.tokens) / step.pace)} left" if step.tokens < step.total else ""
    return f"loss {step.loss:.2f}, {step.pace:,.0f} tokens a second{left}"


def _lines(made: "ExposedModel") -> list[str]:
    card = made.card
    was = "was there before" if made.before else f"loss {card.loss:.2f}"
    start = f"; went on from {card.recipe['base_model']}" if "base_model" in card.recipe else ""
    lines = [f"{made.folder}: {made.parameters:,} parameters, {card.tokens:,} tokens read, {was}{start}"]
    for table in card.tables:
        counts = sorted(Counter(table.copies_of_rows).items())
        readings = ", ".join(f"{rows} rows {number} times" for number, rows in counts)
        lines.append(f"  {table.named} ({', '.join(table.renderings)}): {readings}")
    return lines


def _facts(made: "ExposedModel") -> dict[str, object]:
    return {"folder": str(made.folder), "parameters": made.parameters, "card": made.card.model_dump(by_alias=True)}
