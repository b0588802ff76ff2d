r"""The report as LaTeX tables, which `\input` includes in a paper.

The file is plain ASCII and works with any engine. Each table is a float with caption and label. It is as wide as the
text or, on request, as one of the text's two columns. A `% ==` line precedes each float. Every text is escaped.
By hand, because `to_latex` of pandas would write only the cells, and needs a frame for each table.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tabcontam.config import PAPER
from tabcontam.evidence.base import EvidenceKind, Verdict
from tabcontam.evidence.number_wording import format_signed
from tabcontam.evidence.twin_comparison import TwinComparison
from tabcontam.extensions.publish.tex import escaped
from tabcontam.groups import grouped
from tabcontam.report import memory_shares, paper_methods
from tabcontam.report.ranking import about, ranking_columns
from tabcontam.report.standings import TableStanding, standings, titles_of
from tabcontam.verdicts.llm_ranking import Rank
from tabcontam.verdicts.result_types import LETTERS, Result, TableVerdict
from tabcontam.verdicts.results import LlmBlock, RunResults
from tabcontam.verdicts.wording import rounded, visible

PACKAGES = r"\usepackage{array,booktabs,graphicx} \usepackage[table]{xcolor}"
# Colour-blind readers can distinguish these colours; in grey print the symbol shows the verdict.
COLORS = {
    Verdict.CONTAMINATED: ("tabcontamfound", "A63603"),
    Verdict.NOT_DETECTED: ("tabcontamclean", "D6EAF5"),
    Verdict.UNINFORMATIVE: ("tabcontamblunt", "E6E6E6"),
    Verdict.NO_ANSWER: ("tabcontamsilent", "F7E9B5"),
}
SYMBOLS = {verdict: r"\(\cdot\)" if letter == "." else letter for verdict, letter in LETTERS.items()}
NUMBERS = {"q_value": r"\(q\)", "recalled_bits": "Bits", "detectable_share": "Detectable"}
ROWS = 40  # most rows of a table that fits on a page
COLUMNS = 12
FITTED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"  # shrinks too wide tables


def render_latex(view: RunResults, columns: int = 2) -> str:
    """Return the report as LaTeX. A float is `columns` columns wide on a two-column page.

    The floats are the ranking of the paper's Table 2, memory's share if it was asked for, and the verdicts on tables. A
    heatmap for each LLM follows and, if methods of several papers were asked, a comparison of these methods.
    """
    floats = [*_ranking(view), *_memory(view), *_verdicts(view), *_heatmap(view), *_papers(view)]
    lines = [*_head(view), *(line for place, one in enumerate(floats) for line in _float(one, columns, place))]
    return "\n".join(lines) + "\n"


# least: a smaller p-value is printed as "below `least`"
def typeset(key: str, value: float, *, least: float = 1e-6) -> str:
    """Return a number of a result in LaTeX: a p-value with a power of ten or, if it is below a millionth, as a bound.

    >>> typeset("q_value", 0.00032), typeset("q_value", 1.2e-40), typeset("recalled_bits", 212.31)
    ('$3.2\\\\times10^{-4}$', '$<10^{-6}$', '212.3')
    """
    is_p_value = key in ("p_value", "q_value")
    if is_p_value and value < least:
        return "$<10^{-6}$"
    return _powers(escaped(f"{value:.1e}" if is_p_value and value < 0.001 else rounded(key, value)))


def _powers(shown: str) -> str:
    """Return an escaped text with its numbers in exponential notation typeset as powers of ten.

    >>> _powers("p = 6.3e-158, E = 1e+09")
    'p = $6.3\\\\times10^{-158}$, E = $10^{9}$'
    """
    return re.sub(r"\b(\d+(?:\.\d+)?)e([-+])0*(\d+)\b", _power, shown)


def _power(found: re.Match[str]) -> str:
    times = "" if found[1] == "1" else rf"{found[1]}\times"
    return rf"${times}10^{{{found[2].strip('+')}{found[3]}}}$"


def _head(view: RunResults) -> Iterator[str]:
    rules, version = _comment(view.run.rules), _comment(view.run.version)
    yield f"% Made by tabcontam {version}, rules {rules}. Read it with \\input; it needs"
    yield f"%   {PACKAGES}"
    for name, color in COLORS.values():
        yield rf"\providecolor{{{name}}}{{HTML}}{{{color}}}"


def _comment(value: str) -> str:
    """Return the text in a form that cannot end a LaTeX comment."""
    return visible(value, line=True).encode("ascii", "backslashreplace").decode()


@dataclass(frozen=True)
class LatexFloat:
    """A table with its caption. `label` is its label in the paper, `columns` the column format of the `tabular`.

    Each of `rows` is a line of cells or a rule.
    """

    title: str
    caption: str
    label: str
    columns: str
    header: Sequence[str]
    rows: Sequence[str]


def _floats(whole: LatexFloat) -> Iterator[LatexFloat]:
    """Yield a long table as several floats of at most `ROWS` rows."""
    for start in range(0, len(whole.rows), ROWS):
        part = whole.rows[start : start + ROWS]
        part = part if part[-1].endswith(r"\\") else part[:-1]  # no rule at the end of a part
        if not start:
            yield replace(whole, rows=part)
        else:
            title, label = f"{whole.title} (continued)", f"{whole.label}-{start // ROWS + 1}"
            caption = escaped(f"{title[:1].upper()}{title[1:]}.")
            yield replace(whole, title=title, caption=caption, label=label, rows=part)


# together: floats before a \clearpage; LaTeX can delay about fifty
def _float(one: LatexFloat, columns: int, place: int, *, together: int = 12) -> Iterator[str]:
    """Yield the lines of a table with rules of the package booktabs."""
    kind = "table*" if columns > 1 else "table"
    yield ""
    yield f"% == {_comment(one.title)}"
    yield from [r"\clearpage"] * (place > 0 and place % together == 0)
    yield rf"\begin{{{kind}}}[htbp]"
    yield r"\centering\small\setlength{\tabcolsep}{3pt}"
    yield rf"\caption{{{one.caption}}}"
    yield rf"\label{{tab:tabcontam-{one.label}}}"
    yield FITTED
    yield rf"\begin{{tabular}}{{{one.columns}}}"
    yield r"\toprule"
    yield " & ".join(one.header) + r" \\"
    yield r"\midrule"
    yield from one.rows
    yield r"\bottomrule"
    yield r"\end{tabular}}"
    yield rf"\end{{{kind}}}"


def _row(*cells: str) -> str:
    return " & ".join(cells) + r" \\"


def _ranking(view: RunResults) -> Iterator[LatexFloat]:
    columns = ranking_columns(view)
    if not columns:
        return
    rows = [
        _row(escaped(rank.llm), *(_measure(rank, column.name) for column in columns)) for rank in view.ranks_in_order
    ]
    header = ("LLM", *(column.title for column in columns))
    majority = " m is the accuracy of always naming the largest class." * any(rank.majorities for rank in view.ranking)
    caption = f"LLMs by contamination. {escaped(about(view))}{majority}"
    yield from _floats(LatexFloat("ranking", caption, "ranking", "l" * len(header), header, rows))


def _measure(rank: Rank, measure: str) -> str:
    value, interval = rank.measures[measure], rank.intervals.get(measure)
    if value is None:
        return "--"
    notes = [rf"{{[}}{_decimal(interval[0])}, {_decimal(interval[1])}{{]}}"] if interval else []
    notes += [rf"m {rank.majorities[measure]:.2f}"] if measure in rank.majorities else []
    return _decimal(value) + (rf" {{\footnotesize {' '.join(notes)}}}" if notes else "")


def _memory(view: RunResults) -> Iterator[LatexFloat]:
    found = memory_shares.measured_shares(view)
    rows = [
        _row(escaped(one.llm), escaped(one.label), f"{own.accuracy:.2f}", memory_shares.on_unseen(own), _share(own))
        for one in found
        for own in [one.memory]
    ]
    header = ("LLM", "Table", "On rows", f"On {memory_shares.unseen(found)}", "Memory's share")
    caption = escaped(f"{memory_shares.TITLE}. {memory_shares.ABOUT}")
    yield from _floats(LatexFloat(memory_shares.TITLE.lower(), caption, "memory", "llrrr", header, rows))


def _share(own: TwinComparison) -> str:
    low, high = map(_decimal, own.interval)
    return rf"{_decimal(own.share)} {{\footnotesize {low} to {high}}}"


def _decimal(value: float) -> str:
    """Return a number with two decimals and, if negative, a minus sign rather than a hyphen."""
    shown = format_signed(value, minus="-")
    return rf"\({shown}\)" if value < 0 else shown


def _verdicts(view: RunResults) -> Iterator[LatexFloat]:
    columns = r"lllrrr>{\raggedright\arraybackslash}p{0.3\linewidth}"
    header = ("LLM", "Table", "Verdict", *NUMBERS.values(), "Why")
    rows: list[str] = []
    for llm, tables in grouped(view.tables_in_order, lambda table: table.llm).items():
        rows += [r"\midrule"] if rows else []
        name = escaped(llm) + (" (control)" if llm in view.joined else "")
        rows += [_verdict(view, table, name if table is tables[0] else "") for table in tables]
    yield from _floats(LatexFloat("verdicts of the tables", _about_verdicts(view), "verdicts", columns, header, rows))


def _about_verdicts(view: RunResults) -> str:
    basis = "Each verdict is that of the row tests together; only they can show that rows were seen."
    if view.run.rules == PAPER:
        return f"{basis} It follows the published rules, which have no known error rate."
    level = "" if view.run.alpha is None else f"; a table is contaminated at {view.run.alpha:g} or below"
    return (
        rf"{basis} \(q\) is the p-value corrected over the tables of an LLM (Benjamini and Hochberg){level}. Bits are "
        "recalled bits, and Detectable is the least share of remembered rows that would have been detected."
    )


def _verdict(view: RunResults, table: TableVerdict, llm: str) -> str:
    return _row(
        llm,
        escaped(view.label(table)),
        rf"\textbf{{{table.outcome}}}" if table.verdict is Verdict.CONTAMINATED else table.outcome,
        *(typeset(key, table.numbers[key]) if key in table.numbers else "" for key in NUMBERS),
        _powers(escaped(table.why)),
    )


def _heatmap(view: RunResults) -> Iterator[LatexFloat]:
    for number, block in _narrow_blocks(view):
        yield from _squares(view, block, number)


def _narrow_blocks(view: RunResults) -> Iterator[tuple[str, LlmBlock]]:
    """Yield the LLMs with at most `COLUMNS` of their tables each, and a number for the label."""
    for number, block in enumerate(view.blocks, start=1):
        for start in range(0, len(block.columns), COLUMNS):
            columns = block.columns[start : start + COLUMNS]
            yield f"{number}-{start // COLUMNS + 1}", replace(block, columns=columns)


def _header(block: LlmBlock) -> tuple[str, ...]:
    return (escaped(block.llm), *(rf"\rotatebox{{90}}{{{escaped(column.label)}}}" for column in block.columns))


def _squares(view: RunResults, block: LlmBlock, number: str) -> Iterator[LatexFloat]:
    """Yield the heatmap of an LLM. A bold rule follows the tests of knowledge."""
    columns, rows = block.columns, []
    for kind, tests in view.kinds.items():
        rows += [
            _row(escaped(view.test_titles[test]), *(_square(view, column.results.get(test)) for column in columns))
            for test in tests
        ]
        rows.append(r"\midrule[\heavyrulewidth]" if kind == EvidenceKind.KNOWLEDGE else r"\midrule")
    symbols = ", ".join(f"{symbol} {verdict}" for verdict, symbol in SYMBOLS.items())
    caption = (
        rf"{escaped(block.llm)}{' (control)' * block.control} by test and table. {symbols}; the number next to "
        r"\textbf{C} of a row test is the recalled bits, and a number alone is a score."
    )
    title, form = f"heatmap of {block.llm}", "l" + "c" * len(columns)
    yield from _floats(LatexFloat(title, caption, f"heatmap-{number}", form, _header(block), rows))


def _square(view: RunResults, result: Result | None) -> str:
    if result is None:
        return ""
    if result.verdict is None:
        return "--" if result.evidence.score is None else f"{result.evidence.score:.2f}"
    return _colored(result.verdict, _bits(view, result))


def _bits(view: RunResults, result: Result) -> float | None:
    return result.evidence.recalled_bits if result.test in view.row_tests else None


def _colored(verdict: Verdict, bits: float | None = None, before: str = "") -> str:
    """Return the coloured symbol of a verdict, followed by the recalled bits."""
    color = rf"\cellcolor{{{COLORS[verdict][0]}}}" if verdict in COLORS else ""
    if verdict is not Verdict.CONTAMINATED:
        return color + before + SYMBOLS[verdict]
    shown = r"\textbf{C}" + ("" if bits is None else rf" {bits:.0f}")
    return rf"{color}\textcolor{{white}}{{{before}{shown}}}"


def _papers(view: RunResults) -> Iterator[LatexFloat]:
    """Yield for each LLM the verdicts by the papers' rules next to the calibrated ones, then the methods' agreement."""
    by_paper = paper_methods.papers(view)
    if not by_paper:
        return
    titles = titles_of(view)
    found = {block.llm: standings(titles, block) for block in view.blocks}
    for number, block in _narrow_blocks(view):
        if not block.control:
            yield from _marks(view, found[block.llm], block, by_paper, number)
    for place, matrix in enumerate(paper_methods.matrices(view, titles)):
        for start in range(0, len(matrix.methods) - 1, COLUMNS):
            yield from _agreements(matrix, start, f"{place}-{start // COLUMNS + 1}")


def _marks(
    view: RunResults,
    found: Mapping[str, TableStanding],
    block: LlmBlock,
    by_paper: Mapping[str, Sequence[str]],
    number: str,
) -> Iterator[LatexFloat]:
    """Yield the tests' verdicts, grouped by paper, and the verdict on the rows."""
    columns, rows = block.columns, []
    for paper, tests in by_paper.items():
        rows.append(_row(rf"\textbf{{{escaped(paper)}}}", *("" for _ in columns)))
        rows += [
            _row(escaped(view.test_titles[test]), *(_marked(view, column.results.get(test)) for column in columns))
            for test in tests
        ]
        rows.append(r"\midrule")
    verdicts = [standing.rows if (standing := found.get(column.label)) else None for column in columns]
    rows.append(_row(paper_methods.ROWS_TOGETHER, *("" if one is None else _colored(one) for one in verdicts)))
    caption = f"{escaped(block.llm)}, {paper_methods.TITLE.lower()}. {escaped(paper_methods.explain_marks('symbol'))}"
    name = f"{paper_methods.TITLE.lower()}, {block.llm}"
    yield from _floats(LatexFloat(name, caption, f"papers-{number}", "l" + "c" * len(columns), _header(block), rows))


