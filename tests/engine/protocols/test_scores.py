"""Lines of an engine as scores by depth: which line counts, what a mate is worth, what is nonsense."""

import pytest

from engine.game import WIN_CENTI
from engine.games import get_rules
from engine.protocols.link import InfoLine
from engine.protocols.process import EngineError
from engine.protocols.score_settings import EngineSettings
from engine.protocols.scores import plies_played, score_to_centi, scores_by_depth


def line(depth: int, move: str, value: int, is_mate: bool = False) -> InfoLine:
    return InfoLine(depth, value, is_mate, (move, "x9x9"))


def test_the_last_line_of_a_move_and_depth_counts() -> None:
    """Old depths and new ones come mixed when the engine prints its list again."""
    lines = [
        line(1, "a", 10), line(1, "b", 5), line(2, "b", 20), line(1, "a", 10),
        line(2, "b", 21), line(2, "a", -3), line(0, "a", 99), line(3, "a", 99),
    ]  # fmt: skip
    assert scores_by_depth(lines, ("a", "b"), 2, 0) == {"a": (10, -3), "b": (5, 21)}


def test_a_depth_that_is_left_out_brings_nothing_new() -> None:
    lines = [line(2, "a", 10), line(5, "a", 50), line(1, "b", 7)]
    assert scores_by_depth(lines, ("a", "b"), 6, 0) == {"a": (10, 10, 10, 10, 50, 50), "b": (7,) * 6}


def test_nonsense() -> None:
    with pytest.raises(EngineError, match="c got the score 3, but is not a legal move"):
        scores_by_depth([line(1, "a", 1), line(1, "c", 3)], ("a",), 1, 0)
    with pytest.raises(EngineError, match="the legal move b got no score"):
        scores_by_depth(
            [line(1, "a", 1), line(0, "b", 1), line(9, "b", 1), InfoLine(1, 3, False, ())], ("a", "b"), 1, 0
        )


@pytest.mark.parametrize(("mover_mates_in", "plies"), [(1, 1), (3, 5), (-1, 2), (-4, 8), (0, 0)])
def test_mates_are_worth_what_the_rules_say(mover_mates_in: int, plies: int) -> None:
    """The mated side sees ``-(100,000 + 10,000 - ply)``: Fool's mate, with its last plies still to come."""
    game = get_rules("chess")
    position = game.initial()
    for move in ("f2f3", "e7e5", "g2g4", "d8h4"):
        position = game.play(position, game.parse_move(position, move))
    mated = game.result_centi(position)
    assert mated == -WIN_CENTI - 10_000 + 4
    score = score_to_centi(mover_mates_in, True, 4 - plies)
    assert score == (-mated if mover_mates_in > 0 else mated)


def test_scores_stay_inside_their_range() -> None:
    assert score_to_centi(123, False, 0) == 123
    assert score_to_centi(10**9, False, 0) == WIN_CENTI - 1
    assert score_to_centi(-(10**9), False, 0) == 1 - WIN_CENTI
    assert score_to_centi(10**9, True, 0) == WIN_CENTI + 2_000
    assert score_to_centi(-(10**9), True, 0) == -WIN_CENTI - 2_000
    assert score_to_centi(2, True, 10) > score_to_centi(3, True, 10) > WIN_CENTI


def test_plies_played() -> None:
    fen = "8/8/4k3/8/8/4K3/8/R7 {} - - 3 {}"
    assert plies_played(fen.format("w", 1)) == 0
    assert plies_played(fen.format("b", 1)) == 1
    assert plies_played(fen.format("w", 40) + " moves a1a2 e6e7") == 80
    assert plies_played(fen.format("w", 40) + " moves a1a2 e6e7 line a2a1") == 81
    with pytest.raises(ValueError, match="no move number"):
        plies_played("8/8/8/8/8/8/8/8 w")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"game": "othello"}, "game is 'othello', must be one of chess, xiangqi"),
        ({"protocol": "xboard"}, "protocol is 'xboard'"),
        ({"protocol": "ucci"}, "ucci is for xiangqi"),
        ({"command": ()}, "command is empty"),
        ({"command": ("",)}, "command is empty"),
        ({"depth": 1}, "depth is 1"),
        ({"window_centi": -1}, "window_centi is -1"),
        ({"max_lines": -1}, "max_lines is -1"),
        ({"candidates": 0}, "candidates is 0"),
        ({"options": (("MultiPV", "3"),)}, "MultiPV is set by Desdemona"),
        ({"options": (("UCI Variant", "chess"),)}, "UCI Variant is set by Desdemona"),
        ({"options": (("Hash", "1\nquit"),)}, "cannot be sent"),
        ({"options": ((" ", "1"),)}, "cannot be sent"),
    ],
)
def test_settings_that_make_no_sense(change: dict[str, object], message: str) -> None:
    good: dict[str, object] = {"game": "chess", "command": ("engine",)}
    EngineSettings(**good)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        EngineSettings(**(good | change))  # type: ignore[arg-type]
