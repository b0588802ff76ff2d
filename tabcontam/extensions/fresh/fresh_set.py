"""A fresh evaluation set, from a feed to a folder: texts, questions, a judge, answers, and old texts for comparison."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Any

from tabcontam.asking.estimate import Estimate
from tabcontam.asking.event_loops import interruptible, run_to_end
from tabcontam.asking.reply_store import Store
from tabcontam.asking.run_progress import Progress
from tabcontam.asking.trial_file import lock_run_folder, open_folder
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError, one_line, option, option_name
from tabcontam.evidence.questions import READ, Answer, Capability, Reply, ReplyState
from tabcontam.extensions.fresh.feeds.base import writing
from tabcontam.extensions.fresh.feeds.collecting import TextCollection, collect, fetcher_of
from tabcontam.extensions.fresh.feeds.date_ranges import instants_of, start_of
from tabcontam.extensions.fresh.feeds.feed_cards import Feed, shipped_feeds
from tabcontam.extensions.fresh.passage_controls import readers
from tabcontam.extensions.fresh.passages import familiarity
from tabcontam.extensions.fresh.passages.judge_queries import (
    ANSWERABLE,
    FAITHFUL,
    PLACES,
    RATINGS,
    PairOutcome,
    answer_query,
    answerable_query,
    faithful_query,
    label_in,
    pair_query,
    position_bias,
    rating_query,
)
from tabcontam.extensions.fresh.passages.passage_questions import (
    PassageQuestion,
    QuestionCandidate,
    TextPassage,
    census,
    explained,
    located,
    longest_candidates,
    longest_question,
    longest_summary,
    question_of,
    question_query,
    summary_question,
    terms_query,
)
from tabcontam.extensions.fresh.question_asker import QuestionAsker, reply_of
from tabcontam.extensions.fresh.thresholds import DEFAULT_TEXTS
from tabcontam.extensions.fresh.thresholds import JUDGED_CHARACTERS as LONGEST_SHOWN
from tabcontam.groups import grouped
from tabcontam.models.base import Model
from tabcontam.models.catalogue import by_name, name_of
from tabcontam.models.keys import HostKey, KeyRing, host_of
from tabcontam.models.prices import load_prices
from tabcontam.models.provider_registry import ModelSettings, key_owners, resolve
from tabcontam.paths import check_own_files, replace_file
from tabcontam.statistics.kappa import measure_agreement
from tabcontam.tables.sources.web_files import key_in
from tabcontam.version import __version__

SET = "fresh.json"
QUESTIONS = "questions.jsonl"
HIDDEN = "hidden"  # the folder of files with answers: only the owner can read them
PASSAGES, ANSWERS, REPLIES = "passages.jsonl", "answers.jsonl", "replies.jsonl"
JUDGED_AS = ("faithful", "answerable")
LONGEST_REPLY = Reply("\x01" * LONGEST_SHOWN, ReplyState.OK)  # the longest reply in JSON that a judge is shown


@dataclass(frozen=True)
class FreshOrder:
    """The order for a fresh set: the texts to collect and the models to ask.

    `llm` writes questions, `judge` judges them, and the models of `ask` answer. `old` is an earlier set, or a file of
    earlier texts, to compare the fresh texts with. `human` is a file of people's judgements.
    """

    feed: Feed
    since: date
    out: Path
    until: date | None = None
    most: int = DEFAULT_TEXTS
    llm: str | None = None
    judge: str | None = None
    ask: tuple[str, ...] = ()
    old: Path | None = None
    human: Path | None = None
    config: RunConfig = field(default_factory=RunConfig)
    dry_run: bool = False


@dataclass(frozen=True)
class FreshSet:
    """A fresh set: the content of fresh.json, estimates if it was only planned, and the reason if it ended early."""

    folder: Path
    document: Mapping[str, Any]
    estimates: tuple[Estimate, ...] = ()
    ended: str = ""
    spent: bool = False
    interrupted: bool = False


class _AskingEnd(Exception):
    """A signal that asking has ended."""


def make(order: FreshOrder, progress: Progress) -> FreshSet:
    """Collect, ask and write a fresh set. Raises `UsageError` for a contradictory order before any request is sent."""
    _check(order)
    settings = ModelSettings(seed=order.config.seed, needs=frozenset({Capability.GENERATE, Capability.SCORE}))
    _claim(order.feed, settings.keyring)
    named = by_name(list(dict.fromkeys([*filter(None, (order.llm, order.judge)), *order.ask])))
    models = {name: resolve(spec).open(settings) for name, spec in named.items()}
    llm, judge = (name_of(spec) if spec else None for spec in (order.llm, order.judge))
    order = replace(order, llm=llm, judge=judge, ask=tuple(map(name_of, order.ask)))
    for spec, model in models.items():
        if model.is_corpus:
            raise UsageError(f"{spec} is a corpus, which cannot answer; name a model")
        if not order.dry_run:
            model.check_at_hand()
    people = _read_people(order.human) if order.human else []
    old = old_texts(order.old, order.since) if order.old else []
    open_folder(order.out)
    _check_same(order)
    with lock_run_folder(order.out):
        if not (order.out / SET).exists():
            _replace(order.out / SET, json.dumps({"schema": 1, "set": _identity(order)}) + "\n")
        with progress.doing(f"fetching from {order.feed.title}") as tell:
            fetcher = fetcher_of(order.feed, order.out)
            found = collect(order.feed, fetcher, order.since, order.until, order.most, tell)
        passages = [TextPassage(document) for document in found.documents]
        if not passages:
            left_out = "; ".join(f"{count:,} {reason}" for reason, count in found.left_out.items())
            raise UsageError(f"no text of {order.feed.title} is fresh: {left_out or 'there was none'}")
        document = _document(order, found, passages)
        _write_hidden(order.out, PASSAGES, map(_passage_line, passages))
        store = Store.open() if order.config.cache else Store()
        questioning = QuestionAsker(order.config, store, load_prices(order.config.prices), progress)
        work = _FreshStages(order, passages, old, people, models, questioning, document)
        try:
            run_to_end(work.whole(), questioning.stop)
        finally:
            store.close()
        if order.dry_run:
            return FreshSet(order.out, document, tuple(work.estimates))
        _replace(order.out / SET, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    ended = "; ".join(f"{spec}: {line}" for spec, line in questioning.ended.items())
    return FreshSet(order.out, document, tuple(work.estimates), ended, questioning.spent, questioning.stopping)


def _claim(feed: Feed, keyring: KeyRing) -> None:
    """Raise `UsageError` if a feed's token may not be sent to its host, or if the named token is not set."""
    if not feed.token:
        return
    shipped = {one.token: (host_of(one.address),) for one in shipped_feeds().values() if one.token}
    keyring.claim(HostKey(host_of(feed.address), feed.token), {**key_owners(), **shipped})
    if not key_in(feed.token) and feed.token not in shipped:
        raise UsageError(f"no key for {host_of(feed.address)}; set the environment variable {feed.token}")


