"""Few-shot classification after TabLLM: the prompt shows rows with their classes, then asks for the class of a row."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import chain, product
from random import Random
from typing import ClassVar

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.errors import Skip
from tabcontam.evidence.base import (
    Capability,
    Evidence,
    EvidenceKind,
    Family,
    FeatureFacts,
    Likelihoods,
    Prompt,
    Query,
    Question,
    Reading,
    Reply,
    Statistic,
    Test,
    Trial,
)
from tabcontam.evidence.mixins import InWordsTest, WordedTest
from tabcontam.evidence.rows.choice_test import ChoiceTest
from tabcontam.evidence.score.classification import (
    AccuracyTest,
    answers_of,
    as_endings,
    described,
    likeliest,
    task_of,
    tokens_of,
    unfair,
)
from tabcontam.evidence.score.memory_share import TWIN
from tabcontam.evidence.score.shares import SUPERVISED, prediction_of, unseen_twin
from tabcontam.evidence.thresholds import CLASSIFIED_ROWS, FIFTHS, MOST_CLASSIFIED_ROWS
from tabcontam.extensions.evaluate.shot_draws import Draw, draw_shots
from tabcontam.extensions.evaluate.shot_learners import LEARNERS, absent, learned
from tabcontam.extensions.evaluate.shot_results import SHOWN, TITLE, ShotResult, evaluated
from tabcontam.extensions.evaluate.thresholds import TABLLM_SHOTS
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.dataset_cards import ClassificationQuestion as Asking
from tabcontam.tables.known_rows import not_known
from tabcontam.tables.row_draws import pool
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table
from tabcontam.twins.base import UnseenTwin
from tabcontam.twins.twin_sample import labelled, sample

Cells = Mapping[str, Cell]


@dataclass(frozen=True)
class FewShotPlan:
    """The plan for a table: draws, the table's twin if any, and the learners' chances for asked rows by shots and draw.

    `lines` report where the plan differs from the request.
    """

    shots: tuple[int, ...]
    draws: tuple[Draw, ...]
    chances: Mapping[tuple[int, int], Sequence[Mapping[str, CellPrediction]]]
    twin: UnseenTwin | None
    lines: tuple[str, ...]


@dataclass(frozen=True)
class FewShot(WordedTest, AccuracyTest, ChoiceTest):
    """Shown rows with their classes, the model must give the class of another row: accuracy and AUC by number of shots.

    Measures: the share of right answers at each number of shots. Refused and unreadable answers count as errors; the
    share among readable answers is also reported. If the model reports log-probabilities, the AUC is measured, too
    (with several classes, the mean AUC of each class against the rest). Memory's share is measured at each number of
    shots, on unseen twins of the rows as in `memory_share`.

    Queries: by default 100 rows at each of 0, 1, 4, 16 and 64 shots, and the twin of each row that has a twin. A seed
    splits the table into fifths. Each of five draws asks 20 rows of one fifth and shows rows of the other four fifths,
    an 80/20 split. No row is asked by two draws. The asked rows have the class shares of their fifth. The shots are
    balanced: no class has two rows more than another class, if the table has enough rows. A prompt with fewer shots
    shows the first shots of a prompt with more shots. All rows of a draw, and their twins, are asked after the same
    shots in the same order. No shot equals an asked row in all features. If the serializer names features, features
    without a value are left out of a row.

    Null: a constant answer: the most frequent class of the asked rows. For comparison, logistic regression and gradient
    boosting (and LightGBM and TabPFN, if installed) learn from exactly the rows shown. Accuracies have exact 95 %
    intervals, AUCs have DeLong's 95 % intervals, and both have a standard deviation over draws. The test gives no
    verdict.

    Published rule: none; the paper reports AUCs.

    Needs: a target with a question (a FILE: `--target` with a column of 2 to 10 values) and a model that understands a
    question. If the model reports log-probabilities, its answer is the likeliest class name after the prompt for base
    models. Any other model is asked in words. `evaluate` chooses between these ways; `run -k shots` asks in words.

    Cannot show: contamination. TabLLM fine-tunes its model on the shots; here the prompt shows the shots. So results
    differ from TabLLM's above 0 shots. A prompt that is longer than the model's context is never cut: the query gets no
    answer, and the result reports this.

    Source: TabLLM (Hegselmann et al. 2023), sections 3 and 4, and its code for the splits and shots.

    Example: four rows each with `Answer: Yes` or `Answer: No`, a row and `Answer:`, which goes on with `No`.
    """

    id: ClassVar[str] = "classification_shots"
    follows = "bordt_versions"
    title: ClassVar[str] = TITLE
    family: ClassVar[Family] = Family.SCORE
    kind: ClassVar[EvidenceKind] = EvidenceKind.CLASSIFICATION
    on_request: ClassVar[bool] = True
    shots: tuple[int, ...] = TABLLM_SHOTS
    draws: int = FIFTHS
    rows: int = CLASSIFIED_ROWS
    twins: bool = True

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        _, question = task_of(table)
        plan, answers, target = self.dealt(table, rng), answers_of(question), table.column(table.target or "")
        features = [name for name in table.columns if name != table.target]
        found: list[Query] = []
        for shots, (number, draw) in product(plan.shots, enumerate(plan.draws)):
            shown = draw.shown[:shots]
            write = partial(self._question, table, serializer, question, shown)
            for place, (row, chance) in enumerate(zip(draw.asked, plan.chances[shots, number], strict=True)):
                own = Query(
                    id=f"{self.id}-{shots}-{number}-{place}",
                    write=partial(write, _cells(table, row, features)),
                    asked=answers,
                    expected=(question.answer(target[row] or ""),),
                    max_tokens=tokens_of(answers),
                    rows=(*shown, row),
                    row=row,
                    chance=chance,
                )
                found.append(own)
                if plan.twin is not None and row in plan.twin.place:
                    found.append(_of_twin(own, plan.twin, plan.twin.place[row], features, write))
        return found

    def dealt(self, table: Table, rng: Random) -> FewShotPlan:
        """Return the plan (asked and shown rows, predictions), the same for every serializer. Raises `Skip`."""
        wanted = (self.shots, self.draws, self.rows, self.twins, rng.getrandbits(64))
        return cached_fact(table, ("few-shot", wanted), lambda: self._dealt(table, wanted[-1]))

    def read(self, query: Query, reply: Reply | Likelihoods, serializer: Serializer) -> Reading:
        if not isinstance(reply, Likelihoods):
            return super().read(query, reply, serializer)
        return likeliest(query, reply)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        found = evaluated(trials)
        asked = sum(one.asked for one in found)
        hits = sum(one.own.right for one in found)
        most = found[-1] if found else None
        return Evidence(
            statistic=Statistic(
                name="share of rows classified right",
                value=hits / asked if asked else 0.0,
                expected=sum(one.majority * one.asked for one in found) / asked if asked else None,
            ),
            null="the answer is always the majority class",
            sentence=_sentence(found),
            hits=hits,
            asked=sum(not trial.query.decoy_of for trial in trials),
            answered=sum(one.read.rows for one in found if one.read),
            interval=most.own.interval if most else None,
            interval_of=f"share of rows classified right at {most.shots} shots" if most else "",
        )

    def _dealt(self, table: Table, seed: int) -> FewShotPlan:
        target, question = task_of(table)
        labels = labelled(table, target, question)
        twin, why = _twin(table) if self.twins else (None, "")
        asked_of = _askable(table, labels, twin)
        if not asked_of:
            raise Skip("the model may know every row that has a class")
        most = max(self.shots, default=0)
        draws = [draw for draw in draw_shots(table, labels, asked_of, self.draws, self.rows, most, seed) if draw.asked]
        available = min((len(draw.shown) for draw in draws), default=0)
        shots = tuple(shots for shots in sorted(set(self.shots)) if shots <= available)
        if not draws or not shots:
            wanted = " or ".join(map(str, sorted(set(self.shots))))
            raise Skip(f"besides the asked rows only {available:,} can be shown, fewer than {wanted} shots")
        chances, failed = _chances(table, target, question, labels, draws, shots, twin)
        lines = [*_lines(self, question, labels, draws, available), *([why] if why else []), *absent(), *failed]
        return FewShotPlan(shots, tuple(draws), chances, twin, tuple(lines))

    def _question(
        self, table: Table, serializer: Serializer, question: Asking, shown: Sequence[int], cells: Cells
    ) -> Question:
        target = table.column(table.target or "")
        shots = [
            (_text(table, serializer, _cells(table, row, cells)), question.answer(target[row] or "")) for row in shown
        ]
        prompt = self.prompts.class_of(shots, _text(table, serializer, cells), question.text, answers_of(question))
        return self._asked(prompt, answers_of(question))

    def _asked(self, prompt: Prompt, answers: Sequence[str]) -> Question:
        return prompt


@dataclass(frozen=True)
class FewShotScored(InWordsTest, FewShot):
    """Few-shot classification by the likelihood of each class as the prompt's continuation."""

    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.SCORE, Capability.INSTRUCTIONS})

    def in_words(self, samples: int | None) -> Test | None:
        return FewShot(**{item.name: getattr(self, item.name) for item in fields(FewShot)})

    def _asked(self, prompt: Prompt, answers: Sequence[str]) -> Question:
        return as_endings(prompt, answers)


