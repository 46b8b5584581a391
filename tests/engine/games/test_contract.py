"""One contract for every game: what the interface promises, on random play."""

import random
from typing import Any

import pytest

from engine.game import WIN_CENTI, BadPosition, Game, IllegalMove, continued_position, replay
from engine.games import ENGINE_GAMES, GAMES, get_rules

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)


def every_game_with(seeds: int) -> pytest.MarkDecorator:
    """And seeds for random play; one each for the games of test_chess_variants.py."""
    pairs = [(name, seed) for name in GAMES for seed in range(1 if name in ENGINE_GAMES else seeds)]
    return pytest.mark.parametrize(
        ("game", "seed"),
        [pytest.param(get_rules(name), seed, id=f"{seed}-{name}") for name, seed in pairs],
    )


def play_out(game: Game[Any], seed: int) -> tuple[list[Any], list[int]]:
    """All positions and moves of one random game."""
    rng = random.Random(seed)
    positions, moves = [game.initial()], []
    while legal := game.legal_moves(positions[-1]):
        moves.append(rng.choice(legal))
        positions.append(game.play(positions[-1], moves[-1]))
    return positions, moves


@every_game_with(seeds=2)
def test_random_play(game: Game[Any], seed: int) -> None:
    """Of long games every fifth position is looked at, of both sides in turn."""
    positions, moves = play_out(game, seed)
    step = 1 if len(moves) < 80 else 5
    steps = list(zip(positions[:-1], positions[1:], moves, strict=True))
    for position, following, move in steps[seed % step :: step]:
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
    later = game.without_rule_ending(end)
    assert game.board_rows(later) == game.board_rows(end)
    assert game.side_to_move(later) == game.side_to_move(end)
    assert game.parse_position(game.position_text(later)) == later or game.name == "tictactoe"
    assert not game.legal_moves(later) or game.ending(end).kind in ("draw", "variantEnd")


CHESS_SHUFFLE = ["g1f3", "g8f6", "f3g1", "f6g8"]
XIANGQI_SHUFFLE = ["a1a2", "a10a9", "a2a1", "a9a10"]


@pytest.mark.parametrize(("name", "shuffle"), [("chess", CHESS_SHUFFLE), ("xiangqi", XIANGQI_SHUFFLE)])
def test_servers_may_play_on(name: str, shuffle: list[str]) -> None:
    """A third occurrence ends a game here, elsewhere only when somebody claims it."""
    game = get_rules(name)
    thrice = replay(game, shuffle * 2)
    assert game.legal_moves(thrice) == ()
    later = continued_position(game, thrice)
    assert game.legal_moves(later) == game.legal_moves(game.initial())
    after = replay(game, [*shuffle * 2, shuffle[0]])
    assert game.board_rows(after) == game.board_rows(replay(game, shuffle[:1]))
    assert continued_position(game, after) is after
    with pytest.raises(IllegalMove):
        replay(game, [*shuffle * 2, "e1e9"])


@pytest.mark.parametrize(("name", "shuffle"), [("chess", CHESS_SHUFFLE), ("xiangqi", XIANGQI_SHUFFLE)])
def test_a_game_knows_which_positions_it_has_seen(name: str, shuffle: list[str]) -> None:
    game = get_rules(name)
    for plies in range(8):
        position = replay(game, (shuffle * 2)[:plies])
        assert game.is_repeated(position) == (plies >= 4)
        if game.legal_moves(position):
            root, text = game.for_search(position), (shuffle * 2)[plies]
            assert game.is_repeated(game.play(root, game.parse_move(root, text))) == (plies >= 3)
            other = next(m for m in game.legal_moves(root) if game.move_text(m) != text)
            assert not game.is_repeated(game.play(root, other))


@every_game_with(seeds=2)
def test_without_a_repetition_no_position_stood_before(game: Game[Any], seed: int) -> None:
    positions, _ = play_out(game, seed)
    boards = [(game.board_rows(position), game.side_to_move(position)) for position in positions[:60]]
    if len(set(boards)) == len(boards):
        assert not any(game.is_repeated(position) for position in positions[:60])


def test_no_game_goes_on_after_mate() -> None:
    game = get_rules("chess")
    mated = replay(game, ["f2f3", "e7e5", "g2g4", "d8h4"])
    assert game.legal_moves(continued_position(game, mated)) == ()
    with pytest.raises(IllegalMove):
        replay(game, ["f2f3", "e7e5", "g2g4", "d8h4", "e1f2"])


@every_game
def test_illegal_moves_are_refused(game: Game[Any]) -> None:
    positions, _ = play_out(game, seed=7)
    for position in positions if len(positions) < 80 else positions[::3]:
        legal = game.legal_moves(position)
        for move in {*range(-2, 70), 1000} - set(legal):
            with pytest.raises(IllegalMove):
                game.play(position, move)
        texts = {game.move_text(move) for move in legal}
        for text in {"", "z9", "a0", "A1", "f5 ", "passs", "e2e4", "e2-e4", "\x00", "f" * 1000} - texts:
            with pytest.raises(IllegalMove):
                game.parse_move(position, text)


@every_game_with(seeds=3)
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
    assert get_rules(game.name) is game
    assert game.side_to_move(game.initial()) == 0
    assert game.sides[0] != game.sides[1]


def test_unknown_game() -> None:
    with pytest.raises(KeyError, match="othello"):
        get_rules("go")
