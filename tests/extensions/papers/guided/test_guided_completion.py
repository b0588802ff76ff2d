"""What answers to guided completion weigh: Algorithm 1, recalled cells of rows, verbatim runs of texts."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import tabcontam
from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.config import CALIBRATED, PAPER
from tabcontam.evidence.base import Evidence, Query, Reply, ReplyState, Trial, Verdict
from tabcontam.extensions.papers.guided.algorithm_one import AlgorithmOne, bootstrap, overlaps
from tabcontam.extensions.papers.guided.guided_completion import GuidedCompletion
from tabcontam.extensions.papers.guided.guided_test import GENERAL, WRONG_LABEL, WRONG_NAME, arm_of, first_piece
from tabcontam.extensions.papers.guided.word_runs import longest
from tabcontam.runs.rescoring import rescore
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tabcontam.tables.twin_tables import twin
from tabcontam.verdicts.result_building import build_result
from tabcontam.verdicts.result_types import ResultKey
from tests.extensions.papers.guided.texts import news, sentence

IS = load_serializers()["is"]
TEST = GuidedCompletion()
NAME = ResultKey("llm", "news", "made-up", "is", TEST.id)
LEVEL = 0.01
Says = Callable[[Query], str]


def trials(says: Says, table: Table | None = None, seed: int = 0) -> list[Trial]:
    """Every query of a cell about texts, with what is said to it and its reading."""
    queries = TEST.planned(table or news(90), IS, Random(seed))
    return [read(query, says(query)) for query in queries]


def read(query: Query, text: str) -> Trial:
    reply = Reply(text, ReplyState.OK if text else ReplyState.EMPTY)
    return Trial(query, reply, TEST.read(query, reply, IS))


def number_of(query: Query) -> int:
    return int((query.decoy_of or query.id).rpartition("-")[2])


def true(query: Query) -> str:
    return query.expected[0] or ""


def fluent(query: Query) -> str:
    """A text of the writer's own, which goes on for a few words as the true one does."""
    rng = Random(query.id)
    return f"{' '.join(true(query).split()[: rng.randrange(4)])} {sentence(rng, 30)}"


def recites(count: int, arms: tuple[str, ...] = ("", GENERAL, WRONG_NAME, WRONG_LABEL)) -> Says:
    """One who writes these many instances word for word in some arms, and fluently else."""
    return lambda query: true(query) if number_of(query) < count and arm_of(query) in arms else fluent(query)


def weighed(says: Says, seed: int = 0) -> Evidence:
    return TEST.weigh(trials(says, seed=seed), LEVEL)


def p_of(evidence: Evidence) -> float:
    assert evidence.p_value is not None
    return evidence.p_value


def test_who_recites_ten_texts_is_found_in_whatever_arm_it_does_so() -> None:
    everywhere, by_name = weighed(recites(10)), weighed(recites(10, ("",)))
    assert p_of(everywhere) < 1e-4
    assert p_of(by_name) < 1e-4
    assert everywhere.hits == by_name.hits == 10
    assert "10 of the 10 right second pieces stay right with a wrong label" in everywhere.sentence
    assert "0 of the 10 right second pieces stay right with a wrong label" in by_name.sentence
    assert "(p = 0.00098)" in by_name.sentence  # of ten pairs of which all are better with the name: 1 / 2 ** 10


def test_who_writes_texts_of_its_own_is_not_found() -> None:
    for seed in range(5):
        evidence = weighed(fluent, seed)
        assert p_of(evidence) > 0.2
        assert evidence.hits == 0


def test_a_single_text_that_is_known_finds_nothing() -> None:
    assert p_of(weighed(recites(1))) > 0.2
    assert p_of(weighed(recites(2))) < LEVEL


def test_who_writes_in_the_style_of_the_table_is_not_found() -> None:
    """Formulas that begin and end every text are known to who knows the table, and are no text of it."""
    table = news(90)
    formula = "Read the whole of this report in the Courier of the ninth day of the month at the harbour office."
    styled = replace(table, rows=tuple((f"{row[0]} {formula}", *row[1:]) for row in table.rows))

    def knows_it(query: Query) -> str:
        return f"{fluent(query)} {formula}" if arm_of(query) in ("", WRONG_LABEL) else fluent(query)

    own = trials(knows_it, styled)
    pairs = overlaps(own)
    assert TEST.published is not None
    assert TEST.published.finds(own)  # the overlap rises with the name, which is the style alone
    assert all(pair.guided > pair.general for pair in pairs)
    assert p_of(TEST.weigh(own, LEVEL)) > 0.2


