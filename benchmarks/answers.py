"""How many answers in many ways of writing are read rightly: `python -m benchmarks.answers FILE.jsonl`.

Each line has what an OpenAI-compatible server sent (`message`, `finish_reason`) to a query of a row test (`table`,
`test`, `asked`, `expected`) in a `style`, and what must come of it (`must`): `read` as expected, `unread`, or `either`.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from tabcontam.asking.query_plan import sheet_of
from tabcontam.config import RunConfig
from tabcontam.evidence.base import FeatureFacts, Query, Reply, Trial
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.rows.answer_cells import few_values
from tabcontam.evidence.trial_reading import complete_reply, read_trial
from tabcontam.models.base import as_reply
from tabcontam.models.openai.replies import chat_answer
from tabcontam.reading.answer_text import is_mark, same_value
from tabcontam.reading.endless_answers import goes_on
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table, load_table
from tests.made_orders import orders

RIGHT, UNREAD, WRONG = "right", "unread", "wrong"
ALLOWED = {"read": {RIGHT}, "unread": {UNREAD}, "either": {RIGHT, UNREAD}}
SHIPPED = ("heart", "titanic", "wine")
SERIALIZER = "is"
LOOKED = 12  # characters after which it is looked at whether an answer goes on without end


@lru_cache(maxsize=4)
def table(name: str) -> Table:
    """The table that an answer is about."""
    return load_table(name) if name in SHIPPED else orders()


@lru_cache(maxsize=16)
def queries(name: str, test: str, seed: int = 0) -> Sequence[Query]:
    """The queries of a row test about it."""
    return sheet_of(by_id()[test], table(name), load_serializers()[SERIALIZER], RunConfig(seed=seed)).written


def query_of(case: Mapping[str, Any]) -> Query:
    """The query that an answer was written for or, where this table has none such, one like it."""
    asked, expected = tuple(case["asked"]), tuple(case["expected"])
    alike = [query for query in queries(case["table"], case["test"]) if query.asked == asked]
    if not alike:
        few = {name: values for name in asked if (values := few_values(table(case["table"]), name))}
        alike = [replace(queries(case["table"], case["test"])[0], asked=asked, features=FeatureFacts(values=few))]
    found = next((query for query in alike if query.expected == expected and query.chance), None)
    like, text = found or next((query for query in alike if query.chance), alike[0]), case["message"]["content"] or ""
    if case["style"] == "echo_prompt":  # it repeats a prompt that no query here has
        prompt = replace(like.prompt, completion=text.rpartition("\n\n")[0])
        like = replace(like, write=lambda: prompt)
    return replace(like, expected=expected)


def reply_of(case: Mapping[str, Any]) -> Reply:
    """The reply as the run would have it from a server."""
    body = {"choices": [{"message": case["message"], "finish_reason": case["finish_reason"]}]}
    answer = chat_answer(body)
    refusal = "content filter" if answer.finish == "content_filter" else answer.refusal or None
    return as_reply(answer.text, answer.tokens, refusal=refusal, cut=answer.cut, reasoned=answer.thought)


def cells_of(case: Mapping[str, Any]) -> Mapping[str, str | None]:
    """The asked cells that count as read."""
    test, serializer = by_id()[case["test"]], load_serializers()[SERIALIZER]
    trial = complete_reply(test, Trial(query_of(case), reply_of(case)), serializer)
    reading = read_trial(test, trial, serializer).reading
    if reading is None or not reading.readable:
        return {}
    assert isinstance(reading.parsed, Mapping)
    return reading.parsed


def came(case: Mapping[str, Any], cells: Mapping[str, str | None]) -> str:
    """What came of an answer: right if every cell is as expected, wrong if one is read as something else."""
    truth = dict(zip(case["asked"], case["expected"], strict=True))

    def right(name: str) -> bool:
        return same_value(cells[name], truth[name]) or (truth[name] is None and is_mark(cells[name]))

    if any(not right(name) for name in cells):
        return WRONG
    return RIGHT if len(cells) == len(truth) else UNREAD


def judged(cases: Iterable[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], str, Mapping[str, str | None]]]:
    """Each answer with what came of it and what was read."""
    return [(case, came(case, cells), cells) for case in cases for cells in [cells_of(case)]]


def ended(case: Mapping[str, Any]) -> Mapping[str, Any]:
    """The answer as it is where it is ended, if it goes on without end."""
    text = reply_of(case).text
    end = next((end for end in range(0, len(text), LOOKED) if goes_on(text[:end], case["asked"])), None)
    message = {**case["message"], "content": text[:end]}
    return case if end is None else {**case, "message": message, "finish_reason": "length"}


def load(path: Path) -> list[dict[str, Any]]:
    """The answers in a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """Print how many of each kind came how, and the ways of writing in which one came otherwise than it must."""
    found = judged(load(Path(sys.argv[1])))
    counted = Counter((case["must"], what) for case, what, _ in found)
    for (must, what), number in sorted(counted.items()):
        print(f"{must:8} {what:8} {number}")
    cut = [(case, short, cells) for case, _, cells in found if (short := ended(case)) is not case]
    saved = sum(len(reply_of(case).text) - len(reply_of(short).text) for case, short, _ in cut)
    changed = sum(cells_of(short) != cells for _, short, cells in cut)
    print(f"{len(cut)} go on without end: {saved} characters are saved, {changed} are read otherwise")
    failed: dict[str, list[tuple[Mapping[str, Any], str, Mapping[str, str | None]]]] = defaultdict(list)
    for case, what, cells in found:
        if what not in ALLOWED[case["must"]]:
            failed[case["style"]].append((case, what, cells))
    for style, cases in failed.items():
        case, what, cells = cases[0]
        print(f"\n{style}: {len(cases)}, {Counter(what for _, what, _ in cases)}")
        for case, what, cells in cases[:: max(1, len(cases) // 2)][:2]:
            print(f"  {what}: {json.dumps(case['message'], ensure_ascii=False)[:300]}")
            print(f"    must be {case['must']}: {case['expected']}; read: {cells}")


if __name__ == "__main__":
    main()
