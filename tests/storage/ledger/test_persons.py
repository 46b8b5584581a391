"""States of persons in the database: which games wait, in which order they are folded, and forgetting."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import LargeBinary, func, select, type_coerce, update

from engine.decision import AdaptedReplies, Decision, OpponentModelUse, Person, PersonUse, StateUse
from engine.figure_9 import profile_verdict
from engine.human.reply_forecast import ReplyForecast
from engine.params import OpponentParams
from engine.person.site_state import SiteState
from storage.database import Database
from storage.inserts import core_table
from storage.ledger.decisions import get_decision, mark_taken_back, store_profile
from storage.ledger.games import finish_game, reopen_game
from storage.ledger.judgements import forget_judgement, store_judgements
from storage.ledger.persons import (
    FoldStep,
    GameKey,
    GameToFold,
    PersonKey,
    RecordedReply,
    StoredState,
    erase_all_records,
    erase_records,
    find_persons,
    forget_person,
    forgotten_at,
    is_person_of_decision_forgotten,
    load_state,
    name_of_person,
    next_fold,
    persons_to_fold,
    queue_outdated,
    restart_state,
    skip_game,
    state_for_game,
    states_of,
    store_state,
)
from storage.ledger.sites import SiteKey, SiteOfPerson, list_sites, site_of_person
from storage.maintenance.malformed import quarantine_row
from storage.packing.records import pack, unpack
from storage.records import MATCH_SITE, DecisionState, GameResult
from storage.tables.games import DecisionRow, ForecastRow, GameRow
from storage.tables.persons import GameToFoldRow, PersonStateRow, SiteStateRow
from storage.tables.quarantine import QuarantineRow
from tests.storage.ledger.test_forecasts import MADE, made_forecast
from tests.storage.ledger.test_judgements import COSTS
from tests.storage.samples import (
    FELL,
    UNANSWERED,
    commit_decision,
    decision,
    opened,
    settled,
    store_forecast,
)

DAY = datetime(2026, 11, 1, tzinfo=UTC)


def ended(number: int) -> datetime:
    return DAY + timedelta(hours=number)


async def play(database: Database, number: int, **changes: Any) -> int:
    """A game that ended in this hour, with one reply that counts; its key."""
    async with database.write() as session:
        game = await opened(session, f"game{number}", **changes)
        answered = await settled(session, game.id, 0, MADE, FELL)
        await settled(session, game.id, 2, decision(), UNANSWERED)
        rows = update(DecisionRow).where(DecisionRow.game_id == game.id)
        await session.execute(rows.values(state=DecisionState.CONFIRMED))
        await store_forecast(session, answered, MADE, made_forecast())
        await finish_game(
            session, game.id, result=GameResult.WIN, end_reason="normal", settled=True, at=ended(number)
        )
    return game.id


async def judge(database: Database, game: int) -> None:
    async with database.write() as session:
        first = select(func.min(DecisionRow.id)).where(DecisionRow.game_id == game)
        answered = await session.scalar(first)
        await store_judgements(session, game, {answered or 0: ("d6", COSTS)})


async def played(database: Database, *numbers: int, **changes: Any) -> list[int]:
    """Games that are judged."""
    games = [await play(database, number, **changes) for number in numbers]
    for game in games:
        await judge(database, game)
    return games


async def ready(database: Database) -> list[PersonKey]:
    async with database.read() as session:
        assert await persons_to_fold(session, ["xiangqi"]) == []
        return await persons_to_fold(session, ["othello", "chess"])


async def step_of(database: Database, person: PersonKey) -> FoldStep | None:
    async with database.read() as session:
        return await next_fold(session, person)


async def fold(database: Database, *, is_all: bool = True) -> list[int]:
    """Fold what can be folded, or only one game; the numbers of the games in the order of the folds.

    The state is the games' keys.
    """
    done = []
    for person in await ready(database):
        while step := await step_of(database, person):
            async with database.write() as session:
                if step.is_late:
                    await restart_state(session, person)
                    done.append(0)
                    continue
                before = () if step.state is None else unpack(step.state.state)["games"]
                games = [*before, step.game.key[1]]
                assert await store_state(session, step, state_with(games, step.game.key))
            done.append(step.game.key[1])
            if not is_all:
                return done
    return done


def state_with(games: list[int], last: GameKey, version: str = "1") -> StoredState:
    """A state of these games, with evidence that is the sum of their keys."""
    evidence = SiteState(version, len(games), len(games), errors=sum(games)).to_bytes()
    return StoredState(version, len(games), len(games), last, evidence, pack({"games": games}))


async def site_of(database: Database, game: str = "othello") -> tuple[int, int] | None:
    """The number of games in the site's state, and the sum of their keys; None if there is none."""
    async with database.read() as session:
        found = (await list_sites(session)).get(SiteKey("arena", game))
    return None if found is None else (found.games, found.errors)


