"""Runs the whole bot through one schedule of faults and checks what must hold whatever fails."""

import asyncio
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from bot.account.account_runner import sign_in
from bot.account.lobby import Lobby
from bot.base.config import (
    AssignmentConfig,
    AssignmentMethod,
    ChallengesConfig,
    Config,
    EngineConfig,
    MannersConfig,
)
from bot.base.dialects import DIALECTS
from bot.base.events import EndReason
from bot.game.services import GameServices
from bot.servers.lichess import LichessServer
from storage.database import Database
from storage.ledger.decisions import list_decisions
from storage.ledger.games import load_game
from storage.records import AccountKey, DecisionState, GameResult
from tests.fuzz.faults import Fault, Place, schedule, schedule_of_acts
from tests.fuzz.harness import THINKS_S, ErrorLog, Outcome, QuickPool, run_bot, troubles
from tests.fuzz.one_thread import Network
from tests.fuzz.site import BOT, KEEP_ALIVE_S, Board, Site

OWNER = AccountKey("lichess", BOT)
ACT_S = 10.0
"""Deadline of an act, after the recovery of what it needs."""
ABORT_AFTER_S = 20.0
"""How long the bot waits for the first move, where opponents may be absent."""
MOVE_S = 5.0
"""Deadline of a move after the recovery of the game's stream and the calls for moves."""
ANSWER_S = 15.0
"""Deadline of the answer to a challenge, and for taking up a game, after the recovery of what they need."""
BOOKS_S = 60.0
"""Deadline of the ledger after the end of a game and of all faults."""
MAX_RUN_S = 1200.0
_TICK_S = 0.25
_NEW_GAME = (Place.EVENTS, Place.PLAYING, Place.ACCEPT, Place.ACCOUNT)
_CHALLENGE = (Place.EVENTS, Place.ACCEPT, Place.DECLINE, Place.ACT, Place.ACCOUNT)


class _Checks:
    """Watches the deadlines while the run goes on."""

    def __init__(self, site: Site, server: LichessServer) -> None:
        self._site = site
        self._server = server
        self._trouble_at: dict[str, float] = {}
        self._reported: set[object] = set()
        self.violations: list[str] = []

    def report(self, what: str) -> None:
        self.violations.append(f"{self._site.now:.1f} s: {what}")
        self._site.tell(f"VIOLATION: {what}")

    def tick(self) -> None:
        """Note who is in trouble, and report what is late."""
        site, now = self._site, self._site.now
        troubled = {place for place in Place if site.is_faulty(place)}
        names = {*troubled, *(key for key, number in site.held.items() if number)}
        names |= {key for key, until in site.pauses.items() if until > now}
        openings, name = self._server._openings, self._server.site
        if not openings.wait_s(name):
            openings.refund(name)
        elif not site.has_account_stream:
            names.add(Place.EVENTS)
        self._trouble_at.update(dict.fromkeys(names, now))
        site.flag()
        for board in site.boards.values():
            if board.is_our_turn:
                self._check_turn(board)
            if board.status == "started":
                self._check_acts(board)
        for offer in list(site.open_offers):
            since = self._since(offer.made_at, "", *_CHALLENGE)
            if now - since > ANSWER_S and not offer.is_refused:
                self._once(
                    ("I2", offer.id), f"I2: {offer.id} is not answered {now - since:.1f} s after recovery"
                )

    def _check_acts(self, board: Board) -> None:
        """The abort, the claim, the answer to an offer that are due."""
        is_theirs = board.status == "started" and not board.is_our_turn
        due: dict[str, float | None] = {
            "takeback": board.takeback_since,
            "draw": board.draw_since if is_theirs and not self._gives_up_declining(board) else None,
            "claim": board.claimable_at if is_theirs else None,
        }
        if is_theirs and len(board.moves) < 2 and board.manners is not None:
            due["abort"] = max(board.turn_since, board.read_at or 0.0) + ABORT_AFTER_S
        needed: tuple[str, ...] = (board.id, "", Place.GAME, Place.ACT, Place.MOVE)
        limit_s = ACT_S
        if board.read_at is None:
            needed, limit_s = (*needed, *_NEW_GAME), ACT_S + ANSWER_S
        for what, at in due.items():
            # Another act, or a search, may have to be over first.
            if at is None or at > self._site.now:
                continue
            since = self._since(max(at, board.turn_since), *needed)
            if self._site.now - since > limit_s:
                late = f"no {what} {self._site.now - since:.1f} s after recovery"
                self._once((board.id, what, at), f"I6: {board.id}, ply {len(board.moves)}: {late}")

    def _gives_up_declining(self, board: Board) -> bool:
        """Whether the bot may have sent a draw offer's few declines in vain; the game does not need them."""
        lost_at = self._trouble_at.get(Place.ACT, -math.inf)
        return board.draw_since is not None and lost_at >= board.draw_since

    def _check_turn(self, board: Board) -> None:
        needed: tuple[str, ...] = (board.id, Place.GAME, Place.MOVE)
        if board.manners is not None or not board.rated:  # it may resign or accept a draw instead
            needed = (*needed, "", Place.ACT)
        limit_s = MOVE_S + THINKS_S
        if board.read_at is None:
            needed, limit_s = (*needed, "", *_NEW_GAME), ANSWER_S
        since = self._since(max(board.turn_since, board.read_at or 0.0), *needed)
        if self._site.now - since > limit_s:
            late = f"no move {self._site.now - since:.1f} s after recovery"
            self._once((board.id, len(board.moves)), f"I1: {board.id}, ply {len(board.moves)}: {late}")

    def _since(self, begin: float, *names: str) -> float:
        return max([begin, *(self._trouble_at.get(name, 0.0) for name in names)])

    def _once(self, key: object, what: str) -> None:
        if key not in self._reported:
            self._reported.add(key)
            self.report(what)


