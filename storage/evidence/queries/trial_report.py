"""The current results of a trial, from randomly assigned games and randomised single decisions."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations

from sqlalchemy.ext.asyncio import AsyncSession

from engine.strategies.registry import STRATEGIES
from storage.database import Database
from storage.errors import FilterError
from storage.evidence.inference.any_time import InterimAnalyses, PlannedN
from storage.evidence.inference.blindness import BlindnessReport, VisibleFeatures, blindness_report
from storage.evidence.inference.decisions import DecisionsReport, TrialDecision, decisions_report
from storage.evidence.inference.games import NO_GAMES, GamesReport, TrialGames, games_report_and_interim
from storage.evidence.inference.suspects import Flags
from storage.evidence.inference.trial import TrialTerms
from storage.evidence.inference.verdict import TrialVerdict, decisions_verdicts, games_verdicts
from storage.evidence.statistics.suspect_rows import suspect_games
from storage.evidence.statistics.trial_rows import Unreadable, trial_decisions, trial_games
from storage.evidence.statistics.visible_rows import visible_features
from storage.evidence.trials import StoredTrial, list_trials, open_trial
from storage.filters import Filters


@dataclass(frozen=True, slots=True)
class TrialReport:
    """A trial's report."""

    trial: StoredTrial
    arms: tuple[str, ...]
    """The two strategies compared, with the trap-setting one first; or the trial's only strategy."""
    games: GamesReport | None
    """The comparison of games; None if the trial has only one strategy."""
    interim_analyses: InterimAnalyses | None
    """The difference in score after each game; None if games are not compared."""
    damaged_games: tuple[Unreadable, ...]
    decisions: DecisionsReport | None
    """The comparison of single decisions; None if no strategy of the trial randomises them."""
    damaged_decisions: tuple[Unreadable, ...]
    blindness: BlindnessReport | None = None
    """How well people could tell the two strategies apart; None if games are not compared."""

    @property
    def verdicts(self) -> tuple[TrialVerdict, ...]:
        """The verdict on each outcome, with the planned outcome first."""
        verdicts: tuple[TrialVerdict, ...] = ()
        terms = terms_of(self.trial)
        if self.games is not None:
            first, second = self.arms
            verdicts = games_verdicts(self.games, (first, second), self.trial.endpoint, terms)
        if self.decisions is not None:
            verdicts += decisions_verdicts(self.decisions, terms, is_planned=self.games is None)
        return verdicts


def choose_trial(trials: Sequence[StoredTrial], name: str | None) -> StoredTrial | None:
    """Return the named trial; without a name, the open trial or else the latest; None if none exists.

    Raises:
        FilterError: No trial has this name.
    """
    if name is None:
        return max(trials, key=lambda each: (each.ended_at is None, each.started_at), default=None)
    trial = next((each for each in trials if each.name == name), None)
    if trial is None:
        known = ", ".join(each.name for each in trials) or "none yet (`desdemona trial start` begins one)"
        raise FilterError(f"trial: no trial {name!r} is known; known: {known}")
    return trial


def choose_arms(trial: StoredTrial, text: str | None) -> tuple[str, ...]:
    """Return the two strategies to compare: those requested, or the only two, with the trap setter first.

    A trial that randomises only single decisions has one strategy and compares no games.

    Args:
        trial: The trial.
        text: Two names separated by a comma; None means an automatic choice.

    Raises:
        FilterError: `text` does not name two of the strategies, or is None and the trial has more than two.
    """
    if text is None and len(trial.arms) == 1:
        return trial.arms
    if text is not None:
        asked = tuple(part.strip() for part in text.split(","))
        if len(asked) != 2 or asked[0] == asked[1] or not set(asked) <= set(trial.arms):
            raise FilterError(
                f"arms: {text!r} does not name two of the trial's players: {', '.join(trial.arms)}"
            )
        return asked
    if len(trial.arms) != 2:
        raise FilterError(f"arms: the trial has {', '.join(trial.arms)}; name the two to compare")
    return tuple(sorted(trial.arms, key=lambda arm: arm not in STRATEGIES or not STRATEGIES[arm].sets_traps))


def terms_of(trial: StoredTrial) -> TrialTerms:
    """A trial's design; `planned_n` counts decisions if the trial compares only decisions."""
    return TrialTerms(
        alpha=trial.alpha,
        cap_games=trial.cap,
        planned_games=trial.planned_n,
        planned_decisions=trial.planned_n if len(trial.arms) == 1 else int(PlannedN.DECISIONS),
    )


