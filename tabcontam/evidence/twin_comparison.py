"""The types of memory's share of an accuracy: its parts, and its comparisons with reference models."""

from dataclasses import dataclass

from tabcontam.statistics.number_types import Amount, Count, Interval, Number, Share, Truth


@dataclass(frozen=True, kw_only=True, slots=True)
class TwinLossDifference:
    """Memory's share compared with the reference model: the additional loss of the model on unseen twins."""

    pairs: Count
    """The number of rows that both models answered together with the twins."""
    accuracy: Share
    """The accuracy of the reference on these rows."""
    twin_accuracy: Share
    """The accuracy of the reference on the twins of these rows."""
    share: Number
    """The loss of the model on the twins minus the loss of the reference."""
    interval: Interval
    """The 95% interval of the share."""
    p_value: Share
    """The chance of a share as large or larger for a model that loses no more than the reference."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReferenceTwinAccuracy:
    """One of several reference models that memory's share is compared with."""

    llm: str
    """The model as the user named it."""
    accuracy: Share
    """Its accuracy on the rows that all references and the model under test answered."""
    twin_accuracy: Share
    """Its accuracy on the twins of these rows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReferenceCurveExcess:
    """Memory's share compared with several reference models: the accuracy above the one that their curve predicts."""

    pairs: Count
    """The number of rows that all models answered together with the twins."""
    references: tuple[ReferenceTwinAccuracy, ...]
    """The references that answered at least one row, in the order in which the user named them."""
    accuracy: Share
    """The accuracy of the model under test on these rows."""
    twin_accuracy: Share
    """The accuracy of the model under test on the twins of these rows."""
    expected: Number
    """The accuracy on rows that the curve of the references predicts from the accuracy on twins."""
    share: Number
    """The accuracy on rows minus the expected one."""
    interval: Interval
    """The 95% interval of the share."""
    p_value: Share
    """The chance of a share as large or larger for a model on the curve."""
    apart: Interval
    """The smallest and the largest share if one of the references is left out."""
    outside: Truth
    """True if the accuracy on twins is outside the range of the references, so that the curve is extrapolated."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TwinComparison:
    """Memory's share of an accuracy, measured on rows and their unseen twins; docs/method.md explains the method."""

    pairs: Count
    """The number of rows that were answered together with their twins; the share is measured on them. With fresh rows
    it is the number of rows or of fresh rows, whichever is smaller."""
    left_out: Count
    """The number of further rows: the answer to the row, or to its twin, was declined or unread."""
    accuracy: Share
    """The accuracy on the rows."""
    twin_accuracy: Share
    """The accuracy on their twins."""
    share: Number
    """Memory's share: the accuracy on rows minus that on twins, minus the loss of learners on the same twins."""
    interval: Interval
    """The 95% interval of the share."""
    p_value: Share
    """The chance of a share as large or larger for a model that recalls nothing."""
    deviation: Amount
    """The standard deviation of a pair's contribution to the share, from which the number of rows needed follows."""
    if_wrong: Interval | None = None
    """The interval if declined and unread answers count as wrong; null if there are none, or no answer was right."""
    single_reference: TwinLossDifference | None = None
    """The share compared with the reference model; null if there is none, or if it gave no answer to compare with."""
    several_references: ReferenceCurveExcess | None = None
    """The share compared with several reference models; null if fewer than two were named and answered."""
    further: tuple[str, ...] = ()
    """The references that the user named after the first one, whether they answered or not."""
    fresh: Count = 0
    """The number of answered fresh rows that take the place of twins; 0 if there are twins."""
