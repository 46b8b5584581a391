"""Tests whether people in a blind trial can identify the strategy from the data that they receive.

    python -m bench.sites.blind_trial [--games 200] [--plies 12] [--depth 4] [--time 0.1] [--hold 60]
        [--report-delay 2] [--people 1] [--reveal]

Scripted people play short games of Othello at an arena on this machine, in a recorded trial (with
``--reveal``, outside a trial). A naive Bayes classifier, with ten-fold cross-validation, then guesses each
game's strategy from everything that the person received except the play itself. The bot's move times are also
compared: the area under the curve is the probability that a trappy game's median time exceeds a standard
game's; it is 0.5 if times reveal nothing. The last lines are those of `desdemona stats --trial`. With more
``--people`` than threads (one), searches wait for each other.
"""

import argparse
import asyncio
import statistics
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from bot.base.config import AssignmentConfig, AssignmentMethod, EngineConfig, TrialConfig
from bot.control.trial_plan import plan
from bot.views.statistics.blindness import blindness_table
from storage.database import Database
from storage.evidence.queries.trial_report import trial_report
from storage.evidence.trials import list_trials, start_trial
from storage.filters import Filters
from storage.records import Endpoint
from tests.bot.blind_people import auc, guessed_right, most_by_chance, play_games, usual_wait_s
from tests.bot.daemon.test_program import running, settings
from tests.bot.test_blind_trial import arms_of


async def measure(folder: Path, options: argparse.Namespace) -> None:
    config = settings(
        folder,
        engine=EngineConfig(
            max_depth=options.depth, max_time_s=options.time, workers=1, table_mb=4, ponder=False
        ),
        assignment=AssignmentConfig(method=AssignmentMethod.BALANCED),
        trial=TrialConfig(reveal=options.reveal, hold_s=options.hold, report_delay_s=options.report_delay),
    )
    database = await Database.open(config.storage.url)
    if not options.reveal:
        planned = plan(
            config.by_account(),
            "bench",
            planned_n=1000,
            alpha=0.05,
            cap=options.games,
            endpoint=Endpoint.SCORE,
        )
        async with database.write() as session:
            await start_trial(session, planned)
    async with running(config) as url:
        games = await play_games(url, options.games, options.plies, options.people)
    arms = await arms_of(folder, games)
    async with database.read() as session:
        for trial in await list_trials(session):
            print(f"games of the trial: {trial.games}")
    if not options.reveal:
        await print_blindness(database)
    await database.close()
    right = guessed_right([each.tokens for each in games], arms, folds=10)
    print(
        f"games {len(arms)}, trappy {arms.count('trappy')}; guessed correctly {right}, by chance at most "
        f"{most_by_chance(arms)} (99.9 %)"
    )
    waits_s = {
        arm: [usual_wait_s(each) for each, its in zip(games, arms, strict=True) if its == arm]
        for arm in ("standard", "trappy")
    }
    for arm, times_s in waits_s.items():
        print(f"{arm:<9} median time of a move {1e3 * statistics.median(times_s):.1f} ms")
    print(f"area under the curve for move times {auc(waits_s['standard'], waits_s['trappy']):.3f}")


async def print_blindness(database: Database) -> None:
    """Print what the program itself says of the trial's blindness."""
    report = await trial_report(database, None, None, Filters(), datetime.now(UTC))
    if report is not None and report.blindness is not None:
        table = blindness_table(report.blindness, report.arms)
        print(*(": ".join(map(str, row)) for row in table.rows), table.note, sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--plies", type=int, default=12)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--time", type=float, default=0.1)
    parser.add_argument("--hold", type=float, default=60)
    parser.add_argument("--report-delay", type=float, default=2)
    parser.add_argument("--people", type=int, default=1, help="number of people who play at the same time")
    parser.add_argument("--reveal", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), options))


if __name__ == "__main__":
    main()
