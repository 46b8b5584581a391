"""The bot's exceptions, grouped by the caller's reaction.

::

    DesdemonaError
    +-- ConfigError       stop, and show the operator which setting is wrong
    +-- NotTried          tell the operator that a check was not carried out
    +-- ServerError       a failed exchange with a server
        +-- TransientError    wait (`retry_after_s` if the server named a time), then try again
        +-- AuthError         stop, and inform the operator
        +-- RefusedError      the server refused: read the state again, never repeat blindly
        +-- ProtocolError     drop this game or message, and log what was received
"""

import errno

DISK_FULL_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Causes outside the program that make a write fail: a full disk, or a quota or file size limit."""


class DesdemonaError(Exception):
    """Base of all exceptions that this program raises on purpose."""


class ConfigError(DesdemonaError):
    """A setting is missing, unknown or out of range; the message names the setting and its source."""


class NotTried(DesdemonaError):
    """Something was not checked; the message says why."""


class ServerError(DesdemonaError):
    """A failure in the exchange with a game server."""


class TransientError(ServerError):
    """A failure that may be temporary: a lost link, a time-out, 429 or 5xx, an error page that is not the
    site's own (a proxy's), or a 404 for a move, because only the game's stream shows whether the game exists.
    """

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class PausedError(TransientError):
    """A request was not sent, because the server demands a pause of `pause_s` seconds."""

    def __init__(self, message: str, pause_s: float) -> None:
        super().__init__(message, pause_s)
        self.pause_s = pause_s


class AuthError(ServerError):
    """The server refuses the token, even for a request about the account itself."""


class RefusedError(ServerError):
    """The server refused a request (4xx), for instance a move that is out of turn."""

    def __init__(self, message: str, status: int, said: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.said = said
        """The server's message; empty if there was none."""

    @property
    def is_forbidden(self) -> bool:
        """Whether the server refuses the account every request of this kind."""
        return self.status in (401, 403)


class ProtocolError(ServerError):
    """A message from the server that we cannot parse."""

    def __init__(self, message: str, raw: object = None) -> None:
        super().__init__(message)
        self.raw = raw