def _of_twin(
    own: Query, twin: UnseenTwin, place: int, features: Sequence[str], write: Callable[[Cells], Question]
) -> Query:
    """Return the query about the twin of the row that `own` asks about."""
    cells = dict(zip(twin.features, twin.rows[place], strict=True))
    return replace(
        own,
        id=f"{own.id}-twin",
        write=partial(write, {name: cells[name] for name in features}),
        expected=(twin.labels[place],),
        row=None,
        decoy_of=own.id,
        features=FeatureFacts(shared=twin.unchanged),
        chance={**own.chance, SUPERVISED: prediction_of(twin.twins[place])},
    )


def notes(test: FewShot, table: Table, rng: Random) -> tuple[str, ...]:
    """Return lines on unavailable shots, twins or learners. `rng` is the generator that drew the queries."""
    try:
        return test.dealt(table, rng).lines
    except Skip:
        return ()


def _twin(table: Table) -> tuple[UnseenTwin | None, str]:
    """Return the table's unseen twin and "", or None and the reason."""
    try:
        return unseen_twin(table, TWIN), ""
    except Skip as skip:
        return None, f"memory's share is not measured: {skip}"


def _askable(table: Table, labels: Mapping[int, str], twin: UnseenTwin | None) -> Sequence[int]:
    """Return the rows that may be asked about: the rows that may get twins; without twins, chosen by content."""
    if twin is not None:
        found = sample(table)
        return found.places[: found.twins]
    return pool(table, not_known(table, labels), MOST_CLASSIFIED_ROWS)


