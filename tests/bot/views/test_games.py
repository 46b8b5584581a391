import csv
import io

import pytest
from markupsafe import escape

from bot.views.games import result_label
from storage.database import Database
from tests.bot.dashboard.samples import NAMES, met_bait
from tests.bot.views.conftest import Visitor
from tests.storage.samples import opened


async def test_games_are_listed_with_their_baits(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        game = await met_bait(session, "one", opponent="Anna", rating=1710)
        await opened(session, "two")
    page = await visitor.text("/dash/games")
    for part in (
        "<em>2</em> games", f'href="/dash/games/{game.id}"', "1710 against 1500", ">won<", "being played",
        "1 of 1", "no baits",
    ):  # fmt: skip
        assert part in page, part
    told = await visitor.json("/dash/api/games")
    found = {line["site_game_id"]: line for line in told["games"]}
    assert (found["one"]["baits_set"], found["one"]["baits_taken"], found["one"]["plies"]) == (1, 1, 2)
    assert (found["two"]["state"], found["two"]["result"], found["two"]["plies"]) == ("open", None, 0)
    rows = list(csv.DictReader(io.StringIO(await visitor.text("/dash/api/games.csv"))))
    assert {row["opponent"] for row in rows} == {"Anna"} | {line["opponent"] for line in told["games"]}


async def test_filters_and_results_select(database: Database, visitor: Visitor) -> None:
    async with database.write() as session:
        await met_bait(session, "one", opponent="Anna")
        await opened(session, "two", opponent_name="Bert", opponent_id="bert")
    for query, names in {
        "result=win": ["one"],
        "result=open": ["two"],
        "result=loss": [],
        "opponent=bert": ["two"],
        "game=chess": ["one"],
        "sort=longest": ["one", "two"],
    }.items():
        told = await visitor.json(f"/dash/api/games?{query}")
        assert [line["site_game_id"] for line in told["games"]] == names, query
        assert told["count"] == len(names)
    assert "No games match these filters." in await visitor.text("/dash/games?result=loss")


async def test_an_empty_database_says_so(visitor: Visitor) -> None:
    assert "No game has been played yet." in await visitor.text("/dash/games")


@pytest.mark.parametrize("name", NAMES)
async def test_hostile_names_stay_text(database: Database, visitor: Visitor, name: str) -> None:
    async with database.write() as session:
        game = await met_bait(session, "one", opponent=name)
    for path in ("/dash/games", f"/dash/games/{game.id}"):
        page = await visitor.text(path)
        assert f"<bdi>{escape(name)}</bdi>" in page
        assert "<img src=x" not in page


@pytest.mark.parametrize(
    ("query", "part"),
    [("result=won", "known: any, win"), ("sort=size", "known: newest"), ("ply=3", "not a filter")],
)
async def test_what_is_unknown_is_said(visitor: Visitor, query: str, part: str) -> None:
    assert part in await visitor.text(f"/dash/games?{query}", 400)


def test_how_games_end() -> None:
    assert result_label("open", None) == ("being played", "")
    assert result_label("aborted", None) == ("aborted", "")
    assert result_label("finished", "win") == ("won", "good")
    assert result_label("finished", "draw") == ("drawn", "")
    assert result_label("finished", "loss") == ("lost", "trap")
    assert result_label("finished", None) == ("result unknown", "")
