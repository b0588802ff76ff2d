"""The results of a run, of several runs or of recorded answers, for results.json and for reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from tabcontam.config import ALL
from tabcontam.evidence.base import Capability, EvidenceKind, Facts, Family, Verdict
from tabcontam.evidence.registry import all_tests
from tabcontam.groups import grouped
from tabcontam.tables.dataset_cards import first_split
from tabcontam.verdicts.advice import advise_on_lack
from tabcontam.verdicts.comparison import Comparison
from tabcontam.verdicts.generation_accuracy import Generation
from tabcontam.verdicts.judge_facts import Agreement, JudgeFacts
from tabcontam.verdicts.llm_ranking import Correlation, Rank
from tabcontam.verdicts.notes import Note, NoteKind, note_controls, note_exposure, note_named_controls
from tabcontam.verdicts.recorded_differences import RecordedDifference, RuleDifference
from tabcontam.verdicts.result_types import Result, TableName, TableVerdict
from tabcontam.verdicts.run_facts import RunFacts, in_order, in_words, known_tests
from tabcontam.verdicts.wording import needing, phrase

SCHEMA: Literal[1] = 1
DIMENSIONS = ("serializer", "prompts", "source")  # in which two columns of one table can differ
NAMED = 4  # the number of LLMs, or tables, that a line about all of them names
SIMULATED = "simulated:"  # the beginning of the name of a simulated LLM; the name states what it knows
FACTS = (
    "if a table holds public facts, such as those about players or cities, a model that knows several of its columns "
    "from other sources counts as contaminated, too; --reference LLM or --known FILE separates such facts from rows"
)


E_VALUE = (
    "E is what one unit has become that was bet on the model's answers at the odds of the baseline. If a model has not "
    "seen the rows, the chance that E ever reaches 100 is at most 1 in 100, whenever the asking stops"
)


@dataclass(frozen=True)
class ResultColumn:
    """The results of one model on one dataset, by test. `label` also states the difference from other such columns."""

    llm: str
    label: str
    results: Mapping[str, Result]


@dataclass(frozen=True)
class ImpossibleTests:
    """Tests that some models cannot take: the unmet need, the tests, and the models."""

    lacks: str
    tests: tuple[str, ...]
    llms: tuple[str, ...]

    def __str__(self) -> str:
        more = [f"{len(self.llms) - NAMED} more models"] if len(self.llms) > NAMED else []
        advice = advise_on_lack(self.tests, self.lacks)
        return f"{needing(self.tests, self.lacks)} (not asked of {phrase([*self.llms[:NAMED], *more])}{advice})"


@dataclass(frozen=True)
class LlmBlock:
    """The columns of one model; `control` is true if it joined as a control."""

    llm: str
    control: bool
    columns: tuple[ResultColumn, ...]

    @cached_property
    def results(self) -> list[Result]:
        """The model's results, column by column, in the order of the tests."""
        return [result for column in self.columns for result in column.results.values()]


