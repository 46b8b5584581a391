"""Adapters to game servers: each translates a site's protocol to `bot.base.events` and a few actions.

A site costs a wire module (bytes to events and back, no I/O) and an I/O module; sites that speak nearly the
same share both and differ by a row of data (`bot.base.dialects`).
"""

import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Protocol

from bot.base.dialects import Ability
from bot.base.errors import AuthError, ServerError
from bot.base.events import AccountEvent, Bot, DeclineReason, GameEvent, MoveInfo, Proposal, Reply, Room

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Account:
    """Who the token belongs to."""

    id: str
    """The site's stable key for the account."""
    name: str
    is_bot: bool
    games: int | None = None
    """Played so far; None when the site does not tell."""
    about: str = ""
    """What else the operator should know; empty: nothing."""


class Server(Protocol):
    """What every adapter offers.

    Calls raise the `ServerError`s of `bot.base.errors`.  The two event streams are single connections: the
    end of the iteration and `TransientError` both mean a lost link, and `bot.base.reconnect` opens the next
    one.  A None among the events says that the link is open and alive, and no more.
    """

    @property
    def site(self) -> str:
        """The site's name in the database and in logs."""

    @property
    def login(self) -> str:
        """The account's name where it is known beforehand, and signing in once more throws out whoever plays
        by it; empty elsewhere."""

    async def account(self) -> Account:
        """Ask who we are."""

    def account_events(self) -> AsyncIterator[AccountEvent | None]:
        """Challenges and the starts and ends of games.  Opening it tells all current ones again."""

    def game_events(self, game_id: str) -> AsyncIterator[GameEvent | None]:
        """One game: a `GameSnapshot` first, then what happens; also for a game that has ended already.

        A `GameAdjourned` ends it, and is all that is told as long as the game is adjourned.  Raises
        `RefusedError` when there is no such game, with status 404; `ProtocolError` when it cannot be
        understood.
        """

    async def playing(self) -> list[str]:
        """Ids of the games that are going on."""

    async def accept(self, challenge_id: str) -> None:
        """`RefusedError` when the challenge is gone."""

    async def decline(self, challenge_id: str, reason: DeclineReason) -> None: ...

    def can(self, ability: Ability) -> bool:
        """Whether the site knows such requests; what it does not know raises `RefusedError`."""

    @property
    def lag_s(self) -> float:
        """Seconds that a move is on its way to the server and its answer back, as measured; 0 at first."""

    async def move(
        self, game_id: str, move: str, *, offer_draw: bool = False, found_by_search: MoveInfo | None = None
    ) -> None:
        """Play a move, and tell what we think of it where the site wants to know.

        `RefusedError`: not our turn, not legal, or the game is over: read the state again.  After a
        `TransientError` the move may have been played all the same: only the answer was lost; or the site
        knows no such game for the moment, which only `game_events` may decide.
        """

    async def chat(self, game_id: str, text: str, room: Room = Room.PLAYER) -> None:
        """Say something; what is too long for the site is cut."""

    async def answer_draw(self, game_id: str, accept: bool) -> None: ...

    async def answer_takeback(self, game_id: str, accept: bool) -> None: ...

    async def abort(self, game_id: str) -> None:
        """End a game that has not begun: `RefusedError` once both have moved."""

    async def resign(self, game_id: str) -> None: ...

    async def claim_victory(self, game_id: str) -> None:
        """Claim the game of an opponent who left (see `OpponentGone.claim_win_in_s`)."""

    async def claim_draw(self, game_id: str) -> None:
        """End the game of an opponent who left with half a point."""

    async def challenge(self, opponent_id: str, proposal: Proposal) -> Reply:
        """Ask somebody for a game, and wait for the answer.  Cancelling withdraws the challenge.

        A site may leave out the answer (`Reply.accepted` is None), and a link be lost before it: a game that
        comes of the challenge all the same is told with the account's events.  A `RefusedError` that is
        forbidden (we may challenge nobody) says what may be missing.
        """

    async def online_bots(self) -> list[Bot]:
        """Other programs that could be challenged."""

    def rating_list(self, proposal: Proposal) -> str:
        """Which of `Bot.ratings` is about such games."""

    async def upgrade(self) -> None:
        """Make the account a program's, for good; `RefusedError`: it has played games."""

    async def export(self, game_id: str) -> dict[str, Any]:
        """The site's own record of a game, in its own words: for the operator's eyes and for checks."""

    async def rating_diff(self, game_id: str, name: str) -> int | None:
        """Change of an account's rating by a finished game; None: unrated, or the site keeps quiet."""

    async def close(self) -> None:
        """Give back the connections; the adapter cannot be used afterwards."""


async def goes_on(server: Server, game_id: str) -> bool | None:
    """Whether a server counts a game among the running ones; None: that cannot be had from it just now.

    Raises:
        AuthError: It does not accept us any more.
    """
    try:
        return game_id in await server.playing()
    except AuthError:
        raise
    except ServerError as error:
        logger.info("game %s: cannot ask whether it goes on: %s", game_id, error)
        return None
