"""What was learned of a person in the choice of moves against them, on both databases."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import func, select, update

from bot.arena.blind_report import blind_report, open_report
from bot.base.config import AssignmentConfig, AssignmentMethod, EngineConfig
from bot.base.events import EndReason
from bot.game.game_runner import GameRunner
from bot.game.ledger import GameLedger
from bot.game.recheck import recheck
from bot.game.thinking import GameThinker, expected_reply
from bot.text.person_data import forget_person_everywhere
from bot.text.trap_report import game_report
from engine.decision import Decision, StateUse
from engine.person.state import KnownPerson
from storage.database import Database
from storage.ledger.games import load_game
from storage.maintenance.pruning import prune
from storage.tables.games import DecisionRow, ForecastRow, GameRow
from storage.tables.persons import PersonStateRow
from storage.tables.types import now_utc
from tests.bot.fakes import FakeServer, config, services
from tests.bot.game.test_player_kill import late_othello
from tests.bot.threads.test_known_person import forget_unnoticed, learn, person
from tests.storage.conftest import backend, database, url
from tests.storage.samples import ARENA

__all__ = ["backend", "database", "url"]  # fixtures


class Resigning(FakeServer):
    """A game that the opponent gives up after our third move."""

    def _opponent_moves(self) -> None:
        if len(self.moves) == 5:
            self.finish(EndReason.RESIGNATION, self.our_side)
        super()._opponent_moves()


async def play(
    database: Database,
    key: str,
    strategy: str = "calibrated",
    *,
    ponder: bool = False,
    is_bot: bool = False,
    server: FakeServer | None = None,
) -> None:
    """A game of Othello against a person who always replies alike in the same position."""
    start = late_othello(50, 6)
    server = server or Resigning("othello", initial_position=start, pick=lambda moves: moves[-1])
    server.game_id = key
    if is_bot:
        server.opponent = server.opponent.__class__("robot", "Robot", 1600, is_bot=True)
    settings = config(
        engine=EngineConfig(max_depth=4, workers=1, table_mb=1, ponder=ponder),
        assignment=AssignmentConfig(method=AssignmentMethod.FIXED, strategy=strategy),
    )
    async with services(server, database, settings=settings) as given:
        await GameRunner(key, given).run()


async def decisions(database: Database, key: str) -> list[Decision]:
    async with database.read() as session:
        records = await session.scalars(
            select(DecisionRow.record)
            .join(GameRow, GameRow.id == DecisionRow.game_id)
            .where(GameRow.site_game_id == key)
            .order_by(DecisionRow.ply)
        )
        return [Decision.from_record(record) for record in records]


def uses(made: list[Decision]) -> list[StateUse]:
    found = [each.model_use.state for each in made if each.model_use is not None]
    return [each for each in found if each is not None]


async def forecasts(database: Database, key: str) -> list[dict[str, Any]]:
    async with database.read() as session:
        records = await session.scalars(
            select(ForecastRow.record)
            .join(DecisionRow, DecisionRow.id == ForecastRow.decision_id)
            .join(GameRow, GameRow.id == DecisionRow.game_id)
            .where(GameRow.site_game_id == key)
            .order_by(DecisionRow.ply)
        )
        return list(records)


async def reply_of(database: Database, key: str, ply: int) -> str:
    async with database.read() as session:
        moves = await session.scalar(select(GameRow.moves).where(GameRow.site_game_id == key))
    return str(moves).split()[ply]


@pytest.mark.parametrize("strategy", ["calibrated", "opponent_model"])
async def test_the_replies_of_earlier_games_count(database: Database, strategy: str) -> None:
    await play(database, "first", strategy)
    assert await learn(database) == 1
    await play(database, "second", strategy)
    first, second = await decisions(database, "first"), await decisions(database, "second")
    assert {each.games for each in uses(first)} <= {0}
    assert {each.games for each in uses(second)} == {1}
    assert any(any(each.person.recalled) for use in uses(second) for each in use.moves)
    played = await reply_of(database, "first", 1)
    before, after = (
        next(each for each in made[0].candidates if each.move == first[0].move) for made in (first, second)
    )
    (p_before,) = (each.probability for each in before.replies if each.reply == played)
    (p_after,) = (each.probability for each in after.replies if each.reply == played)
    assert p_before is not None
    assert p_after is not None
    assert p_after > p_before + 0.1
    found = await recheck(database)
    assert (found.wrong, found.forgotten) == ([], 0)


async def test_choice_and_forecast_expect_the_same(database: Database) -> None:
    await play(database, "first")
    await learn(database)
    await play(database, "second")
    decision, forecast = (await decisions(database, "second"))[0], (await forecasts(database, "second"))[0]
    (use,) = uses([decision])
    assert use.moves[0].person.recalled == tuple(forecast["person"]["recalled"])
    assert use.moves[0].person.weights == tuple(map(tuple, forecast["person"]["weights"]))
    assert [each.probability for each in decision.chosen.replies] == pytest.approx(forecast["odds"], abs=2e-6)


def patient(monkeypatch: pytest.MonkeyPatch, reply: Callable[[FakeServer, Decision], str]) -> FakeServer:
    """A person who replies only when the forecast of the reply is stored."""
    server = Resigning("othello", initial_position=late_othello(50, 6))
    store = GameLedger.store_forecast

    async def then_reply(self: GameLedger, stored: Any, decision: Decision, made: Any) -> None:
        await store(self, stored, decision, made)
        if server.end is None and not server.our_turn:
            server.reply(reply(server, decision))

    monkeypatch.setattr(GameLedger, "store_forecast", then_reply)
    return server


async def test_searches_on_the_opponents_time_know_the_person(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def expected(_: FakeServer, decision: Decision) -> str:
        found = expected_reply(decision)
        assert found is not None
        return found

    ahead: list[bool] = []
    start = GameThinker.start_pondering

    def started(self: GameThinker, *about: Any) -> None:
        start(self, *about)
        ahead.append(self._ahead is not None)

    monkeypatch.setattr(GameThinker, "start_pondering", started)
    await play(database, "first", ponder=True, server=patient(monkeypatch, expected))
    made = await decisions(database, "first")
    assert any(ahead)
    assert len(uses(made)) == sum(each.model is not None for each in made) > 2
    assert (await recheck(database)).wrong == []


async def test_the_replies_of_this_game_count(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    await play(database, "first", server=patient(monkeypatch, lambda server, _: server.legal[-1]))
    made = uses(await decisions(database, "first"))
    assert len(made) == 3
    weights = [each.moves[0].person.weights for each in made]
    assert len(set(weights)) == 3
    foreseen = [forecast["person"]["weights"] for forecast in await forecasts(database, "first")]
    assert weights == [tuple(map(tuple, each)) for each in foreseen]
    assert (await recheck(database)).wrong == []


async def test_moves_wait_for_the_database_once(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[int] = []
    read = GameLedger._read_person

    async def counted(self: GameLedger, ply: int, *more: Any) -> KnownPerson | None:
        reads.append(ply)
        return await read(self, ply, *more)

    monkeypatch.setattr(GameLedger, "_read_person", counted)
    await play(database, "first", ponder=True)
    async with database.read() as session:
        count = await session.scalar(select(func.count()).select_from(ForecastRow))
    assert reads[0] == 0
    assert len(reads) == 1 + (count or 0)
    assert uses(await decisions(database, "first"))


async def test_strategies_without_a_model_of_the_opponent_read_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await play(database, "first")
    await learn(database)

    async def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(GameLedger, "latest_person", fail)
    for strategy in ("standard", "trappy", "tempting"):
        await play(database, strategy, strategy)
        assert uses(await decisions(database, strategy)) == []


async def test_nothing_is_used_against_programs(database: Database) -> None:
    await play(database, "first", is_bot=True)
    made = await decisions(database, "first")
    assert uses(made) == []
    assert any(each.model is not None for each in made)


async def test_a_person_who_cannot_be_read_costs_no_game(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_: object) -> None:
        raise OSError("unreadable")

    monkeypatch.setattr("bot.game.ledger.state_for_game", fail)
    await play(database, "first")
    made = await decisions(database, "first")
    assert uses(made) == []
    assert any(each.model is not None for each in made)
    assert caplog.text.count("what is known of the person cannot be read") == 1


async def test_a_state_of_other_models_is_not_used(database: Database) -> None:
    await play(database, "first")
    await learn(database)
    async with database.write() as session:
        (row,) = await session.scalars(select(PersonStateRow))
        row.state, row.version = b"?", "0" * 64
    await play(database, "second")
    assert {each.games for each in uses(await decisions(database, "second"))} == {0}


Record = dict[str, Any]


def changed(path: tuple[Any, ...], value: Any) -> Callable[[Record], Record]:
    def change(record: Record) -> Record:
        at: Any = record["reckoning"]["state"]
        for name in path[:-1]:
            at = at[name]
        at[path[-1]] = value
        return record

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (changed(("games",), 7), "by another state of the person"),
        (changed(("moves", 0, "person", "own_weight"), 0.5), "was changed"),
        (changed(("moves",), []), "does not say how its replies were adapted"),
    ],
)
async def test_a_record_that_was_changed_is_wrong(
    database: Database, change: Callable[[Record], Record], reason: str
) -> None:
    await play(database, "first")
    async with database.write() as session:
        first = await session.scalar(select(DecisionRow).order_by(DecisionRow.id).limit(1))
        assert first is not None
        (use,) = uses([Decision.from_record(first.record)])
        assert use.moves
        await session.execute(
            update(DecisionRow).where(DecisionRow.id == first.id).values(record=change(first.record))
        )
    (wrong,) = (await recheck(database)).wrong
    assert reason in wrong.reason


async def test_a_forgotten_person_leaves_nothing(database: Database) -> None:
    await play(database, "first")
    await learn(database)
    await play(database, "second")
    who = await person(database)
    count = len(uses([*await decisions(database, "first"), *await decisions(database, "second")]))
    assert count > 4
    before = await recheck(database)
    assert await forget_person_everywhere(database, who) is True
    made = [*await decisions(database, "first"), *await decisions(database, "second")]
    assert uses(made) == []
    assert sum(each.model_use is not None and each.model_use.is_forgotten for each in made) == count
    found = await recheck(database)
    assert (found.wrong, found.verified) == ([], before.verified)
    foreseen = [*await forecasts(database, "first"), *await forecasts(database, "second")]
    assert found.forgotten == count + sum("is_forgotten" in each for each in foreseen) > count
    await play(database, "third")
    third = await decisions(database, "third")
    assert uses(third) == []
    assert not any(each.model_use is not None and each.model_use.is_forgotten for each in third)


async def test_a_person_who_is_forgotten_in_the_game(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A decision that was under way is stored without what it used of the person."""
    await play(database, "first", "opponent_model")
    await learn(database)
    await forget_unnoticed(database, monkeypatch)
    for strategy in ("calibrated", "opponent_model"):
        await play(database, strategy, strategy)
        made = await decisions(database, strategy)
        assert uses(made) == []
        assert any(each.model_use is not None and each.model_use.is_forgotten for each in made)


async def test_reports_show_nothing_of_the_state(database: Database) -> None:
    """Everybody sees the arena's reports of a game."""
    await play(database, "first")
    await learn(database)
    await play(database, "second")
    (use, *_) = uses(await decisions(database, "second"))
    async with database.read() as session:
        game = await load_game(session, ARENA, "second")
        assert game is not None
        report = await game_report(session, game)
    for text in (json.dumps(open_report(report)), json.dumps(blind_report(report))):
        assert use.version not in text
        assert not any(word in text for word in ("recalled", "own_weight", "shifts", "weights"))


async def test_pruned_records_stay_valid(database: Database) -> None:
    await play(database, "first")
    await learn(database)
    await play(database, "second")
    await prune(database, now_utc(), really=True)
    made = await decisions(database, "second")
    assert all(each.is_pruned for each in made)
    assert uses(made)
    found = await recheck(database)
    assert (found.wrong, found.pruned > 4) == ([], True)
