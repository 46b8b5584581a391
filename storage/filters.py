"""The filters of games, shared by all lists, counts and exports."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self

from sqlalchemy import ColumnElement, and_, func, or_, select

from engine.opponents.odds import ODDS
from storage.errors import FilterError
from storage.records import MATCH_SITE, DecisionState
from storage.tables.games import DecisionRow, EngineConfigRow, GameRow, OpponentRow, TrialRow, move_order


@dataclass(frozen=True, slots=True)
class TrapSettings:
    """Trap settings (`engine.params.TrapParams`) as a key for grouping games."""

    assessment: str
    scale: str
    margin_centi: int
    decided: str
    risk_percent: float
    risk_share_percent: float
    threshold_percent: float

    @property
    def text(self) -> str:
        """The settings in one line, as `stats --by settings` shows them."""
        return (
            f"{self.assessment}, {self.scale}, margin {self.margin_centi}, {self.decided}, "
            f"risk {self.risk_percent:g}/{self.risk_share_percent:g} %, "
            f"threshold {self.threshold_percent:g} %"
        )

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse settings as shown by `stats --by settings`.

        Raises:
            ValueError: The text is not in this format.
        """
        found = _SETTINGS.fullmatch(text.strip())
        if found is None:
            raise ValueError(f"{text!r} is not a value that `stats --by settings` shows")
        assessment, scale, margin, decided, *numbers = found.groups()
        return cls(assessment, scale, int(margin), decided, *map(float, numbers))


_ODDS_STARTS = sorted(
    {" ".join(start.split()[:2]) for of_game in ODDS.values() for odds in of_game for start in odds.starts}
)
"""Board and side to move of each start at odds, as in `engine.opponents.odds.odds_from_start`."""
_NUMBER = r"([0-9.]+(?:e[+-]?[0-9]+)?)"
_SETTINGS = re.compile(
    rf"(\w+), (\w+), margin (-?[0-9]{{1,9}}), (\w+), risk {_NUMBER}/{_NUMBER} %, threshold {_NUMBER} %"
)
_DIGITS = 1e-5
"""Relative tolerance for comparing floats, because the text of settings has only six digits."""
PHASE_PLIES = 20
"""Width of a phase of the game, in plies."""


def phase_of(ply: int) -> int:
    """The phase of a move, given the number of moves before it; the first phase is 0."""
    return ply // PHASE_PLIES


@dataclass(frozen=True, slots=True)
class GamePhase:
    """A phase of the game (a range of plies)."""

    number: int
    """Number of the phase, 0 for the first."""

    @property
    def text(self) -> str:
        """The phase's plies, counted from 1, for instance ``21-40``."""
        first = self.number * PHASE_PLIES + 1
        return f"{first}-{first + PHASE_PLIES - 1}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a phase such as ``21-40``.

        Raises:
            ValueError: The text is not a phase.
        """
        first = text.partition("-")[0]
        if re.fullmatch("[0-9]{1,6}", first):
            found = cls(phase_of(max(int(first), 1) - 1))
            if found.text == text:
                return found
        known = ", ".join(GamePhase(number).text for number in range(3))
        raise ValueError(f"{text!a:.40} is not a phase; phases are {known} and so on, in plies")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Filters that select games and moves in them; a field that is None selects everything."""

    strategy: str | None = None
    version: str | None = None
    """The engine's version."""
    settings: TrapSettings | None = None
    site: str | None = None
    account: str | None = None
    """Name of our account, ignoring case."""
    game: str | None = None
    speed: str | None = None
    """The speed class as the site names it, ignoring case."""
    opponent_id: str | None = None
    """The site's key for the opponent's account."""
    opponent: str | None = None
    """The opponent's name, ignoring case."""
    opponent_is_bot: bool | None = None
    our_side: int | None = None
    """0 if we moved first, 1 if the opponent did."""
    match: str | None = None
    """Name of the match that a game belongs to."""
    trial: str | None = None
    """Name of the trial that a game belongs to."""
    since: datetime | None = None
    """Only games that started at or after this time (timezone-aware)."""
    until: datetime | None = None
    """Only games that started before this time (timezone-aware)."""
    ended_before: datetime | None = None
    """Only settled games that ended before this time (timezone-aware)."""
    min_opponent_rating: int | None = None
    """Minimum rating of the opponent; either limit excludes opponents of unknown rating."""
    max_opponent_rating: int | None = None
    rated: bool | None = None
    at_odds: bool | None = None
    """True for games that began at odds, False for all others."""
    opening: str | None = None
    """First moves of the game as recorded, separated by spaces."""
    has_result: bool | None = None
    """True for games won, drawn or lost; False for games that are open, aborted or of unknown result."""
    phase: GamePhase | None = None
    """Only replies in this phase, and our moves before them."""


