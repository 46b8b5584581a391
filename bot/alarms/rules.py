"""The alarm rules as a table: condition, duration, and remedy.  No I/O."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from bot.alarms.samples import SampleHistory
from bot.base.config import AlarmsConfig
from bot.base.metrics import LATE_COMMIT_S, SLOW_COMMIT_S
from bot.base.rounding import plural
from bot.text.blindness_text import blindness_finding

Reading = str | None
"""A condition's result: the problem in words; empty if there is no problem; None if data is missing."""
Condition = Callable[[SampleHistory, AlarmsConfig], Reading]

MAX_OVERDUE_S = 10.0
"""A move counts as stuck this many seconds after its maximum time."""
P95_RECIPROCAL = 20
"""One in this many cases lies above the 95th percentile."""
MIN_DECISIONS = 20
MIN_COMMITS = 20
MIN_ANSWERS = 20
MAX_DECLINED_SHARE = 0.9
MIN_MODEL_FAILURES = 3
MIN_FREE_BYTES = 10**9
MIN_DAYS_UNTIL_FULL = 14.0
_MINUTE_S, _HOUR_S = 60.0, 3600.0
_COMMIT_WINDOW_S = 5 * _MINUTE_S
_SLOW_MOVE_WINDOW_S = 15 * _MINUTE_S


@dataclass(frozen=True, slots=True)
class AlarmRule:
    """One alarm."""

    name: str
    """The alarm's name in commands and labels."""
    condition: Condition
    headline: str
    """The problem, in one short sentence."""
    cure: str
    is_on: Callable[[AlarmsConfig], bool] = lambda _: True
    """Whether the settings enable the alarm."""
    min_duration_s: float = 0.0
    """Seconds for which the condition must hold before the alarm fires."""
    is_warning: bool = False
    """Whether the alarm is a warning: shown on the Now and Events pages, not at the top of every page."""


def link_down(history: SampleHistory, _config: AlarmsConfig) -> Reading:
    """Report accounts that are not connected to their sites."""
    links = history.latest.links
    if links is None:
        return None
    return "; ".join(f"{name}: {why}" for name, why in sorted(links.items()) if why)


def move_overdue(history: SampleHistory, _config: AlarmsConfig) -> Reading:
    """Report a game in which our move is overdue."""
    overdue = history.latest.overdue_s
    if overdue is None:
        return None
    late = {game: over_s for game, over_s in sorted(overdue.items()) if over_s > MAX_OVERDUE_S}
    return "; ".join(f"game {game}: our move is {over_s:.0f} s overdue" for game, over_s in late.items())


def lost_on_time(history: SampleHistory, _config: AlarmsConfig) -> Reading:
    """Report games lost on time in the last hour."""
    games = history.increase("lost_on_time", _HOUR_S)
    return f"{plural(games, 'game')} lost on time in the last hour" if games else ""


def moves_slow(history: SampleHistory, _config: AlarmsConfig) -> Reading:
    """Report that the 95th percentile of the time per move is near the limit."""
    decisions = history.increase("decisions", _SLOW_MOVE_WINDOW_S)
    late = history.increase("slow_decisions", _SLOW_MOVE_WINDOW_S)
    if decisions < MIN_DECISIONS or late * P95_RECIPROCAL <= decisions:
        return ""
    return f"{late} of {decisions} moves in 15 minutes took more than 90 % of their maximum time"


def database(history: SampleHistory, _config: AlarmsConfig) -> Reading:
    """Report that the database is failing, or so slow that games may be lost on time."""
    if history.latest.database_trouble is None:
        return None
    if history.latest.database_trouble:
        return history.latest.database_trouble
    failed = history.increase("failed_commits", _COMMIT_WINDOW_S)
    if failed:
        return f"{plural(failed, 'transaction')} failed in the last 5 minutes"
    return _late_commits(history, "late_commits", LATE_COMMIT_S)


def database_slow(history: SampleHistory, config: AlarmsConfig) -> Reading:
    """Report that the database is slow, unless the alarm `database` fires."""
    if database(history, config):
        return ""
    return _late_commits(history, "slow_commits", SLOW_COMMIT_S)


def _late_commits(history: SampleHistory, name: str, limit_s: float) -> Reading:
    commits, late = history.increase("commits", _COMMIT_WINDOW_S), history.increase(name, _COMMIT_WINDOW_S)
    if commits < MIN_COMMITS or late * P95_RECIPROCAL <= commits:
        return ""
    return f"{late} of {commits} commits in 5 minutes took more than {limit_s:g} s"


def model_silent(history: SampleHistory, _config: AlarmsConfig) -> Reading:
    """Report models of human play that failed several times in the last hour."""
    if history.latest.model_failures is None:
        return None
    silent = {m: n for m, n in sorted(history.model_failures(_HOUR_S).items()) if n >= MIN_MODEL_FAILURES}
    return "; ".join(
        f"the model of {model} failed {plural(times, 'time')} in the last hour"
        for model, times in silent.items()
    )


def most_challenges_declined(history: SampleHistory, _config: AlarmsConfig) -> Reading:
    """Report that nearly all challenges are declined."""
    answered, declined = history.increase("answered", _HOUR_S), history.increase("declined", _HOUR_S)
    if answered < MIN_ANSWERS or declined <= MAX_DECLINED_SHARE * answered:
        return ""
    return f"{declined} of {answered} challenges in the last hour were declined"


