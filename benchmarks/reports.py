"""Seconds, memory and sizes of a large run's report: `python -m benchmarks.reports [LLMS TABLES TESTS]`.

By default 20 LLMs, 20 tables and 20 tests; the aim is 100, 100 and 20 (200,000 cells): a report that is written in at
most 60 s and 2 GB, a first page below 2 MB that opens in at most 2 s. It makes a run's folder of that size: simulated
answerers are asked a few queries about two small tables through the library, and their cells and trials stand in it
under the names of as many LLMs and tables, written by what writes those of a run. Each four LLMs are versions of a
family. Then it runs `tabcontam report RUN --out DIR`, prints its seconds and the most memory that its processes held
together, the sizes of the pages, and how long Chromium takes to open the first page, to filter it, and to open a page
behind it.

`--keep DIR` makes the folder there, or takes the one that is there; `--parts N` also joins the run from N parts,
`--rescore` also judges it again.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from threading import Event, Thread
from time import perf_counter
from typing import Any

import tabcontam
from tabcontam.asking.trial_file import RESULTS, TRIALS, Journal, Line, as_lines, line_key
from tabcontam.groups import grouped
from tabcontam.runs.folder import load
from tabcontam.verdicts.document import write_results
from tabcontam.verdicts.result_building import build_results
from tabcontam.verdicts.result_types import Result, ResultKey
from tabcontam.verdicts.run_facts import CatalogueFacts, Duration, LlmFacts, RunFacts, ShardFacts
from tests.report.chromium import ARGUMENTS, CHROMIUM

TESTS = (
    *("feature_list_informed", "feature_list_uninformed", "recognition_features", "recognition_examples"),
    *("feature_values_informed", "feature_values_uninformed", "incomplete_completion", "full_completion"),
    *("feature_completion", "feature_names", "membership", "matched_membership", "row_completion"),
    *("csv_feature_completion", "first_token", "guided_completion", "quiz", "quiz_completion"),
    *("classification_0shot", "classification_1shot"),
)
ANSWERERS = ("simulated:memoriser:0.5", "simulated:guesser", "simulated:refuser", "simulated:memoriser:0.1")
EACH = 3  # queries of a cell
VERSIONS = 4  # of a family of LLMs


def write_table(path: Path, seed: int = 1) -> None:
    """A small table of words and numbers."""
    rng = Random(seed)
    rows = ["wood,colour,weight,price,sold"]
    for _ in range(220):
        wood, colour = rng.choice(["oak", "pine", "birch", "cherry"]), rng.choice(["red", "green", "brown", "white"])
        rows.append(f"{wood},{colour},{rng.gauss(20, 4):.1f},{rng.uniform(5, 400):.2f},{rng.choice(['yes', 'no'])}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def prototypes(folder: Path) -> tuple[RunFacts, list[Result], dict[ResultKey, list[Line]]]:
    """A real small run: its facts, its cells and their trials."""
    table = folder / "stock.csv"
    write_table(table)
    out = folder / "small"
    chosen = " or ".join(TESTS)
    tabcontam.run(list(ANSWERERS), ["iris", str(table)], tests=chosen, queries=EACH, out=out, cache=False)
    found = load(out)
    asked = grouped(Journal(out).lines(), lambda line: ResultKey(*line_key(line)[:-1]))
    return found.run, [cell for cell in found.results if cell.test in TESTS], asked


def write_run(folder: Path, llms: int, tables: int, tests: int) -> None:
    """A folder as a run of so many LLMs, tables and tests leaves it, but for its pages."""
    with tempfile.TemporaryDirectory() as small:
        run, cells, asked = prototypes(Path(small))
    of_pair = grouped((cell for cell in cells if cell.test in TESTS[:tests]), lambda cell: (cell.llm, cell.dataset))
    datasets = {one.name: one for one in run.datasets}
    names = [f"lab{number // VERSIONS:02d}-v{number % VERSIONS + 1}" for number in range(llms)]
    tables_named = [f"table-{number + 1:03d}" for number in range(tables)]
    kinds = list(datasets)
    rng = Random(1)
    made: list[Result] = []
    folder.mkdir(parents=True)
    texts = {key: [as_lines([line]) for line in lines] for key, lines in asked.items()}
    with (folder / TRIALS).open("w", encoding="utf-8") as file:
        for llm in names:
            for second, name in enumerate(tables_named):
                kind = kinds[second % len(kinds)]
                who = ANSWERERS[rng.choice([0, 1, 1, 1, 2, 3])]
                for cell in of_pair[who, kind]:
                    made.append(cell.changed(llm=llm, dataset=name, control=False))
                    file.writelines(_named(text, llm, name) for text in texts.get(cell.key, []))
    facts = replace(
        run,
        llms=tuple(
            LlmFacts(spec=llm, resolved=f"openai:{llm}", version="2026-01-01", requests=tables * 60) for llm in names
        ),
        catalogue={
            llm: CatalogueFacts(name=llm, title=f"Lab {llm[3:5]} version {llm[-1]}", family=llm[:5], order=place)
            for place, llm in enumerate(names)
        },
        datasets=tuple(
            replace(datasets[kinds[place % len(kinds)]], name=name, title=f"Table {place + 1}")
            for place, name in enumerate(tables_named)
        ),
        durations=tuple(
            Duration(
                **{**cell.key._asdict(), "edition": cell.edition, "split": cell.split},
                seconds=round(rng.uniform(1, 90), 2),
            )
            for cell in made
        ),
    )
    write_results(folder, build_results(facts, made))


def _named(text: str, llm: str, dataset: str) -> str:
    """A line of trials.jsonl under other names, which it begins with."""
    head, rest = text.split('"edition"', 1)
    return f'{{"llm": "{llm}", "dataset": "{dataset}", "edition"{rest}' if head else text


def write_parts(folder: Path, out: Path, parts: int) -> list[Path]:
    """The same run as so many machines would have left it, each with every so manieth pair of LLM and table."""
    whole = load(folder)
    pairs = list(dict.fromkeys((cell.llm, cell.dataset) for cell in whole.results))
    place = {pair: number % parts for number, pair in enumerate(pairs)}
    folders = [out / f"part-{number + 1}" for number in range(parts)]
    files = []
    for number, own in enumerate(folders):
        own.mkdir(parents=True)
        shard = ShardFacts(parts=(number + 1,), total=parts, plan="0" * 64, results=len(whole.results))
        cells = [cell for cell in whole.results if place[cell.llm, cell.dataset] == number]
        took = tuple(one for one in whole.run.durations if place[one.llm, one.dataset] == number)
        write_results(own, build_results(replace(whole.run, shard=shard, durations=took), cells))
        files.append((own / TRIALS).open("w", encoding="utf-8"))
    with (folder / TRIALS).open(encoding="utf-8") as lines:
        for line in lines:
            llm, dataset = line.split('"', 8)[3:8:4]
            files[place[llm, dataset]].write(line)
    for file in files:
        file.close()
    return folders


def measured(command: Sequence[str]) -> tuple[float, float, float]:
    """Seconds, seconds of the processors, and the most MB that the processes of a command held together."""
    start, over, most = perf_counter(), Event(), [0.0]
    child = subprocess.Popen([sys.executable, "-m", "tabcontam", *command], stdout=subprocess.DEVNULL)

    def watch() -> None:
        while not over.wait(0.25):  # what it reads takes time
            most[0] = max(most[0], sum(_held(process) for process in _tree(child.pid)))

    watching = Thread(target=watch)
    watching.start()
    _, status, used = os.wait4(child.pid, 0)
    over.set()
    watching.join()
    if status:
        raise SystemExit(f"{command} ended with {os.waitstatus_to_exitcode(status)}")
    return perf_counter() - start, used.ru_utime + used.ru_stime, max(most[0], used.ru_maxrss / 1e3)


def _tree(process: int) -> Iterator[int]:
    """A process and those below it."""
    yield process
    try:
        below = Path(f"/proc/{process}/task/{process}/children").read_text()
    except OSError:
        return
    for child in below.split():
        yield from _tree(int(child))


def _held(process: int) -> float:
    """The MB that a process holds, pages that it shares with others counted by their part (Linux)."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1e3


