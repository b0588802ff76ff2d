"""Checks of a run's options for contradictions, and for demands that the named LLMs cannot meet."""

from collections.abc import Mapping, Sequence

from tabcontam.asking.query_plan import Options, RunSource
from tabcontam.asking.run_shards import RunShard
from tabcontam.errors import UsageError, option, option_name
from tabcontam.evidence.base import Capability, Test
from tabcontam.evidence.registry import all_tests
from tabcontam.evidence.samples import needs_samples
from tabcontam.evidence.shots import MOST_SHOTS
from tabcontam.models.missing_model import MissingModel
from tabcontam.models.prices import Price, price_of
from tabcontam.runs.thresholds import MOST_SAMPLES
from tabcontam.tables.table import Table
from tabcontam.verdicts.rules import PAPER
from tabcontam.verdicts.wording import phrase

BATCHING = ("openai:NAME", "anthropic:NAME", "gemini:NAME")  # specs of LLMs whose makers have a batch API


def check_options(options: Options) -> None:
    """Raise `UsageError` for options that contradict asking until a table is decided, or asking in batches."""
    if (options.samples or 0) > MOST_SAMPLES:
        raise UsageError(
            f"{option_name('samples')} is {options.samples}; each time is a request, so ask at most {MOST_SAMPLES} "
            "times, or ask a model that gives log-probabilities (hf:FOLDER)"
        )
    if options.temperature is not None and (options.samples is None or options.until_decided):
        other = "asks row tests once each" if options.until_decided else f"needs {option('samples', 'N')}"
        named = option("until_decided") if options.until_decided else option_name("temperature")
        raise UsageError(f"{named} {other}; leave {option('temperature')} out, or write it with {option('samples', 5)}")
    if (options.shots or 0) > MOST_SHOTS:
        raise UsageError(f"{option_name('shots')} is {options.shots}; show at most {MOST_SHOTS} demonstrations")
    if options.batch and (options.until_decided or options.stop_at_first):
        other = option("until_decided" if options.until_decided else "stop_at_first")
        raise UsageError(f"{option('batch')} asks everything at once, and {other} one by one; leave one of them out")
    if options.until_decided and options.rules == PAPER:
        raise UsageError(
            f"{option('until_decided')} decides by the calibrated rules; leave {option('rules', PAPER)} out"
        )
    if options.until_decided and options.queries == PAPER:
        raise UsageError(
            f"{option('until_decided')} leaves the paper's own queries out; leave {option('queries', PAPER)} out, "
            f"or add {option('marks', PAPER)}"
        )


def check_shard(shard: RunShard | None, options: Options, judge: str | None) -> None:
    """Raise `UsageError` for options that a part of a run cannot follow, because they need other parts' answers."""
    if shard is None:
        return
    if options.stop_at_first:
        raise UsageError(
            f"{option('stop_at_first')} needs the results of all tables of a model, and a part of a run has only "
            f"its own; leave {option('stop_at_first')} or {option('shard', shard)} out"
        )
    if judge is not None:
        raise UsageError(
            f"a judge needs the completions of all parts; leave {option('judge', judge)} out, join the parts, and "
            f"repeat the command with it, without {option('shard', shard)}, on the joined folder; answers are kept"
        )


def check_plannable(shard: RunShard | None, subjects: Sequence[RunSource]) -> None:
    """Raise `UsageError` if an LLM of another part cannot be opened here: this machine would form other parts.

    A missing key is no error: only the machine that asks the LLM needs it.
    """
    for model in (subject.model for subject in subjects if shard):
        if isinstance(model, MissingModel):
            try:
                model.check_at_hand()
            except UsageError as error:
                every = f"{option('shard', shard)}: every machine plans the whole run and needs {model.spec}"
                raise UsageError(f"{every}: {error}") from error


