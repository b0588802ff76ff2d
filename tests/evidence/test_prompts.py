"""How queries are worded: prompt sets are files, what is put into them stays as it is, and a bad file is one line."""

import pickle
import tomllib
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.asking.query_plan import RunSource, plan, sheet_of
from tabcontam.cli import list_command
from tabcontam.cli.commands import main
from tabcontam.config import RunConfig
from tabcontam.errors import Exit, UsageError
from tabcontam.evidence.base import Prompt, Query
from tabcontam.evidence.checks import given_away, rendered
from tabcontam.evidence.mixins import FeatureTest, WordedTest
from tabcontam.evidence.prompts import (
    PLACEHOLDER,
    TEXTS,
    PromptSet,
    all_prompts,
    ask,
    default_prompts,
    from_file,
    load_prompt_set,
    load_prompts,
)
from tabcontam.evidence.registry import all_tests, built_in_tests, by_id
from tabcontam.evidence.rows.completion_tests import FeatureCompletion, FullCompletion
from tabcontam.evidence.rows.row_test import OneCellTest
from tabcontam.evidence.score.memory_share import TwinShareTest
from tabcontam.models.provider_registry import ModelSettings, resolve
from tabcontam.paths import shipped
from tabcontam.tables.serializers import Serializer, load_serializers
from tabcontam.tables.table import Table
from tests.made_tables import ships

pytestmark = pytest.mark.usefixtures("cheaply")  # prompts are compared, and no verdicts
IS = load_serializers()["is"]
SHIPS = replace(ships())  # what is guessed of it is kept with no other table
SETS = list(load_prompts().values())
DEFAULT_FILE = shipped("prompts") / "default.toml"
HOSTILE = ["{title}", "{rows}", "{", "}", "{0}", "{title.__class__}", "%s", "\\g<1>", "$title", "{{title}}", '"""', "☃"]


def asked(test: str, prompts: PromptSet, table: Table | None = None) -> tuple[Query, ...]:
    return sheet_of(by_id()[test], table or SHIPS, IS, RunConfig(), prompts).written


def own(folder: Path, *changes: tuple[str, str], name: str = "mine") -> Path:
    """The default set as a file of one's own, with some of its text changed."""
    text = DEFAULT_FILE.read_text("utf-8").replace('name = "default"', f'name = "{name}"')
    for before, after in changes:
        assert before in text
        text = text.replace(before, after, 1)
    path = folder / f"{name}.toml"
    path.write_text(text, "utf-8")
    return path


def test_the_default_comes_first_and_every_set_says_what_it_is() -> None:
    assert [item.name for item in SETS] == ["default", "paper"]
    assert default_prompts() is SETS[0]
    assert all(item.about and "\n" not in item.about for item in SETS)


def test_the_default_does_not_accuse_and_fits_a_users_own_file() -> None:
    texts = DEFAULT_FILE.read_text("utf-8").casefold()
    assert [word for word in ("tested", "remember", "memor", "published", "training", "seen") if word in texts] == []


@pytest.mark.parametrize("word", HOSTILE)
@pytest.mark.parametrize("prompts", SETS, ids=lambda item: item.name)
def test_what_is_put_into_a_prompt_stays_as_it_is(prompts: PromptSet, word: str) -> None:
    names, rows = ["{count}", word], [f"The a is {word}", "The a is {features}"]
    written = [
        (prompts.feature_list(word, names), ", ".join(names)),
        (prompts.dataset_of_features(names), ", ".join(names)),
        (prompts.dataset_of_rows(rows), "\n".join(rows)),
        (prompts.feature_values(word, "{values}", rows, [word]), "\n".join(rows)),
        (prompts.feature_values(word, "{values}", (), ()), "{values}"),
        (
            prompts.incomplete_row(word, rows, "The {row} is 1", ["{asked}"], "The {row}"),
            "\n".join([*rows, "The {row}"]),
        ),
        (prompts.next_row(word, names, rows), "\n".join(rows)),
        (prompts.missing_feature(word, names, rows, "{rows}", "{asked}", "{prefix}"), "\n".join([*rows, "{prefix}"])),
        (prompts.is_member(word, [(rows[0], "{row}"), (rows[1], "No")], "{answer}"), "{answer}"),
        (prompts.class_of([(rows[0], word)], "{answer}", "{choice}?", [word, "{more}"]), f"{word} or {{more}}"),
    ]
    for prompt, whole in written:
        assert whole in rendered(prompt)
        assert prompt.seq2seq == prompt.chat[-1].content