@dataclass(frozen=True, kw_only=True)
class RunResults:
    """The results of a run of tabcontam, or of recorded answers that were judged.

    All texts may quote models, tables and users: show them as text.
    """

    schema: Literal[1] = SCHEMA
    """The version of this schema."""
    run: RunFacts
    """The facts of the run."""
    results: tuple[Result, ...]
    """The results of the tests."""
    tables: tuple[TableVerdict, ...] = ()
    """The verdict on each (model, dataset, serializer, prompt set); empty for recorded answers."""
    ranking: tuple[Rank, ...] = ()
    """The models under test by their score, as in the paper's Table 2."""
    correlations: tuple[Correlation, ...] = ()
    """The correlations of the ranking's measures."""
    generations: tuple[Generation, ...] = ()
    """Outputs generated exactly against accuracy on the same table, if three models or more have both."""
    comparisons: tuple[Comparison, ...] = ()
    """Pairs of results that differ in one thing."""
    judges: tuple[JudgeFacts, ...] = ()
    """The judges of completions, models and people, in the order in which their words count."""
    agreements: tuple[Agreement, ...] = ()
    """The agreement of the judges, the text alone and the published rules."""
    differences: tuple[RecordedDifference, ...] | None = None
    """Of recorded answers: differences between our reading of the published rules and the record; null if not
    wanted."""
    rule_differences: tuple[RuleDifference, ...] | None = None
    """Of recorded answers: differences between the calibrated rules and the published ones; null if not wanted."""

    def with_more(self, **changes: Any) -> "RunResults":
        """Return a copy with other comparisons, judges or agreements. The copy keeps values of cached properties."""
        more = replace(self, **changes)
        known = {name: value for name, value in vars(self).items() if name not in vars(more)}
        vars(more).update(known)
        return more

    @cached_property
    def facts(self) -> Mapping[str, Facts]:
        """The facts of each test, by its id."""
        return known_tests() | {test.id: test for test in self.run.tests}

    @cached_property
    def tests(self) -> tuple[str, ...]:
        """The ids of the tests that a report shows, in the order of Table 1; unknown ones last."""
        found = {result.test for result in self.possible}
        return tuple(test.id for test in self.run.tests if test.id in found)

    @cached_property
    def row_tests(self) -> frozenset[str]:
        """The tests that can show that rows were seen. Reading a page about the dataset is not enough to pass them."""
        return frozenset(test for test, facts in self.facts.items() if facts.row_test)

    @cached_property
    def row_tests_in_words(self) -> str:
        """The row tests that a run asks by default, or that this run asked: `7 to 9 and matched membership`."""
        return in_words(facts for facts in self._askable if facts.row_test)

    @cached_property
    def knowledge_in_words(self) -> str:
        """The tests of knowledge: `1 to 6`."""
        return in_words(facts for facts in self._askable if facts.family is Family.KNOWLEDGE)

    @cached_property
    def _askable(self) -> Sequence[Facts]:
        """The facts of the tests that a run asks models by default, and of the tests that were asked."""
        asked = (test for test in all_tests() if not test.on_request and Capability.SEARCH not in test.needs)
        usual = (test.facts for test in asked)
        return in_order((*usual, *self.run.tests))

    @cached_property
    def test_titles(self) -> Mapping[str, str]:
        """The title of each test, with its number in Table 1."""
        return {test: f"{facts.number or ''} {facts.title}".strip() for test, facts in self.facts.items()}

    @cached_property
    def kinds(self) -> dict[EvidenceKind, tuple[str, ...]]:
        """The tests by kind: knowledge, memorization, membership, classification."""
        by_kind = {kind: tuple(test for test in self.tests if self.facts[test].kind is kind) for kind in EvidenceKind}
        return {kind: tests for kind, tests in by_kind.items() if tests}

    @cached_property
    def families(self) -> dict[Family, tuple[str, ...]]:
        """The tests that a report shows, by family. The tests of a family share an error budget."""
        by_family = grouped(self.tests, lambda test: self.facts[test].family)
        return {family: tuple(by_family[family]) for family in Family if family in by_family}

    @cached_property
    def possible(self) -> tuple[Result, ...]:
        """The results of tests that their model can take. A report shows each of them."""
        return tuple(result for result in self.results if not result.lacks)

    @cached_property
    def impossible(self) -> tuple[ImpossibleTests, ...]:
        """The tests that their models cannot take. Each group needs one line of a report."""
        lacking = (result for result in self.results if result.lacks)
        by_llm = grouped(lacking, lambda result: (result.lacks or "", result.llm))
        tests = {key: tuple(dict.fromkeys(result.test for result in own)) for key, own in by_llm.items()}
        alike = grouped(tests, lambda key: (key[0], tests[key]))
        return tuple(ImpossibleTests(lacks, own, tuple(llm for _, llm in keys)) for (lacks, own), keys in alike.items())

    @cached_property
    def llms(self) -> tuple[str, ...]:
        """The models with results or training corpora: controls that joined, then the others in the run's order."""
        asked, joined = self._llm_order, self.joined
        present = {result.llm for result in self.results} | {table.llm for table in self.tables}
        return tuple(sorted(present, key=lambda llm: (llm not in joined, asked[llm])))

    @cached_property
    def blocks(self) -> tuple[LlmBlock, ...]:
        """One block for each model that can take a test."""
        own = grouped(self.possible, lambda result: result.llm)
        return tuple(LlmBlock(llm, llm in self.joined, self._columns(llm, own[llm])) for llm in self.llms if llm in own)

    @cached_property
    def placed(self) -> dict[str, Result]:
        """The results in the order of the page, by their places on it: `LLM-COLUMN-TEST`, each counted from 1."""
        row = {test: number for number, test in enumerate(self.tests, start=1)}
        return {
            f"{block_number}-{column_number}-{row[result.test]}": result
            for block_number, block in enumerate(self.blocks, start=1)
            for column_number, column in enumerate(block.columns, start=1)
            for result in column.results.values()
        }

    @cached_property
    def tables_in_order(self) -> tuple[TableVerdict, ...]:
        """The verdicts on tables, model by model in the order of the run; controls that joined come last."""

        def place(table: TableVerdict) -> tuple[bool, int, int]:
            return table.llm in self.joined, self._llm_order[table.llm], self._dataset_order[table.dataset]

        return tuple(sorted(self.tables, key=place))

    @cached_property
    def checking(self) -> frozenset[str]:
        """The models that check the tests: everything that they have read is known."""
        return frozenset(llm.spec for llm in self.run.llms if llm.checks)

    @cached_property
    def exposed(self) -> frozenset[tuple[str, TableName]]:
        """The controls with the tables that they have read. A finding in these is right."""
        known = self.checking | self.joined
        return frozenset((one.llm, one.table) for one in self.results if one.exposed and one.llm in known)

    @cached_property
    def corpora(self) -> frozenset[str]:
        """The corpora that were searched."""
        return frozenset(llm.spec for llm in self.run.llms if llm.is_corpus)

    @cached_property
    def joined(self) -> frozenset[str]:
        """The controls that joined the run."""
        return frozenset(result.llm for result in self.results if result.control)

    @cached_property
    def named_controls(self) -> frozenset[str]:
        """The controls that the user named. Their results apply to similar models that have read as much."""
        return self.joined - self.checking

    @cached_property
    def _llm_order(self) -> dict[str, int]:
        return _order([llm.spec for llm in self.run.llms] + [one.llm for one in (*self.results, *self.tables)])

    @cached_property
    def _dataset_order(self) -> dict[str, int]:
        named = [dataset.name for dataset in self.run.datasets]
        return _order(named + [one.dataset for one in (*self.results, *self.tables)])

    def _columns(self, llm: str, results: Sequence[Result]) -> tuple[ResultColumn, ...]:
        datasets, test_order = self._dataset_order, _order(self.tests)
        columns: dict[tuple[str, int], dict[str, Result]] = {}
        for result in sorted(results, key=lambda result: (datasets[result.dataset], test_order[result.test])):
            label = self.label(result)
            # A result that occurs twice, as in joined runs, is shown twice: no result replaces another.
            repeat = next(n for n in range(1, 10**6) if result.test not in columns.get((label, n), {}))
            columns.setdefault((label, repeat), {})[result.test] = result
        return tuple(
            ResultColumn(llm, label if repeat == 1 else f"{label} #{repeat}", own)
            for (label, repeat), own in columns.items()
        )

    def label(self, part: Result | TableVerdict) -> str:
        """Return the name of a column: the dataset, and what distinguishes it from other columns of the dataset.

        This can be the edition, the split, the serializer, the prompt set and the source.
        """
        place = part.dataset, part.edition, part.split, part.serializer, part.prompts, part.source
        if place not in self._labels:
            differing = [getattr(part, name) for name in DIMENSIONS if len(self._differing[name]) > 1]
            self._labels[place] = " ".join([part.dataset + self.edition(part), *filter(None, differing)])
        return self._labels[place]

    @cached_property
    def _labels(self) -> dict[tuple[str | None, ...], str]:
        return {}

    def edition(self, part: Result | TableVerdict) -> str:
        """Return `@EDITION` if the results have several editions of the dataset, then `#SPLIT` as in `split`."""
        edition = f"@{part.edition}" if part.edition and len(self._editions.get(part.edition_group, ())) > 1 else ""
        return edition + self.split(part)

    def split(self, part: Result | TableVerdict) -> str:
        """Return `#SPLIT`; "" without a split, or if the results have only the card's first split."""
        if not part.split or part.dataset.endswith(f"#{part.split}"):
            return ""
        alone = len(self._splits.get((part.dataset, part.edition), ())) <= 1
        return "" if alone and part.split == first_split(part.dataset, part.edition) else f"#{part.split}"

    @cached_property
    def _splits(self) -> dict[tuple[str, str | None], set[str | None]]:
        by_dataset = grouped(self.results, lambda result: (result.dataset, result.edition))
        return {dataset: {result.split for result in results} for dataset, results in by_dataset.items()}

    @cached_property
    def _editions(self) -> dict[tuple[str, str], set[str | None]]:
        by_dataset = grouped(self.results, lambda result: result.edition_group)
        return {dataset: {result.edition for result in results} for dataset, results in by_dataset.items()}

    @cached_property
    def _differing(self) -> dict[str, set[str | None]]:
        return {name: {getattr(result, name) for result in self.results} for name in DIMENSIONS}

    @property
    def bets(self) -> bool:
        """True if a verdict on a table depends on bets on its answers."""
        return any(table.e_value is not None for table in self.tables)

    @cached_property
    def subjects(self) -> list[Result]:
        """The results of models under test: all results except those of controls that joined."""
        return [result for block in self.blocks for result in block.results if not result.control]

    @cached_property
    def ranks_in_order(self) -> list[Rank]:
        """The ranks by contamination score, highest first, then by memory's share, without controls that joined."""

        def place(rank: Rank) -> tuple[bool, float, bool, float, str]:
            score, share = rank.score, rank.memory_share
            return score is None, -(score or 0.0), share is None, -(share or 0.0), rank.llm

        return sorted((rank for rank in self.ranking if rank.llm not in self.joined), key=place)

    @property
    def durations(self) -> list[tuple[str, float]]:
        """The results for which this run asked queries, with the total seconds of the answers, the longest first."""
        results = {result.key: result for result in self.results}
        took = [(results[key], seconds) for key, seconds in self.seconds.items() if key in results]
        named = [(f"{result.llm} {self.label(result)} {result.test}", seconds) for result, seconds in took]
        return sorted(named, key=lambda line: -line[1])

    @cached_property
    def seconds(self) -> dict[tuple[str, ...], float]:
        """The total seconds that answers in this run took, by the result's key, in the order of the run."""
        return {took.key: took.seconds for took in self.run.durations}

    def title(self, llm: str) -> str:
        """Return the catalogue's title of a model; "" if it has no entry."""
        return self.run.catalogue[llm].title if llm in self.run.catalogue else ""

    @cached_property
    def calibrated(self) -> bool:
        """True if the calibrated rules decided: verdicts keep one error rate over the results of a model."""
        return self.run.rules == "calibrated" and any(result.decision.q_value is not None for result in self.results)

    @property
    def notes(self) -> list[Note]:
        """The notes that a reader needs before believing a verdict, such as its rules or an early end of the run."""
        run = self.run
        notes = [Note(NoteKind.RULES, self._rules)] if self.calibrated else []
        if run.until_decided is not None:
            asked = "the row tests were asked in turns until each table was decided"
            notes.append(Note(NoteKind.TURNS, f"{asked}. {E_VALUE}"))
        notes += [*self._allowed, *self._known_exposure, *run.notes]
        less = "the baseline may explain less than it should (-v and results.json name them)"  # findings may be false
        for dataset in run.datasets:
            if dataset.failed:
                text = f"{dataset.named}: {len(dataset.failed)} predictors failed and were left out: {less}"
                notes.append(Note(NoteKind.FAILED, text))
        if run.shard is not None:
            here = f"these are {run.shard} of a run, with {len(self.results):,} of its {run.shard.results:,} results"
            join = "verdicts, q-values and the ranking need all parts; join them by `report` with all of their folders"
            notes.append(Note(NoteKind.SHARD, f"{here}: {join}"))
        apart = run.shard is not None and len(run.shard.parts) > 1  # parts are continued in their own folders
        if run.limit:
            higher = "the same command with a higher limit and this --out continues the run"
            parts = "continue each part that was stopped, in its own folder and with a higher limit, and join again"
            notes.append(Note(NoteKind.STOPPED, f"{run.limit}; {parts if apart else higher}"))
        took = {run.judge.spec: f" ({run.judge.took})"} if run.judge is not None and run.judge.took else {}
        notes += [Note(NoteKind.JUDGES, judge.sentence + took.get(judge.by, "")) for judge in self.judges]
        if run.judge is not None and run.judge.ended and run.judge.ended != run.limit:
            notes.append(Note(NoteKind.ENDED, f"judge {run.judge.spec} was asked nothing more: {run.judge.ended}"))
        for llm in run.llms:
            if llm.ended and llm.ended != run.limit:
                notes.append(Note(NoteKind.ENDED, f"{llm.spec} was asked nothing more: {llm.ended}"))
        if not run.limit and (run.interrupted or not run.finished):
            kind = NoteKind.INTERRUPTED if run.interrupted else NoteKind.NOT_FINISHED
            again = "the same command with this --out continues the run"
            parts = "run the missing parts, continue those that ended, and join all again"
            notes.append(Note(kind, f"not every query was asked; {parts if apart else again}"))
        return notes

    @property
    def _known_exposure(self) -> list[Note]:
        """The notes on tables that models are known to have read, except for controls and simulated models."""
        llms = self.run.llms
        known = {one.spec for one in llms if one.checks or (one.stands_for or one.spec).startswith(SIMULATED)}
        own = (result for result in self.subjects if result.llm not in known)
        return note_exposure((self.label(result), result) for result in own)

    @property
    def _allowed(self) -> list[Note]:
        """The notes on knowledge that is no sign of having seen a table: known files, and the reference's answers."""
        notes = [
            Note(NoteKind.KNOWN, f"models may know rows of {file}; no query on {phrase(file.datasets)} is about them")
            for file in self.run.known
        ]
        for llm, declared in grouped(self.run.trained_on, lambda one: one.llm).items():
            names = phrase([one.corpus for one in declared])
            text = f"the user declared {names} to be training data of {llm}, so rows in them count for it"
            notes.append(Note(NoteKind.TRAINED, text))
        shares = [result.evidence.memory for result in self.results if result.evidence.memory]
        comparable = any(share.single_reference or share.several_references for share in shares)
        for number, reference in enumerate(self.run.references):
            stated = ", ".join(filter(None, (reference.named_otherwise, reference.version)))
            took = f" ({reference.took})" if reference.took else ""
            named = f"reference {reference.spec}{f' ({stated})' if stated else ''}"
            compared = "its loss on unseen twins is reported, too" if comparable else ""
            counts = "" if number else "right answers that it gives, too, count for nothing"
            text = f"{named}: {'; '.join(filter(None, (counts, compared))) or 'no result is compared with it'}"
            notes.append(Note(NoteKind.REFERENCE, f"{text}{took}"))
        contaminated = [
            table
            for table in self.tables
            if table.verdict is Verdict.CONTAMINATED and table.llm not in self.joined | self.corpora
            if not table.by_corpora
        ]
        if self.calibrated and contaminated and not self.run.references:
            where = phrase(list(dict.fromkeys(map(self.label, contaminated)))[:NAMED])
            notes.append(Note(NoteKind.FACTS, f"{where}: {FACTS}"))
        return notes

    @property
    def _rules(self) -> str:
        many = 5  # the smallest number of LLMs for which a note states the expected number of false findings
        alpha = "" if self.run.alpha is None else f", {self.run.alpha},"
        over = "family of tests over all models" if self.run.family_over == ALL else "model and family of tests"
        text = (
            f"rules calibrated: one level{alpha} for each {over} "
            f"(Benjamini-Hochberg); tests of knowledge ({self.knowledge_in_words}) show that the dataset is known, row "
            f"tests ({self.row_tests_in_words}) that rows were seen"
        )
        table = max(self.tables, key=lambda one: len(one.families), default=None)
        if table is not None and len(table.families) > 1:
            names, chance = phrase([one.family for one in table.families]), f"a chance of at most {table.bound:g}"
            text += f"; an unseen table that {names} test is called contaminated with {chance}"
        levels: dict[str, float] = {}  # the chance of a false finding on some table, by LLM
        for table in self.tables:
            if table.bound and table.llm not in self.joined | self.corpora:
                levels[table.llm] = max(levels.get(table.llm, 0.0), table.bound)
        if len(levels) >= many and self.run.family_over != ALL:
            false = f"on average at most {sum(levels.values()):.2g} of them would be called contaminated on some table"
            text += f"; the levels add up over models: if none of these {len(levels):,} had seen any row, {false}"
        return text

    @cached_property
    def controls(self) -> list[Note]:
        """The notes on the quality of the tests, from the controls; empty without controls."""
        files = frozenset(dataset.name for dataset in self.run.datasets if dataset.is_file)
        own = note_controls(self._labelled(self.checking), self.row_tests, files)
        return [*own, *note_named_controls(self._labelled(self.named_controls), self.row_tests)]

    def _labelled(self, llms: frozenset[str]) -> list[tuple[str, Result]]:
        """Return the results of these models, each with the report's label of its table."""
        return [(self.label(result), result) for block in self.blocks if block.llm in llms for result in block.results]


def _order(names: Sequence[str]) -> dict[str, int]:
    """Return the rank of each name by its first appearance, from 0."""
    return {name: place for place, name in enumerate(dict.fromkeys(names))}
