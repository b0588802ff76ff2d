"""Simulated LLMs that write questions, judge and answer, over the protocol of OpenAI, well or badly."""

import json
import re
from collections.abc import Callable
from typing import Any

from tabcontam.extensions.fresh.passages.question_kinds import QuestionKind

Said = Callable[[str], str]
TERM = re.compile(r"A (\w+) is a [^.]*")
WANTED = {
    QuestionKind.TERMINOLOGY: re.compile(r"is a (.+)\."),
    QuestionKind.PURPOSE: re.compile(r"because (.+)\."),
    QuestionKind.EXAMPLE: re.compile(r"for example (.+)\."),
    QuestionKind.FUTURE: re.compile(r"will be (.+)\."),
}

MARKS = {
    QuestionKind.TERMINOLOGY: "what the term",
    QuestionKind.PURPOSE: "the reason or the purpose",
    QuestionKind.EXAMPLE: "that are the example",
    QuestionKind.FUTURE: "what is to come",
}


def asked(body: dict[str, Any]) -> str:
    """The prompt of a request."""
    return str(body["messages"][-1]["content"])


def material(prompt: str) -> Any:
    """The JSON at the end of a prompt."""
    return json.loads(prompt.rpartition("\n\n")[2])


def stage(prompt: str) -> str:
    """What a prompt is for."""
    starts = {"Which terms": "terms", "a question for a reading test": "question", "unfaithful": "faithful",
              "unanswerable": "answerable", "Rate how well": "rating", "Which candidate": "pair",
              "Read the passage": "answer", "Go on with": "recite"}  # fmt: skip
    return next(name for words, name in starts.items() if words in prompt)


def writer(prompt: str) -> str:
    """Writes questions as it should, finds all of them good, rates by length, and answers with the passage's end."""
    if (what := stage(prompt)) == "terms":
        return json.dumps(TERM.findall(material(prompt))[:1])
    if what == "question":
        kind = next(kind for kind, marks in MARKS.items() if marks in prompt.partition("letter by letter")[0])
        held = ((sentence, found) for sentence in material(prompt) if (found := WANTED[kind].search(sentence)))
        sentence, found = next(held, ("", None))
        topic = (TERM.findall(sentence) or sentence.split()[1:2])[0] if found else ""
        return json.dumps({"answer": found[1], "form": 1, "topic": topic}) if found else "null"
    if what == "rating":
        return str(1 + len(material(prompt)["candidate"]) % 10)
    if what == "pair":
        held = material(prompt)
        return "first" if len(held["first"]) >= len(held["second"]) else "second"
    return {"faithful": "faithful", "answerable": "answerable"}.get(what, prompt[-60:])


def server(said: Said = writer) -> Callable[[dict[str, Any]], str]:
    """What a loopback server answers with."""
    return lambda body: said(asked(body))
