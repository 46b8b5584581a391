"""The results of the games of `bench.proof_in_play`: scores, plies to win, errors provoked, falls expected.

Next to each number of a player is its difference from the control, the first player.  Intervals hold the
middle 95 % of 2,000 resamples of pairs of games, drawn alike for all players, within each of the people: a
pair's two games share an opening, and all players play the same pairs.
"""

import csv
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from bot.match.play import Played
from bot.match.score import elo_of
from engine.bait_rule import forecast
from engine.decision import Decision
from engine.expected import WHOLE
from engine.judgement import ERROR, expected_scale_centi, judge
from engine.params import TrapParams

RESAMPLES = 2000
TRAP = TrapParams()
"""What counts as a trap for all players: the paper's median, by the default threshold in expected score."""

Floats = NDArray[np.float64]
Pair = tuple["Row", "Row"]
"""Two games of one opening; we move first in the first."""


@dataclass
class Row:
    """The summary of a game."""

    player: str
    people: str
    number: int
    """We move first in even ones; the two games of an opening are consecutive."""
    points: float = 0.0
    plies: int = 0
    discs: int = 0
    """Ours less theirs, at Othello."""
    judged: int = 0
    """Our moves to which the opponent replied with a choice of moves."""
    errors: int = 0
    """Replies that cost `ERROR` or more of expected score, as our search of the same depth sees it."""
    cost: float = 0.0
    """Total cost of the replies in expected score."""
    traps: int = 0
    """Moves that set a trap of the paper's."""
    falls: int = 0
    """Replies that fall into one."""
    baits: int = 0
    """Moves with a tempting reply, by the scores alone and not confirmed by a deeper search."""
    taken: int = 0
    """Tempting replies that were played."""
    told: int = 0
    """Judged moves whose replies have odds; the following fields count only these."""
    told_errors: int = 0
    expected_errors: float = 0.0
    told_falls: int = 0
    expected_falls: float = 0.0


def read_rows(path: Path) -> list[Row]:
    """Read the rows of a file."""
    kinds: dict[str, Any] = {field.name: field.type for field in fields(Row)}
    with path.open(newline="") as file:
        lines = csv.DictReader(file)
        return [Row(**{name: kinds[name](text) for name, text in line.items()}) for line in lines]


def write_row(file: TextIO, row: Row) -> None:
    """Append a row, preceded by the column names if it is the first."""
    writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
    if file.tell() == 0:
        writer.writeheader()
    writer.writerow({name: round(v, 4) if isinstance(v, float) else v for name, v in asdict(row).items()})
    file.flush()


def row_of(player: str, people: str, played: Played) -> Row:
    """The summary of a game."""
    finished, moves = played.finished, played.moves
    row = Row(player, people, finished.number, finished.points, len(moves), finished.margin or 0)
    for ply, decision in played.decisions:
        if ply + 1 < len(moves) and decision.is_complete:
            _judge(decision, moves[ply + 1], row)
    return row


def _judge(decision: Decision, reply: str, row: Row) -> None:
    profiles = decision.chosen.replies
    texts = [each.reply for each in profiles]
    if len(profiles) < 2 or reply not in texts:
        return
    at, scale_centi = texts.index(reply), expected_scale_centi(decision)
    judgement = judge(decision.chosen, TRAP, scale_centi)
    counts = not judgement.is_decided
    errs = [each.cost >= ERROR for each in judgement.replies]
    falls = [counts and judgement.is_fall(each) for each in judgement.replies]
    tempting = {each.reply for each in forecast(decision.chosen, scale_centi).tempting} if counts else set()
    row.judged += 1
    row.errors += errs[at]
    row.cost += judgement.replies[at].cost / WHOLE
    row.traps += any(falls)
    row.falls += falls[at]
    row.baits += bool(tempting)
    row.taken += reply in tempting
    odds = [each.probability for each in profiles if each.probability is not None]
    if len(odds) == len(profiles):
        row.told += 1
        row.told_errors += errs[at]
        row.told_falls += falls[at]
        row.expected_errors += math.fsum(p for p, err in zip(odds, errs, strict=True) if err)
        row.expected_falls += math.fsum(p for p, fall in zip(odds, falls, strict=True) if fall)


# --- Tables ---------------------------------------------------------------------------------------------


_VALUES: dict[str, Callable[[Row], float]] = {
    **{field.name: attrgetter(field.name) for field in fields(Row)[3:]},
    "games": lambda _: 1,
    "wins": lambda row: row.points == 1,
    "plies_to_win": lambda row: row.plies * (row.points == 1),
}


