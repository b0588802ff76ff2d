"""Polite fetching: requests no more often than a host allows, only what robots.txt allows, and nothing twice.

Fetched answers are stored in the cache folder, which only the user can read. The server's headers ETag and
Last-Modified are stored, too, and later requests send them. `requests.jsonl` in the folder of an evaluation set lists
the addresses that were fetched for it. The same command does not request them again.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, Request

from tabcontam.errors import UsageError, one_line
from tabcontam.extensions.fresh.feeds.base import UnusableText, writing
from tabcontam.paths import last_line_is_cut_off, replace_file
from tabcontam.tables.editions import cache_folder
from tabcontam.tables.timed_connections import opener
from tabcontam.version import __version__

REQUESTS = "requests.jsonl"
AGENT = "tabcontam"
LARGEST = 32 * 1024 * 1024  # bytes of one answer
REDIRECTS = 5
MOST_WAIT = 120.0  # seconds; if a server asks for a longer wait, the command ends
CROWDED = (403, 429, 503)  # answers that may state how long to wait
PATIENCE = (1.0, 4.0)  # seconds before another try


class FetchError(UsageError):
    """The error for an address that cannot be fetched now; the message is one line."""


@dataclass(frozen=True)
class PageContent:
    """The bytes at an address. `address` is the last after redirects, `charset` the encoding that its server states."""

    content: bytes
    address: str
    charset: str = ""
    links: str = ""  # the header Link, in which an API names its next page


@dataclass
class Fetcher:
    """A client of one feed's hosts that sends one request at a time.

    `hosts` are the hosts that may be contacted. A page on another host is left out, also after a redirect, because a
    feed must not choose the hosts. `token` is sent only to the origin `token_at`, such as https://host.
    """

    folder: Path
    hosts: frozenset[str]
    pause: float = 1.0
    token: str = ""
    token_at: str = ""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    asked: int = 0
    _before: dict[str, dict[str, Any]] = field(default_factory=dict)
    _last: dict[str, float] = field(default_factory=dict)
    _robots: dict[str, Any] = field(default_factory=dict)
    _pauses: dict[str, float] = field(default_factory=dict)
    _failed: int = 0  # consecutive addresses that failed

    def __post_init__(self) -> None:
        for line in _lines(self.folder / REQUESTS):
            self._before[line["address"]] = line

    def get(self, address: str, *, robots: bool = True, accept: str = "*/*") -> PageContent:
        """Return the content at an address. Raises `UnusableText` or `FetchError` if it cannot be fetched.

        `robots` means that robots.txt is respected; it is False only for interfaces that are made for programs.
        """
        for _ in range(REDIRECTS + 1):
            self._check(address)
            if robots and not self._allowed(address):
                raise UnusableText("robots.txt forbids it")
            answer = self._once(address, accept)
            if answer["status"] == 200:
                content = _kept(address, answer.get("sha256", ""))
                if content is None:
                    raise FetchError(f"{shown(address)} was fetched, but cannot be stored in {_folder(address).parent}")
                return PageContent(content, address, answer.get("charset", ""), answer.get("links", ""))
            if "location" not in answer:
                raise UnusableText(f"HTTP {answer['status']}")
            address = self._led(address, answer["location"])
        raise UnusableText("too many redirects")

    def _led(self, address: str, location: str) -> str:
        """Return the target of a redirect. Raises `UnusableText` if there is none, or if it is HTTP, not HTTPS."""
        try:
            after = urljoin(address, location)
        except ValueError:
            raise UnusableText("no address of the web") from None
        if address.startswith("https:") and not after.startswith("https:"):
            raise UnusableText("a redirect from https to an unsafe address")
        return after

    def _check(self, address: str) -> None:
        """Raise `UnusableText` for an address that this feed may not use."""
        try:
            parts = urlsplit(address)
            host = parts.netloc.lower()
        except ValueError:
            raise UnusableText("no address of the web") from None
        if parts.scheme not in ("http", "https") or not host or "@" in host:
            raise UnusableText("no address of the web")
        if host not in self.hosts:
            raise UnusableText("on a host that the feed's card does not name")

    def _allowed(self, address: str) -> bool:
        """Return whether robots.txt allows an address (RFC 9309); True without the file. Raises `FetchError`."""
        parts = urlsplit(address)
        root = f"{parts.scheme}://{parts.netloc}"
        if root not in self._robots:
            self._robots[root] = self._rules(root)
        rules = self._robots[root]
        if rules is None:
            return True
        delay = rules.crawl_delay(AGENT)
        self._pauses[parts.netloc.lower()] = min(float(delay), MOST_WAIT) if delay else 0.0
        return bool(rules.can_fetch(address, AGENT))

    def _rules(self, root: str) -> Any:
        try:
            from protego import Protego
        except ImportError:
            raise UsageError('robots.txt is read by protego; type: pip install "tabcontam[fresh]"') from None

        address = f"{root}/robots.txt"
        try:
            for _ in range(REDIRECTS + 1):
                answer = self._once(address, "text/plain")
                if "location" not in answer:
                    break
                address = self._led(address, answer["location"])
                self._check(address)
        except (FetchError, UnusableText) as error:
            raise FetchError(
                f"{root}/robots.txt cannot be read ({error}); its rules are unknown, so nothing is fetched"
            ) from None
        content = _kept(address, answer.get("sha256", "")) if answer["status"] == 200 else None
        return Protego.parse(content[:512_000].decode("utf-8", "replace")) if content is not None else None

    # dead: consecutive failing addresses after which the server counts as unreachable
    def _once(self, address: str, accept: str, *, tries: int = 3, dead: int = 3) -> dict[str, Any]:
        """Return the answer to a request. It is sent only if the journal (`requests.jsonl`) and the cache lack it.

        Raises `UnusableText` if the request fails. Raises `FetchError` if several addresses in a row fail, or if the
        server asks for a long wait.
        """
        known = self._before.get(address)
        if known and (known["status"] != 200 or _kept(address, known.get("sha256", "")) is not None):
            return known
        for number in range(tries):
            try:
                line = self._sent(address, accept)
            except _RetryLaterError as later:
                if later.wait > MOST_WAIT:
                    raise FetchError(
                        f"{shown(address)}: its server asks to wait {later.wait:,.0f} s (HTTP {later.status}); "
                        "then type the same command, which goes on"
                    ) from None
                wait, reason = later.wait, f"HTTP {later.status}"
            except (OSError, HTTPException, ValueError) as error:
                wait, reason = PATIENCE[min(number, len(PATIENCE) - 1)], one_line(error, 120)
            else:
                self._note(line)
                self._failed = 0
                return line
            if number + 1 < tries:
                self.sleep(wait)
        reason = reason.removeprefix("<urlopen error ").removesuffix(">")
        self._failed += 1
        if self._failed >= dead:
            raise FetchError(f"{shown(address)} cannot be fetched ({reason}); the same command continues later")
        raise UnusableText(f"cannot be fetched now ({reason})")

    # silence_seconds: the longest time without a new byte
    def _sent(self, address: str, accept: str, *, silence_seconds: float = 30.0) -> dict[str, Any]:
        """Send one request when the pause of its host is over, and return the journal's line for its answer."""
        self._wait(urlsplit(address).netloc.lower())
        about = _about(address)
        headers = {"User-Agent": f"{AGENT}/{__version__}", "Accept": accept}
        for name, key in (("If-None-Match", "etag"), ("If-Modified-Since", "modified")):
            if about is not None and about.get(key):
                headers[name] = about[key]
        if self.token and origin(address) == self.token_at:
            headers["Authorization"] = f"Bearer {self.token}"
        request = Request(quote(address, safe=":/?#[]@!$&'()*+,;=%~"), headers=headers)  # noqa: S310 (checked above)
        self.asked += 1
        try:
            with opener(_NoRedirect).open(request, timeout=silence_seconds) as response:
                content = _read(response, self.clock)
                stated = response.headers
        except HTTPError as error:
            with error:
                return self._refused(address, error, about)
        about = {
            "sha256": hashlib.sha256(content).hexdigest(),
            "etag": stated.get("ETag", ""),
            "modified": stated.get("Last-Modified", ""),
            "charset": stated.get_content_charset() or "",
            "links": stated.get("Link", ""),
        }
        _keep(address, content, about)
        return _line(address, 200, about)

    def _refused(self, address: str, error: HTTPError, about: Mapping[str, str] | None) -> dict[str, Any]:
        status, headers = error.code, error.headers
        if status == 304 and about is not None:
            return _line(address, 200, about)
        if status in (301, 302, 303, 307, 308) and headers.get("Location"):
            return {**_line(address, status, {}), "location": headers["Location"]}
        if status in CROWDED and (wait := _asked_to_wait(headers)) is not None:
            raise _RetryLaterError(status, wait)
        if status >= 500 or status in (408, 429):
            raise OSError(f"HTTP {status}")
        return _line(address, status, {})

    def _wait(self, host: str) -> None:
        pause = max(self.pause, self._pauses.get(host, 0.0))
        left = self._last.get(host, -pause) + pause - self.clock()
        if left > 0:
            self.sleep(left)
        self._last[host] = self.clock()

    def _note(self, line: dict[str, Any]) -> None:
        """Record an answer in the journal. Raises `UsageError` if it cannot be written."""
        self._before[line["address"]] = line
        path = self.folder / REQUESTS
        text = json.dumps(line) + "\n"
        with writing(path), path.open("ab") as file:
            file.write((b"\n" if last_line_is_cut_off(path) else b"") + text.encode())


