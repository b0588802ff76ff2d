"""`--trained-on LLM=corpus:PATH`: corpora that the user declares to be training data of an LLM of the run.

A declared corpus is a subject of the run. It is searched once for all its LLMs. Its rows count for these LLMs alone.
"""

from collections.abc import Collection, Mapping, Sequence

from tabcontam.asking.query_plan import RunSource
from tabcontam.errors import UsageError, near, option, option_name, unknown
from tabcontam.evidence.base import Test
from tabcontam.models.base import Model
from tabcontam.models.catalogue import by_name, name_of, split_label
from tabcontam.models.provider_record import MissingModel
from tabcontam.runs.choice_of_tests import SEARCHING
from tabcontam.verdicts.run_facts import TrainingDeclaration

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
