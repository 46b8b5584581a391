"""Runs the whole bot at GGS through one schedule of faults and checks what must hold whatever fails."""

import asyncio
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.account.account_runner import sign_in
from bot.account.lobby import Lobby
from bot.base.config import AssignmentConfig, AssignmentMethod, ChallengesConfig, Config, EngineConfig
from bot.base.dialects import DIALECTS
from bot.base.events import EndReason
from bot.base.reconnect import MAX_RECONNECT_WAIT_S
from bot.daemon.games_to_resume import games_to_resume
from bot.game.services import GameServices
from bot.servers.ggs.account import MISSED_MOVE_POLL_S
from bot.servers.ggs.archive import MIN_IDENTIFYING_PLIES
from bot.servers.ggs.server import (
    CONNECT_TIMEOUT_S,
    LOGIN_TIMEOUT_S,
    MAX_UNANSWERED_PROBES,
    PROBE_INTERVAL_S,
    GgsServer,
)
from storage.database import Database
from storage.filters import Filters
from storage.ledger.decisions import list_decisions
from storage.ledger.games import list_games
from storage.records import AccountKey, DecisionState, GameResult, GameStatus, StoredGame
from tests.fuzz.ggs_faults import Fault, schedule
from tests.fuzz.ggs_site import BOT, EPOCH_S, PASSWORD, Person, Site
from tests.fuzz.harness import THINKS_S, ErrorLog, Outcome, QuickPool, run_bot, troubles
from tests.fuzz.one_thread import dialling
from tests.ggs.game import Game
from tests.ggs.match import Match
from tests.ggs.table import as_ours

OWNER = AccountKey("ggs", BOT.lower())
MOVE_S = 5.0
"""Deadline of a move after recovery."""
ANSWER_S = 15.0
"""Deadline of the answer to a request, and of what follows a new login, after recovery."""
RESUME_S = MISSED_MOVE_POLL_S + ANSWER_S
"""Deadline for taking up an adjourned match, after both players are there."""
LOST_S = 2 * MISSED_MOVE_POLL_S
"""After a dropped message the bot may go wrong for so long: it asks again for what nobody tells it."""
BOOKS_S = MISSED_MOVE_POLL_S * 2 + ANSWER_S
"""Deadline of the ledger after the end of a match and of all faults."""
NOTICED_S = PROBE_INTERVAL_S * (MAX_UNANSWERED_PROBES + 1) + CONNECT_TIMEOUT_S + LOGIN_TIMEOUT_S
"""Longest time until the bot gives up a connection that is dead, and connects again."""
MAX_RUN_S = 4000.0
LAST_COMER_S = 40.0
"""When the last opponent comes, at the latest."""
MAX_GAMES = 20
_TICK_S = 0.25
_KINDS = ("8", "8", "8b", "8w", "s8", "s8r14", "s8r14")
_UNPLAYABLE = ("s6", "8a")


class _Checks:
    """Watches the deadlines while the run goes on."""

    def __init__(self, site: Site, server: GgsServer) -> None:
        self._site = site
        self._server = server
        self._trouble_at = 0.0
        self._since: dict[str, float] = {}
        """When each thing began that has a deadline, by its name."""
        self._seen: set[str] = set()
        """Those of this tick."""
        self._reported: set[str] = set()
        self.violations: list[str] = []

    def report(self, what: str) -> None:
        self.violations.append(f"{self._site.now:.1f} s: {what}")
        self._site.tell(f"VIOLATION: {what}")

    def tick(self) -> None:
        """Note whether there is trouble, and report what is late."""
        site, now = self._site, self._site.now
        self._check_login()
        if site.is_troubled:
            self._trouble_at = now
        if site.lost_at is not None:
            self._trouble_at = max(self._trouble_at, min(now, site.lost_at + LOST_S))
        for match in site.service.matches.values():
            for game in match.games:
                self._check_turn(match, game)
        for request in site.service.requests.values():
            if request.other == BOT:
                self._due(f"I2: the answer to request {request.id} of {request.asker}", ANSWER_S)
        for person in site.people:
            if person.name in site.service.present:
                for key in filter(site.was_read, site.service.players[person.name].stored):
                    self._due(f"I7: the resumption of {key} with {person.name}", RESUME_S)
        self._since = {what: since for what, since in self._since.items() if what in self._seen}
        self._seen.clear()

    def _check_login(self) -> None:
        site = self._site
        if site.bot_is_ready or not site.central.service_is_up:
            return
        wait_s = self._server._hang_up_backoff._wait_s + MAX_RECONNECT_WAIT_S + NOTICED_S
        self._due("I6: the login", wait_s, since=site.link_fault_at)

    def _check_turn(self, match: Match, game: Game) -> None:
        ours = match.names.index(BOT)
        if game.is_finished or game.mover != ours or not game.clocks[ours].running:
            return
        was_read = ("join", _board(match, game)) in self._site.told
        limit_s = MOVE_S if was_read else ANSWER_S
        what = f"I1: ply {len(game.moves)} of {_board(match, game)} with {match.names[1 - ours]}"
        self._due(what, limit_s + THINKS_S)

    def _due(self, what: str, limit_s: float, since: float | None = None) -> None:
        """Report something that is late after its beginning, and after the recovery from the last trouble."""
        self._seen.add(what)
        began = self._since.setdefault(what, self._site.now)
        late_s = self._site.now - max(began, self._trouble_at if since is None else since)
        if late_s > limit_s and what not in self._reported:
            self._reported.add(what)
            self.report(f"{what} is missing {late_s:.1f} s after recovery")


