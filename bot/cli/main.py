"""`desdemona`: the root command, and the list of all commands."""

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.lazy import LazyCommand, lazy_group
from engine import VERSION

COMMANDS = {
    "analyse": LazyCommand(
        "lab.cli.analyse",
        "analyse_command",
        "Analyse recorded games of people: PGN, WTHOR, GGF, transcripts.",
    ),
    "engine": LazyCommand(
        "bot.cli.engine",
        "engine",
        "Play under another program: commands on standard input, answers on standard output.",
    ),
    "export": LazyCommand(
        "bot.cli.formats", "export_games", "Write games in a format of other programs, the oldest first."
    ),
    "import": LazyCommand(
        "bot.cli.formats",
        "import_games",
        "Store games of others in the database, each once: GGF, PGN, transcripts, WTHOR.",
    ),
    "match": LazyCommand(
        "bot.cli.match",
        "match_command",
        "Play a match of any two players: standard, trappy, strong, opponent_model, calibrated, tempting, "
        "human; nboard:, gtp:, uci:, ucci:.",
    ),
    "study": LazyCommand(
        "lab.cli.study",
        "study_command",
        "Study traps in analysed games of people, with 95 % intervals by persons.",
    ),
    "run": LazyCommand("bot.daemon.commands", "run", "Play until SIGINT or SIGTERM."),
    "status": LazyCommand("bot.cli.control.program", "status", "Show what the running program does."),
    "pause": LazyCommand(
        "bot.cli.control.program", "pause", "Let no new game begin, at all accounts; running games go on."
    ),
    "resume": LazyCommand("bot.cli.control.program", "resume", "End the pause."),
    "drain": LazyCommand(
        "bot.cli.control.program",
        "drain",
        "Finish the running games and stop the program, as the first SIGTERM does.",
    ),
    "abort": LazyCommand(
        "bot.cli.control.program",
        "abort",
        "Ask the site to abort a game, which most allow only before both have moved.",
    ),
    "resign": LazyCommand("bot.cli.control.program", "resign", "Resign a game."),
    "say": LazyCommand("bot.cli.control.program", "say", "Send the opponent in a game a message."),
    "block": LazyCommand(
        "bot.cli.control.program",
        "block",
        "Play no more games with an account of the site, also after a restart; running games go on.",
    ),
    "unblock": LazyCommand(
        "bot.cli.control.program", "unblock", "Undo `block`; block lists in the settings stay."
    ),
    "log": LazyCommand(
        "bot.cli.control.program", "log_level", "Log from this level on, until the program ends."
    ),
    "ack": LazyCommand(
        "bot.cli.control.program",
        "ack",
        "Acknowledge an alarm: it is not told of any more until it has ended.",
    ),
    "snooze": LazyCommand(
        "bot.cli.control.program",
        "snooze",
        "Send no notices of an alarm for a while, whether or not it fires now.",
    ),
    "reload": LazyCommand(
        "bot.cli.control.program",
        "reload",
        "Make the running program read its settings again, as SIGHUP does.",
    ),
    "challenge": LazyCommand(
        "bot.cli.control.program",
        "challenge",
        "Challenge somebody by name, and wait for the end of the game.",
    ),
    "tournament": LazyCommand(
        "bot.cli.control.program", "tournament", "Join a tournament that lets programs in, or leave it."
    ),
    "arena": LazyCommand("bot.daemon.commands", "arena", "Run the arena alone, until SIGINT or SIGTERM."),
    "add-bot": LazyCommand("bot.cli.accounts", "add_bot", "Make an arena account for another bot program."),
    "upgrade-account": LazyCommand(
        "bot.cli.accounts",
        "upgrade_account",
        "Make the configured account a bot account, permanently.",
    ),
    "check": LazyCommand("bot.cli.check", "check_command", "Try everything that playing needs."),
    "stats": LazyCommand(
        "bot.cli.stats.command",
        "stats",
        "Results, errors and traps of groups of games, beside what chance and a model of people expect.",
    ),
    "report": LazyCommand(
        "bot.cli.monthly.command",
        "report_command",
        "Write a month's games, traps, ratings, dearest baits, events and trials as one file of HTML with "
        "plots.",
    ),
    "page": LazyCommand(
        "bot.cli.pages.command",
        "page_command",
        "Show a page of the dashboard, or ten questions that the pages answer.",
    ),
    "sql": LazyCommand("bot.cli.sql", "sql", "Answer a question in SQL, without changing anything."),
    "games": LazyCommand("bot.cli.games.command", "games", "List the latest games."),
    "opponent": LazyCommand(
        "bot.cli.games.opponent",
        "opponent",
        "Show an opponent: results, progress, ratings, visits, suspect games.",
    ),
    "show": LazyCommand("bot.cli.games.command", "show", "Show a game and its traps, move by move."),
}
DATABASE_COMMANDS = {
    "upgrade": LazyCommand(
        "bot.cli.database",
        "upgrade",
        "Create the database if it is missing, upgrade its schema, and make summaries that games lack.",
    ),
    "current": LazyCommand(
        "bot.cli.database", "current", "Print the schema of the database and the newest one."
    ),
    "copy": LazyCommand(
        "bot.cli.maintenance.copying",
        "copy_command",
        "Copy a database into an empty one, between SQLite and PostgreSQL in either direction.",
    ),
    "backup": LazyCommand(
        "bot.cli.maintenance.backups",
        "backup_command",
        "Back up the database while the bot plays: all or nothing, checked, and on the disk when this ends.",
    ),
    "vacuum": LazyCommand(
        "bot.cli.maintenance.compacting",
        "vacuum_command",
        "Give the room that deleted and pruned rows left back to the disk, and refresh query statistics.",
    ),
    "prune": LazyCommand(
        "bot.cli.maintenance.pruning",
        "prune_command",
        "Shorten the records of decisions in old games; without --yes only say what that would free.",
    ),
    "recheck": LazyCommand(
        "bot.cli.recheck",
        "recheck_command",
        "Verify every decision from its record, and judge replies not judged yet or judged by earlier rules.",
    ),
}
TRIAL_COMMANDS = {
    "start": LazyCommand(
        "bot.cli.trial",
        "start",
        "Start a trial of the players that `assignment` draws from, before its first game.",
    ),
    "end": LazyCommand(
        "bot.cli.trial", "end", "End the open trial; games that are being played still belong to it."
    ),
    "list": LazyCommand("bot.cli.trial", "list_command", "List all trials, the latest first."),
}
EXPERIMENT_COMMANDS = {
    "list": LazyCommand(
        "lab.cli.experiments.command",
        "list_command",
        "List the experiments, with the figures and tables that each repeats.",
    ),
    "run": LazyCommand(
        "lab.cli.experiments.command", "run_command", "Run an experiment, and tell what came out."
    ),
    "tell": LazyCommand(
        "lab.cli.experiments.command", "tell_command", "Tell what an experiment found, as far as it was run."
    ),
}
MODEL_COMMANDS = {
    "import": LazyCommand(
        "bot.cli.model",
        "import_model",
        "Convert published Maia networks to models for the bot.",
    ),
    "show": LazyCommand(
        "bot.cli.model",
        "show",
        "Show a model's metadata and its predictions for the first move.",
    ),
    "fit": LazyCommand(
        "lab.cli.fit",
        "fit_command",
        "Fit a calibrated model, which predicts how likely people are to play each reply, or the people "
        "model's prior.",
    ),
}

