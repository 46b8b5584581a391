import pickle
import shlex
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.match import participants as players
from bot.match.conditions import AdjudicationRule, GameClock, Terms
from bot.match.human_players import HumanPlayer, apply_temperature
from bot.match.openings import Opening, random_opening
from bot.match.participants import OurPlayer, Participant, make_player
from bot.match.play import End, GameTask, MatchGameRecord, play, play_game
from bot.match.player_specs import HumanSpec, MatchError, OurSpec
from bot.match.processor_use import game_in_process
from engine.decision import Person
from engine.errors import DamagedFile
from engine.game import positions, replay
from engine.games import get_rules
from engine.human import registry as people
from engine.human.shallow import ShallowOptions
from engine.protocols.settings import Allowance, ChosenMove
from engine.search.reference import Searcher
from engine.stop import StopFlag
from engine.strategies.full_strength.exploit import EXPLOIT
from engine.strategies.opponent_model import OPPONENT_MODEL
from engine.strategies.standard import STANDARD
from engine.verification import verify
from tests.bot.match.samples import fake, terms
from tests.engine.human.fakes import FakeModel, OneModel
from tests.engine.protocols.test_uci_scores import SCRIPT

START = Opening(None, ())
NEARLY_OVER = "bbbbbbbb/bbbbbbbb/bbbbbbbb/bbbbbbbb/wwwwwwww/wwwwwwww/wwwwwwww/wwwwww1. b".replace("1.", "..")
"""Othello with two empty squares."""

SHORT_OF_THE_END = {"chess": Opening("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", ())}
"""Openings of games that would take long from their start."""


def game_of(given: Terms, number: int = 0, opening: Opening | None = START) -> MatchGameRecord:
    return play(GameTask(given, number, 1, opening))


class Scripted:
    """A player that does as it is told: plays the first legal move, and thinks so much of it."""

    name = "scripted"

    def __init__(
        self,
        game: str,
        evaluation_centi: int | None = None,
        takes_s: float = 0.0,
        says: str | BaseException | None = None,
        uses_s: float | None = None,
        nodes: int | None = None,
    ) -> None:
        self._game: Any = get_rules(game)
        self._evaluation = evaluation_centi
        self._takes_s = takes_s
        self._says = says
        self._start: Any = None
        self._uses = uses_s, nodes
        self.asked: list[Allowance] = []
        self.clocks: list[float] = []
        """What the flag's clock said each time."""

    def new_game(self, start: Any = None) -> None:
        self._start = start

    def choose(self, moves: Sequence[str], allowance: Allowance, stop: StopFlag) -> ChosenMove:
        self.asked.append(allowance)
        self.clocks.append(stop.now_s())
        Clock.now += self._takes_s
        if isinstance(self._says, BaseException):
            raise self._says
        position = replay(self._game, moves, self._start)
        move = self._says or self._game.move_text(self._game.legal_moves(position)[0])
        return ChosenMove(move, self._evaluation, (move,), 3, self._takes_s, *self._uses)

    def close(self) -> None:
        pass


class Clock:
    """What the game measures time by."""

    now = 0.0


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.perf_counter", lambda: Clock.now)


def scripted(given: Terms, a: Participant, b: Participant, number: int = 0) -> MatchGameRecord:
    return play_game(given, number, START, (a, b))


@pytest.mark.parametrize("number", [0, 1])
def test_a_game_of_ours(number: int) -> None:
    """Both colours; A's decisions are whole, and all of them are there."""
    opening = Opening(None, ("f5", "d6", "c3"))
    found = game_of(terms("trappy", "standard"), number, opening)
    game = get_rules("othello")
    end = replay(game, found.moves)
    assert found.moves[:3] == opening.moves
    assert not game.legal_moves(end)
    assert found.a_side == number
    result = game.result_centi(end) * (1 if game.side_to_move(end) == number else -1)
    assert found.finished.points == (result > 0) + (result == 0) / 2
    assert found.finished.end is End.RULES
    assert found.finished.margin is not None
    assert (found.finished.margin > 0) == (result > 0)
    plies = [ply for ply in range(3, len(found.moves)) if ply % 2 == number]
    assert [ply for ply, _ in found.decisions] == plies
    for ply, decision in found.decisions:
        assert decision.move == found.moves[ply]
        assert decision.is_complete
        verify(decision)
    assert found.finished.used[0].moves == len(plies)


