"""Calibration of the forecasts: errors expected and happened, by model and game."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncSession

from storage.damage import decoding
from storage.evidence.inference.calibration import Calibration, calibration
from storage.evidence.statistics.facts import ReplyFact
from storage.evidence.statistics.group_rows import GameKeys, game_table, read_keys
from storage.evidence.statistics.group_sums import CellTable, GroupIndex, numbered_models
from storage.evidence.statistics.groups import By, complete_keys
from storage.evidence.statistics.reply_sums import FORECAST, packed_forecasts
from storage.evidence.statistics.summaries import model_names, models_text
from storage.evidence.statistics.summary_rows import SummaryPart, SummaryRows, is_everything, read_summaries
from storage.filters import PHASE_PLIES, Filters, GamePhase, of_games
from storage.tables.summaries import GameSummaryRow


@dataclass(frozen=True, slots=True)
class GroupCalibration:
    """One model's forecasts of errors in one group of replies."""

    group: dict[str, str]
    """What the replies have in common, by the names of `By`; always the model and the game."""
    errors: Calibration
    """Replies that cost a tenth of the game or more."""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"group": self.group, "errors": self.errors.to_json()}


@dataclass(frozen=True, slots=True)
class CalibrationRows:
    """What was read; the arithmetic comes after the transaction."""

    by: tuple[By, ...]
    rows: SummaryRows
    """With their forecasts."""
    keys: GameKeys
    phase: GamePhase | None = None
    """Only replies of this phase; None: all."""

    def calibrations(self) -> list[GroupCalibration]:
        """The calibration of each model in each group, in the order of the groups' names.

        The replies are those that `storage.evidence.statistics.groups` counts: outside decided positions,
        of the first
        games of each person.

        Raises:
            RecordError: Something that is stored is damaged; the message says what.
        """
        games = game_table(self.rows, self.keys, self.by)
        forecasts, cells = self._cells(games.is_first)
        index = GroupIndex(self.by, games, cells, only_with_cells=True)
        order = np.argsort(index.of_cell, kind="stable")
        bounds = np.searchsorted(index.of_cell[order], np.arange(len(index.names) + 1))
        found = []
        for number, name in enumerate(index.names):
            some = order[bounds[number] : bounds[number + 1]]
            persons = games.persons[cells.games[some]].tolist()
            errors = calibration(forecasts["expected"][some], forecasts["erred"][some] == 1, persons)
            names = dict(zip((key.value for key in self.by), name, strict=True))
            found.append(GroupCalibration(names, errors))
        return found

    def _cells(self, is_first: NDArray[np.bool_]) -> tuple[NDArray[np.void], CellTable]:
        """The forecasts that count, each of them as a cell."""
        with decoding("the summaries of games"):
            forecasts, games = self.rows.parts, self.rows.game_of_row
            lists = [model_names(text) for text in self.rows.models.texts]
            phases = (forecasts["ply"].astype(np.intp) + 1) // PHASE_PLIES
            is_counted = is_first[games]
            if self.phase is not None:
                is_counted &= phases == self.phase.number
            forecasts, games, phases = forecasts[is_counted], games[is_counted], phases[is_counted]
            names, models = numbered_models(
                forecasts["model"].astype(np.intp), self.rows.models.codes[games], lists
            )
        cells = CellTable(
            rows=np.zeros((len(games), 0)),
            games=games,
            phases=phases,
            models=models,
            model_names=names,
        )
        return forecasts, cells


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

    Raises:
        RecordError: Something that is stored is damaged; the message names the game or decision.
    """
    keys, filters = complete_keys((By.MODEL, *by)), filters or Filters()
    of_all = of_games(filters)
    rows = await read_summaries(session, _FORECASTS, of_all)
    known = await read_keys(session, keys, rows if is_everything(of_all) else None)
    return CalibrationRows(keys, rows if among is None else rows.among(among), known, filters.phase)


def _made(replies: Sequence[ReplyFact]) -> tuple[str, bytes]:
    models = sorted({reply.model for reply in replies})
    return models_text(models), packed_forecasts(replies, models)


_FORECASTS = SummaryPart(GameSummaryRow.forecasts, FORECAST, _made)
