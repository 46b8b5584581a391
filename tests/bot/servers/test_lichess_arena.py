"""The adapter at the real arena: a whole game against a person on the other side of the same API."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.arena.server import Arena
from bot.base.config import ArenaConfig
from bot.base.dialects import DIALECTS
from bot.base.errors import RefusedError
from bot.base.events import (
    ChallengeReceived,
    Clock,
    DeclineReason,
    EndReason,
    GameEvent,
    GameFinished,
    GameSnapshot,
    GameStarted,
    GameState,
    Proposal,
    Reply,
)
from bot.base.reconnect import stay_connected
from bot.servers.lichess import LichessServer
from engine.game import replay
from engine.games import get_rules
from engine.opponents.odds import gives_odds, odds_named
from storage.database import Database
from tests.patience import PATIENCE_S

OTHELLO = get_rules("othello")


def random_move(moves: tuple[str, ...], side: int, rng: random.Random) -> str | None:
    """A legal move for the side; None when it is not its turn or the game is over."""
    position = replay(OTHELLO, moves)
    legal = OTHELLO.legal_moves(position)
    if not legal or OTHELLO.side_to_move(position) != side:
        return None
    return OTHELLO.move_text(rng.choice(legal))


class Person:
    """Plays through the person's side of the arena, as its page does."""

    def __init__(self, http: aiohttp.ClientSession, rng: random.Random) -> None:
        self._http = http
        self._rng = rng
        self.states: list[dict[str, Any]] = []
        self.chat: list[str] = []

    async def arrive(self, name: str) -> None:
        async with self._http.post("/api/person", json={"name": name}) as response:
            assert response.status == 201, await response.text()
            token = (await response.json())["token"]
        self._http.headers["Authorization"] = f"Bearer {token}"

    async def challenge(self, bot: str) -> str:
        form = {"rated": "true", "clock.limit": "300", "clock.increment": "3", "color": "black"}
        async with self._http.post(f"/api/challenge/{bot}", data=form | {"variant": "othello"}) as response:
            assert response.status in (200, 201), await response.text()
            told = await response.json()
        return str(told.get("challenge", told)["id"])

    async def play(self, game_id: str) -> None:
        moved = -1
        async with self._http.get(f"/api/board/game/stream/{game_id}") as response:
            assert response.status == 200, await response.text()
            async for line in response.content:
                message = json.loads(line) if line.strip() else {}
                if message.get("type") == "chatLine":
                    self.chat.append(message["text"])
                state = message["state"] if message.get("type") == "gameFull" else message
                if state.get("type") != "gameState":
                    continue
                self.states.append(state)
                moves = tuple(state["moves"].split())
                move = random_move(moves, 0, self._rng)
                if move is not None and len(moves) > moved and state["status"] == "started":
                    moved = len(moves)
                    path = f"/api/board/game/{game_id}/move/{move}?ply={moved}"
                    async with self._http.post(path) as answer:
                        assert answer.status == 200, await answer.text()


class Bot:
    """The least program that can play through the adapter."""

    def __init__(self, server: LichessServer, rng: random.Random) -> None:
        self._server = server
        self._rng = rng
        self.snapshots: list[GameSnapshot] = []
        self.states: list[GameState] = []
        self.refused: list[RefusedError] = []
        self.started = asyncio.Event()
        self.over = asyncio.Event()
        self.finished: list[GameFinished] = []

    async def lobby(self, event: Any) -> None:
        match event:
            case ChallengeReceived(challenge):
                assert challenge.game == "othello"
                assert challenge.rated
                await self._server.accept(challenge.id)
            case GameStarted(_, is_played_here):
                assert is_played_here
                self.started.set()
            case GameFinished():
                self.finished.append(event)
                self.over.set()

    async def handle(self, event: GameEvent) -> None:
        match event:
            case GameSnapshot(game_id=game_id, state=state):
                self.snapshots.append(event)
                if len(self.snapshots) == 1:
                    await self._server.chat(game_id, "good luck")
            case GameState():
                state = event
            case _:
                return
        self.states.append(state)
        side = self.snapshots[-1].our_side
        move = random_move(state.moves, side, self._rng) if state.end is None else None
        if move is None or any(len(state.moves) == len(old.moves) for old in self.states[:-1]):
            return
        await self._server.move(self.snapshots[-1].game_id, move)
        # The same again is out of turn, as after an answer that was lost.
        try:
            await self._server.move(self.snapshots[-1].game_id, move)
        except RefusedError as error:
            self.refused.append(error)


