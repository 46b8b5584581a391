"""`desdemona trial`: start, end and list trials, the planned comparisons of strategies."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.base.rounding import plural
from bot.cli.common import (
    CommandFormat,
    FormatOption,
    UsageError,
    ask_database,
    config_of,
    print_csv,
    print_json,
    print_note,
    print_rows,
)
from storage.errors import TrialError
from storage.evidence.inference.defaults import ALPHA, CAP_GAMES
from storage.records import Endpoint

if TYPE_CHECKING:
    from storage.database import Database
    from storage.evidence.trials import StoredTrial


def start(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The trial's name: letters, digits, -, _ and .")],
    planned_n: Annotated[
        int | None,
        typer.Option(
            help="Planned number of games (default: 1000), or of decisions (default: 6000) if the "
            "only strategy randomises single decisions. The interval is narrowest at this number."
        ),
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="Maximum probability that the interval ever excludes the true value.")
    ] = ALPHA,
    cap: Annotated[int, typer.Option(help="Count only the first N games of each person.")] = CAP_GAMES,
    endpoint: Annotated[
        Endpoint | None,
        typer.Option(
            help="What to compare: results (default), or the costs of opponents' replies (default if "
            "the only strategy randomises single decisions)."
        ),
    ] = None,
) -> None:
    """Start a trial of the strategies in `assignment`.

    Run this before the trial's first game.

    Games assigned from now on belong to the trial. A running program need not be restarted, but it must read
    changed settings again (`desdemona control reload`).
    """
    from bot.control.trial_plan import plan

    config = config_of(context)
    try:
        new = plan(config.by_account(), name, planned_n=planned_n, alpha=alpha, cap=cap, endpoint=endpoint)
    except TrialError as error:
        raise UsageError(f"trial start: {error}") from None

    async def work(database: "Database") -> "StoredTrial":
        from storage.evidence.trials import start_trial

        async with database.write() as session:
            return await start_trial(session, new)

    started = _attempt("start", context, work)
    print(f"trial {started.name} has started: {', '.join(started.arms)}; endpoint {started.endpoint.value}")
    print_note(
        "a running program uses the settings that it read last: "
        "after a change, run `desdemona control reload`"
    )


def end(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="Name of the trial (default: the open trial).")] = None,
) -> None:
    """End the open trial; games in progress still count for it."""

    async def work(database: "Database") -> "StoredTrial":
        from storage.evidence.trials import end_trial

        async with database.write() as session:
            return await end_trial(session, name)

    ended = _attempt("end", context, work)
    running = f", {ended.open_games} of them still being played or analysed" if ended.open_games else ""
    print(f"trial {ended.name} has ended: {plural(ended.games, 'game')}{running}")


def list_command(context: typer.Context, output: FormatOption = CommandFormat.TABLE) -> None:
    """List all trials, the latest first."""

    async def work(database: "Database") -> "list[StoredTrial]":
        from storage.evidence.trials import list_trials

        async with database.read() as session:
            return await list_trials(session)

    rows = [_row(trial) for trial in ask_database(context, work)]
    nested = ("configurations", "strata")
    flat = [
        {**{key: value for key, value in row.items() if key not in nested}, "arms": " ".join(row["arms"])}
        for row in rows
    ]
    if output is CommandFormat.JSON:
        print_json(rows)
    elif output is CommandFormat.CSV:
        print_csv(flat)
    elif flat:
        times = ("started_at", "ended_at")
        print_rows(
            [row | {key: (row[key] or "open")[:16].replace("T", " ") for key in times} for row in flat]
        )
    else:
        print_note("There is no trial; `desdemona trial start` begins one.")


def _attempt(command: str, context: typer.Context, work: Any) -> "StoredTrial":
    try:
        done: StoredTrial = ask_database(context, work)
    except TrialError as error:
        raise UsageError(f"trial {command}: {error}") from None
    return done


def _row(trial: "StoredTrial") -> dict[str, Any]:
    return {
        "name": trial.name,
        "arms": list(trial.arms),
        "started_at": trial.started_at.isoformat(),
        "ended_at": None if trial.ended_at is None else trial.ended_at.isoformat(),
        "games": trial.games,
        "open_games": trial.open_games,
        "endpoint": trial.endpoint.value,
        "planned_n": trial.planned_n,
        "alpha": trial.alpha,
        "cap": trial.cap,
        "strata": dict(trial.strata),
        "configurations": dict(trial.configurations),
    }
