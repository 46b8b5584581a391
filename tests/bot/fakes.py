"""An in-memory game server, and the other services of a `GameRunner`, on a real database."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from bot.base.config import (
    AssignmentConfig,
    AssignmentMethod,
    ChallengesConfig,
    ChatConfig,
    Config,
    EngineConfig,
    MannersConfig,
    ServerConfig,
    TrapConfig,
)
from bot.base.dialects import Capability
from bot.base.errors import RefusedError
from bot.base.events import (
    AccountEvent,
    Bot,
    Challenge,
    ChallengeGone,
    ChatLine,
    Clock,
    DeclineReason,
    EndReason,
    GameAdjourned,
    GameEnd,
    GameEvent,
    GameSnapshot,
    GameState,
    ListedGame,
    MoveInfo,
    Opponent,
    OpponentGone,
    Proposal,
    Reply,
    Room,
    Speed,
    Tournament,
    speed_of,
)
from bot.base.game_server import Account, Check
from bot.game.pending_actions import CONFIRMATION_S
from bot.game.services import GameServices
from bot.threads.fair_queue import JobRank
from bot.threads.search_pool import SearchPool
from engine.game import replay
from engine.games import get_rules
from storage.database import Database
from tests.patience import PATIENCE_S

OPPONENT = Opponent(id="anna", name="Anna", rating=1600, is_bot=False)
GAME_ID = "game0001"
OFFER = Challenge(
    id=GAME_ID,
    challenger=OPPONENT,
    game="tictactoe",
    variant="tictactoe",
    kind="tictactoe",
    rated=True,
    speed=Speed.BLITZ,
    clock=Clock(300, 0),
    days_per_turn=None,
    initial_position=None,
    is_ours=False,
)

DirectMove = Callable[[tuple[str, ...]], str]
"""The opponent: maps its legal moves to its choice."""


def picker(seed: int) -> DirectMove:
    """An opponent that plays random moves, the same ones each time."""
    rng = random.Random(seed)
    return lambda moves: rng.choice(moves)


BALANCED = AssignmentConfig(method=AssignmentMethod.BALANCED)
"""Draws the strategy of every game, among those of the paper."""


class FakeServer:
    """One game on a server that enforces the rules; a `bot.servers.Server`.

    Args:
        pick: The opponent, which replies at once. None: the test moves for it (`reply`).
    """

    site = "arena"

    def __init__(
        self,
        game: str = "tictactoe",
        *,
        our_side: int = 0,
        initial_position: str | None = None,
        moves: tuple[str, ...] = (),
        pick: DirectMove | None = None,
    ) -> None:
        self.rules = get_rules(game)
        self.our_side = our_side
        self.variant = self.rules.name
        self.initial_position = initial_position
        self.moves = moves
        self.pick = pick
        self.end: GameEnd | None = None
        self.game_id = GAME_ID
        self.exists = True
        self.is_adjourned = False
        """No other event of the game is sent."""
        self.opponent = OPPONENT
        self.rated = True
        self.is_tournament = False
        self.clock: Clock | None = Clock(300, 0)
        self.tells = True
        """False: the end is not reported, as when the message gets lost."""
        self.explains = True
        """False: an end is reported only as "the game is over", without the result."""
        self.shows_last = True
        """False: the move that ends a game is not shown, as at PyChess."""
        self.followed: ChallengesConfig | None = None
        self.has_room: Callable[[int], bool] | None = None
        """As `follow` was told."""
        self.may_answer: asyncio.Event | None = None
        """Before it is set, no move is answered, though it is played."""
        self.draw_offer = False
        """By the opponent; a move does not cancel it, as sometimes on Lichess."""
        self.our_draw_offer = False
        self.takeback_offer = False
        """By the opponent."""
        self.asks_takeback_at: int | None = None
        """After this many plies the opponent requests one, once, before it goes on."""
        self.is_gone = False
        """The opponent has been gone long enough for the win to be claimed."""
        self.calls: list[str] = []
        self.thoughts: list[MoveInfo] = []
        """What was sent along with each move."""
        self.said: list[str] = []
        self.faults: dict[str, list[Exception]] = {}
        """Errors that the next calls of a kind raise instead of taking effect."""
        self.lost_answers: list[Exception] = []
        """Errors that the next moves raise after being played."""
        self.news: asyncio.Queue[AccountEvent | None] = asyncio.Queue()
        """Events for the account; None: the link is lost."""
        self.now_playing: list[str] = []
        self.cannot: set[Capability] = set()
        self.bots: list[Bot] = []
        self.listed: list[ListedGame] = []
        """The site's list of finished games."""
        self.listed_since: list[datetime] = []
        self.list_faults: list[Exception] = []
        self.tournament_told = Tournament("Cyprus Arena", game, game, is_over=False)
        self.proposals: list[Proposal] = []
        self.replies: asyncio.Queue[Reply] = asyncio.Queue()
        """To our challenges, in order."""
        self.answers: list[str] = []
        """Moves that the opponent picked, including those it took back."""
        self.changed = asyncio.Condition()
        self._streams: list[asyncio.Queue[GameEvent | None]] = []
        self._opponent_moves()

    # --- The test's side --------------------------------------------------------------------------------

    @property
    def state(self) -> GameState:
        remaining = None if self.clock is None else (300.0, 300.0)
        end = self.end
        if end is not None and not self.explains:
            end = GameEnd(EndReason.UNKNOWN, None, "gameEnd")
        hides_last = not self.shows_last and self.end is not None and self.end.reason is EndReason.NORMAL
        return GameState(
            self.moves[:-1] if hides_last else self.moves,
            remaining,
            self._by_side(ours=self.our_draw_offer, theirs=self.draw_offer),
            self._by_side(ours=False, theirs=self.takeback_offer),
            end,
        )

    @property
    def snapshot(self) -> GameSnapshot:
        return GameSnapshot(
            game_id=self.game_id,
            game=self.rules.name,
            variant=self.variant,
            initial_position=self.initial_position,
            our_side=self.our_side,
            rated=self.rated,
            speed=speed_of(self.clock),
            clock=self.clock,
            opponent=self.opponent,
            our_rating=1500,
            state=self.state,
            is_tournament=self.is_tournament,
        )

    @property
    def our_turn(self) -> bool:
        return bool(self.rules.side_to_move(self._position()) == self.our_side)

    @property
    def legal(self) -> tuple[str, ...]:
        """Moves of the side to move."""
        position = self._position()
        return tuple(self.rules.move_text(move) for move in self.rules.legal_moves(position))

    def push(self, event: GameEvent) -> None:
        """Send an event on every open stream."""
        for stream in self._streams:
            stream.put_nowait(event)

    def cut(self) -> None:
        """End every open stream cleanly: the link is lost."""
        for stream in self._streams:
            stream.put_nowait(None)

    def reply(self, move: str | None = None) -> None:
        """The opponent plays the given move, or the first legal one."""
        assert not self.our_turn
        self._play(move or self.legal[0])

    def finish(self, reason: EndReason, winner: int | None = None) -> None:
        self.end = GameEnd(reason, winner, reason.value)
        if self.tells:
            self.push(self.state)
            self.cut()

    def adjourn(self) -> None:
        """Interrupt the game."""
        self.is_adjourned = True
        self.push(GameAdjourned("Anna has left"))
        self.cut()

    def take_back(self, plies: int) -> None:
        self.moves = self.moves[:-plies]
        self.push(self.state)

    def offer_draw(self) -> None:
        """The opponent offers a draw."""
        self.draw_offer = True
        self.push(self.state)

    def ask_takeback(self) -> None:
        """The opponent requests to take its last move back."""
        self.takeback_offer = True
        self.push(self.state)

    def go_away(self, claim_win_in_s: float) -> None:
        """The opponent leaves; the wait until the win may be claimed is not simulated."""
        self.is_gone = True
        self.push(OpponentGone(True, claim_win_in_s))

    def come_back(self) -> None:
        self.is_gone = False
        self.push(OpponentGone(False, None))

    def say(self, text: str, room: Room = Room.PLAYER, name: str = OPPONENT.name) -> None:
        """A chat message arrives."""
        self.push(ChatLine(name, room, text))

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition that some call brings about is true."""
        async with asyncio.timeout(PATIENCE_S), self.changed:
            await self.changed.wait_for(condition)

    # --- The bot's side ---------------------------------------------------------------------------------

    async def game_events(self, game_id: str) -> AsyncGenerator[GameEvent | None, None]:
        await self._called("stream")
        if not self.exists or game_id != self.game_id:
            raise RefusedError("no such game", 404)
        self.cut()  # one stream per account
        queue: asyncio.Queue[GameEvent | None] = asyncio.Queue()
        self._streams.append(queue)
        try:
            yield None
            if self.is_adjourned:
                yield GameAdjourned("the server has stored it")
                return
            yield self.snapshot
            while self.end is None or not self.tells or not queue.empty():
                event = await queue.get()
                if event is None:
                    return
                yield event
        finally:
            self._streams.remove(queue)

    lag_s = 0.0
    login = ""

    def supports(self, capability: Capability) -> bool:
        return capability not in self.cannot

    async def move(
        self, game_id: str, move: str, *, offer_draw: bool = False, info: MoveInfo | None = None
    ) -> None:
        assert info is not None
        self.thoughts.append(info)
        await self._called("move", game_id, move, *(["offering a draw"] if offer_draw else []))
        self._refuse_unless(self.end is None and self.our_turn)
        if offer_draw:  # sent before the move
            self._draw_is_fine()
        self._refuse_unless(self.end is None and move in self.legal)
        self._play(move)
        if len(self.moves) == self.asks_takeback_at:
            self.asks_takeback_at = None
            self.ask_takeback()
        else:
            self._opponent_moves()
        if self.may_answer is not None:
            await self.may_answer.wait()
        if self.lost_answers:
            raise self.lost_answers.pop(0)

    async def chat(self, game_id: str, text: str, room: Room = Room.PLAYER) -> None:
        await self._called("chat", game_id, text)
        self.said.append(text if room is Room.PLAYER else f"{room}: {text}")
        self.push(ChatLine("Desdemona", room, text))

    async def answer_draw(self, game_id: str, accept: bool) -> None:
        await self._called("draw", game_id, accept)
        self._refuse_unless(self.end is None)
        if accept:
            self._draw_is_fine()
        else:
            self.draw_offer = False
            self.push(self.state)

    async def answer_takeback(self, game_id: str, accept: bool) -> None:
        await self._called("takeback", game_id, accept)
        self._refuse_unless(self.end is None and self.takeback_offer)
        self.takeback_offer = False
        if accept:
            self.take_back(1 if self.our_turn else 2)
        else:
            self.push(self.state)
        self._opponent_moves()

    async def claim_victory(self, game_id: str) -> None:
        await self._called("claim", game_id)
        self._refuse_unless(self.end is None and self.is_gone)
        self.finish(EndReason.LEFT, self.our_side)

    async def claim_draw(self, game_id: str) -> None:
        await self._called("claim_draw", game_id)
        self._refuse_unless(self.end is None and self.is_gone)
        self.finish(EndReason.LEFT)

    async def abort(self, game_id: str) -> None:
        await self._called("abort", game_id)
        if self.end is not None or len(self.moves) >= 2:
            raise RefusedError("This game can no longer be aborted", 400)
        self.finish(EndReason.ABORTED)

    async def resign(self, game_id: str) -> None:
        await self._called("resign", game_id)
        self._refuse_unless(self.end is None)
        if len(self.moves) < 2:
            self.finish(EndReason.ABORTED)
        else:
            self.finish(EndReason.RESIGNATION, 1 - self.our_side)

    async def challenge(self, opponent_id: str, proposal: Proposal) -> Reply:
        self.proposals.append(proposal)
        await self._called("challenge", "", opponent_id, proposal.variant)
        return await self.replies.get()

    async def online_bots(self) -> list[Bot]:
        await self._called("online_bots")
        return self.bots

    def rating_list(self, proposal: Proposal) -> str:
        return proposal.variant

    async def tournament(self, tournament_id: str) -> Tournament:
        await self._called("tournament", "", tournament_id)
        return self.tournament_told

    async def join_tournament(self, tournament_id: str, *, password: str = "", team: str = "") -> None:
        await self._called("join", "", tournament_id, password, team)

    async def leave_tournament(self, tournament_id: str) -> None:
        await self._called("leave", "", tournament_id)

    async def upgrade(self) -> None:
        await self._called("upgrade")

    def set_challenge_rules(self, challenges: ChallengesConfig, has_room: Callable[[int], bool]) -> None:
        self.followed, self.has_room = challenges, has_room

    async def account(self) -> Account:
        await self._called("account")
        return Account("desdemona", "Desdemona", True)

    async def account_events(self) -> AsyncGenerator[AccountEvent | None, None]:
        await self._called("account_events")
        yield None
        while (event := await self.news.get()) is not None:
            yield event

    async def running_game_ids(self) -> list[str]:
        await self._called("playing")
        return self.now_playing

    async def accept(self, challenge_id: str) -> None:
        await self._called("accept", "", challenge_id)

    async def decline(self, challenge_id: str, reason: DeclineReason) -> None:
        await self._called("decline", "", challenge_id, reason)
        self.news.put_nowait(ChallengeGone(challenge_id))

    async def export(self, game_id: str) -> dict[str, Any]:
        raise NotImplementedError

    async def finished_games(self, since: datetime) -> list[ListedGame]:
        self.listed_since.append(since)
        if self.list_faults:
            raise self.list_faults.pop(0)
        return [game for game in self.listed if game.began_at >= since]

    async def rating_diff(self, game_id: str, name: str) -> int | None:
        await self._called("rating_diff", "", game_id, name)
        return 5

    def checks(self, *, may_challenge: bool) -> Sequence[Check]:  # noqa: ARG002
        return ()

    async def check_stream(self, challenges: ChallengesConfig) -> str:  # noqa: ARG002
        return "open"

    async def close(self) -> None: ...

    # ----------------------------------------------------------------------------------------------------

    async def _called(self, what: str, *arguments: object) -> None:
        async with self.changed:
            self.calls.append(" ".join([what, *map(str, arguments[1:])]))
            self.changed.notify_all()
        if faults := self.faults.get(what):
            raise faults.pop(0)

    def _refuse_unless(self, is_possible: bool) -> None:
        if not is_possible:
            raise RefusedError("Not your turn, or game already over", 400)

    def _draw_is_fine(self) -> None:
        """We offer a draw, or accept the one offered."""
        if self.draw_offer:
            self.finish(EndReason.AGREEMENT)
        else:
            self.our_draw_offer = True
            self.push(self.state)

    def _by_side(self, *, ours: bool, theirs: bool) -> tuple[bool, bool]:
        return (ours, theirs) if self.our_side == 0 else (theirs, ours)

    def _position(self) -> Any:
        text = self.initial_position
        start = None if text is None else self.rules.parse_position(text)
        return replay(self.rules, self.moves, start)

    def _play(self, move: str) -> None:
        assert move in self.legal
        self.moves = (*self.moves, move)
        position = self._position()
        if not self.rules.legal_moves(position):
            result = self.rules.result_centi(position)
            mover = self.rules.side_to_move(position)
            winner = None if result == 0 else mover if result > 0 else 1 - mover
            self.end = GameEnd(EndReason.NORMAL, winner, "variantEnd")
        self.push(self.state)
        if self.end is not None:
            self.cut()

    def _opponent_moves(self) -> None:
        if self.pick is not None and self.end is None and not self.our_turn:
            self.answers.append(self.pick(self.legal))
            self._play(self.answers[-1])


def config(**changes: Any) -> Config:
    """Quick searches in our turn alone, one player, no deadline for the first move: no wait takes time.

    No move depends on a proof, which depends on time.
    """
    settings = {
        "engine": EngineConfig(max_depth=3, workers=1, table_mb=1, ponder=False),
        "assignment": AssignmentConfig(method=AssignmentMethod.FIXED, strategy="trappy"),
        "trap": TrapConfig(proof=False),
        "manners": MannersConfig(abort_after_s=0),
        "server": ServerConfig(url="http://127.0.0.1:1"),  # not our own arena
        "chat": ChatConfig(greeting="Hello {opponent}", farewell="{result}: {fell}/{traps}"),
    }
    return Config(**(settings | changes))


async def no_sleep(seconds: float) -> None:
    """Waits take no time, except the one for an action's effect: that wait ends with the effect."""
    await (asyncio.Event().wait() if seconds == CONFIRMATION_S else asyncio.sleep(0))