class _RetryLaterError(Exception):
    def __init__(self, status: int, wait: float) -> None:
        super().__init__(status)
        self.status, self.wait = status, wait


class _NoRedirect(HTTPRedirectHandler):
    """A handler that follows no redirect, because each target is first checked as a new address."""

    def redirect_request(self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str) -> None:
        return None


def origin(address: str) -> str:
    """Return the scheme and the host of an address, such as https://host."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}".lower()


def shown(address: str) -> str:
    """Return an address for messages, without the parts that may contain a key."""
    return address.partition("?")[0]


def _line(address: str, status: int, about: Mapping[str, str]) -> dict[str, Any]:
    return {"address": address, "status": status, "at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", **about}


def _lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of the journal. A line that a crash cut off is skipped."""
    found = []
    with suppress(OSError), path.open(encoding="utf-8", errors="replace") as file:
        for text in file:
            with suppress(ValueError, RecursionError, AttributeError):
                line = json.loads(text)
                if isinstance(line.get("address"), str) and isinstance(line.get("status"), int):
                    found.append(line)
    return found


def _asked_to_wait(headers: Any) -> float | None:
    """Return the seconds that a server asks to wait, by Retry-After or GitHub's headers; None without them."""
    stated, now = str(headers.get("Retry-After") or "").strip(), time.time()
    if stated.isdecimal():
        return float(stated)
    with suppress(ValueError, TypeError, OverflowError):  # times are those of the server's clock
        now = parsedate_to_datetime(headers.get("Date")).timestamp()
    if stated:
        with suppress(ValueError, TypeError, OverflowError):
            return max(0.0, parsedate_to_datetime(stated).timestamp() - now)
    if headers.get("X-RateLimit-Remaining") == "0" and str(headers.get("X-RateLimit-Reset") or "").isdecimal():
        return max(0.0, float(headers["X-RateLimit-Reset"]) - now)
    return None


