"""Other engines in the whole program: settings, the check, a game, and what becomes of their processes."""

import asyncio
import io
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from bot.base.config import (
    AssignmentConfig,
    AssignmentMethod,
    Config,
    EngineConfig,
    UciConfig,
    UciEngine,
    load_config,
)
from bot.base.errors import ConfigError
from bot.base.events import EndReason, GameSnapshot, GameState
from bot.cli.check import check
from bot.game.game_runner import GameRunner
from bot.game.recheck import recheck
from bot.parts.terminal import terminal
from bot.text.trap_report import game_report
from bot.views.game_decisions import report_parts
from engine.human.reply_forecast import ReplyForecast
from engine.protocols.engine_source import EnginePool
from engine.protocols.score_settings import EngineSettings, MoveLimit
from engine.verification import verify
from storage.database import Database
from storage.evidence.statistics.encounters import encounters
from storage.filters import Filters
from tests.bot.cli.test_check import settings
from tests.bot.fakes import GAME_ID, FakeServer, config, picker, services
from tests.bot.ledger_samples import check_books, stored_decisions, stored_forecasts, stored_game
from tests.engine.protocols.fake_uci import NAME
from tests.engine.protocols.test_uci_scores import KINDS, SCRIPT, fake
from tests.patience import PATIENCE_S

# --- Settings ----------------------------------------------------------------------------------------------


def loaded(tmp_path: Path, text: str) -> Config:
    path = tmp_path / "my.toml"
    path.write_text(text, encoding="utf-8")
    return load_config(path)


def test_settings_reach_the_engine(tmp_path: Path) -> None:
    config = loaded(
        tmp_path,
        """
        [uci]
        start_s = 3
        [[uci.engines]]
        game = "chess"
        command = ["stockfish", "--quiet"]
        depth = 12
        options = { Hash = 64, "Use NNUE" = false, SyzygyPath = "/tb" }
        [[uci.engines]]
        game = "xiangqi"
        command = ["fairy-stockfish"]
        protocol = "ucci"
        """,
    )
    chess, xiangqi = config.uci.settings()
    assert chess == EngineSettings(
        game="chess",
        command=("stockfish", "--quiet"),
        options=(("Hash", "64"), ("Use NNUE", "false"), ("SyzygyPath", "/tb")),
        depth=12,
        start_s=3.0,
    )
    assert xiangqi == EngineSettings(
        game="xiangqi", command=("fairy-stockfish",), protocol="ucci", start_s=3.0
    )
    assert Config().uci.settings() == ()


