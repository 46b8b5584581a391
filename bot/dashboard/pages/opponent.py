"""One opponent: identity, trend of its replies, baits taken, rating, and visits."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from statistics import median
from typing import Any

from markupsafe import Markup

from bot.base.dialects import DIALECTS, Ability
from bot.base.events import FROM_POSITION
from bot.base.rounding import counted
from bot.charts.figure import ChartSize
from bot.charts.line_chart import line_chart
from bot.charts.lines import ChartLine, LineChart
from bot.charts.numbers import NumberStyle
from bot.control.actions import OperatorActions, word
from bot.control.control_socket import ControlError
from bot.control.status import Status
from bot.dashboard.page import NoSuchThing, Page, Query, Rows
from bot.dashboard.pages.games import ended
from bot.dashboard.pages.traps import TrapCard, read_card
from bot.dashboard.paging import Paging
from bot.dashboard.rendering import opponent_path, query_text
from bot.views.values_text import moment, title_of
from storage.database import Database
from storage.evidence.queries.baits import BaitFate, BaitOrder, list_baits, read_baits
from storage.evidence.queries.filter_language import LONGEST, OF_GAMES
from storage.evidence.queries.game_list import GameLine, GameOrder, WhichResult, count_games, list_game_lines
from storage.evidence.queries.opponent_report import (
    GameTally,
    ObservedRatings,
    OpponentReport,
    opponent_report,
)
from storage.evidence.statistics.reply_progress import (
    BLOCK_GAMES,
    LEAST_GAMES,
    LEAST_REPLIES,
    GameProgress,
    ProgressBlock,
    ReplyQuality,
)

GAMES = 10
"""On one page."""
CARDS = 6
"""Baits that are shown, the most surprising ones."""
CURVES = 4
"""Kinds of games whose ratings are drawn, those with the most games."""
_OTHERS = ("opponent", "opponents", "site", "match")
"""Filters that choose opponents."""
_PERCENT = NumberStyle(1, unit=" %")
_RATINGS = NumberStyle(is_grouped=False)
_DAYS = NumberStyle(unit=" d")


@dataclass(frozen=True, slots=True)
class ChallengeForm:
    """The choices of the form that challenges the opponent."""

    variants: Mapping[str, str]
    """Their display names, by the site's keys."""
    variant: str
    """That of the last game, if it is one of these."""
    clock: str
    """For instance ``3+2``."""
    is_rated: bool


