"""The state machine of an account on GGS: messages in, commands and events out."""

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.base.errors import RefusedError
from bot.base.events import (
    ChallengeGone,
    ChallengeReceived,
    ChatLine,
    Clock,
    EndReason,
    GameAdjourned,
    GameEnd,
    GameFinished,
    GameSnapshot,
    GameStarted,
    GameState,
    MoveInfo,
    Opponent,
    Room,
    Speed,
)
from bot.servers.ggs.account import GgsAccount
from bot.servers.ggs.actions import GgsAction, Say, Tell, TellGame
from bot.servers.ggs.game import discs
from bot.servers.ggs.ggs_games import MAX_REMEMBERED_GAMES
from bot.servers.ggs.lifecycle import LinkState
from bot.servers.ggs.requests import Attempt
from bot.servers.ggs.wire import GgsClock, Reader

T = TypeVar("T")

AT = datetime(2026, 11, 22, 0, 30, tzinfo=UTC)
GAME = "20261122T003000-.1"
USUAL_START = "8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *"


class Story:
    """One account, and what it said and told."""

    def __init__(self, *known: GameSnapshot, now_s: float = 0.0, connect: bool = True) -> None:
        self.account = GgsAccount("desdemon", programs=["bob"])
        self.follow(4, lambda _: True)
        self.account.games.remember(known)
        self.now_s = now_s
        self.reader = Reader()
        self.out: list[GgsAction] = []
        if connect:
            self.connected(now_s)
            self.on_message("match 0/0")

    def on_message(self, *messages: str) -> "Story":
        """Messages of the service."""
        return self.raw(*(f"/os: {message}" for message in messages))

    def raw(self, *messages: str) -> "Story":
        for message in messages:
            data = f"\r\n{message}\r\nREADY\r\n".encode("latin-1")
            for heard in self.reader.feed(data):
                self.account.on_message(heard, self.now_s, AT)
                self.out += self.account.out.take()
        return self

    def act(self, call: Callable[..., T], *arguments: Any, **options: Any) -> tuple[T, list[GgsAction]]:
        """The answer of a call, and the actions that it caused."""
        return call(*arguments, **options), self.account.out.take()

    def ask(
        self, opponent: str, type_: str, clock: GgsClock, *, rated: bool
    ) -> tuple[Attempt, list[GgsAction]]:
        return self.act(self.account.requests.ask, opponent, type_, clock, rated=rated)

    def accept(self, key: str) -> tuple[Attempt, list[GgsAction]]:
        return self.act(self.account.requests.accept, key)

    def decline(self, key: str) -> list[GgsAction]:
        return self.act(self.account.requests.decline, key)[1]

    def cancel(self, attempt: Attempt) -> list[GgsAction]:
        return self.act(self.account.requests.cancel, attempt)[1]

    def play(self, game_id: str, move: str, info: MoveInfo | None) -> list[GgsAction]:
        return self.act(self.account.actions.play, game_id, move, info)[1]

    def say(self, game_id: str, text: str, room: Room) -> list[GgsAction]:
        return self.act(self.account.actions.say, game_id, text, room)[1]

    def resign(self, game_id: str) -> list[GgsAction]:
        return self.act(self.account.actions.resign, game_id)[1]

    def abort(self, game_id: str) -> list[GgsAction]:
        return self.act(self.account.actions.abort, game_id)[1]

    def resync(self, game_id: str) -> list[GgsAction]:
        return self.act(self.account.actions.resync, game_id)[1]

    def lost(self, reason: str) -> list[GgsAction]:
        return self.act(self.account.lost, reason)[1]

    def connected(self, now_s: float) -> list[GgsAction]:
        return self.act(self.account.connected, now_s)[1]

    def tick(self, now_s: float) -> list[GgsAction]:
        return self.act(self.account.tick, now_s)[1]

    def follow(self, most_games: int, may_begin: Callable[[int], bool]) -> list[GgsAction]:
        return self.act(self.account.follow, most_games, may_begin)[1]

    def take(self) -> list[GgsAction]:
        out, self.out = self.out, []
        return out

    def said(self) -> list[str]:
        """Commands since the last look, without what they all begin with."""
        return [each.command.removeprefix("tell /os ") for each in self.take() if isinstance(each, Say)]

    def told(self) -> list[Any]:
        """Events since the last look."""
        return [each.event for each in self.take() if isinstance(each, Tell | TellGame)]

    def state(self) -> GameState:
        event = self.account.games.first_event(GAME, self.now_s)
        assert isinstance(event, GameSnapshot)
        return event.state


def request(id_: str = ".3", type_: str = "8", flag: str = "R", *, sign: str = "+", more: str = "") -> str:
    return f"{sign}   {id_} 1720.0 bob    05:00//02:00        {type_} {flag} 1800.4 desdemon {more}"


def join(
    board: str = ".1",
    moves: str = "",
    *,
    black: str = "bob",
    kind: str = "8",
    start: str = USUAL_START,
    ti: str = "05:00//02:00",
) -> str:
    white = "desdemon" if black == "bob" else "bob"
    tags = (
        f"(;GM[Othello]PC[GGS/os]DT[2026.11.22_00:30:00.UTC]\r\n|PB[{black}]PW[{white}]\r\n|RB[1720]RW[1800]"
    )
    return f"join {board} {tags}\r\n|TI[{ti}]\r\n|TY[{kind}]RE[?]\r\n|BO[{start}]\r\n|{moves}\r\n|;)"


def begun(*, flag: str = "R", black: str = "bob", ti: str = "05:00//02:00") -> Story:
    """A game against bob that has just begun."""
    story = Story().on_message("stored 0 desdemon", request(flag=flag))
    story.on_message(
        f"+ match .1 1720 bob 1800 desdemon 8 {flag}", join(black=black, ti=ti), request(flag=flag, sign="-")
    )
    story.take()
    return story


def known(*moves: str, rated: bool = True, side: int = 1) -> GameSnapshot:
    """A game against bob in the books."""
    return GameSnapshot(
        game_id="old",
        game="othello",
        variant="8",
        initial_position=None,
        our_side=side,
        rated=rated,
        speed=Speed.BLITZ,
        clock=Clock(300, 0),
        opponent=Opponent("bob", "bob", 1720, False),
        our_rating=1800,
        state=GameState(moves, None, (False, False), (False, False), None),
    )


# --- Requests -------------------------------------------------------------------------------------------


def test_a_request_becomes_a_game() -> None:
    story = Story().on_message("stored 0 desdemon", request())
    [received] = story.told()
    challenge = received.challenge
    assert isinstance(received, ChallengeReceived)
    assert challenge.challenger == Opponent("bob", "bob", 1720, True)
    assert (challenge.game, challenge.kind, challenge.variant) == ("othello", "othello", "8")
    assert (challenge.rated, challenge.clock, challenge.our_rating) == (True, Clock(300, 0), 1800)
    attempt, out = story.accept(challenge.id)
    assert out == [Say("tell /os rated +"), Say("tell /os accept .3")]
    story.on_message("+ match .1 1720 bob 1800 desdemon 8 R", join(), request(sign="-"))
    assert attempt.began
    assert story.told() == [GameStarted(GAME, True, challenge.id), ChallengeGone(challenge.id)]


@pytest.mark.parametrize(
    ("type_", "game", "kind", "boards"),
    [
        ("8b", "othello", "othello", 1),
        ("s8", "othello", "othello", 2),
        ("s8r18", "othello", "othello_random", 2),
        ("8k", None, "", 1),
        ("8a", None, "", 1),
        ("10", None, "", 1),
        ("nonsense", None, "", 1),
    ],
)
def test_what_is_asked(type_: str, game: str | None, kind: str, boards: int) -> None:
    [received] = Story().on_message(request(type_=type_)).told()
    challenge = received.challenge
    assert (challenge.game, challenge.kind, challenge.boards) == (game, kind, boards)


@pytest.mark.parametrize("clock", ["30:00,N0//05:00,N10", "30:00,N//05:00,N10"])
def test_a_request_with_a_clock_that_counts_moves_is_told_as_not_played(clock: str) -> None:
    """The server writes the second for the first."""
    story = Story().on_message(request().replace("05:00//02:00", clock))
    [received] = story.told()
    assert (received.challenge.game, received.challenge.clock) == (None, Clock(1800, 0))
    assert story.decline(received.challenge.id) == [Say("tell /os decline .3")]


def test_a_request_that_has_gone_cannot_be_accepted() -> None:
    story = Story().on_message(request())
    [received] = story.told()
    story.on_message(request(sign="-"))
    assert story.told() == [ChallengeGone(received.challenge.id)]
    with pytest.raises(RefusedError) as caught:
        story.accept(received.challenge.id)
    assert caught.value.status == 404
    assert story.decline(received.challenge.id) == []


