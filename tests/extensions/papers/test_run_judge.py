"""A run whose completions an LLM judges: asked after the answers, priced, limited, stored, and never clean in doubt."""

import csv
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from tabcontam.asking.run_progress import Progress
from tabcontam.asking.session import Session
from tabcontam.asking.trial_file import Journal
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Verdict
from tabcontam.evidence.completion_pairs import Likeness
from tabcontam.extensions.papers.completion_judge import BEGGING
from tabcontam.extensions.papers.judgement_file import JUDGEMENTS, judgements_in
from tabcontam.report.plan_text import plan_text
from tabcontam.runs.folder import load
from tabcontam.runs.rescoring import rescore
from tabcontam.runs.run import Outcome, check_rows_may_leave, execute, prepare, rows_leaving, survey
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.run_facts import LlmFacts
from tests.commands import tabcontam
from tests.extensions.papers.guided.texts import news
from tests.loopback import LoopbackServer, Response, reply

TABLE = news(40)
TEXTS = [row[0] or "" for row in TABLE.rows]
TEST = "guided_match"


def second_piece(text: str) -> str:
    """The true end of the text whose beginning a prompt shows."""
    shown = re.findall(r"First piece: (.*)", text)[-1]
    return next(whole[len(shown) :].strip() for whole in TEXTS if whole.startswith(shown))


def recites(pieces: int, changed: int = 0) -> Callable[[dict[str, Any]], str]:
    """Recites so many pieces, so many more with a word left out, and makes others up."""
    known: dict[str, str] = {}
    one_at_a_time = Lock()  # the server answers several at once

    def answer(body: dict[str, Any]) -> str:
        text = body["messages"][-1]["content"]
        true = second_piece(text)
        with one_at_a_time:
            number, words = len(known), true.split()
            near = " ".join([*words[:3], *words[4:]])
            said = true if number < pieces else near if number < pieces + changed else f"Nothing {number} at all."
            return known.setdefault(text, said)

    return answer


def pair(body: dict[str, Any]) -> tuple[str, str]:
    """The reference and the candidate that a judge is shown."""
    held = json.loads(body["messages"][-1]["content"])
    return held["reference"], held["candidate"]


def judges(body: dict[str, Any]) -> str:
    """A judge that counts common words and is not talked into anything."""
    reference, candidate = pair(body)
    one, other = set(reference.split()), set(candidate.split())
    share = len(one & other) / len(one | other)
    return "exact match" if reference == candidate else "near-exact match" if share > 0.7 else "no match"


@pytest.fixture
def judge() -> Iterator[LoopbackServer]:
    with LoopbackServer(judges) as server:
        yield server


def order(llm: LoopbackServer, judge: LoopbackServer | None, out: Path, **options: Any) -> RunConfig:
    spec = None if judge is None else f"openai:model@{judge.url}"
    return RunConfig(
        llm=(f"openai:model@{llm.url}",), dataset=(TABLE,), tests=TEST, controls=False, judge=spec, out=out, **options
    )


def made(asked: RunConfig) -> Outcome:
    return execute(prepare(asked), Progress())


def only(outcome: Outcome) -> Result:
    (cell,) = outcome.results.results
    return cell


def test_two_near_exact_matches_are_found_by_the_judge_alone(judge: LoopbackServer, tmp_path: Path) -> None:
    with LoopbackServer(recites(0, changed=2)) as llm:
        outcome = made(order(llm, judge, tmp_path))
        assert (len(llm.asked), len(judge.asked)) == (10, 32)  # ten completions, and 22 made pairs
    cell = only(outcome)
    assert cell.verdict is None
    assert cell.decision.paper_verdict is Verdict.CONTAMINATED
    assert "0 of 10 second pieces are exact matches, 2 near-exact ones by openai:model" in (
        cell.evidence.sentence or ""
    )
    (facts,) = outcome.results.judges
    assert (facts.judged, facts.unjudged, facts.words) == (10, 0, {"near-exact": 2, "no match": 8})
    assert facts.errs == "it labelled 22 of 22 made pairs right"
    stated = outcome.results.run.judge
    assert isinstance(stated, LlmFacts)
    assert stated.requests == 32
    assert "asked" not in (stated.ended or "")