def game_conditions(filters: Filters | None) -> list[ColumnElement[bool]]:
    """The filters as conditions on `GameRow`; local matches are excluded unless requested.

    One match can have more games than the bot plays on servers in years, and none of them with people. Such
    games are therefore shown only if the filters name the match or the site of matches.
    """
    conditions = filter_conditions(filters or Filters())
    if filters is None or not includes_matches(filters):
        conditions.append(GameRow.site != MATCH_SITE)
    return conditions


def includes_matches(filters: Filters) -> bool:
    """Whether the filters include games of local matches."""
    return bool(filters.site or filters.match)


def filter_conditions(filters: Filters) -> list[ColumnElement[bool]]:
    """The filters as conditions on `GameRow`.

    Raises:
        FilterError: The filters select moves. Callers that support such filters use `of_games` and
            `phase_conditions` instead.
    """
    if filters.phase is not None:
        raise FilterError("phase: selects moves, but only whole games can be selected here")
    chosen = {name: getattr(filters, name) for name in _CONDITIONS}
    return [_CONDITIONS[name](value) for name, value in chosen.items() if value is not None]


def of_games(filters: Filters) -> Filters:
    """The filters without those that select moves."""
    return replace(filters, phase=None)


def phase_conditions(filters: Filters) -> list[ColumnElement[bool]]:
    """Conditions on `DecisionRow` that select replies in the filters' phase, if the filters have one."""
    if filters.phase is None:
        return []
    first = filters.phase.number * PHASE_PLIES
    return [DecisionRow.ply >= first - 1, DecisionRow.ply < first - 1 + PHASE_PLIES]


def standing_conditions() -> tuple[ColumnElement[bool], ...]:
    """Conditions on `DecisionRow` that exclude takebacks and dropped decisions, as all statistics do."""
    return DecisionRow.takeback == 0, DecisionRow.state != DecisionState.DROPPED


def _opponent(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    return GameRow.opponent_id.in_(select(OpponentRow.id).where(condition))


def _is_named(name: str) -> ColumnElement[bool]:
    # SQLite's lower() handles only ASCII; the exact spelling matches on every database.
    return _opponent(or_(OpponentRow.name == name, func.lower(OpponentRow.name) == name.lower()))


def _engine(*conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    return GameRow.engine_config_id.in_(select(EngineConfigRow.id).where(*conditions))


def _has_settings(wanted: TrapSettings) -> ColumnElement[bool]:
    def is_near(column: Any, value: float) -> ColumnElement[bool]:
        return and_(column >= value * (1 - _DIGITS), column <= value * (1 + _DIGITS))

    row = EngineConfigRow
    return _engine(
        row.assessment == wanted.assessment,
        row.scale == wanted.scale,
        row.margin_centi == wanted.margin_centi,
        row.decided == wanted.decided,
        is_near(row.risk_percent, wanted.risk_percent),
        is_near(row.risk_share_percent, wanted.risk_share_percent),
        is_near(row.threshold_percent, wanted.threshold_percent),
    )


# Any: the type of the field of that name.
def _is_at_odds() -> ColumnElement[bool]:
    start = func.coalesce(GameRow.initial_position, "")
    return or_(*(func.substr(start, 1, len(known)) == known for known in _ODDS_STARTS))


_CONDITIONS: dict[str, Callable[[Any], ColumnElement[bool]]] = {
    "strategy": lambda name: GameRow.strategy == name,
    "version": lambda version: _engine(EngineConfigRow.engine_version == version),
    "settings": _has_settings,
    "site": lambda site: GameRow.site == site,
    "account": lambda name: GameRow.account == name.lower(),
    "game": lambda name: GameRow.game == name,
    "speed": lambda name: func.lower(GameRow.speed) == name.lower(),
    "opponent_id": lambda key: _opponent(OpponentRow.site_id == key),
    "opponent": _is_named,
    "opponent_is_bot": lambda is_bot: _opponent(OpponentRow.is_bot.is_(is_bot)),
    "our_side": lambda order: move_order() == order,
    "match": lambda name: and_(GameRow.site == MATCH_SITE, GameRow.selection["match"].as_string() == name),
    "trial": lambda name: GameRow.trial_id.in_(select(TrialRow.id).where(TrialRow.name == name)),
    "since": lambda at: GameRow.started_at >= at,
    "until": lambda at: GameRow.started_at < at,
    "ended_before": lambda at: and_(GameRow.ended_at < at, GameRow.is_settled.is_(True)),
    "min_opponent_rating": lambda rating: GameRow.opponent_rating >= rating,
    "max_opponent_rating": lambda rating: GameRow.opponent_rating <= rating,
    "rated": lambda rated: GameRow.rated.is_(rated),
    "at_odds": lambda at_odds: _is_at_odds() == at_odds,
    "opening": lambda moves: or_(
        GameRow.moves == moves, GameRow.moves.startswith(f"{moves} ", autoescape=True)
    ),
    "has_result": lambda has: GameRow.result.is_not(None) == has,
}
