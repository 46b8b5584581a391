"""Playouts: who moves how, and that chance is spread evenly over the first replies."""

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from engine.decision import AdaptedReplies, Candidate, ModelInfo, Person
from engine.game import WIN_CENTI, Game
from engine.games import get_rules
from engine.human.model import BadModel, PredictionQuery
from engine.human.opponent_model_search import AdaptedPrediction, Background, GameModels
from engine.human.registry import ModelRegistry, ModelSettings
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag, Stopped
from engine.strategies.full_strength.playouts import COSTS, REPLIES, PlayoutSampler, Start
from tests.engine.positions import random_position

CHESS = get_rules("chess")
BEFORE_FOOLS_MATE = "rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR b KQkq - 0 2"


class Stubborn:
    """Always plays the same kind of move; remembers what it was asked."""

    info, max_history_positions = ModelInfo("maia", "stubborn", ""), 2

    def __init__(self, game: str, wanted: str = "") -> None:
        self.game, self.wanted = game, wanted
        self.asked: list[PredictionQuery] = []

    def predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        """See `engine.human.model.HumanModel.predict`."""
        self.asked += asks
        rules = get_rules(self.game)
        found = []
        for ask in asks:
            moves = [rules.move_text(move) for move in rules.legal_moves(ask.positions[-1])]
            at = moves.index(self.wanted) if self.wanted in moves else 0
            found.append(tuple(float(number == at) for number in range(len(moves))))
        return found


def start_of(game: Game[Any], position: Any, move: str, reply: str = "") -> Start:
    after = game.play(position, game.parse_move(position, move))
    replies = [game.move_text(each) for each in game.legal_moves(after)]
    even = [1 / len(replies)] * len(replies)
    return Start(after, move, [float(each == reply) for each in replies] if reply else even)


def sampler(
    game: Game[Any], position: Any, model: Any, background: Background | None = None
) -> PlayoutSampler:
    return PlayoutSampler(game, GameModels(model), background or Background(), position)


def test_a_blunder_is_mated() -> None:
    """The person's pawn move, drawn from the start's probabilities, allows the queen's mate."""
    position = CHESS.parse_position(BEFORE_FOOLS_MATE)
    start, model = start_of(CHESS, position, "f8e7", "g2g4"), Stubborn("chess")
    [ends] = sampler(CHESS, position, model).play_out([start], 3, StopFlag())
    assert [each.score_centi >= WIN_CENTI for each in ends] == [True] * 3
    assert model.asked == []  # a decided game is not played on


def test_a_mate_by_the_person_is_a_loss() -> None:
    position = CHESS.parse_position("rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2")
    start = start_of(CHESS, position, "g2g4", "d8h4")
    [ends] = sampler(CHESS, position, Stubborn("chess")).play_out([start], 2, StopFlag())
    assert [(each.is_over, each.score_centi <= -WIN_CENTI) for each in ends] == [(True, True)] * 2


class Undecided(Stubborn):
    """Finds all moves alike."""

    def predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        """See `engine.human.model.HumanModel.predict`."""
        sizes = [len(get_rules(self.game).legal_moves(ask.positions[-1])) for ask in asks]
        return [(1 / size,) * size for size in sizes]


def test_later_replies_are_drawn() -> None:
    game, position = get_rules("othello"), get_rules("othello").initial()
    reply = game.move_text(game.legal_moves(game.play(position, game.parse_move(position, "f5")))[0])
    start = start_of(game, position, "f5", reply)
    [ends] = sampler(game, position, Undecided("othello")).play_out([start], 12, StopFlag())
    assert len({each.position for each in ends}) > 6


def test_a_lost_ending_is_played_on() -> None:
    """The first reply keeps the win, by the start's probabilities; later ones may give it away."""
    game, searcher = get_rules("othello"), make_searcher("othello", 4)
    assert isinstance(searcher, NativeSearcher)
    position = random_position(game, random.Random(27), 51)
    found = searcher.think(position, 60, None, StopFlag())
    after = game.play(position, game.parse_move(position, found.move))
    best = searcher.think(after, 60, None, StopFlag())
    assert best.solved
    assert best.score_centi > 0
    start = start_of(game, position, found.move, best.move)
    [ends] = sampler(game, position, Undecided("othello")).play_out([start], 32, StopFlag())
    assert {each.score_centi > 0 for each in ends} == {True, False}


