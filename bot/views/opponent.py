"""One opponent: identity, trend of the replies, baits taken, rating, and visits."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from statistics import median
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from bot.base.dialects import DIALECTS, Capability
from bot.base.events import FROM_POSITION
from bot.base.rounding import NO_VALUE, percent, plural
from bot.charts.lines import ChartLine, LineChart
from bot.charts.numbers import NumberStyle
from bot.control.actions import OperatorActions
from bot.control.arguments import word
from bot.control.control_socket import ControlError
from bot.control.status import Status
from bot.parts.values import (
    ActionForm,
    Beside,
    Cards,
    ChartPart,
    Column,
    Control,
    ControlsPart,
    FormField,
    Heading,
    Note,
    Part,
    Pill,
    Rows,
    TableCell,
    TablePart,
)
from bot.text.trust_text import trust_text
from bot.text.values_text import ago, number, time_text, title_of
from bot.views.addresses import opponent_path, query_text
from bot.views.games import game_record, games_table
from bot.views.page import Page, PageNotFound, Query
from bot.views.paging import Paging
from bot.views.ratings import rating_chart
from bot.views.statistics.search_depth import depth_parts
from bot.views.traps import TrapCard, read_cards
from storage.database import Database
from storage.evidence.queries.baits import BaitOrder, list_baits, read_baits
from storage.evidence.queries.filter_language import MAX_FILTER_LENGTH, OF_GAMES
from storage.evidence.queries.game_list import GameLine, GameOrder, ResultFilter, count_games, list_game_lines
from storage.evidence.queries.opponent_depths import GameDepth, opponent_depths
from storage.evidence.queries.opponent_report import (
    GameTally,
    ObservedRatings,
    OpponentReport,
    opponent_report,
)
from storage.evidence.statistics.reply_progress import (
    BLOCK_GAMES,
    MIN_EFFECTIVE_GAMES,
    MIN_SHOWN_REPLIES,
    GameProgress,
    ProgressBlock,
    ReplyQuality,
)
from storage.filters import Filters
from storage.ledger.exploit_facts import exploit_facts
from storage.ledger.games import list_games
from storage.ledger.persons import is_person_of_game_forgotten
from storage.records import BaitOutcome

MAX_GAMES_SHOWN = 10
"""Number of games per page of the list."""
CARDS = 6
"""Maximum number of baits shown; the baits with the highest expected loss are chosen."""
MAX_RATING_CURVES = 4
"""Maximum number of rating charts; the kinds of games played most are chosen."""
_OPPONENT_FILTERS = ("opponent", "opponents", "site", "match")
"""Filters that this page does not offer, because it shows one opponent at one site."""
_PERCENT = NumberStyle(1, unit=" %")
_DAYS = NumberStyle(unit=" d", is_whole=True)


_MAX_SUSPECTS = 10
_SUSPECT_RULES = (
    "Left early: they resigned, left or lost on time before ply 10. Fast replies: at least half of them "
    "took less than 0.3 s. Engine-like: of at least 100 replies, far more are optimal than the model of "
    "people expects. Copied: the first 20 plies equal those of another account's game in the week before. "
    "Flagged games still count."
)
_CHALLENGE_NOTE = (
    "Clock: minutes, and increment in seconds. The outcome of a challenge appears among the operator's "
    "actions on the page Events."
)
_PROGRESS_NOTE = (
    f"Small print: 95 % interval, clustered by game. Numbers need {MIN_SHOWN_REPLIES} replies that count "
    f"like {int(MIN_EFFECTIVE_GAMES)} games or more. An error costs a tenth of the game or more by the "
    "judge; decided positions, and replies that are not judged yet, do not count."
)
_QUALITIES = tuple(
    Column(f"{what} {where}")
    for where in ("after baits", "elsewhere")
    for what in ("Replies", "Errors", "Cost")
)


@dataclass(frozen=True, slots=True)
class OpponentView:
    """The content of an opponent's page."""

    report: OpponentReport
    cards: tuple[TrapCard, ...]
    """Cards that show baits that the opponent took."""
    listed: tuple[GameLine, ...]
    """The opponent's games, newest first, including aborted ones."""
    depths: tuple[GameDepth, ...]
    """What search the opponent replies like, by game."""
    trusts: tuple[str, ...]
    """How far exploit believes its model of the opponent, for each kind of game."""
    paging: Paging
    now: datetime
    status: Status | None = None
    """Status of the running program; None if the page shows only the database."""

    @property
    def path(self) -> str:
        """The page's URL without filters."""
        return opponent_path(self.report.account.site, self.report.account.site_id)

    @property
    def title(self) -> str:
        """See `bot.views.page.View.title`."""
        return self.report.account.name[:60]

    @property
    def parts(self) -> tuple[Part, ...]:
        """See `bot.views.page.View.parts`."""
        parts = self._results_parts if self.report.line is not None else (self._no_games_note,)
        games: tuple[Part, ...] = ()
        if self.listed:
            games = (games_table(self.listed, "All games", "games", names_opponents=False),)
        pager = self.paging.pager(is_shown=bool(self.listed))
        controls = () if self.status is None else (self._controls(self.status),)
        return (self._heading, *parts, *games, *pager, *controls)

    @property
    def _heading(self) -> Heading:
        account = self.report.account
        formerly = f"Formerly {', '.join(account.former_names)}. " if account.former_names else ""
        return Heading(
            account.name,
            lead=" ".join((f"{formerly}{self._dates_text}", *self.trusts)),
            crumbs=(
                ("Opponents", "/dash/opponents"),
                (account.site, ""),
                *(((account.site_id, ""),) if account.site_id != account.name else ()),
            ),
            pills=self._pills,
            pills_name="The opponent",
        )

    @property
    def _pills(self) -> tuple[Pill, ...]:
        """Short facts about the opponent."""
        account, line = self.report.account, self.report.line
        pills = [Pill("program" if account.is_bot else "person")]
        if line is not None:
            best = "unknown" if line.best_rating is None else str(line.best_rating)
            pills += [
                Pill(number(line.games), "game" if line.games == 1 else "games"),
                Pill(percent(line.score), f"of {number(line.decided)}", "they score"),
                Pill(
                    f"{number(line.baits_taken)} of {number(line.baits_set)}",
                    "baits taken",
                    mood="bad" if line.baits_taken else "quiet",
                ),
                Pill(
                    number(line.slips),
                    "slip" if line.slips == 1 else "slips",
                    mood="warn" if line.slips else "quiet",
                ),
                *(
                    [Pill(plural(line.unjudged, "reply", "replies"), "not judged yet")]
                    if line.unjudged
                    else []
                ),
                Pill(best, before="best rating"),
            ]
        if account.blocked_as is not None:
            pills.append(Pill("blocked", mood="bad"))
        flags = self.report.flags.items()
        pills += [Pill(flag.value, plural(count, "game"), mood="warn") for flag, count in flags]
        return tuple(pills)

    @property
    def _dates_text(self) -> str:
        """The times of the first and last games with the opponent."""
        line, first = self.report.line, time_text(self.report.account.first_seen_at, "%d %b %Y")
        if line is None:
            return f"First seen {first}."
        last = time_text(line.last_at, "%d %b %Y, %H:%M")
        return f"First seen {first}, last {last} UTC ({ago(line.last_at, self.now)})."

    @property
    def _no_games_note(self) -> Note:
        aborted = ", or all were aborted" if self.listed else ""
        return Note(f"No games with this opponent match these filters{aborted}.", is_card=True)

    @property
    def _results_parts(self) -> tuple[Part, ...]:
        """The sections that are shown only if the opponent has games."""
        drawn = [each for each in self.report.progress if _has_chart_data(each)]
        trends = (Beside((_trend(each, is_cost=False), _trend(each, is_cost=True))) for each in drawn)
        ratings = tuple(map(_rating, self.report.ratings[:MAX_RATING_CURVES]))
        return (
            *trends,
            self._progress,
            *depth_parts(self.depths, is_bot=self.report.account.is_bot),
            *self._baits,
            Beside((self._tallies, self._visits)),
            *([Beside(ratings)] if ratings else []),
            *([] if self.report.account.is_bot else [self._suspects]),
        )

    @property
    def _progress(self) -> TablePart:
        rows = []
        for progress in self.report.progress:
            everything = f"{title_of(progress.game)}, all {number(progress.everything.last)}"
            rows.append(_block_cells(everything, progress.everything))
            if len(progress.blocks) > 1:
                rows += [_block_cells(f"{each.first:,} to {each.last:,}", each) for each in progress.blocks]
        return TablePart(
            f"Progress: their replies in blocks of {BLOCK_GAMES} games",
            (Column("Games", is_text=True), Column("From", is_text=True), *_QUALITIES),
            tuple(rows),
            _PROGRESS_NOTE,
            records="progress",
            style="stacked compact",
        )

    @property
    def _baits(self) -> tuple[Part, ...]:
        link = (
            ("All on Traps", f"/dash/traps?{query}&outcome=taken")
            if (query := self._filter_query)
            else ("", "")
        )
        title = "Baits they took"
        if self.cards:
            cards = Cards(tuple(card.card for card in self.cards), has_keys=True)
            return Note("The baits with the greatest expected loss.", title, link=link), cards
        line = self.report.line
        set_ = 0 if line is None else line.baits_set
        met = f"They met {plural(set_, 'bait')} and took none." if set_ else "They have met no baits."
        return (Note(met, title),)

    @property
    def _filter_query(self) -> str:
        """The query that selects the opponent's games on other pages; empty if the name cannot be written in
        a filter."""
        name = self.report.account.name
        if not name.isprintable() or not name.strip() or len(name) > MAX_FILTER_LENGTH:
            return ""
        return query_text({"opponent": name, "site": self.report.account.site})

    @property
    def _tallies(self) -> TablePart:
        tallies = {(each.game, each.strategy, each.our_side): each for each in self.report.tallies}
        kinds = dict.fromkeys((game, player) for game, player, _ in tallies)
        return TablePart(
            "Games",
            (
                Column("Game, our strategy", is_text=True),
                Column("We moved first"),
                Column("They moved first"),
            ),
            tuple(
                (
                    TableCell(title_of(game), player),
                    *(_tally(tallies.get((game, player, side))) for side in (0, 1)),
                )
                for game, player in kinds
            ),
            "We won · drew · lost. The number of games includes those without a result.",
            records="tallies",
        )

    @property
    def _visits(self) -> ChartPart:
        after = [visit for visit in self.report.visits if visit.days_since is not None]
        line = ChartLine(
            "days since the previous visit",
            tuple(datetime(each.day.year, each.day.month, each.day.day, tzinfo=UTC) for each in after),
            tuple(each.days_since for each in after),
        )
        chart = LineChart(
            title="Days between visits",
            description="For each day with games, the number of days since the previous one.",
            x_name="visit",
            lines=(line,),
            y_style=_DAYS,
            nothing="No second visit yet.",
        )
        note = "A visit is a day (UTC) on which games began."
        return ChartPart("Do they return?", chart, self.returns, note, records="visits")

    @property
    def returns(self) -> str:
        """Describe when the opponent has played: number of days, last day, and gaps between days."""
        visits, gaps = self.report.visits, self.report.gaps
        if not visits:
            return ""
        last = f"{visits[-1].day:%d %b %Y}"
        if not gaps:
            return f"Came on one day only, {last}."
        middle = median(gaps)
        days = "day" if middle == 1 else "days"
        between = f"a median of {middle:g} {days} between visits, at most {max(gaps)}"
        return f"Came on {plural(len(visits), 'day')}, the last one {last}; {between}."

    @property
    def _suspects(self) -> Part:
        title, suspects = "Suspect games", self.report.suspects
        if not suspects:
            return Note("None of their games is suspect.", title)
        more = len(suspects) - _MAX_SUSPECTS
        rest = f"And {number(more)} more; the CSV has all. " if more > 0 else ""
        return TablePart(
            title,
            (Column("Game", is_text=True), Column("Flags", is_text=True)),
            tuple(
                (
                    TableCell(
                        f"{title_of(each.game)}, {time_text(each.at)}", link=f"/dash/games/{each.game_id}"
                    ),
                    ", ".join(each.flags),
                )
                for each in suspects[:_MAX_SUSPECTS]
            ),
            rest + _SUSPECT_RULES,
            records="suspects",
        )

    # --- Controls -------------------------------------------------------------------------------------------

    def _controls(self, status: Status) -> ControlsPart:
        """The operator's actions that concern the opponent."""
        account = self.report.account
        ours = [each.name for each in status.accounts if each.site == account.site and each.link is not None]
        controls, note = list[Control](), ""
        if not self._address:
            note = "Commands cannot name this account: a name has at most 64 ASCII characters and no spaces."
        elif not ours:
            note = f"None of our accounts is signed in at {account.site} at the moment."
        else:
            block = ActionForm("block", "Block", {"name": self._address, "account": ours[0]}, "danger")
            if account.blocked_as is not None:
                block = ActionForm("unblock", "Unblock", {"name": account.blocked_as, "account": ours[0]}, "")
            controls.append(Control((block,)))
            challenge = self.challenge(ours)
            controls += [Control((challenge,))] if challenge is not None else []
            note = self._why_no_challenge if challenge is None else _CHALLENGE_NOTE
        return ControlsPart("Controls", tuple(controls), self.path, note)

    @property
    def _address(self) -> str:
        """The opponent's name for use in commands; empty if it cannot be written in a command."""
        account = self.report.account
        for name in (account.site_id, account.name):
            try:
                return word(name)
            except ControlError:
                continue
        return ""

    def challenge(self, ours: Sequence[str]) -> ActionForm | None:
        """Form for challenging the opponent from one of our accounts; None if challenges are impossible."""
        dialect = DIALECTS.get(self.report.account.site)
        if dialect is None or Capability.CHALLENGE not in dialect.capabilities:
            return None
        if not dialect.shows_challenges and not self.report.account.is_bot:
            return None
        last, name = self.report.last_terms, self.report.account.name
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
        variant = last.variant if last is not None and last.variant in variants else next(iter(variants))
        accounts = tuple((each, each) for each in ours)
        rated = "rated" if last is None or last.rated else "casual"
        return ActionForm(
            "challenge",
            "Challenge",
            # Its own spelling, if that equals its key except for case.
            {
                "name": name if name.lower() == self._address else self._address,
                **({"account": ours[0]} if len(ours) == 1 else {}),
            },
            "",
            (
                *((FormField("account", "As", ours[0], accounts),) if len(ours) > 1 else ()),
                FormField("variant", "Variant", variant, tuple(variants.items())),
                FormField("clock", "Clock", clock, longest=12),
                FormField("rated", "Rated", rated, (("rated", "yes"), ("casual", "no"))),
            ),
        )

    @property
    def _why_no_challenge(self) -> str:
        """The reason why the opponent cannot be challenged."""
        site = self.report.account.site
        dialect = DIALECTS.get(site)
        if (
            dialect is not None
            and Capability.CHALLENGE in dialect.capabilities
            and not dialect.shows_challenges
        ):
            return f"{site} does not show challenges to people, so only programs can be challenged there."
        return f"Programs cannot challenge anybody at {site}."

    # --- JSON and CSV -----------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """See `bot.views.page.View.to_json`."""
        tables = self.tables()
        return {
            **self.report.to_json(),
            "baits": tables["baits"],
            "depths": tables["depths"],
            "trust": self.trusts,
            "list": {**self.paging.to_json(), "games": tables["games"]},
        }

    def tables(self) -> Mapping[str, Rows]:
        """See `bot.views.page.View.tables`."""
        report = self.report
        return {
            "tallies": [asdict(each) for each in report.tallies],
            "progress": [_block_row(each.game, block) for each in report.progress for block in each.blocks],
            "baits": [card.row for card in self.cards],
            "depths": [each.to_json() for each in self.depths],
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
            "games": [game_record(game) for game in self.listed],
        }


