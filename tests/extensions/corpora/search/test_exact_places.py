"""What each way to compare texts with a document means."""

from tabcontam.evidence.questions import Lookup, LookupMode
from tabcontam.extensions.corpora.search.exact_places import places


def found(text: str, by: LookupMode, *texts: str) -> list[tuple[str, int]]:
    encoded = text.encode()
    return [(encoded[place.begin : place.end].decode(), place.text) for place in places(encoded, Lookup(texts, by=by))]


def test_letters_are_compared_as_they_stand() -> None:
    assert found("age,Sex,fare", LookupMode.LETTERS, "Sex", "sex") == [("Sex", 0)]
    assert found("aaa", LookupMode.LETTERS, "aa") == [("aa", 0), ("aa", 0)]
    assert found("naïve", LookupMode.LETTERS, "ïv", "", "\ud800") == [("ïv", 0)]


def test_words_are_compared_in_a_row_whatever_stands_between() -> None:
    text = "The Iris\n- data_set has 5.10 cm"
    assert found(text, LookupMode.WORDS, "iris data set", "iris has", "set, HAS 5.10", "5.1") == [
        ("Iris\n- data_set", 0),
        ("set has 5.10", 2),
    ]
    assert not found("irises", LookupMode.WORDS, "iris", "?", "")


def test_signs_are_compared_without_what_is_no_letter_or_digit() -> None:
    text = "5.1, 3.5 | setosa"
    assert found(text, LookupMode.SIGNS, "5135set", "51 35", "Setosa") == [("5.1, 3.5", 1), ("5.1, 3.5 | set", 0)]
    assert not found("5.1", LookupMode.SIGNS, "", "...", "52")
