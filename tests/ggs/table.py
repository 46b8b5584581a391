"""The whole bot on the fake server: its lobby and adapter, a real database, and a scripted opponent."""

import asyncio
import re
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.account.lobby import Lobby
from bot.base.config import ChallengesConfig, EngineConfig
from bot.base.dialects import get_dialect
from bot.daemon.games_to_resume import games_to_resume
from bot.servers.ggs.server import GgsServer
from bot.servers.recording import Recorder
from engine.game import replay
from engine.games import get_rules
from engine.verification import verify
from storage.database import Database
from storage.filters import Filters
from storage.ledger.decisions import list_decisions
from storage.ledger.games import list_games
from storage.records import AccountKey, DecisionState, GameStatus, StoredDecision, StoredGame
from tests.bot.fakes import config, services
from tests.ggs.client import Client, Habits, Over, Seat
from tests.ggs.faults import MoveCodec, Plan, Strike
from tests.ggs.server import FakeGgs

BOT = "Desde"
PASSWORD = "secret"


class Watched(FakeGgs):
    """Keeps what the service refuses the bot, and every move that it takes from it."""

    def __init__(self, plan: Plan | None = None, **options: Any) -> None:
        super().__init__(plan, **options)
        self.refused: list[str] = []
        service = self.central.service
        send = service._send

        def told(name: str, text: str) -> None:
            if name == BOT and text.startswith(("error ", "ERR match")):
                self.refused.append(text)
            send(name, text)

        service._send = told


class Table:
    """One bot, one opponent at a time, and what the opponent saw."""

    def __init__(self, server: Watched, port: int, database: Database, lobby: Lobby) -> None:
        self.server = server
        self.port = port
        self.database = database
        self.lobby = lobby
        self.over: list[Over] = []

    async def sit(self, habits: Habits | None = None, name: str = "anna", *, rated: bool = True) -> Client:
        """Somebody who is there to play."""
        client = Client(name, PASSWORD, habits)
        await client.connect(
            self.port,
            commands=("tell /os open 5", f"tell /os rated {'+' if rated else '-'}", "tell /os stored +"),
        )
        return client

    async def until_there(self) -> None:
        """The bot is logged in and has said what it takes."""
        service = self.server.central.service
        # Time flies while everybody waits, but each waiting costs a moment.
        while BOT not in service.present or service.players[BOT].open == 0:  # noqa: ASYNC110
            await asyncio.sleep(30)

    async def play(self, client: Client, what: str, patience_s: float = 50_000.0) -> Over:
        """A match that the client asks for, to its end however often it is interrupted."""
        before = len(client.over)
        async with asyncio.timeout(patience_s):
            while True:
                await self.until_there()
                await self._try(client, f"ask {what} {BOT}")
                if len(client.over) > before or client.seats or await self._stored(client):
                    break
            while True:
                await self._wait(client)
                stored = await self._stored(client)
                if not stored and client.is_connected and not client.seats:
                    break
                await self.until_there()
                if stored and not client.seats:
                    await self._try(client, f"ask {stored[0]}")
            ended = [
                over for over in client.over[before:] if not (over.outcome.endswith("left") and over.key)
            ]
            if not ended and client.abandoned and client.abandoned[-1].flag == "U":
                ended = [client.abandoned[-1]]
            self.over += ended
            await self.lobby.wait_until_drained()
        assert ended, f"{what} has left nothing"
        return ended[-1]

    async def _try(self, client: Client, wish: str) -> None:
        """Ask, and see whether anything comes of it."""
        await self._connect(client)
        before = len(client.over)
        client.os(wish)
        with suppress(TimeoutError):
            await client.until(
                lambda: bool(client.seats) or len(client.over) > before or not client.is_well, 30
            )

    async def _wait(self, client: Client) -> None:
        """While there is a match."""
        while client.seats and client.is_well:
            with suppress(TimeoutError):
                await client.until(lambda: not client.seats or not client.is_well, 600)

    async def _stored(self, client: Client) -> list[str]:
        """Keys of what can be taken up."""
        while True:
            await self._connect(client)
            with suppress(TimeoutError):
                stored = await client.answer("stored", 30)
                # An error may answer an earlier wish.
                if stored.startswith("/os: stored"):
                    return re.findall(r"(?m)^\|(\.\d+)", stored)

    async def _connect(self, client: Client) -> None:
        while not self.server.central.service_is_up:  # noqa: ASYNC110
            await asyncio.sleep(30)
        if not client.is_connected:
            await client.connect(self.port, commands=("tell /os open 5", "tell /os stored +"))

    async def troubles(self) -> list[str]:
        """What is wrong in the books, held against what the opponents saw."""
        return [line async for line in troubles(self.database, self.over)]


