"""The parts of a run, made on several machines with `--shard`, joined into one run.

Unlike merged runs, parts share one plan: any other difference is an error. Everything that depends on all results is
computed again. The joined results equal the results of a run on one machine.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace

from tabcontam.errors import UsageError, option
from tabcontam.verdicts.notes import Note, NoteKind
from tabcontam.verdicts.result_types import PROMPTS, Result, ResultFields
from tabcontam.verdicts.run_facts import LlmFacts, RunFacts, in_order
from tabcontam.verdicts.wording import phrase, visible

OWN_OPTION = re.compile(
    r"""\s--(?:shard|out)[ =](?:'[^']*'|\S+)|(?:, )?\b(?:shard|out)=(?:'[^']*'|"[^"]*")"""
)  # the options, of a command or of a call in Python, that differ between parts


def joined_facts(runs: Sequence[RunFacts], names: Sequence[str]) -> RunFacts:
    """Return the facts of the whole run from its parts; `names` are their folders.

    Raises `UsageError` for parts of different runs, and for a part that is given twice.
    """
    _check_same(runs, names)
    shards = [run.shard for run in runs if run.shard is not None]
    parts = tuple(sorted(part for shard in shards for part in shard.parts))
    shard = replace(shards[0], parts=parts)
    first, limits = runs[0], [run.limit for run in runs if run.limit]
    joined = replace(
        first,
        llms=tuple(map(_as_one, zip(*(run.llms for run in runs), strict=True))),
        references=tuple(map(_as_one, zip(*(run.references for run in runs), strict=True))),
        started=min((run.started for run in runs if run.started), default=None),
        seconds=round(sum(run.seconds or 0.0 for run in runs), 2),
        command="; ".join(dict.fromkeys(OWN_OPTION.sub("", run.command) for run in runs)),
        notes=_notes(runs, names),
        finished=all(run.finished for run in runs) and not shard.missing,
        interrupted=any(run.interrupted for run in runs),
        limit="; ".join(dict.fromkeys(limits)) or None,
        tests=in_order(test for run in runs for test in run.tests),
        shard=shard if shard.missing else None,
    )
    took = (took for run in runs for took in run.durations)
    return replace(joined, durations=tuple(sorted(took, key=plan_order(joined))))


# named: pairs of LLM and dataset in the line on missing results
def check_none_missing(run: RunFacts, results: Iterable[Result], *, named: int = 5) -> None:
    """Raise `UsageError` if parts of a joined run are missing. It names some of the missing LLMs and datasets."""
    if run.shard is None:
        return
    present = {(result.llm, result.dataset) for result in results}
    pairs = [(llm.spec, name) for llm in run.llms for name in dict.fromkeys(one.name for one in run.datasets)]
    lost = [f"{llm} on {dataset}" for llm, dataset in pairs if (llm, dataset) not in present]
    more = [f"{len(lost) - named} more"] if len(lost) > named else []
    missing = f"part{'s' * (len(run.shard.missing) > 1)} {', '.join(map(str, run.shard.missing))} of {run.shard.total}"
    pairs_lost = f" ({phrase([*lost[:named], *more])})" if lost else ""
    raise UsageError(
        visible(
            f"{missing} {'are' if len(run.shard.missing) > 1 else 'is'} missing{pairs_lost}; give all folders, or add "
            f"{option('incomplete')} to report without",
            line=True,
        )
    )


def plan_order(run: RunFacts) -> Callable[[ResultFields], tuple[int, ...]]:
    """Return the key that sorts results as a run on one machine has them: LLM by LLM, and table by table."""
    kinds: tuple[Iterable[Hashable], ...] = (
        (llm.spec for llm in run.llms),
        (dataset.key for dataset in run.datasets),
        (serializer.name for serializer in run.serializers),
        (words.name for words in run.prompts),
        (test.id for test in run.tests),
    )
    places = [{name: place for place, name in enumerate(names)} for names in kinds]

    def place_of_result(result: ResultFields) -> tuple[int, ...]:
        table = result.dataset, result.edition or "", result.split or ""
        names = result.llm, table, result.serializer, result.prompts or PROMPTS, result.test
        return tuple(own.get(name, len(own)) for own, name in zip(places, names, strict=True))

    return place_of_result


