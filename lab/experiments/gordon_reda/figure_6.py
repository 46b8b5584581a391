"""Gordon & Reda 2006, Figure 6: trappy against standard minimax in Othello, at equal and unequal depths.

The trappy player has the paper's options, including its rule for decided games (`DecidedScores.PAPER`). A
second measurement repeats the matches with this program's default rule for decided games.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from lab.experiments.estimates_text import above_zero, mean_of, percent, share_percent
from lab.experiments.experiment import Result, Size
from lab.experiments.experiment_report import Chart, ClaimVerdict, Line, PaperClaim, Report, Table
from lab.experiments.matches import Cell, Games, MatchExperiment, better_and_worse, discs, paired
from storage.evidence.intervals import share

ORIGINAL, TRAPPY = "original", "trappy"
SWINDLING = "trappy, default rule"
"""The trappy player with `DecidedScores.SWINDLE`: a forced win gets no bonus."""
_PLAYERS = {ORIGINAL: "standard:", TRAPPY: "trappy:decided=paper,", SWINDLING: "trappy:"}
"""Player specifications without the depth, which is appended. The specifications are part of the job name, so
that results cannot be mixed up."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the figure, as printed."""

    black: str
    black_depth: int
    white: str
    white_depth: int
    result: str
    """Disc counts of Black and White, as printed."""


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
"""Number of moves in the random openings."""
_PAIRS = {Size.SMALL: 1, Size.FULL: 100}
_SMALL_DEPTH = 8
COMPARISONS = len(EQUAL) + len(SHALLOWER)
"""Number of primary endpoints, which are margins in discs. The endpoints were fixed in advance and have
simultaneous 95 % intervals (Bonferroni). All other results are exploratory."""


class Figure6(MatchExperiment):
    """The 21 matches, once from the initial position as in the paper and once from random openings."""

    name: ClassVar = "figure-6"
    title: ClassVar = "Trappy against standard minimax in Othello"
    source: ClassVar = "Gordon & Reda 2006, Figure 6"
    version: ClassVar = "1"

    def cells(self, size: Size) -> Sequence[Cell]:
        """See `MatchExperiment.cells`; the most informative cells come first, in case time runs out."""
        wanted = sorted([*EQUAL, *SHALLOWER], key=max)  # the cheapest first
        if size is Size.SMALL:
            wanted = [pair for pair in wanted if max(pair) <= _SMALL_DEPTH]
        kinds = (TRAPPY, ORIGINAL)
        drawn = [
            _cell(kind, *pair, _PAIRS[size], PLIES) for pair in wanted for kind in kinds if _has(kind, pair)
        ]
        starts = [_cell(kind, *pair, 1, 0) for pair in wanted for kind in kinds]
        again = [
            _cell(SWINDLING, *pair, pairs, plies)
            for pairs, plies in ((_PAIRS[size], PLIES), (1, 0))
            for pair in wanted
            if size is Size.FULL
        ]
        return [drawn[0], *starts, *drawn[1:], *again]

    def report(self, results: Mapping[str, Result], size: Size) -> Report:
        """See `Experiment.report`."""
        games = self.games(results, size)
        tables = [_as_printed(games), _from_openings(games, (TRAPPY, ORIGINAL), size)]
        if any(_found(games, SWINDLING, *pair, PLIES) for pair in (*EQUAL, *SHALLOWER)):
            tables += [_from_openings(games, (SWINDLING,), size), _rules(games)]
        claims = (*_paper_s_counts(), *_equal_depth(games, size), *_shallower(games, size))
        return Report(claims, tuple(tables), _charts(games))


def _has(kind: str, depths: tuple[int, int]) -> bool:
    """Whether to play a match; False for a player against itself, which would always score 1 to 1."""
    return kind != ORIGINAL or depths[0] != depths[1]


def _cell(kind: str, depth: int, other_depth: int, pairs: int, plies: int) -> Cell:
    a, b = f"{_PLAYERS[kind]}depth={depth}", f"{_PLAYERS[ORIGINAL]}depth={other_depth}"
    return Cell("othello", a, b, pairs, plies)


