"""One game's transitions, without a server."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.arena import game as rules
from bot.arena.game import ArenaRefusal, Instant, ReplayedGame, StaleBoard
from bot.arena.public.downloads import as_file
from bot.arena.variants import VARIANTS, ArenaVariant
from engine.formats.files import GameFormat
from engine.game import replay
from storage.arena.accounts import STARTED, AccountRecord, ArenaGameRecord

AT = datetime(2026, 1, 2, tzinfo=UTC)
NOUGHTS = ArenaVariant("tictactoe", "Tic-tac-toe", "Ttt", "tictactoe", ("white", "black"))
# Black is wiped out after nine moves.
WIPE_OUT = "f5 d6 c5 f4 e3 f6 g5 e6 e7"


def match(moves: str = "", *, variant: ArenaVariant = VARIANTS["othello"], **fields: Any) -> ReplayedGame:
    """A game at one minute plus two seconds a move, whose clocks start at 100 s."""
    players = (AccountRecord("anna", "Anna", False, AT), AccountRecord("bert", "Bert", True, AT))
    record = ArenaGameRecord(
        id="abcdefgh",
        variant=variant.key,
        rated=False,
        initial_s=60,
        increment_s=2,
        players=("anna", "bert"),
        ratings=(1500, 1500),
        provisional=(True, True),
        rematch_of=None,
        moves=tuple(moves.split()),
        remaining_ms=(60_000, 60_000),
        draw_offers=(False, False),
        takeback_offers=(False, False),
        status=STARTED,
        winner=None,
        rating_diffs=None,
        created_at=AT,
        last_move_at=AT,
        ended_at=None,
    )
    return rules.replay_record(replace(record, **fields), variant, players, 100.0)


def play(game: ReplayedGame, moves: str, now: float = 100.0) -> ReplayedGame:
    for move in moves.split():
        game = rules.move(game, game.to_move, move, when=Instant(now, AT))
    return game


def test_clocks_start_after_both_first_moves() -> None:
    game = play(match(), "f5", now=130.0)
    assert game.remaining_ms(150.0) == (60_000, 60_000)
    game = play(game, "d6", now=150.0)
    assert game.remaining_ms(151.5) == (58_500, 60_000)
    game = play(game, "c3", now=155.0)
    assert game.record.remaining_ms == (57_000, 60_000)


def test_a_move_that_arrived_before_the_others_was_applied_gains_no_time() -> None:
    game = play(match("f5 d6"), "c3", now=105.0)
    early = rules.move(game, 1, "d3", when=Instant(103.0, AT))
    assert early.record.remaining_ms == (57_000, 62_000)
    # And the other side is not charged for the time before its turn.
    assert early.remaining_ms(106.0) == (56_000, 62_000)


def test_time_runs_out() -> None:
    game = match("f5 d6")
    assert game.deadline(30.0) == 160.0
    with pytest.raises(ArenaRefusal, match="time is up"):
        rules.move(game, 0, "c3", when=Instant(160.0, AT))
    over = rules.end_by_deadline(game, when=Instant(160.0, AT))
    assert (over.record.status, over.record.winner, over.record.remaining_ms) == ("outoftime", 1, (0, 60_000))


def test_a_first_move_that_never_comes() -> None:
    assert match("f5").deadline(30.0) == 130.0
    assert match("f5").deadline(0.0) is None
    over = rules.end_by_deadline(match("f5"), when=Instant(130.0, AT))
    assert (over.record.status, over.record.winner, over.record.ended_at) == ("aborted", None, AT)


def test_without_a_clock_a_move_may_take_a_day() -> None:
    game = match("f5 d6", initial_s=None, increment_s=None, remaining_ms=None)
    assert game.remaining_ms(5000.0) is None
    assert game.deadline(30.0) == 100.0 + 24 * 3600


@pytest.mark.parametrize(
    ("side", "move", "error"),
    [
        (1, "f5", "Not your turn, or game already over"),
        (0, "a1", "'a1' is not a legal move here; legal: d3, c4, f5, e6"),
        (0, "pass", "'pass' is not a legal move here; legal: d3, c4, f5, e6"),
        (0, "F5 ", "not a legal move"),
    ],
)
def test_moves_that_are_refused(side: int, move: str, error: str) -> None:
    with pytest.raises(ArenaRefusal, match=error):
        rules.move(match(), side, move, when=Instant(100.0, AT))


def test_a_move_on_a_stale_board() -> None:
    for ply in (0, 2, -1):
        with pytest.raises(StaleBoard, match="the game is at 1"):
            rules.move(match("f5"), 1, "d6", when=Instant(100.0, AT), ply=ply)
    assert rules.move(match("f5"), 1, "d6", when=Instant(100.0, AT), ply=1).record.moves == ("f5", "d6")


def test_a_game_ends_by_its_rules() -> None:
    over = play(match(), WIPE_OUT)
    assert (over.record.status, over.record.winner, over.is_over) == ("variantEnd", 0, True)
    drawn = play(match(variant=NOUGHTS), "a1 b1 c1 b2 a2 c2 b3 a3 c3")
    assert (drawn.record.status, drawn.record.winner) == ("draw", None)
    won = play(match(variant=NOUGHTS), "a1 a2 b1 b2 c1")
    assert (won.record.status, won.record.winner) == ("variantEnd", 0)
    for step in (rules.abort, rules.end_by_deadline):
        with pytest.raises(ArenaRefusal, match="already over"):
            step(over, when=Instant(100.0, AT))
    with pytest.raises(ArenaRefusal, match="already over"):
        rules.move(over, 1, "a1", when=Instant(100.0, AT))


def test_abort_and_resign() -> None:
    assert rules.abort(match("f5"), when=Instant(100.0, AT)).record.status == "aborted"
    assert rules.resign(match("f5"), 1, when=Instant(100.0, AT)).record.status == "aborted"
    with pytest.raises(ArenaRefusal, match="no longer be aborted"):
        rules.abort(match("f5 d6"), when=Instant(100.0, AT))
    over = rules.resign(match("f5 d6"), 1, when=Instant(110.0, AT))
    assert (over.record.status, over.record.winner) == ("resign", 0)
    assert over.record.remaining_ms == (50_000, 60_000)


def test_draw_offers() -> None:
    def answer(game: ReplayedGame, side: int, yes: bool) -> ReplayedGame:
        return rules.answer_draw(game, side, yes=yes, when=Instant(100.0, AT))

    game = match("f5 d6")
    offered = answer(game, 0, True)
    assert offered.record.draw_offers == (True, False)
    assert answer(offered, 0, True) == offered
    assert answer(offered, 1, True).record.status == "draw"
    assert answer(offered, 1, False).record.draw_offers == (False, False)
    with pytest.raises(ArenaRefusal, match="no draw offer"):
        answer(game, 1, False)
    with pytest.raises(ArenaRefusal, match="too early"):
        answer(match("f5"), 1, True)
    # An offer survives the offerer's own move and lapses with the other's.
    moved = rules.move(game, 0, "c3", when=Instant(100.0, AT), draw=True)
    assert moved.record.draw_offers == (True, False)
    assert play(moved, "d3").record.draw_offers == (False, False)
    assert rules.move(moved, 1, "d3", when=Instant(100.0, AT), draw=True).record.status == "draw"


def test_takebacks() -> None:
    def answer(game: ReplayedGame, side: int, yes: bool) -> ReplayedGame:
        return rules.answer_takeback(game, side, yes=yes, when=Instant(110.0, AT))

    game = match("f5 d6 c3")
    asked = answer(game, 0, True)
    assert asked.record.takeback_offers == (True, False)
    assert answer(asked, 1, False).record.takeback_offers == (False, False)
    assert play(asked, "d3").record.takeback_offers == (False, False)
    back = answer(asked, 1, True)
    assert back.record.moves == ("f5", "d6")
    assert back.position == replay(VARIANTS["othello"].rules, ["f5", "d6"])
    assert back.last_squares == ("d6",)
    assert back.record.remaining_ms == (60_000, 50_000)
    # On one's own turn, both the last move and the one before it are taken back.
    longer = play(game, "d3")
    assert answer(answer(longer, 0, True), 1, True).record.moves == ("f5", "d6")
    # Before both have moved, the first may move anew; afterwards the game does not become one to be aborted.
    assert answer(answer(match("f5"), 0, True), 1, True).record.moves == ()
    for begun, side in ((game, 1), (match("f5 d6"), 0), (match("f5 d6"), 1)):
        with pytest.raises(ArenaRefusal, match="first moves cannot be taken back"):
            answer(begun, side, True)
    with pytest.raises(ArenaRefusal, match="You have not moved"):
        answer(match("f5"), 1, True)
    with pytest.raises(ArenaRefusal, match="no takeback"):
        answer(game, 1, False)
    with pytest.raises(ArenaRefusal, match="rated"):
        answer(match("f5 d6 c3", rated=True), 0, True)


def test_a_repeated_takeback_takes_back_no_more() -> None:
    def answer(game: ReplayedGame, side: int, ply: int) -> ReplayedGame:
        return rules.answer_takeback(game, side, yes=True, when=Instant(110.0, AT), ply=ply)

    game = match("f5 d6 c3 d3 c4")
    asked = answer(game, 0, 4)
    assert asked.record.takeback_offers == (True, False)
    assert answer(asked, 1, 3) is asked  # what the other side has not asked for
    back = answer(asked, 1, 4)
    assert back.record.moves == ("f5", "d6", "c3", "d3")
    assert answer(back, 0, 4) is back
    assert answer(back, 1, 4) is back
    # The other side has moved meanwhile: it is the same move of one's own that is taken back.
    assert answer(answer(play(game, "b3"), 0, 4), 1, 4).record.moves == back.record.moves


def long_walk() -> ReplayedGame:
    """A game at chess of 39 plies, without a repetition."""
    moves = "a2a3 a7a6 b2b3 b7b6 c2c3 c7c6 d2d3 d7d6 e2e3 e7e6 f2f3 f7f6 g2g3 g7g6 h2h3 h7h6 "
    moves += "b3b4 b6b5 c3c4 c6c5 d3d4 d6d5 e3e4 e6e5 f3f4 f6f5 g3g4 g6g5 h3h4 h6h5 "
    return match(moves + "a1a2 a8a7 a2a1 a7a8 b1c3 b8c6 c3b1 c6b8 g1f3", variant=VARIANTS["standard"])


def test_a_takeback_in_a_long_game_replays_a_few_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    game = long_walk()
    rules_of_chess, played = type(game.variant.rules), list[str]()
    parse = rules_of_chess.parse_move

    def count(rules: Any, position: Any, text: str) -> Any:
        played.append(text)
        return parse(rules, position, text)

    monkeypatch.setattr(rules_of_chess, "parse_move", count)
    left = len(game.record.moves)
    while left > 2:
        side = 1 - game.to_move
        for answerer in (side, 1 - side):
            game = rules.answer_takeback(game, answerer, yes=True, when=Instant(110.0, AT))
        left -= 1
        assert len(played) <= 16
        played.clear()
        fresh = match(" ".join(game.record.moves), variant=game.variant)
        played.clear()
        for name in ("position", "names", "api_moves", "last_squares", "marks"):
            assert getattr(game, name) == getattr(fresh, name), (left, name)
    assert play(game, "b2b3").names == ("a3", "a6", "b3")


def test_a_game_has_a_greatest_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MAX_GAME_PLIES", 4)
    game = play(match(variant=VARIANTS["standard"]), "e2e4 e7e5 g1f3")
    assert (game.record.status, game.is_drawn_by_length) == (STARTED, False)
    over = play(game, "b8c6")
    assert (over.record.status, over.record.winner, over.record.ended_at) == ("draw", None, AT)
    assert over.ending == "A game may have 4 plies at most."
    assert over.marks == ()
    assert "agreement" not in as_file(over, GameFormat.PGN, "")
    with pytest.raises(ArenaRefusal, match="already over"):
        play(over, "f1b5")
    # Neither an agreed draw nor a game that its rules end with that move.
    monkeypatch.setattr(rules, "MAX_GAME_PLIES", 9)
    agreed = rules.answer_draw(
        match("f5 d6", draw_offers=(True, False)), 1, yes=True, when=Instant(100.0, AT)
    )
    assert (agreed.record.status, agreed.is_drawn_by_length, agreed.ending) == ("draw", False, "")
    won = play(match(), WIPE_OUT)
    assert (won.record.status, won.record.winner, won.is_drawn_by_length) == ("variantEnd", 0, False)


def test_claims() -> None:
    game = match("f5 d6")
    won = rules.claim(game, 0, victory=True, when=Instant(100.0, AT))
    assert (won.record.status, won.record.winner) == ("timeout", 0)
    drawn = rules.claim(game, 0, victory=False, when=Instant(100.0, AT))
    assert (drawn.record.status, drawn.record.winner) == ("draw", None)
    with pytest.raises(ArenaRefusal, match="abort"):
        rules.claim(match("f5"), 1, victory=True, when=Instant(100.0, AT))
    unlimited = match("f5 d6", initial_s=None, increment_s=None, remaining_ms=None)
    with pytest.raises(ArenaRefusal, match="without a clock"):
        rules.claim(unlimited, 0, victory=True, when=Instant(100.0, AT))


def test_a_step_changes_a_copy() -> None:
    game = match("f5 d6")
    play(game, "c3")
    assert game == match("f5 d6")
