"""An answer is read whatever language it is in and however its values are said; what names none is no answer."""

from dataclasses import replace
from itertools import product

import pytest

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.evidence.base import Query, Reading, Reply, ReplyState, Trial
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.trial_reading import read_trial
from tabcontam.tables.serializers import load_serializers
from tests.answer_forms import FORMS, form
from tests.evidence.test_reading import COLUMNS, NUMBER, PERSON, PROMPT, ROW, WORDS

SERIALIZERS = load_serializers()
SMOKES = CellPrediction({"No": 0.5, "Yes": 0.4}, 0.01)
CHANCE = {
    "age": CellPrediction({"20": 0.3, "39": 0.2, "7": 0.1}, 0.01),
    "T": CellPrediction({"2.5": 0.5, "1.25": 0.2}, 0.1),
    "master": CellPrediction({"Bexley, Mrs. A": 0.01}, 0.01),
    "Smoking": SMOKES,
    "Hx Smoking": SMOKES,
}
VALUES = ("39", "4.75", "Braund, Mr. Owen", "No", "Yes")
SEVENTH = replace(PERSON, expected=("39", "4.75", "No"), chance=CHANCE)
EIGHTH = replace(ROW, expected=VALUES, chance=CHANCE)
NINTH = [
    replace(NUMBER, asked=(name,), expected=(value,), chance=CHANCE)
    for name, value in zip(COLUMNS, VALUES, strict=True)
]
AGE, SMOKING = NINTH[0], NINTH[3]


def read(query: Query, text: str, serializer: str = "is", state: ReplyState = ReplyState.OK) -> Reading:
    test = by_id()[query.id.rpartition("-")[0]]
    reading = read_trial(test, Trial(query, Reply(text, state)), SERIALIZERS[serializer]).reading
    assert reading is not None
    return reading


@pytest.mark.slow
@pytest.mark.parametrize("query", [SEVENTH, EIGHTH, *NINTH], ids=["7", "8", *(f"9 {name}" for name in COLUMNS)])
def test_what_is_known_is_read_in_every_form(query: Query) -> None:
    """An LLM that knew everything and answered in German was not detected in 16 of 16 runs."""
    missed = []
    for name, serializer in product(sorted(set(FORMS) - {"rounded"}), SERIALIZERS):
        reading = read(query, form(name)(query.asked, query.expected), serializer)
        if (reading.right, reading.hit, reading.readable) != (query.asked, True, True):
            missed.append((name, serializer, reading))
    assert missed == []


def test_a_row_is_read_in_other_languages() -> None:
    texts = [
        "age: 39 | T: 4,75 | Smoking: No",
        "age → 39\nT → 4.75 g/cm³\nSmoking → No",
        "age hat den Wert 39, T hat den Wert 4,75 und Smoking hat den Wert No",
        "<answer>39, 4.75, No</answer>",
        "age: 39, T: USD 4.75, Smoking: No",
        "Die fehlenden Werte lauten: 39; 4,75; No",
        "Die fehlenden Werte sind 39, 4,75, No",
        "age beträgt 39 Jahre, T ist ungefähr 4,75 und Smoking ist No.",
        "Natürlich! Hier ist die Zeile:\n\nage: 39\nT: 4,75\nSmoking: No",
        "L'age est 39, le T est 4,75 et le Smoking est No",
        "Bien sûr ! Voici les valeurs :\n- age : 39\n- T : 4,75\n- Smoking : No",
        "age : 39 ans ; T : 4,75 ; Smoking : No",
        "El age es 39, el T es 4,75 y Smoking es No",
        "Il valore di age è 39, T è 4,75 e Smoking è No",
        "O valor de age é 39, T é 4,75 e Smoking é No",
        "De waarde van age is 39, T is 4,75 en Smoking is No",
        "| Merkmal | Wert |\n|---|---|\n| age | 39 Jahre |\n| T | 4,75 |\n| Smoking | No |",
    ]
    assert [case for case in product(texts, SERIALIZERS) if read(SEVENTH, *case).right != SEVENTH.asked] == []


