"""What is packed: the most telling queries of every cell, each kind at least once, and where the others are."""

import gzip
import json
import re
from base64 import b64decode
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

import pytest

from tabcontam.report.environment import asset
from tabcontam.report.evidence import SHOWN, PackedEvidence
from tabcontam.verdicts.document import parse_results
from tests.report.rendered import pack_evidence
from tests.report.synthetic import HOSTILE, cell, document, results, trial, trials

CELL = cell("gpt-4o", "iris", "full_completion", "contaminated")
WORDS = cell("gpt-4o", "iris", "recognition_features", "contaminated")


def unpacked(found: PackedEvidence, block: int = 1) -> dict[str, Any]:
    held: dict[str, Any] = json.loads(gzip.decompress(b64decode(found.blobs[block].split("\n")[1])))
    return held


def of_cell(lines: Iterable[Mapping[str, Any]], one: Mapping[str, Any] = CELL) -> tuple[dict[str, Any], PackedEvidence]:
    """What is told of a single cell, whose trials stand in lines 1, 2, 3 ... of the file."""
    found = pack_evidence(
        parse_results(document([dict(one)])), ({**line, "line": n} for n, line in zip(count(1), lines, strict=False))
    )
    return unpacked(found)["1-1-1"], found


def asked(number: int, kind: str = "hit", chance: float = 0.5, **changes: Any) -> dict[str, Any]:
    """A trial that came to a kind, whose one right cell has this chance."""
    of: dict[str, dict[str, Any]] = {
        "hit": {"hit": True},
        "miss": {"hit": False, "readable": True},
        "not understood": {"hit": False, "readable": False},
        "declined": {"hit": False, "readable": False, "unread": "declined", "reply": "I cannot"},
        "cut off": {"hit": False, "state": "truncated"},
        "refused": {"hit": None, "state": "refused"},
        "empty": {"hit": None, "state": "empty"},
        "failed": {"hit": None, "state": "failed"},
    }
    guess = {"petal length": {"values": {"1.4": chance}, "rest": 0.001, "missing": 0.0}}
    return trial(CELL, f"q-{number}", **{"paper": False, "chance": guess, **of[kind], **changes})


def test_hits_come_first_the_least_likely_before_others() -> None:
    told, _ = of_cell([asked(1, "miss"), asked(2, chance=0.5), asked(3, chance=0.125), asked(4, "miss", 0.25)])
    assert [(query["kind"], query["line"], query["bits"]) for query in told["queries"]] == [
        ("hit", 3, "3.0"), ("hit", 2, "1.0"), ("miss", 4, "2.0"), ("miss", 1, "1.0"),
    ]  # fmt: skip
    assert told["about"] == "4 queries: 2 hits, 2 misses."
    assert told["more"] == []


def test_a_row_without_a_guess_is_said_to_count_for_nothing() -> None:
    """A cell of 25 hits in 44 answers stood above the evidence of 26 hits in 45."""
    told, _ = of_cell([asked(1), asked(2, "miss"), asked(3, chance=0.5) | {"chance": {}}])
    assert told["about"] == "3 queries: 2 hits, 1 miss. 1 without a prediction does not count."
    told, _ = of_cell([asked(1) | {"chance": {}}])
    assert told["about"] == "1 query: 1 hit."


def test_the_null_is_told_with_the_evidence() -> None:
    told, _ = of_cell([asked(1)], CELL | {"null": "drawn\x00 anew"})
    assert told["null"] == "drawn␀ anew"


def test_the_papers_own_come_first_among_equals() -> None:
    told, _ = of_cell([asked(1), asked(2, paper=True), asked(3, chance=0.25)])
    assert [query["line"] for query in told["queries"]] == [3, 2, 1]


def test_one_of_each_kind_is_shown_and_the_rest_is_counted_by_kind_and_line() -> None:
    kinds = (
        ["hit"] * 30 + ["miss"] * 5 + ["declined", "refused", "cut off", "failed", "not understood", "failed", "empty"]
    )
    told, found = of_cell([asked(number, kind) for number, kind in enumerate(kinds)])
    shown = [query["kind"] for query in told["queries"]]
    assert shown == ["hit"] * 3 + ["miss", "declined", "not understood", "cut off", "refused", "empty", "failed"]
    assert told["more"] == ["27 hits: lines 4-30", "4 misses: lines 32-35", "1 failed: line 41"]
    assert told["about"].startswith(
        "42 queries: 30 hits, 5 misses, 1 declined, 1 not understood, 1 cut off, 1 refused, "
    )
    assert told["about"].endswith(" 10 are shown, the most informative first, and at least one of each kind of answer.")
    assert (found.shown, found.left) == ({"1-1-1": SHOWN}, {"1-1-1": 32})


def test_many_scattered_lines_are_named_up_to_the_last() -> None:
    lines = [asked(number, "hit" if number % 2 else "miss") for number in range(100)]
    told, _ = of_cell(lines)
    assert told["more"][1] == "49 misses: lines 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25 and 37 more up to line 99"


def test_the_order_of_the_file_changes_nothing_but_ties() -> None:
    lines = [asked(number, "hit" if number % 3 else "miss", 2.0**-number) for number in range(40)]
    forth, back = of_cell(lines)[0], of_cell(reversed(lines))[0]
    assert [query["bits"] for query in forth["queries"]] == [query["bits"] for query in back["queries"]]


def test_a_query_asked_again_counts_once_with_its_last_reply() -> None:
    told, found = of_cell([asked(1, "failed"), asked(2), asked(1, "hit", reply="petal length = 1.4")])
    assert told["about"] == "2 queries: 2 hits."
    assert sorted(query["line"] for query in told["queries"]) == [2, 3]
    assert found.shown == {"1-1-1": 2}


