"""The interface of all adapters to game servers (`bot.servers`), and the account that an adapter uses."""

# ruff: noqa: ARG002 - bodies that use no argument are for sites that cannot do it

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from bot.base.config import ChallengesConfig
from bot.base.dialects import Capability
from bot.base.errors import AuthError, NotTried, ProtocolError, RefusedError, ServerError
from bot.base.events import (
    AccountEvent,
    Bot,
    DeclineReason,
    GameEvent,
    GameSnapshot,
    ListedGame,
    MoveInfo,
    Proposal,
    Reply,
    Room,
    Tournament,
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Account:
    """The account that the token belongs to."""

    id: str
    """The site's stable key for the account."""
    name: str
    is_bot: bool
    games: int | None = None
    """Number of games played so far; None if the site does not report it."""
    about: str = ""
    """Further information for the operator; empty if there is none."""
    is_closed: bool = False
    """Whether the account is closed, so that it cannot play."""


Check = tuple[str, Callable[[], Awaitable[str]]]
"""Name of a check for the operator, and the function that carries it out."""


class UnplayableGame(ProtocolError):
    """A game of ours whose position or moves our rules refuse.

    Args:
        message: The reason.
        raw: What was received.
        snapshot: What is known of the game, without its position and moves.
    """

    def __init__(self, message: str, raw: object, snapshot: GameSnapshot) -> None:
        super().__init__(message, raw)
        self.snapshot = snapshot


class Server(Protocol):
    """The interface of every adapter.

    Calls raise the `ServerError`s of `bot.base.errors`.  The two event streams are single connections: the
    end of the iteration and `TransientError` both mean a lost link, and `bot.base.reconnect` opens the next
    one.  A None among the events is a keep-alive.

    The methods with a body are the defaults for sites that lack a capability; other adapters override them.
    """

    @property
    def site(self) -> str:
        """The site's name in the database and in logs."""

    @property
    def login(self) -> str:
        """The account's name, if it is known before the login and a second login would end the first;
        otherwise empty."""

    async def account(self) -> Account:
        """Request the data of our own account."""

    def set_challenge_rules(self, challenges: ChallengesConfig, has_room: Callable[[int], bool]) -> None:
        """Apply the challenge rules that the site enforces, or that we cannot apply ourselves on this site.

        Args:
            challenges: The current settings; each change causes another call.
            has_room: Returns whether a given number of further games may begin now.
        """

    def account_events(self) -> AsyncIterator[AccountEvent | None]:
        """Yield challenges, game starts and game ends, beginning with all current challenges and games."""

    def game_events(self, game_id: str) -> AsyncGenerator[GameEvent | None, None]:
        """Yield a `GameSnapshot` of a game, and then its events; also works for finished games.

        A `GameAdjourned` ends the stream, and is its only event while the game is adjourned.  Raises
        `RefusedError` with status 404 if the game does not exist, `ProtocolError` if it is malformed; if the
        message says which game it is, an `UnplayableGame`.
        """

    async def running_game_ids(self) -> list[str]:
        """Ids of the running games."""

    async def accept(self, challenge_id: str) -> None:
        """Accept a challenge; raises `RefusedError` if the challenge no longer exists."""

    async def decline(self, challenge_id: str, reason: DeclineReason) -> None: ...

    def supports(self, capability: Capability) -> bool:
        """Whether the site supports a kind of request; unsupported requests raise `RefusedError`."""

    @property
    def lag_s(self) -> float:
        """Measured round trip of a move to the server, in seconds; 0 before the first measurement."""

    async def move(
        self, game_id: str, move: str, *, offer_draw: bool = False, info: MoveInfo | None = None
    ) -> None:
        """Play a move, and send our evaluation of it if the site accepts evaluations.

        Raises `RefusedError` if it is not our turn, the move is illegal or the game is over: read the state
        again. After a `TransientError`, the server may have played the move although the answer was lost, or
        it may be temporarily unable to find the game; only `game_events` shows which is the case.
        """

    async def chat(self, game_id: str, text: str, room: Room = Room.PLAYER) -> None:
        """Send a chat message, cut to the site's limit."""

    async def answer_draw(self, game_id: str, accept: bool) -> None:
        raise _unsupported_error(self, "draws by agreement")

    async def answer_takeback(self, game_id: str, accept: bool) -> None:
        raise _unsupported_error(self, "takebacks")

    async def abort(self, game_id: str) -> None:
        """Abort a game that has not begun; raises `RefusedError` once both players have moved."""

    async def resign(self, game_id: str) -> None: ...

    async def claim_victory(self, game_id: str) -> None:
        """Claim a win because the opponent left (see `OpponentGone.claim_win_in_s`)."""
        raise _unsupported_error(self, "claims")

    async def claim_draw(self, game_id: str) -> None:
        """Claim a draw because the opponent left."""
        raise _unsupported_error(self, "claims")

    async def challenge(self, opponent_id: str, proposal: Proposal) -> Reply:
        """Challenge a player and wait for the answer; cancelling this call withdraws the challenge.

        The site may give no answer (`Reply.accepted` is None), or the link may be lost before the answer. If
        the game begins later, the account's events report it. A `RefusedError` with `is_forbidden` (we lack
        the right to challenge) says which permission may be missing.
        """

    async def online_bots(self) -> list[Bot]:
        """Other programs that we could challenge."""

    def rating_list(self, proposal: Proposal) -> str:
        """The key of `Bot.ratings` for the proposed games."""

    async def tournament(self, tournament_id: str) -> Tournament:
        """Request a tournament's description; raises `RefusedError` with status 404 if it does not exist."""
        raise _unsupported_error(self, "tournaments to join")

    async def join_tournament(self, tournament_id: str, *, password: str = "", team: str = "") -> None:
        """Join a tournament, or return to it after a pause; its games begin without challenges.

        Args:
            tournament_id: The site's id.
            password: The tournament's password; empty if it needs none.
            team: The site's id of our team in a team battle; empty if it is not a team battle.

        Raises:
            RefusedError: We are not allowed to join; if a permission may be missing, the message names it.
        """
        raise _unsupported_error(self, "tournaments to join")

    async def leave_tournament(self, tournament_id: str) -> None:
        """Leave a tournament, or pause until we join it again; a game that has begun continues.

        Raises the same errors as `join_tournament`.
        """
        raise _unsupported_error(self, "tournaments to join")

    async def upgrade(self) -> None:
        """Turn the account into a bot account permanently; raises `RefusedError` if it has played games."""
        raise _unsupported_error(self, "bot accounts")

    async def export(self, game_id: str) -> dict[str, Any]:
        """Request the site's record of a game in the site's own format, for the operator and for checks."""
        raise _unsupported_error(self, "game records")

    async def finished_games(self, since: datetime) -> list[ListedGame]:
        """Our games that began at or after a time and are over, in any order; at most the site's limit."""
        raise _unsupported_error(self, "list of games")

    async def rating_diff(self, game_id: str, name: str) -> int | None:
        """Rating change of an account after a finished game; None if unrated or not reported."""
        return None

    def checks(self, *, may_challenge: bool) -> Sequence[Check]:
        """What can be checked after `account`, for the operator.

        A check returns what it found, and raises `NotTried` or the error that it found.

        Args:
            may_challenge: Whether we want to challenge others.
        """
        return ()

    async def check_stream(self, challenges: ChallengesConfig) -> str:
        """Open the account's stream, wait until the site sends something, and close it.

        A program that is listening to the same account may lose its stream or events.
        """
        raise NotTried(f"{self.site} has no separate stream")

    async def close(self) -> None:
        """Close the connections; the adapter cannot be used afterwards."""


def _unsupported_error(server: Server, what: str) -> RefusedError:
    return RefusedError(f"{server.site} has no {what}", 404)


async def is_game_running(server: Server, game_id: str) -> bool | None:
    """Whether a server lists a game as running; None if the server cannot answer now.

    Raises:
        AuthError: The server no longer accepts our account.
    """
    try:
        return game_id in await server.running_game_ids()
    except AuthError:
        raise
    except ServerError as error:
        logger.info("game %s: cannot check whether it is running: %s", game_id, error)
        return None
