"""A running program, made up, for the dashboard's tests.

``python -m tests.bot.dashboard.desk_samples PORT`` serves it, and on the next port one in trouble.
"""

import asyncio
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.alarms.evaluator import AlarmEvaluator
from bot.alarms.samples import HealthSample
from bot.base.config import AlarmsConfig, DashboardConfig
from bot.base.metrics import Metrics
from bot.control.control_socket import ControlError
from bot.control.live_games import BaitStatus, LiveGame
from bot.control.operator_services import OperatorServices
from bot.control.status import (
    AccountStatus,
    Admission,
    AdmissionStatus,
    ArenaStatus,
    DatabaseStatus,
    LinkStatus,
    Status,
    WaitingChallenge,
)
from bot.dashboard.server import Dashboard
from bot.threads.search_pool import PoolLoad
from bot.views.menu import pages
from bot.views.overview import NowView
from bot.views.page import Page, Query
from engine.game import replay
from engine.games import get_rules
from engine.human.registry import ModelRegistry
from storage.database import Database
from storage.evidence.queries.event_log import EventCount
from storage.evidence.queries.overview import BaitEvent, Day, MoveTimes
from tests.bot.charts.samples import MOVES

NOW = datetime(2026, 11, 25, 15, 0, tzinfo=UTC)


def live_game(game: str, **changes: Any) -> LiveGame:
    """A game after some moves of the charts' samples."""
    rules = get_rules(game)
    moves = MOVES[game].split()
    position = replay(rules, moves)
    before = replay(rules, moves[:-1])
    made = LiveGame(
        key=f"{game}1234",
        account="lichess",
        site="lichess",
        game=game,
        variant=game,
        rated=True,
        speed="blitz",
        opponent="marta_k",
        opponent_rating=1487,
        opponent_is_bot=False,
        strategy="tempting",
        is_drawn=False,
        ply=len(moves),
        our_turn=False,
        our_clock_s=291.0,
        their_clock_s=252.4,
        is_over=False,
        position=rules.position_text(position),
        our_side=rules.side_to_move(before),
        last_move=rules.move_squares(rules.parse_move(before, moves[-1])),
    )
    return replace(made, **changes)


def sample_status(**changes: Any) -> Status:
    """A program that plays four games, in two of which a trap is armed."""
    link = LinkStatus(True, NOW - timedelta(days=12), NOW, NOW, 112, "")
    bait = BaitStatus("Nxe5", ("f3", "e5"), 0.44, 0.29)
    games = (
        live_game("chess", bait=bait, our_side=0),
        live_game(
            "othello",
            account="arena",
            opponent="tomás",
            opponent_rating=1622,
            their_clock_s=48.0,
            bait=BaitStatus("f7", ("f7",), 0.31, 0.094),
        ),
        live_game(
            "xiangqi", account="playstrategy", opponent="li_wei", opponent_rating=None, strategy="standard"
        ),
        live_game("connect4", account="arena", opponent="ann", our_turn=True, overdue_s=0.0),
    )
    made = Status(
        version="1.2.3",
        process=42,
        started_at=NOW - timedelta(days=12),
        at=NOW,
        admission=AdmissionStatus(Admission.OPEN),
        accounts=(
            AccountStatus("lichess", "lichess", "desdemona", link, "", 1, 0),
            AccountStatus("playstrategy", "playstrategy", "desdemona", link, "", 1, 0),
            AccountStatus("arena", "arena", "desdemona", replace(link, lag_ms=0), "", 2, 1),
        ),
        games=games,
        queue=(WaitingChallenge("efgh", "arena", "grandpa_joe", False, "chess", 75.0),),
        workers=PoolLoad(4, 3, 2, 0),
        database=DatabaseStatus("data/desdemona.db", 4.0, ""),
        arena=ArenaStatus("http://127.0.0.1:8765", 6),
        log_level="INFO",
        last_error=None,
    )
    return replace(made, **changes)


class FakeActions:
    """Control actions that only say what was asked for."""

    def __init__(self, status: Status | None = None, board: AlarmEvaluator | None = None) -> None:
        self.now = status or sample_status()
        self.board = board or AlarmEvaluator()
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.refusal = ""

    @property
    def alarms(self) -> Any:
        return self.board.alarms

    async def status(self) -> Status:
        return replace(self.now, alarms=self.board.alarms)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def act(*given: Any, **options: Any) -> str:
            self.calls.append((name, given, options))
            if self.refusal:
                raise ControlError(self.refusal)
            return f"{name}: done"

        return act


class FakeWatch:
    """A watch that says what it is told to say."""

    trouble = ""
    recent = None


def desk_of(
    actions: FakeActions, watch: FakeWatch | None = None, metrics: Metrics | None = None
) -> OperatorServices:
    """A desk with fakes behind it."""
    given: Any = actions
    watching: Any = watch or FakeWatch()
    return OperatorServices(given, watching, actions.board, ModelRegistry(), metrics or Metrics())


async def sample_now(_database: Database, _query: Query) -> NowView:
    """A day with games."""
    days = tuple(
        Day(
            NOW.date() - timedelta(days=13 - n),
            20 + n * 2 % 9,
            20,
            11 + n % 5,
            60 + 7 * n % 40,
            20 + 5 * n % 19,
        )
        for n in range(14)
    )
    names = ("tomás", "marta_k", "li_wei", "ann", "zugzwang7", "old_oak")
    costs = (None, *(0.068,) * 5)  # the latest is not judged yet
    baits = tuple(
        BaitEvent(n, "othello", "arena", name, 12, NOW - timedelta(minutes=7 * n), n % 3 != 1, "e2", cost)
        for n, (name, cost) in enumerate(zip(names, costs, strict=True))
    )
    times = tuple(
        MoveTimes(
            NOW - timedelta(hours=23 - n), 40, 1.2 + 0.3 * math.sin(n / 3), 2.4 + math.sin(n / 2) / 2, 5.0
        )
        for n in range(24)
    )
    declined = (
        EventCount("challenge_declined", "lichess", "tooFast", 4, NOW),
        EventCount("challenge_declined", "lichess", "variant", 2, NOW),
    )
    return NowView(days, baits, times, declined)


def sample_pages(actions: FakeActions) -> tuple[Page, ...]:
    """The pages, with a made-up day on the first one."""
    given: Any = actions
    first, *others = pages(given)
    return (replace(first, load=sample_now), *others)


def firing_board() -> AlarmEvaluator:
    """A board on which a link is down and a backup is old."""
    time = [NOW]
    board = AlarmEvaluator(AlarmsConfig(backup_folder="backups"), now=lambda: time[0])
    for at_s in (0.0, 60.0):
        time[0] = NOW + timedelta(seconds=at_s)
        board.evaluate(
            HealthSample(
                at_s,
                links={"lichess": "the stream ended", "arena": ""},
                overdue_s={},
                database_trouble="",
                model_failures={},
                backup_age_s=200_000.0,
                losses={},
                ratings={},
            )
        )
    return board


async def serve(port: int) -> None:
    """Serve the pages; and on the next port those of a program in trouble."""
    database = await Database.open("sqlite:////tmp/desk_samples.db")
    async with asyncio.TaskGroup() as tasks:
        for number, board in enumerate((AlarmEvaluator(), firing_board())):
            config = DashboardConfig(port=port + number)
            actions = FakeActions(board=board)
            made = Dashboard(config, database, sample_pages(actions), desk_of(actions))
            tasks.create_task(_run(made))


async def _run(dashboard: Dashboard) -> None:
    async with dashboard.running():
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
