"""How tests call the commands: in this process, or as a process of its own where the test is about processes."""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

from tabcontam.cli.commands import main

FILES = {"results.json", "trials.jsonl", "recalled.csv", "index.html", "junit.xml"}  # of a run's folder


def environment(**changes: str) -> dict[str, str]:
    """This environment without keys, proxies, or a data folder that a test did not name."""
    unwanted = ("KEY", "PROXY", "TABCONTAM", "OPENAI", "OLLAMA", "GITHUB")
    kept = {name: value for name, value in os.environ.items() if not any(word in name.upper() for word in unwanted)}
    return kept | {"HF_HUB_OFFLINE": "1", "OLLAMA_HOST": "127.0.0.1:9"} | changes


def tabcontam(*arguments: str, cwd: Path | None = None, **changes: str) -> subprocess.CompletedProcess[str]:
    """A command, run in this process: what it would print into pipes, and its exit code.

    It sees the arguments, the folder and the environment that a process would see, and streams that are no terminal.
    Imports and fits of tables are paid for once by all commands of a session.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with (
        contextlib.chdir(cwd or Path.cwd()),
        patch.dict(os.environ, environment(**changes), clear=True),
        patch.object(sys, "argv", ["tabcontam", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            code = main(arguments)
        except SystemExit as ended:  # of the parser, which has printed why
            code = int(ended.code or 0)
    return subprocess.CompletedProcess(["tabcontam", *arguments], code, _written(out), _written(err))


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def process(*arguments: str, cwd: Path | None = None, **changes: str) -> subprocess.CompletedProcess[str]:
    """The same as `python -m tabcontam`, for the tests that are about processes; it costs a second of imports."""
    command = [sys.executable, "-m", "tabcontam", *arguments]
    return subprocess.run(
        command, cwd=cwd, env=environment(**changes), capture_output=True, text=True, timeout=180, check=False
    )