async def state_of(database: Database, game: int) -> list[int]:
    async with database.read() as session:
        found = await state_for_game(session, game)
        return [] if found is None else list(unpack(found.state)["games"])


async def test_a_judged_game_waits_with_the_replies_that_count(database: Database) -> None:
    game = await play(database, 1)
    assert await ready(database) == []
    await judge(database, game)
    (person,) = await ready(database)
    step = await step_of(database, person)
    assert step is not None
    (reply,) = step.game.replies
    assert step == FoldStep(
        None,
        GameToFold((ended(1), game), person, GameResult.WIN, 1600, 1500, 180, 2, None, (), (reply,)),
        is_late=False,
    )
    assert unpack(reply.record)["move"] == "f5"
    assert ReplyForecast.from_record(unpack(reply.forecast or b"")) == made_forecast()
    assert replace(reply, record=b"", forecast=None) == RecordedReply(
        reply.decision_id, 0, b"", "d6", 1500, None
    )


async def test_games_are_folded_in_the_order_of_their_ends(database: Database) -> None:
    second, third, first = await played(database, 2, 3, 1)
    assert await fold(database) == [first, second, third]
    assert await ready(database) == []
    assert await state_of(database, first) == [first, second, third]
    async with database.read() as session:
        (row,) = await session.scalars(select(PersonStateRow))
        known = await states_of(session, row.opponent_id)
    assert (row.games, row.replies, row.last_game_id, row.last_ended_at) == (3, 3, third, ended(3))
    assert known == {"othello": StoredState("1", 3, 3, (ended(3), third), row.evidence, row.state)}


async def test_games_that_end_together_are_folded_in_the_order_of_their_keys(database: Database) -> None:
    games = await played(database, 1, 2)
    async with database.write() as session:
        await session.execute(update(GameRow).values(ended_at=DAY))
    assert await fold(database) == games


async def test_each_game_of_a_person_has_a_state(database: Database) -> None:
    first, other, others = (
        (await played(database, 1))[0],
        (await played(database, 2, opponent_id="ben", opponent_name="Ben"))[0],
        (await played(database, 3, game="chess", variant="standard"))[0],
    )
    assert len(await ready(database)) == 3
    assert sorted(await fold(database)) == [first, other, others]
    assert [await state_of(database, game) for game in (first, other, others)] == [[first], [other], [others]]


@pytest.mark.parametrize("changes", [{"opponent_is_bot": True}, {"site": MATCH_SITE}])
async def test_games_of_bots_and_matches_do_not_count(database: Database, changes: dict[str, Any]) -> None:
    await played(database, 1, **changes)
    async with database.read() as session:
        assert await session.scalar(select(func.count()).select_from(GameToFoldRow)) == 0


@pytest.mark.parametrize(
    "change",
    [
        {"state": DecisionState.SENT},
        {"state": DecisionState.DROPPED},
        {"is_complete": False},
        {"reply_count": 1},
    ],
)
async def test_replies_that_do_not_count(database: Database, change: dict[str, Any]) -> None:
    (game,) = await played(database, 1)
    async with database.write() as session:
        await session.execute(update(DecisionRow).values(change))
    (person,) = await ready(database)
    step = await step_of(database, person)
    assert step is not None
    assert step.game.replies == ()
    async with database.write() as session:
        assert await skip_game(session, step)
        assert not await skip_game(session, step)
    assert await ready(database) == []
    assert await state_of(database, game) == []


