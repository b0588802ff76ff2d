"""The base of the quiz tests: the choice of questions, their wording, and the reading and weighing of answers."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from random import Random
from typing import ClassVar

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.errors import Skip
from tabcontam.evidence.answering import AnswerKind, ChoiceAnswers
from tabcontam.evidence.base import (
    READ,
    Capability,
    Evidence,
    EvidenceKind,
    Family,
    FeatureFacts,
    Prompt,
    Query,
    Reading,
    Reply,
    Statistic,
    Trial,
)
from tabcontam.evidence.knowledge.word_test import MORE
from tabcontam.evidence.mixins import ReferredTest, ResampledTest
from tabcontam.evidence.number_wording import describe_p_value, explain_low_power, format_small_number
from tabcontam.evidence.prompts import ask
from tabcontam.evidence.rows.bits_by_column import bits_by_group, entity_names, p_values_without
from tabcontam.evidence.thresholds import CANDIDATES_PER_QUERY, REMEMBERED_SHARE
from tabcontam.extensions.papers.quiz.distractors import QuizQuestion, questions
from tabcontam.extensions.papers.quiz.quiz_answers import (
    AT,
    BIASED,
    LETTERS,
    NONE,
    PLACES,
    chosen_letter,
    options_of,
    published_levels,
    question_of,
    units,
)
from tabcontam.extensions.papers.quiz.table_without_meaning import meaningless
from tabcontam.extensions.papers.thresholds import LEAST_QUESTIONS_LEFT, QUIZ_OPTIONS
from tabcontam.groups import grouped
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table

NULL = "the answers stay, and the option that is the row's own is drawn again by the surer of two solvers"


@dataclass(frozen=True)
class QuizTest(ReferredTest, ResampledTest):
    """A test that asks which of four options is a row's own.

    The original is put at one place, or at each place in turn.
    """

    family: ClassVar[Family] = Family.ROWS
    kind: ClassVar[EvidenceKind] = EvidenceKind.MEMBERSHIP
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.GENERATE, Capability.INSTRUCTIONS})
    answering: ClassVar[AnswerKind] = ChoiceAnswers()
    on_request: ClassVar[bool] = True
    own_marks: ClassVar[frozenset[str]] = frozenset({"quiz"})
    max_tokens: ClassVar[int] = 8
    part: ClassVar[int] = 0  # number of the part of a table's questions
    every_place: ClassVar[bool] = False  # whether each question is asked at every place of the original
    whole_rows: ClassVar[bool] = True  # whether options are rows, and not values of a cell that is left out
    hides_meaning: ClassVar[bool] = False  # whether signs without a meaning replace names and categories
    asked: int | None = None  # number of questions; None for as many as the verdict needs without any one column

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        if table.text is not None:
            raise Skip("its rows are texts to read: the baseline draws cells, and no texts")
        picked = _picked(_of_part(questions(table), self.part), self.asked, rng)
        lies = entity_names(table, {table.columns[one.column] for one in picked})
        shown = meaningless(table) if self.hides_meaning else table

        def asked(number: int, one: QuizQuestion) -> Iterator[Query]:
            column = table.columns[one.column]
            write = partial(self._prompt, table, shown, serializer, one)
            return self._asked(number, one, write, lies.get(column, column))

        return [query for number, one in enumerate(picked) for query in asked(number, one)]

    def _asked(
        self, number: int, question: QuizQuestion, write: Callable[[Sequence[str]], Prompt], lies_in: str
    ) -> Iterator[Query]:
        """Yield a question with the original at every place, or at one place in turn."""
        name = f"{self.id}-{number}"
        places = range(QUIZ_OPTIONS) if self.every_place else [number % QUIZ_OPTIONS]
        for first in places:
            order = [question.cells[(place - first) % QUIZ_OPTIONS] for place in range(QUIZ_OPTIONS)]
            chances = [question.chances[(place - first) % QUIZ_OPTIONS] for place in range(QUIZ_OPTIONS)]
            every = zip(PLACES, chances, strict=True)
            yield Query(
                f"{name}{AT}{PLACES[first]}",
                partial(write, order),
                LETTERS,
                (PLACES[first],),
                self.max_tokens,
                rows=(question.row,),
                chance={letter: CellPrediction({letter: each}, each) for letter, each in every},
                row=question.row,
                features=FeatureFacts(dict.fromkeys(PLACES, lies_in)),
            )
        if self.every_place:
            yield Query(
                f"{name}{BIASED}",
                partial(write, [*question.cells[QUIZ_OPTIONS:], *question.cells[1:QUIZ_OPTIONS]]),
                LETTERS,
                (NONE,),
                self.max_tokens,
                rows=(question.row,),
                row=question.row,
                decoy_of=f"{name}{AT}{PLACES[0]}",
            )

    def _prompt(
        self, table: Table, shown: Table, serializer: Serializer, question: QuizQuestion, order: Sequence[str]
    ) -> Prompt:
        """Return the prompt with four options by letter, and the choice that none is right."""
        columns, row = list(shown.columns), list(shown.rows[question.row])
        original = shown.rows[question.row][question.column]
        written = [original if cell == question.cells[0] else _as_shown(table, shown, question, cell)
                   for cell in order]  # fmt: skip
        if self.whole_rows:
            before, after = row[: question.column], row[question.column + 1 :]
            rows = [serializer.row(columns, [*before, cell, *after]) for cell in written]
            about = "\n".join((f"Dataset: {_called(table)}", *serializer.header(columns)))
            asked = "Three of these four rows are not in the dataset: one value in them was changed. Which row stands "
            asked += f"in the dataset just as it is here? {NONE} says that none of them does."
        else:
            rows = [serializer.value(cell) for cell in written]
            others = [place for place in range(len(columns)) if place != question.column]
            rest = serializer.alone([columns[place] for place in others], [row[place] for place in others])
            about = f"Dataset: {_called(table)}\nOne of its rows, without {columns[question.column]}:\n{rest}"
            asked = f"Which value of {columns[question.column]} does this row have in the dataset? "
            asked += f"{NONE} says that it has none of these."
        lettered = [f"{letter}) {text}" for letter, text in zip(PLACES, rows, strict=True)]
        listed = "\n".join((*lettered, f"{NONE}) None of these"))
        asked += " Answer with one letter."
        return ask(f"{about}\n\n{listed}", asked, f"{about}\n\n{asked}\n\n{listed}\n\nAnswer:")

    def complete(self, query: Query, text: str, serializer: Serializer) -> bool:
        """Return whether a cut answer names an option; later text cannot change it."""
        found = chosen_letter(text, {})
        return found is not None and found == chosen_letter(f"{text} {MORE}", {})

    def read(self, query: Query, reply: Reply, serializer: Serializer) -> Reading:
        if reply.state not in READ:
            return Reading(None, hit=False, paper_hit=False, readable=False)
        answer, truth = chosen_letter(reply.text, options_of(query.prompt.completion)), query.expected[0]
        return Reading(answer, answer == truth, reply.text.strip()[:1] == truth, readable=answer is not None)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        from tabcontam.statistics.exact_statistics import outcome_tail, share_interval, weight_of
        from tabcontam.statistics.power import detectable_choice_share

        asked = units(trials)
        possible = [[(weight_of(bits), chance) for bits, chance in one.outcomes] for one in asked]

        def tail(indices: Sequence[int]) -> float:
            return outcome_tail([possible[one] for one in indices], sum(weight_of(asked[one].bits) for one in indices))

        p_value, groups = tail(range(len(asked))), [one.lies_in for one in asked if self.decides]
        answered = [one for one in asked if one.answered]
        chances, hits = [one.chance for one in answered], sum(one.hit for one in answered)
        blind = f"a solver that never saw the rows gets {format_small_number(sum(chances))} right"
        found = f"{hits} of {len(asked)} {self._counted}; {blind}"
        return Evidence(
            statistic=Statistic(
                name="recalled bits",
                value=sum(one.bits for one in asked),
                expected=sum(bits * chance for one in asked for bits, chance in one.outcomes),
            ),
            null=NULL,
            sentence=f"{found} ({describe_p_value(p_value)}){self._published(trials)}",
            hits=hits,
            asked=len(asked),
            answered=len(answered),
            expected_hits=sum(chances),
            p_value=p_value if self.decides else None,
            score=None if self.decides else hits / max(1, len(asked)),
            interval=share_interval(chances, hits) if answered else None,
            interval_of="share of the rows remembered",
            recalled_bits=sum(one.bits for one in asked),
            detectable_share=detectable_choice_share([one.surest for one in answered], level) if answered else None,
            columns=bits_by_group((one.lies_in, one.bits) for one in asked) if self.decides else {},
            without=p_values_without(groups, tail),
        )

    @property
    def _counted(self) -> str:
        return "questions are right at most of their places" if self.every_place else "questions are right"

    def _published(self, trials: Sequence[Trial]) -> str:
        """Return the published count of the answers in words, or "" if it does not apply."""
        if not self.published or (found := published_levels(trials)) is None:
            return ""
        shares = f"{found.lowest:.0%} to {found.highest:.0%} are contaminated (kappa {found.kappa:.2f})"
        return f"; by the published count {shares}"

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        from tabcontam.statistics.power import choice_power

        asked = grouped((query for query in queries if query.chance), lambda query: question_of(query.id))
        units = [(own[0].features.lies_in[PLACES[0]], max(map(_surest, own))) for own in asked.values()]
        columns = dict.fromkeys(column for column, _ in units)
        if len(columns) < 2:
            where = next(iter(columns), "no column")
            return f"only {where} can be altered unnoticed, and a single column may be known from elsewhere"
        least = min(
            choice_power([surest for own, surest in units if own != column], REMEMBERED_SHARE, level)
            for column in columns
        )
        return explain_low_power(least, level)


def _surest(query: Query) -> float:
    return max(min(1.0, query.chance[letter].chance_of(letter)) for letter in PLACES)


def _picked(offered: Sequence[QuizQuestion], asked: int | None, rng: Random) -> list[QuizQuestion]:
    """Return `asked` questions predicted worst, evenly by feature; if None, enough without any one feature."""
    by_column = grouped(offered, lambda one: one.column)
    each = -(-(LEAST_QUESTIONS_LEFT if asked is None else asked) // max(1, len(by_column) - (asked is None)))
    count = each * len(by_column) if asked is None else asked
    taken = []
    for own in by_column.values():
        candidates = rng.sample(own, min(len(own), CANDIDATES_PER_QUERY * each))
        taken.append(sorted(candidates, key=lambda one: max(one.chances)))
    dealt: dict[int, QuizQuestion] = {}
    had: Counter[int] = Counter()
    for one in (one for turn in zip_longest(*taken) for one in turn if one is not None):
        if one.row not in dealt and had[one.column] < each:
            dealt[one.row] = one
            had[one.column] += 1
    return rng.sample(list(dealt.values())[:count], min(count, len(dealt)))


def _of_part(every: Sequence[QuizQuestion], part: int) -> list[QuizQuestion]:
    """Return the questions about one half of the rows: two tests with different parts ask about different rows."""
    rows = {row: number for number, row in enumerate(dict.fromkeys(one.row for one in every))}
    return [one for one in every if rows[one.row] % 2 == part]


def _called(table: Table) -> str:
    """Return the dataset's name in a prompt, with its split if there is one."""
    return f"{table.title} ({table.split})" if table.split else table.title


def _as_shown(table: Table, shown: Table, question: QuizQuestion, cell: str) -> Cell:
    """Return a cell as the prompt shows it: unchanged, or as the sign of its category."""
    if shown is table:
        return cell
    name = table.columns[question.column]
    return dict(zip(table.column(name), shown.column(shown.columns[question.column]), strict=True)).get(cell, cell)