def test_a_run_by_the_papers_rules_says_who_decided_what_a_hit_is() -> None:
    by_paper = pack_evidence(parse_results(document([CELL], rules="paper")), [asked(1)])
    assert "Hits follow the paper's rules" in unpacked(by_paper)["1-1-1"]["about"]
    assert "paper" not in of_cell([asked(1)])[0]["about"]


def test_lines_that_are_not_known_are_not_named() -> None:
    found = pack_evidence(parse_results(document([CELL])), [asked(number) for number in range(12)])
    told = unpacked(found)["1-1-1"]
    assert told["more"] == ["2 hits"]
    assert all("line" not in query for query in told["queries"])
    assert found.blobs[1].split("\n")[0] == "1-1-1:0"


def test_decoys_stand_beside_their_query_where_they_said_the_word_too() -> None:
    def query(name: str, parsed: str | None, **changes: Any) -> dict[str, Any]:
        prompt = [{"role": "system", "content": "Answer."}, {"role": "user", "content": name}]
        of = {"prompt": prompt, "asked": [], "expected": ["Iris", "Fisher's Iris"], "reply": parsed or "Wine"}
        return trial(WORDS, name, **{**of, "parsed": parsed, "hit": parsed is not None, "readable": True, **changes})

    lines = [
        query("q-0-decoy-0", "Iris", decoy_of="q-0", paper=False),
        query("q-0", "Iris"),
        query("q-0-decoy-1", None, decoy_of="q-0", paper=False),
        query("q-1", None),
        query("q-1-decoy-0", "Iris", decoy_of="q-1", paper=False),
    ]
    told, found = of_cell(lines, WORDS)
    hit, miss = told["queries"]
    assert hit["words"] == [["Iris", "right", "", "1 of 2 decoys"], ["Fisher's Iris", "missing", ""]]
    (decoy,) = hit["decoys"]
    assert (decoy["kind"], decoy["line"]) == ("decoy", 1)
    assert decoy["prompt"] == [["user", "q-0-decoy-0"]]  # its instructions are those of the query
    assert "decoys" not in miss
    assert told["about"].startswith(
        "5 queries: 1 hit, 1 miss, 3 decoys. 3 are shown, the most informative first, and at "
    )
    assert told["more"] == ["2 decoys: lines 3, 5"]
    assert (found.shown, found.left) == ({"1-1-1": 3}, {"1-1-1": 2})


def test_every_cell_that_was_asked_has_evidence_controls_and_scores_too() -> None:
    of = results(["control:exposed", "gpt-4o", "t0"], ["iris", "wine"])
    view, found = parse_results(of), pack_evidence(parse_results(of), trials(of))
    wanted = {place for place, one in view.placed.items() if one.outcome != "skipped"}
    assert set(found.shown) == set(found.left) == wanted
    assert {place for block in found.blobs for place in unpacked(found, block)} == wanted
    assert list(found.blobs) == [1, 2, 3]


def test_a_cell_that_joined_runs_hold_twice_is_told_twice() -> None:
    told = unpacked(pack_evidence(parse_results(document([CELL, CELL])), [asked(1)]))
    assert told["1-1-1"] == told["1-2-1"]


def test_trials_of_other_cells_are_passed_over() -> None:
    found = pack_evidence(parse_results(document([CELL])), [asked(1), asked(2, dataset="wine"), {"llm": None}])
    assert found.shown == {"1-1-1": 1}
    assert pack_evidence(parse_results(document([CELL])), []) == PackedEvidence({}, {}, {})


def test_the_same_results_give_the_same_blob() -> None:
    of = results(["gpt-4o"], ["iris"])
    assert pack_evidence(parse_results(of), trials(of)) == pack_evidence(parse_results(of), trials(of))


def test_a_blob_holds_nothing_that_html_would_read() -> None:
    attack = cell(HOSTILE, HOSTILE, "full_completion", "contaminated")
    lines = [trial(attack, HOSTILE, reply=HOSTILE + "</script>", expected={HOSTILE: HOSTILE}, line=3)]
    found = pack_evidence(parse_results(document([attack])), lines)
    assert re.fullmatch(r"1-1-1:3\n[A-Za-z0-9+/=]+", found.blobs[1])
    assert unpacked(found)["1-1-1"]["queries"][0]["answer"][-1].endswith("</script>")


@pytest.mark.parametrize("row", [{f"feature {number}": str(number) for number in range(200)}])
def test_a_row_of_200_columns_is_whole(row: dict[str, str]) -> None:
    told, _ = of_cell([asked(1, expected=row, parsed=row)])
    assert [cells[0] for cells in told["queries"][0]["row"]] == list(row)


def test_the_script_is_small_and_writes_no_markup() -> None:
    script = asset("evidence.js")
    assert len(script.encode()) < 9_000
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|Function\(|\.style\b", script)
    assert "</script" not in script
    assert "<!--" not in script
    assert "</style" not in asset("evidence.css")


def test_scored_passages_stand_beside_their_decoys_the_furthest_apart_first() -> None:
    def scored(name: str, bits: float, decoy_of: str = "") -> dict[str, Any]:
        changes = {"question": "passage", "prompt": name, "hit": None, "readable": True, "decoy_of": decoy_of}
        return trial(CELL, name, parsed=f"{bits} bits a character", scores=[], **changes)

    lines = [scored("near", 2.0), scored("near-twin", 2.1, "near"), scored("far", 1.0), scored("far-twin", 9.0, "far")]
    told, found = of_cell(lines)
    assert [query["prompt"] for query in told["queries"]] == [[["", "far"]], [["", "near"]]]
    assert [decoy["prompt"] for decoy in told["queries"][0]["decoys"]] == [[["", "far-twin"]]]
    assert found.shown == {"1-1-1": 4}
