"""The report as Markdown that GitHub, GitLab and other sites show alike.

Names are code spans, and other texts are escaped word by word. So no text of a model, a table or a user becomes markup,
a link, a mention, a reference, an emoji or a formula. By hand, because `to_markdown` of pandas needs tabulate, and
would replace seven lines.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from tabcontam.evidence.base import Verdict
from tabcontam.evidence.number_wording import format_signed
from tabcontam.groups import grouped
from tabcontam.report import memory_shares, paper_methods
from tabcontam.report.comparisons import CHANGED, KINDS, count_changes, figures
from tabcontam.report.finding_sentences import Sentence, scope, sentences
from tabcontam.report.ranking import about, correlation_sentences, ranking_columns
from tabcontam.report.report_parts import part_sentences
from tabcontam.report.standings import standings, titles_of
from tabcontam.verdicts.comparison import Comparison
from tabcontam.verdicts.llm_ranking import Rank
from tabcontam.verdicts.result_types import LETTERS, PROMPTS, Result, outcome_of
from tabcontam.verdicts.results import LlmBlock, RunResults
from tabcontam.verdicts.wording import rounded, visible

NUMBERS = ("q_value", "recalled_bits", "detectable_share")

# A word that every renderer shows unchanged: letters, digits and this punctuation. `_TELLING` finds exceptions, such
# as addresses, names of emojis and references in GitLab.
_PLAIN = re.compile(r"""[\w.,;:'"()\[\]=+\-/%±…→]+""")
_ESCAPED = re.compile(r"([\[\]_])")
_TELLING = re.compile(r"""://|www\.|^(?:mailto|xmpp):|:\w+:|%["'\w]|GH-\d""", re.IGNORECASE)

Group = TypeVar("Group", bound=str)


def render_markdown(view: RunResults) -> str:
    """Return the report as Markdown.

    The sections are the findings, the verdict on each table, a heatmap for each LLM, and the papers' methods if there
    are several. Memory's share (if asked for), the ranking, changes between compared runs, and controls follow.
    """
    sections = (_head, _found, _tables, _heatmap, _papers, _memory, _ranking, _comparisons, _controls)
    return "\n".join(line for section in sections for line in section(view))


def code(name: str) -> str:
    """Return a name as a code span on one line. A `|` would end the table's cell, so it is escaped between two spans.

    >>> code("a|`b`")
    '`a`&#124;`` `b` ``'
    """
    parts = visible(name, line=True).split("|")
    return "&#124;".join(_span(part) for part in parts)


def _span(part: str) -> str:
    if not part:
        return ""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", part)), default=0))
    # renderers remove one space on either side
    room = " " if part.strip() and (part[0] in "` " or part[-1] in "` ") else ""
    return f"{fence}{room}{part}{room}{fence}"


def prose(sentence: str) -> str:
    """Return a sentence as plain text on one line. A word that a renderer could change becomes a code span.

    >>> prose("AUC 0.72 [0.59, 0.83], ask @me")
    'AUC 0.72 \\\\[0.59, 0.83\\\\], ask `@me`'
    """
    words = visible(sentence, line=True).split()
    return " ".join(_word(word) for word in words)


def _word(word: str) -> str:
    if word == "⏎" or (_PLAIN.fullmatch(word) and not _TELLING.search(word)):
        return _ESCAPED.sub(r"\\\1", word)
    stop = word[len(word.rstrip(".,;:")) :]
    return code(word.removesuffix(stop)) + stop if stop != word else word


def table(header: Sequence[str], rows: Iterable[Sequence[str]], right: int = 0) -> Iterator[str]:
    """Yield the lines of a table. The last `right` columns are flush right."""
    ruler = ["---"] * (len(header) - right) + ["--:"] * right
    for row in (header, ruler, *rows):
        yield f"| {' | '.join(row)} |"
    yield ""


def _paragraphs(*texts: str) -> Iterator[str]:
    """Yield each text, followed by an empty line."""
    for text in texts:
        yield from (text, "")


def _head(view: RunResults) -> Iterator[str]:
    seed = "" if view.run.seed is None else f"seed {prose(str(view.run.seed))}"
    facts = filter(None, (seed, f"dictionary {prose(view.run.dictionary)}"))  # facts that the line above lacks
    made = ", ".join([f"tabcontam {prose(view.run.version)}".strip(), *facts])
    yield from _paragraphs("# Contamination report", prose(scope(view)), made)
    if view.run.command:
        yield from _paragraphs(code(view.run.command))
    for note in view.notes:
        yield f"- Note: {prose(str(note))}"
    yield ""


def _found(view: RunResults) -> Iterator[str]:
    yield from _paragraphs("## Findings")
    for sentence in sentences(view):
        yield f"- {_named(sentence)}{sentence.joint}{prose(sentence.rest)}"
    if not view.blocks:
        yield "- Nothing was asked."
    yield ""


def _named(sentence: Sentence) -> str:
    """Return the LLM's name in the catalogue and its name in the run."""
    name = code(sentence.llm)
    return name if sentence.title == sentence.llm else f"{prose(sentence.title)} ({name})"


def _llm(view: RunResults, block: LlmBlock) -> str:
    title = view.title(block.llm)
    return f"{code(block.llm)}{title and f' ({prose(title)})'}{' (control)' if block.control else ''}"


def _tables(view: RunResults) -> Iterator[str]:
    if not view.tables_in_order:
        return
    yield from _paragraphs("## Tables", "The row tests decide together; only they can show that rows were seen.")
    header = ("LLM", "Table", "Verdict", "Why", "q", "Recalled bits", "Detectable share")
    rows = [
        (
            code(one.llm) + (" (control)" if one.llm in view.joined else ""),
            code(view.label(one)),
            f"**{one.outcome}**" if one.verdict is Verdict.CONTAMINATED else one.outcome,
            prose(one.why),
            *(rounded(key, one.numbers[key]) if key in one.numbers else "" for key in NUMBERS),
        )
        for one in view.tables_in_order
    ]
    yield from table(header, rows, right=len(NUMBERS))


def _heatmap(view: RunResults) -> Iterator[str]:
    if not view.blocks:
        return
    letters = [f"`{letter}` {verdict.value}" for verdict, letter in LETTERS.items()]
    legend = f"{', '.join(letters)}; a number after `C` is a row test's recalled bits, and a number alone is a score."
    yield from _paragraphs("## Heatmap", legend)
    for block in view.blocks:
        yield from _paragraphs(f"### {_llm(view, block)}")
        header = ("Kind", "Test", *(code(column.label) for column in block.columns))
        yield from table(header, _rows(view, block, view.kinds, _square))


def _rows(
    view: RunResults,
    block: LlmBlock,
    groups: Mapping[Group, Sequence[str]],
    shown: Callable[[RunResults, Result | None], str],
) -> Iterator[tuple[str, ...]]:
    """Yield a row for each test that the LLM was asked. The first row of a group names the kind or the paper."""
    for group, tests in groups.items():
        name = prose(group)
        for test in tests:
            squares = [shown(view, column.results.get(test)) for column in block.columns]
            if any(squares):
                yield (name, prose(view.test_titles[test]), *squares)
                name = ""


def _square(view: RunResults, result: Result | None) -> str:
    if result is None:
        return ""
    if result.verdict is None:
        return f"{result.evidence.score:.2f}" if result.evidence.score is not None else result.letter
    if result.verdict is not Verdict.CONTAMINATED:
        return f"`{result.letter}`"
    bits = result.evidence.recalled_bits if result.test in view.row_tests else None
    return f"**{result.letter}**" if bits is None else f"**{result.letter}** {bits:.0f}"


def _papers(view: RunResults) -> Iterator[str]:
    """Yield for each LLM the verdicts by the papers' rules next to the calibrated ones, then the methods' agreement."""
    by_paper = paper_methods.papers(view)
    if not by_paper:
        return
    yield from _paragraphs(f"## {paper_methods.TITLE}", paper_methods.explain_marks("letter"))
    titles = titles_of(view)
    for block in view.blocks:
        if not block.control:
            yield from _paragraphs(f"### {_llm(view, block)}")
            header = ("Paper", "Test", *(code(column.label) for column in block.columns))
            found = standings(titles, block)
            together = [standing.rows if (standing := found.get(column.label)) else None for column in block.columns]
            last = ("", paper_methods.ROWS_TOGETHER, *map(_letter, together))
            yield from table(header, [*_rows(view, block, by_paper, _marked), last])
    for number, matrix in enumerate(paper_methods.matrices(view, titles)):
        head = (f"## {paper_methods.AGAINST}", paper_methods.AGREE.format("next to"))
        yield from _paragraphs(*((f"### {code(matrix.llm)} alone",) if number else head))
        yield from table(
            ("", "Method", "Paper", "Contaminated", *(method.letter for method in matrix.methods[:-1])),
            _agreements(matrix),
        )


def _marked(view: RunResults, result: Result | None) -> str:
    """Return the sign of the published rule for a result, followed by the square of any calibrated verdict."""
    if result is None:
        return ""
    sign = paper_methods.mark(result).sign
    return sign if result.verdict is None else f"{sign} {_square(view, result)}"


def _letter(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    return f"**{LETTERS[verdict]}**" if verdict is Verdict.CONTAMINATED else f"`{LETTERS[verdict]}`"


def _agreements(matrix: paper_methods.AgreementMatrix) -> Iterator[tuple[str, ...]]:
    for method, row in zip(matrix.methods, matrix.rows, strict=True):
        both = [f"{one.agree}/{one.items} ({paper_methods.kappa(one)})" if one.items else "" for one in row]
        room = [""] * (len(matrix.methods) - 1 - len(both))
        found = f"{method.found} of {len(method.decided)}"
        yield (method.letter, prose(method.title), prose(method.paper), found, *both, *room)


def _memory(view: RunResults) -> Iterator[str]:
    found = memory_shares.measured_shares(view)
    if not found:
        return
    yield from _paragraphs(f"## {memory_shares.TITLE}", prose(memory_shares.ABOUT))
    rows = [
        (code(one.llm), code(one.label), f"{one.memory.accuracy:.2f}", memory_shares.on_unseen(one.memory), one.share)
        for one in found
    ]
    yield from table(("LLM", "Table", "On rows", f"On {memory_shares.unseen(found)}", "Memory's share"), rows, right=3)


def _ranking(view: RunResults) -> Iterator[str]:
    columns = ranking_columns(view)
    if not columns:
        return
    yield from _paragraphs("## Ranking", prose(about(view)))
    header = ("LLM", *(column.words.capitalize() for column in columns))
    rows = [(code(rank.llm), *(_measure(rank, column.name) for column in columns)) for rank in view.ranks_in_order]
    yield from table(header, rows, right=len(columns))
    for sentence in (*correlation_sentences(view), *part_sentences(view)):
        yield f"- {prose(sentence)}"
    yield ""


def _measure(rank: Rank, measure: str) -> str:
    value, interval = rank.measures[measure], rank.intervals.get(measure)
    if value is None:
        return ""
    notes = [f"{format_signed(interval[0])} to {format_signed(interval[1])}"] if interval else []
    notes += [f"majority {rank.majorities[measure]:.2f}"] if measure in rank.majorities else []
    return f"{format_signed(value)} ({', '.join(notes)})" if notes else format_signed(value)


def _comparisons(view: RunResults) -> Iterator[str]:
    by_kind = grouped(view.comparisons, lambda one: one.kind)
    for kind, (title, _) in KINDS.items():
        if kind in by_kind:
            yield from _paragraphs(f"## {title}", prose(count_changes(by_kind[kind])))
            yield from _changes(view, by_kind[kind])


def _changes(view: RunResults, compared: Sequence[Comparison]) -> Iterator[str]:
    """Yield a table of the changes between compared results. Changes that exceed chance come first."""
    telling = [one for one in compared if one.change in CHANGED or one.beyond_chance]
    telling.sort(key=lambda one: not one.beyond_chance)
    header = ("First", "Second", "LLM", "Table", "Test", "Change", "Right answers")
    columns = zip(header, *(_change(one, view.run.recorded) for one in telling), strict=True)
    if telling:
        names, *rows = zip(*(column for column in columns if any(column[1:])), strict=True)
        yield from table(names, rows)


def _change(one: Comparison, recorded: bool) -> tuple[str, ...]:
    table = one.dataset + (f"@{one.edition}" if one.edition else "") + one.of_split
    words = one.prompts if one.prompts != PROMPTS else ""  # the usual prompt set is not named
    outcome, other = outcome_of(one.first_verdict), outcome_of(one.second_verdict)
    return (
        code(one.first.strip()),
        code(one.second.strip()),
        code(one.llm),
        code(" ".join(filter(None, (table, one.serializer, words)))),
        code(one.test),
        f"**{one.change}**" if one.change in CHANGED else f"{outcome} and {other}",
        prose(figures(one, recorded)),
    )


def _controls(view: RunResults) -> Iterator[str]:
    if not view.controls:
        return
    yield from _paragraphs("## Controls")
    for note in view.controls:
        yield f"- {'**Warning:** ' if note.warns else ''}{prose(str(note))}"
    yield ""