async def test_a_position_that_comes_again_after_a_takeback_does_not_count(database: Database) -> None:
    game = await play(database, 1)
    async with database.write() as session:
        await mark_taken_back(session, game, 0)
        again = await settled(session, game, 0, MADE, FELL)
        await session.execute(
            update(DecisionRow).where(DecisionRow.id == again).values(state=DecisionState.CONFIRMED)
        )
        await store_judgements(session, game, {again: ("d6", COSTS)})
    (person,) = await ready(database)
    step = await step_of(database, person)
    assert step is not None
    assert step.game.replies == ()


async def test_a_late_game_builds_the_state_again(database: Database) -> None:
    early = await play(database, 1)
    games = await played(database, 2, 3)
    await fold(database)
    await judge(database, early)
    assert await fold(database) == [0, early, *games]
    assert await state_of(database, early) == [early, *games]


async def test_late_games_wait_until_all_are_judged_or_they_are_as_many(database: Database) -> None:
    """As after an update, when the judge takes the latest game first."""
    games = [await play(database, number) for number in range(1, 7)]
    folds = []
    for game in reversed(games):
        await judge(database, game)
        folds.append(await fold(database))
    assert folds == [
        [games[5]],
        [0, *games[4:]],
        [],
        [0, *games[2:]],
        [],
        [0, *games],
    ]
    assert await state_of(database, games[0]) == games


async def test_a_game_that_is_judged_again_builds_the_state_again(database: Database) -> None:
    games = await played(database, 1, 2)
    await fold(database)
    async with database.write() as session:
        await reopen_game(session, games[0])
        await finish_game(
            session, games[0], result=GameResult.LOSS, end_reason="normal", settled=True, at=ended(3)
        )
    await judge(database, games[0])
    assert await fold(database) == [games[0]]  # it ended later, and is thought to be another
    await judge(database, games[1])
    assert await fold(database) == [0, games[1], games[0]]


async def test_a_fold_that_was_interrupted_goes_on(database: Database) -> None:
    games = await played(database, 1, 2, 3)
    assert [await fold(database, is_all=False) for _ in games] == [[game] for game in games]
    assert await state_of(database, games[0]) == games


async def test_states_of_another_version_are_built_again(database: Database) -> None:
    games = await played(database, 1, 2)
    await fold(database)
    async with database.write() as session:
        assert await queue_outdated(session, {"othello": "1"}) == 0
    assert await ready(database) == []
    async with database.write() as session:
        assert await queue_outdated(session, {"othello": "2"}) == 1
    assert await site_of(database) is None
    assert await state_of(database, games[0]) == []
    assert await fold(database) == games
    async with database.write() as session:
        assert await queue_outdated(session, {"chess": "2"}) == 0
        assert await queue_outdated(session, {}) == 0


async def test_the_site_s_state_follows_the_persons(database: Database) -> None:
    (first,) = await played(database, 1)
    (second,) = await played(database, 2, opponent_id="ben", opponent_name="Ben")
    await fold(database)
    assert await site_of(database) == (2, first + second)
    assert await site_of(database, "chess") is None
    (third,) = await played(database, 3)
    await fold(database)
    assert await site_of(database) == (3, first + second + third)
    async with database.write() as session:
        ((anna, *_),) = await find_persons(session, "arena", "anna")
        await restart_state(session, PersonKey(anna, "othello"))
    assert await site_of(database) == (1, second)
    await fold(database)
    assert await site_of(database) == (3, first + second + third)


