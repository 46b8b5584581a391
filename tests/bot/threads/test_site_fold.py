"""What is learned of a site's people from the ledger, and used in forecasts, on both databases."""

from collections.abc import AsyncIterator

import numpy as np
import pytest
from sqlalchemy import delete, select, update

from bot.game.ledger import GameLedger
from bot.threads.person_fold import PersonFold
from bot.threads.search_pool import SearchPool
from engine.decision import Person
from engine.forecasts import forecast_job, verify_forecast
from engine.human.reply_forecast import ReplyForecast
from engine.person.faced import person_model_of
from engine.person.site_state import SiteState
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from storage.database import Database, Role
from storage.ledger.decisions import list_decisions
from storage.ledger.persons import forget_person
from storage.ledger.sites import SiteKey
from storage.tables.games import GameRow, OpponentRow
from storage.tables.persons import PersonStateRow, SiteStateRow
from tests.bot.threads.careless import (
    BASE,
    CARELESS,
    PRIOR,
    MadeUp,
    expected_errors,
    faced,
    judge,
    play,
    played,
    probabilities,
    site_model,
    site_state,
)
from tests.bot.threads.interrupted_folds import InterruptedFold, fold_and_die, interrupt_folds
from tests.storage.conftest import backend, database, url
from tests.storage.samples import ARENA, commit_decision, opened

__all__ = ["backend", "database", "url"]  # fixtures

MODELS = MadeUp()


@pytest.fixture
async def pool() -> AsyncIterator[SearchPool]:
    async with SearchPool(1, 1) as pool:
        yield pool


async def fold(database: Database, pool: SearchPool) -> int:
    return await PersonFold(database, pool, MODELS).fold_all(Role("person-fold"))


async def opponent(database: Database, number: int) -> int:
    async with database.read() as session:
        return (
            await session.execute(select(OpponentRow.id).where(OpponentRow.site_id == f"p{number}"))
        ).scalar_one()


async def evidence_of(database: Database, number: int) -> SiteState:
    key = await opponent(database, number)
    async with database.read() as session:
        rows = select(PersonStateRow.evidence).where(PersonStateRow.opponent_id == key)
        return SiteState.from_bytes((await session.execute(rows)).scalar_one())


async def sum_of_persons(database: Database) -> SiteState:
    """What the persons' own evidence adds up to."""
    state = site_model(MODELS).new_state()
    async with database.read() as session:
        for packed in await session.scalars(select(PersonStateRow.evidence)):
            state = state.plus(SiteState.from_bytes(packed))
    return state


async def forecasts(database: Database, number: int, count: int) -> list[ReplyForecast]:
    """Forecasts in a new game of a person, by what the ledger knows."""
    who = {"opponent_id": f"p{number}", "opponent_name": f"P{number}", "opponent_rating": None}
    key = f"new{number}"
    async with database.write() as session:
        game = await opened(session, key, **who)
        for at in range(count):
            await commit_decision(session, game.id, 2 * at, faced(1_000_000 + at))
        stored = await list_decisions(session, game.id)
    ledger = GameLedger(database, ARENA, Role("test"), key)
    assert await ledger.reopen()
    made = []
    for each in stored:
        known = await ledger.known_person(each.ply, MODELS)
        job = forecast_job(
            MODELS, each.decision, (), person=Person(None), initial_s=180, increment_s=2, known=known
        )
        made.append(job(make_searcher("othello", 1), StopFlag()))
    return made


def errors_of(made: list[ReplyForecast]) -> float:
    return sum(expected_errors(faced(1_000_000 + at), each.probabilities) for at, each in enumerate(made))


def errors_happened(count: int, careless: float) -> float:
    """The errors of people whose k is so much lower than that of the model's people."""
    prior, grid = PRIOR.prior_weights(BASE, None, None), PRIOR.bases[BASE].grid
    rng = np.random.default_rng(0)
    total = 0.0
    for at in range(count):
        made = faced(1_000_000 + at)
        points = grid.points[rng.choice(len(prior), size=60, p=prior)]
        total += float(
            np.mean([expected_errors(made, probabilities(made, careless, each)) for each in points])
        )
    return total


