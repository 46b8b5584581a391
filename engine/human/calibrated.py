"""Calibrated models: the probability of each reply, learned from recorded human games.

A conditional logit plus a few boosted trees: every reply has a utility, and a softmax over the position's
replies converts utilities to probabilities. The utility depends on a reply's features (`reply_features`): its
scores compared with the other replies' at each depth, its true cost, how deceptive it is, its probability
according to a human-move model if there is one, and the interactions of these features with the person's
rating, the clock and the stage of the game. This module reads models; `lab.training.calibrated` trains them.

Features use expected scores, so that models hardly depend on the engine that produced the scores, and
relative depths (first, last but one, last), so that they also apply to profiles of other depths.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.decision import Candidate, ModelInfo, Person
from engine.game import WIN_CENTI, Game
from engine.human.model import CALIBRATED, DEFAULT_RATING, BadModel
from engine.human.onnx import OnnxNetwork
from engine.human.reply_forecast import JudgeTilt
from engine.plain_values import reader

FEATURES_VERSION = "2"
"""Increased when the meaning of `reply_features` changes; each model file states the version it uses."""
INPUT, OUTPUT = "features", "utilities"
"""Tensor names in the file. Input shape: (replies, features). Output shape: (replies, 2), the utilities with
and without a human-move model."""

JUDGE_TILT = "judge_tilt"
"""Key of the metadata with the numbers of a `JudgeTilt`, as JSON."""

_MIN_P = 1e-4
_SEEN_LOSS_THRESHOLD = 0.10
_MAX_TRAINING_RATING = 1900
"""The rating of the strongest people on whose games Maia's chess networks were trained."""
_REPLY_FEATURES = (
    "loss",
    "loss_root",
    "is_best",
    "gap_first",
    "gap_median",
    "gap_best",
    "gap_last",
    "drop_median",
    "drop_best",
    "drop_last",
    "swing",
    "seen",
    "rank_final",
    "rank_first",
    "trappiness_median",
    "trappiness_best",
    "trappiness_last",
)
_CONTEXT = ("rating", "beyond", "clock", "phase", "balance", "choice")
_CROSSED = ("loss", "gap_first", "gap_best", "drop_best")
HUMAN_FEATURES = ("ln_p", *(f"ln_p*{what}" for what in _CONTEXT))
"""The features that need a human-move model; they are zero without a model."""
FEATURES = (
    *_REPLY_FEATURES,
    *(f"{name}*{what}" for name in _CROSSED for what in _CONTEXT),
    *HUMAN_FEATURES,
)
"""Names of the columns of `reply_features`."""


def expected(scores_centi: NDArray[Any], logistic_centi: float) -> NDArray[np.float64]:
    """Convert scores to expected scores from 0 to 1, like `engine.expected.expected_score`, but unrounded."""
    scores = np.asarray(scores_centi, np.float64)
    soft = 1.0 / (1.0 + np.exp(-np.clip(scores / logistic_centi, -500, 500)))
    return np.asarray(np.where(np.abs(scores) >= WIN_CENTI, (scores > 0).astype(np.float64), soft))


def trappiness_of(gaps: NDArray[Any], sizes: NDArray[Any]) -> NDArray[np.float64]:
    """Compute `engine.trappy.trappiness` (Figure 3 of the paper) for arrays of gaps U - M and sizes |M|."""
    gaps, sizes = np.asarray(gaps, np.float64), np.asarray(sizes, np.float64)
    ratios = np.divide(gaps, sizes, out=np.where(gaps > 0, np.inf, 0.0), where=sizes > 0)
    return np.asarray(np.interp(ratios, [0.0, 1.0, 4.0], [0.0, 0.75, 1.0]), np.float64)


def profile_array(candidate: Candidate) -> NDArray[np.float64]:
    """Return the scores of all replies (rows) by depth (columns), from our point of view.

    Raises:
        IncompleteProfile: The profile is incomplete.
    """
    candidate.require_whole()
    return np.array([reply.scores_centi for reply in candidate.replies], np.float64)


