"""A server on loopback that speaks what dated sources speak: RSS with pages, arXiv's API, GitHub's.

with FeedServer(texts) as server:
    ...  # server.url, server.paths

The same texts are a newspaper's, arXiv's and GitHub's. What was asked for is counted; `faults` says how often a path
answers with a status first.
"""

import base64
import gzip
import io
import json
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import format_datetime
from hashlib import sha256
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests.made_passages import Text

ROBOTS = "User-agent: *\nDisallow: /private*\n"


@dataclass(frozen=True)
class Answer:
    """What stands at a path."""

    content: bytes
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class FeedServer:
    """A context manager: the server listens inside it."""

    def __init__(
        self,
        texts: Sequence[Text],
        robots: str | None = ROBOTS,
        faults: Mapping[str, Sequence[Answer]] | None = None,
        others: Mapping[str, Answer] | None = None,
    ) -> None:
        self.texts = list(texts)
        self.robots = robots
        self.faults = {path: list(answers) for path, answers in (faults or {}).items()}
        self.others = dict(others or {})
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.before: Callable[[str], None] = lambda path: None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        """The address, without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def card(self, kind: str, **fields: object) -> str:
        """The card of a feed at this server."""
        own = {"name": "made", "title": "Made", "kind": kind, "address": self.url, "seconds": 0.0, **fields}
        if kind == "feed":
            own |= {"address": f"{self.url}/rss.xml", "text": own.get("text", "page")}
        return "".join(f"{key} = {json.dumps(value)}\n" for key, value in own.items())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str) -> Answer:
        """What stands at a path, with its query."""
        if self.faults.get(path):
            return self.faults[path].pop(0)
        if path in self.others:
            return self.others[path]
        parts = urlsplit(path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        place = parts.path
        if place == "/robots.txt":
            return Answer(self.robots.encode(), "text/plain") if self.robots is not None else _nothing()
        if place == "/rss.xml":
            return Answer(self.rss(), "application/rss+xml")
        if place == "/api/query":
            return Answer(self.atom(int(asked["start"]), int(asked["max_results"])), "application/atom+xml")
        if place == "/search/repositories":
            return self.repositories(int(asked.get("page", 1)), int(asked["per_page"]), path)
        number = "".join(letter for letter in place.rpartition("/")[2] if letter.isdecimal()) or "0"
        if place.startswith("/news/"):
            return Answer(self.page(self.texts[int(number)]))
        if place.startswith("/e-print/"):
            return Answer(self.source(self.texts[int(place.rpartition(".")[2].removesuffix("v1"))]), "application/gzip")
        if place.startswith("/repos/"):
            return self.readme(self.texts[int(place.split("/")[3].removeprefix("tool"))])
        return _nothing()

    def rss(self) -> bytes:
        """The feed of a newspaper."""
        items = "".join(
            f"<item><title>{escape(text.title)}</title><link>{self.url}/news/{number}</link>"
            f"<description>{escape(text.summary)}</description><guid>{number}</guid>"
            f"<pubDate>{format_datetime(text.published)}</pubDate></item>"
            for number, text in enumerate(self.texts)
        )
        return f'<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel>{items}</channel></rss>'.encode()

    def page(self, text: Text) -> bytes:
        """An article, with what stands around one."""
        paragraphs = "".join(f"<p>{escape(one)}</p>" for one in text.paragraphs)
        date = f'<meta property="article:published_time" content="{text.stated.isoformat()}">'
        return (
            f"<!doctype html><html><head><title>x</title>{date}<script>var p = '<p>no</p>';</script></head><body>"
            f"<nav><p>Home and weather and sport and all that</p></nav><article><h1>{escape(text.title)}</h1>"
            f"{paragraphs}<aside><p>More on this story</p></aside></article><footer><p>Terms</p></footer></body></html>"
        ).encode()

    def atom(self, start: int, most: int) -> bytes:
        """A page of what arXiv finds."""
        entries = "".join(
            f"<entry><id>http://arxiv.org/abs/2603.{number:05d}v1</id><title>{escape(text.title)}</title>"
            f"<published>{text.published.isoformat()}</published><updated>{text.published.isoformat()}</updated>"
            f"<summary>{escape(text.summary)}</summary></entry>"
            for number, text in list(enumerate(self.texts))[start : start + most]
        )
        return f'<feed xmlns="http://www.w3.org/2005/Atom"><title>q</title>{entries}</feed>'.encode()

    def source(self, text: Text) -> bytes:
        """A paper's source: an archive of two files, as authors write them."""
        body = "\n\n".join(_latex(one) for one in text.paragraphs)
        files = {
            "main.tex": "\\documentclass{article}\n\\begin{document}\n\\begin{abstract}" + _latex(text.summary)
            + "\\end{abstract}\n\\input{sections/intro}\n\\section{Method}\nSecret method.\n\\end{document}\n",
            "sections/intro.tex": "% a comment\n\\section{Introduction}\\label{sec:a}\n" + body
            + "\n\\begin{figure}\\caption{Not text}\\end{figure}\n",
        }  # fmt: skip
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w") as tar:
            for name, content in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(content.encode())
                tar.addfile(info, io.BytesIO(content.encode()))
        return gzip.compress(made.getvalue(), mtime=0)

    def repositories(self, page: int, most: int, path: str) -> Answer:
        """A page of what GitHub finds."""
        own = list(enumerate(self.texts))[(page - 1) * most : page * most]
        items = [
            {"full_name": f"made/tool{number}", "html_url": f"{self.url}/made/tool{number}",
             "description": text.summary, "created_at": text.published.isoformat().replace("+00:00", "Z")}
            for number, text in own
        ]  # fmt: skip
        more = page * most < len(self.texts)
        following = f"{self.url}{path.partition('&page=')[0]}&page={page + 1}"
        headers = {"Link": f'<{following}>; rel="next", <{following}>; rel="last"'} if more else {}
        return Answer(
            json.dumps({"total_count": len(self.texts), "items": items}).encode(), "application/json", 200, headers
        )

    def readme(self, text: Text) -> Answer:
        """A readme as the API gives it."""
        written = f"# {text.title}\n\n![badge](https://x/y.svg)\n\n" + "\n\n".join(text.paragraphs)
        written += "\n\n```python\nsecret = 1\n```\n"
        held = {"name": "README.md", "encoding": "base64", "content": base64.encodebytes(written.encode()).decode()}
        return Answer(json.dumps(held).encode(), "application/json")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        feeds = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                feeds.paths.append(self.path)
                feeds.headers.append({name.lower(): value for name, value in self.headers.items()})
                feeds.before(self.path)
                found = feeds.answer(self.path)
                tag = f'"{sha256(found.content).hexdigest()[:16]}"'
                same = found.status == 200 and self.headers.get("If-None-Match") == tag
                self.send_response(304 if same else found.status)
                for name, value in {"Content-Type": found.kind, "ETag": tag, **found.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0" if same else str(len(found.content)))
                self.end_headers()
                self.wfile.write(b"" if same else found.content)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (so it is called there)
                """Nothing is printed."""

        return Handler


def _nothing() -> Answer:
    return Answer(b"nothing here", status=404)


def _latex(text: str) -> str:
    return text.replace("%", "\\%").replace("&", "\\&").replace("_", "\\_")
