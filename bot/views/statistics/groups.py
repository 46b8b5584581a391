"""Statistics of groups of games as tables, used in `desdemona stats`, pages and the monthly report."""

from collections.abc import Sequence

from bot.base.rounding import NO_VALUE, percent, plural
from bot.parts.values import Column, Note, Part, TableCell, TablePart
from bot.text.values_text import difference_interval, number, title_of
from storage.evidence.inference.any_time import AnyTimeEstimate
from storage.evidence.statistics.groups import RULES, GroupStatistics

_GAMES = ("Games", "Won · drawn · lost", "Unfinished", "Performance", "Replies", "Optimal", "Decided")
_GAMES_NOTE = (
    "“Performance”: the rating at which this score is expected, with its 95 % interval, valid at one "
    "planned analysis if games are independent. Replies: replies in undecided positions, in the first 50 "
    "games of each opponent (in matches, in all games), without replies that are not judged yet; optimal: by "
    "the paper's rule, at the player's depth; decided: replies in decided positions."
)
_MEASURES = (
    ("errors", "errors"),
    ("cost of a reply", "cost"),
    ("baits taken", "baits"),
    ("Figure 9", "falls"),
)
_EXPECTED = ("Number", "Happened", "At random", "Forecast", "Beyond random", "Beyond forecast")
_EXPECTED_NOTE = (
    "An error costs 10 % of the game or more by the judge, a deep search of fixed size. A bait is a likely "
    "error that looks at least as good as the best replies in a shallow search. Figure 9: replies that fell "
    "for a trap in the sense of Gordon and Reda. “At random”: the value for random moves in these positions. "
    "“Forecast”: the value that the model of people expects. Beyond: actual minus expected, in percentage "
    "points, with a 95 % interval valid under continuous monitoring and with returning opponents."
)
_FIGURE_9 = ("Traps answered", "optimal", "fell", "fell for the best trap", "erred elsewhere")
_FIGURE_9_NOTE = (
    "Traps by the paper's rule, at the player's depth; a move may set several. Fell: the reply was one of "
    "these traps. For the best trap: it was the trap with the highest quality (how well it is hidden, times "
    "what it costs)."
)


def group_name(group: GroupStatistics) -> str:
    """Name a group by its game and player."""
    return f"{title_of(group.group['game'])}, {group.group['strategy']}"


def group_tables(groups: Sequence[GroupStatistics], names: Sequence[str], unjudged: int) -> tuple[Part, ...]:
    """Build tables of games, of replies and expectations, and of the paper's traps; one row per group.

    Args:
        groups: The groups.
        names: The name of each group.
        unjudged: Number of games with replies that are not judged yet.
    """
    both = list(zip(names, groups, strict=True))
    head = Column("Group", is_text=True)
    games = TablePart(
        "Games",
        (head, *map(Column, _GAMES)),
        tuple((name, *_games(each)) for name, each in both),
        _GAMES_NOTE,
        records="groups",
        style="stacked compact",
    )
    expected = TablePart(
        "Replies and expectations",
        (head, Column("", is_text=True), *map(Column, _EXPECTED)),
        tuple(row for name, each in both for row in _expected(name, each)),
        _EXPECTED_NOTE,
        style="stacked compact",
    )
    figure_9 = TablePart(
        "Figure 9: outcomes of the traps, in the paper's terms",
        (head, *map(Column, _FIGURE_9)),
        tuple((name, *_fates(each)) for name, each in both),
        _FIGURE_9_NOTE,
    )
    return games, expected, figure_9, Note(rules_text(unjudged))


def rules_text(unjudged: int) -> str:
    """Say which rules made the numbers, and how many games are not judged yet."""
    said = (
        f"Costs and errors: judge, version {RULES['judge']}. Baits: rule {RULES['baits']}. Figure 9: paper's "
        f"rule {RULES['figure_9']}, at the player's depth."
    )
    if not unjudged:
        return said
    waiting = "game is still being judged: its" if unjudged == 1 else "games are still being judged: their"
    return f"{said} {number(unjudged)} {waiting} replies count in no cost or error yet."


def _games(group: GroupStatistics) -> tuple[TableCell | str, ...]:
    rated = f"{number(group.performance.games)} against rated"
    return (
        TableCell(number(group.games), plural(group.persons, "opponent")),
        f"{number(group.wins)} · {number(group.draws)} · {number(group.losses)}",
        number(group.unfinished),
        TableCell(group.performance.words or NO_VALUE, rated),
        number(group.replies),
        TableCell(
            percent(group.optimal / group.replies if group.replies else None, 1), number(group.optimal)
        ),
        number(group.decided),
    )


def _expected(name: str, group: GroupStatistics) -> list[tuple[str, ...]]:
    rows = []
    for words, measure in _MEASURES:
        found = getattr(group, measure)
        shares = (percent(each, 1) for each in (found.happened, found.chance, found.model))
        beyond = (points(each) for each in (found.beyond_chance, found.beyond_model))
        rows.append((name, words, number(found.n), *shares, *beyond))
    return rows


def _fates(group: GroupStatistics) -> tuple[str, ...]:
    counts = (group.traps_set, group.traps_optimal, group.traps_fell, group.traps_fell_for_best)
    return tuple(map(number, (*counts, group.traps_erred_elsewhere)))


def points(found: AnyTimeEstimate) -> str:
    """Format a difference in percentage points with its interval."""
    return difference_interval(found.mean, found.low, found.high)
