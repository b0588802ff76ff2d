"""Cards and other TOML files of strangers: what they name is a regular file of their own folder, and so are they."""

import hashlib
import os
from pathlib import Path

import pytest

from tabcontam.errors import Exit
from tests.commands import tabcontam

CONTENT = b"a,b\n1,2\n3,4\n5,7\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def card(folder: Path, file: str) -> str:
    folder.mkdir(exist_ok=True)
    path = folder / "mine.toml"
    path.write_text(
        'name = "mine"\ntitle = "Mine"\nreleased = "2024"\nlicence = "CC0"\n\n[[editions]]\nname = "one"\n'
        f'file = "{file}"\nsha256 = "{SHA256}"\nbytes = {len(CONTENT)}\nrows = 3\n'
    )
    return str(path)


@pytest.mark.parametrize("file", ["../other/my.csv", "/etc/hostname", "/dev/zero", "sub/../../my.csv", ".."])
def test_a_card_names_no_file_elsewhere(tmp_path: Path, file: str) -> None:
    ran = tabcontam("run", "--dataset", card(tmp_path / "cards", file), "--dry-run")
    assert ran.returncode == Exit.USAGE
    assert "write the name of a file in the card's folder" in ran.stderr


@pytest.mark.parametrize("kind", ["pipe", "device", "link", "folder"])
def test_the_file_of_a_card_is_a_regular_file_of_its_folder(tmp_path: Path, kind: str) -> None:
    named = card(tmp_path / "cards", "my.csv")
    path, elsewhere = tmp_path / "cards" / "my.csv", tmp_path / "my.csv"
    elsewhere.write_bytes(CONTENT)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if kind == "device" else elsewhere)
    ran = tabcontam("run", "--dataset", named, "--dry-run")
    assert ran.returncode == Exit.USAGE
    assert "names my.csv, which is no regular file of its folder" in ran.stderr.splitlines()[-1]


def test_a_file_below_the_folder_of_a_card_is_read(tmp_path: Path) -> None:
    named = card(tmp_path / "cards", "sub/my.csv")
    (tmp_path / "cards" / "sub").mkdir()
    (tmp_path / "cards" / "sub" / "my.csv").write_bytes(CONTENT)
    assert tabcontam("run", "--dataset", named, "-k", "recognition_features", "--dry-run").returncode == Exit.DONE


@pytest.mark.parametrize("option", ["--dataset", "--serializer", "--prompts", "--prices"])
def test_a_pipe_is_no_toml_file(tmp_path: Path, option: str) -> None:
    os.mkfifo(tmp_path / "my.toml")
    ran = tabcontam("run", option, str(tmp_path / "my.toml"), "--dry-run")
    assert ran.returncode == Exit.USAGE
    assert "it is a pipe or a device, not a regular file" in ran.stderr


def test_a_pipe_among_the_files_of_the_data_folder_is_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "my.csv")
    named = card(tmp_path / "cards", "my.csv")
    ran = tabcontam("run", "--dataset", named, "--dry-run", TABCONTAM_DATA=str(tmp_path))
    assert ran.returncode == Exit.USAGE
    assert "is not on this machine" in ran.stderr
