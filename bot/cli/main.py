"""`desdemona`: the root command, and the list of all commands."""

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.lazy import LazyCommand, lazy_group
from engine import VERSION

COMMANDS = {
    "run": LazyCommand("bot.daemon.commands", "run", "Play until SIGINT or SIGTERM."),
    "check": LazyCommand(
        "bot.cli.check", "check_command", "Check the configuration, database, engine and accounts."
    ),
    "challenge": LazyCommand(
        "bot.cli.control.program", "challenge", "Challenge a player and wait for the end of the game."
    ),
    "tournament": LazyCommand(
        "bot.cli.control.program", "tournament", "Join or leave a tournament that admits programs."
    ),
    "match": LazyCommand("bot.cli.match", "match_command", "Play a match between any two players."),
    "engine": LazyCommand("bot.cli.engine", "engine", "Run as an engine for a GUI: UCI, GTP or NBoard."),
    "upgrade-account": LazyCommand(
        "bot.cli.accounts", "upgrade_account", "Make the configured account a bot account, permanently."
    ),
    "status": LazyCommand("bot.cli.control.program", "status", "Show what the running program does."),
    "games": LazyCommand("bot.cli.games.command", "games", "List the latest games."),
    "show": LazyCommand("bot.cli.games.command", "show", "Show a game and its traps, move by move."),
    "stats": LazyCommand(
        "bot.cli.stats.command", "stats", "Show results, errors and traps of groups of games."
    ),
    "sql": LazyCommand("bot.cli.sql", "sql", "Answer a question in SQL, read-only."),
    "export": LazyCommand(
        "bot.cli.formats", "export_games", "Write games as GGF, PGN and other formats, oldest first."
    ),
    "import": LazyCommand(
        "bot.cli.formats", "import_games", "Import games of others, each once, from GGF, PGN or WTHOR."
    ),
    "arena": LazyCommand("bot.daemon.commands", "arena", "Run the arena alone, until SIGINT or SIGTERM."),
}
CONTROL_COMMANDS = {
    "pause": LazyCommand(
        "bot.cli.control.program", "pause", "Start no new games at any account; running games go on."
    ),
    "resume": LazyCommand("bot.cli.control.program", "resume", "End the pause."),
    "drain": LazyCommand(
        "bot.cli.control.program", "drain", "Finish the running games, then stop the program."
    ),
    "abort": LazyCommand("bot.cli.control.program", "abort", "Ask the site to abort a game."),
    "resign": LazyCommand("bot.cli.control.program", "resign", "Resign a game."),
    "say": LazyCommand("bot.cli.control.program", "say", "Send a message to the opponent in a game."),
    "block": LazyCommand(
        "bot.cli.control.program", "block", "Play no more games with an account, also after a restart."
    ),
    "unblock": LazyCommand(
        "bot.cli.control.program", "unblock", "Undo `block`; block lists in the settings stay."
    ),
    "log": LazyCommand("bot.cli.control.program", "log_level", "Set the log level until the program ends."),
    "ack": LazyCommand(
        "bot.cli.control.program", "ack", "Acknowledge an alarm: send no more notices until it clears."
    ),
    "snooze": LazyCommand("bot.cli.control.program", "snooze", "Send no notices of an alarm for a while."),
    "reload": LazyCommand("bot.cli.control.program", "reload", "Read the settings again, as on SIGHUP."),
}
PAGE_COMMANDS = {
    "questions": LazyCommand(
        "bot.cli.pages.command", "page_command", "List ten questions that the pages answer."
    ),
    "works": LazyCommand(
        "bot.cli.pages.command",
        "page_command",
        "Show whether the traps work, with the verdict of the trial.",
        ("works",),
    ),
    "results": LazyCommand(
        "bot.cli.pages.command",
        "page_command",
        "Show results by player, opponent, speed or rating.",
        ("results",),
    ),
    "traps": LazyCommand(
        "bot.cli.pages.command",
        "page_command",
        "List the traps that were set, and what each reply cost.",
        ("traps",),
    ),
    "opponents": LazyCommand(
        "bot.cli.pages.command",
        "page_command",
        "List the opponents with their results and errors.",
        ("opponents",),
    ),
    "opponent": LazyCommand(
        "bot.cli.games.opponent", "opponent", "Show one opponent: results, progress, ratings and visits."
    ),
    "events": LazyCommand(
        "bot.cli.pages.command",
        "page_command",
        "List what happened: starts, errors, alarms, actions.",
        ("events",),
    ),
    "ratings": LazyCommand(
        "bot.cli.pages.command", "page_command", "Show the ratings over time.", ("ratings",)
    ),
    "month": LazyCommand(
        "bot.cli.monthly.command",
        "report_command",
        "Write a month's results, traps and trials as one HTML file.",
    ),
}
DATABASE_COMMANDS = {
    "upgrade": LazyCommand(
        "bot.cli.database", "upgrade", "Create the database or upgrade its schema and summaries."
    ),
    "current": LazyCommand(
        "bot.cli.database", "current", "Print the schema of the database and the newest one."
    ),
    "copy": LazyCommand(
        "bot.cli.maintenance.copying", "copy_command", "Copy a database, also between SQLite and PostgreSQL."
    ),
    "backup": LazyCommand(
        "bot.cli.maintenance.backups", "backup_command", "Back up the database while the bot plays."
    ),
    "vacuum": LazyCommand(
        "bot.cli.maintenance.compacting",
        "vacuum_command",
        "Return unused space to the disk and refresh statistics.",
    ),
    "prune": LazyCommand(
        "bot.cli.maintenance.pruning",
        "prune_command",
        "Shorten old records of decisions; changes need --yes.",
    ),
    "recheck": LazyCommand(
        "bot.cli.recheck", "recheck_command", "Verify every decision and judge replies that lack it."
    ),
}
TRIAL_COMMANDS = {
    "start": LazyCommand("bot.cli.trial", "start", "Start a trial of the players in `assignment`."),
    "end": LazyCommand("bot.cli.trial", "end", "End the open trial; running games still belong to it."),
    "list": LazyCommand("bot.cli.trial", "list_command", "List all trials, the latest first."),
}
ARENA_ACCOUNT_COMMANDS = {
    "list": LazyCommand(
        "bot.cli.control.arena_accounts", "list_command", "List the accounts with their rights and games."
    ),
    "approve": LazyCommand(
        "bot.cli.control.arena_accounts", "approve", "Let an account play that waits for approval."
    ),
    "ban": LazyCommand(
        "bot.cli.control.arena_accounts", "ban", "Ban an account: its token stops working, its streams end."
    ),
    "unban": LazyCommand(
        "bot.cli.control.arena_accounts", "unban", "Lift a ban; the account keeps its token."
    ),
    "revoke": LazyCommand(
        "bot.cli.control.arena_accounts", "revoke", "Revoke an account's token; its games and name stay."
    ),
    "rename": LazyCommand(
        "bot.cli.control.arena_accounts", "rename", "Rename an account; its token, ratings and games stay."
    ),
    "delete": LazyCommand(
        "bot.cli.control.arena_accounts", "delete", "Delete an account with its token, ratings and chat."
    ),
    "void-game": LazyCommand(
        "bot.cli.control.arena_accounts",
        "void_game",
        "Void a rated game and undo its effect on both ratings.",
    ),
    "add-bot": LazyCommand("bot.cli.accounts", "add_bot", "Create an arena account for another bot program."),
}
LAB_COMMANDS = {
    "list": LazyCommand(
        "lab.cli.experiments.command",
        "list_command",
        "List the experiments and the figures that each repeats.",
    ),
    "run": LazyCommand(
        "lab.cli.experiments.command", "run_command", "Run an experiment and report its results."
    ),
    "tell": LazyCommand(
        "lab.cli.experiments.command", "tell_command", "Report the results of an experiment so far."
    ),
    "analyse": LazyCommand(
        "lab.cli.analyse", "analyse_command", "Analyse recorded games of people from files."
    ),
    "study": LazyCommand("lab.cli.study", "study_command", "Study traps in analysed games of people."),
    "fit": LazyCommand(
        "lab.cli.fit",
        "fit_command",
        "Fit a calibrated model.",
        old_options=(("--person", "fit-person"),),
    ),
    "fit-person": LazyCommand(
        "lab.cli.fit_person",
        "fit_person_command",
        "Fit the people model's prior.",
    ),
    "show-model": LazyCommand(
        "lab.cli.model", "show", "Show a model's metadata and its first-move predictions."
    ),
    "import-model": LazyCommand(
        "lab.cli.model", "import_model", "Convert published Maia networks to models for the bot."
    ),
}