class _Drawn:
    """Sums over all pairs of a player: of the sample itself, then of each resample.

    Args:
        with_people: The player's pairs against each of the people, at least one.
    """

    def __init__(self, with_people: Mapping[str, Sequence[Pair]], seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        sums: dict[str, list[Floats]] = {}
        for people in sorted(with_people):
            pairs = with_people[people]
            drawn = rng.multinomial(len(pairs), np.full(len(pairs), 1 / len(pairs)), RESAMPLES)
            weights = np.concatenate([np.ones((1, len(pairs))), drawn])
            for name, value in _VALUES.items():
                column = np.array([value(one) + value(two) for one, two in pairs], np.float64)
                sums.setdefault(name, []).append(weights @ column)
        self._sums = {name: np.sum(parts, axis=0) for name, parts in sums.items()}

    def ratio(self, above: str, below: str) -> Floats:
        """The ratio of two sums."""
        top, bottom = self._sums[above], self._sums[below]
        found: Floats = np.divide(top, bottom, out=np.full(len(top), math.nan), where=bottom > 0)
        return found

    def total(self, name: str) -> int:
        """The sum over all pairs."""
        return round(float(self._sums[name][0]))


def pairs_of(rows: Iterable[Row], count: int) -> dict[str, dict[str, list[Pair]]]:
    """Whole pairs of games by player and people.

    Args:
        count: Number of games against each of the people that count.
    """
    first: dict[tuple[str, str, int], Row] = {}
    found: dict[str, dict[str, list[Pair]]] = {}
    for row in sorted(rows, key=attrgetter("number")):
        if row.number >= count:
            break
        if row.number % 2 == 0:
            first[row.player, row.people, row.number + 1] = row
        elif one := first.get((row.player, row.people, row.number)):
            found.setdefault(row.player, {}).setdefault(row.people, []).append((one, row))
    return found


def told(rows: Iterable[Row], players: Sequence[str], count: int) -> str:
    """The tables of the players that have played all the people.

    Args:
        players: The control first.
        count: Games against each of the people.

    Raises:
        ValueError: The control has not played them.
    """
    pairs = pairs_of(rows, count)
    people = sorted({name for games in pairs.values() for name in games})
    told_of = [name for name in players if people and len(pairs.get(name, ())) == len(people)]
    if told_of[:1] != [players[0]]:
        raise ValueError(f"{players[0]} has not played a pair of games with each of the people")
    drawn = {name: _Drawn(pairs[name]) for name in told_of}
    control = drawn[players[0]]
    lines = [
        "| player | games, + = - | score | less control | Elo | less control | plies to win | less control "
        "| discs | less control |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, each in drawn.items():
        points, games, wins = each.ratio("points", "games"), each.total("games"), each.total("wins")
        drawn_games = round(2 * (float(points[0]) * games - wins))
        plies, discs = each.ratio("plies_to_win", "wins"), each.ratio("discs", "games")
        elos, control_elos = _elo(points), _elo(control.ratio("points", "games"))
        has_discs = each.total("discs") != 0
        lines.append(
            f"| {name} | {games}: +{wins} ={drawn_games} -{games - wins - drawn_games} "
            f"| {_told(100 * points, 1)} % "
            f"| {_less(each, control, _percent, 1)} "
            f"| {_told(elos, 0)} | {'' if each is control else _told(elos - control_elos, 0, signed=True)} "
            f"| {_told(plies, 1)} | {_less(each, control, lambda d: d.ratio('plies_to_win', 'wins'), 1)} "
            f"| {_told(discs, 1, signed=True) if has_discs else ''} "
            f"| {_less(each, control, lambda d: d.ratio('discs', 'games'), 1) if has_discs else ''} |"
        )
    lines += [
        "",
        "| player | errors a game | less control | errors per 100 replies | less control "
        "| cost of a reply, % | less control | moves that set a trap | fell "
        "| moves with a candidate bait | taken |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, each in drawn.items():
        lines.append(
            f"| {name} | {_told(each.ratio('errors', 'games'), 2)} "
            f"| {_less(each, control, lambda d: d.ratio('errors', 'games'), 2)} "
            f"| {_told(100 * each.ratio('errors', 'judged'), 2)} "
            f"| {_less(each, control, lambda d: 100 * d.ratio('errors', 'judged'), 2)} "
            f"| {_told(100 * each.ratio('cost', 'judged'), 2)} "
            f"| {_less(each, control, lambda d: 100 * d.ratio('cost', 'judged'), 2)} "
            f"| {100 * each.ratio('traps', 'judged')[0]:.1f} % of {each.total('judged')} "
            f"| {_told(100 * each.ratio('falls', 'traps'), 1)} % "
            f"| {100 * each.ratio('baits', 'judged')[0]:.1f} % "
            f"| {_told(100 * each.ratio('taken', 'baits'), 1)} % |"
        )
    lines += [
        "",
        "| player | errors: expected, happened | expected for one that happened | falls: expected, happened "
        "| expected for one that happened |",
        "|---|---|---|---|---|",
    ]
    for name, each in drawn.items():
        if each.total("told"):
            lines.append(
                f"| {name} | {each.total('expected_errors')}, {each.total('told_errors')} "
                f"| {_told(each.ratio('expected_errors', 'told_errors'), 2)} "
                f"| {each.total('expected_falls')}, {each.total('told_falls')} "
                f"| {_told(each.ratio('expected_falls', 'told_falls'), 2)} |"
            )
    lines += ["", "| player | score: " + " | less control | ".join(people) + " | less control |"]
    lines.append("|---" * (2 * len(people) + 1) + "|")
    with_each = {(name, one): _Drawn({one: pairs[name][one]}) for name in told_of for one in people}
    for name in told_of:
        cells = []
        for one in people:
            each, control = with_each[name, one], with_each[players[0], one]
            cells += [f"{_told(_percent(each), 1)} %", _less(each, control, _percent, 1)]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _percent(each: _Drawn) -> Floats:
    return 100 * each.ratio("points", "games")


def _elo(shares: Floats) -> Floats:
    found = (elo_of(float(each)) for each in shares)
    return np.array([math.nan if each is None else each for each in found])


def _less(each: _Drawn, control: _Drawn, value: Callable[[_Drawn], Floats], digits: int) -> str:
    return "" if each is control else _told(value(each) - value(control), digits, signed=True)


def _told(values: Floats, digits: int, *, signed: bool = False) -> str:
    """A value with its interval; empty where it is not defined."""
    form = f"{'+' if signed else ''}.{digits}f"
    value, draws = float(values[0]), values[1:]
    if math.isnan(value):
        return "none"
    if np.isnan(draws).any():
        return f"{value:{form}}"
    low, high = np.quantile(draws, [0.025, 0.975])
    return f"{value:{form}} ({low:{form}} to {high:{form}})"
