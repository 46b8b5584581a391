"""Falls for traps by the depth of the opponent's search: a claim of Fang, Chi & Jian without figures.

They write that opponents that search deeper than the trappy player, at full width, do not fall for its traps,
and all others do. Trappy of depth D (`assessment=last`, as theirs) and standard minimax of depth D meet
standard minimax of each depth D' from 2 to D + 2, from the same openings. Replies are counted as in Figure 9,
by the scores of depth D. A search of D - 1 plies from the position before the reply sees exactly these
scores, so an opponent of that depth can neither fall nor err by them; a deeper one may reply otherwise,
because it knows better.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bot.base.rounding import plural
from bot.match.conditions import Terms
from bot.match.player_specs import parse_spec
from engine.decision import OutcomeKind
from engine.strategies.standard import STANDARD
from engine.strategies.trappy import TRAPPY
from lab.experiments.estimates_text import in_points, share_percent
from lab.experiments.experiment import Experiment, Job, Result, Size
from lab.experiments.experiment_report import Chart, ClaimVerdict, Line, PaperClaim, Report, Table
from lab.experiments.gordon_reda.trap_replies import TrapReplies, of_pairs, ratios_apart

PLAYERS = (STANDARD.name, TRAPPY.name)
_FELL = OutcomeKind.FELL_FOR_PAPER_TRAP
_DEPTHS = {Size.SMALL: {"othello": 4}, Size.FULL: {"othello": 6, "xiangqi": 4}}
_PAIRS = {Size.SMALL: {"othello": 32}, Size.FULL: {"othello": 100, "xiangqi": 50}}
_PAIRS_A_JOB = 5
_FIRST = 2
_BEYOND = 2

Floats = NDArray[np.float64]


class OpponentDepth(Experiment):
    """Figure 9's counts against opponents of each depth."""

    name: ClassVar = "opponent-depth"
    title: ClassVar = "Who falls for traps, by the depth of the opponent's search"
    source: ClassVar = "Fang, Chi & Jian, section IV; Gordon & Reda 2006, section 3"
    version: ClassVar = "1"

    def jobs(self, size: Size) -> Sequence[Job]:
        """See `Experiment.jobs`; a partial run covers all depths."""
        found: list[tuple[float, Job]] = []
        for game, pairs in _PAIRS[size].items():
            depth = _DEPTHS[size][game]
            for first in range(0, pairs, _PAIRS_A_JOB):
                for opponent in opponent_depths(depth):
                    for player in PLAYERS:
                        arguments = {
                            "game": game,
                            "player": player,
                            "depth": depth,
                            "opponent": opponent,
                            "first": first,
                            "pairs": min(_PAIRS_A_JOB, pairs - first),
                        }
                        found.append((first / pairs, Job(_name(game, player, opponent, first), arguments)))
        return [job for _, job in sorted(found, key=lambda each: each[0])]

    def run(self, arguments: Mapping[str, Any], seed: int) -> Result:
        """Play a few pairs of games.

        Returns:
            See `trap_replies.of_pairs`.
        """
        game, depth = arguments["game"], arguments["depth"]
        terms = Terms(
            game=game,
            a=parse_spec(f"{arguments['player']}:depth={depth},assessment=last"),
            b=parse_spec(f"{STANDARD.name}:depth={arguments['opponent']}"),
            depth=depth,
            openings=f"seed {seed}",
        )
        return of_pairs(terms, seed, arguments["first"], arguments["pairs"])

    def report(self, results: Mapping[str, Result], size: Size) -> Report:
        """See `Experiment.report`."""
        found = {
            game: {
                opponent: both
                for opponent in opponent_depths(depth)
                if (both := _of_depth(results, game, opponent, _PAIRS[size][game])) is not None
            }
            for game, depth in _DEPTHS[size].items()
        }
        found = {game: by_depth for game, by_depth in found.items() if by_depth}
        claims = [
            claim
            for game, by_depth in found.items()
            for claim in _claims(game, _DEPTHS[size][game], by_depth)
        ]
        tables = tuple(_table(game, _DEPTHS[size][game], by_depth) for game, by_depth in found.items())
        return Report(tuple(claims), tables, _charts(found))


def opponent_depths(depth: int) -> Sequence[int]:
    """The depths of the opponents of a player of some depth."""
    return range(_FIRST, depth + _BEYOND + 1)


def _name(game: str, player: str, opponent: int, first: int) -> str:
    return f"{game}: {player} v depth {opponent}: pairs {first}"


