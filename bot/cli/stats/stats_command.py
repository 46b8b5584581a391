"""`desdemona stats`: results, errors and traps by group of games; the report or the plan of a trial."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.base.rounding import plural
from bot.cli.common import (
    CommandFormat,
    FormatOption,
    UsageError,
    ask_database,
    print_json,
    print_note,
    print_parts,
    print_result,
    report_damage,
)
from bot.cli.filters import Suspects, move_filter_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy.ext.asyncio import AsyncSession

    from storage.database import Database
    from storage.evidence.statistics.draws import DrawRate
    from storage.evidence.statistics.group_rows import GroupRows
    from storage.evidence.statistics.groups import GroupKey
    from storage.evidence.statistics.pace import Pace
    from storage.filters import Filters


@move_filter_options
def stats(
    context: typer.Context,
    filters: "Filters",
    by: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Comma-separated groupings: strategy, game, site, speed, rating-band, week, "
            "month, opponent-kind, version, settings, phase, model.",
        ),
    ] = "strategy",
    arms: Annotated[
        str | None, typer.Option(metavar="A,B", help="Compare these two of the trial's strategies.")
    ] = None,
    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Estimate from the selected games how many games or decisions a trial needs.",
        ),
    ] = False,
    calibration: Annotated[
        bool,
        typer.Option("--calibration", help="Show how well each model of people predicted their errors."),
    ] = False,
    suspect: Suspects = None,
    output: FormatOption = CommandFormat.TABLE,
) -> None:
    """Show results, errors and traps of groups of games.

    Also show the values expected from random moves and from a model of people.

    Intervals remain valid under continuous monitoring, and account for people who play several games.
    """
    given = _given_options(context)
    _refuse_unused_options(given)
    if plan:
        _plan(context, filters, output)
        return
    if calibration:
        _calibration(context, filters, _keys(by) if "by" in given else [], suspect, output)
        return
    if filters.trial is not None:
        _trial(context, filters.trial, arms, filters, output)
        return
    from bot.views.statistics.groups import group_tables
    from storage.evidence.statistics.groups import flat_row
    from storage.filters import Filters

    read = _groups(context, filters, _keys(by), suspect)
    with report_damage():
        groups = read.statistics()
    nested = [asdict(each) for each in groups]
    print_result(
        output,
        group_tables(groups, [", ".join(each.group.values()) for each in groups], read.unjudged),
        [flat_row(row) for row in nested],
        nested=nested,
        is_filtered=suspect is not None or filters != Filters(),
    )
    if mixed := [each for each in groups if len(each.models) > 1]:
        first = mixed[0]
        others = f"; {len(mixed) - 1} more groups likewise" if len(mixed) > 1 else ""
        print_note(
            f"The forecasts of {', '.join(first.group.values())} come from different models "
            f"({', '.join(first.models)}){others}: add model to `--by` to separate them."
        )
    _note_outdated(read.outdated)
    if read.left_out:
        which = "1 game is left out, because a record of it"
        if read.left_out > 1:
            which = f"{plural(read.left_out, 'game')} are left out, because a record of each"
        print_note(f"{which} cannot be read: run `desdemona db recheck`.")


def _groups(
    context: typer.Context, filters: "Filters", by: "list[GroupKey]", suspect: bool | None
) -> "GroupRows":
    """Read the selected games, with their summaries."""
    from storage.evidence.statistics.group_rows import read_groups

    async def read(database: "Database") -> "GroupRows":
        async with database.read() as session:
            return await read_groups(session, filters, by, await _suspect_filter(session, suspect))

    return ask_database(context, read)


async def _suspect_filter(session: "AsyncSession", suspect: bool | None) -> "Callable[[int], bool] | None":
    """Return a function that tells from a game's key whether it is selected; None if every game is."""
    from storage.evidence.statistics.suspect_rows import suspect_games

    if suspect is None:
        return None
    flags = await suspect_games(session)
    return lambda key: (key in flags) is suspect


def _calibration(
    context: typer.Context,
    filters: "Filters",
    by: "list[GroupKey]",
    suspect: bool | None,
    output: CommandFormat,
) -> None:
    from bot.parts.values import Note, Part
    from bot.text.site_text import site_texts
    from bot.views.statistics.calibration import calibration_table
    from bot.views.statistics.groups import rules_text
    from storage.evidence.statistics.calibrations import CalibrationRows, read_calibrations
    from storage.evidence.statistics.group_rows import count_outdated
    from storage.evidence.statistics.groups import RULES, flat_row
    from storage.filters import of_games
    from storage.ledger.sites import list_sites

    async def read(database: "Database") -> "tuple[CalibrationRows, int, list[str]]":
        async with database.read() as session:
            rows = await read_calibrations(session, filters, by, await _suspect_filter(session, suspect))
            sites = site_texts(await list_sites(session), filters.site, filters.game)
            return rows, await count_outdated(session, of_games(filters)), sites

    rows, outdated, sites = ask_database(context, read)
    with report_damage():
        calibrations = rows.calibrations()
    nested = [asdict(each) | {"unjudged_games": rows.unjudged, "rules": RULES} for each in calibrations]
    notes = [Note(text) for text in (rules_text(rows.unjudged), *sites)]
    parts: list[Part] = [calibration_table(calibrations), *notes]
    if not calibrations and output is CommandFormat.TABLE:
        print_note("No replies with a forecast match these filters.")
        if rows.unjudged:
            print_note(rules_text(rows.unjudged))
    else:
        print_result(output, parts, [flat_row(row) for row in nested], nested=nested)
    _note_outdated(outdated)


