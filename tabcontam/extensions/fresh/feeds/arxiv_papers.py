"""arXiv's API: papers by the day of their first submission, each with its LaTeX source.

Of the source, the abstract and the first section are read as plain text. arXiv delivers a tar archive or a single
gzipped file, with any content. Nothing is unpacked to disk, and an included file is read from the archive only.
"""

import gzip
import io
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import urlencode

from tabcontam.errors import UsageError
from tabcontam.extensions.fresh.feeds.base import PAPER, Dated, Document, UnusableText
from tabcontam.extensions.fresh.feeds.entries import FeedEntry, entries_of
from tabcontam.extensions.fresh.feeds.feed_cards import Feed
from tabcontam.extensions.fresh.feeds.polite_fetching import Fetcher
from tabcontam.extensions.fresh.feeds.web_text import page_of

A_PAGE = 50
ID = re.compile(r"https?://[^/]+/abs/((?:\d{4}\.\d{4,5}|[a-z-]{1,20}(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?)")
ATOM = "application/atom+xml"
LARGEST = 64 * 1024 * 1024  # bytes of an unpacked source
MOST_TEXT = 4_000_000  # characters of LaTeX
INPUT = re.compile(r"\\(?:input|include|subfile)\s*\{([^{}]{1,200})\}")
COMMENT = re.compile(r"(?<!\\)%[^\n]*")
SECTION = re.compile(r"\\section\s*\*?\s*(?:\[[^\[\]]{0,200}\])?\s*\{")
MATHEMATICS = ("equation", "align", "gather")
FLOATS = ("figure", "table", "algorithm", *MATHEMATICS, "tabular", "lstlisting", "verbatim", "tikzpicture")
# \citep[e.g.][]{…} and similar commands, with the blank before them
CITE = re.compile(r"[~ ]?\\(?:no)?[cC]ite[a-zA-Z]*\*?\s*(?:\[[^\[\]]{0,200}\]\s*){0,2}\{[^{}]{0,2000}\}")


def papers(
    feed: Feed, fetcher: Fetcher, since: date, until: date | None, dated: Dated, *, most_pages: int = 40
) -> Iterator[Document | UnusableText]:
    """Yield the papers first submitted from `since` to before `until`, newest first. For a paper that is left out, an
    `UnusableText` with the reason is yielded.

    arXiv's published date is the date of the first version. Raises `UsageError` if the answer is no Atom feed.
    """
    last = until - timedelta(days=1) if until else date(2999, 12, 31)
    span = f"submittedDate:[{since:%Y%m%d}0000 TO {last:%Y%m%d}2359]"
    query = f"({feed.query}) AND {span}" if feed.query else span
    for number in range(most_pages):
        asked = {"search_query": query, "sortBy": "submittedDate", "sortOrder": "descending",
                 "start": number * A_PAGE, "max_results": A_PAGE}  # fmt: skip
        page = fetcher.get(f"{feed.address}/api/query?{urlencode(asked)}", robots=False, accept=ATOM)
        entries = entries_of(page.content, page.charset, feed.address)
        for entry in entries:
            try:
                yield _paper(feed, fetcher, entry, dated)
            except UnusableText as reason:
                yield reason
        if len(entries) < A_PAGE:
            return


def _paper(feed: Feed, fetcher: Fetcher, entry: FeedEntry, dated: Dated) -> Document:
    found = ID.fullmatch(entry.id.strip())
    if not found:
        raise UnusableText("an entry that is no paper")
    published = dated(entry.published())
    source = fetcher.get(f"{feed.address}/e-print/{found[1]}", robots=False)
    paper = paper_of(source.content)
    title = " ".join(" ".join(page_of(entry.title).text).split())
    summary = paper.abstract or " ".join(" ".join(page_of(entry.summary).text).split())
    return Document(found[1], PAPER, entry.id.strip(), title, published, paper.introduction, summary)


@dataclass(frozen=True)
class PaperText:
    """The plain text of a paper, in paragraphs."""

    abstract: str
    introduction: tuple[str, ...]


