"""Texts from loopback servers that speak the real protocols: which are taken, how politely, and what is hostile."""

import gzip
import io
import json
import tarfile
import time
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from tabcontam.errors import UsageError
from tabcontam.extensions.fresh.feeds import arxiv_papers, entries
from tabcontam.extensions.fresh.feeds.arxiv_papers import paper_of
from tabcontam.extensions.fresh.feeds.base import Document, UnusableText
from tabcontam.extensions.fresh.feeds.collecting import TextCollection, collect, fetcher_of
from tabcontam.extensions.fresh.feeds.date_ranges import start_of
from tabcontam.extensions.fresh.feeds.entries import entries_of
from tabcontam.extensions.fresh.feeds.feed_cards import find_feed, read_feed, shipped_feeds
from tabcontam.extensions.fresh.feeds.polite_fetching import REQUESTS, Fetcher, FetchError
from tabcontam.extensions.fresh.feeds.web_text import page_of
from tests.extensions.fresh.loopback_feeds import Answer, FeedServer
from tests.made_passages import MARCH, Text, made_text, made_texts
from tests.needed import needed

needed("protego")
needed("pylatexenc")

SINCE = date(2026, 3, 1)
NOW = datetime(2026, 11, 25, tzinfo=UTC)
KINDS = ("feed", "arxiv", "github")
HOUR = timedelta(hours=1)


def collected(server: FeedServer, folder: Path, kind: str = "feed", most: int = 50, **fields: object) -> TextCollection:
    folder.mkdir(exist_ok=True)
    (folder / "card.toml").write_text(server.card(kind, **{"min_words": 20, **fields}), "utf-8")
    feed = read_feed(folder / "card.toml")
    return collect(feed, fetcher_of(feed, folder), SINCE, most=most, now=NOW)


@pytest.mark.parametrize("kind", KINDS)
def test_texts_come_with_their_words_and_dates_and_none_is_older(kind: str, tmp_path: Path) -> None:
    texts = [*made_texts(6, MARCH), *made_texts(3, MARCH - 30 * HOUR, begin=100)]
    with FeedServer(texts) as server:
        found = collected(server, tmp_path, kind)
    assert [one.published.first for one in found.documents] == [text.published for text in texts[:6]]
    assert all(one.published.first >= start_of(SINCE) for one in found.documents)
    assert found.left_out == {"older than the first day, or perhaps older": 3}
    assert sum(path.startswith(("/news", "/e-print", "/repos")) for path in server.paths) == 6  # of old ones no more
    own, text = found.documents[0], texts[0]
    assert [one.split() for one in own.paragraphs[-5:]] == [one.split() for one in text.paragraphs]
    assert "ecret" not in " ".join(own.paragraphs)
    assert (own.title, own.summary) == (text.title if kind != "github" else "made/tool0", text.summary)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_was_fetched_is_not_asked_for_again(kind: str, tmp_path: Path) -> None:
    with FeedServer(made_texts(5, MARCH)) as server:
        first = collected(server, tmp_path / "a", kind, most=3)
        sent = len(server.paths)
        assert first.asked == sent == len(set(server.paths))
        again = collected(server, tmp_path / "a", kind, most=5)
        assert max(Counter(server.paths).values()) == 1
        assert len(again.documents) == 5
        elsewhere = collected(server, tmp_path / "b", kind, most=5)  # another set: is it still the same?
        assert elsewhere.documents == again.documents
        conditional = server.headers[len(set(server.paths)) :]
        assert len(conditional) == len(set(server.paths))
        assert all("if-none-match" in headers for headers in conditional[1:])


def test_a_page_that_fails_is_left_out_for_now_and_a_server_that_is_gone_ends_it(tmp_path: Path) -> None:
    with FeedServer(made_texts(8, MARCH)) as server:
        server.faults = {"/news/3": [Answer(b"", status=500)] * 3}
        assert _quick(server, tmp_path).left_out == {"cannot be fetched now (HTTP 500)": 1}
        journal = tmp_path / REQUESTS
        journal.write_bytes(journal.read_bytes() + b'{"address": "cut o')
        found = _quick(server, tmp_path)
        assert (len(found.documents), found.asked) == (8, 1)
        (tmp_path / "gone").mkdir()
        server.faults = {f"/news/{number}": [Answer(b"", status=503)] * 3 for number in range(2, 8)}
        with pytest.raises(
            FetchError, match=r"/news/4 cannot be fetched \(HTTP 503\); the same command continues later"
        ):
            _quick(server, tmp_path / "gone")


