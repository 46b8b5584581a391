"""One long dialogue of several users with a real server: whatever can be said, in a fixed order."""

import asyncio
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from tests.bot.servers.ggs.transcripts import Line
from tests.ggs.board import Board, name

Step = tuple[str, str]
"""Who, and the line.  Lines in ``<>`` are for `Dialogue`: come, go (hang up), cut (break the connection)."""

QUIET_S = 0.12
"""So long without a word, and everything has been said; a real server sends small pieces 40 ms late."""
_NAMES = ("alice", "bob", "carol")


def _game(first: str, second: str, match: str, seed: int, board: Board, plies: int = 200) -> Iterator[Step]:
    """Moves of a plain game until its end."""
    chance = random.Random(seed)
    for ply in range(plies):
        moves = board.moves()
        if board.is_finished:
            return
        move = name(chance.choice(moves)) if moves else "PA"
        yield (
            first if board.to_move == "*" else second,
            f"tell /os play {match} {move}/{chance.randint(-999, 999) / 100}/{ply % 7 / 2}",
        )
        board.play(move)


def _synchro(one: str, two: str, match: str, seed: int, rounds: int) -> Iterator[Step]:
    """Of a match that begins at the usual start: `one` is black in game 0."""
    chance = random.Random(seed)
    boards = [Board.usual(8), Board.usual(8)]
    players = [{"*": one, "O": two}, {"*": two, "O": one}]
    for _ in range(rounds):
        for number in chance.sample((0, 1), 2):
            board = boards[number]
            if board.is_finished:
                continue
            moves = board.moves()
            move = name(chance.choice(moves)) if moves else "pass"
            who = players[number][board.to_move]
            yield who, f"tell /os play {match}.{number} {move.upper()}//{chance.randint(0, 300) / 100}"
            board.play(move)
        if all(board.is_finished for board in boards):
            return