async def cut_short(events: AsyncIterator[GameEvent | None], count: int) -> AsyncIterator[GameEvent | None]:
    """A link that is lost after some events."""
    async for event in events:
        yield event
        count -= event is not None
        if not count:
            return


async def no_wait(_: float) -> None:
    await asyncio.sleep(0)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await Database.open(f"sqlite:///{tmp_path / 'arena.db'}")
    yield database
    await database.close()


async def test_a_whole_game_at_the_arena(database: Database) -> None:
    arena = Arena(ArenaConfig(port=0), database)
    async with asyncio.timeout(PATIENCE_S), arena.running() as url:
        token = await arena.accounts.ensure_bot("Desdemona")
        server = LichessServer(DIALECTS["arena"], url, token)
        bot = Bot(server, random.Random(1))
        account = await server.account()
        assert (account.name, account.is_bot) == ("Desdemona", True)
        async with aiohttp.ClientSession(url) as http, asyncio.TaskGroup() as tasks:
            person = Person(http, random.Random(2))
            await person.arrive("Ann")
            lobby = tasks.create_task(
                stay_connected(server.account_events, bot.lobby, name="lobby", sleep=no_wait)
            )
            game_id = await person.challenge(account.id)
            await bot.started.wait()
            assert await server.running_game_ids() == [game_id]
            cuts = iter([5, 9])
            playing: Awaitable[None] = stay_connected(
                lambda: cut_short(server.game_events(game_id), next(cuts, 1000)),
                bot.handle,
                name="game",
                done=lambda: bool(bot.states) and bot.states[-1].end is not None,
                sleep=no_wait,
            )
            await asyncio.gather(person.play(game_id), playing)
            await bot.over.wait()
            lobby.cancel()
        export = await server.export(game_id)
        diff = await server.rating_diff(game_id, account.name)
        assert await server.running_game_ids() == []
        # A finished game can still be read: that is how its end is learned after an absence.
        again = [event async for event in server.game_events(game_id) if event is not None]
        await server.close()

    final = bot.states[-1]
    assert len(bot.snapshots) == 3
    assert all(snapshot.our_side == 1 for snapshot in bot.snapshots)
    position = replay(OTHELLO, final.moves)
    assert OTHELLO.legal_moves(position) == ()
    assert final.end is not None
    assert final.end.reason is EndReason.NORMAL
    margin = OTHELLO.result_centi(position)
    to_move = OTHELLO.side_to_move(position)
    assert final.end.winner == (None if margin == 0 else to_move if margin > 0 else 1 - to_move)
    assert bot.refused
    assert {error.status for error in bot.refused} == {400}
    assert export["moves"].split() == list(final.moves)
    assert person.states[-1]["moves"].split() == list(final.moves)
    assert "good luck" in person.chat
    assert bot.finished == [GameFinished(game_id, bot.finished[0].rating_diff)]
    assert bot.finished[0].rating_diff is not None
    assert diff == bot.finished[0].rating_diff
    assert isinstance(again[0], GameSnapshot)
    assert again[0].state.moves == final.moves
    assert again[0].state.end == final.end


# --- Two programs ---------------------------------------------------------------------------------------

START_960 = "bqnnrkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNNRKRB w KQkq - 0 1"
"""Both can castle at once."""


@asynccontextmanager
async def two_programs(database: Database) -> AsyncIterator[tuple[LichessServer, LichessServer]]:
    arena = Arena(ArenaConfig(port=0), database)
    async with asyncio.timeout(PATIENCE_S), arena.running() as url:
        both = [
            LichessServer(DIALECTS["arena"], url, await arena.accounts.ensure_bot(name))
            for name in ("Iago", "Desdemona")
        ]
        try:
            yield both[0], both[1]
        finally:
            for server in both:
                await server.close()


async def listen(server: LichessServer, reason: DeclineReason | None, heard: asyncio.Event) -> None:
    """Answer every challenge of somebody else."""
    async for event in server.account_events():
        heard.set()
        if isinstance(event, ChallengeReceived) and not event.challenge.is_ours:
            if reason is None:
                await server.accept(event.challenge.id)
            else:
                await server.decline(event.challenge.id, reason)


async def answered(
    iago: LichessServer,
    desdemona: LichessServer,
    variant: str,
    reason: DeclineReason | None,
    terms: Proposal | None = None,
) -> Reply:
    """What Iago hears when Desdemona answers so."""
    heard = asyncio.Event(), asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        listening = [
            tasks.create_task(listen(server, reason, each))
            for server, each in zip((iago, desdemona), heard, strict=True)
        ]
        for each in heard:
            await each.wait()
        assert {bot.id for bot in await iago.online_bots()} == {"iago", "desdemona"}
        reply = await iago.challenge("desdemona", terms or Proposal(variant, False, Clock(300, 3)))
        for task in listening:
            task.cancel()
    return reply


