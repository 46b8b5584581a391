"""One contract for every game: what the interface promises, on random play."""

import random
from typing import Any

import pytest

from engine.game import WIN_CENTI, BadPosition, Game, IllegalMove, replay
from engine.games import GAMES, get_game

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)


def play_out(game: Game[Any], seed: int) -> tuple[list[Any], list[int]]:
    """All positions and moves of one random game."""
    rng = random.Random(seed)
    positions, moves = [game.initial()], []
    while legal := game.legal_moves(positions[-1]):
        moves.append(rng.choice(legal))
        positions.append(game.play(positions[-1], moves[-1]))
    return positions, moves


@every_game
@pytest.mark.parametrize("seed", range(3))
def test_random_play(game: Game[Any], seed: int) -> None:
    positions, moves = play_out(game, seed)
    for position, following, move in zip(positions[:-1], positions[1:], moves, strict=True):
        legal = game.legal_moves(position)
        assert len(set(legal)) == len(legal)
        assert game.side_to_move(following) == 1 - game.side_to_move(position)
        assert game.parse_position(game.position_text(position)) == position
        texts = [game.move_text(m) for m in legal]
        assert len(set(texts)) == len(texts)
        assert [game.parse_move(position, text) for text in texts] == list(legal)
        assert abs(game.evaluate_centi(position)) < WIN_CENTI / 10
        assert game.plies_left(position) >= 1
        squares = {square for m in legal for square in game.move_squares(m)}
        assert len(squares) <= sum(map(len, game.board_rows(position)))
        assert len(set(map(len, game.board_rows(position)))) == 1
        assert len({game.move_name(position, m) for m in legal}) == len(legal)
        assert all(highlight.squares and highlight.text for highlight in game.highlights(position))
        assert game.expected_scale_centi(position) > 0
        assert hash(position) == hash(game.parse_position(game.position_text(position)))
        assert game.play(position, move) == following  # playing changes no position
    end = positions[-1]
    result = game.result_centi(end)
    assert result == 0 or abs(result) > WIN_CENTI
    assert game.ending(end).kind in ("mate", "stalemate", "draw", "variantEnd")
    assert (result == 0) == (game.ending(end).kind in ("stalemate", "draw"))
    assert game.parse_position(game.position_text(end)) == end or game.name == "tictactoe"
    assert replay(game, [game.move_text(m) for m in moves]) == end


@every_game
def test_illegal_moves_are_refused(game: Game[Any]) -> None:
    positions, _ = play_out(game, seed=7)
    for position in positions:
        legal = game.legal_moves(position)
        for move in {*range(-2, 70), 1000} - set(legal):
            with pytest.raises(IllegalMove):
                game.play(position, move)
        texts = {game.move_text(move) for move in legal}
        for text in {"", "z9", "a0", "A1", "f5 ", "passs", "e2e4", "e2-e4", "\x00", "f" * 1000} - texts:
            with pytest.raises(IllegalMove):
                game.parse_move(position, text)


@every_game
@pytest.mark.parametrize("seed", range(6))
def test_lines_of_a_search_are_no_past(game: Game[Any], seed: int) -> None:
    """The root of a search is the same position; what is played from there may come back at will."""
    positions, _ = play_out(game, seed)
    position = positions[len(positions) // 2]
    root = game.for_search(position)
    assert game.for_search(root) == root
    assert game.position_text(root) == game.position_text(position)
    assert game.legal_moves(root) == game.legal_moves(position)
    for move in game.legal_moves(root):
        line = game.play(root, move)
        assert game.for_search(line) == line
        assert game.board_rows(line) == game.board_rows(game.play(position, move))
        assert game.for_search(game.parse_position(game.position_text(line))) == line


@every_game
@pytest.mark.parametrize("text", ["", " ", "8/8/8/8/8/8/8/8 b", "x", "1/2/3", "\n", "9" * 500])
def test_garbled_positions_are_refused(game: Game[Any], text: str) -> None:
    with pytest.raises(BadPosition):
        game.parse_position(text)


@every_game
def test_names(game: Game[Any]) -> None:
    assert get_game(game.name) is game
    assert game.side_to_move(game.initial()) == 0
    assert game.sides[0] != game.sides[1]


def test_unknown_game() -> None:
    with pytest.raises(KeyError, match="othello"):
        get_game("go")
