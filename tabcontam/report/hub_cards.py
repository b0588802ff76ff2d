"""Sections for a model card and for a dataset card: what was found, with what it rests on, as Markdown.

They hold no YAML: the metadata of a model card knows scores, and a verdict is none; the names of tables would stand
there as training data.
"""

from collections.abc import Iterator, Sequence

from tabcontam.evidence.base import Verdict
from tabcontam.groups import grouped
from tabcontam.report.markdown import code, prose, table
from tabcontam.report.models import llm_facts, public_name
from tabcontam.verdicts.cells import TableVerdict
from tabcontam.verdicts.notes import NoteKind
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.rules import PAPER
from tabcontam.verdicts.wording import rounded

MEANS = (
    "Contaminated: what was recalled of the rows cannot be explained by guessing. Not detected is not clean: a smaller "
    "share of the rows than the detectable one may be remembered. The other words say that nothing could be told."
)
PAPERS_RULES = "Judged by published rules, which have no known error rate."
NUMBERS = {"q_value": "q", "detectable_share": "Detectable share"}
NONE = "<!-- no LLM was judged on a table -->\n"


def render_model_card(view: RunResults) -> str:
    """A section for the card of each LLM under test: which tables it was found to have seen."""
    facts = llm_facts(view)
    sections = []
    for llm, verdicts in grouped(_judged(view), lambda one: one.llm).items():
        name = public_name(facts[llm]) if llm in facts else llm
        version = facts[llm].version if llm in facts else None
        asked = f"Asked as {code(llm)}{f', version {code(version)}' if version else ''}, with"
        rows = [(*_dataset(view, one), *_found(one)) for one in verdicts]
        header = ("Table", "Edition", "SHA-256", *HEAD)
        sections.append(_section(view, "Contamination with tabular data", name, asked, header, rows))
    return "\n".join(sections) or NONE


def render_dataset_card(view: RunResults) -> str:
    """A section for the card of each table: which LLMs were found to have seen it."""
    facts = llm_facts(view)
    sections = []
    for verdicts in grouped(_judged(view), lambda one: (one.dataset, one.edition, one.split)).values():
        _, edition, digest = _dataset(view, verdicts[0])
        stated = ", ".join(filter(None, (edition and f"edition {edition}", digest and f"SHA-256 {digest}")))
        asked = f"This table ({stated}) was asked about with" if stated else "This table was asked about with"
        rows = [
            (code(one.llm), code(facts[one.llm].version or "") if one.llm in facts else "", *_found(one))
            for one in verdicts
        ]
        header = ("LLM", "Version", *HEAD)
        sections.append(_section(view, "LLMs that have seen this table", verdicts[0].dataset, asked, header, rows))
    return "\n".join(sections) or NONE


HEAD = ("Verdict", *NUMBERS.values())


def _judged(view: RunResults) -> list[TableVerdict]:
    return [one for one in view.tables_in_order if one.llm not in view.joined | view.documents]


def _section(
    view: RunResults, title: str, card: str, asked: str, header: Sequence[str], rows: Sequence[Sequence[str]]
) -> str:
    """A section with the name of the card that it is for, which no reader of the card sees."""
    rules = PAPERS_RULES if view.run.rules == PAPER else " ".join(_rules(view))
    day = f" on {view.run.started[:10]}" if view.run.started else ""
    lines = [f"<!-- for the card of {_comment(card)} -->", "", f"## {title}", ""]
    lines += [f"{asked} tabcontam {prose(view.run.version)}{day}. {MEANS}", ""]
    lines += [*table(header, rows, right=len(NUMBERS)), *([prose(rules), ""] if rules else [])]
    return "\n".join(lines)


def _rules(view: RunResults) -> Iterator[str]:
    for note in view.notes:
        if note.kind is NoteKind.RULES:
            yield f"{note.text[:1].upper()}{note.text[1:]}."


def _comment(name: str) -> str:
    """A name that cannot end the comment it stands in."""
    return prose(name).replace("--", "- -").replace(">", "&gt;")


def _dataset(view: RunResults, of: TableVerdict) -> tuple[str, str, str]:
    """The table's name, its edition and the hash of its file."""
    digests = {one.key: one.sha256 for one in view.run.datasets}
    digest = digests.get((of.dataset, of.edition or "", of.split or ""), "")
    return code(of.dataset), code(of.edition or ""), code(digest)


def _found(one: TableVerdict) -> tuple[str, ...]:
    verdict = f"**{one.outcome}**" if one.verdict is Verdict.CONTAMINATED else one.outcome
    verdict += " (by documents that it was trained on)" if one.by_documents else ""
    return verdict, *(rounded(key, one.numbers[key]) if key in one.numbers else "" for key in NUMBERS)
