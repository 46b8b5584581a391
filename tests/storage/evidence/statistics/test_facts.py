"""The statistics of recorded games, against a slow recomputation from the exported records alone.

The recomputation shares no code with the program but the rules: it reads the records' JSON, and has its own
expected scores, trappiness, errors and sums.
"""

import math
import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

import pytest
from sqlalchemy import text, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.completion import complete
from engine.decision import Person
from engine.figure_9 import classify_by_figure_9
from engine.forecasts import decision_costs, forecast_replies
from engine.games import get_rules
from engine.judge import ReplyCosts
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from storage.database import Database
from storage.evidence.inference.decisions import decisions_report
from storage.evidence.inference.trial import TrialTerms
from storage.evidence.statistics.group_rows import count_outdated, read_groups
from storage.evidence.statistics.groups import GroupKey, GroupStatistics
from storage.evidence.statistics.trial_rows import trial_decisions
from storage.evidence.trials import NewTrial, StoredTrial, start_trial
from storage.filters import Filters
from storage.ledger.decisions import mark_confirmed
from storage.ledger.games import finish_game, set_moves
from storage.ledger.judgements import store_judgements
from storage.ledger.outcomes import record_outcome
from storage.packing.records import unpack
from storage.records import Endpoint, GameResult
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OutcomeRow
from tests.storage.evidence.statistics.facts import reply_facts
from tests.storage.samples import commit_decision, opened, store_forecast

GAMES = (("othello", "trappy", 5), ("othello", "standard", 5), ("chess", "trappy", 4))
PLIES = 24
WIN = 100_000
START = datetime(2026, 11, 25, tzinfo=UTC)


async def play(database: Database) -> None:
    """Games of a person who takes the best reply at depth 2 or any, at random.

    The second game is open, and so not judged.
    """
    rng = random.Random(7)
    for number, (name, kind, depth) in enumerate(GAMES):
        game, searcher, stop = get_rules(name), make_searcher(name, 1), StopFlag()
        player = MoveChooser(strategy_named(kind), game, TrapParams(), searcher)
        position: Any = game.initial()
        moves: list[str] = []
        judged: list[tuple[int, tuple[str, ReplyCosts]]] = []
        async with database.write() as session:
            stored = await opened(
                session,
                f"game{number}",
                game=name,
                variant=name,
                strategy=kind,
                opponent_id=f"person{number}",
            )
            while len(moves) < PLIES and game.legal_moves(position):
                decision = complete(player.choose(position, Limits(depth), stop), searcher, stop)
                after = game.play(position, game.parse_move(position, decision.move))
                moves.append(decision.move)
                if not game.legal_moves(after):
                    break
                replies = decision.chosen.replies
                reply = rng.choice([min(replies, key=lambda each: each.scores_centi[0]), rng.choice(replies)])
                moves.append(reply.reply)
                judged.append(await _record(session, stored.id, len(moves) - 2, decision, reply.reply))
                position = game.play(after, game.parse_move(after, reply.reply))
            await set_moves(session, stored.id, tuple(moves))
            if number != 1:
                await finish_game(
                    session, stored.id, result=GameResult.WIN, end_reason="resign", moves=tuple(moves)
                )
                await store_judgements(session, stored.id, dict(judged))


async def _record(
    session: AsyncSession, game_id: int, ply: int, decision: Any, reply: str
) -> tuple[int, tuple[str, ReplyCosts]]:
    """Store a decision with its reply and forecast; return what the judge says of the reply."""
    decision_id = await commit_decision(session, game_id, ply, decision)
    await mark_confirmed(session, decision_id)
    await record_outcome(session, decision_id, classify_by_figure_9(decision, reply))
    made = forecast_replies(decision, (), None, Person(), None, StopFlag())
    await store_forecast(session, decision_id, decision, made)
    return decision_id, (reply, decision_costs(decision, (reply,), StopFlag(), made.costs))


# --- The recomputation ----------------------------------------------------------------------------------


def worth(score: int, scale: float) -> int:
    if abs(score) >= WIN:
        return 10_000 if score > 0 else 0
    found = int(10_000 / (1 + math.exp(-abs(score) / scale)) + 0.5)
    return found if score >= 0 else 10_000 - found


