"""The matched membership test: the model distinguishes rows from altered copies that only memory can reveal."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log2
from random import Random
from typing import ClassVar

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.evidence.base import Evidence, FeatureFacts, Query, Trial
from tabcontam.evidence.mixins import ReferredTest
from tabcontam.evidence.number_wording import describe_p_value, explain_low_power
from tabcontam.evidence.rows.altered_rows import blind_alteration
from tabcontam.evidence.rows.bits_by_column import bits_by_group, entity_names, p_values_without
from tabcontam.evidence.rows.choice_test import discrimination, valid_answers
from tabcontam.evidence.rows.membership import MembershipTest, Swap, balanced
from tabcontam.evidence.thresholds import CANDIDATES_PER_QUERY, MATCHED_ROWS, REMEMBERED_SHARE
from tabcontam.statistics.exact_statistics import poisson_binomial_tail
from tabcontam.statistics.power import choice_power, detectable_choice_share
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table

NULL = "the answers stay, and the labels are drawn again by a classifier that never saw the rows, or by a coin"


@dataclass(frozen=True)
class MatchedMembership(ReferredTest, MembershipTest):
    """Shown a row and its altered copy, each labelled as such, the model must say whether another row is original.

    Measures: whether rows are known exactly, in cases that only memory can decide. This row test can show that rows
    were seen.

    Queries: 60 rows, half of them altered. In an altered row, one feature has the value of another row that is similar
    in all other features. The altered feature is the one in which gradient boosting, trained on other rows, recognizes
    altered rows least often. The asked rows are those that gradient boosting predicts worst. Features are left out if
    arithmetic or general knowledge reveals their change. Such a feature may be determined by another column in 95 % of
    the rows (the country of a city), or be in a law with other columns (`quantity` in a subtotal). Categories are left
    out in a table with a text that differs in most rows.

    Null: each answer is right with the chance that gradient boosting predicts, but at least one half. So neither a
    constant nor a plausible answer counts as memory. Contaminated: more answers are right than the null model explains.

    Published rule: none. The paper's own membership test gives a score alone; under `--rules paper` this test keeps its
    calibrated verdict.

    Needs: 150 different rows or more, a feature whose change neither gradient boosting nor a law reveals, and a model
    that understands a question. The controls are not asked.

    Cannot show: a memory of few rows. A model that remembers half of the rows is nearly always detected, and a model
    that remembers a tenth of the rows is seldom detected.

    Source: the project's own, after example membership of Ronval et al. 2024, section 3.1. According to studies of
    membership inference, a model that has read no row must not be able to distinguish false rows from true rows (Duan
    et al. 2024).

    Example: `Row: The age is 39, ... / Part of the dataset:` is continued with `Yes`.
    """

    id: ClassVar[str] = "matched_membership"
    decides: ClassVar[bool] = True

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        blind = blind_alteration(table)
        candidates = rng.sample(range(len(blind.swaps)), min(len(blind.swaps), CANDIDATES_PER_QUERY * MATCHED_ROWS))
        half = len(candidates) // 2
        asked = {
            "Yes": iter(_least_sure(candidates[:half], blind.true)),
            "No": iter(_least_sure(candidates[half:], blind.false)),
        }
        labels = balanced(MATCHED_ROWS, rng)
        places = [next(asked[label]) for label, _ in labels]
        others = sorted(set(range(len(blind.swaps))) - set(places))

        def query(number: int, place: int, label: tuple[str, bool]) -> Query:
            swap = blind.swaps[place]
            row = swap if label[0] == "No" else Swap(swap.row, swap.column, swap.row)
            chance = blind.false[place] if label[0] == "No" else blind.true[place]
            predictions = {
                "Yes": CellPrediction({"Yes": chance}, chance),
                "No": CellPrediction({"No": 1 - chance}, 1 - chance),
            }
            written = self.query(table, serializer, number, row, label, lambda: blind.swaps[rng.choice(others)])
            column = table.columns[swap.column]
            features = FeatureFacts(dict.fromkeys(predictions, entity_names(table, [column]).get(column, column)))
            return replace(written, chance=predictions, paper=False, features=features)

        return [query(number, *picked) for number, picked in enumerate(zip(places, labels, strict=True))]

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """Weigh the answers: under the null, each is right with the classifier's chance, but at least 1/2.

        The interval is that of the AUC of Yes/No answers; d' and the share of Yes separate discrimination from bias.
        """
        valid = valid_answers(trials)
        answers = [(_chance(trial.query, answer), answer == trial.query.expected[0]) for trial, answer in valid]
        groups = [trial.query.features.lies_in.get(answer, "") for trial, answer in valid]
        chances = [chance for chance, _ in answers]

        def tail(indices: Sequence[int]) -> float:
            return poisson_binomial_tail([chances[one] for one in indices], sum(answers[one][1] for one in indices))

        p_value = tail(range(len(answers)))
        gets = f"a classifier that never saw the rows gets {sum(chances):.0f} right ({describe_p_value(p_value)})"
        return replace(
            discrimination(trials, NULL, sum(chances), gets),
            p_value=p_value,
            recalled_bits=sum(-log2(chance) for chance, right in answers if right),
            detectable_share=detectable_choice_share(chances, level),
            columns=bits_by_group(zip(groups, (-log2(chance) * right for chance, right in answers), strict=True)),
            without=p_values_without(groups, tail),
        )

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        chances = [max(_chance(query, choice) for choice in query.asked) for query in queries]
        return explain_low_power(choice_power(chances, REMEMBERED_SHARE, level), level)


def _chance(query: Query, answer: str) -> float:
    """Return the probability that an answer is right: the blind classifier's, but at least one half."""
    return max(query.chance[answer].chance_of(answer), 0.5)


def _least_sure(places: Sequence[int], chances: Sequence[float]) -> list[int]:
    return sorted(places, key=lambda place: (abs(chances[place] - 0.5), place))
