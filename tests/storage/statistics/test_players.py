import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import Outcome, OutcomeKind
from engine.judgement import judge_decision
from storage import tallies
from storage.database import Database
from storage.decisions import commit_decision, mark_dropped, store_profile, void_after
from storage.filters import Filters
from storage.games import finish_game
from storage.intervals import OpponentGames, performance, share
from storage.outcomes import record_outcome
from storage.records import MATCH_SITE, GameResult
from storage.statistics.players import PlayerStatistics, player_statistics
from tests.storage.samples import (
    ERRED,
    FELL,
    FELL_ELSE,
    OPTIMAL,
    UNANSWERED,
    decision,
    opened,
    settled,
)

TALLIED = (
    *("traps_set", "traps_optimal", "traps_fell", "traps_fell_for_best", "traps_erred_elsewhere"),
    *("traps_unanswered", "plain_optimal", "plain_erred"),
)


async def one(database: Database, filters: Filters | None = None) -> PlayerStatistics:
    async with database.read() as session:
        (row,) = await player_statistics(session, filters)
    return row


async def test_nothing_yet(database: Database) -> None:
    async with database.read() as session:
        assert await player_statistics(session) == []


async def test_matches_count_when_asked_for(database: Database) -> None:
    async with database.write() as session:
        for site in ("arena", MATCH_SITE):
            game = await opened(session, site=site)
            await finish_game(session, game.id, result=GameResult.WIN, end_reason="normal", moves=["f5"])
    assert (await one(database)).games == 1
    assert (await one(database, Filters(site=MATCH_SITE))).games == 1


class Answers:
    """A session in which any query finds these rows, in an order that a database is free to choose."""

    def __init__(self, *rows: dict[str, object]) -> None:
        none = dict.fromkeys(("games", "wins", "draws", "losses", "unfinished", *TALLIED), 0)
        self.rows = [SimpleNamespace(**(none | {"opponent_rating": None} | row)) for row in rows]

    async def execute(self, _statement: object) -> list[SimpleNamespace]:
        return self.rows


async def test_numbers_added_up_by_hand() -> None:
    """Two rows of one player, by the opponents' rating, before one of a player whose name comes first."""
    counts = dict(zip(TALLIED, (90, 2, 9, 5, 20, 50, 7, 3), strict=True))
    rows = (
        {"player": "b", "games": 9, "wins": 3, "draws": 2, "losses": 1, "unfinished": 3, **counts},
        {"player": "b", "games": 4, "wins": 1, "draws": 1, "losses": 2, "opponent_rating": 1500},
        {"player": "b", "games": 1, "unfinished": 1, "opponent_rating": 9000},
        {"player": "b", "games": 1, "losses": 1, "opponent_rating": 1600},
        {"player": "a", "games": 1},
    )
    first, found = await player_statistics(cast(AsyncSession, Answers(*rows)))
    assert (first.player, found.player) == ("a", "b")
    assert (found.games, found.wins, found.draws, found.losses, found.unfinished) == (15, 4, 3, 4, 4)
    assert found.performance == performance([OpponentGames(1500, 4, 1.5), OpponentGames(1600, 1, 0.0)])
    assert (found.traps_set, found.answered, found.unanswered, found.pending) == (90, 31, 50, 9)
    assert (found.optimal, found.fell, found.fell_for_best, found.erred_elsewhere) == (2, 9, 5, 20)
    assert (found.fell_share, found.trap_erred_share) == (share(9, 31), share(29, 31))
    assert (found.base_answered, found.base_optimal, found.base_erred) == (10, 7, 3)
    assert found.base_erred_share == share(3, 10)
    assert found.to_json()["fell_share"]["of"] == 31


async def test_the_papers_figure_9(database: Database) -> None:
    """198 traps: 34 optimal, 61 fell, 103 other; 30.8 % fell."""
    outcomes = [OPTIMAL] * 34 + [FELL] * 50 + [FELL_ELSE] * 11 + [ERRED] * 103
    async with database.write() as session:
        for number in range(6):
            game = await opened(session, f"g{number}")
            for ply, outcome in enumerate(outcomes[number::6]):
                await settled(session, game.id, ply, decision(quality=200.0), outcome)
    row = await one(database)
    assert (row.traps_set, row.answered) == (198, 198)
    assert (row.optimal, row.fell, row.fell_for_best, row.erred_elsewhere) == (34, 61, 50, 103)
    assert (row.unanswered, row.pending) == (0, 0)
    assert row.fell_share.share == pytest.approx(0.308, abs=5e-4)
    assert (row.trap_erred_share.count, row.trap_erred_share.of) == (164, 198)


async def test_every_decision_has_its_place(database: Database) -> None:
    trap = decision(quality=100.0)
    async with database.write() as session:
        game = await opened(session)
        await settled(session, game.id, 0, trap, FELL)
        await settled(session, game.id, 2, trap, UNANSWERED)
        await settled(session, game.id, 4, trap, None)  # pending
        await settled(session, game.id, 6, decision(quality=99.0), OPTIMAL)  # below the threshold: no trap
        await settled(session, game.id, 8, decision(), ERRED)
        await settled(session, game.id, 10, decision(replies=1), OPTIMAL)  # forced: says nothing
        await settled(session, game.id, 12, decision(), UNANSWERED)
        late = await commit_decision(session, game.id, 14, decision(complete=False))
    assert (await one(database)).traps_set == 3
    async with database.write() as session:
        await store_profile(session, late, trap)
    row = await one(database)
    assert (row.traps_set, row.answered, row.unanswered, row.pending) == (4, 1, 1, 2)
    assert (row.base_answered, row.base_optimal, row.base_erred) == (2, 1, 1)


