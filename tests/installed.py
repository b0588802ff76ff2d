"""The extensions of the package, and those that this copy of the project lacks: each of them can be deleted."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "extensions.md").read_text("utf-8")
EXTENSIONS = tuple(re.findall(r"^\| \[`(\w+)`\]", PAGE, re.MULTILINE))
LACKING = tuple(name for name in EXTENSIONS if not (ROOT / "tabcontam" / "extensions" / name).is_dir())

# Marks tests of what is written about all extensions together, such as the pages of the docs.
with_every_extension = pytest.mark.skipif(bool(LACKING), reason=f"this copy lacks {', '.join(LACKING)}")
