"""A corpus as a subject: it answers all lookups by one reading, and tells what it did not read."""

import asyncio
import gzip
import json
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from tabcontam.errors import UsageError
from tabcontam.evidence.questions import Capability, Lookup, LookupMode, Matches, ReplyState
from tabcontam.extensions.corpora.search.corpus_files import corpus_files
from tabcontam.extensions.corpora.search.corpus_pass import CorpusPass, SearchStoppedError
from tabcontam.extensions.corpora.search.documents import Portion
from tabcontam.extensions.corpora.search.portions import portions
from tabcontam.extensions.corpora.search.provider import CorpusModel
from tabcontam.models.base import FatalError, ModelRequest
from tabcontam.models.provider_registry import resolve

ROW = Lookup(("Braund", "Allen"), by=LookupMode.CELLS, context=("22", "male", "7.25"))


def asked(typed: str, *lookups: Lookup) -> list[Matches]:
    """What a corpus answers to these, all at once."""

    async def ask() -> list[Matches]:
        model = CorpusModel(typed)
        await model.connect()
        try:
            return list(await asyncio.gather(*(model.search(ModelRequest(lookup)) for lookup in lookups)))
        finally:
            await model.close()

    return asyncio.run(ask())


def test_it_is_named_by_its_paths_also_where_one_has_a_comma(corpus: Path) -> None:
    (corpus / "a,b.txt").write_text("22, male, 7.25, Braund")
    (corpus / "c.txt").write_text("nothing")
    found = resolve(f"corpus:a,b.txt{os.pathsep}c.txt")
    assert (found.provider.name, found.model) == ("corpus", f"a,b.txt{os.pathsep}c.txt")
    (answer,) = asked(found.model, ROW)
    assert answer.documents == 1
    assert CorpusModel("c.txt").capabilities == {Capability.SEARCH}
    assert CorpusModel("c.txt").local


def test_all_lookups_are_answered_by_one_reading(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (corpus / "a.jsonl").write_text(json.dumps({"text": "22|male|7.250|Braund"}) + "\n" + json.dumps({"t": "iris"}))
    (corpus / "b.txt.gz").write_bytes(gzip.compress(b"Iris\nBraund, 22, MALE, 7.25"))
    readings = list[int]()
    run = CorpusPass.run

    def counted(self: CorpusPass) -> None:
        readings.append(len(self.lookups))
        run(self)

    monkeypatch.setattr(CorpusPass, "run", counted)
    lookups = [
        ROW,
        ROW,
        Lookup(("iris",)),
        Lookup(("iris",), by=LookupMode.WORDS),
        Lookup(("22male",), by=LookupMode.SIGNS),
    ]
    answers = asked(".", *lookups)
    assert readings == [4]
    assert [answer.documents for answer in answers] == [2, 2, 1, 2, 1]
    assert [answer.counts for answer in answers[:3]] == [(2, 0), (2, 0), (1,)]
    first, second = answers[0].places
    assert (first.source, first.offset, first.quote[first.begin : first.end]) == (
        "./a.jsonl@0",
        0,
        "22|male|7.250|Braund",
    )
    assert (second.source, second.offset, second.quote) == ("./b.txt.gz", 5, "Iris\nBraund, 22, MALE, 7.25")
    assert all(answer.state is ReplyState.OK for answer in answers)


def test_what_is_stored_belongs_to_the_content_wherever_it_lies(corpus: Path) -> None:
    async def version(typed: str) -> tuple[str, object]:
        model = CorpusModel(typed)
        await model.connect()
        return model.version, model.identity

    for folder in ("one", "two"):
        (corpus / folder).mkdir()
        (corpus / folder / "a.jsonl").write_text('{"x": "1"}\n')
    before = asyncio.run(version("one"))
    assert before == asyncio.run(version("two"))
    assert before != asyncio.run(version("two#x"))
    (corpus / "two" / "a.jsonl").write_text('{"x": "2"}\n')
    assert before != asyncio.run(version("two"))


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("missing.txt", "there is no file or folder"),
        ("", "names no file"),
        ("*.csv", "no file matches"),
        ("e", "no readable file"),
    ],
)
def test_a_path_that_is_not_there_is_one_clear_line(corpus: Path, typed: str, told: str) -> None:
    (corpus / "e").mkdir()
    with pytest.raises(UsageError, match=told) as error:
        asyncio.run(CorpusModel(typed).connect())
    assert "\n" not in str(error.value)