def test_the_same_task_is_the_same_game() -> None:
    task = GameTask(terms("trappy", "strong", game="connect4"), 1, 5, None)
    first, second = play(task), play(pickle.loads(pickle.dumps(task)))
    assert first.moves == second.moves
    assert first.opening == second.opening
    assert pickle.loads(pickle.dumps(first)) == first


@pytest.mark.parametrize(
    ("game", "opening"),
    [
        ("chess", Opening("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", ())),
        ("xiangqi", Opening("3k5/9/9/9/9/9/9/9/4R4/4K4 w - - 0 1", ())),
        ("connect4", START),
        ("tictactoe", START),
    ],
)
def test_every_game(game: str, opening: Opening) -> None:
    found = game_of(terms(game=game), 0, opening)
    assert found.finished.end is End.RULES
    assert found.finished.margin is None


def test_ours_by_time() -> None:
    given = terms("standard:time=0.001,table_mb=1", "strong:time=0.001,table_mb=1", depth=None, move_s=1)
    found = game_of(given, 0, Opening(NEARLY_OVER, ()))
    assert found.finished.end is End.RULES


def test_ours_on_a_clock() -> None:
    player = OurPlayer(OurSpec(text="standard", kind=STANDARD, table_mb=1), "tictactoe", "")
    player.new_game()
    allowance = Allowance(remaining_s=(5.0, 0.01), increment_s=0)
    assert player.choose((), allowance, StopFlag()).time_s < 5
    assert len(player.decisions) == 1


@pytest.mark.parametrize(
    ("protocol", "game"), [("nboard", "othello"), ("gtp", "othello"), ("uci", "chess"), ("ucci", "xiangqi")]
)
def test_another_program(protocol: str, game: str) -> None:
    opening = None if game == "othello" else Opening(None, ())
    given = terms("standard:depth=2", fake(protocol, game), adjudication=AdjudicationRule(1, 1))
    found = game_of(given, 0, opening)
    assert found.finished.end is End.ADJUDICATED
    whole = terms("standard:depth=2", fake("nboard", "othello"))
    assert game_of(whole).finished.end is End.RULES
    assert found.finished.names[1].startswith("Made-up")


@pytest.mark.parametrize(
    ("fault", "end", "says"),
    [
        ("illegal", End.ILLEGAL, "a1"),
        ("nonsense", End.ILLEGAL, "perhaps"),
        ("resigns", End.RESIGNATION, "resigns"),
        ("crash=2", End.CRASH, "ended by itself"),
    ],
)
def test_a_program_that_fails_loses(fault: str, end: End, says: str) -> None:
    found = game_of(terms(fake("gtp", "othello", fault), "standard"), 1).finished
    assert (found.end, found.loser, found.points, found.margin) == (end, 0, 0.0, None)
    assert says in found.reason


def test_a_program_that_hangs_loses_on_time() -> None:
    given = terms("standard", fake("gtp", "othello", "hang=2", more="; silence=0.2"))
    found = game_of(given).finished
    assert (found.end, found.loser, found.points) == (End.TIME, 1, 1.0)


def test_a_program_that_talks_for_ever_loses_on_time() -> None:
    given = terms("standard", fake("gtp", "othello", "flood=2", more="; longest=0.2"))
    found = game_of(given).finished
    assert (found.end, found.loser, found.points) == (End.TIME, 1, 1.0)
    assert "has sent no move in 0.2 s, but keeps printing" in found.reason


