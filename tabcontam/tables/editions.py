"""The bytes of an edition: from a folder, scikit-learn or the card's addresses, always checked by SHA-256."""

import csv
import hashlib
import io
import os
import sys
import tarfile
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from http.client import HTTPException
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from urllib.parse import quote, urlsplit
from urllib.request import Request

from tabcontam.errors import UsageError, one_line
from tabcontam.paths import replace_file
from tabcontam.tables.dataset_cards import Card, Edition, load_cards
from tabcontam.tables.timed_connections import opener

WHOLE_SECONDS, LEAST_SPEED = 60.0, 10_000  # time limit: seconds; bytes for each extra second
ARCHIVE_LIMIT = 64 * 1024 * 1024  # the largest archive among the cards' addresses is far below

# Errors of the archive modules for bytes that are no archive, are cut off or lack the member.
_BROKEN_ARCHIVE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, KeyError, RuntimeError)

Lines = tuple[tuple[str, ...], ...]
# Tables that scikit-learn ships as files. They are read without importing scikit-learn, which takes a second.
MEASURED = (
    *("radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity", "concave points"),
    *("symmetry", "fractal dimension"),
)
# The functions of sklearn.datasets that read a file: the file's name, and the names of its features.
FILES: Mapping[str, tuple[str, Sequence[str]]] = {
    "load_breast_cancer": (
        "breast_cancer.csv",
        [way.format(name) for way in ("mean {}", "{} error", "worst {}") for name in MEASURED],
    ),
    "load_iris": ("iris.csv", [f"{part} {way} (cm)" for part in ("sepal", "petal") for way in ("length", "width")]),
    "load_wine": (
        "wine_data.csv",
        [
            *("alcohol", "malic_acid", "ash", "alcalinity_of_ash", "magnesium", "total_phenols", "flavanoids"),
            *("nonflavanoid_phenols", "proanthocyanins", "color_intensity", "hue", "od280/od315_of_diluted_wines"),
            "proline",
        ],
    ),
}


def edition_bytes(card: Card, edition: Edition) -> bytes:
    """Return the edition's bytes from the first place that has them.

    The places are: next to a user's own card, TABCONTAM_DATA, the cache folder, scikit-learn, the card's addresses.
    Raises `UsageError` if no place has bytes with the card's SHA-256.
    """
    folders = [folder for folder in (data_folder(), cache_folder()) if folder is not None]
    for path in chain(_own_card_file(card, edition), *map(_files, folders)):
        if (found := _if_the_same(path, edition)) is not None:
            return found
    if edition.loader is not None and (made := _from_scikit_learn(card, edition)) is not None:
        return made
    failures: list[str] = []
    for address in edition.addresses:
        try:
            content = _fetched(address, edition)
        except (OSError, HTTPException, ValueError, *_BROKEN_ARCHIVE) as error:
            reason = one_line(error).removeprefix("<urlopen error ").removesuffix(">")
            failures.append(f"{address} cannot be fetched ({reason})")
            continue
        if (digest := _sha256(content)) == edition.sha256:
            path = cache_folder() / card.name / edition.name / Path(edition.file).name
            with suppress(OSError):  # if the cache cannot be written, the run goes on
                path.parent.mkdir(parents=True, exist_ok=True)
                replace_file(path, content)
            return content
        if len(content) > edition.bytes and "!" not in address:
            digest = "unknown (the file is too large)"
        failures.append(f"hash mismatch at {address}: SHA-256 {digest} instead of {edition.sha256}")
    raise _not_found(card, edition, folders, failures)


def data_folder() -> Path | None:
    folder = os.environ.get("TABCONTAM_DATA", "")
    return Path(os.path.expanduser(folder)) if folder else None


def cache_folder() -> Path:
    """Return the user's folder of fetched datasets."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "tabcontam" / "datasets"


def _own_card_file(card: Card, edition: Edition) -> list[Path]:
    """Return the paths at which a user's own card may have its file: in the card's folder, or in a subfolder.

    Raises `UsageError` if such a path is a pipe, a device, or a link that leads out of the folder.
    """
    if not card.source:
        return []
    folder = Path(card.source).parent
    path = folder / edition.file
    if path.exists() and not (path.is_file() and path.resolve().is_relative_to(folder.resolve())):
        problem = f"dataset card {card.source} names {edition.file}, which is no regular file of its folder"
        raise UsageError(f"{problem}; put one there")
    return [path]


def _if_the_same(path: Path, edition: Edition) -> bytes | None:
    """Return the bytes of a file if their SHA-256 is the edition's; None if it differs or the file cannot be read."""
    try:
        if not path.is_file() or path.stat().st_size != edition.bytes:
            return None
        content = path.read_bytes()
    except OSError:
        return None
    return content if _sha256(content) == edition.sha256 else None


