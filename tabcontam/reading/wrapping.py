"""Removal of text that servers and chat templates leave around an answer: thinking, end marks, speakers' names.

One table of marks serves all models. A mark is a word in unusual brackets: `<|name|>`, `[/NAME]`, `</s>`. The word
decides what the mark does: it opens or closes thinking, names a speaker or a channel, or ends a turn.
"""

import re

THINKING = r"(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)"
SPACE = r"(?:\w+:)?"  # the namespace of a tag, as in `<seed:think>`
OPENS = rf"(?:[<\[◁]{SPACE}{THINKING}[>\]▷]|<\|(?:begin_of_|start_)?{THINKING}\|>|<\|channel>(?:{THINKING}|analysis)\b)"
CLOSES = rf"(?:[<\[◁]/{SPACE}{THINKING}[>\]▷]|<\|(?:end_of_|end_|/){THINKING}\|>|<channel\|>)"
THOUGHT = re.compile(rf"\s*{OPENS}.*?{CLOSES}\s*", re.DOTALL | re.IGNORECASE)
THOUGHT_END = re.compile(rf"{CLOSES}\s*", re.IGNORECASE)
THOUGHT_START = re.compile(rf"\s*{OPENS}", re.IGNORECASE)
WORDED_THOUGHT = re.compile(  # thinking marked by words: harmony without its marks, Granite
    r"\s*(?:analysis.*?assistant\s*final|(?:here is|here's) my thought process:.*?(?:here is|here's) my response:)\s*",
    re.DOTALL | re.IGNORECASE,
)
ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)

MARK = re.compile(
    r"<[|\uff5c](?P<name>[^<>|\uff5c\n]{1,40})[|\uff5c]>|<(?P<turn>(?:start|end)_of_[a-z]+)>|</?(?:s|eos|bos|pad|unk)>"
    r"|\[/?(?:INST|SYS|SYSTEM_PROMPT|gMASK|sop|eop)\]|<</?SYS>>"
)
HEADED = re.compile(
    r"(?:im_)?start(?:_header_id|_of_turn)?|channel|role|constrain", re.IGNORECASE
)  # a speaker's name follows
OTHERS = re.compile(r"\W*(?:user|human|system|developer|tool|analysis|commentary)\b", re.IGNORECASE)
SPEAKER = re.compile(r"\s*(?:assistant|model|final|bot|ai)(?:\s*:\s*|\s*\n\s*|\s*$)", re.IGNORECASE)
NEXT_TURN = re.compile(
    r"\n\s*(?:\W{0,3}(?:human|user|assistant|system|question|q)\W{0,3}:|### ?(?:instruction|input|human|user)\b)",
    re.IGNORECASE,
)
SET_OFF = re.compile(r"(?:begin|start)_of_(?!text|sentence)(\w+)", re.IGNORECASE)
EDGES = "\ufeff\u200b\u200c\u200d\u2060\x00 \t\r\n"


def without_thought(text: str) -> tuple[str, bool]:
    """Return the answer without the thinking before it, and whether there was any thinking.

    Some templates open the thinking in the prompt, and the reply only closes it. If thinking never ends, the answer is
    empty.
    """
    rest = text
    while match := (THOUGHT.match(rest) or WORDED_THOUGHT.match(rest)):
        rest = rest[match.end() :]
    if THOUGHT_START.match(rest):
        return "", True
    if rest == text and (end := THOUGHT_END.search(text)):
        rest = text[end.end() :]
    return rest, rest != text


def without_marks(text: str) -> str:
    """Return the assistant's first turn, without a template's marks around it and without the speaker's name."""
    pieces = [piece.strip(EDGES) for piece in _turns(text)]
    answer = next((piece for piece in pieces if piece), "")
    answer = answer[match.end() :] if (match := SPEAKER.match(answer)) else answer
    further = NEXT_TURN.search(answer)
    return (answer[: further.start()] if further and answer[: further.start()].strip() else answer).strip(EDGES)


def _turns(text: str) -> list[str]:
    """Return the assistant's pieces between the marks, in order. Pieces between answer marks come first."""
    marks = list(MARK.finditer(text))
    bounds = [0, *(match.end() for match in marks)], [*(match.start() for match in marks), len(text)]
    names = ["", *((match["name"] or match["turn"] or "").replace("▁", "_") for match in marks)]
    found, marked, is_other = list[str](), list[str](), False
    for name, start, end in zip(names, *bounds, strict=True):
        piece = text[start:end]
        if HEADED.fullmatch(name):
            speaker, _, piece = piece.partition("\n")
            is_other = OTHERS.match(speaker) is not None
        elif name and (OTHERS.match(name) or SPEAKER.match(name)):
            is_other = OTHERS.match(name) is not None
        if not is_other:
            (marked if SET_OFF.fullmatch(name) else found).append(piece)
    return [*marked, *found]


def set_off(text: str) -> str:
    """Return the text between `<answer>` and `</answer>`, if it occurs exactly once; else the whole text."""
    found = ANSWER.findall(text)
    return found[0].strip() if len(found) == 1 else text
