"""`--overlap` through the real commands: by what Algorithm 1 compares texts, in a run and in a past one."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tabcontam.asking.run_progress import Progress
from tabcontam.cli import commands as cli
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.evidence.registry import by_id
from tabcontam.extensions.papers.guided.overlap_measures import Bleurt, Rouge
from tabcontam.extensions.papers.overlap_part import PART, OverlapPart
from tabcontam.models.provider_registry import ModelSettings
from tabcontam.verdicts.run_facts import RunFacts, known_tests
from tests.extensions.papers.guided.encoders import encoder

LLM = ("--llm", "simulated:memoriser:0.5", "--no-controls", "--dataset", "iris")
GUIDED = (*LLM, "-k", "guided_completion")


def held(folder: str) -> Any:
    return json.loads(Path(folder, "results.json").read_text("utf-8"))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ((*GUIDED, "--overlap", "rogue"), "--overlap: 'rogue' is no measure of overlap; type one of rouge, "),
        ((*GUIDED, "--overlap", "bleurt:./gone"), "--overlap: the overlap model ./gone does not exist"),
        ((*LLM, "-k", "header", "--overlap", "rouge"), "--overlap: no chosen test compares texts by it; add -k "),
    ],
)
def test_a_bad_measure_is_refused_before_anything_is_asked(
    asked: tuple[str, ...], message: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in ([], ["--dry-run"]):
        assert cli.main(["run", *asked, "--out", "run", *more]) == 4
        said = capsys.readouterr()
        assert message in said.err
        assert said.out == ""
    assert list(here.iterdir()) == []


def test_without_the_extra_it_says_what_to_install(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabcontam.extensions.papers.guided.overlap_measures.find_spec", lambda name: None)
    from tabcontam import run

    with pytest.raises(UsageError, match=r"overlap: the overlap model x/y needs the extra hf; type: pip inst"):
        run("simulated:mode", "iris", tests="guided_completion", overlap="bleurt:x/y")
    assert list(here.iterdir()) == []


@pytest.mark.slow
def test_a_run_by_rouge_says_nothing_of_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", *GUIDED, "--overlap", "rouge", "--queries", "paper", "--out", "run"]) == 0
    assert "ROUGE-L" in held("run")["results"][0]["sentence"]
    assert held("run")["run"]["overlap"] is None
    assert cli.main(["run", *LLM, "-k", "feature_list_informed", "--out", "other"]) == 0
    assert cli.main(["rescore", "other", "--overlap", "rouge"]) == 4
    assert "--overlap: no test in other compares texts by it; leave it out" in capsys.readouterr().err


def test_runs_of_different_measures_are_not_put_together() -> None:
    guided, other = known_tests()["guided_completion"], known_tests()["header"]
    by_words, learned = (RunFacts(rules="paper", tests=(guided,), overlap=each) for each in (None, "bleurt:x/y"))
    beside = RunFacts(rules="paper", tests=(other,))
    assert PART.merged_facts([learned, beside]) == {"overlap": "bleurt:x/y"}
    assert PART.merged_facts([beside, by_words]) == {"overlap": None}
    assert PART.merged_facts([beside]) == {"overlap": None}
    with pytest.raises(UsageError, match=r"by different measures \(bleurt:x/y, rouge\); rescore one of them"):
        PART.merged_facts([learned, by_words])


def test_a_past_run_whose_model_is_gone_says_what_to_type(here: Path) -> None:
    guided = known_tests()["guided_completion"]
    gone = RunFacts(rules="paper", tests=(guided,), overlap=f"bleurt:{here / 'gone'}")
    with pytest.raises(UsageError, match=r"past compares texts by .*gone does not exist.*; or type .*--overlap rouge"):
        PART.measure_again(Path("past"), gone, None)
    assert PART.measure_again(Path("past"), gone, "rouge") == Rouge()


def test_a_folder_is_known_by_its_whole_path_and_called_by_its_name(here: Path) -> None:
    if not find_spec("transformers"):
        pytest.skip("the extra hf is not here")
    (here / "judges").mkdir()
    own = opened("bleurt:judges")
    assert own.measure == Bleurt(str(here / "judges"))
    assert (own.facts(), own.measure.title) == ({"overlap": f"bleurt:{here / 'judges'}"}, "BLEURT (judges)")
    named = opened("bertscore:some/model")
    assert (named.facts(), named.measure.title) == ({"overlap": "bertscore:some/model"}, "BERTScore (some/model)")


def opened(measure: str) -> OverlapPart:
    """The part of a run by this measure, which is not loaded."""
    part = OverlapPart(RunConfig(overlap=measure), Progress())
    part.open([by_id()["guided_completion"]], ModelSettings(), asks=False)
    return part


@pytest.mark.slow
def test_a_run_by_a_learned_overlap_keeps_it_until_another_is_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("transformers")
    model = encoder(here / "one")
    learned = f"bertscore:{model}"
    assert (
        cli.main(
            ["run", *GUIDED, "--rules", "paper", "--queries", "paper", "--overlap", "bertscore:one", "--out", "run"]
        )
        == 0
    )
    assert "BERTScore (one)" in held("run")["results"][0]["sentence"]
    assert held("run")["run"]["overlap"] == learned
    before = held("run")["results"]
    for again in ((), ("--overlap", learned)):
        assert cli.main(["rescore", "run", *again]) == 0
        assert held("run")["run"]["overlap"] == learned
        assert held("run")["results"] == before
    assert cli.main(["report", "run", "--redact", "--out", "public"]) == 0
    assert str(here) not in Path("public", "results.json").read_text("utf-8")
    assert held("public")["run"]["overlap"] == "bertscore:one"
    assert cli.main(["rescore", "run", "--overlap", "rouge"]) == 0
    assert held("run")["run"]["overlap"] is None
    assert "ROUGE-L" in held("run")["results"][0]["sentence"]
    assert cli.main(["rescore", "run", "--overlap", "rogue"]) == 4
    assert "is no measure of overlap" in capsys.readouterr().err