@asynccontextmanager
async def services(
    server: Any,
    database: Any,
    *,
    sleep: Callable[[float], Awaitable[None]] = no_sleep,
    settings: Config | None = None,
) -> AsyncIterator[GameServices]:
    """The services that games share, with a pool of one thread."""
    async with SearchPool(1, 1) as pool:
        yield GameServices(
            server=server,
            database=database,
            pool=pool,
            config=settings or config(),
            bot_name="Desdemona",
            rng=random.Random(1),
            sleep=sleep,
        )


class HeldPool:
    """Keeps some searches waiting.

    Args:
        is_held: Tells by a search's rank whether it waits; None: those in the background do.
    """

    def __init__(self, is_held: Callable[[JobRank], bool] | None = None) -> None:
        self._pool: SearchPool
        self._is_held = is_held or (lambda rank: rank is JobRank.BACKGROUND)
        self.waiting = asyncio.Event()
        """Set when the first search waits."""
        self.release = asyncio.Event()
        """Once the test sets it, no search waits any more."""

    async def run(self, *arguments: Any, rank: JobRank = JobRank.LIVE, **more: Any) -> Any:
        if self._is_held(rank):
            self.waiting.set()
            await self.release.wait()
        return await self._pool.run(*arguments, rank=rank, **more)

    def held(self, given: GameServices) -> GameServices:
        """The same services, whose pool runs the searches for this one."""
        self._pool = given.pool
        pool: Any = self
        return replace(given, pool=pool)