def test_ids_that_are_used_again_are_other_requests() -> None:
    story = Story().on_message(request(), request(sign="-"), request())
    first, _, second = story.told()
    assert first.challenge.id != second.challenge.id
    assert story.decline(second.challenge.id) == [Say("tell /os decline .3")]


def test_requests_of_others_and_for_everybody_are_not_ours() -> None:
    other = "+   .2 1720.0 alice    05:00//02:00        8 R 1720.0 bob"
    seek = "+   .4 1720.0 alice    05:00//02:00        8 R *      *"
    assert Story().on_message(other, seek).told() == []


def test_an_error_tells_why_a_request_was_not_accepted() -> None:
    story = Story().on_message(request())
    [received] = story.told()
    attempt, _ = story.accept(received.challenge.id)
    story.on_message("ERR Your open value is too low for new matches.")
    assert (attempt.began, attempt.refusal) == (False, "Your open value is too low for new matches.")


def test_asking_and_being_declined() -> None:
    story = Story()
    attempt, out = story.ask("bob", "8", GgsClock(300, 2, 120), rated=False)
    assert out == [
        Say("tell /os rated -"),
        Say("tell /os ask 8 05:00/00:02/02:00 bob"),
        Say("tell /os rated +"),
    ]
    line = "   .7 1800.4 desdemon 05:00/00:02/02:00  8 U 1720.0 bob"
    story.on_message(f"+{line}")
    assert attempt.key
    assert not attempt.is_settled
    story.on_message(f"-{line}")
    assert attempt.refusal == "declined"


def test_withdrawing_what_we_have_asked_for() -> None:
    story = Story()
    line = "   .7 1800.4 desdemon 05:00/00:02/02:00  8 U 1720.0 bob"
    attempt, _ = story.ask("bob", "8", GgsClock(300, 2, 120), rated=False)
    story.on_message(f"+{line}")
    assert story.cancel(attempt) == [Say("tell /os cancel .7")]
    story.on_message(f"-{line}")
    attempt, _ = story.ask("bob", "8", GgsClock(300, 2, 120), rated=False)
    assert story.cancel(attempt) == []  # the server has not shown it yet
    story.take()
    story.on_message(f"+{line}")
    assert story.said() == ["cancel .7"]


OURS = "   .7 1800.4 desdemon 05:00//02:00  8 R 1720.0 bob"
"""A request of ours for a rated game."""
FIVE = GgsClock(300, 0, 120)


def test_who_is_not_registered_sends_no_such_setting(caplog: pytest.LogCaptureFixture) -> None:
    story = Story()
    early, _ = story.ask("bob", "8", FIVE, rated=False)
    story.on_message("ERR you are not registered.", "ERR you are not registered.")
    assert not early.is_settled
    assert [record.message for record in caplog.records if "you are not registered" in record.message] == [
        "the service says: you are not registered. Only unrated games can be played"
    ]
    story.on_message(f"+{OURS.replace(' R ', ' U ')}", f"-{OURS.replace(' R ', ' U ')}")
    assert early.refusal == "declined"
    attempt, out = story.ask("bob", "8", FIVE, rated=False)
    assert out == [Say("tell /os ask 8 05:00/00:00/02:00 bob")]
    assert not attempt.is_settled
    story.take()
    story.on_message(request(flag="U"))
    [received] = story.told()
    assert story.accept(received.challenge.id)[1] == [Say("tell /os accept .3")]
    story.lost("gone")
    said = [each.command for each in story.connected(0) if isinstance(each, Say)]
    assert "tell /os rated +" in said  # it may have been registered by now
    assert story.ask("bob", "8", FIVE, rated=True)[1][0] == Say("tell /os rated +")


def test_a_registration_while_we_are_logged_in_is_noticed() -> None:
    story = Story().on_message("stored 0 desdemon", "ERR you are not registered.")
    report = "finger desdemon\r\n|login  : desdemon\r\n|level  : %d\r\n|open   : 1"
    assert ticked(story, 61.0) == ["finger", "match"]
    assert story.on_message(report % 0).said() == []
    assert story.ask("bob", "8", FIVE, rated=False)[1] == [Say("tell /os ask 8 05:00/00:00/02:00 bob")]
    assert story.on_message((report % 1).replace("login  : desdemon", "login  : bob")).said() == []
    assert story.on_message(report % 1).said() == ["rated +"]
    assert story.ask("bob", "8", FIVE, rated=True)[1][0] == Say("tell /os rated +")
    assert ticked(story, 122.0) == ["match"]


def test_accepting_a_request_leaves_our_own_asking_alone() -> None:
    story = Story().on_message("stored 0 desdemon")
    ours, _ = story.ask("bob", "8", FIVE, rated=True)
    story.on_message(f"+{OURS}", request(type_="s8"))
    theirs, _ = story.accept(story.told()[0].challenge.id)
    story.on_message("+ match .1 1720 bob 1800 desdemon s8 R", request(type_="s8", sign="-"))
    assert (theirs.began, ours.is_settled) == (True, False)
    story.on_message("+ match .2 1800 desdemon 1720 bob 8 R", f"-{OURS}")
    assert ours.began

    other, _ = story.ask("bob", "8", FIVE, rated=True)
    story.on_message(f"+{OURS}", request(type_="s8", flag="U"))
    story.accept(story.told()[-1].challenge.id)
    story.on_message(f"-{OURS}")
    assert other.refusal == "declined"


def test_of_requests_that_look_alike_the_accepted_one_has_begun() -> None:
    story = Story().on_message("stored 0 desdemon", request(".3", "8b"), request(".4", "8w"))
    _, second = story.told()
    attempt, _ = story.accept(second.challenge.id)
    story.on_message("+ match .1 1720 bob 1800 desdemon 8w R", join(kind="8w"))
    assert attempt.began
    assert story.told() == [GameStarted(GAME, True, second.challenge.id)]


def test_an_error_settles_what_it_answers_and_nothing_else() -> None:
    story = Story().on_message("stored 0 desdemon", request(".3"), request(".4", "s8"))
    ours, _ = story.ask("bob", "8", FIVE, rated=True)
    story.on_message(f"+{OURS}")
    first, second = (event.challenge.id for event in story.told())
    one, _ = story.accept(first)
    two, _ = story.accept(second)
    story.on_message(
        "decline ERR not found: .9", "who ERR rating type 'x' unknown.", "ERR user 'eve' not found."
    )
    assert not one.is_settled
    story.on_message("ERR rated variable mismatch.")
    assert (one.refusal, two.is_settled) == ("rated variable mismatch.", False)
    story.on_message("ERR request '.4' not found.")
    assert (two.refusal, ours.is_settled) == ("request '.4' not found.", False)
    story.on_message("ERR Your open value is too low for new matches.")
    assert not ours.is_settled


def test_an_answer_shows_that_those_before_it_were_lost() -> None:
    story = Story()
    lost, _ = story.ask("bob", "8", FIVE, rated=True)
    ours, _ = story.ask("bob", "s8", FIVE, rated=True)
    story.on_message(f"+{OURS.replace(' 8 ', ' s8 ')}")
    assert (bool(ours.key), lost.is_settled) == (True, False)
    story.on_message("ERR rated variable mismatch.")
    assert not lost.is_settled


def test_the_loss_of_the_connection_is_no_no() -> None:
    story = Story()
    attempts = [story.ask("bob", "8", FIVE, rated=True)[0] for _ in range(2)]
    story.on_message(f"+{OURS}")
    story.lost("gone")
    assert [(attempt.is_lost, attempt.refusal) for attempt in attempts] == [(True, "gone")] * 2


def test_crossing_requests_begin_at_once() -> None:
    story = Story().on_message("stored 0 desdemon")
    attempt, _ = story.ask("bob", "8b", GgsClock(300, 0, 120), rated=True)
    story.on_message("+ match .1 1720 bob 1800 desdemon 8w R", join(black="desdemon", kind="8w"))
    assert attempt.began


# --- A game ---------------------------------------------------------------------------------------------


def test_moves_and_clocks() -> None:
    story = begun(black="desdemon", ti="05:00/00:05/02:00")
    story.now_s = 7.0
    assert story.state().remaining_s == (293.0, 300.0)
    out = story.play(GAME, "f5", MoveInfo(145, 6.5))
    assert out == [Say("tell /os play .1 F5/1.45/6.50")]
    story.on_message("update .1 F5/1.45/6.50")
    [state] = story.told()
    assert (state.moves, state.remaining_s) == (("f5",), (298.5, 300.0))
    with pytest.raises(RefusedError):
        story.play(GAME, "f5", None)
    story.on_message("update .1 d6//2.00")
    [state] = story.told()
    assert state.remaining_s == (298.5, 303.0)


