"""The settings `--judge` and `--overlap`: an LLM that judges completions, and the measure that compares texts."""

from tabcontam.config import ASKING, MODELS, NAME, RESCORE, TYPED, Setting

# fmt: off
JUDGE: "Setting[str | None]" = Setting(
    NAME, None, MODELS, TYPED, "LLM",
    "a model, named as in --llm, that judges after the run's queries whether completions match the true text. It "
    "also judges made-up pairs, which show how often it errs; its requests count towards the limits",
    name="judge", of_models=True,
    excludes={
        "shard":
        "a judge needs the completions of all parts; leave {judge *} out, join the parts, and repeat the command "
        "with it, without {shard *}, on the joined folder; answers are kept",
    },
)
OVERLAP: "Setting[str | None]" = Setting(
    NAME, None, ASKING, (*TYPED, RESCORE), "MEASURE",
    "the measure by which Algorithm 1 of Golchin and Surdeanu compares texts: rouge, bleurt:MODEL or "
    "bertscore:MODEL, where MODEL is a folder or a name on the hub with weights in safetensors (extra hf; "
    "default: rouge)",
    name="overlap",
)
# fmt: on
SETTINGS = (JUDGE, OVERLAP)
