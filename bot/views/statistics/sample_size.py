"""Shows the number of games and days needed to detect an effect, as tables."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil

from bot.base.rounding import NO_VALUE, plural
from bot.parts.values import Column, Note, Part, TablePart
from bot.text.values_text import number
from storage.evidence.inference.sample_size import DRAWS_PER_GAME, MIN_GAMES, SampleSizeRow
from storage.evidence.statistics.draws import RANDOMISERS, DrawRate
from storage.evidence.statistics.pace import RECENT_DAYS, Pace

_TITLES = {
    "games": "Whole games, to detect a difference in results",
    "decisions": "Randomised decisions, to detect a difference in the cost of the next reply",
    "traps": "Answered traps of one strategy, to detect more falls than expected",
}
_LEGEND = (
    "The two numbers are for one planned analysis / continuous monitoring; with each, 80 of 100 trials "
    "detect such an effect. Costs are shares of the game; falls are shares of the answered traps."
)


def plan_parts(rows: Sequence[SampleSizeRow], rate: DrawRate | None, pace: Pace | None) -> tuple[Part, ...]:
    """Build tables of sample sizes, in values, games and days.

    Args:
        rows: The rows of the plan.
        rate: The rate of randomised decisions so far; None if unknown.
        pace: The recent number of games per day; None if unknown.
    """
    tables = (_table(kind, list(found), pace) for kind, found in groupby(rows, lambda row: row.kind))
    return (*tables, Note(_LEGEND), Note(f"Days: {_pace(pace)}"), Note(f"Decisions: {_draws(rate)}"))


def _table(kind: str, rows: Sequence[SampleSizeRow], pace: Pace | None) -> TablePart:
    """Build a table with one column per effect and, per assumption, rows for values, games and days."""
    effects = dict.fromkeys(
        f"{100 * row.effect:g} %" if row.effect_elo is None else f"{row.effect_elo:g} Elo" for row in rows
    )
    cells = (
        line
        for given, found in groupby(rows, lambda row: row.given)
        for line in _lines(given, [*found], pace)
    )
    columns = (Column("assumption about people", is_text=True), *map(Column, effects))
    return TablePart(_TITLES[kind], columns, tuple(cells))


def _lines(given: str, cells: Sequence[SampleSizeRow], pace: Pace | None) -> Iterator[tuple[str, ...]]:
    yield given, *(_pair(row.fixed, row.any_time) for row in cells)
    first = cells[0]
    games = [(row.fixed_games, row.any_time_games) for row in cells]
    if first.kind != "games":
        source = "assumed" if first.measured_in is None else "measured"
        yield f"  games ({first.per_game:.2g} each, {source})", *(_pair(*each) for each in games)
    if pace is not None and pace.games:
        days = ([None if n is None else ceil(n / pace.games_per_day) for n in each] for each in games)
        yield "  days", *(_pair(*each) for each in days)


def _pair(one_look: float | None, any_time: float | None) -> str:
    return " / ".join(NO_VALUE if count is None else number(count) for count in (one_look, any_time))


def _pace(pace: Pace | None) -> str:
    if pace is None or not pace.games:
        return f"unknown, because no game with a person finished in the last {RECENT_DAYS} days."
    days = plural(round(pace.days), "day")
    return f"{plural(pace.games, 'finished game')} with people in {days}, {pace.games_per_day:.2g} a day."


def _draws(rate: DrawRate | None) -> str:
    if rate is None or rate.games < MIN_GAMES:
        return (
            f"{DRAWS_PER_GAME:g} randomised decision per game is assumed until there are {MIN_GAMES} "
            f"finished games against people with the strategy {' or '.join(RANDOMISERS)}; there are "
            f"{0 if rate is None else rate.games}. With default settings, that is about right for chess and "
            "xiangqi and too high for Othello (docs/trials.md)."
        )
    told = f"{rate.draws} randomised decisions got a reply in {rate.games} finished games with people"
    if rate.draws:
        return f"{told}."
    return f"{told}, so no number of games is enough (docs/trials.md tells how to get more decisions)."
