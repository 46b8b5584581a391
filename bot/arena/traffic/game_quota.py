"""Limits the games and unanswered challenges per account and per address.

A waiting challenge counts as a game, so accepting it never exceeds the challenger's quota.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from bot.base.config import ArenaConfig


@dataclass(frozen=True, slots=True)
class QuotaEntry:
    """A game or a waiting challenge."""

    players: tuple[str, str]
    """Ids of the accounts."""
    holders: tuple[tuple[str, str], ...]
    """The accounts whose quota is used (both players of a game, or the challenger), with their
    addresses. An address is empty if it is unknown or exempt."""


def quota_refusal(
    config: ArenaConfig, taken: Iterable[QuotaEntry], account_id: str, address: str, program_id: str | None
) -> str | None:
    """Why an account is not allowed to start another game or challenge; None if it is allowed.

    Args:
        config: The limits; games of the account and of its address both count towards the limit per opponent.
        taken: The games and waiting challenges that use quotas.
        account_id: The caller.
        address: The caller's address; if it is empty, no limits apply.
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
    if by_account >= config.games_per_account:
        return f"You already have {config.games_per_account} games and unanswered challenges"
    if by_address >= config.games_per_address:
        return f"Your address already has {config.games_per_address} games and unanswered challenges"
    if with_it >= config.games_per_opponent:
        return f"Your address already has {config.games_per_opponent} games or challenges with this opponent"
    return None
