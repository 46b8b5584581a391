"""One filter for everything that selects games."""

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from engine.games import GAMES, get_rules
from engine.opponents.odds import ODDS
from engine.params import Scale, TrapParams
from storage.database import Database
from storage.errors import FilterError
from storage.evidence.trials import NewTrial, start_trial
from storage.filters import _CONDITIONS, Filters, GamePhase, TrapSettings, of_games, standing_conditions
from storage.ledger.decisions import mark_dropped, mark_taken_back
from storage.ledger.games import finish_game, list_games, load_game
from storage.records import MATCH_SITE, GameResult
from storage.tables.games import DecisionRow
from tests.storage.evidence.statistics.facts import game_facts
from tests.storage.samples import ARENA, decision, opened, settled

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
OTHER = TrapParams(scale=Scale.EXPECTED, risk_percent=1 / 3)

# The first game is as the samples are; each of the others differs in one thing.
CHANGES: tuple[tuple[dict[str, Any], Filters], ...] = (
    ({"strategy": "standard"}, Filters(strategy="standard")),
    ({"engine_version": "2"}, Filters(version="2")),
    ({"site": "elsewhere"}, Filters(site="elsewhere")),
    ({"account": "second"}, Filters(account="Second")),
    ({"game": "chess"}, Filters(game="chess")),
    ({"speed": "ultraBullet"}, Filters(speed="ultrabullet")),
    ({"opponent_id": "x1", "opponent_name": "Bert"}, Filters(opponent_id="x1")),
    ({"opponent_id": "x2", "opponent_name": "Çelik"}, Filters(opponent="Çelik")),
    ({"opponent_id": "x3", "opponent_is_bot": True}, Filters(opponent_is_bot=True)),
    ({"our_side": 1}, Filters(our_side=1)),
    ({"site": MATCH_SITE, "selection": {"match": "m1"}}, Filters(match="m1")),
    ({"at": NOON + timedelta(days=2)}, Filters(since=NOON + timedelta(days=1))),
    ({"at": NOON - timedelta(days=2)}, Filters(until=NOON - timedelta(days=1))),
    ({"opponent_rating": 2100}, Filters(min_opponent_rating=2000)),
    ({"opponent_rating": 900}, Filters(max_opponent_rating=1000)),
    ({"rated": False}, Filters(rated=False)),
    ({"game": "chess", "initial_position": ODDS["chess"][1].starts[0]}, Filters(at_odds=True)),
    # Only board and side to move say that a game is at odds; the rest is the challenger's.
    (
        {"game": "chess", "initial_position": ODDS["chess"][1].starts[0].replace("KQkq - 0", "- - 7")},
        Filters(at_odds=True),
    ),
    ({"game": "othello", "initial_position": ODDS["othello"][0].starts[1]}, Filters(at_odds=True)),
)


@pytest.mark.parametrize("at", range(len(CHANGES)))
async def test_each_filter_finds_its_game_and_no_other(database: Database, at: int) -> None:
    changes, filters = CHANGES[at]
    async with database.write() as session:
        await opened(session, "usual", at=NOON)
        await opened(session, "other", **({"at": NOON} | changes))
        assert [game.site_game_id for game in await list_games(session, filters)] == ["other"]


