"""A scripted player for GGS servers, the fake one and real ones: asks, accepts, plays, chats and leaves."""

import asyncio
import random
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

from tests.ggs.board import Board, name

START = (
    "vt100 -",
    "bell -t -tc -tg -n -nc -ng -ni -nn",
    "verbose -news -faq -help -ack",
    "chann %",
    "notify + /os",
    "tell /os client +",
    "tell /os trust +",
    "tell /os request +",
)
"""What every client says first."""

_AWAY = "user '/os' not found"

PATIENCE_S = 60.0
"""Only what has failed waits so long."""


@dataclass(frozen=True, slots=True)
class Habits:
    """How one plays, by the number of plies that a board has."""

    greedy: bool = False
    """Turns over as many discs as can be; by default any legal move will do."""
    seed: int = 1
    chats_at: int | None = None
    resigns_at: int | None = None
    aborts_at: int | None = None
    undoes_at: int | None = None
    scores_at: int | None = None
    """Offers a draw in place of a move."""
    breaks_at: int | None = None
    leaves_at: int | None = None
    """The connection is cut, once."""
    stops_at: int | None = None
    """No more moves: the clock runs out."""
    grants: bool = False
    """Agrees to undo, abort and a draw."""
    thinks_s: float = 0.0
    """Waits before each move."""


@dataclass(frozen=True, slots=True)
class ListedRequest:
    """A request on the table."""

    id: str
    asker: str
    kind: str
    flag: str
    other: str
    """``*``: everybody."""
    stored: str
    """Id of the match to be taken up; empty: a new one."""


@dataclass(slots=True)
class Seat:
    """One board that this client plays on."""

    id: str
    black: str
    white: str
    kind: str
    start: str
    """As tag BO has it."""
    moves: list[str] = field(default_factory=list)
    """As the server told them."""
    board: Board = field(default_factory=lambda: Board.usual(8))
    sent: int = -1
    """At how many plies the last move was sent."""


@dataclass(frozen=True, slots=True)
class Over:
    """A match is over."""

    id: str
    first: str
    second: str
    kind: str
    flag: str
    outcome: str
    """``+64.00``, ``aborted``, or ``alice left``."""
    key: str
    """Of the archive or the store; empty: it is kept nowhere."""
    seats: tuple[Seat, ...]


def _ggf(text: str) -> tuple[dict[str, str], list[str]]:
    """Tags, and moves as written."""
    tags: dict[str, str] = {}
    moves: list[str] = []
    for tag, value in re.findall(r"([A-Z]+)\[([^]]*)\]", text):
        if tag in ("B", "W"):
            moves.append(value)
        else:
            tags[tag] = value
    return tags, moves


def _match(seat_id: str) -> str:
    """Id of the match that a board belongs to."""
    return seat_id.rpartition(".")[0] or seat_id