async def test_a_declined_challenge(database: Database) -> None:
    async with two_programs(database) as (iago, desdemona):
        reply = await answered(iago, desdemona, "standard", DeclineReason.TOO_FAST)
        assert (reply.accepted, reply.reason) == (False, "declined")


@pytest.mark.parametrize(
    ("variant", "moves"),
    [
        ("standard", ("e2e4", "e7e5", "g1f3", "g8f6", "f1e2", "f8e7", "e1g1", "e8g8", "f1e1")),
        ("chess960", ("f1g1", "f8g8", "g2g3")),
    ],
)
async def test_castling_is_told_and_played_in_our_words(
    database: Database, monkeypatch: pytest.MonkeyPatch, variant: str, moves: tuple[str, ...]
) -> None:
    monkeypatch.setattr("bot.arena.referee.random_start", lambda: START_960)
    async with two_programs(database) as (iago, desdemona):
        reply = await answered(iago, desdemona, variant, None)
        assert (reply.accepted, reply.reason) == (True, "accepted")
        servers: list[tuple[int, LichessServer]] = []
        streams = [server.game_events(reply.challenge_id) for server in (iago, desdemona)]
        for server, stream in zip((iago, desdemona), streams, strict=True):
            assert await anext(stream) is None
            snapshot = await anext(stream)
            assert isinstance(snapshot, GameSnapshot)
            assert (snapshot.variant, snapshot.game) == (variant, "chess")
            assert snapshot.initial_position == (None if variant == "standard" else START_960)
            servers.append((snapshot.our_side, server))
        for plies in range(len(moves)):
            await dict(servers)[plies % 2].move(reply.challenge_id, moves[plies])
            for stream in streams:
                assert (await until_moved(stream, plies + 1)).moves == moves[: plies + 1]
        assert all(server.lag_s > 0 for _, server in servers)
        await iago.resign(reply.challenge_id)
        for stream in streams:
            await stream.aclose()


@pytest.mark.parametrize(
    ("variant", "odds", "moves"),
    [
        ("standard", "queen", ("e2e4", "e7e5")),
        ("othello", "2-corners", ("d3", "c5")),
        ("xiangqi", "horse", ("h3e3", "h8e8")),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
async def test_a_game_at_odds(
    database: Database, variant: str, odds: str, moves: tuple[str, ...], side: int
) -> None:
    """Whoever challenges gives them, and both programs play from the same position."""
    game = DIALECTS["arena"].variants[variant].game
    given = odds_named(game, odds)
    assert given is not None
    terms = Proposal(variant, False, Clock(300, 3), side, given.starts[side])
    async with two_programs(database) as (iago, desdemona):
        reply = await answered(iago, desdemona, variant, None, terms)
        assert (reply.accepted, reply.reason) == (True, "accepted")
        servers: dict[int, LichessServer] = {}
        for server in (iago, desdemona):
            stream = server.game_events(reply.challenge_id)
            assert await anext(stream) is None
            snapshot = await anext(stream)
            assert isinstance(snapshot, GameSnapshot)
            assert (snapshot.game, snapshot.initial_position) == (game, given.starts[side])
            assert gives_odds(game, snapshot.initial_position, snapshot.our_side) == (server is iago)
            servers[snapshot.our_side] = server
            await stream.aclose()
        for ply, move in enumerate(moves):
            await servers[ply % 2].move(reply.challenge_id, move)


async def until_moved(stream: AsyncIterator[GameEvent | None], plies: int) -> GameState:
    async for event in stream:
        if isinstance(event, GameState) and len(event.moves) >= plies:
            return event
    raise AssertionError


async def test_a_person_becomes_a_program(database: Database) -> None:
    arena = Arena(ArenaConfig(port=0, open_bots=True), database)
    async with asyncio.timeout(PATIENCE_S), arena.running() as url, aiohttp.ClientSession(url) as http:
        person = Person(http, random.Random(1))
        await person.arrive("Cassio")
        server = LichessServer(DIALECTS["arena"], url, http.headers["Authorization"].removeprefix("Bearer "))
        try:
            account = await server.account()
            assert not account.is_bot
            await server.upgrade()
            assert (await server.account()).is_bot
            with pytest.raises(RefusedError):
                await server.upgrade()
        finally:
            await server.close()