def test_the_person_replies_as_the_model_says() -> None:
    game = get_rules("othello")
    model, position = Stubborn("othello"), game.initial()
    start = start_of(game, position, "f5")
    sampler(game, position, model, Background(person=Person(1700))).play_out([start], 2, StopFlag())
    assert len(model.asked) == 2 * (REPLIES - 1)  # the first replies have their probabilities already
    for ask in model.asked:
        assert ask.is_quick
        assert ask.person == Person(1700)
        before, after = ask.positions
        assert game.side_to_move(before) == 0
        assert after in [game.play(before, move) for move in game.legal_moves(before)]


def test_first_replies_are_spread_over_their_probabilities() -> None:
    game = get_rules("othello")
    model, position = Stubborn("othello"), game.initial()
    after = game.play(position, game.parse_move(position, "f5"))
    start = Start(after, "f5", [0.5, 0.25, 0.25])
    sampler(game, position, model).play_out([start], 8, StopFlag())
    first = {game.play(after, reply): at for at, reply in enumerate(game.legal_moves(after))}
    met = Counter(first[ask.positions[0]] for ask in model.asked if ask.positions[0] in first)
    assert met == {0: 4, 1: 2, 2: 2}


def test_the_same_arguments_give_the_same_playouts() -> None:
    models = ModelRegistry(ModelSettings()).models("othello")
    game = get_rules("othello")
    position = game.initial()
    start = start_of(game, position, "f5")
    first, second = (
        PlayoutSampler(game, models, Background(), position).play_out([start], 8, StopFlag())
        for _ in range(2)
    )
    assert first == second
    assert len({each.position for each in first[0]}) > 1


class Remembering:
    """Knows that a person always replies alike to one of our moves."""

    version, games = "v", 1

    def adapted(
        self,
        game: Game[Any],
        positions: Sequence[Any],
        models: GameModels,  # noqa: ARG002
        person: Person,  # noqa: ARG002
        move: str,
        base: Sequence[float],
        profile: Candidate | None,
    ) -> AdaptedPrediction | None:
        """See `engine.human.opponent_model_search.PersonAdapter.adapted`."""
        assert profile is None
        before, after = positions
        assert after == game.play(before, game.parse_move(before, move))
        last = tuple(float(at == len(base) - 1) for at in range(len(base)))
        return AdaptedPrediction(last, AdaptedReplies(move, tuple(base), None))  # type: ignore[arg-type]


def test_the_persons_memory_counts_in_later_replies() -> None:
    game, position = get_rules("othello"), get_rules("othello").initial()
    model = Stubborn("othello")
    plain, remembered = (
        sampler(game, position, model, background).play_out([start_of(game, position, "f5")], 8, StopFlag())
        for background in (Background(), Background(known=Remembering()))
    )
    assert {each.position for each in plain[0]}.isdisjoint(each.position for each in remembered[0])


def test_predictions_count_as_nodes_and_a_stop_ends_all() -> None:
    game, position = get_rules("othello"), get_rules("othello").initial()
    playing = sampler(game, position, Stubborn("othello"))
    start, stop = start_of(game, position, "f5"), StopFlag()
    playing.play_out([start], 2, stop)
    assert playing.nodes > 2 * (REPLIES - 1) * COSTS["othello"].prediction
    stop.set()
    with pytest.raises(Stopped):
        playing.play_out([start], 2, stop)
    brief = StopFlag()
    brief.set_node_limit(2 * COSTS["othello"].prediction)
    with pytest.raises(Stopped):
        playing.play_out([start], 8, brief)


def test_a_broken_model_is_an_error() -> None:
    class Broken(Stubborn):
        def predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
            raise OSError(f"{len(asks)} questions")

    game, position = get_rules("othello"), get_rules("othello").initial()
    with pytest.raises(BadModel, match="OSError"):
        sampler(game, position, Broken("othello")).play_out([start_of(game, position, "f5")], 2, StopFlag())


def test_a_decided_game_ends_a_playout() -> None:
    game = get_rules("othello")
    position = game.parse_position(
        "wwwwwwww/wwwwwwww/wwwwwwww/wwwwwwww/wwwwwwww/wwwwwwbb/wwwwwbb1/wwwwbb11 w"
    )
    moves = [game.move_text(move) for move in game.legal_moves(position)]
    starts = [start_of(game, position, move) for move in moves]
    found = sampler(game, position, Stubborn("othello")).play_out(starts, 3, StopFlag())
    assert {each.score_centi >= WIN_CENTI for ends in found for each in ends} == {True}
