"""A control that another process reads texts for is the one that is made here."""

import pytest

from tabcontam.models.known import model_process
from tabcontam.models.known.model_process import build_in_process
from tabcontam.models.known.ngram_model import InfiniGram, build

TEXTS = ('age,sex\n22,männlich\n38,f\n"a\nb",f\n', "The age is 22, The sex is \ud800\n", "null\n")


def facts(model: InfiniGram) -> tuple[object, ...]:
    return model.vocabulary, model.corpus, model.suffixes.tolist()


@pytest.fixture(autouse=True)
def _two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_process, "processors", lambda: 2)


def test_the_model_of_another_process_is_the_one_that_is_built_here(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = build(TEXTS)
    monkeypatch.delattr(model_process, "build")
    found = build_in_process(lambda: TEXTS)
    assert facts(found) == facts(expected)
    assert found.generate("The age is", 3) == expected.generate("The age is", 3)


@pytest.mark.parametrize("code", ["raise SystemExit(1)", "print('no JSON')", 'print(\'{"corpus": 9, "suffixes": 9}\')'])
def test_where_the_process_fails_the_model_is_built_here(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(model_process, "START", code)
    assert facts(build_in_process(lambda: TEXTS)) == facts(build(TEXTS))
