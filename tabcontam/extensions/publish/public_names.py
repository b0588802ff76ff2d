"""The public name of a run's LLM: its repository, or its name at a provider, without addresses and folders."""

import re

from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.run_facts import LlmFacts

OWN = ("control", "simulated")  # providers of tabcontam's own models, which have no public name
PLACES = ("corpus",)  # providers whose models are paths rather than names


def public_name(facts: LlmFacts) -> str:
    """Return an LLM's name without provider and place: `org/name` for `hf:org/name`."""
    provider, _, model = without_place(facts.stands_for or facts.spec).partition(":")
    return model or provider


def without_place(spec: str) -> str:
    """Return an LLM's name without address or folder: `hf:mine` for `hf:/home/me/mine`.

    >>> without_place("openai:NAME@http://10.0.0.7:8000/v1"), without_place("hf:org/name")
    ('openai:NAME', 'hf:org/name')
    """
    written = re.sub(r"@https?:.*", "", spec, flags=re.DOTALL)
    provider, colon, model = written.partition(":") if ":" in written else ("", "", written)
    parts = [part for part in re.split(r"[/\\]", model) if part]
    lies = model.startswith(("/", ".", "~")) or "\\" in model or len(parts) > 2 or provider in PLACES
    return f"{provider}{colon}{parts[-1] if lies and parts else model}"


def own(facts: LlmFacts) -> bool:
    """Return whether an LLM is built into tabcontam, as a control is."""
    return (facts.stands_for or facts.spec).partition(":")[0] in OWN


def llm_facts(view: RunResults) -> dict[str, LlmFacts]:
    """Return the facts of each LLM of a run, by the LLM's name in the run."""
    return {llm.spec: llm for llm in view.run.llms}