@pytest.mark.slow
def test_a_value_is_read_in_other_languages() -> None:
    texts = [
        "Der Wert beträgt 39", "Der Wert von age beträgt 39.", "Der fehlende Wert ist **39**.", "Es ist 39",
        "Die Antwort lautet: 39", "Natürlich! Der Wert beträgt 39.", "Ich denke, es ist 39", "ungefähr 39 Jahre",
        "Der Wert für age ist wahrscheinlich 39", "La valeur manquante est 39", "La valeur manquante de age est 39",
        "C'est 39.", "Je pense que c'est 39", "L'age est de 39 ans", "Environ 39 ans", "39 ans (estimé)", "« 39 »",
        "El valor de age es 39", "El valor que falta es 39.", "Es 39", "Creo que es 39", "alrededor de 39 años",
        "Il valore mancante è 39", "O valor em falta é 39", "De ontbrekende waarde is 39", "De waarde bedraagt 39",
        "39 Jahre alt", "39 years old", "39 kg/m²", "39 km/h", "39th", "39歳", "age → 39", "age hat den Wert 39",
        "Wahrscheinlich: 39", "<answer>39</answer>", "<thought>20</thought>39", "age wynosi 39",
        "„39“", "39,0", "39 units", "39 points", "Sure! 39", "about 39", "<think>20? 7?</think>39",
    ]  # fmt: skip
    assert [case for case in product(texts, SERIALIZERS) if read(AGE, *case).right != ("age",)] == []


def test_what_names_two_numbers_or_none_is_no_answer() -> None:
    texts = [
        "39 oder 40", "39 ou 20", "20, 39", "39, 20", "39/20", "[20, 39]", "39 and 20", "The age is 20. The age is 39",
        '{"age": [20, 39]}', "39 Jahre oder 20 Jahre", "39 (oder 20)", "39; 20", "age ist nicht 39", "n'est pas 39",
        "39 tausend", "39 mil", "entre 39 et 40", "20 39", "A or B", "age", "age, T, master", "1e999999999", "3,9",
        "| age |\n|---|\n| 39 or 20 |",
    ]  # fmt: skip
    for text in texts:
        reading = read(AGE, text)
        assert (reading.parsed, reading.right, reading.readable) == (None, (), False), text


@pytest.mark.parametrize("serializer", list(SERIALIZERS))
def test_what_could_be_no_word_of_a_column_is_no_answer(serializer: str) -> None:
    shown = SERIALIZERS[serializer].rows(COLUMNS, [("20", "2", "Brown, Mr. A", "Yes", "Yes")])
    query = replace(SMOKING, write=lambda: replace(PROMPT, completion="\n".join(shown)))
    texts = ["A or B", "Yes or No", "No oder Yes", "Smoking", "Smoking, age", "age, T", "1e999999999"]
    assert [text for text in texts if read(query, text, serializer).readable] == []


def test_a_value_with_or_in_it_is_one_where_the_column_has_such_values() -> None:
    query = replace(SMOKING, expected=("B or C",), chance={"Smoking": CellPrediction({"A or B": 0.5, "B": 0.2}, 0.01)})
    assert read(query, "B or C").right == ("Smoking",)


def test_a_word_where_a_number_belongs_leaves_the_others_of_the_row() -> None:
    reading = read(SEVENTH, "The age is young, The T is 4.75, The Smoking is No")
    assert (reading.parsed, reading.readable) == ({"T": "4.75", "Smoking": "No"}, True)


@pytest.mark.parametrize("opened", ["<think>", "<thinking>", "\n<THINK>\n"])
def test_thinking_that_never_ends_is_no_answer_yet(opened: str) -> None:
    for query in (SEVENTH, EIGHTH, AGE):
        assert not read(query, f"{opened}The age is 39, The T is 4.75, The Smoking is No").readable


@pytest.mark.parametrize(
    ("test", "query", "answer"),
    [
        ("feature_list_uninformed", WORDS, "ATA, fnlwgt"),
        ("recognition_features", replace(WORDS, expected=("Wine",)), "Wine"),
        ("membership", Query("membership-0", lambda: PROMPT, ("Yes", "No"), ("No",), 4), "No"),
        (
            "classification_0shot",
            Query("classification_0shot-0", lambda: PROMPT, ("setosa", "virginica"), ("setosa",), 4),
            "setosa",
        ),
    ],
)
def test_thinking_is_no_part_of_an_answer_in_any_test(test: str, query: Query, answer: str) -> None:
    for text in (
        answer,
        f"<think>Yes? virginica? Iris?</think>\n{answer}",
        f"Hm, virginica, Yes.</think>{answer}",
        f"<answer>{answer}</answer>",
    ):
        trial = read_trial(by_id()[test], Trial(query, Reply(text, ReplyState.OK)), SERIALIZERS["is"])
        assert trial.reading is not None
        assert trial.reading.hit
        assert trial.reply.text == text


def test_whether_a_cut_answer_counts_does_not_hang_on_its_being_right() -> None:
    """One that was weighed only where it is right would look better than any guesser's."""
    text = "The age is 39, The T is 4.75, The Smoking is No, The"
    for state in (ReplyState.OK, ReplyState.TRUNCATED):
        assert (
            len(
                {
                    read(replace(SEVENTH, expected=(age, "4.75", "No")), text, state=state).readable
                    for age in ("39", "20")
                }
            )
            == 1
        )
