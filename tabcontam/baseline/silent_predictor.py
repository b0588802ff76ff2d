"""The silent predictor: trees grown on all rows that are not queried. They answer queries as a language model would.

The baseline gives probabilities of values. The silent predictor names one value, as a language model does. Its hits
beyond the baseline's expectation show how far an honest predictor exceeds the baseline without memory.
"""

from collections.abc import Sequence

import numpy as np

from tabcontam.baseline.coded_columns import MISSING, Column, Floats, Ints
from tabcontam.baseline.thresholds import (
    FEW_VALUES,
    LEAST_LARGE_LEAF_ROWS,
    LEAST_TREES,
    MOST_ROWS_OF_WHOLE_TREES,
    MOST_TREES,
    TREE_ROW_SHARE,
    TREE_WORK,
)


def silent_answers(
    targets: Sequence[Column], shown: Sequence[Column], fits: Sequence[tuple[Ints, Ints]]
) -> list[dict[int, str]]:
    """Return by predicted row the value that the trees predict, in its usual spelling; one dict for each target.

    Each of `fits` is a pair: indices of rows to learn from and of rows to predict. Rows for which the trees
    predict a missing cell are left out.
    """
    from sklearn.ensemble import ExtraTreesRegressor

    answers: list[dict[int, str]] = [{} for _ in targets]
    if not shown:
        return answers
    features = _features(shown)
    outputs = np.column_stack([_outputs(one) for one in targets])
    outputs = outputs.ravel() if outputs.shape[1] == 1 else outputs
    for train, predicted in fits:
        large = len(train) > MOST_ROWS_OF_WHOLE_TREES
        part, leaf = (TREE_ROW_SHARE, LEAST_LARGE_LEAF_ROWS) if large else (None, 1)
        trees = int(np.clip(TREE_WORK // max(1.0, len(train) * (part or 1)), LEAST_TREES, MOST_TREES))
        model = ExtraTreesRegressor(
            trees, max_features=0.3, min_samples_leaf=leaf, bootstrap=large, max_samples=part, random_state=0
        )
        model.fit(features[train], outputs[train])
        grown, asked = model.apply(features[train]), model.apply(features[predicted])
        for target, found in zip(targets, answers, strict=True):
            codes, keys = _coded([target.keys[row] for row in train.tolist()])
            votes = _votes(grown, asked, codes, len(keys))
            for row, code in zip(predicted.tolist(), votes.tolist(), strict=True):
                if keys[code] != MISSING:
                    found[row] = target.texts.get(keys[code], keys[code])
    return answers


def _features(shown: Sequence[Column]) -> Floats:
    """Return numbers unchanged, and texts as their code and their last number; -1 where there is no number."""
    found: list[Floats] = []
    for one in shown:
        if one.numbers is None:
            found.append(one.codes.astype(np.float64))
        if one.distinct > FEW_VALUES and (numbers := one.order_in_text) is not None:
            found.append(numbers)
        elif one.numbers is not None:
            found.append(one.numbers)
    return np.nan_to_num(np.column_stack(found), nan=-1.0).astype(np.float32).astype(np.float64)


def _outputs(target: Column) -> Floats:
    """Return the values by which trees split: a number's rank, or flags for the most frequent texts."""
    if target.numbers is not None and target.distinct > FEW_VALUES:
        ranks = np.nan_to_num(target.ranks, nan=-0.5)
        return np.asarray((ranks / max(float(ranks.std()), 1e-9))[:, None])
    order = np.argsort(-np.bincount(target.codes), kind="stable")[:FEW_VALUES]
    flags = np.asarray(target.codes[:, None] == order[None, :], dtype=np.float64)
    if target.distinct > FEW_VALUES:
        flags = np.column_stack([flags, target.codes / max(1, target.codes.max())])
    return flags


def _coded(keys: Sequence[str]) -> tuple[Ints, list[str]]:
    known = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    return np.array([known[key] for key in keys], dtype=np.int64), list(known)


def _votes(grown: Ints, asked: Ints, codes: Ints, values: int) -> Ints:
    """Return the code with most votes for each queried row. The training rows in a leaf share the tree's vote.

    `grown` and `asked` have the leaf of each training row and of each queried row, rows by trees.
    """
    from scipy.sparse import csr_matrix

    summed = csr_matrix((len(asked), values))
    for tree in range(grown.shape[1]):
        leaves = int(max(grown[:, tree].max(), asked[:, tree].max())) + 1
        sizes = np.maximum(np.bincount(grown[:, tree], minlength=leaves), 1)
        leaf_shares = csr_matrix((1 / sizes[grown[:, tree]], (grown[:, tree], codes)), shape=(leaves, values))
        summed = summed + leaf_shares[asked[:, tree]]
    return np.asarray(summed.argmax(axis=1)).ravel().astype(np.int64)
