"""Trials: comparisons of players that are planned and registered before their first game.

At most one trial is open at a time. A game belongs to the trial if its strategy is assigned blind, from the
trial's strategies, while the trial is open (`eligible_trial_id`). A trial's plan never changes.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.game import BadPosition
from engine.games import get_rules
from engine.strategies.registry import STRATEGIES
from storage.errors import TrialError
from storage.evidence.inference.defaults import ALPHA, CAP_GAMES
from storage.evidence.rating_bands import BAND_WIDTH
from storage.inserts import insert_new
from storage.records import Endpoint, NewGame, from_row
from storage.tables.games import GameRow, TrialRow
from storage.tables.types import now_utc

STRATA: Mapping[str, Any] = {"by": ["game", "site", "speed", "rating_band"], "rating_band": BAND_WIDTH}
"""The default strata: a game is first compared only with games that have the same four properties. Rating
bands use the opponent's rating at the start; unknown ratings form a band of their own."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
_DRAWN_DISCS = re.compile(r"s8r[0-9]{1,2}")
_MAX_GAMES = 1_000_000
_OPEN = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTrial:
    """A trial's plan.

    Raises:
        TrialError: A value is invalid; the message names it.
    """

    name: str
    """At most 40 characters: letters, digits, ``-``, ``_`` and ``.``."""
    arms: tuple[str, ...]
    """Names of two or more strategies to compare, or of one strategy that randomises single decisions."""
    configurations: Mapping[str, Any]
    """The configuration of each strategy, by its name: plain JSON values."""
    strata: Mapping[str, Any] = field(default_factory=lambda: dict(STRATA))
    """The properties that define strata of games; see `STRATA`."""
    planned_n: int = 1000
    """Number of games (or decisions, if there is only one strategy) at which the confidence sequence is
    tightest."""
    alpha: float = ALPHA
    """Maximum probability that the confidence sequence ever excludes the true value."""
    cap: int = CAP_GAMES
    """Maximum number of games that count per person; a person's later games are ignored."""
    endpoint: Endpoint = Endpoint.SCORE
    """The planned endpoint."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise TrialError(
                f"name is {self.name!r}, must be 1 to 40 letters (a to z), digits, -, _ or ., "
                "the first a letter or a digit"
            )
        if len(set(self.arms)) < len(self.arms) or not (len(self.arms) > 1 or self.draws_decisions):
            raise TrialError(
                f"arms are {', '.join(self.arms) or 'none'}, must be at least two different players, "
                "or one that randomises single decisions"
            )
        if missing := sorted(set(self.arms) - set(self.configurations)):
            raise TrialError(f"configurations lack {missing[0]}")
        for name, value in (("planned_n", self.planned_n), ("cap", self.cap)):
            if not 1 <= value <= _MAX_GAMES:
                raise TrialError(f"{name} is {value}, must be from 1 to {_MAX_GAMES}")
        if not (math.isfinite(self.alpha) and 0 < self.alpha < 1):
            raise TrialError(f"alpha is {self.alpha}, must be between 0 and 1")
        if len(self.arms) == 1 and self.endpoint is not Endpoint.COST:
            raise TrialError(
                f"endpoint is {self.endpoint.value}: trials of single decisions compare only the reply's cost"
            )

    @property
    def draws_decisions(self) -> bool:
        """Whether any of the trial's strategies randomises single decisions."""
        return any(arm in STRATEGIES and STRATEGIES[arm].draws_decisions for arm in self.arms)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTrial(NewTrial):
    """A trial in the database."""

    id: int
    started_at: datetime
    ended_at: datetime | None
    """When the trial was ended; None while it is open."""
    games: int
    """Number of games that belong to the trial, including aborted games."""
    open_games: int
    """Number of the trial's games that are still being played or judged."""


async def start_trial(session: AsyncSession, new: NewTrial, *, at: datetime | None = None) -> StoredTrial:
    """Open a trial; it will include games whose strategy is assigned from now on.

    Args:
        at: Start of the trial, with a time zone; None means now.

    Raises:
        TrialError: Another trial is open, or a trial with this name exists.
    """
    key = await insert_new(
        session,
        TrialRow,
        name=new.name,
        arms=sorted(new.arms),
        configurations=dict(new.configurations),
        strata=dict(new.strata),
        planned_n=new.planned_n,
        alpha=new.alpha,
        cap=new.cap,
        endpoint=new.endpoint,
        started_at=at or now_utc(),
        open_slot=_OPEN,
    )
    if key is None:
        known = await open_trial(session)
        if known is not None and known.name != new.name:
            raise TrialError(f"trial {known.name} is open; end it first")
        raise TrialError(f"trial {new.name} exists already; choose another name")
    (started,) = await list_trials(session, TrialRow.id == key)
    return started


