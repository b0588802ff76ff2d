"""The contamination tests: the core's, in the order of the paper's Table 1, those of extensions and other packages.

An extension or another package offers a test as an entry point of the group `tabcontam.tests`: the entry point's name
is the test's id, and its object the test's class. If another package's test cannot be loaded, a line on standard error
reports this, and all other tests work.
"""

from functools import cache
from typing import get_args

from tabcontam import entry_points
from tabcontam.entry_points import OWN, EntryPoint
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Measure, Test
from tabcontam.evidence.mixins import PooledTest

GROUP = "tabcontam.tests"
BUILT_IN = (
    "tabcontam.evidence.knowledge.feature_lists:FeatureListInformed",
    "tabcontam.evidence.knowledge.feature_lists:FeatureListUninformed",
    "tabcontam.evidence.knowledge.recognition:RecognitionFeatures",
    "tabcontam.evidence.knowledge.recognition:RecognitionExamples",
    "tabcontam.evidence.knowledge.feature_values:FeatureValuesInformed",
    "tabcontam.evidence.knowledge.feature_values:FeatureValuesUninformed",
    "tabcontam.evidence.rows.completion_tests:IncompleteCompletion",
    "tabcontam.evidence.rows.completion_tests:FullCompletion",
    "tabcontam.evidence.rows.completion_tests:FeatureCompletion",
    "tabcontam.evidence.rows.membership:Membership",
    "tabcontam.evidence.rows.matched_membership:MatchedMembership",
    "tabcontam.evidence.likelihood.surrogate_rank:SurrogateRank",
    "tabcontam.evidence.likelihood.published_scores:Perplexity",
    "tabcontam.evidence.likelihood.published_scores:Loss",
    "tabcontam.evidence.likelihood.published_scores:Zlib",
    "tabcontam.evidence.likelihood.published_scores:MinK",
    "tabcontam.evidence.likelihood.published_scores:MinKPlusPlus",
    "tabcontam.evidence.likelihood.in_context:Recall",
    "tabcontam.evidence.likelihood.in_context:Codec",
    "tabcontam.evidence.likelihood.last_digits:Digits",
    "tabcontam.evidence.order.row_order:RowOrder",
    "tabcontam.evidence.likelihood.dataset_inference:DatasetInference",
    "tabcontam.evidence.score.classification:Classification0Shot",
    "tabcontam.evidence.score.classification:Classification1Shot",
    "tabcontam.evidence.score.memory_share:MemoryShare",
    "tabcontam.evidence.score.scored_share:MemoryShareScored",
    "tabcontam.evidence.score.versions:Versions",
)


@cache
def all_tests() -> tuple[Test, ...]:
    """Return all tests of this installation: built-in tests and those of other packages."""
    built_in = built_in_tests()
    others = entry_points.load_others(GROUP, "test", _of_package, {test.id for test in built_in})
    return (*built_in, *others.values())


@cache
def by_id() -> dict[str, Test]:
    """Return every test by its id."""
    return {test.id: test for test in all_tests()}


@cache
def built_in_tests() -> tuple[Test, ...]:
    """Return the tests of this package. An extension's test stands after the test that it `follows`."""
    found: list[Test] = [EntryPoint("", place, OWN).load()() for place in BUILT_IN]
    waiting: list[Test] = [test() for test in entry_points.own(GROUP)]
    while waiting:
        places = {test.id: place for place, test in enumerate(found, 1)}
        next_one = next((test for test in waiting if test.follows in places), waiting[0])
        found.insert(places.get(next_one.follows, len(found)), next_one)
        waiting.remove(next_one)
    return tuple(found)


def _of_package(point: EntryPoint) -> Test:
    """Return the test that another package offers. Raises `UsageError` with one line for any error of its import."""
    with entry_points.raise_as_usage_error(point, "test"):
        found = point.load()
        test = found() if isinstance(found, type) and issubclass(found, Test) else None
        # raises an error if a required attribute has not been stated
        name, measure, *_ = (test.id, test.measure, test.kind, test.family) if test else ("", "")
        _ = test.pool if isinstance(test, PooledTest) else ""
    if test is None:
        why = f"{point.value} is no subclass of tabcontam.evidence.base.Test"
    elif name != point.name:
        why = f"its id is {name!r}, but the name of an entry point must be the id of its test"
    elif measure and measure not in get_args(Measure):
        why = f"its measure is {measure!r}, but the ranking has only {', '.join(get_args(Measure))}"
    else:
        return test
    raise UsageError(f"{entry_points.describe_entry_point(point, 'test')} is left out: {why}")
