"""What Li and Flanigan published comes out again of their numbers, and what the printed intervals are."""

import tomllib

import pytest

from tabcontam.extensions.dates.chronology_sentences import published_words
from tabcontam.extensions.dates.date_exchange import t_test
from tabcontam.extensions.dates.task_contamination import FILE, PublishedAccuracies, published, published_for_tests
from tests.needed import needed

stats = needed("scipy.stats")  # imported when it is used

BOTH = {one.shots: one for one in published()}


@pytest.mark.parametrize("one", BOTH.values(), ids=BOTH)
def test_the_pairs_are_those_of_the_paper(one: PublishedAccuracies) -> None:
    assert len(one.pairs) == 12 * 16
    assert (one.whole.before.pairs, one.whole.after.pairs) == (136, 56)
    assert [(group.name, group.llms) for group in one.groups] == [("all", 12), ("closed", 5), ("open", 7)]


@pytest.mark.parametrize("one", BOTH.values(), ids=BOTH)
def test_its_findings_come_out_again(one: PublishedAccuracies) -> None:
    whole = one.whole
    for p_value in (whole.above_p, whole.significant_p):
        assert p_value is not None
        assert p_value < 0.01
    assert whole.signs is not None
    assert whole.signs == pytest.approx((12, 0, 2 / 2**12))
    assert (one.unextracted, one.significant) == (51, (("text-davinci-001", "newsmtsc-rw"),))


def test_exchanged_dates_find_it_too_and_less_surely() -> None:
    found = [one.whole.dates for one in BOTH.values()]
    assert [dates.p_value for dates in found if dates] == pytest.approx([0.0103, 0.0074], abs=5e-5)
    closed = [group.dates for one in BOTH.values() for group in one.groups if group.name == "closed"]
    assert [dates.p_value < 0.01 for dates in closed if dates] == [True, True]
    assert [
        dates.p_value > 100 * (one.whole.above_p or 0) for one, dates in zip(BOTH.values(), found, strict=True) if dates
    ]


def test_the_counts_above_the_majority_are_those_of_the_printed_numbers() -> None:
    zero, few = (BOTH[shots].whole for shots in ("zero_shot", "few_shot"))
    assert [(one.before.above, one.after.above) for one in (zero, few)] == [(67, 7), (91, 12)]
    assert [(one.before.significant, one.after.significant) for one in (zero, few)] == [(44, 3), (71, 4)]
    assert [BOTH[shots].printed for shots in ("zero_shot", "few_shot")] == [(53, 6), (77, 8)]


def test_the_printed_half_widths_are_of_the_variance() -> None:
    held = tomllib.loads(FILE.read_text("utf-8"))
    for about in held["llms"].values():
        for shots in ("zero_shot", "few_shot"):
            for percent, half, asked in zip(about[shots], about[f"{shots}_half"], held["sizes"], strict=True):
                share = percent / 100
                variance = share * (1 - share) * asked / (asked - 1)
                said = 100 * float(stats.t.ppf(0.99, asked - 1)) * variance / asked**0.5
                assert said == pytest.approx(half, abs=0.12)
    half, _ = t_test(139, 277, 0.5)
    assert 100 * half > 1.9 * 3.5  # what is printed for such an accuracy on RTE


def test_the_words_say_so() -> None:
    said = " ".join(published_words(BOTH["zero_shot"]))
    assert "53 pairs before and 6 after" in said
    assert "Of 51 later pairs without extracted task examples, the t-test is significant for: text-davinci-001" in said
    assert published_for_tests(["classification_1shot", "other"]) == (BOTH["few_shot"],)
