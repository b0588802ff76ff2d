"""Content of web addresses, fetched once, within limits, and stored in a cache folder that only the user can read."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, Request

from tabcontam.errors import UsageError, one_line
from tabcontam.paths import replace_file
from tabcontam.tables.editions import cache_folder
from tabcontam.tables.readers import base
from tabcontam.tables.timed_connections import opener

ABOUT = "about.json"
CONTENT = "content"
PAGE = (b"<!doctype html", b"<html")
LEAVE = (401, 403)


@dataclass(frozen=True)
class FetchedFile:
    """The bytes, the file name that the server states ("" if none), and the media type."""

    content: bytes
    file: str = ""
    kind: str = ""

    @property
    def is_page(self) -> bool:
        """True if the content is a web page, such as one to log in on."""
        return self.content.lstrip()[:15].lower().startswith(PAGE)


def key_in(variable: str) -> str:
    """Return the key in an environment variable, "" if it is not set.

    Raises `UsageError` for a value that cannot be a key, since libraries would show it in their error messages.
    """
    key = os.environ.get(variable, "").strip() if variable else ""
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise UsageError(f"{variable} holds characters that no key has; set it to the key alone")
    return key


def fetch_address(address: str, token: str | None = None, *, forbidden: str = "") -> FetchedFile:
    """Return the content of an address. It is fetched once and then read from the cache folder.

    The `token` is sent only to the address's host, never to a host that it redirects to. If `forbidden` has a reason
    not to fetch, only the cache is read. Raises `UsageError` for an invalid address or response, and for a response
    above a limit.
    """
    check_address(address)
    folder = cache_folder().parent / "fetched" / hashlib.sha256(address.encode()).hexdigest()[:32]
    if (kept := _cached(folder)) is not None:
        return kept
    if forbidden:
        raise UsageError(f"{address} was not fetched before, and {forbidden}")
    found = _from_network(address, token)
    if not found.is_page:
        _keep(folder, found)
    return found


def read_description(fetch: Callable[[], FetchedFile], unknown: Mapping[str, str]) -> Any:
    """Return the JSON in which a site describes a dataset; None if the fetched content is no JSON.

    Raises `UsageError` as `fetch` does, with the message in `unknown` for the site's answer to an unknown name.
    """
    try:
        return json.loads(fetch().content)
    except UsageError as error:
        message = next((message for answer, message in unknown.items() if answer in str(error)), None)
        if message is None:
            raise
        raise UsageError(message) from None
    except (ValueError, RecursionError):
        return None


def check_address(address: str) -> None:
    """Check that a text is a web address without a password. Raises `UsageError` if not."""
    try:
        parts = urlsplit(address)
        host, user, _ = parts.hostname, parts.username, parts.port
    except ValueError as error:
        raise UsageError(f"{address} is no address of the web: {one_line(error)}") from None
    if parts.scheme not in ("http", "https") or not host:
        problem = f"{address} is no address of the web"
        raise UsageError(f"{problem}; give one that begins with https:// and a host, or fetch the file and give it")
    if user is not None:
        problem = f"an address with a name or password before {host} would stand in the report"
        raise UsageError(f"{problem}; fetch the file yourself, and give the file")


def _cached(folder: Path) -> FetchedFile | None:
    try:
        about = json.loads((folder / ABOUT).read_text("utf-8"))
        content = (folder / CONTENT).read_bytes()
        whole = hashlib.sha256(content).hexdigest() == about["sha256"]
        return FetchedFile(content, str(about["file"]), str(about["kind"])) if whole else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _keep(folder: Path, found: FetchedFile) -> None:
    """Write the content, completely or not at all. The address is not stored, since it may contain a key."""
    about = {"sha256": hashlib.sha256(found.content).hexdigest(), "file": found.file, "kind": found.kind}
    with suppress(OSError):  # if the cache cannot be written, the run goes on
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.parent.chmod(0o700)
        for name, content in ((CONTENT, found.content), (ABOUT, json.dumps(about).encode())):
            replace_file(folder / name, content)
            (folder / name).chmod(0o600)


# silence_seconds: longest time without a byte
def _from_network(address: str, token: str | None, *, silence_seconds: float = 30.0) -> FetchedFile:
    request = Request(quote(address, safe=":/?#[]@!$&'()*+,;=%~"), headers={"User-Agent": "tabcontam"})  # noqa: S310
    if token:
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    shown = address.partition("?")[0]
    try:
        with opener(_CarefulRedirects).open(request, timeout=silence_seconds) as response:
            content = _content(response, shown)
            named, kind = response.headers.get_filename("") or "", response.headers.get_content_type()
    except HTTPError as error:
        error.close()
        message = f"{shown} cannot be fetched (HTTP {error.code} {one_line(Exception(error.reason), 80)})"
        advice = "; try again later" if error.code >= 500 else "; check the address"
        if error.code in LEAVE:
            advice = ": it asks for a login; fetch the file yourself, and give the file"
        raise UsageError(message + advice) from None
    except (OSError, HTTPException, ValueError) as error:
        reason = one_line(error).removeprefix("<urlopen error ").removesuffix(">")
        raise UsageError(f"{shown} cannot be fetched ({reason}); try again, or give the file itself") from None
    return FetchedFile(content, os.path.basename(named.replace("\\", "/")), kind)


def _content(response: Any, shown: str, *, whole_seconds: float = 600.0, chunk: int = 1024 * 1024) -> bytes:
    """Return all bytes of a response. Raises `UsageError` above the limits of size and time, OSError if cut off."""
    deadline, parts, size = time.monotonic() + whole_seconds, [], 0
    while part := response.read1(chunk):  # in small parts, to check the time after each
        parts.append(part)
        size += len(part)
        if size > base.LARGEST:
            raise UsageError(f"{shown} is larger than {base.LARGEST // 1024**2} MiB; fetch it, and give a part of it")
        if time.monotonic() > deadline:
            raise UsageError(f"{shown} takes longer than {whole_seconds / 60:.0f} minutes; fetch it, and give the file")
    stated = response.headers.get("Content-Length", "")
    if stated.isdecimal() and int(stated) != size:
        raise OSError(f"it ended after {size:,} of {int(stated):,} bytes")
    return b"".join(parts)


class _CarefulRedirects(HTTPRedirectHandler):
    """A handler of redirects: https must stay https, and another host does not get the token."""

    max_redirections = 5

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        """Return the request to the new address. Raises OSError if the redirect is not allowed."""
        before, after = urlsplit(req.full_url), urlsplit(urljoin(req.full_url, newurl))
        if after.scheme != "https" and (before.scheme == "https" or after.scheme != "http"):
            fp.close()
            raise OSError(f"it redirects to {after.scheme}://{after.hostname or ''}, which is not safe")
        made = super().redirect_request(req, fp, code, msg, headers, newurl)
        token: Mapping[str, str] = req.unredirected_hdrs
        same_host = (before.scheme, before.netloc) == (after.scheme, after.netloc)
        if made is not None and same_host and "Authorization" in token:
            made.add_unredirected_header("Authorization", token["Authorization"])
        return made
