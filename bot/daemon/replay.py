"""Replays a recording against an adapter and the lobby (`bot.servers.replayed_site`).

The bot plays as usual, in a temporary database; its searches are tiny, and where the recording has a move for
the position, the bot decides on that move.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, cast

from bot.account.lobby import Lobby
from bot.base.config import AssignmentConfig, AssignmentMethod, Config, EngineConfig, MatchmakingConfig
from bot.base.errors import DesdemonaError
from bot.base.game_server import Server
from bot.game.services import GameServices
from bot.game.thinking import MoveSearch, PositionToMove
from bot.servers.recording import Recording
from bot.servers.replayed_site import (
    ReplayedSite,
    ReplayReport,
    proposal_of,
    recorded_moves,
    replayed_server,
)
from bot.threads.search_pool import Job, SearchPool
from engine.decision import Candidate, Decision
from engine.search.reference import Searcher, exact_score
from engine.stop import StopFlag
from storage.database import Database

T = TypeVar("T")

PATIENCE_S = 10.0
"""Time that the bot has for a recorded request, in seconds, beyond the time that it took in the recording."""
SETTLE_S = 1.0
"""Time after the end of the recording in which further requests are noticed, in seconds."""


class _ReplayPool(SearchPool):
    """Searches as usual, but decides on the recorded moves.

    Args:
        recording: The recording.
        written: Returns the site's text of our move in a game.
    """

    def __init__(self, recording: Recording, written: Callable[[str, str], str]) -> None:
        super().__init__(1, 1)
        self._written = written
        self._moves = recorded_moves(recording)

    async def run(self, job: Job[T], game: str, **more: Any) -> T:
        """See `SearchPool.run`."""
        result = await super().run(job, game, **more)
        if not isinstance(job, MoveSearch) or not isinstance(result, Decision):
            return result
        decision = self._as_recorded(job.at, result)
        if decision.chosen.raw_is_bound:  # what completes its profile needs an exact score
            exact = partial(_with_exact_score, job.at, decision)
            decision = await super().run(exact, game, **more)
        return cast(T, decision)

    def _as_recorded(self, at: PositionToMove, decision: Decision) -> Decision:
        """The decision on the next recorded move that is legal; the bot's own if there is none."""
        game_id = at.stored.site_game_id
        moves = self._moves.get(game_id, self._moves.get("", []))
        while moves:
            recorded = moves.pop(0).lower()
            for candidate in decision.candidates:
                if recorded in (candidate.move, self._written(game_id, candidate.move).lower()):
                    return replace(decision, move=candidate.move, principal_variation=(candidate.move,))
        return decision


def _with_exact_score(at: PositionToMove, decision: Decision, searcher: Searcher, stop: StopFlag) -> Decision:
    root, move = at.game.for_search(at.position), decision.move
    after = at.game.play(root, at.game.parse_move(root, move))
    raw = -exact_score(searcher, after, decision.depth - 1, stop)
    is_over = not at.game.legal_moves(after)
    chosen = Candidate(move, raw, raw_is_bound=False, adjusted_centi=float(raw), complete=is_over)
    return decision.with_chosen(chosen)


async def replay(
    recording: Recording, config: Config, *, patience_s: float = PATIENCE_S, settle_s: float = SETTLE_S
) -> ReplayReport:
    """Replay a recording.

    Args:
        recording: The recording.
        config: The settings of the account; those of searches, storage and matchmaking are replaced.
        patience_s: See `PATIENCE_S`.
        settle_s: See `SETTLE_S`.

    Raises:
        ConfigError: The recording's site is unknown.
    """
    site = ReplayedSite(recording, patience_s)
    config = config.model_copy(
        update={
            "server": config.server.model_copy(
                update={"dialect": recording.site, "name": recording.login or config.server.name}
            ),
            "engine": EngineConfig(
                max_depth=2, max_time_s=0.1, workers=1, table_mb=1, ponder=False, variety_centi=0
            ),
            "assignment": AssignmentConfig(method=AssignmentMethod.FIXED, strategy="standard"),
            "matchmaking": MatchmakingConfig(),
        }
    )
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        database = await Database.open(f"sqlite:///{folder}/replay.db")
        stack.push_async_callback(database.close)
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        server = replayed_server(recording, config, site, tasks)
        stack.push_async_callback(server.close)
        written = getattr(server, "written_move", lambda _game_id, move: move)
        pool = await stack.enter_async_context(_ReplayPool(recording, written))
        playing = tasks.create_task(_play(server, database, pool, config, site, tasks))
        over = asyncio.create_task(site.until_over())
        await asyncio.wait({playing, over}, return_when=asyncio.FIRST_COMPLETED)
        if over.done():
            await asyncio.wait({playing}, timeout=settle_s)
        for task in (over, playing):
            task.cancel()
    return site.report


async def _play(
    server: Server,
    database: Database,
    pool: SearchPool,
    config: Config,
    site: ReplayedSite,
    tasks: asyncio.TaskGroup,
) -> None:
    account = await server.account()
    services = GameServices(server=server, database=database, pool=pool, config=config, bot_name=account.name)
    lobby = Lobby(services)

    async def challenge(name: str, form: Mapping[str, str]) -> None:
        with suppress(DesdemonaError):  # a refusal, as in the recording
            await lobby.challenge(name, proposal_of(server.site, form))

    site.on_challenge = lambda name, form: tasks.create_task(challenge(name, form))
    await lobby.listen()