def test_passes_are_written_and_read() -> None:
    start = "8 O*------ -------- -------- -------- -------- -------- -------- ------*O *"
    story = Story().on_message(
        "stored 0 desdemon", "+ match .1 1720 bob 1800 desdemon 8 R", join(start=start, black="desdemon")
    )
    assert story.play(GAME, "pass", None) == [Say("tell /os play .1 PA")]
    story.take()
    story.on_message("update .1 PA")
    [state] = story.told()
    assert state.moves == ("pass",)


def test_a_decided_score_is_told_in_discs() -> None:
    assert discs(145) == 1.45
    assert discs(100_000 + 1200) == 12
    assert discs(-100_000 - 6400) == -64


def test_a_refused_move_is_told_and_the_game_read_again() -> None:
    story = begun()
    story.on_message("update .1 f5")
    story.play(GAME, "d6", None)
    story.take()
    game = story.account.games.by_id.get(GAME)
    assert game is not None
    story.on_message("error .1 illegal move")
    assert (game.refusal, game.is_stale) == ("illegal move", True)
    assert story.said() == ["moves .1"]
    story.on_message(join(moves="B[f5]"))
    assert not game.is_stale


def test_a_reply_in_place_of_our_own_move_means_that_something_was_lost() -> None:
    story = begun(black="desdemon")
    story.play(GAME, "f5", None)
    story.on_message("update .1 d3")  # legal for us, but not what we have sent
    assert story.said() == ["moves .1"]
    assert story.state().moves == ()
    story.on_message(join(moves="B[f5]W[d6]", black="desdemon"))
    assert story.state().moves == ("f5", "d6")


def test_what_the_opponent_wants_besides_is_left_unanswered() -> None:
    story = begun().on_message("undo .1 bob is asking", "abort .1 bob is asking", "score .1 bob is offering")
    assert story.take() == []


def test_chat() -> None:
    story = (
        begun()
        .on_message(".1 P 1720 bob: hello", ".1 O 1500 carol: who wins?")
        .raw("bob: psst", ".chat bob: all")
    )
    assert story.told() == [
        ChatLine("bob", Room.PLAYER, "hello"),
        ChatLine("carol", Room.SPECTATOR, "who wins?"),
        ChatLine("bob", Room.PLAYER, "psst"),
    ]
    assert story.say(GAME, "a\\b\nc", Room.PLAYER) == [Say("tell /os tell p .1 a/b c")]
    story.on_message("- match .1 1720 bob 1800 desdemon 8 R aborted")
    assert story.say(GAME, "bye", Room.PLAYER) == [Say("tell bob bye")]


def test_we_ask_for_a_move_that_we_may_have_missed() -> None:
    story = begun()
    assert ticked(story, 61.0) == ["moves .1", "match"]
    assert ticked(story, 62.0) == []
    story.now_s = 100.0
    story.on_message("update .1 f5")
    story.play(GAME, "d6", None)
    story.on_message("update .1 d6")
    assert ticked(story, 125.0) == ["match"]  # 25 seconds are not long
    assert ticked(story, 190.0) == ["moves .1", "match"]


def test_we_ask_again_for_a_state_that_we_have_not_got() -> None:
    story = begun(black="desdemon")
    story.resync(GAME)
    assert ticked(story, 61.0) == ["moves .1", "match"]
    story.on_message(join(black="desdemon"))
    assert ticked(story, 122.0) == ["match"]


# --- Ends -----------------------------------------------------------------------------------------------

WIPE_OUT = "8 -------- -------- -------- ---O*--- -------- -------- -------- -------- *"
"""One move of black ends the game."""


@pytest.mark.parametrize(
    ("black", "messages", "reason", "winner"),
    [
        ("bob", ["- match .1 1720 bob 1800 desdemon 8 R -64.00  .0"], EndReason.RESIGNATION, 1),
        ("bob", ["- match .1 1720 bob 1800 desdemon 8 R +64.00  .0"], EndReason.RESIGNATION, 0),
        ("desdemon", ["- match .1 1720 bob 1800 desdemon 8 R -64.00  .0"], EndReason.RESIGNATION, 0),
        (
            "bob",
            ["fatal-timeout .1 bob (*)", "- match .1 1720 bob 1800 desdemon 8 R -64.00  .0"],
            EndReason.TIME,
            1,
        ),
        ("bob", ["- match .1 1720 bob 1800 desdemon 8 R aborted"], EndReason.ABORTED, None),
        ("bob", ["- match .1 1720 bob 1800 desdemon 8 R +3.00 .0"], EndReason.OTHER, 0),
    ],
)
def test_ends(black: str, messages: list[str], reason: EndReason, winner: int | None) -> None:
    none = "ERR no archived match '.0' found."
    state, finished = begun(black=black).on_message(*messages, none).told()
    assert (state.end.reason, state.end.winner) == (reason, winner)
    assert finished == GameFinished(GAME, None)


@pytest.mark.parametrize(
    ("result", "reason", "winner"), [("+64.00", EndReason.NORMAL, 0), ("-2.00", EndReason.TIME, 1)]
)
def test_an_end_by_the_rules_and_a_loss_by_the_grace(result: str, reason: EndReason, winner: int) -> None:
    story = Story().on_message(
        "stored 0 desdemon", "+ match .1 1720 bob 1800 desdemon 8 R", join(start=WIPE_OUT)
    )
    story.on_message("update .1 C4")
    story.take()
    story.on_message(f"- match .1 1720 bob 1800 desdemon 8 R {result}  .0")
    state = story.told()[0]
    assert (state.end.reason, state.end.winner) == (reason, winner)


def test_the_rating_changes_with_the_end() -> None:
    change = "rating_update .1\r\n|desdemon 1800.00 @ 350.00  -12.60 -> 1787.40 @ 290.23"
    story = begun().on_message(change, "- match .1 1720 bob 1787 desdemon 8 R +64.00")
    assert story.told()[1] == GameFinished(GAME, -13)


def test_both_games_of_a_match_end_and_the_rating_changes_once() -> None:
    story = Story().on_message(
        "stored 0 desdemon", request(type_="s8"), "+ match .1 1720 bob 1800 desdemon s8 R"
    )
    story.on_message(join(".1.0", kind="s8"), join(".1.1", kind="s8", black="desdemon"))
    _, one, two = story.told()
    assert {one.game_id, two.game_id} == {f"{GAME}.0", f"{GAME}.1"}
    assert one.challenge_id == two.challenge_id != ""
    with pytest.raises(RefusedError):
        story.resign(one.game_id)
    assert story.say(one.game_id, "Hello", Room.PLAYER) == [Say("tell /os tell p .1 Hello")]
    assert story.say(two.game_id, "Hello", Room.PLAYER) == []
    assert story.say(two.game_id, "Hello", Room.PLAYER) != []  # said again, and not the other's echo
    story.on_message("end .1.1 ( bob vs. desdemon ) -64.00", "end .1.0 ( bob vs. desdemon ) +64.00")
    ends = [event.end and event.end.winner for event in story.told() if isinstance(event, GameState)]
    assert ends == [0, 0]
    change = "rating_update .1\r\n|desdemon 1800.00 @ 350.00  +5.00 -> 1805.00 @ 290.23"
    story.on_message(change, "- match .1 1720 bob 1805 desdemon s8 R +0.00  .0")
    assert story.told() == [GameFinished(f"{GAME}.0", 5)]


def test_a_game_that_is_not_listed_any_more_has_ended_unheard() -> None:
    story = begun().on_message("match 0/3")
    assert story.said() == ["stored"]
    story.on_message("stored 0 desdemon")
    assert story.said() == ["history"]
    story.on_message("history 0 desdemon")
    state, _ = story.told()
    assert state.end.reason is EndReason.UNKNOWN


def test_a_game_that_began_after_the_query_may_be_missing_from_the_list() -> None:
    """The server wrote the list before the match began, and it arrives afterwards."""
    story = Story().on_message("stored 0 desdemon")
    assert "match" in ticked(story, 61.0)
    story.on_message("+ match .1 1720 bob 1800 desdemon 8 R", join())
    story.take()
    story.on_message("match 0/3")
    assert story.said() == []
    story.on_message("update .1 f5")
    assert story.state().moves == ("f5",)
    assert "match" in ticked(story, 122.0)
    story.on_message("match 0/3")  # this one was written later
    assert story.said() == ["stored"]


RECORD = (
    f"(;GM[Othello]PC[GGS/os]DT[2026.11.22_00:40:00.UTC]PB[bob]PW[desdemon]TI[05:00//02:00]TY[8]RE[%s]BO[{USUAL_START}]"
    "B[f5]W[d6]B[c3]W[d3]B[c4];)"
)


