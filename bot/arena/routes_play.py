"""HTTP routes for play: event streams, games and challenges. The Bot and Board APIs share handlers."""

from collections.abc import Callable
from functools import partial

from aiohttp import web

from bot.arena import game as transitions
from bot.arena import wire
from bot.arena.arena_services import ArenaServices
from bot.arena.game import ArenaRefusal, Instant, ReplayedGame
from bot.arena.http import (
    GAME,
    ID,
    HttpError,
    as_bool,
    as_int,
    as_text,
    fields,
    ok,
    require_approved,
    send_stream,
    set_ack_timeout,
)
from bot.arena.play.unsupported_calls import NO_CORRESPONDENCE, unsupported_calls
from bot.arena.referee import MAX_CHAT_LINES, NotFound
from bot.arena.streams import Stream
from bot.arena.traffic.budgets import LimitReached, spend
from bot.arena.variants import FROM_POSITION, USUAL, VARIANTS, ArenaVariant
from bot.base.events import MAX_CHAT_LENGTH, Clock, DeclineReason
from engine.game import BadPosition
from engine.opponents.odds import Odds, odds_from_start, odds_named
from storage.arena import accounts as arena
from storage.arena.accounts import AccountRecord

# A program has one stream of each kind, and a new one closes the old; a person may open several tabs.
PERSON_STREAMS, BOT_STREAMS = 8, 1

MAX_FEN_LENGTH = 120
"""Maximum length of a challenge's FEN, in characters."""
MAX_MOVE_NUMBER = 1000
"""Maximum full-move number in a FEN; with larger numbers all mate scores would be equal."""

_CHALLENGE = f"{{challenge:{ID}}}"

Step = Callable[[ReplayedGame, int, Instant], ReplayedGame]


