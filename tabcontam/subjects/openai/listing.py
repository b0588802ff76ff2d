"""What a server's list of models says: which there are, and what identifies the weights of one."""

import time
from collections.abc import Mapping
from typing import Any

STAMPED_NOW = ("vllm", "sglang", "llamacpp")  # their `created` is the time of the listing
RECENT_SECONDS = 600

Entry = Mapping[str, Any]


def read_listing(listing: object) -> dict[str, Entry]:
    """The models by their names."""
    entries = listing.get("data") if isinstance(listing, dict) else None
    return {
        entry["id"]: entry
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("id"), str)
    }


def find_listed(model: str, listed: Mapping[str, Entry]) -> Entry | None:
    """The model of this name: Ollama lists llama3 as llama3:latest, Gemini's server lists its models as models/NAME."""
    names = (model, f"{model}:latest", f"models/{model}")
    return next((listed[name] for name in names if name in listed), None)


def stated(entry: Entry) -> str:
    """What identifies the weights behind a name: a digest, a version, the file, the time the model was made."""
    facts = {name: entry.get(name) for name in ("digest", "version", "created")}
    if entry.get("root") != entry["id"]:
        facts["root"] = entry.get("root")
    created = facts["created"]
    recent = isinstance(created, int | float) and abs(created - time.time()) < RECENT_SECONDS
    if recent or str(entry.get("owned_by", "")).casefold() in STAMPED_NOW:
        del facts["created"]  # the time of the listing: every run would be asked anew
    known = {name: fact for name, fact in facts.items() if isinstance(fact, str | int | float) and fact}
    return " ".join(f"{name}={fact}" for name, fact in known.items())
