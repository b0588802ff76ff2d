"""The reading of a reply: whether it is complete, and the answer in it."""

from dataclasses import replace

from tabcontam.evidence.base import Reply, ReplyState, Test, Trial, as_read
from tabcontam.tables.serializers import Serializer


def read_trial(test: Test, trial: Trial, serializer: Serializer) -> Trial:
    """Return the trial with the answer read in its reply."""
    return replace(trial, reading=test.read(trial.query, as_read(trial.reply), serializer))


def complete_reply(test: Test, trial: Trial, serializer: Serializer) -> Trial:
    """Return the trial. A reply that was cut off only after all asked cells counts as complete."""
    reply = trial.reply
    if not isinstance(reply, Reply) or reply.state is not ReplyState.TRUNCATED:
        return trial
    if test.complete(trial.query, as_read(reply).text, serializer):
        return replace(trial, reply=replace(reply, state=ReplyState.OK))
    return trial
