"""Our counts are those of tabmemcheck 0.1.6 on the same recorded replies, wherever its own count is right.

The package is installed into the folder `build` of the checkout, once. Its samples are no part of this: it asks for
them in another form, and counts nothing. Its feature names test prints a picture and counts nothing either.
"""

import os
from pathlib import Path

import pytest

from benchmarks.memcheck import FEATURE, Found, Recorded, Unreached, ask, environment, lines, of_shown, ours, recorded

pytestmark = pytest.mark.slow
ROWS, FEATURES, TOKENS, HEADER = "row_completion", "feature_completion", "first_token", "header"
Results = dict[tuple[str, str], tuple[Recorded, Found]]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    try:
        python = environment()
    except Unreached:
        pytest.skip("tabmemcheck is not installed, and the package index cannot be reached")
    every = recorded()
    found = ask(python, tmp_path_factory.mktemp("iris"), every)
    return {(one.test, one.way): (one, own) for one, own in zip(every, found, strict=True)}


def known(one: Recorded, found: Found) -> int:
    """How many of the prompts that were sent were answered by one who knows what follows."""
    return sum(prompt in one.answers for prompt, _ in found.asked)


@pytest.mark.parametrize(
    ("test", "way"),
    [
        (ROWS, "bare"),
        (ROWS, "fenced"),
        (ROWS, "with another row behind it"),
        (FEATURES, "with its name"),
        (FEATURES, "with its name, and talk below"),
        (TOKENS, "as the row"),
    ],
)
def test_counts_are_the_same(results: Results, test: str, way: str) -> None:
    one, found = results[test, way]
    assert found.error is None
    assert len(found.asked) == 25
    assert found.count == ours(one, found.asked) == known(one, found)
    assert 5 < known(one, found) < 20


def test_a_row_that_holds_the_right_one_is_another_row(results: Results) -> None:
    """The package counts an answer that has the right row's text anywhere in it; none of these is the right row."""
    one, found = results[ROWS, "as another row's end"]
    assert found.count == known(one, found)
    assert ours(one, found.asked) == 0


@pytest.mark.parametrize(
    ("test", "way", "theirs"), [(ROWS, "without trailing zeros", None), (FEATURES, "with a zero more", 0)]
)
def test_a_number_is_the_same_however_it_is_written(results: Results, test: str, way: str, theirs: int | None) -> None:
    """The package compares texts: 5 is not `5.0` for it, nor `1.40` what `1.4` is; all of these are right."""
    one, found = results[test, way]
    same_text = sum(one.truth[prompt] == answer for prompt, answer in found.asked) if theirs is None else theirs
    assert found.count == same_text < known(one, found)
    assert ours(one, found.asked) == known(one, found)


def test_a_value_without_its_name_is_an_answer(results: Results) -> None:
    """The package stops with an error where no answer begins with the feature's name; half of these are right."""
    one, found = results[FEATURES, "bare"]
    assert found.count is None
    assert found.error == f"KeyError: {lines()[0].split(',')[FEATURE]!r}"
    assert ours(one, found.asked) == known(one, found) > 0


def test_a_row_in_a_code_fence_begins_behind_the_fence(results: Results) -> None:
    """The package compares the first characters of the answer, which are the fence; the rows in it are right."""
    one, found = results[TOKENS, "fenced"]
    assert found.count == 0
    assert ours(one, found.asked) == known(one, found) > 0


def test_a_baseline_is_how_often_the_usual_beginning_is_right(results: Results) -> None:
    """The package's is how often the LLM says it: 25 of 25 here, and it is right where the count says."""
    one, found = results[TOKENS, "always as most rows begin"]
    right = sum(one.truth[prompt].startswith(one.otherwise) for prompt, _ in found.asked)
    assert found.baseline == 25 > right > 0
    assert found.count == ours(one, found.asked) == right


@pytest.mark.parametrize(("way", "ours_of_four"), [("all four", 4), ("one of four", 1), ("none", 0)])
def test_every_continuation_of_the_header_counts_and_not_the_best(
    results: Results, way: str, ours_of_four: int
) -> None:
    """The package shows the best of four, so that who knows one row looks like who knows them all."""
    one, found = results[HEADER, way]
    assert len(found.asked) == 4
    assert of_shown(found) == (ours_of_four > 0)
    assert ours(one, found.asked) == ours_of_four == known(one, found)


def test_a_header_without_an_answer_is_no_error(results: Results) -> None:
    """The package stops with an error where all four answers are empty."""
    one, found = results[HEADER, "nothing at all"]
    assert (found.error or "").startswith("UnboundLocalError")
    assert ours(one, found.asked) == 0


def test_an_index_that_cannot_be_reached_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with pytest.raises(Unreached):
        environment(tmp_path / "own")
    assert not list(tmp_path.iterdir())
