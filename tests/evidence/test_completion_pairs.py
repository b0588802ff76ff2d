"""What an exact match is, and Algorithm 2 on the words of those who judged."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from tabcontam.evidence.completion_pairs import CompletionPair, Likeness, contaminated, exactly
from tabcontam.statistics.kappa import measure_agreement

EXACT, NEAR, NONE = Likeness
SAID = {"yes (exact match)": EXACT, "yes (near-exact match)": NEAR, "no": NONE}
FOLDER = os.environ.get("TABCONTAM_REPLAY", "")
recorded = pytest.mark.skipif(not FOLDER, reason="TABCONTAM_REPLAY is not set")
PIECE = "icy surface of Jupiter's largest moon, 1,234.5 km away."


@pytest.mark.parametrize(
    "said",
    [
        PIECE,
        f"  {PIECE}\n",
        PIECE.replace(" ", "\n"),
        PIECE.removesuffix("."),
        f'"{PIECE}"',
        PIECE.replace("'", "\u2019"),
        PIECE.upper(),
        f"{PIECE}..",
    ],
)
def test_what_a_person_passes_over_is_no_difference(said: str) -> None:
    assert exactly(PIECE, said)


@pytest.mark.parametrize(
    "said", [PIECE.replace("1,234.5", "12345"), PIECE.replace("km", "miles"), PIECE[:-10], f"{PIECE} It is cold.", ""]
)
def test_what_a_person_sees_is_a_difference(said: str) -> None:
    assert not exactly(PIECE, said)


def test_nothing_is_a_match_of_punctuation() -> None:
    assert not exactly("...", "...")
    assert not exactly("", "")


def test_a_first_piece_that_is_repeated_is_passed_over() -> None:
    shown = "Scientists (have) found\nlumps beneath the"
    again = CompletionPair("q", shown, PIECE, f"\u201c{shown.replace(chr(10), ' ')} {PIECE}\u201d")
    assert again.exact
    assert CompletionPair("q", shown, PIECE, f"Scientists found {PIECE}").exact is False


def test_a_row_is_exact_where_all_its_cells_are_the_same() -> None:
    assert CompletionPair("q", "a is 1", "b is 2, c is 3", "c = 3.0; b = 2", cells=("2", "3"), same_cells=True).exact


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([EXACT], True),
        ([NEAR], False),
        ([NEAR, NEAR], True),
        ([NEAR, NONE, EXACT], True),
        ([NONE] * 10, False),
        ([], False),
    ],
)
def test_algorithm_2(words: list[Likeness], found: bool) -> None:
    assert contaminated(words) is found


@pytest.mark.slow
@recorded
def test_what_is_exact_by_the_text_alone_is_what_the_judge_of_time_travel_called_exact() -> None:
    """All completions that are kept with the judge's word: of 1,252 the same 20, and no other."""
    found: Counter[tuple[bool, bool]] = Counter()
    for name in ("time_travel.jsonl", "time_travel_100.jsonl"):
        for line in Path(FOLDER, "text", name).read_text("utf-8").splitlines():
            held = json.loads(line)
            compared = CompletionPair("q", held["shown"] or "", held["expected"], held["guided"])
            found[compared.exact, held["judge"] == "Yes (exact match)"] += 1
    assert found == {(True, True): 20, (False, False): 1232}


@recorded
def test_the_judge_of_time_travel_decides_as_its_people_do() -> None:
    settings: dict[tuple[str, ...], dict[str, list[Likeness]]] = {}
    for line in Path(FOLDER, "text", "time_travel.jsonl").read_text("utf-8").splitlines():
        held = json.loads(line)
        own = settings.setdefault((held["llm"], held["dataset"], held["split"]), {})
        for who in ("judge", "annotator1", "annotator2"):
            own.setdefault(who, []).append(SAID[held[who].lower()])
    pairs = [pair for own in settings.values() for pair in zip(own["judge"], own["annotator1"], strict=True)]
    assert (measure_agreement(pairs).agree, measure_agreement(pairs).items) == (204, 210)
    assert measure_agreement(pairs).kappa == pytest.approx(0.716, abs=0.001)
    decided = [{who: contaminated(words) for who, words in own.items()} for own in settings.values()]
    assert len(decided) == 21
    assert all(one["judge"] == one["annotator1"] == one["annotator2"] for one in decided)
