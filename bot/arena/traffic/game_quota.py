"""Limits the games and unanswered challenges per account, per address and per network.

A waiting challenge counts as a game, so accepting it never exceeds the challenger's quota.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from bot.arena.proxies import networks
from bot.base.config import ArenaConfig


@dataclass(frozen=True, slots=True)
class QuotaEntry:
    """A game or a waiting challenge."""

    players: tuple[str, str]
    """Ids of the accounts."""
    holders: tuple[tuple[str, str], ...]
    """The accounts whose quota is used (both players of a game, or the challenger), with their
    addresses. An address is empty if it is unknown or exempt."""
    has_clock: bool = True
    is_resting: bool = False
    """Whether the game needs none of a bot's slots (see `bot.arena.traffic.bot_slots`)."""


def is_in_network(entry: QuotaEntry, network: str) -> bool:
    """Whether a holder's address is in a network, given by its key."""
    return any(network == each for _, address in entry.holders if address for each, _ in networks(address))


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
    taken = list(taken)
    own = [entry for entry in taken if any(account_id == holder for holder, _ in entry.holders)]
    if len(own) >= config.games_per_account:
        return f"You already have {config.games_per_account} games and unanswered challenges"
    for network, factor in networks(address):
        near = [entry for entry in taken if is_in_network(entry, network)]
        if (count := len(near)) >= config.games_per_address * factor:
            if factor > 1:
                return f"Your network already has {count} games and unanswered challenges"
            return f"Your address already has {count} games and unanswered challenges"
        if factor == 1:
            near += [entry for entry in own if not is_in_network(entry, network)]
        if (
            count := sum(program_id in entry.players for entry in near)
        ) >= config.games_per_opponent * factor:
            if factor > 1:
                return f"Your network already has {count} games or challenges with this opponent"
            return f"Your address already has {count} games or challenges with this opponent"
    return None
