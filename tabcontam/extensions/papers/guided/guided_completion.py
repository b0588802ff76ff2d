"""The guided completion test: the model continues an instance, and does it better if it knows the named dataset."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import ClassVar

from tabcontam.evidence.base import Evidence, Query, Statistic, Trial
from tabcontam.evidence.mixins import FeatureTest
from tabcontam.evidence.number_wording import describe_p_value, explain_out_of_reach, format_small_number
from tabcontam.evidence.rows.answered_rows import CellBets, CellReference, answered_row
from tabcontam.extensions.papers.guided.algorithm_one import AlgorithmOne, overlaps
from tabcontam.extensions.papers.guided.guided_test import (
    GENERAL,
    WRONG_LABEL,
    WRONG_NAME,
    GuidedTest,
    arm_of,
    of_text,
    run_of,
    whole_run,
)
from tabcontam.extensions.papers.guided.word_runs import WordRun
from tabcontam.extensions.papers.thresholds import LEAST_RECITED_TEXTS, LUCKY_RUN_BITS, MOST_RECITED_CHANCE
from tabcontam.statistics.permutation_tests import sign_flipped

BLEURT = "guided_completion_bleurt"  # id of recorded answers to the same instances with a learned score
NULL = (
    "after a right word, a fluent writer that has not seen the texts has the next one right in at most half of the "
    "cases; or the longest runs are as long with another name or with none"
)


RULE = AlgorithmOne("second pieces have more overlap if the dataset is named", source="golchin2023")


@dataclass(frozen=True)
class GuidedCompletion(CellBets, CellReference, FeatureTest, GuidedTest):
    """Given the first piece of an instance, its dataset, split and label, the model must write the second piece.

    Measures: whether the model knows single instances: texts word for word, rows cell by cell. This row test can show
    that rows were seen.

    Queries: 45 guided queries for a table of rows, which show 40 to 70 % of the cells, the label first. 40 guided
    queries for a table of texts, which show 40 to 70 % of the sentences, or of the words of a single sentence. In a
    pair of sentences, the first is shown and the second is asked. The shown share is drawn for each instance. Ten
    queries are the paper's. The other queries ask about the rows that the baseline predicts worst, or about texts with
    second pieces of twelve words or more. Each of the paper's ten rows, or of twenty texts, has two decoys: the general
    instruction, which names no dataset, and an instruction that names another dataset. Each of the paper's ten
    instances has a third decoy, the label control: the right name with a wrong label.

    Null: for rows, the model's answers are kept, and the hidden cells are drawn again from the baseline's prediction,
    given the cells before them. Decoys are reported and decide nothing: a model that recites rows under any name is
    detected, and a model that only writes better under a name is not detected. For texts, the test counts the longest
    run of words that an answer and the second piece have in common. Words in phrases that other texts or the prompt
    contain do not count. Form letters with names that the prompt shows do not count, either. Each other word is right
    with a chance of one half, and a run may begin at one in four of the places. Contaminated: at least two texts are
    recited better than the null model explains; the best text does not count (Benjamini and Heller 2008). A table of
    texts is also contaminated if runs are longer under the right name than under no name and under a wrong name, by an
    exact permutation test of the signs of paired differences. This comparison counts only a run's bits above three. An
    overlap alone decides nothing.

    Published rule: Algorithm 1. The table is contaminated if the ten instances have a larger mean ROUGE-L with the
    guided instruction than with the general instruction, at p <= 0.05 in 10,000 resamples. The published p-values are
    from a paired bootstrap. The authors' public code resamples both sides separately; its p-value is reported, too.

    Needs: rows that their first cells identify, or texts of two words or more, and a model that generates text, in chat
    or completion form.

    Cannot show: where a text was read. A model may know it from elsewhere on the web. A paraphrase does not count.
    Texts with short second pieces, as in WNLI, show little. The chance of a word was measured on answers of GPT-4 and
    GPT-3.5. Runs are longer if a model writes more fluently, computes a text's content (a solution of GSM8K) or
    translates a text (a pair in two languages). Texts in a script without spaces have too few words. For rows, as in
    any row test, cells that follow from the shown cells show nothing.

    Source: Golchin and Surdeanu 2024, "Time Travel in LLMs", sections 3.1 and 3.2 and appendix A; Algorithm 1. The
    label control is from the same paper's appendix.

    Example: `First piece: The label is setosa, The sepal length (cm) is 5.1, ...` is continued with the rest of the
    row.
    """

    id: ClassVar[str] = "guided_completion"
    follows = "sampling"
    recorded_forms: ClassVar[Mapping[str, str]] = {BLEURT: "Guided completion by BLEURT"}
    published = RULE

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        guided = [trial for trial in trials if not trial.query.decoy_of]
        texts = any(of_text(trial.query) for trial in guided)
        evidence = _recited(trials, guided) if texts else super().weigh(guided, level)
        published = RULE.describe(trials) if overlaps(trials) else ""
        return with_more(evidence, "; ".join(filter(None, (arms_in_words(trials), _labels(trials), published))))

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        texts = [query for query in queries if of_text(query) and not query.decoy_of]
        if not texts:
            return super().uninformative([query for query in queries if not query.decoy_of], level)
        best = min(1.0, 2 * partial_conjunction(list(map(whole_run, texts))))
        what = "words of their own in the texts"
        return explain_out_of_reach(what, "all were recited", best, level)


def _labels(trials: Sequence[Trial]) -> str:
    """Return in words how many right second pieces stay right with a wrong label: the label control."""
    right = [other for guided, other in pairs_of(trials, WRONG_LABEL) if _right(guided)]
    stay = f"{sum(map(_right, right))} of the {len(right)} right second pieces stay right with a wrong label"
    return stay if right else ""


def with_more(evidence: Evidence, more: str) -> Evidence:
    return replace(evidence, sentence="; ".join(filter(None, (evidence.sentence, more))))


def _recited(trials: Sequence[Trial], guided: Sequence[Trial]) -> Evidence:
    p_values = [partial_conjunction(list(map(run_of, guided))), gained_by_names(trials)]
    return evidence_of_pieces(NULL, "second pieces are right word for word", guided, min(1.0, 2 * min(p_values)))


def evidence_of_pieces(
    null: str, hit: str, trials: Sequence[Trial], p_value: float, bits: str = "bits recalled"
) -> Evidence:
    """Return the evidence of the word runs in answers about texts; `hit` describes in words a right answer."""
    runs, hits = list(map(run_of, trials)), sum(map(_right, trials))
    recited = sum(run.chance <= MOST_RECITED_CHANCE for run in runs)
    often = f"{recited} have a run of words that fluent writing gives in 1 of 100 at most, the longest"
    return evidence_of_runs(null, f"{hits} of {len(trials)} {hit}; {often}", runs, p_value, hits, trials, bits)


def evidence_of_runs(
    null: str,
    gained: str,
    runs: Sequence[WordRun],
    p_value: float,
    hits: int,
    trials: Sequence[Trial],
    bits: str = "bits recalled",
) -> Evidence:
    """Return the evidence of word runs; `gained` is the sentence up to the length of the longest run."""
    recalled, most = sum(run.bits for run in runs), max((len(run.text) for run in runs), default=0)
    sentence = f"{gained} has {most} words: {recalled:.0f} {bits} ({describe_p_value(p_value)})"
    return Evidence(
        statistic=Statistic(name="recalled bits", value=recalled),
        null=null,
        sentence=sentence,
        hits=hits,
        asked=len(trials),
        answered=sum(trial.readable for trial in trials),
        p_value=p_value,
        recalled_bits=recalled,
    )


def gained_by_names(trials: Sequence[Trial]) -> float:
    """Return the p-value of the claim that answers are better under the right name than under none or another one."""
    return max(gained_by_name(trials, arm)[1] for arm in (GENERAL, WRONG_NAME))


def gained_by_name(trials: Sequence[Trial], arm: str) -> tuple[list[tuple[float, float]], float]:
    """Return each instance's bits, guided and in the arm, and the p-value of their differences with random signs."""
    pairs = [(_bits_held(guided), _bits_held(other)) for guided, other in pairs_of(trials, arm)]
    return pairs, sign_flipped([guided - other for guided, other in pairs])