@given(st.lists(st.text(), min_size=2, max_size=3), st.text())
def test_any_text_is_put_in_once(rows: list[str], title: str) -> None:
    prompt = default_prompts().next_row(title, ["a"], rows)
    body = "\n".join(rows)
    assert prompt.completion == f"Dataset: {title}\nIts features: a\nIts rows, in the order of the file:\n{body}\n"


def test_yes_or_no_is_asked_for_in_plain_english() -> None:
    def question(*answers: str) -> str:
        return default_prompts().class_of([], "a row", "Is it?", answers).seq2seq.partition("\n")[0]

    assert question("Yes", "No") == "Is it? Answer Yes or No."
    assert question("a", "b", "c") == "Is it? Answer with one of: a, b or c."
    assert question("a") == "Is it? Answer a."


def test_a_set_without_a_system_text_sends_none() -> None:
    assert [message.role for message in load_prompts()["paper"].next_row("T", ["a"], ["b"]).chat] == ["user"]
    first, _ = default_prompts().next_row("T", ["a"], ["b"]).chat
    assert (first.role, first.content) == ("system", default_prompts().system)
    own_system = default_prompts().class_of([], "a", "b?", ["c", "d"]).chat[0].content
    assert own_system == default_prompts().classification.system != default_prompts().system


def test_a_test_that_writes_its_own_prompts_has_the_default_system_text() -> None:
    prompt = ask("A row", "How does it go on?", "A row is")
    assert prompt.chat[0].content == default_prompts().system
    assert (prompt.seq2seq, prompt.completion) == ("A row\n\nHow does it go on?", "A row is")
    assert ask("a", "b?", "c", system="Be brief.").chat[0].content == "Be brief."


@pytest.mark.slow
@pytest.mark.parametrize("test", [test.id for test in built_in_tests() if isinstance(test, WordedTest)])
def test_every_set_asks_the_same_about_the_same_rows_in_other_words(test: str) -> None:
    default, paper = (asked(test, item) for item in SETS)
    assert default == paper  # ids, what is asked and expected, rows, chances of words aside
    assert [query.chance for query in default] == [query.chance for query in paper]
    pairs = list(zip(default, paper, strict=True))
    assert all(one.prompt.chat != other.prompt.chat for one, other in pairs)


@pytest.mark.slow
@pytest.mark.parametrize(  # the class of a ship says nothing, and a twin that may have another one is not asked about
    "test", [one.id for one in built_in_tests() if isinstance(one, WordedTest) and not isinstance(one, TwinShareTest)]
)
@pytest.mark.parametrize("prompts", SETS, ids=lambda item: item.name)
def test_no_set_shows_what_is_asked_or_leaves_a_placeholder(test: str, prompts: PromptSet) -> None:
    queries = asked(test, prompts)
    assert queries
    for query in queries:
        text = rendered(query.prompt)
        assert not PLACEHOLDER.search(text)
        if query.answering.of_row and isinstance(by_id()[test], FeatureTest):
            tail = IS.row(query.asked, query.expected)
            assert tail not in text
        elif not isinstance(by_id()[test], FeatureTest) and query.asked != ("Yes", "No") and by_id()[test].number:
            assert not [word for word in query.expected if word and given_away(word, text)]


@pytest.mark.slow
@pytest.mark.parametrize("prompts", SETS, ids=lambda item: item.name)
@pytest.mark.parametrize("test", ["membership", "matched_membership", "classification_0shot", "classification_1shot"])
def test_the_many_queries_of_a_cell_begin_alike(test: str, prompts: PromptSet) -> None:
    """What they share is read once by many servers: the question and, of membership, the title."""
    texts = [query.prompt.seq2seq for query in asked(test, prompts, replace(ships(600)))]
    beginnings = {text.partition("\n\n")[0] for text in texts}
    assert len(beginnings) == 1
    assert beginnings.pop().endswith(("?", ".", ships().title))


def test_what_a_wording_gives_away_is_not_asked_in_that_wording(tmp_path: Path) -> None:
    """The check is made of the words that are sent."""
    telling = load_prompt_set(
        str(own(tmp_path, ("List the features of this", "List the features, such as hullNo, of this")))
    )
    (default, *_), (told, *_) = (asked("feature_list_uninformed", item) for item in (default_prompts(), telling))
    assert set(default.expected) - set(told.expected) == {"hullNo"}