@dataclass
class _FreshStages:
    """The stages of a fresh set. Each continues with the results of the stage before."""

    order: FreshOrder
    passages: Sequence[TextPassage]
    old: Sequence[tuple[str, str]]
    people: Sequence[Mapping[str, Any]]
    models: Mapping[str, Model]
    questioning: QuestionAsker
    document: dict[str, Any]
    estimates: list[Estimate] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    async def whole(self) -> None:
        """Run all stages; a dry run asks no model."""
        try:
            for model in self.models.values():
                with suppress(UsageError) if self.order.dry_run else nullcontext():
                    await model.connect()
            with interruptible(self.questioning.stop):
                await self._stages()
        except _AskingEnd:
            return
        finally:
            for model in self.models.values():
                await model.close()

    async def _stages(self) -> None:
        order = self.order
        questions = await self._questions(self.models[order.llm]) if order.llm else []
        if order.ask and questions:
            await self._answers(questions)
        if self.old:
            await self._experiment()

    async def _ask(self, model: Model, queries: Sequence[Any]) -> dict[str, Answer]:
        """Return the answers to all queries. Raises `_AskingEnd` if some are missing, or if asking has stopped."""
        if self.order.dry_run:
            self.estimates.append(self.questioning.estimate(model, queries))
            return {}
        found = (await self.questioning.ask([(model, queries)]))[0]
        if self.questioning.stopping or model.spec in self.questioning.ended:
            raise _AskingEnd
        return found

    async def _questions(self, llm: Model) -> list[PassageQuestion]:
        """Return the questions that are faithful and answerable, and write them with the census."""
        wanted = [terms_query(passage) for passage in self.passages]
        answers = await self._ask(llm, wanted)
        candidates = [one for passage in self.passages for one in located(passage)]
        for passage, query in zip(self.passages, wanted, strict=True):
            if self.order.dry_run:
                candidates += longest_candidates(passage)
                continue
            terms = explained(passage, reply_of(answers, query))
            if terms is None:
                self.left_out["no terms could be read"] += 1
            candidates += terms or ()
        made = await self._written(llm, candidates)
        judged = await self._judged(made)
        if self.order.dry_run:
            return made
        accepted = [one for one in made if judged.get(one.id) == JUDGED_AS]
        self._census(made, accepted, judged)
        return accepted

    async def _written(self, llm: Model, candidates: Sequence[QuestionCandidate]) -> list[PassageQuestion]:
        queries = {one.id: question_query(one) for one in candidates}
        answers = await self._ask(llm, list(queries.values()))
        if self.order.dry_run:
            return list(map(longest_question, (*candidates, *map(longest_summary, self.passages))))
        outcomes = [question_of(one, reply_of(answers, queries[one.id])) for one in candidates]
        summaries = [summary_question(passage, self.order.config.seed) for passage in self.passages]
        made: dict[str, PassageQuestion] = {}
        for one in (*outcomes, *summaries):
            if isinstance(one, PassageQuestion):
                made.setdefault(one.id, one)
            elif one is not None:
                self.left_out[one] += 1
        return list(made.values())

    async def _judged(self, made: Sequence[PassageQuestion]) -> dict[str, tuple[str | None, str | None]]:
        """Return the judge's labels of each question: faithful or not, and answerable or not."""
        queries = [(faithful_query(one), answerable_query(one)) for one in made]
        answers = await self._ask(self._judge, [query for pair in queries for query in pair])
        found = {
            one.id: (label_in(reply_of(answers, first), FAITHFUL), label_in(reply_of(answers, second), ANSWERABLE))
            for one, (first, second) in zip(made, queries, strict=True)
        }
        for words in found.values() if not self.order.dry_run else ():
            if None in words:
                self.left_out["the judge said no label"] += 1
            elif words != JUDGED_AS:
                self.left_out[" and ".join(word for word in words if word and word not in JUDGED_AS)] += 1
        return found

    @property
    def _judge(self) -> Model:
        return self.models[self.order.judge or self.order.llm or ""]

    def _census(
        self,
        made: Sequence[PassageQuestion],
        accepted: Sequence[PassageQuestion],
        judged: Mapping[str, tuple[str | None, str | None]],
    ) -> None:
        out = self.order.out
        _replace(out / QUESTIONS, "".join(_json_line(one.shown) for one in accepted))
        _write_hidden(
            out,
            ANSWERS,
            (
                {"id": one.id, "question": one.question, "answer": one.answer, "passage": one.passage.id,
                 "faithful": judged[one.id][0], "answerable": judged[one.id][1], "kept": one in accepted}
                for one in made
            ),
        )  # fmt: skip
        labels = [(name, *one) for name, words in judged.items() for one in zip(JUDGED_AS, words, strict=True)]
        self.document["questions"] = {
            "llm": self.order.llm,
            "judge": self._judge.spec,
            "written": len(made),
            "kept": len(accepted),
            "kinds": census(accepted),
            "left_out": dict(self.left_out),
            "agreement": self._agreement(labels),
        }

    async def _answers(self, questions: Sequence[PassageQuestion]) -> None:
        """Ask the LLMs of `ask`; then the judge rates each answer, and compares each pair of answers in both orders."""
        specs = list(dict.fromkeys(self.order.ask))
        queries = [answer_query(one) for one in questions]
        replies = {spec: await self._ask(self.models[spec], queries) for spec in specs}
        if self.order.dry_run:
            replies = {spec: {query.id: LONGEST_REPLY for query in queries} for spec in specs}
        texts = {
            spec: {query.id: reply.text for query in queries if (reply := reply_of(replies[spec], query)).state in READ}
            for spec in specs
        }
        lines = ({"id": name, "llm": spec, "answer": text} for spec in specs for name, text in texts[spec].items())
        if not self.order.dry_run:
            _write_hidden(self.order.out, REPLIES, lines)
        rated = [(one, spec, rating_query(one, spec, texts[spec][one.id]))
                 for spec in specs for one in questions if one.id in texts[spec]]  # fmt: skip
        pairs = [
            (one, pair, [pair_query(one, order, (texts[order[0]][one.id], texts[order[1]][one.id]))
                         for order in (pair, pair[::-1])])
            for pair in combinations(specs, 2) for one in questions
            if one.id in texts[pair[0]] and one.id in texts[pair[1]]
        ]  # fmt: skip
        judge_replies = await self._ask(
            self._judge, [*(query for _, _, query in rated), *(query for _, _, both in pairs for query in both)]
        )
        if self.order.dry_run:
            return
        ratings = [(one, spec, label_in(reply_of(judge_replies, query), RATINGS)) for one, spec, query in rated]
        outcomes = [
            PairOutcome(one.id, pair, *(label_in(reply_of(judge_replies, query), PLACES) for query in both))
            for one, pair, both in pairs
        ]
        self.document["answers"] = {
            "judge": self._judge.spec,
            "llms": [_standing(spec, questions, ratings, outcomes) for spec in specs],
            "position_bias": asdict(position_bias(outcomes)),
            "agreement": self._agreement(
                [(one.id, f"rating {spec}", word) for one, spec, word in ratings]
                + [(one.question, f"pair {' '.join(one.llms)}", one.winner) for one in outcomes]
            ),
        }

    def _agreement(self, labels: Sequence[tuple[str, str, str | None]]) -> list[dict[str, Any]]:
        """Return how often the judge and people agree on items that both judged, by the kind of judgement."""
        words = {(name, what): word for name, what, word in labels if word is not None}
        pairs: dict[str, list[tuple[str, str]]] = {}
        for line in self.people:
            place = (line["question"], line["what"])
            if place in words:
                pairs.setdefault(str(line["what"]).partition(" ")[0], []).append((words[place], str(line["word"])))
        found = {what: measure_agreement(own) for what, own in pairs.items()}
        return [{"what": what, **asdict(one), "share": one.share} for what, one in found.items()]

    async def _experiment(self) -> None:
        """Measure how familiar each LLM, and each control, is with the old passages and with the fresh passages."""
        fresh = [(one.id, one.text) for one in self.passages]
        try:
            pieces = familiarity.pieces_of(self.old, fresh)
        except ValueError as error:
            raise UsageError(f"{option_name('old')}: {error}") from None
        asked = [self.models[spec] for spec in dict.fromkeys(self.order.ask)]
        controls = readers([text for _, text in self.old], [text for _, text in fresh], self.order.config.seed)
        found = [await self._gaps(model, pieces) for model in (*asked, *(() if self.order.dry_run else controls))]
        if not self.order.dry_run:
            self.document["memory"] = {
                "words": len(pieces[0].whole.split()),
                "old": sum(piece.old for piece in pieces),
                "fresh": sum(not piece.old for piece in pieces),
                "llms": found,
            }

    async def _gaps(self, model: Model, pieces: Sequence[familiarity.PassageStart]) -> dict[str, Any]:
        may = model.capabilities | model.may_have
        recite, score = list(map(familiarity.recite_query, pieces)), list(map(familiarity.score_query, pieces))
        replies = await self._ask(model, recite) if Capability.GENERATE in may else {}
        scored = await self._ask(model, score) if Capability.SCORE in may else {}
        copied = familiarity.recitals(pieces, [replies.get(query.id) for query in recite])
        values: dict[str, list[float | None]] = {
            familiarity.LONGEST: [one[0] if one else None for one in copied],
            familiarity.COPIED: [one[1] if one else None for one in copied],
            familiarity.BITS: [familiarity.bits(scored.get(query.id)) for query in score],
        }
        gaps: list[familiarity.FamiliarityGap] = []
        for measure in familiarity.MEASURES:
            sides = [[value for value, piece in zip(values[measure], pieces, strict=True) if piece.old is side]
                     for side in (True, False)]  # fmt: skip
            gaps.append(familiarity.gap(measure, sides[0], sides[1], self.order.config.seed))
        concluded = familiarity.conclusion(gaps).value
        return {"llm": model.spec, "control": model.control, "conclusion": concluded, "gaps": list(map(asdict, gaps))}


