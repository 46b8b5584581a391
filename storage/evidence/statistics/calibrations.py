"""Calibration of the forecasts: expected and actual errors, by model and game."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from engine.judgement import ERROR
from storage.evidence.inference.calibration import Calibration, calibration
from storage.evidence.measures import Cells
from storage.evidence.reading import played, read_replies
from storage.evidence.replies import ReplyFlag, ReplyTable, expected, has, phases_of
from storage.evidence.statistics.group_rows import (
    GroupIndex,
    GroupRows,
    KeySources,
    is_among,
    is_first,
    read_sources,
)
from storage.evidence.statistics.groups import By, complete_keys
from storage.filters import Filters, of_games


@dataclass(frozen=True, slots=True)
class GroupCalibration:
    """One model's forecasts of errors in one group of replies."""

    group: dict[str, str]
    """The common values of the replies, by the names of `By`; always the model and the game."""
    errors: Calibration
    """Replies that cost a tenth of the game or more."""


@dataclass(frozen=True, slots=True)
class CalibrationRows:
    """The data read; the statistics are computed after the transaction."""

    by: tuple[By, ...]
    replies: ReplyTable
    """The replies that count."""
    sources: KeySources

    def calibrations(self) -> list[GroupCalibration]:
        """The calibration of each model in each group, in the order of the groups' names.

        The replies are those that `storage.evidence.statistics.groups` counts: outside decided positions,
        of the first games of each person.
        """
        table = self.replies.where(is_first(self.replies.of, self.sources)[self.replies.game])
        models = table.models()
        # Each reply is a cell of its own, without sums.
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
        foreseen, erred = expected(table.replies, "error_expected"), table.replies["cost"] >= ERROR
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
    by: Sequence[By] = (),
    among: Callable[[int], bool] | None = None,
) -> CalibrationRows:
    """Read the forecasts of the games that pass the filters.

    Args:
        session: Of the transaction.
        filters: Which games, and which replies in them; None: all.
        by: Further grouping keys after the model; the game is added, and the site for rating bands.
        among: Tells for a game's key whether the game is wanted; None: all games.
    """
    keys, filters = complete_keys((By.MODEL, *by)), filters or Filters()
    parts = []
    async for part in read_replies(session, *played(of_games(filters))):
        wanted = part.of_games(is_among(part.of, among))
        counts = has(wanted.replies, ReplyFlag.JUDGED, ReplyFlag.DECIDED)
        if filters.phase is not None:
            counts &= phases_of(wanted.replies) == filters.phase.number
        parts.append(wanted.where(counts))
    return CalibrationRows(keys, ReplyTable.joined(parts), await read_sources(session, keys))
