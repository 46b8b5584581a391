"""The books checked from outside: what the database says against what the server's own records say."""

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Container, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp

from bot.arena.variants import VARIANTS, ArenaVariant
from engine.decision import OutcomeKind, ReplyProfile
from engine.errors import PrunedRecord
from engine.expected import PER_PERCENT, expected_score
from engine.figure_9 import classify_by_figure_9
from engine.game import WIN_CENTI, replay
from engine.games import get_rules
from engine.params import TrapParams
from engine.search.profiles import Profiler
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.trappy import reply_trappiness
from engine.verification import verify
from storage.database import Database
from storage.filters import Filters
from storage.ledger.decisions import list_decisions
from storage.ledger.games import list_games
from storage.records import DecisionState, GameStatus, StoredDecision, StoredGame
from tests.patience import PATIENCE_S
from tests.system.daemon import Daemon

_BUSY = re.compile(
    r"(no answer|no connection|silent) (in|for) [0-9.]+ s"
    r"|minutes took more than|our move is [0-9.]+ s later|did not run for [0-9.]+ s"
)
"""Of a call that was given up, and is made again; of alarms and notices that somebody waited."""


async def exported(url: str, game_ids: list[str]) -> dict[str, dict[str, Any]]:
    """The server's own records of games."""
    records = {}
    async with aiohttp.ClientSession(url, headers={"Accept": "application/json"}) as http:
        for game_id in game_ids:
            async with http.get(f"/game/export/{game_id}") as answer:
                assert answer.status == 200, await answer.text()
                records[game_id] = await answer.json()
    return records


async def unsettled_games(database: Database) -> list[str]:
    """The sites' ids of the games that are open, or whose decisions wait for an outcome or a forecast."""
    async with database.read() as session:
        games = await list_games(session, limit=100_000)
    return [game.site_game_id for game in games if not game.is_settled]


async def wait_until_settled(folder: Path) -> None:
    """Wait until every game of a bot that runs in a folder is settled, or patience ends."""
    database = await Database.open(f"sqlite:///{folder / 'data' / 'desdemona.db'}", upgrade=False)
    try:
        until = time.monotonic() + PATIENCE_S
        while await unsettled_games(database) and time.monotonic() < until:  # noqa: ASYNC110 - nobody can call
            await asyncio.sleep(0.2)
    finally:
        await database.close()


async def check_books(daemon: Daemon, records: dict[str, dict[str, Any]]) -> dict[str, Counter[str]]:
    """Hold every decision and outcome in the database against the server's records.

    Every outcome is worked out once more, from the moves on the server and a fresh search of the whole table.

    Returns:
        For each player, how often each thing happened, counted without the database's help.
    """
    counts: dict[str, Counter[str]] = {}
    database = await Database.open(f"sqlite:///{daemon.folder / 'data' / 'desdemona.db'}")
    try:
        async with database.read() as session:
            games = {game.site_game_id: game for game in await list_games(session, limit=10_000)}
            assert set(games) == set(records)
            for game_id, record in records.items():
                game = games[game_id]
                decisions = await list_decisions(session, game.id)
                count = counts.setdefault(game.strategy, Counter())
                count.update(_check_game(game, decisions, record))
    finally:
        await database.close()
    return counts


async def troubles(
    database: Database,
    records: dict[str, dict[str, Any]],
    *,
    taken_back: Container[tuple[str, int, str]] = (),
    bot: str = "desdemona",
    site: str | None = None,
) -> list[str]:
    """What is wrong in the books of some games, held against the server's records; nothing is searched anew.

    Args:
        database: The bot's.
        records: The server's records by game.
        taken_back: Moves that were taken back: game, ply, move; such a reply may have been judged.
        bot: Id of the bot's account.
        site: Key of the server, if the books are of several.

    Returns:
        One line for each: games missing or not closed, decisions missing or doubled or for another move,
        outcomes that are not what the stored profile says.
    """
    found = []
    async with database.read() as session:
        games = {
            game.site_game_id: game for game in await list_games(session, Filters(site=site), limit=100_000)
        }
        found += [f"{game_id}: not among the server's games" for game_id in set(games) - set(records)]
        for game_id, record in records.items():
            if game_id not in games:
                # A game that ended before it was met leaves nothing to write down: the program was down.
                if _replayed(record, bot)[3]:
                    found.append(f"{game_id}: not in the books")
                continue
            decisions = await list_decisions(session, games[game_id].id)
            troubled = _troubles(games[game_id], decisions, record, bot, taken_back)
            found += [f"{game_id}: {each}" for each in troubled]
    return found