class PlayRoutes:
    """Request handlers for players."""

    def __init__(self, parts: ArenaServices) -> None:
        self._database = parts.database
        self._gate = parts.gate
        self._accounts = parts.accounts
        self._referee = parts.referee
        self._lobby = parts.lobby
        self._keep_alive_s = parts.config.keep_alive_s

    def table(self) -> list[web.AbstractRouteDef]:
        """All routes of this module."""
        routes: list[web.AbstractRouteDef] = [
            *unsupported_calls(),
            web.get("/api/stream/event", self.event_stream, allow_head=False),
            web.get("/api/account/playing", self.playing),
            web.get("/api/challenge", self.list_challenges),
            web.post("/api/challenge/{user}", self.create_challenge),
            web.get(f"/api/challenge/{_CHALLENGE}/show", self.show_challenge),
            web.post(f"/api/challenge/{_CHALLENGE}/accept", self.accept_challenge),
            web.post(f"/api/challenge/{_CHALLENGE}/decline", self.decline_challenge),
            web.post(f"/api/challenge/{_CHALLENGE}/cancel", self.cancel_challenge),
            web.post(f"/api/board/game/{GAME}/rematch", self.rematch),
        ]
        for side in ("bot", "board"):
            path = f"/api/{side}/game/{GAME}"
            routes += [
                web.get(f"/api/{side}/game/stream/{GAME}", self.game_stream, allow_head=False),
                web.post(f"{path}/move/{{move}}", self.move),
                web.post(f"{path}/abort", self.abort),
                web.post(f"{path}/resign", self.resign),
                web.post(f"{path}/draw/{{answer}}", self.draw),
                web.post(f"{path}/takeback/{{answer}}", self.takeback),
                web.post(f"{path}/claim-victory", partial(self.claim, victory=True)),
                # The path that berserk 0.14 requests.
                web.post(f"{path}/claim-victory/", partial(self.claim, victory=True)),
                web.post(f"{path}/claim-draw", partial(self.claim, victory=False)),
                web.get(f"{path}/chat", self.read_chat),
                web.post(f"{path}/chat", self.write_chat),
            ]
        return routes

    async def _player(self, request: web.Request) -> AccountRecord:
        """The caller's account; raises if a person calls the Bot API or a bot calls the Board API."""
        account = await self._gate.account(request)
        is_for_bots = request.path.startswith("/api/bot/")
        if is_for_bots and not account.is_bot:
            raise HttpError(400, "This endpoint can only be used with a Bot account")
        if account.is_bot and not is_for_bots:
            raise HttpError(400, "This endpoint cannot be used with a Bot account")
        return account

    async def _own_game(self, request: web.Request) -> tuple[AccountRecord, ReplayedGame, int]:
        """The caller's account, the requested game, and the caller's side in it."""
        account = await self._player(request)
        game, side = await self._referee.find_own(request.match_info["game"], account)
        return account, game, side

    # --- Streams ----------------------------------------------------------------------------------------

    async def event_stream(self, request: web.Request) -> web.StreamResponse:
        account = await self._gate.account(request)
        set_ack_timeout(request)
        # A new stream gets all open games and challenges, however many there are.
        backlog = 32 + len(self._referee.games_of(account.id)) + len(self._lobby.waiting_for(account.id))
        stream = Stream(backlog=backlog)
        leave = self._gate.open_stream(request, account, stream, "events")
        self._referee.listen_to_account(account, stream, BOT_STREAMS if account.is_bot else PERSON_STREAMS)
        self._lobby.listen(account, stream)
        forget = partial(self._referee.account_streams.remove, account.id, stream)
        return await self._send(request, stream, leave, forget)

    async def game_stream(self, request: web.Request) -> web.StreamResponse:
        account, game, side = await self._own_game(request)
        stream = Stream(wants_view=not account.is_bot)
        leave = self._gate.open_stream(request, account, stream, game.id)
        self._referee.listen_to_game(game, side, stream, BOT_STREAMS if account.is_bot else PERSON_STREAMS)
        forget = partial(self._referee.game_streams.remove, (game.id, side), stream)
        return await self._send(request, stream, leave, forget)

    async def _send(
        self, request: web.Request, stream: Stream, *at_end: Callable[[], None]
    ) -> web.StreamResponse:
        try:
            return await send_stream(request, stream, keep_alive_s=self._keep_alive_s)
        finally:
            for each in at_end:
                each()

    async def playing(self, request: web.Request) -> web.Response:
        account = await self._gate.account(request)
        wanted = as_int(request.query, "nb")
        shown = min(max(9 if wanted is None else wanted, 1), 50)
        now = self._referee.clock()
        rows = [
            wire.playing(game, game.record.players.index(account.id), now)
            for game in self._referee.games_of(account.id)
        ]
        rows.sort(key=lambda row: (not row["isMyTurn"], row["secondsLeft"]))  # the most urgent ones first
        turns = sum(row["isMyTurn"] for row in rows)
        return web.json_response({"nowPlaying": rows[:shown], "nbMyTurn": turns})

    # --- Moves and endings ------------------------------------------------------------------------------

    async def move(self, request: web.Request) -> web.Response:
        # The arrival ends the thinking: waiting for the database or the lock does not cost the player time.
        when = self._referee.instant()
        text, ply = request.match_info["move"], as_int(request.query, "ply")
        draw = as_bool(request.query, "offeringDraw")
        return await self._change(
            request,
            lambda game, side, _when: transitions.move(game, side, text, when, ply=ply, draw=draw),
        )

    async def abort(self, request: web.Request) -> web.Response:
        return await self._change(request, lambda game, _side, when: transitions.abort(game, when))

    async def resign(self, request: web.Request) -> web.Response:
        return await self._change(request, transitions.resign)

    async def draw(self, request: web.Request) -> web.Response:
        return await self._change(request, partial(transitions.answer_draw, yes=_answer(request)))

    async def takeback(self, request: web.Request) -> web.Response:
        yes, ply = _answer(request), as_int(request.query, "ply")
        return await self._change(request, partial(transitions.answer_takeback, yes=yes, ply=ply))

    async def claim(self, request: web.Request, *, victory: bool) -> web.Response:
        def step(game: ReplayedGame, side: int, when: Instant) -> ReplayedGame:
            if not game.is_over and game.clock and not self._referee.is_claimable(game, 1 - side):
                raise ArenaRefusal("Your opponent is still here")
            return transitions.claim(game, side, when, victory=victory)

        return await self._change(request, step)

    async def _change(self, request: web.Request, step: Step) -> web.Response:
        _, game, side = await self._own_game(request)
        await self._referee.change(game.id, lambda game: step(game, side, self._referee.instant()))
        return ok()

    # --- Chat -------------------------------------------------------------------------------------------

    async def write_chat(self, request: web.Request) -> web.Response:
        account, game, _ = await self._own_game(request)
        data = await fields(request)
        room = _room(as_text(data, "room", "player"))
        text = "".join(letter for letter in as_text(data, "text") if letter.isprintable()).strip()
        if not text:
            raise HttpError(400, "text is empty")
        if len(text) > MAX_CHAT_LENGTH:
            raise HttpError(400, f"text is longer than {MAX_CHAT_LENGTH} characters")
        spend(self._gate.chat, f"{account.id} {game.id}")
        await self._referee.say(game, account, room, text)
        return ok()

    async def read_chat(self, request: web.Request) -> web.Response:
        _, game, _ = await self._own_game(request)
        room = _room(request.query.get("room", "player"))
        async with self._database.read() as session:
            lines = await arena.list_chat(session, game.id, room, MAX_CHAT_LINES)
        return web.json_response([{"user": line.name, "text": line.text} for line in lines])

    # --- Challenges -------------------------------------------------------------------------------------

    async def create_challenge(self, request: web.Request) -> web.StreamResponse:
        account = await self._gate.account(request)
        require_approved(account)
        opponent = await self._accounts.get(request.match_info["user"])
        if opponent is None:
            raise NotFound("There is no player with that name")
        data = await fields(request)
        if data.get("days"):
            raise HttpError(400, NO_CORRESPONDENCE)
        colour = as_text(data, "color", "random")
        if colour not in ("white", "black", "random"):
            raise HttpError(400, f"color is {colour!r}; allowed: white, black, random")
        address = self._gate.count_challenge(request, account)  # first, because parsing a position costs time
        variant = _variant(as_text(data, "variant", USUAL))
        variant, initial_fen, odds = _start(variant, as_text(data, "fen", ""), as_text(data, "odds", ""))
        is_held = as_bool(data, "keepAliveStream")
        challenge = self._lobby.create(
            account,
            opponent,
            variant=variant,
            initial_fen=initial_fen,
            odds=odds,
            rated=as_bool(data, "rated"),
            clock=_clock(as_int(data, "clock.limit"), as_int(data, "clock.increment")),
            colour=colour,
            address=address,
        )
        if is_held:
            stream = self._lobby.extend_deadline(challenge)
            release = partial(self._lobby.release, challenge.id)
            try:
                leave = self._gate.open_stream(request, account, stream, challenge.id)
            except LimitReached:
                release()
                self._lobby.cancel(challenge.id, account)
                raise
            return await self._send(request, stream, leave, release)
        return web.json_response(self._lobby.shown(challenge, account.id))

    async def rematch(self, request: web.Request) -> web.Response:
        account, game, side = await self._own_game(request)
        require_approved(account)
        address = self._gate.count_challenge(request, account)
        challenge = await self._lobby.rematch(game, account, game.players[1 - side], address)
        return web.json_response(self._lobby.shown(challenge, account.id))

    async def accept_challenge(self, request: web.Request) -> web.Response:
        account = await self._gate.account(request)
        require_approved(account)
        address = self._gate.counted_address(request, account)
        await self._lobby.accept(request.match_info["challenge"], account, address)
        return ok()

    async def decline_challenge(self, request: web.Request) -> web.Response:
        account = await self._gate.account(request)
        reason = as_text(await fields(request), "reason", "generic")
        known = {each.value: each for each in DeclineReason}
        # Lichess treats an unknown reason as "generic".
        self._lobby.decline(
            request.match_info["challenge"], account, known.get(reason, DeclineReason.GENERIC)
        )
        return ok()

    async def cancel_challenge(self, request: web.Request) -> web.Response:
        account = await self._gate.account(request)
        challenge_id = request.match_info["challenge"]
        try:
            self._lobby.cancel(challenge_id, account)
        except NotFound:
            # Accepted in the meantime: abort the game if it is not too late.
            await self._referee.find_own(challenge_id, account)
            await self._referee.change(
                challenge_id, lambda game: transitions.abort(game, self._referee.instant())
            )
        return ok()

    async def list_challenges(self, request: web.Request) -> web.Response:
        account = await self._gate.account(request)
        shown = [self._lobby.shown(each, account.id) for each in self._lobby.waiting_for(account.id)]
        return web.json_response(
            {
                "in": [each for each in shown if each["direction"] == "in"],
                "out": [each for each in shown if each["direction"] == "out"],
            }
        )

    async def show_challenge(self, request: web.Request) -> web.Response:
        account = await self._gate.account(request)
        challenge = self._lobby.find(request.match_info["challenge"], account)
        return web.json_response(self._lobby.shown(challenge, account.id))


