"""What the verdicts make of the record, and the tables that say so."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path

from benchmarks.real.asked import FRESH, LLM, Place, llms, places, planned
from benchmarks.real.record import Answers
from tabcontam.asking.query_plan import PlannedResult
from tabcontam.calibration.power_study import AnswererPlan, AnswererResults, Trials, judge
from tabcontam.config import CALIBRATED
from tabcontam.evidence.base import Trial, Verdict
from tabcontam.evidence.trial_reading import complete_reply, read_trial
from tabcontam.models.base import PromptForm
from tabcontam.verdicts.thresholds import ALPHA

DECIDED = (Verdict.CONTAMINATED, Verdict.NOT_DETECTED)
RECITED = 2  # rows of a file's beginning, exactly, from which an LLM is said to recite it
Recorded = tuple[LLM, Answers]


@dataclass(frozen=True)
class Found:
    """What is found of an LLM at a place, and the answers that it rests on."""

    llm: LLM
    place: Place
    trials: Trials
    judged: AnswererResults

    @property
    def verdict(self) -> Verdict:
        """The table's verdict."""
        assert self.judged.table is not None
        return Verdict(self.judged.table.verdict)

    @cached_property
    def recited(self) -> int:
        """How many whole rows of the file's beginning the LLM wrote exactly, of those that no prompt showed."""
        if "header" not in self.trials:  # a test of an extension
            return 0
        from tabcontam.extensions.papers.answers_of_several_rows import group_by_row

        return sum(
            set(row) <= set(trial.reading.right)
            for trial in self.trials["header"]
            if trial.reading is not None and trial.reading.readable
            for row in group_by_row(trial.query.asked)[1:]
        )

    @property
    def unread(self) -> list[str]:
        """The tests with a decision that fewer than half of the answers were read for."""
        return [name for name, cell in self.judged.results.items() if cell.verdict in DECIDED and not self._read(name)]

    def _read(self, test: str) -> bool:
        trials = self.trials[test]
        return 2 * sum(trial.readable for trial in trials) >= len(trials)


def recorded(folder: Path) -> list[Recorded]:
    """What each LLM answered; a file is read when its answers are first looked at, and once."""
    return [(llm, Answers(folder, llm.name)) for llm in llms().values()]


def found(every: Sequence[Recorded], table: str) -> Iterator[Found]:
    """What is found about a table, wherever all answers are recorded. Raises `UsageError` where it is not here."""
    for llm, answers in every:
        for place in places(llm):
            if place.table == table and (trials := trials_of(planned(place), place.form, answers)) is not None:
                yield Found(llm, place, trials, judged(place, trials))


def judged(place: Place, trials: Trials, rules: str = CALIBRATED) -> AnswererResults:
    """What the answers at a place come to under these rules."""
    return judge(AnswererPlan(planned(place)), trials, ALPHA, rules)


def trials_of(cells: Iterable[PlannedResult], form: PromptForm, answers: Answers) -> Trials | None:
    """The recorded answers to these cells, read; None where one is missing, or nothing is asked."""
    found: Trials = {}
    for cell in cells:
        asked = [(query, answers.of(query, form)) for query in cell.queries]
        if any(answer is None for _, answer in asked):
            return None
        found[cell.test.id] = [
            read_trial(cell.test, complete_reply(cell.test, Trial(query, answer), cell.serializer), cell.serializer)
            for query, answer in asked
            if answer is not None
        ]
    return found if any(found.values()) else None


def as_markdown(every: Sequence[Found], answers: Mapping[str, int]) -> list[str]:
    """The lines of five tables: who was asked how much, the goals, the verdicts, what each finding rests on, and rows.

    `answers` says how many of each LLM's answers are recorded.
    """
    parts = (_asked(every, answers), _goals(every), _by_table(every), _findings(every), _rows(every))
    return [line for part in parts for line in (*part, "")][:-1]


