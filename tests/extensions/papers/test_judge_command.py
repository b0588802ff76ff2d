"""People judge the completions of a run: blind, in the terminal or by a page's file, and nothing is lost."""

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tabcontam.asking.run_progress import Progress
from tabcontam.config import RunConfig
from tabcontam.evidence.base import Verdict
from tabcontam.evidence.completion_pairs import Likeness
from tabcontam.extensions.papers.human_judges import FORM, JudgingSheet, sheet_of
from tabcontam.extensions.papers.judgement_file import JUDGEMENTS, judgements_in
from tabcontam.extensions.publish.redacted_folder import redact
from tabcontam.runs.folder import load
from tabcontam.runs.run import execute, prepare
from tests.commands import tabcontam
from tests.extensions.papers.test_run_judge import TABLE, TEST, recites
from tests.loopback import LoopbackServer

EXACT, NEAR, NONE = Likeness
MODELS = ("one", "two")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, new_cache: object) -> Path:
    """A run of two LLMs, of which one recites three pieces; both say the same of three others."""
    folder = tmp_path_factory.mktemp("people") / "run"
    reciting, made_up = recites(3, changed=2), recites(0)

    def answer(body: dict[str, Any]) -> str:
        said = reciting(body), made_up(body)
        return (
            said[0] if body["model"] == "one" else "Nothing 7 at all." if said[0].startswith("Nothing 7") else said[1]
        )

    with LoopbackServer(answer, models=MODELS) as server:
        llms = tuple(f"openai:{model}@{server.url}" for model in MODELS)
        order = RunConfig(llm=llms, dataset=(TABLE,), tests=TEST, controls=False, out=folder)
        execute(prepare(order), Progress())
    return folder


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    """A copy of that run."""
    return Path(shutil.copytree(whole, tmp_path / "run"))


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def answers(sheet: JudgingSheet) -> list[str]:
    """What a careful person types."""
    return [
        "1" if item.completion == item.expected else "near" if "Nothing" not in item.completion else "3"
        for item in sheet.items
    ]


