"""How many games and unanswered challenges an account, and an address, may have at once.

A waiting challenge holds the place of the game that it may become: whoever accepts it is not refused for the
sake of its challenger.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A game or a waiting challenge."""

    players: tuple[str, str]
    """Ids of the accounts."""
    holders: tuple[tuple[str, str], ...]
    """Whom it counts for: of a game both players, of a challenge its challenger, each with the address, which
    is empty where it is not known or does not count."""


@dataclass(frozen=True, slots=True)
class Places:
    """The limits on places."""

    per_account: int
    per_address: int
    per_opponent: int
    """Of one account and its address with the same program."""

    def refusal(
        self, taken: Iterable[Place], account_id: str, address: str, program_id: str | None
    ) -> str | None:
        """Why an account gets no further place; None: it does.

        Args:
            taken: The games and the waiting challenges.
            account_id: Who asks.
            address: Where from; empty: not counted, and neither is the account.
            program_id: The opponent, if it is a program.
        """
        if not address:
            return None
        by_account = by_address = with_it = 0
        for place in taken:
            is_own = any(account_id == holder for holder, _ in place.holders)
            is_near = any(address == where for _, where in place.holders)
            by_account += is_own
            by_address += is_near
            with_it += (is_own or is_near) and program_id in place.players
        if by_account >= self.per_account:
            return f"You already have {self.per_account} games and unanswered challenges"
        if by_address >= self.per_address:
            return f"Your address already has {self.per_address} games and unanswered challenges"
        if with_it >= self.per_opponent:
            return f"Your address already has {self.per_opponent} games or challenges with this opponent"
        return None
