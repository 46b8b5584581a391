"""Learns from the judged games of each person, on idle threads: the fold of `engine.person.state`.

Each game is added to its person's state in one transaction of its own, in the order of the games' ends
(`storage.ledger.persons` says which games and replies count, and in which order), so an interruption loses at
most the work on one game and changes no state. The same transaction adds what the game tells about the people
of the site (`engine.person.site`) to the site's state. With other models or other constants, states have
another version: this task removes the older ones at its start and builds them again from the ledger, as it
does for a database of an earlier release. Of several programs that share a database, one does this.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Set
from functools import partial
from typing import Any

from bot.threads.fair_queue import JobRank
from bot.threads.role_worker import RoleWorker
from bot.threads.search_pool import SearchPool
from engine.decision import Decision, Person
from engine.errors import RecordError
from engine.expected import WHOLE
from engine.game import IllegalMove, positions, starting_position
from engine.games import GAMES, get_rules
from engine.human.model import BadModel
from engine.human.opponent_model_search import GameModels
from engine.human.person_prior import estimated_side_time_s
from engine.human.registry import ModelRegistry
from engine.human.reply_forecast import ReplyForecast
from engine.person.card import PersonModel
from engine.person.faced import face, person_model_of
from engine.person.site import SiteGame, SiteModel, SiteReply
from engine.person.site_state import SiteState
from engine.person.state import FoldedGame, FoldedReply, PersonState, fold_game
from engine.search.reference import Searcher
from engine.stop import StopFlag
from storage.database import Database, Role
from storage.errors import RoleTaken
from storage.ledger.persons import (
    FoldStep,
    GameToFold,
    PersonKey,
    RecordedReply,
    StoredState,
    games_of_persons,
    next_fold,
    persons_to_fold,
    programs_with_states,
    queue_outdated,
    restart_state,
    skip_game,
    store_state,
)
from storage.ledger.sites import sites_to_sum, sum_site
from storage.packing.records import unpack
from storage.records import GameResult

logger = logging.getLogger(__name__)

ROLE = "person-fold"
"""The role on the database that the program holds while it learns."""
_DIGITS = 6
"""As in the records of forecasts."""


class PersonFold(RoleWorker):
    """Learns from all judged games; call `run` in a task of its own, and `wake` when a game was judged.

    Args:
        database: Open.
        pool: Its idle threads do the work.
        models: Models of people.
        sleep: As `asyncio.sleep`.
    """

    def __init__(
        self,
        database: Database,
        pool: SearchPool,
        models: ModelRegistry,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(database, ROLE, "learn from judged games", sleep)
        self._pool = pool
        self._models = models
        self._versions: dict[str, str] = {}
        """The version of each game's states, for the games of which states of other versions are gone."""

    async def _work(self, role: Role) -> None:
        await self.fold_all(role)

    async def fold_all(self, role: Role) -> int:
        """Bring all states forward as far as possible now; return the number of games that were added.

        Args:
            role: Held, for `ROLE`.

        Raises:
            StorageError: The database failed, or the role was lost.
        """
        async with self._database.read() as session:
            games = await games_of_persons(session)
        await self._remove_outdated(games - self._versions.keys(), role)
        async with self._database.read() as session:
            programs = await programs_with_states(session)
        for each in programs:
            await self._restart(each, role)
        async with self._database.read() as session:
            persons = await persons_to_fold(session, self._versions.keys())
        return sum([await self._fold_person(each, role) for each in persons])

    async def _remove_outdated(self, games: Set[str], role: Role) -> None:
        versions = await asyncio.to_thread(_versions, games, self._models)
        if not versions:
            return
        async with self._database.write() as session:
            await role.verify(session)
            count = await queue_outdated(session, versions)
            missing = await sites_to_sum(session, versions)
        for site in missing:
            async with self._database.write() as session:
                await role.verify(session)
                await sum_site(session, site, versions[site.game])
        if count:
            logger.info("what was learned of persons by other models is learned again: %d", count)
        self._versions |= versions

    async def _fold_person(self, person: PersonKey, role: Role) -> int:
        count = 0
        while True:
            try:
                async with self._database.read() as session:
                    step = await next_fold(session, person)
            except RecordError as error:
                logger.warning(
                    "%s: the games of opponent %d cannot be read: %s", person.game, person.opponent_id, error
                )
                return count
            if step is None:
                return count
            if step.is_late:
                await self._restart(person, role)
                continue
            try:
                new = await self._state_after(step)
            except BadModel as error:
                logger.warning("nothing is learned of persons for now: %s", error)
                return count
            except RecordError as error:
                logger.warning(
                    "%s: what was learned of opponent %d is built again: %s",
                    person.game,
                    person.opponent_id,
                    error,
                )
                await self._restart(person, role)
                continue
            async with self._database.write() as session:
                await role.verify(session)
                if new is None:
                    await skip_game(session, step)
                    continue
                count += await store_state(session, step, new)

    async def _restart(self, person: PersonKey, role: Role) -> None:
        async with self._database.write() as session:
            await role.verify(session)
            await restart_state(session, person)

    async def _state_after(self, step: FoldStep) -> StoredState | None:
        """The state to store with the step's game; None if none of its replies counts.

        Raises:
            BadModel: The models cannot be used for now.
            RecordError: The stored state is damaged, or was made by other models.
        """
        if not step.game.replies:
            return None
        job = partial(_folded, step, self._models)
        try:
            return await self._pool.run(job, step.game.person.game, rank=JobRank.SPARE)
        except (BadModel, RecordError):
            raise
        except Exception:  # a bug must not stop the others
            logger.exception("nothing is learned from game %d", step.game.key[1])
            return None


