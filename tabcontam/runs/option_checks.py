"""Checks of a run's settings for contradictions, and for demands that the named LLMs cannot meet."""

import re
from collections.abc import Mapping, Sequence

from tabcontam.asking.query_plan import RunSource
from tabcontam.config import RunConfig, RunShard, settings
from tabcontam.errors import UsageError, option, option_name
from tabcontam.evidence.base import Capability, Test
from tabcontam.evidence.mixins import ResampledTest
from tabcontam.evidence.registry import all_tests
from tabcontam.evidence.samples import needs_samples
from tabcontam.models.missing_model import MissingModel
from tabcontam.models.prices import Price, price_of
from tabcontam.tables.table import Table
from tabcontam.verdicts.wording import phrase

BATCHING = ("openai:NAME", "anthropic:NAME", "gemini:NAME")  # specs of LLMs whose makers have a batch API


def check_options(config: RunConfig) -> None:
    """Raise `UsageError` for a setting that is too large, that lacks another setting, or that contradicts one."""
    known = settings()
    for setting in [known[name] for name in known if name in config.values]:
        value = setting.of(config)
        if setting.most and value > setting.most[0]:
            raise UsageError(f"{option_name(setting.name)} is {value}; {setting.most[1]}")
        for other, sentence in setting.excludes.items():
            name, _, word = other.partition("=")
            if word == str(known[name].of(config)) if word else known[name].is_set(config):
                raise UsageError(_in_words(sentence, config))
        for other, sentence in setting.needs.items():
            if not known[other].is_set(config):
                raise UsageError(_in_words(sentence, config))


def _in_words(sentence: str, config: RunConfig) -> str:
    """Return a sentence with each `{name}` as the user writes this option; `{name WORD}` has a value, * its own."""

    def written(match: re.Match[str]) -> str:
        name, value = match.groups()
        if value is None:
            return option(name) if settings()[name].switch else option_name(name)
        return option(name, str(settings()[name].of(config)) if value == "*" else value)

    return re.sub(r"\{(\w+)(?: ([^}]+))?\}", written, sentence)


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


def check_samples(config: RunConfig, tests: Sequence[Test]) -> None:
    """Raise `UsageError` if `samples` is set but no chosen test repeats its queries."""
    if config.samples is None or any(map(needs_samples, tests)):
        return
    if config.temperature is not None and any(isinstance(test, ResampledTest) for test in tests):
        return
    names = ", ".join(test.id for test in all_tests() if needs_samples(test))
    if config.temperature is None and any(isinstance(test, ResampledTest) for test in tests):
        raise UsageError(
            f"{option_name('samples')}: no chosen test repeats its queries by itself; add "
            f"{option('temperature', 1)} to repeat row tests at that temperature, or add "
            f"{option('tests', names)}, or leave {option('samples')} out"
        )
    raise UsageError(
        f"{option_name('samples')}: no chosen test repeats its queries; add {option('tests', names)}, "
        f"or leave {option('samples')} out"
    )


def asked_once(config: RunConfig, tests: Sequence[Test], subjects: Sequence[RunSource]) -> tuple[str, ...]:
    """Return a line on the tests, and a line on the LLMs, that are asked once although several answers are wanted."""
    if config.temperature is None:
        return ()
    once = [test.id for test in tests if not isinstance(test, ResampledTest) and Capability.GENERATE in test.needs]
    own = [subject.model for subject in subjects if not (subject.model.control or subject.model.is_corpus)]
    greedy = [model.spec for model in own if Capability.SAMPLE not in model.capabilities]
    lines = [f"{option_name('temperature')}: each query is asked once by {phrase(once)}, which weighs one answer"]
    lines += [f"{option_name('temperature')}: each query is asked once of {phrase(greedy)}, which draws no answers"]
    return tuple(line for line, names in zip(lines, (once, greedy), strict=True) if names)


def check_corpora(config: RunConfig, subjects: Sequence[RunSource]) -> None:
    """Raise `UsageError` for settings on how LLMs are asked, if only corpora are searched."""
    named = [subject.model for subject in subjects if subject.tested]
    if not all(model.is_corpus for model in named):
        return
    what = "is a corpus" if len(named) == 1 else "are corpora"
    if wrong := [name for name, setting in settings().items() if setting.of_models and setting.is_set(config)]:
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
    lacking = f"{option_name('batch_api')}: {phrase(without)} {'has' if len(without) == 1 else 'have'} no batch API"
    if without and len(without) == len(available):
        raise UsageError(
            f"{lacking}; leave {option('batch_api')} out, or name an LLM at the address of a maker that has one "
            f"({', '.join(BATCHING)})"
        )
    return (f"{lacking}: requests are sent at once, at the full price",) if without else ()


def check_prices(subjects: Sequence[RunSource], prices: Mapping[str, Price]) -> None:
    """Raise `UsageError` for an LLM without an upper bound of its cost."""
    for subject in subjects:
        model = subject.model
        if model.identity and not model.is_corpus and price_of(model.identity, model.local, prices) is None:
            raise UsageError(
                f"{option_name('max_cost')}: no price is known for {model.spec}; "
                f"give it in a file after {option('prices')}"
            )
