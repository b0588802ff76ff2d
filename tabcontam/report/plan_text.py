"""The plan of a run as text and as JSON: the queries to ask, the queries already answered, and the greatest cost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from tabcontam.asking.estimate import Estimate
from tabcontam.asking.query_plan import PlannedResult, shuffled_shown
from tabcontam.groups import grouped
from tabcontam.tables.table import Table
from tabcontam.verdicts.advice import advise_on_lack
from tabcontam.verdicts.wording import needing

Leaving = Mapping[tuple[str, str], int]


def plan_document(
    results: Iterable[PlannedResult],
    estimates: Iterable[Estimate],
    leaving: Leaving,
    left_out: str = "",
    tables: Iterable[Table] = (),
) -> dict[str, Any]:
    """Return the plan for JSON. `left_out` is a line on the queries that `--queries paper` leaves out."""
    return {
        "datasets": [{"dataset": table.named, "edition": table.edition, "read": table.read.how} for table in tables],
        "results": [
            {
                **result.name._asdict(),
                "queries": len(result.queries),
                "if_it_has": result.provided,
                "reason": result.skip or result.uninformative,
            }
            for result in results
        ],
        "llms": [
            asdict(each) | {"dollars": None if each.dollars is None else float(each.dollars)} for each in estimates
        ],
        "rows_leaving": [{"llm": llm, "dataset": name, "rows": rows} for (llm, name), rows in leaving.items()],
        "left_out": left_out or None,
    }


def plan_text(
    results: Sequence[PlannedResult],
    estimates: Sequence[Estimate],
    leaving: Leaving,
    left_out: str = "",
    tables: Iterable[Table] = (),
) -> str:
    """Return the plan as text: how each FILE was read, planned results, each LLM's greatest cost, and the rows to send.

    The tests that an LLM does not support share one line for all tables.
    """
    lines = [f"{table.named}: {table.read.how}" for table in tables if table.read.how]
    lines += [""] * bool(lines)
    lines += [_result(result) for result in results if not result.lacks]
    lacking = grouped((result for result in results if result.lacks), lambda result: (result.name.llm, result.lacks))
    for (llm, lacks), own in lacking.items():
        tests = list(dict.fromkeys(result.test.id for result in own))
        lines.append(f"{llm}  skipped: {needing(tests, lacks or '')}{advise_on_lack(tests, lacks or '')}")
    lines += ["", left_out] if left_out else []
    lines += ["", *(line for estimate in estimates for line in _llm(estimate)), ""]
    shuffled, unsure = shuffled_shown(results), {result.name.llm for result in results if result.provided}
    for (llm, dataset), rows in leaving.items():
        mixed = " and others made of its cells" * ((llm, dataset) in shuffled)
        lines.append(f"{'up to ' * (llm in unsure)}{rows} rows of {dataset}{mixed} would be shown to {llm}")
    lines.append(f"{_all(results, estimates)}; nothing was asked")
    there = (estimate for estimate in estimates if not estimate.missing)
    lines += [f"no price is known for {each.llm}; see --prices" for each in there if each.dollars is None]
    return "\n".join(lines)


def _all(results: Sequence[PlannedResult], estimates: Sequence[Estimate]) -> str:
    """Return in words the total number of requests to LLMs and of lookups in corpora, and their greatest cost."""
    asked, searched = ([each for each in estimates if each.is_corpus is wanted] for wanted in (False, True))
    there = [estimate for estimate in asked if estimate.dollars is not None or not estimate.missing]
    known = [estimate.dollars for estimate in asked if estimate.dollars is not None]
    price = f"at most {_dollars(sum(known, Decimal(0)))}" if there else "at an unknown price"
    unsure = any(estimate.unsure for estimate in there or asked)
    requests = f"{'up to ' * unsure}{sum(estimate.requests for estimate in there or asked):,} requests"
    lookups = f"{sum(estimate.requests for estimate in searched):,} lookups"
    what = " and ".join([requests] * bool(asked) + [lookups] * bool(searched))
    return f"{what} for {len(results):,} {'result' if len(results) == 1 else 'results'}" + (
        f", {price}" if asked else ""
    )


def _result(result: PlannedResult) -> str:
    name = result.name
    undecided = "an LLM under test is undecided" if result.subject.joined else "that does not decide it"
    until = f", if {undecided}" if result.deferred else ""
    until = ", until the table is decided" if result.sequential else until
    verb = "look up" if result.subject.model.is_corpus else "ask"
    what = f"{len(result.queries)} to {verb}{until}"
    if result.provided:
        what = f"up to {what}, if it has {result.provided}"
        what += f", else {len(result.otherwise.queries)} in words" if result.otherwise else ""
    if result.skip:
        what = f"skipped: {result.skip}"
    elif result.uninformative:
        what = f"uninformative: {result.uninformative}"
    what += " (the reference)" if result.subject.reference else ""
    table = f"{name.dataset}@{name.edition}{name.split and f'#{name.split}'}"
    return f"{name.llm}  {table}  {name.serializer}  {name.prompts}  {name.test}  {what}"


def _llm(estimate: Estimate) -> list[str]:
    """Return two lines on an LLM: the remaining requests, and their greatest cost. A corpus has one line."""
    if estimate.is_corpus:
        before = f" ({estimate.answered:,} were done before)" if estimate.answered else ""
        return [f"{estimate.llm}: {estimate.missing or f'{estimate.requests:,} lookups are left{before}'}"]
    known = f"{estimate.answered:,} of {estimate.queries:,} queries are answered already, "
    up_to = "up to " * estimate.unsure
    lines = [f"{estimate.llm}: {estimate.missing or f'{known}{up_to}{estimate.requests:,} requests are left'}"]
    if estimate.requests and estimate.missing and estimate.dollars is None:
        lines.append("  its price is unknown")
    elif estimate.requests:
        thinking = f" and {estimate.thinking_tokens:,} of thinking" if estimate.thinking_tokens else ""
        price = "no price known" if estimate.dollars is None else _dollars(estimate.dollars)
        batched = " in batches, but for the first" if estimate.batched else ""
        lines.append(
            f"  at most {estimate.prompt_tokens:,} tokens of prompts, {estimate.answer_tokens:,} of answers{thinking}: "
            f"{price}{batched}"
        )
    return lines


def _dollars(amount: Decimal) -> str:
    return f"${amount:,.4f}" if 0 < amount < 1 else f"${amount:,.2f}"