async def test_games_without_odds_include_other_positions(database: Database) -> None:
    async with database.write() as session:
        await opened(session, "usual", game="chess")
        await opened(session, "ending", game="chess", initial_position="4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
        await opened(session, "at odds", game="chess", initial_position=ODDS["chess"][1].starts[0])
        found = {game.site_game_id for game in await list_games(session, Filters(at_odds=False))}
        assert found == {"usual", "ending"}


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("our_side", [0, 1])
async def test_who_moves_first_is_told_from_the_starting_position(
    database: Database, name: str, our_side: int
) -> None:
    """Black moves first in many set positions of chess."""
    rules = get_rules(name)
    starts = {0: rules.initial()}
    starts[1] = rules.play(starts[0], rules.legal_moves(starts[0])[0])
    text, _, moves = rules.position_text(starts[1]).partition(" moves ")
    if moves:  # the same position with the other side to move
        starts[1] = rules.parse_position(text.replace(" w ", " b "))
    async with database.write() as session:
        for side, start in starts.items():
            text = rules.position_text(start)
            await opened(session, f"from{side}", game=name, initial_position=text, our_side=our_side)
        await opened(session, "usual", game=name, our_side=our_side)
        for order in (0, 1):
            found = {game.site_game_id for game in await list_games(session, Filters(our_side=order))}
            expected = {
                key
                for key, start in {"from0": starts[0], "from1": starts[1], "usual": starts[0]}.items()
                if (rules.side_to_move(start) != our_side) == bool(order)
            }
            assert found == expected


def test_every_filter_has_a_condition() -> None:
    assert {field.name for field in fields(Filters)} - {"phase"} == set(_CONDITIONS)


async def test_who_cannot_select_moves_says_so(database: Database) -> None:
    filters = Filters(strategy="trappy", phase=GamePhase(1))
    async with database.read() as session:
        for ask in (list_games, game_facts):
            with pytest.raises(
                FilterError, match="phase: selects moves, but only whole games can be selected"
            ):
                await ask(session, filters)
    assert of_games(filters) == Filters(strategy="trappy")


async def test_by_result_and_trial(database: Database) -> None:
    async with database.write() as session:
        plan: dict[str, Any] = {"trappy": {}, "standard": {}}
        trial = await start_trial(
            session, NewTrial(name="t1", arms=("trappy", "standard"), configurations=plan)
        )
        await opened(session, "open", trial_id=trial.id)
        won = await opened(session, "won")
        await finish_game(session, won.id, result=GameResult.WIN, end_reason="normal")

        async def found(filters: Filters) -> list[str]:
            return [game.site_game_id for game in await list_games(session, filters)]

        assert await found(Filters(has_result=True)) == ["won"]
        assert await found(Filters(has_result=False)) == ["open"]
        ended = await load_game(session, ARENA, "won")
        assert ended is not None
        assert ended.ended_at is not None
        assert await found(Filters(ended_before=ended.ended_at)) == []
        assert await found(Filters(ended_before=ended.ended_at + timedelta(seconds=1))) == ["won"]
        assert await found(Filters(trial="t1")) == ["open"]
        unsettled = await opened(session, "unsettled")
        await finish_game(
            session,
            unsettled.id,
            result=GameResult.WIN,
            end_reason="normal",
            settled=False,
            at=ended.ended_at,
        )
        assert await found(Filters(ended_before=ended.ended_at + timedelta(seconds=1))) == ["won"]
        assert await found(Filters(trial="t2")) == []


async def test_settings_are_found_by_the_text_that_is_shown(database: Database) -> None:
    async with database.write() as session:
        await opened(session, "usual")
        await opened(session, "other", params=OTHER)
        await opened(session, "third", params=replace(OTHER, risk_percent=0.33))
        texts = {fact.settings for fact in await game_facts(session)}
        assert len(texts) == 3
        for text in texts:
            settings = TrapSettings.parse(f" {text} ")
            assert settings.text == text
            (fact,) = await game_facts(session, Filters(settings=settings))
            assert fact.settings == text


@pytest.mark.parametrize("text", ["", "median", "median, paper, margin x, value, risk 1/2 %, threshold 5 %"])
def test_what_no_settings_show(text: str) -> None:
    with pytest.raises(ValueError, match="is not a value that `stats --by settings` shows"):
        TrapSettings.parse(text)


async def test_decisions_that_stand_are_neither_taken_back_nor_dropped(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        ids = [await settled(session, game.id, ply, decision(), None) for ply in range(0, 8, 2)]
        await mark_dropped(session, ids[1])
        await mark_taken_back(session, game.id, 4)
        found = await session.scalars(
            select(DecisionRow.id).where(*standing_conditions()).order_by(DecisionRow.id)
        )
        assert list(found) == [ids[0]]
