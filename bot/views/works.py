""" "Does it work?": the trial's verdict with its evidence, and the results of all games by player."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from bot.base.rounding import NO_VALUE, counted, percent
from bot.parts.values import Column, Heading, PartsView, Rows, TableCell, TablePart
from bot.text.values_text import difference_interval, number, title_of
from bot.views.page import Page, Query
from bot.views.trial import interim_analyses, trial_parts
from storage.database import Database
from storage.evidence.inference.any_time import InterimAnalyses
from storage.evidence.inference.games import GamesReport
from storage.evidence.queries.filter_language import OF_GAMES, filter_texts
from storage.evidence.queries.trial_report import TrialReport, read_trial
from storage.evidence.statistics.group_rows import read_groups
from storage.evidence.statistics.groups import By, Expected, GroupStatistics, flat_row

BY_DRAW = ("strategy", "version", "settings")
"""Filters by randomised properties: the remaining games could not be compared."""
_NO_TRIAL = Heading(
    "Nobody knows yet.",
    lead="Only the games of a trial are compared, and none was started. `desdemona trial start NAME` begins "
    "one: in every game from then on, the players that `[assignment]` draws at random are compared.",
)
_SIDE = (
    Column("Game, player", is_text=True),
    *(Column(name) for name in ("Games", "Won · drawn · lost", "Performance", "Replies", "Errors")),
    Column("at random", label="Errors at random"),
    Column("forecast", label="Errors forecast"),
    *(Column(name) for name in ("Cost a reply", "Baits met")),
    Column("taken", label="Baits taken"),
    Column("forecast", label="Baits forecast"),
)
_SIDE_NOTE = (
    "Replies in positions that were not decided, the first 50 games of each opponent. An error costs 10 % of "
    "the game or more. “At random”: what somebody who moves at random would do in the very same positions. "
    "“Forecast”: what the model of people expects there. Below the forecast: by how many points of a hundred "
    "more happened than was forecast (a minus: less), with a 95 % interval that is right at any time. "
    "“Performance”: the rating at which this score is expected, with its 95 % interval."
)
_FIGURE_9 = ("Traps answered", "optimal", "fell", "of these, for the best trap", "erred elsewhere")
_FIGURE_9_NOTE = (
    "Traps as the paper counts them: a move may set several. Fell: the reply was one of them; for the best "
    "trap: it was the one with the highest quality (how well it is hidden, times what it costs)."
)


def _forecast(found: Expected) -> TableCell:
    beyond = found.beyond_model
    return TableCell(percent(found.model, 1), difference_interval(beyond.mean, beyond.low, beyond.high))


def side_by_side(groups: Sequence[GroupStatistics]) -> tuple[TablePart, TablePart]:
    """All games by game and player, and what became of the paper's traps."""
    names = [f"{title_of(each.group['game'])}, {each.group['strategy']}" for each in groups]
    side = TablePart(
        "Side by side, all games",
        _SIDE,
        tuple(
            (
                name,
                TableCell(number(each.games), counted(each.persons, "opponent")),
                f"{number(each.wins)} · {number(each.draws)} · {number(each.losses)}",
                TableCell(
                    each.performance.words or NO_VALUE, f"{number(each.performance.games)} against rated"
                ),
                number(each.replies),
                percent(each.errors.happened, 1),
                percent(each.errors.chance, 1),
                _forecast(each.errors),
                percent(each.cost.happened, 1),
                number(each.baits.n),
                percent(each.baits.happened, 1),
                _forecast(each.baits),
            )
            for name, each in zip(names, groups, strict=True)
        ),
        note=_SIDE_NOTE,
        records="groups",
        style="stacked compact",
    )
    figure_9 = TablePart(
        "Figure 9: what became of the traps, in the paper's terms",
        (Column("Game, player", is_text=True), *map(Column, _FIGURE_9)),
        tuple(
            (
                name,
                *map(
                    number,
                    (
                        each.traps_set,
                        each.traps_optimal,
                        each.traps_fell,
                        each.traps_fell_for_best,
                        each.traps_erred_elsewhere,
                    ),
                ),
            )
            for name, each in zip(names, groups, strict=True)
        ),
        note=_FIGURE_9_NOTE,
    )
    return side, figure_9


def trial_json(report: TrialReport) -> dict[str, Any]:
    """The fields of a trial in every export."""
    return {
        "arms": report.arms,
        "endpoint": report.trial.endpoint.value,
        "verdict": report.verdicts[0].finding,
        "verdicts": [asdict(each) for each in report.verdicts],
    }


def works_view(
    report: TrialReport | None, groups: Sequence[GroupStatistics], filters: dict[str, str]
) -> PartsView:
    """The view of a trial and of all games.

    Args:
        report: Of the trial; None: there has been none.
        groups: All games that pass the filters, by game and player.
        filters: As in the address.
    """
    parts = (_NO_TRIAL,) if report is None else trial_parts(report, filters)
    analyses = None if report is None else interim_analyses(report)
    trial = None
    if report is not None:
        unreadable = (*report.damaged_games, *report.damaged_decisions)
        trial = {
            "name": report.trial.name,
            **trial_json(report),
            "more_games": report.verdicts[0].more_to_narrow,
            "games_to_know": report.verdicts[0].more,
            "games": None if report.games is None else report.games.to_json(),
            "decisions": None if report.decisions is None else report.decisions.to_json(),
            "unreadable": [asdict(each) for each in unreadable],
        }
    return PartsView(
        (*parts, *side_by_side(groups)),
        {"trial": trial, "groups": [asdict(each) for each in groups]},
        {
            "groups": [flat_row(asdict(each)) for each in groups],
            "strata": [] if report is None or report.games is None else _stratum_rows(report.games),
            "funnel": [] if analyses is None else _interim_rows(analyses),
        },
    )


def _stratum_rows(report: GamesReport) -> Rows:
    """One row a stratum; a difference for which it is too early is left out, as in the JSON."""
    hides = report.guard.lacks_an_arm(report) is not None
    rows = []
    for each in report.strata:
        score = each.score
        is_shown = not hides and score.too_early is None
        values = (score.mean, score.low, score.high) if is_shown else (None, None, None)
        counts = {"games": score.n, "persons": score.persons}
        rows.append(
            {**asdict(each.stratum), **counts, **dict(zip(("score", "low", "high"), values, strict=True))}
        )
    return rows


def _interim_rows(analyses: InterimAnalyses) -> Rows:
    """One row a game from the first that may be read."""
    half = analyses.half_width
    return [
        {"games": at + 1, "score": float(mean), "low": float(mean - half[at]), "high": float(mean + half[at])}
        for at, mean in enumerate(analyses.mean)
        if analyses.readable[at]
    ]


async def load(database: Database, query: Query) -> PartsView:
    """See `bot.views.page.Page.load`."""
    filters = query.filters
    at = datetime.now(UTC)
    async with database.read() as session:
        read = await read_groups(session, filters, (By.GAME, By.STRATEGY))
        trial = await read_trial(session, filters.trial, query.own.get("arms") or None, filters)
    # After the transaction, which others may wait for, and not on the event loop, where moves are made.
    groups = await asyncio.to_thread(read.statistics)
    report = None if trial is None else await asyncio.to_thread(trial.report, at)
    return works_view(report, groups, filter_texts(filters))


PAGE = Page(
    "works",
    "/dash/works",
    "Does it work?",
    load,
    parameters=frozenset({"arms"}),
    filters=tuple(name for name in OF_GAMES if name not in BY_DRAW),
    fresh_s=30.0,
)
