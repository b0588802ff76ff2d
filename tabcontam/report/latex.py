r"""The report as LaTeX tables, to be read with `\input` into a paper.

The file is plain ASCII and holds no float and no caption, so that it goes into one column or two, under any engine;
`% ==` lines say where each table begins. Every text is escaped.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from tabcontam.evidence.base import Kind, Verdict
from tabcontam.groups import grouped
from tabcontam.report.ranking import about, shown
from tabcontam.verdicts.cells import LETTERS, Result, TableVerdict
from tabcontam.verdicts.ranks import Rank
from tabcontam.verdicts.results import Block, RunResults
from tabcontam.verdicts.wording import rounded, visible

PACKAGES = r"\usepackage{array,booktabs,graphicx} \usepackage[table]{xcolor}"
# Colours that colour-blind readers tell apart, too; the symbol says the same in grey.
COLORS = {
    Verdict.CONTAMINATED: ("tabcontamfound", "D55E00"),
    Verdict.NOT_DETECTED: ("tabcontamclean", "D6EAF5"),
    Verdict.UNINFORMATIVE: ("tabcontamblunt", "E6E6E6"),
    Verdict.NO_ANSWER: ("tabcontamsilent", "F7E9B5"),
}
SYMBOLS = {verdict: r"\(\cdot\)" if letter == "." else letter for verdict, letter in LETTERS.items()}
NUMBERS = {"q_value": r"\(q\)", "recalled_bits": "Bits", "detectable_share": "Detectable"}
ROWS = 40  # of one table, so that it fits a page
COLUMNS = 12

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


def render_latex(view: RunResults) -> str:
    """The ranking of the paper's Table 2, the tables' verdicts and a heatmap an LLM, each as a `tabular`."""
    sections = (_head, _ranking, _verdicts, _heatmap)
    return "\n".join(line for section in sections for line in section(view)) + "\n"


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


def _number(key: str, numbers: Mapping[str, float]) -> str:
    """A number as people read it; a tiny one with its power of ten. Empty where it is not known."""
    if key not in numbers:
        return ""
    shown = escaped(rounded(key, numbers[key]))
    return re.sub(r"([\d.]+)e-0*(\d+)", r"\\(\1 \\cdot 10^{-\2}\\)", shown)


def _head(view: RunResults) -> Iterator[str]:
    rules, version = _comment(view.run.rules), _comment(view.run.version)
    yield f"% Made by tabcontam {version}, rules {rules}. Read it with \\input; it needs"
    yield f"%   {PACKAGES}"
    for name, color in COLORS.values():
        yield rf"\providecolor{{{name}}}{{HTML}}{{{color}}}"


def _comment(value: str) -> str:
    """A text that cannot end the comment it stands in."""
    return visible(value, line=True).encode("ascii", "backslashreplace").decode()


def _tabular(title: str, columns: str, header: Sequence[str], rows: Sequence[str]) -> Iterator[str]:
    """A table with booktabs' rules; a long one goes on in further ones. A row is a line of cells, or a rule."""
    for start in range(0, len(rows), ROWS):
        yield ""
        yield f"% == {_comment(title)}" + (" (continued)" if start else "")
        yield r"\par\medskip\noindent"
        yield rf"\begin{{tabular}}{{{columns}}}"
        yield r"\toprule"
        yield " & ".join(header) + r" \\"
        yield r"\midrule"
        part = rows[start : start + ROWS]
        yield from part[:-1]
        yield from part[-1:] if part[-1].endswith(r"\\") else ()  # no rule above the last one
        yield r"\bottomrule"
        yield r"\end{tabular}"


def _row(*cells: str) -> str:
    return " & ".join(cells) + r" \\"


def _ranking(view: RunResults) -> Iterator[str]:
    columns = shown(view)
    rows = [
        _row(escaped(rank.llm), *(_measure(rank, column.name) for column in columns)) for rank in view.ranks_in_order
    ]
    header = ("LLM", *(column.title for column in columns))
    yield from _tabular("ranking, with 95% intervals", "l" * len(header), header, rows)
    if rows:
        yield f"% {_comment(about(view))} m: the accuracy of always saying the largest class."


def _measure(rank: Rank, measure: str) -> str:
    value, interval = rank.measures[measure], rank.intervals.get(measure)
    if value is None:
        return "--"
    beside = [rf"{{[}}{interval[0]:.2f}, {interval[1]:.2f}{{]}}"] if interval else []
    beside += [rf"m {rank.majorities[measure]:.2f}"] if measure in rank.majorities else []
    return f"{value:.2f}" + (rf" {{\footnotesize {' '.join(beside)}}}" if beside else "")


def _verdicts(view: RunResults) -> Iterator[str]:
    columns = r"lllrrr>{\raggedright\arraybackslash}p{0.2\linewidth}"
    header = ("LLM", "Table", "Verdict", *NUMBERS.values(), "Why")
    rows: list[str] = []
    for llm, tables in grouped(view.tables_in_order, lambda table: table.llm).items():
        rows += [r"\midrule"] if rows else []
        name = escaped(llm) + (" (control)" if llm in view.joined else "")
        rows += [_verdict(view, table, name if table is tables[0] else "") for table in tables]
    yield from _tabular("verdicts of the tables", columns, header, rows)


def _verdict(view: RunResults, table: TableVerdict, llm: str) -> str:
    return _row(
        llm,
        escaped(view.label(table)),
        rf"\textbf{{{table.outcome}}}" if table.verdict is Verdict.CONTAMINATED else table.outcome,
        *(_number(key, table.numbers) for key in NUMBERS),
        escaped(table.why),
    )


def _heatmap(view: RunResults) -> Iterator[str]:
    if not view.blocks:
        return
    yield ""
    yield "% " + ", ".join(f"{symbol} {verdict}" for verdict, symbol in SYMBOLS.items())
    yield "% beside C of a row test: the bits recalled; a number alone: a score"
    yield r"\begingroup\setlength{\tabcolsep}{3pt}"
    for block in view.blocks:
        for start in range(0, len(block.columns), COLUMNS):
            yield from _squares(view, block, start)
    yield r"\par\endgroup"


def _squares(view: RunResults, block: Block, start: int) -> Iterator[str]:
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
    yield from _tabular(f"heatmap of {block.llm}", "l" + "c" * len(columns), header, rows)


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
