"""The command `expose`: make models whose exposure is known, with the progress of training on standard error."""

import argparse
from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING

from tabcontam.cli.printing import print_json
from tabcontam.errors import Exit

if TYPE_CHECKING:
    from tabcontam.asking.run_progress import Tell
    from tabcontam.models.known.exposed.model_making import ExposedModel
    from tabcontam.models.known.exposed.training import TrainingProgress


def expose(options: argparse.Namespace) -> int:
    from tabcontam.models.known.exposed.model_making import check_installed, make
    from tabcontam.models.known.exposed.recipe import recipe
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
    from tabcontam.cli.ladder_command import ask_exposed_models

    return ask_exposed_models(options)


def _note(step: "TrainingProgress") -> str:
    """Return the loss, the speed and the time left at that speed, as a resumed training has read some tokens before."""
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
