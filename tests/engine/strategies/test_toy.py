"""A kind of player is one object: one registered here plays, is recorded, verifies and can be chosen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from pydantic import ValidationError

from bot.base.config import AssignmentConfig
from bot.match.player_specs import MatchError, OurSpec, parse_spec
from engine.decision import Candidate, Decision
from engine.errors import RecordError
from engine.games import get_rules
from engine.human.opponent_model_search import OpponentModelSearch
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.reference import ReferenceSearcher
from engine.stop import StopFlag
from engine.strategies.move_context import RAW_ANALYSIS, Analysis, MoveContext
from engine.strategies.registry import STRATEGIES, strategies_for
from engine.strategies.strategy import Strategy
from engine.time_management import Limits
from engine.verification import verify


@dataclass(frozen=True, kw_only=True)
class Last(Strategy):
    """Plays the last move whose exact value is known: always the last in order, as it searches them all."""

    def analysis(self, context: MoveContext, people: OpponentModelSearch | None) -> Analysis:  # noqa: ARG002
        """See `Strategy.analysis`."""
        return Analysis(lambda profiler, depth: self.rank_candidates(profiler, depth, context.params), True)

    def best_move(self, candidates: Sequence[Candidate], params: TrapParams) -> str:  # noqa: ARG002
        """See `Strategy.best_move`."""
        return [each for each in candidates if not each.raw_is_bound][-1].move

    def verify_scores(self, decision: Decision) -> None:
        """See `Strategy.verify_scores`: worse moves are what it is for."""
        self.verify_choice(decision)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Strategy:
    """The strategy, in the registry."""
    strategy = Last(name="toy")
    monkeypatch.setitem(STRATEGIES, strategy.name, strategy)
    return strategy


@pytest.mark.parametrize("name", ["othello", "tictactoe"])
def test_it_plays_and_is_recorded_and_verified(toy: Strategy, name: str) -> None:
    game = get_rules(name)
    chooser = MoveChooser(toy, game, TrapParams(), ReferenceSearcher(game))
    decision = chooser.choose(game.initial(), Limits(3), StopFlag())
    assert decision.strategy == "toy"
    assert decision.move == game.move_text(game.legal_moves(game.initial())[-1])
    again = Decision.from_record(decision.to_record())
    assert again == decision
    verify(again)
    with pytest.raises(RecordError, match="was played, but"):
        verify(replace(again, move=again.candidates[0].move))


def test_it_can_be_chosen(toy: Strategy) -> None:
    assert toy.name in strategies_for("chess")
    assert AssignmentConfig(strategies=("standard", "toy")).strategies == ("standard", "toy")
    spec = parse_spec("toy:depth=4")
    assert isinstance(spec, OurSpec)
    assert spec.kind is toy
    with pytest.raises(MatchError, match=r"known: standard, .*, toy, human"):
        parse_spec("nobody")


def test_nobody_knows_it_unless_it_is_registered() -> None:
    with pytest.raises(ValidationError, match="no strategy named 'toy'"):
        AssignmentConfig(strategies=("standard", "toy"))
    with pytest.raises(MatchError, match="'toy' is not known"):
        parse_spec("toy")
    assert RAW_ANALYSIS.is_costly is False
