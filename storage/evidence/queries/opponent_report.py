"""Report on one opponent: identity, results against us, trend of the replies, ratings and visits."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import Row, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.evidence.inference.suspects import SuspectFlag
from storage.evidence.queries.opponents import OpponentLine, OpponentOrder, list_opponents
from storage.evidence.reading import played_game_conditions, replies_of
from storage.evidence.statistics.reply_progress import GameProgress, progress
from storage.evidence.statistics.suspect_rows import suspect_games
from storage.filters import Filters
from storage.ledger.blocks import blocked_as
from storage.ledger.events import OPPONENT_RENAMED
from storage.records import GameResult, from_row
from storage.tables.games import EventRow, GameRow, OpponentRow, move_order

_COUNTED = ("games", "days", "decided", "points", "baits_set", "baits_taken", "slips", "unjudged")
"""The fields of `OpponentLine` that are counts, reported as 0 if there is no game."""


@dataclass(frozen=True, slots=True)
class OpponentAccount:
    """An opponent's account at a site."""

    opponent_id: int
    """Our database key of the account."""
    site: str
    site_id: str
    """The site's key of the account."""
    name: str
    """The account's latest known name."""
    former_names: tuple[str, ...]
    """The account's former names, the oldest first."""
    is_bot: bool
    first_seen_at: datetime
    """When the account's first game began; aborted games count."""
    blocked_as: str | None
    """The name or key under which a command blocked the account; None if no command has blocked it."""


@dataclass(frozen=True, slots=True)
class LastTerms:
    """The terms of the latest game, for offering another game on the same terms."""

    variant: str
    rated: bool
    clock_initial_s: int | None
    clock_increment_s: int | None


@dataclass(frozen=True, slots=True)
class GameTally:
    """Our results in games of one kind."""

    game: str
    strategy: str
    """Our strategy."""
    our_side: int
    """0 if we moved first, otherwise 1."""
    games: int
    wins: int
    draws: int
    losses: int


@dataclass(frozen=True, slots=True)
class ObservedRating:
    """The opponent's rating at the start of a game."""

    game_id: int
    at: datetime
    rating: int


@dataclass(frozen=True, slots=True)
class ObservedRatings:
    """The opponent's ratings in one kind of games."""

    game: str
    speed: str
    points: tuple[ObservedRating, ...]
    """The ratings, one per game, the oldest first."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A visit: a day (UTC) on which games began."""

    day: date
    games: int
    days_since: int | None
    """Days since the previous visit; None for the first visit."""


