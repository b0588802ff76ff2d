"""RSS and Atom: the entries of a feed, with every date that they state, and the texts of a feed such as a newspaper's.

The XML parser Expat reads them strictly: a text that is not well-formed is an error. A DOCTYPE is an error, too: the
entities that it declares can grow without bound (the billion laughs) or fetch files. Only the usual encodings of feeds
are accepted.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urljoin
from xml.etree.ElementTree import Element, TreeBuilder, tostring
from xml.parsers import expat

from tabcontam.errors import UsageError, one_line
from tabcontam.extensions.fresh.feeds.base import NEWS, Dated, Document, UnusableText
from tabcontam.extensions.fresh.feeds.date_ranges import InstantRange, instants_of
from tabcontam.extensions.fresh.feeds.feed_cards import PAGE, Feed
from tabcontam.extensions.fresh.feeds.polite_fetching import Fetcher
from tabcontam.extensions.fresh.feeds.web_text import page_of

DEEPEST, MOST_ELEMENTS = 100, 200_000
DECLARED = re.compile(rb"""<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
ENCODINGS = re.compile(
    r"utf-?8|utf-?16(-?[lb]e)?|us-ascii|ascii|iso-?8859-?\d{1,2}|latin-?1|windows-125\d|cp125\d|koi8-[ru]|shift_jis|"
    r"euc-(jp|kr)|gb(2312|k|18030)|big5",
    re.IGNORECASE,
)
PUBLISHED = ("published", "pubDate", "issued", "created", "date")  # Atom, RSS 2.0, Atom 0.3, Dublin Core
CHANGED = ("updated", "modified")


class _RefusedError(Exception):
    """The error for a feed that is refused; the message is the reason."""


@dataclass(frozen=True)
class FeedEntry:
    """An entry of a feed. `dates` are all publication dates that it states, `changed` all dates of its last change.

    `summary` and `content` are HTML or plain text.
    """

    id: str
    title: str
    link: str
    summary: str
    content: str
    dates: tuple[str, ...]
    changed: tuple[str, ...]

    def published(self) -> InstantRange | None:
        """Return when the entry was published: its earliest stated date; None if dates are missing or unreadable.

        A date of its last change counts only if it is earlier than the publication dates.
        """
        found = [instants_of(date) for date in self.dates]
        if not found or not all(found):
            return None
        known = [one for one in (*found, *map(instants_of, self.changed)) if one is not None]
        return min(known)


def entries_of(content: bytes, charset: str, name: str) -> list[FeedEntry]:
    """Return the entries of a feed in its order. Raises `UsageError`, which contains `name`, if it is no feed."""
    try:
        root = _parsed(_decoded(content, charset))
    except (_RefusedError, expat.ExpatError) as error:
        raise UsageError(f"{name} cannot be read as a feed: {one_line(error)}") from None
    if _local(root.tag) not in ("rss", "feed", "RDF"):
        raise UsageError(f"{name} is not a feed of RSS or Atom: it begins with <{_local(root.tag)[:40]}>")
    return [_entry(found) for found in root.iter() if _local(found.tag) in ("item", "entry")]


def _decoded(content: bytes, charset: str) -> str:
    """Return a feed's text. Its byte order mark, XML declaration or server states the encoding, else it is UTF-8."""
    declared = DECLARED.match(content[:200].lstrip())
    marks = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
    marked = next((encoding for mark, encoding in marks.items() if content.startswith(mark)), "")
    encoding = marked or (declared[1].decode("ascii") if declared else charset) or "utf-8"
    if not marked and not ENCODINGS.fullmatch(encoding):
        raise _RefusedError(f"its encoding {encoding!r} is not allowed in feeds")
    try:
        return content.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise _RefusedError(f"it is not in the encoding {encoding} that it declares: {one_line(error, 80)}") from None


def _parsed(text: str) -> Element:
    builder, depth, count = TreeBuilder(), 0, 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth, count
        depth, count = depth + 1, count + 1
        if depth > DEEPEST or count > MOST_ELEMENTS:
            raise _RefusedError(f"its elements are nested deeper than {DEEPEST}, or are more than {MOST_ELEMENTS:,}")
        builder.start(_tag(name), attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_tag(name))

    def refuse(*declared: object) -> None:
        raise _RefusedError("it declares a document type, which can contain harmful entities")

    parser = expat.ParserCreate("utf-8", namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse
    parser.Parse(text.encode("utf-8", "replace"), True)
    return builder.close()


def _tag(name: str) -> str:
    return f"{{{name}" if "}" in name else name


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _entry(found: Element) -> FeedEntry:
    own: dict[str, list[Element]] = {}
    for child in found:
        own.setdefault(_local(child.tag), []).append(child)

    def first(*names: str) -> str:
        return next((text for name in names for one in own.get(name, []) if (text := _html(one).strip())), "")

    def dates(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(text for name in names for one in own.get(name, []) if (text := (one.text or "").strip()))

    link = _link(own.get("link", [])) or first("guid")
    name, summary, content = first("id", "guid") or link, first("summary", "description"), first("encoded", "content")
    return FeedEntry(name, first("title"), link, summary, content, dates(PUBLISHED), dates(CHANGED))


def _link(links: list[Element]) -> str:
    """Return the address of an entry's page: the text of `<link>` in RSS, the link with `rel="alternate"` in Atom."""
    for link in links:
        if link.get("href") and link.get("rel", "alternate") == "alternate":
            return str(link.get("href"))
    return next((text for link in links if (text := (link.text or "").strip())), "")


def _html(element: Element) -> str:
    """Return an element's content as HTML, with any elements inside it, which Atom allows."""
    if len(element) == 0:
        return element.text or ""
    return "".join([element.text or "", *(tostring(child, "unicode", "html") for child in element)])


def articles(feed: Feed, fetcher: Fetcher, dated: Dated) -> Iterator[Document | UnusableText]:
    """Yield the articles in the feed's order, and an `UnusableText` for each one left out. `dated` checks dates."""
    try:
        found = fetcher.get(feed.address)
    except UnusableText as reason:
        raise UsageError(f"{feed.address} cannot be read: {reason}") from None
    for entry in entries_of(found.content, found.charset, feed.address):
        try:
            yield _article(feed, fetcher, entry, dated)
        except UnusableText as reason:
            yield reason


def _article(feed: Feed, fetcher: Fetcher, entry: FeedEntry, dated: Dated) -> Document:
    published = dated(entry.published())
    address, summary = urljoin(feed.address, entry.link), " ".join(page_of(entry.summary).text)
    if feed.text != PAGE:
        paragraphs = page_of(entry.content or entry.summary).text
        summary = summary if entry.content else ""
    else:
        held = fetcher.get(address, accept="text/html")
        try:
            text = held.content.decode(held.charset or "utf-8")
        except (UnicodeDecodeError, LookupError):
            raise UnusableText("a page that is not in the encoding that it declares") from None
        page = page_of(text)
        stated = [instants_of(date) for date in page.dates]
        if not all(stated):
            raise UnusableText("with an unreadable date on its page")
        # A feed may list old pages again.
        published = dated(min([published, *(one for one in stated if one is not None)]))
        paragraphs = page.article
    title = " ".join(page_of(entry.title).text)
    return Document(entry.id or address, NEWS, address, title, published, paragraphs, summary)
