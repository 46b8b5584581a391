"""Learning what people play in Othello: reading games, measuring answers."""

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.games.othello import PASS, Othello
from engine.human.onnx import OnnxNetwork
from engine.human.othello import NetworkInputs, OthelloHumanModel
from engine.human.othello_boards import TURNED
from lab.training import human_othello
from lab.training.human_othello_data import (
    GameArrays,
    MeasuredPredictions,
    NoUsableGames,
    Positions,
    measure,
    openings_of,
    read_wthor,
    repeats,
    replay,
    report,
    summary,
)
from lab.training.human_othello_graph import BASE, POWERS, ROWS, SLOTS, first_weights, to_onnx
from tests.lab.training.othello_games import random_games, run

GAME = Othello()


@pytest.fixture(scope="module")
def random_network() -> bytes:
    return to_onnx(first_weights(2), "at-random", "none")


def test_replayed_games_are_those_of_the_rules(folder: Path) -> None:
    positions = replay(read_wthor(folder, [1999]))
    rows = {
        (int(game), int(ply)): row
        for row, (game, ply) in enumerate(zip(positions.game, positions.ply, strict=True))
    }
    passes = 0
    for number, squares in enumerate(random_games(5, seed=1999)):
        position, before = GAME.initial(), None
        for square in squares:
            if GAME.legal_moves(position) == (PASS,):
                position, before = GAME.play(position, PASS), position
                passes += 1
            row = rows.pop((number, (position.mover | position.waiter).bit_count() - 4))
            seen = tuple(int(boards[row]) for boards in positions.sight)
            assert seen[:2] == (position.mover, position.waiter)
            assert positions.square[row] == square
            assert positions.moves[row] == len(GAME.legal_moves(position))
            if before is not None:
                taken = before.mover | before.waiter
                assert seen[2] == (position.mover | position.waiter) & ~taken
                assert seen[3] == (before.waiter & position.waiter if seen[2] else 0)
            position, before = GAME.play(position, square), position
    assert not rows
    assert passes


def test_a_game_ends_where_a_move_is_impossible() -> None:
    squares = np.full((3, 60), -1, dtype=np.int8)
    squares[0, :3] = 19, 18, 63  # d3, c3, and h8 far away
    squares[1, :2] = 19, 19
    positions = replay(GameArrays(squares, np.array([2000, 2001, 2002], dtype=np.int16), 0))
    assert positions.game.tolist() == [0, 1, 0]
    assert positions.square.tolist() == [19, 19, 18]
    assert positions.year.tolist() == [2000, 2001, 2000]


def test_years_and_files(folder: Path) -> None:
    assert np.unique(read_wthor(folder).year).tolist() == [1999, 2015, 2016]
    assert len(read_wthor(folder, range(2000, 2017)).year) == 7
    bad = bytearray((folder / "WTH_1999.wtb").read_bytes())
    bad[16 + 8] = 99
    (folder / "WTH_1999.wtb").write_bytes(bad)
    assert read_wthor(folder).faulty == 1


def test_what_is_no_folder_of_games_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(NoUsableGames, match="nowhere: No such file"):
        read_wthor(tmp_path / "nowhere")
    with pytest.raises(NoUsableGames, match="no games of the years 2030-2031"):
        read_wthor(folder, [2030, 2031])
    (folder / "WTH_1999.wtb").write_bytes(bytes(20) + b"more")
    with pytest.raises(NoUsableGames, match=r"WTH_1999\.wtb: .*bytes"):
        read_wthor(folder)


def some_positions(games: list[int], ply: list[int]) -> Positions:
    count = len(games)
    taken = np.array([(1 << number + 4) - 1 for number in ply], dtype=np.uint64)
    empty = np.zeros(count, dtype=np.uint64)
    return Positions(
        NetworkInputs(taken, empty, empty, empty),
        np.zeros(count, dtype=np.int64),
        np.array([2] * (count - 1) + [1], dtype=np.uint8),
        np.array(games, dtype=np.int32),
        np.array([2018] * count, dtype=np.int16),
    )


def test_repeated_positions_are_counted(folder: Path) -> None:
    positions = replay(read_wthor(folder))
    seen = [(int(own), int(other)) for own, other, *_ in zip(*positions.sight, strict=True)]
    assert repeats(positions).tolist() == [seen.count(each) for each in seen]
    assert max(repeats(positions)) == 12  # the start


def test_the_report_counts_by_ply() -> None:
    positions = some_positions([1, 1, 2, 1, 2], [1, 9, 10, 0, 11])
    measured = MeasuredPredictions(
        np.array([0, 2, 3, 3, 0]), np.array([2, 1, 1, 1, 1]), np.array([0.1, 0.5, 2.0, 1.5, 0.0])
    )
    found = report(measured, positions)
    assert found["games"] == 2
    assert (found["with_a_choice"]["positions"], found["forced_moves_too"]["positions"]) == (3, 5)
    assert found["with_a_choice"]["top1"] == pytest.approx(1 / 6, abs=1e-4)
    assert found["with_a_choice"]["top3"] == pytest.approx(2 / 3, abs=1e-4)
    assert found["by_ply"]["1-10"]["log_loss"] == 0.3
    assert found["by_ply"]["11-20"]["top1"] == 0
    assert list(found["by_year"]) == ["2018"]


