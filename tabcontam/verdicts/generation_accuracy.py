"""The number of the table's outputs that models generate word for word, and their accuracy on the same table.

Li and Flanigan (2024), *Task Contamination*, section 8 and figure 6: over twelve models, the more outputs of Spider a
model generates exactly, the better it solves the task. A correlation over models gives no verdict: a larger model may
do both better.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from tabcontam.evidence.base import GENERATED, Facts, Measure
from tabcontam.groups import grouped
from tabcontam.statistics.correlations import pearson
from tabcontam.statistics.exact_statistics import clopper_pearson
from tabcontam.statistics.number_types import Coefficient, Count, Interval, Share
from tabcontam.verdicts.llm_ranking import ACCURACIES, rounded_interval
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.thresholds import LEAST_FIGURE_LLMS

Accuracy = tuple[float, Interval | None]  # of an LLM on a table, with its interval if only one result gives it


@dataclass(frozen=True, kw_only=True)
class LlmGeneration:
    """A model on a table: its exactly generated outputs, and its accuracy on the same table."""

    llm: str
    """The model as the user named it."""
    exact: Count
    """The number of outputs that were generated word for word."""
    outputs: Count
    """The number of outputs that were asked for and answered."""
    share: Share
    """The share of outputs that were generated word for word."""
    share_interval: Interval
    """The exact 95% interval of the share."""
    accuracy: Share
    """The accuracy of classification on the same table: the mean if there are several results."""
    accuracy_interval: Interval | None = None
    """The 95% interval of the accuracy; null if there are several results."""


@dataclass(frozen=True, kw_only=True)
class Generation:
    """A table: each model's exactly generated outputs and accuracy, with Pearson's coefficient as in the paper."""

    dataset: str
    """The table."""
    edition: str | None = None
    """Its edition."""
    split: str | None = None
    """Its split, if it has any."""
    accuracy: Measure
    """The accuracy, by the ranking's name of it."""
    llms: tuple[LlmGeneration, ...]
    """The models that have both: three or more."""
    value: Coefficient | None = None
    """Pearson's r; null with three models, or if all have the same share or the same accuracy."""
    interval: Interval | None = None
    """The 95% interval of r; null if r is, and if all points lie on one line."""
    p_value: Share | None = None
    """The p-value of no correlation, from all orders; null if r is."""


def generations(results: Iterable[Result], facts: Mapping[str, Facts]) -> tuple[Generation, ...]:
    """Return each table and accuracy for which three or more models under test have both numbers; see `Generation`."""
    under_test = (result for result in results if not result.control)
    tables = grouped(under_test, lambda result: (result.dataset, result.edition, result.split))
    found = (_generation(own, facts, accuracy) for own in tables.values() for accuracy in ACCURACIES)
    return tuple(one for one in found if one is not None)


def _generation(results: Sequence[Result], facts: Mapping[str, Facts], accuracy: Measure) -> Generation | None:
    exact = {
        result.llm: result for result in results if facts[result.test].measure == GENERATED and result.evidence.answered
    }
    own = [result for result in results if facts[result.test].measure == accuracy and result.llm in exact]
    accuracies = {llm: _accuracy(of_llm) for llm, of_llm in grouped(own, lambda result: result.llm).items()}
    right = {llm: found for llm, found in accuracies.items() if found}
    if len(right) < LEAST_FIGURE_LLMS:
        return None
    llms = tuple(_generated(exact[llm], accuracy_of_llm) for llm, accuracy_of_llm in right.items())
    together = pearson([one.share for one in llms], [one.accuracy for one in llms])
    first = results[0]
    return Generation(
        dataset=first.dataset,
        edition=first.edition,
        split=first.split,
        accuracy=accuracy,
        llms=llms,
        value=round(together.value, 4) if together else None,
        interval=rounded_interval(together.interval) if together and together.interval else None,
        p_value=together.p_value if together else None,
    )


def _accuracy(results: Sequence[Result]) -> Accuracy | None:
    """Return a model's mean accuracy on a table; None if no result may enter a mean."""
    found = [result.evidence for result in results if result.evidence.answered and not result.not_averaged]
    scores = [(one.score, one.interval) for one in found if one.score is not None]
    if not scores:
        return None
    return fmean(score for score, _ in scores), scores[0][1] if len(scores) == 1 else None


def _generated(result: Result, accuracy: Accuracy) -> LlmGeneration:
    exact, outputs = result.evidence.hits, result.evidence.answered
    return LlmGeneration(
        llm=result.llm,
        exact=exact,
        outputs=outputs,
        share=round(exact / outputs, 4),
        share_interval=rounded_interval(clopper_pearson(exact, outputs)),
        accuracy=round(accuracy[0], 4),
        accuracy_interval=rounded_interval(accuracy[1]) if accuracy[1] else None,
    )