def test_what_is_not_sound_is_told_and_the_rest_is_searched(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (corpus / "broken.jsonl").write_bytes(
        b'{"a": "22, male, 7.25, Braund"}\n{"a": 22, male 7.25 Braund\n\xff 22 male \xff7.25 Braund\n'
    )
    with zipfile.ZipFile(corpus / "packed.zip", "w") as packed:
        packed.writestr("row.txt", "22, male, 7.25, Braund")
    damaged = gzip.compress(b"22, male, 7.25, Braund" + os.urandom(4000).hex().encode())[:-600]
    (corpus / "cut.txt.gz").write_bytes(damaged)
    (corpus / "twice.gz").write_bytes(gzip.compress(gzip.compress(b"22, male, 7.25, Braund")))
    (corpus / "link.txt").symlink_to("/etc/hostname")
    (answer,) = asked(".", ROW)
    assert answer.documents == 3
    assert answer.state is ReplyState.OK
    told = capsys.readouterr().err
    for words in ("archives, not read", "not JSON", "damaged", "not UTF-8", "inside compressed ones"):
        assert words in answer.detail
        assert words in told
    assert "link.txt (a link" in told


def test_a_file_that_grows_while_it_is_read_is_told(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (corpus / "log.txt").write_text("22, male, 7.25, Braund\n")
    found = portions(corpus_files("log.txt"))
    with (corpus / "log.txt").open("a") as log:
        log.write("22, male, 7.25, Allen\n")
    reading = CorpusPass([ROW], found)
    reading.run()
    assert "changed while they were read" in reading.tally.sentence()
    assert reading.matches[0].documents == {"log.txt": {0}}


def test_nothing_that_is_asked_after_the_end_waits_for_an_answer(corpus: Path) -> None:
    (corpus / "a.txt").write_text("22, male, 7.25, Braund\n")

    async def ask() -> None:
        model = CorpusModel("a.txt")
        await model.connect()
        model.stop()
        with pytest.raises(FatalError, match="the same command"):
            await model.search(ModelRequest(ROW))
        await model.close()

    asyncio.run(ask())


def filled(corpus: Path) -> tuple[list[Lookup], Sequence[Portion]]:
    """A corpus of several portions with rows near their borders, and what is looked for in it."""
    lookups = [Lookup((f"n{n}", "n"), 5, LookupMode.CELLS, (f"{n}", "male", f"{n}.5")) for n in range(200)]
    filler = "Words of no use, 7 of them. " * 40
    rows = [f"{n}.50\n{n}\nmale n{n}" for n in range(200)]
    (corpus / "long.txt").write_text(f" {filler}".join(rows))
    (corpus / "lines.jsonl").write_text("\n".join(json.dumps({"a": filler, "b": row}) for row in rows * 2))
    return lookups, portions(corpus_files("."), split=70_000)


@pytest.mark.slow
def test_the_answers_do_not_depend_on_how_the_corpus_is_cut(corpus: Path) -> None:
    lookups, cut = filled(corpus)
    assert len(cut) > 5
    one, other = CorpusPass(lookups, cut), CorpusPass(lookups, portions(corpus_files(".")))
    one.run()
    other.run()
    answers = [counted.matches(lookup) for counted, lookup in zip(one.matches, lookups, strict=True)]
    assert answers == [counted.matches(lookup) for counted, lookup in zip(other.matches, lookups, strict=True)]
    assert {answer.documents for answer in answers} == {3}
    assert one.tally == other.tally


@pytest.mark.slow
def test_processes_find_the_same(corpus: Path) -> None:
    for name in (b"odd\xff.txt", b"odd\xfe.txt"):  # names that are no UTF-8
        (corpus / os.fsdecode(name)).write_text("1.50\n1\nmale n1")
    lookups, cut = filled(corpus)
    told: list[tuple[int, int]] = []
    one, other = CorpusPass(lookups, cut), CorpusPass(lookups, cut, lambda done, of: told.append((done, of)), workers=2)
    one.run()
    other.run()
    assert one.matches == other.matches
    assert one.tally == other.tally
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1] > 0


@pytest.mark.slow
def test_a_reading_that_is_stopped_ends_at_once_with_its_processes(corpus: Path) -> None:
    lookups, cut = filled(corpus)
    reading: CorpusPass

    def stop(done: int, of: int) -> None:
        if done:
            reading.stop()

    reading = CorpusPass(lookups, cut, stop, workers=2)
    with pytest.raises(SearchStoppedError):
        reading.run()
    assert all(process.poll() is not None for process in reading._processes)
