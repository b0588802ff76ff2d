"""The progress of each LLM while it answers queries, as data and in words."""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tabcontam.evidence.base import Answer, ReplyState
from tabcontam.verdicts.wording import visible

FEWEST = 5  # least number of answers for a rate, however long they took

Shrunk = tuple[int, int, str]  # connections before, connections now, reason


@dataclass
class LlmProgress:
    """The progress of one LLM's queries. Answers of an earlier run do not count for the rate and the time left."""

    llm: str
    planned: int
    dataset: str = ""
    done: int = 0
    failed: int = 0
    retries: int = 0
    connections: int | None = None
    ended: bool = False
    begun: float | None = None
    batches: dict[str, tuple[float, int, int]] = field(default_factory=dict)  # by id: start, number done, of how many
    _times: deque[float] = field(default_factory=deque)  # of the answers; the first time is the start of counting
    _kind: str = ""
    _until: float = 0.0
    _shrunk: tuple[Shrunk, float] | None = None

    @property
    def under_way(self) -> bool:
        """Return whether the LLM is being asked now."""
        return self.begun is not None and not self.ended and self.done < self.planned

    def at(self, dataset: str, now: float) -> None:
        """Record the dataset that is asked about. The LLM's time starts with its first dataset."""
        self.dataset = dataset
        if self.begun is None:
            self.begun = now
            self._times.append(now)

    def answered(self, reply: Answer, now: float) -> None:
        """Count an answer. Times of older answers are discarded, because the rate is that of recent answers."""
        window = 30.0  # seconds over which the rate is measured
        self.done += 1
        self.failed += reply.state is ReplyState.FAILED
        self._times.append(now)
        while len(self._times) > FEWEST + 1 and self._times[0] < now - window:
            self._times.popleft()

    def waits(self, kind: str, seconds: float, now: float) -> None:
        """Record a request that will be sent again. If several requests wait, the one that is sent last is shown."""
        self.retries += 1
        if now >= self._until or now + seconds >= self._until:
            self._kind, self._until = kind, now + seconds

    def limited(self, before: int, after: int, kind: str, now: float) -> None:
        """Record that the number of parallel connections changed. Only a decrease is shown."""
        self.connections = after
        self._shrunk = ((before, after, kind), now) if after < before else None

    def rate(self, now: float) -> float | None:
        """Return the answers per second; None if too few are known, or during a batch, which has no steady rate."""
        if self.batches:
            return None
        times = self._times
        count = len(times) - 1
        if count < 1 or (seconds := now - times[0]) <= 0 or (count < FEWEST and seconds < 1):
            return None
        return count / seconds

    def left(self, now: float) -> float | None:
        """Return the seconds until the LLM's last answer at the current rate; None if the rate is unknown."""
        rate = self.rate(now)
        return None if rate is None else (self.planned - self.done) / rate

    def waiting(self, now: float) -> tuple[str, int] | None:
        """Return the reason for the current wait and its remaining whole seconds; None if no request waits."""
        left = self._until - now
        return (self._kind, -int(-left // 1)) if left > 0 else None

    # limit_shown: seconds for which a decrease of connections is shown if no request waits
    def shrunk(self, now: float, *, limit_shown: float = 10.0) -> Shrunk | None:
        """Return the last decrease of connections during a wait or in the last `limit_shown` seconds; else None."""
        if self._shrunk is None:
            return None
        shrunk, moment = self._shrunk
        return shrunk if self.waiting(now) or now - moment < limit_shown else None


def counts(asked: LlmProgress) -> list[str]:
    """Return in words the number of answered queries, of failed ones among them, and of repeated requests."""
    failed = f"{asked.failed} failed" if asked.failed else ""
    return [f"{asked.done}/{asked.planned} answered", *filter(None, (failed, retries(asked)))]


def retries(asked: LlmProgress) -> str:
    """Return in words how many requests were repeated; empty if none."""
    return f"{asked.retries} {'retry' if asked.retries == 1 else 'retries'}" if asked.retries else ""


def pace(asked: LlmProgress, now: float) -> list[str]:
    """Return the LLM's speed and the time left; empty while these are unknown."""
    left = asked.left(now)
    return [] if left is None else [speed(asked.rate(now)), f"ETA {duration(left)}"]


def state(asked: LlmProgress, now: float, arrow: str, *, settled: bool = False, short: bool = False) -> str:
    """Return the state of a wait, such as "429: 12 s, 40 → 32 connections"; empty if the LLM is not delayed.

    With `settled`, an unchanged number of connections is stated, too. With `short`, a wait's text omits connections.
    """
    waiting, shrunk = asked.waiting(now), asked.shrunk(now)
    if asked.batches and not waiting:
        return batches(asked)
    facts = [f"{waiting[1]} s"] if waiting else []
    if shrunk and not (short and waiting):
        facts.append(f"{shrunk[0]}{arrow}{shrunk[1]} connections")
    elif settled and asked.connections is not None:
        facts.append(f"{asked.connections} {'connection' if asked.connections == 1 else 'connections'}")
    kind = waiting[0] if waiting else shrunk[2] if shrunk else ""
    return f"{kind}: {', '.join(facts)}" if kind else ", ".join(facts)


def batches(asked: LlmProgress) -> str:
    """Return the batches at the provider, such as "batch batch_12: 30/140 done since 09:41"; empty without batches."""
    if not asked.batches:
        return ""
    since = min(moment for moment, _, _ in asked.batches.values())
    done, of = (sum(counts) for counts in zip(*((done, of) for _, done, of in asked.batches.values()), strict=True))
    what = f"batch {next(iter(asked.batches))}" if len(asked.batches) == 1 else f"{len(asked.batches)} batches"
    begun = datetime.fromtimestamp(since)
    day = "" if begun.date() == datetime.now().date() else "%d %B, "
    return f"{what}: {done}/{of} done since {begun:{day}%H:%M}"


def with_llm_name(llm: str, line: str) -> str:
    """Return the line, with the LLM's name at its start if it lacks the name."""
    return line if llm in line else f"{llm}: {line}"


def remaining_line(others: Sequence[LlmProgress]) -> str:
    """Return one line that sums up the LLMs without a line of their own."""
    done, planned = sum(asked.done for asked in others), sum(asked.planned for asked in others)
    return f"and {len(others)} more {'LLM' if len(others) == 1 else 'LLMs'}: {done}/{planned}"


def speed(rate: float | None) -> str:
    """Return the answers per second, or per minute if they are few; empty if unknown."""
    if rate is None:
        return ""
    if rate >= 100:
        return f"{rate:.0f}/s"
    return f"{rate:.1f}/s" if rate >= 0.95 or rate == 0 else f"{rate * 60:.1f}/min"


def duration(seconds: float) -> str:
    """Return a duration as minutes and seconds, with hours if needed, or in whole days.

    >>> duration(65), duration(3725), duration(400_000)
    ('1:05', '1:02:05', '4 days')
    """
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24} days"
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def printable(line: str, encoding: str) -> str:
    """Return `line` without control characters. Plainer signs replace signs that the output's encoding lacks."""
    line = visible(line, line=True)
    try:
        line.encode(encoding)
    except UnicodeEncodeError:
        line = line.translate({ord("━"): "#", ord("─"): "-", ord("→"): ">", ord("…"): "~"})
    return line.encode(encoding, "backslashreplace").decode(encoding)


def short_names(llms: Iterable[str]) -> dict[str, str]:
    """Return each LLM's name without its server's address, except where two names would become equal."""
    short = {llm: llm.partition("@http")[0] for llm in llms}
    times = Counter(short.values())
    return {llm: name if times[name] == 1 else llm for llm, name in short.items()}