@pytest.mark.parametrize(
    ("result", "reason"),
    [("-64.000:r", EndReason.RESIGNATION), ("-64.000:t", EndReason.TIME), ("-2.000", EndReason.OTHER)],
)
def test_the_archive_tells_the_moves_and_the_end_that_were_lost(result: str, reason: EndReason) -> None:
    story = begun().on_message("update .1 f5", "- match .1 1720 bob 1800 desdemon 8 R -64.00  .7")
    assert story.said() == ["look .7"]
    assert story.account.games.playing == []
    story.on_message(f"look\r\n|1 {RECORD % result}")
    state, _ = story.told()
    assert state.moves == ("f5", "d6", "c3", "d3", "c4")
    assert (state.end.reason, state.end.winner) == (reason, 1)


def test_a_lost_end_is_found_among_the_latest_matches() -> None:
    story = begun().on_message(
        "update .1 f5", join(moves="B[f5]W[d6]B[c3]W[d3]"), "match 0/3", "stored 0 desdemon"
    )
    story.take()
    row = "|.7       22 Nov 2026 00:40:00 1720 bob      1800 desdemon  -64.0 8"
    story.on_message(f"history 1 desdemon\r\n{row}")
    assert story.said() == ["look .7"]
    story.on_message(f"look\r\n|1 {RECORD % '-64.000:r'}")
    assert story.told()[0].end.reason is EndReason.RESIGNATION


def searched() -> Story:
    """A game whose end we have missed, and two matches that may be it, by names and type."""
    story = begun().on_message(
        "update .1 f5", join(moves="B[f5]W[d6]B[c3]W[d3]"), "match 0/3", "stored 0 desdemon"
    )
    story.take()
    rows = [f"|.{id_} 22 Nov 2026 00:40:00 1720 bob 1800 desdemon -64.0 8" for id_ in (6, 7)]
    story.on_message("history 2 desdemon\r\n" + "\r\n".join(rows))
    assert story.said() == ["look .7", "look .6"]
    return story


def test_a_lost_end_is_found_among_several_matches_of_one_kind() -> None:
    story = searched().on_message(f"look\r\n|1 {RECORD.replace('d6', 'f6') % '-2.000'}")
    assert story.told() == []
    story.on_message(f"look\r\n|1 {RECORD % '-64.000:r'}")
    assert story.told()[0].end.reason is EndReason.RESIGNATION
    assert [ticked(story, now_s) for now_s in (100.0, 200.0)] == [["match"]] * 2


def test_a_game_that_no_match_contains_is_given_up_once() -> None:
    story = searched()
    for story.now_s in (100.0, 200.0):
        story.out += story.tick(story.now_s)
    assert [type(event) for event in story.told()] == [GameState, GameFinished]


@pytest.mark.parametrize("is_settled", [True, False])
def test_an_archive_that_keeps_quiet_is_not_waited_for(is_settled: bool) -> None:
    story = begun()
    if not is_settled:
        story.account._link = LinkState.LISTING
    story.on_message("- match .1 1720 bob 1800 desdemon 8 R -64.00  .7")
    story.take()
    for story.now_s in (100.0, 200.0):
        story.out += story.tick(story.now_s)
    assert story.told()[0].end.reason is EndReason.RESIGNATION


ALL_BUT_ONE = f"8 {'******** ' * 4}{'OOOOOOOO ' * 3}OOOOOOO- *"
"""Black's last move, h8, wins by 14."""


def two_boards() -> Story:
    """A synchro match with a move to go on the first board."""
    story = Story().on_message(
        "stored 0 desdemon", request(type_="s8"), "+ match .1 1720 bob 1800 desdemon s8 R"
    )
    story.on_message(join(".1.0", kind="s8", start=ALL_BUT_ONE), join(".1.1", kind="s8", black="desdemon"))
    story.take()
    return story


def test_a_board_that_is_over_is_not_played_again() -> None:
    story = two_boards().on_message("update .1.0 h8", "end .1.0 ( bob vs. desdemon ) +14.00")
    story.take()
    story.on_message(join(".1.0", "B[h8]", kind="s8", start=ALL_BUT_ONE))
    assert story.take() == []
    done = join(".5.0", "B[c4]", kind="s8", start=WIPE_OUT)
    assert Story().on_message("+ match .5 1720 bob 1800 desdemon s8 R", done).told() == []


def test_a_move_that_the_server_withholds_after_telling_it_is_kept() -> None:
    """It withholds the last move of the longer board of two, even when the other is over."""
    story = two_boards().on_message("update .1.0 h8", "end .1.0 ( bob vs. desdemon ) +14.00")
    story.play(f"{GAME}.1", "f5", None)
    story.on_message("update .1.1 f5", "update .1.1 d6")
    story.resync(f"{GAME}.1")
    story.take()
    story.on_message(join(".1.1", "B[f5]", kind="s8", black="desdemon"))
    [state] = story.told()
    assert state.moves == ("f5", "d6")
    assert story.play(f"{GAME}.1", "c3", None) == [Say("tell /os play .1.1 C3")]
    story.on_message("update .1.1 c3", join(".1.1", "B[f5]W[d6]", kind="s8", black="desdemon"))
    assert story.told()[-1].moves == ("f5", "d6")  # our own move is never withheld from us


def test_a_board_that_ends_before_its_last_move_is_heard_is_read_again() -> None:
    story = two_boards().on_message("end .1.0 ( bob vs. desdemon ) +14.00")
    assert story.said() == ["moves .1"]
    with pytest.raises(RefusedError, match="not our turn"):
        story.play(f"{GAME}.0", "h8", None)
    assert "moves .1" in ticked(story, 61.0)
    story.on_message(join(".1.0", "B[h8]", kind="s8", start=ALL_BUT_ONE))
    state, finished = story.told()
    assert (state.moves, state.end) == (("h8",), GameEnd(EndReason.NORMAL, 0, "-14.00"))
    assert finished == GameFinished(f"{GAME}.0", None)


def test_a_board_whose_last_move_is_lost_with_its_match_is_looked_up() -> None:
    ends = "end .1.0 ( bob vs. desdemon ) +14.00", "end .1.1 ( bob vs. desdemon ) -64.00"
    record = RECORD.replace("B[f5]W[d6]B[c3]W[d3]B[c4]", "B[h8]").replace(USUAL_START, ALL_BUT_ONE) % "14.000"
    story = two_boards().on_message(*ends, "- match .1 1720 bob 1800 desdemon s8 R +39.00  .7")
    assert story.said()[-1] == "look .7"
    story.on_message(f"look\r\n|1 {record}")
    assert story.told()[0].moves == ("h8",)
    story = two_boards().on_message(*ends, "- match .1 1720 bob 1800 desdemon s8 R +39.00")  # none is kept
    ended = [event.end for event in story.told() if isinstance(event, GameState)]
    assert ended[-1] == GameEnd(EndReason.OTHER, 0, "-14.00")


def test_a_board_that_has_ended_is_closed_when_its_match_is_taken_up() -> None:
    story = two_boards().on_message(
        "end .1.0 ( bob vs. desdemon ) +14.00", "- match .1 1720 bob 1800 desdemon s8 R bob left .4"
    )
    story.on_message(request(".9", type_="s8", flag="S", more=".4"), "+ match .2 1720 bob 1800 desdemon s8 R")
    story.take()
    story.on_message(join(".2.0", "B[h8]", kind="s8", start=ALL_BUT_ONE))
    assert story.told() == [
        GameStarted(f"{GAME}.0", True),
        GameState(
            ("h8",), (300.0, 300.0), (False, False), (False, False), GameEnd(EndReason.NORMAL, 0, "-14.00")
        ),
        GameFinished(f"{GAME}.0", None),
    ]


def test_our_last_move_that_the_server_has_taken_back_is_sent_again() -> None:
    """It ended its game, and the other game of the match was a move behind when the opponent left."""
    story = Story().on_message(
        "stored 0 desdemon", request(type_="s8"), "+ match .1 1720 bob 1800 desdemon s8 R"
    )
    story.on_message(join(".1.0", kind="s8"), join(".1.1", kind="s8", black="desdemon", start=ALL_BUT_ONE))
    story.play(f"{GAME}.1", "h8", None)
    story.on_message(request(type_="s8", sign="-"), "update .1.1 h8", "end .1.1 ( bob vs. desdemon ) -14.00")
    story.on_message("- match .1 1720 bob 1800 desdemon s8 R bob left .4")
    story.on_message(request(".9", type_="s8", flag="S", more=".4"), "+ match .2 1720 bob 1800 desdemon s8 R")
    story.take()
    story.on_message(join(".2.0", kind="s8"), join(".2.1", kind="s8", black="desdemon", start=ALL_BUT_ONE))
    assert story.take() == [Tell(GameStarted(f"{GAME}.0", True)), Say("tell /os play .2.1 H8")]
    story.on_message("update .2.1 H8", "end .2.1 ( bob vs. desdemon ) -14.00", "match 1/1")
    assert story.told() == []


