"""Models that tests have made to read tables: trained in less than a minute, and kept under their recipe."""

import hashlib
import json
import os
import shutil
from importlib.resources import files
from pathlib import Path

import pytest

import tabcontam
from tabcontam.extensions.exposed.model_making import _versions, make
from tabcontam.extensions.exposed.recipe import Recipe

MADE_BY = (
    "extensions/exposed",
    "models/hf/model_tokenizer.py",
    "models/hf/loading.py",
    "tables/serializers",
    "tables/twin_tables.py",
)


def made_once(config: pytest.Config, wanted: Recipe) -> Path:
    """The folder of a recipe's one model, from pytest's cache where an earlier run has made it with the same code.

    Whoever makes it does so in a folder of its own, which takes its place when it is whole: workers may do the same.
    """
    assert config.cache is not None
    folder = config.cache.mkdir("exposed") / _key(wanted)
    if not (folder / "model-0").is_dir():
        own = folder.with_name(f"{folder.name}.{os.getpid()}")
        shutil.rmtree(own, ignore_errors=True)
        make(wanted, own)
        try:
            own.rename(folder)
        except OSError:  # another worker was faster
            shutil.rmtree(own)
    return folder / "model-0"


def _key(wanted: Recipe) -> str:
    """What determines the weights: the recipe, the versions of what computes, and the code that makes the model."""
    digest = hashlib.sha256(json.dumps([wanted.facts, _versions(wanted)], sort_keys=True, default=str).encode())
    root = Path(str(files(tabcontam)))
    for part in MADE_BY:
        place = root / part
        for path in sorted(place.rglob("*.*")) if place.is_dir() else [place]:
            if path.suffix in (".py", ".toml", ".txt"):
                digest.update(path.read_bytes())
    return digest.hexdigest()[:24]