@asynccontextmanager
async def laid(
    path: Path,
    *strikes: Strike,
    plan: Plan | None = None,
    seed: int = 0,
    depth: int = 2,
    people: tuple[str, ...] = ("anna", "bert"),
    recorder: Recorder | None = None,
    **options: Any,
) -> AsyncIterator[Table]:
    """Opens everything, in a virtual event loop; `path` is a migrated database."""
    server = Watched(plan or MoveCodec(*strikes), seed=seed, **options)
    for name in (BOT, *people):
        server.central.register(name, PASSWORD)
    database = await Database.open(f"sqlite:///{path}", upgrade=False)
    loop = asyncio.get_running_loop()
    settings = config(
        engine=EngineConfig(max_depth=depth, workers=1, table_mb=1),
        challenges=ChallengesConfig(max_games=4, max_games_per_opponent=4, max_games_per_bot_per_day=1000),
    )
    async with server.running() as port:
        adapter = GgsServer(
            get_dialect("ggs"),
            f"ggs://127.0.0.1:{port}",
            BOT,
            PASSWORD,
            recall=lambda: games_to_resume(database, AccountKey("ggs", BOT.lower())),
            clock=loop.time,
            recorder=recorder,
            now=lambda: datetime.fromtimestamp(server.central.seconds(), UTC),
        )
        if recorder is not None:  # as the program does it
            await adapter.account()
        try:
            async with services(adapter, database, sleep=asyncio.sleep, settings=settings) as shared:
                lobby = Lobby(replace(shared, clock=loop.time))
                listening = asyncio.create_task(lobby.listen())
                table = Table(server, port, database, lobby)
                try:
                    yield table
                finally:
                    listening.cancel()
                    await asyncio.wait([listening])
                assert listening.cancelled() or listening.exception() is None
        finally:
            await adapter.close()
            await database.close()


def empty_database(path: Path) -> Path:
    """A database of the newest schema, without a row."""

    async def make() -> None:
        await (await Database.open(f"sqlite:///{path}")).close()

    asyncio.run(make())
    return path


def copied(template: Path, folder: Path) -> Path:
    """One for a test of its own."""
    shutil.copy(template, folder / "ggs.db")
    return folder / "ggs.db"


# --- The books -------------------------------------------------------------------------------------------


def as_ours(move: str) -> str:
    """A move as the server writes it in our own notation."""
    text = move.split("/")[0].lower()
    return "pass" if text.startswith("pa") else text


