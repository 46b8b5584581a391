"""Odds: the stronger player gives material, so that both sides can expect about half of the points.

The odds of each game are listed from the smallest to the largest. In chess the giver lacks the f-pawn, the
queen's knight, the queen's rook, the queen, or queen and knight (Wikipedia, "Handicap (chess)"). In xiangqi
the giver lacks the left horse, the left cannon, both horses or the left chariot, as seen by the giver
(XQWLight has the same positions without horses). In Othello the weaker player already holds one corner, two
opposite ones, or three. The side that moves first in a normal game always moves first.

What odds are worth in rating points is an estimate. A knight follows Kaufman, who gave knight odds to many
pupils (quoted in Wikipedia, "Handicap (chess)"): the weaker the receiver, the less a piece is worth, since it
is soon lost again. `Odds.knights` relates the other odds to the knight: those of chess and Othello to matches
of `strong:nodes=2000` against models of people (``desdemona match --odds``; Maia 1500 and the people of
Othello, 40 to 60 games each, so that they are uncertain by a quarter of a knight), those of xiangqi to the
pieces' values.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise

_KNIGHT_POINTS = ((900.0, 200.0), (1100.0, 300.0), (1400.0, 400.0), (1800.0, 600.0), (2400.0, 1000.0))
"""Rating of the receiver, and the rating points that knight odds are worth; Kaufman's figures."""


@dataclass(frozen=True, slots=True)
class Odds:
    """One kind of odds of a game."""

    game: str
    name: str
    """The name in settings, requests and on the command line, such as ``queen+knight``."""
    text: str
    """What the giver plays without, or in Othello what the receiver begins with."""
    starts: tuple[str, str]
    """The starting positions in which side 0 and in which side 1 gives the odds (`Game.parse_position`)."""
    knights: float
    """What the odds are worth in rating points, relative to a knight in chess; an estimate."""

    def points(self, receiver: float) -> float:
        """The lead in rating that the odds make up for, for a receiver with this rating."""
        return self.knights * knight_points(receiver)


def knight_points(receiver: float) -> float:
    """What a knight is worth in rating points against this receiver; constant outside Kaufman's figures."""
    for (low, points), (high, more) in pairwise(_KNIGHT_POINTS):
        if receiver < high:
            return points + (more - points) * max(0.0, receiver - low) / (high - low)
    return _KNIGHT_POINTS[-1][1]


ODDS: Mapping[str, tuple[Odds, ...]] = {
    "chess": (
        Odds(
            game="chess",
            name="pawn",
            text="pawn",
            starts=(
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPP1PP/RNBQKBNR w KQkq - 0 1",
                "rnbqkbnr/ppppp1pp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            ),
            knights=0.35,
        ),
        Odds(
            game="chess",
            name="knight",
            text="knight",
            starts=(
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/R1BQKBNR w KQkq - 0 1",
                "r1bqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            ),
            knights=1.0,
        ),
        Odds(
            game="chess",
            name="rook",
            text="rook",
            starts=(
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/1NBQKBNR w Kkq - 0 1",
                "1nbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQk - 0 1",
            ),
            knights=1.3,
        ),
        Odds(
            game="chess",
            name="queen",
            text="queen",
            starts=(
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1",
                "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            ),
            knights=2.1,
        ),
        Odds(
            game="chess",
            name="queen+knight",
            text="queen and knight",
            starts=(
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/R1B1KBNR w KQkq - 0 1",
                "r1b1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            ),
            knights=2.5,
        ),
    ),
    "othello": (
        Odds(
            game="othello",
            name="1-corner",
            text="one corner",
            starts=(
                "w7/8/8/3wb3/3bw3/8/8/8 b",
                "b7/8/8/3wb3/3bw3/8/8/8 b",
            ),
            knights=0.9,
        ),
        Odds(
            game="othello",
            name="2-corners",
            text="two corners",
            starts=(
                "w7/8/8/3wb3/3bw3/8/8/7w b",
                "b7/8/8/3wb3/3bw3/8/8/7b b",
            ),
            knights=1.3,
        ),
        Odds(
            game="othello",
            name="3-corners",
            text="three corners",
            starts=(
                "w6w/8/8/3wb3/3bw3/8/8/7w b",
                "b6b/8/8/3wb3/3bw3/8/8/7b b",
            ),
            knights=1.4,
        ),
    ),
    "xiangqi": (
        Odds(
            game="xiangqi",
            name="horse",
            text="horse",
            starts=(
                "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/R1BAKABNR w - - 0 1",
                "rnbakab1r/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1",
            ),
            knights=1.0,
        ),
        Odds(
            game="xiangqi",
            name="cannon",
            text="cannon",
            starts=(
                "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/7C1/9/RNBAKABNR w - - 0 1",
                "rnbakabnr/9/1c7/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1",
            ),
            knights=1.1,
        ),
        Odds(
            game="xiangqi",
            name="2-horses",
            text="two horses",
            starts=(
                "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/R1BAKAB1R w - - 0 1",
                "r1bakab1r/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1",
            ),
            knights=1.5,
        ),
        Odds(
            game="xiangqi",
            name="chariot",
            text="chariot",
            starts=(
                "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/1NBAKABNR w - - 0 1",
                "rnbakabn1/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1",
            ),
            knights=1.7,
        ),
    ),
}
"""The odds of each game that has some, from the smallest to the largest."""

NAMES = tuple(odds.name for of_game in ODDS.values() for odds in of_game)
"""The names of all odds; each belongs to one game."""


def odds_named(game: str, name: str) -> Odds | None:
    """The game's odds with this name; None if it has none."""
    return next((odds for odds in ODDS.get(game, ()) if odds.name == name), None)


def odds_from_start(game: str, start: str | None) -> tuple[Odds, int] | None:
    """The odds that a starting position stands for, and the side that gives them.

    Args:
        start: The starting position; None for the standard one. Only its board and side to move count.

    Returns:
        None if no side gives odds.
    """
    if start is None:
        return None
    return _STARTS.get((game, *start.split()[:2]))


def gives_odds(game: str, start: str | None, side: int) -> bool:
    """Whether this side gives odds in a game from this starting position."""
    given = odds_from_start(game, start)
    return given is not None and given[1] == side


_STARTS = {
    (game, *start.split()[:2]): (odds, side)
    for game, of_game in ODDS.items()
    for odds in of_game
    for side, start in enumerate(odds.starts)
}


def odds_for(
    game: str, own: float | None, opponent: float | None, allowed: Collection[str] = NAMES
) -> Odds | None:
    """The odds at which two players' expected scores are nearest to even.

    Args:
        own: The giver's rating; None if it is unknown or provisional.
        opponent: The receiver's rating in the same rating list, or None.
        allowed: The names of odds that may be given.

    Returns:
        None if a rating is unknown, or no odds are nearer to even than a normal game.
    """
    if own is None or opponent is None:
        return None
    lead = own - opponent
    choices = [(abs(lead), None), *((abs(lead - odds.points(opponent)), odds) for odds in ODDS.get(game, ()))]
    return min(
        (each for each in choices if each[1] is None or each[1].name in allowed), key=lambda each: each[0]
    )[1]