class TestAFileOfOnesOwn:
    def test_is_known_by_its_path_and_by_name(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = own(tmp_path, ("Some of its features", "A few of its features"))
        mine = load_prompt_set(str(path))
        assert "A few of its features: a" in mine.feature_list("T", ["a"]).seq2seq
        assert (mine.name, mine.source) == ("mine", str(path.resolve()))
        monkeypatch.setenv("TABCONTAM_PATH", str(tmp_path))
        assert load_prompt_set("mine") == mine
        assert list(all_prompts()) == ["default", "paper", "mine"]
        (shown,) = (item for item in list_command.prompts() if item["name"] == "mine")
        assert shown["about"].endswith(f"from {path}")
        assert tomllib.loads(shown["text"])["feature_list_informed"]

    def test_in_a_subfolder_too(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "prompts").mkdir()
        own(tmp_path / "prompts")
        monkeypatch.setenv("TABCONTAM_PATH", str(tmp_path))
        assert "mine" in all_prompts()

    def test_may_say_the_same_as_a_shipped_one_but_not_something_else_under_its_name(self, tmp_path: Path) -> None:
        same = tmp_path / "same.toml"
        same.write_bytes(DEFAULT_FILE.read_bytes())
        assert load_prompt_set(str(same)) == default_prompts()
        same.write_text(DEFAULT_FILE.read_text("utf-8").replace("List the features", "Tell the features"), "utf-8")
        with pytest.raises(UsageError, match="has the name 'default', which the shipped"):
            load_prompt_set(str(same))

    def test_is_not_taken_for_a_serializer(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="is no prompt set; give it with --serializer"):
            load_prompt_set(str(shipped("serializers") / "is.toml"))
        assert main(["run", "--serializer", str(own(tmp_path)), "--out", str(tmp_path / "run")]) == Exit.USAGE

    def test_has_braces_that_are_no_placeholders(self, tmp_path: Path) -> None:
        path = own(tmp_path, ("Which dataset is this?", 'Which dataset is this? As {"it": {"is": 1}} or {}.'))
        assert '{"it": {"is": 1}} or {}.' in load_prompt_set(str(path)).dataset_of_features(["a"]).seq2seq

    @pytest.mark.parametrize(
        ("before", "after", "complaint"),
        [
            (
                "Dataset: {title}\nSome",
                "Dataset: {titel}\nSome",
                "feature_list_informed question has the unknown placeholder {titel}; known: {title}, {features}",
            ),
            ("Dataset: {title}\nSome", "Dataset: { title }\nSome", "has the unknown placeholder { title }"),
            (
                "Some of its features: {features}",
                "Some",
                "feature_list_informed question lacks the placeholder {features}",
            ),
            (
                "{rows}\n{shown}\n\nThe last",
                "{rows}\n\nThe last",
                "incomplete_completion question lacks the placeholder {shown} or {prefix}",
            ),
            (
                "{rows}\n{prefix}",
                "{rows}\n{prefix} ...",
                "incomplete_completion completion must end with {prefix}, where the answer follows",
            ),
            (
                "Part of the dataset: {answer}",
                "Part of the dataset: {answer}.",
                "membership row must end with {answer}",
            ),
            (
                "[recognition_features]",
                "[recognition]",
                "recognition_features is missing; write it as [recognition_features]",
            ),
            (
                "[membership]",
                "[extra]\n[membership]",
                "has the unknown key 'extra'; known: name, about, system, feature_list_informed",
            ),
            (
                "[membership]",
                "[membership]\nanswer = 'x'",
                "membership has the unknown key 'answer'; known: question, completion",
            ),
            ("two = ", "tow = ", "classification has the unknown key 'tow'"),
            ('more = "Answer with one of: {answers}."\n', "", "classification lacks more"),
            ('two = "Answer {answers}."', "two = 2", "classification two cannot be 2"),
            (
                'more = "Answer with one of: {answers}."',
                'more = "Choose."',
                "classification more lacks the placeholder {answers}",
            ),
            ("sure. Write", "sure about {title}. Write", "system has the unknown placeholder {title}; known: none"),
            (
                'system = "Answer the',
                'system = "{row} Answer the',
                "classification system has the unknown placeholder {row}",
            ),
            ('system = "Answer from', 'sytem = "Answer from', "has the unknown key 'sytem'"),
            ('name = "mine"', 'name = ""', "name cannot be"),
            ('name = "mine"', 'name = "a\\nb"', "name cannot be"),
            (
                "[feature_list_informed]",
                "feature_list_informed = 1\n[other]",
                "feature_list_informed cannot be 1; write it as",
            ),
            ("[feature_list_informed]", "[feature_list_informed", "cannot be read"),
        ],
    )
    def test_that_is_bad_is_one_line_with_file_and_key_and_exit_code_4(
        self, tmp_path: Path, before: str, after: str, complaint: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = own(tmp_path, (before, after))
        assert main(["run", "--prompts", str(path), "--out", str(tmp_path / "run")]) == Exit.USAGE
        said = capsys.readouterr().err
        assert str(path) in said
        assert complaint in said
        assert len(said.splitlines()) == 1
        assert not (tmp_path / "run").exists()

    @pytest.mark.parametrize("template", list(TEXTS))
    def test_lacks_no_template(self, tmp_path: Path, template: str) -> None:
        raw = DEFAULT_FILE.read_text("utf-8").split("\n[")
        path = tmp_path / "less.toml"
        path.write_text("\n[".join(part for part in raw if not part.startswith(f"{template}]")), "utf-8")
        with pytest.raises(UsageError, match=f"{template} is missing"):
            from_file(path)

    def test_that_is_not_known_is_one_line_with_the_nearest(self) -> None:
        with pytest.raises(UsageError, match="unknown prompt set 'papr'; did you mean paper"):
            load_prompt_set("papr")


class Own(FeatureCompletion):
    """A test of another package that takes its words from the set, made in its own way from one that is a dataclass."""

    id = "own"

    def __init__(self, asked: int = 0) -> None:
        object.__setattr__(self, "asked", asked)


class Plain(OneCellTest):
    """One that writes its own."""

    id = "plain"

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        return [Query("plain-0", lambda: Prompt((), "", ""), table.columns[-1:], table.rows[0][-1:], 8)]


class TestATestsWords:
    def test_are_the_default_ones_until_it_is_given_others(self) -> None:
        test, paper = FullCompletion(), load_prompts()["paper"]
        assert test.prompts is default_prompts()
        worded = test.worded_by(paper)
        assert worded.prompts is paper
        assert test.prompts is default_prompts()
        assert worded == test

    @pytest.mark.parametrize(
        "test", [test for test in all_tests() if isinstance(test, WordedTest)], ids=lambda test: test.id
    )
    def test_stay_with_it_in_another_process(self, test: Any) -> None:
        again = pickle.loads(pickle.dumps(test.worded_by(load_prompts()["paper"])))
        assert again.prompts == load_prompts()["paper"]
        assert again == test

    def test_can_be_given_to_one_that_is_made_in_its_own_way(self) -> None:
        worded = Own(3).worded_by(load_prompts()["paper"])
        assert (vars(worded)["asked"], worded.prompts.name) == (3, "paper")


def test_a_test_that_writes_its_own_prompts_is_planned_under_the_first_set_alone() -> None:
    model = resolve("simulated:oracle").open(ModelSettings())
    names = [FeatureCompletion(), Own(), Plain()]
    cells = plan([RunSource(model)], [SHIPS], [IS, load_serializers()["colon"]], names, RunConfig(), prompts=SETS)
    found = [(cell.name.test, cell.name.serializer, cell.name.prompts) for cell in cells]
    both = [
        (test, form, words)
        for form in ("is", "colon")
        for words in ("default", "paper")
        for test in ("feature_completion", "own")
    ]
    assert sorted(found) == sorted([*both, ("plain", "is", "default"), ("plain", "colon", "default")])
    first = next(cell for cell in cells if cell.name.test == "feature_completion" and cell.name.prompts == "paper")
    assert first.queries[0].prompt.seq2seq.startswith("The dataset ")


def test_a_plan_in_two_sets_asks_the_same_rows_for_the_same_seed() -> None:
    for seed in (0, 1):
        rows = [
            [query.rows for query in sheet_of(by_id()["membership"], SHIPS, IS, RunConfig(seed=seed), item).written]
            for item in SETS
        ]
        assert rows[0] == rows[1]


def test_sets_are_equal_by_what_they_say() -> None:
    changed = replace(default_prompts(), about="something else")
    assert changed != default_prompts()
    assert replace(default_prompts(), source="/somewhere") == default_prompts()
