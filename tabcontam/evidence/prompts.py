"""The wording of queries: prompt sets, which are TOML files, and the prompts that are written from them.

A set has a template for each kind of query, and each template has two texts. The `question` is the chat message and the
sequence-to-sequence text. The `completion` is for base models. It ends at the point where the answer is the natural
continuation: with the beginning of a row, or with a label as on web pages (`Features:`). Both texts contain
placeholders such as `{title}`. A placeholder is filled in once: a cell with the text `{title}` stays unchanged.

A server, or a model in this process, computes the common beginning of a result's queries only once. So in results of a
hundred queries, the shipped sets put the question before the rows, and the answer's label at the end.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from tabcontam.errors import UsageError
from tabcontam.evidence.questions import Message, Prompt
from tabcontam.paths import shipped
from tabcontam.tables.toml_files import (
    SUFFIX,
    check_fields,
    load_named,
    own_or_shipped,
    plain_name,
    read_toml,
    shipped_files,
    with_own,
)

KIND = "prompts"
DEFAULT = "default"
PLACEHOLDER = re.compile(r"\{([\w -]+)\}")  # other braces are ordinary characters
STOP = ("\n",)


@dataclass(frozen=True, kw_only=True)
class PromptTemplate:
    """The wording of one kind of query. `system` is the system text if it differs from the set's."""

    question: str
    completion: str
    system: str | None = None


@dataclass(frozen=True, kw_only=True)
class LabelledTemplate(PromptTemplate):
    """The wording of rows with an answer each; the last row is the asked one, and ends before its answer."""

    row: str


@dataclass(frozen=True, kw_only=True)
class ChoiceTemplate(LabelledTemplate):
    """The wording of a question with a closed list of answers: `two` lists two answers, `more` lists more."""

    completion_row: str
    two: str
    more: str


class PlaceholderRule(NamedTuple):
    """The placeholders that a text must have, those that it may have, and the one with which it must end, if any.

    `shown|prefix` means that one of the two is needed.
    """

    needed: str
    allowed: str = ""
    end: str = ""


TITLE = PlaceholderRule("title")
# The placeholders of each template's texts. If both texts have the same ones, "question" lists them.
TEXTS: Mapping[str, Mapping[str, PlaceholderRule]] = {
    "feature_list_informed": {"question": PlaceholderRule("title features")},
    "feature_list_uninformed": {"question": TITLE},
    "recognition_features": {"question": PlaceholderRule("features")},
    "recognition_examples": {"question": PlaceholderRule("rows")},
    "feature_values_informed": {"question": PlaceholderRule("title feature rows", "count values")},
    "feature_values_uninformed": {"question": PlaceholderRule("title feature")},
    "incomplete_completion": {
        "question": PlaceholderRule("rows shown|prefix", "title asked count"),
        "completion": PlaceholderRule("rows prefix", "title asked count", end="prefix"),
    },
    "full_completion": {"question": PlaceholderRule("rows", "title features")},
    "feature_completion": {
        "question": PlaceholderRule("rows shown asked", "title features"),
        "completion": PlaceholderRule("rows prefix", "title features asked", end="prefix"),
    },
    "membership": {
        "question": PlaceholderRule("rows", "title"),
        "completion": PlaceholderRule("rows", "title", end="rows"),
        "row": PlaceholderRule("row answer", end="answer"),
    },
    "classification": {
        "question": PlaceholderRule("question choice rows"),
        "completion": PlaceholderRule("rows", end="rows"),
        "row": PlaceholderRule("row answer", end="answer"),
        "completion_row": PlaceholderRule("row question answer", "choice", end="answer"),
        "two": PlaceholderRule("answers"),
        "more": PlaceholderRule("answers"),
    },
}