def disk(history: SampleHistory, _config: AlarmsConfig) -> Reading:
    """Report that the disk is nearly full or soon will be."""
    now = history.latest.disk
    if now is None:
        return None
    free = f"{now.free_bytes / 1e9:.1f} GB are free"
    if now.free_bytes < MIN_FREE_BYTES:
        return free
    growth = history.growth_bytes
    if growth is None or growth <= 0 or now.free_bytes >= MIN_DAYS_UNTIL_FULL * growth:
        return ""
    return f"{free}, enough for {now.free_bytes / growth:.0f} days of growth by {growth / 1e9:.1f} GB a day"


def backup_old(history: SampleHistory, config: AlarmsConfig) -> Reading:
    """Report that the newest backup is too old."""
    age_s = history.latest.backup_age_s
    if age_s is None:
        return None
    if age_s == math.inf:
        return f"there is no backup in {config.backup_folder}"
    if age_s <= config.max_backup_age_h * _HOUR_S:
        return ""
    return f"the newest backup is {age_s / _HOUR_S:.0f} hours old"


def losing_streak(history: SampleHistory, config: AlarmsConfig) -> Reading:
    """Report accounts that have lost too many games in a row."""
    losses = history.latest.losses
    if losses is None:
        return None
    long = {name: number for name, number in sorted(losses.items()) if number >= config.losing_streak}
    return "; ".join(f"{name}: the last {number} games were lost" for name, number in long.items())


def rating_drop(history: SampleHistory, config: AlarmsConfig) -> Reading:
    """Report ratings that have fallen too far."""
    ratings = history.latest.ratings
    if ratings is None:
        return None
    fallen = {name: r for name, r in sorted(ratings.items()) if r.highest - r.now >= config.rating_drop}
    return "; ".join(f"{name}: {r.now}, from {r.highest} within 30 days" for name, r in fallen.items())


def trial_revealed(history: SampleHistory, _config: AlarmsConfig) -> Reading:
    """Report that people can recognise the strategies of the open trial."""
    reports = history.latest.blindness
    if reports is None:
        return None
    return "; ".join(
        f"trial {name}: {blindness_finding(report)}"
        for name, report in sorted(reports.items())
        if report.is_revealed
    )


RULES = (
    AlarmRule(
        "link_down",
        link_down,
        "A link is down.",
        "Check that the site works in a browser and that the token is still valid (`desdemona check`). "
        "The bot reconnects by itself.",
        min_duration_s=60.0,
    ),
    AlarmRule(
        "stuck",
        move_overdue,
        "A move is stuck.",
        "Check the log for this game. `desdemona control resign GAME` ends it; a restart resumes it.",
    ),
    AlarmRule(
        "lost_on_time",
        lost_on_time,
        "A game was lost on time.",
        "Raise engine.overhead_s or lower engine.max_time_s; the Events page shows how slow the sites were.",
    ),
    AlarmRule(
        "slow",
        moves_slow,
        "Moves take too long.",
        "The machine is too busy for its games: lower engine.max_games, or stop other programs on it.",
    ),
    AlarmRule(
        "database",
        database,
        "The database fails.",
        "Check the disk and other programs that use the database; moves are sent only once they are stored.",
    ),
    AlarmRule(
        "database_slow",
        database_slow,
        "The database is slow.",
        "Nothing is lost, but moves wait for their commits: check whether the disk or the machine is busy.",
        is_warning=True,
    ),
    AlarmRule(
        "model_silent",
        model_silent,
        "A model of people fails.",
        "Look for the model's error in the log, and check its files (`desdemona lab show-model`).",
    ),
    AlarmRule(
        "declining",
        most_challenges_declined,
        "Nearly all challenges are declined.",
        "Compare the reasons on the Events page with [challenges]; run `desdemona control resume` "
        "if the bot is paused.",
    ),
    AlarmRule(
        "disk",
        disk,
        "The disk is nearly full.",
        "Delete old logs, saved games or backups, or move the database to a larger disk.",
    ),
    AlarmRule(
        "backup_old",
        backup_old,
        "The newest backup is old.",
        "Run the backup by hand, and check its timer (alarms.backup_folder, alarms.max_backup_age_h).",
        lambda config: bool(config.backup_folder),
    ),
    AlarmRule(
        "losing_streak",
        losing_streak,
        "We keep losing games.",
        "Check the last games: engine settings, a busy machine, or many games against one strong opponent.",
        lambda config: config.losing_streak > 0,
    ),
    AlarmRule(
        "rating_drop",
        rating_drop,
        "A rating has fallen.",
        "Check the Ratings page and the last games; compare the settings with those from before the drop.",
        lambda config: config.rating_drop > 0,
    ),
    AlarmRule(
        "trial_revealed",
        trial_revealed,
        "A trial is not blind.",
        "See `desdemona stats --trial NAME` and the Events page: trial.hold_s and trial.report_delay_s must "
        "not be 0, and the machine must keep up with its games. Then start a new trial.",
    ),
)
"""All alarms."""
