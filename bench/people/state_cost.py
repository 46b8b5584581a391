"""What it costs to know a person: `python -m bench.people.state_cost [--game othello] [--decisions 20]`.

Prints the size of the state of a person of 10,000 games, the processor time to read it, and the processor
time of decisions by `calibrated` and `opponent_model` in random positions, with this state and without, by
the same number of nodes.
"""

import argparse
import random
import statistics
import time
from typing import Any

import numpy as np

from engine.decision import Person
from engine.game import Game
from engine.games import get_rules
from engine.human.opponent_model_search import Background, GameModels
from engine.human.registry import ModelRegistry
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.person.card import PersonModel
from engine.person.choice import ReplyAdapter
from engine.person.faced import person_model_of
from engine.person.memory import MAX_PLAYS, Memory, Play
from engine.person.state import FoldedGame, FoldedReply, KnownPerson, PersonState, fold_game
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from tests.engine.positions import random_position

GAMES, PLIES, TABLE_MB, READS = 10_000, 20, 16, 20


def full_state(game: Game[Any], position: Any, model: PersonModel) -> PersonState:
    """The state of a person of 10,000 games, whose memory is full; the tilt and the vector are from one reply
    in this position."""
    rng = np.random.default_rng(1)
    keys = rng.integers(2**63, size=MAX_PLAYS, dtype=np.int64).tolist()
    vector = model.card.vector
    text = game.position_text(position)
    replies = tuple(map(game.move_text, game.legal_moves(position)))
    faced = FoldedReply(
        position=text,
        ply=PLIES,
        replies=replies,
        base=(1 / len(replies),) * len(replies),
        costs=tuple(rng.uniform(0, 0.2, len(replies)).tolist()),
        planes=None if vector is None else tuple(rng.normal(size=(len(replies), len(vector.mean))).tolist()),
        reply=replies[0],
        judged_cost=0.0,
    )
    first = fold_game(PersonState(model.version), FoldedGame(is_lost=False, replies=(faced,)), model)
    memory = Memory({key: (Play(1, 900_000, GAMES - 1, 1),) for key in keys})
    return PersonState(model.version, GAMES, 30 * GAMES, first.tilts, first.vector, memory)


def decision_s(
    game: Game[Any], kind: str, models: GameModels, position: Any, nodes: int, state: PersonState | None
) -> float:
    """The processor time of a decision."""
    known = None if state is None else ReplyAdapter(KnownPerson(state, PLIES + 1), None)
    searcher = make_searcher(game.name, TABLE_MB)
    chooser = MoveChooser(strategy_named(kind), game, TrapParams(), searcher, models=models)
    background, limits = Background((), Person(1500), known), Limits(depth=64, nodes=nodes)
    began = time.process_time()
    chooser.choose(position, limits, StopFlag(), background=background)
    return time.process_time() - began


def main() -> None:
    """Print the costs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--game", default="othello")
    parser.add_argument("--decisions", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=100_000)
    arguments = parser.parse_args()
    game, rng = get_rules(arguments.game), random.Random(1)
    positions = [random_position(game, rng, PLIES) for _ in range(arguments.decisions)]
    with ModelRegistry().lend(game.name) as models:
        model = person_model_of(game.name, models)
        if model is None:
            parser.error(f"{game.name} has no model of people")
        state = full_state(game, positions[0], model)
        data, began = state.to_bytes(), time.process_time()
        for _ in range(READS):
            PersonState.from_bytes(data)
        print(f"state: {len(data):,} bytes, read in {(time.process_time() - began) / READS * 1000:.0f} ms")
        for kind in ("calibrated", "opponent_model"):
            decision_s(game, kind, models, positions[0], 1000, state)  # loads the networks
            without, having = (
                [decision_s(game, kind, models, each, arguments.nodes, known) for each in positions]
                for known in (None, state)
            )
            before_ms, with_ms = (statistics.fmean(each) * 1000 for each in (without, having))
            print(
                f"{kind}, {arguments.nodes:,} nodes: {before_ms:.0f} ms a decision, with the state"
                f" {with_ms:.0f} ms ({with_ms / before_ms:.2f} times)"
            )


if __name__ == "__main__":
    main()