def _standing(
    spec: str,
    questions: Sequence[PassageQuestion],
    ratings: Sequence[tuple[PassageQuestion, str, str | None]],
    outcomes: Sequence[PairOutcome],
) -> dict[str, Any]:
    """Return one LLM's mean rating by the judge, also by kind, and the number of pairs that it won in both orders.

    A question without an answer that could be rated is not in the mean; the counts show this.
    """
    own = [(one.kind.value, int(word)) for one, llm, word in ratings if llm == spec and word is not None]
    kinds = grouped(own, lambda one: one[0])
    met = [one for one in outcomes if spec in one.llms and one.winner is not None]
    return {
        "llm": spec,
        "questions": len(questions),
        "rated": len(own),
        "rating": sum(number for _, number in own) / len(own) if own else None,
        "rating_by_kind": {kind: sum(number for _, number in found) / len(found) for kind, found in kinds.items()},
        "pairs": len(met),
        "won": sum(one.winner == spec for one in met),
        "lost": sum(one.winner not in (spec, "tie") for one in met),
    }


def old_texts(path: Path, since: date) -> list[tuple[str, str]]:
    """Return the texts of an earlier set, from its folder, or of a JSONL file of `{"id": …, "text": …}`.

    Raises `UsageError`, also for a text `published` on or after the day `since`: it is not old.
    """
    file = path / HIDDEN / PASSAGES if path.is_dir() else path
    found: dict[str, str] = {}
    for number, line in _objects(file, "old"):
        text, name = line.get("text"), line.get("id", str(number))
        if not isinstance(text, str) or not isinstance(name, str | int):
            raise UsageError(f'{file}, line {number}: it has no text; write {{"id": "a", "text": "…"}} on each line')
        stated = instants_of(str(line.get("published") or ""))
        if stated is not None and stated.last >= start_of(since):
            raise UsageError(
                f"{option_name('old')}: {file}, line {number} is of {since} or later; name texts that are older"
            )
        found[str(name)] = text
    return list(found.items())


