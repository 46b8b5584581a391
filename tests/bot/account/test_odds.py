"""Odds in our own challenges and rematches."""

import random
from dataclasses import replace
from typing import Any

import pytest

from bot.account.matchmaking import MatchmakingHistory, choose_opponent
from bot.account.odds import at_odds, rematch_at_odds
from bot.account.rematches import Rematches
from bot.base.config import ChallengesConfig, MannersConfig, MatchmakingConfig
from bot.base.dialects import DIALECTS, get_dialect
from bot.base.events import Bot, Clock, Proposal, Reply
from engine.opponents.odds import NAMES, ODDS, odds_named
from storage.database import Database
from storage.ledger.games import finish_game
from storage.records import GameResult
from tests.bot.fakes import FakeServer, config, services
from tests.storage.samples import opened

LICHESS = get_dialect("lichess")
CASUAL = Proposal("standard", False, Clock(180, 2))
QUEEN = ODDS["chess"][3]


@pytest.mark.parametrize("side", [None, 0, 1])
def test_a_casual_challenge_to_a_much_weaker_player_is_at_odds(side: int | None) -> None:
    proposal = replace(CASUAL, side=side)
    odds = at_odds(proposal, LICHESS, (2450, 1500), NAMES, random.Random(1))
    assert odds.side in ({0, 1} if side is None else {side})
    assert odds.initial_position == QUEEN.starts[odds.side or 0]
    assert replace(odds, side=side, initial_position=None) == proposal


@pytest.mark.parametrize(
    ("proposal", "ratings", "allowed"),
    [
        (replace(CASUAL, rated=True), (2450, 1500), NAMES),  # no site rates such games
        (CASUAL, (2600, None), NAMES),
        (CASUAL, (None, 1500), NAMES),
        (CASUAL, (1500, 2600), NAMES),  # we do not ask for odds
        (CASUAL, (2450, 1500), ()),
        (replace(CASUAL, variant="chess960"), (2450, 1500), NAMES),
        (replace(CASUAL, variant="crazyhouse"), (2450, 1500), NAMES),
        (replace(CASUAL, variant="no such variant"), (2450, 1500), NAMES),
    ],
)
def test_other_challenges_stay_as_they_are(
    proposal: Proposal, ratings: tuple[int | None, int | None], allowed: tuple[str, ...]
) -> None:
    assert at_odds(proposal, LICHESS, ratings, allowed, random.Random(1)) == proposal


def test_only_sites_known_to_take_positions_get_them() -> None:
    assert {name: set(dialect.set_positions) for name, dialect in DIALECTS.items()} == {
        "arena": {"standard", "othello", "xiangqi"},
        "lichess": {"standard"},
        "playstrategy": set(),
        "pychess": set(),
        "ggs": set(),
    }


@pytest.mark.parametrize(("rated", "start"), [(False, True), (True, False)])
def test_matchmaking_gives_odds_in_casual_games(rated: bool, start: bool) -> None:
    us, them = Bot("desdemona", "Desdemona", {"blitz": 2450}), Bot("anne", "Anne", {"blitz": 1500})
    found = choose_opponent(
        [us, them],
        MatchmakingHistory(),
        MatchmakingConfig(rated=rated, clocks=("180+2",)),
        ChallengesConfig(),
        our_name="Desdemona",
        blocked=(),
        rating_list=LICHESS.rating_list,
        rng=random.Random(1),
        dialect=LICHESS,
        odds=("queen",),
    )
    assert found is not None
    assert (found[0], found[1].initial_position in QUEEN.starts) == (them, start)


def test_a_rematch_at_odds_gives_the_same_from_the_other_side() -> None:
    for giver in (0, 1):
        proposal = replace(CASUAL, variant="fromPosition", side=1 - giver)
        again = rematch_at_odds(proposal, LICHESS, "chess", QUEEN.starts[giver], NAMES)
        assert again == replace(CASUAL, side=1 - giver, initial_position=QUEEN.starts[1 - giver])
        # The opponent gave them, the setting does not list them, or the site takes no positions.
        assert (
            rematch_at_odds(replace(proposal, side=giver), LICHESS, "chess", QUEEN.starts[giver], NAMES)
            is None
        )
        assert rematch_at_odds(proposal, LICHESS, "chess", QUEEN.starts[giver], ("knight",)) is None
    start = ODDS["othello"][0].starts[0]
    other = Proposal("flipello", False, Clock(180, 2), side=1)
    assert rematch_at_odds(other, DIALECTS["playstrategy"], "othello", start, NAMES) is None
    assert rematch_at_odds(CASUAL, LICHESS, "chess", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", NAMES) is None


@pytest.mark.parametrize("names", [(), ("1-corner", "2-corners", "3-corners")])
async def test_rematches_of_casual_games_are_at_the_odds_that_fit(
    database: Database, names: tuple[str, ...]
) -> None:
    asked: list[Proposal] = []

    async def send(_opponent: str, proposal: Proposal) -> Reply:
        asked.append(proposal)
        return Reply("next", True, "accepted")

    settings = config(manners=MannersConfig(rematches=9, odds=names))
    corner = odds_named("othello", "1-corner")
    assert corner is not None
    ratings = {"our_rating": 1500 + round(corner.points(1500)), "opponent_rating": 1500}
    cases: dict[str, dict[str, Any]] = {
        "casual": {"rated": False},
        "rated": {"rated": True},
        "at odds": {"rated": False, "initial_position": corner.starts[0]},
    }
    async with services(FakeServer(), database, settings=settings) as given:
        for key, changes in cases.items():
            async with database.write() as session:
                game = await opened(session, key, our_side=0, **ratings, **changes)
                await finish_game(session, game.id, result=GameResult.WIN, end_reason="mate")
            await Rematches(given, send).offer(key)
    at_corner, usual = corner.starts[1], None
    assert [(each.side, each.rated, each.initial_position) for each in asked] == (
        [(1, False, at_corner), (1, True, usual), (1, False, at_corner)]
        if names
        else [(1, False, usual), (1, True, usual)]
    )