def script(black: Callable[[str], str]) -> Iterator[Step]:
    """The dialogue.

    Args:
        black: Who has black in the first game of a match that has begun.
    """
    quiet = "verbose -news -faq -help -ack"
    yield "root", "<come>"
    yield "root", quiet
    for who in _NAMES:
        yield who, "<come>"
        yield who, "vt100 -"
        yield who, quiet
        yield "root", f"name {who} {who}"
        yield "root", f"email {who} {who}@example"
    yield "guest", "<come>"
    yield "guest", quiet
    # Central.
    for line in (
        "who x", "foo", "", "chann %", "chann + .chat .room", "chann", "chann - .room", "chann .chat",
        "tell .chat hi", "tell .nowhere hi", "tell bob,guest,nobody some\\thing", "tell alice me", "tell",
        "tell nobody", "tell _client hi", "group _client", "group", "notify + /os bob nobody",
        "notify + /os", "notify", "notify + *", "notify", "notify - * bob", "finger", "finger bob nobody",
        "finger /os", "var", "verbose", "verbose -news x", "history",
    ):  # fmt: skip
        yield "alice", line
    yield "bob", "notify + alice /os"
    yield "root", "tell _client everybody"
    # Settings and errors of the service.
    for line in (
        "", "foo bar", "open x", "open", "open -1", "trust x", "client x", "rated x", "rated +", "trust +",
        "request +", "stored +", "open 1", "finger", "finger nobody bob", "history nobody", "stored nobody",
        "look .5", "look", "match", "request", "stored", "play", "accept", "accept .9", "ask", "cancel",
        "decline", "decline .9 .8", "cancel .9", "decline nobody", "resign", "undo", "abort", "break",
        "moves", "score", "score 1", "tell", "tell a", "resign .7", "undo .7", "abort .7", "break .7",
        "moves .7.1", "score .7 1", "tell .7 hi", "watch + .7 .8.0", "watch - .7", "play .7 f5", "play f5",
        "assess 8 bob 10", "assess 8", "bell -x", "top", "rank", "who", "track", "notify", "watch +",
        "watch -", "vt100 x", "hear x", "hear +", "vt100 -", "ask 9 5 bob", "ask 8r18 5 bob", "ask s8k 5",
        "ask s8r3 5", "ask 8ra 5", "ask 8bw 5", "ask 8kb 5", "ask 8bk 5", "ask 8br18 5", "ask 8kr49 5",
        "ask s8r49 5", "ask x 5", "ask 8 5 nobody", "ask 8 05:00 03:00 x y", "ask .99",
    ):  # fmt: skip
        yield "alice", f"tell /os {line}"
    yield "guest", "tell /os rated +"
    yield "guest", "tell /os rated"
    yield "guest", "tell /os open 1"
    yield "guest", "tell /os request +"
    yield "guest", "tell /os ask 8b 05:00 alice"
    yield "alice", "tell /os ask 8w 05:00 guest"
    yield "alice", "tell /os decline guest"
    # Requests: everything to everybody, and every clock.
    for line in (
        "ask 8 5", "ask 8 5", "ask s8 0:30", "ask 8kr18 05:00/00:12/00:30", "ask 8a 05:00/12/00:30",
        "ask 6k 1:30:00", "ask 8 /00:05", "ask 8b //0", "ask 8w 00:10,5/00:05,N2/00:10,N3",
        "ask 8 1,N2//1,4", "ask 88 5 6", "ask s10r20 5 06:00", "ask 4 99999", "ask 8 1/2/3/4", "request",
        "ask 8q 5", "ask S8 5", "ask 8A 7", "ask 8 x5", "cancel bob", "cancel alice", "cancel .1 .3",
        "open 0", "request",
    ):  # fmt: skip
        yield "alice", f"tell /os {line}"
    yield "bob", "tell /os ask 8 05:00 alice"
    yield "bob", "tell /os rated +"
    yield "bob", "tell /os trust +"
    yield "bob", "tell /os ask 8 05:00 alice"
    yield "bob", "tell /os open 1"
    yield "bob", "tell /os ask 8 05:00 alice"
    yield "alice", "tell /os open 2"
    yield "bob", "tell /os request +"
    for number in range(3):
        yield "bob", f"tell /os ask 8b 0{number + 1}:00 alice"
    yield "bob", "tell /os ask 8b 01:00 alice"
    yield "bob", "tell /os ask 8b 04:00 05:00 alice"
    yield "alice", "tell /os request"
    yield "bob", "tell /os request"
    yield "alice", "tell /os finger"
    yield "alice", "tell /os decline bob"
    yield "alice", "tell /os request"
    yield "alice", "tell /os decline bob"
    yield "bob", "tell /os cancel alice"
    yield "alice", "tell /os request bob"
    yield "carol", "tell /os accept .0"
    yield "bob", "tell /os ask 8b 04:00 alice"
    yield "alice", "tell /os request"
    yield "bob", "tell /os rated -"
    yield "bob", "tell /os ask 8b 02:00 alice"
    yield "alice", "tell /os ask 8w 02:00 bob"
    yield "bob", "tell /os rated +"
    yield "bob", "tell /os open 0"
    yield "alice", "tell /os open 0"
    # A game with everything, seen by carol.
    for who in ("alice", "bob"):
        yield who, "tell /os open 1"
    yield "alice", "tell /os client +"
    yield "carol", "tell /os client +"
    yield "carol", "tell /os notify + *"
    yield "alice", "tell /os ask 8b 05:00/00:10 bob"
    yield "bob", "tell /os ask 8w 05:00/00:10 alice"
    yield "alice", "tell /os match"
    yield "carol", "tell /os watch + .0"
    yield "alice", "who"
    yield "guest", "tell /os moves .0"
    for who, line in (
        ("bob", "play f5"), ("bob", "play .0 f6"), ("alice", "play .0"), ("alice", "play .0 a1"),
        ("alice", "play .0 z9"), ("alice", "play .0 f9"), ("alice", "play .0 f55"), ("alice", "play .0 f"),
        ("alice", "play .0 pa"), ("alice", "play .0 Pa"), ("alice", "play .0 f5/x"),
        ("alice", "play .0 f5/1/x"), ("alice", "play .0 f5/1000"), ("alice", "play .0 f5/1/-1"),
        ("alice", "play .0 f5/1/100000"), ("alice", "play .0.0 f5"), ("alice", "play .1 f5"),
        ("alice", "play .0 f5 d6"), ("alice", "undo"), ("carol", "play .0 f5"), ("carol", "resign .0"),
        ("alice", "play F5/-0.004/2"), ("bob", "play .0 d6/1.005/0.004"), ("alice", "undo"),
        ("bob", "undo .0"), ("bob", "play d6//1.5"), ("alice", "play .0 c3/12.345"), ("alice", "score 4"),
        ("bob", "score .0 x"), ("bob", "score 3"), ("bob", "play .0 d3"), ("alice", "moves"),
        ("bob", "moves .0"), ("carol", "moves .0"), ("alice", "abort"), ("alice", "play .0 c4"),
        ("bob", "tell a .0 hello all"), ("bob", "tell p .0 hello you"), ("carol", "tell o .0 hello me"),
        ("carol", "tell .0 hello two"), ("bob", "tell hello you"), ("bob", "tell a hello you"),
        ("carol", "match alice"), ("carol", "match .0 .1"), ("bob", "undo"), ("alice", "break"),
        ("alice", "stored"), ("bob", "stored alice"), ("alice", "look .4"), ("alice", "history"),
        ("bob", "ask .0"), ("bob", "ask .0"), ("alice", "continue"), ("bob", "continue"),
        ("alice", "request"), ("alice", "rated -"), ("bob", "rated -"), ("alice", "ask .0"),
        ("alice", "rated +"), ("bob", "rated +"),
    ):  # fmt: skip
        yield who, f"tell /os {line}"
    yield "bob", "<go>"
    yield "alice", "tell /os ask .0"
    yield "alice", "tell /os continue"
    yield "bob", "<come>"
    yield "alice", "tell /os ask .0"
    yield "carol", "tell /os accept .0"
    for number in range(72):
        yield "bob", f"tell /os accept .{number}"
    yield "alice", "tell /os moves"
    yield "alice", "tell /os undo"
    yield "bob", "tell /os undo"
    yield "alice", "tell /os play c4//3"
    yield "carol", "tell /os track + bob"
    yield "bob", "<cut>"
    yield "carol", "tell /os stored alice"
    yield "bob", "<come>"
    yield "bob", "tell /os finger"
    yield "bob", "tell /os stored -"
    # A whole game.
    yield "bob", "tell /os client +"
    yield "alice", "tell /os ask 8b 05:00 06:00 bob"
    for number in range(72):
        yield "bob", f"tell /os accept .{number}"
    yield from _game("alice", "bob", ".2", 5, Board.usual(8))
    yield "alice", "tell /os play .2 a1"
    yield "alice", "tell /os history"
    yield "alice", "tell /os look .1"
    yield "bob", "tell /os finger"
    # Synchro: withheld moves, an adjournment in the middle, a whole match.
    yield "carol", "tell /os track - bob"
    yield "bob", "tell /os ask s8 05:00 alice"
    yield "alice", "tell /os ask s8 05:00 bob"
    yield "carol", "tell /os watch + .3"
    one = black(".3")
    two = "bob" if one == "alice" else "alice"
    for line in ("play .3 f5", "play .3.1 f5", "play .3.2 f5", "undo .3", "score .3 1", "play f5", "abort"):
        yield one, f"tell /os {line}"
    yield one, "tell /os play .3.0 f5/1/1"
    for who in (one, two, "carol"):
        yield who, "tell /os moves .3"
    yield two, "tell /os play .3.0 d6"
    yield two, "tell /os play .3.1 d3/2/2"
    yield two, "tell /os play .3.0 d6"
    yield "bob", "<cut>"
    yield "alice", "tell /os stored"
    yield "bob", "<come>"
    yield "alice", "tell /os ask .2"
    yield "bob", "tell /os ask .2"
    yield "bob", "tell /os moves"
    yield "alice", "tell /os break"
    yield "alice", "tell /os continue"
    yield "bob", "tell /os continue"
    yield "bob", "tell /os resign"
    yield "alice", "tell /os ask s8 05:00 bob"
    yield "bob", "tell /os ask s8 05:00 alice"
    one = black(".6")
    yield from _synchro(one, "bob" if one == "alice" else "alice", ".6", 7, 80)
    yield "alice", "tell /os look .3"
    yield "alice", "tell /os ask s8 05:00 bob"
    yield "bob", "tell /os ask s8 05:00 alice"
    yield "alice", "tell /os abort"
    yield "bob", "tell /os abort .7"
    # Unrated, and other ends.
    for who in ("alice", "bob"):
        yield who, "tell /os rated -"
    for line_one, line_two in (
        ("score 10", "score -10"), ("score 10", "score -12"), ("resign", ""), ("abort", "abort"),
        ("break", ""), ("", "resign"),
    ):  # fmt: skip
        yield "bob", "tell /os ask 8w 05:00 alice"
        yield "alice", "tell /os ask 8b 05:00 bob"
        if line_one:
            yield "alice", f"tell /os {line_one}"
        if line_two:
            yield "bob", f"tell /os {line_two}"
    yield "bob", "tell /os ask 8w 05:00 alice"
    yield "alice", "tell /os ask 8b 05:00 bob"
    yield "alice", "<evict>"
    yield "bob", "tell /os match"
    yield "bob", "tell /os stored"
    yield "alice", "tell /os ask 8b 01:00 alice"
    yield "alice", "tell /os play f5"
    yield "alice", "tell /os play d6"
    yield "alice", "tell /os undo"
    yield "alice", "tell /os abort"
    yield "alice", "tell /os rated +"
    yield "bob", "tell /os rated +"
    yield "alice", "tell /os ask 6 05:00 alice"
    yield "alice", "tell /os resign"
    yield "bob", "tell /os ask 6b 05:00 alice"
    yield "alice", "tell /os ask 6w 05:00 bob"
    yield from _game("bob", "alice", ".16", 9, Board.usual(6))
    yield "guest", "quit"
    yield "bob", "quit alice x"
    yield "root", "quit bob"
    yield "alice", "quit"


