"""The mutants of benchmarks/mutants still apply to the package: their functions and texts are found, once each."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.mutants.patches import AREAS, Mutant, MutantError, applied, mutants

PACKAGE = Path(__file__).parents[1] / "tabcontam"


@pytest.mark.slow
def test_every_mutant_applies_and_changes_lines_of_its_function() -> None:
    known, faults = mutants(), []
    for mutant in known:
        try:
            assert applied(mutant, PACKAGE).lines, mutant.id
        except MutantError as error:
            faults.append(str(error))
    assert not faults, "\n".join(faults)
    areas = Counter(mutant.area for mutant in known)
    assert len({mutant.id for mutant in known}) == len(known) >= 60
    assert min(areas[area] for area in AREAS) >= 15


@pytest.mark.parametrize(
    ("function", "old", "near", "said"),
    [
        ("gone", "x", "", "has no function gone"),
        ("twice", "x", "", "stands in package/a.py:1, package/b.py:5"),
        ("twice", "y", "x - 1", "package/b.py:5 holds its old text 0 times"),
        ("Kind.twice", "x", "", "package/b.py:2 holds its old text 2 times"),
        ("twice", "x - 1", "x - 1", "means the same"),
    ],
)
def test_a_mutant_that_does_not_apply_says_why(function: str, old: str, near: str, said: str, tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "a.py").write_text("def twice(x):\n    return x + 1\n")
    (package / "b.py").write_text(
        "class Kind:\n    def twice(self, x):\n        return x\n\ndef twice(x):\n    return x - 1\n"
    )
    with pytest.raises(MutantError) as caught:
        applied(Mutant("m", "keys", function, old, old, "", near), package)
    assert said in str(caught.value)


def test_a_mutants_lines_are_those_of_its_statement(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    text = (
        "def one(x):\n    if (\n        x > 1\n    ):\n        return 1\n    return [\n        x,\n        2,\n    ]\n"
    )
    (package / "a.py").write_text(text)
    condition = applied(Mutant("m", "keys", "one", "x > 1", "x >= 1", ""), package)
    assert condition.lines == {2, 3, 4}
    assert condition.text == text.replace("x > 1", "x >= 1")
    assert applied(Mutant("m", "keys", "one", "        2,", "        3,", ""), package).lines == {6, 7, 8, 9}