async def test_what_was_never_played_or_taken_back_counts_nowhere(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        await settled(session, game.id, 0, decision(quality=200.0), FELL)
        await settled(session, game.id, 2, decision(quality=200.0), FELL)
        dropped = await commit_decision(session, game.id, 4, decision(quality=200.0))
        await mark_dropped(session, dropped)
    assert (await one(database)).traps_set == 2
    async with database.write() as session:
        await void_after(session, game.id, 2)
    row = await one(database)
    assert (row.traps_set, row.fell) == (1, 1)


async def test_an_aborted_game_is_no_game_but_its_traps_are_told(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        await settled(session, game.id, 0, decision(quality=100.0), UNANSWERED)
        await finish_game(session, game.id, result=None, end_reason="aborted", aborted=True, moves=("f5",))
    row = await one(database)
    assert (row.games, row.wins, row.draws, row.losses, row.unfinished) == (0, 0, 0, 0, 0)
    assert (row.traps_set, row.answered, row.unanswered) == (1, 0, 1)


async def test_results_and_performance(database: Database) -> None:
    results = [GameResult.WIN] * 3 + [GameResult.DRAW] * 2 + [GameResult.LOSS, None]
    async with database.write() as session:
        for number, result in enumerate(results):
            game = await opened(session, f"g{number}", opponent_rating=1600)
            await finish_game(session, game.id, result=result, end_reason="normal")
        unrated = await opened(session, "unrated", opponent_rating=None)
        await finish_game(session, unrated.id, result=GameResult.LOSS, end_reason="normal")
        aborted = await opened(session, "aborted")
        await finish_game(session, aborted.id, result=None, end_reason="aborted", aborted=True)
        await opened(session, "open")
    row = await one(database)
    assert (row.games, row.wins, row.draws, row.losses, row.unfinished) == (9, 3, 2, 2, 1)
    assert (row.performance.games, row.performance.points) == (6, 4.0)
    assert row.performance.rating == pytest.approx(1600 + 400 * 0.30103, abs=0.01)  # 2 : 1


async def test_players_are_told_apart_and_filtered(database: Database) -> None:
    noon = datetime(2026, 11, 1, 12, tzinfo=UTC)
    async with database.write() as session:
        for number, player in enumerate(["standard", "trappy", "trappy"]):
            game = await opened(session, f"g{number}", player=player, at=noon + timedelta(days=number))
            await settled(session, game.id, 0, decision(quality=200.0), FELL)
    async with database.read() as session:
        both = await player_statistics(session)
        assert [(row.player, row.games, row.fell) for row in both] == [("standard", 1, 1), ("trappy", 2, 2)]
        assert await player_statistics(session, Filters(site="elsewhere")) == []
    assert (await one(database, Filters(since=noon + timedelta(days=2)))).games == 1
    assert (await one(database, Filters(player="standard"))).player == "standard"


@pytest.mark.parametrize("seed", range(3))
async def test_tallies_equal_an_independent_count(database: Database, seed: int) -> None:
    """Decisions, profiles, outcomes and takebacks in any order, counted here by hand."""
    rng = random.Random(seed)
    expected: Counter[str] = Counter()
    async with database.write() as session:
        for number in range(8):
            game = await opened(session, f"g{number}")
            taken_back_from = rng.choice([99, 99, 6])
            for ply in range(0, 12, 2):
                made = decision(quality=rng.choice([0.0, 99.0, 100.0, 300.0]), replies=rng.choice([1, 2, 3]))
                outcome = rng.choice([FELL, FELL_ELSE, OPTIMAL, ERRED, UNANSWERED, None])
                decision_id = await commit_decision(session, game.id, ply, decision(complete=False))
                if rng.random() < 0.5:  # the outcome may even come before the profile
                    await store_profile(session, decision_id, made)
                if outcome is not None:
                    await record_outcome(session, decision_id, outcome)
                await store_profile(session, decision_id, made)
                if ply < taken_back_from:
                    is_trap = judge_decision(made).is_trap
                    expected.update(kinds(is_trap, len(made.chosen.replies), outcome))
            await void_after(session, game.id, taken_back_from)
    for _ in range(2):
        row = await one(database)
        assert {
            "set": row.traps_set,
            "optimal": row.optimal,
            "fell": row.fell,
            "best": row.fell_for_best,
            "erred": row.erred_elsewhere,
            "unanswered": row.unanswered,
            "base optimal": row.base_optimal,
            "base erred": row.base_erred,
        } == {key: expected[key] for key in KEYS}
        async with database.write() as session:
            await tallies.rebuild(session)


KEYS = ("set", "optimal", "fell", "best", "erred", "unanswered", "base optimal", "base erred")


def kinds(is_trap: bool, replies: int, outcome: Outcome | None) -> list[str]:
    names = {
        OutcomeKind.OPTIMAL: "optimal",
        OutcomeKind.FELL: "fell",
        OutcomeKind.ERRED_ELSEWHERE: "erred",
        OutcomeKind.UNANSWERED: "unanswered",
    }
    if not is_trap:
        if replies < 2 or outcome is None or outcome.kind is OutcomeKind.UNANSWERED:
            return []
        return ["base optimal" if outcome.kind is OutcomeKind.OPTIMAL else "base erred"]
    found = ["set"]
    if outcome is not None:
        found += [names[outcome.kind], *(["best"] if outcome.fell_for_best else [])]
    return found
