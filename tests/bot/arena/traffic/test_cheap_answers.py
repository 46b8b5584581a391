"""What is costly is done once: counted in renderings and queries."""

import asyncio
import gzip
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy import event

from bot.arena import board_view, export, game, referee, routes_site
from bot.arena.challenges import ServerBusy
from bot.arena.public import routes as public_routes
from bot.arena.traffic import budgets
from bot.arena.traffic import single_flight as once
from bot.arena.traffic.assets import INDEX, STATIC, Assets, assets
from bot.arena.traffic.cached_response import CachedResponse
from bot.arena.traffic.single_flight import SingleFlightCache
from storage.arena.accounts import RatingRecord
from storage.database import Database
from tests.bot.arena.conftest import House, Street


class Calls:
    """Counts the calls of a function."""

    def __init__(self, patch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
        self.count = 0
        original = getattr(owner, name)

        def counted(*args: Any, **options: Any) -> Any:
            self.count += 1
            return original(*args, **options)

        patch.setattr(owner, name, counted)


@asynccontextmanager
async def queries(database: Database) -> AsyncIterator[list[str]]:
    """The statements sent to the database while the block runs."""
    sent: list[str] = []

    def listen(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        sent.append(statement)

    engine = database._engine.sync_engine
    event.listen(engine, "before_cursor_execute", listen)
    yield sent
    event.remove(engine, "before_cursor_execute", listen)


async def finished(house: House) -> str:
    """A game that is over, and that the arena has forgotten."""
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    game_id = await house.start(person, bot)
    await person.move(game_id, "f5")
    await bot.move(game_id, "d6")
    await person.act(game_id, "resign")
    return game_id


async def test_a_finished_game_is_rendered_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    game_id = await finished(house)
    replayed, drawn = Calls(monkeypatch, game, "replay_record"), Calls(monkeypatch, board_view, "replay_json")
    told, written = Calls(monkeypatch, export, "export"), Calls(monkeypatch, export, "export_text")
    path, exported = f"/api/arena/game/{game_id}", f"/game/export/{game_id}"
    async with queries(house.database) as sent:
        answers = await asyncio.gather(*(house.request("GET", path) for _ in range(30)))
        for _ in range(3):
            for headers in ({}, {"Accept": "application/json"}):
                assert (await house.request("GET", exported, headers=headers))[0] == 200
    assert [status for status, _ in answers] == [200] * 30
    assert len(answers[0][1]["steps"]) == 3
    assert (replayed.count, drawn.count, told.count, written.count, len(sent)) == (1, 1, 1, 1, 1)


async def count_steps(house: House, game_id: str) -> int:
    return len((await house.request("GET", f"/api/arena/game/{game_id}"))[1]["steps"])


async def test_a_running_game_is_rendered_after_each_move(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    game_id = await house.start(person, bot)
    drawn = Calls(monkeypatch, board_view, "replay_json")
    steps = []
    for player, move in ((person, "f5"), (bot, "d6"), (person, "c3")):
        await player.move(game_id, move)
        steps += [await count_steps(house, game_id) for _ in range(2)]
    await person.act(game_id, "takeback/yes")
    await bot.act(game_id, "takeback/yes")
    steps.append(await count_steps(house, game_id))
    await person.act(game_id, "resign")
    assert (await house.request("GET", f"/api/arena/game/{game_id}"))[1]["status"] == "resign"
    assert (steps, drawn.count) == ([2, 2, 3, 3, 4, 4, 3], 5)


async def test_tags(house: House) -> None:
    game_id = await finished(house)
    for path in (f"/api/arena/game/{game_id}", f"/game/export/{game_id}", "/", "/static/app.js"):
        async with house._http.get(house.url + path) as response:
            tag, body = response.headers["ETag"], await response.read()
            assert response.headers["Cache-Control"] == "no-cache"
        async with house._http.get(
            house.url + path, headers={"If-None-Match": f'"other", {tag}'}
        ) as response:
            assert (response.status, await response.read(), response.headers["ETag"]) == (304, b"", tag)
        async with house._http.get(house.url + path, headers={"If-None-Match": '"other"'}) as response:
            assert (response.status, await response.read()) == (200, body)


async def test_a_renamed_player_is_shown_with_the_new_name(house: House) -> None:
    game_id = await finished(house)
    for name in ("Anna", "Zoe"):
        shown = (await house.request("GET", f"/api/arena/game/{game_id}"))[1]
        assert shown["players"]["black"]["name"] == name
        if name == "Anna":
            await house.arena.owner.rename("Anna", "Zoe")


async def test_players_of_a_finished_game_have_the_ratings_of_today(house: House) -> None:
    game_id = await finished(house)
    referee, accounts = house.arena._referee, house.arena.accounts
    assert [dict(each.ratings) for each in (await referee.find(game_id)).players] == [{}, {}]
    accounts.put_rating("anna", "othello", RatingRecord(1600.0, 100.0, 0.06, 3))
    assert [len(each.ratings) for each in (await referee.find(game_id)).players] == [1, 0]


async def test_a_report_is_made_once_in_a_while(street: Street) -> None:
    asked: list[str] = []

    async def report(game_id: str) -> dict[str, Any] | None:
        asked.append(game_id)
        return {"number": len(asked)}

    house = await street.open(report=report)
    game_id = await finished(house)
    path = f"/api/arena/game/{game_id}/report"
    assert [(await house.request("GET", path))[1] for _ in range(3)] == [{"number": 1}] * 3
    house.clock.advance(11)
    assert (await house.request("GET", path))[1] == {"number": 2}


async def test_many_names_are_one_query(house: House) -> None:
    person = await house.person("Anna")
    ids = ",".join([person.id, *(f"nobody{number}" for number in range(98)), "not a name"])
    tokens = ",".join([person.token, *(f"nonsense{number}" for number in range(49))])
    async with queries(house.database) as sent:
        assert [each["id"] for each in await person.get(f"/api/users/status?ids={ids}")] == ["anna"]
        assert len(sent) == 1
        status, tested = await house.request("POST", "/api/token/test", data=tokens)
        assert (status, len(sent)) == (200, 2)
    assert [each["userId"] for each in tested.values() if each] == ["anna"]
    house.arena.accounts.forget("anna")
    async with queries(house.database) as sent:
        assert len((await house.request("GET", "/api/users/status?ids=anna,nobody"))[1]) == 1
        assert len(sent) == 1


async def test_assets_have_addresses_that_change_with_them(house: House) -> None:
    tag = assets().tag
    status, page = await house.request("GET", "/")
    assert (status, page.count(f'"/static/{tag}/')) == (200, page.count('"/static/'))
    for path, kind, cached in (
        (f"/static/{tag}/app.js", "text/javascript", "public, max-age=31536000, immutable"),
        (f"/static/{tag}/colours.css", "text/css", "public, max-age=31536000, immutable"),
        ("/static/0123456789ab/board/board.js", "text/javascript", "no-cache"),
        ("/static/board/board.js", "text/javascript", "no-cache"),
        (f"/static/{tag}/icon.svg", "image/svg+xml", "public, max-age=31536000, immutable"),
    ):
        async with house._http.get(house.url + path) as response:
            assert (response.status, response.content_type) == (200, kind)
            assert response.headers["Cache-Control"] == cached
            assert f'from "/static/{tag}/' in await response.text() or not path.endswith(".js")
    assert Assets({"a.js": b"1"}).tag != Assets({"a.js": b"2"}).tag != Assets({"b.js": b"2"}).tag


async def test_answers_are_compressed_for_those_who_want_it(house: House) -> None:
    game_id = await finished(house)
    for path in (
        "/",
        "/static/app.js",
        "/static/styles.css",
        f"/api/arena/game/{game_id}",
        f"/game/{game_id}",
    ):
        tags, bodies = {}, {}
        for accepted, encoding in (("gzip, br", "gzip"), ("identity", None), ("gzip;q=0", None)):
            headers = {"Accept-Encoding": accepted}
            async with house._raw.get(house.url + path, headers=headers) as response:
                assert response.headers.get("Content-Encoding") == encoding
                assert response.headers["Vary"] == "Accept-Encoding"
                tags[encoding], bodies[encoding] = response.headers["ETag"], await response.read()
        assert gzip.decompress(bodies["gzip"]) == bodies[None]
        assert 2 * len(bodies["gzip"]) < len(bodies[None])
        assert tags["gzip"] != tags[None]
        for encoding, tag in tags.items():
            headers = {"Accept-Encoding": encoding or "identity", "If-None-Match": tag}
            async with house._raw.get(house.url + path, headers=headers) as response:
                assert response.status == 304
    # A token beside a name that somebody else may have chosen is never compressed.
    headers = {"Accept-Encoding": "gzip"}
    for name in ("Bea", "x" * 20):
        async with house._raw.post(
            house.url + "/api/person", json={"name": name}, headers=headers
        ) as response:
            assert (response.status, response.headers.get("Content-Encoding")) == (201, None)
    assert CachedResponse.of(b"a" * 5000, "image/png").compressed is None
    assert CachedResponse.of(b"a" * 999, "text/plain").compressed is None


async def test_the_page_has_one_style_sheet(house: House) -> None:
    page = (await house.request("GET", "/"))[1]
    assert re.findall(r'rel="stylesheet" href="([^"]+)"', page) == [f"/static/{assets().tag}/styles.css"]
    styles = assets().body("styles.css").decode()
    names = re.findall(r'rel="stylesheet" href="/static/([^"]+)"', (STATIC / INDEX).read_text())
    assert len(names) == 8
    assert styles == "\n".join(assets().body(name).decode() for name in names)


async def test_what_is_kept_is_bounded() -> None:
    store: SingleFlightCache[str] = SingleFlightCache(10, len)

    async def make(text: str) -> str:
        return await store.in_thread(str.upper, text)

    for text in ("aaaa", "bbbb", "aaaa", "cccc"):
        assert await store.get(text, lambda text=text: make(text)) == text.upper()  # type: ignore[misc]
    assert [store.cached(text) for text in ("aaaa", "bbbb", "cccc")] == ["AAAA", None, "CCCC"]
    await store.get("long", lambda: make("d" * 11))
    assert [store.cached(text) for text in ("aaaa", "cccc", "long")] == [None, None, "D" * 11]


async def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(once, "MAX_WAITING_COMPUTATIONS", 2)
    store: SingleFlightCache[int] = SingleFlightCache(10)
    gate = asyncio.Event()

    async def make() -> int:
        await gate.wait()
        raise ValueError("spoilt")

    waiting = [asyncio.ensure_future(store.get(number % 2, make)) for number in range(4)]
    await asyncio.sleep(0)
    with pytest.raises(ServerBusy, match="busy"):
        await store.get("third", make)
    gate.set()
    assert [str(each) for each in await asyncio.gather(*waiting, return_exceptions=True)] == ["spoilt"] * 4

    async def mend() -> int:
        return 7

    assert await store.get(0, mend) == 7


async def test_a_change_is_encoded_once_for_all_tabs(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    game_id = await house.start(person, bot)
    tabs = [await person.game(game_id) for _ in range(3)]
    robot = await bot.game(game_id)
    for each in (*tabs, robot):
        await each.next()
    views = Calls(monkeypatch, board_view, "with_view")
    encoded = Calls(monkeypatch, referee, "line_of")
    await person.move(game_id, "f5")
    lines = [await each.next() for each in tabs]
    assert lines[0]["view"]["moves"] == ["f5"]
    assert lines[1:] == lines[:-1]
    assert "view" not in await robot.next()
    assert (views.count, encoded.count) == (1, 2)


async def test_a_replay_costs_by_its_length_unless_it_is_at_hand(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    game_id = await house.start(person, bot)
    await person.move(game_id, "f5")
    for module in (routes_site, public_routes):
        monkeypatch.setattr(module, "COST_PER_PLY", 1e6)
    path = f"/api/arena/game/{game_id}"
    status, body = await house.request("GET", path)
    assert (status, body["ratelimit"]["key"]) == (429, "requests")
    monkeypatch.setattr(routes_site, "COST_PER_PLY", budgets.COST_PER_PLY)
    assert (await house.request("GET", path))[0] == 200
    monkeypatch.setattr(routes_site, "COST_PER_PLY", 1e6)
    assert (await house.request("GET", path))[0] == 200
    await bot.move(game_id, "d6")
    assert (await house.request("GET", path))[0] == 429
    await person.act(game_id, "resign")
    assert (await house.request("GET", f"/game/{game_id}/ggf"))[0] == 429
    assert (await house.request("GET", f"/game/export/{game_id}"))[0] == 200
