"""The thinking that some LLMs write before their answer, between `<think>` and `</think>`: no part of the answer."""

import re

THOUGHT = re.compile(r"\s*<think(ing)?>.*?</think(ing)?>\s*", re.DOTALL | re.IGNORECASE)
THOUGHT_END = re.compile(r"</think(ing)?>\s*", re.IGNORECASE)
THOUGHT_START = re.compile(r"\s*<think(ing)?>", re.IGNORECASE)


def without_thought(text: str) -> tuple[str, bool]:
    """The answer without the thinking before it, and whether there was some.

    Some templates open the thinking in the prompt, so that it only ends here. Thinking that never ends is no answer.
    """
    rest = text
    while match := THOUGHT.match(rest):
        rest = rest[match.end() :]
    if THOUGHT_START.match(rest):
        return "", True
    if rest == text and (end := THOUGHT_END.search(text)):
        rest = text[end.end() :]
    return rest, rest != text
