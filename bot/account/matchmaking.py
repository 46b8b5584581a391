"""Challenges other bots while the account is idle: a pure function chooses a bot, and a task challenges it.

Limits hold across restarts: events in the database record which challenges were sent and who declined them,
and stored games record the opponents.
"""

import logging
import random
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from bot.account.challenge_policy import is_on_name_list
from bot.account.odds import at_odds
from bot.base.config import ChallengesConfig, MatchmakingConfig, parse_clock
from bot.base.dialects import DIALECTS, Capability, Dialect
from bot.base.errors import RefusedError, ServerError, TransientError
from bot.base.event_log import log_event
from bot.base.events import Bot, Proposal, Reply
from bot.game.services import GameServices
from storage.errors import StorageError
from storage.ledger.events import list_events
from storage.ledger.games import count_bot_games
from storage.tables.types import now_utc

logger = logging.getLogger(__name__)

SENT, ACCEPTED, DECLINED = "matchmaking_sent", "matchmaking_accepted", "matchmaking_declined"
"""Kinds of matchmaking events in the database."""

MATCHMAKING_REFUSAL_PAUSE_S = 3600.0
"""Pause after the server refuses challenges, in seconds; the cause may be temporary."""

_DAY = timedelta(hours=24)

SendChallenge = Callable[[Bot, Proposal], Awaitable[Reply | None]]
"""Sends a challenge and returns the answer, or None if we withdrew the challenge to free its slot."""


@dataclass(frozen=True, slots=True)
class MatchmakingHistory:
    """Recent challenges and games, from the database."""

    sent: int = 0
    """Number of challenges sent in the last 24 hours."""
    last_opponent: str = ""
    """Id of the program we challenged last; empty if we challenged none in the last 24 hours."""
    resting: Collection[str] = ()
    """Ids of programs that we do not challenge for now, because they declined or did not answer."""
    bot_games: Mapping[str, int] = field(default_factory=dict)
    """Number of games against each program in the last 24 hours, keyed by program id."""


def are_daily_limits_reached(
    history: MatchmakingHistory, config: MatchmakingConfig, limits: ChallengesConfig
) -> bool:
    """Whether the daily limits rule out any further challenge."""
    return history.sent >= config.per_day or sum(history.bot_games.values()) >= limits.max_bot_games_per_day


def choose_opponent(
    bots: Sequence[Bot],
    history: MatchmakingHistory,
    config: MatchmakingConfig,
    limits: ChallengesConfig,
    *,
    our_name: str,
    blocked: Collection[str],
    rating_list: Callable[[Proposal], str],
    rng: random.Random,
    dialect: Dialect,
    odds: Collection[str] = (),
) -> tuple[Bot, Proposal] | None:
    """Choose the next challenge; return None if there is no suitable opponent.

    Args:
        bots: The programs online, possibly including ourselves.
        history: Recent challenges and games.
        config: The operator's settings.
        limits: Limits on games against programs, whichever side sent the challenge.
        our_name: Name of our account.
        blocked: Names and ids not to challenge, besides those in the settings.
        rating_list: Returns the rating list in which a proposed game would be rated.
        rng: Source of randomness.
        dialect: The site.
        odds: The names of odds that we may give.
    """
    us = next((bot for bot in bots if is_on_name_list(bot.id, bot.name, [our_name])), None)
    avoided = (our_name, *config.block, *limits.block, *blocked, *history.resting)
    others = [
        bot
        for bot in bots
        if not is_on_name_list(bot.id, bot.name, avoided)
        and history.bot_games.get(bot.id, 0) < limits.max_games_per_bot_per_day
    ]
    proposals = [
        Proposal(variant, config.rated, parse_clock(clock))
        for variant in config.variants
        for clock in config.clocks
    ]
    rng.shuffle(proposals)
    for proposal in proposals:
        counts = rating_list(proposal)
        ours = None if us is None else us.ratings.get(counts)
        fitting = [bot for bot in others if _is_rating_suitable(bot.ratings.get(counts), ours, config)]
        fresh = [bot for bot in fitting if bot.id != history.last_opponent] or fitting
        if fresh:
            chosen = rng.choice(fresh)
            return chosen, at_odds(proposal, dialect, (ours, chosen.ratings.get(counts)), odds, rng)
    return None


def _is_rating_suitable(theirs: int | None, ours: int | None, config: MatchmakingConfig) -> bool:
    """Whether the ratings are within the limits; unrated programs qualify only if there are no limits."""
    if theirs is None:
        return config.min_rating == 0 and config.max_rating == config.max_rating_difference == 5000
    return config.min_rating <= theirs <= config.max_rating and (
        ours is None or abs(theirs - ours) <= config.max_rating_difference
    )