class _Games:
    """The games of both players against opponents of one depth, from the same openings.

    Args:
        parts: The results of the standard player's jobs and of the trappy player's.
    """

    def __init__(self, parts: tuple[list[Result], list[Result]]) -> None:
        openings = sorted({each for some in parts for part in some for each in part["groups"]})
        numbers = {opening: at for at, opening in enumerate(openings)}
        self.replies: list[TrapReplies] = []
        self.points = [[each for part in some for each in part["points"]] for some in parts]
        """Our points in each game, by player."""
        sums: dict[str, list[Floats]] = {"replies": [], "falls": [], "errors": []}
        for some, points in zip(parts, self.points, strict=True):
            groups = [each for part in some for each in part["groups"]]
            replies = TrapReplies([each for part in some for each in part["replies"]], groups, len(points))
            at = np.array([numbers[groups[kept]] for kept in replies.kept], np.int64)
            for name, values in (
                ("replies", replies.is_answered),
                ("falls", replies.is_kind(_FELL)),
                ("errors", replies.erred * replies.is_answered),
            ):
                summed = np.bincount(at, np.asarray(values, np.float64), len(numbers))
                sums[name].append(np.asarray(summed, np.float64))
            self.replies.append(replies)
        self._sums = {name: np.stack(both, axis=1) for name, both in sums.items()}

    @property
    def score(self) -> float:
        """The trappy player's mean points."""
        return float(np.mean(self.points[1]))

    def apart(self, above: str) -> str:
        """Falls or errors per 100 replies: the trappy player's minus the standard player's."""
        return in_points(ratios_apart(self._sums[above], self._sums["replies"]))

    @property
    def falls(self) -> int:
        """Number of falls for the trappy player's traps."""
        trappy = self.replies[1]
        return int((trappy.is_kind(_FELL) & trappy.is_trap).sum())


def _of_depth(results: Mapping[str, Result], game: str, opponent: int, pairs: int) -> _Games | None:
    """The games that both players have played; None if there are none."""
    parts: tuple[list[Result], list[Result]] = ([], [])
    for first in range(0, pairs, _PAIRS_A_JOB):
        both = [results.get(_name(game, player, opponent, first)) for player in PLAYERS]
        standard, trappy = both
        if standard is not None and trappy is not None:
            parts[0].append(standard)
            parts[1].append(trappy)
    return _Games(parts) if parts[0] else None


# --- The report -----------------------------------------------------------------------------------------


def _claims(game: str, depth: int, by_depth: Mapping[int, _Games]) -> list[PaperClaim]:
    deeper = {each: found for each, found in by_depth.items() if each > depth}
    shallower = {each: found for each, found in by_depth.items() if each < depth - 1}
    claims = []
    if deeper:
        falls, traps = _totals(deeper.values())
        claims.append(
            PaperClaim(
                f"Opponents that search deeper at full width do not fall for trappy's traps ({game}, "
                f"our depth {depth})",
                ClaimVerdict.FAILS if falls else ClaimVerdict.HOLDS,
                f"{falls:,} falls for {plural(traps, 'trap')} at depths {min(deeper)} to {max(deeper)}",
            )
        )
    if shallower:
        falls, traps = _totals(shallower.values())
        is_each = all(found.falls for found in shallower.values())
        claims.append(
            PaperClaim(
                f"All opponents that search less deep fall for traps ({game}, our depth {depth})",
                ClaimVerdict.HOLDS if is_each else ClaimVerdict.INCONCLUSIVE,
                f"{falls:,} falls for {plural(traps, 'trap')} at depths {min(shallower)} to {max(shallower)}",
            )
        )
    return claims


def _totals(games: Any) -> tuple[int, int]:
    counts = [(each.falls, int(each.replies[1].is_trap.sum())) for each in games]
    return sum(falls for falls, _ in counts), sum(traps for _, traps in counts)


def _table(game: str, depth: int, by_depth: Mapping[int, _Games]) -> Table:
    rows = []
    for opponent, found in by_depth.items():
        trappy = found.replies[1]
        errors = trappy.share(trappy.erred > 0, trappy.is_answered)
        rows.append(
            (
                str(opponent),
                f"{100 * found.score:.0f}",
                f"{int(trappy.is_trap.sum()):,}",
                share_percent(trappy.share(trappy.is_kind(_FELL), trappy.is_trap)),
                found.apart("falls"),
                share_percent(errors),
                found.apart("errors"),
            )
        )
    return Table(
        f"{game.capitalize()}: trappy of depth {depth} against standard of depth D'",
        (
            "D'",
            "score, %",
            "traps set",
            "fell, % of traps",
            "falls per 100 replies, minus standard's",
            "errors, % of replies",
            "minus standard's",
        ),
        tuple(rows),
        f"Traps, falls and errors by the scores of depth {depth}; D' counts from the opponent's position, "
        f"so D' = {depth - 1} sees the same scores. Intervals are clustered by opening. Decided positions "
        "are excluded.",
    )


def _charts(found: Mapping[str, Mapping[int, _Games]]) -> tuple[Chart, ...]:
    lines = []
    for game, by_depth in found.items():
        shares = {
            opponent: games.replies[1].share(games.replies[1].is_kind(_FELL), games.replies[1].is_trap)
            for opponent, games in by_depth.items()
        }
        marks = [
            (
                float(opponent),
                100 * each.share,
                None if each.low is None else 100 * each.low,
                None if each.high is None else 100 * each.high,
            )
            for opponent, each in shares.items()
            if each.share is not None
        ]
        if marks:
            lines.append(Line(game, tuple(marks)))
    title = "Falls for traps by the opponent's depth"
    return (Chart("falls-by-depth", title, "opponent's depth", "% of traps", tuple(lines)),) if lines else ()
