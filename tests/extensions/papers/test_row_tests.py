"""Which tests of the papers can show that rows were seen."""

from tabcontam.evidence.registry import built_in_tests


def test_a_row_test_follows_from_family_and_verdict() -> None:
    own = [test for test in built_in_tests() if type(test).__module__.startswith("tabcontam.extensions.papers.")]
    assert {test.id for test in own if test.row_test} == {
        "header", "row_completion", "csv_feature_completion", "first_token", "guided_completion", "quiz",
        "quiz_completion", "list_instances", "task_examples", "exact_generation",
    }  # fmt: skip
