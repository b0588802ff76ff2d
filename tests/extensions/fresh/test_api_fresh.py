"""`tabcontam.fresh`: what the command collects, from Python and in its words."""

import inspect
import json
from datetime import date
from pathlib import Path

import pytest

import tabcontam
from tabcontam.cli.arguments import parser
from tabcontam.cli.commands import main
from tests.extensions.fresh.loopback_feeds import FeedServer
from tests.extensions.fresh.passages.writing import server as writing
from tests.loopback import LoopbackServer
from tests.made_passages import MARCH, made_texts

ROWS = "day,port,crates\n2026-01-05,Wexlow,12\n2026-03-01,Thoom,7\n2026-03-09,Zand,31\n,Bexa,4\n"


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    path = tmp_path / "sales.csv"
    path.write_text(ROWS, "utf-8")
    return path


def card_of(feed: FeedServer, folder: Path) -> Path:
    path = folder / "card.toml"
    path.write_text(feed.card("feed"), "utf-8")
    return path


def test_every_word_of_the_command_line_is_there() -> None:
    words = set(vars(parser().parse_args(["fresh", "arxiv", "--since", "2026-03-01", "--out", "x"])))
    elsewhere = {"command", "json", "dry_run"}  # what is printed; a plan is no set
    assert words - elsewhere | {"progress"} == set(inspect.signature(tabcontam.fresh).parameters)


def test_rows_are_those_of_the_command(sales: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours = tabcontam.fresh(sales, date(2026, 3, 1), tmp_path / "ours", dated_by="day", target="port")
    assert capsys.readouterr() == ("", "")
    given = ["--since", "2026-03-01", "--dated-by", "day", "--target", "port", "--out", str(tmp_path / "theirs")]
    assert main(["fresh", str(sales), *given, "--json"]) == 0
    theirs = json.loads(capsys.readouterr().out)
    assert (
        (ours.rows, ours.document["left_out"])
        == (theirs["rows"], theirs["left_out"])
        == (2, {"older": 1, "undated": 1})
    )
    assert ours.dataset is not None
    assert ours.dataset.read_text("utf-8") == Path(theirs["card"]).read_text("utf-8")
    assert repr(ours) == f"<Fresh {tmp_path / 'ours'}: 2 rows>"
    assert len(tabcontam.run("simulated:guesser", str(ours.dataset), tests="recognition", controls=False,
                             out=tmp_path / "run").results) == 2  # fmt: skip


@pytest.mark.slow
def test_texts_become_questions_and_nothing_is_asked_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [*made_texts(4, MARCH), *made_texts(3, MARCH.replace(month=1), begin=200)]
    with FeedServer(texts) as feed, LoopbackServer(writing()) as llm:
        made = tabcontam.fresh(card_of(feed, tmp_path), "2026-03-01", tmp_path / "out", llm=f"openai:model@{llm.url}")
        sent = len(llm.asked)
        again = tabcontam.fresh(card_of(feed, tmp_path), "2026-03-01", tmp_path / "out", llm=f"openai:model@{llm.url}")
        assert len(llm.asked) == sent > 0
    assert capsys.readouterr() == ("", "")
    assert again.document == json.loads((tmp_path / "out" / "fresh.json").read_text("utf-8"))
    assert made.document["questions"] == again.document["questions"]
    assert (made.document["passages"], made.dataset, made.ended) == (4, None, "")
    assert repr(made) == f"<Fresh {tmp_path / 'out'}: 4 texts>"


@pytest.mark.slow
def test_a_limit_of_the_user_ends_it_and_says_so(tmp_path: Path) -> None:
    with FeedServer(made_texts(4, MARCH)) as feed, LoopbackServer(writing()) as llm:
        spec = f"openai:model@{llm.url}"
        made = tabcontam.fresh(card_of(feed, tmp_path), "2026-03-01", tmp_path / "out", llm=spec, max_requests=2)
        assert len(llm.asked) == 2
        assert "questions" not in made.document
        assert "2" in made.ended
        whole = tabcontam.fresh(card_of(feed, tmp_path), "2026-03-01", tmp_path / "out", llm=spec)
    assert (whole.ended, whole.document["questions"]["written"] > 0) == ("", True)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ({"since": "March"}, "since= is 'March'; write a day, such as 2026-03-01"),
        ({"until": "2026-02-01"}, "until='2026-02-01' is not after since='2026-03-01'; give a later day"),
        ({"most": 3}, "most has no meaning for a table; leave it out"),
        ({"source": "arxiv", "dated_by": None, "header": False}, "header has no meaning for texts; leave it out"),
        ({"source": "arxiv", "dated_by": None, "judge": "a"}, "judge judges questions that an LLM writes; add llm="),
        ({"most": 0}, "most is 0; write a whole number above 0"),
        ({"ask": ["a", 3]}, "3 is not a name; write a text"),
        ({"dated_by": "when"}, "unknown column of sales.csv 'when'"),
        ({"out": " "}, "out is ' '; write a path"),
    ],
)
def test_a_bad_input_is_one_line_and_writes_nothing(
    words: dict[str, object], line: str, sales: Path, tmp_path: Path
) -> None:
    given = {"source": sales, "since": "2026-03-01", "out": tmp_path / "out", "dated_by": "day"} | words
    with pytest.raises(tabcontam.UsageError) as error:
        tabcontam.fresh(**given)  # type: ignore[arg-type]
    assert str(error.value).startswith(line)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()


def test_an_llm_that_is_not_there_is_told(tmp_path: Path) -> None:
    with FeedServer(made_texts(3, MARCH)) as feed, pytest.raises(tabcontam.UsageError, match="start it, or correct"):
        tabcontam.fresh(
            card_of(feed, tmp_path), "2026-03-01", tmp_path / "out", llm="openai:model@http://127.0.0.1:9/v1"
        )
