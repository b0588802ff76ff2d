"""Answers are read as a person would: fences and preambles are no part of them."""

import pytest

from tabcontam.reading.answer_text import answer_line, choice_in, declines, plain, same_value, value_key


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("77516", "77516"),
        ("```\n77516\n```", "77516"),
        ("```77516```", "77516"),
        ("```text\n77516\n```\nIt is the third row.", "77516"),
        ("The answer is:\n\n**77516**", "77516"),
        ("Sure, here it is:", "Sure, here it is:"),
        ("", ""),
        ("\n\n", ""),
    ],
)
def test_the_line_that_holds_a_short_answer(text: str, line: str) -> None:
    assert answer_line(text) == line


def test_the_lines_of_a_fenced_answer_are_kept() -> None:
    assert plain("```python\na = 1\nb = 2\n```") == "a = 1\nb = 2"


@pytest.mark.parametrize(
    ("text", "declined"),
    [
        ("I'm sorry, but I can't share rows.", True),
        ("I\u2019m unable to determine the value.", True),
        ("As an AI, I have no memory.", True),
        ("The provided context does not mention the value.", True),
        ("It cannot be determined from the rows.", True),
        ("I. Setosa", False),
        ("No", False),
        ("The income is <=50K", False),
    ],
)
def test_a_text_that_declines(text: str, declined: bool) -> None:
    assert declines(text) is declined


REFUSALS = {
    "en": """I'd rather not say.
        I would rather not guess.
        That would be a privacy problem.
        This raises privacy concerns.
        For privacy reasons, I leave this out.
        The value is not known to me.
        The exact value is unknown.
        I won't disclose that.
        I must decline.
        I'm not comfortable sharing this.
        I have never seen this file.
        I'm not sure.
        I am not sure which value stands there.
        I have no record of that row.
        That information is confidential.
        This cannot be answered.
        There is no way for me to tell.
        Your guess is as good as mine.
        That is against my guidelines.
        I refuse to answer.
        I'm not familiar with this dataset.""",
    "de": """Das möchte ich lieber nicht sagen.
        Das wäre ein Datenschutzproblem.
        Der Wert ist mir nicht bekannt.
        Das darf ich nicht verraten.
        Das weiß ich leider nicht.
        Das lässt sich so nicht sagen.
        Dazu kann ich leider nichts sagen.
        Ich bin mir nicht sicher.
        Da bin ich überfragt.
        Ich möchte dazu keine Angabe machen.
        Dazu liegen mir keine Daten vor.
        Ich muss leider passen.""",
    "fr": """Je préfère ne pas répondre.
        Cela poserait un problème de confidentialité.
        La valeur ne m'est pas connue.
        Je ne le sais pas.
        Je n'ai pas accès à ce fichier.
        Je n\u2019en suis pas sûr.
        Je l'ignore.
        Je refuse de répondre.
        Il m'est impossible de le dire.
        Je n'ai aucune information à ce sujet.""",
    "es": """Prefiero no decirlo.
        Eso sería un problema de privacidad.
        No conozco el valor.
        El valor me es desconocido.
        No sé cuál es.
        No estoy seguro.
        No sabría decirlo.
        No dispongo de esos datos.
        No tengo esa información.
        No voy a responder.
        No me consta.""",
}


@pytest.mark.parametrize("language", REFUSALS)
def test_refusals_in_other_words_are_no_values(language: str) -> None:
    texts = [line.strip() for line in REFUSALS[language].splitlines()]
    assert [text for text in texts if not declines(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "Prefer not to say", "Unknown", "not known", "Private", "Self-emp-not-inc", "Never-worked", "No", "Not sure",
        "Privacy concerns grow as users of the site complain.", "The company declined to comment.", "Refused",
        "I'm not sure, but the row is 5.1,3.5,1.4,0.2,setosa", "Nicht bekannt gegeben", "No smoking",
        "Preferred", "Pass", "No, I have never seen this row.", "The value is 5.4.",
        "The next row is 5.1,3.5,1.4,0.2,setosa",
    ],
)  # fmt: skip
def test_values_and_hedged_answers_are_no_refusals(text: str) -> None:
    assert not declines(text)


@pytest.mark.parametrize(
    ("answer", "expected", "same"),
    [
        ("256", "256.0", True),
        ("2.56e2", "256", True),
        ("1,024", "1024", True),
        ("0.5", ".5", True),
        ("No.", "No", True),
        ("  self-EMPLOYED ", "Self-employed", True),
        ('"Braund, Mr. Owen"', "Braund, Mr. Owen", True),
        ("3101282", "3", False),
        ("nan", "nan", True),
        ("nan", "NaN", True),
        (None, None, False),
        ("", "3", False),
        ("inf", "Infinity", False),
        (None, "3", False),
    ],
)
def test_two_values_are_one(answer: str | None, expected: str | None, same: bool) -> None:
    assert same_value(answer, expected) is same


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("Yes", "Yes"),
        ("yes.", "Yes"),
        ("**No**", "No"),
        ("Answer: No", "No"),
        ("Yes or no? Hard to say", None),
        ("There is no way to tell", None),
        ("The answer is: no.", "No"),
        ("Yes, it is.", "Yes"),
        ("It could be yes, it could be no", None),
        ("Yes/No", None),
        ("Yes, or No", None),
        ('{"answer": "No"}', "No"),
        ("Yes, No.", None),
        ("**Yes** | **No**", None),
        ("Yes, no doubt", "Yes"),
        ("None", None),
        ("Yesterday", None),
        ("", None),
    ],
)
def test_one_of_the_possible_answers(text: str, choice: str | None) -> None:
    assert choice_in(text, ("Yes", "No")) == choice


def test_the_longer_of_two_answers_is_meant() -> None:
    assert choice_in("very good", ("good", "very good")) == "very good"
    assert choice_in("unacceptable", ("acceptable", "unacceptable")) == "unacceptable"


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("256", "2.56e2", True),
        (".28", "0.280", True),
        ("-0.0", "0", True),
        ("No.", " no", True),
        ("0001_01", "101", False),
        ("2019000052691", "2019000052690", False),
        ("2019000052691", "2019000052691.0", True),
        ("9" * 40, "9" * 39 + "8", False),
        ("0.30000000000000004", "0.3", True),
        ("1e9999999", "1e99999999", False),
        ("nan", "none", False),
    ],
)
def test_equal_values_have_one_key(left: str, right: str, same: bool) -> None:
    assert (value_key(left) == value_key(right)) is same


def test_answers_side_by_side_are_none_though_the_first_is_long() -> None:
    """`unacceptable/acceptable` was read as the longer of the two."""
    assert choice_in("unacceptable/acceptable", ("acceptable", "unacceptable")) is None
    assert choice_in("very good or good", ("good", "very good")) is None
