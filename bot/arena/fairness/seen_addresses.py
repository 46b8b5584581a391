"""Remembers which accounts shared a network address, without storing the address.

Addresses are hashed with a key created at startup and kept only in memory, for the rating rules' window.
"""

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Callable

_MAX_ACCOUNTS = 20_000
_MAX_PER_ACCOUNT = 8


class SeenAddresses:
    """The addresses that each account has used within a time window."""

    def __init__(self, window_s: float, clock: Callable[[], float]) -> None:
        self._window_s = window_s
        self._clock = clock
        self._key = secrets.token_bytes(16)
        self._seen: OrderedDict[str, OrderedDict[bytes, float]] = OrderedDict()

    def note(self, account_id: str, address: str) -> None:
        """Record that an account sent a request from an address."""
        own = self._seen.setdefault(account_id, OrderedDict())
        self._seen.move_to_end(account_id)
        digest = self._digest(address)
        own[digest] = self._clock()
        own.move_to_end(digest)
        if len(own) > _MAX_PER_ACCOUNT:
            own.popitem(last=False)
        if len(self._seen) > _MAX_ACCOUNTS:
            self._seen.popitem(last=False)

    def have_shared_address(self, first_id: str, second_id: str) -> bool:
        """Whether two accounts shared an address within the window."""
        return not self._current(first_id).isdisjoint(self._current(second_id))

    def was_at(self, account_id: str, address: str) -> bool:
        """Whether an account used an address within the window."""
        return self._digest(address) in self._current(account_id)

    def _digest(self, address: str) -> bytes:
        return hashlib.blake2b(address.encode(errors="replace"), key=self._key, digest_size=8).digest()

    def _current(self, account_id: str) -> set[bytes]:
        own = self._seen.get(account_id, OrderedDict())
        since = self._clock() - self._window_s
        for digest in [each for each, at in own.items() if at < since]:
            del own[digest]
        return set(own)
