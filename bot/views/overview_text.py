"""Describes the program's state: the sentence at the top of the first page, and the state of each part."""

from collections.abc import Sequence
from datetime import timedelta

from bot.alarms.evaluator import AlarmStatus
from bot.base.rounding import duration, plural
from bot.control.status import AccountStatus, Admission, Status
from bot.control.status_text import listed, thread_wait_text
from bot.parts.values import Heading, Pill

RECENT_ERROR_PERIOD = timedelta(hours=1)
"""For how long the last logged error is shown."""
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def number_word(number: int) -> str:
    """Write numbers up to ten as words, and larger numbers in figures."""
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def headline(status: Status) -> Heading:
    """Build the heading: overall health, current activity, the sites, and the state of each part."""
    games, armed = len(status.games_on), sum(game.bait is not None for game in status.games_on)
    noun = "game" if games == 1 else "games"
    first = f"{number_word(games).capitalize()} {noun}" if games else "No game"
    verb = "are on" if games > 1 else "is on"
    traps = f", {number_word(armed)} {'trap is' if armed == 1 else 'traps are'} armed" if armed else ""
    closing = status.closing
    closed = f"; {number_word(closing)} {'is' if closing == 1 else 'are'} being closed" if closing else ""
    return Heading(
        f"{verb}{traps}{closed}.",
        first,
        sites_and_uptime_text(status),
        (_lead(status), mood_of(status.firing)),
        pills=tuple(pills(status)),
        pills_name="Health",
    )


def mood_of(alarms: Sequence[AlarmStatus]) -> str:
    """The severity of the firing alarms: ``good`` (none), ``warn`` or ``bad``."""
    firing = [alarm for alarm in alarms if alarm.is_active]
    if not firing:
        return "good"
    return "warn" if all(alarm.is_warning for alarm in firing) else "bad"


def _lead(status: Status) -> str:
    wrong = [alarm.headline for alarm in sorted(status.firing, key=lambda alarm: alarm.is_warning)]
    if not wrong and status.database.trouble:
        wrong = ["The database does not answer."]
    if wrong:
        more = len(wrong) - 1
        also = f" {number_word(more).capitalize()} more {'alarm fires' if more == 1 else 'alarms fire'}."
        return wrong[0] + (also if more else "")
    if status.admission.state is Admission.DRAINING:
        return "The program is stopping."
    away = [each.name for each in status.accounts if each.link_trouble]
    if away:
        return f"{listed(away)} {'is' if len(away) == 1 else 'are'} not connected."
    return "Paused." if status.admission.state is Admission.PAUSED else "All is well."


def sites_and_uptime_text(status: Status) -> str:
    """Describe where the program is playing, and give its uptime."""
    sites = list(dict.fromkeys(each.site or each.name for each in status.accounts))
    where = f"Playing at {listed(sites)}" if sites else "No account is active"
    return f"{where}; up for {duration(status.at - status.started_at)}."


def pills(status: Status) -> list[Pill]:
    """The state of each part: connections, database, workers, arena, alarms, last error."""
    made = list[Pill]()
    for account in status.accounts:
        why = account.link_trouble
        made.append(_pill("bad" if why else "good", account.name, why or _link_and_threads(account)))
    answer_ms = status.database.answer_ms
    alarms = {alarm.name for alarm in status.firing}
    if answer_ms is not None and alarms & {"database", "database_slow"}:
        pass  # the alarm's own pill says how it is; that it answers at this moment would contradict it
    elif answer_ms is None:
        made.append(_pill("bad", "database", status.database.trouble))
    else:
        made.append(_pill("good", "database", f"{answer_ms:.0f} ms" if answer_ms >= 1 else "under 1 ms"))
    load = status.workers
    is_full = load.busy == load.threads and load.waiting_moves > load.threads
    analyses = load.waiting - load.waiting_moves
    text = f"{load.busy} of {load.threads} busy"
    text += _waiting(load.waiting_moves, "move", "moves") + _waiting(analyses, "analysis", "analyses")
    text += ", too busy for new games" if load.is_full else ""
    made.append(_pill("warn" if is_full or load.is_full else "good", "workers", text))
    if status.arena is not None:
        games = status.arena.games
        made.append(_pill("good", "arena server", f"{games} game{'' if games == 1 else 's'}"))
    for alarm in status.firing:
        mood = "bad" if alarm.is_unacknowledged and not alarm.is_warning else "warn"
        made.append(_pill(mood, alarm.name.replace("_", " "), alarm.text, "/dash/events#alarms"))
    error = status.last_error
    if error is not None and status.at - error.at < RECENT_ERROR_PERIOD:
        made.append(_pill("warn", "last error", f"{duration(status.at - error.at)} ago", "/dash/events"))
    return made


def _pill(mood: str, name: str, text: str, link: str = "") -> Pill:
    return Pill(name, text, mood=mood, link=link, is_health=True)


def _link_and_threads(account: AccountStatus) -> str:
    """The lag of an account's link, and how long its moves wait for a thread."""
    lag_ms = account.link.lag_ms if account.link is not None else 0
    wait = f", {thread_wait_text(account.thread_waits)}" if account.thread_waits.moves else ""
    return (f"{lag_ms} ms" if lag_ms else "up") + wait


def _waiting(number: int, one: str, many: str) -> str:
    return f", {plural(number, one, many)} {'waits' if number == 1 else 'wait'}" if number else ""
