"""What the index answers is what reading finds."""

import asyncio
import json
from pathlib import Path
from random import Random

import pytest

from tabcontam.evidence.questions import Lookup, LookupMode, Matches
from tabcontam.extensions.corpora.search import documents, index_search, text_blocks
from tabcontam.extensions.corpora.search.corpus_files import corpus_files
from tabcontam.extensions.corpora.search.corpus_index import CorpusIndex
from tabcontam.extensions.corpora.search.corpus_pass import CorpusPass
from tabcontam.extensions.corpora.search.index_search import IndexSearch
from tabcontam.extensions.corpora.search.portions import portions
from tabcontam.extensions.corpora.search.provider import CorpusModel
from tabcontam.models.base import ModelRequest


def row(number: int) -> tuple[str, ...]:
    return (str(1000 + number), f"Name{number} O'Neil", f"{number}.50", "male", "-7")


def written(number: int, rng: Random) -> str:
    cells = list(row(number))
    if rng.random() < 0.3:
        rng.shuffle(cells)
    text = rng.choice([", ", "|", "\n", "\t"]).join(cells)
    return text.upper() if rng.random() < 0.3 else text.replace(".50", ".5")


def filled(corpus: Path, rng: Random) -> None:
    """Rows of two hundred, each some times, in long and in short documents."""
    filler = "Words of no use, 7 of them. " * 6
    rows = [rng.randrange(200) for _ in range(100)]
    (corpus / "long.txt").write_text(f"\n{filler}".join(written(number, rng) for number in rows))
    lines = [json.dumps({"a": filler, "b": written(rng.randrange(200), rng)}) for _ in range(60)]
    (corpus / "lines.jsonl").write_text("\n".join(lines))


def lookups() -> list[Lookup]:
    rows = [row(number) for number in range(0, 200, 2)]
    cells = [Lookup((own[1], "Name3 O'Neil"), 3, LookupMode.CELLS, (own[0], *own[2:])) for own in rows]
    lacking = [Lookup((own[1],), 3, LookupMode.CELLS, (own[0], own[2], "none"), 1) for own in rows[:20]]
    words = [Lookup((f"name{number} o neil",), 3, LookupMode.WORDS) for number in range(0, 200, 9)]
    letters = [Lookup((f"Name{number} O'Neil", "nothing"), 3) for number in range(0, 200, 9)]
    return [
        *cells,
        *lacking,
        *words,
        *letters,
        Lookup(("Name3ONeil",), by=LookupMode.SIGNS),
        Lookup(("7",), by=LookupMode.WORDS),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("shard", [1 << 27, 15_000])
def test_the_index_finds_what_reading_finds(corpus: Path, shard: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "STRETCH", 6000)
    for module in (text_blocks, index_search):
        monkeypatch.setattr(module, "LONGEST_ROW_SPAN", 600)
        monkeypatch.setattr(module, "MARGIN", 800)
    monkeypatch.setattr("tabcontam.extensions.corpora.search.portions.read.__defaults__", (2000, None, 1 << 24))
    filled(corpus, Random(shard))
    files, asked = corpus_files("."), lookups()
    index = CorpusIndex.build(files, shard=shard)
    assert (len(index.shards) > 1) == (shard < 1 << 27)
    reading = CorpusPass(asked, portions(files))
    reading.run()
    found = IndexSearch(index, asked).find_matches()
    assert len(found) > 0.9 * len(asked)
    for number, counted in found.items():
        assert set(counted.documents) == set(reading.matches[number].documents), asked[number]
        assert counted.matches(asked[number]) == reading.matches[number].matches(asked[number])


@pytest.mark.slow
def test_a_corpus_with_an_index_answers_from_it_and_reads_for_the_rest(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(corpus, Random(0))
    read_for = list[int]()
    run = CorpusPass.run

    def counted(self: CorpusPass) -> None:
        read_for.append(len(self.lookups))
        run(self)

    monkeypatch.setattr(CorpusPass, "run", counted)

    async def ask() -> list[Matches]:
        model = CorpusModel(".")
        await model.connect()
        return list(await asyncio.gather(*(model.search(ModelRequest(lookup)) for lookup in lookups())))

    without = asyncio.run(ask())
    CorpusIndex.build(corpus_files("."))
    assert asyncio.run(ask()) == without
    assert read_for[0] == len(lookups())
    assert 2 <= read_for[1] < 0.1 * read_for[0]