def _check_same(runs: Sequence[RunFacts], names: Sequence[str]) -> None:
    """Raise `UsageError` unless these are parts of one run, and no part occurs twice."""
    for run, name in zip(runs, names, strict=True):
        if run.shard is None:
            other = next(other for part, other in zip(runs, names, strict=True) if part.shard)
            raise UsageError(f"{name} is a whole run and {other} is a part of one; join only the parts first")
    for what, fact in FACTS_IN_COMMON.items():
        values = [fact(run) for run in runs]
        for value, name in zip(values, names, strict=True):
            if value != values[0]:
                says = (
                    f"{names[0]} has {what} {values[0]}, and {name} {value}"
                    if what in SHOWN_FACTS
                    else (f"{names[0]} and {name} have different {what}")
                )
                raise UsageError(visible(f"these are parts of different runs: {says}", line=True))
    seen: dict[int, str] = {}
    for run, name in zip(runs, names, strict=True):
        for part in run.shard.parts if run.shard else ():
            if part in seen:
                raise UsageError(f"{seen[part]} and {name} are both part {part}; leave one of them out")
            seen[part] = name
    for own in zip(*((*run.llms, *run.references) for run in runs), strict=True):
        versions = dict.fromkeys(llm.version for llm in own if llm.version)
        if len(versions) > 1:
            raise UsageError(
                visible(f"{own[0].spec} was not the same in all parts: {phrase(list(versions))}", line=True)
            )


FACTS_IN_COMMON: dict[str, Callable[[RunFacts], object]] = {
    "version": lambda run: run.version,
    "seed": lambda run: run.seed,
    "number of parts": lambda run: run.shard and run.shard.total,
    "rules": lambda run: run.rules,
    "level": lambda run: run.alpha,
    "LLMs": lambda run: [(llm.spec, llm.resolved, llm.control) for llm in run.llms],
    "references": lambda run: [(llm.spec, llm.resolved) for llm in run.references],
    "tables": lambda run: [(one.key, one.sha256, one.withheld_sha256, one.fresh_sha256) for one in run.datasets],
    "serializers": lambda run: run.serializers,
    "prompt sets": lambda run: run.prompts,
    "known files": lambda run: [file.sha256 for file in run.known],
    "documents of --trained-on": lambda run: run.trained_on,
    "measures of overlap": lambda run: run.overlap,
    "error budgets (--family-over)": lambda run: run.family_over,
    "queries (tests, or options that choose what is asked)": lambda run: run.shard and run.shard.plan,
}
SHOWN_FACTS = ("version", "seed", "number of parts", "rules", "level")  # facts with values that fit in a line


def _as_one(parts: tuple[LlmFacts, ...]) -> LlmFacts:
    """Return an LLM's facts with its requests and costs in all parts."""
    requests, retries, dollars = (
        [number for part in parts if (number := getattr(part, name)) is not None]
        for name in ("requests", "retries", "dollars")
    )
    versions = sorted((part.version for part in parts if part.version is not None), key=bool, reverse=True)
    return replace(
        parts[0],
        version=next(iter(versions), None),  # a server may state no version, and an LLM that was not reached has none
        requests=sum(requests) if requests else None,
        retries=sum(retries) if retries else None,
        dollars=sum(dollars) if dollars else None,
        ended="; ".join(dict.fromkeys(part.ended for part in parts if part.ended)) or None,
    )


def _notes(runs: Sequence[RunFacts], names: Sequence[str]) -> tuple[Note, ...]:
    """Return the notes of all parts, each once, and notes on libraries that differ between parts."""
    notes = dict.fromkeys(note for run in runs for note in run.notes)
    for library in runs[0].versions:
        versions = [run.versions.get(library, "none") for run in runs]
        if len(set(versions)) > 1:
            each = ", ".join(f"{name}: {version}" for name, version in zip(names, versions, strict=True))
            notes[Note(NoteKind.VERSIONS, f"the parts ran with different versions of {library} ({each})")] = None
    dictionaries = dict.fromkeys(run.dictionary for run in runs)
    if len(dictionaries) > 1:
        what = f"the parts read words by different dictionaries ({phrase(list(dictionaries))})"
        notes[Note(NoteKind.VERSIONS, what)] = None
    return tuple(notes)
