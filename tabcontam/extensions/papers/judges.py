"""The judges of completions, the error rate of each, and the agreement of people, judges and methods."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tabcontam.evidence.completion_pairs import Likeness
from tabcontam.extensions.papers.completion_judgements import COMPLETIONS, SETTINGS, TEXT
from tabcontam.extensions.papers.guided.guided_match import PERSONS
from tabcontam.replay.recorded_squares import one_result_a_square
from tabcontam.report.paper_methods import agreement, format_agreement, kappa, matrices, papers
from tabcontam.report.report_parts import ReportPart
from tabcontam.report.standings import titles_of
from tabcontam.verdicts.judge_facts import Agreement, JudgeFacts
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import visible

ABOUT = (
    "A completion is an exact match if it equals the true second piece but for white space, capitals, quotes and final "
    "marks; no judge is asked about it. For any other, a judge (an LLM or a person) decides whether it is near-exact. "
    "If several judged, the LLM that judged last counts. A made pair is a true piece with itself, with itself after "
    "one change, or with another row's piece: the judge's answers for these show how often it errs. They are easier "
    "than the completions of LLMs, so it errs at least as often on those."
)
RECORDED = (
    "The recorded judge, an LLM, decided whether each recorded completion is an exact, a near-exact or no match of the "
    "true second piece, and so did people if they are named. By the text alone, a completion is exact if it equals the "
    "true piece but for white space, capitals, quotes and final marks. The judge's error rate on made pairs is not "
    "recorded."
)
AGREED = (
    "Agreement is the share of completions or settings that both judged alike, of those that both judged, as in tables "
    "3 to 5 of Golchin and Surdeanu 2024; Cohen's kappa is the agreement beyond chance. A setting is an LLM on a "
    "table; a judge of its completions decides it by their Algorithm 2: one exact match, or two near-exact ones. Tests "
    "decide by their published rules."
)
TITLES = {COMPLETIONS: "Agreement on completions", SETTINGS: "Agreement on settings"}


def judge_rows(judges: Sequence[JudgeFacts]) -> list[tuple[str, ...]]:
    """Return the judges as rows. If several judges judged a completion, the first of them in this order decides."""
    return [
        (
            one.by,
            "person" if one.person else "LLM",
            f"{one.judged}" + (f", {one.unjudged} not judged" if one.unjudged else ""),
            ", ".join(f"{one.words[word]} {word}" for word in Likeness if word in one.words),
            one.errs or ("" if one.person else "no made pairs"),
        )
        for one in judges
    ]


def agreement_texts(one: Agreement) -> tuple[str, str]:
    """Return two texts on the agreement: `3 of 4 (75.0%)` for the items judged alike, and Cohen's kappa."""
    share = f"{one.agree} of {one.items} ({one.agree / one.items:.1%})" if one.items else "0 of 0"
    return share, "-" if one.kappa is None else f"{one.kappa:.2f}"


def context(view: RunResults) -> dict[str, Any]:
    tables = {
        TITLES[of]: [(one.first, one.second, *agreement_texts(one)) for one in view.agreements if one.kind == of]
        for of in (COMPLETIONS, SETTINGS)
    }
    return {
        "judge_rows": judge_rows(view.judges),
        "judges_about": RECORDED if view.run.recorded else ABOUT,
        "agreements_about": AGREED,
        "agreement_tables": {title: rows for title, rows in tables.items() if rows},
    }


def judges_text(view: RunResults) -> str:
    """Return the judges, and how often they agree, as text for the terminal."""
    if not view.judges:
        return "no completion of this run was judged"
    lines = [one.sentence for one in view.judges]
    for of in (COMPLETIONS, SETTINGS):
        own = [one for one in view.agreements if one.kind == of]
        lines += ["", f"{TITLES[of].lower()}:"] if own else []
        for one in own:
            share, kappa = agreement_texts(one)
            lines.append(f"  {one.first} and {one.second}: {share}, kappa {kappa}")
    lines += ["", f"{TEXT} gives exact or no match; a test decides by its published rule"] if view.agreements else []
    return "\n".join(lines)


def replay_lines(view: RunResults) -> list[str]:
    """Return the agreement of people with each method, and that of the judges of recorded completions."""
    shown = replace(view, results=one_result_a_square(view.results))
    lines = list(_with_people(shown)) if papers(shown) else []
    rows = [(one, *agreement_texts(one)) for one in view.agreements if one.kind == COMPLETIONS]
    lines += ["", TITLES[COMPLETIONS].lower()] if rows else []
    lines += [f"  {one.first} and {one.second}: {share}, kappa {kappa}" for one, share, kappa in rows]
    return [line and visible(line, line=True) for line in lines]


def _with_people(view: RunResults) -> Iterator[str]:
    """Yield the agreement of each method with a person, for each LLM: table 3 of Golchin and Surdeanu 2024."""
    for matrix in matrices(view, titles_of(view)):
        people = [method for method in matrix.methods if method.test == PERSONS[0]]
        others = [method for method in matrix.methods if method.test not in ("", PERSONS[0])]
        agreements = [(method.title, agreement(method, person)) for person in people for method in others]
        if agreements and (matrix.llm or len(view.llms) == 1):
            yield f"  {matrix.llm or view.llms[0]}: agreement with {people[0].title[:1].lower()}{people[0].title[1:]}"
            yield from (
                f"    {title}: {format_agreement(one)}, kappa {kappa(one)}" for title, one in agreements if one.items
            )


PART = ReportPart("scores", "judges.html.jinja", context, replay_lines=replay_lines)
