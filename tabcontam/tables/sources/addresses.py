"""Tables at an address: `https://host/my.csv`. Their rows count as private, since their owner is unknown."""

import re
from urllib.parse import unquote, urlsplit

from tabcontam.errors import UsageError
from tabcontam.tables.readers.archives import without_packing
from tabcontam.tables.readers.base import File, TextFormat
from tabcontam.tables.readers.file_kinds import ENDINGS, stem
from tabcontam.tables.sources.base import TableSource
from tabcontam.tables.sources.web_files import check_address, fetch_address

# Web pages about a table, and the spec of the table itself.
PAGES = (
    (r"https?://github\.com/([^/]+/[^/]+)/blob/([^?#]+)", r"https://raw.githubusercontent.com/\1/\2"),
    (r"https?://gitlab\.com/(.+)/-/blob/([^?#]+)", r"https://gitlab.com/\1/-/raw/\2"),
    (r"https?://huggingface\.co/datasets/([^/?#]+/[^/?#]+)/(?:blob|resolve|raw)/[^/]+/([^?#]+)", r"hf:datasets/\1#\2"),
    (r"https?://huggingface\.co/datasets/([^/?#]+/[^/?#]+).*", r"hf:datasets/\1"),
    (r"https?://(?:www\.)?openml\.org/(?:d/|search\?.*\bid=)(\d+).*", r"openml:\1"),
)


def read_address(spec: str, form: TextFormat) -> TableSource:
    """Return the table at an address, or its part after `#`. Raises `UsageError`, in one line, if there is no table."""
    for page, instead in PAGES:
        if re.fullmatch(page, spec):
            raise UsageError(f"{spec} is a page, not a table; give {re.sub(page, instead, spec)}")
    address, _, part = spec.partition("#")
    check_address(address)
    found = fetch_address(address)
    name = file_name(address)
    known = without_packing(name).lower().endswith(ENDINGS)
    offered = name if known or not found.file else found.file  # `download?id=5` does not show the kind
    shown = address.partition("?")[0]
    if found.is_page:
        raise UsageError(f"{shown} is a page, not a table; give the address of the file itself, or fetch it by hand")
    if not found.content:
        raise UsageError(f"{shown} is empty; give the address of a table")
    part = unquote(part)
    return TableSource(name, stem(offered), (File(found.content, offered, part or None, form),), part=part)


def without_queries(text: str) -> str:
    """Return a text, such as a command, without the query (after `?`) of each address: it may contain a key."""
    return re.sub(r"""(https?://[^\s'"?#]+\?)[^\s'"#]+""", r"\1…", text, flags=re.IGNORECASE)


def name_of(spec: str) -> str:
    """Return the table's name in results: the last part of the address and the part after `#`, without a query."""
    address, sign, part = spec.partition("#")
    return f"{file_name(address)}{sign}{unquote(part)}"


def file_name(address: str) -> str:
    """Return the last part of an address's path; the host if there is no path."""
    parts = urlsplit(address)
    return unquote(parts.path.rstrip("/").rpartition("/")[2]).rpartition("/")[2] or parts.hostname or address