def _has_chart_data(found: GameProgress) -> bool:
    """Whether there is enough data for a chart: two blocks with enough replies of one kind."""
    return any(
        sum(quality.is_shown for quality in qualities) > 1
        for qualities in (
            [block.tempting for block in found.blocks],
            [block.elsewhere for block in found.blocks],
        )
    )


def _trend(found: GameProgress, *, is_cost: bool) -> ChartPart:
    """Chart the share of errors, or the mean cost of a reply, in each block of games."""
    game = title_of(found.game)
    if is_cost:
        title, fields = f"{game}: cost of a reply, as a share of the game", ("cost", "cost_low", "cost_high")
        about = "The mean cost of a reply in blocks of games, as a share of the game."
    else:
        title, fields = f"{game}: share of erroneous replies", ("error_share", "error_low", "error_high")
        about = "The share of errors in blocks of games, after baits and elsewhere."
    lines = tuple(_lines(found, *fields))
    return ChartPart(title, LineChart(title, about, "games played", lines, y_style=_PERCENT))


def _lines(found: GameProgress, value: str, low: str, high: str) -> Iterator[ChartLine]:
    """The two lines of a chart, as percentages, from the named fields of `ReplyQuality`."""

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


def _block_cells(name: str, block: ProgressBlock) -> tuple[TableCell | str, ...]:
    qualities = (_quality(each) for each in (block.tempting, block.elsewhere))
    return (name, time_text(block.since, "%d %b %Y"), *chain.from_iterable(qualities))


