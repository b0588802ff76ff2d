"""A fresh evaluation set in words: its texts, its numbers of questions, the judge's error rates, what is missing."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tabcontam.asking.estimate import Estimate
from tabcontam.verdicts.wording import rounded, visible

MEASURES = {
    "bits_a_character": "bits a character",
    "longest_common_ngram": "longest common n-gram in words, less that with other passages",
    "copy_rate": "share copied, less that of other passages",
}
CONCLUSIONS = {
    "copied": "it continues old passages word for word, so it has read them",
    "likelier": "it finds old passages likelier, but does not copy them: faint memory, or plainer texts",
    "no gap": "no gap detected",
    "cannot tell": "no conclusion: too few answers",
}
CONTROLS = {"control:old": " (has read the old passages)", "control:neither": " (has read no passage)"}


def fresh_text(document: Mapping[str, Any], folder: Path) -> str:
    """Return the facts in the JSON document of a fresh set as text. `folder` contains the set."""
    lines = [f"{document['passages']:,} texts, from {document['first'][:10]} to {document['last'][:10]}: {folder}"]
    lines += [f"left out: {count:,} {visible(reason, line=True)}" for reason, count in document["left_out"].items()]
    for part, words in (("questions", _questions), ("answers", _answers), ("memory", _memory)):
        if part in document:
            lines += ["", *words(document[part])]
    return "\n".join(lines)


def plan_of(estimates: Sequence[Estimate]) -> str:
    """Return, for each LLM and stage of the work, the greatest possible numbers of requests and tokens."""
    lines = []
    for one in estimates:
        price = "no price known" if one.dollars is None else f"at most ${one.dollars:,.4f}"
        known = f", {one.answered:,} are answered already" if one.answered else ""
        lines.append(
            f"{one.llm}: at most {one.requests:,} requests, {one.prompt_tokens:,} tokens of prompts, "
            f"{one.answer_tokens + one.thinking_tokens:,} of answers, {price}{known}"
        )
    return "\n".join(["", *lines, "the texts were fetched; no LLM was asked"])


def _questions(own: Mapping[str, Any]) -> list[str]:
    genres = sorted({genre for found in own["kinds"].values() for genre in found})
    table = [["", *genres, "all"]]
    for kind, found in own["kinds"].items():
        table.append([kind, *(str(found.get(genre, 0)) for genre in genres), str(sum(found.values()))])
    counts = f"{own['kept']:,} of the {own['written']:,} questions that {own['llm']} wrote are faithful and answerable"
    written = visible(f"{counts}, by {own['judge']}", line=True)
    left_out = [f"left out: {count:,} {visible(reason, line=True)}" for reason, count in own["left_out"].items()]
    return [written, *_aligned(table), *left_out, *_agreement(own["agreement"])]


def _answers(own: Mapping[str, Any]) -> list[str]:
    table = [["", "rating", "rated", "won", "lost", "pairs"]]
    for one in own["llms"]:
        rating = "-" if one["rating"] is None else f"{one['rating']:.2f}"
        rated, duels = f"{one['rated']}/{one['questions']}", (str(one[key]) for key in ("won", "lost", "pairs"))
        table.append([one["llm"], rating, rated, *duels])
    bias = own["position_bias"]
    if not bias["pairs"]:
        return [f"rated by {own['judge']}, from 1 to 10", *_aligned(table), *_agreement(own["agreement"])]
    orders = f"{bias['consistent']} of {bias['pairs']} pairs were judged the same in both orders"
    if by_place := bias["first"] + bias["second"]:
        low, high = bias["interval"]
        orders += (
            f"; the place decided {by_place}: the first won {bias['first']}, a share of {low:.2f} to {high:.2f} "
            f"(p = {rounded('p_value', bias['p_value'])} if both places are equal)"
        )
    return [f"rated by {own['judge']}, from 1 to 10", *_aligned(table), orders, *_agreement(own["agreement"])]


def _agreement(found: Iterable[Mapping[str, Any]]) -> list[str]:
    lines = []
    for one in found:
        kappa = "no kappa" if one["kappa"] is None else f"kappa {one['kappa']:.2f}"
        lines.append(f"people and the judge agree on {one['agree']} of {one['items']} ({one['what']}), {kappa}")
    return lines


def _memory(own: Mapping[str, Any]) -> list[str]:
    lines = [f"{own['old']} old and {own['fresh']} fresh passages of {own['words']} words each"]
    for llm in own["llms"]:
        who = f"{visible(llm['llm'], line=True)}{CONTROLS.get(llm['llm'], '') if llm['control'] else ''}"
        lines.append(f"{who}: {CONCLUSIONS[llm['conclusion']]}")
        for one in llm["gaps"]:
            name = MEASURES[one["measure"]]
            if one["gap"] is None:
                lines.append(f"  {name}: {one['reason']}")
                continue
            low, high = one["interval"]
            verdict = "a gap" if one["significant"] else "no gap"
            lines.append(
                f"  {name}: old {one['old']:z.2f}, fresh {one['fresh']:z.2f}, difference {one['gap']:+z.2f} "
                f"({low:+z.2f} to {high:+z.2f}), p = {rounded('p_value', one['p_value'])}: {verdict}"
            )
    return lines


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(visible(cell, line=True)) for cell in column) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            visible(cell, line=True).ljust(width) if not number else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
