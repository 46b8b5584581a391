"""Another engine's own best move: what is asked, what the record proves, and what failures cost."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.completion import complete
from engine.decision import Decision, DirectMove, SearchMode
from engine.errors import BadSettings, RecordError
from engine.figure_9 import classify_by_figure_9
from engine.game import WIN_CENTI
from engine.games import get_rules
from engine.lookup.source import LookupMove
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.protocols import uci_scores
from engine.protocols.engine_source import EngineSource
from engine.protocols.link import BestMoveRequest
from engine.protocols.process import EngineError, WaitLimit
from engine.protocols.score_settings import EngineSettings, MoveLimit
from engine.protocols.uci_scores import UciLink
from engine.search.searchers import make_searcher
from engine.stop import StopFlag, Stopped
from engine.strategies.move_context import StrongOptions
from engine.strategies.registry import strategy_named
from engine.time_management import MIN_TIME_S, EngineClock, Limits, engine_clock
from engine.verification import verify
from tests.engine.protocols.fake_uci import NAME, fake_score
from tests.engine.protocols.test_engine_source import MATE_IN_ONE, Scripted, source
from tests.engine.protocols.test_uci_scores import KINDS, LONG_S, MIDDLE_GAMES, UntilThere, board, fake, legal
from tests.programs import installed

PATIENT = EngineClock(1e6, 2e6, 3.0)
Opener = Callable[..., EngineSource]


@pytest.fixture
def opened() -> Iterator[Opener]:
    """Makes sources over the made-up engine, and closes them when the test is over."""
    sources: list[EngineSource] = []

    def open_fake(game: str, protocol: str, *faults: str, **changes: Any) -> EngineSource:
        sources.append(EngineSource(fake(game, protocol, *faults, **changes)))
        return sources[-1]

    yield open_fake
    for each in sources:
        each.close()


def decide(
    engine: EngineSource | None,
    position: str,
    limits: Limits | None = None,
    stop: StopFlag | None = None,
    game: str = "chess",
    strong: StrongOptions | None = None,
) -> Decision:
    rules = get_rules(game)
    player = MoveChooser(
        strategy_named("standard_uci"), rules, TrapParams(), make_searcher(game, 1), strong, source=engine
    )
    decision = player.choose(rules.parse_position(position), limits or Limits(4), stop or StopFlag())
    verify(decision)
    assert Decision.from_record(decision.to_record()) == decision
    return decision


def best(game: str, depth: int) -> set[str]:
    """The made-up engine's best moves in the middle game."""
    scores = {move: fake_score(board(game), move, depth) for move in legal(game)}
    return {move for move, score in scores.items() if score == max(scores.values())}


# --- What is played ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("game", "protocol"), KINDS)
def test_the_engines_own_best_move(opened: Opener, game: str, protocol: str) -> None:
    """And the replies are judged by the same engine, so that what the opponent does can be, too."""
    decision = decide(opened(game, protocol, depth=4), MIDDLE_GAMES[game], game=game)
    assert (decision.search_mode, decision.profile_source, decision.depth) == (
        SearchMode.ENGINE_MOVE,
        NAME,
        4,
    )
    assert decision.move in best(game, 4)
    score = fake_score(board(game), decision.move, 4)
    assert decision.pick == DirectMove(score, 4, 0, False)
    assert {c.raw_centi for c in decision.candidates if c.move != decision.move} == {score}
    assert decision.chosen.raw_centi == min(reply.final_centi for reply in decision.chosen.replies)
    assert decision.is_complete
    assert complete(decision, make_searcher(game, 1), StopFlag()) is decision
    for reply in decision.chosen.replies:
        assert classify_by_figure_9(decision, reply.reply).cost_centi >= 0


