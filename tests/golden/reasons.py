"""A code for each reason that a result can have: the golden files hold these, so that sentences may be reworded.

Who rewords a sentence changes its pattern here and leaves its code.
"""

import re

REASONS = {
    "power": r"(a model that remembers|a corpus that holds) .* would have been detected",
    "no power": r"the test would detect a model that remembers .* in only .* of runs, at p <= .*",
    "few names": r"too few names of features for a verdict: .*",
    "few values": r"too few values for a verdict: .*",
    "few questions": r"too few questions for a verdict: .*",
    "few own words": r"too few words of their own in the (out|tex).*ts for a verdict: .*",
    "few features": r"too few features: .*",
    "few rows of values": r".* rows have .* values and a cell that other rows could hold as well; .*"
    r"|no row has .* values to search for; .*",
    "few exchangeable": r".* rows have a cell that others could hold as well; .*",
    "few to learn": r"a classifier needs .* different rows to learn from; there are .*",
    "names given away": r"the features that are shown give the names of all others away, or all but one",
    "no words": r"no feature has between .* and .* values that are words",
    "no feature": r"no feature has .* values, and rows whose features before it allow one value alone",
    "no recurring": r"no feature has (.* )?values that recur and could stand in another row",
    "no row alone": r"the shown cells (identify no row|determine the answer in no row)",
    "no pair": r"no column is a text that belongs to another: .*",
    "no question": r"(the table has )?no classification question.*",
    "no digits": r"no column of .* has numbers of three digits or more that could be exchanged between rows",
    "no instance": r"no instance has an answer to the guided and to the general instruction",
    "texts": r"its rows are texts to read: .*",
    "one class": r"all its rows are of one class|a class of the question has no row to show",
    "alike": r"half of the rows begin with the same .*",
    "enumerates": r".* lists every combination of its .*|the table enumerates its domain: .*",
    "twin": r".* of .* rows of a shuffled twin of .* are its own rows",
    "drawn": r"cells that are drawn one by one often make a row of the table: .*",
    "not altered": r"no feature can be altered unnoticed: .*"
    r"|only .* can be altered unnoticed, .*",
    "swaps": r"every swap of one value makes another row of the table",
    "seen by skill": r"arithmetic or general knowledge reveals every alteration: .*",
    "label told": r"its last digits predict the label: .*",
    "few moved": r"only .* rows have values that can be changed so that .*",
    "few of a class": r"the class .* has only .* rows?; .*",
    "told apart": r"a classifier that never saw the rows recognizes altered ones: .*",
    "nothing learned": r"the baseline learns nothing about the label from its cells, .*",
    "digits told": r"the last digits of .* can be predicted without memory: .*",
    "one digits column": r".* alone has digits to ask about, and a finding needs two columns",
    "one hidden column": r"only cells of .* can be hidden, so that .*",
    "follows": r".* follows from the row's number",
    "order follows": r"the order of .* follows from .*"
    r"|.* is sorted by .*, which no two rows share: its order is determined",
    "order preferred": r"a reader that prefers (rows that are like those before them|values that rise"
    r"|texts that zlib packs well) finds the order of .*",
    "not given": r"no key of this table was given|no unpublished rows of the table's source were given",
    "few shards": r"fewer than two shards were scored, or all differ by the same amount",
    "one column": r"(.*: )?(the result rests on|all right answers are in|the baseline explains .* all columns but)"
    r" .* facts from other sources would explain this as well",
    "no answer": r"(.*: )?no readable answer to .* of .* queries.*|.* of .* queries without a readable answer: .*",
    "unread table": r".* answers to its row tests were read, and .*",
    "not judged": r".* completions were not judged: .*",
    "not recorded": r"not recorded: .*",
    "rewordings": r"the distractors are an LLM's rewordings of the original, .*",
    "lacks": r".* cannot take part: the test needs .*",
    "held": r"the corpus holds .* of .* rows: .*",
    "together": r"the .* tests together: p = .*",
    "together nothing": r"the .* tests together detect nothing",
    "found by": r"detected by .*",
    "not found by": r"not detected by .*",
    "nothing told by": r"nothing could be learned from .*",
    "not asked": r"not asked: .*",
    "no answer to": r"no answer to .*",
}  # fmt: skip
STORED = {  # the words of reasons in `chances.json.xz`, which was computed before they were reworded
    "twin": r"a shuffled twin of .* shares .* of its .* rows with it",
    "drawn": r"cells that are drawn one by one make many a row of the table: .*",
    "not altered": r"no feature can be altered so that nobody sees it: .*"
    r"|only .* can be altered without anybody seeing it, .*",
    "swaps": r"swapping one value of a row makes another row of the table every time",
    "seen by skill": r"whoever computes or knows the world sees what is altered: .*",
    "label told": r"its label is told by what the noise moves: .*",
    "few moved": r"values of .* rows alone can be moved so that .*",
    "few of a class": r"of the class .* there are .* different rows to learn from; .*",
    "told apart": r"a classifier that never saw the rows tells altered ones apart: .*",
    "nothing learned": r"from its cells models learn nothing about the label, .*",
}


def code(reason: str | None) -> str:
    """Return the code of a reason, empty where there is none. Raises `LookupError` for a sentence that has none."""
    found = [
        name
        for name, pattern in (*REASONS.items(), *STORED.items())
        if reason and re.fullmatch(pattern, reason, re.DOTALL)
    ]
    if reason and not found:
        raise LookupError(f"tests/golden/reasons.py has no code for the reason {reason!r}")
    return found[0] if found else ""