def _board(match: Match, game: Game) -> str:
    """Its name for as long as the server keeps it."""
    return match.key + (f".{game.number}" if match.type.synchro else "")


def play(seed: int, faults: tuple[Fault, ...] | None = None) -> Outcome:
    """Run one schedule.

    Args:
        seed: Of the faults and of everything else that is random.
        faults: Instead of the faults that the seed gives.
    """
    drawn = tuple(schedule(random.Random(seed))) if faults is None else faults
    return run_bot(lambda path, errors: _play(seed, drawn, path, errors))


async def _play(seed: int, faults: tuple[Fault, ...], path: Path, errors: ErrorLog) -> Outcome:
    loop = asyncio.get_running_loop()
    rng = random.Random(seed)
    site = Site(faults, random.Random(rng.random()))
    lost: list[str] = []
    loop.set_exception_handler(
        lambda _, context: lost.append(f"{context.get('message')} {context.get('exception')!r}")
    )
    database = await Database.open(f"sqlite:///{path}", upgrade=False)
    with dialling(site.dial):
        server = GgsServer(
            DIALECTS["ggs"],
            "ggs://ggs.test",
            BOT,
            PASSWORD,
            recall=lambda: games_to_resume(database, OWNER),
            clock=loop.time,
            now=lambda: datetime.fromtimestamp(EPOCH_S + site.now, UTC),
        )
        checks = _Checks(site, server)
        bot = asyncio.create_task(_bot(server, database, rng))
        await _watch(site, checks, faults, bot, random.Random(rng.random()))
        bot.cancel()
        await asyncio.wait([bot])
        if not bot.cancelled() and bot.exception() is not None:
            checks.report(f"I5: the bot died: {bot.exception()!r}")
        await server.close()
        await _check_books(site, checks, database)
        await database.close()
        await asyncio.sleep(1.0)
        if site.open_links:
            checks.report(f"I5: {len(site.open_links)} connections are still open")
        if left := [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]:
            checks.report(f"I5: tasks are left: {left}")
    for trouble in (*errors.found, *lost):
        checks.report(f"I5: {trouble}")
    return Outcome(
        seed,
        faults,
        tuple(checks.violations),
        tuple(site.story),
        site.injected,
        site.calls,
        len({match.key for match in site.service.begun}),
    )


async def _bot(server: GgsServer, database: Database, rng: random.Random) -> None:
    pool: Any = QuickPool(random.Random(rng.random()))
    config = Config(
        engine=EngineConfig(max_depth=2, workers=1, table_mb=1),
        assignment=AssignmentConfig(method=AssignmentMethod.FIXED, strategy="trappy"),
        challenges=ChallengesConfig(
            max_games=MAX_GAMES, max_games_per_opponent=MAX_GAMES, max_games_per_bot_per_day=1000
        ),
    )
    retries = random.Random(rng.random())
    loop = asyncio.get_running_loop()
    account = await sign_in(server, asyncio.Event(), retries)
    assert account is not None
    services = GameServices(server, database, pool, config, account.name, rng=retries, clock=loop.time)
    await Lobby(services).listen()


def _person(number: int, rng: random.Random) -> Person:
    """An opponent with habits of its own; most resign, because long games cost much and show little more."""
    is_playable, runs_out = rng.random() < 0.9, rng.random() < 0.1
    clock = "01:00/00:02/00:20" if runs_out else "10:00/00:03/02:00"
    kind = rng.choice(_KINDS if is_playable else _UNPLAYABLE)
    return Person(
        name=f"anna{number}",
        wish=f"{kind} {clock}",
        is_rated=rng.random() < 0.75,
        resigns_at=rng.choice([rng.randint(1, 12), rng.randint(6, 40), 200]) if not runs_out else 200,
        stops_at=rng.randint(4, 20) if runs_out else 1000,
        asks_to_resume=rng.random() < 0.5,
        is_playable=is_playable,
        thinks_s=rng.choice([0.5, 3.0, 20.0]),
        rng=random.Random(rng.random()),
    )