async def troubles(
    database: Database, over: list[Over], bot: str = BOT, site: str = "ggs"
) -> AsyncIterator[str]:
    """One line for each thing that is wrong.

    Args:
        database: The bot's.
        over: Matches as its opponents saw them: each board must have its game in the books, and none besides.
        bot: The bot's name.
        site: Key of the server.
    """
    async with database.read() as session:
        games = await list_games(session, Filters(site=site), limit=100_000)
        decisions = {game.id: await list_decisions(session, game.id) for game in games}
    left = list(games)
    # Where anything near may fit, let others have theirs first.
    for match in sorted(over, key=lambda match: match.outcome.endswith("left")):
        for seat in match.seats:
            moves = tuple(as_ours(move) for move in seat.moves)
            side = 0 if seat.black == bot else 1
            # Of a match that ended because somebody left, each may have seen a little more than the other.
            more = 3 if match.outcome.endswith("left") else 0
            fits = [
                game
                for game in left
                if (game.our_side, _rows(game)) == (side, "".join(seat.start.split()[1:-1]))
                and all(ours == theirs for ours, theirs in zip(game.moves, moves, strict=False))
                and abs(len(game.moves) - len(moves)) <= more
                and game.opponent_name == (seat.white if side == 0 else seat.black)
            ]
            if not fits and more and not moves[side::2]:
                continue  # the bot had gone before it heard of the game, in which there is nothing of it
            if not fits:
                yield f"{match.id} {match.kind} {match.outcome}: no game with {len(moves)} moves, side {side}"
                continue
            game = min(fits, key=lambda game: abs(len(game.moves) - len(moves)))
            left.remove(game)
            for line in _wrong(game, decisions[game.id], match, seat, bot):
                yield f"{game.site_game_id} ({match.kind} {match.outcome}): {line}"
    for game in left:
        # Nothing is lost with a match that was given up before its first move.
        if game.moves or game.state is GameStatus.OPEN:
            yield f"{game.site_game_id}: {game.state} with {len(game.moves)} moves, which nobody has played"


def _rows(game: StoredGame) -> str:
    """Where a game began, as the server writes it."""
    rules = get_rules("othello")
    start = rules.initial() if not game.initial_position else rules.parse_position(game.initial_position)
    return "".join(rules.board_rows(start)).translate(str.maketrans("bw.", "*O-"))


def _wrong(
    game: StoredGame, decisions: list[StoredDecision], match: Over, seat: Seat, bot: str
) -> Iterator[str]:
    side = 0 if seat.black == bot else 1
    rules = get_rules("othello")
    start = rules.initial() if not game.initial_position else rules.parse_position(game.initial_position)
    end = replay(rules, game.moves, start)
    is_over = not rules.legal_moves(end)
    if (match.outcome == "aborted" or match.outcome.endswith("left")) and not is_over:
        if game.state is not GameStatus.ABORTED:
            yield f"is {game.state}, should be aborted"
    else:
        if game.state is not GameStatus.FINISHED:
            yield f"is {game.state}, should be finished"
        elif is_over:
            lead = seat.board.blacks_result * (1 if side == 0 else -1)
            margin = rules.result_centi(end) * (1 if rules.side_to_move(end) == side else -1)
            wanted = "win" if lead > 0 else "loss" if lead < 0 else "draw"
            if game.result != wanted or (margin > 0) - (margin < 0) != (lead > 0) - (lead < 0):
                yield f"is a {game.result}; {lead} discs are a {wanted}"
        else:
            ahead = float(match.outcome) * (1 if match.first == bot else -1)
            if game.result != ("win" if ahead > 0 else "loss"):
                yield f"is a {game.result}, though {match.outcome}"
    played = [each for each in decisions if each.state is not DecisionState.DROPPED]
    counted = Counter(each.ply for each in played)
    yield from (f"ply {ply}: decided {count} times" for ply, count in counted.items() if count > 1)
    position = start
    for ply, text in enumerate(game.moves):
        if rules.side_to_move(position) == side and ply not in counted:
            yield f"ply {ply}: no decision for {text}"
        position = rules.play(position, rules.parse_move(position, text))
    for each in played:
        verify(each.decision)
        if each.ply >= min(len(seat.moves), len(game.moves)) and match.outcome.endswith("left"):
            continue  # it may have been on its way
        if each.ply >= len(game.moves) or game.moves[each.ply] != each.decision.move:
            yield f"ply {each.ply}: {each.state}: decided {each.decision.move}, which was not played"
        elif each.state is not DecisionState.CONFIRMED:
            yield f"ply {each.ply}: is {each.state}"
