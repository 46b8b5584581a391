"""Open challenges, from their creation until their games start.

Challenges are kept in memory only. A challenge soon expires, and after a server restart new event streams no
longer contain it.
"""

import math
import secrets
import string
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from itertools import chain

from bot.arena import wire
from bot.arena.challenges import ArenaChallenge, ChallengeStatus, ServerBusy, check
from bot.arena.game import ArenaRefusal, ReplayedGame
from bot.arena.referee import NotFound, Referee
from bot.arena.streams import Stream
from bot.arena.traffic.bot_slots import slot_refusal
from bot.arena.traffic.game_quota import QuotaEntry, quota_refusal
from bot.arena.variants import FROM_POSITION, ArenaVariant
from bot.base.config import ArenaConfig
from bot.base.events import Clock, DeclineReason
from engine.opponents.odds import Odds, odds_from_start
from storage.arena.accounts import AccountRecord

MAX_CHALLENGES_PER_ACCOUNT = 30
"""Maximum number of unanswered challenges to one account."""
SLOT_RETRY_AFTER_S = 60
"""Retry-After when all slots are busy, in seconds."""
CHALLENGE_LIFETIME_S = 300.0
"""Lifetime of a challenge, in seconds, while its challenger keeps the connection open. The lifetime is
limited because the challenge uses part of a quota that all players at the same address share."""
_MAX_SETTLED_CHALLENGES = 1000  # settled challenges that can still be looked up

_ALPHABET = string.ascii_letters + string.digits


