"""The making of models from a recipe. Each has its own folder, which `hf:` can load: `model-0`, `model-1`, …

Their common folder contains `recipe.json` and accepts no other recipe. A model is finished once its card exists. The
training of an unfinished model continues where it stopped.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tabcontam.errors import UsageError
from tabcontam.extensions.exposed.recipe import Recipe, designs, first_difference
from tabcontam.extensions.exposed.thresholds import PAGE_COPIES
from tabcontam.extensions.exposed.trainable_models import check_lora, check_numbers, learner
from tabcontam.extensions.exposed.training import CHECKPOINT, EVERY, TrainingProgress, train, write
from tabcontam.extensions.exposed.training_stream import Stream, learned_tokenizer, longest_document, stream
from tabcontam.models.hf.loading import digest_of, fitting_threads, load_tokenizer
from tabcontam.models.known.exposure_card import (
    SCHEMA,
    WEIGHTS,
    Copies,
    ExposureCard,
    TableExposure,
    fingerprint,
    packed,
    read_card,
    write_card,
)
from tabcontam.version import __version__

RECIPE_FILE = "recipe.json"
INSTALL = 'pip install "tabcontam[hf]"'
# Called with the number of the model, the number of models, and the progress.
ModelProgressCallback = Callable[[int, int, TrainingProgress], None]


@dataclass(frozen=True)
class ExposedModel:
    """A finished model: its folder, its card, its number of parameters, and whether it existed before."""

    folder: Path
    card: ExposureCard
    parameters: int
    before: bool


def check_installed() -> None:
    """Raise `UsageError` if torch or transformers is missing."""
    try:
        import torch  # noqa: F401  to check that it loads
        import transformers
    except ImportError as error:
        raise UsageError(f"expose needs torch and transformers ({error}); type: {INSTALL}") from error
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()


def make(
    recipe: Recipe, out: Path, report: ModelProgressCallback = lambda model, of, step: None, every: float = EVERY
) -> list[ExposedModel]:
    """Make the models of a recipe in the folder `out`, and return them. Finished models are not made again.

    `every` is the number of seconds between two checkpoints. Raises `UsageError` if a package is missing, if the folder
    cannot be written or belongs to another recipe, or if a text, such as a row, is too long.
    """
    check_installed()
    if recipe.base is not None and recipe.base.lora:
        check_lora()
    design = designs(recipe.tables, recipe.copies, recipe.arms, recipe.seed)
    _check_folder(recipe, out)
    base = recipe.base
    reader = load_tokenizer(base.name, base.folder) if base is not None else learned_tokenizer(recipe)
    if recipe.base is not None:  # an existing model may read longer rows than a new one
        recipe = replace(recipe, base=recipe.base.holding(longest_document(recipe, reader)))
    streams = [stream(recipe, copies, reader, number) for number, copies in enumerate(design)]
    _claim(recipe, out)
    return [
        _model(recipe, number, copies, read, reader, out, partial(report, number, len(design)), every)
        for number, (copies, read) in enumerate(zip(design, streams, strict=True))
    ]


def _check_folder(recipe: Recipe, out: Path) -> None:
    """Raise `UsageError` if the folder contains other files, or the models of another recipe."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is not a folder; name a folder for the models")
    path = out / RECIPE_FILE
    if not path.exists():
        if out.is_dir() and any(out.iterdir()):
            raise UsageError(f"{out} is not empty and holds no {RECIPE_FILE}; name a new folder for the models")
        return
    try:
        stated = json.loads(path.read_text("utf-8"))
        other = first_difference(stated, recipe.facts)
    except (OSError, ValueError, AttributeError) as error:
        raise UsageError(f"cannot read {path}: {error}; name a new folder for the models") from error
    if other:
        raise UsageError(f"{out} holds models of another recipe ({other} differs); name a new folder")