def _files(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders.sort()
        yield from (Path(parent, name) for name in sorted(names))


@cache
def shipped_table(loader: str) -> Lines | None:
    """Return column names and rows of a table as scikit-learn's frame writes them, with the target last.

    Return None if `loader` is not a function that reads a shipped file, or if the installed scikit-learn has a
    different file. Then scikit-learn itself loads the table.
    """
    package = find_spec("sklearn")
    if loader not in FILES or package is None or package.origin is None:
        return None
    name, features = FILES[loader]
    try:
        with Path(package.origin).with_name("datasets").joinpath("data", name).open(encoding="utf-8") as file:
            _, *lines = csv.reader(file)  # the first holds the numbers of rows and features
            rows = [(*(str(float(cell)) for cell in cells), str(int(target))) for *cells, target in lines]
    except (OSError, ValueError):
        return None
    if any(len(row) != len(features) + 1 for row in rows):
        return None
    return ((*features, "target"), *rows)


def _from_scikit_learn(card: Card, edition: Edition) -> bytes | None:
    """Return the edition's bytes from the installed scikit-learn; None if it has not downloaded the data yet."""
    if (lines := shipped_table(edition.loader or "")) is not None:
        content = "".join(f"{','.join(line)}\n" for line in lines).encode()
        if _sha256(content) == edition.sha256:
            return content
    from sklearn import datasets

    # The fetch_ functions would use an address that is not the card's.
    offline = {"download_if_missing": False} if str(edition.loader).startswith("fetch_") else {}
    try:
        frame = getattr(datasets, edition.loader or "")(as_frame=True, **offline).frame
    except OSError:
        return None
    except (AttributeError, TypeError) as error:  # no such function, or it loads no table
        raise UsageError(f"{card.name}@{edition.name}: sklearn.datasets.{edition.loader} gives no table") from error
    content = str(frame.to_csv(index=False, lineterminator="\n")).encode()
    if _sha256(content) != edition.sha256:
        raise UsageError(
            f"hash mismatch: scikit-learn {version('scikit-learn')} gives {card.name} with SHA-256 "
            f"{_sha256(content)} instead of {edition.sha256}; {_by_hand(card, edition)}"
        )
    return content


def _fetched(address: str, edition: Edition, *, timeout_seconds: float = 30.0, chunk: int = 1 << 20) -> bytes:
    """Return the bytes at an address; a response that is longer than the edition is cut off."""
    url, *members = address.split("!")
    if urlsplit(url).scheme not in ("http", "https"):
        raise ValueError("not an http address")
    request = Request(quote(url, safe=":/?&=+%@,~"), headers={"User-Agent": "tabcontam"})  # noqa: S310 (as below)
    limit = ARCHIVE_LIMIT if members else edition.bytes
    with opener().open(request, timeout=timeout_seconds) as response:
        until, parts, size = time.monotonic() + WHOLE_SECONDS, list[bytes](), 0
        while size <= limit and (part := response.read1(min(chunk, limit + 1 - size))):
            parts.append(part)
            size += len(part)
            if time.monotonic() > until + size / LEAST_SPEED:
                raise OSError(f"it sent fewer than {LEAST_SPEED:,} bytes a second")
        content = b"".join(parts)
    for member in members:
        content = _member(content, member)
    return content


def _member(archive: bytes, name: str) -> bytes:
    """Return one file of a ZIP or TAR archive. No more than `ARCHIVE_LIMIT` bytes are read."""
    if zipfile.is_zipfile(io.BytesIO(archive)):
        with zipfile.ZipFile(io.BytesIO(archive)) as opened, opened.open(name) as file:
            return file.read(ARCHIVE_LIMIT)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        member = tar.extractfile(name)
        if member is None:
            raise ValueError(f"{name} is no file of the archive")
        return member.read(ARCHIVE_LIMIT)


def _not_found(card: Card, edition: Edition, folders: list[Path], failures: list[str]) -> UsageError:
    what = f"{card.name}@{edition.name}" + (f"#{edition.split}" if edition.split else "")
    wrong = [failure for failure in failures if failure.startswith("hash mismatch")]
    named = (path for folder in folders for path in _files(folder) if path.name == Path(edition.file).name)
    files = filter(Path.is_file, named)
    known = {other.sha256 for each in (card, *load_cards().values()) for other in each.files}
    for path in [*files, *_own_card_file(card, edition)]:
        with suppress(OSError), path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            if digest not in known:  # a file of the same name (`train.csv`) may be another edition
                wrong.append(f"hash mismatch: {path} has SHA-256 {digest} instead of {edition.sha256}")
    if wrong:
        return UsageError(f"{what}: {wrong[-1]}; {_by_hand(card, edition)}")
    data = data_folder()
    hint = f" (TABCONTAM_DATA names no folder: {data})" if data is not None and not data.is_dir() else ""
    others = ", ".join(card.name for card in load_cards().values() if card.files[0].loader in FILES)
    reason = "; ".join(failures) or "it has no public address"
    free = f"; no file is needed for {others}" if not card.source else ""
    return UsageError(f"{_by_hand(card, edition)}{free}: {what} is not on this machine{hint} and {reason}")


def _by_hand(card: Card, edition: Edition) -> str:
    if card.source:
        return f"put {edition.file} ({edition.bytes} bytes) next to its card {card.source}, or correct the card"
    data = data_folder()
    where = f"{data}, which TABCONTAM_DATA names" if data else "a folder and set TABCONTAM_DATA to it"
    return f"put {edition.file} ({edition.bytes} bytes) into {where}, or into {cache_folder()}"


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
