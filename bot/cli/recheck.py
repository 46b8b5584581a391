"""`desdemona db recheck`: verifies all decisions, and brings replies up to the current rules and judge."""

from contextlib import ExitStack
from typing import Annotated

import typer

from bot.base.log import printable
from bot.cli.common import ShowFormat, ask_database, config_of, print_json
from bot.cli.progress import show_progress
from bot.game.recheck import OnCount, RecheckResults, recheck
from bot.threads.person_fold import fold_persons
from bot.threads.reply_judge import judge_games
from engine.judge import JUDGE_VERSION
from storage.database import Database


def recheck_command(
    context: typer.Context,
    output: Annotated[ShowFormat, typer.Option("--format", help="Output format.")] = ShowFormat.TABLE,
) -> None:
    """Verify every decision, and judge replies by the current rules.

    The command can run while the bot plays; it skips open games, and leaves the judging to the bot. It can be
    stopped and run again at any time.
    The exit status is 1 if a record is wrong or a row was moved to the quarantine.
    """
    config = config_of(context)
    table_mb, models = config.engine.table_mb, config.human.model_registry()
    sources = config.engine.strong_options().sources

    async def work(database: Database) -> RecheckResults:
        with ExitStack() as shown:

            def begin(total: int) -> OnCount:
                return shown.enter_context(show_progress("decisions", total))

            found = await recheck(database, table_mb, begin, models, sources)
        with ExitStack() as shown:

            def begin_judging(total: int) -> OnCount:
                return shown.enter_context(show_progress("games judged", total))

            found.games_judged, found.games_left = await judge_games(database, sources, begin_judging)
        found.games_learned = await fold_persons(database, models) or 0
        return found

    findings = ask_database(context, work)
    if output is ShowFormat.JSON:
        print_json(findings.to_json())
    else:
        _print_findings(findings)
    raise typer.Exit(1 if findings.wrong or findings.quarantined else 0)


def _print_findings(found: RecheckResults) -> None:
    for wrong in found.wrong:
        print(printable(f"WRONG  {wrong.site} game {wrong.game}, ply {wrong.ply}: {wrong.reason}"))
    for row in found.quarantined:
        print(printable(f"QUARANTINED  {row.text}"))
    pruned = f", pruned: {found.pruned}" if found.pruned else ""
    print(f"decisions verified: {found.verified}, wrong: {len(found.wrong)}{pruned}")
    print(
        f"classified now: {found.judged}, profiles completed: {found.completed}, "
        f"forecasts made: {found.forecast}"
    )
    print(f"games judged now (version {JUDGE_VERSION}): {found.games_judged}")
    if found.games_left:
        print(f"games left to judge, which the running program does: {found.games_left}")
    if found.games_learned:
        print(f"games from which something was learned about a person now: {found.games_learned}")
    if found.forgotten:
        print(f"predictions not recomputed, since the person asked to be forgotten: {found.forgotten}")
    if found.restored:
        print(f"rows recomputed from their records: {found.restored}")
    if found.summaries:
        print(f"wrong game summaries, recomputed: {found.summaries}")
    for reason, count in sorted(found.left.items()):
        print(printable(f"left without an outcome: {count}: {reason}"))
