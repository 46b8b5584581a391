"""Games of imaginary people with a habit that a network can learn."""

import io
import random
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.pgn
import numpy as np
from numpy.typing import NDArray

from engine.games.othello import PASS, Othello
from engine.games.xiangqi import Xiangqi
from lab._training import xiangqi_human_positions
from lab.training.people.collection import from_native
from lab.training.people.positions import HumanPositions
from lab.training.people.shapes import XIANGQI
from tests.lab.training.othello_games import write_wthor

HABIT = 0.8
"""Probability that a person follows the habit: to play the move with the highest number."""
_PLIES = 40


def xiangqi_games(count: int, seed: int = 1, plies: int = _PLIES) -> list[str]:
    """Games as the collection writes them."""
    rules, rng = Xiangqi(), random.Random(seed)
    games = []
    for _ in range(count):
        position, words = rules.initial(), []
        for _ in range(plies):
            moves = rules.legal_moves(position)
            if not moves:
                break
            habit = max(moves, key=lambda move: (move >> 7, move)) if position.side == 0 else min(moves)
            move = habit if rng.random() < HABIT else rng.choice(moves)
            words.append(rules.move_text(move))
            position = rules.play(position, move)
        games.append(" ".join(words))
    return games


def xiangqi_positions(count: int, seed: int = 1) -> HumanPositions:
    """Positions with a choice of such games, without anything known about the people."""
    positions = from_native(XIANGQI, xiangqi_human_positions(xiangqi_games(count, seed))).positions
    return positions.of(positions.has_choice)


def write_xiangqi(file: Path, games: list[str], years: list[int]) -> None:
    """A collection of games between four players, in tab-separated text."""
    lines = ["year\tred\tblack\tresult\trecord\tmoves"]
    for number, (moves, year) in enumerate(zip(games, years, strict=True)):
        result = ("1-0", "0-1", "1/2-1/2")[number % 3]
        lines.append(f"{year}\tp{number % 4}\tp{(number + 1) % 4}\t{result}\twhole\t{moves}")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_othello(folder: Path, years: dict[int, int]) -> None:
    """WTHOR files with a number of games for each year, all between the first two players."""
    rules = Othello()
    for year, count in years.items():
        rng, games = random.Random(year), []
        for _ in range(count):
            position, squares = rules.initial(), []
            while moves := rules.legal_moves(position):
                move = max(moves) if rng.random() < HABIT else rng.choice(moves)
                squares += [move] if move != PASS else []
                position = rules.play(position, move)
            games.append(squares)
        write_wthor(folder / f"WTH_{year}.wtb", year, games)


def chess_game(rng: random.Random, number: int, plies: int = 60) -> chess.pgn.Game:
    """A game at random with ratings, clocks, and sometimes a variation."""
    game = chess.pgn.Game(
        {"White": f"w{number}", "WhiteElo": str(1200 + number), "BlackElo": "?", "UTCDate": "2021.10.01"}
    )
    node: chess.pgn.GameNode = game
    clocks = [180.0, 180.0]
    for ply in range(plies):
        board = node.board()
        moves = list(board.legal_moves)
        if not moves:
            break
        if node is not game and rng.random() < 0.1:
            node.parent.add_variation(rng.choice(list(node.parent.board().legal_moves)), comment="or {this}")  # type: ignore[union-attr]
        node = node.add_main_variation(rng.choice(moves))
        clocks[ply % 2] -= rng.randint(0, 5)
        node.set_clock(max(0.0, clocks[ply % 2]))
    game.headers["Result"] = rng.choice(("1-0", "0-1", "1/2-1/2"))
    return game


def chess_pgn(count: int, seed: int = 1) -> tuple[str, list[chess.pgn.Game]]:
    """Games as the text of a PGN file, and as python-chess's games."""
    rng = random.Random(seed)
    games = [chess_game(rng, number) for number in range(count)]
    out = io.StringIO()
    for game in games:
        print(game, file=out, end="\n\n")
    return out.getvalue(), games


def main_line(game: chess.pgn.Game) -> Iterator[tuple[chess.Board, chess.Move]]:
    """Each position of the main line with the move that was played."""
    board = game.board()
    for move in game.mainline_moves():
        yield board.copy(), move
        board.push(move)


def uneven(positions: HumanPositions) -> NDArray[np.bool_]:
    """Which positions measure: those of every fourth game."""
    mask: NDArray[np.bool_] = positions.game % 4 == 0
    return mask