@pytest.fixture(autouse=True)
def no_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """What replies cost by the judge is of no interest here."""
    monkeypatch.setattr("engine.forecasts.judged_forecast", lambda _, made, *__: made)


async def test_careless_people_are_known_after_fifty_games(database: Database, pool: SearchPool) -> None:
    count = 60
    happened = errors_happened(count, CARELESS)
    before = await forecasts(database, 900, count)
    assert 0.4 < errors_of(before) / happened < 0.6
    await played(database, *range(1, 51))
    assert await fold(database, pool) == 50
    after = await forecasts(database, 901, count)
    assert 0.9 < errors_of(after) / happened < 1.1
    with MODELS.lend("othello") as models:
        model = person_model_of("othello", models)
    assert model is not None
    for at, made in enumerate(after):
        assert made.person is not None
        assert made.person.games == 0
        verify_forecast(faced(1_000_000 + at), made, model)
    # Who has played there is known by their own games too, and not twice.
    ours = await forecasts(database, 1, count)
    assert {made.person.games for made in ours if made.person} == {1}
    assert errors_of(ours) > 1.5 * errors_of(before)
    state = await site_state(database)
    assert state is not None
    assert (state.games, state.weight, state.replies) == (50, 50_000, 400)
    assert 1.5 < state.errors / state.expected < 2.5


async def test_a_site_is_the_sum_of_its_persons(database: Database, pool: SearchPool) -> None:
    await played(database, 1, 2)
    await played(database, 3, opponent_id="p1", opponent_name="P1")
    await played(database, 4, opponent_id="p2", opponent_name="P2", opponent_rating=1730)
    await played(database, 5, opponent_id="p1", opponent_name="P1")
    await played(database, 6, site="lichess")
    assert await fold(database, pool) == 6
    state = await site_state(database)
    assert state is not None
    assert state == (await evidence_of(database, 1)).plus(await evidence_of(database, 2))
    assert (state.games, state.weight) == (5, 1000 + 500 + 333 + 1000 + 500)
    assert list(state.bands) == [1700]
    elsewhere = await site_state(database, SiteKey("lichess", "othello"))
    assert elsewhere == await evidence_of(database, 6)


@pytest.mark.parametrize("order", [(3, 2, 1), (2, 3, 1)])
async def test_games_that_are_judged_late_count_once(
    database: Database, pool: SearchPool, order: tuple[int, ...]
) -> None:
    costs = {number: await play(database, number, opponent_id="p1", opponent_name="P1") for number in order}
    await played(database, 4)
    for number in order:
        await judge(database, costs[number])
        await fold(database, pool)
        assert await site_state(database) == await sum_of_persons(database)
    state = await site_state(database)
    assert state is not None
    assert (state.games, state.weight) == (4, 1000 + 1000 + 500 + 333)
    await make_outdated(database)
    assert await fold(database, pool) == 4
    assert await site_state(database) == state


async def make_outdated(database: Database) -> None:
    async with database.write() as session:
        await session.execute(update(PersonStateRow).values(version="older"))
        await session.execute(update(SiteStateRow).values(version="older"))


async def test_a_site_of_another_version_is_not_used_and_is_built_again(
    database: Database, pool: SearchPool
) -> None:
    await played(database, *range(1, 13))
    await fold(database, pool)
    state, known = await site_state(database), await forecasts(database, 900, 3)
    async with database.write() as session:
        older = SiteState("older").to_bytes()
        await session.execute(update(SiteStateRow).values(version="older", state=older))
    assert await forecasts(database, 901, 3) != known
    assert await fold(database, pool) == 0
    assert await site_state(database) == state
    async with database.write() as session:
        await session.execute(delete(SiteStateRow))
    await played(database, 13)
    assert await fold(database, pool) == 1
    assert state is not None
    assert await site_state(database) == state.plus(await evidence_of(database, 13))


