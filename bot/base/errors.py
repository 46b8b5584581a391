"""The bot's exceptions, sorted by what the caller should do.

::

    DesdemonaError
    +-- ConfigError       stop, and tell the operator which setting is wrong
    +-- ServerError       something a server said or failed to say
        +-- TransientError    wait (`retry_after_s` when the server named a time), then try again
        +-- AuthError         stop, and tell the operator
        +-- RefusedError      the server understood and said no: read the state again, never repeat blindly
        +-- ProtocolError     drop this game or message, and keep what was received
"""


class DesdemonaError(Exception):
    """Anything that this program raises on purpose."""


class ConfigError(DesdemonaError):
    """A setting is missing, unknown or out of range; the message names it and where it stands."""


class ServerError(DesdemonaError):
    """Trouble with a game server."""


class TransientError(ServerError):
    """A lost link, a time-out, 429 or 5xx, an error in other words than the site's own (a proxy's page), or a
    404 for a move, since only the game's stream tells whether there is such a game: it may work later.
    """

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class AuthError(ServerError):
    """The server does not accept the token, also when asked about nothing but the account."""


class RefusedError(ServerError):
    """The server said no (4xx), for instance to a move that is out of turn."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status

    @property
    def is_forbidden(self) -> bool:
        """It is the account that may not do this, whatever was asked."""
        return self.status in (401, 403)


class ProtocolError(ServerError):
    """The server said what cannot be understood."""

    def __init__(self, message: str, raw: object = None) -> None:
        super().__init__(message)
        self.raw = raw
