"""The contents of player pages and rankings, ready for templates and JSON.  No I/O."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from bot.arena import wire
from bot.arena.challenges import show
from bot.arena.glicko import MIN_PROVISIONAL_DEVIATION
from bot.arena.variants import CHESS960, VARIANTS, ArenaVariant
from bot.arena.wire import Json
from bot.base.events import Clock
from bot.charts.figure import ChartSize
from bot.charts.line_chart import line_chart
from bot.charts.lines import ChartLine, LineChart
from bot.charts.numbers import RATINGS, NumberStyle
from engine.games import get_rules
from engine.opponents.odds import odds_from_start
from storage.arena.accounts import STARTED, AccountRecord
from storage.evidence.queries.arena_people import ArenaGameLine, RatedPlayer
from storage.evidence.statistics.reply_progress import GameProgress

MAX_DEVIATION = 1000.0
MAX_RANKED, MAX_OTHERS = 100, 50
"""Maximum numbers of ranked players, and of players with uncertain ratings, in a ranking."""
GAMES_PER_PAGE = 20
"""Number of games per page of a list."""

_PERCENT = NumberStyle(0, unit=" %")
Points = Sequence[tuple[datetime, int]]


def title_of(variant: ArenaVariant) -> str:
    """A variant's display name."""
    return variant.name if variant.key == CHESS960 else variant.rules.title


def listed_game(line: ArenaGameLine, side: int) -> Json:
    """Return a game as JSON for the game list of one of its players.

    Args:
        line: The game.
        side: The player's side.
    """
    variant, other = VARIANTS[line.variant], 1 - side
    clock = None
    if line.initial_s is not None and line.increment_s is not None:
        clock = show(Clock(line.initial_s, line.increment_s))
    if line.status == STARTED:
        result = "running"
    elif line.status == "aborted":
        result = "aborted"
    elif line.winner is None:
        result = "draw"
    else:
        result = "win" if line.winner == side else "loss"
    given = odds_from_start(variant.game_name, line.initial_fen)
    return {
        "id": line.id,
        "variant": wire.variant_json(variant),
        "game": variant.game_name,
        "title": title_of(variant),
        "odds": None if given is None else {"name": given[0].name, "text": given[0].text},
        "rated": line.rated,
        "clock": clock,
        "side": variant.rules.sides[side],
        "opponent": {
            "id": line.players[other],
            "name": line.names[other],
            "rating": line.ratings[other],
            "provisional": line.provisional[other],
        },
        "result": result,
        "ratingDiff": None if line.diffs is None else line.diffs[side],
        "createdAt": wire.millis(line.created_at),
    }


@dataclass(frozen=True, slots=True)
class GamePage:
    """A page of a player's list of games."""

    games: tuple[Json, ...]
    """The page's games, in the form of `listed_game`."""
    before: str
    """Id of the page's last game if there are older games, otherwise empty."""

    @classmethod
    def of(cls, account_id: str, lines: Sequence[ArenaGameLine], size: int) -> "GamePage":
        """Create a page of the first `size` of the given games.

        Args:
            account_id: The player.
            lines: The games, newest first; at least `size` + 1 games if there is another page.
            size: Games per page.
        """
        shown = [line for line in lines[:size] if line.variant in VARIANTS]  # else its row is damaged
        games = tuple(listed_game(line, line.players.index(account_id)) for line in shown)
        return cls(games, lines[size - 1].id if len(lines) > size else "")

    def to_json(self) -> Json:
        """The page as JSON."""
        return {"games": list(self.games), "before": self.before or None}


@dataclass(frozen=True, slots=True)
class VariantRating:
    """A player's rating in one variant."""

    title: str
    rating: int
    games: int
    is_provisional: bool
    chart: Markup | None
    """Chart of the rating's history, or None if there are fewer than two rated games."""


@dataclass(frozen=True, slots=True)
class TrapTrend:
    """How a player's replies have changed in one kind of game."""

    title: str
    history: GameProgress
    chart: Markup | None
    """The chart, or None while there are too few replies."""