@dataclass(frozen=True, slots=True)
class SuspectGame:
    """A game flagged as suspect by simple rules (`storage.evidence.inference.suspects`)."""

    game_id: int
    at: datetime
    game: str
    flags: tuple[SuspectFlag, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpponentReport:
    """A report on an opponent, based on all games that pass the filters and were not aborted."""

    account: OpponentAccount
    line: OpponentLine | None
    """The opponent's line in the list of opponents; None if no game passes the filters."""
    last_terms: LastTerms | None
    tallies: tuple[GameTally, ...]
    """Our results by game, strategy and side."""
    progress: tuple[GameProgress, ...]
    """Trends of the replies by game, the most frequently played game first."""
    ratings: tuple[ObservedRatings, ...]
    """Ratings by game and speed, the most frequently played combination first."""
    visits: tuple[Visit, ...]
    """Visits, the oldest first."""
    suspects: tuple[SuspectGame, ...]
    """Suspect games, the latest first; empty if the opponent is a program."""

    @property
    def flags(self) -> dict[SuspectFlag, int]:
        """Number of suspect games with each flag."""
        counts = Counter(flag for game in self.suspects for flag in game.flags)
        return {flag: counts[flag] for flag in SuspectFlag if counts[flag]}

    @property
    def gaps(self) -> list[int]:
        """Number of days from each visit to the next."""
        return [visit.days_since for visit in self.visits if visit.days_since is not None]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values, with times in ISO 8601."""
        line = {} if self.line is None else asdict(self.line)
        return {
            **asdict(self.account),
            "first_seen_at": self.account.first_seen_at.isoformat(),
            **{name: line[name].isoformat() if line else None for name in ("first_at", "last_at")},
            "best_rating": line.get("best_rating"),
            **{name: line.get(name, 0) for name in _COUNTED},
            "tallies": [asdict(each) for each in self.tallies],
            "progress": [
                {
                    "game": each.game,
                    "all": each.everything.to_json(),
                    "blocks": [block.to_json() for block in each.blocks],
                }
                for each in self.progress
            ],
            "ratings": [
                {
                    "game": each.game,
                    "speed": each.speed,
                    "points": [{**asdict(point), "at": point.at.isoformat()} for point in each.points],
                }
                for each in self.ratings
            ],
            "visits": [{**asdict(each), "day": each.day.isoformat()} for each in self.visits],
            "suspect_games": [
                {**asdict(each), "at": each.at.isoformat(), "flags": [flag.value for flag in each.flags]}
                for each in self.suspects
            ],
        }


async def find_opponents(session: AsyncSession, name: str, site: str | None = None) -> list[tuple[str, str]]:
    """Find accounts by name or key, ignoring case, at one site or all sites; return their sites and keys."""
    row, lower = OpponentRow, name.lower()
    # SQLite's lower() knows ASCII only; the exact spelling matches on every database.
    is_meant = or_(
        row.name == name,
        row.site_id == name,
        func.lower(row.name) == lower,
        func.lower(row.site_id) == lower,
    )
    statement = select(row.site, row.site_id).where(is_meant).order_by(row.site, row.site_id)
    if site is not None:
        statement = statement.where(row.site == site)
    return [(found.site, found.site_id) for found in await session.execute(statement)]


async def get_opponent(session: AsyncSession, site: str, site_id: str) -> OpponentAccount | None:
    """Find the account with this key at a site; return None if we have never played against it."""
    statement = select(OpponentRow).where(OpponentRow.site == site, OpponentRow.site_id == site_id)
    row = (await session.execute(statement)).scalar_one_or_none()
    if row is None:
        return None
    games = select(GameRow.id).where(GameRow.opponent_id == row.id)
    renamed = await session.scalars(
        select(EventRow.detail["name"].as_string())
        .where(EventRow.kind == OPPONENT_RENAMED, EventRow.game_id.in_(games))
        .order_by(EventRow.id)
    )
    former = dict.fromkeys(name for name in renamed if name and name != row.name)
    blocked = await blocked_as(session, site, row.site_id, row.name)
    return from_row(OpponentAccount, row, opponent_id=row.id, former_names=tuple(former), blocked_as=blocked)


async def opponent_report(
    session: AsyncSession, site: str, site_id: str, filters: Filters | None = None
) -> OpponentReport | None:
    """Compute the report on one opponent; return None if we have never played against the opponent.

    Args:
        session: A session of the database.
        site: The account's site.
        site_id: The account's key at the site.
        filters: Filters on the account's games; None for all games.
    """
    account = await get_opponent(session, site, site_id)
    if account is None:
        return None
    chosen = replace(filters or Filters(), site=site, opponent_id=site_id)
    rows = await _games(session, account, chosen)
    lines = await list_opponents(session, chosen, OpponentOrder.LATEST)
    replies = await replies_of(session, *played_game_conditions(chosen))
    flags = await suspect_games(session)
    return OpponentReport(
        account=account,
        line=lines[0] if lines else None,
        last_terms=from_row(LastTerms, rows[-1]) if rows else None,
        tallies=_tallies(rows),
        progress=progress(replies),
        ratings=_ratings(rows),
        visits=_visits(rows),
        suspects=tuple(
            SuspectGame(row.id, row.started_at, row.game, flags[row.id])
            for row in reversed(rows)
            if row.id in flags
        ),
    )


async def _games(
    session: AsyncSession, account: OpponentAccount, filters: Filters
) -> Sequence[Row[*tuple[Any, ...]]]:
    """The account's games that pass the filters, in order of their start."""
    return (
        await session.execute(
            select(
                GameRow.id,
                GameRow.game,
                GameRow.strategy,
                move_order().label("our_side"),
                GameRow.result,
                GameRow.started_at,
                GameRow.speed,
                GameRow.opponent_rating,
                GameRow.variant,
                GameRow.rated,
                GameRow.clock_initial_s,
                GameRow.clock_increment_s,
            )
            .where(
                GameRow.opponent_id == account.opponent_id,
                *played_game_conditions(filters),
            )
            .order_by(GameRow.started_at, GameRow.id)
        )
    ).all()


def _tallies(rows: Iterable[Row[*tuple[Any, ...]]]) -> tuple[GameTally, ...]:
    results: Mapping[tuple[str, str, int], Counter[GameResult | None]] = defaultdict(Counter)
    for row in rows:
        results[row.game, row.strategy, row.our_side][row.result] += 1
    return tuple(
        GameTally(
            *key,
            games=counts.total(),
            wins=counts[GameResult.WIN],
            draws=counts[GameResult.DRAW],
            losses=counts[GameResult.LOSS],
        )
        for key, counts in sorted(results.items())
    )


def _ratings(rows: Iterable[Row[*tuple[Any, ...]]]) -> tuple[ObservedRatings, ...]:
    ratings: dict[tuple[str, str], list[ObservedRating]] = defaultdict(list)
    for row in rows:
        if row.opponent_rating is not None:
            ratings[row.game, row.speed].append(ObservedRating(row.id, row.started_at, row.opponent_rating))
    ordered = sorted(ratings.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(ObservedRatings(*key, tuple(points)) for key, points in ordered)


def _visits(rows: Iterable[Row[*tuple[Any, ...]]]) -> tuple[Visit, ...]:
    counts = Counter(row.started_at.astimezone(UTC).date() for row in rows)
    days = sorted(counts)
    before = [None, *days]
    return tuple(
        Visit(day, counts[day], None if last is None else (day - last).days)
        for last, day in zip(before, days, strict=False)
    )
