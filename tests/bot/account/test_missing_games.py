"""Games that the account played while the database did not have them, as after the restore of a backup."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.account.missing_games import (
    GAMES_MISSING,
    MIN_GAP,
    OVERLAP,
    name_missing_games,
    read_span,
    record_clean_stop,
)
from bot.base.config import Config, ServerConfig
from bot.base.dialects import Capability
from bot.base.errors import RefusedError, TransientError
from bot.base.events import ListedGame
from bot.game.services import GameServices
from storage.database import Database
from storage.errors import StorageError
from storage.ledger.events import list_events
from storage.ledger.games import finish_game
from storage.records import GameResult
from tests.bot.fakes import FakeServer, services
from tests.storage.samples import opened

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
LATEST = NOW - timedelta(days=3)
ELSEWHERE = Config(server=ServerConfig(dialect="arena", url="https://games.example"))


@pytest.fixture(autouse=True)
def _now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.account.missing_games.now_utc", lambda: NOW)


def listed(game_id: str, hours: float, opponent: str = "Anna") -> ListedGame:
    """A game that began this many hours after the latest record."""
    return ListedGame(game_id, opponent, LATEST + timedelta(hours=hours))


async def store(given: GameServices, *ids: str, at: datetime = LATEST) -> None:
    async with given.database.write() as session:
        for key in ids:
            game = await opened(session, key, site="arena", account="desdemona", at=at)
            await finish_game(session, game.id, result=GameResult.WIN, end_reason="mate", moves=[], at=at)


async def named(given: GameServices) -> str:
    span = await read_span(given.database, given.owner)
    return "" if span is None else await name_missing_games(given, span)


async def test_the_sites_list_names_them(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    server = FakeServer()
    async with services(server, database) as given:
        await store(given, "first", at=LATEST - timedelta(days=9))
        await store(given, "known")
        server.listed = [listed("old", -25), listed("known", -1), listed("lost1", 3), listed("lost2", 5, "")]
        text = await named(given)
        async with database.read() as session:
            (event,) = await list_events(session, kind=GAMES_MISSING)
    assert text == (
        "2 finished games at arena are not in the database, which may be an older backup: lost1 (against "
        "Anna, 2026-11-26 15:00 UTC), lost2 (against somebody, 2026-11-26 17:00 UTC)"
    )
    assert text in caplog.text
    assert event.detail["games"] == ["lost1", "lost2"]
    assert server.listed_since == [LATEST - OVERLAP]


async def test_games_before_the_first_record_are_not_ours(database: Database) -> None:
    """Another program may have played the account before."""
    server = FakeServer()
    async with services(server, database) as given:
        server.listed = [listed("theirs", -1)]
        assert await named(given) == ""  # the database is empty
        await store(given, "known")
        assert await named(given) == ""
        assert server.listed_since == [LATEST]


async def test_many_games_are_counted(database: Database) -> None:
    server = FakeServer()
    async with services(server, database) as given:
        await store(given, "known")
        server.listed = [listed(f"lost{number}", number) for number in range(1, 700)]
        text = await named(given)
    assert text.startswith("699 finished games")
    assert text.endswith("UTC) and 679 more")


async def test_it_is_asked_until_it_answers(database: Database) -> None:
    server = FakeServer()
    async with services(server, database) as given:
        await store(given, "known")
        server.listed = [listed("lost", 1)]
        server.list_faults = [TransientError("gone"), StorageError("full"), TransientError("gone")]
        assert (await named(given)).startswith("1 finished game at arena is not in the database")


@pytest.mark.parametrize("has_list", [True, False])
async def test_without_a_list_the_gap_is_named(database: Database, has_list: bool) -> None:
    server = FakeServer()
    if has_list:
        server.list_faults = [RefusedError("no such page", 404)]
    else:
        server.cannot = {Capability.GAME_LIST}
    async with services(server, database, settings=ELSEWHERE) as given:
        await store(given, "known")
        text = await named(given)
    assert text.startswith("there is no record of this account from 2026-11-26 12:00 UTC to 2026-11-29 12:00")
    assert "arena has no list that names them" in text


@pytest.mark.parametrize(("gap", "is_named"), [(MIN_GAP, True), (MIN_GAP - timedelta(seconds=1), False)])
async def test_a_short_gap_is_a_restart(database: Database, gap: timedelta, is_named: bool) -> None:
    server = FakeServer()
    server.cannot = {Capability.GAME_LIST}
    async with services(server, database, settings=ELSEWHERE) as given:
        await store(given, "known", at=NOW - gap)
        assert bool(await named(given)) is is_named


async def test_a_clean_stop_leaves_no_gap(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless something was recorded after it, as in a backup made later."""
    server = FakeServer()
    server.cannot = {Capability.GAME_LIST}
    async with services(server, database, settings=ELSEWHERE) as given:
        await store(given, "known")
        monkeypatch.setattr("storage.ledger.events.now_utc", lambda: LATEST + timedelta(hours=1))
        await record_clean_stop(given)
        assert await named(given) == ""
        await store(given, "later", at=LATEST + timedelta(hours=2))
        assert await named(given) != ""


async def test_the_embedded_arena_has_the_same_database(database: Database) -> None:
    server = FakeServer()
    server.cannot = {Capability.GAME_LIST}
    async with services(server, database, settings=Config()) as given:
        await store(given, "known")
        assert await named(given) == ""