async def _watch(
    site: Site, checks: _Checks, faults: tuple[Fault, ...], bot: "asyncio.Task[None]", rng: random.Random
) -> None:
    """Let people come and time pass until nothing is left to do, or it takes too long."""
    coming = sorted(
        ((rng.uniform(0.0, LAST_COMER_S), number) for number in range(1, rng.randint(2, 4))), reverse=True
    )
    last_s = max([100.0, *(fault.ends_s for fault in faults)])
    settled_at = None
    while site.now < MAX_RUN_S and not bot.done():
        await asyncio.sleep(_TICK_S)
        if coming and coming[-1][0] <= site.now:
            site.add(_person(coming.pop()[1], rng))
        site.tick()
        checks.tick()
        if coming or site.now < last_s or not all(map(site.is_done, site.people)) or not site.bot_is_ready:
            settled_at = None
            continue
        settled_at = settled_at or site.now
        if site.now > settled_at + BOOKS_S:
            return
    checks.report("I6: the run does not end")


# --- The ledger ------------------------------------------------------------------------------------------


async def _check_books(site: Site, checks: _Checks, database: Database) -> None:
    async with database.read() as session:
        for trouble in await troubles(session):
            checks.report(f"I5: {trouble}")
        rows = await list_games(session, Filters(site="ggs"), limit=1000)
        confirmed = {
            row.id: [
                (each.ply, each.decision.move)
                for each in await list_decisions(session, row.id)
                if each.state is DecisionState.CONFIRMED
            ]
            for row in rows
        }
    for match in {match.key: match for match in site.service.begun}.values():
        for game in match.games:
            ours = match.names.index(BOT)
            side = 0 if game.discs[ours] == "*" else 1
            mine = [row for row in rows if (row.opponent_name, row.our_side) == (match.names[1 - ours], side)]
            rows = [row for row in rows if row not in mine]
            record = [as_ours(move.text) for move in game.moves]
            acknowledged = [
                (ply, text)
                for ply, (move, text) in enumerate(zip(game.moves, record, strict=True))
                if move.disc == game.discs[ours]
            ]
            name = f"{_board(match, game)} with {match.names[1 - ours]}"
            if len(mine) != 1:
                if mine or acknowledged:
                    checks.report(f"I4: {name}: {len(mine)} games in the database")
                continue
            for line in _wrong(site, match, game, mine[0], record):
                checks.report(f"I4: {name}: {line}")
            played = [each for each in confirmed[mine[0].id] if each[0] < len(record)]
            acknowledged = [each for each in acknowledged if each[0] < len(mine[0].moves)]
            if played != acknowledged:
                checks.report(f"I3: {name}: played {acknowledged}, stored {played}")
    for row in rows:
        checks.report(f"I4: {row.site_game_id} with {row.opponent_name}: nobody has played it")


def _is_decided(match: Match) -> bool:
    """Whether a match is over and has a result."""
    return match.is_over and match.left is None and not match.is_aborted


def _wrong(site: Site, match: Match, game: Game, row: StoredGame, record: list[str]) -> list[str]:
    """What is wrong in the ledger about one board."""
    both = min(len(row.moves), len(record))
    found = f"{row.state}, {row.result} ({row.end_reason}), {len(row.moves)} of {len(record)} plies"
    if list(row.moves[:both]) != record[:both]:
        return [f"{row.moves} instead of {record}"]
    if _is_decided(match) or game.board.is_finished:
        knows = match.terms.rated or ("- match", match.key) in site.told
        # From the usual start other matches begin with the same few moves.
        is_telling = len(row.moves) >= MIN_IDENTIFYING_PLIES or match.type.discs is not None
        may_be_untold = not is_telling or site.lost_at is not None
        if not knows or (row.end_reason == EndReason.UNKNOWN and may_be_untold):
            return [] if row.is_settled else [found]
        is_right = row.is_settled and row.state is GameStatus.FINISHED and row.result is _result(match, game)
        # A player who resigns may have made a move before that nobody tells: the one that the other game of a
        # synchro match has to catch up with.
        is_resigned = not game.board.is_finished
        untold = 2 if site.lost_at is not None else int(match.type.synchro)
        missing = len(record) - len(row.moves)
        is_complete = missing == 0 or (is_resigned and 0 < missing <= untold)
        return [] if is_right and is_complete else [f"{found}, not {_result(match, game)}"]
    wanted = GameStatus.OPEN if site.is_stored(match) else GameStatus.ABORTED
    # Each may have seen a little more than the other.
    return (
        [] if row.state is wanted and abs(len(row.moves) - len(record)) <= 3 else [f"{found}, not {wanted}"]
    )


def _result(match: Match, game: Game) -> GameResult:
    ours = game.result0 if match.names[0] == BOT else -game.result0
    return GameResult.DRAW if ours == 0 else GameResult.WIN if ours > 0 else GameResult.LOSS
