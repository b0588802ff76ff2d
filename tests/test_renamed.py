"""Import paths that docs of earlier versions have shown to others."""

import subprocess
import sys
from importlib import import_module

import pytest

from tabcontam.renamed import MODULES


@pytest.mark.slow
@pytest.mark.parametrize("old", MODULES)
def test_an_old_import_path_is_the_module_itself_and_says_its_new_name(old: str) -> None:
    code = (
        "import importlib, sys, warnings\n"
        "import tabcontam\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    found = importlib.import_module(sys.argv[1])\n"
        "assert found is importlib.import_module(sys.argv[2]), found\n"
        "print(*[f'{w.category.__name__}: {w.message}' for w in caught if w.category is DeprecationWarning])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, old, MODULES[old]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"DeprecationWarning: {old} is {MODULES[old]} now; change the import"


def test_the_warning_points_at_the_import_that_is_to_change() -> None:
    code = "import warnings\nwarnings.simplefilter('error')\nfrom tabcontam.suite.base import Prompt\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "tabcontam.evidence.base now" in done.stderr


def test_a_name_that_never_was_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"tabcontam\.suite\.nothing"):
        import_module("tabcontam.suite.nothing")


@pytest.mark.slow
def test_a_name_that_has_moved_since_is_found_in_its_old_module() -> None:
    code = (
        "from tabcontam.guesser.table import guessed\n"
        "from tabcontam.suite.completion import FeatureCompletion, guesses_of\n"
        "assert guesses_of is guessed\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
