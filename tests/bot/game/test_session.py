"""The state machine of a game, without any I/O."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.base.errors import ProtocolError
from bot.base.events import (
    ChatLine,
    Clock,
    EndReason,
    GameAdjourned,
    GameEnd,
    GameEvent,
    GameSnapshot,
    GameState,
    Opponent,
    OpponentGone,
    Room,
    Speed,
)
from bot.game.session import (
    TRANSITIONS,
    Action,
    Adjourn,
    AnswerDraw,
    AnswerTakeback,
    CancelClaim,
    ClaimGame,
    Finish,
    HandleChat,
    Join,
    MessageKind,
    Record,
    Session,
    SessionState,
    StopThinking,
    TakenBack,
    Think,
    step,
)
from engine.game import replay
from engine.games import get_rules

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


def test_nothing_is_known_before_the_first_message() -> None:
    new = Session()
    assert (new.state, new.game, new.initial_position, new.moves) == (SessionState.JOINING, "", None, None)
    assert not new.awaits_beginning
    assert not new.draw_offered
    assert not new.takeback_offered


def actions(session: Session, *events: GameEvent) -> list[Action]:
    """What the last of the events asks for."""
    done: tuple[Action, ...] = ()
    for event in events:
        session, done = step(session, event)
    return list(done)


def test_joining_on_our_turn() -> None:
    told = snapshot()
    assert actions(Session(), told) == [Join(told), Think((), 60.0, 50.0), Record((), 0)]


def test_joining_on_their_turn() -> None:
    told = snapshot("a1")
    assert actions(Session(), told) == [Join(told), Record(("a1",), 0)]


def test_joining_as_the_second_side() -> None:
    told = snapshot("a1", our_side=1)
    assert actions(Session(), told) == [Join(told), Think(("a1",), 50.0, 60.0), Record(("a1",), 0)]


def test_joining_a_game_that_is_over() -> None:
    told = snapshot("a1", end=WON)
    assert actions(Session(), told) == [Join(told), Finish(("a1",), WON)]


def test_our_move_and_its_reply() -> None:
    session = joined()
    assert actions(session, state("a1")) == [StopThinking(), Record(("a1",), 0)]
    assert actions(session, state("a1"), state("a1 b1")) == [
        Think(("a1", "b1"), 60.0, 50.0),
        Record(("a1", "b1"), 1),
    ]


def test_a_missed_message_heals_itself() -> None:
    assert actions(joined(), state("a1 b1")) == [
        StopThinking(),
        Think(("a1", "b1"), 60.0, 50.0),
        Record(("a1", "b1"), 0),
    ]


def test_the_server_plays_on_where_our_rules_see_a_draw() -> None:
    """A third occurrence, which lichess.org only ends the game for when somebody claims it."""
    shuffle = "g1f3 g8f6 f3g1 f6g8 " * 2
    session, actions = step(Session(), replace(snapshot(shuffle), game="chess", variant="standard"))
    assert session.state is SessionState.THINKING
    assert Think(tuple(shuffle.split()), 60.0, 50.0) in actions
    session, _ = step(session, state(shuffle + "e2e4"))
    assert session.state is SessionState.WAITING
    session, actions = step(session, state(shuffle + "e2e4 e7e5"))
    assert session.state is SessionState.THINKING
    session, actions = step(session, state(shuffle + "e2e4 e7e5", GameEnd(EndReason.NORMAL, None, "draw")))
    assert session.state is SessionState.OVER


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
        Think(("a1", "b1"), 60.0, 50.0),
        Record(("a1", "b1"), 2),
    ]


def test_another_move_instead_is_a_takeback_too() -> None:
    assert actions(joined("a1 b1"), state("a1 c1")) == [
        StopThinking(),
        TakenBack(1),
        Think(("a1", "c1"), 60.0, 50.0),
        Record(("a1", "c1"), 1),
    ]


def test_offers_are_answered_once() -> None:
    offer = replace(state("a1"), draw_offered_by=(False, True))
    assert actions(joined("a1"), offer) == [AnswerDraw()]
    assert actions(joined("a1"), offer, offer) == []
    assert actions(joined("a1"), offer, state("a1"), offer) == [AnswerDraw()]
    asked = replace(state("a1"), takeback_offered_by=(False, True))
    assert actions(joined("a1"), asked) == [AnswerTakeback()]
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
    with pytest.raises(ProtocolError, match="over cannot receive message 'our turn'"):
        step(over, state("a1 b1"))


def test_over_by_the_rules_waits_for_the_server() -> None:
    won = "a1 b1 a2 b2 a3"
    assert actions(joined("a1 b1 a2 b2"), state(won)) == [StopThinking(), Record(tuple(won.split()), 4)]
    lost = joined("a1 b1 a2 b2", our_side=0)
    assert step(lost, state(won))[0].state is SessionState.WAITING


@pytest.mark.parametrize("moves", ["a1 a1", "z9", "a1 b1 a2 b2 a3 b3"])
def test_impossible_lists(moves: str) -> None:
    with pytest.raises(ProtocolError, match="impossible game") as caught:
        step(joined(), state(moves))
    assert caught.value.raw == tuple(moves.split())


def test_an_impossible_start() -> None:
    with pytest.raises(ProtocolError, match="impossible game"):
        step(Session(), replace(snapshot(), initial_position="nonsense"))


def test_a_state_ahead_of_the_snapshot() -> None:
    with pytest.raises(ProtocolError, match="before the snapshot"):
        step(Session(), state(""))


def test_a_game_cannot_change_sides() -> None:
    with pytest.raises(ProtocolError, match="the game was"):
        step(joined(), snapshot(our_side=1))


@pytest.mark.parametrize(
    ("moves", "winner"),
    [("a1 b1 a2 b2 a3", 0), ("a1 b1 a2 b2 c3 b3", 1), ("a1 b1 c1 b2 a2 c2 b3 a3 c3", None)],
)
def test_the_rules_tell_an_untold_end(moves: str, winner: int | None) -> None:
    played = tuple(moves.split())
    told = GameEnd(EndReason.UNKNOWN, None, "gameEnd")
    found = Finish(played, GameEnd(EndReason.NORMAL, winner, "gameEnd"))
    before = joined(" ".join(played[:-1]))
    assert actions(before, state(moves), state(moves, told)) == [found]
    assert actions(before, state(moves, told))[-1] == found
    assert actions(Session(), snapshot(moves, end=told))[-1] == found


def test_an_untold_end_stays_untold_in_the_middle() -> None:
    told = GameEnd(EndReason.UNKNOWN, None, "gameEnd")
    assert actions(joined("a1"), state("a1", told)) == [Finish(("a1",), told)]


def test_the_beginning() -> None:
    assert not joined().awaits_beginning  # we are to begin
    assert joined("a1").awaits_beginning
    assert joined("", our_side=1).awaits_beginning
    assert not joined("a1 b1", our_side=1).awaits_beginning  # both have moved
    assert not joined("a1 b1 a2").awaits_beginning
    assert not step(joined("a1"), state("a1 b1"))[0].awaits_beginning
    assert not step(joined("a1"), state("a1", WON))[0].awaits_beginning
    assert not Session().awaits_beginning


def test_a_tournament_begins_without_us() -> None:
    """The site itself ends a game that does not begin."""
    paired, _ = step(Session(), replace(snapshot("a1"), is_tournament=True))
    assert not paired.awaits_beginning


def test_two_plies_are_taken_back_while_we_think() -> None:
    session = joined("a1 b1 c1", our_side=1)
    assert session.state is SessionState.THINKING
    assert actions(session, state("a1")) == [
        StopThinking(),
        TakenBack(1),
        Think(("a1",), 50.0, 60.0),
        Record(("a1",), 1),
    ]
    assert actions(session, state("")) == [StopThinking(), TakenBack(0), Record((), 0)]


def test_who_left_and_who_talks() -> None:
    session = joined("a1")
    said = ChatLine("anna", Room.PLAYER, "hello")
    assert actions(session, said) == [HandleChat(said)]
    assert actions(Session(), said) == []
    assert actions(session, OpponentGone(True, 8)) == [ClaimGame(8)]
    assert actions(session, OpponentGone(True, None)) == []
    assert actions(session, OpponentGone(False, None)) == [CancelClaim()]
    assert actions(Session(), OpponentGone(True, 8)) == []


def test_the_table_leaves_out_only_what_cannot_be() -> None:
    missing = set(product(SessionState, MessageKind)) - set(TRANSITIONS)
    assert missing == {
        (SessionState.JOINING, MessageKind.SAME),
        (SessionState.OVER, MessageKind.OUR_TURN),
        (SessionState.OVER, MessageKind.THEIR_TURN),
    }


# --- Any game, told in any way --------------------------------------------------------------------------

_TICTACTOE = get_rules("tictactoe")


@dataclass(frozen=True)
class Told:
    """A server's game as it goes on, and whether the message of that arrives."""

    deed: Literal["move", "back", "back twice", "nothing", "snapshot"]
    choice: int
    draw: bool
    takeback: bool
    arrives: bool


