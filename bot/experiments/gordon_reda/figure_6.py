"""Gordon & Reda 2006, Figure 6: trappy against standard minimax at Othello, at equal and unequal depths."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from bot.experiments.experiment import Result, Size
from bot.experiments.matches import Cell, Games, MatchExperiment, discs, paired
from bot.experiments.report import Chart, Line, PaperClaim, Report, Table
from bot.experiments.words import above_zero

ORIGINAL, TRAPPY = "original", "trappy"
_KINDS = {ORIGINAL: "standard", TRAPPY: "trappy"}


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the figure, as printed."""

    black: str
    black_depth: int
    white: str
    white_depth: int
    result: str
    """Black's discs to White's."""


ROWS = tuple(
    Row(black, black_depth, white, white_depth, result)
    for black, black_depth, white, white_depth, result in (
        (ORIGINAL, 8, ORIGINAL, 8, "43:21"),
        (TRAPPY, 8, ORIGINAL, 8, "13:51"),
        (ORIGINAL, 8, TRAPPY, 8, "49:15"),
        (ORIGINAL, 8, ORIGINAL, 6, "40:24"),
        (TRAPPY, 8, ORIGINAL, 6, "41:23"),
        (ORIGINAL, 6, ORIGINAL, 8, "8:56"),
        (ORIGINAL, 6, TRAPPY, 8, "10:54"),
        (ORIGINAL, 9, ORIGINAL, 9, "26:38"),
        (TRAPPY, 9, ORIGINAL, 9, "36:28"),
        (ORIGINAL, 9, TRAPPY, 9, "39:25"),
        (ORIGINAL, 9, ORIGINAL, 7, "55:9"),
        (TRAPPY, 9, ORIGINAL, 7, "56:8"),
        (ORIGINAL, 7, ORIGINAL, 9, "34:30"),
        (ORIGINAL, 7, TRAPPY, 9, "39:25"),
        (ORIGINAL, 10, ORIGINAL, 10, "3:61"),
        (TRAPPY, 10, ORIGINAL, 10, "49:15"),
        (ORIGINAL, 10, TRAPPY, 10, "30:34"),
        (ORIGINAL, 10, ORIGINAL, 8, "53:11"),
        (TRAPPY, 10, ORIGINAL, 8, "58:6"),
        (ORIGINAL, 8, ORIGINAL, 10, "27:37"),
        (ORIGINAL, 8, TRAPPY, 10, "21:43"),
    )
)
EQUAL = ((8, 8), (9, 9), (10, 10))
SHALLOWER = ((8, 6), (9, 7), (10, 8))
PLIES = 8
"""Moves of the random openings."""
_PAIRS = {Size.SMALL: 1, Size.FULL: 100}
_SMALL_DEPTH = 8


class Figure6(MatchExperiment):
    """The 21 matches, once as printed, and from random openings."""

    name: ClassVar = "figure-6"
    title: ClassVar = "Trappy and standard minimax at Othello"
    source: ClassVar = "Gordon & Reda 2006, Figure 6"
    version: ClassVar = "1"

    def cells(self, size: Size) -> Sequence[Cell]:
        """See `MatchExperiment.cells`."""
        wanted = sorted([*EQUAL, *SHALLOWER], key=max)  # the cheap ones first
        if size is Size.SMALL:
            wanted = [pair for pair in wanted if max(pair) <= _SMALL_DEPTH]
        starts = [_cell(kind, deep, shallow, 1, 0) for deep, shallow in wanted for kind in (ORIGINAL, TRAPPY)]
        drawn = [
            _cell(kind, deep, shallow, _PAIRS[size], PLIES)
            for deep, shallow in wanted
            for kind in (ORIGINAL, TRAPPY)
            if (kind, deep) != (ORIGINAL, shallow)  # with both colours it plays itself: always 1 to 1
        ]
        return starts + drawn

    def report(self, results: Mapping[str, Result], size: Size) -> Report:
        """See `Experiment.report`."""
        games = self.games(results, size)
        return Report(
            (*_equal_depth(games), *_shallower(games)),
            (_as_printed(games), _from_openings(games)),
            _charts(games),
        )