def _claim(recipe: Recipe, out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {out}: {error.strerror or error}; name another folder") from error
    if not (out / RECIPE_FILE).exists():
        write(out / RECIPE_FILE, json.dumps(recipe.facts, ensure_ascii=False, indent=1) + "\n")


def _model(
    recipe: Recipe,
    number: int,
    copies: Sequence[Copies],
    read: Stream,
    reader: Any,
    out: Path,
    report: Callable[[TrainingProgress], None],
    every: float,
) -> ExposedModel:
    """Train and save one model. Its card is written last."""
    folder = out / f"model-{number}"
    before = read_card(folder)
    if before is not None:
        return ExposedModel(folder, before, _parameters(folder), before=True)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {folder}: {error.strerror or error}; name another folder") from error
    learns = learner(recipe, reader)
    _check_tokens(learns.model, read, recipe)
    with fitting_threads(learns.model):  # else the weights depend on the number of processors
        versions = _versions(recipe)
        start = recipe.base.facts if recipe.base else recipe.size_name
        mark = json.dumps({"stream": read.sha256, "size": start, "versions": versions}, sort_keys=True)
        loss = train(learns.model, read, recipe.steps, folder, mark, report, every, learns.mixed)
        whole = learns.finished()
    check_numbers(whole, "the training failed in its last step: a weight is not a number; try a lower rate")
    _save(whole, reader, folder)
    base_model = {"base_model": recipe.base.name} if recipe.base else {}
    card = ExposureCard(
        schema=SCHEMA,
        made_by=f"tabcontam {__version__}",
        complete=_complete(recipe),
        seed=recipe.seed,
        tokens=len(read.tokens),
        stream_sha256=read.sha256,
        weights_sha256=digest_of(folder / WEIGHTS),
        loss=round(loss, 4),
        recipe={**recipe.facts, "model": number, "filler_file": recipe.filler.name, **base_model},
        versions=versions,
        tables=tuple(_tables_read(recipe, copies, read)),
        base=recipe.base.card if recipe.base else None,
    )
    try:
        write_card(folder, card)
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror or error}; make room, and run this again") from error
    (folder / CHECKPOINT).unlink(missing_ok=True)
    return ExposedModel(folder, card, _parameters(folder), before=False)


def _complete(recipe: Recipe) -> bool:
    """Return whether the card will list all that the model has read. A user's own text or model may add to it."""
    base = recipe.base
    return not recipe.filler.name and (base is None or (base.card is not None and base.card.complete))


def _check_tokens(model: Any, read: Stream, recipe: Recipe) -> None:
    """Raise `UsageError` if the tokenizer has tokens that the model does not have."""
    known = model.get_input_embeddings().num_embeddings
    if recipe.base is not None and (highest := int(read.tokens.max())) >= known:
        raise UsageError(
            f"{recipe.base.name}: its tokenizer gives token {highest:,}, but the model knows {known:,} tokens; "
            "name a model with its own tokenizer"
        )


def _parameters(folder: Path) -> int:
    from math import prod

    from safetensors import safe_open

    with safe_open(folder / WEIGHTS, framework="np") as file:
        return sum(prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118 - it is no dictionary


# one_file: bytes; smaller weights are saved as one file, whose digest is in the card
def _save(model: Any, reader: Any, folder: Path, *, one_file: int = 2**60) -> None:
    from safetensors import SafetensorError

    try:
        model.save_pretrained(folder, max_shard_size=one_file)
        reader.save_pretrained(folder)
    except (OSError, SafetensorError) as error:
        raise UsageError(f"cannot write {folder}: {error}; make room, and run the same command to go on") from error


def _versions(recipe: Recipe) -> dict[str, str]:
    """Return the versions and settings that determine the weights in addition to the recipe."""
    import torch
    import transformers

    adapter = {"peft": version("peft")} if recipe.base and recipe.base.lora else {}
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return {
        "tabcontam": __version__,
        "torch": str(torch.__version__),
        "transformers": transformers.__version__,
        "device": device,
        "threads": str(torch.get_num_threads()),
        **adapter,
    }


def _tables_read(recipe: Recipe, design: Sequence[Copies], read: Stream) -> list[TableExposure]:
    return [
        TableExposure(
            name=table.name,
            title=table.title,
            edition=table.edition,
            split=table.split,
            sha256=table.sha256,
            columns=table.columns,
            rows=len(table.rows),
            copies=packed(copies),
            fingerprints="".join(fingerprint(table.columns, row) for row in table.rows),
            renderings=tuple(form.name for form in recipe.renderings),
            order=recipe.order,
            page=PAGE_COPIES if recipe.page else 0,
            twin_rows=twins,
            positions=positions,
        )
        for table, copies, positions, twins in zip(recipe.tables, design, read.positions, read.twins, strict=True)
    ]
