"""Rematches that we offer people."""

from dataclasses import replace
from typing import Any

import pytest

from bot.account.rematches import Rematches, proposal_for
from bot.base.config import MannersConfig
from bot.base.errors import RefusedError
from bot.base.events import Clock, Proposal, Reply
from storage.database import Database
from storage.ledger.games import finish_game
from storage.records import GameResult
from tests.bot.fakes import FakeServer, config, services
from tests.storage.samples import opened


class Players:
    """Take every rematch until they are told not to."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Proposal]] = []
        self.accept = True

    async def send(self, opponent: str, proposal: Proposal) -> Reply:
        self.asked.append((opponent, proposal))
        if not self.accept:
            raise RefusedError("anna did not accept: declined", 403)
        return Reply("next", True, "accepted")


async def ended(database: Database, key: str, **changes: Any) -> str:
    async with database.write() as session:
        game = await opened(session, key, **changes)
        await finish_game(session, game.id, result=GameResult.WIN, end_reason="mate")
    return key


async def test_so_many_in_a_row_with_colours_in_turn(database: Database) -> None:
    players = Players()
    settings = config(manners=MannersConfig(rematches=2))
    async with services(FakeServer(), database, settings=settings) as given:
        rematches = Rematches(given, players.send)
        for number in range(4):
            await rematches.offer(await ended(database, f"game{number}", our_side=number % 2))
        terms = Proposal("othello", True, Clock(180, 2), side=1)
        other = replace(terms, side=0)
        # The third game brings no offer, and begins a new row.
        assert players.asked == [("anna", terms), ("anna", other), ("anna", other)]

        players.asked.clear()
        players.accept = False
        await rematches.offer(await ended(database, "declined", opponent_id="ben"))
        players.accept = True
        await rematches.offer(await ended(database, "later", opponent_id="ben"))
        await rematches.offer(await ended(database, "once more", opponent_id="ben"))
        await rematches.offer(await ended(database, "enough", opponent_id="ben"))
        assert len(players.asked) == 3


async def test_none_are_offered_by_default(database: Database) -> None:
    players = Players()
    async with services(FakeServer(), database) as given:
        await Rematches(given, players.send).offer(await ended(database, "game"))
    assert players.asked == []


@pytest.mark.parametrize(
    "changes",
    [
        {"opponent_is_bot": True},
        {"clock_initial_s": None, "clock_increment_s": None},
        {"initial_position": "a position"},
    ],
)
async def test_games_without_a_rematch(database: Database, changes: dict[str, Any]) -> None:
    async with database.write() as session:
        game = await opened(session, **changes)
    assert proposal_for(replace(game, result=GameResult.LOSS)) is None
    assert proposal_for(replace(game, result=None)) is None