def test_pairs_are_shown_blind_and_in_an_order_of_their_own(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = sheet_of(run, "Ida")
    assert len(sheet.items) == len({item.pair for item in sheet.items}) < 20  # the same beside the same is one pair
    assert [item.pair for item in sheet.items] == [item.pair for item in sheet_of(run, "Ida").items]
    assert [item.pair for item in sheet.items] != [item.pair for item in sheet_of(run, "Ada").items]
    assert [item.pair for item in sheet.items] != [item.pair for item in sheet_of(run, "Ida", seed=1).items]
    typed(monkeypatch, *["skip"] * 20)
    shown = tabcontam("judge", str(run), "--by", "Ida").stdout
    assert all(item.completion.split()[0] in shown for item in sheet.items)
    for secret in ("openai", "127.0.0.1", "guided", "judge ", "Zand Courier"):
        assert secret not in shown.split("no completion of this run")[0]


def test_words_are_taken_down_as_they_are_typed_and_judging_goes_on_where_it_stopped(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet = sheet_of(run, "Ida")
    words = answers(sheet)
    typed(monkeypatch, "what?", *words[:4], "s", "q")
    ended = tabcontam("judge", str(run), "--by", "Ida")
    assert ended.returncode == 0
    assert "judge Ida judged " in ended.stdout
    assert len(sheet_of(run, "Ida").left) == len(sheet.items) - 4
    typed(monkeypatch, words[4], *words[5:])
    assert tabcontam("judge", str(run), "--by", " Ida ").returncode == 0
    assert not sheet_of(run, "Ida").left
    assert "has judged all" in tabcontam("judge", str(run), "--by", "Ida").stderr
    cells = {cell.llm.split("@")[0]: cell for cell in load(run).results}
    assert cells["openai:one"].decision.paper_verdict is Verdict.CONTAMINATED
    assert cells["openai:two"].decision.paper_verdict is Verdict.NOT_DETECTED
    assert "2 near-exact ones by Ida" in cells["openai:one"].evidence.sentence


def test_ctrl_c_loses_nothing(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = iter(["3", "3"])

    def interrupted(asked: str) -> str:
        if (line := next(lines, None)) is None:
            raise KeyboardInterrupt
        return line

    monkeypatch.setattr("builtins.input", interrupted)
    ended = tabcontam("judge", str(run), "--by", "Ida")
    assert ended.returncode == 2
    assert "2 judgements are stored" in ended.stderr
    assert len(sheet_of(run, "Ida").left) == len(sheet_of(run, "Ida").items) - 2


def test_a_line_that_a_crash_cut_off_is_passed_over(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "3", "3", "q")
    tabcontam("judge", str(run), "--by", "Ida")
    with (run / JUDGEMENTS).open("a") as file:
        file.write('{"llm": "openai:one", "word": "exa')
    before = len(sheet_of(run, "Ida").left)
    typed(monkeypatch, "3", "q")
    assert tabcontam("judge", str(run), "--by", "Ida").returncode == 0
    assert len(sheet_of(run, "Ida").left) == before - 1


def test_people_and_the_text_agree_in_the_summary(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, wrong in (("Ida", 0), ("Ada", 1)):
        words = answers(sheet_of(run, name))
        typed(monkeypatch, *["3"] * wrong, *words[wrong:])
        tabcontam("judge", str(run), "--by", name)
    summary = tabcontam("judge", str(run))
    assert "Ida and Ada: " in summary.stdout
    document = json.loads(tabcontam("judge", str(run), "--json").stdout)
    assert [one["by"] for one in document["judges"]] == ["Ida", "Ada"]
    assert all(one["person"] for one in document["judges"])
    both = [one for one in document["agreements"] if (one["first"], one["second"]) == ("Ida", "Ada")]
    assert [one["kind"] for one in both] == ["completions", "settings"]
    assert both[0]["items"] == 20
    assert "Judges" in (run / "index.html").read_text()


def test_a_page_is_written_and_what_it_saves_is_taken(run: Path, tmp_path: Path) -> None:
    page, saved = tmp_path / "judge.html", tmp_path / "judgements.json"
    written = tabcontam("judge", str(run), "--by", "Ida", "--page", str(page))
    assert written.returncode == 0
    text = page.read_text()
    sheet = sheet_of(run, "Ida")
    assert all(f'data-pair="{item.pair}"' in text for item in sheet.items)
    for secret in ("openai", "127.0.0.1", "guided", "Zand Courier"):
        assert secret not in text
    words = {item.pair: EXACT if item.completion == item.expected else NONE for item in sheet.items}
    saved.write_text(json.dumps({"form": FORM, "by": "Ida", "words": words}))
    taken = tabcontam("judge", str(run), "--by", "Ida", "--from", str(saved))
    assert f"{len(words)} new judgements by Ida" in taken.stderr
    assert not sheet_of(run, "Ida").left
    again = tabcontam("judge", str(run), "--by", "Ida", "--from", str(saved))
    assert "0 new judgements" in again.stderr
    assert sum(1 for _ in judgements_in(run)) == 20


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "holds no judgements"),
        ('{"form": "other", "words": {}}', "holds no judgements"),
        (json.dumps({"form": FORM, "by": "Eve", "words": {}}), "was saved by 'Eve'"),
        (json.dumps({"form": FORM, "by": "Ida", "words": {"0": "yes"}}), "'yes' is not one of exact, near-exact"),
        (json.dumps({"form": FORM, "by": "Ida", "words": {"0": "exact"}}), "1 of 1 pairs are not of this run"),
    ],
)
def test_a_file_that_is_no_judgement_of_this_run_is_refused_as_a_whole(
    run: Path, tmp_path: Path, document: str, message: str
) -> None:
    saved = tmp_path / "saved.json"
    saved.write_text(document)
    refused = tabcontam("judge", str(run), "--by", "Ida", "--from", str(saved))
    assert refused.returncode == 4
    assert message in refused.stderr
    assert not (run / JUDGEMENTS).exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--page", "x.html"], "--page needs your name"),
        (["--by", "Ida", "--page", "x.html", "--from", "y.json"], "leave one of them out"),
        (["--by", "  "], "is not a name"),
        (["--by", "the text alone"], "take another name"),
        (["--by", "Ida", "--from", "nowhere.json"], "cannot read nowhere.json"),
    ],
)
def test_what_cannot_be_is_one_line(run: Path, arguments: list[str], message: str) -> None:
    refused = tabcontam("judge", str(run), *arguments)
    assert refused.returncode == 4
    assert message in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_a_run_without_completions_has_nothing_to_judge(tmp_path: Path) -> None:
    refused = tabcontam("judge", str(tmp_path), "--by", "Ida")
    assert refused.returncode == 4
    assert "is no run folder" in refused.stderr


def test_a_published_report_names_no_person(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, *answers(sheet_of(run, "Ida Berg")))
    tabcontam("judge", str(run), "--by", "Ida Berg")
    out = tmp_path / "published"
    published = redact([run], out, everything=True)
    assert [one.by for one in published.judges] == ["person 1"]
    assert not any("Ida" in file.read_text() for file in out.iterdir())
    assert not (out / JUDGEMENTS).exists()


@pytest.mark.parametrize("name", ["results.json", "trials.jsonl", JUDGEMENTS])
def test_a_link_that_leads_out_of_the_folder_is_refused(name: str, run: Path, tmp_path: Path) -> None:
    (run / name).unlink(missing_ok=True)
    (tmp_path / "secret").write_text("a secret", "utf-8")
    (run / name).symlink_to(tmp_path / "secret")
    done = tabcontam("judge", str(run))
    assert done.returncode == 4
    assert "a copy of the folder that holds only files" in done.stderr
    (run / name).unlink()  # which the tests' own look at results.json would read
