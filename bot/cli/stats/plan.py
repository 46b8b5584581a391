"""`desdemona stats --plan`: formats how many games an effect needs.  Prints nothing."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table

from bot.cli.rich_tables import NONE
from storage.inference.plan import LEAST_GAMES, LOTS_PER_GAME, PlanRow
from storage.statistics.lots import DRAWING, LotTraffic


def plan_view(rows: Sequence[PlanRow], traffic: LotTraffic | None) -> RenderableType:
    """What effects need: values, and games.

    Args:
        rows: Of the plan.
        traffic: How often a lot decided so far; None: unknown.
    """
    table = Table(title="Needed for a power of 80 %")
    for name in ("what", "given", "effect", "one look", "any time", "games: one look", "any time"):
        table.add_column(name, justify="left" if name in ("what", "given") else "right")
    for row in rows:
        effect = f"{row.effect:g}" if row.effect_elo is None else f"{row.effect_elo:g} Elo"
        given = row.given
        if row.kind != "games":
            source = "assumed" if row.measured_in is None else "measured"
            given += f", {row.per_game:.2g} a game ({source})"
        counts = (row.fixed, row.any_time, row.fixed_games, row.any_time_games)
        table.add_row(
            row.kind, given, effect, *(NONE if count is None else f"{count:,.0f}" for count in counts)
        )
    legend = "one look: planned beforehand; any time: looked at as often as one likes."
    return Group(table, legend, f"decisions: {_lots(traffic)}")


def _lots(traffic: LotTraffic | None) -> str:
    if traffic is None or traffic.games < LEAST_GAMES:
        found = 0 if traffic is None else traffic.games
        return (
            f"{LOTS_PER_GAME:g} by lot in a game is assumed until there are {LEAST_GAMES} finished games of "
            f"{' or '.join(DRAWING)} with people; there are {found}.  With the default settings that is "
            "about right at chess and xiangqi, and too many at Othello (docs/trials.md)."
        )
    told = f"{traffic.lots} by lot got a reply in {traffic.games} finished games with people"
    if traffic.lots:
        return f"{told}."
    return f"{told}, so no number of such games is enough (docs/trials.md says what gives more)."