def _chances(
    table: Table,
    target: str,
    question: Asking,
    labels: Mapping[int, str],
    draws: Sequence[Draw],
    shots: Sequence[int],
    twin: UnseenTwin | None,
) -> tuple[dict[tuple[int, int], list[dict[str, CellPrediction]]], list[str]]:
    """Return each learner's predictions for the asked rows, by shots and draw, and why a learner has none."""
    rows = sorted({row for draw in draws for row in (*draw.asked, *draw.shown)})
    place, features = {row: position for position, row in enumerate(rows)}, described(table, target, rows)
    counts = Counter(labels.values())
    majority = CellPrediction({max(answers_of(question), key=lambda answer: counts[answer]): 1.0}, 0.0)
    found: dict[tuple[int, int], list[dict[str, CellPrediction]]] = {}
    failed: dict[str, str] = {}
    for count, (number, draw) in product(shots, enumerate(draws)):
        known = [labels[row] for row in draw.shown[:count]]
        shares = {name: known.count(name) / count for name in answers_of(question)} if count else {}
        classes = {SHOWN: CellPrediction(shares, 0.0)} if count else {}
        of_rows: list[dict[str, CellPrediction]] = [{"majority": majority, **classes} for _ in draw.asked]
        shown, asked = ([place[row] for row in group] for group in (draw.shown[:count], draw.asked))
        for learner in LEARNERS if count else ():
            if not learner.here or learner.name in failed:
                continue
            predicted = learned(learner, features[shown], known, features[asked])
            if isinstance(predicted, str):
                failed[learner.name] = predicted
                continue
            for of_row, chances in zip(of_rows, predicted, strict=True):
                of_row[learner.name] = CellPrediction(dict(chances), 0.0)
        if twin is not None:
            for of_row, row in zip(of_rows, draw.asked, strict=True):
                if row in twin.place:
                    of_row[SUPERVISED] = prediction_of(twin.own[twin.place[row]])
        found[count, number] = of_rows
    for of_row, name in product(chain(*found.values()), failed):
        of_row.pop(name, None)
    return found, list(failed.values())


def _lines(
    test: FewShot, question: Asking, labels: Mapping[int, str], draws: Sequence[Draw], available: int
) -> Iterator[str]:
    """Yield the lines that report where the numbers of rows and shots differ from the request."""
    if why := unfair(question):
        yield f"{why}: the accuracy at 0 shots is chance"
    asked = sum(len(draw.asked) for draw in draws)
    if asked < test.rows:
        yield f"{asked} rows are asked at each number of shots, not {test.rows}: the table has no more to ask about"
    if lost := [shots for shots in sorted(set(test.shots)) if shots > available]:
        numbers = " and ".join(map(str, lost))
        yield f"{numbers} shots cannot be shown: besides the asked rows only {available:,} can be"
    shown = [{labels[row] for row in draw.shown} for draw in draws]
    for name in answers_of(question):
        if name not in set(labels.values()):
            yield f"no row has the class {name}"
        elif without := sum(name not in classes for classes in shown if max(test.shots) >= len(answers_of(question))):
            yield f"in {without} of {len(draws)} draws no row of the class {name} can be shown"
    counted = [Counter(labels[row] for row in draw.shown[: max(test.shots)]) for draw in draws]
    if any(max(counts.values()) - min(counts.values()) > 1 for counts in counted if len(counts) > 1):
        yield "some shots are not balanced: a class has too few rows to show"


def _cells(table: Table, row: int, features: Iterable[str]) -> dict[str, Cell]:
    return {name: table.column(name)[row] for name in features}


def _text(table: Table, serializer: Serializer, cells: Cells) -> str:
    """Return a row as the prompt shows it, without features that have no value if the serializer names features."""
    named = serializer.names_features
    kept = {name: cell for name, cell in cells.items() if not (named and (cell is None or table.is_missing(cell)))}
    return serializer.alone(list(kept), list(kept.values()))


def _sentence(found: Sequence[ShotResult]) -> str:
    if not any(one.asked for one in found):
        return "no row was classified"
    parts = []
    for one in found:
        (low, high), auc = one.own.interval, f", AUC {one.own.auc:.2f}" if one.own.auc is not None else ""
        right = f"{one.own.right} of {one.asked} rows are right"
        parts.append(f"at {one.shots} shots {right}, {low:.2f} to {high:.2f}{auc}")
    return "; ".join(parts)
