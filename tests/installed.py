"""The extensions of the package, and those that this copy of the project lacks: each of them can be deleted."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXTENSIONS = ("cluster", "corpora", "dates", "evaluate", "exposed", "fresh", "papers", "planting", "publish")
NOT_YET = ("fresh", "papers")  # of these, those that modules or tests of the core still import
LACKING = tuple(name for name in EXTENSIONS if not (ROOT / "tabcontam" / "extensions" / name).is_dir())

# Marks tests of what is written about all extensions together, such as the pages of the docs.
with_every_extension = pytest.mark.skipif(bool(LACKING), reason=f"this copy lacks {', '.join(LACKING)}")