@dataclass(frozen=True, kw_only=True)
class PromptSet:
    """One wording of all queries, with a method for each kind of query that writes its prompt.

    `source` is the path of a user's own set; it is "" for a shipped set. An empty `system` sends no system message.
    """

    name: str
    about: str
    system: str
    feature_list_informed: PromptTemplate
    feature_list_uninformed: PromptTemplate
    recognition_features: PromptTemplate
    recognition_examples: PromptTemplate
    feature_values_informed: PromptTemplate
    feature_values_uninformed: PromptTemplate
    incomplete_completion: PromptTemplate
    full_completion: PromptTemplate
    feature_completion: PromptTemplate
    membership: LabelledTemplate
    classification: ChoiceTemplate
    source: str = field(default="", compare=False)

    @property
    def file(self) -> Path:
        """The file from which the set was read."""
        return Path(self.source) if self.source else shipped(KIND) / f"{self.name}{SUFFIX}"

    def feature_list(self, title: str, shown: Sequence[str]) -> Prompt:
        """Return the prompt of tests 1 and 2, which asks for the dataset's features except the shown ones."""
        template = self.feature_list_informed if shown else self.feature_list_uninformed
        return self._prompt(template, title=title, features=", ".join(shown))

    def dataset_of_features(self, features: Sequence[str]) -> Prompt:
        """Return the prompt of test 3, which asks for the dataset with these features."""
        return self._prompt(self.recognition_features, features=", ".join(features))

    def dataset_of_rows(self, rows: Sequence[str]) -> Prompt:
        """Return the prompt of test 4, which asks for the dataset with these rows."""
        return self._prompt(self.recognition_examples, rows="\n".join(rows))

    def feature_values(self, title: str, feature: str, rows: Sequence[str], shown: Sequence[str]) -> Prompt:
        """Return the prompt of tests 5 and 6, which asks for the values of a feature that the rows do not show."""
        template = self.feature_values_informed if rows else self.feature_values_uninformed
        count, values = str(len(rows)), ", ".join(shown)
        return self._prompt(template, title=title, feature=feature, rows="\n".join(rows), count=count, values=values)

    def incomplete_row(self, title: str, rows: Sequence[str], shown: str, asked: Sequence[str], prefix: str) -> Prompt:
        """Return the prompt of test 7, which asks for the rest of a row; `prefix` is the row before the rest."""
        words = {"title": title, "rows": "\n".join(rows), "shown": shown, "prefix": prefix}
        return self._prompt(self.incomplete_completion, **words, asked=", ".join(asked), count=str(len(asked)))

    def next_row(self, title: str, features: Sequence[str], rows: Sequence[str]) -> Prompt:
        """Return the prompt of test 8, which asks for the next row. A base model continues on a new line."""
        words = {"title": title, "features": ", ".join(features), "rows": "\n".join(rows)}
        written = self._prompt(self.full_completion, **words)
        return replace(written, completion=written.completion + "\n")

    def missing_feature(
        self, title: str, features: Sequence[str], rows: Sequence[str], shown: str, asked: str, prefix: str
    ) -> Prompt:
        """Return the prompt of test 9, which asks for one value of a row; `prefix` is the row up to this value."""
        words = {"title": title, "features": ", ".join(features), "rows": "\n".join(rows), "asked": asked}
        return self._prompt(self.feature_completion, **words, shown=shown, prefix=prefix)

    def is_member(self, title: str, examples: Sequence[tuple[str, str]], row: str) -> Prompt:
        """Return the prompt that asks if this row is part of the dataset; `examples` have their answers, Yes or No."""
        rows = _labelled(self.membership.row, examples, row, {})
        return self._prompt(self.membership, title=title, rows=rows)

    def class_of(self, shots: Sequence[tuple[str, str]], row: str, question: str, answers: Sequence[str]) -> Prompt:
        """Return the prompt of 0- and 1-shot classification of one row (after TabLLM, Hegselmann et al. 2023)."""
        template = self.classification
        several = " or ".join(filter(None, (", ".join(answers[:-1]), *answers[-1:])))
        choice = _filled(template.two if len(answers) <= 2 else template.more, {"answers": several})
        asked = {"question": question, "choice": choice}
        rows, continued = (_labelled(text, shots, row, asked) for text in (template.row, template.completion_row))
        written = self._prompt(template, **asked, rows=rows)
        return replace(written, completion=_filled(template.completion, {"rows": continued}))

    def _prompt(self, template: PromptTemplate, **words: str) -> Prompt:
        system = self.system if template.system is None else template.system
        question, completion = (_filled(text, words) for text in (template.question, template.completion))
        return _renderings(system, question, completion, STOP)


def _renderings(system: str, question: str, completion: str, stop: Sequence[str]) -> Prompt:
    first = (Message("system", system),) if system else ()
    return Prompt(chat=(*first, Message("user", question)), completion=completion, seq2seq=question, stop=tuple(stop))


