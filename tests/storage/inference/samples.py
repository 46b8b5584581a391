"""Rows of simulated trials for the tests of `storage.inference`."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from storage.inference.decisions import TrialDecision
from storage.inference.games import TrialGame

START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = START + timedelta(days=100)


def game(number: int, **changes: Any) -> TrialGame:
    """Game `number`, drawn `number` hours after the start, won by trappy and lost by standard."""
    treated = bool(changes.pop("treated", number % 2))
    row = TrialGame(
        game_id=number,
        person=f"p{number}",
        drawn_at=START + timedelta(hours=number),
        settled_at=START + timedelta(hours=number + 1),
        game="othello",
        site="arena",
        speed="blitz",
        rating=None,
        our_rating=None,
        treated=treated,
        chance=0.5,
        score=1.0 if treated else 0.0,
        cost=0.05,
    )
    return replace(row, **changes)


def decision(number: int, **changes: Any) -> TrialDecision:
    """Decision `number`, the only one of its game and person."""
    row = TrialDecision(
        decision_id=number,
        game_id=number,
        person=f"p{number}",
        games_before=0,
        drawn_at=START + timedelta(minutes=number),
        settled_at=START + timedelta(minutes=number + 1),
        treated=bool(number % 2),
        chance=0.5,
        cost=0.1,
        expected_trap=0.08,
        expected_sound=0.04,
        mean_trap=0.2,
        mean_sound=0.1,
        value_trap=0.55,
        value_sound=0.56,
    )
    return replace(row, **changes)


def played_games(n: int, effect: float, seed: int, persons: int = 60) -> list[TrialGame]:
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
                chance=0.6,
                score=float(rng.random() < expected),
                cost=float(rng.beta(1, 12)),
                rating=1400 + person * 10,
                our_rating=1700,
            )
        )
    return rows
