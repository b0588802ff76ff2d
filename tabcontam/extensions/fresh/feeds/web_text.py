"""The text of a web page, or of HTML in a feed: its paragraphs, and the dates of publication that it states.

The text is read once, from left to right, without a tree of elements. Anyone may have written the page, and parsers
that build a tree need minutes for a malicious page: Python's html.parser (3.11) needs 118 s for 60 kB, the parser
Lexbor 445 s for 1 MB.
"""

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9:-]{0,30})([^<>]*)>")
ATTRIBUTE = re.compile(r"""([A-Za-z:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
HIDDEN = ("script", "style", "noscript", "template", "svg", "textarea", "select", "button")
AROUND = ("nav", "aside", "footer", "header", "form", "figure", "figcaption")  # not part of an article
BLOCKS = frozenset(
    ("p", "div", "li", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "table", "tr", "td", "th",
     "br", "section", "article", "main", "hr", "dl", "dt", "dd", "title", *AROUND)
)  # fmt: skip
PARAGRAPHS = ("p", "li", "blockquote")
DATES = ("article:published_time", "datepublished", "dc.date", "dcterms.created", "date", "parsely-pub-date")


@dataclass
class WebPage:
    """A page's blocks of text, each with the elements around it, and the publication dates that the page states."""

    blocks: list[tuple[frozenset[str], str, str]] = field(default_factory=list)  # around it, its element, its text
    dates: list[str] = field(default_factory=list)

    @property
    def article(self) -> tuple[str, ...]:
        """The paragraphs of the page's article; without a marked article, of its main part or of the whole page."""
        for place in ("article", "main", ""):
            found = [
                text
                for around, element, text in self.blocks
                if element in PARAGRAPHS and (not place or place in around) and around.isdisjoint(AROUND)
            ]
            if found:
                return tuple(found)
        return ()

    @property
    def text(self) -> tuple[str, ...]:
        """All blocks of text of the page, in order."""
        return tuple(text for _, _, text in self.blocks)


def page_of(text: str, *, most_characters: int = 4_000_000, most_dates: int = 20) -> WebPage:
    """Return the parsed page, or the parsed piece of HTML."""
    page, words = WebPage(), list[str]()
    opened: dict[str, int] = {}
    element = "p"

    def flush() -> None:
        block = " ".join(html.unescape("".join(words)).split())
        words.clear()
        if block:
            page.blocks.append((frozenset(name for name, count in opened.items() if count > 0), element, block))

    for kind, name, rest in _pieces(text[:most_characters]):
        if kind == "text":
            words.append(rest)
        elif kind == "script":
            page.dates += list(_stated(rest))[:most_dates]
        else:
            if name in BLOCKS:
                flush()
                element = name if kind == "open" else "p"
            if name == "meta" and kind == "open" and len(page.dates) < most_dates:
                own = {
                    found[1].lower(): found[2] or found[3] or found[4] or ""
                    for found in ATTRIBUTE.finditer(rest[:2000])
                }
                if (own.get("property") or own.get("name") or own.get("itemprop") or "").lower() in DATES:
                    page.dates.append(html.unescape(own.get("content", "")))
            if name in ("article", "main", *AROUND):
                opened[name] = max(0, opened.get(name, 0) + (1 if kind == "open" else -1))
    flush()
    return page


def _pieces(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the parts of a page as (kind, name, text). The kinds are `text`, `open`, `close` (of tags) and `script`."""
    place = 0
    while place < len(text):
        sign = text.find("<", place)
        if sign < 0:
            yield "text", "", text[place:]
            return
        if sign > place:
            yield "text", "", text[place:sign]
        if text.startswith(("<!--", "<!", "<?"), sign):
            end = text.find("-->" if text.startswith("<!--", sign) else ">", sign)
            place = len(text) if end < 0 else text.index(">", end) + 1
            continue
        tag = TAG.match(text, sign)
        if tag is None:
            yield "text", "", "<"
            place = sign + 1
            continue
        place, name = tag.end(), tag[2].lower().rpartition(":")[2]
        yield ("close" if tag[1] else "open"), name, tag[3]
        if name in HIDDEN and not tag[1] and not tag[3].rstrip().endswith("/"):
            closing = re.compile(rf"</{name}", re.IGNORECASE).search(text, place)  # its content is no HTML
            end = closing.start() if closing else len(text)
            if name == "script" and "ld+json" in tag[3].lower():
                yield "script", "", text[place:end]
            place = end


def _stated(script: str) -> Iterator[str]:
    """Yield the publication dates that a page states as linked data (schema.org)."""
    try:
        left = [json.loads(script)]
    except (ValueError, RecursionError):
        return
    for _ in range(200):
        if not left:
            return
        value = left.pop()
        if isinstance(value, list):
            left += value[:50]
        elif isinstance(value, dict):
            if isinstance(value.get("datePublished"), str):
                yield value["datePublished"]
            left += [inner for inner in value.values() if isinstance(inner, dict | list)][:50]