def trappiness(scores: list[int]) -> float:
    """Figure 3 with the median, from the opponent's view."""
    if len(scores) < 2:
        return 0.0
    upper, final = median([-score for score in scores[:-1]]), -scores[-1]
    gap, size = upper - final, abs(final)
    if gap <= 0:
        return 0.0
    if size == 0 or gap / size >= 4:
        return 1.0
    ratio = gap / size
    return 0.75 + 0.25 * (ratio - 1) / 3 if ratio >= 1 else 0.75 * ratio


def recomputed(row: Any) -> dict[str, float]:
    """What one judged reply adds to its group."""
    record, foreseen = (unpack(each) for each in row[3:5])
    game = get_rules(record["game"])
    scale = game.expected_scale_centi(game.for_search(game.parse_position(record["position"])))
    chosen = next(each for each in record["candidates"] if each["move"] == record["move"])
    if abs(chosen["raw_centi"]) >= WIN:
        return {"decided": 1}
    least = worth(chosen["raw_centi"], scale)
    costs = {each["reply"]: worth(each["scores_centi"][-1], scale) - least for each in chosen["replies"]}
    quality = {
        each["reply"]: costs[each["reply"]] * trappiness(each["scores_centi"]) for each in chosen["replies"]
    }
    falls = {reply for reply, size in quality.items() if size >= 500}
    known = foreseen["costs"]
    judged = [] if known is None else [known["best"], *known["replies"]]
    judged_costs = costs | {each["reply"]: each["cost"] for each in judged}
    errors = {reply for reply, cost in judged_costs.items() if cost >= 1000}
    baits = set(foreseen["bait_replies"])
    probabilities = dict(zip(foreseen["replies"], foreseen["odds"], strict=True))
    reply, n = row[2], len(costs)
    is_best = next(
        each["scores_centi"][-1] == chosen["raw_centi"]
        for each in chosen["replies"]
        if each["reply"] == reply
    )
    found: dict[str, float] = {"unjudged": 1}
    if row[5] is not None:
        found = {
            "replies": 1,
            "optimal": is_best,
            "errors": row[5] >= 1000,
            "errors chance": len(errors) / n,
            "errors model": sum(probabilities[each] for each in errors),
            "cost": row[5] / 10_000,
            "cost chance": sum(judged_costs.values()) / n / 10_000,
            "cost model": sum(probabilities[each] * cost for each, cost in judged_costs.items()) / 10_000,
        }
    if baits:
        found |= {
            "baits set": 1,
            "baits": reply in baits,
            "baits chance": len(baits) / n,
            "baits model": sum(probabilities[each] for each in baits),
        }
    if falls:
        found |= {
            "traps set": 1,
            "falls": reply in falls,
            "falls chance": len(falls) / n,
            "falls model": sum(probabilities[each] for each in falls),
            "elsewhere": reply not in falls and not is_best,
        }
    return found


def sums_of(found: GroupStatistics) -> dict[str, float]:
    """The same sums from the program's statistics."""
    sums: dict[str, float] = {
        "replies": found.replies,
        "unjudged": found.unjudged,
        "optimal": found.optimal,
        "decided": found.decided,
        "baits set": found.baits_set,
        "traps set": found.traps_set,
        "elsewhere": found.traps_erred_elsewhere,
    }
    for name in ("errors", "cost", "baits", "falls"):
        each = getattr(found, name)
        for part, mean in (("", each.happened), (" chance", each.chance), (" model", each.model)):
            sums[name + part] = 0.0 if mean is None else mean * each.n
        if each.n:
            assert each.beyond_chance.mean == pytest.approx(each.happened - each.chance)
            assert each.beyond_model.mean == pytest.approx(each.happened - each.model)
    return sums


EXPORT = """
SELECT games.player, games.game, outcomes.reply, decisions.record, forecasts.record, judgements.cost
FROM decisions JOIN games ON games.id = decisions.game_id
JOIN outcomes ON outcomes.decision_id = decisions.id JOIN forecasts ON forecasts.decision_id = decisions.id
LEFT JOIN judgements ON judgements.decision_id = decisions.id
WHERE decisions.reply_count >= 2
"""