ENGINE = '[[uci.engines]]\ngame = "chess"\ncommand = ["x"]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[uci.engines]]\ngame = "chess"\n', "uci.engines.0.command: Field required"),
        (ENGINE + 'limit = "movetime"\n', "uci.engines.0.limit: Input should be 'depth', 'nodes' or 'clock'"),
        (ENGINE + "nodes = 0\n", "uci.engines.0.nodes: Input should be greater than or equal to 1"),
        (
            ENGINE.replace("chess", "xiangqi") + 'protocol = "ucci"\nlimit = "clock"\n',
            "uci.engines.0: limit clock is for protocol uci",
        ),
        (ENGINE + "dept = 3\n", "uci.engines.0.dept is not a setting; known here: game, command, protocol"),
        (ENGINE + "depth = 1\n", "uci.engines.0.depth: Input should be greater than or equal to 2"),
        (ENGINE + "[uci.engines.options]\nMultiPV = 3\n", "uci.engines.0: options: MultiPV is set by"),
        (ENGINE + ENGINE, "uci: engines has two entries for one game"),
        (
            '[challenges]\nvariants = ["chess", "atomic"]\n' + ENGINE,
            "challenges.variants: atomic needs another engine, and uci.engines has none for it",
        ),
        (
            '[server]\ndialect = "lichess"\n[arena]\nenabled = false\n'
            '[matchmaking]\nenabled = true\nvariants = ["standard", "horde"]\n',
            "matchmaking.variants: horde needs another engine",
        ),
        (
            '[assignment]\nmethod = "rules"\nrules = [{ strategy = "strong", game = "atomic" }]\n',
            "assignment.rules.0: only trappy_uci and standard_uci can play atomic",
        ),
        (ENGINE.replace("chess", "othello"), "uci.engines.0: game is 'othello', must be one of chess"),
        (ENGINE + 'protocol = "ucci"\n', "uci.engines.0: protocol ucci is for xiangqi"),
        (ENGINE.replace('["x"]', '"x"'), "uci.engines.0.command: must be a list of program and arguments"),
        ("[uci]\nstart_s = 0\n", "uci.start_s: Input should be greater than 0"),
        (
            '[assignment]\nstrategies = ["trappy", "trappy_uci"]\n',
            "assignment.strategies: trappy_uci needs an engine for othello, and uci.engines has none",
        ),
        (
            '[challenges]\nvariants = ["chess", "xiangqi"]\n[assignment]\nmethod = "fixed"\n'
            'strategy = "trappy_uci"\n' + ENGINE,
            "assignment.strategy: trappy_uci needs an engine for xiangqi",
        ),
        (
            '[assignment]\nmethod = "rules"\nrules = [{ strategy = "trappy_uci", game = "xiangqi" }]\n'
            + ENGINE,
            "assignment.rules.0: trappy_uci needs an engine for xiangqi",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_player_may_be_chosen_where_there_is_an_engine(tmp_path: Path) -> None:
    """And an engine that no player asks for does no harm, nor does a player that is not chosen."""
    loaded(
        tmp_path,
        '[challenges]\nvariants = ["othello", "chess"]\n[assignment]\nmethod = "rules"\n'
        'rules = [{ strategy = "trappy_uci", game = "chess" }]\nstrategies = ["trappy_uci"]\n' + ENGINE,
    )
    loaded(tmp_path, ENGINE)
    atomic = ENGINE.replace("chess", "atomic")
    loaded(tmp_path, '[challenges]\nvariants = ["othello", "atomic"]\n' + atomic)


# --- desdemona check ---------------------------------------------------------------------------------------


def engine(game: str, protocol: str, *faults: str) -> UciEngine:
    command = (sys.executable, str(SCRIPT), game, protocol, *faults)
    return UciEngine(game=game, command=command, protocol=protocol)


@pytest.mark.usefixtures("shallow_check")
@pytest.mark.parametrize(
    ("faults", "is_good", "text"),
    [
        ((), True, f"{NAME} to depth 4 in "),
        (("nomultipv",), False, f"{NAME} has no option MultiPV"),
        (("missing",), False, "starts, but fails to analyse: the legal move "),
    ],
)
async def test_check_tries_the_engines(
    tmp_path: Path, faults: tuple[str, ...], is_good: bool, text: str
) -> None:
    uci = UciConfig(
        engines=(engine("xiangqi", "ucci", *faults), UciEngine(game="chess", command=("/no/such",)))
    )
    findings = {finding.what: finding for finding in await check(settings(tmp_path, uci=uci))}
    assert list(findings) == [
        "configuration",
        "database",
        "engine",
        "human",
        "uci.engines, xiangqi",
        "uci.engines, chess",
        "arena",
        "games",
        "account",
    ]
    found = findings["uci.engines, xiangqi"]
    assert (found.is_good, text in found.text) == (is_good, True), found
    assert not findings["uci.engines, chess"].is_good
    assert "cannot start /no/such" in findings["uci.engines, chess"].text


# --- A game ------------------------------------------------------------------------------------------------


class Untimed(FakeServer):
    """Without a clock: how long a program takes to start must not matter."""

    @property
    def state(self) -> GameState:
        return replace(super().state, remaining_s=None)

    @property
    def snapshot(self) -> GameSnapshot:
        return replace(super().snapshot, clock=None)


async def test_a_game_on_another_engines_scores(database: Database, tmp_path: Path) -> None:
    """The engine ends in the middle of our first move; that one is the core's, the others the engine's.  The
    judge finds the baits of all."""
    given_settings = config(
        assignment=AssignmentConfig(method=AssignmentMethod.FIXED, strategy="trappy_uci"),
        uci=UciConfig(engines=(engine("chess", "uci"),)),
        engine=EngineConfig(max_depth=3, max_time_s=600, workers=1, table_mb=1),
    )
    once = f"once={tmp_path / 'was-here'}"
    engines = EnginePool([fake("chess", "uci", "crash=2", once, depth=3, candidates=2)])
    server = Untimed("chess", pick=picker(3))
    async with services(server, database, settings=given_settings) as given, asyncio.timeout(PATIENCE_S):
        running = asyncio.create_task(GameRunner(GAME_ID, replace(given, engines=engines)).run())
        await server.until(lambda: sum(call.startswith("move") for call in server.calls) == 4)
        server.finish(EndReason.RESIGNATION, 0)
        await running
    engines.close()
    await check_books(database, server)
    game = await stored_game(database)
    assert game.strategy == "trappy_uci"
    assert game.selection["method"] == "fixed"
    assert (game.selection["engine"]["depth"], game.selection["engine"]["protocol"]) == (3, "uci")
    decisions = [stored.decision for stored in await stored_decisions(database)]
    assert [decision.search_mode for decision in decisions[:4]] == ["exact", "engine", "engine", "engine"]
    for decision in decisions[1:4]:
        verify(decision)
        assert (decision.profile_source, decision.is_complete) == (NAME, True)
        assert decision.source is not None
    made = [
        ReplyForecast.from_record(row.record) for _, row in sorted((await stored_forecasts(database)).items())
    ]
    assert all(each.is_judged for each in made[:4])
    found = await recheck(database)
    assert (found.verified, found.forecast, found.wrong, found.left) == (len(decisions), 0, [], {})


@pytest.mark.parametrize("has_clock", [False, True])
async def test_a_game_of_an_engines_own_moves(database: Database, tmp_path: Path, has_clock: bool) -> None:
    """With a clock the engine manages it: it is told ours and the opponent's."""
    given_settings = config(
        assignment=AssignmentConfig(method=AssignmentMethod.FIXED, strategy="standard_uci"),
        engine=EngineConfig(max_depth=3, max_time_s=600, workers=1, table_mb=1),
    )
    path = tmp_path / "log"
    engines = EnginePool([fake("chess", "uci", f"log={path}", depth=3, limit=MoveLimit.CLOCK)])
    server = (FakeServer if has_clock else Untimed)("chess", pick=picker(3))
    async with services(server, database, settings=given_settings) as given, asyncio.timeout(PATIENCE_S):
        running = asyncio.create_task(GameRunner(GAME_ID, replace(given, engines=engines)).run())
        await server.until(lambda: sum(call.startswith("move") for call in server.calls) == 3)
        server.finish(EndReason.RESIGNATION, 0)
        await running
    engines.close()
    await check_books(database, server)
    game = await stored_game(database)
    assert (game.strategy, game.selection["engine"]["limit"]) == ("standard_uci", "clock")
    decisions = [stored.decision for stored in await stored_decisions(database)]
    assert {decision.search_mode for decision in decisions} == {"engine_move"}
    for decision in decisions:
        verify(decision)
    told = {line.split()[1] for line in path.read_text().splitlines() if "searchmoves" not in line}
    assert ("wtime" in told) is has_clock
    async with database.read() as session:
        report = await game_report(session, game)
    assert not report.sets_traps
    shown = io.StringIO()
    for part in terminal(report_parts(report, [])):
        Console(file=shown, width=200).print(part)
    assert f"by {NAME}" in shown.getvalue()


@pytest.mark.parametrize("initial", [None, "rnbqkb1r/pppppppp/8/6N1/8/8/PPPPPPPP/R1BQKBNR w KQkq - 0 3"])
async def test_a_game_of_a_variant(database: Database, initial: str | None) -> None:
    """Whatever the settings say, by the player that can play it; and what is told of it can be read."""
    given_settings = config(
        assignment=AssignmentConfig(method=AssignmentMethod.FIXED, strategy="standard"),
        engine=EngineConfig(max_depth=2, max_time_s=600, workers=1, table_mb=1, variety_centi=100),
    )
    engines = EnginePool([fake("atomic", "uci", depth=2, candidates=1)])
    server = Untimed("atomic", pick=picker(3), initial_position=initial)
    async with services(server, database, settings=given_settings) as given, asyncio.timeout(PATIENCE_S):
        running = asyncio.create_task(GameRunner(GAME_ID, replace(given, engines=engines)).run())
        # From the second start an explosion wins at once.
        await server.until(
            lambda: sum(call.startswith("move") for call in server.calls) == 3 or not server.legal
        )
        if server.end is None:
            server.finish(EndReason.RESIGNATION, 0)
        await running
    engines.close()
    await check_books(database, server)
    game = await stored_game(database)
    assert (game.strategy, game.selection["method"]) == ("trappy_uci", "only")
    assert game.selection["engine"]["command"] == sys.executable
    async with database.read() as session:
        report = await game_report(session, game)
        assert (await encounters(session, Filters(game="atomic"))).games == 1
    assert report is not None
    assert {made.search_mode for made in report.decisions} == {"engine"}
    assert report.to_json()["decisions"]
    assert list(terminal(report_parts(report, [])))


async def test_a_game_goes_on_when_its_engine_was_taken_away(database: Database) -> None:
    """It was chosen for the game, which is not to be lost when the settings have none any more."""
    given_settings = config(assignment=AssignmentConfig(method=AssignmentMethod.FIXED, strategy="trappy_uci"))
    server = FakeServer("tictactoe", pick=picker(1))
    async with services(server, database, settings=given_settings) as given, asyncio.timeout(PATIENCE_S):
        await GameRunner(GAME_ID, given).run()
    await check_books(database, server)
    assert "engine" not in (await stored_game(database)).selection


# --- Their processes ---------------------------------------------------------------------------------------


@contextmanager
def held(path: Path) -> Iterator[int]:
    """A pipe that an engine holds open for as long as it lives."""
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield reader
    finally:
        os.close(reader)


def wait_for_the_end(reader: int) -> None:
    """Wait until nobody holds the pipe any more."""
    ready, _, _ = select.select([reader], [], [], 60)
    assert ready
    assert os.read(reader, 1) == b""


@pytest.mark.parametrize(("game", "protocol"), KINDS)
def test_closing_ends_the_process(game: str, protocol: str, tmp_path: Path) -> None:
    with held(tmp_path / "fifo") as reader:
        engines = EnginePool([fake(game, protocol, f"hold={tmp_path / 'fifo'}")])
        with engines.lend(game) as source:
            assert source is not None
            source.open()
        engines.close()
        wait_for_the_end(reader)


PROGRAM = """
import sys
from engine.stop import StopFlag
from engine.protocols.process import WaitLimit
from engine.protocols.uci_scores import UciLink
from tests.engine.protocols.test_uci_scores import ask, fake
game, protocol, fifo = sys.argv[1:]
link = UciLink(fake(game, protocol, "endless=1", f"hold={fifo}"))
print("open", flush=True)
link.search(ask(game), WaitLimit(StopFlag(), silence_s=60.0))
"""


@pytest.mark.parametrize(("game", "protocol"), KINDS)
def test_no_engine_outlives_a_killed_program(game: str, protocol: str, tmp_path: Path) -> None:
    with held(tmp_path / "fifo") as reader:
        command = [sys.executable, "-c", PROGRAM, game, protocol, str(tmp_path / "fifo")]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
        program = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        assert program.stdout is not None
        try:
            assert program.stdout.readline() == b"open\n"
        finally:
            program.kill()
            program.communicate()
        wait_for_the_end(reader)