def _cell(kind: str, depth: int, other_depth: int, pairs: int, plies: int) -> Cell:
    a, b = f"{_KINDS[kind]}:depth={depth}", f"standard:depth={other_depth}"
    return Cell("othello", a, b, pairs, plies)


def _found(games: Mapping[str, Games], kind: str, depth: int, other_depth: int, plies: int) -> Games | None:
    return games.get(_cell(kind, depth, other_depth, 1, plies).name)


def _as_printed(games: Mapping[str, Games]) -> Table:
    rows = []
    for at, row in enumerate(ROWS, start=1):
        # A is the trappy player, or else the deeper one; it moves first in the first game of a pair.
        is_first = row.black == TRAPPY or (row.white != TRAPPY and row.black_depth >= row.white_depth)
        kind, deep, shallow = (
            (row.black, row.black_depth, row.white_depth)
            if is_first
            else (row.white, row.white_depth, row.black_depth)
        )
        found = _found(games, kind, deep, shallow, 0)
        ours = "-"
        if found is not None and (margin := found.single[0 if is_first else 1][1]) is not None:
            black = (64 + (margin if is_first else -margin)) // 2
            ours = f"{black}:{64 - black}"
        rows.append(
            (f"{at}", row.black, f"{row.black_depth}", row.white, f"{row.white_depth}", row.result, ours)
        )
    return Table(
        "Figure 6 as printed: one game a row, from the usual start",
        ("match", "black", "depth", "white", "depth", "paper", "ours"),
        tuple(rows),
        "Empty squares count for the winner.  One game of two deterministic players proves nothing.",
    )


def _from_openings(games: Mapping[str, Games]) -> Table:
    rows = []
    for deep, shallow in (*EQUAL, *SHALLOWER):
        for kind in (ORIGINAL, TRAPPY):
            found = _found(games, kind, deep, shallow, PLIES)
            if found is not None:
                tally, score, elo = found.words()
                rows.append(
                    (f"{kind} {deep}", f"{ORIGINAL} {shallow}", tally, score, elo, discs(found.discs))
                )
    return Table(
        f"From balanced random openings of {PLIES} plies, each with both colours",
        ("A", "B", "A's games", "A's score, %", "Elo", "A's discs a game"),
        tuple(rows),
    )


def _equal_depth(games: Mapping[str, Games]) -> Iterator[PaperClaim]:
    for depth, _ in EQUAL:
        found = _found(games, TRAPPY, depth, depth, PLIES)
        if found is not None:
            yield PaperClaim(
                f"At equal depth ({depth}) trappy plays slightly worse than standard",
                above_zero(-found.discs),
                f"{discs(found.discs)} discs a game",
            )


def _shallower(games: Mapping[str, Games]) -> Iterator[PaperClaim]:
    for deep, shallow in SHALLOWER:
        trappy = _found(games, TRAPPY, deep, shallow, PLIES)
        original = _found(games, ORIGINAL, deep, shallow, PLIES)
        if trappy is not None and original is not None:
            gain = paired(trappy.margins, original.margins)
            yield PaperClaim(
                f"Against a shallower opponent ({deep} v {shallow}) trappy wins by more than standard does",
                above_zero(gain),
                f"{discs(gain)} discs a game on the same openings",
            )


def _charts(games: Mapping[str, Games]) -> tuple[Chart, ...]:
    lines = []
    for kind in (ORIGINAL, TRAPPY):
        found = [(deep, _found(games, kind, deep, shallow, PLIES)) for deep, shallow in SHALLOWER]
        marks = tuple(
            (float(deep), each.discs.value, each.discs.low, each.discs.high)
            for deep, each in found
            if each is not None
        )
        if marks:
            lines.append(Line(f"{kind} against a standard player two plies shallower", marks))
    if not lines:
        return ()
    return (
        Chart("shallower", "Figure 6: against shallower opponents", "depth", "discs a game", tuple(lines)),
    )
