"""Completion in a shell: what it is told, and that a real bash completes by it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import environment, process, tabcontam

BASH = """
eval "$(tabcontam completion bash)"
COMP_LINE="$1" COMP_POINT=${#1} COMP_TYPE=9 COMP_KEY=9
read -ra COMP_WORDS <<< "$1"
[[ "$1" == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_python_argcomplete tabcontam
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completed(line: str, folder: Path, **changes: str) -> list[str]:
    """What a shell is told may stand at the end of this line; the command itself is not run."""
    told = folder / "told"
    asked = {"COMP_LINE": line, "COMP_POINT": str(len(line)), "COMP_TYPE": "9", "_ARGCOMPLETE": "1"}
    where = {"_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_STDOUT_FILENAME": str(told)}
    done = process("run", cwd=folder, **asked, **where, **changes)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    found = told.read_text("utf-8").split("\n")
    told.unlink()
    return [word.strip() for word in found if word]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("tabcontam re", ["report", "rescore", "replay"]),
        ("tabcontam run --until", ["--until-decided"]),
        ("tabcontam run --rules ", ["calibrated", "paper"]),
        ("tabcontam run --dataset ad", ["adult"]),
        ("tabcontam run --dataset my", ["my.csv", "mydata/"]),
        ("tabcontam run --dataset mine", ["mine"]),
        ("tabcontam power --serializer js", ["json"]),
        ("tabcontam run --llm gpt-4o-", ["gpt-4o-mini"]),
        ("tabcontam list da", ["datasets"]),
    ],
)
def test_commands_options_choices_and_names_are_completed(tmp_path: Path, line: str, words: list[str]) -> None:
    (tmp_path / "my.csv").touch()
    (tmp_path / "mydata").mkdir()
    card = (
        'name = "mine"\ntitle = "Mine"\nreleased = "2026"\nlicence = "none"\n[[editions]]\nname = "one"\n'
        f'file = "x.csv"\nsha256 = "{"0" * 64}"\nbytes = 9\nrows = 9\n'
    )
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "card.toml").write_text(card)
    assert completed(line, tmp_path, TABCONTAM_PATH=str(tmp_path / "cards")) == words


@pytest.mark.slow
def test_a_folder_that_is_wrong_offers_no_names_and_says_nothing(tmp_path: Path) -> None:
    assert completed("tabcontam run --dataset ad", tmp_path, TABCONTAM_PATH="/nowhere") == []


@pytest.mark.slow
def test_a_real_bash_completes(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "tabcontam"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tabcontam "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    for line, words in {"tabcontam resc": "rescore", "tabcontam run --dataset adu": "adult"}.items():
        done = subprocess.run(
            ["bash", "-c", BASH, "bash", line],
            env=environment(PATH=path), cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.stdout.strip(), done.stderr) == (words, "")


@pytest.mark.parametrize(("shell", "sign"), [("bash", "complete "), ("zsh", "#compdef"), ("fish", "complete --com")])
def test_each_shell_gets_its_lines(shell: str, sign: str) -> None:
    done = tabcontam("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert sign in done.stdout
    assert "tabcontam" in done.stdout


def test_another_shell_is_one_line() -> None:
    done = tabcontam("completion", "tcsh")
    assert (done.returncode, done.stdout) == (4, "")
    assert "'tcsh' is not one of bash, zsh, fish" in done.stderr
