"""Another engine as the source of profiles: what is asked, what the record proves, and what failures cost."""

import logging
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.completion import complete
from engine.decision import Decision
from engine.errors import RecordError
from engine.figure_9 import classify_by_figure_9, decision_verdicts
from engine.game import WIN_CENTI
from engine.games import get_rules
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.protocols.engine_source import EnginePool, EngineSource
from engine.protocols.link import BestMoveRequest, EngineOutput, InfoLine, Link, SearchRequest
from engine.protocols.process import EngineError, WaitLimit
from engine.protocols.score_settings import EngineSettings
from engine.search.searchers import make_searcher
from engine.stop import StopFlag, Stopped
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from engine.verification import verify
from tests.engine.protocols.fake_uci import NAME, fake_moves, fake_score
from tests.engine.protocols.test_uci_scores import KINDS, LONG_S, MIDDLE_GAMES, REAL, fake
from tests.programs import installed

MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 30"
STALEMATE_IN_ONE = "7k/8/8/6Q1/8/5K2/8/8 w - - 0 50"


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Scripted:
    """An engine in memory, with the made-up one's scores; each search takes as long as the test says."""

    name = "Scripted 2"
    max_lines = 500

    def __init__(self, game: str = "chess", score: Callable[[str, str, int], int] = fake_score) -> None:
        self.game = game
        self.score = score
        self.asked: list[SearchRequest] = []
        self.moves_asked: list[BestMoveRequest] = []
        self.thinking_s = 0.0
        """What a search for a move takes, unless it is stopped earlier."""
        self.names: str | None = None
        """The move that such a search names, instead of its best."""
        self.closed: list[bool] = []
        self.clock = Clock()
        self.costs: Callable[[SearchRequest], float] = lambda _ask: 0.0
        self.is_silent = False
        """It says nothing while it searches."""
        self.is_mute = False
        """Its searches end without a line."""

    def processor_time_s(self) -> float | None:
        return 0.25 * len(self.asked)

    def connect(self, _settings: EngineSettings) -> Link:
        return self

    def search(self, ask: SearchRequest | BestMoveRequest, patience: WaitLimit) -> EngineOutput:
        began = patience.clock()
        patience.check(self.name, began)
        if isinstance(ask, BestMoveRequest):
            return self._best(ask, patience)
        self.asked.append(ask)
        self.clock.now += self.costs(ask)
        patience.check(self.name, began if self.is_silent else patience.clock())
        board, legal = fake_moves(self.game, ["fen", *ask.position.split()])
        moves = [move for move in legal if move in ask.moves or not ask.moves]
        lines = [
            InfoLine(d, self.score(board, move, d), False, (move,))
            for d in range(1, ask.depth + 1)
            for move in sorted(moves, key=lambda move: -self.score(board, move, d))[: ask.lines]
        ]
        return EngineOutput(() if self.is_mute else tuple(lines), 10)

    def _best(self, ask: BestMoveRequest, patience: WaitLimit) -> EngineOutput:
        """The best move of the last depth; until then each depth takes as long as the test says."""
        self.moves_asked.append(ask)
        board, legal = fake_moves(self.game, ["fen", *ask.position.split()])
        depth = ask.depth or 6
        best = max(legal, key=lambda move: self.score(board, move, depth))
        self.clock.now = min(self.clock.now + self.thinking_s, patience.until)
        if self.names is not None:
            best = self.names
        return EngineOutput((InfoLine(depth, self.score(board, best, depth), False, (best,)),), 1000, best)

    def close(self, *, quickly: bool = False) -> None:
        self.closed.append(quickly)


def source(link: Scripted, **changes: Any) -> EngineSource:
    known: dict[str, Any] = {"game": link.game, "command": ("scripted",), "depth": 4}
    return EngineSource(EngineSettings(**(known | changes)), connect=link.connect, clock=link.clock)


def decide(
    engine: EngineSource | None,
    position: str,
    limits: Limits | None = None,
    stop: StopFlag | None = None,
    game: str = "chess",
    params: TrapParams | None = None,
) -> Decision:
    rules = get_rules(game)
    searcher = make_searcher(game, 1)
    player = MoveChooser(
        strategy_named("trappy_uci"), rules, params or TrapParams(margin_centi=50), searcher, source=engine
    )
    decision = player.choose(rules.parse_position(position), limits or Limits(4), stop or StopFlag())
    verify(decision)
    assert Decision.from_record(decision.to_record()) == decision
    return decision