async def test_every_number_follows_from_the_records(database: Database) -> None:
    await play(database)
    async with database.read() as session:
        found = (await read_groups(session, None, [GroupKey.STRATEGY, GroupKey.GAME])).statistics()
        rows = list(await session.execute(text(EXPORT)))
        assert await count_outdated(session) == 0
    wanted: dict[tuple[str, str], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for row in rows:
        for name, value in recomputed(row).items():
            wanted[row[0], row[1]][name] += value
    assert [(each.group["strategy"], each.group["game"]) for each in found] == sorted(wanted)
    totals: dict[str, float] = defaultdict(float)
    for each in found:
        sums = sums_of(each)
        for name, value in sums.items():
            known = wanted[each.group["strategy"], each.group["game"]][name]
            assert value == pytest.approx(known, abs=1e-6), name
            totals[name] += value
        assert (each.games, each.persons) == (1, 1)
    assert [each.unfinished for each in found] == [1, 0, 0]
    assert all(
        totals[name] > 0 for name in ("errors", "falls", "optimal", "traps set", "errors model", "unjudged")
    )


async def test_a_reply_knows_who_made_its_forecast(database: Database) -> None:
    await play(database)
    async with database.write() as session:
        before = await reply_facts(session)
        await session.execute(
            update(ForecastRow)
            .where(ForecastRow.decision_id == before[0].decision_id)
            .values(model_name="people", model_sha256="0" * 64, prior="1" * 64)
        )
        after = await reply_facts(session)
    assert {each.model for each in before} == {"looks 6.5"}
    assert [each.model for each in after[:2]] == ["people 00000000, tilted by 11111111", "looks 6.5"]


async def test_what_earlier_rules_judged_counts_nowhere_and_is_named(database: Database) -> None:
    await play(database)
    async with database.write() as session:
        before = await reply_facts(session)
        first, second, third = (each.decision_id for each in before[:3])
        await session.execute(update(DecisionRow).where(DecisionRow.id == first).values(rule=1))
        await session.execute(update(OutcomeRow).where(OutcomeRow.decision_id == second).values(rule=1))
        await session.execute(update(ForecastRow).where(ForecastRow.decision_id == third).values(rule=0))
        assert [each.decision_id for each in await reply_facts(session)] == [
            each.decision_id for each in before[3:]
        ]
        assert await count_outdated(session) == 3
        assert await count_outdated(session, Filters(game="checkers")) == 0
        # The forecasts of a game that is still judged may be on the way.
        await session.execute(update(GameRow).values(is_settled=False))
        assert await count_outdated(session) == 0


# --- randomised decisions -----------------------------------------------------------------------------------

LOTS_AT = (
    "8/4b3/1b1b4/2bwb3/1wwbb3/1w1wb3/8/8 w",
    "8/4wb2/1b1bw3/2bbw3/2wbw3/3b4/8/8 b",
    "b7/1b6/2bw1w2/3ww3/3wbb2/3wbw2/4b3/4bw2 b",
    "8/8/1bb3b1/2bwwww1/3ww3/2w1bbb1/8/8 b",
)
"""Where a draw decides at depth 5 with a threshold of 2 %."""

DRAW_EXPORT = """
SELECT games.opponent_id, outcomes.reply, decisions.record, forecasts.record, judgements.cost
FROM decisions JOIN games ON games.id = decisions.game_id
JOIN trials ON trials.id = games.trial_id AND trials.name = 'm1'
JOIN outcomes ON outcomes.decision_id = decisions.id JOIN forecasts ON forecasts.decision_id = decisions.id
JOIN judgements ON judgements.decision_id = decisions.id
ORDER BY decisions.id
"""


async def play_at_random(database: Database) -> StoredTrial:
    """Games of two persons from positions in which a draw decides, with random replies."""
    rng, game, searcher = random.Random(5), get_rules("othello"), make_searcher("othello", 1)
    player = MoveChooser(strategy_named("randomised"), game, TrapParams(threshold_percent=2.0), searcher)
    async with database.write() as session:
        plan = NewTrial(
            name="m1", arms=("randomised",), configurations={"randomised": {}}, endpoint=Endpoint.COST
        )
        trial = await start_trial(session, plan, at=START)
        for number, position in enumerate(LOTS_AT * 3):
            root = game.parse_position(position)
            decision = player.choose(root, Limits(5), StopFlag(), seed=rng.getrandbits(64))
            stored = await opened(
                session,
                f"lot{number}",
                strategy="randomised",
                opponent_id=f"person{number % 2}",
                selection={"method": "fixed", "blind": True},
                trial_id=trial.id,
            )
            reply = rng.choice(decision.chosen.replies).reply
            judged = await _record(session, stored.id, 0, decision, reply)
            await finish_game(
                session, stored.id, result=GameResult.WIN, end_reason="resign", moves=(decision.move, reply)
            )
            await store_judgements(session, stored.id, dict([judged]))
    return trial


def draw_recomputed(row: Any) -> dict[str, Any]:
    """What a randomised decision says, from its record's JSON."""
    record, foreseen = (unpack(each) for each in row[2:4])
    draw, game = record["trial_draw"], get_rules(record["game"])
    scale = game.expected_scale_centi(game.for_search(game.parse_position(record["position"])))
    is_trap = int(draw["seed"], 16) < draw["params"]["chance"] * 2**64
    assert record["move"] == draw["trap" if is_trap else "control"]
    found: dict[str, Any] = {"person": row[0], "treated": is_trap, "probability": draw["params"]["chance"]}
    for name, drawn in (("trap", draw["trap"]), ("control", draw["control"])):
        move = next(each for each in record["candidates"] if each["move"] == drawn)
        least = worth(move["raw_centi"], scale)
        costs = {each["reply"]: worth(each["scores_centi"][-1], scale) - least for each in move["replies"]}
        qualities = [costs[each["reply"]] * trappiness(each["scores_centi"]) for each in move["replies"]]
        assert (max(qualities) >= 200) is (name == "trap")
        made = foreseen if record["move"] == drawn else foreseen["other"]
        probabilities = dict(zip(made["replies"], made["odds"], strict=True))
        found[f"value_{name}"] = least / 10_000
        found[f"mean_{name}"] = sum(costs.values()) / len(costs) / 10_000
        found[f"expected_{name}"] = sum(probabilities[each] * cost for each, cost in costs.items()) / 10_000
        if record["move"] == drawn:
            found["own_cost"] = costs[row[1]] / 10_000
            found["cost"] = row[4] / 10_000
    gap = found["value_control"] - found["value_trap"]
    assert abs(gap) <= 0.02 + 1e-9
    assert all(0.05 <= found[f"value_{name}"] <= 0.95 for name in ("trap", "control"))
    return found


async def test_every_number_of_randomised_decisions_follows_from_the_records(database: Database) -> None:
    trial = await play_at_random(database)
    async with database.read() as session:
        rows, _ = await trial_decisions(session, trial)
        known = [draw_recomputed(row) for row in await session.execute(text(DRAW_EXPORT))]
    assert len(rows) == len(known) == 12
    assert {row.treated for row in rows} == {True, False}
    for row, each in zip(rows, known, strict=True):
        for name, value in each.items():
            assert getattr(row, name) == pytest.approx(value, abs=2e-6), name
    report = decisions_report(rows, TrialTerms(), START + timedelta(days=400))
    assert (report.drawn, report.counted) == (len(known), len(known))
    total = 0.0
    past: dict[int, tuple[float, float, int]] = defaultdict(lambda: (0.0, 0.0, 0))
    for each in known:
        y, x, n = past[each["person"]]
        now = (each["expected_trap"] + each["expected_control"]) / 2
        guess = 0.8 * (y + 1.2) / (x + 1.2) * now + 0.2 * (y + 1.2) / (n + 20)
        total += (each["cost"] - guess) * (2 if each["treated"] else -2)
        past[each["person"]] = (y + each["cost"], x + now, n + 1)
    assert report.cost.any_time.estimate.mean == pytest.approx(total / len(known), abs=1e-5)
