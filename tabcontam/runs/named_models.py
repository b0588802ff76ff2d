"""Facts that the user states of the models of a run by their names: cut-offs, known exposure, declared training data.

Conclusions from a model of known exposure depend on that exposure. Therefore it must be known for every row of every
table of the run, as it is for models made by `tabcontam expose`.

A declared corpus (`--trained-on LLM=corpus:PATH`) is a subject of the run. It is searched once for all its LLMs. Its
rows count for these LLMs alone.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from tabcontam.asking.query_plan import RunSource
from tabcontam.errors import UsageError, near, option, option_name, unknown
from tabcontam.evidence.base import Test
from tabcontam.models.base import Model
from tabcontam.models.catalogue import by_name, find_entry_of_spec, name_of, split_label
from tabcontam.models.provider_record import MissingModel
from tabcontam.models.provider_registry import CONTROLS
from tabcontam.runs.choice_of_tests import SEARCHING
from tabcontam.tables.splits_by_date import OF_CUTOFF
from tabcontam.tables.table import Table
from tabcontam.verdicts.run_facts import TrainingDeclaration


def at_cutoff(datasets: Sequence[Any], llms: Sequence[str]) -> tuple[Any, ...]:
    """Return the datasets with the LLMs' training cut-off in place: `#after-cutoff` becomes `#after-2023-10`.

    All LLMs of a run are asked about the same rows, so they need one cut-off. Raises `UsageError` if the catalogue
    states no cut-off for an LLM, or if the cut-offs differ.
    """
    wanted = [spec for spec in datasets if isinstance(spec, str) and OF_CUTOFF.fullmatch(_split(spec))]
    if not wanted:
        return tuple(datasets)
    if not llms:
        raise UsageError(f"{wanted[0]} needs an LLM with a known training cut-off; name one with {option('llm')}")
    months: dict[str, str] = {}
    for spec in llms:
        entry = find_entry_of_spec(split_label(spec)[1])
        if entry is None or not entry.cutoff:
            month = f"{_before_cutoff(wanted[0])}YYYY-MM"
            raise UsageError(f"the catalogue states no training cut-off of {spec}; write the month: {month}")
        months.setdefault(entry.cutoff, spec)
    if len(months) > 1:
        cutoffs = ", ".join(f"{spec} {month}" for month, spec in months.items())
        raise UsageError(f"the LLMs have different training cut-offs ({cutoffs}); make one run for each cut-off")
    (month,) = months
    return tuple(f"{_before_cutoff(spec)}{month}" if spec in wanted else spec for spec in datasets)


def _split(spec: str) -> str:
    return spec.rpartition("#")[2].casefold()


def _before_cutoff(spec: str) -> str:
    """Return `DATASET#after-` of `DATASET#After-Cutoff`."""
    return f"{spec.rpartition('#')[0]}#{_split(spec).partition('-')[0]}-"


ADVICE = "name a model that tabcontam expose made to read only that table or twins of it, such as hf:DIR/model-0"


def controls(typed: Sequence[str], tested: Mapping[str, str], built_in: bool) -> dict[str, str]:
    """Return the controls that join a run, as specs by name: the controls of this package, and those `typed`.

    `tested` contains the LLMs under test in the same form. Raises `UsageError` for an LLM that is typed and tested.
    """
    named = by_name(typed)
    specs = {split_label(spec)[1] for spec in tested.values()}
    for name, spec in named.items():
        if name in tested or split_label(spec)[1] in specs:
            raise UsageError(f"{option_name('control')}: {name} is also an LLM under test; name it only once")
    own = {spec: spec for spec in CONTROLS if built_in and spec not in tested}
    return own | named


def check_known(word: str, models: Iterable[Model], tables: Sequence[Table]) -> None:
    """Raise `UsageError` for a model of the option `word` with unknown exposure to a row, or if it is not served."""
    for model in models:
        if model.local or isinstance(model, MissingModel):  # the fault of its card explains more
            model.check_at_hand()
        for table in tables:
            if any(model.exposure(table, row) is None for row in range(len(table.rows))):
                raise UsageError(
                    f"{option_name(word)}: how often {model.spec} has read the rows of {table.named} is not known; "
                    f"{ADVICE}, or leave {option(word, model.spec)} out"
                )


FORM = "LLM=corpus:PATH"


def read_declarations(
    typed: Sequence[str], llms: Mapping[str, str]
) -> tuple[tuple[TrainingDeclaration, ...], dict[str, str]]:
    """Return the declarations, and the declared corpora that `--llm` does not name, as specs by name.

    `llms` contains the subjects of `--llm` in the same form. Raises `UsageError` for an LLM that `--llm` does not name,
    and for a declaration that occurs twice.
    """
    found: list[TrainingDeclaration] = []
    known = dict(llms)
    for text in typed:
        llm, corpus = _parted(text, llms)
        name = _named(corpus, known)
        one = TrainingDeclaration(llm=llm, corpus=name)
        if one in found:
            raise UsageError(f"{option_name('trained_on')}: {name} is declared twice for {llm}; leave one of them out")
        found.append(one)
        known = by_name([*known.values(), *([] if name in known else [corpus])])
    return tuple(found), {name: spec for name, spec in known.items() if name not in llms}


def _parted(text: str, llms: Collection[str]) -> tuple[str, str]:
    """Return the LLM and the corpus of a declaration. The name of an LLM may contain an equals sign."""
    llm = max((name for name in llms if text.startswith(f"{name}=")), key=len, default="")
    before, _, after = text.partition("=")
    corpus = text[len(llm) + 1 :] if llm else after
    if not before.strip() or not corpus.strip():
        raise UsageError(f"{option_name('trained_on')}: {text!r} does not name a model and its documents; write {FORM}")
    if llm:
        return llm, corpus
    if near(before, llms):
        raise unknown("LLM of this run", before, llms)
    raise UsageError(f"{option_name('trained_on')}: {before} is not an LLM of this run; add {option('llm', before)}")


def _named(corpus: str, known: Mapping[str, str]) -> str:
    """Return a corpus's name in the run: its name in `--llm`, if this names the same corpus."""
    if corpus in known:
        return corpus
    label, spec = split_label(corpus)
    same = [name for name, written in known.items() if split_label(written)[1] == spec]
    return same[0] if same and not label else name_of(corpus)


