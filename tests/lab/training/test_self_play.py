"""Self-play records: reproducible, made of legal moves, and the positions to learn from are quiet ones."""

import struct
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from engine.games import get_rules
from lab.training import network_samples, self_play
from lab.training.network_samples import Samples
from lab.training.self_play import GAMES

NO_SCORE, DECIDED = -32_768, 32_000


def records(game: str, games: int = 6, threads: int = 1, first: int = 0, seed: int = 1) -> bytes:
    it = GAMES[game]
    return it.play(it.evaluation(), None, seed, first, games, 200, (4, 9), threads)


def parsed(content: bytes) -> list[tuple[int, int, list[tuple[int, int]]]]:
    """Of each game: random plies, result, and each ply's move and score."""
    games, at = [], 0
    while at < len(content):
        plies, random_plies, result = struct.unpack_from("<HHH", content, at)
        at += 6
        moves = [struct.unpack_from("<Hh", content, at + 4 * ply) for ply in range(plies)]
        at += 4 * plies
        games.append((random_plies, result, [(move, score) for move, score in moves]))
    return games


@pytest.mark.parametrize("game", sorted(GAMES))
def test_the_same_numbers_give_the_same_games_with_any_number_of_threads(game: str) -> None:
    whole = records(game)
    assert whole == records(game, threads=3)
    assert whole == records(game, games=2) + records(game, games=4, first=2)
    assert whole != records(game, seed=2)


@pytest.mark.parametrize("game", sorted(GAMES))
def test_games_are_legal_and_end_as_their_results_say(game: str) -> None:
    rules: Any = get_rules(game)
    ended = 0
    for random_plies, result, moves in parsed(records(game, games=20)):
        position = rules.initial()
        for ply, (move, score) in enumerate(moves):
            assert move in rules.legal_moves(position)
            assert (score == NO_SCORE) == (ply < random_plies)
            position = rules.play(position, move)
        assert 4 <= random_plies <= 9
        if not rules.legal_moves(position):
            ended += 1
            centi = rules.result_centi(position)
            for_first = centi if rules.side_to_move(position) == 0 else -centi
            assert result == (1 if centi == 0 else 2 if for_first > 0 else 0)
        elif result != 1:  # given up: the winner's last score says so
            score = moves[-1][1]
            for_first = score if len(moves) % 2 == 1 else -score
            assert abs(score) >= 1_500
            assert result == (2 if for_first > 0 else 0)
    assert ended


def test_quiet_positions_are_learned_from_as_both_sides_see_them() -> None:
    it, content = GAMES["chess"], records("chess")
    inputs, scores, linear, results, games = it.samples(content, it.evaluation())
    expected: list[tuple[list[int], list[int], int, int, int]] = []
    rules: Any = get_rules("chess")
    for number, (random_plies, result, moves) in enumerate(parsed(content)):
        position = rules.initial()
        for ply, (move, score) in enumerate(moves):
            board: chess.Board = position.board
            played = chess.Move.from_uci(rules.move_text(move))
            is_quiet = (
                not board.is_check() and not board.is_capture(played) and played.promotion != chess.QUEEN
            )
            if ply >= random_plies and abs(score) < DECIDED and is_quiet:
                for_mover = result if ply % 2 == 0 else 2 - result
                views = [sorted(_inputs(board, side)) for side in (board.turn, not board.turn)]
                expected.append((views[0], views[1], score, for_mover, number))
            position = rules.play(position, move)
    array = np.frombuffer(inputs, np.uint16).reshape(-1, 2, 32)
    assert len(array) == len(expected) > 300
    every = zip(
        array, np.frombuffer(scores, np.int16), np.frombuffer(results, np.uint8),
        np.frombuffer(games, np.uint32), strict=True,
    )  # fmt: skip
    for (mine, other, score, result, number), (both, *facts) in zip(expected, every, strict=True):
        assert [sorted(place for place in view.tolist() if place != 768) for view in both] == [mine, other]
        assert facts == [score, result, number]
    assert len(np.frombuffer(linear, np.int16)) == len(expected)


def _inputs(board: chess.Board, view: chess.Color) -> list[int]:
    king = board.king(view)
    assert king is not None
    turn = (0 if view else 56) ^ (7 if chess.square_file(king) >= 4 else 0)
    return [
        64 * (6 * (piece.color != view) + piece.piece_type - 1) + (square ^ turn)
        for square, piece in board.piece_map().items()
    ]


def test_the_commands_file_is_what_is_learned_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "games.bin"
    for first in ("0", "6"):
        self_play.main(
            ["chess", "--out", str(path), "--games", "6", "--first", first, "--nodes", "200", "--linear",
             "--random-plies", "4", "9", "--threads", "1"]
        )  # fmt: skip
    assert path.read_bytes() == records("chess", games=12)
    samples = Samples(GAMES["chess"], [path])
    assert samples.inputs.shape == (len(samples.scores), 2, 32)
    assert 0 < samples.held_out.sum() < len(samples.scores)
    assert "games 6 to 11" in capsys.readouterr().out


def test_records_that_are_none_are_refused(tmp_path: Path) -> None:
    it, content = GAMES["chess"], records("chess", games=2)
    path = tmp_path / "games.bin"
    for bad, complaint in (
        (content[:-1], "the last game is truncated"),
        (b"", "no positions"),
        (content[:6] + b"\xff\xff" + content[8:], "not records of games"),
    ):
        path.write_bytes(bad)
        with pytest.raises(ValueError, match=complaint):
            Samples(it, [path])
    with pytest.raises(SystemExit):
        self_play.main(["chess", "--out", str(tmp_path / "no" / "folder"), "--linear"])


def test_held_out_games_do_not_depend_on_how_the_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "games.bin"
    path.write_bytes(records("chess"))
    whole = Samples(GAMES["chess"], [path])
    monkeypatch.setattr(network_samples, "_CHUNK_BYTES", 1)
    parts = Samples(GAMES["chess"], [path])
    assert (whole.held_out == parts.held_out).all()
    assert (whole.inputs == parts.inputs).all()
