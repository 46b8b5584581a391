"""Each judged reply of a game in eleven bytes: what the calibration of the forecasts needs of it.

A calibration fits a curve to the forecasts of single replies, for which sums are not enough.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.statistics.facts import ReplyFact
from storage.statistics.reply_sums import phase_of

ODDS = np.dtype([("phase", "u1"), ("model", "u1"), ("erred", "u1"), ("expected", "<f8")])
"""Phase of the reply, 0 for the first; number of the model; 1: it was an error; its probability by the
forecast."""
_MOST = 255


def packed_odds(replies: Sequence[ReplyFact], models: Sequence[str]) -> bytes:
    """The replies of a game that count, those in open positions, in the order of play.

    Args:
        replies: All judged ones.
        models: Who made the forecasts; `model` is an index of these.
    """
    numbers: Mapping[str, int] = {name: number for number, name in enumerate(models)}
    rows = [
        (min(phase_of(each.ply + 1), _MOST), numbers[each.model], each.erred, each.error_expected)
        for each in replies
        if not each.is_decided
    ]
    return np.array(rows, ODDS).tobytes()


def unpacked_odds(data: bytes) -> NDArray[Any]:
    """The replies of any number of games, packed one after the other; fields as in `ODDS`.

    Raises:
        ValueError: There is a part of a reply.
    """
    return np.frombuffer(data, ODDS)