# --- Profiles ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("game", "protocol"), KINDS)
def test_a_decision_is_what_the_engine_said(game: str, protocol: str) -> None:
    """Raw values, profiles and the choice, worked out anew from the made-up scores; with a real process."""
    engine = EngineSource(fake(game, protocol, depth=4, window_centi=60, candidates=3))
    rules = get_rules(game)
    position = rules.parse_position(MIDDLE_GAMES[game])
    try:
        decision = decide(engine, MIDDLE_GAMES[game], game=game)
    finally:
        engine.close()
    assert (decision.search_mode, decision.profile_source, decision.depth) == ("engine", NAME, 4)
    assert decision.is_complete
    assert complete(decision, make_searcher(game, 1), StopFlag()) is decision
    info = decision.source
    assert info is not None
    assert (info.name, info.protocol, info.window_centi, info.nodes) == (NAME, protocol, 60, decision.nodes)
    here = " ".join(rules.board_text(position).split()[:2])
    looked_into = 0
    for candidate in decision.candidates:
        root = fake_score(here, candidate.move, 4)
        if candidate.raw_is_bound:
            assert candidate.raw_centi == root <= info.floor_centi
            continue
        looked_into += 1
        after = rules.play(position, rules.parse_move(position, candidate.move))
        there = " ".join(rules.board_text(after).split()[:2])
        replies = [rules.move_text(move) for move in rules.legal_moves(after)]
        assert [reply.reply for reply in candidate.replies] == replies
        for reply in candidate.replies:
            assert reply.scores_centi == tuple(-fake_score(there, reply.reply, d) for d in (1, 2, 3))
        assert candidate.raw_centi == min(reply.final_centi for reply in candidate.replies)
        assert root >= info.floor_centi
    assert 1 <= looked_into <= 3
    for reply in decision.chosen.replies:
        assert classify_by_figure_9(decision, reply.reply).cost_centi >= 0


def test_the_first_search_is_the_root_and_the_others_follow_its_moves() -> None:
    link = Scripted()
    decision = decide(source(link, window_centi=0, candidates=1), MIDDLE_GAMES["chess"])
    root, replies = link.asked
    assert (root.position, root.depth, root.moves) == (MIDDLE_GAMES["chess"], 4, ())
    assert replies.depth == 3
    assert replies.position.startswith(MIDDLE_GAMES["chess"].split(" moves")[0])
    assert decision.principal_variation == (decision.move,)
    assert decision.nodes == 20


def test_a_hopeful_root_widens_the_window() -> None:
    """When its replies show that the best move is not that good, the next ones are looked into, too."""
    values = {"g1f3": 90, "d2d4": 30, "e2e4": 0, "a2a3": -300}

    def score(_board: str, move: str, _depth: int) -> int:
        return values.get(move, -500)

    start = get_rules("chess").position_text(get_rules("chess").initial())
    decision = decide(source(Scripted(score=score), window_centi=20), start)
    # Every reply is bad for the opponent, so nothing disappoints: the best move alone is looked into.
    assert [c.move for c in decision.candidates if not c.raw_is_bound] == ["g1f3"]

    def sobering(board: str, move: str, depth: int) -> int:
        return score(board, move, depth) if board.endswith("w") else 35

    decision = decide(source(Scripted(score=sobering), window_centi=40), start)
    assert {c.move for c in decision.candidates if not c.raw_is_bound} == {"g1f3", "d2d4", "e2e4"}
    assert decision.source is not None
    assert decision.source.floor_centi == 0


def test_too_many_moves_for_the_lines_are_searched_in_parts() -> None:
    whole, parts = Scripted(), Scripted()
    parts.max_lines = 7
    decisions = [decide(source(link), MIDDLE_GAMES["chess"]) for link in (whole, parts)]
    assert decisions[0].candidates == decisions[1].candidates
    assert max(ask.lines for ask in parts.asked) == 7
    few = Scripted()
    assert decide(source(few, max_lines=5), MIDDLE_GAMES["chess"]).candidates == decisions[0].candidates
    assert max(len(ask.moves) for ask in few.asked) == 5