def _quality(found: ReplyQuality) -> tuple[TableCell | str, ...]:
    """Return table cells: number of replies, share of errors and mean cost, with intervals."""
    if not found.is_shown:
        return number(found.replies), "too few", "too few"
    errors = (found.error_share, found.error_low, found.error_high)
    return (
        number(found.replies),
        _with_limits(*errors),
        _with_limits(found.cost, found.cost_low, found.cost_high),
    )


def _with_limits(share: float | None, low: float | None, high: float | None) -> TableCell:
    if low is None or high is None:
        return TableCell(percent(share, 1))
    return TableCell(percent(share, 1), f"{number(100 * low, 1)} to {number(100 * high, 1)}")


def _tally(found: GameTally | None) -> TableCell | str:
    if found is None:
        return NO_VALUE
    return TableCell(f"{found.wins} · {found.draws} · {found.losses}", plural(found.games, "game"))


def _rating(seen: ObservedRatings) -> ChartPart:
    """Chart the opponent's rating at the start of each game."""
    name = f"{title_of(seen.game)}, {seen.speed}" if seen.speed else title_of(seen.game)
    about = f"Their rating at the start of each of {plural(len(seen.points), 'game')}."
    times, ratings = [point.at for point in seen.points], [point.rating for point in seen.points]
    return ChartPart(f"Rating: {name}", rating_chart(name, about, times, ratings), records="ratings")