GROUPS: dict[str, tuple[dict[str, LazyCommand], str]] = {
    "control": (CONTROL_COMMANDS, "Control the running program: games, challenges, alarms."),
    "page": (PAGE_COMMANDS, "Show a page of the dashboard in the terminal."),
    "db": (DATABASE_COMMANDS, "Upgrade, back up, copy and check the database."),
    "trial": (TRIAL_COMMANDS, "Start, end and list trials, planned comparisons of players."),
    "arena-account": (ARENA_ACCOUNT_COMMANDS, "Administer the accounts of the arena."),
    "lab": (LAB_COMMANDS, "Run experiments, analyse games, and fit models."),
}
"""Groups of commands, with their purposes."""
DEFAULTS = {"page": "questions"}
"""The default commands of groups; other groups print their help."""
PANELS = {
    "Play": ("run", "check", "challenge", "tournament", "match", "engine", "upgrade-account"),
    "Watch": ("status", "control", "games", "show", "stats", "page"),
    "Data": ("sql", "export", "import", "db"),
    "Trial": ("trial",),
    "Arena": ("arena", "arena-account"),
    "Lab": ("lab",),
}
OLD_NAMES = {
    **{name: f"control {name}" for name in CONTROL_COMMANDS},
    "report": "page month",
    "opponent": "page opponent",
    "add-bot": "arena-account add-bot",
    "analyse": "lab analyse",
    "study": "lab study",
    "experiment": "lab",
    "model import": "lab import-model",
    "model show": "lab show-model",
    "model fit": "lab fit",
    "model": "lab",
}
"""Names of 0.2.0, which work for one more release, and today's."""

app = lazy_group(
    COMMANDS, panels=PANELS, old_names=OLD_NAMES, add_completion=False, pretty_exceptions_enable=False
)
for _name, (_commands, _help) in GROUPS.items():
    app.add_typer(lazy_group(_commands, default=DEFAULTS.get(_name, ""), help=_help), name=_name)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"desdemona {VERSION}")
        raise typer.Exit


@app.callback()
def main(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option(help="Settings; without it config.toml here, if there is one.")
    ] = None,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    """Desdemona plays board games against people online, sets traps, and records who falls in."""
    # Read by the commands, so that `--help` works with a broken file.
    context.obj = config