@pytest.mark.parametrize(
    ("changes", "limits", "command"),
    [
        ({"depth": 3}, Limits(4), "go depth 3"),
        ({"depth": 5}, Limits(3), "go depth 3"),
        ({"depth": 5}, Limits(3, 1e5), "go depth 5"),
        ({"limit": MoveLimit.NODES, "nodes": 777}, Limits(4), "go nodes 777"),
        (
            {"limit": MoveLimit.CLOCK},
            Limits(4, 1e5, PATIENT),
            "go wtime {ours} btime {theirs} winc 3000 binc 3000",
        ),
        ({"limit": MoveLimit.CLOCK, "depth": 3}, Limits(4), "go depth 3"),
    ],
)
@pytest.mark.parametrize(("game", "protocol"), [("chess", "uci"), ("xiangqi", "uci"), ("xiangqi", "ucci")])
def test_what_the_engine_is_told(
    opened: Opener,
    tmp_path: Path,
    game: str,
    protocol: str,
    changes: dict[str, Any],
    limits: Limits,
    command: str,
) -> None:
    if protocol == "ucci" and changes.get("limit") is MoveLimit.CLOCK:
        return  # refused by the settings
    path = tmp_path / "log"
    decision = decide(opened(game, protocol, f"log={path}", **changes), MIDDLE_GAMES[game], limits, game=game)
    assert decision.search_mode == SearchMode.ENGINE_MOVE
    said = path.read_text().splitlines()[0]
    if "{" not in command:
        assert said == command
        return
    words = said.split()
    # The wait for the engine's start is taken from our clock.
    assert 0 < int(words[2]) <= 1_000_000_000
    assert [*words[:2], "", *words[3:]] == [
        "go",
        "wtime",
        "",
        *command.split()[3:4],
        "2000000000",
        *words[5:],
    ]
    assert words[5:] == ["winc", "3000", "binc", "3000"]


def test_the_clock_of_the_side_to_move(opened: Opener, tmp_path: Path) -> None:
    for game in ("chess", "xiangqi"):
        path = tmp_path / game
        position = MIDDLE_GAMES[game].rpartition(" ")[0]  # black to move
        limits = Limits(4, 1e5, PATIENT)
        decide(opened(game, "uci", f"log={path}", limit=MoveLimit.CLOCK), position, limits, game=game)
        assert path.read_text().startswith("go wtime 2000000000 btime ")


def test_without_a_clock_it_thinks_as_long_as_we_would() -> None:
    link = Scripted()
    link.thinking_s = 1e9
    decision = decide(source(link, limit=MoveLimit.CLOCK), MIDDLE_GAMES["chess"], Limits(4, 1000.0))
    assert decision.search_mode == SearchMode.ENGINE_MOVE
    (asked,) = link.moves_asked
    assert (asked.depth, asked.nodes, asked.clock) == (None, None, None)
    assert link.clock.now == 1800.0  # the rest of the time is for the profile


@pytest.mark.parametrize(("game", "protocol"), KINDS)
def test_a_stopped_engine_plays_its_best_so_far(
    game: str, protocol: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uci_scores, "ANSWER_S", LONG_S)
    begun = tmp_path / "begun"
    link = UciLink(fake(game, protocol, "endless=1", f"begun={begun}"))
    try:
        asked = BestMoveRequest(MIDDLE_GAMES[game])
        answer = link.search(asked, UntilThere(StopFlag(), LONG_S, path=begun))
        assert answer.best in best(game, 4)
        assert answer.lines[-1].variation[0] == answer.best
        # Before the search begins there is nothing to take, and the link works on.
        with pytest.raises(Stopped):
            link.search(asked, WaitLimit(StopFlag(), 0.0, LONG_S, late=None))
        assert link.search(
            replace(asked, depth=3), WaitLimit(StopFlag(), response_timeout_s=LONG_S)
        ).best in best(game, 3)
    finally:
        link.close(quickly=True)


