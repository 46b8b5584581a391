"""Puts facts that a test writes down into the array of replies."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from math import nan

import numpy as np

from engine.expected import WHOLE
from storage.evidence.inference.defaults import CAP_GAMES
from storage.evidence.inference.timestamps import microseconds
from storage.evidence.measures import cells_of
from storage.evidence.replies import (
    EXPECTATIONS,
    GAME,
    OUTCOMES,
    REPLY,
    STATES,
    UNKNOWN_COST,
    GameRows,
    Labels,
    ReplyFlag,
    ReplyTable,
    packed_expectations,
)
from storage.evidence.statistics.group_rows import GroupRows, KeySources
from storage.evidence.statistics.groups import GroupKey, GroupStatistics, complete_keys
from tests.storage.evidence.statistics.facts import GameFact, ReplyFact


def group_statistics(
    games: Sequence[GameFact], replies: Sequence[ReplyFact], by: Sequence[GroupKey] = (GroupKey.STRATEGY,)
) -> list[GroupStatistics]:
    """The program's statistics of these games; replies of other games are ignored."""
    of_game = [sorted((r for r in replies if r.game_id == game.id), key=lambda r: r.ply) for game in games]
    packed = [_packed(game, its) for game, its in zip(games, of_game, strict=True)]
    texts = [
        Labels(game.strategy, game.game, game.site, game.speed, "", models).text
        for game, (models, _, _) in zip(games, packed, strict=True)
    ]
    of = GameRows.of(texts, [row for _, row, _ in packed])
    rows = ReplyTable.unpacked(of, [its for _, _, its in packed])
    keys = complete_keys(by)
    return GroupRows(
        by=keys,
        games=of,
        cells=cells_of(rows),
        sources=KeySources(
            late=[game.id for game in games if game.games_before >= CAP_GAMES],
            configured={game.id: (game.version, game.settings) for game in games},
            programs=sorted({game.person for game in games if game.is_bot}),
        ),
        outdated=0,
    ).statistics()


def counted_replies(games: Sequence[Sequence[tuple[int, int]]], first: datetime) -> ReplyTable:
    """Games of Othello, one a day.

    Args:
        games: Of each how many replies there were to moves with a bait, and errors among them; then the same
            of other moves.  An error costs a quarter of the game, and nothing else costs anything.
        first: When the first one began.
    """
    rows = np.zeros(len(games), GAME)
    rows["id"] = np.arange(len(games))
    rows["began_us"] = [microseconds(first + timedelta(days=number)) for number in range(len(games))]
    replies = []
    for kinds in games:
        its = np.zeros(sum(count for count, _ in kinds), REPLY)
        its["flags"] = ReplyFlag.COUNTED | ReplyFlag.JUDGED
        its["flags"][: kinds[0][0]] += np.uint16(ReplyFlag.BAIT)
        at = 0
        for count, errors in kinds:
            its["cost"][at : at + errors] = WHOLE // 4
            at += count
        replies.append(its.tobytes())
    labels = Labels("trappy", "othello", "arena", "blitz", "", ("people",)).text
    return ReplyTable.unpacked(GameRows.of([labels] * len(games), [row.tobytes() for row in rows]), replies)


def _packed(game: GameFact, replies: Sequence[ReplyFact]) -> tuple[tuple[str, ...], bytes, bytes]:
    """The models, the row of the game and those of its replies."""
    row = np.zeros((), GAME)
    for name, value in {
        "id": game.id,
        "person": game.person,
        "config": game.id,
        "began_us": microseconds(game.started_at),
        "rating": nan if game.opponent_rating is None else game.opponent_rating,
        "score": nan if game.score is None else game.score,
        "state": STATES.index(game.state),
        "is_settled": game.is_unjudged,
        "unjudged": game.is_unjudged,
    }.items():
        row[name] = value
    models = tuple(sorted({reply.model for reply in replies}))
    rows = np.zeros(len(replies), REPLY)
    for number, reply in enumerate(replies):
        values = {name: getattr(reply, name) for name in EXPECTATIONS}
        for name, value in packed_expectations(values, reply.reply_count).items():
            rows[name][number] = value
        rows["reply_count"][number] = reply.reply_count
        rows["phase"][number] = (reply.ply + 1) // 20
        rows["cost"][number] = UNKNOWN_COST if reply.cost is None else round(reply.cost * WHOLE)
        rows["ply"][number] = reply.ply
        rows["model"][number] = models.index(reply.model)
        rows["outcome"][number] = OUTCOMES.index(reply.kind)
        flags = (
            (ReplyFlag.DECIDED, reply.is_decided),
            (ReplyFlag.PAPER_TRAP, reply.is_trap),
            (ReplyFlag.FELL_FOR_BEST, reply.fell_for_best),
            (ReplyFlag.BAIT, reply.has_bait),
            (ReplyFlag.TAKEN, reply.is_taken),
            (ReplyFlag.JUDGED, reply.cost is not None),
            (ReplyFlag.UNJUDGED, reply.is_unjudged),
        )
        rows["flags"][number] = ReplyFlag.COUNTED + sum(flag for flag, is_true in flags if is_true)
    return models, row.tobytes(), rows.tobytes()
