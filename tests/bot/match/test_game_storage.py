"""Games in the database and back, on SQLite and on PostgreSQL."""

from dataclasses import replace

import pytest

from bot.match.conditions import GameClock, Terms
from bot.match.game_storage import load, store_game
from bot.match.openings import Opening
from bot.match.play import End, GameTask, MatchGameRecord, play
from bot.match.player_specs import MatchError
from bot.text.trap_report import game_report
from engine.bait_rule import RANK_MODEL
from engine.decision import OutcomeKind
from storage.database import Database
from storage.evidence.statistics.group_rows import read_groups
from storage.filters import Filters
from storage.ledger.decisions import list_decisions
from storage.ledger.games import list_games, load_game
from storage.records import MATCH_SITE, AccountKey, DecisionState, GameResult, GameStatus
from tests.bot.match.samples import fake, played, terms


def one(given: Terms, number: int = 0) -> MatchGameRecord:
    return play(GameTask(given, number, 1, Opening(None, ("f5", "d6"))))


async def test_a_game_of_ours(database: Database) -> None:
    given = terms("trappy:depth=4,assessment=last", "standard:depth=2")
    game = one(given, 1)
    await store_game(database, "m", given, game)
    async with database.read() as session:
        stored = await load_game(session, AccountKey(MATCH_SITE), "m-0002")
        assert stored is not None
        decisions = await list_decisions(session, stored.id)
        report = await game_report(session, stored)
    assert (stored.strategy, stored.opponent_name, stored.our_side) == ("trappy", "standard:depth=2", 1)
    assert stored.params.assessment == "last"
    assert stored.state is GameStatus.FINISHED
    assert stored.moves == game.moves
    points = {GameResult.WIN: 1.0, GameResult.DRAW: 0.5, GameResult.LOSS: 0.0}
    assert stored.result is not None
    assert points[stored.result] == game.finished.points
    assert [decision.decision for decision in decisions] == [decision for _, decision in game.decisions]
    for decision in decisions:
        assert decision.state is DecisionState.CONFIRMED
        assert decision.outcome is not None
        reply = game.moves[decision.ply + 1] if decision.ply + 1 < len(game.moves) else None
        assert decision.outcome.reply == reply
    assert report is not None
    assert any(decision.is_trap for decision in decisions)


async def test_there_and_back(database: Database) -> None:
    given = terms("standard", "trappy")
    games = [one(given, 0), one(given, 1)]
    for game in games:
        await store_game(database, "m", given, game)
    assert await load(database, "m", given) == {0: games[0].finished, 1: games[1].finished}
    assert await load(database, "other", given) == {}


async def test_a_game_is_never_doubled(database: Database) -> None:
    given = terms()
    await store_game(database, "m", given, played(0, 1))
    async with database.read() as session:
        assert len(await list_games(session, Filters(site=MATCH_SITE))) == 1
    with pytest.raises(MatchError, match="stored already"):
        await store_game(database, "m", given, played(0, 0))
    assert (await load(database, "m", given))[0].points == 1


async def test_another_program_as_we(database: Database) -> None:
    """It makes no decisions of ours; what its opponent is called can be chosen."""
    given = terms(fake("gtp", "othello"), fake("nboard", "othello", "illegal", more="; name=Fake\t2"))
    game = one(given)
    assert game.finished.end is End.ILLEGAL
    await store_game(database, "m", given, game)
    async with database.read() as session:
        (stored,) = await list_games(session, Filters(site=MATCH_SITE))
        assert await list_decisions(session, stored.id) == []
    assert (stored.strategy, stored.opponent_name) == ("gtp", "Fake\\t2")
    assert (stored.result, stored.end_reason) == (GameResult.WIN, "illegal move")
    assert await load(database, "m", given) == {0: game.finished}


async def test_a_decision_that_came_too_late(database: Database) -> None:
    given = terms("standard", "trappy")
    whole = one(given)
    ply, _ = whole.decisions[-1]
    late = replace(whole, moves=whole.moves[:ply])
    await store_game(database, "m", given, late)
    async with database.read() as session:
        (stored,) = await list_games(session, Filters(site=MATCH_SITE))
        decisions = await list_decisions(session, stored.id)
    assert decisions[-1].state is DecisionState.DROPPED
    assert decisions[-1].outcome is None


async def test_baits_are_counted_against_people(database: Database) -> None:
    """By the model that replies; what it takes is counted, also beyond the first 50 games."""
    given = terms("trappy:depth=4", "human")
    games = [play(GameTask(given, number, 1, None)) for number in range(6)]
    assert all(
        set(game.forecasts) == {ply for ply, each in game.decisions if each.is_complete} for game in games
    )
    for number in range(60):
        game = games[number % 6]
        again = replace(game, finished=replace(game.finished, number=number))
        await store_game(database, "m", given, again)
    async with database.read() as session:
        (found,) = (await read_groups(session, Filters(site=MATCH_SITE))).statistics()
    made = [each for game in games for each in game.forecasts.values()]
    assert all(each.is_judged and each.model.kind != RANK_MODEL for each in made if each.replies)
    assert found.baits_set % 10 == 0
    assert found.baits_set > 0
    assert found.baits.happened


def test_programs_take_no_baits() -> None:
    assert one(terms("trappy:depth=4", "standard:depth=2")).forecasts == {}


async def test_a_last_move_is_unanswered(database: Database) -> None:
    given = terms("standard", "trappy")
    whole = one(given)
    ply, _ = whole.decisions[-1]
    await store_game(database, "m", given, replace(whole, moves=whole.moves[: ply + 1]))
    async with database.read() as session:
        (stored,) = await list_games(session, Filters(site=MATCH_SITE))
        decisions = await list_decisions(session, stored.id)
    assert decisions[-1].outcome is not None
    assert decisions[-1].outcome.kind is OutcomeKind.UNANSWERED


async def test_words_that_no_database_takes(database: Database) -> None:
    given = terms("standard", fake("gtp", "othello", more=f"; name={'x' * 300}"))
    game = played(0, 1)
    told = replace(game.finished, reason="gone\x00\ud800", names=("a\x00", "\ud800"))
    clock = Terms(
        game="othello", a=given.a, b=given.b, clock=GameClock(0.5, 0.25), openings="seed 1", depth=3
    )
    await store_game(database, "m", clock, replace(game, finished=told))
    assert (await load(database, "m", clock))[0].names == ("a\\x00", "\\ud800")
    async with database.read() as session:
        (stored,) = await list_games(session, Filters(site=MATCH_SITE))
    assert len(stored.opponent_name) <= 200


async def test_other_terms(database: Database) -> None:
    await store_game(database, "m", terms(), played(0, 1))
    with pytest.raises(MatchError, match="begun with other terms: depth was 2 and is 3"):
        await load(database, "m", terms(depth=3))
