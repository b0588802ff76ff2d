"""The English dictionary gives one answer on every machine."""

import os
import re
import shutil
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


def disagreements(candidates: list[str], hunspell: Dictionary) -> list[str]:
    return [word for word in candidates if english().knows(word) != hunspell.knows(word)]


@pytest.fixture(scope="module")
def hunspell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dictionary]:
    """The library hunspell, by pyenchant, with the pinned word files."""
    enchant = pytest.importorskip("enchant", exc_type=ImportError)  # also raised without its C library
    folder = tmp_path_factory.mktemp("enchant")
    (folder / "hunspell").mkdir()
    shutil.copyfile(files.AFFIXES, folder / "hunspell" / "pinned.aff")
    shutil.copyfile(files.WORDS, folder / "hunspell" / "pinned.dic")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENCHANT_CONFIG_DIR", str(folder))
        broker = enchant.Broker()
        broker.set_ordering("pinned", "hunspell")
        checker = broker.request_dict("pinned")
    assert checker.provider.name == "hunspell"
    assert not checker.check("fnlwgt")
    assert checker.check("near-bay")
    yield Dictionary("hunspell", lambda word: bool(checker.check(word)))
    del broker


class TestAnswers:
    def test_knows(self) -> None:
        assert [word for word in KNOWN.split() if not english().knows(word)] == []

    def test_does_not_know(self) -> None:
        assert [word for word in UNKNOWN if english().knows(word)] == []

    def test_leaves_out_what_the_authors_left_out(self) -> None:
        forms = [form for word in REMOVED for form in (word, word.capitalize())]
        assert [form for form in forms if english().knows(form)] == []

    def test_names_the_word_files(self) -> None:
        assert english().name == "en_US 2020.12.07 (SCOWL)"

    def test_is_made_once(self) -> None:
        assert english() is english()


@pytest.mark.slow
class TestHunspellAgrees:
    def test_on_every_word_of_the_file_each_in_one_of_five_cases(self, hunspell: Dictionary) -> None:
        cases: Iterator[Callable[[str], str]] = cycle((str, str.upper, str.lower, str.capitalize, str.swapcase))
        assert disagreements([case(word) for case, word in zip(cases, sorted(words()), strict=False)], hunspell) == []

    def test_on_affixed_and_joined_forms(self, hunspell: Dictionary) -> None:
        random, known = Random(0), words()

        def affixed() -> str:
            word = random.choice(known)
            word = random.choice(PREFIXES) + (word[:-1] if random.random() < 0.3 else word) + random.choice(SUFFIXES)
            return random.choice((word, word, word.upper(), word.capitalize()))

        def joined() -> str:
            word = "-".join(random.choice((affixed(), "", "1", "NASA")) for _ in range(random.randint(2, 4)))
            return random.choice((word, word.upper(), word.capitalize()))

        assert disagreements([affixed() for _ in range(10_000)] + [joined() for _ in range(5_000)], hunspell) == []

    @settings(max_examples=1500, deadline=None)
    @given(
        st.text(max_size=12)
        | st.text(f"0123456789stndrhSTNDRH.,-'{CURLY} ", max_size=8)
        | st.text(f"aeinstAEINST-.'{CURLY}é ", max_size=8)
    )
    def test_on_any_text(self, hunspell: Dictionary, word: str) -> None:
        assert english().knows(word) == hunspell.knows(word)

    @pytest.mark.parametrize("length", range(LONGEST_DICTIONARY_WORD - 2, LONGEST_DICTIONARY_WORD + 3))
    def test_on_the_longest_words(self, length: int, hunspell: Dictionary) -> None:
        assert disagreements(["1" * length, "é" * (length // 2), "a" + "-a" * (length // 2)], hunspell) == []

    @pytest.mark.skipif("TABCONTAM_DATA" not in os.environ, reason="TABCONTAM_DATA is not set")
    def test_on_every_name_and_value_of_the_tables(self, hunspell: Dictionary) -> None:
        seen: set[str] = set()
        for path in sorted(Path(os.environ["TABCONTAM_DATA"]).rglob("*")):
            if path.suffix in (".csv", ".data", ".tsv"):
                seen.update(re.split(r"[,;\t\r\n\"]+", path.read_text(encoding="utf-8", errors="replace")))
        assert disagreements(sorted(seen)[::4], hunspell) == []  # from every table, since names and values are mixed


@pytest.mark.slow
def test_is_read_in_less_than_half_a_second() -> None:
    def seconds() -> float:
        start = time.process_time()  # of this process alone: others may keep it waiting
        english.__wrapped__()
        return time.process_time() - start

    assert min(seconds() for _ in range(3)) < 0.5