_told = st.builds(
    Told,
    st.sampled_from(["move", "move", "move", "move", "back", "back twice", "nothing", "snapshot"]),
    st.integers(0, 8),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


def _after(moves: tuple[str, ...], told: Told) -> tuple[str, ...]:
    legal = _TICTACTOE.legal_moves(replay(_TICTACTOE, moves))
    match told.deed:
        case "move" if legal:
            return (*moves, _TICTACTOE.move_text(legal[told.choice % len(legal)]))
        case "back" | "back twice":
            return moves[: max(0, len(moves) - (1 if told.deed == "back" else 2))]
        case _:
            return moves


@given(st.integers(0, 1), st.lists(_told, max_size=30), st.booleans())
def test_any_game_told_in_any_way(our_side: int, story: list[Told], ends: bool) -> None:
    """However messages come and get lost: one search for each turn of ours, and the books always in step."""
    session, done = step(Session(), snapshot("", our_side))
    moves: tuple[str, ...] = ()
    recorded: tuple[str, ...] = ()
    offered = asked = False
    thinking = any(isinstance(action, Think) for action in done)
    for told in story:
        moves = _after(moves, told)
        if not told.arrives:
            continue
        before = session.moves
        by = (False, True) if our_side == 0 else (True, False)
        shown = replace(
            state(" ".join(moves)),
            draw_offered_by=by if told.draw else NO_ONE,
            takeback_offered_by=by if told.takeback else NO_ONE,
        )
        whole = replace(snapshot(our_side=our_side), state=shown)
        session, done = step(session, whole if told.deed == "snapshot" else shown)
        assert session.moves == moves
        assert done.count(AnswerDraw()) == (told.draw and not offered)
        assert done.count(AnswerTakeback()) == (told.takeback and not asked)
        offered, asked = told.draw, told.takeback
        for action in done:
            match action:
                case StopThinking():
                    assert thinking
                    thinking = False
                case TakenBack(ply):
                    assert moves[:ply] == recorded[:ply]
                    assert ply < len(recorded)
                    recorded = recorded[:ply]
                case Think():
                    assert not thinking
                    assert (action.moves, action.moves != before) == (moves, True)
                    thinking = True
                case Record(shown_moves, since_ply):
                    assert shown_moves == moves
                    assert moves[:since_ply] == recorded[:since_ply]
                    recorded = moves
                case _:
                    pass
        position = replay(_TICTACTOE, moves)
        is_ours = _TICTACTOE.side_to_move(position) == our_side
        assert recorded == moves
        assert thinking == (is_ours and bool(_TICTACTOE.legal_moves(position)))
        assert (session.state is SessionState.THINKING) == thinking
    if ends:
        session, done = step(session, state(" ".join(moves), WON))
        assert (StopThinking() in done) == thinking
        assert done[-1] == Finish(moves, WON)
        assert step(session, state(" ".join(moves), WON)) == (session, ())


def test_an_adjourned_game_is_left_as_it_is() -> None:
    session, _ = step(Session(), snapshot("b2"))
    for before in (Session(), session):
        after, actions = step(before, GameAdjourned("anna has left"))
        assert (after, actions) == (before, (Adjourn("anna has left"),))
    over, _ = step(session, state("b2", WON))
    assert step(over, GameAdjourned("anna has left")) == (over, ())


@pytest.mark.parametrize(
    ("told", "is_ahead"),
    [("a1", True), ("", True), ("a1 b2", False), ("a1 c3", False), ("c3", False), ("a1 b2 c3", False)],
)
def test_an_older_state_is_known_as_such(told: str, is_ahead: bool) -> None:
    session = joined("a1 b2")
    assert session.is_ahead_of(state(told)) == is_ahead
    assert not session.is_ahead_of(state(told, GameEnd(EndReason.RESIGNATION, 0, "resign")))
    asked, _ = step(session, replace(state("a1 b2"), takeback_offered_by=(True, True)))
    assert not asked.is_ahead_of(state(told))
