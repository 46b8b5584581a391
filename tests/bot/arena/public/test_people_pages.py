"""Pages of players, and of the best of them."""

from datetime import timedelta
from typing import Any

from bot.arena.glicko import MIN_PROVISIONAL_DEVIATION
from bot.arena.public.people import trap_trends
from storage.arena import accounts as arena
from storage.arena.accounts import ArenaGameRecord, RatingRecord
from storage.database import Database
from storage.evidence.queries.arena_people import list_arena_games
from storage.evidence.statistics.reply_progress import progress
from storage.tables.types import now_utc
from tests.bot.arena.conftest import House, Street
from tests.bot.arena.test_play import WIPE_OUT, meet, take_turns
from tests.storage.evidence.statistics.arrays import counted_replies

NOW = now_utc()


async def add(database: Database, count: int, *, diff: int | None = 5, variant: str = "othello") -> None:
    """Finished games of Anna with Desdemona, one a day; two of them began at the same moment."""
    async with database.write() as session:
        for number in range(count):
            at = NOW - timedelta(days=200 - max(1, number))
            sides = ("anna", "desdemona")
            await arena.add_game(
                session,
                ArenaGameRecord(
                    id=f"{variant[:4]}{number:04d}", variant=variant, rated=diff is not None, initial_s=300,
                    increment_s=3, players=sides if number % 2 else sides[::-1],
                    ratings=(1500 + 5 * number, 1500 + 5 * number), provisional=(False, True),
                    rematch_of=None, moves=("f5", "d6"), remaining_ms=(1000, 1000),
                    draw_offers=(False, False), takeback_offers=(False, False), status="resign", winner=0,
                    rating_diffs=None if diff is None else (diff, -diff), created_at=at, last_move_at=at,
                    ended_at=at,
                ),
            )  # fmt: skip


async def test_a_list_of_games_in_parts(house: House) -> None:
    person, _ = await house.person("Anna"), await house.bot("Desdemona")
    await add(house.database, 45)
    wanted = [f"othe{number:04d}" for number in reversed(range(45))]
    found: list[str] = []
    before: str | None = ""
    while before is not None:
        page = await person.get(f"/api/arena/games?before={before}")
        assert len(page["games"]) <= 20
        found += [game["id"] for game in page["games"]]
        before = page["before"]
    assert found == wanted
    public = await house.request("GET", f"/api/arena/user/ANNA/games?before={wanted[19]}")
    assert [game["id"] for game in public[1]["games"]] == wanted[20:40]
    row = page["games"][-1]
    assert (row["side"], row["result"], row["ratingDiff"]) == ("white", "loss", -5)
    assert row["opponent"] == {"id": "desdemona", "name": "Desdemona", "rating": 1500, "provisional": False}
    assert page["games"][-2]["opponent"]["provisional"] is True
    assert (await house.request("GET", "/api/arena/games"))[0] == 401
    assert (await house.request("GET", "/api/arena/user/nobody/games"))[0] == 404
    assert (await person.get("/api/arena/games?before=nonsense"))["games"][0]["id"] == wanted[0]


async def test_each_side_of_a_list_is_found_by_an_index(house: House) -> None:
    await house.person("Anna")
    await house.bot("Desdemona")
    await add(house.database, 3)
    plans: list[str] = []
    async with house.database.read() as session:
        execute = session.execute

        async def explained(statement: Any, *args: Any, **options: Any) -> Any:
            text = str(statement.compile(session.get_bind(), compile_kwargs={"literal_binds": True}))
            connection = await session.connection()
            rows = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}")
            plans.extend(row[-1] for row in rows)
            return await execute(statement, *args, **options)

        session.execute = explained  # type: ignore[method-assign]
        await list_arena_games(session, "anna", 20)
    assert any("ix_arena_games_first_at" in plan for plan in plans), plans
    assert any("ix_arena_games_second_at" in plan for plan in plans), plans
    assert not [plan for plan in plans if plan.startswith("SCAN arena_games")]


async def test_a_profile_shows_ratings_games_and_who_is_there(street: Street) -> None:
    house = await street.open(bot="Desdemona")
    person, bot, game = await meet(house, rated="true")
    await take_turns(game, WIPE_OUT, person, bot)
    await add(house.database, 25)
    running = await house.start(person, bot)
    stream = await person.game(running)
    await stream.next()
    status, page = await house.request("GET", "/@/anna")
    assert status == 200
    assert "<h1" in page
    assert 'data-say="Online now."' in page
    assert f'href="/game/{running}"><span data-say="Watch the running game"' in page
    assert 'class="line-1"' in page, "a curve"
    assert '<span class="result result-running"><span data-say="Playing">Playing</span>' in page
    assert 'rel="next" href="/@/Anna?before=othe0007"' in page
    status, older = await house.request("GET", "/@/Anna?before=othe0007")
    assert (status, "othe0006" in older, "othe0007" in older) == (200, True, False)
    assert "Newest games" in older
    status, ours = await house.request("GET", "/@/desdemona")
    assert "The arena's own bot." in ours.replace("&#39;", "'")
    assert "Desdemona sets the traps here." in ours