def _asked(every: Sequence[Found], answers: Mapping[str, int]) -> list[str]:
    """The LLMs, with how many verdicts they have of those that are planned."""
    lines = [
        "| LLM | weights | licence | asked in | answers | verdicts on tables of 2026 | on old tables |",
        f"|{'---|' * 7}",
    ]
    for llm in llms().values():
        wanted, judged = list(places(llm)), [one.place for one in every if one.llm.name == llm.name]
        of_2026, planned_of_2026 = (sum(place.table in FRESH for place in some) for some in (judged, wanted))
        forms = f"{' and '.join(dict.fromkeys(place.form for place in wanted))} form"
        lines.append(
            f"| {llm.name} | {llm.title} | {llm.licence} | {forms} | {answers.get(llm.name, 0):,} "
            f"| {of_2026} of {planned_of_2026} "
            f"| {len(judged) - of_2026} of {len(wanted) - planned_of_2026} |"
        )
    return lines


def _goals(every: Sequence[Found]) -> list[str]:
    fresh = [one for one in every if one.place.table in FRESH]
    accused = [one for one in fresh if one.verdict is Verdict.CONTAMINATED]
    reciting = {(one.llm.name, one.place.table) for one in every if one.recited >= RECITED}
    told = {(one.llm.name, one.place.table) for one in every if one.verdict is Verdict.CONTAMINATED}
    unread = sum(len(one.unread) for one in every)
    results = sum(cell.verdict in DECIDED for one in every for cell in one.judged.results.values())
    return [
        "| | wanted | found |",
        "|---|---|---|",
        f"| verdicts on tables of 2026 that are *contaminated* | 0 | {len(accused)} of {len(fresh)} |",
        f"| LLMs that recite {RECITED} rows of a file's beginning exactly: *contaminated* | nine in ten "
        f"| {len(reciting & told)} of {len(reciting)} |",
        f"| results decided on mostly unread answers | 0 | {unread} of {results} |",
    ]


def _by_table(every: Sequence[Found]) -> list[str]:
    """How many of an LLM's verdicts about each table are *contaminated*."""
    names = list(dict.fromkeys(one.llm.name for one in every))
    lines = [f"| table | {' | '.join(names)} |", f"|{'---|' * (len(names) + 1)}"]
    for table in dict.fromkeys(one.place.table for one in every):
        cells = []
        for name in names:
            own = [one for one in every if one.llm.name == name and one.place.table == table]
            found = sum(one.verdict is Verdict.CONTAMINATED for one in own)
            cells.append(f"{f'**{found}**' if found else '0'} of {len(own)}" if own else "-")
        lines.append(f"| {table} | {' | '.join(cells)} |")
    return lines


def _findings(every: Sequence[Found]) -> list[str]:
    """Each verdict that is *contaminated*, and each where a single test found something or the file is recited."""
    lines = ["| LLM | table | asked in | verdict | p | found by | rows of the beginning |", f"|{'---|' * 7}"]
    for one in every:
        by = [name for name, cell in one.judged.results.items() if cell.verdict is Verdict.CONTAMINATED]
        if one.verdict is Verdict.CONTAMINATED or by or one.recited >= RECITED:
            p = one.judged.table and one.judged.table.p_value
            lines.append(
                f"| {one.llm.name} | {one.place.table} | {', '.join(one.place.words[1:])} | {one.verdict.value} "
                f"| {'-' if p is None else f'{p:.1e}'} | {', '.join(by) or '-'} | {one.recited} |"
            )
    return lines


def _rows(every: Sequence[Found], most: int = 3) -> list[str]:
    """The rows that an LLM is least likely to write by chance, each with the baseline's likeliest values."""
    lines = ["| LLM | row | what it wrote, all right | what the baseline would write | chance |", f"|{'---|' * 5}"]
    hits: dict[tuple[str, str, int], tuple[float, str]] = {}
    for one in every:
        for trial in (trial for trials in one.trials.values() for trial in trials):
            query, guesses = trial.query, trial.query.chance
            if not (trial.reading and trial.reading.hit and query.row is not None and set(query.asked) == set(guesses)):
                continue
            chance = prod(
                guesses[name].chance_of(str(cell)) for name, cell in zip(query.asked, query.expected, strict=True)
            )
            likeliest = [guesses[name].likeliest or "?" for name in query.asked]
            said, guessed = (", ".join(map(str, cells)) for cells in (query.expected, likeliest))
            place = (one.llm.name, one.place.table, query.row)
            line = f"| {one.llm.name} | {one.place.table}, {query.row + 1} | {said} | {guessed} | {chance:.1e} |"
            hits[place] = min((chance, line), hits.get(place, (1.0, "")))
    return [*lines, *(line for _, line in sorted(hits.values())[:most])]