def test_moves_that_end_the_game() -> None:
    """The rules know better than the engine what they are worth, and nobody asks for replies."""
    mate = decide(source(Scripted()), MATE_IN_ONE)
    assert mate.move == "a1a8"
    assert mate.chosen.raw_centi > WIN_CENTI
    assert (mate.chosen.replies, mate.chosen.complete) == ((), True)
    stalemate = decide(source(Scripted(score=lambda *_: -900)), STALEMATE_IN_ONE)
    drawn = {c.move: c for c in stalemate.candidates}["g5g6"]
    assert (drawn.raw_centi, drawn.replies, drawn.complete) == (0, (), True)


def test_a_trap_tips_the_balance() -> None:
    """Of two moves as good, the one whose refutation is hard to see is played."""

    def score(board: str, move: str, depth: int) -> int:
        if board.endswith("w"):
            return 100 if move in ("g1f3", "e2e4") else -500
        after_nf3 = "5N2" in board
        if move == "h7h6" and after_nf3:
            return 300 if depth < 3 else -400  # it looks good to the opponent, and is not
        return -100

    start = get_rules("chess").position_text(get_rules("chess").initial())
    decision = decide(source(Scripted(score=score)), start, params=TrapParams())
    assert (decision.move, decision.chosen.trap) == ("g1f3", "h7h6")
    assert decision_verdicts(decision).is_trap
    other = {c.move: c for c in decision.candidates}["e2e4"]
    assert (other.raw_centi, other.trap) == (decision.chosen.raw_centi, None)


# --- Records -----------------------------------------------------------------------------------------------


def recorded() -> Decision:
    return decide(source(Scripted(), candidates=4, window_centi=100), MIDDLE_GAMES["chess"])


def test_forged_records_are_noticed() -> None:
    good = recorded()
    outside = next(c for c in good.candidates if c.raw_is_bound)
    inside = next(c for c in good.candidates if not c.raw_is_bound and c.move != good.move)
    assert good.source is not None

    def with_candidate(changed: Any) -> Decision:
        candidates = tuple(changed if c.move == changed.move else c for c in good.candidates)
        return replace(good, candidates=candidates)

    forged = {
        "follows": replace(good, move=inside.move),
        "was played": replace(good, move=outside.move),
        "the engine is not in the record": replace(good, source=None),
        "trappy players do not choose by 'engine'": replace(good, strategy="trappy"),
        "above the floor": replace(good, source=replace(good.source, floor_centi=-500)),
        "profile is incomplete": with_candidate(replace(inside, complete=False)),
        "recomputed": with_candidate(replace(inside, adjusted_centi=inside.adjusted_centi + 1)),
        "has a profile": with_candidate(replace(outside, complete=True)),
        "scores, not 4": replace(good, depth=5),
    }
    for message, decision in forged.items():
        with pytest.raises(RecordError, match=message):
            verify(decision)


def test_records_from_before_there_were_sources() -> None:
    record = recorded().to_record()
    del record["source"]
    assert Decision.from_record(record).source is None
    with pytest.raises(RecordError, match="not the record"):
        Decision.from_record(record | {"source": {"name": "x"}})


# --- Time --------------------------------------------------------------------------------------------------


def test_with_a_clock_the_depth_is_what_the_time_allows() -> None:
    for time_s, depth in ((300.0, 4), (900.0, 6), (2_500.0, 8), (5e6, 9)):  # no real second may count
        link = Scripted()
        link.costs = lambda ask: 10.0 * 2.0 ** (ask.depth - 4)
        decision = decide(
            source(link, depth=9, candidates=20, window_centi=1000), MIDDLE_GAMES["chess"], Limits(4, time_s)
        )
        assert (decision.search_mode, decision.depth) == ("engine", depth)
        assert link.clock.now - 1000.0 <= time_s


def test_the_last_whole_profiles_stand() -> None:
    """A forecast that was too hopeful costs the deeper profiles, not the move."""
    link = Scripted()
    link.costs = lambda ask: 1.0 if ask.depth <= 4 else 3_000.0
    decision = decide(source(link, depth=8), MIDDLE_GAMES["chess"], Limits(4, 4_000.0))
    assert (decision.search_mode, decision.depth) == ("engine", 4)
    assert max(ask.depth for ask in link.asked) > 4


def test_an_engine_that_is_too_slow_leaves_the_move_to_the_core() -> None:
    link = Scripted()
    link.costs = lambda _ask: 300.0
    decision = decide(source(link), MIDDLE_GAMES["chess"], Limits(4, 2_000.0))
    assert (decision.search_mode, decision.profile_source) == ("exact", make_searcher("chess", 1).source)
    assert link.closed == []  # it was slow, not broken


