""" "Does it work?": a trial's verdict with its evidence, and the results of all games by strategy."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from bot.parts.values import Heading, PartsView, Rows
from bot.views.page import Page, Query
from bot.views.statistics.groups import group_name, group_tables
from bot.views.statistics.trial import interim_analyses, trial_parts
from storage.database import Database
from storage.evidence.inference.any_time import InterimAnalyses
from storage.evidence.inference.games import GamesReport
from storage.evidence.queries.filter_language import OF_GAMES, filter_texts
from storage.evidence.queries.trial_report import TrialReport, read_trial
from storage.evidence.statistics.group_rows import read_groups
from storage.evidence.statistics.groups import RULES, GroupKey, GroupStatistics, flat_row

RANDOMISED_FILTERS = ("strategy", "version", "settings")
"""Filters on randomised properties; games selected by them could not be compared fairly."""
_NO_TRIAL = Heading(
    "Nobody knows yet.",
    lead="Only games of a trial are compared, but no trial has started. `desdemona trial start NAME` begins "
    "one, which compares the strategies that `[assignment]` selects at random in later games.",
)


def trial_json(report: TrialReport) -> dict[str, Any]:
    """The fields that describe a trial in every export."""
    return {
        "arms": report.arms,
        "endpoint": report.trial.endpoint.value,
        "rules": RULES,
        "verdict": report.verdicts[0].finding,
        "verdicts": [asdict(each) for each in report.verdicts],
        "blindness": None if report.blindness is None else report.blindness.to_json(),
    }


def works_view(
    report: TrialReport | None, groups: Sequence[GroupStatistics], unjudged: int, filters: dict[str, str]
) -> PartsView:
    """Build the view of a trial and of all games.

    Args:
        report: Report of the trial; None if no trial has been started.
        groups: Statistics of all games that pass the filters, by game and player.
        unjudged: Number of these games with replies that are not judged yet.
        filters: The filters, as written in the URL.
    """
    parts = (_NO_TRIAL,) if report is None else trial_parts(report, filters)
    analyses = None if report is None else interim_analyses(report)
    return PartsView(
        (*parts, *group_tables(groups, [group_name(each) for each in groups], unjudged)),
        lambda: {
            "trial": None if report is None else _trial_fields(report),
            "groups": [asdict(each) for each in groups],
            "unjudged_games": unjudged,
            "rules": RULES,
        },
        lambda: {
            "groups": [flat_row(asdict(each)) for each in groups],
            "strata": [] if report is None or report.games is None else _stratum_rows(report.games),
            "funnel": [] if analyses is None else _interim_rows(analyses),
        },
    )


def _trial_fields(report: TrialReport) -> dict[str, Any]:
    """Return the part of the page's JSON that describes the trial."""
    return {
        "name": report.trial.name,
        **trial_json(report),
        "more_games": report.verdicts[0].more_to_narrow,
        "games_to_know": report.verdicts[0].more,
        "games": None if report.games is None else report.games.to_json(),
        "decisions": None if report.decisions is None else report.decisions.to_json(),
        "unreadable": [asdict(each) for each in (*report.damaged_games, *report.damaged_decisions)],
    }


def _stratum_rows(report: GamesReport) -> Rows:
    """One row per stratum, as in the JSON; scores are None while it is too early to show them."""
    hides = report.guard.no_comparison is not None
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
    """One row per game, starting with the first game that has a valid interval."""
    half, readable = analyses.half_width, analyses.has_interval
    return [
        {"games": at + 1, "score": float(mean), "low": float(mean - half[at]), "high": float(mean + half[at])}
        for at, mean in enumerate(analyses.mean)
        if readable[at]
    ]


async def load(database: Database, query: Query) -> PartsView:
    """See `bot.views.page.Page.load`."""
    filters = query.filters
    at = datetime.now(UTC)
    async with database.read() as session:
        read = await read_groups(session, filters, (GroupKey.GAME, GroupKey.STRATEGY))
        trial = await read_trial(session, filters.trial, query.own.get("arms") or None, filters)
    # After the transaction, which others may wait for, and not on the event loop, where moves are made.
    groups = await asyncio.to_thread(read.statistics)
    report = None if trial is None else await asyncio.to_thread(trial.report, at)
    return works_view(report, groups, read.unjudged, filter_texts(filters))


PAGE = Page(
    "works",
    "/dash/works",
    "Does it work?",
    load,
    parameters=frozenset({"arms"}),
    filters=tuple(name for name in OF_GAMES if name not in RANDOMISED_FILTERS),
    cache_ttl_s=30.0,
)