class Matchmaker:
    """Sends challenges while the account is idle; call `run` in a separate task.

    Args:
        services: The services that all games share.
        idle_time_s: Returns the seconds since a game was last running or a challenge was last waiting.
        ask: Sends a challenge and waits for the answer.
        blocked: Names and ids not to challenge, besides those in the settings.
    """

    def __init__(
        self,
        services: GameServices,
        *,
        idle_time_s: Callable[[], float],
        ask: SendChallenge,
        blocked: Callable[[], Collection[str]],
    ) -> None:
        self._services = services
        self._server = services.server
        self._idle_time_s = idle_time_s
        self._ask = ask
        self._blocked = blocked

    @property
    def _config(self) -> MatchmakingConfig:
        return self._services.config.matchmaking

    async def run(self) -> None:
        """Challenge others until cancelled; return immediately if matchmaking is disabled or unsupported.

        All errors are handled here, so they never cost a game. If the server refuses the account, the
        account's own stream reports it.
        """
        if not self._config.enabled:
            return
        if not self._server.supports(Capability.CHALLENGE):
            logger.warning("matchmaking: %s does not let programs send challenges", self._server.site)
            return
        while True:
            wait_s = self._config.idle_s
            try:
                while (left_s := self._config.idle_s - self._idle_time_s()) > 0:
                    await self._services.sleep(left_s)
                await self._challenge()
            except TransientError as error:
                wait_s = max(wait_s, error.retry_after_s or 0.0)
                logger.info("matchmaking: %s; next try in %.0f s", error, wait_s)
            except (ServerError, StorageError) as error:
                if isinstance(error, RefusedError) and error.is_forbidden:
                    wait_s = max(wait_s, MATCHMAKING_REFUSAL_PAUSE_S)
                    logger.warning("matchmaking: %s; next try in %.0f s", error, wait_s)
                else:
                    logger.warning("matchmaking: %s", error)
            except Exception:
                logger.exception("matchmaking: crashed; next try in %.0f s", wait_s)
            await self._services.sleep(wait_s)

    async def _challenge(self) -> None:
        history, limits = await self._history(), self._services.config.challenges
        if are_daily_limits_reached(history, self._config, limits):
            logger.debug("matchmaking: daily limit reached; challenges: %d", history.sent)
            return
        picked = choose_opponent(
            await self._server.online_bots(),
            history,
            self._config,
            limits,
            our_name=self._services.bot_name,
            blocked=self._blocked(),
            rating_list=self._server.rating_list,
            rng=self._services.rng,
            dialect=DIALECTS[self._server.site],
            odds=self._services.config.manners.odds,
        )
        if picked is None:
            logger.debug("matchmaking: no suitable opponent; challenges today: %d", history.sent)
            return
        bot, proposal = picked
        if self._idle_time_s() < self._config.idle_s:  # a game or challenge arrived during the queries
            return
        clock = proposal.clock
        detail = {
            "opponent": bot.id,
            "variant": proposal.variant,
            "clock": f"{clock.initial_s}+{clock.increment_s}",
        }
        # Recorded before it is sent: else a crashing program could send it again and again, uncounted.
        await self._record(SENT, detail)
        logger.info("matchmaking: challenging %s to %s %s", bot.name, proposal.variant, detail["clock"])
        try:
            reply = await self._ask(bot, proposal)
        except RefusedError as error:
            if error.is_forbidden:
                raise
            reply = Reply("", False, str(error))  # the program plays no such games, or too many today
        if reply is None:
            logger.info("matchmaking: challenge withdrawn; another player needs the slot")
        elif reply.accepted is None:
            logger.info("matchmaking: %s: challenge %s: %s", bot.name, reply.challenge_id, reply.reason)
        elif reply.accepted:
            logger.info("matchmaking: %s accepted: game %s", bot.name, reply.challenge_id)
            await self._record(ACCEPTED, {**detail, "challenge": reply.challenge_id})
        else:
            logger.info("matchmaking: %s declined: %s", bot.name, reply.reason)
            await self._record(DECLINED, {**detail, "reason": reply.reason[:500]})

    async def _history(self) -> MatchmakingHistory:
        now, owner = now_utc(), self._services.owner
        resting_since = now - timedelta(seconds=self._config.pause_after_decline_s)
        async with self._services.database.read() as session:
            sent = await list_events(session, owner=owner, kind=SENT, since=now - _DAY)
            declined = await list_events(session, owner=owner, kind=DECLINED, since=resting_since)
            games = await count_bot_games(session, owner, now - _DAY)
        return MatchmakingHistory(
            sent=len(sent),
            last_opponent=sent[0].detail["opponent"] if sent else "",
            resting=frozenset(event.detail["opponent"] for event in declined),
            bot_games=games,
        )

    async def _record(self, kind: str, detail: Mapping[str, str]) -> None:
        async with self._services.database.write() as session:
            await log_event(session, self._services.owner, kind, detail, metrics=self._services.metrics)