class Killer:
    """Stops a program dead at one of its steps: nothing after it is done, as after ``kill -9``."""

    def __init__(self, at: int | None = None) -> None:
        self.at = at
        self.steps: list[str] = []
        self.killed = asyncio.Event()

    async def step(self, name: str) -> None:
        if self.killed.is_set() or len(self.steps) == self.at:
            self.killed.set()
            await asyncio.Event().wait()
        self.steps.append(name)

    def wrap(self, given: GameServices) -> GameServices:
        """The same services, each of whose calls is a step."""
        server: Any = _KillableServer(given.server, self)
        database: Any = _KillableDatabase(given.database, self)
        pool: Any = _KillablePool(given.pool, self)
        return replace(given, server=server, database=database, pool=pool)


class _KillableServer:
    def __init__(self, server: Any, killer: Killer) -> None:
        self._server = server
        self._killer = killer
        self.site = server.site
        self.lag_s = server.lag_s
        self.supports = server.supports

    def __getattr__(self, name: str) -> Any:
        async def call(*arguments: Any, **more: Any) -> Any:
            await self._killer.step(f"before {name}")
            answer = await getattr(self._server, name)(*arguments, **more)
            await self._killer.step(f"after {name}")
            return answer

        return call

    async def game_events(self, game_id: str) -> AsyncGenerator[GameEvent | None, None]:
        await self._killer.step("open stream")
        async for event in self._server.game_events(game_id):
            await self._killer.step("event")
            yield event


class _KillableDatabase:
    def __init__(self, database: Database, killer: Killer) -> None:
        self._database = database
        self._killer = killer

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Any]:
        await self._killer.step("before read")
        async with self._database.read() as session:
            yield session

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Any]:
        await self._killer.step("before write")
        async with self._database.write() as session:
            yield session
            await self._killer.step("before commit")
        await self._killer.step("after commit")


class _KillablePool:
    def __init__(self, pool: SearchPool, killer: Killer) -> None:
        self._pool = pool
        self._killer = killer

    async def run(self, *arguments: Any, **more: Any) -> Any:
        await self._killer.step("before search")
        found = await self._pool.run(*arguments, **more)
        await self._killer.step("after search")
        return found

    def promote(self, *arguments: Any) -> None:
        self._pool.promote(*arguments)