def arms_in_words(trials: Sequence[Trial]) -> str:
    """Return in words how much better answers are under the right name."""
    parts = []
    unit = "bits of a run beyond three" if any(of_text(trial.query) for trial in trials) else "bits per instance"
    for arm, words in ((GENERAL, "no name"), (WRONG_NAME, "another name")):
        pairs, p_value = gained_by_name(trials, arm)
        if pairs:
            own, other = (fmean(side) for side in zip(*pairs, strict=True))
            parts.append(
                f"{format_small_number(own)} {unit} with the right name, {format_small_number(other)} with {words} "
                f"({describe_p_value(p_value)})"
            )
    return "; ".join(parts)


def pairs_of(trials: Sequence[Trial], arm: str) -> list[tuple[Trial, Trial]]:
    """Return each guided trial with the arm's of its instance, if both are readable; both get the guided chances."""
    own = {trial.query.id: trial for trial in trials if not trial.query.decoy_of}
    pairs = []
    for trial in trials:
        guided = own.get(trial.query.decoy_of)
        if guided is not None and arm_of(trial.query) == arm and guided.readable and trial.readable:
            pairs.append((guided, replace(trial, query=replace(trial.query, chance=guided.query.chance))))
    return pairs


def partial_conjunction(runs: Sequence[WordRun]) -> float:
    """Return the p-value that at most one text is known: the partial conjunction of two of n.

    The run that is worth most is left out (Benjamini and Heller 2008, section 3). The result is twice the smaller of
    two p-values of all other runs: Simes', for few long runs, and the binomial tail of the number of recited runs, for
    many.
    """
    from tabcontam.statistics.exact_statistics import poisson_binomial_tail

    chances = sorted(run.chance for run in runs)[LEAST_RECITED_TEXTS - 1 :]
    if not chances:
        return 1.0
    simes = min(len(chances) * chance / place for place, chance in enumerate(chances, 1))
    recited = sum(chance <= MOST_RECITED_CHANCE for chance in chances)
    return min(1.0, 2 * min(simes, poisson_binomial_tail([MOST_RECITED_CHANCE] * len(chances), recited)))


def _bits_held(trial: Trial) -> float:
    """Return the bits of an answer: of its right cells or, for a text, of its run minus three bits.

    So only long runs count, and not the luck of a writer that imitates the style of the named dataset: whatever the
    text's length, at most one of eight completions by a fluent writer has such a run.
    """
    if of_text(trial.query):
        return max(0.0, run_of(trial).bits - LUCKY_RUN_BITS)
    return sum(cell.bits for cell in answered_row(trial).given)


def _right(trial: Trial) -> bool:
    return trial.reading is not None and trial.reading.hit is True
