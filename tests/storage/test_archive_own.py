from dataclasses import replace
from datetime import UTC, datetime

import pytest

from engine.decision import Decision, Pick
from engine.game import WIN_CENTI
from storage.archive_own import record_of
from storage.records import DecisionState, GameResult, GameStatus, StoredDecision, StoredGame
from tests.storage.samples import NEW_GAME, decision

AT = datetime(2026, 11, 1, 12, 30, 5, tzinfo=UTC)
GAME = StoredGame(
    **{name: getattr(NEW_GAME, name) for name in NEW_GAME.__dataclass_fields__},
    id=1,
    moves=("f5", "d6"),
    state=GameStatus.FINISHED,
    result=GameResult.WIN,
    end_reason="time",
    rating_diff=None,
    started_at=AT,
    ended_at=AT,
)


def stored(made: Decision, ply: int = 0) -> StoredDecision:
    return StoredDecision(1, 1, ply, DecisionState.CONFIRMED, made, True, False, None, AT, AT, AT)


def picked(score_centi: int | None) -> Decision:
    return replace(decision(), search_mode="strong", pick=Pick(score_centi, 12, 100, True))


def test_a_game_from_either_side() -> None:
    told = record_of(GAME, "Me")
    assert (told.players, told.ratings, told.points) == (("Me", "Anna"), (1500, 1600), 1.0)
    assert (told.event, told.place, told.date) == ("rated blitz game", "arena", "2026.11.01")
    assert (told.clocks, told.ending) == (("180+2", "180+2"), "timeout")
    assert dict(told.tags)["UTCTime"] == "12:30:05"
    other = record_of(replace(GAME, our_side=1, clock_initial_s=None, end_reason="normal"), "Me")
    assert (other.players, other.ratings, other.points) == (("Anna", "Me"), (1600, 1500), 0.0)
    assert (other.clocks, other.ending) == (("", ""), "")
    assert record_of(replace(GAME, result=None, our_side=1), "Me").points is None


@pytest.mark.parametrize(
    ("made", "evaluation"),
    [
        (decision(), 1.0),
        (picked(-250), -2.5),
        (picked(WIN_CENTI + 1200), 12.0),
        (picked(-WIN_CENTI - 6400), -64.0),
        (picked(WIN_CENTI), None),
        (picked(None), None),
        (replace(picked(WIN_CENTI + 9_000), game="chess"), None),
    ],
)
def test_what_we_thought_of_a_move(made: Decision, evaluation: float | None) -> None:
    told = record_of(GAME, "Me", [stored(made)])
    assert told.times_s == (0.25, None)
    assert told.evaluations == ((evaluation, None) if evaluation is not None else ())


def test_a_move_that_came_about_otherwise_has_no_thoughts() -> None:
    told = record_of(replace(GAME, moves=("e6",)), "Me", [stored(decision()), stored(decision(), ply=2)])
    assert (told.evaluations, told.times_s) == ((), ())