def test_who_fills_in_a_form_letter_is_not_found() -> None:
    """What every text says with other names is known to who knows the table and reads the names in the prompt."""

    def letter(row: int) -> str:
        rng = Random(row)
        name, thing, clerk = (sentence(rng, 1).strip(".") for _ in range(3))
        number = 10_000 + row
        return (
            f"Ticket {number} by {name} about {thing}, seen by {clerk}. Dear {name}, we received {number} about "
            f"{thing} today. Mr {clerk} from our {thing} team will call {name} back soon. Please keep {number} "
            f"ready when {clerk} calls. Your {thing} remains with {clerk} until then."
        )

    table = news(90)
    letters = replace(table, rows=tuple((letter(row), *cells[1:]) for row, cells in enumerate(table.rows)))
    own = trials(true, letters)
    assert p_of(TEST.weigh(own, LEVEL)) > 0.2
    assert TEST.uninformative([trial.query for trial in own], LEVEL) is not None


def test_who_talks_of_another_name_is_not_found_by_that() -> None:
    """Under the right name alone a fluent writer goes on, and has runs as long as luck has them in long texts."""
    table = news(90, sentences=20)

    def fluent_here(query: Query) -> str:
        rng, words = Random(query.id), true(query).split()
        if arm_of(query) in (GENERAL, WRONG_NAME):
            return "The first piece is from another place, as far as can be seen."
        return f"{' '.join(words[: rng.randint(5, 6)])} {sentence(rng, len(words))}"

    own = trials(fluent_here, table)
    assert all(trial.readable for trial in own)
    assert p_of(TEST.weigh(own, LEVEL)) > 0.05


def test_who_repeats_the_prompt_is_not_found() -> None:
    assert p_of(weighed(lambda query: query.prompt.chat[-1].content)) > 0.2
    assert p_of(weighed(first_piece)) > 0.2


def test_who_says_nothing_is_not_clean() -> None:
    own = trials(lambda query: "I'm sorry, but I cannot recall this text.")
    cell = build_result(NAME, TEST, own, len(own), CALIBRATED, LEVEL)
    assert cell.verdict is Verdict.NO_ANSWER
    silent = trials(lambda query: "")
    assert build_result(NAME, TEST, silent, len(silent), CALIBRATED, LEVEL).verdict is Verdict.NO_ANSWER
    assert build_result(NAME, TEST, silent, len(silent), PAPER, LEVEL).decision.paper_verdict is Verdict.NO_ANSWER


def test_short_texts_are_uninformative() -> None:
    table = news(90)
    short = replace(table, rows=tuple((f"{(row[0] or '')[:40]} end.", *row[1:]) for row in table.rows))
    queries = TEST.planned(short, IS, Random(0))
    assert "too few words of their own in the texts for a verdict" in (TEST.uninformative(queries, LEVEL) or "")
    assert TEST.uninformative(TEST.planned(table, IS, Random(0)), LEVEL) is None


def test_the_published_verdict_is_that_of_the_paired_bootstrap() -> None:
    own = trials(recites(10, ("",)))
    cell = build_result(NAME, TEST, own, len(own), PAPER, LEVEL)
    assert cell.verdict is cell.decision.paper_verdict is Verdict.CONTAMINATED
    assert (cell.evidence.hits, cell.evidence.answered, cell.evidence.score) == (10, 10, 1.0)
    assert cell.evidence.sentence is not None
    assert cell.evidence.sentence.startswith(
        "10 of 10 second pieces have more overlap if the dataset is named: ROUGE-L 1.00 guided"
    )
    assert "p under 0.0001 by the paired bootstrap, as published" in cell.evidence.sentence
    both = trials(recites(10))
    assert build_result(NAME, TEST, both, len(both), CALIBRATED, LEVEL).decision.paper_verdict is Verdict.NOT_DETECTED