def opened(folder: Path) -> Iterator[tuple[str, float]]:
    """What Chromium takes: to open the first page, to use it, and to open a page behind it and a cell's evidence."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(120_000)
        yield "open index.html", _timed(lambda: page.goto((folder / "index.html").as_uri()))
        yield (
            "until it is drawn",
            _timed(lambda: page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")),
        )
        if page.locator("#grid-filters, #filters").count():
            yield "filter", _timed(lambda: page.evaluate(FILTER))
        link = page.locator("table.grid td.contaminated, table.overview a.cell, table.heatmap a.cell").first

        def follow() -> None:
            link.evaluate("(link) => link.click()")
            page.wait_for_url("**/llm-*", wait_until="load")

        yield "follow a square", _timed(follow)
        details = page.locator("details.evidence").first
        if details.count():
            details.evaluate("(box) => { box.closest('details.column').open = true; box.open = true; }")
            yield (
                "see its evidence",
                # the first cell of the page may be of a table that the square's own address leaves out
                _timed(lambda: page.wait_for_selector("details.evidence article", state="attached")),
            )
        browser.close()


FILTER = """() => new Promise((done) => {
  const box = document.querySelector("#grid-filters input, #filters input");
  if (box.type === "checkbox") box.checked = true; else box.value = "1";
  box.dispatchEvent(new Event("input", { bubbles: true }));
  box.dispatchEvent(new Event("change", { bubbles: true }));
  requestAnimationFrame(() => setTimeout(done));
})"""


def _timed(act: Any) -> float:
    start = perf_counter()
    act()
    return perf_counter() - start


def _told(what: str, command: Sequence[str]) -> None:
    seconds, used, most = measured(command)
    print(f"{what}: {seconds:.1f} s, {used:.1f} s of the processors, at most {most:,.0f} MB", flush=True)


def _sizes(folder: Path) -> None:
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if not path.name.startswith("llm-"):
            print(f"  {path.name}: {path.stat().st_size / 1e6:,.2f} MB")
    pages = [path.stat().st_size / 1e6 for path in folder.glob("llm-*.html")]
    if pages:
        print(f"  {len(pages)} pages of LLMs: at most {max(pages):,.2f} MB, together {sum(pages):,.1f} MB", flush=True)


def main(given: Sequence[str] | None = None) -> None:
    """Make the folder, write its report, and look at it."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("size", nargs="*", type=int, default=[20, 20, 20])
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--parts", type=int, default=0)
    parser.add_argument("--rescore", action="store_true")
    options = parser.parse_args(given)
    llms, tables, tests = options.size
    with tempfile.TemporaryDirectory() as temporary:
        home = options.keep or Path(temporary)
        folder, out = home / "run", home / "report"
        if not folder.exists():
            seconds = _timed(lambda: write_run(folder, llms, tables, tests))
            print(f"made in {seconds:.0f} s", flush=True)
        trials, held = (folder / TRIALS).stat().st_size / 1e6, (folder / RESULTS).stat().st_size / 1e6
        print(
            f"{llms} LLMs x {tables} tables x {tests} tests: trials.jsonl {trials:,.0f} MB, results.json {held:,.0f} MB"
        )
        _told("report", ["report", str(folder), "--out", str(out)])
        _sizes(out)
        if options.parts:
            parts = write_parts(folder, home / "parts", options.parts)
            _told(f"join of {options.parts} parts", ["report", *map(str, parts), "--out", str(home / "joined")])
        if options.rescore:
            _told("rescore", ["rescore", str(folder)])
        if CHROMIUM:
            for what, took in opened(out):
                print(f"  {what}: {took:.2f} s", flush=True)


if __name__ == "__main__":
    main()
