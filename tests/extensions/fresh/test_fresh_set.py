"""Fresh evaluation sets, over loopback sources and LLMs: from a feed to questions, answers and gaps."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tabcontam.cli.commands import main
from tabcontam.errors import Exit
from tabcontam.extensions.fresh.feeds import arxiv_papers
from tabcontam.extensions.fresh.feeds.polite_fetching import REQUESTS
from tabcontam.extensions.fresh.passages.passage_words import longest_run, words
from tests.commands import environment, tabcontam
from tests.extensions.fresh.loopback_feeds import FeedServer
from tests.extensions.fresh.passages.writing import server as writing
from tests.extensions.fresh.passages.writing import stage, writer
from tests.loopback import LoopbackServer
from tests.made_passages import MARCH, made_texts
from tests.needed import needed

needed("protego")
needed("pylatexenc")


def command(feed: FeedServer, folder: Path, *more: str, kind: str = "feed") -> list[str]:
    folder.mkdir(exist_ok=True)
    (folder / "card.toml").write_text(feed.card(kind), "utf-8")
    return ["fresh", str(folder / "card.toml"), "--since", "2026-03-01", "--out", str(folder / "out"), *more]


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "count"), [("feed", 4), ("arxiv", 5), ("github", 4)])
def test_passages_become_questions_whose_answers_are_hidden(
    kind: str, count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arxiv_papers, "A_PAGE", 8)  # what arXiv lists of ten texts comes on two pages
    texts = [*made_texts(count, MARCH), *made_texts(5, MARCH.replace(month=1), begin=200)]
    with FeedServer(texts) as feed, LoopbackServer(writing()) as llm:
        spec = f"openai:model@{llm.url}"
        assert main(command(feed, tmp_path, "--llm", spec, "--json", kind=kind)) == Exit.DONE
        document = json.loads(capsys.readouterr().out)
        sent = len(llm.asked)
        assert main(command(feed, tmp_path, "--llm", spec, "--json", kind=kind)) == Exit.DONE
        assert json.loads(capsys.readouterr().out)["questions"] == document["questions"]
        assert len(llm.asked) == sent  # every reply was kept
        assert max(Counter(feed.paths).values()) == 1
    out = tmp_path / "out"
    assert document["passages"] == count
    assert document["first"] == "2026-03-01T00:00:00+00:00"
    kinds = {name: sum(found.values()) for name, found in document["questions"]["kinds"].items()}
    wanted = dict.fromkeys(("terminology", "summary", "purpose", "example", "future"), count)
    wanted["example"] *= kind != "github"  # readmes are not asked for examples
    assert kinds == wanted
    questions = lines(out / "questions.jsonl")
    answers = {one["id"]: words(str(one["answer"])) for one in lines(out / "hidden" / "answers.jsonl")}
    assert len(questions) == sum(wanted.values())
    for one in questions:
        answer = answers[one["id"]]
        assert longest_run(answer, words(str(one["passage"]))) < min(8, len(answer))
        assert longest_run(answer, words(str(one["question"]))) < min(8, len(answer))
        assert str(one["published"]) >= "2026-03-01"
        assert "answer" not in one
    assert stat.S_IMODE((out / "hidden").stat().st_mode) == 0o700
    assert stat.S_IMODE((out / "hidden" / "answers.jsonl").stat().st_mode) == 0o600


@pytest.mark.slow
def test_a_killed_command_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    with FeedServer(made_texts(8, MARCH)) as feed, LoopbackServer(writing()) as llm:
        feed.before = lambda path: time.sleep(0.05)
        typed = command(feed, tmp_path, "--llm", f"openai:model@{llm.url}")
        process = subprocess.Popen(
            [sys.executable, "-m", "tabcontam", *typed],
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        journal = tmp_path / "out" / REQUESTS
        deadline = time.monotonic() + 60
        while (not journal.exists() or len(journal.read_bytes().splitlines()) < 5) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        feed.before = lambda path: None
        kept = {json.loads(line)["address"] for line in journal.read_text("utf-8").splitlines()}
        assert 5 <= len(kept) < 10
        assert main(typed) == Exit.DONE
        asked = Counter(f"{feed.url}{path}" for path in feed.paths)
        assert all(asked[address] == 1 for address in kept)  # but for the one that was under way
        assert sum(asked.values()) <= 10 + 1
        assert json.loads((tmp_path / "out" / "fresh.json").read_text("utf-8"))["passages"] == 8


HOSTILE = {
    "talks": ("Sure! Here is your JSON: {}", "an unreadable question"),
    "copies nothing": (json.dumps({"answer": "words that are nowhere there", "form": 1, "topic": "it"}),
                       "an answer that is not copied from the passage"),
    "no form": (json.dumps({"answer": "a b c", "form": 1.0, "topic": "it"}), "an unreadable question"),
    "a list": ("[1, 2]", "an unreadable question"),
    "deep": ("[" * 9000, "an unreadable question"),
    "null": ("null", "nothing in the sentence answers such a question"),
    "control": (json.dumps({"answer": "a b c", "form": 1, "topic": "\x1b[2J"}), "an unreadable question"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_what_a_bad_writer_says_makes_no_question(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, reason = HOSTILE[name]

    def said(prompt: str) -> str:
        return text if stage(prompt) == "question" else "[]" if stage(prompt) == "terms" else writer(prompt)

    with FeedServer(made_texts(3, MARCH)) as feed, LoopbackServer(writing(said)) as llm:
        assert main(command(feed, tmp_path, "--llm", f"openai:model@{llm.url}", "--json")) == Exit.DONE
    questions = json.loads(capsys.readouterr().out)["questions"]
    assert questions["left_out"] == {reason: 9}
    assert {kind: sum(found.values()) for kind, found in questions["kinds"].items() if found} == {"summary": 3}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("unfaithful", "unfaithful"),
        ("I think it is faithful", "the judge said no label"),
        ("faithful faithful", "the judge said no label"),
    ],
)
def test_a_question_that_is_not_judged_good_is_left_out(
    word: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with FeedServer(made_texts(3, MARCH)) as feed, LoopbackServer(writing()) as llm:
        judge = LoopbackServer(writing(lambda prompt: word if stage(prompt) == "faithful" else writer(prompt)))
        with judge:
            given = ["--llm", f"openai:model@{llm.url}", "--judge", f"openai:judge@{judge.url}"]
            judge.models = ("judge",)
            assert main(command(feed, tmp_path, *given, "--json")) == Exit.DONE
    questions = json.loads(capsys.readouterr().out)["questions"]
    assert (questions["kept"], questions["left_out"]) == (0, {reason: 15})


@pytest.mark.slow
def test_answers_are_rated_and_compared_in_both_orders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def answers(text: str) -> LoopbackServer:
        return LoopbackServer(writing(lambda prompt: text), models=("model",))

    def by_place(prompt: str) -> str:
        return "first" if stage(prompt) == "pair" else writer(prompt)

    people = tmp_path / "people.jsonl"
    one, other = answers("a long answer to it"), answers("short")
    with FeedServer(made_texts(2, MARCH)) as feed, LoopbackServer(writing()) as llm, one, other:
        asked = ["--ask", f"long=openai:model@{one.url}", "--ask", f"openai:model@{other.url}"]
        given = ["--llm", f"openai:model@{llm.url}", *asked]
        assert main(command(feed, tmp_path, *given, "--json")) == Exit.DONE
        found = json.loads(capsys.readouterr().out)
        ids = [question["id"] for question in lines(tmp_path / "out" / "questions.jsonl")]
        said = [{"question": name, "what": "faithful", "word": "unfaithful" if name == ids[0] else "faithful"}
                for name in ids]  # fmt: skip
        people.write_text("".join(json.dumps(one) + "\n" for one in said), "utf-8")
        llm.answer = writing(by_place)
        again = [*given, "--human", str(people), "--no-cache"]
        assert main(command(feed, tmp_path, *again)) == Exit.DONE
    held = found["answers"]
    assert [(one["won"], one["lost"], one["pairs"]) for one in held["llms"]] == [(10, 0, 10), (0, 10, 10)]
    assert held["llms"][0]["llm"] == "long"
    assert held["position_bias"]["consistent"] == 10
    text = capsys.readouterr().out
    assert "0 of 10 pairs were judged the same in both orders; the place decided 10: the first won 10" in text
    assert "(p = 0.002 if both places are equal)" in text
    assert "people and the judge agree on 9 of 10 (faithful), kappa 0.00" in text


@pytest.mark.slow
def test_old_passages_that_were_read_are_found_and_others_are_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count = 12
    old = made_texts(count, MARCH, begin=1000)
    recited = {" ".join(" ".join(text.paragraphs).split()): text for text in old}

    def knows(prompt: str) -> str:
        shown = prompt.partition("\n\n")[2]
        return next(
            (text[len(shown) :] for text in recited if text.startswith(shown)), "It was a fine day for all of us."
        )

    file = tmp_path / "old.jsonl"
    made = [{"id": str(number), "text": text} for number, text in enumerate(recited)]
    file.write_text("".join(json.dumps(one) + "\n" for one in made), "utf-8")
    other = LoopbackServer(writing(lambda prompt: "Nobody knows how this goes on."))
    with FeedServer(made_texts(count, MARCH)) as feed, LoopbackServer(writing(knows)) as llm, other:
        specs = [f"openai:model@{llm.url}", f"openai:model@{other.url}"]
        asked = [part for spec in specs for part in ("--ask", spec)]
        assert main(command(feed, tmp_path, *asked, "--old", str(file), "--json")) == Exit.DONE
    memory = json.loads(capsys.readouterr().out)["memory"]
    assert (memory["old"], memory["fresh"], memory["words"]) == (count, count, 200)
    said = {one["llm"]: one["conclusion"] for one in memory["llms"]}
    assert said == {specs[0]: "copied", "control:old": "copied", specs[1]: "no gap", "control:neither": "no gap"}
    found = {one["llm"]: {gap["measure"]: gap for gap in one["gaps"]} for one in memory["llms"]}
    for name in (specs[0], "control:old"):
        for measure in ("longest_common_ngram", "copy_rate"):
            gap = found[name][measure]
            assert gap["significant"], (name, measure)
            assert gap["interval"][0] > 0
    assert found["control:old"]["bits_a_character"]["significant"]
    for name in (specs[1], "control:neither"):
        assert not any(gap["significant"] for gap in found[name].values()), name
    assert found[specs[0]]["bits_a_character"]["reason"] == (
        f"0 of {count} old and 0 of {count} fresh passages have an answer, which is too few"
    )


@pytest.mark.slow
def test_a_plan_asks_nobody_and_says_what_it_costs_at_most(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FeedServer(made_texts(3, MARCH)) as feed, LoopbackServer(writing()) as llm:
        spec = f"openai:model@{llm.url}"
        given = ["--llm", spec, "--ask", spec]
        assert main(command(feed, tmp_path, *given, "--dry-run")) == Exit.DONE
        assert llm.asked == []
        planned = [
            int(line.split("at most ")[1].split()[0]) for line in capsys.readouterr().out.splitlines() if spec in line
        ]
        assert main(command(feed, tmp_path, *given)) == Exit.DONE
        stages = Counter(stage(str(body["messages"][-1]["content"])) for body in llm.asked)
    # terms; questions (3 by phrases, and 2 terms at most); two judgements each, with summaries; answers; ratings
    assert planned == [3, 15, 36, 18, 18]
    assert stages == {"terms": 3, "question": 12, "faithful": 15, "answerable": 15, "answer": 15, "rating": 15}


def test_a_limit_ends_it_and_a_higher_one_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FeedServer(made_texts(3, MARCH)) as feed, LoopbackServer(writing()) as llm:
        given = ["--llm", f"openai:model@{llm.url}"]
        assert main(command(feed, tmp_path, *given, "--max-requests", "10")) == Exit.DONE
        assert len(llm.asked) == 10
        assert "--max-requests 10 is reached; the same command with a higher limit continues" in capsys.readouterr().err
        assert not (tmp_path / "out" / "questions.jsonl").exists()
        assert main(command(feed, tmp_path, *given)) == Exit.DONE
        assert len(llm.asked) == 45
        assert len(lines(tmp_path / "out" / "questions.jsonl")) == 15


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (["--judge", "simulated:oracle"], "--judge judges questions that an LLM writes; add --llm LLM"),
        (["--ask", "simulated:oracle"], "--ask answers questions, which --llm LLM writes"),
        (["--human", "x"], "--human is compared with a judge"),
        (["--llm", "nobody"], "unknown model 'nobody'"),
        (["--llm", "simulated:oracle", "--human", "nowhere.jsonl"], "--human: nowhere.jsonl cannot be read"),
        (["--ask", "simulated:oracle", "--old", "nowhere"], "--old: nowhere cannot be read"),
        (["--dated-by", "x"], "--dated-by has no meaning for texts"),
        (["--no-header"], "--no-header has no meaning for texts"),
        (["--address", "file:///x"], "no address of the web"),
    ],
)
def test_a_contradiction_is_one_line_and_nothing_is_fetched(
    given: list[str], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with FeedServer(made_texts(1, MARCH)) as feed:
        assert main(command(feed, tmp_path, *given)) == Exit.USAGE
        assert feed.paths == []
    assert line in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_another_set_is_not_written_into_the_same_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FeedServer(made_texts(1, MARCH)) as feed:
        assert main(command(feed, tmp_path)) == Exit.DONE
        assert main(command(feed, tmp_path, "--until", "2027-01-01")) == Exit.USAGE
    assert "holds a set of another source or other days; name a new folder" in capsys.readouterr().err


def test_texts_that_are_not_older_are_no_old_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FeedServer(made_texts(1, MARCH)) as feed:
        assert main(command(feed, tmp_path)) == Exit.DONE
        compared = ["--ask", "simulated:oracle", "--old", str(tmp_path / "out")]
        assert main(command(feed, tmp_path / "again", *compared)) == Exit.USAGE
    assert "line 1 is of 2026-03-01 or later; name texts that are older" in capsys.readouterr().err


def test_text_that_drives_a_terminal_is_shown_harmless(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FeedServer(made_texts(2, MARCH)) as feed, LoopbackServer(writing(lambda prompt: "\x1b[2J")) as llm:
        assert main(command(feed, tmp_path, "--llm", f"openai:model@{llm.url}")) == Exit.DONE
    assert "\x1b" not in capsys.readouterr().out
    assert os.sep in str(tmp_path)


SECRET = "sk-canary-0123456789abcdef"  # no real key


def test_a_strangers_card_names_no_variable_and_is_sent_no_key(tmp_path: Path) -> None:
    with FeedServer(made_texts(1, MARCH)) as feed:
        (tmp_path / "feed.toml").write_text(feed.card("github", token="OPENAI_API_KEY"), "utf-8")
        words = ["fresh", str(tmp_path / "feed.toml"), "--since", "2026-03-01", "--out", str(tmp_path / "out")]
        refused = tabcontam(*words, OPENAI_API_KEY=SECRET)
        also = tabcontam(*words, "--address", feed.url, OPENAI_API_KEY=SECRET)
        assert feed.paths == []
    for one in (refused, also):
        assert one.returncode == Exit.USAGE
        assert one.stderr.count("\n") == 1
        assert "delete the line, and name the variable after the address: --address" in one.stderr
        assert SECRET not in one.stdout + one.stderr


def test_a_card_that_is_a_pipe_is_a_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "feed.toml")
    done = tabcontam("fresh", str(tmp_path / "feed.toml"), "--since", "2026-03-01", "--out", str(tmp_path / "out"))
    assert (done.returncode, done.stderr.count("\n")) == (Exit.USAGE, 1)
    assert "not a regular file" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_user_names_the_variable_of_a_feeds_token_behind_its_address(tmp_path: Path) -> None:
    with FeedServer(made_texts(1, MARCH)) as feed:
        (tmp_path / "feed.toml").write_text(feed.card("github"), "utf-8")
        words = ["fresh", str(tmp_path / "feed.toml"), "--since", "2026-03-01", "--out", str(tmp_path / "out")]
        unset = tabcontam(*words, "--address", f"{feed.url}#MY_TOKEN")
        broken = tabcontam(*words, "--address", f"{feed.url}#MY_TOKEN", MY_TOKEN=f"{SECRET}\nX: y")
        assert feed.paths == []
        done = tabcontam(*words, "--address", f"{feed.url}#MY_TOKEN", MY_TOKEN=SECRET)
        assert done.returncode == Exit.DONE, done.stderr
        assert {headers.get("authorization") for headers in feed.headers} == {f"Bearer {SECRET}"}
    assert "set the environment variable MY_TOKEN" in unset.stderr
    assert "MY_TOKEN holds characters that no key has" in broken.stderr
    assert SECRET not in broken.stderr
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(SECRET.encode() in content for content in written)


@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("http://feeds.example#MY_TOKEN", "MY_TOKEN would go to http://feeds.example unencrypted"),
        ("https://feeds.example#OPENAI_API_KEY", "OPENAI_API_KEY goes to https://api.openai.com alone"),
        ("https://feeds.example#GITHUB_TOKEN", "GITHUB_TOKEN goes to https://api.github.com alone"),
        (f"https://feeds.example#{SECRET}", "never the key itself"),
    ],
)
def test_a_feeds_token_goes_by_the_rules_of_every_key(address: str, line: str, tmp_path: Path) -> None:
    keys: dict[str, Any] = dict.fromkeys(("MY_TOKEN", "OPENAI_API_KEY", "GITHUB_TOKEN"), SECRET)
    out = tmp_path / "out"
    for source in (["github", "--address", address], [address]):
        said = tabcontam("fresh", *source, "--since", "2026-03-01", "--out", str(out), cwd=tmp_path, **keys)
        assert said.returncode == Exit.USAGE
        assert line in said.stderr
        assert SECRET not in said.stderr
    assert not (tmp_path / "out").exists()