async def test_lists_tell_of_odds(street: Street) -> None:
    house = await street.open(bot="Desdemona")
    person, bot = await house.person("Anna"), await house.bot("Ben")
    game = await house.start(person, bot, variant="standard", color="white", odds="queen+knight")
    listed = (await person.get("/api/arena/games"))["games"]
    assert [(each["id"], each["title"]) for each in listed] == [(game, "Chess")]
    assert listed[0]["odds"] == {"name": "queen+knight", "text": "queen and knight"}
    _, page = await house.request("GET", "/@/Anna")
    assert 'data-say="odds: {what}"' in page
    assert "queen and knight" in page
    even = await house.start(person, bot, variant="othello")
    newest = (await person.get("/api/arena/games"))["games"][0]
    assert (newest["id"], newest["odds"]) == (even, None)


async def test_who_is_not_there_is_not_found(street: Street) -> None:
    house = await street.open(bot="Desdemona")
    await house.person("Anna")
    for name in ("nobody", "<b>x", "x" * 200):
        status, page = await house.request("GET", f"/@/{name}")
        assert (status, "There is no player with that name." in page) == (404, True), name
    await house.arena.owner.ban("anna")
    assert (await house.request("GET", "/@/anna"))[0] == 404
    status, page = await house.request("GET", "/foo/bar")
    assert (status, "There is no page at this address." in page, 'href="/"' in page) == (404, True, True)
    for path in ("/api/foo", "/static/foo.js"):
        assert (await house.request("GET", path))[1] in ({"error": "Not found"}, "404: Not Found"), path


async def test_the_best_are_ranked_and_the_unsettled_apart(street: Street) -> None:
    house = await street.open(bot="Desdemona")
    deviations = {
        "Anna": MIN_PROVISIONAL_DEVIATION,
        "Bea": 60.0,
        "Chen": MIN_PROVISIONAL_DEVIATION + 1,
        "Dan": 200.0,
        "Eva": 50.0,
    }
    for name in deviations:
        await house.person(name)
    async with house.database.write() as session:
        for number, (name, deviation) in enumerate(deviations.items()):
            rating = RatingRecord(1500.0 + 10 * number, deviation, 0.06, 30)
            await arena.save_rating(session, name.lower(), "othello", rating)
        await arena.save_rating(session, "desdemona", "othello", RatingRecord(1505.0, 46.0, 0.06, 900))
    await house.arena.owner.ban("eva")
    status, told = await house.request("GET", "/api/arena/leaders")
    assert status == 200
    assert [each["name"] for each in told["ranked"]] == ["Bea", "Desdemona", "Anna"]
    assert [each["ours"] for each in told["ranked"]] == [False, True, False]
    assert [(each["name"], each["provisional"]) for each in told["others"]] == [
        ("Dan", True),
        ("Chen", True),
    ]
    status, page = await house.request("GET", "/leaders?variant=othello")
    assert status == 200
    ranked, unsettled = page.split('id="others"')
    assert ranked.index("/@/Bea") < ranked.index("/@/Desdemona") < ranked.index("/@/Anna")
    assert "the arena's own" in ranked.replace("&#39;", "'")
    assert "1530?" in unsettled
    assert "/@/Eva" not in page
    assert '<title data-say="Leaders: {game} · Desdemona" data-game="Othello">' in page
    assert "Nobody has an established rating" in (await house.request("GET", "/leaders?variant=xiangqi"))[1]
    for unknown in ("ludo", "chess960"):
        assert (await house.request("GET", f"/leaders?variant={unknown}"))[0] == 400


def test_traps_over_time() -> None:
    few, many = (
        trap_trends(progress(counted_replies([[(2, 1), (5, 1)]] * games, NOW)))[0] for games in (3, 60)
    )
    assert (few.title, few.history.everything.tempting.errors, few.chart) == ("Othello", 3, None)
    assert many.chart is not None
    assert "after baits" in many.chart
    assert "elsewhere" in many.chart
    assert trap_trends(progress(counted_replies([[(0, 0), (0, 0)]], NOW))) == ()
