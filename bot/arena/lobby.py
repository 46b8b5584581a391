"""Open challenges, from the moment one is made to the game it becomes.

They live in memory only: they run out within seconds, and after a restart of the server nobody waits for
them, since an event stream tells on opening which ones there are.
"""

import math
import secrets
import string
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from bot.arena import wire
from bot.arena.challenges import ArenaChallenge, ChallengeStatus, Crowded, check
from bot.arena.game import ArenaRefusal, ReplayedGame
from bot.arena.referee import NotFound, Referee
from bot.arena.streams import Stream
from bot.arena.variants import FROM_POSITION, ArenaVariant
from bot.base.events import Clock, DeclineReason
from storage.arena import AccountRecord

MAX_WAITING = 20
"""Unanswered challenges that an account may have out."""
MAX_FOR_ONE, MAX_FROM_ADDRESS = 30, 40
"""Unanswered challenges to one account, and from everybody at one address."""
HELD_S = 300.0
"""A challenge that its challenger holds runs out, too, after so many seconds: it counts against the others of
its address."""
_REMEMBERED = 1000  # settled challenges that can still be looked up

_ALPHABET = string.ascii_letters + string.digits


def new_id() -> str:
    """Eight characters, as Lichess' game ids."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(8))


class ArenaLobby:
    """The challenges that wait, and those lately settled."""

    def __init__(
        self,
        referee: Referee,
        *,
        expiry_s: float,
        base_url: Callable[[], str],
        wake: Callable[[], None],
        draw_side: Callable[[], int] = lambda: secrets.randbelow(2),
    ) -> None:
        self._referee = referee
        self._expiry_s = expiry_s
        self._base_url = base_url
        self._wake = wake
        self._draw_side = draw_side
        self._waiting: dict[str, ArenaChallenge] = {}
        self._settled: OrderedDict[str, ArenaChallenge] = OrderedDict()
        self._held: dict[str, Stream] = {}
        """Answers to those who wait on the line, by challenge."""

    # --- What an account may do -------------------------------------------------------------------------

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
        address: str = "",
    ) -> ArenaChallenge:
        """Challenge somebody.

        Raises:
            Refused: To oneself, on terms that are not played here, or too many at once.
            Crowded: Too many wait for this opponent, or come from this address.
        """
        if challenger.id == opponent.id:
            raise ArenaRefusal("You cannot challenge yourself")
        check(variant, clock, rated=rated)
        if sum(each.challenger.id == challenger.id for each in self._waiting.values()) >= MAX_WAITING:
            raise ArenaRefusal(f"You already have {MAX_WAITING} challenges waiting for an answer")
        for_one = [each for each in self._waiting.values() if each.opponent.id == opponent.id]
        if len(for_one) >= MAX_FOR_ONE:
            raise self._crowded(f"Too many challenges wait for {opponent.name}", for_one)
        from_address = [each for each in self._waiting.values() if address and each.address == address]
        if len(from_address) >= MAX_FROM_ADDRESS:
            raise self._crowded("Too many challenges from your address wait for an answer", from_address)
        challenge = ArenaChallenge(
            id=new_id(),
            challenger=challenger,
            opponent=opponent,
            variant=variant,
            rated=rated,
            clock=clock,
            colour=colour,
            challenger_side=self._draw_side() if colour == "random" else variant.side(colour),
            rematch_of=rematch_of,
            initial_fen=initial_fen,
            deadline=self._referee.clock() + self._expiry_s,
            address=address,
        )
        self._waiting[challenge.id] = challenge
        self._tell("challenge", challenge)
        self._wake()
        return challenge

    async def rematch(
        self, match: ReplayedGame, account: AccountRecord, opponent: AccountRecord, address: str
    ) -> ArenaChallenge:
        """Challenge the other player of a finished game on the same terms, with the colours swapped.

        Where the other player has offered it already, that challenge is accepted.

        Raises:
            Refused: The game still goes on; or as `create`.
        """
        if not match.is_over:
            raise ArenaRefusal("The game is not over yet")
        for offer in self._waiting.values():
            if (offer.rematch_of, offer.challenger.id, offer.opponent.id) == (
                match.id,
                opponent.id,
                account.id,
            ):
                await self.accept(offer.id, account)
                return self.find(offer.id, account)
        side = match.record.players.index(account.id)
        return self.create(
            account,
            opponent,
            variant=match.variant,
            rated=match.record.rated,
            clock=match.clock,
            colour=match.variant.colours[1 - side],
            rematch_of=match.id,
            # A game of Chess960 is followed by one from another start.
            initial_fen=match.record.initial_fen if match.variant.key == FROM_POSITION else None,
            address=address,
        )

    async def accept(self, challenge_id: str, account: AccountRecord) -> ReplayedGame:
        """Begin the game of a challenge to the account.

        Raises:
            NotFound: No such challenge waits for this account.
        """
        challenge = self._waiting.get(challenge_id)
        if challenge is None or challenge.opponent.id != account.id:
            raise NotFound("No such challenge")
        # Taken out before anything is awaited: only one of two answers can win.
        del self._waiting[challenge_id]
        try:
            match = await self._referee.start(challenge)
        except BaseException:
            self._waiting[challenge_id] = challenge
            raise
        self._settle(replace(challenge, status=ChallengeStatus.ACCEPTED))
        return match

    def hold(self, challenge: ArenaChallenge) -> Stream:
        """Keep a challenge from running out for `HELD_S`; the stream tells what becomes of it."""
        stream = self._held[challenge.id] = Stream()
        stream.send(self.shown(challenge, challenge.challenger.id))
        if challenge.id in self._waiting:
            deadline = self._referee.clock() + HELD_S
            self._waiting[challenge.id] = replace(challenge, deadline=deadline)
            self._wake()
        return stream

    def release(self, challenge_id: str) -> None:
        """The challenger has hung up: now the challenge runs out as others do."""
        self._held.pop(challenge_id, None)
        if challenge := self._waiting.get(challenge_id):
            deadline = self._referee.clock() + self._expiry_s
            self._waiting[challenge_id] = replace(challenge, deadline=deadline)
            self._wake()

    def decline(self, challenge_id: str, account: AccountRecord, reason: DeclineReason) -> None:
        """Say no to a challenge to the account.

        Raises:
            NotFound: No such challenge waits for this account.
        """
        challenge = self._waiting.get(challenge_id)
        if challenge is None or challenge.opponent.id != account.id:
            raise NotFound("No such challenge")
        self._end("challengeDeclined", replace(challenge, status=ChallengeStatus.DECLINED, reason=reason))

    def cancel(self, challenge_id: str, account: AccountRecord) -> None:
        """Take a challenge of the account's own back.

        Raises:
            NotFound: The account has no such challenge out.
        """
        challenge = self._waiting.get(challenge_id)
        if challenge is None or challenge.challenger.id != account.id:
            raise NotFound("No such challenge")
        self._end("challengeCanceled", replace(challenge, status=ChallengeStatus.CANCELED))

    # --- What there is ----------------------------------------------------------------------------------

    def waiting_for(self, account_id: str) -> list[ArenaChallenge]:
        """Unanswered challenges from and to the account, oldest first."""
        return [
            each for each in self._waiting.values() if account_id in (each.challenger.id, each.opponent.id)
        ]

    def find(self, challenge_id: str, account: AccountRecord) -> ArenaChallenge:
        """A challenge from or to the account, waiting or settled lately.

        Raises:
            NotFound: There is none.
        """
        challenge = self._waiting.get(challenge_id) or self._settled.get(challenge_id)
        if challenge is None or account.id not in (challenge.challenger.id, challenge.opponent.id):
            raise NotFound("No such challenge")
        return challenge

    def shown(self, challenge: ArenaChallenge, viewer: str) -> wire.Json:
        """A challenge as one of the two sees it."""
        online = (
            self._referee.is_online(challenge.challenger.id),
            self._referee.is_online(challenge.opponent.id),
        )
        return wire.challenge(challenge, viewer, self._base_url(), online)

    def listen(self, account: AccountRecord, stream: Stream) -> None:
        """Tell a new stream the challenges that wait."""
        for challenge in self.waiting_for(account.id):
            stream.send(wire.challenge_event("challenge", self.shown(challenge, account.id)))

    # --- Time -------------------------------------------------------------------------------------------

    def next_deadline(self) -> float:
        """When `tick` next has something to do; infinity: nothing in sight."""
        return min((each.deadline for each in self._waiting.values()), default=float("inf"))

    def tick(self) -> None:
        """Withdraw the challenges that have run out."""
        now = self._referee.clock()
        for challenge in list(self._waiting.values()):
            if challenge.deadline <= now:
                self._end("challengeCanceled", replace(challenge, status=ChallengeStatus.CANCELED))

    def _crowded(self, message: str, crowd: list[ArenaChallenge]) -> Crowded:
        # One that is held has no deadline; its challenger may hang up at any time.
        wait_s = min(min(each.deadline for each in crowd) - self._referee.clock(), self._expiry_s)
        return Crowded(message, max(1, math.ceil(wait_s)))

    def _end(self, kind: str, challenge: ArenaChallenge) -> None:
        del self._waiting[challenge.id]
        self._settle(challenge)
        self._tell(kind, challenge)

    def _settle(self, challenge: ArenaChallenge) -> None:
        self._settled[challenge.id] = challenge
        if stream := self._held.pop(challenge.id, None):
            stream.send({"done": challenge.status.value})
            stream.close()
        while len(self._settled) > _REMEMBERED:
            self._settled.popitem(last=False)

    def _tell(self, kind: str, challenge: ArenaChallenge) -> None:
        for account in (challenge.challenger, challenge.opponent):
            shown = self.shown(challenge, account.id)
            for stream in self._referee.account_streams.of(account.id):
                stream.send(wire.challenge_event(kind, shown))
