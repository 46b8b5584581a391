"""The report for people who must not learn which player they met."""

import json
from dataclasses import replace
from typing import Any

import pytest

from bot.arena.blind_report import blind_report
from bot.arena.server import stored_report
from storage.database import Database
from storage.decisions import commit_decision, list_decisions
from storage.games import finish_game, get_game
from storage.outcomes import record_outcome
from storage.records import GameResult
from storage.report import game_report
from tests.storage.samples import ARENA, FELL, decision, opened

DRAWN = {"method": "balanced", "chances": {"standard": 0.4, "trappy": 0.6}, "number": "0" * 16}
PRIVATE = {
    *("player", "params", "engine_version", "selection", "trial_id", "sets_traps", "search_mode", "pick"),
    *("source", "model", "trouble", "depth", "time_s", "standard", "chosen", "scores_centi", "glance_plies"),
    *("probability", "raw_centi", "adjusted_centi", "our_text", "value"),
}


async def written(database: Database, player: str = "trappy", *, ended: bool = True, **changes: Any) -> None:
    """A game with one trap, and who fell into it."""
    new = {"selection": DRAWN, "player": player} | changes
    async with database.write() as session:
        game = await opened(session, **new)
        made = replace(decision(quality=225.0), player=player)
        key = await commit_decision(session, game.id, 0, made)
        await record_outcome(session, key, FELL)
        if ended:
            moves = ["f5", "d6", "c3"]
            await finish_game(session, game.id, result=GameResult.WIN, end_reason="normal", moves=moves)


def keys_of(value: Any) -> set[str]:
    match value:
        case dict():
            return set(value).union(*map(keys_of, value.values()))
        case list():
            return set().union(*map(keys_of, value))
    return set()


@pytest.mark.parametrize("player", ["standard", "trappy", "strong"])
async def test_it_shows_the_trap_whoever_set_it(database: Database, player: str) -> None:
    await written(database, player)
    told = await stored_report(database)("game0001")
    told = json.loads(json.dumps(told))
    assert told["blind"] is True
    assert not keys_of(told) & PRIVATE
    assert player not in json.dumps(told)
    (made,) = told["decisions"]
    assert (made["move"], made["is_trap"], made["trap"]["reply"]) == ("f5", True, "d6")
    assert (made["outcome"], made["reply"], made["cost_text"]) == ("fell", "d6", "3.00")
    assert [each["move"] for each in made["candidates"]] == ["c4", "d3", "e6", "f5"]
    assert [set(each) for each in made["candidates"]] == [{"move", "name", "squares"}] * 4
    # Best for the opponent first, whatever the order of the search.
    assert [each["reply"] for each in made["replies"]] == ["f6", "f4", "d6"]
    assert [each["final_centi"] for each in made["replies"]] == [100, 200, 400]
    assert made["replies"][2]["glance_text"] == "+3.00"


async def test_the_reports_of_all_players_are_the_same(database: Database) -> None:
    told = []
    for player in ("standard", "trappy"):
        await written(database, player, key=f"of_{player}")
        report = await stored_report(database)(f"of_{player}")
        assert report is not None
        told.append(report | {"site_game_id": ""})
    assert told[0] == told[1]


async def test_it_waits_until_the_game_is_settled(database: Database) -> None:
    await written(database, ended=False)
    assert await stored_report(database)("game0001") is None
    revealed = await stored_report(database, reveal=True)("game0001")
    assert revealed is not None
    assert revealed["player"] == "trappy"


@pytest.mark.parametrize(
    ("reveal", "selection", "is_blind"),
    [(False, DRAWN, True), (True, DRAWN, False), (False, {"method": "fixed"}, False)],
)
async def test_when_it_is_blind(
    database: Database, reveal: bool, selection: dict[str, Any], is_blind: bool
) -> None:
    await written(database, selection=selection)
    told = await stored_report(database, reveal=reveal)("game0001")
    assert told is not None
    assert ("blind" in told, "player" in told) == (is_blind, not is_blind)
    assert await stored_report(database, reveal=reveal)("unknown") is None


async def test_a_trap_too_small_to_count_is_not_mentioned(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        await commit_decision(session, game.id, 0, decision(quality=25.0))
        stored = await get_game(session, ARENA, "game0001")
        assert stored is not None
        assert [made.is_trap for made in await list_decisions(session, game.id)] == [False]
        told = blind_report(await game_report(session, stored))
    assert told["decisions"][0]["trap"] is None
