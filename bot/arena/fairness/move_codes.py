"""One-time codes that move a nickname to another device.

Codes are kept only in memory, as hashes, for ten minutes; an account has at most one code at a time.
"""

import hashlib
import secrets
from collections.abc import Callable

CODE_LIFETIME_S = 600.0
_LETTERS = "ABCDEFGHJKMNPQRSTVWXYZ23456789"  # none of them looks like another
_GROUPS, _GROUP = 3, 4


class MoveCodes:
    """The codes that are currently valid."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._codes: dict[str, tuple[bytes, float]] = {}
        """Hash and expiry time of each account's code; oldest code first."""

    def issue(self, account_id: str) -> str:
        """Create a code for an account; it replaces any earlier one."""
        letters = [secrets.choice(_LETTERS) for _ in range(_GROUPS * _GROUP)]
        code = "-".join("".join(letters[at : at + _GROUP]) for at in range(0, len(letters), _GROUP))
        self._forget_old()
        self._codes.pop(account_id, None)
        self._codes[account_id] = _hash(code), self._clock() + CODE_LIFETIME_S
        return code

    def redeem(self, code: str) -> str | None:
        """Redeem a code; return its account, or None if the code is invalid."""
        self._forget_old()
        wanted = _hash(code)
        account_key = next((key for key, (hashed, _) in self._codes.items() if hashed == wanted), None)
        if account_key is not None:
            del self._codes[account_key]
        return account_key

    def _forget_old(self) -> None:
        now = self._clock()
        for account_id, (_, until) in list(self._codes.items()):
            if until > now:
                break
            del self._codes[account_id]


def _hash(code: str) -> bytes:
    letters = "".join(letter for letter in code.upper() if letter in _LETTERS)
    return hashlib.sha256(letters.encode()).digest()
