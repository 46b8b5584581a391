"""Fits calibrated models (a conditional logit, and boosted trees on its residuals) and exports them.

Logit and trees maximise the likelihood of the replies played, given each position's replies. The logit is
penalised (L2, on standardised features) for deviating from the human-move model's own probabilities or,
without such a model, from a uniform distribution; trees are fitted one at a time to the softmax's residuals,
with Newton steps in the leaves (Friedman 2001, doi:10.1214/aos/1013203451). Cross-validation by game selects
the penalty and the number of trees: moves of one game are never in both training and test data. The trees are
grown by scikit-learn (extra ``lab``).
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.human.calibrated import (
    FEATURES,
    FEATURES_VERSION,
    HUMAN_FEATURES,
    INPUT,
    OUTPUT,
)
from engine.human.model import CALIBRATED
from engine.human.onnx import PREFIX

L2_PENALTIES = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
TREES = (0, 15, 30, 50)
FOLDS = 5
_EARLY_STOPPING_FOLDS = 2
"""Number of folds tested first; trees are abandoned if they bring no improvement on these folds."""
_MAX_LEAVES, _MIN_LEAF = 8, 100
_FEATURES_TRIED = 0.3
"""Fraction of the features tried at each split; this saves time and makes the trees more diverse."""
_MIN_TREE_PROBABILITY = 0.003
"""Unplayed replies below this probability carry hardly any information and are not used to grow trees."""
_RATE, _LEAF_PENALTY = 0.1, 5.0
_OPSET, _ML_OPSET, _IR = 17, 3, 8
_RECALIBRATION_FEATURES = (
    "ln_p",
    "ln_p*rating",
    "ln_p*clock",
    "ln_p*balance",
    "loss",
    "loss*rating",
    "loss*clock",
    "loss*balance",
    "gap_first",
    "is_best",
)
"""Features that recalibrate a human-move model's prediction; they have only the basic penalty."""
_OTHER_FEATURES_PENALTY_FACTOR = 10.0
"""Factor on the penalty of all other features if a human-move model's prediction is available."""
_IS_HUMAN = np.array([name in HUMAN_FEATURES for name in FEATURES])


@dataclass(frozen=True, slots=True)
class ReplyRows:
    """Replies of many positions, grouped by position."""

    features: NDArray[np.float32]
    """Features, shape (replies, number of `FEATURES`)."""
    starts: NDArray[np.int64]
    """Index of each position's first reply."""
    played: NDArray[np.int64]
    """Index of the reply that was played in each position."""
    games: NDArray[np.int64]
    """Index of each position's game."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of replies in each position."""
        return np.diff(np.append(self.starts, len(self.features)))

    def take(self, positions: NDArray[np.int64]) -> "ReplyRows":
        """Select some of the positions."""
        counts = self.counts
        rows = np.concatenate([np.arange(self.starts[at], self.starts[at] + counts[at]) for at in positions])
        starts = np.concatenate([[0], np.cumsum(counts[positions])[:-1]]).astype(np.int64)
        played = starts + self.played[positions] - self.starts[positions]
        return ReplyRows(self.features[rows], starts, played, self.games[positions])


