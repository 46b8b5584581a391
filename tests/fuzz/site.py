"""A small Lichess: challenges, games with clocks, streams; each answer passes a schedule of faults.

It is the truth that the checks compare with, so it enforces the rules of the games and keeps its own record.
"""

import asyncio
import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from engine.game import replay
from engine.games import get_rules
from tests.fuzz.faults import Fault, Kind, Place

BOT = "desdemona"
GAME = "connect4"
CHESS = "chess"
"""Whose players can agree on draws."""
_KEYS = {GAME: GAME, CHESS: "standard", "threeCheck": "threeCheck"}
"""The site's key of each game."""
CLOCK_S, INCREMENT_S = 300, 3
KEEP_ALIVE_S = 6.0
LAG_S = 0.1
"""Longest way of a request to the site."""

_CASTLES = {"e1h1": "e1g1", "e1a1": "e1c1", "e8h8": "e8g8", "e8a8": "e8c8"}
"""Castling as a client may write it, and as the rules do."""
CLAIM_S = 10.0
"""How long a player has to be gone before the game can be claimed."""
_STATUS = {Kind.BAD_REQUEST: 400, Kind.NOT_FOUND: 404, Kind.TOO_MANY: 429, Kind.BAD_GATEWAY: 502}
LATE_S = 20.0
"""How long a delayed line and a hanging request may be under way."""
_DEFAULT_PAUSE_S = 60.0


@dataclass(slots=True)
class Offer:
    """An open challenge to the bot."""

    id: str
    variant: str
    made_at: float
    is_bot: bool
    is_refused: bool = False
    """The site, or what stands for it, has refused the bot's answer for good."""


@dataclass(slots=True)
class Manners:
    """What an opponent does besides moving."""

    what: str
    """``absent``: it never moves; ``leaves`` and ``returns``: it is gone at `at_ply`; ``takeback`` and
    ``draw``: it asks for one at `at_ply`."""
    at_ply: int


MANNERS = ("absent", "leaves", "returns", "takeback", "draw", "")


@dataclass(slots=True)
class Stream:
    """One open stream."""

    lines: "asyncio.Queue[bytes | None]" = field(default_factory=asyncio.Queue)
    """None: the stream ends."""
    transport: asyncio.Transport | None = None


@dataclass(slots=True)
class Board:
    """A game."""

    id: str
    opponent: str
    our_side: int
    turn_since: float
    resigns_at: int
    """Ply from which the opponent resigns."""
    game: str = GAME
    rated: bool = True
    manners: Manners | None = None
    takeback_since: float | None = None
    """Since when the opponent has asked for a takeback."""
    draw_since: float | None = None
    """Since when the opponent has offered a draw."""
    claimable_at: float | None = None
    """From when on the bot can claim the game, on its opponent's turn."""
    moves: tuple[str, ...] = ()
    left_s: list[float] = field(default_factory=lambda: [float(CLOCK_S)] * 2)
    status: str = "started"
    winner: int | None = None
    ended_at: float | None = None
    acknowledged: list[tuple[int, str]] = field(default_factory=list)
    """The bot's moves that were played, with their plies."""
    streams: list[Stream] = field(default_factory=list)
    read_at: float | None = None
    """When the bot got its state for the first time."""
    offers_ended_at: float = -math.inf
    """When the opponent last made a move, which ends offers."""

    @property
    def is_our_turn(self) -> bool:
        return self.status == "started" and len(self.moves) % 2 == self.our_side

    def state(self) -> dict[str, Any]:
        winner = {} if self.winner is None else {"winner": ("white", "black")[self.winner]}
        letter = "bw"[self.our_side]
        offers = {
            **({} if self.takeback_since is None else {f"{letter}takeback": True}),
            **({} if self.draw_since is None else {f"{letter}draw": True}),
        }
        return {
            **offers,
            "type": "gameState",
            "moves": " ".join(self.moves),
            "wtime": round(self.left_s[0] * 1000),
            "btime": round(self.left_s[1] * 1000),
            "winc": INCREMENT_S * 1000,
            "binc": INCREMENT_S * 1000,
            "status": self.status,
            **winner,
        }

    def full(self) -> dict[str, Any]:
        players = [{"id": self.opponent, "name": self.opponent, "rating": 1600}] * 2
        players[self.our_side] = {"id": BOT, "name": BOT, "title": "BOT", "rating": 1500}
        return {
            "type": "gameFull",
            "id": self.id,
            "variant": {"key": _KEYS[self.game]},
            "speed": "blitz",
            "rated": self.rated,
            "clock": {"initial": CLOCK_S * 1000, "increment": INCREMENT_S * 1000},
            "white": players[0],
            "black": players[1],
            "state": self.state(),
        }


