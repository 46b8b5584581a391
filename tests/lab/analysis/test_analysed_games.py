from dataclasses import replace

from engine.decision import ModelInfo, Person, ReplyProfile
from engine.formats.record import GameRecord
from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts
from lab.analysis.analysed_games import (
    AnalysedPosition,
    AnalysisSettings,
    StoredPosition,
    add_costs,
    add_positions,
    add_predictions,
    costs_of_analysis,
    count_analyses,
    get_or_add_analysis,
    iterate_positions,
    keep_games,
    keep_model,
    list_analysed_plies,
    list_models,
    positions_without_prediction,
    predictions,
)
from storage.database import Database
from storage.research.archive import BATCH, content_key

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
        analysis_id = await get_or_add_analysis(session, WAY)
        ids = await keep_games(session, records, source="a.wtb", source_format="wthor")
        await add_positions(
            session, analysis_id, [position(ids[content_key(records[0])], ply) for ply in plies]
        )
    return analysis_id


async def positions(
    database: Database, analysis_id: int, model_id: int | None = None
) -> list[StoredPosition]:
    async with database.read() as session:
        return [each async for each in iterate_positions(session, analysis_id, model_id)]


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
        other = await get_or_add_analysis(session, replace(WAY, depth=5))
        known = await list_analysed_plies(session, first)
        counted = await count_analyses(session, "othello")
        assert await count_analyses(session, "chess") == []
        assert await list_analysed_plies(session, other) == set()
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
        first, second, third = await positions_without_prediction(session, analysis_id, model_id, 9)
        assert [each[1].ply for each in (first, second, third)] == [1, 2, 3]
        assert first[2] == GAME
        await add_predictions(session, model_id, [(first[0], (0.25, 0.75)), (third[0], (1.0, 0.0))])
        await add_predictions(session, model_id, [(first[0], (0.5, 0.5))])  # it has spoken
        await add_predictions(session, other_id, [(second[0], (0.5, 0.5))])
        assert [
            each[1].ply for each in await positions_without_prediction(session, analysis_id, model_id, 9)
        ] == [2]
        assert len(await positions_without_prediction(session, analysis_id, other_id, 1)) == 1
        said = await predictions(session, analysis_id, model_id)
        models = await list_models(session, analysis_id)
    assert said == {first[0]: (0.25, 0.75), third[0]: (1.0, 0.0)}
    assert models == [(other_id, replace(MODEL, name="other")), (model_id, MODEL)]
    assert [each.human for each in await positions(database, analysis_id, model_id)] == [
        (0.25, 0.75),
        None,
        (1.0, 0.0),
    ]


async def test_what_replies_cost(database: Database) -> None:
    analysis_id = await filled(database, 1, 2)
    first, second = (each.id for each in await positions(database, analysis_id))
    best, other = ReplyCost("d6", 7, 0, 12, is_solved=False), ReplyCost("f4", -90, 150, 11, is_solved=True)
    found = {first: ReplyCosts(JUDGE_VERSION, best, (other,)), second: ReplyCosts(JUDGE_VERSION, best, ())}
    for again in (found, {first: ReplyCosts(JUDGE_VERSION, best, (best, other))}):
        async with database.write() as session:
            await add_costs(session, again)
    async with database.write() as session:
        await add_costs(session, {first: ReplyCosts(JUDGE_VERSION - 1, other, (best,))})
    async with database.read() as session:
        known = await costs_of_analysis(session, analysis_id)
        assert await costs_of_analysis(session, analysis_id + 1) == {}
    assert set(known) == {first, second}
    assert known[first].best == best
    assert {known[first].of(reply) for reply in ("d6", "f4")} == {best, other}
    assert known[second].replies == (best,)
