"""`desdemona`: the root command, and the list of all commands."""

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.lazy import LazyCommand, lazy_group
from engine import VERSION

COMMANDS = {
    "run": LazyCommand("bot.daemon.commands", "run"),
    "init": LazyCommand("bot.cli.init_command", "init_command"),
    "check": LazyCommand("bot.cli.check", "check_command"),
    "challenge": LazyCommand("bot.cli.control.program", "challenge"),
    "tournament": LazyCommand("bot.cli.control.program", "tournament"),
    "match": LazyCommand("bot.cli.match", "match_command"),
    "engine": LazyCommand("bot.cli.engine", "engine"),
    "upgrade-account": LazyCommand("bot.cli.accounts", "upgrade_account"),
    "status": LazyCommand("bot.cli.control.program", "status"),
    "games": LazyCommand("bot.cli.games.games_command", "games"),
    "show": LazyCommand("bot.cli.games.games_command", "show"),
    "stats": LazyCommand("bot.cli.stats.stats_command", "stats"),
    "sql": LazyCommand("bot.cli.sql", "sql"),
    "export": LazyCommand("bot.cli.formats", "export_games"),
    "import": LazyCommand("bot.cli.formats", "import_games"),
    "replay": LazyCommand("bot.daemon.commands", "replay"),
    "arena": LazyCommand("bot.daemon.commands", "arena"),
}
CONTROL_COMMANDS = {
    "pause": LazyCommand("bot.cli.control.program", "pause"),
    "resume": LazyCommand("bot.cli.control.program", "resume"),
    "drain": LazyCommand("bot.cli.control.program", "drain"),
    "abort": LazyCommand("bot.cli.control.program", "abort"),
    "resign": LazyCommand("bot.cli.control.program", "resign"),
    "say": LazyCommand("bot.cli.control.program", "say"),
    "block": LazyCommand("bot.cli.control.program", "block"),
    "unblock": LazyCommand("bot.cli.control.program", "unblock"),
    "log": LazyCommand("bot.cli.control.program", "log_level"),
    "ack": LazyCommand("bot.cli.control.program", "ack"),
    "snooze": LazyCommand("bot.cli.control.program", "snooze"),
    "reload": LazyCommand("bot.cli.control.program", "reload"),
}
PAGES = {
    "questions": "List ten common questions and the pages that answer them.",
    "works": "Show the trial's verdict on whether the traps work.",
    "results": "Show results by strategy, opponent, speed or rating.",
    "traps": "List the traps that were set, with the cost of each bait.",
    "opponents": "List the opponents with their results and errors.",
    "events": "List events: starts, errors, alarms, actions.",
    "ratings": "Show our ratings over time.",
}
"""Help texts of the dashboard's pages, keyed by the pages' names."""
PAGE_COMMANDS = {
    **{
        name: LazyCommand("bot.cli.pages.page_command", "page_command", text, (name,))
        for name, text in PAGES.items()
    },
    "opponent": LazyCommand("bot.cli.games.opponent", "opponent"),
    "month": LazyCommand("bot.cli.monthly.month_command", "report_command"),
}
DATABASE_COMMANDS = {
    "upgrade": LazyCommand("bot.cli.database", "upgrade"),
    "current": LazyCommand("bot.cli.database", "current"),
    "copy": LazyCommand("bot.cli.maintenance.copying", "copy_command"),
    "backup": LazyCommand("bot.cli.maintenance.backups", "backup_command"),
    "vacuum": LazyCommand("bot.cli.maintenance.vacuum", "vacuum_command"),
    "prune": LazyCommand("bot.cli.maintenance.pruning", "prune_command"),
    "recheck": LazyCommand("bot.cli.recheck", "recheck_command"),
}
TRIAL_COMMANDS = {
    "start": LazyCommand("bot.cli.trial", "start"),
    "end": LazyCommand("bot.cli.trial", "end"),
    "list": LazyCommand("bot.cli.trial", "list_command"),
}
ARENA_ACCOUNT_COMMANDS = {
    "list": LazyCommand("bot.cli.control.arena_accounts", "list_command"),
    "approve": LazyCommand("bot.cli.control.arena_accounts", "approve"),
    "ban": LazyCommand("bot.cli.control.arena_accounts", "ban"),
    "unban": LazyCommand("bot.cli.control.arena_accounts", "unban"),
    "revoke": LazyCommand("bot.cli.control.arena_accounts", "revoke"),
    "rename": LazyCommand("bot.cli.control.arena_accounts", "rename"),
    "delete": LazyCommand("bot.cli.control.arena_accounts", "delete"),
    "void-game": LazyCommand("bot.cli.control.arena_accounts", "void_game"),
    "add-bot": LazyCommand("bot.cli.accounts", "add_bot"),
}
PERSON_COMMANDS = {
    "show": LazyCommand("bot.cli.games.person", "show"),
    "forget": LazyCommand("bot.cli.games.person", "forget"),
}
LAB_COMMANDS = {
    "list": LazyCommand("lab.cli.experiments.experiment_command", "list_command"),
    "run": LazyCommand("lab.cli.experiments.experiment_command", "run_command"),
    "tell": LazyCommand("lab.cli.experiments.experiment_command", "tell_command"),
    "analyse": LazyCommand("lab.cli.analyse", "analyse_command"),
    "study": LazyCommand("lab.cli.study", "study_command"),
    "fit": LazyCommand("lab.cli.fit", "fit_command", old_options=(("--person", "fit-person"),)),
    "fit-person": LazyCommand("lab.cli.fit_person", "fit_person_command"),
    "fit-pair": LazyCommand("lab.cli.fit_pair", "fit_pair_command"),
    "fit-site": LazyCommand("lab.cli.fit_site", "fit_site_command"),
    "show-model": LazyCommand("lab.cli.model", "show"),
    "import-model": LazyCommand("lab.cli.model", "import_model"),
}

GROUPS: dict[str, tuple[dict[str, LazyCommand], str]] = {
    "control": (CONTROL_COMMANDS, "Control the running program: games, challenges, alarms."),
    "page": (PAGE_COMMANDS, "Show a page of the dashboard in the terminal."),
    "db": (DATABASE_COMMANDS, "Upgrade, back up, copy and check the database."),
    "trial": (TRIAL_COMMANDS, "Start, end and list trials, which compare strategies."),
    "arena-account": (ARENA_ACCOUNT_COMMANDS, "Administer the arena's accounts."),
    "person": (PERSON_COMMANDS, "Show or forget what was learned of a person."),
    "lab": (LAB_COMMANDS, "Run experiments, analyse games, and fit models."),
}
"""Groups of commands, keyed by name, with their help texts."""
DEFAULTS = {"page": "questions"}
"""Default commands, keyed by group; a group without a default command prints its help."""
PANELS = {
    "Play": ("run", "init", "check", "challenge", "tournament", "match", "engine", "upgrade-account"),
    "Watch": ("status", "control", "games", "show", "stats", "page"),
    "Data": ("sql", "export", "import", "replay", "db", "person"),
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
"""Maps the command names of version 0.2.0 to the current names; the old names work for one more release."""

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
        Path | None, typer.Option(help="Settings file; default: ./config.toml, if it exists.")
    ] = None,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Desdemona plays board games against people online, sets traps, and records who takes the bait."""
    # Read by the commands, so that `--help` works with a broken file.
    context.obj = config
