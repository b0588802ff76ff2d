"""The contamination tests: the built-in ones, in the order of the paper's Table 1, and those of other packages.

Another package offers a test as an entry point of the group `tabcontam.tests`: the entry point's name is the test's id,
and its object the test's class. If it cannot be loaded, a line on standard error reports this, and all other tests
work.
"""

import sys
from functools import cache
from importlib.metadata import EntryPoint
from typing import get_args

from tabcontam import entry_points
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Measure, Test

GROUP = "tabcontam.tests"
BUILT_IN = (
    "knowledge.feature_lists:FeatureListInformed",
    "knowledge.feature_lists:FeatureListUninformed",
    "knowledge.recognition:RecognitionFeatures",
    "knowledge.recognition:RecognitionExamples",
    "knowledge.feature_values:FeatureValuesInformed",
    "knowledge.feature_values:FeatureValuesUninformed",
    "rows.completion_tests:IncompleteCompletion",
    "rows.completion_tests:FullCompletion",
    "rows.completion_tests:FeatureCompletion",
    "knowledge.feature_names:FeatureNames",
    "rows.membership:Membership",
    "rows.matched_membership:MatchedMembership",
    "rows.memcheck.header:Header",
    "rows.memcheck.row_completion:RowCompletion",
    "rows.memcheck.feature_completion:CsvFeatureCompletion",
    "rows.memcheck.first_token:FirstToken",
    "rows.memcheck.sampling:Sampling",
    "rows.guided.guided_completion:GuidedCompletion",
    "rows.guided.guided_match:GuidedMatch",
    "rows.quiz.quizzes:Quiz",
    "rows.quiz.quizzes:QuizCompletion",
    "rows.quiz.quizzes:QuizObfuscated",
    "rows.quiz.quizzes:QuizCompletionObfuscated",
    "rows.list_instances:ListInstances",
    "rows.task.task_examples:TaskExamples",
    "rows.task.exact_generation:ExactGeneration",
    "likelihood.surrogate_rank:SurrogateRank",
    "likelihood.perplexity:Perplexity",
    "likelihood.published_scores:Loss",
    "likelihood.published_scores:Zlib",
    "likelihood.published_scores:MinK",
    "likelihood.published_scores:MinKPlusPlus",
    "likelihood.in_context:Recall",
    "likelihood.in_context:Codec",
    "likelihood.last_digits:Digits",
    "order.row_order:RowOrder",
    "likelihood.planted_digits:Planted",
    "likelihood.dataset_inference:DatasetInference",
    "corpus.row_overlap:RowOverlap",
    "corpus.ngram_overlap:NgramOverlap",
    "corpus.header_overlap:HeaderOverlap",
    "corpus.task_overlap:TaskOverlap",
    "score.classification:Classification0Shot",
    "score.classification:Classification1Shot",
    "score.memory_share:MemoryShare",
    "score.scored_share:MemoryShareScored",
    "score.versions:Versions",
    "score.few_shot:FewShot",
)


@cache
def all_tests() -> tuple[Test, ...]:
    """Return all tests of this installation: built-in tests and those of other packages."""
    built_in = built_in_tests()
    points, complaints = entry_points.find_entry_points(GROUP, "test", {test.id for test in built_in})
    others = []
    for point in points.values():
        try:
            others.append(_of_package(point))
        except UsageError as error:
            complaints.append(str(error))
    for complaint in complaints:
        print(f"tabcontam: {complaint}", file=sys.stderr)
    return (*built_in, *others)


@cache
def by_id() -> dict[str, Test]:
    """Return every test by its id."""
    return {test.id: test for test in all_tests()}


@cache
def built_in_tests() -> tuple[Test, ...]:
    """Return the tests of this package."""
    return tuple(EntryPoint("", f"{__package__}.{place}", GROUP).load()() for place in BUILT_IN)


def _of_package(point: EntryPoint) -> Test:
    """Return the test that another package offers. Raises `UsageError` with one line for any error of its import."""
    with entry_points.raise_as_usage_error(point, "test"):
        found = point.load()
        test = found() if isinstance(found, type) and issubclass(found, Test) else None
        # raises an error if a required attribute has not been stated
        name, measure, *_ = (test.id, test.measure, test.kind, test.family) if test else ("", "")
    if test is None:
        why = f"{point.value} is no subclass of tabcontam.evidence.base.Test"
    elif name != point.name:
        why = f"its id is {name!r}, but the name of an entry point must be the id of its test"
    elif measure and measure not in get_args(Measure):
        why = f"its measure is {measure!r}, but the ranking has only {', '.join(get_args(Measure))}"
    else:
        return test
    raise UsageError(f"{entry_points.describe_entry_point(point, 'test')} is left out: {why}")