def _note_outdated(outdated: int) -> None:
    if outdated:
        print_note(
            f"{plural(outdated, 'decision')} {'is' if outdated == 1 else 'are'} not classified by current "
            "rules and not counted above: run `desdemona db recheck`."
        )


_SELECTS_BY_DRAW = "selects by the random assignment, which would bias the comparison"
_NOT_OF_A_TRIAL = {
    "by": "a trial's report has its own groups, the strata",
    "suspect": "a trial's report has every line with and without suspect games",
    "phase": "a trial compares whole games",
    **dict.fromkeys(("strategy", "version", "settings"), _SELECTS_BY_DRAW),
}
"""Parameters that do not apply to a trial's report, with the reasons."""
_NOT_OF_A_PLAN = {
    "by": "a plan has no groups",
    "arms": "a plan does not depend on a trial's strategies",
    "calibration": "a plan is a different report; choose one of the two",
    "suspect": "a plan does not distinguish suspect games",
    "phase": "a plan is for whole games",
}
"""Parameters that do not apply to a plan, with the reasons."""
_NOT_OF_A_CALIBRATION = {"arms": "--calibration compares no players"}
"""Parameters that do not apply to a calibration, which treats a trial's games like all other games."""


def _given_options(context: typer.Context) -> dict[str, str]:
    """The options used on the command line, keyed by parameter."""
    given = {}
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.name and source is not None and source.name == "COMMANDLINE":
            is_off = context.params[option.name] is False and option.secondary_opts
            given[option.name] = (option.secondary_opts if is_off else option.opts)[0]
    return given


def _refuse_unused_options(given: dict[str, str]) -> None:
    """Refuse options that would have no effect.

    Args:
        given: The options used, keyed by parameter, from `_given_options`.

    Raises:
        UsageError: An option would have no effect; the message names it and says why.
    """
    reports = {"plan": _NOT_OF_A_PLAN, "calibration": _NOT_OF_A_CALIBRATION, "trial": _NOT_OF_A_TRIAL}
    reasons = next((reports[name] for name in reports if name in given), {})
    for name, reason in reasons.items():
        if name in given:
            raise UsageError(f"{given[name]}: {reason}")
    if "arms" in given and "trial" not in given:
        raise UsageError(f"{given['arms']}: selects two strategies of a trial and needs --trial")


def _keys(text: str) -> "list[GroupKey]":
    from storage.evidence.statistics.groups import GroupKey

    try:
        return GroupKey.parse(text)
    except ValueError as error:
        raise UsageError(f"--by: {error}") from None


def _plan(context: typer.Context, filters: "Filters", output: CommandFormat) -> None:
    from bot.views.statistics.sample_size import plan_parts
    from storage.errors import StorageError
    from storage.evidence.inference.sample_size import MIN_GAMES, plan_decisions, plan_games, plan_traps
    from storage.evidence.statistics.draws import read_draw_rate
    from storage.evidence.statistics.pace import recent_pace

    async def read(database: "Database") -> "tuple[DrawRate, Pace]":
        async with database.read() as session:
            return await read_draw_rate(session, filters), await recent_pace(
                session, datetime.now(UTC), filters
            )

    rate, pace, decisions = None, None, plan_decisions()
    try:
        rate, pace = ask_database(context, read)
        if rate.games >= MIN_GAMES:
            decisions = plan_decisions(decisions_per_game=rate.draws / rate.games, measured_in=rate.games)
    except StorageError as error:  # a plan may come before the first game
        print_note(f"{error}; the plan therefore assumes a number of randomised decisions per game")
    rows = [*plan_games(), *decisions, *plan_traps()]
    flat = [asdict(row) for row in rows]
    print_result(output, plan_parts(rows, rate, pace), flat, nested=flat)


def _trial(
    context: typer.Context, name: str, arms: str | None, filters: "Filters", output: CommandFormat
) -> None:
    from bot.views.statistics.trial import robustness, trial_parts
    from bot.views.trial_verdict import trial_json
    from storage.errors import FilterError
    from storage.evidence.queries.trial_report import TrialReport, trial_report

    async def read(database: "Database") -> TrialReport | None:
        return await trial_report(database, name, arms, filters, datetime.now(UTC))

    try:
        report = ask_database(context, read)
    except FilterError as error:
        raise UsageError(f"--{error}") from None
    assert report is not None, "an unknown name is an error"  # noqa: S101
    games, decisions = report.games, report.decisions
    if output is CommandFormat.JSON:
        fields: dict[str, Any] = {"trial": report.trial.name, **trial_json(report)}
        if games is not None:
            fields |= games.to_json() | {"unreadable": [asdict(each) for each in report.damaged_games]}
        if decisions is not None:
            fields["decisions"] = {
                **decisions.to_json(),
                "unreadable": [asdict(each) for each in report.damaged_decisions],
            }
        print_json(fields)
    elif output is CommandFormat.CSV:
        raise UsageError("--format: a trial's report is a table or JSON")
    else:
        print_parts((*trial_parts(report, {}), *robustness(report)))