def new_id() -> str:
    """A random id of eight characters, like Lichess's game ids."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(8))


def _start_of_rematch(game: ReplayedGame) -> str | None:
    """The starting position of a rematch, in which the same player gives the same odds, if any."""
    start = game.record.initial_fen
    if given := odds_from_start(game.variant.game_name, start):
        odds, side = given
        return odds.starts[1 - side]
    # A rematch at Chess960 gets a new random start.
    return start if game.variant.key == FROM_POSITION else None


class ArenaLobby:
    """The waiting challenges and the recently settled ones."""

    def __init__(
        self,
        referee: Referee,
        config: ArenaConfig,
        *,
        base_url: Callable[[], str],
        wake: Callable[[], None],
    ) -> None:
        self._referee = referee
        self._config = config
        self._base_url = base_url
        self._wake = wake
        self._waiting: dict[str, ArenaChallenge] = {}
        self._starting: dict[str, ArenaChallenge] = {}
        """Accepted challenges whose games have not started yet."""
        self._settled: OrderedDict[str, ArenaChallenge] = OrderedDict()
        self._held: dict[str, Stream] = {}
        """Streams of challengers who wait for the answer, keyed by challenge id."""

    # --- Actions of an account --------------------------------------------------------------------------

    def create(
        self,
        challenger: AccountRecord,
        opponent: AccountRecord,
        *,
        variant: ArenaVariant,
        rated: bool,
        clock: Clock | None,
        colour: str,
        rematch_of: str | None = None,
        initial_fen: str | None = None,
        odds: Odds | None = None,
        address: str = "",
    ) -> ArenaChallenge:
        """Challenge a player.

        Args:
            odds: Odds that the opponent gives the challenger; they set the starting position.

        Raises:
            ArenaRefusal: The opponent is the challenger or an offline person, or the terms are not allowed.
            ServerBusy: Too many challenges are waiting for this opponent, or the account or its address has
                reached its limit of games and challenges.
        """
        if challenger.id == opponent.id:
            raise ArenaRefusal("You cannot challenge yourself")
        # A person's page shows challenges while somebody looks at it, which only an open stream tells us.
        is_seen = opponent.is_bot or self._referee.account_streams.is_listening(opponent.id)
        if challenger.is_bot and not is_seen:
            raise ArenaRefusal(f"{opponent.name} is a person; only programs can be challenged")
        challenger_side = secrets.randbelow(2) if colour == "random" else variant.side(colour)
        if odds is not None:
            initial_fen = odds.starts[1 - challenger_side]
        is_at_odds = odds_from_start(variant.game_name, initial_fen) is not None
        check(variant, clock, rated=rated, is_at_odds=is_at_odds)
        for_one = [each for each in self._waiting.values() if each.opponent.id == opponent.id]
        if len(for_one) >= MAX_CHALLENGES_PER_ACCOUNT:
            raise self._server_busy(f"Too many challenges are waiting for {opponent.name}", for_one)
        self._require_quota(challenger.id, address, opponent, has_clock=clock is not None)
        challenge = ArenaChallenge(
            id=new_id(),
            challenger=challenger,
            opponent=opponent,
            variant=variant,
            rated=rated,
            clock=clock,
            colour=colour,
            challenger_side=challenger_side,
            rematch_of=rematch_of,
            initial_fen=initial_fen,
            deadline=self._referee.clock() + self._config.challenge_expiry_s,
            address=address,
        )
        self._waiting[challenge.id] = challenge
        self._publish("challenge", challenge)
        self._wake()
        return challenge

    async def rematch(
        self, game: ReplayedGame, account: AccountRecord, opponent: AccountRecord, address: str
    ) -> ArenaChallenge:
        """Challenge the opponent of a finished game again, on the same terms with the colours swapped.

        If the opponent has already offered a rematch, accept that challenge. A game has only one rematch;
        further requests return the waiting or accepted challenge.

        Raises:
            ArenaRefusal: The game is still running, or `create` refuses the challenge.
        """
        if not game.is_over:
            raise ArenaRefusal("The game is not over yet")
        for offer in self._waiting.values():
            if (offer.rematch_of, offer.challenger.id, offer.opponent.id) == (
                game.id,
                opponent.id,
                account.id,
            ):
                await self.accept(offer.id, account, address)
                return self.find(offer.id, account)
        if challenge := self._rematch_of(game.id):
            return challenge
        side = game.record.players.index(account.id)
        return self.create(
            account,
            opponent,
            variant=game.variant,
            rated=game.record.rated,
            clock=game.clock,
            colour=game.variant.colours[1 - side],
            rematch_of=game.id,
            initial_fen=_start_of_rematch(game),
            address=address,
        )

    def _rematch_of(self, game_id: str) -> ArenaChallenge | None:
        """A game's rematch challenge that is waiting, about to start or accepted; None if there is none."""
        accepted = (each for each in self._settled.values() if each.status is ChallengeStatus.ACCEPTED)
        open_ones = chain(self._waiting.values(), self._starting.values())
        return next((each for each in chain(open_ones, accepted) if each.rematch_of == game_id), None)

    async def accept(self, challenge_id: str, account: AccountRecord, address: str) -> ReplayedGame:
        """Accept a challenge for an account that connects from the given address, and start the game.

        Raises:
            NotFound: The account has no such incoming challenge.
            ServerBusy: The account or its address has reached its limit of games and challenges.
        """
        challenge = self._waiting_to(challenge_id, account)
        # Removed before the first await, so that only one of two concurrent answers wins.
        del self._waiting[challenge_id]
        try:
            has_clock = challenge.clock is not None
            self._require_quota(account.id, address, challenge.challenger, has_clock=has_clock)
            self._starting[challenge_id] = challenge
            game = await self._referee.start(challenge, address)
        except BaseException:
            self._waiting[challenge_id] = challenge
            raise
        finally:
            self._starting.pop(challenge_id, None)
        self._settle(replace(challenge, status=ChallengeStatus.ACCEPTED))
        return game

    def extend_deadline(self, challenge: ArenaChallenge) -> Stream:
        """Keep a challenge open for `CHALLENGE_LIFETIME_S`; return a stream that will carry its outcome."""
        stream = self._held[challenge.id] = Stream()
        stream.send(self.shown(challenge, challenge.challenger.id))
        if challenge.id in self._waiting:
            deadline = self._referee.clock() + CHALLENGE_LIFETIME_S
            self._waiting[challenge.id] = replace(challenge, deadline=deadline)
            self._wake()
        return stream

    def release(self, challenge_id: str) -> None:
        """Restore the usual deadline of a challenge after its challenger has disconnected."""
        self._held.pop(challenge_id, None)
        if challenge := self._waiting.get(challenge_id):
            deadline = self._referee.clock() + self._config.challenge_expiry_s
            self._waiting[challenge_id] = replace(challenge, deadline=deadline)
            self._wake()

    def decline(self, challenge_id: str, account: AccountRecord, reason: DeclineReason) -> None:
        """Decline a challenge to an account.

        Raises:
            NotFound: The account has no such incoming challenge.
        """
        challenge = self._waiting_to(challenge_id, account)
        self._end("challengeDeclined", replace(challenge, status=ChallengeStatus.DECLINED, reason=reason))

    def cancel(self, challenge_id: str, account: AccountRecord) -> None:
        """Cancel a challenge that an account has sent.

        Raises:
            NotFound: The account has no such outgoing challenge.
        """
        challenge = self._waiting.get(challenge_id)
        if challenge is None or challenge.challenger.id != account.id:
            raise NotFound("No such challenge")
        if challenge.address:  # who challenges and withdraws again and again takes no last slots
            self._referee.games_today.note(challenge.address)
        self._cancel(challenge)

    def cancel_all(self, account_id: str) -> None:
        """Cancel every waiting challenge from or to an account."""
        for challenge in self.waiting_for(account_id):
            self._cancel(challenge)

    # --- Queries ----------------------------------------------------------------------------------------

    def waiting_for(self, account_id: str) -> list[ArenaChallenge]:
        """Unanswered challenges from and to an account, oldest first."""
        return [
            each for each in self._waiting.values() if account_id in (each.challenger.id, each.opponent.id)
        ]

    def find(self, challenge_id: str, account: AccountRecord) -> ArenaChallenge:
        """An account's incoming or outgoing challenge that is waiting, about to start or recently settled.

        Raises:
            NotFound: There is no such challenge.
        """
        known = (self._waiting, self._starting, self._settled)
        challenge = next((each[challenge_id] for each in known if challenge_id in each), None)
        if challenge is None or account.id not in (challenge.challenger.id, challenge.opponent.id):
            raise NotFound("No such challenge")
        return challenge

    def shown(self, challenge: ArenaChallenge, viewer: str) -> wire.Json:
        """A challenge from the viewpoint of one of its two players."""
        online = (
            self._referee.is_online(challenge.challenger.id),
            self._referee.is_online(challenge.opponent.id),
        )
        return wire.challenge(challenge, viewer, self._base_url(), online)

    def listen(self, account: AccountRecord, stream: Stream) -> None:
        """Send the waiting challenges to a new stream."""
        for challenge in self.waiting_for(account.id):
            stream.send(wire.challenge_event("challenge", self.shown(challenge, account.id)))

    # --- Time -------------------------------------------------------------------------------------------

    def next_deadline(self) -> float:
        """The time at which `tick` is next due, on the arena's clock; infinity if never."""
        return min((each.deadline for each in self._waiting.values()), default=float("inf"))

    def tick(self) -> None:
        """Cancel the challenges that have expired."""
        now = self._referee.clock()
        for challenge in list(self._waiting.values()):
            if challenge.deadline <= now:
                self._cancel(challenge)

    def _waiting_to(self, challenge_id: str, account: AccountRecord) -> ArenaChallenge:
        challenge = self._waiting.get(challenge_id)
        if challenge is None or challenge.opponent.id != account.id:
            raise NotFound("No such challenge")
        return challenge

    def _require_quota(
        self, account_id: str, address: str, opponent: AccountRecord, *, has_clock: bool
    ) -> None:
        """Check that the limits allow an account another game or challenge.

        Raises:
            ServerBusy: The account has reached its limit of games and challenges, or our bot has no slot.
        """
        waiting = (
            QuotaEntry(
                (each.challenger.id, each.opponent.id),
                ((each.challenger.id, each.address),),
                each.clock is not None,
            )
            for each in chain(self._waiting.values(), self._starting.values())
        )
        taken = [*self._referee.quota_entries(), *waiting]
        program_id = opponent.id if opponent.is_bot else None
        why = quota_refusal(self._config, taken, account_id, address, program_id)
        if why is None and (slots := self._referee.slots.get(opponent.id)):
            self._referee.want_slot(opponent.id, has_clock=has_clock)
            why = slot_refusal(
                self._config,
                slots.of(has_clock=has_clock),
                [each for each in taken if opponent.id in each.players and each.has_clock == has_clock],
                address,
                has_played=self._referee.games_today.has_played(address),
            )
        if why:
            raise ServerBusy(why, SLOT_RETRY_AFTER_S, "games")

    def _server_busy(self, message: str, crowd: list[ArenaChallenge]) -> ServerBusy:
        # Held challenges have late deadlines, but their challengers may hang up at any time.
        wait_s = min(each.deadline for each in crowd) - self._referee.clock()
        wait_s = min(wait_s, self._config.challenge_expiry_s)
        return ServerBusy(message, max(1, math.ceil(wait_s)))

    def _cancel(self, challenge: ArenaChallenge) -> None:
        self._end("challengeCanceled", replace(challenge, status=ChallengeStatus.CANCELED))

    def _end(self, kind: str, challenge: ArenaChallenge) -> None:
        del self._waiting[challenge.id]
        self._settle(challenge)
        self._publish(kind, challenge)

    def _settle(self, challenge: ArenaChallenge) -> None:
        self._settled[challenge.id] = challenge
        if stream := self._held.pop(challenge.id, None):
            stream.send({"done": challenge.status.value})
            stream.close()
        while len(self._settled) > _MAX_SETTLED_CHALLENGES:
            self._settled.popitem(last=False)

    def _publish(self, kind: str, challenge: ArenaChallenge) -> None:
        for account in (challenge.challenger, challenge.opponent):
            shown = self.shown(challenge, account.id)
            for stream in self._referee.account_streams.of(account.id):
                stream.send(wire.challenge_event(kind, shown))
