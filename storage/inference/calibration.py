"""Calibration of the people models: did errors happen as often as predicted, and did predictions separate?

For each model and game, over all and by bands of rating, ply, and games that the person had played against
us before.  The intervals are fixed ones, by person; beside them stands an alarm for drift that may be read at
any time: the mean of O - p.  An e-process over all replies would be no alarm: differences between persons
alone raise it to 20 in half of the runs of a model that is right on average.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from storage.inference.any_time import AnyTimeEstimate, Opt, SequenceDesign, estimate
from storage.inference.figure9 import JudgedReply
from storage.inference.fixed import FixedInterval, fixed_logit, fixed_ratio

RATING_BAND = 200
PLY_BAND = 20
PRACTISED = 30
"""More games than that before: the last of the bands by games."""

By = Literal["all", "rating", "ply", "games before"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Predicted and actual errors of one model in one band."""

    model: str
    """Name and version."""
    game: str
    by: By
    """What the band is a band of; `all`: everything."""
    low: int | None
    """The band begins here; None: without a rating, or everything."""
    high: int | None
    """The band ends here, inclusive; None: without a rating, everything, or no end."""
    n: int
    expected: float
    """Sum of the predicted probabilities."""
    happened: int
    ratio: FixedInterval
    """Expected / happened; above 1: people err less than predicted."""
    intercept: FixedInterval
    """a of logit P = a + b logit p; 0 if calibrated."""
    slope: FixedInterval
    """b; 1 if calibrated, less if predictions are too extreme."""
    drift: AnyTimeEstimate
    """Mean of happened less predicted, right at any time: an alarm when it excludes 0."""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


def calibrations(replies: Iterable[JudgedReply], opt: int = Opt.REPLIES) -> tuple[Calibration, ...]:
    """Calibration of every model, by game and band.

    Replies without a model and in decided positions are left out.

    Args:
        replies: In any order.
        opt: Where the alarm's interval is tightest.

    Returns:
        By model, game, kind of band and band; each kind of band has all replies of its model and game.
    """
    groups: dict[tuple[str, str, int, By, int | None, int | None], list[JudgedReply]] = defaultdict(list)
    for reply in replies:
        if reply.model is None or reply.decided:
            continue
        for order, (by, low, high) in enumerate(_bands(reply)):
            groups[reply.model, reply.game, order, by, low, high].append(reply)
    design = SequenceDesign(opt)
    ordered = sorted(groups, key=lambda key: (*key[:3], -1 if key[4] is None else key[4]))
    return tuple(
        _calibration(model, game, by, low, high, groups[model, game, order, by, low, high], design)
        for model, game, order, by, low, high in ordered
    )


def _bands(reply: JudgedReply) -> Iterable[tuple[By, int | None, int | None]]:
    yield "all", None, None
    if reply.rating is None:
        yield "rating", None, None
    else:
        start = reply.rating // RATING_BAND * RATING_BAND
        yield "rating", start, start + RATING_BAND - 1
    start = reply.ply // PLY_BAND * PLY_BAND
    yield "ply", start, start + PLY_BAND - 1
    if reply.games_before == 0:
        yield "games before", 0, 0
    elif reply.games_before <= PRACTISED:
        yield "games before", 1, PRACTISED
    else:
        yield "games before", PRACTISED + 1, None


def _calibration(
    model: str,
    game: str,
    by: By,
    low: int | None,
    high: int | None,
    replies: Sequence[JudgedReply],
    design: SequenceDesign,
) -> Calibration:
    predicted = np.array([reply.error_model for reply in replies], np.float64)
    happened = np.array([reply.erred for reply in replies], bool)
    persons = [reply.person for reply in replies]
    intercept, slope = fixed_logit(predicted, happened, persons)
    return Calibration(
        model=model,
        game=game,
        by=by,
        low=low,
        high=high,
        n=len(replies),
        expected=float(predicted.sum()),
        happened=int(happened.sum()),
        ratio=fixed_ratio(predicted, happened, persons),
        intercept=intercept,
        slope=slope,
        drift=estimate(happened - predicted, persons, design),
    )
