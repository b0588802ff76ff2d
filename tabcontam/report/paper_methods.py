"""The verdicts of each paper's method next to the calibrated verdicts, and the agreement of the methods.

They are shown if methods of several papers were asked, or several of one paper other than the one whose Table 1 numbers
the usual tests: each result of those already shows its published verdict.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase

from tabcontam.evidence.base import DECIDED, Verdict
from tabcontam.groups import grouped
from tabcontam.report.standings import Titles, standings, titles_of
from tabcontam.report.thresholds import LEAST_SHARED_SETTINGS
from tabcontam.statistics.kappa import KappaAgreement, measure_agreement
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.results import LlmBlock, RunResults

TITLE, AGAINST = "Paper by paper", "Method against method"
PAPER_NAMES = {
    # names of papers with published rules, by the `source` of tests
    "ronval2024": "Ronval et al. 2024",
    "golchin2023": "Golchin and Surdeanu 2024 (Time Travel)",
    "golchin2025": "Golchin and Surdeanu 2025 (Data Contamination Quiz)",
    "sainz2023": "Sainz et al. 2023 (ChatGPT-Cheat?)",
    "li2024": "Li and Flanigan 2024 (Task Contamination)",
    "oren2024": "Oren et al. 2024 (order of rows)",
    "bordt2024": "Bordt et al. 2024 (tabmemcheck)",
}
RULE = (
    "Each entry is the verdict of a paper's own rule on an LLM and a table; next to it is the {} of the calibrated "
    "verdict on the same answers, if the test has one."
)
NO_NULL = "The papers' rules have no null model: their error rate on an LLM that has not seen the table is not known."
AGREE = (
    "Each entry is the number of LLMs and tables on which two methods agree, of those that both decided; {} it is "
    "Cohen's kappa, the agreement beyond chance, from 1 (always) over 0 (as by chance) to \N{MINUS SIGN}1, or a dash "
    "if both give one verdict for all. Methods that agree may both be wrong."
)
ROWS_TOGETHER = "The row tests together, calibrated"
CALIBRATED = "Calibrated: the row tests together"
FOUND = {Verdict.CONTAMINATED: "●", Verdict.NOT_DETECTED: "\N{MULTIPLICATION SIGN}"}
UNDECIDED, NO_VERDICT = "?", "\N{EN DASH}"
SIGNS = {
    **{sign: verdict.value for verdict, sign in FOUND.items()},
    UNDECIDED: "no answer or not asked",
    NO_VERDICT: "the paper states a number and no verdict",
}
Decided = Mapping[tuple[str, str], bool]  # by LLM and table's label: whether the table is contaminated


@dataclass(frozen=True)
class PaperMark:
    """A result with its verdict by the paper's rule, as a `sign` and in `words`."""

    result: Result
    sign: str
    words: str

    @property
    def found(self) -> bool:
        """Return whether the paper's method finds contamination."""
        return self.result.decision.paper_verdict is Verdict.CONTAMINATED


@dataclass(frozen=True)
class PaperMethod:
    """A test with its published rule or, if `test` is empty, the calibrated rules, and its decisions.

    `letter` identifies the method in the table of agreement, because tests already have numbers.
    """

    letter: str
    paper: str
    test: str
    title: str
    decided: Decided

    @property
    def found(self) -> int:
        """The number of pairs of LLM and table that the method calls contaminated."""
        return sum(self.decided.values())


@dataclass(frozen=True)
class AgreementMatrix:
    """The agreement of methods. `rows` has, for each method, its agreement with each earlier method."""

    llm: str
    methods: tuple[PaperMethod, ...]
    rows: tuple[tuple[KappaAgreement, ...], ...]


def papers(view: RunResults) -> dict[str, tuple[str, ...]]:
    """Return the tests with a source and a verdict, by paper; empty if there is nothing to compare."""
    judged = [
        result for result in view.possible if result.queries and (result.decision.paper_verdict or result.verdict)
    ]
    asked = {result.test for result in judged if result.llm not in view.joined}
    own = [test for test in view.tests if test in asked and view.facts[test].source]
    found = grouped(own, lambda test: view.facts[test].source)
    usual = any(view.facts[test].number is not None for test in own)
    if len(found) < LEAST_SHARED_SETTINGS and (usual or len(own) < LEAST_SHARED_SETTINGS):
        return {}
    return {PAPER_NAMES.get(source, source): tuple(tests) for source, tests in found.items()}


def mark(result: Result) -> PaperMark:
    """Return a result's verdict by the published rule, as a sign and in words."""
    verdict = result.decision.paper_verdict
    if verdict in DECIDED:
        return PaperMark(result, FOUND[verdict], f"{verdict} by the published rule")
    if verdict is None and result.queries:
        return PaperMark(result, NO_VERDICT, "no verdict by the published rule")
    return PaperMark(result, UNDECIDED, f"{verdict} by the published rule" if verdict else "not asked")


