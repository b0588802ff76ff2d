"""Connecting to the LLMs of a run while new tables are prepared, which may take minutes."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from tabcontam.asking.event_loops import cancel, run_in_background
from tabcontam.asking.query_plan import RunSource, check_reachable
from tabcontam.errors import UsageError
from tabcontam.models.base import Model, unserved
from tabcontam.models.hf.saved_model import SavedModel
from tabcontam.models.served_model import ServedModel


@contextmanager
# at_once: seconds to wait for servers to answer; then preparing and reaching continue together
def reached_meanwhile(
    subjects: Sequence[RunSource], another: Callable[[str], Model], lacking: Mapping[str, str], *, at_once: float = 2.0
) -> Iterator[Callable[[], None]]:
    """Look for served and saved LLMs in the background. For each a model made by `another` is opened, then closed.

    `lacking` has the reasons, by spec, why other LLMs are not available. Yields a function that raises `UsageError` if
    it is known by then that no LLM under test, or no reference, can be reached.
    """
    specs = [subject.model.spec for subject in subjects if isinstance(subject.model, ServedModel | SavedModel)]
    lines = dict(lacking)

    async def reach(spec: str) -> None:
        model = another(spec)
        try:
            await model.look()
        except UsageError as error:
            lines[spec] = unserved(model, error)
        finally:
            await model.close()

    async def reach_all() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*map(reach, specs), return_exceptions=True)  # the run itself reports any other error

    if not specs:
        yield lambda: None
        return
    with run_in_background(reach_all()) as (reaching, task):

        def check() -> None:
            if reaching.done():
                check_reachable(subjects, lines)

        with suppress(TimeoutError):  # an address without a server fails at once
            reaching.result(at_once)
        try:
            check()
            yield check
        finally:  # when the run begins to ask, it reaches the other LLMs
            cancel(task)
