"""Runs games: keeps time, applies changes and publishes them; every change is committed before it is visible.

Memory only mirrors the database, so a killed server loses no change that it has acknowledged; the next
start resumes the open games with their clocks as they were (`bot.arena.fairness.arena_time`).
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from types import MappingProxyType

from bot.arena import board_view as views
from bot.arena import game as transitions
from bot.arena import wire
from bot.arena.accounts import Accounts
from bot.arena.challenges import ArenaChallenge
from bot.arena.fairness.rating_rules import GainLimit, UnratedReason, gain_limit, game_weight, rate_game
from bot.arena.game import ArenaRefusal, Instant, ReplayedGame
from bot.arena.glicko import Rating
from bot.arena.streams import Listeners, Stream, line_of
from bot.arena.traffic.bot_slots import (
    NO_SLOTS,
    NOTICE_S,
    WANTED_S,
    BotSlots,
    GamesToday,
    idle_limit_s,
)
from bot.arena.traffic.game_quota import QuotaEntry
from bot.arena.traffic.single_flight import SingleFlightCache
from bot.arena.variants import CHESS960, VARIANTS, random_start
from bot.base.config import REST_AFTER_S, ArenaConfig
from storage.arena import accounts as arena
from storage.arena.accounts import (
    STARTED,
    AccountRecord,
    ArenaAccess,
    ArenaGameRecord,
    ChatRecord,
    RatingRecord,
)
from storage.database import Database
from storage.errors import StorageError
from storage.tables.types import now_utc

logger = logging.getLogger(__name__)

MAX_CHAT_LINES = 300
"""Maximum number of lines in one game's chat."""

MAX_CACHED_FINISHED_GAMES = 200
"""Number of finished games kept in memory."""

PlayerSide = tuple[str, int]
"""A game's id and the side of one of its players."""


class NotFound(ArenaRefusal):
    """The requested object does not exist, or the account is not allowed to see it."""

    status = 404


class _LiveGame:
    """A running game, and the lock that protects changes to it."""

    def __init__(self, game: ReplayedGame, addresses: tuple[str, str]) -> None:
        self.game = game
        self.addresses = addresses
        """The players' addresses at the start; empty if lost in a restart or exempt from limits."""
        self.lock = asyncio.Lock()


@dataclass(frozen=True, slots=True)
class IdleNotice:
    """A notice that a game ends unless its player moves."""

    turn_began: float
    """When the player began to think."""
    deadline: float
    """When the game ends; both by the arena's clock."""


