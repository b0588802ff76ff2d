"""The tests that a run asks without being told to."""

from tabcontam.evidence.registry import all_tests

USUAL = [test for test in all_tests() if not (test.on_request or test.only_with)]
