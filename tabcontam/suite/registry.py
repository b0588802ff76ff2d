"""Every contamination test, in the order of the paper's Table 1."""

from tabcontam.suite.base import Test
from tabcontam.suite.classification import Classification0Shot, Classification1Shot
from tabcontam.suite.completion import FeatureCompletion, FullCompletion, IncompleteCompletion
from tabcontam.suite.feature_lists import FeatureListInformed, FeatureListUninformed
from tabcontam.suite.feature_values import FeatureValuesInformed, FeatureValuesUninformed
from tabcontam.suite.matched import MatchedMembership
from tabcontam.suite.membership import Membership
from tabcontam.suite.recognition import RecognitionExamples, RecognitionFeatures

TESTS: tuple[Test, ...] = (
    FeatureListInformed(),
    FeatureListUninformed(),
    RecognitionFeatures(),
    RecognitionExamples(),
    FeatureValuesInformed(),
    FeatureValuesUninformed(),
    IncompleteCompletion(),
    FullCompletion(),
    FeatureCompletion(),
    Membership(),
    MatchedMembership(),
    Classification0Shot(),
    Classification1Shot(),
)
BY_ID: dict[str, Test] = {test.id: test for test in TESTS}
