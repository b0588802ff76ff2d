"""Cards of feeds: TOML files that state where dated texts are published, and how they are fetched.

The shipped cards are in `feeds/`. A user's own card is named by its path.
"""

import re
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from tabcontam.errors import UsageError, one_line, option, unknown
from tabcontam.paths import read_regular, shipped
from tabcontam.tables.sources.web_files import check_address
from tabcontam.tables.toml_files import SUFFIX, check_fields

FOLDER = "feeds"
FEED, ARXIV, GITHUB = KINDS = ("feed", "arxiv", "github")
ENTRY, PAGE = TEXTS = ("entry", "page")
NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,99}")


@dataclass(frozen=True)
class Feed:
    """A source of dated texts.

    `kind` is the interface at the `address`: an RSS or Atom feed, arXiv's API, or GitHub's. `text` states where the
    texts are: in the entries, or on the pages that the entries link to. Pages are fetched only from the feed's own host
    and from `hosts`. `query` narrows the search of arXiv or GitHub. `seconds` is the least time between two requests to
    a host. `token` is the environment variable that contains an API token. The token is sent only to the host of
    `address`. Only the user or a shipped card may name the variable. Only texts of `min_words` to `max_words` words are
    used (Li, Guerin and Lin 2024 use readmes of at least 100 words, and no text of more than 1,800).
    """

    name: str
    title: str
    kind: str
    address: str
    text: str = ENTRY
    hosts: tuple[str, ...] | None = None
    query: str = ""
    seconds: float | None = None
    token: str = ""
    min_words: int = 100
    max_words: int = 1800
    licence: str = ""

    @property
    def host(self) -> str:
        """The host of the address, with the port."""
        return urlsplit(self.address).netloc.lower()

    @property
    def pause(self) -> float:
        """The seconds between two requests to one host."""
        return 1.0 if self.seconds is None else self.seconds

    def at(self, address: str, token: str = "") -> "Feed":
        """Return this feed with another address. `token` is the variable with the token for it, named by the user."""
        check_address(address)
        return replace(self, address=address.rstrip("/") if self.kind != FEED else address, token=token)


@cache
def shipped_feeds() -> dict[str, Feed]:
    """Return the shipped cards by their names."""
    return {feed.name: feed for feed in map(read_feed, sorted(shipped(FOLDER).glob(f"*{SUFFIX}")))}


def find_feed(source: str) -> Feed | None:
    """Return the named feed: a shipped card, or a user's own by its path; None if `source` names no feed.

    A TOML file without a `kind` is not a feed's card. Raises `UsageError` for a card that breaks the schema, and for a
    user's own card that names a token's variable.
    """
    if not source.endswith(SUFFIX):
        return shipped_feeds().get(source)
    path = Path(source).expanduser()
    try:
        raw = tomllib.loads(read_regular(path).decode("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None  # another reader of this file reports the fault
    if "kind" not in raw:
        return None
    feed = read_feed(path)
    if feed.token and feed not in shipped_feeds().values():  # else the card's author could send a key anywhere
        raise UsageError(
            f"card of a feed {path}: token names an environment variable, and only you may choose where a key is sent; "
            f"delete the line, and name the variable after the address: {option('address', 'https://HOST/PATH#MY_TOKEN')}"
        )
    return feed


def read_feed(path: Path) -> Feed:
    """Return the card in a file. Raises `UsageError`, which names the file and the wrong key."""
    try:
        raw = tomllib.loads(read_regular(path).decode("utf-8"))
        feed = Feed(**check_fields(Feed, raw, "the card"))
        _check(feed)
        return feed
    except (OSError, ValueError, RecursionError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or one_line(error)
        raise UsageError(f"card of a feed {path} cannot be read: {reason}") from None


def _check(feed: Feed) -> None:
    """Check the values of the fields, not only their types. Raises `ValueError`, or `UsageError` for the address."""
    if not NAME.fullmatch(feed.name):
        raise ValueError(f"name cannot be {feed.name!r}; write a-z, 0-9, - and _")
    if feed.kind not in KINDS:
        raise unknown("kind of feed", feed.kind, KINDS)
    if feed.text not in TEXTS:
        raise unknown("text of a feed", feed.text, TEXTS)
    if feed.token and not VARIABLE.fullmatch(feed.token):
        raise ValueError("token is the name of an environment variable, in capitals; never the token itself")
    if not 0 <= feed.pause <= 3600:
        raise ValueError(f"seconds cannot be {feed.seconds}; write a number from 0 to 3600")
    if not 1 <= feed.min_words <= feed.max_words:
        raise ValueError(f"min_words is {feed.min_words} and max_words {feed.max_words}; write 1 or more, in order")
    check_address(feed.address)
