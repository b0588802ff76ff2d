r"""The report as LaTeX tables, to be read with `\input` into a paper.

The file is plain ASCII and goes under any engine. Each table is a float with caption and label, as wide as the text, or
if asked for as one of its two columns; `% ==` lines say where each begins. Every text is escaped.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tabcontam.evidence.base import Kind, Verdict
from tabcontam.groups import grouped
from tabcontam.report.ranking import about, shown
from tabcontam.verdicts.cells import LETTERS, Result, TableVerdict
from tabcontam.verdicts.ranks import Rank
from tabcontam.verdicts.results import Block, RunResults
from tabcontam.verdicts.rules import PAPER
from tabcontam.verdicts.wording import rounded, visible

PACKAGES = r"\usepackage{array,booktabs,graphicx} \usepackage[table]{xcolor}"
# Colours that colour-blind readers tell apart, too; the symbol says the same in grey.
COLORS = {
    Verdict.CONTAMINATED: ("tabcontamfound", "A63603"),
    Verdict.NOT_DETECTED: ("tabcontamclean", "D6EAF5"),
    Verdict.UNINFORMATIVE: ("tabcontamblunt", "E6E6E6"),
    Verdict.NO_ANSWER: ("tabcontamsilent", "F7E9B5"),
}
SYMBOLS = {verdict: r"\(\cdot\)" if letter == "." else letter for verdict, letter in LETTERS.items()}
NUMBERS = {"q_value": r"\(q\)", "recalled_bits": "Bits", "detectable_share": "Detectable"}
ROWS = 40  # of one table, so that it fits a page
COLUMNS = 12
TOGETHER = 12  # floats that wait for a page of their own; LaTeX keeps some fifty in mind
FITTED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"  # what is too wide is made smaller
LEAST = 1e-6  # p-values below are said to be

_NAMED = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_\allowbreak{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"{\char34}", "`": "{`}",
    "[": "{[}", "]": "{]}", "*": "{*}",  # after the end of a row they would be options
    "\u00a0": "~", "\u2013": r"\textendash{}", "\u2014": r"\textemdash{}", "\u2018": r"\textquoteleft{}",
    "\u2019": r"\textquoteright{}", "\u201c": r"\textquotedblleft{}", "\u201d": r"\textquotedblright{}",
    "\u2026": r"\ldots{}", "\u00b7": r"\(\cdot\)", "\u00b1": r"\(\pm\)", "\u00d7": r"\(\times\)",
    "\u2192": r"\(\rightarrow\)", "\u2264": r"\(\leq\)", "\u2265": r"\(\geq\)", "\u23ce": r"\(\hookleftarrow\)",
    "\u00df": r"\ss{}", "\u00e6": r"\ae{}", "\u00c6": r"\AE{}", "\u00f8": r"\o{}", "\u00d8": r"\O{}",
    "\u0142": r"\l{}", "\u0141": r"\L{}",
}  # fmt: skip
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c",
}  # fmt: skip


def render_latex(view: RunResults, columns: int = 2) -> str:
    """The ranking of the paper's Table 2, the tables' verdicts and a heatmap an LLM, each as a float; `columns`: of a
    page of two that a float takes."""
    floats = [*_ranking(view), *_verdicts(view), *_heatmap(view)]
    lines = [*_head(view), *(line for place, one in enumerate(floats) for line in _float(one, columns, place))]
    return "\n".join(lines) + "\n"


def escaped(value: str) -> str:
    r"""A text as plain ASCII that LaTeX prints as it is; a character it has no name for shows as its number.

    >>> print(escaped("50% of café_1 汉"))
    50\% of caf\'{e}\_\allowbreak{}1 {[}U+6C49{]}
    """
    # two of these in a row would be set as one
    return re.sub(r"([-,'])(?=\1)", r"\1{}", "".join(map(_printed, visible(value, line=True))))


def _printed(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    if character.isascii():
        return character
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[1] in _ACCENTS:
        return rf"\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    return f"{{[}}U+{ord(character):04X}{{]}}"


def typeset(key: str, value: float) -> str:
    """A number of a result in LaTeX: p-values with their power of ten, and below a millionth as that.

    >>> typeset("q_value", 0.00032), typeset("q_value", 1.2e-40), typeset("recalled_bits", 212.31)
    ('$3.2\\\\times10^{-4}$', '$<10^{-6}$', '212.3')
    """
    if key in ("p_value", "q_value") and value < LEAST:
        return "$<10^{-6}$"
    return _powers(escaped(_rounded(key, value)))


def _rounded(key: str, value: float) -> str:
    small = key in ("p_value", "q_value") and value < 0.001
    return f"{value:.1e}" if small else rounded(key, value)


def _powers(shown: str) -> str:
    """An escaped text whose numbers have their powers of ten set as such.

    >>> _powers("p = 6.3e-158, E = 1e+09")
    'p = $6.3\\\\times10^{-158}$, E = $10^{9}$'
    """
    return re.sub(r"\b(\d+(?:\.\d+)?)e([-+])0*(\d+)\b", _power, shown)


def _power(found: re.Match[str]) -> str:
    times = "" if found[1] == "1" else rf"{found[1]}\times"
    return rf"${times}10^{{{found[2].strip('+')}{found[3]}}}$"


def _number(key: str, numbers: Mapping[str, float]) -> str:
    """A number as people read it. Empty where it is not known."""
    return typeset(key, numbers[key]) if key in numbers else ""


def _head(view: RunResults) -> Iterator[str]:
    rules, version = _comment(view.run.rules), _comment(view.run.version)
    yield f"% Made by tabcontam {version}, rules {rules}. Read it with \\input; it needs"
    yield f"%   {PACKAGES}"
    for name, color in COLORS.values():
        yield rf"\providecolor{{{name}}}{{HTML}}{{{color}}}"


def _comment(value: str) -> str:
    """A text that cannot end the comment it stands in."""
    return visible(value, line=True).encode("ascii", "backslashreplace").decode()


@dataclass(frozen=True)
class Float:
    """A table with its caption: `label` is its name in the paper, `columns` those of the `tabular`. A row is a line of
    cells, or a rule."""

    title: str
    caption: str
    label: str
    columns: str
    header: Sequence[str]
    rows: Sequence[str]


def _floats(whole: Float) -> Iterator[Float]:
    """A table; a long one goes on in further ones."""
    for start in range(0, len(whole.rows), ROWS):
        part = whole.rows[start : start + ROWS]
        part = part if part[-1].endswith(r"\\") else part[:-1]  # no rule above the last one
        if not start:
            yield replace(whole, rows=part)
        else:
            title, label = f"{whole.title} (continued)", f"{whole.label}-{start // ROWS + 1}"
            caption = escaped(f"{title[:1].upper()}{title[1:]}.")
            yield replace(whole, title=title, caption=caption, label=label, rows=part)


def _float(one: Float, columns: int, place: int) -> Iterator[str]:
    """The lines of a table with booktabs' rules."""
    kind = "table*" if columns > 1 else "table"
    yield ""
    yield f"% == {_comment(one.title)}"
    yield from [r"\clearpage"] * (place > 0 and place % TOGETHER == 0)
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


