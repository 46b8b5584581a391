"""Spectators share one stream: each line is encoded once, slow readers get the newest, players come first."""

import asyncio
import json
from typing import Any

import pytest

from bot.arena.public import watching
from bot.arena.public.watching import BEHIND_S, BLANK, MOST_BUFFERED, SLICE, FeedLine, Watcher, Watching
from tests.bot.arena.conftest import House, Json, Street
from tests.bot.arena.test_connection_limit import connect
from tests.bot.arena.test_play import WIPE_OUT, meet, take_turns
from tests.patience import PATIENCE_S


class FakeWire:
    """A connection whose client reads only when told to."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.waiting = 0
        self.is_gone = False
        self.is_aborted = False

    def write(self, data: bytes) -> None:
        self.sent.append(data)

    def is_closing(self) -> bool:
        return self.is_gone

    def abort(self) -> None:
        self.is_aborted = True

    def get_write_buffer_size(self) -> int:
        return self.waiting


class FakeGame:
    """As much of a game as spectators need."""

    id = "abcdefgh"

    def __init__(self, ply: int, *, is_over: bool = False) -> None:
        self.ply = ply
        self.is_over = is_over


def crowd(size: int) -> tuple[Watching, list[FakeWire], list[Watcher], list[int]]:
    """Spectators of one game who have got its first line; what has been told, by ply."""
    told: list[int] = []

    def tell(game: Any) -> Json:
        told.append(game.ply)
        return {"ply": game.ply}

    shared = Watching(tell, keep_alive_s=3600)
    wires = [FakeWire() for _ in range(size)]
    watchers = [Watcher(wire) for wire in wires]
    game: Any = FakeGame(0)
    first = shared.line(game)
    for watcher in watchers:
        watcher.seen = first
        shared.join(game, watcher)
    return shared, wires, watchers, told


async def publish(shared: Watching, game: Any) -> None:
    shared.publish(game)
    while (feed := shared._feeds.get(game.id)) and feed._spreading is not None:
        await feed._spreading


async def test_a_line_is_encoded_once_and_the_same_for_all() -> None:
    shared, wires, _, told = crowd(3 * SLICE + 1)
    await publish(shared, FakeGame(1))
    assert told == [0, 1]
    assert [len(wire.sent) for wire in wires] == [1] * len(wires)
    assert len({id(wire.sent[0]) for wire in wires}) == 1
    assert wires[0].sent[0] == b'a\r\n{"ply":1}\n\r\n'
    await shared.close_all()


async def test_a_game_that_nobody_watches_costs_nothing() -> None:
    shared, _, watchers, told = crowd(1)
    shared.leave("abcdefgh", watchers[0])
    shared.leave("abcdefgh", watchers[0])
    game: Any = FakeGame(1)
    shared.publish(game)
    assert (told, shared.count("abcdefgh"), shared._beating) == ([0], 0, None)


async def test_others_have_their_turn_between_slices() -> None:
    shared, wires, _, _ = crowd(3 * SLICE)
    game: Any = FakeGame(1)
    shared.publish(game)
    reached = []
    for _ in range(4):
        await asyncio.sleep(0)
        reached.append(sum(len(wire.sent) for wire in wires))
    assert reached == [SLICE, 2 * SLICE, 3 * SLICE, 3 * SLICE]
    await shared.close_all()


async def test_a_newer_line_overtakes_an_older_one() -> None:
    shared, wires, _, _ = crowd(2 * SLICE)
    one: Any = FakeGame(1)
    shared.publish(one)
    await asyncio.sleep(0)
    await publish(shared, FakeGame(2))
    assert [len(wire.sent) for wire in wires] == [2] * SLICE + [1] * SLICE
    assert {wire.sent[-1] for wire in wires} == {FeedLine(b'{"ply":2}\n').chunk}
    await shared.close_all()


async def test_a_slow_reader_misses_lines_and_gets_the_newest() -> None:
    shared, (slow, quick), watchers, _ = crowd(2)
    slow.waiting = MOST_BUFFERED + 1
    await publish(shared, FakeGame(1))
    await publish(shared, FakeGame(2))
    assert (len(slow.sent), len(quick.sent)) == (0, 2)
    slow.waiting = 0
    await shared._feeds["abcdefgh"].beat()
    assert (slow.sent, quick.sent[-1]) == ([FeedLine(b'{"ply":2}\n').chunk], BLANK.chunk)
    await shared._feeds["abcdefgh"].beat()
    assert slow.sent[-1] == BLANK.chunk
    assert not watchers[0].ended.is_set()
    await shared.close_all()


def test_a_reader_that_does_not_read_is_cut() -> None:
    wire, line = FakeWire(), FeedLine(b"{}\n")
    watcher = Watcher(wire)
    wire.waiting = MOST_BUFFERED + 1
    watcher.offer(line, 100.0)
    watcher.offer(line, 110.0)
    watcher.beat(line, 100.0 + BEHIND_S - 1)
    assert not wire.is_aborted
    watcher.beat(line, 100.0 + BEHIND_S)
    assert wire.is_aborted
    assert watcher.ended.is_set()


@pytest.mark.parametrize("how", ["offer", "beat"])
def test_a_client_that_has_gone_is_noticed(how: str) -> None:
    wire = FakeWire()
    watcher = Watcher(wire)
    wire.is_gone = True
    getattr(watcher, how)(FeedLine(b"{}\n"), 1.0)
    assert watcher.ended.is_set()
    assert wire.sent == []


async def test_the_last_line_ends_all_streams() -> None:
    shared, wires, watchers, _ = crowd(SLICE + 1)
    await publish(shared, FakeGame(1, is_over=True))
    assert all(watcher.ended.is_set() for watcher in watchers)
    assert all(len(wire.sent) == 1 for wire in wires)
    await shared.close_all()


async def test_who_joins_late_gets_what_came_meanwhile() -> None:
    shared, _, _, _ = crowd(1)
    await publish(shared, FakeGame(1))
    wire = FakeWire()
    late = Watcher(wire, is_chunked=False)
    game: Any = FakeGame(0)
    late.seen = FeedLine(b"old\n")
    shared.join(game, late)
    assert wire.sent == [b'{"ply":1}\n']
    await shared.close_all()


# --- Over HTTP ------------------------------------------------------------------------------------------


async def test_a_stranger_watches_a_game_to_its_end(house: House) -> None:
    person, bot, game = await meet(house, rated="true")
    stranger, other = [await house.stream(f"/api/arena/game/{game}/watch", "") for _ in range(2)]
    first = await stranger.next()
    assert (first["type"], first["state"]["view"]["moves"]) == ("watch", [])
    assert await other.next() == first
    await take_turns(game, WIPE_OUT, person, bot)
    lines = await stranger.rest()
    assert lines == await other.rest()
    assert [len(line["state"]["view"]["moves"]) for line in lines][-1] == len(WIPE_OUT)
    assert (lines[-1]["state"]["status"], lines[-1]["state"]["winner"]) == ("variantEnd", "black")
    assert lines[-1]["state"]["view"]["ratingDiffs"]["black"] > 0
    assert house.arena._public.watching.count(game) == 0
    again = await (await house.stream(f"/api/arena/game/{game}/watch", "")).rest()
    assert [line["state"]["status"] for line in again] == ["variantEnd"]


async def test_a_game_that_ends_while_one_joins_ends_the_stream(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, bot, game = await meet(house)
    join = Watching.join
    ends: list[Any] = []

    def late(self: Watching, match: Any, watcher: Watcher) -> None:
        join(self, match, watcher)
        ends.append(asyncio.ensure_future(person.act(game, "abort")))

    monkeypatch.setattr(watching.Watching, "join", late)
    lines = await (await house.stream(f"/api/arena/game/{game}/watch", "")).rest()
    assert lines[-1]["state"]["status"] == "aborted"
    assert (await ends[0])[0] == 200
    assert bot.id == "desdemona"


async def test_spectators_give_way_to_players(street: Street, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.arena.server.most_connections", lambda: 20)  # half of them for this machine
    house = await street.open()
    person, bot, game = await meet(house)
    ours, theirs = await bot.game(game), await person.game(game)
    first = await house.stream(f"/api/arena/game/{game}/watch", "")
    for each in (ours, theirs, first):
        await each.next()
    request = f"GET /api/arena/game/{game}/watch HTTP/1.1\r\nHost: here\r\n\r\n".encode()
    links = [await connect(house, request) for _ in range(20)]
    await person.move(game, "f5")
    for each in (ours, theirs):
        assert (await each.next())["moves"] == "f5"
    assert (await first.next())["state"]["view"]["moves"] == ["f5"]
    assert 1 <= house.arena._public.watching.count(game) <= 7
    for _, writer in links:
        writer.close()


async def test_spectators_of_one_address_are_limited(street: Street) -> None:
    house = await street.open(streams_per_address=4)
    person, _, game = await meet(house)
    path = f"/api/arena/game/{game}/watch"
    open_ones = [await house.stream(path, "") for _ in range(4)]
    status, body = await house.request("GET", path)
    assert (status, body["ratelimit"]["key"]) == (429, "streams")
    # A player takes the place of the newest one.
    assert (await (await person.game(game)).next())["type"] == "gameFull"
    for each in open_ones[:3]:
        assert (await each.next())["id"] == game


async def test_an_old_client_gets_plain_lines(house: House) -> None:
    _, _, game = await meet(house)
    request = f"GET /api/arena/game/{game}/watch HTTP/1.0\r\nHost: here\r\n\r\n"
    reader, writer = await connect(house, request.encode())
    async with asyncio.timeout(PATIENCE_S):
        head = await reader.readuntil(b"\r\n\r\n")
        line = await reader.readline()
    assert b"chunked" not in head
    assert json.loads(line)["id"] == game
    writer.close()
