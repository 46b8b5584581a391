"""An opponent's page: links to it, hostile names and keys, filters, JSON and CSV, and its controls."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from urllib.parse import urlencode

import pytest
from markupsafe import escape
from sqlalchemy import update

from bot.views.addresses import opponent_path
from bot.views.opponent import OpponentView, opponent_page
from storage.database import Database
from storage.ledger.blocks import add_block
from storage.tables.games import GameRow, OpponentRow
from tests.bot.dashboard.conftest import Opened
from tests.bot.dashboard.desk_samples import FakeActions
from tests.bot.dashboard.samples import NAMES, met_bait
from tests.bot.views.conftest import Visitor
from tests.storage.evidence.statistics.test_suspect_rows import answered
from tests.storage.samples import ERRED, FELL, OPTIMAL, judge_replies
from tests.storage.samples import opened as begun

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
KEYS = (
    *NAMES,
    *("..", ".", "a/b", "a?b#c", "%2e%2e%2f", "a&id=anna", "two\nlines", "+", " anna ", "\N{KELVIN SIGN}"),
)

COSTLY = replace(FELL, cost=3000)
LATEST = 2
"""So many games are not judged yet."""


async def regular(database: Database, games: int = 44) -> None:
    """Anna plays on every second day: a bait and two other positions a game."""
    async with database.write() as session:
        for number in range(games):
            game = await begun(
                session,
                f"g{number}",
                at=NOON + timedelta(days=2 * number),
                opponent_rating=1500 + number,
                our_side=number % 2,
            )
            for ply, outcome in ((0, OPTIMAL), (2, COSTLY if number % 3 else OPTIMAL), (4, ERRED)):
                await answered(session, game.id, ply, outcome, 2.0)
            if number < games - LATEST:
                await judge_replies(session, game.id)


async def test_what_the_page_says(database: Database, visitor: Visitor) -> None:
    await regular(database)
    told = await visitor.json("/dash/api/opponent?site=arena&id=anna")
    assert (told["name"], told["site_id"], told["games"], told["days"]) == ("Anna", "anna", 44, 44)
    assert [each["games"] for each in told["tallies"]] == [22, 22]
    blocks = told["progress"][0]["blocks"]
    assert [(each["first"], each["last"]) for each in blocks] == [(1, 20), (21, 40), (41, 44)]
    assert (blocks[0]["elsewhere"]["replies"], blocks[0]["elsewhere"]["errors"]) == (60, 13)
    assert blocks[2]["elsewhere"]["replies"] == 3 * (4 - LATEST)
    assert blocks[2]["elsewhere"]["error_share"] is None
    assert {each["days_since"] for each in told["visits"]} == {None, 2}
    assert [each["rating"] for each in told["ratings"][0]["points"]] == list(range(1500, 1544))
    assert (told["list"]["count"], told["list"]["pages"], len(told["list"]["games"])) == (44, 5, 10)
    page = await visitor.text("/dash/opponent?site=arena&id=anna")
    assert "<strong>44</strong> games" in page
    assert f"<strong>{3 * LATEST} replies</strong> not judged yet" in page
    assert "Othello: share of erroneous replies" in page
    assert "21.7 %<small>" in page
    assert "too few" in page
    assert "Came on 44 days, the last one 19 Feb 2027; a median of 2 days between visits" in page
    assert '<li class="pill warn"><strong>engine-like</strong> 44 games</li>' in page
    assert "And 34 more; the CSV has all." in page
    assert "Controls" not in page  # the database alone
    assert "Trust 50 %: nothing is known of this person yet." in page


async def test_few_games_have_no_course(database: Database, visitor: Visitor) -> None:
    await regular(database, 3)
    page = await visitor.text("/dash/opponent?site=arena&id=anna")
    assert "replies that are errors" not in page
    assert "Othello, all 3" in page
    assert "They have met no baits." in page
    assert "None of their games is suspect." in page


async def test_baits_and_the_games_before(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        await met_bait(session, "one", opponent="Clara")
        await met_bait(session, "two", "e7e5", opponent="Clara")  # another account: the key tells them apart
    told = await visitor.json("/dash/api/opponent?site=arena&id=one")
    assert [bait["game_id"] for bait in told["baits"]] == [1]
    page = await visitor.text("/dash/opponent?site=arena&id=one")
    assert page.count('<article class="card trap-card') == 1
    assert '<a href="/dash/traps?opponent=Clara&amp;site=arena&amp;outcome=taken">' in page
    assert "They met 1 bait and took none." in await visitor.text("/dash/opponent?site=arena&id=two")


async def test_filters_stay_with_the_opponent(database: Database, visitor: Visitor) -> None:
    await regular(database, 4)
    async with database.write() as session:
        await begun(
            session, "other", opponent_id="ben", opponent_name="Ben", game="chess", variant="standard"
        )
    told = await visitor.json("/dash/api/opponent?site=arena&id=anna&side=first")
    assert (told["games"], told["list"]["count"]) == (2, 2)
    page = await visitor.text("/dash/opponent?site=arena&id=anna&game=chess")
    assert "No games with this opponent match these filters" in page
    assert '<input type="hidden" name="id" value="anna">' in page  # so that a filter keeps the opponent
    for wrong in ("opponent=ben", "match=m", "opponents=people"):
        assert "is not a filter of this page" in await visitor.text(
            f"/dash/opponent?site=arena&id=anna&{wrong}", 400
        )


async def test_tables(database: Database, visitor: Visitor) -> None:
    await regular(database, 22)
    address = "/dash/api/opponent.csv?site=arena&id=anna&table="
    rows = {
        name: (await visitor.text(f"{address}{name}")).splitlines()
        for name in ("tallies", "progress", "ratings", "visits", "games")
    }
    assert {name: len(lines) for name, lines in rows.items()} == {
        "tallies": 3,
        "progress": 3,
        "ratings": 23,
        "visits": 23,
        "games": 11,
    }
    assert rows["progress"][0].startswith("game,first,last,since,until,tempting_replies,tempting_errors")
    assert await visitor.text(f"{address}suspects") == ""


@pytest.mark.parametrize(
    "query", ["", "site=arena", "site=arena&id=nobody", "site=x&id=anna", "site=arena&id=%00", "id=anna"]
)
async def test_nobody(database: Database, visitor: Visitor, query: str) -> None:
    await regular(database, 1)
    assert "We have never played" in await visitor.text(f"/dash/opponent?{query}", 404)


@pytest.mark.parametrize("keys", [KEYS[:7], KEYS[7:]])
async def test_hostile_names_and_keys(database: Database, visitor: Visitor, keys: tuple[str, ...]) -> None:
    async with database.write() as session:
        for number, key in enumerate(keys):
            await met_bait(session, f"g{number}", opponent=key)
            row = update(OpponentRow).where(OpponentRow.site_id == f"g{number}")
            await session.execute(row.values(site_id=key))
    lists = [await visitor.text(path) for path in ("/dash/opponents", "/dash/games", "/dash/traps", "/dash")]
    assert not any("<img src=x" in text for text in lists)
    for game, key in enumerate(keys, 1):
        link = f'href="{escape(opponent_path("arena", key))}"'
        assert [link in text for text in lists] == [True] * 4, key
        assert link in await visitor.text(f"/dash/games/{game}"), key
        # As a browser follows the link.
        page = await visitor.text(unescape(link[6:-1]))
        assert f"<bdi>{escape(key)}</bdi>" in page
        assert "<img src=x" not in page
        assert link in page
        query = urlencode({"site": "arena", "id": key})
        assert (await visitor.json(f"/dash/api/opponent?{query}"))["site_id"] == key
        await visitor.text(f"/dash/api/opponent.csv?{query}&table=baits")


async def test_no_link_where_filters_cannot_say_the_name(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        await met_bait(session, "one", opponent=NAMES[1])
    assert "All on Traps" not in await visitor.text("/dash/opponent?site=arena&id=one")


async def test_former_names_are_shown(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        await begun(session, "g1", opponent_name="<b>Old</b>")
        await begun(session, "g2", opponent_name="New")
    assert "Formerly &lt;b&gt;Old&lt;/b&gt;." in await visitor.text("/dash/opponent?site=arena&id=anna")


async def test_an_aborted_game_is_listed_alone(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        game = await begun(session, "g1")
        await session.execute(update(GameRow).where(GameRow.id == game.id).values(state="aborted"))
    page = await visitor.text("/dash/opponent?site=arena&id=anna")
    assert "No games with this opponent match these filters, or all were aborted." in page
    assert '<span class="tag">aborted</span>' in page


# --- Controls ----------------------------------------------------------------------------------------------


def forms(page: str) -> dict[str, dict[str, str]]:
    """The forms of the controls by their action, with their hidden fields."""
    found = {}
    for form in re.findall(r'<form method="post" action="/dash/do".*?</form>', page, re.DOTALL):
        hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form)
        fields = {name: unescape(value) for name, value in hidden}
        found[fields["action"]] = fields
    return found


async def test_block_and_unblock(database: Database, opened: Opened) -> None:
    await regular(database, 1)
    actions = FakeActions()
    address = "/dash/opponent?site=arena&id=anna"
    async with opened(actions) as browser:
        _, page = await browser.get(address)
        assert ">Controls</h2>" in page
        assert set(forms(page)) == {"block"}
        assert "arena does not show challenges to people" in page
        fields = forms(page)["block"]
        assert fields == {"action": "block", "next": address, "name": "anna", "account": "arena"}
        assert "Play no more games with anna" in (await browser.act(**fields))[2]  # it asks
        assert actions.calls == []
        assert (await browser.act(**fields, confirmed="yes"))[:2] == (303, address)
        assert actions.calls == [("block", ("anna",), {"account": "arena", "by": "dashboard"})]
        assert (await browser.act(origin="https://evil.example", **fields, confirmed="yes"))[0] == 403
    async with database.write() as session:
        await add_block(session, "arena", "Anna")
    async with opened(actions) as browser:
        _, page = await browser.get(address)
        assert '<li class="pill bad"><strong>blocked</strong></li>' in page
        assert forms(page)["unblock"]["name"] == "anna"
        await browser.act(**forms(page)["unblock"])
        assert actions.calls[-1] == ("unblock", ("anna",), {"account": "arena", "by": "dashboard"})


async def test_a_challenge_with_the_last_terms(database: Database, opened: Opened) -> None:
    async with database.write() as session:
        terms = {"clock_initial_s": 30, "clock_increment_s": 0, "rated": False, "variant": "xiangqi"}
        await begun(session, "g1", opponent_is_bot=True, **terms)
    actions = FakeActions()
    async with opened(actions) as browser:
        _, page = await browser.get("/dash/opponent?site=arena&id=anna")
        assert '<option value="xiangqi" selected>Xiangqi</option>' in page
        assert '<option value="standard">Chess</option>' in page
        assert '<option value="chess960">Chess (chess960)</option>' in page
        assert "fromPosition" not in page
        assert 'name="clock" type="text" value="0.5+0"' in page
        assert '<option value="casual" selected>' in page
        fields = forms(page)["challenge"]
        await browser.act(**fields, variant="xiangqi", clock="0.5+0", rated="casual")
    ((name, (who, proposal), options),) = actions.calls
    assert (name, who, options) == ("begin_challenge", "Anna", {"account": "arena", "by": "dashboard"})
    assert (proposal.variant, proposal.rated, proposal.side) == ("xiangqi", False, None)
    assert (proposal.clock.initial_s, proposal.clock.increment_s) == (30, 0)


@pytest.mark.parametrize(
    ("site", "key", "says", "offered"),
    [
        ("ggs", "anna", "None of our accounts is signed in at ggs at the moment.", set()),
        ("arena", "an na", "Commands cannot name this account", set()),
        ("lichess", "anna", "Clock: minutes", {"block", "challenge"}),
    ],
)
async def test_what_cannot_be_done_is_not_offered(
    database: Database, opened: Opened, site: str, key: str, says: str, offered: set[str]
) -> None:
    async with database.write() as session:
        await begun(session, "g1", site=site, opponent_id=key, opponent_name=key)
    async with opened(FakeActions()) as browser:
        _, page = await browser.get(opponent_path(site, key))
        assert says in page
        assert set(forms(page)) == offered


async def test_sites_where_nobody_can_be_challenged(database: Database) -> None:
    async with database.write() as session:
        await begun(session, "g1", site="pychess")
        await begun(session, "g2", site="elsewhere")
    page = opponent_page()
    for site in ("pychess", "elsewhere"):
        view = await page.load(database, page.query({"site": site, "id": "anna"}, {}))
        assert isinstance(view, OpponentView)
        assert view.challenge(["ours"]) is None