def test_the_paired_bootstrap_finds_what_the_unpaired_one_of_time_travel_does_not() -> None:
    """A small gain in each of ten instances of very different overlap, as GPT-4's on RTE: both p-values are stated."""
    rule = AlgorithmOne("claim")
    shares = [place / 10 for place in range(10)]

    def says(query: Query) -> str:
        words = true(query).split()
        more = 2 if not query.decoy_of else 0
        return " ".join(words[: round(shares[number_of(query) % 10] * (len(words) - 3)) + more]) or "nothing"

    own = trials(says)
    pairs = overlaps(own)
    paired, apart = (rule.p_value(pairs, paired=paired) for paired in (True, False))
    assert paired == bootstrap([pair.guided for pair in pairs], [pair.general for pair in pairs])
    assert paired <= 0.05 < apart
    assert rule.finds(own)
    assert rule.lacks([trial for trial in own if arm_of(trial.query) != GENERAL]) is not None


def row_trials(right: Callable[[Query], bool]) -> list[Trial]:
    """Ten rows of two cells, in all arms, of which some are answered right."""
    made = []
    for number in range(10):
        cells = (str(number * 7), str(number * 13))
        guesses = {name: CellPrediction({cells[0]: 0.1}, 0.1) for name in ("a", "b")}
        own = Query(f"q-{number}", lambda: None, ("a", "b"), cells, 9, True, (number,), chance=guesses, row=number)  # type: ignore[arg-type,return-value]
        for arm in ("", GENERAL, WRONG_NAME):
            query = replace(own, id=f"{own.id}-{arm}", chance={}, decoy_of=own.id, paper=arm == GENERAL) if arm else own
            values = cells if right(query) else ("x", "y")
            reading = replace(
                TEST.read(replace(query, chance=guesses), Reply("", ReplyState.EMPTY), IS),
                parsed=dict(zip(("a", "b"), values, strict=True)), hit=values == cells, readable=True,
                right=("a", "b") if values == cells else (),
            )  # fmt: skip
            made.append(Trial(query, Reply("The a is ...", ReplyState.OK), reading))
    return made


def test_of_rows_the_guided_answers_alone_decide() -> None:
    """Who recites rows under any name is found; who is right in other arms alone is not."""
    everywhere = TEST.weigh(row_trials(lambda query: True), LEVEL)
    by_name = TEST.weigh(row_trials(lambda query: not query.decoy_of), LEVEL)
    elsewhere = TEST.weigh(row_trials(lambda query: bool(query.decoy_of)), LEVEL)
    assert p_of(everywhere) == p_of(by_name) < 1e-9
    assert p_of(elsewhere) == 1.0
    assert (everywhere.asked, everywhere.answered) == (10, 10)
    assert "with the right name, 0 with no name (p = 0.00098); " in by_name.sentence
    assert "(p = 1)" in everywhere.sentence


def test_the_overlap_of_rows_is_that_of_their_values() -> None:
    pairs = overlaps(row_trials(lambda query: not query.decoy_of))
    assert pairs == [(1.0, 0.0)] * 10


@pytest.mark.parametrize("count", [0, 5])
def test_a_run_of_one_seed_is_the_same_again(count: int) -> None:
    assert weighed(recites(count)) == weighed(recites(count))


def test_a_twin_holds_none_of_the_texts_and_all_of_their_words() -> None:
    table = news(90)
    other = twin(table)
    own = [[cell or "" for cell in one.column("text")] for one in (table, other)]
    assert not set(own[0]) & set(own[1])
    assert sorted(" ".join(own[0]).split()) == sorted(" ".join(own[1]).split())
    assert longest(own[0][0], " ".join(own[1])).own <= 3
    assert twin(table) == other


@pytest.mark.slow
def test_a_table_of_texts_goes_through_a_run_and_is_judged_again(tmp_path: Path) -> None:
    simulated = ("memoriser:0.5", "guesser", "decliner")
    llms = [*(f"simulated:{kind}" for kind in simulated), "control:exposed", "control:unexposed"]
    found = tabcontam.run(llms, news(90), tests=TEST.id, out=tmp_path / "run")
    told = [Verdict.CONTAMINATED, Verdict.NOT_DETECTED]
    verdicts = [*told, Verdict.NO_ANSWER, *told]
    assert [cell.verdict for cell in found.results] == verdicts
    assert [table.verdict for table in found.tables] == verdicts
    again = rescore(tmp_path / "run", None)
    assert [(cell.verdict, cell.evidence.p_value, cell.evidence.sentence) for cell in again.results] == [
        (cell.verdict, cell.evidence.p_value, cell.evidence.sentence) for cell in found.results
    ]
