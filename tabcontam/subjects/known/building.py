"""A language model built by another process, so that whoever waits for it can be asked other things meanwhile.

Python runs one thread at a time: what a thread takes to count and sort a long text, everything else waits for.
"""

import json
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from tabcontam.processes import begun, processors, send, starting
from tabcontam.subjects.known.infinigram import InfiniGram, Vocabulary, build

START = starting("tabcontam.subjects.known.building")


def built_elsewhere(documents: Callable[[], Iterable[str]]) -> InfiniGram:
    """The model of these documents, made by another processor, or here where there is none, or its process fails."""
    if sys.executable and processors() > 1:
        with suppress(OSError, ValueError, KeyError), begun(START) as process:
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
    """A model from what a process printed of it. Raises `ValueError` where that ends early."""
    import numpy as np

    sizes = [about[name] for name in ("corpus", "suffixes")]
    corpus, suffixes = (read(size) for size in sizes)
    if [len(corpus), len(suffixes)] != sizes:
        raise ValueError("the process ended early")
    vocabulary = Vocabulary(tuple(about["words"]), about["spelled"])
    return InfiniGram(vocabulary, corpus, np.frombuffer(suffixes, dtype="<i4"))


def main() -> None:
    """Print the model of the documents on standard input, a line of JSON each, and null behind the last."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the business of the run, which ends this process
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
    raise SystemExit(1)  # whoever wrote them is gone