@pytest.mark.parametrize("is_site", [True, False])
async def test_damaged_evidence_is_built_again(database: Database, pool: SearchPool, is_site: bool) -> None:
    await played(database, 1, 2)
    await fold(database, pool)
    async with database.write() as session:
        if is_site:
            await session.execute(update(SiteStateRow).values(state=b"?"))
        else:
            await session.execute(update(PersonStateRow).values(evidence=b"?"))
    assert await forecasts(database, 1, 1)
    await played(database, 3, opponent_id="p1", opponent_name="P1")
    await played(database, 4, opponent_id="p2", opponent_name="P2")
    assert await fold(database, pool) == (2 if is_site else 4)
    state = await site_state(database)
    assert state is not None
    assert state == await sum_of_persons(database)
    assert state.games == 4


async def test_a_forgotten_person_leaves_nothing_at_the_site(database: Database, pool: SearchPool) -> None:
    await played(database, 1, 2)
    await played(database, 3, opponent_id="p2", opponent_name="P2")
    await fold(database, pool)
    async with database.write() as session:
        await forget_person(session, await opponent(database, 2))
    assert await site_state(database) == await evidence_of(database, 1)
    await played(database, 4, opponent_id="p2", opponent_name="P2")
    await make_outdated(database)
    assert await fold(database, pool) == 1
    assert await site_state(database) == await evidence_of(database, 1)


async def test_nobody_is_left(database: Database, pool: SearchPool) -> None:
    await played(database, 1)
    await fold(database, pool)
    async with database.write() as session:
        await session.execute(update(SiteStateRow).values(state=b"?"))
        await forget_person(session, await opponent(database, 1))
    state = await site_state(database)
    assert state is not None
    assert state == SiteState(state.version)


async def test_programs_do_not_count(database: Database, pool: SearchPool) -> None:
    await played(database, 1, 2)
    await played(database, 3, opponent_is_bot=True)
    await fold(database, pool)
    assert await site_state(database) == await sum_of_persons(database)
    async with database.write() as session:  # it turns out later
        await session.execute(update(OpponentRow).where(OpponentRow.site_id == "p2").values(is_bot=True))
    await fold(database, pool)
    assert await site_state(database) == await evidence_of(database, 1)


async def test_a_person_alone_at_a_site_tells_nothing_about_themselves(
    database: Database, pool: SearchPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.person.site.MIN_WEIGHT", 1)
    for number in range(1, 13):
        await played(database, number, opponent_id="p1", opponent_name="P1")
    await fold(database, pool)
    with_site = await forecasts(database, 1, 5)
    async with database.write() as session:
        await session.execute(delete(SiteStateRow))
        await session.execute(delete(GameRow).where(GameRow.site_game_id == "none"))
    async with database.write() as session:
        await session.execute(update(GameRow).where(GameRow.site_game_id == "new1").values(site_game_id="x"))
    assert await forecasts(database, 1, 5) == with_site


async def test_an_account_elsewhere_is_predicted_as_before(database: Database, pool: SearchPool) -> None:
    await played(database, *range(1, 13), site="lichess")
    before = await forecasts(database, 900, 5)
    await fold(database, pool)
    assert await forecasts(database, 901, 5) == before


async def test_an_interrupted_fold_counts_no_game_twice(
    database: Database, pool: SearchPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    await played(database, 1, 2, 3)
    stored = interrupt_folds(monkeypatch)
    while len(stored) < 5:
        with pytest.raises(InterruptedFold):
            await fold(database, pool)
    monkeypatch.undo()
    assert await fold(database, pool) == 1
    state = await site_state(database)
    assert state is not None
    assert (state, state.games) == (await sum_of_persons(database), 3)


async def test_kill_9_in_a_fold(database: Database, url: str, pool: SearchPool) -> None:
    await played(database, 1, 2)
    await played(database, 3, opponent_id="p1", opponent_name="P1")
    await fold_and_die(url, MadeUp)
    state = await site_state(database)
    assert state is not None
    assert (state, state.games) == (await sum_of_persons(database), 1)
    assert await fold(database, pool) == 2
    state = await site_state(database)
    assert state is not None
    assert (state, state.games) == (await sum_of_persons(database), 3)
    await make_outdated(database)
    assert await fold(database, pool) == 3
    assert await site_state(database) == state