@pytest.mark.parametrize(("game", "protocol"), KINDS)
def test_an_engine_that_names_no_move_when_stopped(game: str, protocol: str, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    link = UciLink(fake(game, protocol, "hang=1", "deaf", f"begun={begun}"))
    try:
        with pytest.raises(EngineError, match=r"names no move on 'stop'|has been silent"):
            link.search(BestMoveRequest(MIDDLE_GAMES[game]), UntilThere(StopFlag(), LONG_S, path=begun))
    finally:
        link.close(quickly=True)


def test_a_move_that_ends_the_game() -> None:
    decision = decide(source(Scripted(score=lambda _b, move, _d: 9 * (move == "a1a8"))), MATE_IN_ONE)
    assert (decision.move, decision.chosen.replies, decision.chosen.complete) == ("a1a8", (), True)
    assert decision.pick is not None
    assert decision.pick.score_centi == decision.chosen.raw_centi > WIN_CENTI


class Everywhere:
    """A book with a move for every position."""

    description = "a book"

    def choose(self, position: Any, _rng: Any) -> LookupMove:
        return LookupMove(
            get_rules("chess").legal_moves(position)[3], SearchMode.BOOK, DirectMove(None, 0, 0, False)
        )


def test_books_come_first() -> None:
    link = Scripted()
    strong = StrongOptions(sources={"chess": (Everywhere(),)})
    decision = decide(source(link), MIDDLE_GAMES["chess"], Limits(3), strong=strong)
    assert (decision.search_mode, link.moves_asked) == ("book", [])
    assert decision.profile_source == make_searcher("chess", 1).source
    verify(complete(decision, make_searcher("chess", 1), StopFlag()))


# --- Time --------------------------------------------------------------------------------------------------


def test_an_engine_that_manages_the_clock_may_take_half_of_it() -> None:
    link = Scripted()
    link.thinking_s = 1e9
    limits = Limits(4, 5.0, EngineClock(1000.0, 1000.0, 0.0))
    decision = decide(source(link, limit=MoveLimit.CLOCK), MIDDLE_GAMES["chess"], limits)
    assert link.moves_asked[0].clock == limits.engine_clock
    assert link.clock.now == 1500.0
    # Nothing was left to judge the replies by the engine: our own search does.
    assert (decision.search_mode, decision.profile_source) == (
        SearchMode.ENGINE_MOVE,
        make_searcher("chess", 1).source,
    )
    assert decision.source is not None
    verify(complete(decision, make_searcher("chess", 1), StopFlag()))


def test_what_it_leaves_of_the_clock_is_not_for_judging() -> None:
    link = Scripted()
    link.thinking_s, link.costs = 100.0, lambda ask: 5.0 * 2.0 ** (ask.depth - 3)
    limits = Limits(4, 5.0, EngineClock(1000.0, 1000.0, 0.0))
    decision = decide(source(link, limit=MoveLimit.CLOCK, depth=9), MIDDLE_GAMES["chess"], limits)
    assert (decision.search_mode, decision.profile_source) == (SearchMode.ENGINE_MOVE, link.name)
    assert 1100.0 < link.clock.now <= 1120.0


def test_the_clocks_for_an_engine() -> None:
    assert engine_clock(60.0, 50.0, 1.0, 0.3, 0.0) == EngineClock(59.7, 50.0, 1.0)
    assert engine_clock(60.0, None, 1.0, 0.3, 2.0) == EngineClock(60.0 - 1.1 * 2.0, 60.0, 1.0)
    assert engine_clock(0.1, None, 0.0, 0.3, 0.0).remaining_s == pytest.approx(0.02)
    assert engine_clock(0.0, None, 0.0, 0.3, 0.0).remaining_s == MIN_TIME_S
    assert EngineClock(60.0, 60.0, 0.0).longest_s == 30.0
    assert (Limits(4, 5.0).longest_s, Limits(4, 5.0, PATIENT).longest_s) == (5.0, 5e5)


def test_ucci_has_no_such_clock() -> None:
    with pytest.raises(BadSettings, match="limit clock is for protocol uci"):
        EngineSettings(game="xiangqi", command=("x",), protocol="ucci", limit=MoveLimit.CLOCK)
    with pytest.raises(BadSettings, match="nodes is 0, must be at least 1"):
        EngineSettings(game="chess", command=("x",), nodes=0)


# --- Failures ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("game", "protocol"), KINDS)
@pytest.mark.parametrize("fault", ["crash=1", "illegalbest", "dies"])
def test_a_move_that_the_engine_fails_is_standards(
    opened: Opener, game: str, protocol: str, fault: str, tmp_path: Path
) -> None:
    engine = opened(game, protocol, fault, f"once={tmp_path / 'was-here'}", depth=3)
    if fault == "crash=1":
        engine = opened(
            game, protocol, "hang=1", "deaf", f"once={tmp_path / 'was-here'}", depth=3, response_timeout_s=0.1
        )
    failed = decide(engine, MIDDLE_GAMES[game], Limits(3), game=game)
    rules = get_rules(game)
    own = MoveChooser(strategy_named("standard"), rules, TrapParams(), make_searcher(game, 1))
    expected = own.choose(rules.parse_position(MIDDLE_GAMES[game]), Limits(3), StopFlag())
    assert (failed.search_mode, failed.source, failed.pick) == ("exact", None, None)
    assert (failed.move, failed.candidates) == (expected.move, expected.candidates)


@pytest.mark.parametrize(("game", "protocol"), KINDS)
def test_an_engine_that_fails_to_judge_has_moved_all_the_same(
    opened: Opener, game: str, protocol: str
) -> None:
    decision = decide(opened(game, protocol, "crash=2", depth=3), MIDDLE_GAMES[game], Limits(3), game=game)
    assert decision.search_mode == SearchMode.ENGINE_MOVE
    assert decision.move in best(game, 3)
    assert decision.profile_source == make_searcher(game, 1).source
    verify(complete(decision, make_searcher(game, 1), StopFlag()))


def test_a_move_that_is_not_legal_is_not_played() -> None:
    link = Scripted()
    link.names = "e1e8"
    decision = decide(source(link), MIDDLE_GAMES["chess"], Limits(3))
    assert (decision.search_mode, link.closed) == ("exact", [True])


def test_a_variant_gets_a_second_try() -> None:
    link = Scripted("atomic")
    engine = source(link)
    start = get_rules("atomic").position_text(get_rules("atomic").initial())
    link.names = "e1e8"

    class Recovering(Scripted):
        def close(self, *, quickly: bool = False) -> None:
            super().close(quickly=quickly)
            self.names = None

    recovering = Recovering("atomic")
    recovering.names = "e1e8"
    decision = decide(source(recovering), start, game="atomic")
    assert (decision.search_mode, len(recovering.moves_asked)) == (SearchMode.ENGINE_MOVE, 2)
    assert decide(engine, start, Limits(3), game="atomic").search_mode == "exact"


# --- Records -----------------------------------------------------------------------------------------------


def test_forged_records_are_noticed() -> None:
    good = decide(source(Scripted()), MIDDLE_GAMES["chess"])
    other = next(c for c in good.candidates if c.move != good.move)
    assert good.source is not None
    assert good.pick is not None

    def with_candidate(changed: Any) -> Decision:
        candidates = tuple(changed if c.move == changed.move else c for c in good.candidates)
        return replace(good, candidates=candidates)

    forged = {
        "strong players do not choose by 'engine_move'": replace(good, strategy="strong"),
        "standard players do not choose by": replace(good, strategy="standard"),
        "the engine is not in the record": replace(good, source=None),
        "left no exact score": replace(good, pick=None),
        "its profile is incomplete": with_candidate(replace(good.chosen, complete=False)),
        "found 7, not": replace(good, pick=replace(good.pick, score_centi=7)),
        "is not bounded by": with_candidate(
            replace(other, raw_centi=other.raw_centi - 1, adjusted_centi=other.raw_centi - 1)
        ),
        "recomputed": with_candidate(replace(other, adjusted_centi=9.0)),
    }
    for message, decision in forged.items():
        with pytest.raises(RecordError, match=message):
            verify(decision)


# --- Real engines ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "program", "changes", "limits"),
    [
        ("chess", "stockfish", {"depth": 8}, Limits(8)),
        ("chess", "stockfish", {"depth": 6, "limit": MoveLimit.NODES, "nodes": 20_000}, Limits(6)),
        (
            "chess",
            "stockfish",
            {"depth": 6, "limit": MoveLimit.CLOCK},
            Limits(6, 60.0, EngineClock(20, 20, 0)),
        ),
        ("xiangqi", "fairy-stockfish", {"depth": 6, "protocol": "ucci"}, Limits(6)),
        ("crazyhouse", "fairy-stockfish", {"depth": 6}, Limits(6)),
    ],
)
def test_real_engines(game: str, program: str, changes: dict[str, Any], limits: Limits) -> None:
    given: dict[str, Any] = {"start_s": 300.0, "response_timeout_s": 300.0}
    settings = EngineSettings(game=game, command=(installed(program),), **(given | changes))
    engine = EngineSource(settings)
    rules = get_rules(game)
    try:
        engine.open()
        decision = decide(engine, rules.position_text(rules.initial()), limits, game=game)
    finally:
        engine.close()
    assert decision.search_mode == SearchMode.ENGINE_MOVE
    assert decision.pick is not None
    assert decision.pick.score_centi is not None
    assert decision.pick.depth >= 1
    assert abs(decision.pick.score_centi) < 300
