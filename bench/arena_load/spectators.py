"""Measures the delay of moves and the cost of watching when a thousand spectators watch one of fifty games.

    python -m bench.arena_load.spectators [--spectators 1000] [--games 50] [--seconds 20]

The arena, all players and all spectators run in three separate processes; each player holds a stream open and
moves every second. There are three rounds: without spectators, with one, and with all of them watching one
game. For each round, the benchmark prints the latency of the players' moves (from request to response), the
delay until spectators receive a move, and the arena's processor time. All traffic stays on the loopback
interface, with client addresses as the documented proxy would forward them.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from bench.arena_load.under_attack import MAX_P95_LATENCY_S, p95, processor_s
from bot.arena.accounts import Accounts
from bot.arena.server import Arena
from bot.arena.variants import VARIANTS
from bot.base.config import ArenaConfig
from storage.database import Database

FORWARDED = "X-Forwarded-For"
VARIANT_KEYS = ("othello", "standard", "xiangqi", "connect4")
MAX_THINKING_S = 1.0
READY = "ready"
CONNECT_TIMEOUT_S = 60.0


@dataclass(slots=True)
class Round:
    """The measurements of one round."""

    spectators: int
    moves_s: list[float] = field(default_factory=list)
    delays_s: list[float] = field(default_factory=list)
    """Time from sending each move until a spectator has read it."""
    busy: float = 0.0
    """Fraction of one core used by the arena."""


@dataclass(slots=True)
class Side:
    """One of the two players of a game."""

    name: str
    token: str
    address: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", FORWARDED: self.address}


class Table:
    """Two players who play one game after another.

    Args:
        http: HTTP client for their requests.
        sides: The two players.
        number: Number of the table.
    """

    def __init__(self, http: aiohttp.ClientSession, sides: tuple[Side, Side], number: int) -> None:
        self._http = http
        self._sides = sides
        self._rng = random.Random(number)
        self.variant = VARIANTS[VARIANT_KEYS[number % len(VARIANT_KEYS)]]
        self.game = ""
        self.begun = asyncio.Event()
        self.moves_s: list[float] = []
        self.sent_at: dict[int, float] = {}
        """Time at which each move of the game was sent, by move number."""

    async def play(self) -> None:
        """Play one game after another until cancelled."""
        await asyncio.sleep(self._rng.random() * MAX_THINKING_S)
        while True:
            await self._one_game()

    async def _post(self, side: Side, path: str, **options: Any) -> Any:
        async with self._http.post(path, headers=side.headers, **options) as answer:
            body = await answer.json()
            if answer.status != 200:
                raise RuntimeError(f"{path}: {answer.status} {body}")
            return body

    async def _one_game(self) -> None:
        first, second = self._sides
        terms = {
            "variant": self.variant.key,
            "color": self.variant.colours[0],
            "clock.limit": 1800,
            "clock.increment": 10,
        }
        challenge = await self._post(first, f"/api/challenge/{second.name}", json=terms)
        await self._post(second, f"/api/challenge/{challenge['id']}/accept")
        self.game, self.sent_at = challenge["id"], {}
        async with AsyncExitStack() as stack:
            for side in self._sides:
                path = f"/api/board/game/stream/{self.game}"
                stream = await stack.enter_async_context(self._http.get(path, headers=side.headers))
                reading = asyncio.create_task(_drain(stream))
                stack.callback(reading.cancel)
            self.begun.set()
            rules = self.variant.rules
            position, ply = rules.initial(), 0
            while legal := rules.legal_moves(position):
                move = self._rng.choice(legal)
                side = self._sides[rules.side_to_move(position)]
                began = time.monotonic()
                self.sent_at[ply + 1] = began
                await self._post(side, f"/api/board/game/{self.game}/move/{rules.move_text(move)}")
                self.moves_s.append(time.monotonic() - began)
                position, ply = rules.play(position, move), ply + 1
                await asyncio.sleep(MAX_THINKING_S * (0.5 + self._rng.random()))


async def _drain(stream: aiohttp.ClientResponse) -> None:
    async for _ in stream.content:
        pass


# --- The arena, in a process of its own -----------------------------------------------------------------


async def serve(folder: Path) -> None:
    """Run the arena until standard input is closed."""
    database = await Database.open(f"sqlite:///{folder / 'arena.db'}")
    try:
        config = ArenaConfig(port=0, trusted_proxies=("127.0.0.1",))
        async with Arena(config, database).running() as url:
            print(url, flush=True)
            await asyncio.to_thread(sys.stdin.read)
    finally:
        await database.close()


# --- The spectators, in another -------------------------------------------------------------------------


class SpectatorClient(asyncio.Protocol):
    """One open stream.  It uses a plain socket, because HTTP clients would take more processor time.

    Args:
        request: Bytes to send.
        arrived: List to which the number of moves and the arrival time of each line are appended.
        on_first: Called with the first line.
    """

    def __init__(
        self, request: bytes, arrived: list[tuple[int, float]], on_first: Callable[[], None]
    ) -> None:
        self._request = request
        self._arrived = arrived
        self._on_first = on_first
        self._is_first = True
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Request the game's stream."""
        assert isinstance(transport, asyncio.Transport)
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Record the arrival of each complete line."""
        now = time.monotonic()
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if b'"watch"' not in line:
                continue
            if self._is_first:
                self._is_first = False
                self._on_first()
            else:
                names = line.partition(b'"names":[')[2].partition(b"]")[0]
                self._arrived.append((names.count(b'","') + bool(names), now))


async def watch(url: str, game: str, count: int) -> None:
    """Watch a game until standard input is closed, then print when each move reached each spectator."""
    arrived: list[tuple[int, float]] = []
    loop, ready, left = asyncio.get_running_loop(), asyncio.Event(), count

    def came() -> None:
        nonlocal left
        left -= 1
        if not left:
            ready.set()

    address = urlsplit(url)
    opened = []
    for number in range(count):
        origin = f"10.{number // 65_536}.{number // 256 % 256}.{number % 256}"
        request = f"GET /api/arena/game/{game}/watch HTTP/1.1\r\nHost: arena\r\n{FORWARDED}: {origin}\r\n\r\n"
        transport, _ = await loop.create_connection(
            partial(SpectatorClient, request.encode(), arrived, came),
            address.hostname or "",
            address.port or 0,
        )
        opened.append(transport)
        await asyncio.sleep(1 / 400)  # they connect one after another
    done = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    async with asyncio.timeout(CONNECT_TIMEOUT_S):
        await ready.wait()
    print(READY, flush=True)
    await done
    for transport in opened:
        transport.abort()
    print(json.dumps(arrived), flush=True)


# --- The bench ------------------------------------------------------------------------------------------


async def bench(folder: Path, spectators: int, games: int, seconds: float) -> bool:
    """Print the table of results; return whether moves were fast enough."""
    sides = await _sides(folder, 2 * games)
    arena = await _start("serve", str(folder))
    try:
        url = (await _line(arena)).strip()
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(
            url, connector=connector, timeout=aiohttp.ClientTimeout(total=None)
        ) as http:
            # The last table plays chess: its games are long enough to be watched for a whole round.
            tables = [
                Table(http, (sides[2 * number], sides[2 * number + 1]), number + 2 - games % 4)
                for number in range(games)
            ]
            playing = [asyncio.create_task(table.play()) for table in tables]
            await asyncio.gather(*(table.begun.wait() for table in tables))
            rounds = []
            for count in dict.fromkeys((0, 1, spectators)):
                rounds.append(await _round(arena.pid, url, tables, count, seconds))
                _print(rounds[-1])
                failed = [task for task in playing if task.done()]
                if failed:
                    failed[0].result()
            for task in playing:
                task.cancel()
            await asyncio.gather(*playing, return_exceptions=True)
    finally:
        await _stop(arena)
    slowest = max(p95(each.moves_s) for each in rounds)
    holds = slowest < MAX_P95_LATENCY_S
    print(
        f"{'yes' if holds else 'NO '}  p95 latency is below {1000 * MAX_P95_LATENCY_S:.0f} ms in each round"
    )
    return holds


async def _sides(folder: Path, count: int) -> list[Side]:
    database = await Database.open(f"sqlite:///{folder / 'arena.db'}")
    accounts = Accounts(database)
    sides = []
    for number in range(count):
        account, token = await accounts.add_person(f"player{number}")
        sides.append(Side(account.name, token, f"192.0.2.{number % 250 + 1}"))
    await database.close()
    return sides


async def _round(pid: int, url: str, tables: Sequence[Table], count: int, seconds: float) -> Round:
    table, found = tables[-1], Round(count)
    crowd = None
    if count:
        crowd = await _start("watch", url, table.game, str(count))
        if (await _line(crowd)).strip() != READY:
            raise RuntimeError("the spectators failed to connect")
    for each in tables:
        each.moves_s.clear()
    game, began, busy = table.game, time.monotonic(), processor_s(pid)
    await asyncio.sleep(seconds)
    found.busy = (processor_s(pid) - busy) / (time.monotonic() - began)
    found.moves_s = [each for table in tables for each in table.moves_s]
    if crowd is not None:
        sent = table.sent_at if table.game == game else {}
        arrived = json.loads(await _stop(crowd))
        found.delays_s = [at - sent[ply] for ply, at in arrived if ply in sent and sent[ply] >= began]
    return found


async def _start(*arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bench.arena_load.spectators",
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 28,
    )


async def _line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode()


async def _stop(process: asyncio.subprocess.Process) -> str:
    """End a process and return its last output."""
    assert process.stdin is not None
    process.stdin.close()
    out, _ = await process.communicate()
    return out.decode()


def _print(found: Round) -> None:
    moves = f"{len(found.moves_s):5} moves, median {1000 * median(found.moves_s):4.0f} ms"
    moves += f", p95 {1000 * p95(found.moves_s):4.0f} ms, slowest {1000 * max(found.moves_s):4.0f} ms"
    seen = ""
    if found.delays_s:
        seen = f"; {len(found.delays_s)} moves seen, p95 {1000 * p95(found.delays_s):.0f} ms"
        seen += f", slowest {1000 * max(found.delays_s):.0f} ms"
    print(f"{found.spectators:5} spectators: {moves}{seen}; processor {found.busy:.0%}", flush=True)


def main() -> None:
    """The command."""
    if sys.argv[1:2] == ["serve"]:
        asyncio.run(serve(Path(sys.argv[2])))
        return
    if sys.argv[1:2] == ["watch"]:
        asyncio.run(watch(sys.argv[2], sys.argv[3], int(sys.argv[4])))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spectators", type=int, default=1000)
    parser.add_argument("--games", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=20.0, help="seconds per round")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        held = asyncio.run(
            bench(
                Path(folder),
                min(options.spectators, 3000),
                min(options.games, 120),
                min(options.seconds, 600),
            )
        )
        sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
