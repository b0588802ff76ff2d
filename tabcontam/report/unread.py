"""The unread answers of a result: their number by reason, the first reply for each reason, and advice."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tabcontam.errors import option
from tabcontam.groups import grouped
from tabcontam.report.query import UNREAD_KINDS, is_prompt
from tabcontam.report.trials_by_result import Trial
from tabcontam.verdicts.wording import shorten, text, visible

ODD, DECLINED = "not understood", "declined"
LONGEST = 160  # most characters shown of a reply


@dataclass(frozen=True)
class UnreadSummary:
    """A summary of unread answers. Its texts contain no control characters."""

    counted: str
    """For example: 12 of 15 answers were not read: 10 declined, 2 not understood"""
    first: tuple[tuple[str, str], ...]
    """The first reply for each reason, or the server's message in its place; on one line, and shortened."""
    advice: str
    """The advice for the most frequent reason; empty if no model can be asked again."""


def unread(asked: Iterable[tuple[str, Trial]], *, advised: bool) -> UnreadSummary | None:
    """Return a summary of a result's unread answers; None if all were read. `asked` has pairs (kind of reply, trial).

    A reply that was not understood counts as declined if more than half of the queries got the same reply.
    """
    prompts = [(kind, trial) for kind, trial in asked if not trial.get("decoy_of") and is_prompt(trial)]
    often = Counter(_reply_text(trial) for kind, trial in prompts if kind == ODD)
    prompts = [
        (DECLINED if kind == ODD and 2 * often[_reply_text(trial)] > len(prompts) else kind, trial)
        for kind, trial in prompts
    ]
    by_kind = grouped((one for one in prompts if one[0] in UNREAD_KINDS), lambda one: one[0])
    by_number = sorted(by_kind.items(), key=lambda one: -len(one[1]))
    if not by_number:
        return None
    number = sum(len(own) for _, own in by_number)
    kinds = ", ".join(f"{len(own)} {kind}" for kind, own in by_number)
    return UnreadSummary(
        counted=f"{number} of {len(prompts)} answers {'was' if number == 1 else 'were'} not read: {kinds}",
        first=tuple((kind, reply) for kind, own in by_number if (reply := _reply_text(own[0][1]))),
        advice=advice(by_number[0][0]) if advised else "",
    )


def _reply_text(trial: Trial) -> str:
    return shorten(visible(text(trial.get("reply")).strip() or text(trial.get("detail")), line=True), LONGEST)


def advice(kind: str) -> str:
    """Return the advice for a result whose unread answers are mostly of one kind."""
    prompts, serializer, again = (option(name) for name in ("prompts", "serializer", "retry_unanswered"))
    form = option("form", "completion")
    return {
        "declined": f"ask in other words with {prompts} or, if the model takes plain text, with {form}",
        "not understood": f"look at these replies; ask in other words with {prompts}, or with rows written another way "
        f"with {serializer}",
        "cut off": f"allow longer answers if the server limits them, and ask again with {again}; or ask in other "
        f"words with {prompts}",
        "refused": f"ask again with {again}, or in other words with {prompts}",
        "empty": f"ask again with {again}, or in another form with {form}",
        "failed": "run the same command again, which repeats the failed queries",
    }[kind]
