"""The public name of a run's LLM: its repository, or its name at a provider, without addresses and folders."""

from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.run_facts import LlmFacts

OWN = ("control", "simulated")  # providers of tabcontam's own models, which have no public name


def public_name(facts: LlmFacts) -> str:
    """Return an LLM's name without provider and address. For weights in a folder, it is the last part of the path.

    It is `meta-llama/Llama-3.1-8B` for `hf:meta-llama/Llama-3.1-8B` and `NAME` for `openai:NAME@http://host/v1`.
    """
    provider, _, model = (facts.stands_for or facts.spec).partition(":")
    name = (model or provider).partition("@http")[0]
    parts = [part for part in name.replace("\\", "/").split("/") if part]
    folder = name.startswith(("/", ".", "~")) or "\\" in name or len(parts) > 2
    return parts[-1] if folder and parts else name


def own(facts: LlmFacts) -> bool:
    """Return whether an LLM is built into tabcontam, as a control is."""
    return (facts.stands_for or facts.spec).partition(":")[0] in OWN


def llm_facts(view: RunResults) -> dict[str, LlmFacts]:
    """Return the facts of each LLM of a run, by the LLM's name in the run."""
    return {llm.spec: llm for llm in view.run.llms}