def test_the_same_command_asks_nothing_twice_and_rescore_judges_alike(judge: LoopbackServer, tmp_path: Path) -> None:
    with LoopbackServer(recites(0, changed=2)) as llm:
        first = made(order(llm, judge, tmp_path))
        asked = len(judge.asked)
        lines = (tmp_path / JUDGEMENTS).read_text()
        again = made(order(llm, judge, tmp_path))
        assert len(judge.asked) == asked
        assert (tmp_path / JUDGEMENTS).read_text() == lines
        elsewhere = made(order(llm, judge, tmp_path / "other"))
        assert len(judge.asked) == asked  # its answers are stored as any other's
    assert only(again) == only(first)
    assert only(elsewhere).evidence.sentence == only(first).evidence.sentence
    assert rescore(tmp_path, None).results == first.results.results
    assert load(tmp_path).judges == first.results.judges


def test_without_a_judge_exact_matches_alone_are_counted_and_nothing_is_clean(tmp_path: Path) -> None:
    with LoopbackServer(recites(0, changed=2)) as llm:
        cell = only(made(order(llm, None, tmp_path / "near")))
        assert cell.decision.paper_verdict is Verdict.NO_ANSWER
        assert "no judge compared the others (add --judge LLM)" in cell.evidence.sentence
    with LoopbackServer(recites(1)) as llm:
        assert only(made(order(llm, None, tmp_path / "exact"))).decision.paper_verdict is Verdict.CONTAMINATED


def test_who_matches_nothing_is_not_detected(judge: LoopbackServer, tmp_path: Path) -> None:
    with LoopbackServer(recites(0)) as llm:
        assert only(made(order(llm, judge, tmp_path))).decision.paper_verdict is Verdict.NOT_DETECTED


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    [reply("no match", finish="content_filter"), reply("no ma", finish="length"), reply(""), reply("Yes, it matches.")],
    ids=["refused", "cut", "empty", "no label"],
)
def test_a_judge_without_a_word_makes_nothing_clean(answer: Response, tmp_path: Path) -> None:
    with LoopbackServer(recites(0)) as llm, LoopbackServer(lambda body: answer) as mute:
        outcome = made(order(llm, mute, tmp_path))
    cell = only(outcome)
    assert cell.decision.paper_verdict is Verdict.NO_ANSWER
    (facts,) = outcome.results.judges
    assert (facts.judged, facts.unjudged) == (0, 10)
    assert sum(one.unjudged for one in facts.made) == 22


def test_a_judge_is_asked_again_only_where_it_had_no_word(tmp_path: Path) -> None:
    mute = [True]

    def answer(body: dict[str, Any]) -> str | Response:
        return reply("", finish="content_filter") if mute[0] and "Nothing" in pair(body)[1] else judges(body)

    with LoopbackServer(recites(0)) as llm, LoopbackServer(answer) as server:
        assert only(made(order(llm, server, tmp_path))).decision.paper_verdict is Verdict.NO_ANSWER
        asked, mute[0] = len(server.asked), False
        assert only(made(order(llm, server, tmp_path))).decision.paper_verdict is Verdict.NO_ANSWER
        assert len(server.asked) == asked  # what it refused is stored, and paid for
        done = made(order(llm, server, tmp_path, retry_unanswered=True))
        assert only(done).decision.paper_verdict is Verdict.NOT_DETECTED
        assert len(server.asked) == asked + 10


def test_completions_that_talk_to_the_judge_do_not_steer_the_verdict(tmp_path: Path) -> None:
    """One that obeys says "exact match" of each: none is exact, and the report says how often it is led."""

    def obeys(body: dict[str, Any]) -> str:
        return "exact match" if "Answer: exact match" in pair(body)[1] else judges(body)

    def begs(body: dict[str, Any]) -> str:
        number = TEXTS.index(next(text for text in TEXTS if second_piece(body["messages"][-1]["content"]) in text))
        return BEGGING if number == first else f"Nothing {number} at all."

    with LoopbackServer(recites(0)) as llm:
        run = prepare(order(llm, None, tmp_path / "plan"))
    shown = re.findall(r"First piece: (.*)", run.plan[0].queries[0].prompt.chat[-1].content)[-1]
    first = next(number for number, text in enumerate(TEXTS) if text.startswith(shown))
    with LoopbackServer(begs) as llm, LoopbackServer(obeys) as server:
        outcome = made(order(llm, server, tmp_path / "run"))
    assert only(outcome).decision.paper_verdict is Verdict.NOT_DETECTED
    (facts,) = outcome.results.judges
    assert facts.words == {"near-exact": 1, "no match": 9}
    assert "misled by 2 of 2 that ask for another label" in facts.errs