def _found(games: Mapping[str, Games], kind: str, depth: int, other_depth: int, plies: int) -> Games | None:
    return games.get(_cell(kind, depth, other_depth, 1, plies).name)


def _as_printed(games: Mapping[str, Games]) -> Table:
    rows = []
    for at, row in enumerate(ROWS, start=1):
        ours = _result(row, games, TRAPPY)
        again = _result(row, games, SWINDLING) if TRAPPY in (row.black, row.white) else ours
        rows.append(
            (
                f"{at}",
                row.black,
                f"{row.black_depth}",
                row.white,
                f"{row.white_depth}",
                row.result,
                ours,
                again,
            )
        )
    return Table(
        "Figure 6 as printed: one game per row, from the usual start",
        ("match", "black", "depth", "white", "depth", "paper", "ours", "ours, default rule"),
        tuple(rows),
        "Empty squares count for the winner. One game between two deterministic players proves nothing.",
    )


def _result(row: Row, games: Mapping[str, Games], trappy: str) -> str:
    """Disc counts of Black and White in our game for a row, with `trappy` as the trappy strategy."""
    # A is the trappy player, or else the deeper one; it moves first in the first game of a pair.
    is_first = row.black == TRAPPY or (row.white != TRAPPY and row.black_depth >= row.white_depth)
    kind, deep, shallow = (
        (row.black, row.black_depth, row.white_depth)
        if is_first
        else (row.white, row.white_depth, row.black_depth)
    )
    found = _found(games, trappy if kind == TRAPPY else kind, deep, shallow, 0)
    if found is None or (margin := found.single[0 if is_first else 1][1]) is None:
        return "-"
    black = (64 + (margin if is_first else -margin)) // 2
    return f"{black}:{64 - black}"


def _from_openings(games: Mapping[str, Games], kinds: Sequence[str], size: Size) -> Table:
    rows = []
    for deep, shallow in (*EQUAL, *SHALLOWER):
        for kind in kinds:
            if not _has(kind, (deep, shallow)):
                continue
            found = _found(games, kind, deep, shallow, PLIES)
            words = ("not played", "-", "-", "-") if found is None else (*found.words(), discs(found.discs))
            original = _found(games, ORIGINAL, deep, shallow, PLIES)
            gain = "" if kind == ORIGINAL or not _has(ORIGINAL, (deep, shallow)) else "-"
            if gain and found is not None and original is not None:
                gain = discs(paired(found, original))
            rows.append((f"{kind} {deep}", f"{ORIGINAL} {shallow}", *words, gain))
    rule = "the program's default rule for decided games" if SWINDLING in kinds else "the paper's options"
    return Table(
        f"With {rule}, from balanced random openings of {PLIES} plies, each played with both colours",
        (
            "A",
            "B",
            "A's games",
            "A's score, %",
            "Elo",
            "A's discs per game",
            "minus original's, same openings",
        ),
        tuple(rows),
        f"A complete match has {2 * _PAIRS[size]} games.",
    )


def _rules(games: Mapping[str, Games]) -> Table:
    rows = []
    for deep, shallow in (*EQUAL, *SHALLOWER):
        paper, default = (_found(games, kind, deep, shallow, PLIES) for kind in (TRAPPY, SWINDLING))
        if paper is not None and default is not None:
            gain = paired(paper, default)
            rows.append((f"{deep}", f"{shallow}", f"{2 * gain.n}", discs(gain)))
    return Table(
        "Effect of the rule for decided games: trappy with the paper's rule minus trappy with the default",
        ("depth", "opponent's depth", "games of each", "discs per game"),
        tuple(rows),
        "On the same openings.",
    )


def _won_by(row: Row, player: str) -> int:
    """A player's winning margin in the row, in discs."""
    black, white = map(int, row.result.split(":"))
    return black - white if row.black == player else white - black