def check_samples(options: Options, tests: Sequence[Test]) -> None:
    """Raise `UsageError` if `samples` is set but no chosen test repeats its queries."""
    if options.samples is None or any(map(needs_samples, tests)):
        return
    if options.temperature is not None and any(test.resampled for test in tests):
        return
    names = ", ".join(test.id for test in all_tests() if needs_samples(test))
    if options.temperature is None and any(test.resampled for test in tests):
        raise UsageError(
            f"{option_name('samples')}: no chosen test repeats its queries by itself; add "
            f"{option('temperature', 1)} to repeat row tests at that temperature, or add "
            f"{option('tests', names)}, or leave {option('samples')} out"
        )
    raise UsageError(
        f"{option_name('samples')}: no chosen test repeats its queries; add {option('tests', names)}, "
        f"or leave {option('samples')} out"
    )


def asked_once(options: Options, tests: Sequence[Test], subjects: Sequence[RunSource]) -> tuple[str, ...]:
    """Return a line on the tests, and a line on the LLMs, that are asked once although several answers are wanted."""
    if options.temperature is None:
        return ()
    once = [test.id for test in tests if not test.resampled and Capability.GENERATE in test.needs]
    own = [subject.model for subject in subjects if not (subject.model.control or subject.model.is_corpus)]
    greedy = [model.spec for model in own if Capability.SAMPLE not in model.capabilities]
    lines = [f"{option_name('temperature')}: each query is asked once by {phrase(once)}, which weighs one answer"]
    lines += [f"{option_name('temperature')}: each query is asked once of {phrase(greedy)}, which draws no answers"]
    return tuple(line for line, names in zip(lines, (once, greedy), strict=True) if names)


def check_corpora(
    options: Options, judge: str | None, references: Sequence[str], subjects: Sequence[RunSource]
) -> None:
    """Raise `UsageError` for options on how LLMs are asked, if only corpora are searched."""
    named = [subject.model for subject in subjects if subject.tested]
    if not all(model.is_corpus for model in named):
        return
    what = "is a corpus" if len(named) == 1 else "are corpora"
    given = {
        "until_decided": options.until_decided,
        "samples": options.samples,
        "temperature": options.temperature,
        "shots": options.shots,
        "batch": options.batch,
        "judge": judge,
        "reference": references,
    }
    if wrong := [word for word, value in given.items() if value]:
        raise UsageError(
            f"{option_name(wrong[0])} is for models, and {phrase([model.spec for model in named])} {what}: "
            f"leave {option_name(wrong[0])} out, or also name a model"
        )


def check_splits(subjects: Sequence[RunSource], tables: Sequence[Table]) -> None:
    """Raise `UsageError` for an LLM that was made to know only one split, if the run has no table of this split."""
    splits = list(dict.fromkeys(table.split for table in tables if table.split))
    for model in (subject.model for subject in subjects):
        if model.of_split and model.of_split not in splits:
            had = f"the run asks about {', '.join(splits)}" if splits else "no table names a split, as FILE#train does"
            raise UsageError(f"{model.spec} knows only the split {model.of_split!r}, and {had}")


def check_batches(subjects: Sequence[RunSource]) -> tuple[str, ...]:
    """Return a line on the LLMs without a batch API, which are asked at once; () if there are none.

    Raises `UsageError` if no LLM has a batch API. Controls that join the run are always asked at once.
    """
    asked = [subject.model for subject in subjects if not subject.joined and not subject.model.is_corpus]
    available = [model for model in asked if not isinstance(model, MissingModel)]
    without = [model.spec for model in available if model.batches is None]
    have = "has" if len(without) == 1 else "have"
    if without and len(without) == len(available):
        raise UsageError(
            f"{option_name('batch')}: {phrase(without)} {have} no batch API; leave {option('batch')} out, or name an "
            f"LLM at the address of a maker that has one ({', '.join(BATCHING)})"
        )
    line = (
        f"{option_name('batch')}: {phrase(without)} {have} no batch API: requests are sent at once, at the full price"
    )
    return (line,) if without else ()


def check_prices(subjects: Sequence[RunSource], prices: Mapping[str, Price]) -> None:
    """Raise `UsageError` for an LLM without an upper bound of its cost."""
    for subject in subjects:
        model = subject.model
        if model.identity and not model.is_corpus and price_of(model.identity, model.local, prices) is None:
            raise UsageError(
                f"{option_name('max_cost')}: no price is known for {model.spec}; "
                f"give it in a file after {option('prices')}"
            )
