"""Sections for a model card and a dataset card on the Hugging Face Hub: verdicts and their numbers, as Markdown.

The sections contain no YAML. A model card's metadata is for scores, and a verdict is not a score. A table's name in the
metadata would be read as training data.
"""

from collections.abc import Sequence

from tabcontam.config import PAPER
from tabcontam.evidence.base import Verdict
from tabcontam.extensions.publish.markdown import code, prose, table
from tabcontam.extensions.publish.public_names import llm_facts, public_name
from tabcontam.groups import grouped
from tabcontam.verdicts.notes import NoteKind
from tabcontam.verdicts.result_types import TableVerdict
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import rounded

MEANS = (
    "Contaminated: the baseline does not explain the recalled cells. Not detected does not mean unseen: a smaller "
    "share of the rows than the detectable one may be remembered. The other words mean that nothing was decided."
)
PAPERS_RULES = "The verdicts follow published rules, which have no known error rate."
NUMBERS = {"q_value": "q", "detectable_share": "Detectable share"}
NONE = "<!-- no LLM was judged on a table -->\n"


def render_model_card(view: RunResults) -> str:
    """Return a section for the model card of each LLM under test, with the verdict on each table."""
    facts = llm_facts(view)
    sections = []
    for llm, verdicts in grouped(_judged(view), lambda one: one.llm).items():
        name = public_name(facts[llm]) if llm in facts else llm
        version = facts[llm].version if llm in facts else None
        asked = f"The model was asked as {code(llm)}{f', version {code(version)}' if version else ''}, with"
        rows = [(*_dataset(view, one), *_found(one)) for one in verdicts]
        header = ("Table", "Edition", "SHA-256", *HEAD)
        sections.append(_section(view, "Contamination with tabular data", name, asked, header, rows))
    return "\n".join(sections) or NONE


def render_dataset_card(view: RunResults) -> str:
    """Return a section for the dataset card of each table, with the verdict on each LLM."""
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
    return [one for one in view.tables_in_order if one.llm not in view.joined | view.corpora]


def _section(
    view: RunResults, title: str, card: str, asked: str, header: Sequence[str], rows: Sequence[Sequence[str]]
) -> str:
    """Return a section as Markdown. A comment in it, which is not displayed, names the `card` that it is meant for."""
    notes = [note.text for note in view.notes if note.kind is NoteKind.RULES]
    stated = " ".join(f"{text[:1].upper()}{text[1:]}." for text in notes)
    rules = PAPERS_RULES if view.run.rules == PAPER else stated
    name = prose(card).replace("--", "- -").replace(">", "&gt;")  # so that the name cannot end the comment
    day = f" on {view.run.started[:10]}" if view.run.started else ""
    lines = [f"<!-- for the card of {name} -->", "", f"## {title}", ""]
    lines += [f"{asked} tabcontam {prose(view.run.version)}{day}. {MEANS}", ""]
    lines += [*table(header, rows, right=len(NUMBERS)), *([prose(rules), ""] if rules else [])]
    return "\n".join(lines)


def _dataset(view: RunResults, of: TableVerdict) -> tuple[str, str, str]:
    digests = {one.key: one.sha256 for one in view.run.datasets}
    digest = digests.get((of.dataset, of.edition or "", of.split or ""), "")
    return code(of.dataset), code(of.edition or ""), code(digest)


def _found(one: TableVerdict) -> tuple[str, ...]:
    verdict = f"**{one.outcome}**" if one.verdict is Verdict.CONTAMINATED else one.outcome
    verdict += " (by documents that it was trained on)" if one.by_corpora else ""
    return verdict, *(rounded(key, one.numbers[key]) if key in one.numbers else "" for key in NUMBERS)