def _marked(view: RunResults, result: Result | None) -> str:
    """Return the sign of the published rule for a result, followed by the symbol of any calibrated verdict."""
    if result is None:
        return ""
    sign = escaped(paper_methods.mark(result).sign)
    if result.verdict is None:
        return sign
    return _colored(result.verdict, _bits(view, result), f"{sign} ")


def _agreements(matrix: paper_methods.AgreementMatrix, start: int, number: str) -> Iterator[LatexFloat]:
    """Yield the table of each method's agreement with earlier methods, at most `COLUMNS` of them."""
    compared = matrix.methods[:-1][start : start + COLUMNS]
    rows = [
        _row(method.letter, _method(method), f"{method.found} of {len(method.decided)}", *own)
        for place, method in enumerate(matrix.methods[start:], start=start)
        if (own := [_agreeing(matrix, place, column) for column in range(start, start + len(compared))])
    ]
    header = ("", "Method", "Contaminated", *(method.letter for method in compared))
    of = f", {matrix.llm} alone" if matrix.llm else ""
    caption = f"{paper_methods.AGAINST}{escaped(of)}. {escaped(paper_methods.AGREE.format('next to'))}"
    columns = "llr" + "c" * len(compared)
    yield from _floats(
        LatexFloat(f"{paper_methods.AGAINST.lower()}{of}", caption, f"methods-{number}", columns, header, rows)
    )


def _method(method: paper_methods.PaperMethod) -> str:
    return escaped(method.title) + (rf" {{\footnotesize {escaped(method.paper)}}}" if method.paper else "")


def _agreeing(matrix: paper_methods.AgreementMatrix, place: int, column: int) -> str:
    if column >= place or not (one := matrix.rows[place][column]).items:
        return ""
    return rf"{one.agree}/{one.items} {{\footnotesize {escaped(paper_methods.kappa(one))}}}"
