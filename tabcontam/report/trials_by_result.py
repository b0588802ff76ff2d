"""The trials of each result: all trials, or those to show on the terminal."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeGuard, TypeVar, runtime_checkable

from tabcontam.verdicts.result_types import PLACE, Result, ResultKey, place_of
from tabcontam.verdicts.wording import text

Trial = Mapping[str, Any]
Found = TypeVar("Found")
Given = ParamSpec("Given")


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Return whether a value from JSON or Python is a mapping. The check is fast for dictionaries."""
    return type(value) is dict or isinstance(value, Mapping)


class CachedTrial(dict[str, Any]):
    """A trial that several functions examine. It caches what they compute from it."""

    computed: Any = None  # results of functions, by the functions' names and further arguments


def cached_on_trial(find: Callable[Concatenate[Trial, Given], Found]) -> Callable[Concatenate[Trial, Given], Found]:
    """Return `find` as a function that caches its results on a `CachedTrial`."""

    @wraps(find)
    def once(trial: Trial, /, *given: Given.args, **named: Given.kwargs) -> Found:
        if not isinstance(trial, CachedTrial):
            return find(trial, *given, **named)
        if trial.computed is None:
            trial.computed = {}
        key = (find.__name__, *given, *sorted(named.items()))
        if key not in trial.computed:
            trial.computed[key] = find(trial, *given, **named)
        found: Found = trial.computed[key]
        return found

    return once


@runtime_checkable
class TrialSource(Protocol):
    """A source of trials that reads those of one result at a time, because all together may not fit into memory."""

    def __iter__(self) -> Iterator[Trial]: ...

    def trials_of(self, name: ResultKey) -> Sequence[Trial]:
        """Return the trials of a result."""
        ...


class TrialIndex:
    """The trials of each result, by the result's place (`Result.place`) and then by query, whose last trial counts."""

    def __init__(self, results: Iterable[Result], trials: Iterable[Trial]) -> None:
        self._source = trials if isinstance(trials, TrialSource) else None
        self._trials: dict[tuple[str, ...], dict[str, Trial]] = {}
        if self._source is None:
            self._trials = {result.place: {} for result in results}
            for number, trial in enumerate(trials):
                if (place := place_of(trial)) in self._trials:
                    self._trials[place][text(trial.get("query")) or str(number)] = trial

    def __getitem__(self, place: tuple[str, ...]) -> Mapping[str, Trial]:
        if self._source is None:
            return self._trials[place]
        named = dict(zip(PLACE, place, strict=True))
        trials = self._source.trials_of(ResultKey(*(named[field] for field in ResultKey._fields)))
        return {text(trial.get("query")): CachedTrial(trial) for trial in trials}


def trials_to_show(results: Iterable[Result], trials: Iterable[Trial]) -> dict[tuple[str, ...], list[Trial]]:
    """Return each result's trials, without decoys, by `Result.place`. Hits are first, then the paper's queries."""
    results = list(results)
    trials_of = TrialIndex(results, trials)
    return {
        result.place: sorted(
            (trial for trial in trials_of[result.place].values() if not trial.get("decoy_of")),
            key=lambda trial: (not trial.get("hit"), not trial.get("paper")),
        )
        for result in results
    }