class Referee:
    """All running games, with their clocks and their listeners."""

    def __init__(
        self,
        database: Database,
        accounts: Accounts,
        config: ArenaConfig,
        *,
        clock: Callable[[], float],
        wake: asyncio.Event,
        are_clocks_stopped: Callable[[], bool],
        share_address: Callable[[AccountRecord, AccountRecord], bool],
        share_network: Callable[[str, str], bool],
        own_bots: Callable[[], Collection[str]],
        slots: Mapping[str, BotSlots] = NO_SLOTS,
    ) -> None:
        """
        Args:
            database: The arena's database.
            accounts: The arena's accounts.
            config: The limits, and the rules for rated games.
            clock: The arena's time in seconds.
            wake: An event that the referee sets when the next deadline might have become earlier.
            are_clocks_stopped: Returns whether an outage has stopped the arena's time.
            share_address: Returns whether two accounts share a network address; one person could own both.
            share_network: Returns whether two accounts, given by id, were seen in one network.
            own_bots: Returns the ids of the bots that this program plays.
            slots: How many games these bots can play at a time, keyed by account id.
        """
        self._database = database
        self._accounts = accounts
        self.clock = clock
        self._wake = wake
        self._are_clocks_stopped = are_clocks_stopped
        self._config = config
        self._share_address = share_address
        self._share_network = share_network
        self._own_bots = own_bots
        self.slots = slots
        self.games_today = GamesToday(clock)
        """The networks that have begun games with our own bots today."""
        self._wanted: dict[tuple[str, bool], float] = {}
        """Until when idle games end, keyed by bot and by whether the games have clocks."""
        self._notices: dict[str, IdleNotice] = {}
        """Running notices to idle players, keyed by game id."""
        self._live: dict[str, _LiveGame] = {}
        self._over: SingleFlightCache[ReplayedGame] = SingleFlightCache(
            MAX_CACHED_FINISHED_GAMES, keep=lambda game: game.is_over
        )
        self._game_ids: dict[str, dict[str, None]] = {}
        self._rating_lock = asyncio.Lock()
        self.account_streams: Listeners[str] = Listeners()
        self.game_streams: Listeners[PlayerSide] = Listeners(self._record_departure)
        self.on_change: Callable[[ReplayedGame], None] = lambda _game: None
        """Called with each changed game, after its players are notified."""
        self._gone_since: dict[PlayerSide, float] = {}
        self._announced_gone: set[PlayerSide] = set()

    def instant(self) -> Instant:
        """Now."""
        return Instant(self.clock(), now_utc())

    # --- Finding games ----------------------------------------------------------------------------------

    async def load(self) -> None:
        """Resume the games that were running when the arena last stopped."""
        async with self._database.read() as session:
            ids = await arena.list_open_ids(session)
        for game_id in ids:
            try:
                self._add_live_game(await self.find(game_id))
            except StorageError:
                raise
            except Exception as error:  # the edge of a game: one must not stop the others
                logger.error("cannot resume game %s: %s: %s", game_id, type(error).__name__, error)
        if self._live:
            logger.info("open games resumed: %d", len(self._live))

    async def find(self, game_id: str) -> ReplayedGame:
        """Return a game, whether or not it is over.

        Raises:
            NotFound: There is no game with that id.
        """
        if live := self._live.get(game_id):
            return live.game
        game = await self._over.get((self._accounts.edition, game_id), partial(self._read, game_id))
        return replace(game, players=await self._players(game.record))  # as they are now

    async def _read(self, game_id: str) -> ReplayedGame:
        async with self._database.read() as session:
            record = await arena.load_game(session, game_id)
        if record is None:
            raise NotFound("No such game")
        return await self._over.in_thread(self._replay, record, await self._players(record))

    async def find_own(self, game_id: str, account: AccountRecord) -> tuple[ReplayedGame, int]:
        """Return a game of an account, and the account's side.

        Raises:
            NotFound: There is no such game, or the account does not play in it.
        """
        game = await self.find(game_id)
        side = game.side_of(account.id)
        if side is None:
            raise NotFound("You are not playing in this game")
        return game, side

    def games_of(self, account_id: str) -> list[ReplayedGame]:
        """The account's running games, oldest first."""
        return [self._live[game_id].game for game_id in self._game_ids.get(account_id, ())]

    def running(self) -> Iterator[ReplayedGame]:
        """The running games."""
        return (live.game for live in self._live.values())

    def is_playing(self, account_id: str) -> bool:
        """Whether the account is in a running game."""
        return account_id in self._game_ids

    def quota_entries(self) -> Iterator[QuotaEntry]:
        """The running games, in the form needed to apply the quotas of accounts and addresses."""
        for live in self._live.values():
            players = live.game.record.players
            yield QuotaEntry(
                players,
                tuple(zip(players, live.addresses, strict=True)),
                live.game.clock is not None,
                live.game.clock is not None and self._idle_s(live.game) >= REST_AFTER_S,
            )

    @property
    def open_count(self) -> int:
        """Number of running games."""
        return len(self._live)

    def is_online(self, account_id: str) -> bool:
        """Whether the account has an open stream."""
        return self.account_streams.is_listening(account_id) or any(
            self.game_streams.is_listening((game.id, game.record.players.index(account_id)))
            for game in self.games_of(account_id)
        )

    async def _players(self, record: ArenaGameRecord) -> tuple[AccountRecord, AccountRecord]:
        first, second = [await self._accounts.get(account_id) for account_id in record.players]
        if first is None or second is None:
            raise NotFound("A player of this game no longer has an account")
        return first, second

    def _replay(self, record: ArenaGameRecord, players: tuple[AccountRecord, AccountRecord]) -> ReplayedGame:
        return transitions.replay_record(record, VARIANTS[record.variant], players, self.clock())

    def _add_live_game(self, game: ReplayedGame, addresses: tuple[str, str] = ("", "")) -> None:
        self._live[game.id] = _LiveGame(game, addresses)
        for side, account in enumerate(game.players):
            self._game_ids.setdefault(account.id, {})[game.id] = None
            self._record_departure((game.id, side))  # until the player opens its stream
        self._wake.set()

    # --- Changing games ---------------------------------------------------------------------------------

    async def start(self, challenge: ArenaChallenge, address: str = "") -> ReplayedGame:
        """Start the game of an accepted challenge and notify both players.

        Args:
            challenge: The challenge.
            address: Address of the player who accepted it.
        """
        async with self._accounts.start_lock:
            game = await self._begin(challenge)
        addresses = (challenge.address, address)
        self._add_live_game(game, addresses if challenge.challenger_side == 0 else addresses[::-1])
        if not self.slots.keys().isdisjoint(game.record.players):
            for each in filter(None, addresses):
                self.games_today.note(each)
        self._publish_to_accounts("gameStart", game)
        return game

    async def _begin(self, challenge: ArenaChallenge) -> ReplayedGame:
        at = now_utc()
        # Read again: the ratings may have changed since the challenge was made.
        players = [await self._require_active_account(account.id) for account in challenge.by_side()]
        variant, clock = challenge.variant, challenge.clock
        ratings = [wire.rating_in(account, variant.rating_key) for account in players]
        remaining_ms = None
        if clock is not None:  # of a 0+n clock the increment, at least three seconds (lila)
            remaining_ms = (1000 * (clock.initial_s or max(3, clock.increment_s)),) * 2
        record = ArenaGameRecord(
            id=challenge.id,
            variant=variant.key,
            rated=challenge.rated,
            initial_s=None if clock is None else clock.initial_s,
            increment_s=None if clock is None else clock.increment_s,
            players=(players[0].id, players[1].id),
            ratings=(round(ratings[0].rating), round(ratings[1].rating)),
            provisional=(ratings[0].is_provisional, ratings[1].is_provisional),
            rematch_of=challenge.rematch_of,
            moves=(),
            remaining_ms=remaining_ms,
            draw_offers=(False, False),
            takeback_offers=(False, False),
            status=STARTED,
            winner=None,
            rating_diffs=None,
            created_at=at,
            last_move_at=at,
            ended_at=None,
            initial_fen=challenge.initial_fen or (random_start() if variant.key == CHESS960 else None),
            turn_began_ms=round(self.clock() * 1000),
        )
        async with self._database.write() as session:
            await arena.add_game(session, record)
        return self._replay(record, await self._players(record))

    async def _require_active_account(self, account_id: str) -> AccountRecord:
        account = await self._accounts.get(account_id)
        if account is None or account.access is not ArenaAccess.ACTIVE:
            raise NotFound("A player of this challenge may not play here")
        return account

    async def change(self, game_id: str, step: Callable[[ReplayedGame], ReplayedGame]) -> ReplayedGame:
        """Change a game: either the change is committed and published, or nothing changes.

        Args:
            game_id: The game.
            step: A transition of `bot.arena.game`.

        Raises:
            ArenaRefusal: The rules do not allow the transition, or the game is over.
            NotFound: There is no such game.
        """
        live = self._live.get(game_id)
        if live is None:
            game = await self.find(game_id)
            if game.is_over:
                return step(game)  # every step refuses, with its own message
            raise NotFound("This game cannot be continued")
        async with live.lock:
            before = live.game
            after = step(before)
            if after is before or after.record == before.record:
                return before
            after = await self._commit(after)
            if len(after.record.moves) != len(before.record.moves):
                # Only now does the other side see the move: the wait for the database costs nobody time.
                after = replace(after, turn_began=max(after.turn_began, self.clock()))
            live.game = after
            if after.is_over:
                self._remove_live_game(after)
            self._publish_state(after)
        self._wake.set()
        return after

    async def _commit(self, game: ReplayedGame) -> ReplayedGame:
        """Commit a game, including the new ratings if it has ended."""
        record = replace(game.record, turn_began_ms=round(game.turn_began * 1000))
        game = replace(game, record=record)
        if not (game.is_over and record.rated and record.status != "aborted"):
            await self._save(record)
            return game
        async with self._rating_lock:  # two games of one account may end together
            players = await self._players(record)
            weight, unrated = await self._rating_weight(record, players)
            record = replace(record, unrated=unrated)
            if not weight:
                await self._save(record)
                return replace(game, record=record)
            before = [wire.rating_in(account, record.variant) for account in players]
            score = 0.5 if record.winner is None else 1.0 - record.winner
            limits = [await self._gain_limit(record, side, before[1 - side]) for side in (0, 1)]
            after = rate_game((before[0], before[1]), score, weight, (limits[0], limits[1]))
            diffs = [round(new.rating) - round(old.rating) for new, old in zip(after, before, strict=True)]
            record = replace(record, rating_diffs=(diffs[0], diffs[1]))
            ratings: dict[str, RatingRecord | None] = {}
            for account, new in zip(players, after, strict=True):
                known = account.ratings.get(record.variant)
                games = 1 if known is None else known.games + 1
                ratings[account.id] = RatingRecord(new.rating, new.deviation, new.volatility, games)
            await self._save(record, ratings)
        return replace(game, record=record)

    async def _save(
        self, record: ArenaGameRecord, ratings: Mapping[str, RatingRecord | None] = MappingProxyType({})
    ) -> None:
        """Store a game and its players' new ratings, keyed by account id; None deletes a rating."""
        async with self._database.write() as session:
            await arena.save_game(session, record)
            for account_id, rating in ratings.items():
                if rating is None:
                    await arena.delete_rating(session, account_id, record.variant)
                else:
                    await arena.save_rating(session, account_id, record.variant, rating)
        for account_id, rating in ratings.items():
            self._accounts.put_rating(account_id, record.variant, rating)

    async def _rating_weight(
        self, record: ArenaGameRecord, players: tuple[AccountRecord, AccountRecord]
    ) -> tuple[float, str | None]:
        """Return a finished game's weight in the ratings, and the reason if it does not count in full."""
        if self._share_address(*players):
            return 0.0, UnratedReason.ADDRESS
        first, second = record.players
        earlier = sum(each.opponent_id == second for each in await self._rated_before(record, first))
        weight = game_weight(earlier, self._config.full_games)
        if not weight:
            return weight, UnratedReason.PAIR
        return weight, UnratedReason.SHORT if self._is_short(record) else None

    def _is_short(self, record: ArenaGameRecord) -> bool:
        return len(record.moves) < self._config.rated_plies

    async def _rated_before(self, record: ArenaGameRecord, account_id: str) -> list[arena.RatedGame]:
        since = record.created_at - timedelta(hours=self._config.rating_window_h)
        async with self._database.read() as session:
            return await arena.list_rated_games(session, account_id, record, since)

    async def _gain_limit(self, record: ArenaGameRecord, side: int, opponent: Rating) -> GainLimit:
        """The limit on what a game may add to a side's rating.

        Args:
            record: The finished game.
            side: The side.
            opponent: The other side's rating before the game.
        """
        you, other = record.players[side], record.players[1 - side]
        network_games, beaten = 0, 0
        if opponent.is_provisional and record.winner != 1 - side:
            network_games = sum(
                each.is_provisional and self._share_network(each.opponent_id, other)
                for each in await self._rated_before(record, you)
            )
            async with self._database.read() as session:
                beaten = await arena.best_beaten_rating(session, you, self._own_bots(), record.variant)
        return gain_limit(
            opponent,
            is_short=self._is_short(record),
            is_ours=you in self._own_bots(),
            network_games=network_games,
            full_games=self._config.full_games,
            beaten=beaten,
        )

    async def void_ratings(self, game_id: str) -> ReplayedGame:
        """Undo a game's effect on its players' ratings.

        Returns:
            The game as it was before its effect was undone.

        Raises:
            ArenaRefusal: The game has changed no rating.
            NotFound: There is no such game.
        """
        async with self._rating_lock:
            game = await self.find(game_id)
            record = game.record
            if record.rating_diffs is None:
                raise ArenaRefusal(f"game {game_id} has changed no rating")
            after: dict[str, RatingRecord | None] = {}
            for account, diff in zip(game.players, record.rating_diffs, strict=True):
                rating = account.ratings.get(record.variant)
                if rating is not None:  # else the account was deleted
                    games = rating.games - 1
                    changed = replace(rating, rating=rating.rating - diff, games=games)
                    after[account.id] = changed if games > 0 else None
            await self._save(replace(record, rating_diffs=None, unrated=UnratedReason.VOID), after)
            self._accounts.edition += 1  # what is kept of the game shows what it did to the ratings
        return game

    def _remove_live_game(self, game: ReplayedGame) -> None:
        del self._live[game.id]
        for side, account in enumerate(game.players):
            games = self._game_ids[account.id]
            del games[game.id]
            if not games:
                del self._game_ids[account.id]
            self._gone_since.pop((game.id, side), None)
            self._announced_gone.discard((game.id, side))
        self._notices.pop(game.id, None)

    async def say(self, game: ReplayedGame, account: AccountRecord, room: str, text: str) -> None:
        """Store and publish a chat line.

        Raises:
            ArenaRefusal: The game's chat is full.
        """
        async with self._database.write() as session:
            if await arena.count_chat(session, game.id) >= MAX_CHAT_LINES:
                raise ArenaRefusal("The chat of this game is full")
            await arena.add_chat(
                session, game.id, account_id=account.id, room=room, text=text, created_at=now_utc()
            )
        line = wire.chat_line(ChatRecord(account.id, account.name, room, text))
        for side in (0, 1):
            for stream in self.game_streams.of((game.id, side)):
                stream.send(line)

    def close_streams(self, account_id: str) -> None:
        """End all streams of an account."""
        self.account_streams.close(account_id)
        for game in self.games_of(account_id):
            self.game_streams.close((game.id, game.record.players.index(account_id)))

    # --- Publishing -------------------------------------------------------------------------------------

    def listen_to_account(self, account: AccountRecord, stream: Stream, limit: int) -> None:
        """Send the account's running games and later events to a stream."""
        self.account_streams.add(account.id, stream, limit)
        now = self.clock()
        for game in self.games_of(account.id):
            stream.send(wire.game_event("gameStart", game, game.record.players.index(account.id), now))

    def listen_to_game(self, game: ReplayedGame, side: int, stream: Stream, limit: int) -> None:
        """Send a game and its later events to a stream; close the stream at once if the game is over."""
        live = self._live.get(game.id)
        game = live.game if live is not None else game
        seat = (game.id, side)
        self.game_streams.add(seat, stream, limit)
        full = wire.game_full(game, self.clock(), self._config.first_move_s)
        full["state"] |= self._notice_fields(game)
        stream.send(self._with_view(full, game, side, stream))
        if game.is_over:
            stream.close()
            return
        self._gone_since.pop(seat, None)
        if seat in self._announced_gone:
            self._announced_gone.discard(seat)
            self._announce_gone(seat, gone=False)
        if (game.id, 1 - side) in self._announced_gone:
            stream.send(wire.opponent_gone(True))

    def is_claimable(self, game: ReplayedGame, side: int) -> bool:
        """Whether the player has been away long enough for the opponent to claim the game."""
        since = self._gone_since.get((game.id, side))
        return since is not None and self.clock() - since >= self._config.gone_s

    def _record_departure(self, seat: PlayerSide) -> None:
        live = self._live.get(seat[0])
        if live is not None and live.game.clock is not None:  # without a clock players may leave
            self._gone_since[seat] = self.clock()
            self._wake.set()

    def _with_view(self, message: wire.Json, game: ReplayedGame, side: int, stream: Stream) -> wire.Json:
        if not stream.wants_view:
            return message
        return views.with_view(message, game, side, are_clocks_stopped=self._are_clocks_stopped())

    def _publish_state(self, game: ReplayedGame) -> None:
        now = self.clock()
        state = wire.game_state(game, now, self._config.first_move_s) | self._notice_fields(game)
        for side in (0, 1):
            lines: dict[bool, bytes] = {}  # made once, however many listen
            for stream in self.game_streams.of((game.id, side)):
                if stream.wants_view not in lines:
                    lines[stream.wants_view] = line_of(self._with_view(state, game, side, stream))
                stream.send_line(lines[stream.wants_view])
                if game.is_over:
                    stream.close()
        if game.is_over:
            self._publish_to_accounts("gameFinish", game)
        self.on_change(game)

    def publish_clocks(self) -> None:
        """Send the state of the clocks to all players of running games after the clocks were stopped or
        restarted."""
        for live in self._live.values():
            self._publish_state(live.game)

    def _publish_to_accounts(self, kind: str, game: ReplayedGame) -> None:
        now = self.clock()
        for side, account in enumerate(game.players):
            for stream in self.account_streams.of(account.id):
                stream.send(wire.game_event(kind, game, side, now))

    def _announce_gone(self, seat: PlayerSide, *, gone: bool) -> None:
        for stream in self.game_streams.of((seat[0], 1 - seat[1])):
            stream.send(wire.opponent_gone(gone))

    # --- Time -------------------------------------------------------------------------------------------

    def next_deadline(self) -> float:
        """The arena's time at which `tick` is next due; infinity if no deadline is pending."""
        deadlines = [live.game.deadline(self._config.first_move_s) for live in self._live.values()]
        gone = [
            since + self._config.gone_s
            for seat, since in self._gone_since.items()
            if seat not in self._announced_gone
        ]
        idle = [notice.deadline for notice in self._notices.values()]
        idle += [max(self.clock(), at) for at in self._next_notices().values()]
        return min([each for each in deadlines if each is not None] + gone + idle, default=float("inf"))

    async def tick(self) -> None:
        """End games that are out of time or idle; announce the players who have left."""
        for game_id, live in list(self._live.items()):
            if self._is_due(live.game):
                await self.change(game_id, self._run_out)
        await self._end_idle_games()
        now = self.clock()
        for seat, since in self._gone_since.items():
            if seat not in self._announced_gone and now - since >= self._config.gone_s:
                self._announced_gone.add(seat)
                self._announce_gone(seat, gone=True)

    # --- Idle games -------------------------------------------------------------------------------------

    def want_slot(self, program_id: str, *, has_clock: bool) -> None:
        """Ask for one of our bot's games; if all are in use, idle ones soon end (`idle_limit_s`)."""
        if program_id in self.slots:
            self._wanted[program_id, has_clock] = self.clock() + WANTED_S
            self._wake.set()

    def _idle_s(self, game: ReplayedGame) -> float:
        """Seconds for which the opponent of one of our bots has been thinking; 0 if the bot is to move."""
        mover = game.record.players[game.to_move]
        is_ours = not self.slots.keys().isdisjoint(game.record.players) and mover not in self.slots
        return self.clock() - game.turn_began if is_ours else 0.0

    def _next_notices(self) -> dict[str, float]:
        """When which idle game is due for a notice; at most one for each bot and kind of game."""
        due = {}
        for (bot, has_clock), until in self._wanted.items():
            games = [each for each in self.games_of(bot) if (each.clock is not None) == has_clock]
            is_full = len(games) >= self.slots[bot].max_games(has_clock=has_clock)
            if not is_full or any(each.id in self._notices for each in games):
                continue
            times = {
                each.id: each.turn_began + idle_limit_s(each.record.initial_s)
                for each in games
                if self._idle_s(each)
            }
            if times and (first := min(times, key=times.__getitem__)) and times[first] <= until:
                due[first] = times[first]
        return due

    async def _end_idle_games(self) -> None:
        now = self.clock()
        self._wanted = {key: until for key, until in self._wanted.items() if until > now}
        for game_id, notice in list(self._notices.items()):
            live = self._live.get(game_id)
            if live is None or live.game.turn_began != notice.turn_began:
                del self._notices[game_id]  # the player has moved
            elif notice.deadline <= now:
                await self.change(game_id, partial(self._end_idle, notice))
        for game_id, at in self._next_notices().items():
            if at <= now:
                game = self._live[game_id].game
                self._notices[game_id] = IdleNotice(game.turn_began, now + NOTICE_S)
                self._publish_state(game)

    def _end_idle(self, notice: IdleNotice, game: ReplayedGame) -> ReplayedGame:
        # Checked again: a move may have come in while this waited for the lock.
        is_idle = game.turn_began == notice.turn_began
        return transitions.end_idle(game, self.instant()) if is_idle else game

    def _notice_fields(self, game: ReplayedGame) -> wire.Json:
        notice = self._notices.get(game.id)
        if notice is None or notice.turn_began != game.turn_began:
            return {}
        return {"slotWanted": {"millisToMove": max(0, round((notice.deadline - self.clock()) * 1000))}}

    def _is_due(self, game: ReplayedGame) -> bool:
        deadline = game.deadline(self._config.first_move_s)
        return deadline is not None and deadline <= self.clock()

    def _run_out(self, game: ReplayedGame) -> ReplayedGame:
        # Checked again: a move may have come in while this waited for the lock.
        return transitions.end_by_deadline(game, self.instant()) if self._is_due(game) else game
