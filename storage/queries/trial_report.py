"""What a trial says now: whole games drawn between two players, and single decisions by lot."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from engine.player_kinds import PLAYER_KINDS
from storage.damage import Unreadable
from storage.database import Database
from storage.errors import FilterError
from storage.filters import Filters
from storage.inference.any_time import Opt
from storage.inference.decisions import DecisionsReport, TrialDecision, decisions_report
from storage.inference.games import GamesReport, TrialGame, games_report
from storage.inference.trial import TrialTerms
from storage.statistics.facts import game_facts
from storage.statistics.game_costs import mean_costs
from storage.statistics.suspect_rows import suspect_games
from storage.statistics.trial_rows import trial_decisions, trial_games
from storage.trials import StoredTrial, list_trials


@dataclass(frozen=True, slots=True)
class TrialReport:
    """A trial's report."""

    trial: StoredTrial
    arms: tuple[str, ...]
    """The two players that are compared, the one that sets traps first; or the only one."""
    rows: tuple[TrialGame, ...]
    """The games drawn between the two."""
    games: GamesReport | None
    """None: the trial has one player, and nothing to compare it with."""
    damaged_games: tuple[Unreadable, ...]
    decisions: DecisionsReport | None
    """None: no player of the trial draws single decisions."""
    damaged_decisions: tuple[Unreadable, ...]


def choose_trial(trials: Sequence[StoredTrial], name: str | None) -> StoredTrial | None:
    """The trial of a name; without one the open trial, else the one that began last; None: there is none.

    Raises:
        FilterError: No trial has this name.
    """
    if name is None:
        return max(trials, key=lambda each: (each.ended_at is None, each.started_at), default=None)
    found = next((each for each in trials if each.name == name), None)
    if found is None:
        known = ", ".join(each.name for each in trials) or "none"
        raise FilterError(f"trial: no trial {name!r} is known; known: {known}")
    return found


def choose_arms(trial: StoredTrial, text: str | None) -> tuple[str, ...]:
    """The two players to compare: those asked for, or the only two, the one that sets traps first.

    A trial of single decisions alone has one player, and nothing to compare it with.

    Args:
        trial: The trial.
        text: Two names and a comma between them; None: choose.

    Raises:
        FilterError: They are not two of its players, or it has more than two and none were asked for.
    """
    if text is None and len(trial.arms) == 1:
        return trial.arms
    if text is not None:
        asked = tuple(part.strip() for part in text.split(","))
        if len(asked) != 2 or asked[0] == asked[1] or not set(asked) <= set(trial.arms):
            raise FilterError(f"arms: {text!r} is not two of the trial's players: {', '.join(trial.arms)}")
        return asked
    if len(trial.arms) != 2:
        raise FilterError(f"arms: the trial has {', '.join(trial.arms)}; name the two to compare")
    return tuple(
        sorted(trial.arms, key=lambda arm: arm not in PLAYER_KINDS or not PLAYER_KINDS[arm].sets_traps)
    )


def terms_of(trial: StoredTrial) -> TrialTerms:
    """What was fixed of a trial; its `opt` is of decisions if there is nothing else to compare."""
    return TrialTerms(
        alpha=trial.alpha,
        cap_games=trial.cap,
        opt_games=trial.opt,
        opt_decisions=trial.opt if len(trial.arms) == 1 else int(Opt.DECISIONS),
    )


async def trial_report(
    database: Database, name: str | None, arms: str | None, filters: Filters, at: datetime
) -> TrialReport | None:
    """The report of a trial, or of those of its games that pass filters.

    Args:
        database: Where the trial is.
        name: As `choose_trial` wants it.
        arms: As `choose_arms` wants them.
        filters: Which games; only by what was known before the draw.
        at: Now, aware.

    Returns:
        The report; None: there is no trial.

    Raises:
        FilterError: As `choose_trial` and `choose_arms`.
        RecordError: A row without which there is no report is damaged.
    """
    games: list[TrialGame] = []
    lots: list[TrialDecision] = []
    damaged: list[Unreadable] = []
    damaged_lots: list[Unreadable] = []
    async with database.read() as session:
        trial = choose_trial(await list_trials(session), name)
        if trial is None:
            return None
        chosen = choose_arms(trial, arms)
        flags = await suspect_games(session)
        if len(chosen) == 2:
            chosen_games = replace(filters, trial=trial.name)
            facts = await game_facts(session, chosen_games, aborted=True, numbered=False)
            costs = await mean_costs(session, chosen_games)
            games, damaged = await trial_games(session, trial, chosen[0], chosen[1], facts, costs)
        if trial.draws_decisions:
            lots, damaged_lots = await trial_decisions(session, trial, filters)

    def compute() -> TrialReport:
        terms = terms_of(trial)
        return TrialReport(
            trial,
            chosen,
            tuple(games),
            games_report(games, terms, at, flags) if len(chosen) == 2 else None,
            tuple(damaged),
            decisions_report(lots, terms, at, flags) if trial.draws_decisions else None,
            tuple(damaged_lots),
        )

    # After the transaction, which others may wait for, and not on the event loop, where moves do.
    return await asyncio.to_thread(compute)