@dataclass(frozen=True, slots=True)
class PlayerView:
    """A player's page."""

    account: AccountRecord
    ratings: tuple[VariantRating, ...]
    traps: tuple[TrapTrend, ...]
    page: GamePage | None
    """The player's games, or None if games are not public."""
    is_first: bool
    """Whether `page` is the first page of the list."""
    is_ours: bool
    sets_traps: bool
    """Whether it is one of our programs that set traps, not one that plays as people do."""
    is_online: bool
    games_on: tuple[str, ...]
    """Ids of the running games."""


def variant_ratings(account: AccountRecord, points: Mapping[str, Points]) -> tuple[VariantRating, ...]:
    """A player's ratings with their histories; variants with the most games come first."""
    ratings = []
    for key, record in account.ratings.items():
        if key in VARIANTS and record.games:
            title = title_of(VARIANTS[key])
            rating = wire.rating_in(account, key)
            chart = _rating_chart(title, points.get(key, ()))
            ratings.append(
                VariantRating(title, round(rating.rating), record.games, rating.is_provisional, chart)
            )
    return tuple(sorted(ratings, key=lambda each: (-each.games, each.title)))


def _rating_chart(title: str, points: Points) -> Markup | None:
    if len(points) < 2:
        return None
    return line_chart(
        LineChart(
            title=f"{title}: rating",
            description=f"The rating after each of {len(points)} rated games.",
            x_name="game",
            lines=(ChartLine("rating", tuple(at for at, _ in points), tuple(value for _, value in points)),),
            y_style=RATINGS,
            size=ChartSize.HALF,
        )
    )


def trap_trends(histories: Sequence[GameProgress]) -> tuple[TrapTrend, ...]:
    """How a player's replies have changed, by kind of game; kinds without judged replies are omitted."""
    return tuple(
        TrapTrend(get_rules(each.game).title, each, _trap_chart(each))
        for each in histories
        if each.everything.tempting.replies or each.everything.elsewhere.replies
    )


def _trap_chart(history: GameProgress) -> Markup | None:
    blocks = history.blocks
    series = (
        ("after baits", [block.tempting for block in blocks]),
        ("elsewhere", [block.elsewhere for block in blocks]),
    )
    lines = [
        ChartLine(
            name,
            tuple(float(block.last) for block in blocks),
            _percents(each.error_share for each in qualities),
            _percents(each.error_low for each in qualities),
            _percents(each.error_high for each in qualities),
            "95 %, by game",
        )
        for name, qualities in series
        if sum(each.is_shown for each in qualities) > 1
    ]
    if not lines:
        return None
    title = get_rules(history.game).title
    return line_chart(
        LineChart(
            title=f"{title}: replies that are errors",
            description="The share of errors among the replies to the bot's moves, in blocks of games.",
            x_name="games played",
            lines=tuple(lines),
            y_style=_PERCENT,
            size=ChartSize.HALF,
        )
    )


def _percents(shares: Iterable[float | None]) -> tuple[float | None, ...]:
    return tuple(None if share is None else 100 * share for share in shares)


@dataclass(frozen=True, slots=True)
class LeadersView:
    """The ranking of players in one variant."""

    variant: ArenaVariant
    ranked: tuple[Json, ...]
    """The ranked players, best first, in the form of `leader`."""
    others: tuple[Json, ...]
    """Players whose ratings are still too uncertain for a rank, in the form of `leader`."""

    variants = tuple(variant for variant in VARIANTS.values() if variant.is_offered)

    @property
    def title(self) -> str:
        return title_of(self.variant)

    def to_json(self) -> Json:
        """The ranking as JSON."""
        variant = wire.variant_json(self.variant)
        return {"variant": variant, "ranked": list(self.ranked), "others": list(self.others)}


def leader(player: RatedPlayer, ours: Collection[str]) -> Json:
    """Return a player as JSON for a ranking.

    Args:
        player: The player.
        ours: Ids of our own bots.
    """
    return {
        "id": player.account_id,
        "name": player.name,
        "bot": player.is_bot,
        "ours": player.account_id in ours,
        "rating": round(player.rating),
        "rd": round(player.deviation),
        "games": player.games,
        "provisional": player.deviation > MIN_PROVISIONAL_DEVIATION,
    }
