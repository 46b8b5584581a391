"""The models that a program has: which game has which, and one of each for every thread."""

import threading
from pathlib import Path
from typing import Any

import pytest

from engine.games import get_rules
from engine.human.model import BadModel, HumanModel
from engine.human.person_prior import card_path, read_card
from engine.human.registry import ModelRegistry, ModelSettings
from engine.human.reply_model import ReplyModel
from engine.human.shallow import ShallowModel
from engine.move_chooser import MoveChooser
from engine.params import OpponentParams, TrapParams
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from engine.verification import verify
from tests.engine.human.fakes import FakeModel, FakeReplyModel


class Files:
    """Models by the names of files: ``chess``, ``othello.1``; those of no game cannot be opened."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.broken = False

    def _game(self, path: Path) -> str:
        self.opened.append(path.name)
        game = path.name.removeprefix("calibrated_").split(".")[0].split("_")[0]
        if self.broken or game not in ("chess", "othello"):
            raise BadModel(f"{path}: no such file")
        return game

    def human(self, path: Path) -> HumanModel:
        return FakeModel(self._game(path))

    def probabilities(self, path: Path) -> ReplyModel:
        return FakeReplyModel(self._game(path))


def people(files: Files, folder: Path, *models: str, calibrated: tuple[str, ...] = ()) -> ModelRegistry:
    settings = ModelSettings(models=models, calibrated=calibrated, value=OpponentParams(budget_percent=7))
    return ModelRegistry(settings, files.human, files.probabilities, folder)


def test_each_thread_has_models_of_its_own(tmp_path: Path) -> None:
    files = Files()
    made = people(files, tmp_path, "chess.1", calibrated=("chess.2",))
    assert files.opened == ["chess.1", "chess.2"]  # a wrong file is known at the start
    with made.lend("chess") as one, made.lend("chess") as other:
        assert one.human is not other.human
        assert one.calibrated is not other.calibrated
        assert one.health is other.health
        assert one.value.budget_percent == 7
    assert files.opened == ["chess.1", "chess.2"] * 2
    with made.lend("chess") as again:
        assert again in (one, other)
    assert len(files.opened) == 4


class Watched(dict[str, Any]):
    """Has its content looked at under a lock only."""

    def __init__(self, content: dict[str, Any], lock: threading.Lock) -> None:
        super().__init__(content)
        self._lock = lock

    def __getitem__(self, key: str) -> Any:
        assert self._lock.locked()
        return super().__getitem__(key)


def test_no_two_threads_get_the_model_that_was_opened_first(tmp_path: Path) -> None:
    made = people(Files(), tmp_path, "chess.1", calibrated=("chess.2",))
    made._humans = Watched(made._humans, made._lock)
    made._calibrated = Watched(made._calibrated, made._lock)
    one, other = made.models("chess"), made.models("chess")
    assert one.human is not other.human
    assert one.calibrated is not other.calibrated


def test_games_without_a_file_have_what_comes_with_the_program(tmp_path: Path) -> None:
    (tmp_path / "othello_human.onnx").touch()
    (tmp_path / "calibrated_othello.onnx").touch()
    files = Files()
    made = people(files, tmp_path)
    assert files.opened == []
    with made.lend("othello") as models:
        assert isinstance(models.human, FakeModel)
        assert isinstance(models.calibrated, FakeReplyModel)
    with made.lend("chess") as models:
        assert isinstance(models.human, ShallowModel)
        assert models.calibrated is None
    told = made.models_record("othello")
    assert (told["human"]["name"], told["calibrated"]["name"]) == ("fake", "fake probabilities")
    assert told["value"]["budget_percent"] == 7
    assert made.models_record("xiangqi")["human"]["kind"] == "shallow"


def test_cards_of_people_come_along_and_are_checked(tmp_path: Path) -> None:
    (tmp_path / "person_othello.json").write_bytes(card_path("othello").read_bytes())
    made = people(Files(), tmp_path)
    with made.lend("othello") as models, made.lend("tictactoe") as others:
        assert models.person_prior is not None
        assert models.person_prior.version == read_card(card_path("othello")).version
        assert others.person_prior is None
    (tmp_path / "person_chess.json").write_bytes(card_path("othello").read_bytes())
    (tmp_path / "person_xiangqi.json").write_text('{"bases": []}')
    with pytest.raises(BadModel, match=r"person_chess\.json: game: 'othello', not 'chess'"):
        made.models("chess")
    with pytest.raises(BadModel, match=r"person_xiangqi\.json: not a card: KeyError: 'game'"):
        made.models("xiangqi")


def test_wrong_files_are_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="checkers: no such file"):
        people(Files(), tmp_path, "checkers")
    with pytest.raises(BadModel, match=r"chess\.1 and chess\.2 are both for chess"):
        people(Files(), tmp_path, "chess.1", "othello", "chess.2")


def test_a_file_that_breaks_later_costs_no_game(tmp_path: Path) -> None:
    files = Files()
    made = people(files, tmp_path, "othello")
    game, kinds = get_rules("othello"), []
    with made.lend("othello"):  # the one that has been opened is taken
        for files.broken in (True, False):
            with made.lend("othello") as models:
                player = MoveChooser(
                    strategy_named("opponent_model"),
                    game,
                    TrapParams(),
                    make_searcher("othello", 1),
                    models=models,
                )
                decision = player.choose(game.initial(), Limits(2), StopFlag())
            verify(decision)
            assert decision.model_use is not None
            kinds.append(decision.model_use.trouble)
    assert kinds == ["othello: no such file", ""]
    files.broken = True
    with made.lend("othello"), made.lend("othello"), pytest.raises(BadModel, match="no such file"):
        made.models_record("othello")


def test_what_comes_with_the_program() -> None:
    with ModelRegistry().lend("othello") as models:
        assert models.human.game == "othello"
        assert models.human.info.kind == "people"
    with ModelRegistry().lend("connect4") as models:
        assert models.human.info.kind == "shallow"


def test_failures_are_counted_by_game(tmp_path: Path) -> None:
    made = people(Files(), tmp_path, "chess.1", calibrated=("chess.2",))
    assert made.failures() == {}
    with made.lend("chess") as models:
        assert made.failures() == {"chess": (0, 0)}
        models.health.record_failure("chess", BadModel("away"))
        models.health.record_failure("chess", BadModel("away"))
        assert made.failures() == {"chess": (2, 2)}
        models.health.record_success("chess")
    assert made.failures() == {"chess": (2, 0)}