def _ranking(view: RunResults) -> Iterator[Float]:
    columns = shown(view)
    rows = [
        _row(escaped(rank.llm), *(_measure(rank, column.name) for column in columns)) for rank in view.ranks_in_order
    ]
    header = ("LLM", *(column.title for column in columns))
    majority = " m: the accuracy of always saying the largest class." * any(rank.majorities for rank in view.ranking)
    caption = f"LLMs by contamination. {escaped(about(view))}{majority}"
    yield from _floats(Float("ranking", caption, "ranking", "l" * len(header), header, rows))


def _measure(rank: Rank, measure: str) -> str:
    value, interval = rank.measures[measure], rank.intervals.get(measure)
    if value is None:
        return "--"
    beside = [rf"{{[}}{interval[0]:.2f}, {interval[1]:.2f}{{]}}"] if interval else []
    beside += [rf"m {rank.majorities[measure]:.2f}"] if measure in rank.majorities else []
    return f"{value:.2f}" + (rf" {{\footnotesize {' '.join(beside)}}}" if beside else "")


def _verdicts(view: RunResults) -> Iterator[Float]:
    columns = r"lllrrr>{\raggedright\arraybackslash}p{0.3\linewidth}"
    header = ("LLM", "Table", "Verdict", *NUMBERS.values(), "Why")
    rows: list[str] = []
    for llm, tables in grouped(view.tables_in_order, lambda table: table.llm).items():
        rows += [r"\midrule"] if rows else []
        name = escaped(llm) + (" (control)" if llm in view.joined else "")
        rows += [_verdict(view, table, name if table is tables[0] else "") for table in tables]
    yield from _floats(Float("verdicts of the tables", _about_verdicts(view), "verdicts", columns, header, rows))


