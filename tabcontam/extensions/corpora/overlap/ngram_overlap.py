"""N-gram overlap: published rules for contaminated texts, applied to a table's rows and to rows of a twin."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from statistics import fmean
from typing import ClassVar

from tabcontam.errors import Skip
from tabcontam.evidence.base import (
    Answer,
    Capability,
    Evidence,
    EvidenceKind,
    Family,
    Lookup,
    LookupMode,
    Matches,
    Query,
    Reading,
    ReplyState,
    Statistic,
    Test,
    Trial,
)
from tabcontam.extensions.corpora.overlap.row_finds import place_of
from tabcontam.extensions.corpora.overlap.row_pieces import (
    PieceOverlap,
    drawn_signs,
    grams,
    of_length,
    overlap,
    usual_length,
    words,
)
from tabcontam.extensions.corpora.thresholds import (
    LLAMA_CLEAN_SHARE,
    LLAMA_DIRTY_SHARE,
    LLAMA_RUN_WORDS,
    OVERLAP_POOL,
    OVERLAP_ROWS,
    PALM_SHARE,
    SHORT_PIECE_WORDS,
    TULU_CONTAMINATED_SHARE,
)
from tabcontam.tables.known_rows import not_known
from tabcontam.tables.row_draws import pool
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.twin_tables import twin_rows

TWIN, IN_SIGNS = "twin", "signs"  # suffixes of the ids of further queries about a row


@dataclass(frozen=True)
class NgramOverlap(Test):
    """Documents are searched for pieces of rows: adjacent words or characters, as in rules published for texts.

    Measures: how many rows of the table, and how many rows of a shuffled twin, each published rule for texts calls
    contaminated. The test gives a score and no verdict.

    Queries: two for each of 100 random rows, which are written in the words of the serializer, and two for each of as
    many rows of a shuffled twin. The first query searches for all pieces of 8 words, of 11 words and of N words (see
    GPT-3's rule), and ignores case and punctuation. The second query searches for three random pieces of 50 letters and
    digits (see GPT-4's rule). Digits belong to the words in all pieces.

    Null: none. Every row contains the serializer's own words and the names of features, so the rules also count pieces
    that all rows share. The share of the twin's rows shows how much such pieces contribute. The score is the mean share
    of pieces of 8 words (8-grams) that are found. A row of fewer than 8 words has a share of 0.

    Published rule: six rules are applied to each row, and none to the table. GPT-2 reports the share of 8-grams that
    are found, and calls no text contaminated. GPT-3 counts a row if 1 to 10 documents contain one of its pieces of N
    words. N is the 5th percentile of the rows' lengths in words, but at least 8 and at most 13. A row of fewer than N
    words is one piece. A piece that more than 10 documents contain is left out. PaLM counts a row if 70 % of its
    8-grams are found. Tülu 3 counts a row if more than half of its words are in 8-grams that are found. GPT-4 counts a
    row if one of three random pieces of 50 letters and digits is found. A shorter row is one piece. Llama 2 calls a row
    dirty if at least 80 % of its words are in found runs of more than 10 words, and not clean if at least 20 % are. The
    result's hits are the rows that PaLM counts.

    Needs: documents that can be searched. If the table has no twin, only its own rows are searched for. GPT-4's pieces
    are not searched for in a corpus that cannot ignore the characters between letters and digits (`infinigram:`).

    Cannot show: that the documents contain rows, or that the documents contain no rows. A row in another order or form
    (a line of CSV) shares no piece with the searched text. A page about the table's columns shares many pieces with it.
    `row_overlap` finds rows in any rendering. Some rules differ here from their sources. Llama 2's authors count tokens
    and let four tokens differ; here words count, and no word may differ. Tülu 3's authors count the tokens in one
    document; here all documents count together. Tülu 3's rule for a whole set of texts (2 % of its texts) is left out,
    since rows with the same columns share pieces. PaLM's authors judge questions, prompts or answers; here a row is
    judged.

    Source: Radford et al. 2019 (GPT-2), section 4; Brown et al. 2020 (GPT-3), section 4 and appendix C; Chowdhery et
    al. 2022 (PaLM), section 8; OpenAI 2023 (GPT-4), appendix C; Touvron et al. 2023 (Llama 2), appendix A.6; Lambert et
    al. 2024 (Tülu 3), section 3.2. The twin is the project's own.

    Example: of `The age is 39, The workclass is State-gov, The fnlwgt is 77516` one piece of 8 words is `the age is 39
    the workclass is state`.
    """

    id: ClassVar[str] = "ngram_overlap"
    follows = "row_overlap"
    title: ClassVar[str] = "N-gram overlap"
    family: ClassVar[Family] = Family.CORPUS
    kind: ClassVar[EvidenceKind] = EvidenceKind.CORPUS
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.SEARCH})
    decides: ClassVar[bool] = False
    on_request: ClassVar[bool] = True

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return the queries about the rows, each followed by those about its twin. Raises `Skip` without rows."""
        rows = pool(table, not_known(table, range(len(table.rows))), OVERLAP_POOL)
        if not rows:
            raise Skip("the model may know every row of the table")
        asked = rng.sample(rows, min(OVERLAP_ROWS, len(rows)))
        twins = _twins(table)
        texts = [serializer.row(table.columns, table.rows[row]) for row in asked]
        length = usual_length(len(words(text)) for text in texts)
        queries: list[Query] = []
        for number, (row, text) in enumerate(zip(asked, texts, strict=True)):
            name = f"{self.id}-{number}"
            queries += _pair(name, text, length, row, rng)
            if twins:
                other = serializer.row(table.columns, twins[number % len(twins)])
                queries += _pair(f"{name}-{TWIN}", other, length, None, rng, decoy_of=name)
        return queries

    def read(self, query: Query, reply: Answer, serializer: Serializer) -> Reading:
        """Return the number of a row's pieces that are found; unreadable if some were not searched for and counted."""
        counts = _counts(query, reply)
        if counts is None:
            return Reading(None, hit=None, paper_hit=False, readable=False)
        held = sum(count > 0 for count in counts.values())
        return Reading(f"{held} of {len(counts)} pieces", hit=held > 0, paper_hit=False, readable=True)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """Return each rule's share of rows and of the twin's rows; no p-value."""
        own = [trial for trial in trials if not trial.query.decoy_of]
        twin = [trial for trial in trials if trial.query.decoy_of]
        rows, twins = _overlaps(own), _overlaps(twin)
        asked = sum(not _in_signs(trial.query) for trial in own)
        score, other = (fmean(one.short for one in side) if side else None for side in (rows, twins))
        return Evidence(
            statistic=Statistic(name="share of pieces of 8 words", value=score or 0.0, expected=other),
            null="none: the share of a shuffled twin's pieces shows how much the schema alone explains",
            sentence=_sentence(own, twin, rows, twins, asked),
            hits=sum(one.short >= PALM_SHARE for one in rows),
            asked=asked,
            answered=len(rows),
            score=score,
        )


RULES: Mapping[str, Callable[[PieceOverlap], bool]] = {
    "GPT-3's rule counts {} of the rows": lambda one: one.collides,
    "PaLM's {}": lambda one: one.short >= PALM_SHARE,
    "Tülu 3's {}": lambda one: one.in_short > TULU_CONTAMINATED_SHARE,
    "Llama 2's {} as dirty": lambda one: one.in_runs >= LLAMA_DIRTY_SHARE,
    "and {} as not clean": lambda one: one.in_runs >= LLAMA_CLEAN_SHARE,
}


def _pair(name: str, text: str, length: int, row: int | None, rng: Random, decoy_of: str = "") -> list[Query]:
    """Return the query for a row's words and the query for its letters and digits; `asked` has the pieces' lengths."""
    own, lengths = words(text), (SHORT_PIECE_WORDS, LLAMA_RUN_WORDS, length)
    pieces = tuple(
        dict.fromkeys([*grams(own, SHORT_PIECE_WORDS), *grams(own, LLAMA_RUN_WORDS), *of_length(own, length)])
    )
    in_signs = drawn_signs(text, rng)

    def query(name: str, asked: tuple[str, ...], lookup: Lookup, decoy_of: str) -> Query:
        return Query(
            id=name,
            write=partial(_same, lookup),
            asked=asked,
            expected=(text,),
            max_tokens=1,
            rows=() if row is None else (row,),
            row=row,
            decoy_of=decoy_of,
        )

    first = query(name, tuple(f"{size} words" for size in lengths), Lookup(pieces, by=LookupMode.WORDS), decoy_of)
    twin_of = f"{decoy_of}-{IN_SIGNS}" if decoy_of else ""
    return [first, query(f"{name}-{IN_SIGNS}", ("50 signs",), Lookup(in_signs, by=LookupMode.SIGNS), twin_of)]


def _same(lookup: Lookup) -> Lookup:
    return Lookup(lookup.texts, lookup.most, lookup.by)


def _twins(table: Table) -> list[tuple[Cell, ...]]:
    try:
        return [row for _, row in twin_rows(table)]
    except Skip:
        return []


def _in_signs(query: Query) -> bool:
    return query.id.endswith(f"-{IN_SIGNS}")


def _counts(query: Query, answer: object) -> dict[str, int] | None:
    """Return how many documents hold each piece, or None if the answer does not report it."""
    question = query.question
    if not isinstance(question, Lookup) or not isinstance(answer, Matches) or answer.state is not ReplyState.OK:
        return None
    counts = answer.counts if answer.counts or answer.documents else (0,) * len(question.texts)
    return dict(zip(question.texts, counts, strict=True)) if len(counts) == len(question.texts) else None


def _overlaps(trials: Sequence[Trial]) -> list[PieceOverlap]:
    found = []
    for trial in trials:
        counts = None if _in_signs(trial.query) or not trial.readable else _counts(trial.query, trial.reply)
        if counts is not None:
            length = int(trial.query.asked[-1].split()[0])
            found.append(overlap(words(str(trial.query.expected[0])), counts, length))
    return found


def _sentence(
    own: Sequence[Trial], twin: Sequence[Trial], rows: Sequence[PieceOverlap], twins: Sequence[PieceOverlap], asked: int
) -> str:
    """Return in words each rule's share of rows and of the twin's rows, and one place."""
    lost = f"{asked - len(rows)} of {asked} rows could not be searched for" * (len(rows) < asked)
    early = sum(isinstance(trial.reply, Matches) and trial.reply.more for trial in own)
    places = [match for trial in own if isinstance(trial.reply, Matches) for match in trial.reply.places[:1]]
    parts = [
        *(_shares(rows, twins) if rows else ()),
        _of_gpt_4(own, twin),
        "GPT-3's rule leaves out pieces that more than 10 documents hold" * any(one.common for one in rows),
        "the table has no shuffled twin" * (bool(rows) and not twin),
        f"the count ended early for {early} of {len(own)} queries: documents may hold more" * bool(early),
        lost,
        f"for example {place_of(places[0])}" if places else "",
    ]
    return "; ".join(filter(None, parts))


def _shares(rows: Sequence[PieceOverlap], twins: Sequence[PieceOverlap]) -> list[str]:
    """Return in words the share of found pieces and of the rows that each rule by words counts, with the twin's."""

    def share(measure: Callable[[PieceOverlap], float]) -> str:
        return _with_twin(fmean(map(measure, rows)), fmean(map(measure, twins)) if twins else None)

    first = f"documents hold {share(lambda one: one.short)} of the 8-grams of {len(rows)} rows"
    return [
        f"{first} as the serializer writes them",
        ", ".join(name.format(share(rule)) for name, rule in RULES.items()),
    ]


def _with_twin(own: float, twin: float | None) -> str:
    return f"{own:.0%}" + (f" ({twin:.0%} of a twin's)" if twin is not None else "")


def _of_gpt_4(own: Sequence[Trial], twin: Sequence[Trial]) -> str:
    """Return in words the share of rows that GPT-4's rule counts, or that its pieces were not searched for."""
    asked = [trial for trial in own if _in_signs(trial.query)]
    if not asked:
        return "GPT-4's pieces of letters and digits were not searched for"
    found, lost = _of_signs(own), sum(not trial.readable for trial in asked)
    unread = f"GPT-4's pieces of {lost} of {len(asked)} rows could not be searched for" * bool(lost)
    stated = "" if found is None else f"GPT-4's rule counts {_with_twin(found, _of_signs(twin))}"
    return "; ".join(filter(None, (stated, unread)))


def _of_signs(trials: Sequence[Trial]) -> float | None:
    """Return the share of rows with at least one found piece of letters and digits, or None if there are no rows."""
    found = [trial.reading.hit for trial in trials if trial.readable and trial.reading and _in_signs(trial.query)]
    return fmean(map(bool, found)) if found else None
