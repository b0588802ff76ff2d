"""Judgements of completions by people: the pairs that they see, and the recording of their words.

People judge blind, as in section 4 of Golchin and Surdeanu 2024: a pair shows no LLM, no instruction and no other
judge, and the pairs of all LLMs are shuffled. Equal completions of the same piece are one pair.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tabcontam.asking.trial_file import RESULTS, lock_run_folder
from tabcontam.errors import UsageError, option
from tabcontam.evidence.completion_pairs import Likeness
from tabcontam.evidence.mixins import JudgedTest
from tabcontam.evidence.registry import all_tests
from tabcontam.extensions.papers.completion_judgements import TEXT, Judgement, Judgements, compared_in, pair_of
from tabcontam.extensions.papers.judgement_file import JudgementJournal, judgements_in
from tabcontam.report.environment import embedded, environment
from tabcontam.runs.folder import load_whole
from tabcontam.runs.rescoring import rescore
from tabcontam.runs.stored_trials import last_lines
from tabcontam.verdicts.result_types import ResultKey
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import visible
from tabcontam.version import __version__

FORM = "tabcontam judgements 1"  # the name of the form, written in a file that the page saves
MEANINGS = {
    Likeness.EXACT: "the same words and values in the same order; white space, capitals, quotes and final marks may "
    "differ",
    Likeness.NEAR: "the true ending can be recognised as the source; a few words or values are left out, added or "
    "exchanged",
    Likeness.NONE: "anything else, however fluent or plausible",
}


@dataclass(frozen=True)
class JudgingItem:
    """A pair as a person sees it, with all completions equal to it. `word` is the person's earlier word."""

    pair: str
    shown: str
    expected: str
    completion: str
    places: tuple[tuple[ResultKey, str], ...]
    word: Likeness | None = None


@dataclass(frozen=True)
class JudgingSheet:
    """The pairs that one person judges in a run's folder, in the order in which they are shown."""

    folder: Path
    by: str
    items: tuple[JudgingItem, ...]

    @property
    def left(self) -> tuple[JudgingItem, ...]:
        """The pairs that this person has not judged."""
        return tuple(item for item in self.items if item.word is None)

    def note(self, item: JudgingItem, word: Likeness) -> None:
        """Record the person's judgement (`word`) of a pair. It is on disk when this returns. Raises `UsageError`."""
        journal = JudgementJournal(self.folder)
        try:
            for place, query in item.places:
                journal.note(Judgement(place, query, self.by, item.pair, word, person=True))
        except OSError as error:
            raise UsageError(f"cannot write {journal.path}: {error.strerror}; make room and go on") from error


def sheet_of(folder: Path, by: str, seed: int = 0) -> JudgingSheet:
    """Return the pairs of a run for a person. The same seed and name give the same order. Raises `UsageError`."""
    past, judgements = load_whole(folder), judgements_in(folder)
    name = _checked(by, judgements)
    own = [result for result in past.results if not result.control]
    items_of: dict[str, JudgingItem] = {}
    for place, compared in compared_in(last_lines(folder, own)).items():
        for one in compared:
            pair = pair_of(one)
            judgement = judgements.of(place, one).get(name)
            before = items_of.get(pair)
            places = (*(before.places if before else ()), (place, one.query_id))
            word = judgement.word if judgement and (before is None or before.word) else None
            items_of[pair] = JudgingItem(pair, one.shown, one.expected, one.completion, places, word)
    if not items_of:
        judgeable = [test.id for test in all_tests() if isinstance(test, JudgedTest)]
        if any(result.test in judgeable for result in own):
            raise UsageError(f"{folder} holds no completion to judge: none could be read")
        advice = option("tests", " or ".join(judgeable))
        raise UsageError(f"{folder} holds no completions to judge; make a run with {advice}")
    items = sorted(items_of.values(), key=lambda item: item.pair)
    Random(f"{seed} {name}").shuffle(items)
    return JudgingSheet(folder, name, tuple(items))


def _checked(by: str, judgements: Judgements, *, longest_name: int = 100) -> str:
    """Return a person's name in its recorded form. Raises `UsageError` for "" and for the name of an LLM judge."""
    name = " ".join(visible(by, line=True).split())
    if not name or len(name) > longest_name:
        raise UsageError(f"--by: {by[:40]!r} is not a name of 1 to {longest_name} characters")
    if name == TEXT or any(one.by == name and not one.person for one in judgements):
        raise UsageError(f"--by: {name} is not a person who judged this run; take another name")
    return name


def render_judging(sheet: JudgingSheet) -> str:
    """Return the page on which the person judges. It loads and sends nothing, and saves a file for `judge --from`."""
    (style, style_hash), (script, script_hash) = embedded("style.css", "judging.css"), embedded("judging.js")
    embeds = {"style": style, "style_hash": style_hash, "script": script, "script_hash": script_hash}
    meanings = {word.value: meaning for word, meaning in MEANINGS.items()}
    template = environment().get_template("judging.html.jinja")
    pairs = [(one.pair, one.shown, one.expected, one.completion, one.word) for one in sheet.items]
    return template.render(by=sheet.by, pairs=pairs, form=FORM, meanings=meanings, version=__version__, **embeds)


def take_file(sheet: JudgingSheet, file: Path) -> int:
    """Record the words of a saved file and return how many are new. Raises `UsageError`; then nothing is recorded."""
    words = _words(file, sheet.by)
    known = {item.pair: item for item in sheet.items}
    if unknown := [pair for pair in words if pair not in known]:
        raise UsageError(f"{file}: {len(unknown)} of {len(words)} pairs are not of this run; name the run it is from")
    new = [(known[pair], word) for pair, word in words.items() if known[pair].word is not word]
    for item, word in new:
        sheet.note(item, word)
    return len(new)


def _words(file: Path, by: str) -> dict[str, Likeness]:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{file} is not JSON; give the file that the page saved") from None
    form, words = (document.get("form"), document.get("words")) if isinstance(document, Mapping) else (None, None)
    if form != FORM or not isinstance(words, Mapping):
        raise UsageError(f"{file} holds no judgements; give the file that the page saved")
    if document.get("by") != by:
        raise UsageError(f"{file} was saved by {document.get('by')!r:.60}; give --by that name")
    if wrong := [word for word in words.values() if word not in set(Likeness)]:
        raise UsageError(f"{file}: {wrong[0]!r:.60} is not one of {', '.join(Likeness)}")
    return {pair: Likeness(word) for pair, word in words.items()}


def judged_again(folder: Path) -> RunResults:
    """Return the run's results with the present judgements, and record them. Raises `UsageError`."""
    if not (folder / RESULTS).exists():
        raise UsageError(f"{folder} is not the folder of a run: it has no results.json")
    with lock_run_folder(folder):
        return rescore(folder, None)