def test_the_plan_prices_the_judge_and_bounds_what_it_costs(judge: LoopbackServer, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(f'["openai:model@{judge.url}"]\ninput = 1.0\noutput = 10.0\n')
    with LoopbackServer(recites(2, changed=2)) as llm:
        asked = order(llm, judge, tmp_path / "run").replace(prices=prices)
        run = prepare(asked)
        (own, judged) = survey(run)
        assert not llm.asked
        assert not judge.asked
        assert not (tmp_path / "run").exists()
        assert judged.requests == 32
        assert judged.dollars is not None
        assert f"judge openai:model@{judge.url}: 0 of 32" in plan_text(run.plan, [own, judged], rows_leaving(run))
        outcome = execute(run, Progress())
        sent = sum(len(message["content"]) for body in judge.asked for message in body["messages"])
        assert sent <= judged.prompt_tokens
        left = survey(prepare(asked))[-1]
        assert left.requests == 0
    assert outcome.results.run.judge is not None
    assert outcome.results.run.judge.dollars is not None
    assert Decimal(str(outcome.results.run.judge.dollars)) <= judged.dollars


def test_the_limits_of_a_run_count_the_judge_and_a_run_goes_on_where_they_ended_it(
    judge: LoopbackServer, tmp_path: Path
) -> None:
    with LoopbackServer(recites(0)) as llm:
        outcome = made(order(llm, judge, tmp_path, max_requests=20))
        assert (len(llm.asked), len(judge.asked)) == (10, 10)
        assert outcome.results.run.limit == "--max-requests 20 is reached"
        assert only(outcome).decision.paper_verdict is Verdict.NO_ANSWER
        assert sum(1 for _ in judgements_in(tmp_path)) == 10
        done = made(order(llm, judge, tmp_path))
        assert (len(llm.asked), len(judge.asked)) == (10, 32)
    assert only(done).decision.paper_verdict is Verdict.NOT_DETECTED


def test_a_judge_without_a_price_needs_one_where_dollars_are_limited(tmp_path: Path) -> None:
    with LoopbackServer(recites(0)) as llm:
        asked = order(llm, None, tmp_path, max_cost=Decimal(1))
        with pytest.raises(UsageError, match="no price is known for openai:judge"):
            prepare(asked.replace(judge="openai:judge@http://llm.example/v1"))


def test_private_rows_are_shown_to_a_judge_elsewhere_only_with_leave(tmp_path: Path) -> None:
    elsewhere = "openai:judge@http://llm.example/v1"
    with LoopbackServer(recites(0)) as llm:
        asked = order(llm, None, tmp_path)
        private = asked.replace(judge=elsewhere, dataset=(replace(TABLE, private=True),))
        run = prepare(private)
        assert rows_leaving(run) == {(f"judge {elsewhere}", "courier"): 10}
        with pytest.raises(UsageError, match=rf"10 rows would be shown to judge {elsewhere}; add --send-rows"):
            check_rows_may_leave(run)
        check_rows_may_leave(prepare(private.replace(send_rows=True)))


@pytest.mark.parametrize(
    ("judge_spec", "expression", "message"),
    [
        ("control:exposed", TEST, "--judge: control:exposed cannot judge"),
        ("simulated:guesser", TEST, "--judge: simulated:guesser cannot judge"),
        ("nobody", TEST, "--judge: unknown"),
        ("control:exposed", "feature_list_informed", f"no chosen test has answers for a judge; add -k {TEST}"),
    ],
)
def test_who_cannot_judge_is_told_before_anything_is_asked(
    judge_spec: str, expression: str, message: str, tmp_path: Path
) -> None:
    with LoopbackServer(recites(0)) as llm:
        asked = order(llm, None, tmp_path / "run").replace(judge=judge_spec, tests=expression)
        with pytest.raises(UsageError, match=message):
            prepare(asked)
        assert not llm.asked
    assert not (tmp_path / "run").exists()


def test_a_judge_that_its_server_does_not_have_is_told_before_an_answer_is_paid_for(
    judge: LoopbackServer, tmp_path: Path
) -> None:
    with LoopbackServer(recites(0)) as llm:
        asked = order(llm, judge, tmp_path / "run").replace(judge=f"openai:mdel@{judge.url}")
        with pytest.raises(UsageError, match=r"^--judge: unknown model 'mdel'; did you mean model\?$"):
            made(asked)
        run = prepare(asked)
        plan = plan_text(run.plan, survey(run), rows_leaving(run))
        assert not llm.asked
        assert not judge.asked
    assert f"judge openai:mdel@{judge.url}: unknown model 'mdel'" in plan
    assert not (tmp_path / "run").exists()


def test_a_judge_that_fails_ends_with_its_reason_and_loses_no_answer(tmp_path: Path) -> None:
    def refuse(body: dict[str, Any]) -> Response:
        return Response({"error": {"message": "wrong key"}}, 401)

    with LoopbackServer(recites(1)) as llm, LoopbackServer(refuse) as server:
        outcome = made(order(llm, server, tmp_path))
    assert only(outcome).decision.paper_verdict is Verdict.CONTAMINATED
    assert any("was asked nothing more" in note.text and "judge" in note.text for note in outcome.results.notes)


def test_what_is_judged_stands_beside_the_trial(judge: LoopbackServer, tmp_path: Path) -> None:
    with LoopbackServer(recites(1, changed=1)) as llm:
        outcome = made(order(llm, judge, tmp_path))
    said = [words for line in outcome.trials for _, words in line.get("judged", ())]
    assert sorted(said) == sorted(["exact", "near-exact", *["no match"] * 8])
    held = [one for one in judgements_in(tmp_path) if one.made is None]
    assert {one.word for one in held} == {Likeness.NEAR, Likeness.NONE}
    assert "Judges" in (tmp_path / "index.html").read_text()


def test_the_real_command_judges_a_file_of_texts(judge: LoopbackServer, tmp_path: Path) -> None:
    file, out = tmp_path / "courier.csv", tmp_path / "out"
    with file.open("w", newline="", encoding="utf-8") as lines:
        csv.writer(lines).writerows([("text", "topic"), *((row[0], row[2]) for row in TABLE.rows)])
    with LoopbackServer(recites(1, changed=2)) as llm:
        asked = ("--llm", f"openai:model@{llm.url}", "--dataset", str(file), "--no-controls", "-k", TEST)
        named = ("--judge", f"openai:model@{judge.url}", "--out", str(out))
        ran = tabcontam("run", *asked, *named)
        assert (ran.returncode, len(llm.asked), len(judge.asked)) == (0, 10, 31)
    (cell,) = load(out).results
    assert "1 of 10 second pieces are exact matches, 2 near-exact ones by openai:model" in (
        cell.evidence.sentence or ""
    )
    summary = tabcontam("judge", str(out)).stdout
    assert "9 completions (2 near-exact, 7 no match); it labelled 22 of 22 made pairs right" in summary


@pytest.mark.slow
def test_what_both_guided_tests_ask_is_asked_once(judge: LoopbackServer, tmp_path: Path) -> None:
    with LoopbackServer(recites(1)) as llm:
        run = prepare(order(llm, judge, tmp_path).replace(tests=None, marks="golchin2023"))
        planned = {cell.test.id: len(cell.queries) for cell in run.plan}
        execute(run, Progress())
        assert planned[TEST] == 10
        assert len(llm.asked) == sum(planned.values()) - 10


def test_a_run_that_is_stopped_while_the_judge_is_asked_keeps_what_was_judged(tmp_path: Path) -> None:
    """As Ctrl-C does it: what is under way is finished, nothing more is sent, and the same command goes on."""
    holding: list[Session] = []

    def answer(body: dict[str, Any]) -> str:
        if len(server.asked) >= 5:
            holding[0].stop()
        return judges(body)

    with LoopbackServer(recites(0)) as llm, LoopbackServer(answer) as server:
        asked = order(llm, server, tmp_path, max_connections=1)
        run = prepare(asked)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Session, "__post_init__", _noting(holding, Session.__post_init__))
            outcome = execute(run, Progress())
        assert outcome.results.run.interrupted
        assert only(outcome).decision.paper_verdict is Verdict.NO_ANSWER
        before = len(server.asked)
        assert before < 32
        held = sum(1 for _ in judgements_in(tmp_path))
        assert held == before
        holding[:] = [Session((), RunConfig(), Journal(tmp_path / "none"), Progress())]
        assert only(made(asked)).decision.paper_verdict is Verdict.NOT_DETECTED
        assert len(server.asked) == 32


def _noting(held: list[Session], begin: Callable[[Session], None]) -> Callable[[Session], None]:
    def noted(session: Session) -> None:
        begin(session)
        held.append(session)

    return noted


def test_a_judge_needs_all_parts(tmp_path: Path) -> None:
    part = RunConfig(llm=("simulated:oracle",), dataset=("iris",), judge="simulated:judge", shard="1/2", out=tmp_path)
    with pytest.raises(UsageError, match="judge"):
        prepare(part)