def _about_verdicts(view: RunResults) -> str:
    said = "Verdicts on tables, by the row tests together; only they can show that rows were seen."
    if view.run.rules == PAPER:
        return f"{said} Judged by the published rules, which have no known error rate."
    level = "" if view.run.alpha is None else f", found at {view.run.alpha:g} or below"
    return (
        rf"{said} \(q\): the p-value after the tables of an LLM are taken together (Benjamini and Hochberg){level}; "
        "Bits: recalled bits; Detectable: the least share of remembered rows that would have been found."
    )


def _verdict(view: RunResults, table: TableVerdict, llm: str) -> str:
    return _row(
        llm,
        escaped(view.label(table)),
        rf"\textbf{{{table.outcome}}}" if table.verdict is Verdict.CONTAMINATED else table.outcome,
        *(_number(key, table.numbers) for key in NUMBERS),
        _powers(escaped(table.why)),
    )


def _heatmap(view: RunResults) -> Iterator[Float]:
    for number, block in enumerate(view.blocks, start=1):
        for start in range(0, len(block.columns), COLUMNS):
            yield from _squares(view, block, start, f"{number}-{start // COLUMNS + 1}")


def _squares(view: RunResults, block: Block, start: int, number: str) -> Iterator[Float]:
    """The heatmap of an LLM, at most `COLUMNS` tables wide, with a bold line below knowledge."""
    columns = block.columns[start : start + COLUMNS]
    rows = []
    for kind, tests in view.kinds.items():
        rows += [
            _row(escaped(view.test_titles[test]), *(_square(view, column.cells.get(test)) for column in columns))
            for test in tests
        ]
        rows.append(r"\midrule[\heavyrulewidth]" if kind == Kind.KNOWLEDGE else r"\midrule")
    header = (escaped(block.llm), *(rf"\rotatebox{{90}}{{{escaped(column.label)}}}" for column in columns))
    symbols = ", ".join(f"{symbol} {verdict}" for verdict, symbol in SYMBOLS.items())
    caption = (
        rf"{escaped(block.llm)}{' (control)' * block.control} by test and table. {symbols}; beside \textbf{{C}} of a "
        "row test the bits recalled; a number alone is a score."
    )
    columns_of = "l" + "c" * len(columns)
    yield from _floats(Float(f"heatmap of {block.llm}", caption, f"heatmap-{number}", columns_of, header, rows))


def _square(view: RunResults, cell: Result | None) -> str:
    if cell is None:
        return ""
    if cell.verdict is None:
        return "--" if cell.score is None else f"{cell.score:.2f}"
    color = rf"\cellcolor{{{COLORS[cell.verdict][0]}}}" if cell.verdict in COLORS else ""
    if cell.verdict is not Verdict.CONTAMINATED:
        return color + SYMBOLS[cell.verdict]
    bits = cell.recalled_bits if cell.test in view.row_tests else None
    shown = r"\textbf{C}" + ("" if bits is None else rf" {bits:.0f}")
    return rf"{color}\textcolor{{white}}{{{shown}}}"
