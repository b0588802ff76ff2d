"""Datasets of OpenML by number: `openml:61`. The file must have the MD5 that OpenML states."""

import hashlib

from tabcontam.errors import UsageError
from tabcontam.tables.readers.base import File
from tabcontam.tables.sources.base import TableSource
from tabcontam.tables.sources.web_files import fetch_address, read_description

PREFIX = "openml:"
SITE = "https://www.openml.org"


def read_openml(spec: str) -> TableSource:
    """Return the dataset with OpenML's name and target, without the columns that OpenML excludes from the features.

    Raises `UsageError` for an unknown number, for a file with another MD5, and for a file that cannot be fetched.
    """
    number = spec.removeprefix(PREFIX)
    if not number.isascii() or not number.isdecimal():
        problem = f"{spec} is no dataset of OpenML"
        raise UsageError(f"{problem}; give its number, as in openml:61 ({SITE}/search?type=data shows it)")
    unknown = {"HTTP 412": f"OpenML has no dataset {number}; look it up at {SITE}/search?type=data"}
    found = read_description(lambda: fetch_address(f"{SITE}/api/v1/json/data/{number}"), unknown)
    about = found.get("data_set_description") if isinstance(found, dict) else None
    if not isinstance(about, dict):
        raise UsageError(f"{spec}: OpenML answers with no description of a dataset; try again later")
    name, file_id, format_ = (str(about.get(key) or "") for key in ("name", "file_id", "format"))
    if not name or not file_id.isdecimal():
        raise UsageError(f"{spec}: OpenML states neither its name nor its file; try again later")
    content = fetch_address(f"{SITE}/data/v1/download/{file_id}").content
    stated = str(about.get("md5_checksum") or "")
    if stated and (found := hashlib.md5(content, usedforsecurity=False).hexdigest()) != stated:
        raise UsageError(f"{spec}: the file has MD5 {found} where OpenML states {stated}; it was changed or cut off")
    ending = format_.lower().replace("sparse_", "") or "arff"
    target = str(about.get("default_target_attribute") or "") or None
    left_out = {*_texts(about.get("row_id_attribute")), *_texts(about.get("ignore_attribute"))} - {target}
    return TableSource(
        spec,
        name,
        (File(content, f"{spec}.{ending}"),),
        public=about.get("visibility", "public") == "public",
        target=target if target and "," not in target else None,  # several targets cannot be classified
        left_out=frozenset(left_out),
    )


def _texts(value: object) -> list[str]:
    """Return the names in a text, in a text with commas, or in a list."""
    listed = value if isinstance(value, list) else str(value or "").split(",")
    return [str(name).strip() for name in listed if str(name).strip()]
