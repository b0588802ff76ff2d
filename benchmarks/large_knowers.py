"""Who knows the world, asked about a large table: `python -m benchmarks.large_knowers [ROWS] [KIND…]`.

Of a large file a sample is kept, which shows hardly any code twice. In each of these files a company, its town and its
branch follow from something that most kept rows share with rows that are not kept: from a `code`, from a long `number`,
from the beginning of a `plot` number, from the `middle` of one, from the end of a `mail` address, from a `pair` of a
route and a class, from an airline and the number of a `flight` that starts at an hour of its own, from `three` cells
together, from the `day` of a moment and a currency, or from the first two letters of an article and its `size`; or they
are amounts at a `rate` of the row's state, or of a day and a currency (`daily`). In a file whose rows stand `twice`,
with a number and a target of their own, they follow from all parts of a row together. In another an account's `balance`
is the one before it and the amount that was booked. One answerer knows all companies and rates, has read what was
booked before and after, and knows no row: it says what follows, and draws all other cells as often as they stand in
their column. The other knows every row by its identifier. Both answer over loopback what `run` asks: a hidden cell of a
row, and the rest of a row that is begun. Their verdicts are printed: the first is to be found nowhere, the second
everywhere but where rows stand twice: who has read the one knows the other.
"""

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
from bisect import bisect_left
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from tests.loopback import LoopbackServer

CODES = 20_000
STATES = 400
TESTS = "feature_completion or incomplete_completion"
PARTS = tuple(f"part{number}" for number in range(6))
FOLLOWING = ("company", "town", "branch")
FIRMS = [
    f"{one}{end} {kind}" for one in ("North", "Old", "Port", "Sun") for end in ("ham", "by") for kind in ("AG", "plc")
]
KINDS = (
    "code",
    "number",
    "plot",
    "middle",
    "mail",
    "pair",
    "flight",
    "three",
    "day",
    "size",
    "rate",
    "daily",
    "balance",
)
ACCOUNTS = 5000
DAYS, FIRST_DAY = 1000, date(2019, 1, 1)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
KEYS = (PARTS, ("code",), ("number",), ("route", "class"), ("airline", "flight"), ("shop", "season", "size"))
ASKED = re.compile(r"Which value of (\w+) does this row have")
REST = re.compile(r"lacks its last \d+ features?: ([^.]+)\.")
CELL = re.compile(r"The (\w+) is ([^,\n]+)")
Row = dict[str, str]
Answer = Callable[[dict[str, Any]], str]


