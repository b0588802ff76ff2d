"""The setting `--key`: the key of a planted table."""

from pathlib import Path

from tabcontam.config import PATH, SPECIAL, TYPED, Setting

KEY: "Setting[tuple[Path, ...]]" = Setting(
    PATH,
    (),
    SPECIAL,
    TYPED,
    "KEYFILE",
    "the key of the digits that plant put into the dataset before it was published; the test named planted then "
    "looks for memory of these digits",
    name="key",
)
SETTINGS = (KEY,)