def _quick(server: FeedServer, folder: Path) -> TextCollection:
    """The same without waiting between tries."""
    (folder / "card.toml").write_text(server.card("feed", min_words=20), "utf-8")
    feed = read_feed(folder / "card.toml")
    fetcher = fetcher_of(feed, folder)
    fetcher.sleep = lambda seconds: None
    return collect(feed, fetcher, SINCE, now=NOW)


def test_a_page_that_says_it_is_older_is_left_out(tmp_path: Path) -> None:
    brought_anew = made_text(1, MARCH, stated=MARCH - timedelta(days=300))
    with FeedServer([brought_anew, made_text(2, MARCH + HOUR)]) as server:
        found = collected(server, tmp_path)
    assert len(found.documents) == 1
    assert found.left_out == {"older than the first day, or perhaps older": 1}


@pytest.mark.slow
def test_robots_are_asked_and_obeyed(tmp_path: Path) -> None:
    texts = made_texts(3, MARCH)
    with FeedServer(texts, robots="User-agent: *\nDisallow: /news/*1\nCrawl-delay: 0.2\n") as server:
        began = time.monotonic()
        found = collected(server, tmp_path)
        assert time.monotonic() - began > 0.4
        assert "/news/1" not in server.paths
        assert server.paths[0] == "/robots.txt"
    assert found.left_out == {"robots.txt forbids it": 1}
    with FeedServer(texts, faults={"/robots.txt": [Answer(b"", status=503)] * 9}) as server:
        (tmp_path / "down").mkdir()
        with pytest.raises(UsageError, match="its rules are unknown, so nothing is fetched"):
            _quick(server, tmp_path / "down")
        assert set(server.paths) == {"/robots.txt"}


def test_a_host_that_is_not_named_is_never_asked(tmp_path: Path) -> None:
    with FeedServer(made_texts(2, MARCH)) as other, FeedServer(made_texts(2, MARCH)) as server:
        server.others = {"/news/0": Answer(b"", status=302, headers={"Location": f"{other.url}/news/0"})}
        found = collected(server, tmp_path)
        assert other.paths == []
        assert found.left_out == {"on a host that the feed's card does not name": 1}
        named = collected(server, tmp_path / "named", hosts=[other.url.removeprefix("http://")])
        assert len(named.documents) == 2
        assert other.paths == ["/robots.txt", "/news/0"]


def test_a_server_that_asks_to_wait_is_waited_for_or_left(tmp_path: Path) -> None:
    texts = made_texts(2, MARCH)
    waits: list[float] = []
    with FeedServer(texts, faults={"/news/0": [Answer(b"", status=429, headers={"Retry-After": "7"})]}) as server:
        (tmp_path / "card.toml").write_text(server.card("feed", min_words=20), "utf-8")
        feed = read_feed(tmp_path / "card.toml")
        fetcher = fetcher_of(feed, tmp_path)
        fetcher.sleep = waits.append
        assert len(collect(feed, fetcher, SINCE, now=NOW).documents) == 2
        assert waits == [7.0]
    limited = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) + 3000)}
    with FeedServer(texts, faults={"/repos/made/tool1/readme": [Answer(b"", status=403, headers=limited)]}) as server:
        with pytest.raises(FetchError, match=r"asks to wait [23],\d+ s \(HTTP 403\); then type the same command"):
            collected(server, tmp_path / "github", "github")
        assert len(collected(server, tmp_path / "github", "github").documents) == 2
        assert max(Counter(server.paths).values()) == 2  # the one that was refused


def test_a_token_goes_to_the_host_of_the_card_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "a-secret")
    with FeedServer(made_texts(1, MARCH)) as other, FeedServer(made_texts(1, MARCH)) as server:
        server.others = {
            "/repos/made/tool0/readme": Answer(
                b"", status=301, headers={"Location": f"{other.url}/repos/made/tool0/readme"}
            )
        }
        host = other.url.removeprefix("http://")
        assert len(collected(server, tmp_path, "github", token="MY_TOKEN", hosts=[host]).documents) == 1
        assert {headers.get("authorization") for headers in server.headers} == {"Bearer a-secret"}
        assert {headers.get("authorization") for headers in other.headers} == {None}
    assert b"a-secret" not in (tmp_path / REQUESTS).read_bytes()


