"""Tests whether people in a blind trial can identify the strategy from the data that they receive.

    python -m bench.sites.blind_trial [--games 200] [--plies 12] [--depth 4] [--time 0.1] [--hold 0.1]
        [--reveal]

Scripted people play short games of Othello at an arena on this machine, in a recorded trial (with
``--reveal``, outside a trial). A naive Bayes classifier, with ten-fold cross-validation, then guesses each
game's strategy from everything that the person received except the play itself. The bot's move times are also
compared: the area under the curve is the probability that a trappy game's median time exceeds a standard
game's; it is 0.5 if times reveal nothing.
"""

import argparse
import asyncio
import statistics
import tempfile
from pathlib import Path

from bot.base.config import AssignmentConfig as Selection
from bot.base.config import EngineConfig, TrialConfig
from bot.control.trial_plan import plan
from storage.database import Database
from storage.evidence.trials import list_trials, start_trial
from storage.records import Endpoint
from tests.bot.blind_people import auc, guessed_right, most_by_chance, play_games, usual_wait_s
from tests.bot.daemon.test_program import running, settings
from tests.bot.test_blind_trial import arms_of

ALONE = 1
"""Number of people who play at the same time. With more than one, move times would depend on other games."""


async def measure(folder: Path, options: argparse.Namespace) -> None:
    config = settings(
        folder,
        engine=EngineConfig(
            max_depth=options.depth, max_time_s=options.time, workers=1, table_mb=4, ponder=False
        ),
        selection=Selection(),
        trial=TrialConfig(reveal=options.reveal, hold_s=options.hold),
    )
    database = await Database.open(config.storage.url)
    if not options.reveal:
        planned = plan(
            config.by_account(), "bench", planned_n=1000, alpha=0.05, cap=50, endpoint=Endpoint.SCORE
        )
        async with database.write() as session:
            await start_trial(session, planned)
    async with running(config) as url:
        games = await play_games(url, options.games, options.plies, ALONE)
    arms = await arms_of(folder, games)
    async with database.read() as session:
        for trial in await list_trials(session):
            print(f"games of the trial: {trial.games}")
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--plies", type=int, default=12)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--time", type=float, default=0.1)
    parser.add_argument("--hold", type=float, default=0.1)
    parser.add_argument("--reveal", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), options))


if __name__ == "__main__":
    main()