def methods(view: RunResults, titles: Titles) -> tuple[PaperMethod, ...]:
    """Return the calibrated rules and those methods of papers that decided something. Controls are left out."""
    blocks = [block for block in view.blocks if not block.control]
    ways = [("", "", CALIBRATED, _calibrated(titles, blocks))]
    for paper, tests in papers(view).items():
        ways += [(paper, test, view.test_titles[test], _published(blocks, test)) for test in tests]
    decided = [way for way in ways if way[3]]
    return tuple(PaperMethod(_letter(number), *way) for number, way in enumerate(decided))


def _letter(number: int) -> str:
    """Return the letters that name method `number`: A to Z for 0 to 25, then AA to AZ, BA and so on."""
    before, own = divmod(number, len(ascii_uppercase))
    return (_letter(before - 1) if before else "") + ascii_uppercase[own]


def _calibrated(titles: Titles, blocks: Sequence[LlmBlock]) -> Decided:
    """Return whether the calibrated rules call each decided table contaminated, by LLM and label."""
    if not titles.view.calibrated and not titles.view.run.recorded:
        return {}
    return {
        (block.llm, label): standing.rows is Verdict.CONTAMINATED
        for block in blocks
        for label, standing in standings(titles, block).items()
        if standing.rows in DECIDED
    }


def _published(blocks: Sequence[LlmBlock], test: str) -> Decided:
    return {
        (column.llm, column.label): result.decision.paper_verdict is Verdict.CONTAMINATED
        for block in blocks
        for column in block.columns
        if (result := column.results.get(test)) is not None and result.decision.paper_verdict in DECIDED
    }


# most_llms: with at most so many LLMs, each LLM also has a matrix
def matrices(view: RunResults, titles: Titles, *, most_llms: int = 4) -> list[AgreementMatrix]:
    """Return the agreement of methods, over all LLMs and, if these are few, by LLM; empty if too little was decided."""
    found = methods(view, titles)
    whole = _matrix("", found)
    if whole is None:
        return []
    llms = list(dict.fromkeys(llm for method in found for llm, _ in method.decided))

    def of_llm(method: PaperMethod, llm: str) -> PaperMethod:
        own = {setting: found for setting, found in method.decided.items() if setting[0] == llm}
        return replace(method, decided=own)

    by_llm = [_matrix(llm, [of_llm(method, llm) for method in found]) for llm in llms]
    return [whole, *([one for one in by_llm if one] if 1 < len(llms) <= most_llms else [])]


def _matrix(llm: str, found: Sequence[PaperMethod]) -> AgreementMatrix | None:
    own = tuple(method for method in found if method.decided)
    rows = tuple(tuple(agreement(method, other) for other in own[:place]) for place, method in enumerate(own))
    if not any(one.items >= LEAST_SHARED_SETTINGS for row in rows for one in row):
        return None
    return AgreementMatrix(llm, own, rows)


def agreement(one: PaperMethod, other: PaperMethod) -> KappaAgreement:
    """Return the agreement of two methods on the pairs of LLM and table that both decided."""
    both = [(found, other.decided[setting]) for setting, found in one.decided.items() if setting in other.decided]
    return measure_agreement(both)


def explain_marks(mark_kind: str, signs: Mapping[str, str] = SIGNS) -> str:
    """Return an explanation of the `signs`. `mark_kind` says what shows the calibrated verdict, such as a letter."""
    explained = ", ".join(f"{sign} {words}" for sign, words in signs.items())
    return f"{RULE.format(mark_kind)} Published: {explained}. {NO_NULL}"


def format_agreement(one: KappaAgreement) -> str:
    """Return the agreement in words, such as `3 of 4`."""
    return f"{one.agree} of {one.items}"


def kappa(one: KappaAgreement) -> str:
    """Format Cohen's kappa with two decimals. It is a dash if only one verdict occurs, which leaves kappa undefined."""
    return NO_VERDICT if one.kappa is None else f"{one.kappa:.2f}".replace("-", "\N{MINUS SIGN}")


def level(one: KappaAgreement) -> int:
    """Return a shade for the share of agreement: 0 below 1/2, 1 from 1/2, 2 from 3/4, 3 from 9/10, 4 if complete."""
    share = one.share or 0.0
    return sum(share >= least for least in (0.5, 0.75, 0.9, 1.0))


def papers_text(view: RunResults) -> Iterator[str]:
    """Yield lines for a terminal: each method, its number of findings, its agreement with the calibrated rules."""
    found = methods(view, titles_of(view)) if papers(view) else ()
    calibrated = [method for method in found if not method.test]
    if len(found) - len(calibrated) < 1:
        return
    yield "tables contaminated by the published rules, of those that each decided; agreement with calibrated verdicts"
    for paper, own in grouped((method for method in found if method.test), lambda method: method.paper).items():
        yield f"  {paper}"
        for method in own:
            agreements = [agreement(method, other) for other in calibrated]
            texts = [f"; {format_agreement(one)} as calibrated, kappa {kappa(one)}" for one in agreements if one.items]
            yield f"    {method.title}: {method.found} of {len(method.decided)}{''.join(texts)}"