def _answer(request: web.Request) -> bool:
    answer = request.match_info["answer"]
    if answer not in ("yes", "no", "true", "false"):
        raise HttpError(404, "The answer must be yes or no")
    return answer in ("yes", "true")


def _room(room: str) -> str:
    if room not in ("player", "spectator"):
        raise HttpError(400, f"room is {room!r}; allowed: player, spectator")
    return room


def _variant(key: str) -> ArenaVariant:
    if key not in VARIANTS:
        raise HttpError(400, f"variant is {key!r}; played here: {', '.join(VARIANTS)}")
    return VARIANTS[key]


def _start(variant: ArenaVariant, fen: str, odds: str) -> tuple[ArenaVariant, str | None, Odds | None]:
    """The variant to play, its FEN and its odds, if any; chess from a custom position is a separate variant.

    Raises:
        HttpError: Status 400 if the position is invalid or ends the game, or the variant forbids it.
    """
    if odds:
        given = odds_named(variant.game_name, odds) if variant.is_offered and not fen else None
        if given is None:
            raise HttpError(400, f"odds: {odds!a:.40} cannot be given here")
        return (VARIANTS[FROM_POSITION] if variant.key == USUAL else variant), None, given
    if not fen:
        if variant.key == FROM_POSITION:
            raise HttpError(400, "fen is missing")
        return variant, None, None
    if variant.key not in (USUAL, FROM_POSITION):
        known = odds_from_start(variant.game_name, fen)
        # Exactly as we write it: counts of moves, for instance, could bring the end of the game near.
        if known is None or (start := " ".join(fen.split())) != known[0].starts[known[1]]:
            raise HttpError(400, f"The variant {variant.key} does not allow a fen, except those of odds")
        return variant, start, None
    # At most six fields: in our own notation moves may follow, which take long to replay.
    if len(fen) > MAX_FEN_LENGTH or len(fen.split()) > 6:
        raise HttpError(400, "fen: not a FEN")
    rules = variant.rules
    try:
        position = rules.parse_position(fen)
    except BadPosition as error:
        raise HttpError(400, f"fen: {error}") from None
    if not rules.legal_moves(position):
        raise HttpError(400, "fen: the game is already over in this position")
    if position.board.fullmove_number > MAX_MOVE_NUMBER:
        raise HttpError(400, f"fen: the full-move number is above {MAX_MOVE_NUMBER}")
    return VARIANTS[FROM_POSITION], rules.board_text(position), None


def _clock(limit_s: int | None, increment_s: int | None) -> Clock | None:
    if limit_s is None and increment_s is None:
        return None
    if limit_s is None or increment_s is None:
        raise HttpError(400, "Send both clock.limit and clock.increment, or neither")
    return Clock(limit_s, increment_s)
