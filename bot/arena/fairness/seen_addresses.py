"""Remembers which accounts shared a network address or a network, without storing either.

Addresses are hashed with a key created at startup and kept only in memory, for the rating rules' window.
"""

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Callable

from bot.arena.proxies import networks

_MAX_ACCOUNTS = 20_000
_MAX_PER_ACCOUNT = 8


class SeenAddresses:
    """The addresses that each account has used within a time window."""

    def __init__(self, window_s: float, clock: Callable[[], float]) -> None:
        self._window_s = window_s
        self._clock = clock
        self._key = secrets.token_bytes(16)
        self._seen: OrderedDict[str, OrderedDict[tuple[bytes, ...], float]] = OrderedDict()
        """For each account, the hashes of its addresses and of the networks around them, with the time of
        their latest use."""

    def note(self, account_id: str, address: str) -> None:
        """Record that an account sent a request from an address."""
        own = self._seen.setdefault(account_id, OrderedDict())
        self._seen.move_to_end(account_id)
        digests = self._digests(address)
        own[digests] = self._clock()
        own.move_to_end(digests)
        if len(own) > _MAX_PER_ACCOUNT:
            own.popitem(last=False)
        if len(self._seen) > _MAX_ACCOUNTS:
            self._seen.popitem(last=False)

    def have_shared_address(self, first_id: str, second_id: str) -> bool:
        """Whether two accounts shared a household's address (IPv6: a /56) within the window."""
        return not self._current(first_id, -2).isdisjoint(self._current(second_id, -2))

    def have_shared_network(self, first_id: str, second_id: str) -> bool:
        """Whether two accounts shared a network (IPv4: a /24, IPv6: a /48) within the window."""
        return not self._current(first_id, -1).isdisjoint(self._current(second_id, -1))

    def was_at(self, account_id: str, address: str) -> bool:
        """Whether an account used a household's address within the window."""
        return self._digests(address)[-2] in self._current(account_id, -2)

    def _digests(self, address: str) -> tuple[bytes, ...]:
        digests = [
            hashlib.blake2b(each.encode(errors="replace"), key=self._key, digest_size=8).digest()
            for each, _ in networks(address)
        ]
        return (digests[0], *digests)  # text that is not an address has no network around it

    def _current(self, account_id: str, level: int) -> set[bytes]:
        """Hashes of the account's networks at one level, an index into the result of `networks`."""
        own = self._seen.get(account_id, OrderedDict())
        since = self._clock() - self._window_s
        for digests in [each for each, at in own.items() if at < since]:
            del own[digests]
        return {digests[level] for digests in own}