def _read(response: Any, clock: Callable[[], float], *, whole_seconds: float = 120.0, chunk: int = 256 * 1024) -> bytes:
    """Return all bytes of a response. Raises `OSError` if it is cut off, too large or too slow."""
    deadline, parts, size = clock() + whole_seconds, [], 0
    while part := response.read1(chunk):  # in small reads, between which the time is checked
        parts.append(part)
        size += len(part)
        if size > LARGEST:
            raise OSError(f"it is larger than {LARGEST // 1024**2} MiB")
        if clock() > deadline:
            raise OSError(f"it takes longer than {whole_seconds:.0f} s")
    stated = str(getattr(response, "headers", {}).get("Content-Length") or "")
    if stated.isdecimal() and int(stated) != size:
        raise OSError(f"it ended after {size:,} of {int(stated):,} bytes")
    return b"".join(parts)


def _folder(address: str) -> Path:
    digest = hashlib.sha256(address.encode("utf-8", "backslashreplace")).hexdigest()
    return cache_folder().parent / "feeds" / digest[:32]


def _about(address: str) -> dict[str, str] | None:
    """Return the cached facts about an address; None if the cache lacks any of them."""
    try:
        about = json.loads((_folder(address) / "about.json").read_text("utf-8"))
        fields = {str(key): str(value) for key, value in about.items()}
        return fields if _kept(address, fields["sha256"]) is not None else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _kept(address: str, sha256: str) -> bytes | None:
    """Return the cached bytes of an address if their SHA-256 is this one, else None."""
    try:
        content = (_folder(address) / "content").read_bytes()
    except OSError:
        return None
    return content if hashlib.sha256(content).hexdigest() == sha256 else None


def _keep(address: str, content: bytes, about: Mapping[str, str]) -> None:
    """Store an answer atomically. Raises `UsageError` if that fails, because the answer would be requested again."""
    folder = _folder(address)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.parent.chmod(0o700)
        for name, text in (("content", content), ("about.json", json.dumps(about).encode())):
            replace_file(folder / name, text)
            os.chmod(folder / name, 0o600)