@dataclass(frozen=True, slots=True)
class TrialRows:
    """The data for a trial's report; to keep the transaction short, the report is computed after it."""

    trial: StoredTrial
    arms: tuple[str, ...]
    games: TrialGames
    damaged_games: Sequence[Unreadable]
    draws: Sequence[TrialDecision]
    damaged_draws: Sequence[Unreadable]
    flags: Flags
    visible: VisibleFeatures | None
    """What people can see of the games; None if games are not compared."""

    def report(self, at: datetime) -> TrialReport:
        """The report.

        Args:
            at: The current time, with a time zone.
        """
        terms = terms_of(self.trial)
        games = interim_analyses = decisions = blindness = None
        if self.visible is not None:
            blindness = blindness_report(self.games, self.visible, terms, at)
            games, interim_analyses = games_report_and_interim(self.games, terms, at, self.flags)
        if self.trial.draws_decisions:
            decisions = decisions_report(self.draws, terms, at, self.flags)
        return TrialReport(
            self.trial,
            self.arms,
            games,
            interim_analyses,
            tuple(self.damaged_games),
            decisions,
            tuple(self.damaged_draws),
            blindness,
        )


async def trial_report(
    database: Database, name: str | None, arms: str | None, filters: Filters, at: datetime
) -> TrialReport | None:
    """Return the report on a trial, limited to games that pass the filters; None if there is no trial.

    Args:
        database: The database that contains the trial.
        name: See `read_trial`, which also lists the errors.
        arms: See `read_trial`.
        filters: See `read_trial`.
        at: The current time, with a time zone.
    """
    async with database.read() as session:
        rows = await read_trial(session, name, arms, filters)
    # Not on the event loop, where moves are made.
    return None if rows is None else await asyncio.to_thread(rows.report, at)


async def open_trial_blindness(database: Database, at: datetime) -> dict[str, BlindnessReport]:
    """How well people could tell apart the strategies of the open trial, keyed by the trial's name.

    Of several pairs of strategies, the pair with the strongest evidence counts, divided by their number.
    Empty if no trial is open or the open one compares only single decisions.
    """
    async with database.read() as session:
        trial = await open_trial(session)
        if trial is None or len(trial.arms) < 2:
            return {}
        visible = await visible_features(session, trial)
        pairs = [
            (await trial_games(session, trial, first, second))[0]
            for first, second in combinations(trial.arms, 2)
        ]

    def strongest() -> BlindnessReport:
        reports = [blindness_report(games, visible, terms_of(trial), at) for games in pairs]
        best = max(reports, key=lambda report: report.e_value)
        return replace(best, e_value=best.e_value / len(pairs))

    return {trial.name: await asyncio.to_thread(strongest)}


async def trial_verdicts(
    database: Database, trials: Sequence[StoredTrial], at: datetime
) -> dict[str, TrialVerdict]:
    """Return the verdict on the planned outcome of each trial, keyed by the trial's name.

    Trials of more than two strategies are left out, because a user must first choose two to compare.
    """
    verdicts = {}
    for trial in trials:
        if len(trial.arms) <= 2:
            report = await trial_report(database, trial.name, None, Filters(), at)
            if report is not None:
                verdicts[trial.name] = report.verdicts[0]
    return verdicts


async def read_trial(
    session: AsyncSession, name: str | None, arms: str | None, filters: Filters
) -> TrialRows | None:
    """Read the data of a trial's report.

    Args:
        session: The transaction's session.
        name: As for `choose_trial`.
        arms: As for `choose_arms`.
        filters: Which games to include; only filters on facts known before the randomisation are allowed.

    Returns:
        The data, or None if there is no trial.

    Raises:
        FilterError: As for `choose_trial` and `choose_arms`.
        RecordError: A row that the report needs is damaged.
    """
    trial = choose_trial(await list_trials(session), name)
    if trial is None:
        return None
    chosen = choose_arms(trial, arms)
    games = NO_GAMES
    draws: Sequence[TrialDecision] = ()
    damaged: Sequence[Unreadable] = ()
    damaged_draws: Sequence[Unreadable] = ()
    # Whether a game is suspect depends on others, so all are looked at, whatever the filters.
    flags = await suspect_games(session)
    visible = None
    if len(chosen) == 2:
        visible = await visible_features(session, trial)
        games, damaged = await trial_games(session, trial, chosen[0], chosen[1], filters)
    if trial.draws_decisions:
        draws, damaged_draws = await trial_decisions(session, trial, filters)
    return TrialRows(trial, chosen, games, damaged, draws, damaged_draws, flags, visible)
