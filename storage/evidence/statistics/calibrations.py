"""Calibration of the forecasts: errors expected and happened, by model and game."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncSession

from engine.judgement import ERROR
from storage.evidence.inference.calibration import Calibration, calibration
from storage.evidence.inference.persons import Floats
from storage.evidence.measures import Cells
from storage.evidence.reading import played, read_replies
from storage.evidence.replies import GameRows, ReplyFlag, ReplyTable, expected, has, phases_of
from storage.evidence.statistics.group_rows import GroupIndex, GroupRows, is_first, read_sources
from storage.evidence.statistics.groups import By, complete_keys
from storage.filters import Filters, of_games


@dataclass(frozen=True, slots=True)
class GroupCalibration:
    """One model's forecasts of errors in one group of replies."""

    group: dict[str, str]
    """The common values of the replies, by the names of `By`; always the model and the game."""
    errors: Calibration
    """Replies that cost a tenth of the game or more."""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"group": self.group, "errors": self.errors.to_json()}


@dataclass(frozen=True, slots=True)
class CalibrationRows:
    """The data read; the statistics are computed after the transaction."""

    groups: GroupRows
    """Each reply is a cell of its own, without sums."""
    expected: Floats
    """The forecast probability of an error, shape (replies,)."""
    erred: NDArray[np.bool_]

    def calibrations(self) -> list[GroupCalibration]:
        """The calibration of each model in each group, in the order of the groups' names.

        The replies are those that `storage.evidence.statistics.groups` counts: outside decided positions,
        of the first games of each person.
        """
        read = self.groups
        is_counted = is_first(read.games, read.sources)[read.cells.games]
        games, foreseen, erred = (
            read.cells.games[is_counted],
            self.expected[is_counted],
            self.erred[is_counted],
        )
        index = GroupIndex(replace(read, cells=read.cells.where(is_counted)))
        order = np.argsort(index.of_cell, kind="stable")
        bounds = np.searchsorted(index.of_cell[order], np.arange(len(index.names) + 1))
        found = []
        for number, name in enumerate(index.names):
            some = order[bounds[number] : bounds[number + 1]]
            persons = read.games.games["person"][games[some]].tolist()
            errors = calibration(foreseen[some], erred[some], persons)
            names = dict(zip((key.value for key in read.by), name, strict=True))
            found.append(GroupCalibration(names, errors))
        return found


async def read_calibrations(
    session: AsyncSession,
    filters: Filters | None = None,
    by: Sequence[By] = (),
    among: Callable[[int], bool] | None = None,
) -> CalibrationRows:
    """Read the forecasts of the games that pass the filters.

    Args:
        session: Of the transaction.
        filters: Which games, and which replies in them; None: all.
        by: What to group by beside the model; the game is added, and the site for rating bands.
        among: Whether a game is wanted, by its key; None: all are.
    """
    keys, filters = complete_keys((By.MODEL, *by)), filters or Filters()
    games: list[GameRows] = []
    cells, foreseen, erred = [], [np.zeros(0)], [np.zeros(0, bool)]
    count = 0
    async for part in read_replies(session, *played(of_games(filters))):
        counted = part.where(_count(part, filters, among))
        cells.append((_cells(counted), count))
        foreseen.append(expected(counted.replies, "error_expected"))
        erred.append(counted.replies["cost"] >= ERROR)
        games.append(part.of)
        count += len(part.of)
    of = GameRows.joined(games)
    sources = await read_sources(session, keys)
    groups = GroupRows(by=keys, games=of, cells=Cells.joined(cells), sources=sources, outdated=0)
    return CalibrationRows(groups, np.concatenate(foreseen), np.concatenate(erred))


def _count(part: ReplyTable, filters: Filters, among: Callable[[int], bool] | None) -> NDArray[np.bool_]:
    """Whether each reply counts, apart from the limit on games per person."""
    counts = has(part.replies, ReplyFlag.JUDGED, ReplyFlag.DECIDED)
    if filters.phase is not None:
        counts &= phases_of(part.replies) == filters.phase.number
    if among is not None:
        counts &= np.array([among(key) for key in part.of.games["id"].tolist()], bool)[part.game]
    return counts


def _cells(replies: ReplyTable) -> Cells:
    models = replies.models()
    return Cells(
        sums=np.zeros((len(replies.game), 0)),
        games=replies.game,
        phases=phases_of(replies.replies),
        models=models.codes,
        model_names=models.texts,
    )