@dataclass(frozen=True, slots=True)
class OpponentView:
    """The contents of the page."""

    report: OpponentReport
    cards: tuple[TrapCard, ...]
    """Baits that it took."""
    listed: tuple[GameLine, ...]
    """Games, aborted ones too, the newest first."""
    paging: Paging
    now: datetime
    status: Status | None = None
    """The running program; None: the page is of the database alone."""

    block_games = BLOCK_GAMES
    least_games = int(LEAST_GAMES)
    least_replies = LEAST_REPLIES

    @property
    def path(self) -> str:
        """The page's address, without filters."""
        return opponent_path(self.report.account.site, self.report.account.site_id)

    @property
    def titles(self) -> list[str]:
        """Whose boards the page has."""
        return sorted({card.bait.game for card in self.cards})

    @property
    def filter_query(self) -> str:
        """The query that selects the opponent's games on other pages; empty: no filter can express its
        name."""
        name = self.report.account.name
        if not name.isprintable() or not name.strip() or len(name) > LONGEST:
            return ""
        return query_text({"opponent": name, "site": self.report.account.site})

    @property
    def returns(self) -> str:
        """When it comes back, in a sentence."""
        visits, gaps = self.report.visits, self.report.gaps
        if not visits:
            return ""
        last = f"{visits[-1].day:%d %b %Y}"
        if not gaps:
            return f"Came on one day only, {last}."
        middle = median(gaps)
        days = "day" if middle == 1 else "days"
        between = f"{middle:g} {days} from one visit to the next in the median, {max(gaps)} at most"
        return f"Came on {counted(len(visits), 'day')}, the last one {last}; {between}."

    @staticmethod
    def ended(game: GameLine) -> tuple[str, str]:
        """How a game ended, in a word, and its colour."""
        return ended(game.state, game.result)

    @property
    def tally_rows(self) -> dict[tuple[str, str], tuple[GameTally | None, GameTally | None]]:
        """By game and player: the games in which we moved first, and those in which they did."""
        found = {(each.game, each.player, each.our_side): each for each in self.report.tallies}
        return {
            (game, player): (found.get((game, player, 0)), found.get((game, player, 1)))
            for game, player, _ in found
        }

    @staticmethod
    def is_drawn(found: GameProgress) -> bool:
        """Whether there is a course to draw: two blocks of enough replies of one kind."""
        return any(
            sum(quality.is_shown for quality in qualities) > 1
            for qualities in (
                [block.tempting for block in found.blocks],
                [block.elsewhere for block in found.blocks],
            )
        )

    # --- Charts -----------------------------------------------------------------------------------------

    def error_chart(self, found: GameProgress) -> Markup:
        """The share of errors in each block of games, after tempting traps and elsewhere."""
        return line_chart(
            LineChart(
                title=f"{title_of(found.game)}: replies that are errors",
                description="The share of errors in blocks of games, after tempting traps and elsewhere.",
                x_name="games played",
                lines=tuple(_lines(found, "error_share", "error_low", "error_high")),
                y_style=_PERCENT,
                size=ChartSize.HALF,
            )
        )

    def cost_chart(self, found: GameProgress) -> Markup:
        """The mean cost of a reply in each block of games, after tempting traps and elsewhere."""
        return line_chart(
            LineChart(
                title=f"{title_of(found.game)}: what a reply costs",
                description="The mean cost of a reply in blocks of games, as a share of the game.",
                x_name="games played",
                lines=tuple(_lines(found, "cost", "cost_low", "cost_high")),
                y_style=_PERCENT,
                size=ChartSize.HALF,
            )
        )

    @property
    def curves(self) -> tuple[ObservedRatings, ...]:
        """The ratings that are drawn."""
        return self.report.ratings[:CURVES]

    def rating_chart(self, seen: ObservedRatings) -> Markup:
        """The opponent's rating at each game."""
        name = f"{title_of(seen.game)}, {seen.speed}" if seen.speed else title_of(seen.game)
        games = counted(len(seen.points), "game")
        line = ChartLine(
            "rating", tuple(point.at for point in seen.points), tuple(point.rating for point in seen.points)
        )
        return line_chart(
            LineChart(
                title=name,
                description=f"Their rating at the start of each of {games}.",
                x_name="start of the game",
                lines=(line,),
                y_style=_RATINGS,
                size=ChartSize.HALF,
            )
        )

    @property
    def visit_chart(self) -> Markup:
        """Days since the visit before, at each visit."""
        after = [visit for visit in self.report.visits if visit.days_since is not None]
        line = ChartLine(
            "days since the visit before",
            tuple(datetime(each.day.year, each.day.month, each.day.day, tzinfo=UTC) for each in after),
            tuple(each.days_since for each in after),
        )
        return line_chart(
            LineChart(
                title="Days between visits",
                description="For each day with games, how many days after the last such day it was.",
                x_name="visit",
                lines=(line,),
                y_style=_DAYS,
                size=ChartSize.HALF,
                nothing="No second visit yet.",
            )
        )

    # --- Controls ---------------------------------------------------------------------------------------

    @property
    def accounts(self) -> tuple[str, ...]:
        """Our accounts that are signed in at the opponent's site."""
        if self.status is None:
            return ()
        site = self.report.account.site
        return tuple(
            each.name for each in self.status.accounts if each.site == site and each.link is not None
        )

    @property
    def address(self) -> str:
        """The name by which commands reach it; empty: commands cannot name it."""
        account = self.report.account
        for name in (account.site_id, account.name):
            try:
                return word(name)
            except ControlError:
                continue
        return ""

    @property
    def challenge(self) -> ChallengeForm | None:
        """How it can be challenged; None: it cannot, or commands cannot name it."""
        dialect = DIALECTS.get(self.report.account.site)
        if dialect is None or Ability.CHALLENGE not in dialect.abilities or not self.address:
            return None
        if not dialect.shows_challenges and not self.report.account.is_bot:
            return None
        last = self.report.last_terms
        # A start position is not asked for, so its variant would be refused.
        played = {key: each for key, each in dialect.variants.items() if each.kind != FROM_POSITION}
        several = Counter(each.game for each in played.values())
        variants = {
            key: title_of(each.game) + (f" ({key})" if several[each.game] > 1 and key != "standard" else "")
            for key, each in played.items()
        }
        clock = "3+2"
        if last is not None and last.clock_initial_s is not None:
            clock = f"{last.clock_initial_s / 60:g}+{last.clock_increment_s or 0}"
        return ChallengeForm(
            variants,
            last.variant if last is not None and last.variant in variants else next(iter(variants)),
            clock,
            last is None or last.rated,
        )

    @property
    def challenged(self) -> str:
        """The name for challenges: its own spelling, if that equals its key except for case."""
        name = self.report.account.name
        return name if name.lower() == self.address else self.address

    @property
    def why_no_challenge(self) -> str:
        """The reason why it cannot be challenged."""
        site = self.report.account.site
        dialect = DIALECTS.get(site)
        if dialect is not None and Ability.CHALLENGE in dialect.abilities and not dialect.shows_challenges:
            return (
                f"People cannot be challenged at {site}, whose page would not show it to them; programs can."
            )
        return f"Programs can challenge nobody at {site}."

    # --- JSON and CSV -----------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """See `bot.dashboard.page.View.to_json`."""
        tables = self.tables()
        return {
            **self.report.to_json(),
            "baits": tables["baits"],
            "list": {
                "page": self.paging.page,
                "pages": self.paging.pages,
                "count": self.paging.count,
                "games": tables["games"],
            },
        }

    def tables(self) -> Mapping[str, Rows]:
        """See `bot.dashboard.page.View.tables`."""
        report = self.report
        return {
            "tallies": [asdict(each) for each in report.tallies],
            "progress": [_block_row(each.game, block) for each in report.progress for block in each.blocks],
            "baits": [card.row for card in self.cards],
            "ratings": [
                {
                    "game": each.game,
                    "speed": each.speed,
                    "game_id": point.game_id,
                    "at": point.at.isoformat(),
                    "rating": point.rating,
                }
                for each in report.ratings
                for point in each.points
            ],
            "visits": [asdict(each) for each in report.visits],
            "suspects": [
                {
                    "game_id": each.game_id,
                    "at": each.at.isoformat(),
                    "game": each.game,
                    "flags": ", ".join(each.flags),
                }
                for each in report.suspects
            ],
            "games": [
                {**asdict(game), "started_at": moment(game.started_at, "%Y-%m-%dT%H:%M:%SZ")}
                for game in self.listed
            ],
        }


