from dataclasses import replace

import pytest

from engine.decision import ModelInfo, OpponentModelUse, Person, ReplyProfile
from engine.formats.record import GameRecord
from engine.params import ValueParams
from lab.analysis.analysed_games import (
    AnalysedPosition,
    AnalysisSettings,
    StoredPosition,
    add_positions,
    add_predictions,
    count_analyses,
    each_position,
    keep_analysis,
    keep_games,
    keep_model,
    known_plies,
    list_models,
    own_positions,
    predictions,
    unpredicted,
)
from storage.database import Database
from storage.ledger.games import set_moves
from storage.research.archive import BATCH, content_key
from tests.storage.samples import FELL, OPTIMAL, UNANSWERED, decision, opened, settled

GAME = GameRecord(game="othello", players=("Anna", "Bert"), moves=("f5", "d6", "c3"), date="2016")
GAME = replace(GAME, clocks=("60+0", "180+2"))
OTHER = replace(GAME, players=("Anna", "Clara"), date="2017-03")
WAY = AnalysisSettings("othello", "native", 4, "2", {})
MODEL = ModelInfo("othello", "net", "a" * 64)


def position(game_id: int, ply: int = 1) -> AnalysedPosition:
    return AnalysedPosition(
        game_id=game_id,
        ply=ply,
        side=1,
        position="8/8/8/3wb3/3bw3/8/8/8 b",
        move="f5",
        reply="d6",
        rating=1650,
        clock_s=12.5,
        logistic_centi=512.25,
        replies=(ReplyProfile("d6", (5, 100_400, -7)), ReplyProfile("f4", (1, 2, 3))),
        nodes=10**10,
        time_s=0.5,
    )


async def filled(database: Database, *plies: int, records: tuple[GameRecord, ...] = (GAME,)) -> int:
    """An analysis of the first game at these plies."""
    async with database.write() as session:
        analysis_id = await keep_analysis(session, WAY)
        ids = await keep_games(session, records, source="a.wtb", source_format="wthor")
        await add_positions(
            session, analysis_id, [position(ids[content_key(records[0])], ply) for ply in plies]
        )
    return analysis_id


async def positions(
    database: Database, analysis_id: int, model_id: int | None = None
) -> list[StoredPosition]:
    async with database.read() as session:
        return [each async for each in each_position(session, analysis_id, model_id)]


async def test_positions_come_back_as_they_were(database: Database) -> None:
    analysis_id = await filled(database, 1, 2)
    first, second = await positions(database, analysis_id)
    assert (first.found, second.found.ply) == (position(first.found.game_id), 2)
    assert (first.game_key, first.date, first.human) == (content_key(GAME), "2016", None)
    assert (first.name, first.time_control) == ("Bert", "180+2"), "the person's, not ours"
    assert first.found.person == Person(1650, 12.5)
    assert first.found.candidate.raw_centi == -7


async def test_a_position_is_kept_once_and_an_analysis_too(database: Database) -> None:
    first = await filled(database, 1)
    again = await filled(database, 1, 2)
    assert first == again
    assert len(await positions(database, first)) == 2
    async with database.write() as session:
        other = await keep_analysis(session, replace(WAY, depth=5))
        known = await known_plies(session, first)
        counted = await count_analyses(session, "othello")
        assert await count_analyses(session, "chess") == []
        assert await known_plies(session, other) == set()
    assert known == {(content_key(GAME), 1), (content_key(GAME), 2)}
    assert [(each.id, each.analysis, each.positions, each.games) for each in counted] == [
        (first, WAY, 2, 1),
        (other, replace(WAY, depth=5), 0, 0),
    ]


async def test_games_are_those_of_the_archive(database: Database) -> None:
    async with database.write() as session:
        ids = await keep_games(session, [GAME, OTHER], source="a.wtb", source_format="wthor")
        again = await keep_games(session, [OTHER, OTHER], source="b.wtb", source_format="wthor")
    assert set(ids) == {content_key(GAME), content_key(OTHER)}
    assert again == {content_key(OTHER): ids[content_key(OTHER)]}


async def test_more_than_a_batch(database: Database) -> None:
    analysis_id = await filled(database, *range(1, BATCH + 4))
    assert [each.found.ply for each in await positions(database, analysis_id)] == list(range(1, BATCH + 4))


async def test_what_models_say(database: Database) -> None:
    analysis_id = await filled(database, 1, 2, 3)
    async with database.write() as session:
        model_id = await keep_model(session, MODEL)
        assert await keep_model(session, MODEL) == model_id
        other_id = await keep_model(session, replace(MODEL, name="other"))
        first, second, third = await unpredicted(session, analysis_id, model_id, 9)
        assert [each[1].ply for each in (first, second, third)] == [1, 2, 3]
        assert first[2] == GAME
        await add_predictions(session, model_id, [(first[0], (0.25, 0.75)), (third[0], (1.0, 0.0))])
        await add_predictions(session, model_id, [(first[0], (0.5, 0.5))])  # it has spoken
        await add_predictions(session, other_id, [(second[0], (0.5, 0.5))])
        assert [each[1].ply for each in await unpredicted(session, analysis_id, model_id, 9)] == [2]
        assert len(await unpredicted(session, analysis_id, other_id, 1)) == 1
        said = await predictions(session, analysis_id, model_id)
        models = await list_models(session, analysis_id)
    assert said == {first[0]: (0.25, 0.75), third[0]: (1.0, 0.0)}
    assert models == [(other_id, replace(MODEL, name="other")), (model_id, MODEL)]
    assert [each.human for each in await positions(database, analysis_id, model_id)] == [
        (0.25, 0.75),
        None,
        (1.0, 0.0),
    ]


@pytest.mark.parametrize("is_bot", [False, True])
async def test_moves_of_ours_that_people_answered(database: Database, is_bot: bool) -> None:
    async with database.write() as session:
        game = await opened(session, opponent_is_bot=is_bot)
        await settled(session, game.id, 0, decision(quality=225), FELL)
        await settled(session, game.id, 2, decision(complete=False), None)
        await settled(session, game.id, 4, decision(), UNANSWERED)
        await set_moves(session, game.id, ("f5", "d6", "c3"))
    async with database.read() as session:
        found = [each async for each in own_positions(session, "othello")]
        assert [each async for each in own_positions(session, "chess")] == []
    if is_bot:
        assert found == []
        return
    ((only, record),) = found
    assert (record.game, record.start, record.moves) == ("othello", None, ("f5", "d6", "c3"))
    assert (only.game_key, only.human, only.found.ply) == ("arena/game0001", None, 1)
    assert (only.found.move, only.found.reply, only.found.rating, only.found.side) == ("f5", "d6", 1600, 1)
    assert (only.name, only.time_control) == ("Anna", "180+2")
    assert only.found.candidate.replies == decision(quality=225).chosen.replies


async def test_recorded_words_do_not_come_along(database: Database) -> None:
    made = decision()
    replies = tuple(
        replace(reply, probability=p) for reply, p in zip(made.chosen.replies, (0.5, 0.25, 0.25), strict=True)
    )
    made = replace(
        made.with_chosen(replace(made.chosen, replies=replies)),
        model=ModelInfo("othello", "net", "a" * 64),
        model_use=OpponentModelUse(ValueParams(), Person(1600, 33.5), None),
    )
    async with database.write() as session:
        game = await opened(session)
        await settled(session, game.id, 0, made, OPTIMAL)
    async with database.read() as session:
        ((found, _),) = [each async for each in own_positions(session, "othello")]
    assert (found.human, found.found.clock_s) == (None, 33.5)