def _read_people(path: Path) -> list[dict[str, Any]]:
    """Return people's judgements, a JSON object a line: `question`, `what` and `word`. Raises `UsageError`."""
    judgements = []
    for number, line in _objects(path, "human"):
        if not all(isinstance(line.get(key), str) and line[key] for key in ("question", "what", "word")):
            raise UsageError(
                f'{path}, line {number}: write {{"question": ID, "what": "faithful", "word": "unfaithful"}} a line'
            )
        judgements.append(line)
    return judgements


def _objects(path: Path, name: str) -> Iterable[tuple[int, dict[str, Any]]]:
    try:
        check_own_files(path.parent)
        text = path.read_text("utf-8")
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or one_line(error)
        raise UsageError(f"{option_name(name)}: {path} cannot be read: {reason}") from None
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                content = json.loads(line)
            except (ValueError, RecursionError):
                content = None
            if not isinstance(content, dict):
                raise UsageError(f"{option_name(name)}: {path}, line {number} is not a JSON object")
            yield number, content


def _check(order: FreshOrder) -> None:
    """Raise `UsageError` for an option that has no effect without another option."""
    if order.judge and not order.llm:
        raise UsageError(f"{option_name('judge')} judges questions that an LLM writes; add {option('llm', 'LLM')}")
    if order.ask and not (order.llm or order.old):
        raise UsageError(
            f"{option_name('ask')} answers questions, which {option('llm', 'LLM')} writes, or continues passages, next "
            f"to those of {option('old', 'DIR')}; add one of them"
        )
    if order.human and not order.llm:
        raise UsageError(f"{option_name('human')} is compared with a judge; add {option('llm', 'LLM')}")


