"""The games that go on: what the board shows, which bait is armed, and whether our move is late."""

from dataclasses import replace

import pytest

from bot.control.live_games import live_games
from bot.game.game_runner import GameRunner
from bot.game.session import Session, SessionState
from bot.views.board_cards import board_card
from engine.human.reply_forecast import Bait
from engine.judge import ReplyCost
from storage.database import Database
from tests.bot.control.rig import opened_rig
from tests.bot.fakes import GAME_ID, FakeServer, services


async def test_the_last_move_and_the_bait(database: Database) -> None:
    server = FakeServer()
    async with opened_rig(server, database) as rig:
        await rig.playing(server, 1)
        player = rig.lobby.player(GAME_ID)
        assert player is not None
        (game,) = live_games("home", rig.lobby)
        rules = server.rules
        moved = rules.move_squares(rules.parse_move(rules.initial(), server.moves[0]))
        assert (game.last_move, game.our_side, game.our_turn, game.overdue_s) == (moved, 0, False, None)
        position = rules.parse_position(game.position)
        reply = rules.legal_moves(position)[0]
        text = rules.move_text(reply)
        bait = Bait(text, 0.25, ReplyCost(text, -200, 1234, 12, is_solved=False))
        player._pending_bait = 0, bait
        (game,) = live_games("home", rig.lobby)
        assert game.bait is not None
        assert game.bait.squares == rules.move_squares(reply)
        assert (game.bait.reply, game.bait.probability, game.bait.cost) == (
            rules.move_name(position, reply),
            0.25,
            0.1234,
        )
        player._pending_bait = 0, replace(bait, reply=server.moves[0])  # no legal reply here
        (game,) = live_games("home", rig.lobby)
        assert game.bait is None
        player._pending_bait = 0, bait
        server.reply()
        await rig.playing(server, 3)
        (game,) = live_games("home", rig.lobby)
        assert game.bait is None or game.bait.probability != 0.25  # the reply has come


async def test_a_game_that_is_shown_and_not_stored_yet(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No page may draw a board of which it does not know the game."""
    server = FakeServer()
    async with opened_rig(server, database) as rig:
        await rig.playing(server, 1)
        with monkeypatch.context() as patched:
            patched.setattr(GameRunner, "stored", None)  # the ledger opens the game a moment later
            (game,) = live_games("home", rig.lobby)
    assert (game.game, game.position, game.our_turn, game.last_move) == ("", "", None, ())
    card = board_card(game)
    assert (card.board, card.said) == (None, (("Joining the game.", "saying"),))


async def test_a_late_move(database: Database) -> None:
    async with services(FakeServer(), database) as given:
        now = [100.0]
        given.clock = lambda: now[0]
        player = GameRunner(GAME_ID, given)
        assert player.overdue_s is None  # it has not begun
        player._due = 100.0, 5.0
        assert player.overdue_s is None  # it is not our turn
        player.session = replace(Session(), state=SessionState.THINKING)
        assert player.overdue_s == 0.0
        now[0] = 112.0
        assert player.overdue_s == 7.0
        player.is_adjourned = True
        assert player.overdue_s is None
