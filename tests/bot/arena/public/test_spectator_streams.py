"""Spectators share one stream: each line is encoded once, slow readers get the newest, players come first."""

import asyncio
import json
import logging
from typing import Any

import pytest
from aiohttp import web

from bot.arena.public import spectator_streams as spectators
from bot.arena.public.spectator_streams import (
    BEHIND_S,
    BLANK,
    FRESH_S,
    MOST_BUFFERED,
    SLICE,
    FeedLine,
    Spectator,
    SpectatorStreams,
)
from tests.bot.arena.conftest import FakeClock, House, Json, Street
from tests.bot.arena.test_connection_limiter import connect
from tests.bot.arena.test_play import WIPE_OUT, meet, take_turns
from tests.patience import PATIENCE_S


class FakeWire:
    """A connection whose client reads only when told to."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.waiting = 0
        self.is_gone = False
        self.is_aborted = False
        self.is_broken = False

    def write(self, data: bytes) -> None:
        if self.is_broken:
            raise RuntimeError("unable to write")
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


def crowd(
    size: int, clock: FakeClock | None = None, keep_alive_s: float = 3600
) -> tuple[SpectatorStreams, list[FakeWire], list[Spectator], list[int]]:
    """Spectators of one game who have got its first line; what has been told, by ply."""
    told: list[int] = []

    def tell(game: Any) -> Json:
        told.append(game.ply)
        if game.ply < 0:
            raise ValueError("a game that cannot be told")
        return {"ply": game.ply} | ({} if clock is None else {"at": clock.now})

    shared = SpectatorStreams(tell, keep_alive_s, clock or FakeClock())
    wires = [FakeWire() for _ in range(size)]
    spectators = [Spectator(wire) for wire in wires]
    game: Any = FakeGame(0)
    first = shared.line(game)
    for spectator in spectators:
        spectator.seen = first
        shared.join(game, spectator)
    return shared, wires, spectators, told


async def publish(shared: SpectatorStreams, game: Any) -> None:
    shared.publish(game)
    while (feed := shared._feeds.get(game.id)) and feed.spreading is not None:
        await feed.spreading


async def test_a_line_is_encoded_once_and_the_same_for_all() -> None:
    shared, wires, _, told = crowd(3 * SLICE + 1)
    await publish(shared, FakeGame(1))
    assert told == [0, 1]
    assert [len(wire.sent) for wire in wires] == [1] * len(wires)
    assert len({id(wire.sent[0]) for wire in wires}) == 1
    assert wires[0].sent[0] == b'a\r\n{"ply":1}\n\r\n'
    await shared.close_all()


async def test_a_game_that_nobody_watches_costs_nothing() -> None:
    shared, _, spectators, told = crowd(1)
    shared.leave("abcdefgh", spectators[0])
    shared.leave("abcdefgh", spectators[0])
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
    shared, (slow, quick), spectators, _ = crowd(2)
    slow.waiting = MOST_BUFFERED + 1
    await publish(shared, FakeGame(1))
    await publish(shared, FakeGame(2))
    assert (len(slow.sent), len(quick.sent)) == (0, 2)
    slow.waiting = 0
    await shared._feeds["abcdefgh"].beat()
    assert (slow.sent, quick.sent[-1]) == ([FeedLine(b'{"ply":2}\n').chunk], BLANK.chunk)
    await shared._feeds["abcdefgh"].beat()
    assert slow.sent[-1] == BLANK.chunk
    assert not spectators[0].ended.is_set()
    await shared.close_all()


def test_a_reader_that_does_not_read_is_cut() -> None:
    wire, line = FakeWire(), FeedLine(b"{}\n")
    spectator = Spectator(wire)
    wire.waiting = MOST_BUFFERED + 1
    spectator.offer(line, 100.0)
    spectator.offer(line, 110.0)
    spectator.beat(line, 100.0 + BEHIND_S - 1)
    assert not wire.is_aborted
    spectator.beat(line, 100.0 + BEHIND_S)
    assert wire.is_aborted
    assert spectator.ended.is_set()


@pytest.mark.parametrize("how", ["offer", "beat"])
def test_a_client_that_has_gone_is_noticed(how: str) -> None:
    wire = FakeWire()
    spectator = Spectator(wire)
    wire.is_gone = True
    getattr(spectator, how)(FeedLine(b"{}\n"), 1.0)
    assert spectator.ended.is_set()
    assert wire.sent == []


async def test_the_last_line_ends_all_streams() -> None:
    shared, wires, spectators, _ = crowd(SLICE + 1)
    await publish(shared, FakeGame(1, is_over=True))
    assert all(spectator.ended.is_set() for spectator in spectators)
    assert all(len(wire.sent) == 1 for wire in wires)
    await shared.close_all()


async def test_who_joins_late_gets_what_came_meanwhile() -> None:
    shared, _, _, _ = crowd(1)
    await publish(shared, FakeGame(1))
    wire = FakeWire()
    late = Spectator(wire, is_chunked=False)
    game: Any = FakeGame(0)
    late.seen = FeedLine(b"old\n")
    shared.join(game, late)
    assert wire.sent == [b'{"ply":1}\n']
    await shared.close_all()


async def test_a_late_spectator_gets_the_clocks_as_they_are_now() -> None:
    clock = FakeClock()
    shared, (wire,), _, told = crowd(1, clock)
    game: Any = FakeGame(0)
    await publish(shared, FakeGame(1))
    clock.advance(FRESH_S)
    recent = shared.line(game)
    assert recent.made_at == clock.now - FRESH_S
    clock.advance(60)
    late = shared.line(game)  # of the newest state, whatever the caller knows
    assert late.plain == b'{"ply":1,"at":%.1f}\n' % clock.now
    assert shared.line(game) is late
    assert (told, len(wire.sent)) == ([0, 1, 1], 1)
    await publish(shared, FakeGame(2, is_over=True))
    clock.advance(60)
    assert shared.line(game).made_at == clock.now - 60
    await shared.close_all()


async def test_a_slow_reader_gets_the_clocks_as_they_are_now() -> None:
    clock = FakeClock()
    shared, (slow, quick), _, _ = crowd(2, clock)
    slow.waiting = MOST_BUFFERED + 1
    await publish(shared, FakeGame(1))
    slow.waiting = 0
    clock.advance(60)
    await shared._feeds["abcdefgh"].beat()
    assert slow.sent == [FeedLine(b'{"ply":1,"at":%.1f}\n' % clock.now).chunk]
    assert quick.sent[1:] == [BLANK.chunk]
    await shared.close_all()


@pytest.mark.parametrize("is_over", [False, True])
async def test_a_game_that_cannot_be_told_harms_no_move(
    caplog: pytest.LogCaptureFixture, is_over: bool
) -> None:
    shared, (wire,), (spectator,), _ = crowd(1)
    for _ in range(20):
        await publish(shared, FakeGame(-1, is_over=is_over))
    assert spectator.ended.is_set() == is_over
    assert 1 <= len(caplog.records) < 10
    assert caplog.records[0].levelno == logging.ERROR
    assert wire.sent == []
    await publish(shared, FakeGame(1))
    assert len(wire.sent) == (not is_over)
    await shared.close_all()


async def test_a_connection_that_fails_costs_no_other_one_its_line(caplog: pytest.LogCaptureFixture) -> None:
    shared, (broken, sound, late), spectators, _ = crowd(3, keep_alive_s=0.0)
    broken.is_broken = True
    await publish(shared, FakeGame(1))
    assert sound.sent[0] == FeedLine(b'{"ply":1}\n').chunk
    late.is_broken = True
    async with asyncio.timeout(PATIENCE_S):
        await spectators[2].ended.wait()
    assert [each.ended.is_set() for each in spectators] == [True, False, True]
    assert "unable to write" in caplog.text
    assert shared._beating is not None
    assert not shared._beating.done()
    await shared.close_all()


async def test_nothing_runs_on_after_the_end() -> None:
    shared, _, _, _ = crowd(3 * SLICE)
    game: Any = FakeGame(1)
    shared.publish(game)
    spreading, beating = shared._feeds["abcdefgh"].spreading, shared._beating
    await shared.close_all()
    assert spreading is not None
    assert spreading.done()
    assert beating is not None
    assert beating.done()


async def test_a_spectator_who_has_joined_knows_what_came_meanwhile() -> None:
    shared, (wire,), (spectator,), told = crowd(1)
    game, end = FakeGame(1), FakeGame(2, is_over=True)
    for each, plies, is_ended in ((game, [0, 1], False), (game, [0, 1], False), (end, [0, 1, 2], True)):
        now: Any = each
        shared.catch_up(now)
        if (spreading := shared._feeds["abcdefgh"].spreading) is not None:
            await spreading
        assert (told, len(wire.sent), spectator.ended.is_set()) == (plies, len(plies) - 1, is_ended)
    await shared.close_all()


# --- Over HTTP ------------------------------------------------------------------------------------------


async def test_a_stranger_watches_a_game_to_its_end(house: House) -> None:
    person, bot, game = await meet(house, rated="true")
    stranger, other = [await house.stream(f"/api/arena/game/{game}/watch", "") for _ in range(2)]
    first = await stranger.next()
    assert (first["type"], first["state"]["view"]["moves"]) == ("watch", [])
    assert (await other.next())["state"]["view"] == first["state"]["view"]
    await take_turns(game, WIPE_OUT, person, bot)
    lines = await stranger.rest()
    assert lines == await other.rest()
    assert [len(line["state"]["view"]["moves"]) for line in lines][-1] == len(WIPE_OUT)
    assert (lines[-1]["state"]["status"], lines[-1]["state"]["winner"]) == ("variantEnd", "black")
    assert lines[-1]["state"]["view"]["ratingDiffs"]["black"] > 0
    assert house.arena._public.spectators.count(game) == 0
    again = await (await house.stream(f"/api/arena/game/{game}/watch", "")).rest()
    assert [line["state"]["status"] for line in again] == ["variantEnd"]


async def test_a_game_that_ends_while_one_joins_ends_the_stream(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, bot, game = await meet(house)
    join = SpectatorStreams.join
    ends: list[Any] = []

    def late(self: SpectatorStreams, match: Any, spectator: Spectator) -> None:
        join(self, match, spectator)
        ends.append(asyncio.ensure_future(person.act(game, "abort")))

    monkeypatch.setattr(spectators.SpectatorStreams, "join", late)
    lines = await (await house.stream(f"/api/arena/game/{game}/watch", "")).rest()
    assert lines[-1]["state"]["status"] == "aborted"
    assert (await ends[0])[0] == 200
    assert bot.id == "desdemona"


async def test_a_move_while_one_joins_is_not_missed(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    person, _, game = await meet(house)
    write = web.StreamResponse.write
    moves = ["f5"]

    async def late(self: web.StreamResponse, data: Any) -> None:
        if moves:
            await person.move(game, moves.pop())
        await write(self, data)

    monkeypatch.setattr(web.StreamResponse, "write", late)
    stream = await house.stream(f"/api/arena/game/{game}/watch", "")
    seen = [(await stream.next())["state"]["view"]["moves"] for _ in range(2)]
    assert seen == [[], ["f5"]]


async def test_spectators_give_way_to_players(street: Street, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.arena.server.max_connections", lambda: 20)  # half of them for this machine
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
    assert 1 <= house.arena._public.spectators.count(game) <= 7
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
