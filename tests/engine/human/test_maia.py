"""Maia's answers, by a made-up network that plays any pawn one square ahead."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.decision import Person
from engine.games.standard_chess import ChessPosition, StandardChess
from engine.human.maia import MaiaFamily, MaiaModel, openings
from engine.human.maia_planes import MOVES, SLOTS, places
from engine.human.model import BadModel, PredictionQuery, predictions_of
from engine.human.model_files import open_model
from engine.human.onnx import OnnxNetwork
from lab.training.lc0 import read_network
from lab.training.maia_onnx import import_network, write_onnx
from tests.engine.human.test_maia_planes import played, random_game
from tests.lab.training.lc0_files import pawn_pusher

GAME = StandardChess()


@pytest.fixture(scope="module")
def pusher() -> MaiaModel:
    made = import_network(pawn_pusher().file(), "maia-1234.pb.gz")
    return MaiaModel(OnnxNetwork.load(made.data, "pusher"))


def pushes(position: ChessPosition) -> list[float]:
    """What the pusher has to say of each legal move."""
    board = position.board
    made = [chess.Move.from_uci(GAME.move_text(move)) for move in position.legal]
    is_push = [
        board.piece_type_at(move.from_square) == chess.PAWN
        and abs(move.to_square - move.from_square) == 8
        and move.promotion in (None, chess.KNIGHT)
        for move in made
    ]
    return [one / sum(is_push) for one in is_push]


def test_both_sides_and_all_of_a_game(pusher: MaiaModel) -> None:
    game = random_game(3, plies=70)
    histories = [game[: end + 1] for end, position in enumerate(game) if len(position.legal) > 1]
    can_push = [history for history in histories if any(p > 0 for p in pushes_or_none(history[-1]))]
    assert len(can_push) > 40
    found = predictions_of(pusher, GAME, [PredictionQuery(tuple(history)) for history in can_push])
    for answer, history in zip(found, can_push, strict=True):
        assert answer == pytest.approx(pushes(history[-1]), abs=1e-3)


def pushes_or_none(position: ChessPosition) -> list[float]:
    try:
        return pushes(position)
    except ZeroDivisionError:
        return []


def test_a_long_list_of_questions_is_answered_in_parts(pusher: MaiaModel) -> None:
    game = random_game(4, plies=12)
    asks = [PredictionQuery((game[index % 10],)) for index in range(150)]
    found = pusher.predict(asks)
    alone = [pusher.predict([PredictionQuery((game[index],))])[0] for index in range(10)]
    for index, answer in enumerate(found):
        assert answer == pytest.approx(alone[index % 10], abs=1e-4)
    assert pusher.predict([]) == []


def test_what_it_is(pusher: MaiaModel) -> None:
    assert (pusher.game, pusher.max_history_positions, pusher.rating) == ("chess", 8, 1234)
    assert (pusher.info.kind, pusher.info.name) == ("maia", "maia-1234")
    assert [history[0] for history in openings()] == [GAME.initial()] * len(openings())


@dataclass
class Says:
    """A network that always answers the same, or different once it has passed its trial."""

    answers: NDArray[Any]
    trial: NDArray[Any] | None = None
    name: str = "fake"
    rating: str = "1500"
    metadata: dict[str, str] = field(default_factory=dict)
    where: str = "fake.onnx"
    asked: int = 0

    def __post_init__(self) -> None:
        self.metadata = {"rating": self.rating}

    @property
    def info(self) -> Any:
        from engine.decision import ModelInfo

        return ModelInfo("maia", self.name, "0" * 64)

    def require(self, kind: str, game: str) -> None:
        assert (kind, game) == ("maia", "chess")

    def run(self, _output: str, inputs: dict[str, NDArray[np.float32]]) -> NDArray[Any]:
        self.asked += 1
        if self.trial is not None and self.asked == 1:
            return self.trial
        return np.broadcast_to(self.answers, (inputs["now"].shape[3], *self.answers.shape)).copy()


def model_of(**says: Any) -> MaiaModel:
    return MaiaModel(Says(**says))  # type: ignore[arg-type]


def sound() -> NDArray[np.float32]:
    """Answers that pass the trial: for each opening some legal move."""
    found = np.zeros((len(openings()), MOVES), np.float32)
    for row, history in zip(found, openings(), strict=True):
        row[places([history[-1]])[1][0]] = 1
    return found


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        (np.zeros(MOVES, np.float32), r"fake: legal moves have 0\.0000 of the probability"),
        (np.full(MOVES, 1.0, np.float32), r"fake: legal moves have 20\.0000 of the probability"),
        (np.full(MOVES, -0.1, np.float32), "fake: "),
        (np.zeros(MOVES - 1, np.float32), "fake: the output is 1 x 1857 numbers, not 1 x 1858"),
        (np.zeros((MOVES, 1), np.float32), "fake: the output is 1 x 1858 x 1 numbers"),
    ],
)
def test_garbage_is_refused(answers: NDArray[np.float32], why: str) -> None:
    model = model_of(answers=answers, trial=sound())
    with pytest.raises(BadModel, match=why):
        model.predict([PredictionQuery((GAME.initial(),))])


@pytest.mark.parametrize(("count", "size"), [(1, 1), (70, 64)])
def test_a_single_number_is_no_answer(monkeypatch: pytest.MonkeyPatch, count: int, size: int) -> None:
    model = model_of(answers=np.zeros(MOVES, np.float32), trial=sound())
    model.start()
    monkeypatch.setattr(Says, "run", lambda *_: np.float32(1).reshape(()))
    with pytest.raises(BadModel, match=f"^fake: the output is a single number, not {size} x 1858$"):
        model.predict([PredictionQuery((GAME.initial(),))] * count)


def test_a_network_is_tried_before_it_is_asked() -> None:
    model = model_of(answers=np.full(MOVES, 1 / MOVES, np.float32))
    for _ in range(2):  # not only the first time
        with pytest.raises(BadModel, match=r"fake: in openings legal moves have only 0\.0\d+ of"):
            model.predict([PredictionQuery((GAME.initial(),))])


def test_a_check_overlooked_is_no_garbage() -> None:
    position = GAME.parse_position("8/1K6/8/P7/8/8/8/6kq w - - 2 52")
    answers = np.full(MOVES, 1e-4, np.float32)
    answers[np.searchsorted(SLOTS, chess.A5)] = 1 - 1e-4 * (MOVES - 1)  # the pawn's, with the king in check
    (answer,) = model_of(answers=answers, trial=sound()).predict([PredictionQuery((position,))])
    assert math.fsum(answer) == pytest.approx(1)
    assert answer == pytest.approx([1 / len(position.legal)] * len(position.legal))


@pytest.mark.parametrize("rating", ["high", "-5", "15000", "\u0661"])
def test_a_rating_that_is_none(rating: str) -> None:
    with pytest.raises(BadModel, match=r"fake\.onnx: .* is not a rating"):
        model_of(answers=sound()[0], rating=rating)


def prefers(text: str, rating: int) -> MaiaModel:
    """Of start positions knows nothing but a move and, a little, another."""
    start = GAME.initial()
    answers = np.zeros(MOVES, np.float32)
    _, found = places([start])
    answers[found[start.legal.index(GAME.parse_move(start, text))]] = 1
    return model_of(answers=answers, trial=sound(), name=f"maia-{rating}", rating=str(rating))


def p_of(family: MaiaFamily, rating: int | None) -> dict[str, float]:
    start = GAME.initial()
    (answer,) = predictions_of(family, GAME, [PredictionQuery((start,), Person(rating))])
    return {GAME.move_text(move): p for move, p in zip(start.legal, answer, strict=True) if p}


def test_ratings_choose_and_mix_networks() -> None:
    family = MaiaFamily([prefers("d2d4", 1500), prefers("e2e4", 1100), prefers("c2c4", 1900)])
    assert p_of(family, 1100) == {"e2e4": 1}
    assert p_of(family, 400) == {"e2e4": 1}
    assert p_of(family, 2700) == {"c2c4": 1}
    assert p_of(family, 1900) == {"c2c4": 1}
    assert p_of(family, 1200) == pytest.approx({"e2e4": 0.75, "d2d4": 0.25})
    assert p_of(family, 1899) == pytest.approx({"d2d4": 0.0025, "c2c4": 0.9975})
    assert p_of(family, None) == {"d2d4": 1}
    assert (family.game, family.max_history_positions, family.info.name) == ("chess", 8, "maia-1100-1900")
    assert len(family.info.sha256) == 64


def test_people_of_different_ratings_in_one_list() -> None:
    family = MaiaFamily([prefers("d2d4", 1500), prefers("e2e4", 1100)])
    start = GAME.initial()
    ratings = (1100, 1500, None, 1300, 1100)
    found = family.predict([PredictionQuery((start,), Person(rating)) for rating in ratings])
    e4 = start.legal.index(GAME.parse_move(start, "e2e4"))
    assert [answer[e4] for answer in found] == pytest.approx([1, 0, 0, 0.5, 1])


def test_families_that_are_none() -> None:
    with pytest.raises(BadModel, match="no network to choose from"):
        MaiaFamily([])
    with pytest.raises(BadModel, match="fake: does not state its rating"):
        MaiaFamily([model_of(answers=sound()[0], rating="")])
    with pytest.raises(BadModel, match="maia-1500 and maia-1500 are both for 1500"):
        MaiaFamily([prefers("d2d4", 1500), prefers("e2e4", 1500)])


def test_a_folder_is_a_family(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="no Maia network"):
        open_model(tmp_path)
    for rating in (1100, 1500):
        made = import_network(pawn_pusher().file(), f"maia-{rating}.pb.gz")
        (tmp_path / f"{made.name}.onnx").write_bytes(made.data)
    model = open_model(tmp_path)
    assert model.info.kind == "maia"
    assert model.info.name.startswith("maia-1100-1500")
    history = played("e2e4")
    assert predictions_of(model, GAME, [PredictionQuery(tuple(history), Person(1300))])[0] == pytest.approx(
        pushes(history[-1]), abs=1e-3
    )
    single = open_model(tmp_path / "maia-1100.onnx")
    assert isinstance(single, MaiaModel)
    assert single.rating == 1100
    (tmp_path / "broken.onnx").write_bytes(b"broken")
    with pytest.raises(BadModel, match=r"broken\.onnx: not an ONNX network"):
        open_model(tmp_path)


def test_a_folder_of_a_single_network_for_rating_0(tmp_path: Path) -> None:
    written = write_onnx(read_network(pawn_pusher().file()), "nought", "none", 0, is_published=False)
    (tmp_path / "nought.onnx").write_bytes(written)
    history = played("e2e4")
    assert predictions_of(open_model(tmp_path), GAME, [PredictionQuery(tuple(history))])[0] == pytest.approx(
        pushes(history[-1]), abs=1e-3
    )