def _filled(text: str, words: Mapping[str, str]) -> str:
    """Return a text with its placeholders filled in. Placeholders in the inserted text stay as they are."""
    return PLACEHOLDER.sub(lambda found: words[found[1]], text)


def _labelled(text: str, examples: Sequence[tuple[str, str]], row: str, words: Mapping[str, str]) -> str:
    """Return the examples with their answers, then the asked row up to its own answer."""
    asked = text.removesuffix("{answer}").rstrip()
    shown = [_filled(text, {**words, "row": example, "answer": answer}) for example, answer in examples]
    return "\n\n".join([*shown, _filled(asked, {**words, "row": row})])


def ask(
    context: str, question: str, continuation: str, stop: Sequence[str] = STOP, system: str | None = None
) -> Prompt:
    """Return the three renderings of one query of a test that writes its own; `continuation` is for base models.

    If `system` is None, the system text is that of the default set.
    """
    system = default_prompts().system if system is None else system
    return _renderings(system, f"{context}\n\n{question}", continuation, stop)


@cache
def load_prompts() -> Mapping[str, PromptSet]:
    """Return the shipped prompt sets by name, the default first."""
    found = map(from_file, shipped_files(KIND))
    return {item.name: item for item in sorted(found, key=lambda item: (item.name != DEFAULT, item.name))}


def default_prompts() -> PromptSet:
    """Return the default prompt set."""
    return load_prompts()[DEFAULT]


def all_prompts() -> dict[str, PromptSet]:
    """Return the shipped sets and the user's own in TABCONTAM_PATH. Raises `UsageError` when a bad set is looked up."""
    return with_own(KIND, load_prompts(), partial(own_or_shipped, KIND, known=load_prompts(), load=from_file))


def load_prompt_set(spec: str) -> PromptSet:
    """Return the shipped prompt set with the name `spec`, or the set in this TOML file. Raises `UsageError`."""
    return load_named(KIND, spec, load_prompts(), from_file)


def from_file(path: Path) -> PromptSet:
    """Return the prompt set in a TOML file. Raises `UsageError` with file and key if the set is invalid."""
    raw = {"name": path.stem, "about": "", **read_toml(path, KIND)}
    where = f"prompt set {path}"
    try:
        templates = {name: _template(f"{where}: {name}", name, raw.pop(name, None)) for name in TEXTS}
        stated = check_fields(PromptSet, {**raw, **templates}, where, given=("source",), blank=True)
        _check(f"{where}: system", stated["system"], PlaceholderRule(""))
        plain_name(f"{where}: name", stated["name"])
    except ValueError as error:
        raise UsageError(str(error)) from error
    return PromptSet(**stated)


def _template(where: str, name: str, raw: object) -> Any:
    """Return a template of a file. Raises `ValueError` with the fault."""
    if not isinstance(raw, Mapping):
        raise ValueError(f"{where} {'is missing' if raw is None else f'cannot be {raw!r}'}; write it as [{name}]")
    kind = get_type_hints(PromptSet)[name]
    texts: dict[str, str] = {key: text.strip() for key, text in check_fields(kind, raw, where, blank=True).items()}
    rules = TEXTS[name]
    for key in (item.name for item in fields(kind) if item.name in texts):
        holds = PlaceholderRule("") if key == "system" else rules.get(key, rules["question"])
        _check(f"{where} {key}", texts[key], holds)
    return kind(**texts)


def _check(where: str, text: str, holds: PlaceholderRule) -> None:
    needed = [names.split("|") for names in holds.needed.split()]
    known, found = [*chain.from_iterable(needed), *holds.allowed.split()], PLACEHOLDER.findall(text)
    if strange := [name for name in found if name not in known]:
        listed = ", ".join(f"{{{name}}}" for name in known) or "none"
        raise ValueError(f"{where} has the unknown placeholder {{{strange[0]}}}; known: {listed}")
    if lacking := [names for names in needed if not set(names) & set(found)]:
        raise ValueError(f"{where} lacks the placeholder {' or '.join(f'{{{name}}}' for name in lacking[0])}")
    if holds.end and not text.endswith(f"{{{holds.end}}}"):
        raise ValueError(f"{where} must end with {{{holds.end}}}, where the answer follows")