# most_section: characters of one section
def paper_of(content: bytes, *, most_section: int = 200_000) -> PaperText:
    """Return the paper in a source from arXiv. Raises `UnusableText` if the source is not LaTeX or cannot be read."""
    files = _files(content)
    main = next((text for text in files.values() if "\\documentclass" in text and "\\begin{document}" in text), None)
    if main is None:
        raise UnusableText("no LaTeX source")
    whole = _included(main, files)
    body = whole.partition("\\begin{document}")[2] or whole
    heads = [found.end() for found in SECTION.finditer(body)]
    if not heads:
        raise UnusableText("a paper without sections")
    start = body.find("}", heads[0]) + 1
    after = SECTION.search(body, start)
    end = after.start() if after else body.find("\\end{document}", start)
    section = body[start : end if end > 0 else len(body)][:most_section]
    abstract = re.search(r"\\begin\{abstract\}(.{1,20000}?)\\end\{abstract\}", whole, re.DOTALL)
    short = " ".join(plain(abstract[1] if abstract else "").split())
    paragraphs = (" ".join(part.split()) for part in re.split(r"\n\s*\n", plain(section)))
    return PaperText(short, tuple(filter(None, paragraphs)))


def plain(latex: str) -> str:
    """Return LaTeX as plain text, without floats, citations and cross-references. Raises `UnusableText`."""
    try:
        from pylatexenc.latex2text import LatexNodes2Text
    except ImportError:
        raise UsageError('LaTeX is read by pylatexenc; type: pip install "tabcontam[fresh]"') from None

    for name in FLOATS:
        latex = _without(latex, name)
    latex = CITE.sub("", latex)
    latex = re.sub(r"\\(?:label|vspace|hspace|noindent|thispagestyle)\*?(?:\{[^{}]{0,200}\})?", "", latex)
    try:
        text = str(LatexNodes2Text(math_mode="text", keep_comments=False).latex_to_text(latex))
    except (RecursionError, ValueError, IndexError, KeyError, TypeError, AttributeError):
        raise UnusableText("LaTeX that cannot be read") from None
    return re.sub(r"\s*<(?:cit|ref)\.?>", "", text)


def _without(latex: str, name: str) -> str:
    """Return the text without the environments called `name` or `name*`."""
    parts, place = [], 0
    while (start := latex.find(f"\\begin{{{name}", place)) >= 0:
        end = latex.find(f"\\end{{{name}", start)
        if end < 0:
            break
        parts.append(latex[place:start])
        place = latex.find("}", end) + 1 or len(latex)
    return "".join([*parts, latex[place:]])


# deepest: the most levels of files that include files
def _included(text: str, files: Mapping[str, str], *, deepest: int = 5) -> str:
    """Return the text with included files of the archive inserted, also inside included files, each at most once."""
    text, left = COMMENT.sub("", text), dict(files)

    def inside(found: re.Match[str]) -> str:
        name = found[1].strip().removeprefix("./")
        return COMMENT.sub("", left.pop(name, "") or left.pop(f"{name}.tex", ""))

    for _ in range(deepest):
        text = INPUT.sub(inside, text)[:MOST_TEXT]
    return text


def _files(content: bytes) -> dict[str, str]:
    """Return the TeX files of a source by their names."""
    if content.startswith(b"%PDF"):
        raise UnusableText("no LaTeX source")
    try:
        if content.startswith(b"\x1f\x8b"):
            with gzip.open(io.BytesIO(content)) as packed:
                content = packed.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error):
        raise UnusableText("a source that is cut off") from None
    if len(content) > LARGEST:
        raise UnusableText("a source larger than any paper")
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as tar:
            return dict(_members(tar))
    except tarfile.TarError:
        return {"": _text(content)}


def _members(tar: tarfile.TarFile) -> list[tuple[str, str]]:
    found, size = [], 0
    for number, member in enumerate(tar):
        if number >= 2000 or size > MOST_TEXT:
            break
        if member.isfile() and member.name.lower().endswith((".tex", ".ltx")):
            file = tar.extractfile(member)
            text = _text(file.read(MOST_TEXT)) if file else ""
            size += len(text)
            found.append((member.name.removeprefix("./"), text))
    return found


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")  # the older encoding of TeX; it never fails
