"""The bot's own games with people: each position gets a prediction by the model in use now."""

from dataclasses import replace

import pytest

from engine.decision import ModelInfo, OpponentModelUse, Person, ReplyProfile
from engine.formats.record import GameRecord
from engine.game import Game
from engine.games import get_rules
from engine.human.model import BadModel, PredictionQuery
from engine.params import OpponentParams
from lab.analysis.analysed_games import StoredPosition
from lab.analysis.own_games import own_positions, with_predictions
from storage.database import Database
from storage.ledger.games import set_moves
from tests.engine.human.fakes import FakeModel
from tests.lab.analysis.samples import position
from tests.storage.samples import FELL, OPTIMAL, UNANSWERED, decision, opened, settled

GAME = get_rules("othello")
MOVES = ("f5", "d6", "c3", "d3", "c4", "f4")
RECORD = GameRecord(game="othello", moves=MOVES)
SCORES = ([0, 0, 0], [-300, -400, 400], [500, 500, 500])


def of_game(key: str, ply: int) -> StoredPosition:
    """The position before the reply at a ply, as if our move before it had been a decision."""
    at = GAME.initial()
    for text in MOVES[: ply - 1]:
        at = GAME.play(at, GAME.parse_move(at, text))
    after = GAME.play(at, GAME.parse_move(at, MOVES[ply - 1]))
    replies = tuple(ReplyProfile(GAME.move_text(move), (0, 0)) for move in GAME.legal_moves(after))
    given = position(ply, SCORES, 0)
    found = replace(
        given.found,
        ply=ply,
        position=GAME.position_text(at),
        move=MOVES[ply - 1],
        reply=MOVES[ply],
        replies=replies,
    )
    return replace(given, game_key=key, found=found)


def rising(game: Game[object], ask: PredictionQuery) -> tuple[float, ...]:
    """A model for which each move is likelier than the one before it."""
    size = len(game.legal_moves(ask.positions[-1]))
    return tuple(2 * (at + 1) / (size * (size + 1)) for at in range(size))


def test_every_position_is_asked_about_whoever_played() -> None:
    """Stored predictions by other models count as none."""
    given = [of_game("a", 1), of_game("b", 3), of_game("a", 3), of_game("b", 5)]
    given[1] = replace(given[1], human=(1.0,) + (0.0,) * (len(given[1].found.replies) - 1))
    model, done = FakeModel("othello", rising, max_history_positions=3), list[int]()
    found = with_predictions(model, [(each, RECORD) for each in given], done.append)
    assert [(each.game_key, each.found) for each in found] == [(each.game_key, each.found) for each in given]
    assert [each.human for each in found] == [
        rising(GAME, PredictionQuery((GAME.play(at, GAME.parse_move(at, each.found.move)),)))
        for each in given
        for at in [GAME.parse_position(each.found.position)]
    ]
    assert sum(done) == 4
    assert [len(ask.positions) for ask in model.asked] == [2, 3, 3, 3]  # as much of the game as there is
    assert model.asked[0].person.rating == given[0].found.rating


def test_the_words_are_in_the_order_of_the_profile() -> None:
    given = of_game("a", 1)
    turned = replace(given, found=replace(given.found, replies=given.found.replies[::-1]))
    (found,), (other,) = (
        with_predictions(FakeModel("othello", rising), [(each, RECORD)]) for each in (given, turned)
    )
    assert found.human is not None
    assert other.human == found.human[::-1]
    gone = replace(given, found=replace(given.found, replies=given.found.replies[1:]))
    assert with_predictions(FakeModel("othello"), [(gone, RECORD)])[0].human is None


@pytest.mark.parametrize("moves", [(), ("f5",), ("d3", "c5", "d6", "e3"), ("f5", "a1")])
def test_where_the_moves_are_lost_the_decision_is_enough(moves: tuple[str, ...]) -> None:
    model = FakeModel("othello", rising, max_history_positions=3)
    (found,) = with_predictions(model, [(of_game("a", 3), replace(RECORD, moves=moves))])
    assert found.human is not None
    assert len(model.asked[0].positions) == 2
    before, after = model.asked[0].positions
    assert GAME.play(before, GAME.parse_move(before, "c3")) == after


def test_a_model_without_an_answer_is_told_of() -> None:
    model = FakeModel("othello", lambda *_: ())
    with pytest.raises(BadModel):
        with_predictions(model, [(of_game("a", 1), RECORD)])


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
        model_use=OpponentModelUse(OpponentParams(), Person(1600, 33.5), None),
    )
    async with database.write() as session:
        game = await opened(session)
        await settled(session, game.id, 0, made, OPTIMAL)
    async with database.read() as session:
        ((found, _),) = [each async for each in own_positions(session, "othello")]
    assert (found.human, found.found.clock_s) == (None, 33.5)