async def test_a_site_s_state_of_another_version_has_nothing_to_take_out(database: Database) -> None:
    """As while a program of another version uses the database, too."""
    await played(database, 1)
    await fold(database)
    newer = SiteState("2", 5, 5, errors=55)
    async with database.write() as session:
        await session.execute(update(SiteStateRow).values(version="2", state=newer.to_bytes()))
        ((anna, *_),) = await find_persons(session, "arena", "anna")
        await forget_person(session, anna)
        stored = await site_of_person(session, anna, "othello")
    assert await site_of(database) == (5, 55)
    assert stored == SiteOfPerson(newer.to_bytes(), None)


async def test_a_person_s_share_of_another_version_is_not_in_the_sum(database: Database) -> None:
    await played(database, 1)
    await fold(database)
    newer = SiteState("2", 5, 5, errors=55)
    async with database.write() as session:
        ((anna, *_),) = await find_persons(session, "arena", "anna")
        stored = await site_of_person(session, anna, "othello")
        assert stored is not None
        assert stored.others() == SiteState("1")
        await session.execute(update(SiteStateRow).values(version="2", state=newer.to_bytes()))
        stored = await site_of_person(session, anna, "othello")
    assert stored is not None
    assert stored.others() == newer


async def test_nothing_is_stored_if_something_changed_meanwhile(database: Database) -> None:
    first, second = await played(database, 1, 2)
    (person,) = await ready(database)
    step = await step_of(database, person)
    assert step is not None
    await fold(database)
    assert await store(database, step) is False  # another program was faster
    await judge(database, second)
    step = await step_of(database, person)
    assert step is not None
    assert step.is_late
    async with database.write() as session:
        await restart_state(session, person)
    step = await step_of(database, person)
    assert step is not None
    async with database.write() as session:
        cheaper = replace(COSTS, replies=(replace(COSTS.replies[0], cost=900), COSTS.best))
        answered = step.game.replies[0].decision_id
        await forget_judgement(session, first, answered)
        await store_judgements(session, first, {answered: ("d6", cheaper)})
    assert await store(database, step) is False
    assert await fold(database) == [first, second]


async def store(database: Database, step: FoldStep) -> bool:
    async with database.write() as session:
        return await store_state(session, step, state_with([step.game.key[1]], step.game.key))


async def test_a_forgotten_person_is_not_learned_again(database: Database) -> None:
    (game,) = await played(database, 1)
    (person,) = await ready(database)
    step = await step_of(database, person)
    assert step is not None
    await fold(database)
    late = await played(database, 2)
    async with database.write() as session:
        assert await find_persons(session, "arena", "ANNA") == [(person.opponent_id, "anna", "Anna")]
        assert await name_of_person(session, person.opponent_id) == ("arena", "Anna")
        assert await find_persons(session, "lichess", "anna") == []
        assert await forgotten_at(session, person.opponent_id) is None
        assert await forget_person(session, person.opponent_id) is True
        assert await forget_person(session, person.opponent_id) is False
        assert await forgotten_at(session, person.opponent_id) is not None
        assert await load_state(session, person) is None
    assert await ready(database) == []
    await judge(database, late[0])
    await played(database, 3)
    assert await ready(database) == []
    assert await store(database, step) is False
    assert await state_of(database, game) == []
    async with database.read() as session:
        decision_id = step.game.replies[0].decision_id
        assert await is_person_of_decision_forgotten(session, decision_id) is True
        assert await session.scalar(select(func.count()).select_from(GameToFoldRow)) == 0


def using_state() -> Decision:
    """A decision that used what was known of a person."""
    state = StateUse("a", 7, (AdaptedReplies("f5", (1.0,), PersonUse("a", 7, (), (), (), (2.0,), 0.5, "")),))
    use = OpponentModelUse(OpponentParams(), Person(1600), None, state=state)
    return replace(decision(complete=False), strategy="calibrated", model_use=use)


async def erase(database: Database, opponent_id: int, limit: int) -> int:
    """Erase in batches; their number."""
    last, batches = 0, 0
    while True:
        async with database.write() as session:
            found = await erase_records(session, opponent_id, last, limit)
        if found is None:
            return batches
        last, batches = found, batches + 1


