"""Limits open streams per account and per address, and chooses which to close at the limit.

A stream is needed if its account is played by this program, or is in a game and has no newer stream of the
same kind. All other streams (anonymous clients, further tabs) can be closed at the limit, newest first.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from enum import IntEnum

from aiohttp import web

from bot.arena.proxies import networks
from bot.arena.streams import Stream


class Priority(IntEnum):
    """Kinds of clients, in the order in which their streams are closed at the limit."""

    ANONYMOUS = 0
    PLAYER = 1
    """Clients that are in a game."""
    OURS = 2
    """Accounts played by this program; no limits apply."""


@dataclass(frozen=True, slots=True, eq=False)
class OpenStreamEntry:
    """An open stream and its reader."""

    stream: Stream
    account_id: str
    """Id of the account; empty for spectators."""
    address: str
    kind: Hashable
    """Identifies the content: streams of the same account and kind carry the same messages."""
    protocol: web.RequestHandler


def close_at_once(connection: web.RequestHandler) -> None:
    """Close a connection immediately, even if the client has not read everything that was sent."""
    transport = connection.transport
    connection.force_close()
    if transport is not None:
        transport.abort()


class OpenStreams:
    """All open streams, oldest first.

    Args:
        per_account: Maximum number of streams of an account.
        per_address: Maximum number of streams of all accounts at one address; networks may have multiples.
        priority: Returns the priority of an account, given its id.
    """

    def __init__(self, *, per_account: int, per_address: int, priority: Callable[[str], Priority]) -> None:
        self._per_account = per_account
        self._per_address = per_address
        self._priority = priority
        self._open: dict[Stream, OpenStreamEntry] = {}

    def admit(self, listening: OpenStreamEntry) -> bool:
        """Add a stream; at the limit, close a stream that is not needed.

        Returns:
            Whether the stream was added; if not, the caller must refuse it.
        """
        priority = self._priority(listening.account_id)
        if priority is not Priority.OURS:
            opened = list(self._open.values())
            own = [each for each in opened if each.account_id == listening.account_id != ""]
            crowds = [(self._per_account, own)]
            for network in networks(listening.address):
                near = [each for each in opened if network in networks(each.address)]
                crowds.append((self._per_address * network[1], near))
            for most, crowd in crowds:
                if len(crowd) >= most and not (priority is Priority.PLAYER and self._close_unneeded(crowd)):
                    return False
        self._open[listening.stream] = listening
        return True

    def release(self, stream: Stream) -> None:
        """Remove a stream that has ended; does nothing if it was already removed."""
        self._open.pop(stream, None)

    def make_room(self, among: Iterable[web.RequestHandler]) -> bool:
        """Close one stream that is not needed.

        Args:
            among: The connections from which to choose.

        Returns:
            Whether a stream was closed.
        """
        crowd = set(among)
        return self._close_unneeded([each for each in self._open.values() if each.protocol in crowd])

    def _close_unneeded(self, crowd: list[OpenStreamEntry]) -> bool:
        newest = {(each.account_id, each.kind): each for each in self._open.values()}
        for each in reversed(crowd):
            priority = self._priority(each.account_id)
            is_surplus = priority is Priority.PLAYER and newest[each.account_id, each.kind] is not each
            if priority is Priority.ANONYMOUS or is_surplus:
                self.release(each.stream)
                each.stream.close()
                close_at_once(each.protocol)
                return True
        return False
