"""Tags in a reply: thinking before the answer, as between `<think>` and `</think>`, which is no part of it, and tags
that set the answer itself off."""

import re

TAG = r"(?:think(?:ing)?|thoughts?|reasoning)"
THOUGHT = re.compile(rf"\s*<{TAG}>.*?</{TAG}>\s*", re.DOTALL | re.IGNORECASE)
THOUGHT_END = re.compile(rf"</{TAG}>\s*", re.IGNORECASE)
THOUGHT_START = re.compile(rf"\s*<{TAG}>", re.IGNORECASE)
ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)


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


def set_off(text: str) -> str:
    """The answer that stands between `<answer>` and `</answer>`, where a reply has one; else the text as it is."""
    found = ANSWER.findall(text)
    return found[0].strip() if len(found) == 1 else text
