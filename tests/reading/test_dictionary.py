"""The English dictionary gives one answer on every machine."""

import importlib.util
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabcontam.reading import english as files
from tabcontam.reading.dictionary import REMOVED, english
from tabcontam.reading.thresholds import LONGEST_DICTIONARY_WORD
from tabcontam.reading.word_decision import Dictionary

both = pytest.mark.usefixtures("library")

CURLY = "\N{RIGHT SINGLE QUOTATION MARK}"
PREFIXES = ["", "", "re", "in", "un", "de", "dis", "con", "pro"]
SUFFIXES = ["", ".", f"{CURLY}s", "s", "es", "ies", "'s", "d", "ed", "ied", "r", "er", "ers", "st", "est", "iest"]
SUFFIXES += ["ing", "ings", "ly", "ness", "iness", "ive", "ion", "ions", "ication", "en", "ens", "th", "able", "ment"]
KNOWN = (
    "age Age AGE NO jobs unhappiest IRS McDonald MCDONALD O'Connor O'CONNOR father's near-bay -a- etc. yes... 7 12.5"
)
KNOWN += f" 1-2 21st 112th C . FATHER{CURLY}S"
UNKNOWN = ["fnlwgt", "workclass", "hours.per.week", "SibSp", "<=50K", "Irs", "mcDonald", "21th", "--", "ẞ"]
UNKNOWN += ["", "NEAR BAY", "quite rich", "\x00age", "age\n", "\ud800", "no" * 5000]


def words() -> list[str]:
    lines = files.WORDS.read_text(encoding="utf-8").splitlines()[1:]
    return [line.partition("/")[0] for line in lines]


def disagreements(candidates: list[str]) -> list[str]:
    portable, library = english(portable=True), english()
    return [word for word in candidates if portable.knows(word) != library.knows(word)]


@pytest.fixture(scope="module")
def library() -> None:
    """Skips what compares both readers where there is but one."""
    if "pyenchant" not in english().name:
        pytest.skip("pyenchant has no C library with hunspell here")


@pytest.fixture(params=["portable", "library"])
def dictionary(request: pytest.FixtureRequest) -> Dictionary:
    """Each reader of the word files."""
    return english(portable=True) if request.param == "portable" else english()


class TestAnswers:
    def test_knows(self, dictionary: Dictionary) -> None:
        assert [word for word in KNOWN.split() if not dictionary.knows(word)] == []

    def test_does_not_know(self, dictionary: Dictionary) -> None:
        assert [word for word in UNKNOWN if dictionary.knows(word)] == []

    def test_leaves_out_what_the_authors_left_out(self, dictionary: Dictionary) -> None:
        forms = [form for word in REMOVED for form in (word, word.capitalize())]
        assert [form for form in forms if dictionary.knows(form)] == []

    def test_names_the_word_files_and_what_reads_them(self, dictionary: Dictionary) -> None:
        assert dictionary.name.startswith("en_US 2020.12.07 (SCOWL), ")


@both
@pytest.mark.slow
class TestBothReadersAgree:
    def test_on_every_word_of_the_file_each_in_one_of_five_cases(self) -> None:
        cases: Iterator[Callable[[str], str]] = cycle((str, str.upper, str.lower, str.capitalize, str.swapcase))
        assert disagreements([case(word) for case, word in zip(cases, sorted(words()), strict=False)]) == []

    def test_on_affixed_and_joined_forms(self) -> None:
        random, known = Random(0), words()

        def affixed() -> str:
            word = random.choice(known)
            word = random.choice(PREFIXES) + (word[:-1] if random.random() < 0.3 else word) + random.choice(SUFFIXES)
            return random.choice((word, word, word.upper(), word.capitalize()))

        def joined() -> str:
            word = "-".join(random.choice((affixed(), "", "1", "NASA")) for _ in range(random.randint(2, 4)))
            return random.choice((word, word.upper(), word.capitalize()))

        assert disagreements([affixed() for _ in range(10_000)] + [joined() for _ in range(5_000)]) == []

    @settings(max_examples=1500, deadline=None)
    @given(
        st.text(max_size=12)
        | st.text(f"0123456789stndrhSTNDRH.,-'{CURLY} ", max_size=8)
        | st.text(f"aeinstAEINST-.'{CURLY}é ", max_size=8)
    )
    def test_on_any_text(self, word: str) -> None:
        assert english(portable=True).knows(word) == english().knows(word)

    @pytest.mark.parametrize("length", range(LONGEST_DICTIONARY_WORD - 2, LONGEST_DICTIONARY_WORD + 3))
    def test_on_the_longest_words(self, length: int) -> None:
        assert disagreements(["1" * length, "é" * (length // 2), "a" + "-a" * (length // 2)]) == []

    @pytest.mark.skipif("TABCONTAM_DATA" not in os.environ, reason="TABCONTAM_DATA is not set")
    def test_on_every_name_and_value_of_the_tables(self) -> None:
        seen: set[str] = set()
        for path in sorted(Path(os.environ["TABCONTAM_DATA"]).rglob("*")):
            if path.suffix in (".csv", ".data", ".tsv"):
                seen.update(re.split(r"[,;\t\r\n\"]+", path.read_text(encoding="utf-8", errors="replace")))
        assert disagreements(sorted(seen)[::4]) == []  # from every table, since names and values are mixed


class TestPortableReader:
    @pytest.mark.slow
    def test_is_read_in_less_than_half_a_second(self) -> None:
        def seconds() -> float:
            start = time.process_time()  # of this process alone: others may keep it waiting
            english.__wrapped__(portable=True)
            return time.process_time() - start

        assert min(seconds() for _ in range(3)) < 0.5

    def test_stands_in_where_there_is_no_c_library(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "enchant", None)
        assert english.__wrapped__().name.endswith("portable reader")

    @pytest.mark.skipif(importlib.util.find_spec("enchant") is None, reason="pyenchant is not installed")
    def test_stands_in_where_enchant_reads_other_files(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        other = tmp_path / "other.dic"
        other.write_text("1\nfnlwgt\n", encoding="utf-8")
        monkeypatch.setattr("tabcontam.reading.dictionary.files.WORDS", other)
        assert english.__wrapped__().name.endswith("portable reader")

    def test_is_made_once(self) -> None:
        assert english(portable=True) is english(portable=True)


@both
class TestTheUsersOwnLists:
    def test_neither_count_nor_change(self, tmp_path: Path) -> None:
        own = tmp_path / "enchant"
        (own / "hunspell").mkdir(parents=True)
        (own / "hunspell" / "en_US.aff").write_text("SET UTF-8\n")
        (own / "hunspell" / "en_US.dic").write_text("1\nworkclass\n")
        (own / "en_US.dic").write_text("fnlwgt\n")
        (own / "en_US.exc").write_text("age\n")
        (own / "enchant.ordering").write_text("*:aspell\n")
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
        script = (
            "import os; from tabcontam.reading.dictionary import english; d = english();"
            "print(d.name, [d.knows(w) for w in ('fnlwgt', 'workclass', 'age')], os.environ['ENCHANT_CONFIG_DIR'])"
        )
        environment = os.environ | {"ENCHANT_CONFIG_DIR": str(own), "HOME": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == f"{english().name} [False, False, True] {own}"
        assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before

    def test_the_environment_is_left_as_it_was(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("ENCHANT_CONFIG_DIR", raising=False)
        english.__wrapped__()
        assert "ENCHANT_CONFIG_DIR" not in os.environ
