"""`DATASET#after-cutoff`: the month that the catalogue states, of LLMs that have one."""

import pytest

from tabcontam.errors import UsageError
from tabcontam.runs.named_models import at_cutoff

BOTH = ("levels@1#before-cutoff", "levels@1#After-Cutoff")


def test_the_cut_off_of_the_catalogue_is_written_out() -> None:
    wanted = ("levels@1#before-2023-10", "levels@1#after-2023-10")
    for llms in (["gpt-4o"], ["mine=openai:gpt-4o-2024-08-06", "phi-3"]):
        assert at_cutoff(BOTH, llms) == wanted
    plain = ("iris", "adult#train")
    assert at_cutoff(plain, ["tidal"]) == plain


@pytest.mark.parametrize(
    ("llms", "said"),
    [
        ([], "levels@1#before-cutoff needs an LLM with a known training cut-off; name one with --llm"),
        (
            ["gpt-4o", "simulated:oracle"],
            "no training cut-off of simulated:oracle; write the month: levels@1#before-YYYY-MM",
        ),
        (["gemma-2"], "the catalogue states no training cut-off of gemma-2"),
        (["gpt-4o", "llama-2"], r"different training cut-offs \(gpt-4o 2023-10, llama-2 2022-09\)"),
    ],
)
def test_without_one_cut_off_nothing_is_guessed(llms: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        at_cutoff(BOTH, llms)