def test_without_a_clock_the_lower_depth_counts() -> None:
    assert decide(source(Scripted(), depth=5), MIDDLE_GAMES["chess"], Limits(3)).depth == 3
    assert decide(source(Scripted(), depth=3), MIDDLE_GAMES["chess"], Limits(4)).depth == 3


def test_a_stopped_player_decides_without_the_engine() -> None:
    stop = StopFlag()
    stop.set()
    link = Scripted()
    decision = decide(source(link), MIDDLE_GAMES["chess"], stop=stop)
    assert (decision.search_mode, decision.depth, link.asked) == ("exact", 2, [])


def test_without_an_engine_it_plays_as_trappy() -> None:
    decision = decide(None, MIDDLE_GAMES["chess"], Limits(3))
    other = MoveChooser(
        strategy_named("trappy"), get_rules("chess"), decision.params, make_searcher("chess", 1)
    ).choose(get_rules("chess").parse_position(MIDDLE_GAMES["chess"]), Limits(3), StopFlag())
    assert (decision.search_mode, decision.source) == ("exact", None)
    assert (decision.move, decision.candidates) == (other.move, other.candidates)
    full = complete(decision, make_searcher("chess", 1), StopFlag())
    verify(full)
    assert full.is_complete


# --- Failures ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("game", "protocol"), KINDS)
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("crash=2", "ended by itself"),
        ("illegal", "a1a1|no variation that is legal"),
        ("missing", "got no score"),
        ("dies", "cannot start|ended by itself"),
    ],
)
def test_a_move_that_the_engine_fails(
    game: str, protocol: str, fault: str, message: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is decided without it and so recorded; the log says so once; the next move is the engine's again."""
    engine = EngineSource(fake(game, protocol, fault, f"once={tmp_path / 'was-here'}", depth=3))
    try:
        with caplog.at_level(logging.INFO, logger="engine"):
            failed = decide(engine, MIDDLE_GAMES[game], Limits(3), game=game)
            again = decide(engine, MIDDLE_GAMES[game], Limits(3), game=game)
    finally:
        engine.close()
    assert (failed.search_mode, failed.source) == ("exact", None)
    assert (again.search_mode, again.profile_source) == ("engine", NAME)
    told = [record for record in caplog.records if record.name == "engine.protocols.engine_source"]
    assert [record.levelname for record in told] == ["ERROR", "INFO"]
    assert re.search(message, told[0].message)
    assert "works again" in told[1].message


def test_an_engine_that_hangs_costs_half_of_the_time(tmp_path: Path) -> None:
    engine = EngineSource(
        fake(
            "chess", "uci", "hang=1", "deaf", f"once={tmp_path / 'was-here'}", depth=3, response_timeout_s=0.1
        )
    )
    try:
        failed = decide(engine, MIDDLE_GAMES["chess"], Limits(3))
        assert failed.search_mode == "exact"
        assert engine.name is None  # it was ended
    finally:
        engine.close()
    link = Scripted()
    link.costs, link.is_silent = lambda _ask: 950.0, True
    decision = decide(source(link, response_timeout_s=1e6), MIDDLE_GAMES["chess"], Limits(4, 2_000.0))
    assert (decision.search_mode, link.closed) == ("exact", [True])


def test_failures_in_a_row_put_the_next_start_off(caplog: pytest.LogCaptureFixture) -> None:
    link = Scripted()
    starts: list[float] = []

    def connect(_settings: EngineSettings) -> Link:
        starts.append(link.clock.now)
        if len(starts) < 5:
            raise EngineError("out of order")
        return link

    engine = EngineSource(
        EngineSettings(game="chess", command=("scripted",), depth=2), connect=connect, clock=link.clock
    )
    with caplog.at_level(logging.INFO, logger="engine"):
        for _ in range(60):
            decision = decide(engine, MIDDLE_GAMES["chess"], Limits(2))
            link.clock.now += 0.5
    assert decision.search_mode == "engine"
    assert [start - 1000.0 for start in starts] == [0.0, 0.5, 1.5, 6.5, 21.5]
    told = [record for record in caplog.records if record.name == "engine.protocols.engine_source"]
    assert [record.levelname for record in told] == ["ERROR", "INFO"]
    assert "out of order" in told[0].message


def test_a_start_goes_on_while_the_move_is_decided_without_it() -> None:
    """A slow start costs no move more than its share of the time, and is not begun twice."""
    link = Scripted()
    ready, begun = [False], []

    class Starting:
        """Stands for a start that takes until the test says so."""

        def connect(self, _settings: EngineSettings) -> Link:
            begun.append(1)
            while not ready[0]:
                pass
            return link

    engine = EngineSource(
        EngineSettings(game="chess", command=("scripted",), depth=2), connect=Starting().connect
    )
    stop = StopFlag()
    assert decide(engine, MIDDLE_GAMES["chess"], Limits(2, 0.05), stop).search_mode == "exact"
    ready[0] = True
    assert decide(engine, MIDDLE_GAMES["chess"], Limits(2)).search_mode == "engine"
    assert len(begun) == 1
    engine.close()
    assert link.closed == [False]


# --- Several at a time -------------------------------------------------------------------------------------


def test_engines_are_lent_to_one_at_a_time() -> None:
    links: list[Scripted] = []

    def connect(_settings: EngineSettings) -> Link:
        links.append(Scripted())
        return links[-1]

    engines = EnginePool([EngineSettings(game="chess", command=("scripted",))], connect)
    assert engines.settings("othello") is None
    with engines.lend("othello") as none:
        assert none is None
    with engines.lend("chess") as one, engines.lend("chess") as other:
        assert one is not None
        assert other is not None
        assert one is not other
        one.open()
        other.open()
        one.open()
    with engines.lend("chess") as again:
        assert again in (one, other)
        engines.close()
        assert sum(len(link.closed) for link in links) == 1
    assert [link.closed for link in links] == [[False], [False]]


def test_closing_during_a_start() -> None:
    link = Scripted()
    ready = [False]

    def connect(_settings: EngineSettings) -> Link:
        while not ready[0]:
            pass
        return link

    engine = EngineSource(EngineSettings(game="chess", command=("scripted",)), connect=connect)
    rules = get_rules("chess")
    stop = StopFlag()
    stop.set_deadline(0.05)
    assert engine.analyse(rules.initial(), TrapParams(), Limits(2), stop) is None
    starting = engine._starting
    assert starting is not None
    engine.close()
    ready[0] = True
    starting.result()
    for _ in range(10**7):  # the callback runs right behind the result
        if link.closed:
            break
    assert link.closed == [False]


# --- Real engines ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("game", "protocol", "name"), REAL)
def test_real_engines_decide(game: str, protocol: str, name: str) -> None:
    settings = EngineSettings(
        game=game, command=(installed(name),), protocol=protocol, depth=5, start_s=LONG_S, candidates=4
    )
    engine = EngineSource(settings)
    try:
        first = decide(engine, MIDDLE_GAMES[game], Limits(5), game=game)
        again = decide(engine, MIDDLE_GAMES[game], Limits(5), game=game)
    finally:
        engine.close()
    assert first.search_mode == "engine"
    assert "fish" in first.profile_source
    assert (first.move, first.candidates, first.source) == (again.move, again.candidates, again.source)
    assert first.principal_variation[0] in {c.move for c in first.candidates}
    assert not math.isnan(first.chosen.adjusted_centi)


@pytest.mark.parametrize(("game", "protocol", "name"), REAL)
def test_whole_games_of_real_engines_verify(game: str, protocol: str, name: str) -> None:
    """Against itself, a few moves at a time from everywhere: endings, mates and repetitions included."""
    rules = get_rules(game)
    engine = EngineSource(
        EngineSettings(
            game=game, command=(installed(name),), protocol=protocol, depth=2, start_s=LONG_S, candidates=2
        )
    )
    position = rules.initial()
    try:
        for _ in range(24):
            if not rules.legal_moves(position):
                break
            decision = decide(engine, rules.position_text(position), Limits(2), game=game)
            assert decision.search_mode == "engine"
            position = rules.play(position, rules.parse_move(position, decision.move))
    finally:
        engine.close()
    with pytest.raises(Stopped):
        WaitLimit(StopFlag(), 0.0, 1.0, late=None).check("done", 0.0)


def test_the_processor_time_of_an_engine_is_known_while_it_runs() -> None:
    link = Scripted()
    engine = EngineSource(
        EngineSettings(game="chess", command=("scripted",), depth=2), connect=link.connect, clock=link.clock
    )
    assert engine.processor_time_s() is None
    engine.open()
    decide(engine, MIDDLE_GAMES["chess"], Limits(2))
    assert engine.processor_time_s() == 0.25 * len(link.asked) > 0