def rows_of(kind: str, count: int) -> list[Row]:
    """The rows of a file, in which three columns follow from what `shared` says."""
    if kind == "balance":
        return booked(count)
    rng, found = Random(kind), list[Row]()
    known = [{name: rng.choice(FIRMS) for name in FOLLOWING} for _ in range(CODES)]
    for number in range(count):
        code = rng.randrange(CODES)
        own = {"id": str(number)}
        if kind == "code":
            own |= {"code": str(10_000 + code), "age": str(rng.randint(18, 90))}
        elif kind == "number":
            own |= {"number": str(2_019_000_000_000 + code), "age": str(rng.randint(18, 90))}
        elif kind == "plot":
            own |= {"plot": f"{10_000 + code}{rng.randrange(1000):03d}", "age": str(rng.randint(18, 90))}
        elif kind == "middle":
            account = f"{rng.randrange(100, 1000)}{10_000 + code}{rng.randrange(10_000):04d}"
            own |= {"account": account, "age": str(rng.randint(18, 90))}
        elif kind == "flight":
            own |= {"airline": f"A{code % 8}", "flight": str(100 + code // 8), "hour": str(code * 7919 % 20 + 4)}
            own |= {"age": str(rng.randint(18, 90))}
        elif kind == "three":
            own |= {"shop": f"S{code // 500}", "season": f"y{code // 25 % 20}", "size": f"z{code % 25}"}
            own |= {"age": str(rng.randint(18, 90)), "weight": str(rng.randint(1, 900))}
        elif kind in ("day", "daily"):
            day = FIRST_DAY + timedelta(code % DAYS)
            clock = f"{rng.randrange(24):02d}:{rng.randrange(60):02d}:{rng.randrange(60):02d}"
            own |= {"time": f"{day} {clock}", "currency": f"C{code // DAYS}", "age": str(rng.randint(18, 90))}
            if kind == "daily":
                own |= {"amount": f"{rng.lognormvariate(5, 1):.2f}"}
                found.append(own | at_rates(own) | {"target": rng.choice(["yes", "no"])})
                continue
        elif kind == "twice":
            again = Random(number % (count // 2))
            own |= {part: f"v{again.randrange(12)}" for part in PARTS}
            own |= {name: again.choice(FIRMS) for name in FOLLOWING}
            found.append(own | {"target": rng.choice(["yes", "no"])})
            continue
        elif kind == "size":
            letters = LETTERS[code // 26 % 26] + LETTERS[code % 26]
            own |= {"article": f"{letters}{rng.randrange(100, 100_000)}", "size": f"z{code // 676}"}
            own |= {"age": str(rng.randint(18, 90))}
        elif kind == "rate":
            own |= {"state": f"s{code % STATES}", "age": str(rng.randint(18, 90))}
            own |= {"amount": f"{rng.lognormvariate(5, 1):.2f}"}
            found.append(own | at_rates(own) | {"target": rng.choice(["yes", "no"])})
            continue
        else:
            own |= {"route": f"R{code // 10}", "class": f"k{code % 10}"}
        found.append(own | known[code] | {"target": rng.choice(["yes", "no"])})
    return found


def booked(count: int) -> list[Row]:
    """What was booked to some accounts, in the order of time."""
    rng, found, begin = Random("balance"), list[Row](), datetime(2021, 1, 1)
    balances = [rng.randrange(10**6) for _ in range(ACCOUNTS)]
    for number in range(count):
        account, amount = rng.randrange(ACCOUNTS), rng.randrange(-20_000, 20_000)
        balances[account] += amount
        own = {"time": str(begin + timedelta(seconds=37 * number)), "account": f"a{10_000 + account}"}
        own |= {"amount": f"{amount / 100:.2f}", "balance": f"{balances[account] / 100:.2f}"}
        own |= {name: rng.choice(FIRMS) for name in ("company", "branch")}
        found.append({"id": str(rng.randrange(10**9)), **own, "target": rng.choice(["yes", "no"])})
    return found


def told_by_bookings(rows: Sequence[Row]) -> Callable[[Row], Row]:
    """What the bookings before and after one tell of it, where its account and time are shown."""
    accounts: dict[str, list[Row]] = {}
    for row in rows:
        accounts.setdefault(row.get("account", ""), []).append(row)

    def told(row: Row) -> Row:
        own = accounts.get(row.get("account", ""), []) if "time" in row else []
        place = bisect_left(own, row.get("time", ""), key=lambda one: one["time"])
        if not 0 < place < len(own) - 1:
            return {}
        before, behind = float(own[place - 1]["balance"]), own[place + 1]
        balance = float(row["balance"]) if "balance" in row else float(behind["balance"]) - float(behind["amount"])
        return {"balance": f"{balance:.2f}", "amount": f"{balance - before:.2f}"}

    return told


def at_rates(row: Row) -> Row:
    """What the amount of a row comes to at the three rates of its state, or of its day and currency."""
    if "state" in row:
        state = int(row["state"][1:])
    else:
        days = (date.fromisoformat(row["time"][:10]) - FIRST_DAY).days
        state = days + DAYS * int(row["currency"][1:])
    rates = [(7919 * state + 104_729 * place) % 1990 + 10 for place in range(len(FOLLOWING))]
    return {name: f"{float(row['amount']) * rate / 10_000:.2f}" for name, rate in zip(FOLLOWING, rates, strict=True)}


def shared(row: Row) -> tuple[str, ...] | None:
    """That from which these columns of a row follow; None where it is not shown."""
    if "mail" in row:
        return (row["mail"].partition("@")[2],)
    if "plot" in row:
        return (row["plot"][:5],)
    if "account" in row:
        return (row["account"][3:8],)
    if {"time", "currency"} <= row.keys():
        return (row["time"][:10], row["currency"])
    if {"article", "size"} <= row.keys():
        return (row["article"][:2], row["size"])
    return next((tuple(row[name] for name in key) for key in KEYS if all(name in row for name in key)), None)


def knower(rows: Sequence[Row]) -> Answer:
    """Knows what follows, and no row."""
    known, rng = {by: row for row in rows if (by := shared(row)) is not None}, Random(5)
    bookings = told_by_bookings(rows) if "balance" in rows[0] else None

    def answer(body: dict[str, Any]) -> str:
        names, row = _asked(body)
        if bookings is not None:
            told = rng.choice(rows) | bookings(row)
            return _written(names, [told[name] for name in names])
        by = shared(row)
        kinds = ({"state", "amount"}, {"time", "currency", "amount"})
        told = at_rates(row) if any(kind <= row.keys() for kind in kinds) else known.get(by, {}) if by else {}
        of = [told if name in FOLLOWING and told else rng.choice(rows) for name in names]
        return _written(names, [one[name] for one, name in zip(of, names, strict=True)])

    return answer


def memoriser(rows: Sequence[Row]) -> Answer:
    """Knows every row whose identifier it is shown."""
    by_id, rng = {row["id"]: row for row in rows}, Random(5)

    def answer(body: dict[str, Any]) -> str:
        names, row = _asked(body)
        known = by_id.get(row.get("id", ""), rng.choice(rows))
        return _written(names, [known[name] for name in names])

    return answer


def _asked(body: dict[str, Any]) -> tuple[list[str], Row]:
    """The features that are asked for, and the cells that are shown of their row."""
    text = body["messages"][-1]["content"]
    last = [line for line in text.splitlines() if line.startswith("The ") and " is " in line][-1]
    one, rest = ASKED.search(text), REST.search(text)
    if one is None and rest is None:
        raise ValueError(f"another question: {text[-200:]}")
    names = [one[1]] if one else rest[1].split(", ") if rest else []
    return names, dict(CELL.findall(last))


def _written(names: Sequence[str], values: Sequence[str]) -> str:
    if len(names) == 1:
        return values[0]
    return ", ".join(f"The {name} is {value}" for name, value in zip(names, values, strict=True))


def main() -> None:
    """Write each file, let both be asked about it, and print what became of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=int, default=300_000)
    parser.add_argument("kinds", nargs="*", default=list(KINDS), metavar="|".join(KINDS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds:
            rows = rows_of(kind, options.rows)
            path = Path(folder) / f"{kind}.csv"
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
            for name, make in (("who knows the world", knower), ("who knows the rows", memoriser)):
                print(f"{kind}, {len(rows):,} rows, {name}: {_verdicts(path, make(rows))}", flush=True)


def _verdicts(path: Path, answer: Answer) -> str:
    out = path.parent / f"{path.stem}-{answer.__qualname__.partition('.')[0]}"
    with LoopbackServer(answer) as server:
        asked = ["--dataset", str(path), "--target", "target", "--serializer", "is", "-k", TESTS]
        command = [sys.executable, "-m", "tabcontam", "run", "--llm", f"openai:model@{server.url}", *asked]
        done = subprocess.run(
            [*command, "--no-controls", "--out", str(out)], check=False, capture_output=True, text=True
        )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    (table,) = results["tables"]
    return "; ".join([*map(_said, results["results"]), f"the table: {table['verdict']} ({table['reason']})"])


def _said(cell: dict[str, Any]) -> str:
    p_value = "none" if cell["p_value"] is None else f"{cell['p_value']:.2g}"
    counted = f"{cell['hits']} of {cell['queries']} right, {cell['expected_hits'] or 0:.1f} expected, p = {p_value}"
    return f"{cell['test']} {cell['verdict']} ({counted})"


if __name__ == "__main__":
    main()