@dataclass(slots=True)
class Part:
    """A learned utility: feature weights and trees."""

    weights: NDArray[np.float64]
    trees: list[Any] = field(default_factory=list)
    """scikit-learn trees, whose leaf values are added to the utility."""

    def utilities(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """The utility of each reply."""
        found = features.astype(np.float64) @ self.weights
        for tree in self.trees:
            found = found + tree.predict(features)
        return np.asarray(found)


@dataclass(frozen=True, slots=True)
class ValidatedSettings:
    """The cross-validation result for one choice of settings."""

    penalty: float
    trees: int
    nll: float
    """Mean negative log-likelihood of the replies played, in nats."""


def join(parts: Sequence[tuple[NDArray[np.float32], int, int]]) -> ReplyRows:
    """Concatenate positions, each given as its features, the reply played and the game's index."""
    counts = np.array([len(features) for features, _, _ in parts])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    played = starts + np.array([number for _, number, _ in parts])
    games = np.array([game for _, _, game in parts], np.int64)
    return ReplyRows(np.concatenate([features for features, _, _ in parts]), starts, played, games)


def softmax(utilities: NDArray[Any], rows: ReplyRows) -> NDArray[np.float64]:
    """The probability of each reply among the replies in its position."""
    counts = rows.counts
    highest = np.repeat(np.maximum.reduceat(utilities, rows.starts), counts)
    powers = np.exp(utilities - highest)
    return np.asarray(powers / np.repeat(np.add.reduceat(powers, rows.starts), counts))


def losses(probabilities: NDArray[Any], rows: ReplyRows) -> NDArray[np.float64]:
    """Negative log-likelihood of the reply played in each position."""
    return np.asarray(-np.log(np.maximum(probabilities[rows.played], 1e-12)))


def without_human(rows: ReplyRows) -> ReplyRows:
    """The same rows with the features from a human-move model set to 0."""
    features = rows.features.copy()
    features[:, _IS_HUMAN] = 0.0
    return ReplyRows(features, rows.starts, rows.played, rows.games)


def fit_part(rows: ReplyRows, penalty: float, trees: int, seed: int) -> Part:
    """Learn a utility."""
    part = Part(_logit(rows, penalty))
    if trees:
        _boost(part, rows, trees, seed)
    return part


def folds_by_game(rows: ReplyRows, seed: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Training and test positions, split by game."""
    rng = np.random.default_rng(seed)
    games = rng.permutation(np.unique(rows.games))
    fold_of = {game: at % FOLDS for at, game in enumerate(games.tolist())}
    folds = np.array([fold_of[game] for game in rows.games.tolist()])
    return [(np.flatnonzero(folds != at), np.flatnonzero(folds == at)) for at in range(FOLDS)]


def tune(rows: ReplyRows, seed: int) -> tuple[list[ValidatedSettings], NDArray[np.float64]]:
    """Results of cross-validation by game for all settings, best first, and the best setting's probabilities.

    Each reply's probability comes from a model that was not trained on the reply's game.
    """
    folds = folds_by_game(rows, seed)
    utilities = {(penalty, 0): np.zeros(len(rows.features)) for penalty in L2_PENALTIES}
    for train, test in folds:
        held, taken = _rows_of(rows, test), rows.take(train)
        weights = None
        for penalty in sorted(L2_PENALTIES, reverse=True):  # each starts from the result of the stronger one
            weights = _logit(taken, penalty, weights)
            utilities[penalty, 0][held] = Part(weights).utilities(rows.features[held])
    best = min(L2_PENALTIES, key=lambda each: float(losses(softmax(utilities[each, 0], rows), rows).mean()))
    boosted = {count: utilities[best, 0].copy() for count in TREES[1:]}
    for number, (train, test) in enumerate(folds, start=1):
        held = _rows_of(rows, test)
        part = fit_part(rows.take(train), best, TREES[-1], seed)
        found = rows.features[held].astype(np.float64) @ part.weights
        for count, tree in enumerate(part.trees, start=1):
            found = found + tree.predict(rows.features[held])
            if count in TREES:
                boosted[count][held] = found
        if number == _EARLY_STOPPING_FOLDS and not _any_better(
            rows, utilities[best, 0], boosted, folds[:_EARLY_STOPPING_FOLDS]
        ):
            break  # growing trees is most of the work
    else:
        utilities |= {(best, count): found for count, found in boosted.items()}
    tried = [
        ValidatedSettings(penalty, trees, float(losses(softmax(found, rows), rows).mean()))
        for (penalty, trees), found in utilities.items()
    ]
    tried.sort(key=lambda each: (each.nll, each.trees))
    first = tried[0]
    return tried, softmax(utilities[first.penalty, first.trees], rows)


def _any_better(
    rows: ReplyRows,
    linear: NDArray[np.float64],
    boosted: dict[int, NDArray[np.float64]],
    folds: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> bool:
    """Whether any number of trees is better than none on the test positions of these folds."""
    tested = np.concatenate([test for _, test in folds])
    without = losses(softmax(linear, rows), rows)[tested].mean()
    return any(losses(softmax(found, rows), rows)[tested].mean() < without for found in boosted.values())


def _rows_of(rows: ReplyRows, positions: NDArray[np.int64]) -> NDArray[np.int64]:
    counts = rows.counts
    return np.concatenate([np.arange(rows.starts[at], rows.starts[at] + counts[at]) for at in positions])


def _logit(rows: ReplyRows, penalty: float, begin: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Fit the weights of the penalised conditional logit by Newton's method.

    Args:
        penalty: Multiplies half the squared differences from the starting point, for features scaled to unit
            variance. With a human-move model, the starting point is its own probabilities, and features other
            than `_RECALIBRATION_FEATURES` have `_OTHER_FEATURES_PENALTY_FACTOR` times the penalty.
        begin: Initial weights; a good guess makes the fit faster.
    """
    raw = rows.features.astype(np.float64)
    spread = raw.std(axis=0)
    used = spread > 1e-9
    scaled = raw[:, used] / spread[used]
    counts = rows.counts
    start = np.where(np.array(FEATURES) == HUMAN_FEATURES[0], spread, 0.0)[used]
    penalties = np.full(len(start), penalty)
    if start.any():
        penalties *= np.where(
            np.isin(FEATURES, _RECALIBRATION_FEATURES), 1.0, _OTHER_FEATURES_PENALTY_FACTOR
        )[used]
    weights = start.copy() if begin is None else begin[used] * spread[used]
    played = scaled[rows.played].sum(axis=0)

    def value(trial: NDArray[np.float64]) -> float:
        probabilities = softmax(scaled @ trial, rows)
        return float(losses(probabilities, rows).sum() + penalties / 2 @ np.square(trial - start))

    now = value(weights)
    for _ in range(100):
        probabilities = softmax(scaled @ weights, rows)
        gradient = played - probabilities @ scaled - penalties * (weights - start)
        means = np.add.reduceat(scaled * probabilities[:, None], rows.starts, axis=0)
        centred = scaled - np.repeat(means, counts, axis=0)
        curvature = (centred * probabilities[:, None]).T @ centred + np.diag(penalties)
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while (then := value(weights + size * step)) > now and size > 1e-6:
            size /= 2
        weights = weights + size * step
        if now - then < 1e-7 * abs(now):
            break
        now = then
    logit = np.zeros(len(FEATURES))
    logit[used] = weights / spread[used]
    return logit


def _boost(part: Part, rows: ReplyRows, trees: int, seed: int) -> None:
    """Add trees in place to a utility that has none."""
    sklearn_tree: Any = importlib.import_module("sklearn.tree")
    utilities = part.utilities(rows.features)
    is_played = np.zeros(len(rows.features))
    is_played[rows.played] = 1.0
    for number in range(trees):
        probabilities = softmax(utilities, rows)
        gradient, curvature = is_played - probabilities, probabilities * (1.0 - probabilities)
        tree = sklearn_tree.DecisionTreeRegressor(
            max_leaf_nodes=_MAX_LEAVES,
            min_samples_leaf=_MIN_LEAF,
            max_features=_FEATURES_TRIED,
            random_state=seed + number,
        )
        taught = (probabilities >= _MIN_TREE_PROBABILITY) | (is_played > 0)
        tree.fit(rows.features[taught], gradient[taught])
        leaves = tree.apply(rows.features)
        size = tree.tree_.node_count
        up = np.bincount(leaves, gradient, size)
        down = np.bincount(leaves, curvature, size) + _LEAF_PENALTY
        # In single precision right away, as in the file.
        steps = (_RATE * up / down).astype(np.float32).astype(np.float64)
        tree.tree_.value[:, 0, 0] = steps
        part.trees.append(tree)
        utilities = utilities + steps[leaves]


# --- The file -------------------------------------------------------------------------------------------


def to_onnx(with_human: Part, alone: Part, metadata: dict[str, str]) -> bytes:
    """The model as an ONNX file that outputs each reply's utility with and without a human-move model.

    Args:
        metadata: ``game``, ``name``, ``licence`` and any other entries for the file.
    """
    import onnx  # of the extra `lab`, which the experiments on recorded games do not need
    from onnx import TensorProto, helper, numpy_helper

    weights = np.stack([with_human.weights, alone.weights], axis=1).astype(np.float32)
    initialisers = [numpy_helper.from_array(weights, "weights")]
    has_trees = bool(with_human.trees or alone.trees)
    linear = "linear" if has_trees else OUTPUT
    nodes = [helper.make_node("MatMul", [INPUT, "weights"], [linear])]
    if has_trees:
        nodes.append(_ensemble([with_human.trees, alone.trees]))
        nodes.append(helper.make_node("Add", [linear, "boosted"], [OUTPUT]))
    graph = helper.make_graph(
        nodes,
        "calibrated",
        [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["replies", len(FEATURES)])],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["replies", 2])],
        initialisers,
    )
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
    model = helper.make_model(graph, opset_imports=opsets, producer_name="desdemona", ir_version=_IR)
    properties = {"kind": CALIBRATED, "features": FEATURES_VERSION, **metadata}
    helper.set_model_props(model, {f"{PREFIX}{key}": text for key, text in properties.items()})
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def _ensemble(trees_of: Sequence[Sequence[Any]]) -> Any:
    """The trees of both parts as one node with two outputs: for each part, the sum of its leaf values."""
    from onnx import helper

    nodes: dict[str, Any] = {
        key: []
        for key in (
            "nodes_treeids",
            "nodes_nodeids",
            "nodes_featureids",
            "nodes_values",
            "nodes_modes",
            "nodes_truenodeids",
            "nodes_falsenodeids",
            "target_treeids",
            "target_nodeids",
            "target_ids",
            "target_weights",
        )
    }
    number = 0
    for target, trees in enumerate(trees_of):
        for tree in trees:
            _add_tree(nodes, tree.tree_, number, target)
            number += 1
    return helper.make_node(
        "TreeEnsembleRegressor",
        [INPUT],
        ["boosted"],
        domain="ai.onnx.ml",
        n_targets=2,
        aggregate_function="SUM",
        post_transform="NONE",
        **nodes,
    )


def _add_tree(nodes: dict[str, Any], tree: Any, number: int, target: int) -> None:
    for node in range(tree.node_count):
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        is_leaf = left < 0
        nodes["nodes_treeids"].append(number)
        nodes["nodes_nodeids"].append(node)
        nodes["nodes_featureids"].append(0 if is_leaf else int(tree.feature[node]))
        nodes["nodes_values"].append(0.0 if is_leaf else _rounded_down(float(tree.threshold[node])))
        nodes["nodes_modes"].append("LEAF" if is_leaf else "BRANCH_LEQ")
        nodes["nodes_truenodeids"].append(0 if is_leaf else left)
        nodes["nodes_falsenodeids"].append(0 if is_leaf else right)
        if is_leaf:
            nodes["target_treeids"].append(number)
            nodes["target_nodeids"].append(node)
            nodes["target_ids"].append(target)
            nodes["target_weights"].append(float(tree.value[node, 0, 0]))


def _rounded_down(threshold: float) -> float:
    """Round a threshold down to single precision; single-precision numbers stay on the same side of it."""
    near = np.float32(threshold)
    return float(near if near <= threshold else np.nextafter(near, np.float32(-np.inf)))
