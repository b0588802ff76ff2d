"""The wording of queries: one template per family, each in three renderings.

Chat messages and the sequence-to-sequence text ask a question; the completion text is for base models and ends where
the answer is its natural continuation. It closes with one of the labels below.

What all queries of a cell begin with is computed once, by a server or a model in this process. So where a cell has a
hundred queries, the question stands before the rows, and the last of these ends with the answer's label.
"""

from collections.abc import Sequence

from tabcontam.evidence.base import Message, Prompt

SYSTEM = (
    "You are tested on what you remember of published datasets. Answer from memory, with your best guess where you are "
    "unsure. Write only the answer, in exactly the form asked for, without introduction or explanation."
)
TASK = "Answer the question with one of the answers given, and write nothing else."
FEATURES = "Features:"
DATASET = "Dataset:"
PART = "Part of the dataset:"
ANSWER = "Answer:"


def ask(context: str, question: str, continuation: str, stop: Sequence[str] = ("\n",), system: str = SYSTEM) -> Prompt:
    """The three renderings of one query; only `continuation` is shaped by what a base model would go on with."""
    instruction = f"{context}\n\n{question}"
    chat = (Message("system", system), Message("user", instruction))
    return Prompt(chat=chat, completion=continuation, seq2seq=instruction, stop=tuple(stop))


def started_list(label: str, items: Sequence[str]) -> str:
    """A list behind its label up to where its next item stands."""
    return f"{label} {', '.join(items)}," if items else label


def feature_list(title: str, shown: Sequence[str]) -> Prompt:
    """Tests 1 and 2: which features does the dataset have?"""
    context = f"{DATASET} {title}" + (f"\nSome of its features: {', '.join(shown)}" if shown else "")
    which = "all its other features" if shown else "all its features"
    question = f"Name {which}, spelled as in the dataset, on one line and separated by commas."
    return ask(context, question, f"{DATASET} {title}\n{started_list(FEATURES, shown)}")


def recognition(shown: str) -> Prompt:
    """Tests 3 and 4: which dataset do these features or rows come from?"""
    question = "Which dataset is this? Write its name alone."
    return ask(shown, question, f"{shown}\n{DATASET}")


def feature_values(title: str, feature: str, rows: Sequence[str], shown: Sequence[str]) -> Prompt:
    """Tests 5 and 6: which values does a feature take?"""
    context = "\n".join([f"{DATASET} {title}", *([f"{len(rows)} of its rows:", *rows] if rows else [])])
    besides = ", those in these rows and all others" if rows else ""
    question = f"Write all values of the feature {feature}{besides}, on one line and separated by commas."
    return ask(context, question, f"{context}\n{started_list(f'Values of {feature}:', shown)}")


def incomplete_row(title: str, rows: Sequence[str], shown: str, asked: Sequence[str], prefix: str) -> Prompt:
    """Test 7: how does this row go on?"""
    head = "\n".join([f"Rows of the dataset {title}:", *rows])
    question = (
        f"The last row lacks its last {len(asked)} features: {', '.join(asked)}. Write these with the values that the "
        "row has in the dataset, on one line and in the form of the rows."
    )
    return ask(f"{head}\n{shown}", question, f"{head}\n{prefix}")


def next_row(title: str, features: Sequence[str], rows: Sequence[str]) -> Prompt:
    """Test 8: which row comes next?"""
    head = f"{DATASET} {title}\nIts features: {', '.join(features)}\nIts rows, in the order of the file:"
    context = "\n".join([head, *rows])
    question = "Write the row that follows in the file, on one line and in the form of these rows."
    return ask(context, question, context + "\n")


def missing_feature(
    title: str, features: Sequence[str], rows: Sequence[str], shown: str, asked: str, prefix: str
) -> Prompt:
    """Test 9: which value does this row have?"""
    head = "\n".join([f"{DATASET} {title}\nIts features: {', '.join(features)}\nSome of its rows:", *rows])
    context = f"{head}\nAnother row, without its feature {asked}:\n{shown}"
    question = f"Which value of {asked} does this row have in the dataset? Write the value alone."
    return ask(context, question, f"{head}\n{prefix}")


def membership(title: str, examples: Sequence[tuple[str, str]], row: str) -> Prompt:
    """Is this row part of the dataset, or was it changed? The examples have their answers, Yes or No."""
    dataset = f"{DATASET} {title}"
    question = "Is the last of the rows below part of the dataset, with exactly these values? Answer Yes or No."
    shown = "".join(f"Row: {text}\n{PART} {answer}\n\n" for text, answer in examples)
    rows = f"{shown}Row: {row}\n{PART}"
    return ask(f"{dataset}\n\n{question}", rows, f"{dataset}\n\n{rows}")


def classification(shots: Sequence[tuple[str, str]], row: str, question: str, answers: Sequence[str]) -> Prompt:
    """0- and 1-shot classification of one row (after TabLLM, Hegselmann et al. 2023)."""
    ends = [*((text, f"{ANSWER} {answer}") for text, answer in shots), (row, ANSWER)]
    choices = ", ".join(answers[:-1]) + f" or {answers[-1]}"
    rows = "\n\n".join(f"{text}\n{end}" for text, end in ends)
    continued = "\n\n".join(f"{text}\n{question}\n{end}" for text, end in ends)
    return ask(f"{question} Answer with one of: {choices}.", rows, continued, system=TASK)
