"""Tests of the reader of chess games in PGN."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from lab.training.people.chess_games import HELD_OUT_ONE_IN, read_chess
from lab.training.people.positions import UnusableGames
from tests.lab.training.people.habits import chess_pgn, main_line

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


@pytest.mark.parametrize("suffix", [".pgn", ".pgn.zst"])
def test_chess_is_read_with_ratings_and_clocks(tmp_path: Path, suffix: str) -> None:
    text, games = chess_pgn(6)
    file = tmp_path / f"games{suffix}"
    half = len(text) // 2
    frames = b"".join(zstd.compress(part.encode()) for part in (text[:half], text[half:]))
    file.write_bytes(frames if suffix.endswith("zst") else text.encode())
    positions = read_chess([file], 0).positions
    for number, game in enumerate(games):
        line = list(main_line(game))
        nodes = [game, *game.mainline()]
        of_game = positions.of(positions.game == number)
        with_choice = [ply for ply, (board, _) in enumerate(line) if ply and board.legal_moves.count() > 1]
        assert of_game.ply.tolist() == with_choice
        for row, ply in enumerate(with_choice):
            rating, opponent, clock = of_game.features[row].tolist()
            known = pytest.approx((1200 + number - 1500) / 300)
            assert (opponent if ply % 2 else rating) == known
            assert math.isnan(rating if ply % 2 else opponent)
            seconds = nodes[ply - 1].clock() if ply > 1 else None
            assert math.isnan(clock) if seconds is None else clock == pytest.approx(math.log1p(seconds) / 5)
        white = {"1-0": 1, "0-1": 0, "1/2-1/2": 0.5}[game.headers["Result"]]
        assert of_game.result.tolist() == [1 - white if ply % 2 else white for ply in with_choice]
    assert set(positions.year.tolist()) == {2021}


def test_chess_reads_no_more_than_it_should(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.training.people.chess_games._GAMES_AT_ONCE", 2)
    text, games = chess_pgn(8)
    file = tmp_path / "games.pgn"
    file.write_text(text, encoding="utf-8")
    whole, some = read_chess([file], 0), read_chess([file], 100)
    assert len(whole.positions) > len(some.positions) >= 100
    assert np.unique(whole.positions.game).tolist() == list(range(len(games)))
    first = some.positions
    assert np.array_equal(whole.positions.board[: len(first)], first.board)


def test_chess_holds_out_the_same_games_every_time(tmp_path: Path) -> None:
    text, _ = chess_pgn(60, seed=2)
    file = tmp_path / "games.pgn"
    file.write_text(text, encoding="utf-8")
    collection = read_chess([file], 0)
    games = np.unique(collection.positions.game[collection.held_out])
    assert 0 < len(games) < 60 / HELD_OUT_ONE_IN * 4
    assert not np.isin(collection.positions.game[~collection.held_out], games).any()


def test_chess_leaves_out_bots_variants_and_other_starts(tmp_path: Path) -> None:
    tags = (
        '[WhiteTitle "BOT"]',
        '[Variant "Atomic"]',
        '[FEN "4k3/8/8/8/8/8/8/4K3 w - - 0 1"]',
        '[WhiteElo "x"]',
    )
    file = tmp_path / "games.pgn"
    file.write_text("".join(f'[Event "e"]\n{tag}\n\n1. e4 e5 2. Nf3 *\n\n' for tag in tags), encoding="utf-8")
    positions = read_chess([file], 0).positions
    assert positions.ply.tolist() == [1, 2]
    assert np.isnan(positions.features).all()
    assert np.isnan(positions.result).all()


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    text, _ = chess_pgn(3)
    file = tmp_path / "games.pgn.zst"
    for data in (zstd.compress(text.encode())[:-20], b"not compressed"):
        file.write_bytes(data)
        with pytest.raises(UnusableGames, match=r"games\.pgn\.zst"):
            read_chess([file], 0)
    with pytest.raises(UnusableGames):
        read_chess([tmp_path / "missing.pgn"], 0)
