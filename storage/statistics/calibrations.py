"""Calibration of the forecasts: errors expected and happened, by model and game."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from storage.inference.calibration import Calibration, calibration
from storage.statistics.facts import GameFact, ReplyFact
from storage.statistics.groups import By, grouped, open_replies


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


def group_calibrations(
    games: Sequence[GameFact], replies: Sequence[ReplyFact], by: Sequence[By] = ()
) -> list[GroupCalibration]:
    """The calibration of each model in each group, in the order of the groups' names.

    The replies are those that `storage.statistics.groups` counts: outside decided positions, of the first
    games of each person.

    Args:
        games: All games.
        replies: Replies in these games; those of other games are ignored.
        by: What to group by beside the model; the game is added, and the site for rating bands.
    """
    by_id = {game.id: game for game in games}
    found = []
    for group in grouped(games, replies, (By.MODEL, *by)):
        counted = open_replies(group.replies, by_id)
        if counted:
            persons = [by_id[reply.game_id].person for reply in counted]
            predicted = [reply.error_expected for reply in counted]
            happened = [reply.erred for reply in counted]
            found.append(GroupCalibration(group.names, calibration(predicted, happened, persons)))
    return found