def _lines(found: GameProgress, value: str, low: str, high: str) -> Iterator[ChartLine]:
    """The two lines of a chart, in per cent, by these fields of `ReplyQuality`."""

    def column(qualities: list[ReplyQuality], name: str) -> tuple[float | None, ...]:
        values = (getattr(each, name) for each in qualities)
        return tuple(None if each is None else 100 * each for each in values)

    x = tuple(float(block.last) for block in found.blocks)
    for name, qualities in (
        ("tempting", [block.tempting for block in found.blocks]),
        ("elsewhere", [block.elsewhere for block in found.blocks]),
    ):
        y, lows, highs = (column(qualities, each) for each in (value, low, high))
        yield ChartLine(name, x, y, lows, highs, "95 %, by game")


def _block_row(game: str, block: ProgressBlock) -> dict[str, Any]:
    row: dict[str, Any] = {"game": game, **block.to_json()}
    for kind in ("tempting", "elsewhere"):
        row |= {f"{kind}_{name}": value for name, value in row.pop(kind).items()}
    return row


async def load(database: Database, query: Query) -> OpponentView:
    """See `bot.dashboard.page.Page.load`."""
    site, site_id = query.own.get("site", ""), query.own.get("id", "")
    paging = Paging.of(query, GAMES)
    # No database holds NUL in a text, and not every one takes it in a question.
    is_possible = "\0" not in site + site_id
    async with database.read() as session:
        report = await opponent_report(session, site, site_id, query.filters) if is_possible else None
        if report is None:
            raise NoSuchThing(
                f"We have met no account {site_id!a:.80} at {site!a:.80}; the page Opponents lists all."
            )
        filters = replace(query.filters, site=site, opponent_id=site_id)
        counts = await read_baits(session, filters)
        baits = await list_baits(session, counts, BaitFate.TAKEN, BaitOrder.EXPECTED_LOSS, CARDS)
        cards = [await read_card(session, bait) for bait in baits]
        count = await count_games(session, filters, WhichResult.ANY)
        listed = await list_game_lines(
            session, filters, WhichResult.ANY, GameOrder.NEWEST, GAMES, paging.offset
        )
    return OpponentView(
        report=report,
        cards=tuple(cards),
        listed=tuple(listed),
        paging=replace(paging, count=count),
        now=datetime.now(UTC),
    )


def show_live(view: OpponentView, status: Status) -> OpponentView:
    """The view of an opponent of the running program."""
    return replace(view, status=status)


def opponent_page(actions: OperatorActions | None = None) -> Page:
    """The page.

    Args:
        actions: The running program; None: the page is of the database alone.
    """
    return Page(
        "opponent",
        "/dash/opponent",
        "Opponent",
        load,
        parameters=frozenset({"site", "id", "page"}),
        filters=tuple(name for name in OF_GAMES if name not in _OTHERS),
        is_in_menu=False,
        live=None if actions is None else actions.status,
        show_live=show_live,
        under="opponents",
    )