class Refusal(Exception):
    """The request is not possible now."""


def _line(message: object) -> bytes:
    return json.dumps(message).encode() + b"\n"


class Site:
    """The site, its players, and the faults on the way to it.

    Args:
        faults: With times in seconds since the site was made.
        rng: Source of everything that is random.
        manners: Source of what opponents do besides moving; None: nothing.
    """

    def __init__(
        self, faults: Sequence[Fault], rng: random.Random, manners: random.Random | None = None
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._faults = faults
        self._rng = rng
        self._manners = manners
        self.odd: list[str] = []
        """What the bot did and should not have done."""
        self.offers: dict[str, Offer] = {}
        self.boards: dict[str, Board] = {}
        self.story: list[str] = []
        self.injected: Counter[tuple[Kind, Place]] = Counter()
        self.calls: Counter[Place] = Counter()
        self.pauses: dict[str, float] = defaultdict(float)
        """Until when the site wants no requests: of a place, of one game's stream, or at all ("")."""
        self.held: Counter[str] = Counter()
        """Requests and streams that a fault holds back, by place or stream."""
        self._account_streams: list[Stream] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.server = web.Server(self._handle)
        for fault in faults:
            # Errors concern the opening of a stream, so the open ones have to be lost first.
            if fault.kind in (Kind.CUT, *_STATUS) and fault.place in (Place.EVENTS, Place.GAME):
                self._spawn(self._cut_streams(fault))

    @property
    def now(self) -> float:
        """Seconds since the beginning."""
        return self._loop.time() - self._began

    def tell(self, what: str) -> None:
        """Add to the story of this run."""
        self.story.append(f"{self.now:7.2f} {what}")

    def is_faulty(self, place: Place) -> bool:
        """Whether a fault is under way at a place."""
        return any(
            fault.place is place and fault.begins_s <= self.now < fault.ends_s for fault in self._faults
        )

    @property
    def has_account_stream(self) -> bool:
        return bool(self._account_streams)

    async def close(self) -> None:
        """End everything."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(list(self._tasks))
        await self.server.shutdown(1.0)

    def _spawn(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- The players ------------------------------------------------------------------------------------

    def challenge(self, *, is_played: bool, is_bot: bool) -> None:
        """Somebody challenges the bot, to a game that it plays or not."""
        number = len(self.offers) + 1
        game = GAME if self._manners is None else self._manners.choice([GAME, CHESS])
        offer = Offer(f"game{number:04d}", game if is_played else "threeCheck", self.now, is_bot)
        self.offers[offer.id] = offer
        self.tell(f"{offer.id}: challenge ({offer.variant})")
        self._tell_account(self._challenge(offer))

    def _challenge(self, offer: Offer) -> dict[str, Any]:
        who = {"id": f"by{offer.id}", "name": f"by{offer.id}", **({"title": "BOT"} if offer.is_bot else {})}
        clock = {"type": "clock", "limit": CLOCK_S, "increment": INCREMENT_S}
        challenge = {
            "id": offer.id,
            "challenger": who,
            "variant": {"key": _KEYS[offer.variant]},
            "rated": self._manners is None,
            "speed": "blitz",
            "timeControl": clock,
        }
        return {"type": "challenge", "challenge": challenge}

    def withdraw(self, offer: Offer) -> None:
        """The challenger cancels an open challenge."""
        if self.offers.pop(offer.id, None) is not None:
            self.offers[f"gone {offer.id}"] = offer  # so that ids are never used twice
            self.tell(f"{offer.id}: withdrawn")
            self._tell_account({"type": "challengeCanceled", "challenge": {"id": offer.id}})

    @property
    def open_offers(self) -> Iterator[Offer]:
        """Challenges that wait for the bot's answer."""
        return (offer for key, offer in self.offers.items() if key == offer.id)

    def _begin(self, offer: Offer) -> None:
        side = self._rng.randrange(2)
        board = Board(offer.id, f"by{offer.id}", side, self.now, self._rng.choice([4, 9, 99]))
        if self._manners is not None:
            board.game, board.rated, board.resigns_at = (
                offer.variant,
                False,
                self._manners.choice([12, 20, 30]),
            )
            board.manners = Manners(self._manners.choice(MANNERS), self._manners.randint(2, 9))
        self.boards[board.id] = board
        self.tell(f"{board.id}: begins, the bot is player {side + 1}")
        self._tell_account(self._started(board))
        self._next_turn(board)

    @staticmethod
    def _started(board: Board) -> dict[str, Any]:
        return {"type": "gameStart", "game": {"gameId": board.id, "variant": {"key": _KEYS[board.game]}}}

    def _next_turn(self, board: Board) -> None:
        board.turn_since = self.now
        if board.status == "started" and not board.is_our_turn:
            self._spawn(self._reply(board, self._rng.choice([0.2, 1.0, 3.0, 8.0])))

    async def _reply(self, board: Board, in_s: float) -> None:
        moves = board.moves
        await asyncio.sleep(in_s)
        if await self._misbehave(board):
            return
        if board.status != "started" or board.moves != moves:
            return
        if len(board.moves) >= board.resigns_at:
            self._end(board, "resign", board.our_side)
            return
        position = replay(get_rules(board.game), board.moves, None)
        rules = get_rules(board.game)
        legal = [rules.move_text(move) for move in rules.legal_moves(position)]
        self._play(board, self._rng.choice(legal))

    async def _misbehave(self, board: Board) -> bool:
        """Do what the opponent does besides moving; return whether it does not move now."""
        manners = board.manners
        if manners is None or board.status != "started":
            return False
        if manners.what == "absent" and len(board.moves) < 2:
            return True
        if len(board.moves) < manners.at_ply:
            return False
        match manners.what:
            case "leaves" | "returns":
                board.manners = None if manners.what == "returns" else manners
                if board.claimable_at is None:
                    self.tell(f"{board.id}: the opponent has gone")
                    # It is a moment later than the site says.
                    board.claimable_at = self.now + CLAIM_S + self._rng.uniform(0.0, 2.0)
                    self._tell_board(board, self._gone(board))
                if manners.what == "leaves":
                    return True
                await asyncio.sleep(CLAIM_S - 2.0)
                board.claimable_at = None
                self._tell_board(board, {"type": "opponentGone", "gone": False})
                self._spawn(self._reply(board, 1.0))
                return True
            case "takeback" | "draw":
                board.manners = None
                self.tell(f"{board.id}: the opponent asks for a {manners.what}")
                if manners.what == "takeback":
                    board.takeback_since = self.now
                else:
                    board.draw_since = self.now
                self._tell_board(board, board.state())
                await asyncio.sleep(self._rng.choice([0.5, 20.0, 40.0]))
        return False

    def _gone(self, board: Board) -> dict[str, Any]:
        left_s = max(0, int((board.claimable_at or 0.0) - self.now))
        return {"type": "opponentGone", "gone": True, "claimWinInSeconds": left_s}

    def _play(self, board: Board, move: str) -> None:
        side = len(board.moves) % 2
        board.left_s[side] += INCREMENT_S - (self.now - board.turn_since)
        board.moves = (*board.moves, move)
        board.takeback_since = board.draw_since = None
        board.offers_ended_at = self.now
        self.tell(f"{board.id}: {'bot' if side == board.our_side else 'opponent'} plays {move}")
        position = replay(get_rules(board.game), board.moves, None)
        rules = get_rules(board.game)
        if not rules.legal_moves(position):
            result = rules.result_centi(position)
            mover = rules.side_to_move(position)
            winner = None if result == 0 else mover if result > 0 else 1 - mover
            self._end(board, "draw" if winner is None else "variantEnd", winner)
            return
        self._tell_board(board, board.state())
        self._next_turn(board)

    def _end(self, board: Board, status: str, winner: int | None) -> None:
        board.status, board.winner, board.ended_at = status, winner, self.now
        self.tell(f"{board.id}: over, {status}")
        self._tell_board(board, board.state())
        for stream in board.streams:
            stream.lines.put_nowait(None)
        self._tell_account({"type": "gameFinish", "game": {"gameId": board.id, "ratingDiff": 5}})

    def flag(self) -> None:
        """End the games whose clocks have run out."""
        for board in self.boards.values():
            side = len(board.moves) % 2
            if board.status == "started" and board.left_s[side] < self.now - board.turn_since:
                self._end(board, "outoftime", 1 - side)

    # --- Requests ---------------------------------------------------------------------------------------

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        place, key, call = self._route(request.method, request.path)
        self.calls[place] += 1
        await asyncio.sleep(self._rng.uniform(0.01, LAG_S))
        fault = self._hit(place)
        if fault is None:
            return await self._answer(request, place, key, call)
        self._count(fault, f"{request.method} {request.path}")
        match fault.kind:
            case Kind.HANG | Kind.DELAY | Kind.REORDER:
                return await self._late(fault, request, place, key, call)
            case Kind.PROXY:
                if fault.is_after and call is not None:
                    self._attempt(call)
                return web.Response(text="<html>Sign in</html>", content_type="text/html")
            case Kind.IGNORED:
                return web.json_response({"ok": True})
            case Kind.CUT:
                if fault.is_after and call is not None:
                    self._attempt(call)
                _abort(request)
                return web.Response()
            case _:
                if fault.kind is Kind.BAD_GATEWAY and fault.is_after and call is not None:
                    self._attempt(call)
                return self._error(fault, place, key)

    async def _late(
        self,
        fault: Fault,
        request: web.BaseRequest,
        place: Place,
        key: str,
        call: Callable[[], object] | None,
    ) -> web.StreamResponse:
        outcome: web.StreamResponse | None = None
        if fault.is_after and call is not None:
            outcome = self._attempt(call)
        wait_s = self._rng.uniform(0, fault.delay_s) if fault.kind is Kind.REORDER else fault.delay_s
        with self._holding(place, key):
            if fault.kind is Kind.HANG:
                await self._hang(fault, request)
            else:
                await asyncio.sleep(wait_s)
        return outcome or await self._answer(request, place, key, call)

    async def _hang(self, fault: Fault, request: web.BaseRequest) -> None:
        """Wait for the end of a fault, or until the client gives up."""
        while request.transport is not None and (fault.is_dead or self.now < fault.ends_s):  # noqa: ASYNC110
            await asyncio.sleep(0.25)

    @contextmanager
    def _holding(self, place: Place, key: str) -> Iterator[None]:
        name = key if place is Place.GAME else place
        self.held[name] += 1
        try:
            yield
        finally:
            self.held[name] -= 1

    def _hit(self, place: Place, kinds: Sequence[Kind] = tuple(Kind)) -> Fault | None:
        for fault in self._faults:
            is_here = fault.place is place and fault.kind in kinds
            if is_here and fault.begins_s <= self.now < fault.ends_s and self._rng.random() < fault.share:
                return fault
        return None

    def _count(self, fault: Fault, what: str) -> None:
        self.injected[fault.kind, fault.place] += 1
        self.tell(f"  {fault.kind}: {what}")

    def _error(self, fault: Fault, place: Place, key: str) -> web.Response:
        status, headers, body = _STATUS[fault.kind], {}, {"error": f"a fault of kind {fault.kind}"}
        if fault.kind is Kind.TOO_MANY:
            pause_s = _DEFAULT_PAUSE_S
            if fault.asked_s is not None:
                pause_s = float(fault.asked_s)
                if fault.in_header:
                    headers["Retry-After"] = str(fault.asked_s)
                else:
                    body["ratelimit"] = {"seconds": fault.asked_s, "key": "x"}  # type: ignore[assignment]
            # The bot sends a move again sooner, since its clock runs; all else waits as long as it was told.
            own_s = min(pause_s, 2.0) if place is Place.MOVE else pause_s
            for name, wait_s in ((key if place is Place.GAME else place, own_s), ("", pause_s)):
                self.pauses[name] = max(self.pauses[name], self.now + wait_s)
        elif fault.is_html:
            return web.Response(status=status, text="<html>an error</html>", content_type="text/html")
        elif fault.kind is not Kind.BAD_GATEWAY and key in self.offers:
            self.offers[key].is_refused = True
        return web.json_response(body, status=status, headers=headers)

    def _route(self, method: str, path: str) -> tuple[Place, str, Callable[[], object] | None]:
        """A request's place, the game or challenge that it concerns, and its effect; None for streams."""
        match method, path.strip("/").split("/"):
            case "GET", ["api", "account"]:
                return Place.ACCOUNT, "", lambda: {"id": BOT, "username": BOT, "title": "BOT"}
            case "GET", ["api", "account", "playing"]:
                return Place.PLAYING, "", self._playing
            case "GET", ["api", "stream", "event"]:
                return Place.EVENTS, "", None
            case "GET", ["api", "bot", "game", "stream", key]:
                return Place.GAME, key, None
            case "POST", ["api", "bot", "game", key, "move", move]:
                return Place.MOVE, key, lambda: self._move(key, move)
            case "POST", ["api", "bot", "game", key, "chat"]:
                return Place.CHAT, key, lambda: {"ok": True}
            case "POST", ["api", "bot", "game", key, *_]:
                return Place.ACT, key, lambda: self._act(key, *path.split("/")[-2:])
            case "POST", ["api", "challenge", key, "accept"]:
                return Place.ACCEPT, key, lambda: self._respond(key, is_accepted=True)
            case "POST", ["api", "challenge", key, "decline"]:
                return Place.DECLINE, key, lambda: self._respond(key, is_accepted=False)
            case "GET", ["game", "export", key]:
                return Place.EXPORT, key, lambda: self._export(key)
        raise AssertionError(f"{method} {path}")

    async def _answer(
        self, request: web.BaseRequest, place: Place, key: str, call: Callable[[], object] | None
    ) -> web.StreamResponse:
        if call is not None:
            return self._attempt(call)
        if place is Place.EVENTS:
            return await self._account_stream(request)
        return await self._game_stream(request, key)

    def _attempt(self, call: Callable[[], object]) -> web.Response:
        try:
            return web.json_response(call())
        except Refusal as error:
            return web.json_response({"error": str(error)}, status=400)
        except KeyError:
            return web.json_response({"error": "no such thing"}, status=404)

    # --- Effects ----------------------------------------------------------------------------------------

    def _playing(self) -> object:
        running = [board.id for board in self.boards.values() if board.status == "started"]
        return {"nowPlaying": [{"gameId": key} for key in running]}

    def _move(self, key: str, move: str) -> object:
        board = self.boards[key]
        position = replay(get_rules(board.game), board.moves, None)
        rules = get_rules(board.game)
        legal = [rules.move_text(each) for each in rules.legal_moves(position)]
        move = move if move in legal else _CASTLES.get(move, move)
        if not board.is_our_turn or move not in legal:
            raise Refusal("Not your turn, or game already over")
        board.acknowledged.append((len(board.moves), move))
        self._play(board, move)
        return {"ok": True}

    def _act(self, key: str, what: str, action: str) -> object:
        board = self.boards[key]
        if board.status != "started":
            raise Refusal("the game is over")
        if action == "abort":
            if len(board.moves) >= 2:
                raise Refusal("the game can no longer be aborted")
            self._end(board, "aborted", None)
        elif action == "resign":
            self._end(board, "resign", 1 - board.our_side)
        elif action == "claim-victory":
            if board.claimable_at is None or self.now < board.claimable_at:
                raise Refusal("the opponent is here")
            if not board.is_our_turn:  # else it is answered "ok" and does nothing
                self._end(board, "timeout", board.our_side)
        elif action in ("yes", "no"):
            self._answered(board, what, is_granted=action == "yes")
        else:
            raise Refusal("there is nothing to answer or claim")
        return {"ok": True}

    def _may_be_late(self, board: Board) -> bool:
        """Whether an answer may be to an offer that has ended: it, or what the bot read, was late."""
        return board.offers_ended_at > self.now - LATE_S and any(
            fault.place in (Place.GAME, Place.ACT)
            and fault.begins_s <= self.now
            and fault.ends_s >= board.offers_ended_at - LATE_S
            for fault in self._faults
        )

    def _answered(self, board: Board, what: str, *, is_granted: bool) -> None:
        since = board.takeback_since if what == "takeback" else board.draw_since
        if since is None:
            if is_granted and not self._may_be_late(board):
                self.odd.append(f"{board.id}: the bot itself offers a {what}")
            raise Refusal("nothing is offered")
        self.tell(f"{board.id}: {what} {'granted' if is_granted else 'declined'}")
        board.takeback_since = board.draw_since = None
        if is_granted and what == "draw":
            self._end(board, "draw", None)
            return
        if is_granted:
            left = max(0, len(board.moves) - (1 if board.is_our_turn else 2))
            board.moves = board.moves[:left]
            board.acknowledged = [each for each in board.acknowledged if each[0] < left]
            self._next_turn(board)
        self._tell_board(board, board.state())

    def _respond(self, key: str, *, is_accepted: bool) -> object:
        offer = self.offers.pop(key)
        self.offers[f"gone {key}"] = offer
        self.tell(f"{key}: {'accepted' if is_accepted else 'declined'}")
        if is_accepted:
            self._begin(offer)
        return {"ok": True}

    def _export(self, key: str) -> object:
        board = self.boards[key]
        diff = {"ratingDiff": 5} if board.status != "started" else {}
        return {"id": key, "players": {"white": {"user": {"name": BOT}, **diff}}}

    # --- Streams ----------------------------------------------------------------------------------------

    def _tell_account(self, message: object) -> None:
        for stream in self._account_streams:
            stream.lines.put_nowait(_line(message))

    @staticmethod
    def _tell_board(board: Board, message: object) -> None:
        for stream in board.streams:
            stream.lines.put_nowait(_line(message))

    async def _account_stream(self, request: web.BaseRequest) -> web.StreamResponse:
        stream = Stream(transport=request.transport)
        for offer in self.open_offers:
            stream.lines.put_nowait(_line(self._challenge(offer)))
        for board in self.boards.values():
            if board.status == "started":
                stream.lines.put_nowait(_line(self._started(board)))
        return await self._send(request, stream, self._account_streams, Place.EVENTS, "")

    async def _game_stream(self, request: web.BaseRequest, key: str) -> web.StreamResponse:
        board = self.boards.get(key)
        if board is None:
            return web.json_response({"error": "no such game"}, status=404)
        stream = Stream(transport=request.transport)
        stream.lines.put_nowait(_line(board.full()))
        if board.claimable_at is not None:
            stream.lines.put_nowait(_line(self._gone(board)))
        if board.status != "started":
            stream.lines.put_nowait(None)
        return await self._send(request, stream, board.streams, Place.GAME, key)

    async def _send(
        self, request: web.BaseRequest, stream: Stream, streams: list[Stream], place: Place, key: str
    ) -> web.StreamResponse:
        """Send a stream's lines until it ends, or the client has gone."""
        for older in streams:
            older.lines.put_nowait(None)
        streams.append(stream)
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        is_first = True
        try:
            await response.prepare(request)
            while request.transport is not None:
                lines = await self._next_lines(stream)
                fault = self._hit(place, (Kind.HANG, Kind.DELAY, Kind.REORDER))
                if fault is not None and lines != [b"\n"]:
                    self._count(fault, f"a line of the stream of {key or 'the account'}")
                    with self._holding(place, key):
                        lines = await self._disturb(fault, request, stream, lines, is_first=is_first)
                for line in lines:
                    if line is None:
                        return response
                    await response.write(line)
                    if place is Place.GAME and line != b"\n":
                        board = self.boards[key]
                        board.read_at = self.now if board.read_at is None else board.read_at
                is_first = False
        except ConnectionResetError:
            pass
        finally:
            streams.remove(stream)
        return response

    async def _next_lines(self, stream: Stream) -> list[bytes | None]:
        try:
            async with asyncio.timeout(KEEP_ALIVE_S):
                return [await stream.lines.get()]
        except TimeoutError:
            return [b"\n"]

    async def _disturb(
        self,
        fault: Fault,
        request: web.BaseRequest,
        stream: Stream,
        lines: list[bytes | None],
        *,
        is_first: bool,
    ) -> list[bytes | None]:
        if fault.kind is Kind.HANG:
            await self._hang(fault, request)
            return lines
        await asyncio.sleep(fault.delay_s)
        if fault.kind is Kind.DELAY or is_first:
            return lines
        while not stream.lines.empty():
            lines.append(stream.lines.get_nowait())
        told = [line for line in lines if line is not None]
        self._rng.shuffle(told)
        return [*told, *([None] if None in lines else [])]

    async def _cut_streams(self, fault: Fault) -> None:
        """Cut the open streams: once before errors, else again and again."""
        await asyncio.sleep(fault.begins_s)
        while self.now < fault.ends_s:
            boards = [stream for board in self.boards.values() for stream in board.streams]
            for stream in self._account_streams if fault.place is Place.EVENTS else boards:
                self._count(fault, "an open stream")
                if fault.is_dead or stream.transport is None:
                    stream.lines.put_nowait(None)
                else:
                    stream.transport.abort()
            if fault.kind is not Kind.CUT:
                return
            await asyncio.sleep(self._rng.uniform(0.5, 2 * fault.delay_s))


def _abort(request: web.BaseRequest) -> None:
    if request.transport is not None:
        request.transport.abort()