ARENA_ACCOUNT_COMMANDS = {
    "list": LazyCommand(
        "bot.cli.control.arena_accounts",
        "list_command",
        "List the arena's accounts: what each may do, its games, and how many go on.",
    ),
    "approve": LazyCommand(
        "bot.cli.control.arena_accounts",
        "approve",
        "Let an account play that waits for approval (setting arena.approve_accounts).",
    ),
    "ban": LazyCommand(
        "bot.cli.control.arena_accounts",
        "ban",
        "Shut an account out: its token stops working and its streams end.",
    ),
    "unban": LazyCommand(
        "bot.cli.control.arena_accounts",
        "unban",
        "Let a banned account in again, with the token that it had.",
    ),
    "revoke": LazyCommand(
        "bot.cli.control.arena_accounts",
        "revoke",
        "Make an account's token invalid; its games and its name stay.",
    ),
    "rename": LazyCommand(
        "bot.cli.control.arena_accounts",
        "rename",
        "Give an account another name; its token, ratings and games stay.",
    ),
    "delete": LazyCommand(
        "bot.cli.control.arena_accounts",
        "delete",
        "Delete an account for good: its name, token, ratings and chat.",
    ),
    "void-game": LazyCommand(
        "bot.cli.control.arena_accounts",
        "void_game",
        "Void a rated game: take back what it did to both players' ratings.",
    ),
}

app = lazy_group(COMMANDS, add_completion=False, pretty_exceptions_enable=False)
app.add_typer(lazy_group(DATABASE_COMMANDS, help="The database: schema and records."), name="db")
app.add_typer(lazy_group(TRIAL_COMMANDS, help="Trials: planned comparisons of players."), name="trial")
app.add_typer(
    lazy_group(ARENA_ACCOUNT_COMMANDS, help="The arena's accounts, for its owner."), name="arena-account"
)
app.add_typer(lazy_group(EXPERIMENT_COMMANDS, help="The papers' experiments, repeated."), name="experiment")
app.add_typer(lazy_group(MODEL_COMMANDS, help="Models of how people move."), name="model")


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
