"""The statistics of groups, and their calibration, reply by reply: slow, plain, and what the program's must
equal (`group_rows`, `calibrations`)."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.decision import OutcomeKind
from storage.evidence.inference.any_time import AnyTimeEstimate, PlannedN, SequenceDesign, estimate
from storage.evidence.inference.calibration import calibration
from storage.evidence.inference.defaults import CAP_GAMES
from storage.evidence.intervals import Performance, performances
from storage.evidence.rating_bands import RatingBand
from storage.evidence.statistics.calibrations import GroupCalibration
from storage.evidence.statistics.groups import (
    GroupKey,
    GroupStatistics,
    ObservedRate,
    complete_keys,
    week_text,
)
from storage.records import GameResult, GameStatus
from tests.storage.evidence.statistics.facts import GameFact, ReplyFact


@dataclass(frozen=True, slots=True)
class OpponentGames:
    """Games against opponents of one rating."""

    rating: int
    games: int
    points: float


def performance(met: Sequence[OpponentGames]) -> Performance:
    """The performance rating of one group."""
    ratings, games, points = (
        np.array([getattr(each, name) for each in met], np.float64) for name in ("rating", "games", "points")
    )
    return performances(np.zeros(len(met), np.intp), ratings, games, points, 1)[0]


OF_GAME: dict[GroupKey, Callable[[GameFact], str]] = {
    GroupKey.STRATEGY: lambda game: game.strategy,
    GroupKey.GAME: lambda game: game.game,
    GroupKey.SITE: lambda game: game.site,
    GroupKey.SPEED: lambda game: game.speed,
    GroupKey.RATING_BAND: lambda game: RatingBand.of(game.opponent_rating).text,
    GroupKey.WEEK: lambda game: week_text(game.started_at.date()),
    GroupKey.MONTH: lambda game: f"{game.started_at:%Y-%m}",
    GroupKey.OPPONENT_KIND: lambda game: "program" if game.is_bot else "person",
    GroupKey.VERSION: lambda game: game.version,
    GroupKey.SETTINGS: lambda game: game.settings,
}
"""What games are grouped by."""


def _phase(reply: ReplyFact) -> str:
    first = (reply.ply + 1) // 20 * 20
    return f"plies {first + 1} to {first + 20}"


_OF_REPLY: dict[GroupKey, Callable[[ReplyFact], str]] = {
    GroupKey.PHASE: _phase,
    GroupKey.MODEL: lambda reply: reply.model,
}


@dataclass(frozen=True, slots=True)
class ReplyGroup:
    """A group of games, and of replies in them."""

    names: dict[str, str]
    """What they have in common, by the names of `GroupKey`."""
    games: tuple[GameFact, ...]
    """In the order of their keys."""
    replies: tuple[ReplyFact, ...]


def grouped(
    games: Sequence[GameFact], replies: Sequence[ReplyFact], by: Sequence[GroupKey]
) -> list[ReplyGroup]:
    """The groups in the order of their names.

    Args:
        games: All games.
        replies: Replies in these games; those of other games are ignored.
        by: What to group by; see `complete_keys`.
    """
    keys = complete_keys(by)
    by_id = {game.id: game for game in games}
    groups: dict[tuple[str, ...], tuple[set[int], list[ReplyFact]]] = defaultdict(lambda: (set(), []))
    if not _OF_REPLY.keys() & set(keys):
        for game in games:
            groups[tuple(OF_GAME[key](game) for key in keys)][0].add(game.id)
    for reply in replies:
        if (found := by_id.get(reply.game_id)) is not None:
            members, answers = groups[_key(keys, found, reply)]
            members.add(found.id)
            answers.append(reply)
    return [
        ReplyGroup(
            dict(zip((key.value for key in keys), group, strict=True)),
            tuple(by_id[number] for number in sorted(members)),
            tuple(answers),
        )
        for group, (members, answers) in sorted(groups.items())
    ]


def open_replies(replies: Sequence[ReplyFact], by_id: Mapping[int, GameFact]) -> list[ReplyFact]:
    """The replies that count: outside decided positions, in the first `CAP_GAMES` games of their person."""
    return [reply for reply in _of_first_games(replies, by_id) if not reply.is_decided]


def _of_first_games(replies: Sequence[ReplyFact], by_id: Mapping[int, GameFact]) -> list[ReplyFact]:
    return [reply for reply in replies if by_id[reply.game_id].games_before < CAP_GAMES]


def _key(keys: Sequence[GroupKey], game: GameFact, reply: ReplyFact) -> tuple[str, ...]:
    return tuple(_OF_REPLY[key](reply) if key in _OF_REPLY else OF_GAME[key](game) for key in keys)


def calibrations_by_reply(
    games: Sequence[GameFact], replies: Sequence[ReplyFact], by: Sequence[GroupKey] = ()
) -> list[GroupCalibration]:
    """As `storage.evidence.statistics.calibrations.CalibrationRows.calibrations`."""
    by_id = {game.id: game for game in games}
    found = []
    for group in grouped(games, replies, (GroupKey.MODEL, *by)):
        counted = [reply for reply in open_replies(group.replies, by_id) if reply.cost is not None]
        if counted:
            persons = [by_id[reply.game_id].person for reply in counted]
            predicted = [reply.error_expected for reply in counted]
            happened = [reply.erred for reply in counted]
            found.append(GroupCalibration(group.names, calibration(predicted, happened, persons)))
    return found


def statistics_by_reply(
    games: Sequence[GameFact], replies: Sequence[ReplyFact], by: Sequence[GroupKey]
) -> list[GroupStatistics]:
    """As `storage.evidence.statistics.group_rows.GroupRows.statistics`."""
    by_id = {game.id: game for game in games}
    return [_statistics(group, by_id) for group in grouped(games, replies, by)]


def _statistics(group: ReplyGroup, by_id: Mapping[int, GameFact]) -> GroupStatistics:
    games = group.games

    def count(result: GameResult) -> int:
        return sum(game.result is result for game in games)

    met = [
        OpponentGames(game.opponent_rating, 1, game.score)
        for game in games
        if game.opponent_rating is not None and game.score is not None
    ]
    counted = [reply for reply in group.replies if by_id[reply.game_id].games_before < CAP_GAMES]
    open_ = open_replies(group.replies, by_id)
    judged = [reply for reply in open_ if reply.cost is not None]
    baits = [reply for reply in open_ if reply.has_bait]
    traps = [reply for reply in open_ if reply.is_trap]

    def expected(
        some: Sequence[ReplyFact],
        planned_n: PlannedN,
        happened: Callable[[ReplyFact], float],
        chance: Callable[[ReplyFact], float],
        model: Callable[[ReplyFact], float],
    ) -> ObservedRate:
        design = SequenceDesign(planned_n)
        persons = [by_id[reply.game_id].person for reply in some]
        seen, by_chance, by_model = ([which(r) for r in some] for which in (happened, chance, model))

        def beyond(other: Sequence[float]) -> AnyTimeEstimate:
            return estimate([a - b for a, b in zip(seen, other, strict=True)], persons, design)

        return ObservedRate(
            len(some),
            _mean(seen),
            _mean(by_chance),
            _mean(by_model),
            beyond(by_chance),
            beyond(by_model),
        )

    def kinds(kind: OutcomeKind) -> int:
        return sum(reply.kind is kind for reply in traps)

    return GroupStatistics(
        group=group.names,
        games=len(games),
        wins=count(GameResult.WIN),
        draws=count(GameResult.DRAW),
        losses=count(GameResult.LOSS),
        unfinished=sum(game.state is GameStatus.OPEN for game in games),
        persons=len({game.person for game in games}),
        performance=performance(met),
        unjudged_games=sum(game.is_unjudged for game in games),
        replies=len(judged),
        unjudged=sum(reply.is_unjudged for reply in open_),
        optimal=sum(reply.kind is OutcomeKind.OPTIMAL for reply in judged),
        decided=len(counted) - len(open_),
        models=tuple(sorted({reply.model for reply in open_ if reply.cost is not None or reply.is_unjudged})),
        errors=expected(
            judged, PlannedN.REPLIES, lambda r: r.erred, lambda r: r.error_uniform, lambda r: r.error_expected
        ),
        cost=expected(
            judged,
            PlannedN.REPLIES,
            lambda r: r.cost or 0,
            lambda r: r.cost_uniform,
            lambda r: r.cost_expected,
        ),
        baits_set=len(baits),
        baits=expected(
            baits, PlannedN.TRAPS, lambda r: r.is_taken, lambda r: r.bait_uniform, lambda r: r.bait_expected
        ),
        traps_set=len(traps),
        traps_optimal=kinds(OutcomeKind.OPTIMAL),
        traps_fell=kinds(OutcomeKind.FELL_FOR_PAPER_TRAP),
        traps_fell_for_best=sum(reply.fell_for_best for reply in traps),
        traps_erred_elsewhere=kinds(OutcomeKind.ERRED_ELSEWHERE),
        falls=expected(
            traps,
            PlannedN.TRAPS,
            lambda r: r.kind is OutcomeKind.FELL_FOR_PAPER_TRAP,
            lambda r: r.fall_uniform,
            lambda r: r.fall_expected,
        ),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