# --- Adjourned games ------------------------------------------------------------------------------------

STORED = "stored 1 desdemon\r\n|.4       21 Nov 2026 09:36:07 bob    desdemon      8:l"

RESUMING = "+   .8 1800.0 desdemon 05:00//02:00        8 S 1720.0 bob      .4"
"""Our request to resume it."""


def ticked(story: Story, now_s: float) -> list[str]:
    story.now_s = now_s
    story.out += story.tick(now_s)
    return story.said()


def test_a_refused_resumption_is_tried_again() -> None:
    story = Story(known("f5", "d6")).on_message(STORED)
    assert story.said()[-1] == "ask .4"
    story.on_message("ERR Your open value is too low for new matches.")
    assert ticked(story, 61.0) == ["stored", "match"]
    assert story.on_message(STORED).said() == ["rated +", "ask .4"]
    story.on_message("ERR your request doesn't fit the opponent's formula.")
    ticked(story, 122.0)
    assert story.on_message(STORED).said() == []  # that is a no


def test_a_challenge_that_turns_out_to_resume_a_game_is_one_no_more() -> None:
    """We missed the adjournment, and the server's list was older than it."""
    story = begun()
    story.on_message(request(".9", flag="S", more=".4"))
    assert story.said() == ["match"]
    story.on_message("match 1/1\r\n|  .1 1720 bob    1800 desdemon             8  R 1")
    [received] = story.told()
    assert isinstance(received, ChallengeReceived)
    story.on_message("- match .1 1720 bob 1800 desdemon 8 R bob left .4", STORED)
    actions = story.take()
    told = [action.event for action in actions if isinstance(action, Tell)]
    assert told == [ChallengeGone(received.challenge.id)]
    said = [action.command for action in actions if isinstance(action, Say)]
    assert said[-1] == "tell /os accept .9"
    story.on_message(request(".9", flag="S", more=".4", sign="-"))
    assert story.told() == []


def test_adjourned_games_wait_for_a_free_place() -> None:
    story = Story(known("f5", "d6"))
    rows = [f"|  .{i} 1720 eve    1800 desdemon             8  R 1" for i in range(4)]
    story.on_message("match 4/4\r\n" + "\r\n".join(rows), STORED)
    story.on_message(request(".9", flag="S", more=".4"))
    assert [word for word in story.said() if not word.startswith("moves")] == ["notify + bob"]
    story.on_message("match 3/3\r\n" + "\r\n".join(rows[1:]), STORED)
    assert story.said()[-2:] == ["rated +", "accept .9"]
    assert story.on_message(STORED).said() == []  # not twice
    story.on_message("ERR Your open value is too low for new matches.", STORED)
    assert story.said() == ["rated +", "accept .9"]


def test_adjourned_games_wait_for_room_of_ours() -> None:
    """Other games have it, at this account or another, or the program is stopping."""
    room = 1
    story = Story(known("f5", "d6"))
    story.follow(4, lambda boards: boards <= room)
    story.on_message(STORED.replace("8:l", "s8:l"))
    assert not any(word.startswith("ask") for word in story.said())
    room = 0
    story.on_message(STORED, request(".9", flag="S", more=".4"))
    assert not any(word.startswith(("ask", "accept")) for word in story.said())
    room = 1
    assert ticked(story, 61.0)[0] == "stored"
    assert story.on_message(STORED).said()[-1] == "accept .9"


def test_the_server_is_told_of_another_limit() -> None:
    story = Story(connect=False)
    assert story.follow(3, lambda _: True) == []  # it is told when we connect
    assert Say("tell /os open 3") in story.connected(0.0)
    story.on_message("match 0/0")
    assert story.follow(3, lambda _: True) == []
    assert story.follow(2, lambda _: True) == [Say("tell /os open 2")]


def test_only_an_opponent_who_comes_is_asked() -> None:
    story = Story(known("f5")).on_message(STORED)
    story.take()
    assert story.on_message("- bob stored").said() == []
    assert story.on_message("+ bob stored").said() == ["stored"]


def test_an_opponent_whose_login_is_heard_before_the_adjournment_is_asked() -> None:
    """The central server announces a login at once, the service adjourns the match a little later."""
    story = Story(known("f5")).on_message(STORED)
    story.on_message(RESUMING, "+ match .2 1800 desdemon 1720 bob 8 R", join(".2", moves="B[f5]"))
    story.on_message(RESUMING.replace("+", "-", 1)).raw(": - bob 1", ": + bob 1").take()
    story.on_message("- match .2 1800 desdemon 1720 bob 8 R bob left .4", STORED)
    assert story.said() == ["stored", "rated +", "ask .4"]


def test_of_two_adjourned_games_the_moves_tell_which_goes_on() -> None:
    one, two = known("f5", "d6", "c3"), replace(known("f5", "f6"), game_id="other")
    for first, second in ((one, two), (two, one)):
        story = Story(first, second).on_message(STORED)
        story.on_message(RESUMING, "+ match .2 1800 desdemon 1720 bob 8 R", join(".2", moves="B[f5]W[f6]"))
        assert story.told() == [GameStarted("other", True)]


def test_of_adjourned_games_that_begin_alike_the_one_that_has_come_as_far_goes_on() -> None:
    one, two = known("f5", "d6"), replace(known("f5", "d6", "c3", "d3", "c4", "f4"), game_id="other")
    lost = replace(known("f5", "d6", "c3", rated=False), game_id="unrated")  # those are not kept
    story = Story(one, two, lost).on_message(STORED)
    story.on_message(RESUMING, "+ match .2 1800 desdemon 1720 bob 8 R", join(".2", moves="B[f5]W[d6]B[c3]"))
    assert story.told() == [GameStarted("old", True)]


def test_an_adjourned_game_is_taken_up_by_its_id() -> None:
    story = begun().on_message("update .1 f5", "- match .1 1720 bob 1800 desdemon 8 R bob left .4")
    assert TellGame(GAME, GameAdjourned("bob has left")) in story.out
    story.on_message("stored 1 desdemon\r\n|.4       21 Nov 2026 09:36:07 bob    desdemon      8:l")
    assert story.said() == ["stored", "notify + bob", "rated +", "ask .4"]
    story.on_message(request(".9", flag="S", more=".4"))
    assert story.said()[-2:] == ["rated +", "accept .9"]
    story.on_message("+ match .2 1720 bob 1800 desdemon 8 R", join(".2", moves="B[f5]"))
    assert story.told() == [GameStarted(GAME, True)]


def test_a_game_of_the_books_is_taken_up_after_a_restart() -> None:
    story = Story(known("f5", "d6", "c3"))
    story.on_message("stored 1 desdemon\r\n|.4       21 Nov 2026 09:36:07 bob    desdemon      8:l")
    assert story.said() == ["notify + bob", "rated +", "ask .4"]
    assert story.account.games.first_event("old", 0) == GameAdjourned("the server has stored it")
    story.on_message("+   .8 1800.0 desdemon 05:00//02:00        8 S 1720.0 bob      .4")
    story.on_message("+ match .2 1800 desdemon 1720 bob 8 R", join(".2", moves="B[f5]W[d6]"))
    assert story.told() == [GameStarted("old", True)]


@pytest.mark.parametrize(("kind", "said"), [("8", "history"), ("s8", "notify + bob")])
def test_a_game_whose_moves_end_it_is_not_the_adjourned_one(kind: str, said: str) -> None:
    """The program was killed at the end of the game, and the same players have an adjourned game."""
    start = "bbbbbbbb/" * 7 + "bbbbbbw1 b"
    story = Story(replace(known("h8"), variant=kind, initial_position=start))
    story.on_message(f"stored 1 desdemon\r\n|.4       21 Nov 2026 09:36:07 bob    desdemon      {kind}:l")
    assert story.said()[0] == said


def test_a_new_game_is_not_taken_for_the_adjourned_one() -> None:
    story = Story(known("f5", "d6"))
    story.on_message(
        "stored 1 desdemon\r\n|.4       21 Nov 2026 09:36:07 bob    desdemon      8:l", request()
    )
    story.take()
    story.on_message("+ match .1 1720 bob 1800 desdemon 8 R", join())
    assert story.told()[0].game_id == GAME


