"""Answers in a form that a server enforces: whether the model gives values, and the values by feature.

The form has a field in which a model declines, so its reader need not guess.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tabcontam.evidence.questions import Message, Prompt, Reply, ReplyState

KNOWN, VALUES = "known", "values"
# Small models copy an example of values, and decline if the text offers it. So the text does not describe the form.
ASKED = (
    'Answer with one JSON object. "values" has for each of {values} a text, which is your best guess where you are not '
    'sure, and "" for an empty cell. "known" says whether you give values.'
)
# The probe does not mention the form: a model answers in this form only if its server enforces it.
PROBE = Prompt((Message("user", "Name a colour."),), "", "", values=("colour",))
PROBE_TOKENS = 64  # enough for the form


def in_json(prompt: Prompt) -> Prompt:
    """Return the prompt with a description of the form at the end of its chat, if the prompt asks for values.

    `PROBE`, the query by which a server is tested, stays unchanged.
    """
    if not prompt.values or prompt == PROBE:
        return prompt
    values = ", ".join(json.dumps(name, ensure_ascii=False) for name in prompt.values)
    *before, last = prompt.chat
    asked = replace(last, content=f"{last.content}\n\n{ASKED.format(values=values)}")
    return replace(prompt, chat=(*before, asked))


def schema_of(values: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of an answer about these features, with keywords that all servers support."""
    row = _closed({name: {"type": "string"} for name in values})
    return _closed({KNOWN: {"type": "boolean"}, VALUES: {"anyOf": [row, {"type": "null"}]}})


def _closed(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def write_structured_answer(cells: Sequence[str | None], asked: Sequence[str]) -> str:
    """Return an answer in this form with these cells, or one that declines if no feature is asked."""
    values = {name: cell or "" for name, cell in zip(asked, cells, strict=True)} or None
    return json.dumps({KNOWN: values is not None, VALUES: values}, ensure_ascii=False)


def read_structured_answer(text: str, asked: Sequence[str]) -> dict[str, str | None] | None:
    """Return the values of an answer in this form: {} if it declines, None if the text has another form.

    An answer that claims not to know but gives values counts as an answer.
    """
    if not text.startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.keys() != {KNOWN, VALUES} or not isinstance(found[KNOWN], bool):
        return None
    values = found[VALUES]
    if values is None:
        return {}
    if not isinstance(values, dict) or values.keys() != set(asked):
        return None
    if not found[KNOWN] and not any(values.values()):
        return {}
    cells = (values[name] for name in asked)
    texts = [cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False) for cell in cells]
    return {name: cell or None for name, cell in zip(asked, texts, strict=True)}


def is_enforced(reply: Reply) -> bool:
    """Return whether the reply to `PROBE` shows that the server enforces the form."""
    return reply.state is ReplyState.OK and read_structured_answer(reply.text.strip(), PROBE.values) is not None
