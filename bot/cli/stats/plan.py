"""`desdemona stats --plan`: formats how many games and days an effect needs.  Prints nothing."""

from collections.abc import Sequence
from itertools import groupby
from math import ceil

from rich.console import Group, RenderableType
from rich.table import Table

from bot.base.rounding import counted
from bot.cli.rich_tables import NONE
from storage.evidence.inference.plan import DRAWS_PER_GAME, LEAST_GAMES, PlanRow
from storage.evidence.statistics.draws import DRAWING, DrawRate
from storage.evidence.statistics.pace import RECENT_DAYS, Pace

_TITLES = {
    "games": "Whole games: until a difference in results shows",
    "decisions": "Randomised decisions: until a difference in the cost of the next reply shows",
    "traps": "Answered traps of one player: until falls beyond those expected show",
}
_LEGEND = (
    "Two numbers: at one analysis planned beforehand / at any time; each finds such an "
    "effect in 80 of 100 trials. Costs are shares of the game, falls shares of the answered traps."
)


def plan_view(rows: Sequence[PlanRow], rate: DrawRate | None, pace: Pace | None) -> RenderableType:
    """Sample sizes in three tables: values, games, and days.

    Args:
        rows: Of the plan.
        traffic: The rate of randomised decisions so far; None: unknown.
        pace: How many games a day there were lately; None: unknown.
    """
    parts: list[RenderableType] = []
    for kind, found in groupby(rows, lambda row: row.kind):
        parts += [_table(kind, list(found), pace), ""]
    return Group(*parts, _LEGEND, f"Days: {_pace(pace)}", f"Decisions: {_draws(rate)}")


def _table(kind: str, rows: Sequence[PlanRow], pace: Pace | None) -> Table:
    """A column for each effect; for each assumption a line of values, games and days."""
    effects = list(dict.fromkeys(_effect(row) for row in rows))
    table = Table(title=_TITLES[kind], title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("assumed of people")
    for effect in effects:
        table.add_column(effect, justify="right")
    for given, found in groupby(rows, lambda row: row.given):
        cells = list(found)
        first = cells[0]
        table.add_row(given, *(_pair(row.fixed, row.any_time) for row in cells))
        if kind != "games":
            source = "assumed" if first.measured_in is None else "measured"
            games = f"  games ({first.per_game:.2g} each, {source})"
            table.add_row(games, *(_pair(row.fixed_games, row.any_time_games) for row in cells))
        if pace is not None and pace.games:
            table.add_row(
                "  days",
                *(_pair(_days(row.fixed_games, pace), _days(row.any_time_games, pace)) for row in cells),
            )
    return table


def _effect(row: PlanRow) -> str:
    """For instance ``20 Elo``, or ``0.5 %``."""
    return f"{100 * row.effect:g} %" if row.effect_elo is None else f"{row.effect_elo:g} Elo"


def _pair(fixed: float | None, any_time: float | None) -> str:
    return " / ".join(NONE if count is None else f"{count:,.0f}" for count in (fixed, any_time))


def _days(games: float | None, pace: Pace) -> float | None:
    """Whole days."""
    return None if games is None else ceil(games / pace.games_per_day)


def _pace(pace: Pace | None) -> str:
    if pace is None or not pace.games:
        return f"not known, without a finished game with a person in the last {RECENT_DAYS} days."
    rate = f"{pace.games_per_day:.2g} a day"
    days = counted(round(pace.days), "day")
    return f"by {counted(pace.games, 'finished game')} with people in {days}, {rate}."


def _draws(rate: DrawRate | None) -> str:
    if rate is None or rate.games < LEAST_GAMES:
        count = 0 if rate is None else rate.games
        return (
            f"{DRAWS_PER_GAME:g} randomised in a game is assumed until there are {LEAST_GAMES} finished "
            f"games of {' or '.join(DRAWING)} with people; there are {count}. "
            "With the default settings that is about right at chess and xiangqi, and too many at Othello "
            "(docs/trials.md)."
        )
    text = f"{rate.draws} randomised ones got a reply in {rate.games} finished games with people"
    if rate.draws:
        return f"{text}."
    return f"{text}, so no number of such games is enough (docs/trials.md says what gives more)."
