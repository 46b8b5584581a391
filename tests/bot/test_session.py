"""The state machine of a game, without any I/O."""

from dataclasses import replace
from itertools import product

import pytest

from bot.errors import ProtocolError
from bot.events import (
    Clock,
    EndReason,
    GameEnd,
    GameEvent,
    GameSnapshot,
    GameState,
    Opponent,
    OpponentGone,
    Speed,
)
from bot.session import (
    TRANSITIONS,
    Action,
    ClaimVictory,
    DeclineDraw,
    DeclineTakeback,
    Finish,
    Join,
    KeepPlaying,
    Kind,
    Record,
    Session,
    State,
    StopThinking,
    TakenBack,
    Think,
    step,
)

WON = GameEnd(EndReason.NORMAL, 0, "mate")
NO_ONE = (False, False)


def state(moves: str, end: GameEnd | None = None) -> GameState:
    return GameState(tuple(moves.split()), (60.0, 50.0), NO_ONE, NO_ONE, end)


def snapshot(moves: str = "", our_side: int = 0, end: GameEnd | None = None) -> GameSnapshot:
    return GameSnapshot(
        game_id="g",
        game="tictactoe",
        variant="tictactoe",
        initial_position=None,
        our_side=our_side,
        rated=False,
        speed=Speed.BLITZ,
        clock=Clock(60, 0),
        opponent=Opponent("anna", "Anna", None, False),
        our_rating=None,
        state=state(moves, end),
    )


def joined(moves: str = "", our_side: int = 0) -> Session:
    session, _ = step(Session(), snapshot(moves, our_side))
    return session


def actions(session: Session, *events: GameEvent) -> list[Action]:
    """What the last of the events asks for."""
    done: tuple[Action, ...] = ()
    for event in events:
        session, done = step(session, event)
    return list(done)


def test_joining_on_our_turn() -> None:
    told = snapshot()
    assert actions(Session(), told) == [Join(told), Think((), 60.0), Record((), 0)]


def test_joining_on_their_turn() -> None:
    told = snapshot("a1")
    assert actions(Session(), told) == [Join(told), Record(("a1",), 0)]


def test_joining_as_the_second_side() -> None:
    told = snapshot("a1", our_side=1)
    assert actions(Session(), told) == [Join(told), Think(("a1",), 50.0), Record(("a1",), 0)]


def test_joining_a_game_that_is_over() -> None:
    told = snapshot("a1", end=WON)
    assert actions(Session(), told) == [Join(told), Finish(("a1",), WON)]


def test_our_move_and_its_reply() -> None:
    session = joined()
    assert actions(session, state("a1")) == [StopThinking(), Record(("a1",), 0)]
    assert actions(session, state("a1"), state("a1 b1")) == [
        Think(("a1", "b1"), 60.0),
        Record(("a1", "b1"), 1),
    ]


def test_a_missed_message_heals_itself() -> None:
    assert actions(joined(), state("a1 b1")) == [
        StopThinking(),
        Think(("a1", "b1"), 60.0),
        Record(("a1", "b1"), 0),
    ]


@pytest.mark.parametrize("moves", ["", "a1"])
def test_the_same_moves_start_nothing(moves: str) -> None:
    assert actions(joined(moves), state(moves)) == []
    assert actions(joined(moves), snapshot(moves)) == []


def test_a_takeback_cancels_and_rebuilds() -> None:
    assert actions(joined("a1 b1"), state("a1")) == [
        StopThinking(),
        TakenBack(1),
        Record(("a1",), 1),
    ]
    assert actions(joined("a1 b1 c1"), state("a1 b1")) == [
        TakenBack(2),
        Think(("a1", "b1"), 60.0),
        Record(("a1", "b1"), 2),
    ]


def test_another_move_instead_is_a_takeback_too() -> None:
    assert actions(joined("a1 b1"), state("a1 c1")) == [
        StopThinking(),
        TakenBack(1),
        Think(("a1", "c1"), 60.0),
        Record(("a1", "c1"), 1),
    ]


def test_offers_are_declined_once() -> None:
    offer = replace(state("a1"), draw_offered_by=(False, True))
    assert actions(joined("a1"), offer) == [DeclineDraw()]
    assert actions(joined("a1"), offer, offer) == []
    assert actions(joined("a1"), offer, state("a1"), offer) == [DeclineDraw()]
    asked = replace(state("a1"), takeback_offered_by=(False, True))
    assert actions(joined("a1"), asked) == [DeclineTakeback()]
    ours = replace(state("a1"), draw_offered_by=(True, False), takeback_offered_by=(True, False))
    assert actions(joined("a1"), ours) == []


def test_the_end() -> None:
    assert actions(joined("a1"), state("a1", WON)) == [Finish(("a1",), WON)]
    assert actions(joined(), state("", WON)) == [StopThinking(), Finish((), WON)]


def test_nothing_comes_after_the_end() -> None:
    over, _ = step(joined("a1"), state("a1", WON))
    assert actions(over, state("a1", WON)) == []
    assert actions(over, state("a1")) == []
    assert actions(over, snapshot("a1", end=WON)) == []
    with pytest.raises(ProtocolError, match="over cannot see 'our turn'"):
        step(over, state("a1 b1"))


def test_over_by_the_rules_waits_for_the_server() -> None:
    won = "a1 b1 a2 b2 a3"
    assert actions(joined("a1 b1 a2 b2"), state(won)) == [StopThinking(), Record(tuple(won.split()), 4)]
    lost = joined("a1 b1 a2 b2", our_side=0)
    assert step(lost, state(won))[0].state is State.WAITING


@pytest.mark.parametrize("moves", ["a1 a1", "z9", "a1 b1 a2 b2 a3 b3"])
def test_impossible_lists(moves: str) -> None:
    with pytest.raises(ProtocolError, match="impossible game") as caught:
        step(joined(), state(moves))
    assert caught.value.raw == tuple(moves.split())


def test_an_impossible_start() -> None:
    with pytest.raises(ProtocolError, match="impossible game"):
        step(Session(), replace(snapshot(), initial_position="nonsense"))


def test_a_state_ahead_of_the_snapshot() -> None:
    with pytest.raises(ProtocolError, match="ahead of the snapshot"):
        step(Session(), state(""))


def test_a_game_cannot_change_sides() -> None:
    with pytest.raises(ProtocolError, match="the game was"):
        step(joined(), snapshot(our_side=1))


def test_reading_again_starts_our_turn_anew() -> None:
    again = joined("a1 b1").rejoin()
    assert actions(again, snapshot("a1 b1")) == [Think(("a1", "b1"), 60.0), Record(("a1", "b1"), 0)]
    over, _ = step(joined("a1"), state("a1", WON))
    assert over.rejoin() is over


def test_who_left_and_who_talks() -> None:
    session = joined("a1")
    assert actions(session, OpponentGone(True, 8)) == [ClaimVictory(8)]
    assert actions(session, OpponentGone(True, None)) == []
    assert actions(session, OpponentGone(False, None)) == [KeepPlaying()]
    assert actions(Session(), OpponentGone(True, 8)) == []


def test_the_table_leaves_out_only_what_cannot_be() -> None:
    missing = set(product(State, Kind)) - set(TRANSITIONS)
    assert missing == {
        (State.JOINING, Kind.SAME),
        (State.OVER, Kind.OUR_TURN),
        (State.OVER, Kind.THEIR_TURN),
    }