@pytest.mark.parametrize("moves", ["", "B[f5]", "B[f5]W[d6]B[c3]W[d3]B[c4]"])
def test_a_tournament_match_is_not_taken_for_the_adjourned_game(moves: str) -> None:
    """Also while our request to resume that one is pending."""
    story = Story(known("f5", "d6", "c3", "d3")).on_message(STORED, RESUMING)
    story.take()
    story.on_message("+ match .1 1720 bob 1800 desdemon 8b T", join(kind="8b", moves=moves))
    assert story.told() == [GameStarted(GAME, True)]
    assert story.account.games.first_event("old", 0) == GameAdjourned("the server has stored it")
    story.on_message("+ match .2 1800 desdemon 1720 bob 8 R", join(".2", moves="B[f5]W[d6]B[c3]W[d3]"))
    assert story.told() == [GameStarted("old", True)]  # the request is still that game's


def test_a_director_resumes_an_adjourned_tournament_match() -> None:
    """Without a request; else the same game would be stored twice."""
    story = Story().on_message("stored 0 desdemon", "+ match .1 1720 bob 1800 desdemon 8 T", join())
    story.on_message("update .1 f5", "- match .1 1720 bob 1800 desdemon 8 T bob left .4", STORED)
    story.take()
    story.on_message("+ match .2 1720 bob 1800 desdemon 8 T", join(".2", moves="B[f5]"))
    assert story.told() == [GameStarted(GAME, True)]


@pytest.mark.parametrize("shown", ["B[f5]", "B[f5]W[d6]"])
def test_a_director_resumes_a_board_whose_last_move_was_taken_back(shown: str) -> None:
    story = Story(replace(known("f5", "d6"), variant="s8"))
    row = "|.4       21 Nov 2026 09:36:07 bob    desdemon      s8:l"
    story.on_message(f"stored 1 desdemon\r\n{row}", "+ match .2 1720 bob 1800 desdemon s8 T")
    story.take()
    story.on_message(join(".2.0", moves=shown, kind="s8"))
    assert story.told() == [GameStarted("old", True)]


def test_a_match_without_a_request_resumes_only_what_it_shows() -> None:
    for ours, told, begins in (
        (("f5", "d6"), "B[f5]W[d6]B[c3]W[d3]", GAME),
        (("f5", "d6", "c3", "d3"), "B[f5]W[d6]B[c3]W[d3]", "old"),
        (("f5", "d6", "c3", "d3", "c4"), "B[f5]W[d6]B[c3]W[d3]", GAME),
    ):
        story = Story(known(*ours)).on_message(STORED)
        story.take()
        story.on_message("+ match .1 1720 bob 1800 desdemon 8 R", join(moves=told))
        assert story.told() == [GameStarted(begins, True)]


def test_a_tournament_match_that_went_on_without_us_keeps_its_id() -> None:
    row = "match 1/1\r\n|  .1 1720 bob    1800 desdemon             8  T 1"
    for began, goes_on in (("20261122T003000-.1", True), ("20261122T003000-.2", False)):
        story = Story(replace(known("f5"), game_id=began))
        story.on_message(row, join(moves="B[f5]W[d6]"))
        assert (story.told() == [GameStarted(began, True)]) is goes_on


def test_a_request_that_has_gone_unheard_does_not_hide_a_game_that_goes_on() -> None:
    for told, begins in (("B[f5]W[d6]B[c3]W[d3]B[c4]", "old"), ("B[f5]W[d6]B[c3]", GAME)):
        story = Story(known("f5", "d6", "c3", "d3")).on_message(STORED, request())  # whose end is lost
        story.take()
        story.on_message("+ match .1 1720 bob 1800 desdemon 8 R", join(moves=told))
        assert story.told() == [GameStarted(begins, True, "" if begins == "old" else ".3/1")]


def test_a_game_whose_adjournment_was_not_heard_is_taken_up() -> None:
    stored = request(".9", flag="S", more=".4")
    story = begun().on_message("update .1 f5", stored)
    assert story.said() == ["match"]
    story.on_message("match 0/0")
    assert story.said() == ["stored", "rated +", "accept .9"]
    story.on_message("+ match .2 1720 bob 1800 desdemon 8 R", join(".2", moves="B[f5]"))
    assert story.told() == [TellGame(GAME, story.state()).event]
    story = begun().on_message(stored, "match 1/1\r\n|  .1 1720 bob    1800 desdemon             8  R 1")
    (challenge,) = story.told()  # that one goes on, so it is another
    assert challenge.challenge.id == ".9/2"


def test_the_end_of_a_game_that_was_away_leaves_the_game_with_its_old_id_alone() -> None:
    story = begun().on_message("update .1 f5", "- match .1 1720 bob 1800 desdemon 8 R bob left .4")
    story.on_message("+ match .1 1720 bob 1800 desdemon 8 R", join())
    story.on_message("stored 0 desdemon", "history 0 desdemon")
    story.take()
    story.on_message("update .1 f5")
    assert [event.moves for event in story.told()] == [("f5",)]


def test_lists_with_rows_that_cannot_be_read_end_nothing() -> None:
    story = begun().on_message("match 1/1\r\n|  ?")
    assert (story.take(), story.account.games.playing) == ([], [GAME])
    story = Story(known("f5")).on_message("stored 1 desdemon\r\n|?")
    assert (story.said(), story.account.is_settled) == ([], True)


def test_games_that_the_server_does_not_keep() -> None:
    story = Story(known("f5"), connect=False)
    story.connected(0)
    story.on_message("match 0/0", "stored 0 desdemon")
    assert story.said() == ["history"]
    story.on_message("history 0 desdemon")
    started, state, _ = story.told()
    assert (started, state.end.reason) == (GameStarted("old", True), EndReason.UNKNOWN)
    other = "stored 1 desdemon\r\n|.4       21 Nov 2026 09:36:07 bob    desdemon      8:l"
    story = Story(known("f5", rated=False)).on_message(
        other, "history 0 desdemon"
    )  # only rated ones are kept
    state = story.told()[1]
    assert state.end.reason is EndReason.ABORTED


def test_a_game_that_has_ended_while_we_were_away_is_looked_up() -> None:
    story = Story(known("f5", "d6", "c3", "d3")).on_message("stored 0 desdemon")
    story.on_message(
        "history 1 desdemon\r\n|.7       22 Nov 2026 00:40:00 1720 bob      1800 desdemon  -64.0 8"
    )
    assert story.said() == ["history", "look .7"]
    story.on_message(f"look\r\n|1 {RECORD % '-64.000:r'}")
    started, state, _ = story.told()
    assert started == GameStarted("old", True)
    assert (state.moves[-1], state.end.reason) == ("c4", EndReason.RESIGNATION)


def test_few_moves_tell_a_game_from_a_random_start() -> None:
    """From the usual start, an older match may have begun with the same moves."""
    row = "|.7       22 Nov 2026 00:40:00 1720 bob      1800 desdemon  -64.0 8"
    usual = Story(known("f5", "d6", "c3")).on_message("stored 0 desdemon", f"history 1 desdemon\r\n{row}")
    assert usual.said() == ["history"]
    about = replace(known(), initial_position="8/8/8/2wwb3/3bw3/8/8/8 b")
    story = Story(about).on_message("stored 0 desdemon", f"history 1 desdemon\r\n{row}")
    assert story.said() == ["history", "look .7"]
    record = (RECORD % "-64.000:r").replace("---O*---", "--OO*---").replace("B[f5]W[d6]B[c3]W[d3]B[c4]", "")
    story.on_message(f"look\r\n|1 {record}")
    assert story.told()[1].end.reason is EndReason.RESIGNATION


def test_a_record_that_cannot_be_changes_nothing() -> None:
    story = Story(known("f5", "d6", "c3", "d3")).on_message("stored 0 desdemon")
    story.on_message(
        "history 1 desdemon\r\n|.7       22 Nov 2026 00:40:00 1720 bob      1800 desdemon  -64.0 8"
    )
    story.take()
    story.on_message(f"look\r\n|1 {(RECORD % '-64.000:r').replace('W[d3]', 'W[d3]B[a1]')}")
    assert story.told() == []
    story.on_message(f"look\r\n|1 {RECORD % '-64.000:r'}")
    _, state, _ = story.told()
    assert state.end.reason is EndReason.RESIGNATION


def test_games_that_begin_in_the_same_second_have_ids_of_their_own() -> None:
    story, ids = Story(), list[str]()
    for _ in range(MAX_REMEMBERED_GAMES + 50):
        story.on_message("+ match .1 1720 bob 1800 desdemon 8 R", join())
        story.on_message("- match .1 1720 bob 1800 desdemon 8 R aborted")
        ids += [event.game_id for event in story.told() if isinstance(event, GameStarted)]
    assert len(set(ids)) == len(ids) == MAX_REMEMBERED_GAMES + 50


