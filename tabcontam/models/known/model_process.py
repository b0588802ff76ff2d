"""The building of an ∞-gram model in another process: a thread of this one would block all others."""

import json
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from tabcontam.models.known.ngram_model import InfiniGram, Vocabulary, build
from tabcontam.processes import code_to_run, processors, send, start_process

START = code_to_run("tabcontam.models.known.model_process")


def build_in_process(documents: Callable[[], Iterable[str]]) -> InfiniGram:
    """Return the model of these documents. Another process builds it; if that is not possible, this process does."""
    if sys.executable and processors() > 1:
        with suppress(OSError, ValueError, KeyError), start_process(START) as process:
            try:
                for document in documents():
                    send(process, json.dumps(document).encode())
                send(process, b"null")
                if process.stdout and (line := process.stdout.readline()):
                    return _received(json.loads(line), process.stdout.read)
            finally:
                process.kill()
    return build(documents())


def _received(about: dict[str, Any], read: Callable[[int], bytes]) -> InfiniGram:
    """Return a model from the output of a process. Raises `ValueError` if the output is incomplete."""
    import numpy as np

    sizes = [about[name] for name in ("corpus", "suffixes")]
    corpus, suffixes = (read(size) for size in sizes)
    if [len(corpus), len(suffixes)] != sizes:
        raise ValueError("the process ended early")
    vocabulary = Vocabulary(tuple(about["words"]), about["spelled"])
    return InfiniGram(vocabulary, corpus, np.frombuffer(suffixes, dtype="<i4"))


def main() -> None:
    """Print the model of the documents on standard input: one line of JSON for each, and null after the last."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run handles Ctrl-C, and ends this process
    model = build(_documents())
    suffixes = model.suffixes.astype("<i4").tobytes()
    about = {"words": model.vocabulary.words, "spelled": model.vocabulary.spelled}
    about |= {"corpus": len(model.corpus), "suffixes": len(suffixes)}
    sys.stdout.buffer.write(json.dumps(about).encode() + b"\n" + model.corpus + suffixes)
    sys.stdout.buffer.flush()


def _documents() -> Iterator[str]:
    for line in sys.stdin.buffer:
        document = json.loads(line)
        if document is None:
            return
        yield document
    raise SystemExit(1)  # the process that sent the documents has ended