async def test_what_records_say_of_a_person_is_erased(database: Database) -> None:
    games = await played(database, 1, 2, 3, strategy="calibrated")
    other = await played(database, 4, opponent_id="ben", opponent_name="Ben", strategy="calibrated")
    said, made = {"games": 7}, using_state()
    async with database.write() as session:
        for row in await session.scalars(select(ForecastRow)):
            row.record = {**row.record, "person": said}
        for game in (*games, *other):
            await commit_decision(session, game, 4, made)
        opponent = await session.scalar(select(GameRow.opponent_id).where(GameRow.id == games[0])) or 0
        damaged = select(func.max(DecisionRow.id)).where(DecisionRow.game_id == games[1]).scalar_subquery()
        await session.execute(
            update(DecisionRow).where(DecisionRow.id == damaged).values(record=type_coerce(b"?", LargeBinary))
        )
    assert await erase(database, opponent, 4) == 3
    async with database.read() as session:
        rows = await session.execute(
            select(DecisionRow.game_id, ForecastRow.record)
            .join(DecisionRow, DecisionRow.id == ForecastRow.decision_id)
            .order_by(DecisionRow.game_id)
        )
        records = {row.game_id: row.record for row in rows}
        decisions = {game: await get_decision(session, game, 4) for game in (games[0], games[2], *other)}
    assert [records[game].get("person") for game in (*games, *other)] == [None, None, None, said]
    erased = ReplyForecast.from_record(records[games[0]])
    assert erased == replace(made_forecast(), is_forgotten=True)
    found = [None if each is None else each.decision for each in decisions.values()]
    assert made.model_use is not None
    left = replace(made, model_use=replace(made.model_use, state=None, is_forgotten=True))
    assert found == [left, left, made]
    assert await erase(database, opponent, 100) == 1


async def test_damaged_forecasts_of_a_person_leave_the_quarantine(database: Database) -> None:
    games = await played(database, 1, 2)
    (other,) = await played(database, 3, opponent_id="ben", opponent_name="Ben")
    async with database.write() as session:
        opponent = await session.scalar(select(GameRow.opponent_id).where(GameRow.id == games[0])) or 0
        first = select(func.min(DecisionRow.id)).where(DecisionRow.game_id.in_((games[0], other)))
        keys = list(await session.scalars(first.group_by(DecisionRow.game_id).order_by(DecisionRow.game_id)))
        for key in keys:
            await quarantine_row(session, core_table(ForecastRow), (key,), "test")
    await erase(database, opponent, 100)
    async with database.read() as session:
        (left,) = await session.scalars(select(QuarantineRow.row_key))
    assert left.strip("'") == str(keys[1])


async def test_a_key_comes_before_names(database: Database) -> None:
    async with database.write() as session:
        for number, (key, name) in enumerate([("bob", "Robert"), ("u3", "bob"), ("u4", "Ärger")]):
            await opened(session, f"game {number}", opponent_id=key, opponent_name=name)
        assert [each[1] for each in await find_persons(session, "arena", "bob")] == ["bob"]
        assert [each[1] for each in await find_persons(session, "arena", "BOB")] == ["bob", "u3"]
        assert [each[1] for each in await find_persons(session, "arena", "Ärger")] == ["u4"]


async def test_nothing_of_a_forgotten_person_is_stored_again(database: Database) -> None:
    made = using_state()
    async with database.write() as session:
        game = await opened(session, strategy="calibrated")
        before = await commit_decision(session, game.id, 0, made)
        opponent = await session.scalar(select(GameRow.opponent_id)) or 0
        await forget_person(session, opponent)
        await erase_all_records(session, opponent)
        whole = replace(decision(), strategy="calibrated", model_use=made.model_use)
        await store_profile(session, before, whole, profile_verdict(whole))
        await commit_decision(session, game.id, 2, made)
    async with database.read() as session:
        stored = [await get_decision(session, game.id, ply) for ply in (0, 2)]
    uses = [None if each is None else each.decision.model_use for each in stored]
    assert [use and (use.state, use.is_forgotten) for use in uses] == [(None, True), (None, True)]
