"""What of results may be published: of a table that may not be shown verdicts and numbers, and no word of anybody."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tabcontam.extensions.publish.redaction import OPEN, Redaction, redact_results, restricted_tables
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.verdicts.columns import record_columns
from tabcontam.verdicts.comparison import Comparison
from tabcontam.verdicts.document import as_json, parse_results
from tabcontam.verdicts.judge_facts import Agreement, JudgeFacts, MadePairRecord
from tabcontam.verdicts.notes import Note, NoteKind
from tabcontam.verdicts.result_types import FamilyEvidence, Result, TableVerdict
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.run_facts import DatasetFacts, KnownFacts, LlmFacts, MergedRun, RunFacts, TrainingDeclaration
from tests.report.synthetic import document, table, weighed

SECRET = "Zurvalia-7731"
# Every field that was looked at. A new one is none of a published report until somebody has decided about it here.
LOOKED_AT = {
    RunFacts: """version versions command started seconds seed rules queries samples temperature shots rows shard
        settings until_decided alpha family_over level levels overlap dictionary recorded llms catalogue references
        trained_on judge known datasets tests serializers prompts runs redacted notes finished interrupted limit
        durations""",
    LlmFacts: "spec resolved stands_for version control checks is_corpus requests retries dollars ended",
    DatasetFacts: """name title edition split elsewhere sha256 rows sampled columns features order read reading withheld
        withheld_sha256 fresh fresh_sha256 failed""",
    KnownFacts: "name sha256 rows datasets",
    MergedRun: "folder version seed queries command started",
    Result: """llm dataset edition split serializer prompts test source kind control verdict otherwise paper_verdict
        reference lacks exposure cut_short score hits expected_hits answered asked queries statistic null p_value
        q_value interval interval_of recalled_bits columns without q_without rests_on sequential decided_after e_value
        bets detectable_share reason sentence memory not_averaged""",
    TableVerdict: """llm dataset edition split serializer prompts verdict p_value q_value e_value decided_after
        sequential_queries families corpora by_corpora rests_on bound recalled_bits detectable_share reason""",
    FamilyEvidence: "family p_value e_value q_value p_without q_without without corpora",
    TrainingDeclaration: "llm corpus",
    JudgeFacts: "by person judged unjudged words made",
    MadePairRecord: "word pairs right unjudged begging led",
    Agreement: "kind first second items agree kappa",
    Comparison: """llm dataset edition split serializer prompts test kind first second first_verdict second_verdict
        first_share second_share queries p_value q_value beyond_chance change""",
}


def facts(name: str, **changes: Any) -> DatasetFacts:
    """A table of a run, as its card has it."""
    card = load_cards()[name]
    edition = card.editions[0]
    return replace(DatasetFacts(name=name, edition=edition.name, sha256=edition.sha256), **changes)


def run(*datasets: DatasetFacts, **changes: Any) -> RunFacts:
    return replace(RunFacts(rules="calibrated"), datasets=datasets, **changes)


def quoting() -> RunResults:
    """Results of a private table, all of whose texts quote it."""
    verdicts = ("contaminated", "not detected", "uninformative", "no answer", "skipped")
    said = {"sentence": SECRET, "reason": SECRET, "not_averaged": SECRET}
    tests = ("full_completion", "feature_completion", "incomplete_completion", "matched_membership", "membership")
    columns = {"columns": {SECRET: 3.0}, "without": {SECRET: 0.5}, "rests_on": SECRET}
    cells = [
        weighed("hf:/home/Zurvalia-7731/model", "mine.csv", test, verdict, edition="5e4c", **said, **columns)
        for test, verdict in zip(tests, verdicts, strict=True)
    ]
    tables = [table("hf:/home/Zurvalia-7731/model", "mine.csv", "not detected", edition="5e4c", reason=SECRET)]
    view = parse_results(document(cells, tables, command=f"run --dataset /home/{SECRET}/mine.csv"))
    spec = "hf:/home/Zurvalia-7731/model"
    llm = LlmFacts(spec=spec, resolved=f"{spec} (note)", stands_for=spec, ended=f"error 500: {SECRET}")
    private = DatasetFacts(
        name="mine.csv",
        title="mine",
        edition="5e4c",
        sha256="5e4c" * 16,
        features=(SECRET, "b"),
        order=f"by {SECRET}",
        reading=SECRET,
        failed=(f"squared of {SECRET}: LinAlgError",),
    )
    runs = (MergedRun(folder=f"/home/{SECRET}/one", command=SECRET),)
    notes = (
        Note(NoteKind.SEEDS, f"the runs have different seeds (/home/{SECRET}/one: 1)"),
        Note(NoteKind.KNOWN, SECRET),
        Note(NoteKind.NOT_READ, f"corpus:/home/{SECRET}: archives, not read: 1 ({SECRET}.zip)"),
        Note(NoteKind.DEFAULTS, f"defaults from ../{SECRET}/pyproject.toml: --target {SECRET}"),
    )
    known = (KnownFacts(name=SECRET, sha256="ab" * 32, rows=3, datasets=("mine.csv",)),)
    about = replace(view.run, llms=(llm,), datasets=(private,), runs=runs, notes=notes, known=known)
    return replace(view, run=replace(about, overlap=f"bleurt:/home/{SECRET}/model"))


def test_the_known_open_licences_are_published_and_no_other() -> None:
    shown = {name for name in load_cards() if not restricted_tables(run(facts(name)))}
    assert shown == {name for name, card in load_cards().items() if card.licence in OPEN}
    assert {"titanic", "heart", "housing", "diabetes"} & shown == set()
    assert {"iris", "adult", "penguins"} <= shown


@pytest.mark.parametrize(
    "private",
    [
        facts("iris", sha256="0" * 64),  # another file under the name of a card
        replace(facts("iris"), name="my iris.csv"),  # a file without a card, whatever it holds
        facts("iris", sha256=""),
    ],
)
def test_a_table_is_known_by_the_content_of_its_file(private: DatasetFacts) -> None:
    assert restricted_tables(run(private)) == {(private.name, private.edition)}


def test_a_table_asked_about_beside_a_private_known_file_is_redacted() -> None:
    file = KnownFacts(name="train.csv", sha256="1" * 64, rows=9, datasets=("iris",))
    assert restricted_tables(run(facts("iris"), facts("wine"), known=(file,))) == {("iris", facts("iris").edition)}
    shipped = replace(file, sha256=facts("adult").sha256)
    assert restricted_tables(run(facts("iris"), known=(shipped,))) == frozenset()


def test_all_tables_are_redacted_where_that_is_asked_for() -> None:
    assert restricted_tables(run(facts("iris")), everything=True) == {("iris", facts("iris").edition)}


def test_no_text_of_a_private_table_is_left() -> None:
    before = quoting()
    published, done = redact_results(before)
    assert as_json(before).count(SECRET) > 20
    assert SECRET not in as_json(published)
    assert "5e4c" not in as_json(published)
    assert done.columns(("mine.csv", "5e4c"), ()) == {SECRET: "column 1", "b": "column 2"}
    assert published.run.redacted == ("mine.csv",)
    assert any("of mine.csv only verdicts and numbers are shown" in note.text for note in published.notes)


def test_verdicts_and_numbers_stay() -> None:
    before, (published, _) = quoting(), redact_results(quoting())
    for one, other in zip(before.results, published.results, strict=True):
        assert (other.verdict, other.numbers, other.evidence.interval) == (
            one.verdict,
            one.numbers,
            one.evidence.interval,
        )
    assert [one.verdict for one in published.tables] == [one.verdict for one in before.tables]
    first = published.results[0]
    assert (
        first.evidence.sentence
        == "18 right in 45 answers, 0.7 expected of the baseline, 212.3 bits recalled, p = 3.1e-41"
    )
    assert first.evidence.columns == {"column 1": 3.0}
    assert {one.llm for one in published.results} == {published.run.llms[0].spec} == {"hf:model"}
    assert parse_results(json.loads(as_json(published))) == published


def test_what_an_open_table_shows_stays() -> None:
    cells = [weighed("a", "iris", "full_completion", "contaminated", edition=facts("iris").edition)]
    view = parse_results(document(cells))
    view = replace(view, run=replace(view.run, datasets=(facts("iris", features=("x",)),)))
    published, _ = redact_results(view)
    assert published.results == view.results
    assert published.run.datasets == view.run.datasets
    assert published.run.redacted == ()
    hidden, _ = redact_results(view, everything=True)
    assert hidden.results[0].evidence.sentence != view.results[0].evidence.sentence
    assert hidden.run.datasets[0].sha256 == facts("iris").sha256  # the card states it


def test_llms_of_one_name_stay_apart() -> None:
    specs = ("openai:m@http://one/v1", "openai:m@http://two/v1")
    view = parse_results(document([weighed(spec, "iris", "full_completion", "contaminated") for spec in specs]))
    view = replace(view, run=replace(view.run, llms=tuple(LlmFacts(spec=spec) for spec in specs)))
    published, _ = redact_results(view)
    assert [cell.llm for cell in published.results] == ["openai:m", "openai:m #2"]


@pytest.mark.parametrize("part", list(LOOKED_AT), ids=lambda part: part.__name__)
def test_every_field_of_results_was_looked_at(part: type) -> None:
    assert [one.name for one in record_columns(part) if one.name not in LOOKED_AT[part].split()] == []


def test_a_split_of_a_private_table_is_named_only_as_splits_usually_are() -> None:
    hidden = [
        replace(facts("adult"), name="own", edition="1", sha256="1" * 64, split=split) for split in ("train", SECRET)
    ]
    shown = [facts("adult", split="train"), facts("adult", split=SECRET)]
    done = Redaction(about := run(*hidden, *shown), restricted_tables(about))
    assert [done.split("own", "1", split) for split in ("train", SECRET, "other")] == ["train", "split 2", "left out"]
    assert done.split("adult", shown[0].edition, SECRET) == SECRET


def test_a_table_beside_withheld_rows_is_published_without_its_cells() -> None:
    def facts(withheld: int) -> RunFacts:
        from tabcontam.tables.dataset_cards import all_cards

        (edition, *_) = all_cards()["iris"].editions
        own = DatasetFacts(name="iris", edition=edition.name, sha256=edition.sha256, withheld=withheld)
        return RunFacts(rules="calibrated", datasets=(own,))

    assert restricted_tables(facts(0)) == frozenset()
    assert {name for name, _ in restricted_tables(facts(10))} == {"iris"}
