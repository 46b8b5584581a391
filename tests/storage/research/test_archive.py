from dataclasses import replace

import pytest

from engine.formats.record import GameRecord
from storage.database import Database
from storage.research.archive import BATCH, add_imported_games, content_key, draw_key, each_game

GAME = GameRecord(
    game="othello",
    players=("Tastet Marc", "Penloup Dominique"),
    moves=("f5", "d6", "pass", "c3"),
    points=0.5,
    margin=0.0,
    ending="resigned",
    event="World Championship",
    place="Paris",
    round="3",
    date="1984",
    ratings=(1720.5, None),
    clocks=("05:00", "03:00"),
    evaluations=(1.5, None, -3.0, None),
    times_s=(0.25, 1.0, None, None),
    tags=(("ECO", "x"), ("TheoreticalScore", "33 at 24")),
)
BARE = GameRecord(game="chess", start="8/8/8/8/8/8/8/K1k5 w - - 0 1")


async def _all(database: Database, game: str | None = None, player: str | None = None) -> list[GameRecord]:
    async with database.read() as session:
        return [record async for record in each_game(session, game=game, player=player)]


async def _add(database: Database, *records: GameRecord) -> int:
    async with database.write() as session:
        return await add_imported_games(session, records, source="a.ggf", source_format="ggf")


async def test_games_come_back_as_they_were_in_order(database: Database) -> None:
    assert await _add(database, GAME, BARE) == 2
    assert await _all(database) == [GAME, BARE]
    assert len(await _all(database, game="chess")) == 1


async def test_a_game_is_kept_once(database: Database) -> None:
    assert await _add(database, GAME, replace(GAME, ratings=(None, None))) == 1
    assert await _add(database, replace(GAME, tags=(), ratings=(None, None), evaluations=()), BARE) == 1
    assert await _add(database) == 0
    assert await _all(database) == [GAME, BARE]


def test_how_numbers_and_texts_are_written_makes_no_other_game() -> None:
    same = replace(GAME, margin=-0.0, points=1 / 2, players=("Tastet  Marc ", GAME.players[1]))
    assert content_key(same) == content_key(replace(GAME, margin=0)) == content_key(GAME)


@pytest.mark.parametrize(
    "other",
    [
        replace(GAME, players=("Tastet Marc", "Juigner Arnaud")),
        replace(GAME, event="Cup"),
        replace(GAME, date="1985"),
        replace(GAME, place="Lyon"),
        replace(GAME, round=""),
        replace(GAME, moves=GAME.moves[:2]),
        replace(GAME, start="8/8/8/3bw3/3wb3/8/8/8 b"),
        replace(GAME, margin=2.0, points=1.0),
        replace(GAME, game="chess"),
    ],
)
def test_what_makes_another_game(other: GameRecord) -> None:
    assert content_key(other) != content_key(GAME)


def test_draws_stay_as_they_were_before_place_and_round_counted() -> None:
    assert draw_key(GAME) == draw_key(replace(GAME, place="", round="4")) != content_key(GAME)
    assert draw_key(BARE) == content_key(BARE)
    assert draw_key(BARE) == "dd136d5c5ec81e81c5c5027654b24823d686cd2b34fc4cdae901773e84fcfee4"


async def test_games_can_be_chosen(database: Database) -> None:
    odd = replace(GAME, players=("100% _bot_", "x"))
    await _add(database, GAME, BARE, odd)
    assert await _all(database, game="chess") == [BARE]
    assert await _all(database, player="penloup") == [GAME]
    assert await _all(database, player="0% _B") == [odd]
    assert await _all(database, player="%%") == []


async def test_more_than_a_batch(database: Database) -> None:
    games = [replace(BARE, round=str(n), date=str(n)) for n in range(BATCH + 3)]
    assert await _add(database, *games[:BATCH]) == BATCH
    assert await _add(database, *games[BATCH:]) == 3
    assert await _all(database) == games


async def test_odd_texts_are_kept_but_for_signs_that_are_none(database: Database) -> None:
    names = ("a\0\x1b[2Jb", "'; DROP TABLE imported_games; --")
    odd = replace(GAME, players=names, tags=(("T", "\u2028\U0001f600\\"),))
    await _add(database, odd)
    assert await _all(database) == [replace(odd, players=("a [2Jb", names[1]), tags=(("T", "\U0001f600\\"),))]
