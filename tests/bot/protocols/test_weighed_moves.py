"""What exploit learns of its opponent where it plays under another program's control."""

from dataclasses import replace

import pytest

from bot.protocols.search_driver import FrontEndSettings, SearchDriver
from bot.protocols.uci import Uci
from bot.protocols.weighed_moves import WeighedMoves
from engine.decision import Contender, Decision, ExploitUse, WeighedReply
from engine.game import positions
from engine.games import get_rules
from engine.human.opponent_model_search import Background
from engine.human.registry import ModelRegistry
from engine.move_chooser import MoveChooser
from engine.opponents.trust import UNKNOWN, ExploitFacts, reply_evidence, trust_after
from engine.params import ExploitParams
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from tests.bot.protocols.driver import Driver
from tests.storage.samples import decision

OTHELLO = get_rules("othello")
GAME = list(positions(OTHELLO, ["f5", "d6", "c3", "d3"]))
REPLIES = (WeighedReply("f6", 0.2, 100), WeighedReply("d6", 0.7, 400))
USE = ExploitUse(
    ExploitParams(),
    UNKNOWN,
    0.0,
    100.0,
    110,
    reply_depth=4,
    contenders=(Contender("f5", 110, REPLIES, 5000.0),),
)
WEIGHED = replace(decision(), exploit=USE)
"""Black's first move f5; the error d6 is expected."""
NOTHING = ExploitFacts(UNKNOWN, 0.0, UNKNOWN, 0)


def after(reply: str) -> ExploitFacts:
    evidence = reply_evidence(USE, "f5", reply)
    assert evidence
    return ExploitFacts(trust_after(UNKNOWN, [evidence]), 0.0, UNKNOWN, 1, evidence)


def test_replies_tell_how_far_the_model_is_right() -> None:
    known = WeighedMoves(OTHELLO)
    known.add(GAME[:1], WEIGHED)
    assert known.facts(UNKNOWN, GAME[:2]) == NOTHING
    assert known.facts(UNKNOWN, GAME[:3]) == known.facts(UNKNOWN, GAME) == after("d6")
    assert known.facts(0.0, GAME).trust == 0
    assert after("d6").trust > UNKNOWN > after("f6").trust


def test_what_was_taken_back_does_not_count() -> None:
    known = WeighedMoves(OTHELLO)
    known.add(GAME[:1], WEIGHED)
    for other in (["d3", "c3"], ["c4"], []):
        assert known.facts(UNKNOWN, [*positions(OTHELLO, other)]) == NOTHING
    assert known.facts(UNKNOWN, [*positions(OTHELLO, ["f5", "f6"])]) == after("f6")
    known.add(GAME[:1], replace(WEIGHED, exploit=replace(USE, contenders=())))
    assert known.facts(UNKNOWN, GAME) == NOTHING
    known.add(GAME[:1], WEIGHED)
    known.add(GAME[:1], decision())  # chosen again, by a strategy that weighs nothing
    assert known.facts(UNKNOWN, GAME) == NOTHING


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Background]:
    """What the chooser is told, move by move."""
    told: list[Background] = []

    def choose(self: MoveChooser, position: object, *_limits: object, background: Background) -> Decision:
        told.append(background)
        game = self._use.game
        legal = [game.move_text(each) for each in game.legal_moves(position)]
        if WEIGHED.move in legal:
            return WEIGHED
        return replace(WEIGHED, move=legal[0], candidates=(replace(WEIGHED.candidates[0], move=legal[0]),))

    monkeypatch.setattr(MoveChooser, "choose", choose)
    return told


def test_the_driver_learns_from_a_game(asked: list[Background]) -> None:
    driver = SearchDriver(
        OTHELLO, FrontEndSettings(strategy_named("exploit"), table_mb=1, models=ModelRegistry())
    )
    assert driver.decide(GAME[0], Limits(4), StopFlag()).move == "f5"
    driver.background = Background(tuple(GAME[:2]))
    driver.decide(GAME[2], Limits(4), StopFlag())
    driver.background = Background(tuple(GAME[:2]), trust=0.0)
    driver.decide(GAME[2], Limits(4), StopFlag())
    driver.forget()
    driver.background = Background(tuple(GAME[:2]))
    driver.decide(GAME[2], Limits(4), StopFlag())
    assert [each.trust for each in asked] == [UNKNOWN, after("d6").trust, 0.0, UNKNOWN]


@pytest.mark.parametrize(("opponent", "trust"), [("human A. Person", UNKNOWN), ("computer Program", 0.0)])
def test_a_program_is_not_trusted_to_err(opponent: str, trust: float, asked: list[Background]) -> None:
    driver = SearchDriver(get_rules("chess"), FrontEndSettings(strategy_named("exploit"), table_mb=1))
    with Driver(Uci, driver) as gui:
        gui.tell(f"setoption name UCI_Opponent value none 1650 {opponent}", "position startpos moves e2e4")
        gui.tell("go movetime 100")
        gui.hear_until("bestmove")
    assert [each.trust for each in asked] == [trust]


def test_a_search_with_a_clock_weighs_errors() -> None:
    """It is not merely strong's."""
    driver = SearchDriver(
        OTHELLO, FrontEndSettings(strategy_named("exploit"), table_mb=1, models=ModelRegistry())
    )
    driver.background = Background(trust=1.0)
    assert driver.decide(GAME[0], Limits(4), StopFlag()).move
    made = driver._weighed._made
    assert [each.weighed.use.trust for each in made.values()] == [1.0]