def _paper_s_counts() -> Iterator[PaperClaim]:
    """The paper's claims about its own rows, checked by recounting the rows."""
    rows = list(enumerate(ROWS, start=1))
    equal = [(at, row) for at, row in rows if row.black_depth == row.white_depth and row.black != row.white]
    won = [at for at, row in equal if _won_by(row, TRAPPY) > 0]
    yield PaperClaim(
        "Of its six games at equal depth, standard won four (2, 3, 10, 17) and trappy two (9, 16)",
        ClaimVerdict.HOLDS if won == [9, 16] else ClaimVerdict.FAILS,
        f"by the paper's table, trappy won {len(won)} of {len(equal)} ({', '.join(map(str, won))})",
    )
    better = []
    for at, row in rows:
        if TRAPPY in (row.black, row.white) and row.black_depth != row.white_depth:
            [control] = [
                each
                for each in ROWS
                if each.black == each.white == ORIGINAL
                and (each.black_depth, each.white_depth) == (row.black_depth, row.white_depth)
            ]
            side = "black" if row.black == TRAPPY else "white"
            theirs = _won_by(control, ORIGINAL) * (1 if side == "black" else -1)
            better.append((at, _won_by(row, TRAPPY) > theirs))
    count = share(sum(is_better for _, is_better in better), len(better))
    yield PaperClaim(
        "In 67 % of the cases, trappy had a better final score than standard against a shallower opponent",
        ClaimVerdict.HOLDS if (count.low or 0) > 0.5 else ClaimVerdict.INCONCLUSIVE,
        f"{count.count} of {len(better)} rows "
        f"({', '.join(str(at) for at, is_better in better if is_better)}): {share_percent(count)} %",
    )


def _equal_depth(games: Mapping[str, Games], size: Size) -> Iterator[PaperClaim]:
    for depth, _ in EQUAL:
        found = _found(games, TRAPPY, depth, depth, PLIES)
        says = f"(a) At equal depth ({depth}), trappy plays slightly worse than standard"
        if found is None:
            yield PaperClaim(says, ClaimVerdict.INCONCLUSIVE, "not played")
            continue
        lost = mean_of(found.margins, COMPARISONS)
        yield PaperClaim(
            f"{says}: discs", above_zero(-lost), f"{discs(lost)} discs per game{_part(found, size)}"
        )
        score = mean_of(found.points - 0.5)
        yield PaperClaim(
            f"{says}: games won",
            above_zero(-score),
            f"{percent(found.score)} %, {found.tally}{_part(found, size)}",
        )


def _shallower(games: Mapping[str, Games], size: Size) -> Iterator[PaperClaim]:
    for deep, shallow in SHALLOWER:
        says = (
            f"(b) Against a shallower opponent ({deep} v {shallow}), trappy wins by more than standard does"
        )
        trappy = _found(games, TRAPPY, deep, shallow, PLIES)
        original = _found(games, ORIGINAL, deep, shallow, PLIES)
        if trappy is None or original is None:
            yield PaperClaim(says, ClaimVerdict.INCONCLUSIVE, "not played")
            continue
        gain = paired(trappy, original, COMPARISONS)
        better, worse = better_and_worse(trappy, original)
        yield PaperClaim(
            says,
            above_zero(gain),
            f"{discs(gain)} discs per game on the same openings; better in {better} of {gain.n}, worse in "
            f"{worse}{_part(trappy, size)}",
        )


def _part(found: Games, size: Size) -> str:
    """The number of games played in a match, as text; empty if the match is complete."""
    played, whole = len(found.single), 2 * _PAIRS[size]
    return "" if played >= whole else f"; {played} of {whole} games"


def _charts(games: Mapping[str, Games]) -> tuple[Chart, ...]:
    """Chart trappy's paired gain, because the players' margins vary far more than their difference."""
    lines = []
    for kind, words in ((TRAPPY, "the paper's options"), (SWINDLING, "the default rule")):
        marks = []
        for deep, shallow in SHALLOWER:
            trappy, original = (_found(games, each, deep, shallow, PLIES) for each in (kind, ORIGINAL))
            if trappy is not None and original is not None:
                gain = paired(trappy, original)
                marks.append((float(deep), gain.value, gain.low, gain.high))
        if marks:
            lines.append(Line(f"trappy minus standard, {words}", tuple(marks)))
    if not lines:
        return ()
    title = "Figure 6: gain against an opponent two plies shallower, same openings"
    return (Chart("shallower", title, "depth", "discs per game", tuple(lines)),)
