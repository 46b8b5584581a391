"""Charts and boards with invented numbers, for tests and for `gallery`."""

import math
import random
from datetime import UTC, datetime, timedelta

from bot.charts.bars import BarCategory, BarKind, BarRow, StackedBars
from bot.charts.boards import BoardMark, MarkKind
from bot.charts.figure import ChartSize
from bot.charts.intervals import IntervalChart, IntervalRow
from bot.charts.lines import ChartLine, LineChart
from bot.charts.numbers import DIFFERENCE, NumberStyle
from bot.charts.sparkline import Sparkline
from engine.game import replay
from engine.games import get_rules

NOW = datetime(2026, 11, 25, 15, 0, tzinfo=UTC)


def difference_by_games(games: int = 2914, step: int = 10) -> LineChart:
    """A mean with its interval as games come in."""
    random_ = random.Random(6)
    x, y, low, high = [], [], [], []
    mean = -18.0
    for count in range(80, games + 1, step):
        mean += (5.9 - mean) * 30 / count + random_.gauss(0, 40 / count)
        half = 290 / math.sqrt(count) + 60 * math.exp(-count / 80)
        x.append(float(count))
        y.append(mean)
        low.append(mean - half)
        high.append(mean + half)
    return LineChart(
        title="Points per hundred games that trappy scores more than standard",
        description=f"It stands at {y[-1]:+.1f}, in an interval from {low[-1]:.1f} to {high[-1]:.1f}.",
        x_name="games played",
        lines=(
            ChartLine(
                "points more per 100 games",
                tuple(x),
                tuple(y),
                tuple(low),
                tuple(high),
                "95 %, valid at any time",
            ),
        ),
        y_style=DIFFERENCE,
        references=(0.0,),
        trims_bands=True,
        size=ChartSize.FULL,
    )


def time_to_move() -> LineChart:
    """A day of decisions, with a hole while the bot stood still, and a spike."""
    random_ = random.Random(2)
    x = tuple(NOW - timedelta(minutes=15 * n) for n in reversed(range(97)))
    middle: list[float | None] = []
    slow: list[float | None] = []
    for index in range(97):
        value = 1.1 + 0.4 * math.sin(index / 14) + random_.gauss(0, 0.06)
        spike = 3.2 * math.exp(-(((index - 58) / 1.5) ** 2))
        is_there = not 20 <= index < 24
        middle.append(value if is_there else None)
        slow.append(value + 1.1 + abs(random_.gauss(0, 0.25)) + spike if is_there else None)
    zero = tuple(None if each is None else 0.0 for each in middle)
    return LineChart(
        title="Time to move, last 24 hours",
        description="The median is about one second; one move in twenty takes more than three.",
        x_name="time (UTC)",
        lines=(ChartLine("median", x, tuple(middle), zero, tuple(slow), "all but the slowest twentieth"),),
        y_style=NumberStyle(decimals=1, unit=" s"),
        references=(5.0,),
    )


def performance() -> LineChart:
    """Two lines over half a year."""
    random_ = random.Random(4)
    x = tuple(datetime(2026, 5, 4, tzinfo=UTC) + timedelta(weeks=n) for n in range(30))
    lines = []
    for name, start, gain in (("trappy", 1535.0, 7.6), ("standard", 1480.0, 4.4)):
        y, value = [], start
        for _ in x:
            y.append(value)
            value += gain + random_.gauss(0, 11)
        half = [16 + 45 * math.exp(-n / 6) for n in range(30)]
        low = tuple(a - b for a, b in zip(y, half, strict=True))
        high = tuple(a + b for a, b in zip(y, half, strict=True))
        lines.append(ChartLine(name, x, tuple(y), low, high, f"95 %, {name}"))
    return LineChart(
        title="Performance by week",
        description="Trappy rose from 1535 to 1760, standard from 1480 to 1610.",
        x_name="week from",
        lines=tuple(lines),
        y_style=NumberStyle(is_grouped=False),
    )


def groups() -> IntervalChart:
    """Groups with more, less, neither, and too few games."""
    return IntervalChart(
        title="The difference by game and rating",
        description="Trappy scores more in all games together and at Othello below 1500.",
        group_name="group",
        value_name="points per 100 games",
        interval_name="95 %",
        count_name="games",
        rows=(
            IntervalRow("All games", 2914, 5.9, 0.7, 11.0, "?", is_total=True),
            IntervalRow("Othello, below 1500", 742, 11.8, 2.1, 21.5, "?game=othello&max_rating=1499"),
            IntervalRow("Othello, 1500 and up", 508, 4.9, -6.2, 16.0, "?game=othello&min_rating=1500"),
            IntervalRow("Chess, below 1500", 731, 8.3, -1.4, 18.0, "?game=chess&max_rating=1499"),
            IntervalRow("Chess, 1500 and up", 497, -9.6, -17.9, -1.2, "?game=chess&min_rating=1500"),
            IntervalRow("Xiangqi", 436, 3.1, -11.7, 17.9, "?game=xiangqi"),
            IntervalRow("Connect Four", 3),
        ),
    )


def trap_outcomes() -> StackedBars:
    """What became of traps, with a row without any."""
    return StackedBars(
        title="Outcomes of the traps",
        description="People fell for 31 % of trappy's baits.",
        row_name="moves",
        categories=(
            BarCategory("found the best reply", BarKind.GOOD),
            BarCategory("fell for the bait", BarKind.TRAP),
            BarCategory("erred elsewhere", BarKind.SLIP),
        ),
        rows=(
            BarRow("trappy, baits", (1770, 1055, 579)),
            BarRow("standard, by accident", (715, 291, 206)),
            BarRow("no trap, a choice left", (29728, 0, 12142)),
            BarRow("nearly always sound", (980, 9, 11)),
            BarRow("none yet", (0, 0, 0)),
        ),
        total_name="answered",
    )


def falls_by_day(*, is_alert: bool = False) -> Sparkline:
    random_ = random.Random(int(is_alert))
    values = tuple(float(random_.randint(20, 40)) for _ in range(13))
    return Sparkline(
        "Fallen into by day", "day", "falls", tuple(map(str, range(1, 14))), values, is_alert=is_alert
    )


CHESS = "e2e4 e7e5 g1f3 b8c6 f1c4 c6d4"
OTHELLO = "f5 d6 c3 d3 c4 f4 c5 b3 c2 e6 c6 b4 b5 d2 e3 a6"
XIANGQI = "h3e3 h10g8 h1g3 b10c8 i1h1 i10h10 h1h7"
CONNECT4 = "d1 d2 e1 c1 d3 e2"
MOVES = {"chess": CHESS, "othello": OTHELLO, "xiangqi": XIANGQI, "connect4": CONNECT4}
MARKS = {
    "chess": (BoardMark(MarkKind.BAIT, ("f3", "e5")), BoardMark(MarkKind.GOOD, ("f3", "d4"))),
    "othello": (BoardMark(MarkKind.BAIT, ("b6",)), BoardMark(MarkKind.GOOD, ("d1",))),
    "xiangqi": (BoardMark(MarkKind.BAIT, ("b8", "b1")), BoardMark(MarkKind.GOOD, ("g7", "g6"))),
    "connect4": (BoardMark(MarkKind.BAIT, ("f1",)), BoardMark(MarkKind.GOOD, ("e3",))),
}


def rows_after(game: str, moves: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The rows of a position, and the squares of the move before it."""
    rules = get_rules(game)
    *before, last = moves.split()
    position = replay(rules, before)
    move = rules.parse_move(position, last)
    return rules.board_rows(rules.play(position, move)), rules.move_squares(move)