def play_acts(seed: int, faults: tuple[Fault, ...] | None = None) -> Outcome:
    """Run one schedule with every kind of act: see `tests.fuzz.site.Manners`; arguments as for `play`."""
    drawn = tuple(schedule_of_acts(random.Random(seed))) if faults is None else faults
    return run_bot(lambda path, errors: _play(seed, drawn, path, errors, random.Random(f"manners {seed}")))


def play(seed: int, faults: tuple[Fault, ...] | None = None) -> Outcome:
    """Run one schedule.

    Args:
        seed: Of the faults and of everything else that is random.
        faults: Instead of the faults that the seed gives.
    """
    drawn = tuple(schedule(random.Random(seed))) if faults is None else faults
    return run_bot(lambda path, errors: _play(seed, drawn, path, errors))


async def _play(
    seed: int,
    faults: tuple[Fault, ...],
    path: Path,
    errors: ErrorLog,
    manners: random.Random | None = None,
) -> Outcome:
    loop = asyncio.get_running_loop()
    rng = random.Random(seed)
    site = Site(faults, random.Random(rng.random()), manners)
    network = Network(site.server)
    lost: list[str] = []
    loop.set_exception_handler(
        lambda _, context: lost.append(f"{context.get('message')} {context.get('exception')!r}")
    )
    with network.in_place():
        dialect = replace(DIALECTS["lichess"], variants=DIALECTS["arena"].variants)
        server = LichessServer(dialect, "http://site.test", "token", clock=loop.time)
        checks = _Checks(site, server)
        database = await Database.open(f"sqlite:///{path}", upgrade=False)
        bot = asyncio.create_task(_bot(server, database, rng, has_manners=manners is not None))
        people = asyncio.create_task(_people(site, rng))
        await _watch(site, checks, faults, bot)
        people.cancel()
        bot.cancel()
        await asyncio.wait([bot, people])
        if not bot.cancelled() and bot.exception() is not None:
            checks.report(f"I5: the bot died: {bot.exception()!r}")
        await server.close()
        await site.close()
        await _check_books(site, checks, database)
        await database.close()
        await asyncio.sleep(KEEP_ALIVE_S + 1.0)  # the site notices then that its streams were closed
        if network.open:
            checks.report(f"I5: {network.open} connections are still open")
        if left := [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]:
            checks.report(f"I5: tasks are left: {left}")
    for trouble in (*errors.found, *lost):
        checks.report(f"I5: {trouble}")
    for odd in site.odd:
        checks.report(f"I7: {odd}")
    return Outcome(
        seed, faults, tuple(checks.violations), tuple(site.story), site.injected, site.calls, len(site.boards)
    )