class Dialogue:
    """Holds it with a server on a port, and records it.

    Args:
        port: Of the loopback.
        root: The administrator's password.
    """

    def __init__(self, port: int, root: str = "root") -> None:
        self._port = port
        self._passwords = {"root": root}
        self._links: dict[str, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}
        self._black: dict[str, str] = {}
        self._began_s = time.monotonic()
        self.lines: list[Line] = []
        """The recording."""

    async def hold(self) -> None:
        """To its end."""
        for who, line in script(self._black.__getitem__):
            await self._step(who, line)
        for who in list(self._links):
            self._links.pop(who)[1].close()

    async def _step(self, who: str, line: str) -> None:
        if line in ("<come>", "<evict>"):
            evicted = self._links.pop(who, None)
            self._links[who] = await asyncio.open_connection("127.0.0.1", self._port)
            await self._quiet()
            await self._say(who, who)
            await self._say(who, self._passwords.get(who, f"{who}pw"))
            if evicted:
                assert (await evicted[0].read()) == b"", "the older connection is told something"
                evicted[1].close()
        elif line.startswith("<"):
            self._record(who, remark(who), is_sent=True)
            writer = self._links.pop(who)[1]
            if line == "<cut>":
                writer.transport.abort()
            writer.close()
            await self._quiet()
        else:
            await self._say(who, line)

    async def _say(self, who: str, line: str) -> None:
        self._record(who, line, is_sent=True)
        self._links[who][1].write(f"{line}\r\n".encode("latin-1"))
        await self._quiet()

    def _record(self, who: str, raw: str, *, is_sent: bool) -> None:
        self.lines.append(Line(round(time.monotonic() - self._began_s, 2), who, is_sent, raw))

    async def _quiet(self) -> None:
        """Hear everybody until nobody hears any more."""
        heard: dict[str, str] = {}
        reading = {asyncio.create_task(link[0].read(65_536)): who for who, link in self._links.items()}
        while reading:
            done, _ = await asyncio.wait(reading, timeout=QUIET_S, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                break
            for task in done:
                who = reading.pop(task)
                data = b""
                with suppress(ConnectionError):
                    data = task.result()
                if data:
                    heard[who] = heard.get(who, "") + data.decode("latin-1")
                    reading[asyncio.create_task(self._links[who][0].read(65_536))] = who
                else:
                    self._links.pop(who)[1].close()
        for task in reading:
            task.cancel()
        if reading:
            await asyncio.wait(reading)
        for who, text in heard.items():
            self._record(who, text, is_sent=False)
            for match, black in re.findall(r"join (\.\d+)(?:\.0)? \(;GM.*\r\n\|PB\[(\w+)\]", text):
                self._black.setdefault(match, black)


def remark(who: str) -> str:
    """Stands in a recording where a connection ends."""
    return f"[[[ {who} is gone ]]]"


def tossed(lines: list[Line]) -> list[bool]:
    """Of a recording: whether who asked got black, where the server tossed for it, match by match."""
    found: dict[str, bool] = {}
    for line in lines:
        # A match that is taken up again has its colours already.
        if not line.is_sent and "join" in line.raw and " S " not in line.raw:
            for match, asker, black in re.findall(
                r"\+ match (\.\d+) \d+ (\w+) \d+ \w+ (?:s8|8|6) (?:.|\n)*?\|PB\[(\w+)\]", line.raw
            ):
                found.setdefault(match, black == asker)
    return list(found.values())