async def _trusts(session: AsyncSession, report: OpponentReport, filters: Filters) -> tuple[str, ...]:
    """See `OpponentView.trusts`; each is that after the last game."""
    is_bot = report.account.is_bot
    kinds = sorted({(each.game, each.strategy) for each in report.tallies})
    found = []
    for game, strategy in () if is_bot else kinds:
        last = await list_games(session, replace(filters, game=game, strategy=strategy), 1)
        # The next game of a forgotten person begins like a stranger's, whatever the last one said.
        if not last or await is_person_of_game_forgotten(session, last[0].id):
            continue
        if (facts := await exploit_facts(session, last[0])) is not None:
            said = trust_text(facts, is_bot=False, rating=last[0].opponent_rating)
            found.append(f"{title_of(game)}: {said[0].lower()}{said[1:]}")
    return tuple(found) or (trust_text(None, is_bot=is_bot, rating=None),)


async def load(database: Database, query: Query) -> OpponentView:
    """See `bot.views.page.Page.load`."""
    site, site_id = query.own.get("site", ""), query.own.get("id", "")
    paging = Paging.of(query, MAX_GAMES_SHOWN)
    # No database holds NUL in a text, and not every one takes it in a question.
    is_possible = "\0" not in site + site_id
    async with database.read() as session:
        report = await opponent_report(session, site, site_id, query.filters) if is_possible else None
        if report is None:
            raise PageNotFound(
                f"We have never played {site_id!a:.80} at {site!a:.80}; the page Opponents lists all "
                "opponents."
            )
        filters = replace(query.filters, site=site, opponent_id=site_id)
        counts = await read_baits(session, filters)
        baits = await list_baits(session, counts, BaitOutcome.TAKEN, BaitOrder.EXPECTED_LOSS, CARDS)
        cards = await read_cards(session, baits)
        depths = await opponent_depths(session, filters)
        trusts = await _trusts(session, report, filters)
        count = await count_games(session, filters, ResultFilter.ANY)
        listed = await list_game_lines(
            session, filters, ResultFilter.ANY, GameOrder.NEWEST, MAX_GAMES_SHOWN, paging.offset
        )
    return OpponentView(
        report=report,
        cards=tuple(cards),
        listed=tuple(listed),
        depths=depths,
        trusts=trusts,
        paging=replace(paging, count=count),
        now=datetime.now(UTC),
    )


def opponent_page(actions: OperatorActions | None = None) -> Page:
    """The page.

    Args:
        actions: The running program's actions; None if the page shows only the database.
    """
    return Page(
        "opponent",
        "/dash/opponent",
        "Opponent",
        load,
        parameters=frozenset({"site", "id", "page"}),
        filters=tuple(name for name in OF_GAMES if name not in _OPPONENT_FILTERS),
        is_in_menu=False,
        live=None if actions is None else actions.status,
        under="opponents",
    )
