"""The pinned word files: hunspell's en_US, SCOWL 2020.12.07, as Debian ships them. Their licence is in LICENSE."""

from pathlib import Path

VERSION = "2020.12.07"
AFFIXES = Path(__file__).parent / "en_US.aff"
WORDS = Path(__file__).parent / "en_US.dic"
