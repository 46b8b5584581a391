"""Calibration of the forecasts: expected versus actual errors, by model and game."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from engine.figure_9 import MIN_ERROR_COST
from storage.evidence.inference.calibration import Calibration, calibration
from storage.evidence.measures import Cells
from storage.evidence.reading import played_game_conditions, read_replies
from storage.evidence.replies import ReplyFlag, ReplyTable, expected, has, phases_of
from storage.evidence.statistics.group_rows import (
    GroupIndex,
    GroupRows,
    KeySources,
    is_among,
    is_first,
    read_sources,
    unjudged_games,
)
from storage.evidence.statistics.groups import GroupKey, complete_keys
from storage.filters import Filters, of_games


@dataclass(frozen=True, slots=True)
class GroupCalibration:
    """The calibration of one model's forecasts of errors in one group of replies."""

    group: dict[str, str]
    """The values that the group's replies share, keyed by `GroupKey`; always includes model and game."""
    errors: Calibration
    """Expected and actual numbers of judged replies that cost 10 % of the game or more."""


@dataclass(frozen=True, slots=True)
class CalibrationRows:
    """The data read for calibrations; their statistics are computed after the transaction."""

    by: tuple[GroupKey, ...]
    replies: ReplyTable
    """The replies that are counted."""
    sources: KeySources
    unjudged: int = 0
    """Number of the games with replies that the judge has yet to judge; these do not count."""

    def calibrations(self) -> list[GroupCalibration]:
        """The calibration of each model in each group, ordered by the groups' names.

        Uses the replies whose errors `storage.evidence.statistics.groups` counts: judged ones in undecided
        positions in each person's first games.
        """
        table = self.replies.where(is_first(self.replies.of, self.sources)[self.replies.game])
        models = table.models()
        # Each reply is a cell by itself, without sums.
        cells = Cells(
            sums=np.zeros((len(table.game), 0)),
            games=table.game,
            phases=phases_of(table.replies),
            models=models.codes,
            model_names=models.texts,
        )
        index = GroupIndex(
            GroupRows(by=self.by, games=table.of, cells=cells, sources=self.sources, outdated=0)
        )
        foreseen, erred = expected(table.replies, "error_expected"), table.replies["cost"] >= MIN_ERROR_COST
        persons = table.of.games["person"][table.game]
        order = np.argsort(index.of_cell, kind="stable")
        bounds = np.searchsorted(index.of_cell[order], np.arange(len(index.names) + 1))
        calibrations = []
        for number, name in enumerate(index.names):
            some = order[bounds[number] : bounds[number + 1]]
            errors = calibration(foreseen[some], erred[some], persons[some].tolist())
            names = dict(zip((key.value for key in self.by), name, strict=True))
            calibrations.append(GroupCalibration(names, errors))
        return calibrations


async def read_calibrations(
    session: AsyncSession,
    filters: Filters | None = None,
    by: Sequence[GroupKey] = (),
    among: Callable[[int], bool] | None = None,
) -> CalibrationRows:
    """Read the forecasts of the games that pass the filters.

    Args:
        session: The transaction's session.
        filters: Select games, and replies in them; None selects all.
        by: Grouping keys in addition to the model; adds the game, and the site if the rating band is a key.
        among: Returns whether the game with a given key is wanted; None if all games are wanted.
    """
    keys, filters = complete_keys((GroupKey.MODEL, *by)), filters or Filters()
    parts, unjudged = [], 0
    async for part in read_replies(session, *played_game_conditions(of_games(filters))):
        wanted = part.of_games(is_among(part.of, among))
        unjudged += unjudged_games(wanted.of)
        counts = has(wanted.replies, ReplyFlag.COUNTED | ReplyFlag.JUDGED, ReplyFlag.DECIDED)
        if filters.phase is not None:
            counts &= phases_of(wanted.replies) == filters.phase.number
        parts.append(wanted.where(counts))
    return CalibrationRows(keys, ReplyTable.joined(parts), await read_sources(session, keys), unjudged)