def _replayed(
    record: dict[str, Any], bot: str
) -> tuple[ArenaVariant, int, list[str], dict[int, tuple[str, str]]]:
    """The variant, the bot's side, all moves, and by ply the positions and moves of the bot."""
    variant = VARIANTS[record["variant"]]
    rules = get_rules(variant.game_name)
    position = variant.start(record.get("initialFen"))
    side = next(variant.side(c) for c, who in record["players"].items() if who["user"]["id"] == bot)
    moves, ours = [], {}
    for ply, text in enumerate(record["moves"].split()):
        move = rules.parse_move(position, text)
        if rules.side_to_move(position) == side:
            ours[ply] = (rules.position_text(position), rules.move_text(move))
        moves.append(rules.move_text(move))
        position = rules.play(position, move)
    return variant, side, moves, ours


def _troubles(
    game: StoredGame,
    decisions: list[StoredDecision],
    record: dict[str, Any],
    bot: str,
    taken_back: Container[tuple[str, int, str]],
) -> Iterator[str]:
    variant, side, moves, ours = _replayed(record, bot)
    if (game.game, game.our_side) != (variant.game_name, side):
        yield f"booked as {game.game}, side {game.our_side}"
    winner = record.get("winner")
    result = "draw" if winner is None else "win" if variant.side(winner) == side else "loss"
    wanted = (GameStatus.ABORTED, None) if record["status"] == "aborted" else (GameStatus.FINISHED, result)
    if (game.state, game.result) != wanted:
        yield f"is {game.state}, {game.result}; should be {wanted[0]}, {wanted[1]}"
    if list(game.moves) != moves:
        yield f"has {len(game.moves)} moves, should have {len(moves)}"

    played = [each for each in decisions if each.state is not DecisionState.DROPPED]
    counted = Counter(each.ply for each in played)
    yield from (f"ply {ply}: decided {n} times" for ply, n in counted.items() if n > 1)
    yield from (f"ply {ply}: no decision" for ply in ours if ply not in counted)
    for each in decisions:
        if each.state is DecisionState.DROPPED:
            if each.ply < len(moves) or each.outcome is not None:
                yield f"ply {each.ply}: dropped, though the game went on"
            continue
        reply = moves[each.ply + 1] if each.ply + 1 < len(moves) else None
        judged = None if each.outcome is None else each.outcome.reply
        if judged is not None and (game.site_game_id, each.ply + 1, judged) in taken_back:
            reply = judged
        yield from (f"ply {each.ply}: {what}" for what in _wrong(each, ours.get(each.ply), reply))


def _wrong(stored: StoredDecision, played: tuple[str, str] | None, reply: str | None) -> Iterator[str]:
    decision, outcome = stored.decision, stored.outcome
    if played != (decision.position, decision.move):
        yield f"decided {decision.move}, played {played and played[1]}"
        return
    if stored.state is not DecisionState.CONFIRMED:
        yield f"is {stored.state}"
    with suppress(PrunedRecord):  # what is left of it is sound
        verify(decision)
    if not stored.is_complete:
        yield "its profile is not complete"
    elif outcome is None:
        yield "no outcome"
    elif outcome != classify_by_figure_9(decision, outcome.reply):
        yield f"its outcome is {outcome}"
    elif outcome.reply != reply:
        yield f"its outcome is for the reply {outcome.reply}, not {reply}"


def _check_game(game: StoredGame, decisions: list[StoredDecision], record: dict[str, Any]) -> Counter[str]:
    """One game; what happened in it."""
    moves = record["moves"].split()
    bot_color = next(c for c in ("white", "black") if record["players"][c]["user"]["id"] == "desdemona")
    variant = VARIANTS[record["variant"]]
    assert (game.game, game.variant) == (variant.game_name, variant.key)
    assert variant.colours[game.our_side] == bot_color
    assert (game.state, game.is_settled) == (GameStatus.FINISHED, True), game.site_game_id
    assert list(game.moves) == moves
    winner = record.get("winner")
    assert game.result == ("draw" if winner is None else "win" if winner == bot_color else "loss")

    count = Counter(games=1, **{str(game.result): 1})
    # A pass is a move too, so the sides take turns.
    played = {ply: move for ply, move in enumerate(moves) if ply % 2 == game.our_side}
    on_server = [d for d in decisions if d.state is not DecisionState.DROPPED]
    assert [(d.ply, d.decision.move) for d in on_server] == list(played.items())
    assert all(d.state is DecisionState.CONFIRMED for d in on_server)
    for dropped in (d for d in decisions if d.state is DecisionState.DROPPED):  # the game ended first
        assert dropped.ply >= len(moves)
        assert dropped.outcome is None
    for stored in on_server:
        count["by_engine"] += stored.decision.search_mode == "engine"
        reply = moves[stored.ply + 1] if stored.ply + 1 < len(moves) else None
        count.update(_check_decision(game, stored, moves[: stored.ply], reply))
    return count


