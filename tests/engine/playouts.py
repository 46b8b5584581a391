"""Games of random legal moves, with names and all, for the formats' tests."""

import random

import chess
from hypothesis import strategies as st

from engine.formats.record import GameRecord, black_margin, clean, margin_points, values_or_empty
from engine.game import continued_position
from engine.games import GAMES

TEXTS = st.text(st.characters(codec="utf-8"), max_size=10).map(clean)
NUMBERS = st.none() | st.floats(-999, 999, allow_nan=False).map(lambda number: round(number, 3) + 0.0)
TIMES = st.none() | st.floats(0, 99999).map(lambda number: round(number, 3))


@st.composite
def playouts(draw: st.DrawFn, game: str, *, elsewhere: bool = False, most_plies: int = 80) -> GameRecord:
    """A game.

    Args:
        elsewhere: Some begin after random moves, or, at chess, at a start of Chess960.
    """
    rules = GAMES[game]
    rng = random.Random(draw(st.integers(0, 2**32)))
    position, start = rules.initial(), None
    if elsewhere and draw(st.booleans()):
        if game == "chess" and draw(st.booleans()):
            board = chess.Board.from_chess960_pos(draw(st.integers(0, 959)))
            position = rules.parse_position(board.fen(shredder=True))
        else:
            for _ in range(draw(st.integers(1, 9))):
                position = rules.play(position, rng.choice(rules.legal_moves(position)))
            position = rules.parse_position(rules.board_text(position))
        start = rules.position_text(position)
        if start == rules.position_text(rules.initial()):
            start = None
    moves: list[str] = []
    for _ in range(draw(st.integers(0, most_plies))):
        position = continued_position(rules, position) if game == "chess" else position
        legal = rules.legal_moves(position)
        if not legal:
            break
        move = rng.choice(legal)
        moves.append(rules.move_text(move))
        position = rules.play(position, move)
    margin = float(m) if game == "othello" and (m := black_margin(position)) is not None else None
    points = margin_points(margin)
    ending = ""
    if margin is None:
        points = draw(st.sampled_from([None, 1.0, 0.5, 0.0]))
        ending = draw(st.sampled_from(["", "resigned", "timeout", "agreed"])) if points is not None else ""
    count = len(moves)
    evaluations = draw(st.lists(NUMBERS, min_size=count, max_size=count)) if draw(st.booleans()) else []
    times_s = draw(st.lists(TIMES, min_size=count, max_size=count)) if draw(st.booleans()) else []
    ratings = st.none() | st.integers(0, 4000).map(float) | st.just(1720.25)
    return GameRecord(
        game=game,
        players=(draw(TEXTS), draw(TEXTS)),
        start=start,
        moves=tuple(moves),
        points=points,
        margin=margin,
        ending=ending,
        event=draw(TEXTS),
        place=draw(TEXTS),
        round=draw(TEXTS),
        date=draw(
            st.sampled_from(["", "1984", "2026.11.22", "2026.11.21_09:33:18.UTC", "945277754"]) | TEXTS
        ),
        ratings=(draw(ratings), draw(ratings)),
        clocks=draw(st.tuples(TEXTS, TEXTS) | TEXTS.map(lambda clock: (clock, clock))),
        evaluations=values_or_empty(evaluations),
        times_s=values_or_empty(times_s),
        tags=draw(st.sampled_from([(), (("ECO", "B50"), ("Annotator", 'a "b" \\c]'))])),
    )
