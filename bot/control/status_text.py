"""The status as lines of text for the operator's terminal."""

from collections.abc import Sequence
from datetime import datetime

from bot.alarms.evaluator import AlarmStatus
from bot.base.reconnect import RetryStatus
from bot.base.rounding import duration
from bot.control.live_games import LiveGame
from bot.control.status import (
    AccountStatus,
    Admission,
    DatabaseStatus,
    Status,
    WaitingChallenge,
)
from bot.threads.fair_queue import ThreadWaits


def status_lines(status: Status) -> list[str]:
    """The status as lines of text: the program, then the accounts, games, queue and machine."""
    workers = status.workers
    lines = [
        f"desdemona {status.version}, process {status.process}, up {duration(status.at - status.started_at)}",
        f"health: {_health(status)}",
        admission_text(status),
        "",
        *(_account(each, status.at) for each in status.accounts),
        "",
        f"games: {len(status.games_on)}",
        *(_game(each, status.at) for each in status.games_on),
    ]
    if status.closing:
        lines.append(f"finished games whose records are being closed: {status.closing}")
    if status.queue:
        lines += ["", f"waiting challenges: {len(status.queue)}", *map(_waiting, status.queue)]
    lines += [
        "",
        f"workers: {workers.busy} of {workers.threads} busy, {workers.live} on moves of timed games; "
        f"waiting jobs: {workers.waiting}{'; too busy for new games' if workers.is_full else ''}",
        f"database: {_database(status.database)}",
    ]
    if status.games_to_judge:
        lines.append(f"finished games whose replies are yet to be judged: {status.games_to_judge}")
    if status.alarms:
        lines += ["", f"alarms: {len(status.firing)} firing"]
        lines += [_alarm(alarm, status.at) for alarm in status.alarms] + [""]
    if status.arena is not None:
        lines.append(f"arena: {status.arena.url}; games: {status.arena.games}")
    lines.append(f"log level: {status.log_level}")
    if (error := status.last_error) is not None:
        where = f" [{error.account}]" if error.account else ""
        lines.append(f"last error: {duration(status.at - error.at)} ago{where}: {error.message}")
    else:
        lines.append("last error: none")
    return lines


def _health(status: Status) -> str:
    """The problems, or a sentence saying that all is well."""
    wrong = [alarm.headline for alarm in status.firing]
    if status.database.trouble:
        wrong.append("The database does not answer.")
    wrong += [f"{account.name} is not connected." for account in status.accounts if account.link_trouble]
    return " ".join(wrong) or "all is well"


def _alarm(alarm: AlarmStatus, at: datetime) -> str:
    line = f"  {alarm.name}: {alarm.state.value} for {duration(at - alarm.since)}"
    if alarm.acknowledged_by:
        line += f", acknowledged by {alarm.acknowledged_by}"
    if alarm.snoozed_until is not None:
        line += f", snoozed for another {duration(alarm.snoozed_until - at)}"
    return f"{line}: {alarm.text}. {alarm.cure}" if alarm.text else line


def admission_text(status: Status) -> str:
    """Return a sentence that says whether new games may start."""
    admission, at = status.admission, status.at
    by = f" by {admission.by}" if admission.by else ""
    match admission.state:
        case Admission.OPEN:
            return _open_text(status)
        case Admission.DRAINING:
            return f"Stopping after the running games, requested{by}."
        case Admission.PAUSED:
            since = f" {duration(at - admission.since)} ago" if admission.since else ""
            until = f"for another {duration(admission.until - at)}" if admission.until else "until you resume"
            return f"Paused{by}{since}, {until}."


def _open_text(status: Status) -> str:
    """Whether and where games can start, if the operator allows it."""
    if status.database.trouble:
        return "No new game can start: the database does not answer."
    away = [each.name for each in status.accounts if each.link_trouble]
    full = [each.name for each in status.accounts if each.is_full and not each.link_trouble]
    free = [each.name for each in status.accounts if each.name not in (*away, *full)]
    if full and not (free or away):
        return "New games can start when one ends: all slots are taken."
    reasons = list[str]()
    if away:
        reasons.append(f"{listed(away)} {'is' if len(away) == 1 else 'are'} not connected")
    if full:
        reasons.append(f"all slots of {listed(full)} are taken")
    why = " and ".join(reasons)
    if not free:
        return f"No new game can start: {why or 'no account is active'}."
    return f"New games may start at {listed(free)}; {why}." if why else "New games may start."


def listed(names: Sequence[str]) -> str:
    """Names as words of a sentence, for instance ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _retry(retry: RetryStatus | None, at: datetime) -> str:
    return f" ({retry.text(at)})" if retry is not None else ""


def _account(account: AccountStatus, at: datetime) -> str:
    link = account.link
    if link is None:
        return f"{account.name}: {account.link_trouble}{_retry(account.retry, at)}"
    head = f"{account.name}: playing as {account.login} at {account.site}; games: {account.games}"
    head += f", waiting: {account.waiting}; link: "
    if link.up_since is None or account.link_trouble:
        return head + f"down: {account.link_trouble}{_retry(account.retry, at)}"
    head += f"up {duration(at - link.up_since)}"
    head += f", last event {duration(at - link.event_at)} ago" if link.event_at else ", no event yet"
    head += f", lag {link.lag_ms} ms" if link.lag_ms else ""
    head += f", {thread_wait_text(account.thread_waits)}" if account.thread_waits.moves else ""
    return head + (f"; {account.notice}" if account.notice else "")


def thread_wait_text(waits: ThreadWaits) -> str:
    """How long moves waited for a search thread."""
    return f"thread wait {waits.mean_s:.2f} s (longest {waits.longest_s:.2f} s)"


def _game(game: LiveGame, at: datetime) -> str:
    where = f"  {game.key} ({game.account})"
    lost = f"; no connection: {game.retry.error}{_retry(game.retry, at)}" if game.retry else ""
    if not game.game:
        return f"{where}: joining{lost}"
    who = (
        f"{game.opponent} ({'program, ' if game.opponent_is_bot else ''}{game.opponent_rating or 'unrated'})"
    )
    turn = {True: "our move", False: "their move", None: "joining"}[game.our_turn]
    clocks = ""
    if game.our_clock_s is not None and game.their_clock_s is not None:
        clocks = f", clocks {_clock(game.our_clock_s)} : {_clock(game.their_clock_s)}"
    kind = "rated" if game.rated else "casual"
    drawn = ", at random" if game.is_drawn else ""
    about = f"{where}: {kind} {game.variant} against {who}, ply {game.ply}, {turn}{clocks}"
    return f"{about}; {game.strategy}{drawn}{lost}"


def _clock(left_s: float) -> str:
    minutes, seconds = divmod(int(left_s), 60)
    return f"{minutes}:{seconds:02}"


def _waiting(challenge: WaitingChallenge) -> str:
    who = challenge.challenger or "somebody"
    kind = " (program)" if challenge.is_bot else ""
    return (
        f"  {challenge.key} ({challenge.account}): {challenge.variant} of {who}{kind}, "
        f"for {duration(challenge.waited_s)}"
    )


def _database(database: DatabaseStatus) -> str:
    if database.answer_ms is None:
        return f"{database.url}: {database.trouble}"
    return f"{database.url}; answers in {database.answer_ms:g} ms"
