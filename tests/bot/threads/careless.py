"""Made-up games of careless people in the ledger: real positions, made-up scores and a made-up network."""

import hashlib
import math
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
from sqlalchemy import update

from engine.decision import Candidate, Decision, Outcome, OutcomeKind, ReplyProfile
from engine.figure_9 import FIGURE_9_RULE
from engine.game import Game
from engine.games import get_rules
from engine.human.model import PredictionQuery
from engine.human.opponent_model_search import GameModels
from engine.human.person_prior import card_path, costs_of, read_card
from engine.human.registry import ModelRegistry
from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts
from engine.person.faced import person_model_of
from engine.person.site import SiteModel
from engine.person.site_state import SiteState
from storage.database import Database
from storage.ledger.games import finish_game
from storage.ledger.judgements import store_judgements
from storage.ledger.sites import SiteKey, list_sites
from storage.records import DecisionState, GameResult
from storage.tables.games import DecisionRow
from tests.engine.human.fakes import FakeModel
from tests.engine.positions import random_position
from tests.storage.ledger.test_persons import DAY
from tests.storage.samples import decision, opened, settled

OTHELLO = get_rules("othello")
PRIOR = read_card(card_path("othello"))
BASE = next(iter(PRIOR.bases))
CARELESS = 9.0
"""What is taken from each person's k; they err about twice as often."""
IS_ERROR = 0.1
HERE = SiteKey("arena", "othello")


def answer(game: Game[Any], ask: PredictionQuery) -> tuple[float, ...]:
    """Probabilities that depend on the position alone."""
    position = ask.positions[-1]
    seed = hashlib.sha256(game.position_text(position).encode()).digest()[:8]
    rng = np.random.default_rng(int.from_bytes(seed))
    return tuple(rng.dirichlet(np.full(len(game.legal_moves(position)), 0.6)).tolist())


class MadeUp(ModelRegistry):
    """A network of Othello whose probabilities are made up, with the real prior."""

    @contextmanager
    def lend(self, game_name: str) -> Iterator[GameModels]:
        assert game_name == "othello"
        model = FakeModel("othello", answer)
        model.info = replace(model.info, sha256=BASE)
        yield GameModels(model, person_prior=PRIOR)


def faced(seed: int) -> Decision:
    """A move of ours, with scores for its three or more replies."""
    rng = random.Random(seed)
    while True:
        position = random_position(OTHELLO, rng, rng.randint(8, 40))
        move = rng.choice(OTHELLO.legal_moves(position))
        after = OTHELLO.play(position, move)
        if len(names := [OTHELLO.move_text(each) for each in OTHELLO.legal_moves(after)]) > 2:
            break
    scale = OTHELLO.expected_scale_centi(after)
    costs = [min(0.45, rng.expovariate(1 / 0.08)) for _ in names]
    replies = tuple(
        ReplyProfile(name, (round(scale * math.log((0.5 + cost) / (0.5 - cost))),) * 2)
        for name, cost in zip(names, costs, strict=True)
    )
    ours = OTHELLO.move_text(move)
    raw = min(each.final_centi for each in replies)
    chosen = Candidate(ours, raw, False, float(raw), replies=replies, complete=True)
    text = OTHELLO.position_text(position)
    return replace(decision(), position=text, move=ours, candidates=(chosen,), principal_variation=(ours,))


def probabilities(made: Decision, k_less: float, x_and_k: Sequence[float] = (0.0, 3.0)) -> list[float]:
    """The probabilities of a person's replies, by the tilt of the model's people."""
    base, costs = base_and_costs(made)
    prior = PRIOR.bases[BASE]
    x, k = x_and_k
    logs = math.exp(x) * np.log(np.maximum(base, prior.least)) - (k - k_less) * np.array(costs)
    powers = np.exp(logs - logs.max())
    found = (1 - PRIOR.uniform) * powers / powers.sum() + PRIOR.uniform / len(powers)
    return list(map(float, found))


def base_and_costs(made: Decision) -> tuple[tuple[float, ...], tuple[float, ...]]:
    position = OTHELLO.parse_position(made.position)
    after = OTHELLO.play(position, OTHELLO.parse_move(position, made.move))
    base = answer(OTHELLO, PredictionQuery((after,)))
    scale = OTHELLO.expected_scale_centi(after)
    return base, costs_of(made.chosen, scale, PRIOR.bases[BASE].depth)


def drawn_tilt(rng: np.random.Generator) -> tuple[float, float]:
    """The tilt of one of the model's people."""
    weights = PRIOR.prior_weights(BASE, None, None)
    x, k = PRIOR.bases[BASE].grid.points[rng.choice(len(weights), p=weights)]
    return float(x), float(k)


def expected_errors(made: Decision, probabilities: Sequence[float]) -> float:
    _, costs = base_and_costs(made)
    return sum(p for p, cost in zip(probabilities, costs, strict=True) if cost >= IS_ERROR)


async def play(
    database: Database, number: int, replies: int = 8, careless: float = CARELESS, **changes: Any
) -> dict[int, tuple[str, ReplyCosts]]:
    """A game of a person of their own, without a rating; what its replies cost, by decision."""
    rng = np.random.default_rng(number)
    tilt = drawn_tilt(rng)
    who = {"opponent_id": f"p{number}", "opponent_name": f"P{number}", "opponent_rating": None}
    costs = {}
    async with database.write() as session:
        game = await opened(session, f"game{number}", **who | changes)
        for at in range(replies):
            made = faced(1000 * number + at)
            p = np.array(probabilities(made, careless, tilt))
            reply = made.chosen.replies[int(rng.choice(len(p), p=p / p.sum()))].reply
            outcome = Outcome(OutcomeKind.OPTIMAL, reply, False, 0.0, 0, 0, FIGURE_9_RULE)
            key = await settled(session, game.id, 2 * at, made, outcome)
            cost = ReplyCost(reply, -100, 0, 12, is_solved=False)
            costs[key] = reply, ReplyCosts(JUDGE_VERSION, cost, (cost,))
        rows = update(DecisionRow).where(DecisionRow.game_id == game.id)
        await session.execute(rows.values(state=DecisionState.CONFIRMED))
        end = DAY + timedelta(hours=number)
        await finish_game(session, game.id, result=GameResult.WIN, end_reason="normal", settled=True, at=end)
    return costs


async def judge(database: Database, costs: dict[int, tuple[str, ReplyCosts]]) -> None:
    async with database.write() as session:
        row = await session.get(DecisionRow, min(costs))
        assert row is not None
        await store_judgements(session, row.game_id, costs)


async def played(database: Database, *numbers: int, **changes: Any) -> None:
    for number in numbers:
        await judge(database, await play(database, number, **changes))


async def site_state(database: Database, key: SiteKey = HERE) -> SiteState | None:
    async with database.read() as session:
        return (await list_sites(session)).get(key)


def site_model(registry: ModelRegistry) -> SiteModel:
    with registry.lend("othello") as models:
        model = person_model_of("othello", models)
    assert model is not None
    return SiteModel.of(model)