def test_a_game_that_goes_on_elsewhere_is_not_given_up() -> None:
    story = Story(known("f5"))
    story.on_message("match 1/1\r\n|  .2 1720 bob    1800 desdemon             8  R 1", "stored 0 desdemon")
    assert story.said() == ["moves .2"]
    story.on_message(join(".2", moves="B[f5]"))
    assert story.told() == [GameStarted("old", True)]


@pytest.mark.parametrize("flag", ["R", "U"])
def test_a_lost_connection(flag: str) -> None:
    story = begun(flag=flag).on_message(request(".5"))
    received = story.told()[-1]
    events = [each.event for each in story.lost("gone") if isinstance(each, Tell | TellGame)]
    assert ChallengeGone(received.challenge.id) in events
    assert GameAdjourned("gone") in events  # of an unrated one the archive may know the end
    assert not story.account.is_settled


def test_the_service_goes_and_comes_back() -> None:
    story = begun().raw(": - /os 1")
    assert GameAdjourned("the Othello service has gone") in story.told()
    attempt, _ = story.ask("bob", "8", FIVE, rated=True)
    story.raw(": ERR user '/os' not found.")
    assert story.take() == []
    assert attempt.is_lost
    story.raw(": + /os 1")
    said = story.said()
    assert said[0] == "client +"
    assert said[-2:] == ["match", "stored"]


def test_a_service_whose_return_was_not_heard_is_found() -> None:
    story = begun().raw(": - /os 1")
    story.take()
    story.out += story.tick(60.0)
    assert story.said() == ["match"]
    story.raw(": ERR user '/os' not found.")
    assert story.said() == []
    story.on_message("match 0/0")
    assert story.said()[-2:] == ["match", "stored"]
    story.on_message("match 0/0", "stored 0 desdemon")
    assert story.account.is_settled


@pytest.mark.parametrize("line", [": + /os 1", ": ERR user '/os' not found."])
def test_a_challenge_heard_while_the_service_seemed_away_is_told_gone(line: str) -> None:
    story = begun().raw(": - /os 1").on_message(request(".5"))
    received = next(event for event in story.told() if isinstance(event, ChallengeReceived))
    assert story.raw(line).told() == [ChallengeGone(received.challenge.id)]


def test_a_game_that_is_not_played_here_is_told_as_such() -> None:
    story = Story().on_message("stored 0 desdemon", "+ match .1 1720 bob 1800 desdemon 8a T", join(kind="8a"))
    assert story.told() == [GameStarted(GAME, False)]
    assert story.abort(GAME) == [Say("tell /os abort .1")]
    with pytest.raises(RefusedError):
        begun().abort(GAME)


@pytest.mark.parametrize(("black", "side"), [("bob", 1), ("desdemon", 0)])
def test_a_komi_game_of_a_tournament_is_bid_for_and_played(black: str, side: int) -> None:
    """It has colours only after both bids; the result is what the discs leave after the komi."""
    story = Story().on_message("stored 0 desdemon", "+ match .1 1720 bob 1800 desdemon 8k T", join(kind="8k"))
    (bid,) = story.take()
    assert bid in [Say(f"tell /os play .1 {move}/0.00") for move in ("D3", "C4", "F5", "E6")]
    sent = join(kind="8k").replace("TY[8k]", "TY[8k]KW[f5/0.00]")  # before the opponent's bid
    assert story.on_message(sent).take() == []
    story.on_message(join(kind="8k", black=black, moves="B[f5]").replace("TY[8k]", "TY[8k]KM[1.000]"))
    assert story.told() == [GameStarted(GAME, True)]
    about = story.account.games.first_event(GAME, 0)
    assert isinstance(about, GameSnapshot)
    assert (about.our_side, about.state.moves, about.rated) == (side, ("f5",), True)
    story.on_message("- match .1 1720 bob 1800 desdemon 8k T +2.00  .0")
    assert story.said() == ["look .0"]


@pytest.mark.parametrize(
    ("ending", "reason", "winner"),
    [
        ("- match .1 1720 bob 1800 desdemon 8k T +64.00  .7", EndReason.RESIGNATION, 0),
        ("- match .1 1720 bob 1800 desdemon 8k U aborted", EndReason.ABORTED, None),
    ],
)
def test_a_komi_game_that_ends_during_the_bids_is_told(
    ending: str, reason: EndReason, winner: int | None
) -> None:
    """Else it would be stored nowhere."""
    story = Story().on_message("stored 0 desdemon", "+ match .1 1720 bob 1800 desdemon 8k T", join(kind="8k"))
    story.take()
    told = story.on_message(ending).told()
    assert told[0] == GameStarted(GAME, True)
    assert GameFinished(GAME, None) in told
    about = story.account.games.first_event(GAME, 0)
    assert isinstance(about, GameSnapshot)
    assert about.state.end is not None
    assert (about.state.end.reason, about.state.end.winner, about.state.moves) == (reason, winner, ())


@pytest.mark.parametrize(
    "messages",
    [("match 0/0",), ("+ match .1 1720 carl 1800 desdemon 8 T",)],
    ids=["the list", "another match"],
)
@pytest.mark.parametrize("is_away", [False, True], ids=["here", "away"])
def test_a_komi_game_whose_end_during_the_bids_is_missed_is_told(
    messages: tuple[str, ...], is_away: bool
) -> None:
    story = Story().on_message("stored 0 desdemon", "+ match .1 1720 bob 1800 desdemon 8k T", join(kind="8k"))
    if is_away:
        story.lost("cut")
        story.connected(0.0)
    else:
        story.tick(60.0)
    story.take()
    told = story.on_message(*messages).told()
    assert told[0] == GameStarted(GAME, True)
    assert told[-1] == GameFinished(GAME, None)
    (end,) = [event.end for event in told if isinstance(event, GameState) and event.end]
    assert (end.reason, end.winner) == (EndReason.ABORTED, None)
    assert story.on_message("match 0/0").told() == []


def test_a_komi_game_goes_on_with_its_bids_after_a_loss() -> None:
    story = Story().on_message("stored 0 desdemon", "+ match .1 1720 bob 1800 desdemon 8k T", join(kind="8k"))
    story.lost("cut")
    story.connected(0.0)
    story.take()
    story.on_message("match 1/1\r\n|  .1 1720 bob 1800 desdemon 8k T 0", join(kind="8k"))
    assert story.told() == []
    story.on_message(join(kind="8k", moves="B[f5]").replace("TY[8k]", "TY[8k]KM[1.000]"))
    assert story.told() == [GameStarted(GAME, True)]
    assert story.on_message("- match .1 1720 bob 1800 desdemon 8k T aborted").told()[-1] == GameFinished(
        GAME, None
    )


def test_the_komi_decides_a_played_out_game() -> None:
    start = f"8 {' '.join(['*' * 8] * 4 + ['O' * 8] * 3 + ['O' * 7 + '-'])} *"
    story = Story().on_message("stored 0 desdemon", "+ match .1 1720 bob 1800 desdemon 8k T")
    board = join(kind="8k", start=start).replace("TY[8k]", "TY[8k]KM[40.000]")
    story.on_message(board, "update .1 h8", "- match .1 1720 bob 1800 desdemon 8k T -2.00  .0")
    ends = [event.end for event in story.told() if isinstance(event, GameState) and event.end]
    assert [(end.reason, end.winner) for end in ends] == [(EndReason.NORMAL, 1)]


@pytest.mark.parametrize(
    ("result", "reason", "winner"),
    [
        ("-62.115:r", EndReason.RESIGNATION, 1),
        ("+65.885:r", EndReason.RESIGNATION, 0),
        ("-62.115:t", EndReason.TIME, 1),
        ("-64.000:s", EndReason.OTHER, 1),
    ],
)
def test_the_komi_counts_in_a_resigned_game_too(result: str, reason: EndReason, winner: int) -> None:
    story = Story().on_message("stored 0 desdemon", "+ match .1 1720 bob 1800 desdemon 8k T")
    story.on_message(join(kind="8k", moves="B[f5]").replace("TY[8k]", "TY[8k]KM[-1.885]"))
    story.on_message("- match .1 1720 bob 1800 desdemon 8k T -62.11  .7")
    story.take()
    story.on_message(f"look\r\n|1 {(RECORD % result).replace('TY[8]', 'TY[8k]KM[-1.885]')}")
    end = story.told()[0].end
    assert (end.reason, end.winner) == (reason, winner)


def test_a_game_that_is_not_played_here_begins_once() -> None:
    story = Story().on_message("stored 0 desdemon", "+ match .1 1720 bob 1800 desdemon 8a T", join(kind="8a"))
    story.take()
    assert story.on_message(join(kind="8a"), join(kind="8a", moves="B[f5]W[d6]")).take() == []
    assert ticked(story, 100.0) == ["match"]