class Client:
    """One connection after another by one name.

    Args:
        login: Name on the server.
        password: Its password; an unknown name takes any.
        habits: How it plays.
        accepts: Which requests to it are accepted.
        sleep: Waits.
    """

    def __init__(
        self,
        login: str,
        password: str,
        habits: Habits | None = None,
        *,
        accepts: Callable[[ListedRequest], bool] = lambda _: True,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.login = login
        self._password = password
        self.habits = habits or Habits()
        self._accepts = accepts
        self._sleep = sleep
        self._random = random.Random(self.habits.seed)
        self._writer: asyncio.StreamWriter | None = None
        self._hearing: asyncio.Task[None] | None = None
        self.lines: list[str] = []
        """Everything the server ever said."""
        self.blocks: list[str] = []
        """The same by messages and replies."""
        self.requests: dict[str, ListedRequest] = {}
        self.seats: dict[str, Seat] = {}
        self._began: dict[str, tuple[str, str, str, str]] = {}
        """Matches: who, whom, type, flag."""
        self.over: list[Over] = []
        self.abandoned: list[Over] = []
        """Matches that this client was in when its connection was lost, or the service went."""
        self.taken_up: list[str] = []
        """Ids of matches that began with moves on a board: stored before, they go on."""
        self.duplicates: list[str] = []
        """Moves of the other that came twice."""
        self.left = False
        """`Habits.leaves_at` has been done."""
        self.service_is_up = True
        self._news = asyncio.Event()

    # --- The connection ---------------------------------------------------------------------------------

    async def connect(self, port: int, *, host: str = "127.0.0.1", commands: tuple[str, ...] = ()) -> Self:
        """Log in, and say `START` and more."""
        await self.close()
        self.service_is_up = True
        reader, self._writer = await asyncio.open_connection(host, port)
        self._hearing = asyncio.create_task(self._hear(reader))
        await self.until(lambda: self._said("Enter login"))
        self.say(self.login)
        await self.until(lambda: self._said("Enter your password"))
        before = len(self.blocks)
        self.say(self._password)
        await self.until(lambda: any(re.search("READY|ALERT", block) for block in self.blocks[before:]))
        while True:
            before = len(self.lines)
            for line in (*START, *commands):
                self.say(line)
            await self.settled()
            if not any(_AWAY in line for line in self.lines[before:]):
                return self
            await self._sleep(5)  # the service is away

    def _said(self, text: str) -> bool:
        return any(text in line for line in self.lines[-5:])

    @property
    def is_connected(self) -> bool:
        return self._hearing is not None and not self._hearing.done()

    @property
    def is_well(self) -> bool:
        """Connected, and the service is there."""
        return self.is_connected and self.service_is_up

    def say(self, line: str) -> None:
        assert self._writer is not None
        with suppress(ConnectionError):
            self._writer.write(f"{line}\r\n".encode("latin-1"))

    def os(self, line: str) -> None:
        """Something to the Othello service."""
        self.say(f"tell /os {line}")

    async def until(self, done: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
        """Wait for something to become true by what the server says."""
        async with asyncio.timeout(patience_s):
            while not done():
                self._news.clear()
                await self._news.wait()

    async def settled(self) -> None:
        """Wait until the server has done everything said so far, the service's part too."""
        mark = f"no{self._random.randrange(10**6)}"
        self.os(f"history {mark}")
        await self.until(
            lambda: any(mark in line or _AWAY in line for line in self.lines[-30:]) or not self.is_connected
        )

    async def answer(self, line: str, patience_s: float = PATIENCE_S) -> str:
        """The next block of the service after a question."""
        before = len(self.blocks)
        self.os(line)
        word = line.split()[0]

        def told() -> str | None:
            said = (block for block in self.blocks[before:] if block.startswith("/os: "))
            return next((block for block in said if re.match(rf"/os: ({word}|ERR|error)", block)), None)

        await self.until(lambda: told() is not None, patience_s)
        return told() or ""

    async def close(self) -> None:
        """Hang up."""
        if self._writer:
            self._writer.close()
            with suppress(ConnectionError):
                await self._writer.wait_closed()
        if self._hearing:
            self._hearing.cancel()
            await asyncio.wait([self._hearing])

    def cut(self) -> None:
        """The connection breaks without a word."""
        assert self._writer is not None
        self._writer.transport.abort()

    async def _hear(self, reader: asyncio.StreamReader) -> None:
        block: list[str] = []
        try:
            with suppress(ConnectionError):
                while data := await reader.readline():
                    line = data.decode("latin-1").rstrip("\r\n")
                    self.lines.append(line)
                    if line in ("READY", "ALERT") or not line or "Enter " in line:
                        if not line and block and not block[0].startswith(("/", ":")):
                            block.append(line)
                            continue
                        block.append(line)
                        text = "\n".join(block).strip("\n")
                        block = []
                        if text:
                            self.blocks.append(text)
                            await self._block(text)
                    else:
                        block.append(line)
                    self._news.set()
        finally:
            # Games and requests are the connection's.
            self._abandon(self.login)
            self._news.set()

    # --- What is heard ----------------------------------------------------------------------------------

    async def _block(self, text: str) -> None:
        words = text.split()
        if words[:3] == [":", "-", "/os"]:
            self.service_is_up = False
            self._abandon("/os")
        elif words[:3] == [":", "+", "/os"]:
            self.service_is_up = True
        if words[0] != "/os:":
            return
        body = text.removeprefix("/os: ").removesuffix("READY").removesuffix("ALERT").strip()
        first = words[1] if len(words) > 1 else ""
        if first in ("+", "-") and words[2] == "match":
            if first == "-":
                self._over(words)
            else:
                self._began[words[3]] = (words[5], words[7], words[8], words[9])
        elif first in ("+", "-") and words[2].startswith("."):
            await self._request(first, words[2:])
        elif first == "join":
            await self._join(words[2], body)
        elif first == "update":
            await self._update(words[2], words[3])
        elif first in ("undo", "abort", "score") and words[3] != self.login and self.habits.grants:
            self.os(f"{first} {words[2]}{' 0' * (first == 'score')}")

    async def _request(self, sign: str, words: list[str]) -> None:
        if sign == "-":
            self.requests.pop(words[0], None)
            return
        stored = words[-1] if words[-1].startswith(".") else ""
        other = words[7] if len(words) > 7 and words[6] != "*" else "*"
        asked = ListedRequest(words[0], words[2], words[4], words[5], other, stored)
        self.requests[asked.id] = asked
        if asked.other == self.login and asked.asker != self.login and self._accepts(asked):
            self.os(f"accept {asked.id}")

    async def _join(self, seat_id: str, body: str) -> None:
        tags, moves = _ggf(body.replace("\n|", "\n"))
        if self.login not in (tags["PB"], tags["PW"]):
            return
        old = self.seats.get(seat_id)
        match_id = _match(seat_id)
        if moves and match_id not in map(_match, self.seats):
            self.taken_up.append(match_id)
        seat = Seat(seat_id, tags["PB"], tags["PW"], tags["TY"], tags["BO"], moves, Board.read(tags["BO"]))
        for move in moves:
            seat.board.play(move.split("/")[0])
        if old and old.start == seat.start and len(old.moves) == len(moves):
            seat.sent = old.sent
        self.seats[seat_id] = seat
        await self._turn(seat)

    async def _update(self, seat_id: str, move: str) -> None:
        seat = self.seats.get(seat_id)
        if seat is None:
            return
        if seat.moves and seat.moves[-1] == move and not move.lower().startswith("pa"):
            self.duplicates.append(f"{seat_id} {move}")
            return
        seat.board.play(move.split("/")[0])
        seat.moves.append(move)
        await self._turn(seat)

    async def _turn(self, seat: Seat) -> None:
        ply, habits = len(seat.moves), self.habits
        if habits.leaves_at is not None and ply >= habits.leaves_at and not self.left:
            self.left = True
            self.cut()
            return
        mine = [disc for disc, who in (("*", seat.black), ("O", seat.white)) if who == self.login]
        if seat.board.to_move not in mine or seat.board.is_finished or seat.sent == ply:
            return
        for at, line in (
            (habits.chats_at, f"tell a {seat.id} hello"),
            (habits.aborts_at, f"abort {seat.id}"),
            (habits.undoes_at, f"undo {seat.id}"),
        ):
            if at in (ply, ply + 1):
                self.os(line)
        for at, line in (
            (habits.resigns_at, f"resign {seat.id}"),
            (habits.breaks_at, f"break {seat.id}"),
            (habits.scores_at, f"score {seat.id} 0"),
        ):
            if at is not None and ply >= at:
                self.os(line)
                return
        if habits.stops_at is not None and ply >= habits.stops_at:
            return
        seat.sent = ply
        if habits.thinks_s:
            await self._sleep(habits.thinks_s)
        self.os(f"play {seat.id} {self._choice(seat.board)}")

    def _choice(self, board: Board) -> str:
        moves = board.moves()
        if not moves:
            return "PA"
        if self.habits.greedy:
            best = max(moves, key=lambda at: (len(board.flips(at, board.to_move)), self._random.random()))
        else:
            best = self._random.choice(moves)
        evaluation = self._random.randint(-900, 900) / 100
        return f"{name(best).upper()}/{evaluation:.2f}/{self._random.randint(0, 50) / 100:.2f}"

    def _over(self, words: list[str]) -> None:
        # /os: - match .0 1434 alice 2006 bob 8 R -10.00  .0 READY
        _, _, _, match_id, _, first, _, second, kind, flag, *rest = words
        rest = [word for word in rest if word not in ("READY", "ALERT")]
        key = rest.pop() if len(rest) > 1 and rest[-1].startswith(".") else ""
        seats = self._taken(match_id)
        self.over.append(Over(match_id, first, second, kind, flag, " ".join(rest), key, seats))

    def _abandon(self, who: str) -> None:
        """Whatever was going on is over here, because somebody has gone."""
        for match_id in {_match(seat_id) for seat_id in self.seats}:
            began = self._began.get(match_id, ("", "", "", ""))
            self.abandoned.append(Over(match_id, *began, f"{who} left", "", self._taken(match_id)))
        self.requests.clear()

    def _taken(self, match_id: str) -> tuple[Seat, ...]:
        """The boards of a match, which is over here."""
        ids = [seat_id for seat_id in self.seats if match_id in (seat_id, seat_id.rpartition(".")[0])]
        return tuple(self.seats.pop(seat_id) for seat_id in ids)

    # --- Wishes -----------------------------------------------------------------------------------------

    async def play(self, what: str, *, patience_s: float = PATIENCE_S) -> Over:
        """Ask for a match (``s8r14 01:00 bob``) and see it to its end, or to its adjournment."""
        before = len(self.over)
        self.os(f"ask {what}")
        await self.until(lambda: len(self.over) > before or not self.is_connected, patience_s)
        if len(self.over) == before:
            raise ConnectionError(f"{self.login}: the connection is gone")
        return self.over[-1]