def test_a_token_for_https_is_not_sent_to_the_same_host_in_the_clear(tmp_path: Path) -> None:
    with FeedServer(made_texts(1, MARCH)) as server:
        host = server.url.removeprefix("http://")
        for at, sent in (f"https://{host}", None), (server.url, "Bearer a-secret"):
            folder = tmp_path / at[:5]
            folder.mkdir()
            Fetcher(folder, frozenset({host}), 0.0, "a-secret", at).get(f"{server.url}/rss.xml", robots=False)
            assert server.headers[-1].get("authorization") == sent


def test_a_text_is_taken_once_and_only_of_the_right_length(tmp_path: Path) -> None:
    text = made_text(1, MARCH)
    short = Text("short", ("Three words only.",), "", MARCH, MARCH)
    long = Text("long", ("word " * 2000,), "", MARCH, MARCH)
    future = made_text(5, NOW + HOUR)
    with FeedServer([text, text, short, long, future]) as server:
        found = collected(server, tmp_path)
    assert len(found.documents) == 1
    assert found.left_out == {
        "the same text again": 1,
        "shorter than 20 words": 1,
        "longer than 1,800 words": 1,
        "dated in the future": 1,
    }


RSS = '<rss version="2.0"><channel><item><title>é</title>{}</item></channel></rss>'


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><rss>&b;</rss>', "declares a document type"),
        (b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><rss/>', "declares a document type"),
        (b"<rss>" + b"<a>" * 200 + b"</a>" * 200 + b"</rss>", "nested deeper than 100"),
        (b"<rss>" + b"<a/>" * 20_001 + b"</rss>", "more than 20,000"),
        (b"<html><body>Log in</body></html>", "it begins with <html>"),
        (b"<rss><item>", "no element found"),
        (b"", "no element found"),
        (b'<?xml version="1.0" encoding="zlib_codec"?><rss/>', "its encoding 'zlib_codec' is not allowed in feeds"),
        (b'<?xml version="1.0" encoding="utf-8"?><rss>\xe9</rss>', "it is not in the encoding utf-8 that it declares"),
    ],
)
def test_a_hostile_or_broken_feed_is_one_line(content: bytes, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "MOST_ELEMENTS", 20_000)
    with pytest.raises(UsageError) as raised:
        entries_of(content, "", "http://feed")
    assert line in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1", "windows-1252", "utf-16"])