def reply_features(
    scores_centi: NDArray[Any],
    logistic_centi: float,
    plies_left: int,
    human: tuple[float, ...] | None,
    person: Person,
) -> NDArray[np.float32]:
    """The features of each reply: one row per reply, one column per name in `FEATURES`.

    Args:
        scores_centi: Replies by depths, s_2 .. s_D, from our point of view.
        logistic_centi: Scale s of the logistic function that converts scores to expected scores.
        plies_left: `Game.plies_left` of the position in which the person is to reply.
        human: Each reply's probability according to a human-move model; None if there is no model.
        person: The person who replies.
    """
    theirs = -np.asarray(scores_centi, np.float64)  # the person's view from here on
    expected_scores = expected(theirs, logistic_centi)
    final = expected_scores[:, -1]
    shallow = expected_scores[:, :-1] if expected_scores.shape[1] > 1 else expected_scores
    first, last = shallow[:, 0], shallow[:, -1]
    median, best = np.median(shallow, axis=1), shallow.max(axis=1)
    loss = final.max() - final
    size = np.abs(theirs[:, -1])
    upper = theirs[:, :-1] if expected_scores.shape[1] > 1 else theirs
    features = {
        "loss": loss,
        "loss_root": np.sqrt(loss),
        "is_best": loss < 1e-9,
        "gap_first": first.max() - first,
        "gap_median": median.max() - median,
        "gap_best": best.max() - best,
        "gap_last": last.max() - last,
        "drop_median": np.maximum(0.0, median - final),
        "drop_best": np.maximum(0.0, best - final),
        "drop_last": np.maximum(0.0, last - final),
        "swing": expected_scores.std(axis=1),
        "seen": (shallow.max(axis=0) - shallow >= _SEEN_LOSS_THRESHOLD).mean(axis=1),
        "rank_final": np.log1p((final[None, :] > final[:, None] + 1e-9).sum(axis=1)),
        "rank_first": np.log1p((first[None, :] > first[:, None] + 1e-9).sum(axis=1)),
        "trappiness_median": trappiness_of(np.median(upper, axis=1) - theirs[:, -1], size),
        "trappiness_best": trappiness_of(upper.max(axis=1) - theirs[:, -1], size),
        "trappiness_last": trappiness_of(upper[:, -1] - theirs[:, -1], size),
    }
    context = _context_features(final.max(), len(loss), plies_left, person)
    columns = [np.asarray(features[name], np.float64) for name in _REPLY_FEATURES]
    columns += [features[name] * context[what] for name in _CROSSED for what in _CONTEXT]
    ln_p = np.zeros(len(loss)) if human is None else np.log(np.maximum(np.asarray(human), _MIN_P))
    columns += [ln_p, *(ln_p * context[what] for what in _CONTEXT)]
    return np.stack(columns, axis=1).astype(np.float32)


def _context_features(best: float, replies: int, plies_left: int, person: Person) -> dict[str, float]:
    """Return the features that all replies share, mostly from -2 to 2; a feature is 0 if unknown."""
    rating, clock_s = person.rating, person.clock_s
    return {
        "rating": 0.0 if rating is None else max(-2.0, min(2.0, (rating - DEFAULT_RATING) / 400)),
        # Beyond the last network's rating its predictions err more with every point: a bend, where
        # `rating` has one slope.
        "beyond": 0.0 if rating is None else max(0.0, min(2.0, (rating - _MAX_TRAINING_RATING) / 400)),
        "clock": 0.0 if clock_s is None else max(-2.0, min(2.0, float(np.log(max(clock_s, 1.0) / 60)) / 2)),
        "phase": max(-2.0, min(2.0, (plies_left - 30) / 20)),
        "balance": 4.0 * best * (1.0 - best) - 0.5,
        "choice": float(np.log(replies)) - 2.5,
    }


class CalibratedModel:
    """A trained model as `engine.human.reply_model.ReplyModel`.  Only one thread may use it at a time.

    Raises:
        BadModel: The network is of a different kind, or uses different features.
    """

    def __init__(self, network: OnnxNetwork) -> None:
        if network.kind != CALIBRATED:
            raise BadModel(f"{network.where}: a network of kind {network.kind!r}, not {CALIBRATED!r}")
        version = network.metadata.get("features", "")
        if version != FEATURES_VERSION:
            raise BadModel(
                f"{network.where}: trained on features of version {version!r}, not {FEATURES_VERSION!r}, by "
                "another version of this program: fit it again with `desdemona lab fit`"
            )
        self._network = network
        text = network.metadata.get(JUDGE_TILT)
        try:
            self._judge_tilt = None if text is None else reader(JudgeTilt)(json.loads(text))
        except (AttributeError, TypeError, ValueError) as error:
            raise BadModel(f"{network.where}: {JUDGE_TILT}: {error}") from None

    @property
    def game(self) -> str:
        """Name of the game."""
        return self._network.game

    @property
    def info(self) -> ModelInfo:
        """Identifies the model."""
        return self._network.info

    @property
    def trained_with_model(self) -> str:
        """See `engine.human.reply_model.ReplyModel.trained_with_model`."""
        return self._network.metadata.get("human", "")

    @property
    def judge_tilt(self) -> JudgeTilt | None:
        """See `engine.human.reply_model.ReplyModel.judge_tilt`."""
        return self._judge_tilt

    def reply_probabilities(
        self,
        game: Game[Any],
        after: Any,
        candidate: Candidate,
        human: tuple[float, ...] | None,
        person: Person,
    ) -> dict[str, float]:
        """See `engine.human.reply_model.ReplyModel.reply_probabilities`."""
        features = reply_features(
            profile_array(candidate),
            game.expected_scale_centi(after),
            game.plies_left(after),
            human,
            person,
        )
        probabilities = self.probabilities(features, human is not None)
        return {reply.reply: float(p) for reply, p in zip(candidate.replies, probabilities, strict=True)}

    def probabilities(self, features: NDArray[np.float32], has_human: bool) -> NDArray[np.float64]:
        """Return the probabilities of the replies to one position: the softmax of their utilities.

        Raises:
            BadModel: The network rejects these features, or its output is malformed.
        """
        utilities = self._network.run(OUTPUT, {INPUT: features})
        if utilities.shape != (len(features), 2):
            raise BadModel(f"{self._network.where}: its output is {utilities.shape}, not (replies, 2)")
        chosen = utilities[:, 0 if has_human else 1].astype(np.float64)
        powers = np.exp(chosen - chosen.max())
        return np.asarray(powers / powers.sum())


def open_calibrated(path: Path) -> CalibratedModel:
    """Open a model file.

    Raises:
        BadModel: The file is missing or unusable; the message names the file and the reason.
    """
    return CalibratedModel(OnnxNetwork.open(path))