@pytest.mark.parametrize("flag", ["R", "U"])
def test_a_list_of_matches_tells_what_a_game_counts_as(flag: str) -> None:
    story = Story().on_message("stored 0 desdemon", join())
    assert story.take() == [Say("tell /os match")]
    story.on_message(f"match 1/1\r\n|  .1 1720 bob    1800 desdemon             8  {flag} 1")
    assert story.said() == ["moves .1"]
    story.on_message(join())
    assert story.told() == [GameStarted(GAME, True)]
    game = story.account.games.by_id.get(GAME)
    assert game is not None
    assert game.about.rated == (flag == "R")


def test_a_picture_means_that_a_setting_was_lost() -> None:
    story = begun()
    picture = "update .1 8 K?\r\n|  1: F5\r\n|whatever it shows\r\n|O to move"
    story.now_s = 100.0
    assert story.on_message(picture, picture).said() == ["client +", "moves .1"]
    story.on_message(join(moves="B[f5]"))
    assert story.state().moves == ("f5",)
    story.now_s = 200.0
    assert story.on_message(picture.replace("update .1", "join .2")).said() == [
        "client +",
        "moves .1",
        "moves .2",
    ]


def test_games_of_others_are_none_of_ours() -> None:
    others = join().replace("desdemon", "alice")
    assert Story().on_message("+ match .1 1720 bob 1800 alice 8 R", others, "update .1 f5").take() == []


def test_an_overloaded_server_is_not_asked_all_the_time() -> None:
    story = begun()
    overload = b"\r\n/os: match 1/1\r\n|  .1 1720 bob    1800 desdemon             8  R 1\r\nALERT\r\n" * 5
    for message in story.reader.feed(overload):
        story.account.on_message(message, 100.0, AT)
        story.out += story.account.out.take()
    assert story.said() == ["moves .1", "match", "stored"]


# --- Any order of things --------------------------------------------------------------------------------

NEWS = [
    request(),
    request(sign="-"),
    request(type_="s8", flag="U"),
    request(".9", flag="S", more=".4"),
    "+   .8 1800.0 desdemon 05:00//02:00        8 S 1720.0 bob      .4",
    "+   .7 1800.0 desdemon 05:00//02:00        8 R *      *",
    "+ match .1 1720 bob 1800 desdemon 8 R",
    "+ match .1 1720 bob 1800 desdemon 8 U",
    "+ match .1 1720 bob 1800 desdemon s8 R",
    "+ match .2 1800 desdemon 1720 bob 8k T",
    join(),
    join(moves="B[f5]W[d6]"),
    join(moves="B[f5]W[f5]"),
    join(black="desdemon"),
    join(".1.0", kind="s8"),
    join(".1.1", kind="s8", black="desdemon"),
    join(".2", kind="8k"),
    join().replace("8 --------", "10 --------"),
    join().replace("desdemon", "bob"),
    "update .1 f5",
    "update .1 d6/1.00/0.20",
    "update .1.0 pa",
    "error .1 not your turn",
    "ERR match '.1' not found.",
    "ERR request '.3' not found.",
    "ERR no opponent present for archived match '.4'.",
    "fatal-timeout .1 desdemon (O)",
    "end .1.0 ( bob vs. desdemon ) +2.00",
    "end .1.1 ( bob vs. desdemon ) aborted",
    "rating_update .1\r\n|desdemon 1800.00 @ 350.00  +5.00 -> 1805.00 @ 290.23",
    "- match .1 1720 bob 1800 desdemon 8 R +2.00  .0",
    "- match .1 1720 bob 1800 desdemon 8 R bob left .4",
    "- match .1 1720 bob 1800 desdemon 8 U desdemon left",
    "- match .2 1800 desdemon 1720 bob 8k T aborted",
    "+ match .2 1720 bob 1800 desdemon 8b T",
    join(".2"),
    join(".2", kind="8k", moves="B[f5]").replace("TY[8k]", "TY[8k]KM[1.000]"),
    "ERR you are not registered.",
    "finger desdemon\r\n|login  : desdemon\r\n|level  : 1",
    "tdstart 7 .2",
    "history 0 desdemon",
    "stored 0 desdemon",
    "stored 1 desdemon\r\n|.4       21 Nov 2026 09:36:07 bob    desdemon      8:l",
    "+ bob stored",
    "match 0/0",
    "match 1/1\r\n|  .1 1720 bob    1800 desdemon             8  R 1",
    ".1 A 1720 bob: hello",
    f"look\r\n|1 {RECORD % '-64.000:r'}",
    "history 1 desdemon\r\n|.7       22 Nov 2026 00:40:00 1720 bob      1800 desdemon  -64.0 8",
]


@given(st.lists(st.sampled_from(NEWS), max_size=25), st.randoms(use_true_random=False))
def test_whatever_is_told_in_whatever_order(news: list[str], rng: random.Random) -> None:
    """Nothing is raised, each game of ours has one life at a time, and what ends has begun."""
    story = Story(known("f5", "d6"))
    live: set[str] = set()
    for text in news:
        story.now_s += rng.choice([0.1, 70.0])
        story.on_message(text)
        if rng.random() < 0.1:
            story.raw(rng.choice([": - /os 1", ": + /os 1", ": + bob 1"]))
        if rng.random() < 0.1:
            story.out += story.lost("gone") + story.connected(story.now_s)
        story.out += story.tick(story.now_s)
        for output in story.take():
            match output:
                case Tell(GameStarted(game_id)):
                    assert game_id not in live
                    live.add(game_id)
                case TellGame(game_id, GameAdjourned()):
                    live.discard(game_id)  # or one that was away already
                case TellGame(game_id, GameState(end=GameEnd())):
                    live.discard(game_id)  # also one that was away
                case _:
                    pass
        assert set(story.account.games.playing) <= live
    for game_id in live:
        found = story.account.games.by_id.get(game_id)
        assert found is None or story.account.games.first_event(game_id, story.now_s)


class Ledger:
    """What was told about challenges and games: each begins and ends in turn."""

    def __init__(self) -> None:
        self.challenges: set[str] = set()
        self.seen: set[str] = set()
        self.playing: set[str] = set()
        self.finished: set[str] = set()

    def take(self, actions: list[GgsAction]) -> None:
        for action in actions:
            match action:
                case Tell(ChallengeReceived(challenge)):
                    assert challenge.id not in self.seen
                    self.seen.add(challenge.id)
                    self.challenges.add(challenge.id)
                case Tell(ChallengeGone(key)):
                    self.challenges.discard(key)  # or a request that was no challenge
                case Tell(GameStarted(game_id)):
                    assert game_id not in self.playing | self.finished
                    self.playing.add(game_id)
                case TellGame(game_id, GameAdjourned()):
                    self.playing.discard(game_id)
                case TellGame(game_id, GameState(end=GameEnd())):
                    assert game_id in self.playing
                    self.playing.discard(game_id)
                    self.finished.add(game_id)
                case _:
                    pass


@given(st.lists(st.sampled_from(NEWS), max_size=30), st.randoms(use_true_random=False))
def test_every_life_ends_once(news: list[str], rng: random.Random) -> None:
    """Also among our own requests and lost links; after the last link nothing is left over."""
    story, ledger, attempts = Story(known("f5", "d6")), Ledger(), []
    for text in news:
        story.now_s += rng.choice([0.1, 70.0])
        story.on_message(text)
        ledger.take(story.take())
        match rng.randrange(8):
            case 0:
                story.out += story.lost("gone") + story.connected(story.now_s)
            case 1:
                story.raw(rng.choice([": - /os 1", ": + /os 1", ": + bob 1"]))
            case 2:
                attempt, out = story.ask("bob", "8", FIVE, rated=True)
                attempts.append(attempt)
                story.out += out
            case 3 if attempts:
                story.out += story.cancel(rng.choice(attempts))
            case 4 if ledger.challenges:
                key = rng.choice(sorted(ledger.challenges))
                if all(attempt.key != key for attempt in attempts):
                    attempt, out = story.accept(key)
                    attempts.append(attempt)
                    story.out += out
            case 5 if ledger.playing:
                with suppress(RefusedError):
                    story.out += story.play(rng.choice(sorted(ledger.playing)), "d6", None)
            case _:
                pass
        story.out += story.tick(story.now_s)
        ledger.take(story.take())
    ledger.take(story.lost("gone"))
    assert (ledger.challenges, ledger.playing, story.account.games.playing) == (set(), set(), [])
    # An answer to a later command shows that those before it were lost: the caller's patience ends them.
    assert all(attempt.is_settled or not attempt.key for attempt in attempts)
    left = story.account
    assert not any((left.games.live, left.matches.by_id, left._challenges._resuming))
    assert len(left.requests) == 0