async def end_trial(
    session: AsyncSession, name: str | None = None, *, at: datetime | None = None
) -> StoredTrial:
    """End the open trial: games in progress still belong to it, later games do not.

    Args:
        name: The trial's name, or None for the open trial.
        at: End of the trial, with a time zone; None means now.

    Raises:
        TrialError: No trial is open, or the open one has another name.
    """
    known = await open_trial(session)
    if known is None:
        raise TrialError("no trial is open")
    if name is not None and known.name != name:
        raise TrialError(f"trial {name} is not open; trial {known.name} is")
    now = at or now_utc()
    if now < known.started_at:
        raise TrialError(f"trial {known.name} began at {known.started_at}, after {now}")
    statement = update(TrialRow).where(TrialRow.id == known.id)
    await session.execute(statement.values(ended_at=now, open_slot=None))
    (ended,) = await list_trials(session, TrialRow.id == known.id)
    return ended


async def open_trial(session: AsyncSession) -> StoredTrial | None:
    """The open trial; None if there is none."""
    return next(iter(await list_trials(session, TrialRow.open_slot == _OPEN)), None)


async def eligible_trial_id(session: AsyncSession, new: NewGame) -> int | None:
    """The key of the trial to which a new game belongs, or None if it belongs to no trial.

    A game belongs to the open trial if its strategy was chosen blind, with unpredictable random numbers, from
    exactly the trial's strategies; or if the trial has one strategy, the game uses it, and it randomises
    single decisions in the same way.

    Games from a position that a challenger set are excluded.
    """
    if not new.arms or not new.selection.get("blind") or "seed" in new.selection:
        return None
    if is_challenger_position(new.variant, new.initial_position):
        return None
    statement = select(TrialRow.id, TrialRow.arms).where(TrialRow.open_slot == _OPEN)
    row = (await session.execute(statement)).one_or_none()
    return row.id if row is not None and tuple(row.arms) == new.arms else None


async def is_by_pair(session: AsyncSession, trial_id: int, strategy: str) -> bool:
    """Whether a trial's plan lets the players' ratings decide when a game is undecided.

    It is `by_pair` of its settings in ``[randomised]``, which older versions do not have.
    """
    statement = select(TrialRow.configurations).where(TrialRow.id == trial_id)
    plan = (await session.scalars(statement)).one().get(strategy, {})
    settings = plan.get("settings", {}) if isinstance(plan, Mapping) else {}
    return bool(settings.get("randomised", {}).get("by_pair", False))


@lru_cache(maxsize=4096)  # more than Chess960 has starts: a report needs the start of each game
def is_challenger_position(variant: str, initial_position: str | None) -> bool:
    """Whether a challenger set a game's starting position and thereby influenced what is randomised.

    Sites randomise the starting positions of Chess960 and of GGS's ``s8r20`` (20 discs). Some sites let a
    challenger choose one of the 960 positions: this does not count, because it is merely a choice of opening.

    Args:
        variant: The site's key.
        initial_position: The starting position, or None for the standard one.
    """
    if initial_position is None or _DRAWN_DISCS.fullmatch(variant):
        return False
    if variant != "chess960":
        return True
    try:
        board = get_rules("chess").parse_position(initial_position).board
    except BadPosition:
        return True
    return board.chess960_pos() is None


async def list_trials(session: AsyncSession, *conditions: ColumnElement[bool]) -> list[StoredTrial]:
    """The trials that meet the conditions on `TrialRow`, latest first.

    Raises:
        RecordError: A trial is damaged; the message names it.
    """
    rows = await session.scalars(select(TrialRow).where(*conditions).order_by(TrialRow.id.desc()))
    trials = []
    for row in rows.all():
        await session.refresh(row)
        games = select(GameRow.is_settled, func.count().label("games")).where(GameRow.trial_id == row.id)
        rows_of = await session.execute(games.group_by(GameRow.is_settled))
        counts = {each.is_settled: each.games for each in rows_of}
        trials.append(
            from_row(
                StoredTrial,
                row,
                arms=tuple(row.arms),
                games=sum(counts.values()),
                open_games=counts.get(False, 0),
            )
        )
    return trials