def _check_decision(
    game: StoredGame, stored: StoredDecision, before: list[str], reply: str | None
) -> Counter[str]:
    """One decision and its outcome, against a fresh search of the whole table of its move."""
    decision = stored.decision
    assert decision.strategy == game.strategy
    rules = get_rules(game.game)
    position = replay(rules, before)
    assert decision.position == rules.position_text(position)
    verify(decision)
    assert stored.outcome is not None, (game.site_game_id, stored.ply)
    assert stored.outcome.reply == reply
    if not stored.is_complete:
        assert reply is None
        return Counter(partial=1)

    params: TrapParams = decision.params
    move = rules.parse_move(position, decision.move)
    if decision.search_mode == "engine":  # whose scores are its own: the record's must be of all replies
        table = decision.chosen.replies
        after = rules.play(position, move)
        assert {p.reply for p in table} == {rules.move_text(each) for each in rules.legal_moves(after)}
    else:
        profiler = Profiler(rules, make_searcher(rules.name, 1), position, params, StopFlag())
        table = profiler.all_replies(move, decision.depth)
    raw = min((profile.scores_centi[-1] for profile in table), default=decision.chosen.raw_centi)
    scale = rules.expected_scale_centi(rules.for_search(position))

    def quality(profile: ReplyProfile) -> float:
        cost = expected_score(profile.final_centi, scale) - expected_score(raw, scale)
        return cost * reply_trappiness(profile.scores_centi, params.for_position(scale))

    qualities = {p.reply: quality(p) for p in table}
    finals = {p.reply: p.scores_centi[-1] for p in table}
    assert decision.chosen.raw_centi == raw
    threshold = PER_PERCENT * params.threshold_percent
    is_trap = max(qualities.values(), default=0.0) >= threshold
    assert stored.is_trap == is_trap
    if reply is None:
        kind = OutcomeKind.UNANSWERED
    elif finals[reply] == raw:
        kind = OutcomeKind.OPTIMAL
    elif qualities[reply] >= threshold:
        kind = OutcomeKind.FELL_FOR_PAPER_TRAP
    else:
        kind = OutcomeKind.ERRED_ELSEWHERE
    assert stored.outcome.kind is kind, (game.site_game_id, stored.ply, stored.outcome, kind)
    if reply is not None:
        assert stored.outcome.cost_centi == finals[reply] - raw
    if abs(raw) >= WIN_CENTI:  # won or lost by force: counts nowhere
        return Counter(decided=1)
    if is_trap:
        return Counter({"traps_set": 1, f"trap_{kind}": 1})
    if reply is not None and len(table) > 1:
        return Counter({"base_answered": 1, f"base_{kind}": 1})
    return Counter()


async def check_stats(daemon: Daemon, counts: dict[str, Counter[str]]) -> str:
    """Hold `desdemona stats` against counts made without it; returns Figure 9 as the operator sees it."""
    status, out, err = await daemon.ask("stats", "--format", "json")
    assert (status, err) == (0, "")
    told: dict[str, Counter[str]] = {player: Counter() for player in counts}
    for row in json.loads(out):  # one for each player and game
        told[row["group"]["strategy"]].update({name: n for name, n in row.items() if isinstance(n, int)})
    for player, count in counts.items():
        row = told[player]
        assert {name: row[name] for name in ("games", "wins", "draws", "losses", "unfinished")} == {
            "games": count["games"],
            "wins": count["win"],
            "draws": count["draw"],
            "losses": count["loss"],
            "unfinished": 0,
        }
        answered = count["traps_set"] - count["trap_unanswered"]
        assert (row["traps_set"], row["traps_optimal"], row["traps_fell"], row["traps_erred_elsewhere"]) == (
            answered,
            count["trap_optimal"],
            count["trap_fell"],
            count["trap_erred_elsewhere"],
        )
        without = [count[f"base_{kind}"] for kind in ("optimal", "fell", "erred_elsewhere")]
        # Those that the judge has not reached yet have no cost.
        assert row["replies"] + row["unjudged"] == answered + sum(without)
        optimal = count["trap_optimal"] + count["base_optimal"]
        assert optimal - row["unjudged"] <= row["optimal"] <= optimal
    status, table, err = await daemon.ask("stats")
    assert (status, err) == (0, "")
    return table


def log_lines(path: Path, *levels: str) -> list[str]:
    """Lines of a log at those levels."""
    return [line for line in path.read_text().splitlines() if any(f" {level} " in line for level in levels)]


def complaints(path: Path) -> list[str]:
    """Warnings and errors in a log, without those that say only that the machine was busy for long."""
    lines = log_lines(path, "ERROR", "CRITICAL", "WARNING")
    return [line for line in lines if not (" WARNING " in line and _BUSY.search(line))]