def test_openings_are_counted_whichever_way_they_are_turned() -> None:
    """Two games that are images of each other, and one of thirty years before."""
    squares = np.full((3, 60), -1, dtype=np.int8)
    squares[:, :2] = GAME.parse_move(GAME.initial(), "f5"), 43  # f5 d6
    goes = next(each for each in TURNED[1:] if {each[27], each[36]} == {27, 36})  # keeps white's two discs
    squares[1, :2] = goes[squares[1, :2]]
    games = GameArrays(squares, np.array([2015, 2015, 1985], dtype=np.int16), 0)
    openings = openings_of(replay(games), least=3)
    assert len(openings.keys) == 2  # the start, and after the first move
    # After the first move 1 + 1 + 1/4; the start is its own image, so two squares of it are meant.
    assert sorted(openings.games.tolist()) == [1, 1, 2]
    assert len(openings_of(replay(games), least=4).keys) == 0


def test_intervals_are_over_games() -> None:
    """Twenty positions of one kind in each game are worth one, not twenty."""
    places = np.repeat([0, 1] * 50, 20)
    games = np.repeat(np.arange(100), 20)
    measured = MeasuredPredictions(places, np.ones_like(places), places.astype(float))
    low, high = summary(measured, games)["top1_interval"]
    assert high - low == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(99), abs=2e-4)


def test_moves_are_ranked_as_the_model_says(folder: Path, random_network: bytes) -> None:
    model = OthelloHumanModel(OnnxNetwork.load(random_network, "at-random.onnx"))
    positions = replay(read_wthor(folder, [2016]))
    measured = measure(model, positions)
    probabilities = model.probabilities(positions.sight)
    for row in range(0, len(positions), 7):
        square = int(positions.square[row])
        likelier = sum(probabilities[row] > probabilities[row, square] + 1e-9)
        assert measured.likelier[row] == likelier
        if positions.ply[row]:
            assert measured.alike[row] == 1
            assert measured.among(3)[row] == (likelier < 3)
        assert measured.loss[row] == pytest.approx(-math.log(probabilities[row, square]))
    assert measured.among(1)[positions.ply == 0] == pytest.approx(
        1 / 4
    )  # whichever way one looks at the start


def test_lines_are_numbers_to_the_base_of_three() -> None:
    assert POWERS.shape == (64, 38)
    assert (BASE + 2 * POWERS.sum(axis=0)).max() == ROWS - 1
    corner = SLOTS[0]  # a1: its row, its column, one diagonal; no other
    assert corner.tolist() == [0, 64, corner[2], 8 * 38]
    assert (np.sort(SLOTS[SLOTS < 8 * 38]) == np.unique(SLOTS[SLOTS < 8 * 38])).all()


def test_weights_that_are_the_same_make_the_same_file() -> None:
    assert to_onnx(first_weights(1), "a", "none") == to_onnx(first_weights(1), "a", "none")
    assert to_onnx(first_weights(1), "a", "none") != to_onnx(first_weights(2), "a", "none")


def test_a_network_is_measured(
    folder: Path, random_network: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "made.onnx"
    file.write_bytes(random_network)
    run(monkeypatch, "--wthor", folder, "--evaluate", file)
    out = capsys.readouterr().out
    assert "games of 2016-2019 (never used for training): 3" in out
    assert "plies 51-60" in out
    run(monkeypatch, "--wthor", folder, "--evaluate", file, "--games", "1")
    assert "(never used for training): 1" in capsys.readouterr().out


def test_a_card_is_only_written_for_its_own_file(
    folder: Path, random_network: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder / "made.onnx"
    file.write_bytes(random_network)
    card = human_othello.card_path(file)
    card.write_text(json.dumps({"sha256": OnnxNetwork.load(random_network, "x").sha256, "name": "kept"}))
    run(monkeypatch, "--wthor", folder, "--evaluate", file, "--card")
    written = json.loads(card.read_text())
    assert written["name"] == "kept"
    assert written["validation"]["games"] == 3
    card.write_text('{"sha256": "0"}')
    with pytest.raises(SystemExit, match="the card of another file"):
        run(monkeypatch, "--wthor", folder, "--evaluate", file, "--card")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--evaluate", "nowhere.onnx"], r"nowhere\.onnx"),
        (["--resume"], "--checkpoint"),
        (["--wthor", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: list[str], told: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if arguments[0] == "--wthor":
        arguments = [*arguments, "--evaluate", "nowhere.onnx"]
    with pytest.raises(SystemExit, match=f"human_othello: .*{told}"):
        run(monkeypatch, "--wthor", folder, *arguments)


def test_without_pytorch_it_says_what_is_lacking(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "lab.training.human_othello_net", raising=False)
    with pytest.raises(SystemExit, match=r"desdemona\[train\]"):
        run(monkeypatch, "--wthor", folder)