def check_declared(declarations: Sequence[TrainingDeclaration], opened: Mapping[str, Model]) -> None:
    """Raise `UsageError` if `corpus` names no corpus, or if `llm` names no LLM, or one with known training data."""
    for one in declarations:
        corpus, llm = opened[one.corpus], opened[one.llm]
        if isinstance(corpus, MissingModel):
            corpus.check_at_hand()
        if not corpus.is_corpus:
            wrong = f"{one.corpus} is not a corpus; write {FORM}"
        elif llm.is_corpus:
            wrong = f"{one.llm} is a corpus, not a model; name the model: {FORM}"
        elif llm.control:
            wrong = f"{one.llm} is a control, whose reading is known; name another model: {FORM}"
        else:
            continue
        raise UsageError(f"{option_name('trained_on')}: {wrong}")


def check_searched(
    declarations: Sequence[TrainingDeclaration], subjects: Sequence[RunSource], tests: Sequence[Test]
) -> None:
    """Raise `UsageError` if no chosen test searches a declared corpus."""
    searched = {subject.model.spec for subject in subjects}
    for corpus in (one.corpus for one in declarations):
        if corpus not in searched:
            chosen = ", ".join(test.id for test in tests)
            raise UsageError(
                f"{option_name('trained_on')}: none of the chosen tests searches {corpus} ({chosen}); "
                f"choose one of {option('marks', SEARCHING)}, too"
            )