def test_a_feed_is_read_in_its_own_encoding(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>' + RSS.format("")
    assert entries_of(text.encode(encoding), "us-ascii", "x")[0].title == "é"


@pytest.mark.parametrize(
    ("stated", "first"),
    [
        ("<pubDate>Sun, 01 Mar 2026 10:00:00 GMT</pubDate>", "2026-03-01T10:00"),
        ("<pubDate>Sun, 01 Mar 2026 10:00:00</pubDate>", "2026-02-28T20:00"),  # no zone
        ("<pubDate>2026-03-01T10:00Z</pubDate><date>2025-01-01</date>", "2024-12-31T10:00"),  # the earliest decides
        ("<published>2026-03-01T10:00Z</published><updated>2026-04-01T00:00Z</updated>", "2026-03-01T10:00"),
        ("<updated>2026-04-01T00:00Z</updated>", None),
        ("<pubDate>soon</pubDate>", None),
        ("", None),
    ],
)
def test_the_earliest_meaning_of_a_date_decides(stated: str, first: str | None) -> None:
    published = entries_of(RSS.format(stated).encode(), "", "x")[0].published()
    assert (f"{published.first:%Y-%m-%dT%H:%M}" if published else None) == first


def test_atom_may_hold_elements_and_links_of_several_kinds() -> None:
    text = (
        '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>7</id><link rel="self" href="/self"/>'
        '<link href="/page"/><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>One &amp; two</p>'
        "<p>three</p></div></content></entry></feed>"
    )
    entry = entries_of(text.encode(), "", "x")[0]
    assert (entry.id, entry.link) == ("7", "/page")
    assert page_of(entry.content).text == ("One & two", "three")


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["<!--", "<a ", '<a href="', "</a", "<p><article>", "<x><div>", "<script>", "&#", "<meta a=", "<" + "a" * 99],
)
def test_a_page_that_is_made_to_be_slow_is_read_in_no_time(piece: str) -> None:
    began = time.process_time()
    page_of(piece * (300_000 // len(piece)))
    assert time.process_time() - began < 5


def test_a_page_gives_the_paragraphs_of_its_article() -> None:
    page = page_of(
        "<p>before</p><main><p>in main</p><article><p>A <b>bold</b>&nbsp;claim &lt;here&gt;</p>"
        "<figure><p>no</p></figure>"
        '<p>Two<script>p = "</p><p>no</p>"</script></p></article></main><script type="application/ld+json">'
        '{"@graph": [{"datePublished": "2026-03-01"}]}</script>'
    )
    assert page.article == ("A bold claim <here>", "Two")
    assert page.dates == ["2026-03-01"]
    assert page_of("<p>alone</p>").article == ("alone",)


def source(**files: str) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name.replace("__", "/") + ".tex")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return made.getvalue()


def test_a_paper_is_its_abstract_and_its_first_section() -> None:
    paper = paper_of(
        source(
            main=r"\documentclass{a}\newcommand{\x}{y}\begin{document}\begin{abstract}Short \emph{words}.\end{abstract}"
            r"\section{Introduction}\input{a/b}% gone" + "\n" + r"\section{Next} hidden \end{document}",
            a__b="We \\textbf{cite}~\\citep[e.g.][]{k, l} it $x^2$ in Section~\\ref{s}.\n\n100\\% of \\'e.",
        )
    )
    assert paper.abstract == "Short words."
    assert paper.introduction[-1] == "100% of é."


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"%PDF-1.5 ...", "no LaTeX source"),
        (gzip.compress(b"hello"), "no LaTeX source"),
        (gzip.compress(b"x" * 1000)[:-20], "a source that is cut off"),
        (gzip.compress(b"\\documentclass{a}\\begin{document}none\\end{document}"), "a paper without sections"),
        (gzip.compress(b"\\documentclass{a}\\begin{document}\\section{A}" + b"{" * 9000), "LaTeX that cannot be read"),
        (gzip.compress(b"\0" * 3_000_000), "a source larger than any paper"),
    ],
    ids=["PDF", "no LaTeX", "cut off", "no sections", "braces", "large"],  # what is compressed holds the time
)
def test_a_source_that_is_no_paper_is_left_out(content: bytes, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arxiv_papers, "LARGEST", 2_000_000)
    with pytest.raises(UnusableText, match=reason):
        paper_of(content)


def test_a_source_that_includes_itself_ends() -> None:
    text = r"\documentclass{a}\begin{document}\section{A}" + r"\input{main}" * 20 + r"\end{document}"
    began = time.process_time()
    paper_of(source(main=text))
    assert time.process_time() - began < 5


def test_the_shipped_cards_are_of_the_papers_three_sources() -> None:
    assert {name: feed.kind for name, feed in shipped_feeds().items()} == {
        "arxiv": "arxiv", "bbc": "feed", "github": "github"}  # fmt: skip
    assert shipped_feeds()["arxiv"].pause == 3.0
    assert shipped_feeds()["github"].at("http://127.0.0.1:1").token == ""
    assert find_feed("nothing") is None


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"kind": "rss"}, "unknown kind of feed 'rss'"),
        ({"name": "A B"}, "name cannot be 'A B'"),
        ({"token": "ghp_secret"}, "never the token itself"),
        ({"seconds": -1.0}, "seconds cannot be -1.0"),
        ({"min_words": 0}, "min_words is 0"),
        ({"addres": "x"}, "unknown key 'addres'"),
        ({"address": "file:///etc/passwd"}, "no address of the web"),
    ],
)
def test_a_bad_card_is_one_line(tmp_path: Path, change: dict[str, object], line: str) -> None:
    own = {"name": "made", "title": "Made", "kind": "feed", "address": "http://127.0.0.1:1/", **change}
    (tmp_path / "card.toml").write_text(
        "".join(f"{key} = {json.dumps(value)}\n" for key, value in own.items()), "utf-8"
    )
    with pytest.raises(UsageError) as raised:
        find_feed(str(tmp_path / "card.toml"))
    assert line in str(raised.value)


def test_a_document_counts_its_words() -> None:
    found = Document("1", "news", "x", "t", published=(start_of(SINCE),) * 2, paragraphs=("a b", "c"))  # type: ignore[arg-type]
    assert found.words == 3
