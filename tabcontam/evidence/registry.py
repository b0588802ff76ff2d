"""Every contamination test, in the order of the paper's Table 1."""

from tabcontam.evidence.base import Test
from tabcontam.evidence.knowledge.feature_lists import FeatureListInformed, FeatureListUninformed
from tabcontam.evidence.knowledge.feature_values import FeatureValuesInformed, FeatureValuesUninformed
from tabcontam.evidence.knowledge.recognition import RecognitionExamples, RecognitionFeatures
from tabcontam.evidence.rows.completion import FeatureCompletion, FullCompletion, IncompleteCompletion
from tabcontam.evidence.rows.matched import MatchedMembership
from tabcontam.evidence.rows.membership import Membership
from tabcontam.evidence.score.classification import Classification0Shot, Classification1Shot

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