@pytest.mark.parametrize("command", ["uci:/nowhere/engine", fake("uci", "chess", "dies")])
def test_a_program_that_does_not_start_is_no_loser(command: str) -> None:
    with pytest.raises(MatchError, match="cannot begin a game"):
        game_of(terms("strong", command))


def test_a_failed_start_is_told_once_by_name(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(MatchError, match=r"^player B \(Fritz\) cannot begin a game: ") as found:
        game_of(terms("strong", fake("uci", "chess", "dies", more="; name=Fritz")))
    assert "cannot find my weights" in str(found.value)
    assert "weights" not in caplog.text


def test_a_second_start_is_told(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    once = f"once={tmp_path / 'once'}"
    game_of(terms("standard", fake("gtp", "othello", "dies", once, more="; name=Fritz")))
    assert "player B (Fritz) began a game only at the second attempt: " in caplog.text


def test_a_protocol_that_cannot_begin_there() -> None:
    with pytest.raises(MatchError, match="GTP cannot begin from"):
        game_of(terms("standard", fake("gtp", "othello")), 0, Opening(NEARLY_OVER, ()))


def test_a_worker_of_another_version() -> None:
    given = terms()
    other = Terms(game=given.game, a=given.a, b=given.b, depth=2, openings=given.openings, engine_version="0")
    with pytest.raises(MatchError, match="but the match uses 0"):
        game_of(other)


def test_a_book_that_is_not_there() -> None:
    with pytest.raises(MatchError, match="player 'strong:book=/nowhere'"):
        game_of(terms("strong:book=/nowhere", "standard"))


# --- Time, with a clock that only players move on --------------------------------------------------------


def test_beyond_the_grace() -> None:
    given = terms(depth=None, move_s=1.0, grace_s=0.5, game="tictactoe")
    slow, quick = Scripted("tictactoe", takes_s=1.6), Scripted("tictactoe", takes_s=1.4)
    found = scripted(given, quick, slow).finished
    assert (found.end, found.loser, found.points) == (End.TIME, 1, 1.0)
    assert "1.600" in found.reason
    assert found.used[0].late == 1
    within = scripted(given, quick, quick).finished
    assert within.end is End.RULES
    assert within.used[0].longest_s == pytest.approx(1.4)


def test_a_clock_has_no_grace() -> None:
    given = terms(depth=None, clock=GameClock(2.0, 0.5), grace_s=9, game="tictactoe")
    slow, quick = Scripted("tictactoe", takes_s=1.0), Scripted("tictactoe", takes_s=0.1)
    found = scripted(given, slow, quick).finished
    # 2.0 - 1.0 + 0.5 = 1.5, 1.0, and again 0.5 after the third move: the fourth is too late.
    assert [asked.remaining_s and asked.remaining_s[0] for asked in slow.asked] == pytest.approx(
        [2.0, 1.5, 1.0, 0.5]
    )
    assert (found.end, found.loser) == (End.TIME, 0)


def test_a_decision_that_came_too_late_is_there() -> None:
    class Slow(OurPlayer):
        def choose(self, moves: Sequence[str], allowance: Allowance, stop: StopFlag) -> ChosenMove:
            Clock.now += 3
            return super().choose(moves, allowance, stop)

    given = terms(depth=None, move_s=1.0, game="tictactoe")
    a = Slow(OurSpec(text="standard", kind=STANDARD, table_mb=1), "tictactoe", "")
    found = scripted(given, a, Scripted("tictactoe"))
    assert found.finished.end is End.TIME
    assert found.moves == ()
    assert [ply for ply, _ in found.decisions] == [0]


# --- Processor time and nodes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cpu_s", "late", "end"), [(0.4, 0, End.RULES), (0.6, 1, End.RULES), (2.0, 1, End.TIME)]
)
def test_a_limit_of_processor_time(cpu_s: float, late: int, end: End) -> None:
    """The wall clock does not matter: the machine may be busy."""
    given = terms("strong:cpu=0.4", "standard", grace_s=1.0, depth=None, move_s=1.0, game="tictactoe")
    measured = Scripted("tictactoe", takes_s=100.0, uses_s=cpu_s)
    found = scripted(given, measured, Scripted("tictactoe")).finished
    assert found.end is end
    assert found.used[0].late == late * found.used[0].moves
    assert found.loser == (0 if end is End.TIME else None)
    if end is End.TIME:
        assert found.reason == "took 2.000 s of processor time of 0.400 allowed"


def test_the_flag_of_a_player_has_the_clock_of_its_limit() -> None:
    given = terms("strong:cpu=0.4", "standard", game="tictactoe")
    before = time.process_time(), time.monotonic()
    a, b = Scripted("tictactoe"), Scripted("tictactoe")
    scripted(given, a, b)
    after = time.process_time(), time.monotonic()
    for player, was, now in ((a, before[0], after[0]), (b, before[1], after[1])):
        assert player.clocks
        assert all(was - 1e-6 <= told <= now + 1e-6 for told in player.clocks)


def test_what_moves_cost() -> None:
    given = terms(game="tictactoe")
    found = scripted(given, Scripted("tictactoe", uses_s=0.25, nodes=10), Scripted("tictactoe")).finished
    ours, theirs = found.used
    assert (ours.told_cpu, ours.told_nodes) == (ours.moves, ours.moves)
    assert (ours.cpu_s, ours.nodes) == (0.25 * ours.moves, 10 * ours.moves)
    assert (theirs.cpu_s, theirs.told_cpu, theirs.nodes, theirs.told_nodes) == (0, 0, 0, 0)


@pytest.mark.parametrize("game", ["othello", "chess", "connect4", "tictactoe"])
def test_the_machine_s_load_does_not_change_moves_limited_by_nodes(game: str) -> None:
    """A thread that keeps the interpreter busy makes every search wait, and uses up processor time, too."""
    given = terms(
        "strong:nodes=3000,table_mb=1", "trappy:nodes=3000,table_mb=1", depth=None, move_s=1e-6, game=game
    )
    task = GameTask(given, 0, 1, SHORT_OF_THE_END.get(game, START))
    alone = play(task)
    is_over = threading.Event()

    def keep_busy() -> None:
        while not is_over.is_set():
            pass

    busy = threading.Thread(target=keep_busy)
    busy.start()
    try:
        beside = play(task)
    finally:
        is_over.set()
        busy.join()
    assert beside.moves == alone.moves
    assert alone.finished.end is End.RULES
    for used, again in zip(alone.finished.used, beside.finished.used, strict=True):
        assert (used.nodes, used.depths, used.late) == (again.nodes, again.depths, 0)
        assert used.told_nodes == used.moves


def test_a_limit_of_nodes_holds_and_is_used() -> None:
    """Near the end of Othello, too, where the search could solve the game without a limit."""
    opening = random_opening("othello", 1, 0)
    for kind in ("strong", "trappy", "standard"):
        found = game_of(terms(f"{kind}:nodes=20000,table_mb=1", "standard", depth=2), 0, opening)
        spent = [decision.nodes for _, decision in found.decisions]
        assert max(spent) < 32_000  # the first two plies come on top
        assert sum(spent) > 5_000 * len(spent)
        depths = [(decision.pick or decision).depth for _, decision in found.decisions[:20]]
        assert min(depths) >= 4


def test_what_our_moves_cost_is_measured() -> None:
    before_s = time.process_time()
    found = game_of(terms("trappy", "standard", depth=2, game="tictactoe")).finished
    after_s = time.process_time()
    assert found.used[0].told_cpu == found.used[0].moves
    assert 0 < found.used[0].cpu_s + found.used[1].cpu_s <= after_s - before_s


def test_a_process_with_several_games_cannot_tell_them_apart() -> None:
    with game_in_process() as is_alone:
        assert is_alone
        found = game_of(terms("trappy", "standard", depth=2, game="tictactoe")).finished
        assert (found.used[0].told_cpu, found.used[1].told_cpu) == (0, 0)
        with pytest.raises(MatchError, match="--nthreads 1"):
            game_of(terms("trappy", "standard:cpu=9", game="tictactoe"))
    assert game_of(terms("trappy:cpu=9", "standard", game="tictactoe")).finished.end is End.RULES


# --- Failures of ours, and adjudication ------------------------------------------------------------------


def test_one_of_ours_that_fails_loses() -> None:
    given = terms(game="tictactoe")
    broken = Scripted("tictactoe", says=ZeroDivisionError("no depth"))
    found = scripted(given, broken, Scripted("tictactoe")).finished
    assert (found.end, found.loser, found.reason) == (End.CRASH, 0, "ZeroDivisionError: no depth")
    illegal = scripted(given, Scripted("tictactoe"), Scripted("tictactoe", says="z9")).finished
    assert (illegal.end, illegal.loser) == (End.ILLEGAL, 1)


def test_whoever_ends_the_program_is_not_a_loser() -> None:
    broken = Scripted("tictactoe", says=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        scripted(terms(game="tictactoe"), broken, Scripted("tictactoe"))


@pytest.mark.parametrize(
    ("thinks", "number", "points"),
    [((500, -500), 0, 1.0), ((500, -500), 1, 1.0), ((-500, 500), 0, 0.0)],
)
def test_both_agree(thinks: tuple[int, int], number: int, points: float) -> None:
    given = terms(game="othello", adjudication=AdjudicationRule(400, 4))
    found = scripted(given, Scripted("othello", thinks[0]), Scripted("othello", thinks[1]), number)
    assert (found.finished.end, found.finished.points) == (End.ADJUDICATED, points)
    assert len(found.moves) == 4


@pytest.mark.parametrize("thinks", [(500, 500), (500, None), (300, -500)])
def test_they_do_not_agree(thinks: tuple[int | None, int | None]) -> None:
    given = terms(game="tictactoe", adjudication=AdjudicationRule(400, 3))
    found = scripted(given, Scripted("tictactoe", thinks[0]), Scripted("tictactoe", thinks[1]))
    assert found.finished.end is End.RULES


def test_passes_are_played_for_other_programs() -> None:
    """Of a position in which one side has to pass: the program is asked for moves alone."""
    position = "b......./w......./......../......../......../......../......../........ w"
    game = get_rules("othello")
    start = game.parse_position(position)
    assert [game.move_text(move) for move in game.legal_moves(start)] == ["pass"]
    a, b = Scripted("othello"), Scripted("othello")
    found = play_game(terms(), 0, Opening(position, ()), (a, b))
    assert found.moves == ("pass", "a3")
    assert len(a.asked) + len(b.asked) == 1


def test_exploit_knows_what_a_score_is_worth_between_two_ratings() -> None:
    pairs = []
    for our_rating in (1600, 2300):
        spec = OurSpec(text="x", kind=EXPLOIT, table_mb=1, rating=1500, our_rating=our_rating)
        player = OurPlayer(spec, "othello", "")
        player.new_game()
        player.choose((), Allowance(nodes=1), StopFlag())
        [(_, decision)] = player.decisions
        assert decision.exploit is not None
        pairs.append(decision.exploit.pair)
    assert pairs[0] != pairs[1]


def test_a_player_that_reckons_with_a_person_is_told_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    model = FakeModel("othello", max_history_positions=3)
    monkeypatch.setattr("bot.match.human_players.ModelRegistry", lambda _settings: OneModel(model))
    player = OurPlayer(OurSpec(text="x", kind=OPPONENT_MODEL, table_mb=1, rating=1700), "othello", "")
    player.new_game()
    moves = ("f5", "d6", "c3", "d3")
    player.choose(moves, Allowance(remaining_s=(5.0, 6.0), increment_s=0, depth=3), StopFlag())
    line = tuple(positions(get_rules("othello"), moves))
    assert {ask.positions[:-1] for ask in model.asked} == {line[-2:]}
    assert {ask.person for ask in model.asked} == {Person(1700, 6.0)}
    ((_, decision),) = player.complete_decisions()
    assert decision.is_complete
    assert decision.model == model.info
    verify(decision)


def test_profiles_that_take_for_ever_are_left(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("bot.match.participants._MIN_PROFILE_NODE_LIMIT", 1000)
    player = make_player(terms("trappy", "standard", depth=4), 0, "")
    assert isinstance(player, OurPlayer)
    player.new_game()
    player.choose(("f5", "d6"), Allowance(depth=4), StopFlag())
    ((ply, decision),) = player.decisions
    player.decisions = [(ply, replace(decision, depth=12, nodes=1))]
    assert player.complete_decisions() == player.decisions
    assert not player.decisions[0][1].is_complete
    assert not caplog.records  # no error: it was stopped
    player.decisions = [(ply, replace(decision, nodes=10**6))]
    ((_, whole),) = player.complete_decisions()
    assert whole.is_complete


def ours_on(kind: str, *faults: str, more: str = "") -> str:
    """The text of a player of ours on the made-up engine's scores or moves."""
    command = shlex.join([sys.executable, str(SCRIPT), "chess", "uci", *faults])
    return f"{kind}:engine={command}{more}"


def test_trappy_and_plain_play_on_one_engine() -> None:
    given = terms(ours_on("standard_uci", more=",depth=3"), ours_on("trappy_uci", more=",depth=3"), depth=3)
    assert given.game == "chess"
    for which, mode in ((0, "engine_move"), (1, "engine")):
        player = make_player(given, which, "")
        assert isinstance(player, OurPlayer)
        try:
            player.new_game()
            found = player.choose(("e2e4",), Allowance(depth=3), StopFlag())
            ((_, decision),) = player.complete_decisions()
        finally:
            player.close()
        verify(decision)
        assert (decision.search_mode, decision.depth, decision.move) == (mode, 3, found.move)
        assert decision.is_complete
    mate_in_one = Opening("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 30", ())
    assert play(GameTask(given, 0, 1, mate_in_one)).moves


def test_an_engine_is_told_the_clocks_of_a_match(tmp_path: Path) -> None:
    path = tmp_path / "log"
    given = terms(
        ours_on("standard_uci", f"log={path}", more=",limit=clock"), "standard", depth=None, move_s=9.0
    )
    player = make_player(given, 0, "")
    try:
        player.new_game()
        allowance = Allowance(remaining_s=(4000.0, 5000.0), increment_s=2.0)
        player.choose((), allowance, StopFlag())
    finally:
        player.close()
    assert path.read_text().startswith("go wtime 39")
    assert " btime 5000000 winc 2000 binc 2000\n" in path.read_text()


def test_an_engine_that_does_not_start_stops_the_match() -> None:
    with pytest.raises(MatchError, match=r"player 'standard_uci:engine=/no/such': cannot start /no/such"):
        make_player(terms("standard_uci:engine=/no/such", "trappy", game="chess"), 0, "")


def test_weights_that_are_damaged_stop_the_match(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(_game: str, _table_mb: int) -> Searcher:
        raise DamagedFile("x.xz: damaged")

    monkeypatch.setattr(players, "make_searcher", damaged)
    with pytest.raises(MatchError, match=r"player 'strong': x\.xz: damaged"):
        make_player(terms("strong", "trappy"), 0, "")


def test_a_model_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(MatchError, match=r"player 'opponent_model:model=.*none.onnx'"):
        make_player(terms(f"opponent_model:model={tmp_path / 'none.onnx'}", game="othello"), 0, "")
    own = Path(people.__file__).with_name("othello_human.onnx")
    if own.exists():
        with pytest.raises(MatchError, match="its model is for othello, not for chess"):
            make_player(terms(f"opponent_model:model={own}", game="chess"), 0, "")


@pytest.mark.parametrize("game", ["othello", "tictactoe"])
def test_people_are_drawn_by_their_probabilities(game: str) -> None:
    """Equal seeds draw equal games; at temperature 0 the likeliest move is played."""
    given = terms("standard:depth=2", "human:rating=1500,name=Club", game=game)
    first, again = (play(GameTask(given, 0, 7, START)) for _ in range(2))
    assert first.moves == again.moves
    assert first.finished.end is End.RULES
    assert play(GameTask(given, 0, 8, START)).moves != first.moves
    assert first.finished.names[1].startswith("people by ")
    sure = play(GameTask(terms("standard:depth=2", "human:temperature=0", game=game), 1, 7, START))
    assert (
        sure.moves
        == play(GameTask(terms("standard:depth=2", "human:temperature=0", game=game), 1, 9, START)).moves
    )


def test_people_may_see_a_few_plies_only() -> None:
    """Sure of what they see, and of nothing else: they take what one ply shows to be best."""
    spec = HumanSpec(text="human", shallow=ShallowOptions(plies=1, percent=0.001, share_percent=0))
    game = get_rules("othello")
    player = HumanPlayer(spec, "othello", "seed")
    assert player.name == "people by shallow-1"
    player.new_game()
    moves = ("f5", "d6", "c3")
    *_, position = positions(game, moves)
    scores = {
        game.move_text(move): -game.evaluate_centi(game.play(position, move))
        for move in game.legal_moves(position)
    }
    found = player.choose(moves, Allowance(), StopFlag()).move
    assert scores[found] == max(scores.values())


def test_sharpened_probabilities() -> None:
    assert apply_temperature((0.2, 0.5, 0.3), 0) == [0.0, 1.0, 0.0]
    assert apply_temperature((0.25, 0.5, 0.0), 1) == [0.5, 1.0, 0.0]
    assert apply_temperature((0.25, 0.5, 0.0), 0.5) == [0.25, 1.0, 0.0]
    assert apply_temperature((0.001, 0.999), 0.01)[0] == pytest.approx(0)


def test_people_know_the_game_so_far_and_whose_clock_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    model = FakeModel("othello", max_history_positions=2)
    monkeypatch.setattr("bot.match.human_players.ModelRegistry", lambda _settings: OneModel(model))
    player = HumanPlayer(HumanSpec(text="human", rating=1700), "othello", "seed")
    player.new_game()
    moves = ("f5", "d6", "c3")
    choice = player.choose(moves, Allowance(remaining_s=(5.0, 6.0), increment_s=0), StopFlag())
    [ask] = model.asked
    line = tuple(positions(get_rules("othello"), moves))
    assert (ask.positions, ask.person) == (line[-2:], Person(1700, 6.0))
    assert choice.variation == (choice.move,)


def test_people_without_a_sound_model_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    model = FakeModel("othello", lambda *_: (2.0,))
    monkeypatch.setattr("bot.match.human_players.ModelRegistry", lambda _settings: OneModel(model))
    found = game_of(terms("standard:depth=2", "human", game="othello"), 1)
    assert (found.finished.end, found.finished.loser, found.finished.points) == (End.CRASH, 1, 1.0)
    assert "1 probabilities for" in found.finished.reason


def test_a_model_that_breaks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> tuple[float, ...]:
        raise IndexError("no such thing")

    monkeypatch.setattr(
        "bot.match.human_players.ModelRegistry", lambda _settings: OneModel(FakeModel("othello", breaks))
    )
    found = game_of(terms("standard:depth=2", "human", game="othello"), 1).finished
    assert (found.end, found.loser, found.reason) == (End.CRASH, 1, "fake: IndexError: no such thing")
