"""Opponents: counts by hand, orders, hostile names."""

import pytest
from markupsafe import escape
from sqlalchemy import select, update

from storage.database import Database
from storage.evidence.summaries import games_to_summarise, summarise
from storage.tables.games import GameRow, OpponentRow
from tests.bot.dashboard.samples import NAMES, met_bait
from tests.bot.views.conftest import Visitor
from tests.storage.samples import opened


async def play(database: Database) -> None:
    async with database.write() as session:
        await met_bait(session, "one", opponent="Clara", rating=1710)
        game = await met_bait(session, "two", opponent="somebody", rating=1690)
        clara = select(OpponentRow.id).where(OpponentRow.name == "Clara").scalar_subquery()
        await session.execute(update(GameRow).where(GameRow.id == game.id).values(opponent_id=clara))
        await opened(session, "three", opponent_name="Bert", opponent_id="bert")


@pytest.mark.parametrize("summed", [False, True])
async def test_each_opponent_is_counted(database: Database, visitor: Visitor, summed: bool) -> None:
    await play(database)
    if summed:
        async with database.write() as session:
            games = await games_to_summarise(session, 0, 100)
            assert await summarise(session, games) == 2
    told = await visitor.json("/dash/api/opponents?sort=games")
    clara, bert = told["opponents"]
    assert (clara["name"], clara["games"], clara["best_rating"], clara["decided"]) == ("Clara", 2, 1710, 2)
    assert (clara["points"], clara["baits_set"], clara["baits_taken"], clara["slips"]) == (0.0, 2, 2, 0)
    assert (bert["name"], bert["games"], bert["baits_set"], bert["decided"]) == ("Bert", 1, 0, 0)
    assert (told["count"], told["returned"], told["programs"]) == (2, 0, 0)
    page = await visitor.text("/dash/opponents")
    assert '<a href="/dash/traps?opponent=Clara&amp;site=arena">2 of 2</a>' in page


async def test_filters_select(database: Database, visitor: Visitor) -> None:
    await play(database)
    for query, names in {"opponent=bert": ["Bert"], "min-rating=1700": ["Clara"], "game=xiangqi": []}.items():
        told = await visitor.json(f"/dash/api/opponents?{query}")
        assert [line["name"] for line in told["opponents"]] == names, query
    assert "No opponents match these filters." in await visitor.text("/dash/opponents?game=xiangqi")


@pytest.mark.parametrize("name", NAMES)
async def test_hostile_names_stay_text(database: Database, visitor: Visitor, name: str) -> None:
    async with database.write() as session:
        await met_bait(session, "one", opponent=name)
    assert f"<bdi>{escape(name)}</bdi>" in await visitor.text("/dash/opponents")
