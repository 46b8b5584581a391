"""Whole games at a stand-in for playstrategy.org, with Fairy-Stockfish's rules (pyffish).

A variant that pyffish does not know ends the process, so their names stand here once.
"""

import asyncio
import json
import random
from typing import Any

import pyffish
import pytest
from aiohttp import web

from bot.base.dialects import DIALECTS
from bot.base.events import EndReason, GameEnd, GameSnapshot, GameState
from bot.servers.lichess import LichessServer
from engine.game import Game, replay
from engine.games import get_rules
from tests.patience import PATIENCE_S

FLIPELLO, XIANGQI = "flipello", "xiangqi"
assert {FLIPELLO, XIANGQI} <= set(pyffish.variants())

GAME_ID = "abcd1234"
MAX_PLIES = 80


class Site:
    """One game, in which a random player answers every move at once."""

    def __init__(self, variant: str, bots_player: int, seed: int) -> None:
        self.variant = variant
        self.start = pyffish.start_fen(variant)
        self.moves: list[str] = []
        self.refused: list[str] = []
        self._legal_after: dict[int, list[str]] = {}
        """By the number of moves made."""
        self._bots_player = bots_player
        self._rng = random.Random(seed)
        self._states: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/api/account", self._account)
        app.router.add_get("/api/bot/game/stream/{game}", self._stream)
        app.router.add_post("/api/bot/game/{game}/move/{move}", self._move)
        return app

    async def _account(self, _: web.Request) -> web.Response:
        return web.json_response({"id": "desdemona", "username": "Desdemona", "title": "BOT"})

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        players = [{"id": "ann", "name": "Ann", "rating": 1500, "provisional": True}] * 2
        players[self._bots_player] = {"id": "desdemona", "name": "Desdemona", "title": "BOT", "rating": 1500}
        self._let_the_other_move()
        full = {
            "id": GAME_ID,
            "variant": {"key": self.variant, "name": "x", "short": "x", "lib": 2, "boardSize": {"key": "x"}},
            "clock": {"initial": 300_000, "increment": 0, "clockType": "fischer"},
            "speed": "blitz",
            "perf": {"name": "x"},
            "rated": True,
            "createdAt": 1745112707998,
            "p1": players[0],
            "p2": players[1],
            "initialFen": "startpos",
            "type": "gameFull",
            "state": self._state(),
        }
        await response.write(json.dumps(full).encode() + b"\n")
        while True:
            state = await self._states.get()
            await response.write(json.dumps(state).encode() + b"\n")
            if state["status"] != "started":
                return response

    async def _move(self, request: web.Request) -> web.Response:
        move = request.match_info["move"]
        if len(self.moves) % 2 != self._bots_player or move not in self._legal():
            self.refused.append(move)
            return web.json_response({"error": "Not your turn, or game already over"}, status=400)
        self._play(move)
        self._let_the_other_move()
        return web.json_response({"ok": True})

    def _legal(self) -> list[str]:
        plies = len(self.moves)
        if plies not in self._legal_after:  # asked several times a move, and it plays all moves anew
            self._legal_after[plies] = list(pyffish.legal_moves(self.variant, self.start, self.moves))
        return self._legal_after[plies]

    def _is_over(self) -> bool:
        """As the site has it: both would have to pass, or the rules say so."""
        if len(self.moves) >= MAX_PLIES or not self._legal():
            return True
        if self.variant == XIANGQI:
            return bool(pyffish.is_optional_game_end(self.variant, self.start, self.moves)[0])
        passed = [*self.moves, self._legal()[0]]
        return all(
            "@" not in move for move in (*self._legal(), *pyffish.legal_moves(FLIPELLO, self.start, passed))
        )

    def _play(self, move: str) -> None:
        self.moves.append(move)
        self._states.put_nowait(self._state())

    def _let_the_other_move(self) -> None:
        if len(self.moves) % 2 != self._bots_player and not self._is_over():
            self._play(self._rng.choice(sorted(self._legal())))

    def _state(self) -> dict[str, Any]:
        state = {
            "type": "gameState",
            "moves": " ".join(self.moves),
            "activeplayer": f"p{len(self.moves) % 2 + 1}",
            "wtime": 300_000,
            "btime": 300_000,
            "winc": 0,
            "binc": 0,
            "wdraw": False,
            "bdraw": False,
            "status": "started",
            "abortable": len(self.moves) < 2,
            "selectedsquares": None,
        }
        return state | ({"status": "variantEnd", "winner": "p1"} if self._is_over() else {})


async def play(server: LichessServer, game: Game[Any], seed: int) -> list[GameState]:
    """Random moves until the site ends the game."""
    rng, states, side = random.Random(seed), list[GameState](), -1
    async for event in server.game_events(GAME_ID):
        if isinstance(event, GameSnapshot):
            states, side = [event.state], event.our_side
        elif isinstance(event, GameState):
            states.append(event)
        else:
            continue
        position = replay(game, states[-1].moves)
        legal = game.legal_moves(position)
        is_new = all(len(state.moves) < len(states[-1].moves) for state in states[:-1])
        if is_new and states[-1].end is None and legal and game.side_to_move(position) == side:
            await server.move(GAME_ID, game.move_text(rng.choice(legal)))
    return states


@pytest.mark.parametrize(
    ("variant", "seed"),
    [
        (FLIPELLO, 2),  # the bot passes, as player 1
        (FLIPELLO, 7),  # the other passes, and begins
        (FLIPELLO, 9),  # the bot passes, as player 2
        (XIANGQI, 0),
    ],
)
async def test_whole_games(variant: str, seed: int) -> None:
    game = get_rules(DIALECTS["playstrategy"].variants[variant].game)
    site = Site(variant, seed % 2, seed)
    runner = web.AppRunner(site.app(), shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    server = LichessServer(DIALECTS["playstrategy"], f"http://{host}:{port}", "ps_token")
    try:
        async with asyncio.timeout(PATIENCE_S):
            states = await play(server, game, seed)
    finally:
        await server.close()
        await runner.cleanup()
    assert site.refused == []
    assert len(states[-1].moves) == len(site.moves) > 20
    assert states[-1].end == GameEnd(EndReason.NORMAL, 0, "variantEnd")
    if variant == FLIPELLO:
        assert game.legal_moves(replay(game, states[-1].moves)) == ()
