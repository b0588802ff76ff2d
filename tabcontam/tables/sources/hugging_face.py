"""Datasets of Hugging Face: `hf:datasets/OWNER/NAME#SPLIT`. Only data files are read, and no code is run."""

import fnmatch
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from tabcontam.errors import UsageError
from tabcontam.tables.readers import base
from tabcontam.tables.readers.archives import without_packing
from tabcontam.tables.readers.base import File, TextFormat, choose_part
from tabcontam.tables.readers.file_kinds import ENDINGS
from tabcontam.tables.sources.base import TableSource
from tabcontam.tables.sources.web_files import FetchedFile, fetch_address, key_in, read_description

PREFIX = "hf:"
SITE = "https://huggingface.co"
TOKEN = "HF_TOKEN"  # noqa: S105 (the name of a variable)
OFFLINE = "HF_HUB_OFFLINE"
_NAME = re.compile(r"datasets/([\w.-]+(?:/[\w.-]+)?)", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
# The meaning of words in the names of files, as Hugging Face defines it.
_SPLITS = {
    "train": "train", "training": "train", "validation": "validation", "valid": "validation", "val": "validation",
    "dev": "validation", "test": "test", "testing": "test", "eval": "test", "evaluation": "test",
}  # fmt: skip
_ABOUT = {
    f"{name}.json" for name in ("dataset_info", "dataset_infos", "dataset_dict", "state", "metadata", "croissant")
}


def read_hugging_face(spec: str, form: TextFormat) -> TableSource:
    """Return all files of the named split, or of the only split.

    Rows of a private or gated repository are private. The token in HF_TOKEN is sent only to Hugging Face. Raises
    `UsageError` for an invalid name, for several splits if `spec` names none, and for data that cannot be fetched.
    """
    named, _, part = spec.partition("#")
    found = _NAME.fullmatch(named.removeprefix(PREFIX))
    if found is None:
        raise UsageError(f"{spec} is no dataset of Hugging Face; write hf:datasets/OWNER/NAME or …/NAME#SPLIT")
    token = key_in(TOKEN) or None
    lacking = f"{named} is not on Hugging Face, or private; check the name, or set {TOKEN} to a token that may read it"
    unknown = {"HTTP 401": lacking, "HTTP 404": lacking}
    about = read_description(lambda: _asked(f"{SITE}/api/datasets/{found[1]}", token), unknown)
    if not isinstance(about, dict):
        raise UsageError(f"{named}: Hugging Face answers with no description of a dataset; try again later")
    commit = str(about.get("sha") or "")
    if not _COMMIT.fullmatch(commit):
        raise UsageError(f"{named}: Hugging Face does not state its commit; try again later")
    data = _data_files(about)
    splits = _splits(about, data)
    paths = _files_of_part(named, part, splits, data)
    split = part.rpartition("/")[2] if part in splits and part not in data else ""
    address = f"{SITE}/datasets/{found[1]}/resolve/{commit}/"
    files, size = [], 0
    for path in paths:
        content = _asked(address + quote(path), token).content
        size += len(content)
        if size > base.LARGEST:
            raise UsageError(f"{spec} is larger than {base.LARGEST // 1024**2} MiB; name one of its files after a #")
        files.append(File(content, path.rpartition("/")[2], form=form))
    public = about.get("private") is False and about.get("gated") is False
    name = spec[: -len(split) - 1] if split else spec  # the split stands after a # or, in a config, after a /
    return TableSource(name, found[1].rpartition("/")[2], tuple(files), public=public, split=split)


def _asked(address: str, token: str | None) -> FetchedFile:
    """Return the content at a Hugging Face address; only from the cache if the user has set Hugging Face to offline."""
    offline = os.environ.get(OFFLINE, "").strip().upper() in ("1", "ON", "YES", "TRUE")
    return fetch_address(address, token, forbidden=f"{OFFLINE} is set; unset it to fetch it" if offline else "")


def _data_files(about: Mapping[str, Any]) -> list[str]:
    """Return, sorted, the repository's files that are tables of supported kinds."""
    siblings = about.get("siblings")
    listed = [one.get("rfilename") for one in siblings if isinstance(one, dict)] if isinstance(siblings, list) else []
    paths = [path for path in listed if isinstance(path, str)]
    return sorted(
        path for path in paths
        if without_packing(path).lower().endswith((*ENDINGS, ".zip"))
        and not any(each.startswith(".") for each in path.split("/"))
        and path.rpartition("/")[2].lower() not in (*_ABOUT, "requirements.txt", "readme.txt", "license.txt")
    )  # fmt: skip


def _splits(about: Mapping[str, Any], files: Sequence[str]) -> dict[str, list[str]]:
    """Return the files of each split, as the dataset's card on Hugging Face states, or else by words in file names."""
    card = about.get("cardData")
    configs = card.get("configs") if isinstance(card, dict) else None
    stated = [config for config in configs if isinstance(config, dict)] if isinstance(configs, list) else []
    found: dict[str, list[str]] = {}
    for config in stated:
        prefix = f"{config.get('config_name', 'default')}/" if len(stated) > 1 else ""
        for split, patterns in _patterns(config.get("data_files")):
            paths = [path for path in files if any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)]
            if paths:
                found.setdefault(f"{prefix}{split}", []).extend(paths)
    if found:
        return found
    for path in files:
        words = re.split(r"[^a-z]+", path.lower())
        own_split = next((_SPLITS[word] for word in reversed(words) if word in _SPLITS), None)
        if own_split is None:  # the file belongs to no split
            return {"train": list(files)} if len(files) == 1 else {path: [path] for path in files}
        found.setdefault(own_split, []).append(path)
    return found


def _patterns(stated: object) -> list[tuple[str, list[str]]]:
    """Return the splits of a config, each with its file patterns, for every notation that cards use."""
    splits = []
    for entry in [stated] if isinstance(stated, str) else stated if isinstance(stated, list) else []:
        named = {"path": entry} if isinstance(entry, str) else entry
        if isinstance(named, dict):
            paths = named.get("path")
            patterns = [path for path in (paths if isinstance(paths, list) else [paths]) if isinstance(path, str)]
            splits.append((str(named.get("split", "train")), patterns))
    return splits


def _files_of_part(named: str, part: str, splits: Mapping[str, Sequence[str]], files: Sequence[str]) -> Sequence[str]:
    """Return the files of the split that the user named, or the one file."""
    if not files:
        raise UsageError(f"{named} has no file that is a table; give another dataset")
    if part in files:
        return [part]
    of_config = [split for split in splits if split.startswith(f"{part}/")]
    if part and part not in splits and len(of_config) == 1:
        return splits[of_config[0]]
    about = File(b"", named, part or None)
    return splits[choose_part(about, "split", list(splits))]
