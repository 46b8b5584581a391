"""`engine.person.state`: folds, bytes, bounds, and persons who change."""

from dataclasses import replace

import numpy as np
import pytest

from engine.errors import RecordError
from engine.person.memory import MAX_PLAYS, Memory, Play
from engine.person.state import (
    FoldedGame,
    PersonState,
    fold_game,
    fold_games,
    tilts_after,
    tilts_at_start,
)
from engine.person.tilt import MILLION
from tests.engine.person.samples import MEMORY, empty, game, model, without_planes

MODEL = model()


def games(seed: int, count: int) -> list[FoldedGame]:
    rng = np.random.default_rng(seed)
    return [game(rng, 0.0, 3.0) for _ in range(count)]


def test_at_once_equals_one_by_one() -> None:
    some = games(1, 6)
    at_once = fold_games(empty(MODEL), some, MODEL)
    state = empty(MODEL)
    for each in some:
        state = PersonState.from_bytes(fold_game(state, each, MODEL).to_bytes())
    assert state == at_once
    assert (state.games, state.replies) == (6, 120)


def test_the_order_of_replies_in_a_game_does_not_matter_for_the_tilt() -> None:
    (one,) = games(2, 1)
    state = empty(MODEL)
    start = tilts_at_start(state, MODEL, None, None)
    assert tilts_after(start, state, MODEL, one.replies) == tilts_after(
        start, state, MODEL, one.replies[::-1]
    )


def test_weights_are_millionths() -> None:
    state = fold_games(empty(MODEL), games(3, 4), MODEL)
    assert sum(weight for _, weight in state.tilts) == MILLION
    start = tilts_at_start(state, MODEL, None, None)
    assert sum(weight for _, weight in start) == MILLION


def test_a_game_without_replies_only_counts() -> None:
    state = fold_games(empty(MODEL), games(4, 2), MODEL)
    after = fold_game(state, FoldedGame(is_lost=True, replies=()), MODEL)
    assert after == replace(state, games=3)


def test_games_without_planes_leave_the_mean_near_the_prior() -> None:
    state = fold_game(empty(MODEL), without_planes(games(5, 1)[0]), MODEL)
    assert state.vector is not None
    assert state.vector.mean == (0.0,) * 4


def test_a_state_of_another_model_is_refused() -> None:
    with pytest.raises(ValueError, match="another model"):
        fold_game(PersonState("f" * 64), games(6, 1)[0], MODEL)


def test_damaged_bytes_are_refused() -> None:
    data = fold_games(empty(MODEL), games(7, 2), MODEL).to_bytes()
    assert PersonState.from_bytes(data).to_bytes() == data
    for at in range(0, len(data), 97):
        damaged = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        with pytest.raises(RecordError):
            PersonState.from_bytes(damaged)
    for short in (b"", data[:10], data[:-1], data[:40] + data[-32:]):
        with pytest.raises(RecordError):
            PersonState.from_bytes(short)


def test_the_state_is_bounded() -> None:
    rng = np.random.default_rng(8)
    keys = rng.integers(2**63, size=MAX_PLAYS, dtype=np.int64).tolist()
    full = Memory({key: (Play(1, 900_000, 9_000 + at % 1000, 1),) for at, key in enumerate(keys)})
    state = replace(fold_games(empty(MODEL), games(9, 1), MODEL), games=10_000, memory=full)
    assert len(state.to_bytes()) <= 1_000_000
    after = fold_game(state, games(10, 1)[0], MODEL)
    plays = [(key, play) for key, each in after.memory.positions.items() for play in each]
    assert len(plays) <= MAX_PLAYS
    assert len(after.to_bytes()) <= 1_000_000
    oldest = min(play.game for _, play in plays)
    assert oldest > 9_400  # .98^(10,000 - 9,400) is far below a thousandth
    assert max(play.game for _, play in plays) == 10_000
    assert MEMORY.decay < 1