async def fold_persons(database: Database, models: ModelRegistry) -> int | None:
    """Learn from all judged games now; return the number of games, or None if another program does it."""
    try:
        async with database.hold_role(ROLE) as role, SearchPool(1, 1) as pool:
            return await PersonFold(database, pool, models).fold_all(role)
    except RoleTaken:
        return None


def _versions(games: Set[str], registry: ModelRegistry) -> dict[str, str]:
    """The present version of each game's states; games without a model of people are absent."""
    found = {}
    for name in games & GAMES.keys():
        with registry.lend(name) as models:
            try:
                model = person_model_of(name, models)
            except BadModel as error:
                logger.warning("nothing is learned of persons for now: %s", error)
                continue
        if model is not None:
            found[name] = SiteModel.of(model).version
    return found


def _folded(step: FoldStep, registry: ModelRegistry, _: Searcher, __: StopFlag) -> StoredState | None:
    """`PersonFold._state_after`, on a search thread."""
    game = step.game
    with registry.lend(game.person.game) as models:
        model = person_model_of(game.person.game, models)
        if model is None:
            raise BadModel(f"{game.person.game} has no model of people")
        found = [_reply(game, each, models, model) for each in game.replies]
    replies = tuple(each for each in found if each is not None)
    if not replies:
        return None
    played = FoldedGame(
        is_lost=game.result is GameResult.WIN,
        replies=replies,
        rating=game.opponent_rating,
        seconds=estimated_side_time_s(game.clock_initial_s, game.clock_increment_s),
    )
    site = SiteModel.of(model)
    before, evidence = _before(step, model, site)
    state = fold_game(before, played, model)
    told = site.fold(
        evidence,
        SiteGame(
            tuple(SiteReply(each.base, each.costs, each.index) for each in replies),
            played.rating,
            played.seconds,
            state.games,
        ),
    )
    return StoredState(site.version, state.games, state.replies, game.key, told.to_bytes(), state.to_bytes())


def _before(step: FoldStep, model: PersonModel, site: SiteModel) -> tuple[PersonState, SiteState]:
    """The person's state before the game, and what it tells about the site's people."""
    if step.state is None:
        return PersonState(model.version), site.new_state()
    state, evidence = PersonState.from_bytes(step.state.state), SiteState.from_bytes(step.state.evidence)
    if (state.version, evidence.version) != (model.version, site.version):
        raise RecordError("it was learned by other models")
    return state, evidence


def _reply(
    game: GameToFold, recorded: RecordedReply, models: GameModels, model: PersonModel
) -> FoldedReply | None:
    """A reply that counts; None if its records are damaged.

    Raises:
        BadModel: The models cannot be used for now.
    """
    try:
        decision = Decision.from_record(unpack(recorded.record))
        made = None if recorded.forecast is None else ReplyForecast.from_record(unpack(recorded.forecast))
        return _folded_reply(game, recorded, decision, made, models, model)
    except BadModel:
        raise
    except Exception as error:  # damaged data must not stop the others
        logger.warning(
            "decision %d: nothing is learned from the reply to it: %s: %s",
            recorded.decision_id,
            type(error).__name__,
            error,
        )
        return None


def _folded_reply(
    game: GameToFold,
    recorded: RecordedReply,
    decision: Decision,
    made: ReplyForecast | None,
    models: GameModels,
    model: PersonModel,
) -> FoldedReply:
    rules = get_rules(decision.game)
    before = _positions_before(game, recorded.ply, decision) or (rules.parse_position(decision.position),)
    positions = (*before, rules.play(before[-1], rules.parse_move(before[-1], decision.move)))
    person = Person(game.opponent_rating, opponent_rating=game.our_rating)
    faced = face(rules, positions, decision.chosen, models, person, recorded.ply + 1)
    if faced is None or faced.model.version != model.version:
        raise BadModel(f"the models of {decision.game} cannot be used for now")
    position = faced.position
    if made is not None and made.person is not None and made.person.version == model.version:
        base = made.base
    else:
        base = tuple(round(p, _DIGITS) for p in position.base)
    if recorded.reply not in position.replies:
        raise RecordError(f"the reply {recorded.reply} is not legal")
    return FoldedReply(
        position=position.position,
        ply=position.ply,
        replies=position.replies,
        base=base,
        costs=position.costs,
        planes=position.planes,
        reply=recorded.reply,
        judged_cost=recorded.cost / WHOLE,
    )


def _positions_before(game: GameToFold, ply: int, decision: Decision) -> tuple[Any, ...]:
    """The game's positions up to a decision; empty if its moves do not lead there."""
    rules = get_rules(game.person.game)
    try:
        start = starting_position(rules, game.initial_position)
        known = tuple(positions(rules, game.moves[:ply], start))
    except IllegalMove:
        return ()
    return known if rules.position_text(known[-1]) == decision.position else ()