ALL_ACTS = MannersConfig(
    abort_after_s=ABORT_AFTER_S,
    resign=True,
    resign_moves=1,
    resign_score_centi=300,
    draw_ply=0,
    draw_moves=1,
    draw_score_centi=200,
)
"""Settings with which the bot does everything that it can do."""


async def _bot(server: LichessServer, database: Database, rng: random.Random, *, has_manners: bool) -> None:
    pool: Any = QuickPool(random.Random(rng.random()))
    config = Config(
        engine=EngineConfig(max_depth=2, workers=1, table_mb=1),
        assignment=AssignmentConfig(method=AssignmentMethod.FIXED, strategy="trappy"),
        challenges=ChallengesConfig(variants=("connect4", "chess") if has_manners else ("connect4",)),
        manners=ALL_ACTS if has_manners else MannersConfig(),
    )
    retries = random.Random(rng.random())
    loop = asyncio.get_running_loop()
    account = await sign_in(server, asyncio.Event(), retries)
    assert account is not None
    services = GameServices(server, database, pool, config, account.name, rng=retries, clock=loop.time)
    await Lobby(services).listen()


async def _people(site: Site, rng: random.Random) -> None:
    """Challenge the bot some times, mostly to games that it plays."""
    mine = random.Random(rng.random())
    times = sorted(mine.uniform(0.0, 90.0) for _ in range(mine.randint(1, 3)))
    for at_s in times:
        await asyncio.sleep(at_s - site.now)
        site.challenge(is_played=mine.random() < 0.85, is_bot=mine.random() < 0.3)
        if mine.random() < 0.2:
            await asyncio.sleep(mine.uniform(0, 5))
            offers = list(site.open_offers)
            if offers:
                site.withdraw(mine.choice(offers))


async def _watch(site: Site, checks: _Checks, faults: tuple[Fault, ...], bot: "asyncio.Task[None]") -> None:
    """Let time pass until nothing is left to do, or it takes too long."""
    last_s = max([100.0, *(fault.ends_s for fault in faults)])
    settled_at = None
    while site.now < MAX_RUN_S and not bot.done():
        await asyncio.sleep(_TICK_S)
        checks.tick()
        running = any(board.status == "started" for board in site.boards.values())
        waiting = any(not offer.is_refused for offer in site.open_offers)
        if running or waiting or site.now < max([last_s, *site.pauses.values()]):
            settled_at = None
            continue
        settled_at = settled_at or site.now
        if site.now > settled_at + BOOKS_S:
            return
    checks.report("the run does not end")


async def _check_books(site: Site, checks: _Checks, database: Database) -> None:
    async with database.read() as session:
        for trouble in await troubles(session):
            checks.report(f"I5: {trouble}")
        for board in site.boards.values():
            stored = await load_game(session, OWNER, board.id)
            if stored is None:
                if board.read_at is not None or board.acknowledged:
                    checks.report(f"I4: {board.id} is not in the database")
                continue
            played = [
                (each.ply, each.decision.move)
                for each in await list_decisions(session, stored.id)
                if each.state is DecisionState.CONFIRMED
            ]
            if played != board.acknowledged:
                checks.report(f"I3: {board.id}: played {board.acknowledged}, stored {played}")
            # The bot cannot know the first moves of a game that the site gave up while it showed none.
            is_unseen = board.status == "aborted" and board.moves[: len(stored.moves)] == stored.moves
            if not stored.is_settled or (stored.moves != board.moves and not is_unseen):
                checks.report(
                    f"I4: {board.id} is {stored.state} with {len(stored.moves)} of {len(board.moves)} plies"
                )
            elif stored.end_reason != EndReason.UNKNOWN and stored.result is not _result(board):
                checks.report(
                    f"I4: {board.id}: result {stored.result} ({stored.end_reason}), not {_result(board)}"
                )


def _result(board: Board) -> GameResult | None:
    if board.status == "aborted":
        return None
    if board.winner is None:
        return GameResult.DRAW
    return GameResult.WIN if board.winner == board.our_side else GameResult.LOSS