def _identity(order: FreshOrder) -> dict[str, Any]:
    own = {key: getattr(order.feed, key) for key in ("name", "kind", "address", "query", "text")}
    return {**own, "since": str(order.since), "until": str(order.until) if order.until else None}


def _check_same(order: FreshOrder) -> None:
    """Raise `UsageError` if the folder contains another set."""
    try:
        recorded = json.loads((order.out / SET).read_text("utf-8"))["set"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return
    if recorded != _identity(order):
        raise UsageError(f"{order.out} holds a set of another source or other days; name a new folder")


def _document(order: FreshOrder, texts: TextCollection, passages: Sequence[TextPassage]) -> dict[str, Any]:
    dates = [one.document.published.first for one in passages]
    return {
        "schema": 1,
        "tabcontam": __version__,
        "set": _identity(order),
        "licence": order.feed.licence,
        "passages": len(passages),
        "first": min(dates).isoformat(),
        "last": max(dates).isoformat(),
        "left_out": dict(texts.left_out),
        "requests": texts.asked,
    }


def _passage_line(one: TextPassage) -> dict[str, Any]:
    own = one.document
    return {
        "id": one.id,
        "genre": own.genre,
        "address": own.address,
        "title": own.title,
        "published": own.published.first.isoformat(),
        "summary": own.summary,
        "text": one.text,
    }


def _write_hidden(folder: Path, name: str, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write a file that only its owner can read. Raises `UsageError`."""
    place = folder / HIDDEN
    with writing(place):
        place.mkdir(mode=0o700, exist_ok=True)
    _replace(place / name, "".join(map(_json_line, lines)))
    os.chmod(place / name, 0o600)


def _replace(path: Path, text: str) -> None:
    with writing(path):
        replace_file(path, text)


def _json_line(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False) + "\n"
