"""`desdemona trial`: start, end and list trials, the planned comparisons of players."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.base.rounding import counted
from bot.cli.common import (
    CommandFormat,
    FormatOption,
    UsageError,
    ask_database,
    config_of,
    console,
    note,
    print_csv,
    print_json,
)
from storage.errors import TrialError
from storage.evidence.inference.defaults import ALPHA, CAP_GAMES
from storage.records import Endpoint

if TYPE_CHECKING:
    from bot.base.config import Config
    from storage.database import Database
    from storage.evidence.trials import NewTrial, StoredTrial

_SETTINGS = ("engine", "trap", "human", "randomised", "uci", "online")
"""The tables that decide how a player plays."""


def start(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The trial's name: letters, digits, -, _ and .")],
    planned_n: Annotated[
        int | None,
        typer.Option(
            help="Planned number of games, by default 1000; with only a strategy that draws single "
            "decisions, planned number of decisions, by default 6000. The interval is tightest there."
        ),
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="Maximum probability that the interval ever excludes the true value.")
    ] = ALPHA,
    cap: Annotated[int, typer.Option(help="Only this many first games of each person count.")] = CAP_GAMES,
    endpoint: Annotated[
        Endpoint | None,
        typer.Option(
            help="Compare results (the default), or the cost of the opponents' replies (the default with "
            "only a strategy that draws single decisions)."
        ),
    ] = None,
) -> None:
    """Start a trial of the players in `assignment`.

    Start it before its first game.

    Games drawn from now on belong to it; a running program need not be started again, but has to read
    changed settings (`desdemona control reload`).
    """
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
    note(
        "a running program draws by the settings that it read last: "
        "after a change, `desdemona control reload`"
    )


def end(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="Without it, whichever trial is open.")] = None,
) -> None:
    """End the open trial; running games still belong to it."""

    async def work(database: "Database") -> "StoredTrial":
        from storage.evidence.trials import end_trial

        async with database.write() as session:
            return await end_trial(session, name)

    ended = _attempt("end", context, work)
    running = f", {ended.open_games} of them still being played or analysed" if ended.open_games else ""
    print(f"trial {ended.name} has ended: {counted(ended.games, 'game')}{running}")


def list_command(context: typer.Context, output: FormatOption = CommandFormat.TABLE) -> None:
    """List all trials, the latest first."""

    async def work(database: "Database") -> "list[StoredTrial]":
        from storage.evidence.trials import list_trials

        async with database.read() as session:
            return await list_trials(session)

    rows = [_row(trial) for trial in ask_database(context, work)]
    if output is CommandFormat.JSON:
        print_json(rows)
        return
    flat = [
        {key: value for key, value in row.items() if key not in ("configurations", "strata")} for row in rows
    ]
    for row in flat:
        row["arms"] = " ".join(row["arms"])
    if output is CommandFormat.CSV:
        print_csv(flat)
    elif flat:
        _print_table(flat)
    else:
        note("There is no trial.")


def plan(
    configs: "Mapping[str, Config]",
    name: str,
    *,
    planned_n: int | None,
    alpha: float,
    cap: int,
    endpoint: Endpoint | None,
) -> "NewTrial":
    """The plan of a trial of the players that the accounts draw from.

    Args:
        configs: The settings of each account, by its name.
        name: Of the trial.
        planned_n: As in `storage.evidence.trials.NewTrial`, like the others; None: the usual number.
        endpoint: None: the usual one.

    Raises:
        TrialError: The settings do not make a blind comparison, or a value makes no sense.
    """
    from bot.game.assignment import BLIND_COIN_PROBABILITY
    from engine import ENGINE_VERSION
    from storage.evidence.inference.any_time import PlannedN
    from storage.evidence.trials import NewTrial

    drawing = {account: config for account, config in configs.items() if _arms_of(config)}
    if not drawing:
        raise TrialError(
            'nothing is compared: no account has assignment.method = "balanced" with two players or more, '
            "or only a player that draws single decisions (randomised)"
        )
    for account, config in drawing.items():
        if config.trial.reveal:
            raise TrialError(
                "trial.reveal is true: people would learn which player they met; set it to false"
            )
        if config.assignment.seed:
            raise TrialError(
                f"account {account}: assignment.seed is {config.assignment.seed}, "
                "so draws could be predicted; set it to 0"
            )
    (first, config), *others = drawing.items()
    arms = _arms_of(config)
    for account, other in others:
        if _arms_of(other) != arms:
            raise TrialError(
                f"accounts {first} and {account} draw from different players: "
                f"{', '.join(arms)}; {', '.join(_arms_of(other))}"
            )
    is_alone = len(arms) == 1
    settings = {table: getattr(config, table).model_dump(mode="json") for table in _SETTINGS}
    how = {
        "engine_version": ENGINE_VERSION,
        "params": asdict(config.trap.params()),
        "coin_probability": BLIND_COIN_PROBABILITY,
        "settings": settings,
    }
    configurations = {arm: {"strategy": arm, **how} for arm in arms}
    return NewTrial(
        name=name,
        arms=arms,
        configurations=configurations,
        planned_n=int(PlannedN.DECISIONS if is_alone else PlannedN.GAMES) if planned_n is None else planned_n,
        alpha=alpha,
        cap=cap,
        endpoint=endpoint or (Endpoint.COST if is_alone else Endpoint.SCORE),
    )


def _arms_of(config: "Config") -> tuple[str, ...]:
    """The players that an account draws from, sorted; the only one, if it draws its decisions; or none."""
    from bot.base.config import AssignmentMethod
    from engine.strategies.registry import strategy_named

    assignment = config.assignment
    match assignment.method:
        case AssignmentMethod.BALANCED:
            arms = tuple(sorted(assignment.strategies))
        case AssignmentMethod.FIXED:
            arms = (assignment.strategy,)
        case AssignmentMethod.RULES:
            return ()
    return arms if len(arms) > 1 or strategy_named(arms[0]).draws_decisions else ()


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


def _print_table(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table()
    for key in rows[0]:
        title = {"started_at": "started (UTC)", "ended_at": "ended (UTC)"}.get(key, key.replace("_", " "))
        table.add_column(title, justify="right" if isinstance(rows[0][key], (int, float)) else "left")
    for row in rows:
        moments = {key: (row[key] or "open")[:16].replace("T", " ") for key in ("started_at", "ended_at")}
        table.add_row(*(str(value) for value in (row | moments).values()))
    console().print(table)
