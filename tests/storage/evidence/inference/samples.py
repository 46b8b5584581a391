"""Rows of simulated trials for the tests of `storage.evidence.inference`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import nan
from types import MappingProxyType
from typing import Any

import numpy as np

from storage.evidence.inference.decisions import TrialDecision
from storage.evidence.inference.games import (
    TRIAL_GAME,
    GameKind,
    GamesReport,
    TrialGames,
    games_report_and_interim,
)
from storage.evidence.inference.suspects import Flags
from storage.evidence.inference.timestamps import microseconds
from storage.evidence.inference.trial import UNSETTLED, Exclusion, TrialTerms

START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = START + timedelta(days=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """A game of a trial, as `TRIAL_GAME` has it by column; None: there is no such value."""

    game_id: int
    person: int
    drawn_at: datetime
    settled_at: datetime | None
    game: str
    site: str
    speed: str
    rating: int | None
    our_rating: int | None
    treated: bool
    probability: float
    score: float | None
    cost: float | None
    is_unjudged: bool = False
    excluded: Exclusion = Exclusion.NONE


def games_report(
    games: TrialGames, terms: TrialTerms, at: datetime, flags: Flags = MappingProxyType({})
) -> GamesReport:
    """The report without the difference after each game."""
    return games_report_and_interim(games, terms, at, flags)[0]


def games_of(games: Sequence[Game]) -> TrialGames:
    """Games by column."""
    kinds = [GameKind(each.game, each.site, each.speed) for each in games]
    known = [*dict.fromkeys(kinds)]
    rows = [
        (
            *(each.game_id, each.game_id, each.person, microseconds(each.drawn_at)),
            UNSETTLED if each.settled_at is None else microseconds(each.settled_at),
            *(each.probability, each.treated, each.is_unjudged, each.excluded),
            *(nan if value is None else value for value in (each.rating, each.our_rating)),
            *(nan if value is None else value for value in (each.score, each.cost)),
            known.index(kind),
        )
        for each, kind in zip(games, kinds, strict=True)
    ]
    return TrialGames(np.array(rows, TRIAL_GAME), known)


def game(number: int, **changes: Any) -> Game:
    """Game `number`, drawn `number` hours after the start, won by trappy and lost by standard.

    Its person played no other.
    """
    treated = bool(changes.pop("treated", number % 2))
    row = Game(
        game_id=number,
        person=10_000 + number,
        drawn_at=START + timedelta(hours=number),
        settled_at=START + timedelta(hours=number + 1),
        game="othello",
        site="arena",
        speed="blitz",
        rating=None,
        our_rating=None,
        treated=treated,
        probability=0.5,
        score=1.0 if treated else 0.0,
        cost=0.05,
    )
    return replace(row, **changes)


def decision(number: int, **changes: Any) -> TrialDecision:
    """Decision `number`, the only one of its game and person."""
    changes.setdefault("own_cost", changes.get("cost", 0.1))
    row = TrialDecision(
        decision_id=number,
        game_id=number,
        person=10_000 + number,
        games_before=0,
        drawn_at=START + timedelta(minutes=number),
        settled_at=START + timedelta(minutes=number + 1),
        treated=bool(number % 2),
        probability=0.5,
        cost=0.1,
        is_unjudged=False,
        own_cost=0.1,
        expected_trap=0.08,
        expected_control=0.04,
        mean_trap=0.2,
        mean_control=0.1,
        value_trap=0.55,
        value_control=0.56,
    )
    return replace(row, **changes)


def played_games(n: int, effect: float, seed: int, persons: int = 60) -> list[Game]:
    """Games of rated persons; trappy scores `effect` more than standard."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(n):
        person = int(rng.integers(persons))
        treated = bool(rng.random() < 0.6)
        expected = 0.6 + (effect / 2 if treated else -effect / 2)
        rows.append(
            game(
                number,
                person=person,
                treated=treated,
                probability=0.6,
                score=float(rng.random() < expected),
                cost=float(rng.beta(1, 12)),
                rating=1400 + person * 10,
                our_rating=1700,
            )
        )
    return rows
