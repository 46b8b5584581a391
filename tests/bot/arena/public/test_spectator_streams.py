"""Spectators share one line for each state, slow readers get the newest, players come first."""

import asyncio
import json
import logging
from typing import Any

import pytest

from bot.arena.public.spectator_streams import SpectatorStreams
from bot.arena.streams import Stream
from tests.bot.arena.conftest import House, Json, Street
from tests.bot.arena.test_connection_limiter import connect
from tests.bot.arena.test_play import WIPE_OUT, meet, take_turns
from tests.patience import PATIENCE_S


class FakeGame:
    """As much of a game as spectators need."""

    id = "abcdefgh"

    def __init__(self, ply: int, *, is_over: bool = False) -> None:
        self.ply = ply
        self.is_over = is_over


def crowd(size: int) -> tuple[SpectatorStreams, list[Stream], list[int]]:
    """Spectators of one game with its first line; the plies of the states that were encoded."""
    encoded: list[int] = []

    def view(game: Any) -> Json:
        encoded.append(game.ply)
        if game.ply < 0:
            raise ValueError("a game that cannot be shown")
        return {"ply": game.ply}

    spectators = SpectatorStreams(view)
    streams = [Stream(backlog=1) for _ in range(size)]
    game: Any = FakeGame(0)
    for stream in streams:
        spectators.join(game, stream)
    return spectators, streams, encoded


def publish(spectators: SpectatorStreams, ply: int, *, is_over: bool = False) -> None:
    game: Any = FakeGame(ply, is_over=is_over)
    spectators.publish(game)


async def test_a_state_is_encoded_once_for_all() -> None:
    spectators, streams, encoded = crowd(3)
    publish(spectators, 1)
    assert encoded == [0, 0, 0, 1]
    assert [await each.read(0) for each in streams] == [b'{"ply":1}\n'] * 3


async def test_a_slow_reader_gets_the_newest_line_alone() -> None:
    spectators, (slow, quick), _ = crowd(2)
    publish(spectators, 1)
    assert await quick.read(0) == b'{"ply":1}\n'
    publish(spectators, 2)
    assert [await each.read(0) for each in (slow, quick)] == [b'{"ply":2}\n'] * 2


async def test_a_game_that_nobody_watches_costs_nothing() -> None:
    spectators, (stream,), encoded = crowd(1)
    for _ in range(2):
        spectators.remove("abcdefgh", stream)
    publish(spectators, 1)
    assert encoded == [0]


async def test_the_last_line_ends_all_streams() -> None:
    spectators, streams, _ = crowd(2)
    publish(spectators, 1, is_over=True)
    for each in streams:
        assert [await each.read(0) for _ in range(2)] == [b'{"ply":1}\n', None]


@pytest.mark.parametrize("is_over", [False, True])
async def test_a_game_that_cannot_be_shown_harms_no_move(
    caplog: pytest.LogCaptureFixture, is_over: bool
) -> None:
    spectators, (stream,), _ = crowd(1)
    await stream.read(0)
    for _ in range(20):
        publish(spectators, -1, is_over=is_over)
    assert 1 <= len(caplog.records) < 10
    assert caplog.records[0].levelno == logging.ERROR
    assert await stream.read(0) == (None if is_over else b"")


def watching(house: House, game_id: str) -> int:
    return len(list(house.arena._public.spectators.of(game_id)))


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
    assert watching(house, game) == 0
    again = await (await house.stream(f"/api/arena/game/{game}/watch", "")).rest()
    assert [line["state"]["status"] for line in again] == ["variantEnd"]


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
    assert 1 <= watching(house, game) <= 7
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
