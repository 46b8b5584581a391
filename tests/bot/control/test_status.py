"""The status as a value, as JSON and as text."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from bot.alarms.evaluator import AlarmStatus
from bot.alarms.lifecycle import AlarmState
from bot.base.events import ChallengeReceived, Opponent
from bot.base.log import LoggedError
from bot.base.reconnect import Retries, RetryStatus
from bot.control.live_games import LiveGame
from bot.control.status import (
    AccountStatus,
    Admission,
    AdmissionStatus,
    DatabaseStatus,
    LinkStatus,
    Status,
    WaitingChallenge,
    database_status,
)
from bot.control.status_text import admission_text, status_lines
from bot.threads.fair_queue import ThreadWaits
from bot.threads.search_pool import PoolLoad
from storage.database import Database
from tests.bot.account.test_lobby import tell
from tests.bot.control.rig import opened_rig
from tests.bot.fakes import GAME_ID, OFFER, FakeServer

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
RETRY = RetryStatus(7, AT - timedelta(minutes=2), "cannot sign in: 503", AT + timedelta(seconds=10))


async def test_what_goes_on(database: Database) -> None:
    server = FakeServer()
    async with opened_rig(server, database, max_games=1) as rig:
        rig.runners["away"] = SimpleNamespace(
            lobby=None, trouble="cannot sign in: 503", is_waiting=True, retries=Retries()
        )
        rig.runners["away"].retries.record_failure("cannot sign in: 503", 60.0)
        await rig.playing(server, 1)
        other = Opponent(id="ben", name="Ben", rating=None, is_bot=True)
        await tell(server, ChallengeReceived(replace(OFFER, id="waits", challenger=other)))
        rig.time.now = 7.0
        status = await rig.actions.status()
        (game,) = status.games
        assert (game.key, game.account, game.site, game.game) == (GAME_ID, "home", "arena", "tictactoe")
        assert (game.opponent, game.opponent_rating, game.strategy) == ("Anna", 1600, "trappy")
        assert (game.ply, game.our_turn, game.is_over) == (1, False, False)
        assert (game.our_clock_s, game.their_clock_s) == (300.0, 300.0)  # not both have moved
        (waiting,) = status.queue
        assert (waiting.key, waiting.challenger, waiting.is_bot, waiting.waited_s) == (
            "waits",
            "Ben",
            True,
            7.0,
        )
        home, away = status.accounts
        assert (home.site, home.login, home.games, home.waiting) == ("arena", "desdemona", 1, 1)
        assert home.link is not None
        assert home.link.is_up
        assert home.link.event_at is not None
        assert (away.link, away.trouble, away.is_standby) == (None, "cannot sign in: 503", True)
        assert away.retry is not None
        assert (away.retry.attempts, away.retry.error) == (1, "cannot sign in: 503")
        assert (home.retry, home.is_full) == (None, True)
        assert status.workers.threads == 1
        assert status.database.answer_ms is not None
        assert json.loads(status.json_text())["games"][0]["opponent"] == "Anna"
        server.reply()
        await rig.playing(server, 3)
        rig.time.now += 10
        (game,) = (await rig.actions.status()).games
        assert (game.ply, game.our_clock_s, game.their_clock_s) == (3, 300.0, 290.0)
        rig.time.now += 1000
        (game,) = (await rig.actions.status()).games
        assert game.their_clock_s == 0.0


async def test_a_link_that_is_down(database: Database) -> None:
    server = FakeServer()
    async with opened_rig(server, database) as rig:
        await tell(server)
        rig.lobby.link.record_loss("the stream ended")
        (account,) = (await rig.actions.status()).accounts
        assert account.link is not None
        assert (account.link.is_up, account.link.trouble) == (False, "the stream ended")
        rig.lobby.link.retries.record_failure("the stream ended", 3.0)
        (account,) = (await rig.actions.status()).accounts
        assert account.retry == rig.lobby.link.retries.status


async def test_a_database_that_is_away(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    await database.close()
    monkeypatch.setattr(database, "read", lambda: (_ for _ in ()).throw(TimeoutError))
    status = await database_status(database)
    assert (status.answer_ms, status.trouble) == (None, "no answer in 2 s")


def sample() -> Status:
    link = LinkStatus(True, AT - timedelta(hours=3), AT, AT - timedelta(seconds=12), 35, "")
    game = LiveGame(
        key="abcd1234",
        account="home",
        site="arena",
        game="chess",
        variant="standard",
        rated=True,
        speed="blitz",
        opponent="Anna",
        opponent_rating=1600,
        opponent_is_bot=False,
        strategy="trappy",
        is_drawn=True,
        ply=31,
        our_turn=True,
        our_clock_s=65.9,
        their_clock_s=7.0,
        is_over=False,
        position="...",
    )
    return Status(
        version="1.2.3",
        process=42,
        started_at=AT - timedelta(days=2, hours=5),
        at=AT,
        admission=AdmissionStatus(Admission.OPEN),
        accounts=(
            AccountStatus("home", "arena", "desdemona", link, "", 1, 1),
            AccountStatus("away", "", "", None, "cannot sign in: 503", 0, 0, retry=RETRY),
        ),
        games=(game, replace(game, key="x", game="", retry=replace(RETRY, error="HTTP 502"))),
        queue=(WaitingChallenge("efgh", "home", "Robot", True, "othello", 75.0),),
        workers=PoolLoad(4, 2, 1, 3),
        database=DatabaseStatus("data/desdemona.db", 0.4, ""),
        arena=None,
        log_level="INFO",
        last_error=LoggedError(AT - timedelta(minutes=5), "home", "game x: crashed"),
    )


def test_games_that_the_database_lacks_are_shown() -> None:
    status = sample()
    home = replace(status.accounts[0], notice="1 finished game is missing")
    assert (
        "home: playing as desdemona at arena; games: 1, waiting: 1; link: up 3 h, last event 12 s ago, "
        in (line := status_lines(replace(status, accounts=(home,)))[4])
    )
    assert line.endswith("lag 35 ms; 1 finished game is missing")


def test_the_wait_for_a_thread_is_shown_by_account() -> None:
    status = sample()
    home = replace(status.accounts[0], thread_waits=ThreadWaits(0.2, 1.25, 9))
    busy = replace(status, accounts=(home,), workers=replace(status.workers, is_full=True))
    lines = status_lines(busy)
    assert lines[4].endswith("lag 35 ms, thread wait 0.20 s (longest 1.25 s)")
    assert any(line.endswith("waiting jobs: 3; too busy for new games") for line in lines)
    waits = json.loads(busy.json_text())["accounts"][0]["thread_waits"]
    assert waits == {"mean_s": 0.2, "longest_s": 1.25, "moves": 9}


def test_as_text() -> None:
    assert status_lines(sample()) == [
        "desdemona 1.2.3, process 42, up 2 d 5 h",
        "health: away is not connected.",
        "New games may start at home; away is not connected.",
        "",
        "home: playing as desdemona at arena; games: 1, waiting: 1; link: up 3 h, last event 12 s ago, "
        "lag 35 ms",
        "away: cannot sign in: 503 (7 failed attempts in 2 min, next try in 10 s)",
        "",
        "games: 2",
        "  abcd1234 (home): rated standard against Anna (1600), ply 31, our move, clocks 1:05 : 0:07; "
        "trappy, at random",
        "  x (home): joining; no connection: HTTP 502 (7 failed attempts in 2 min, next try in 10 s)",
        "",
        "waiting challenges: 1",
        "  efgh (home): othello of Robot (program), for 1 min 15 s",
        "",
        "workers: 2 of 4 busy, 1 on moves of timed games; waiting jobs: 3",
        "database: data/desdemona.db; answers in 0.4 ms",
        "log level: INFO",
        "last error: 5 min ago [home]: game x: crashed",
    ]


@pytest.mark.parametrize(
    ("admission", "shown"),
    [
        (AdmissionStatus(Admission.PAUSED, AT, None, "ada"), "Paused by ada 0 s ago, until you resume."),
        (
            AdmissionStatus(Admission.PAUSED, AT - timedelta(minutes=1), AT + timedelta(minutes=4), "socket"),
            "Paused by socket 1 min ago, for another 4 min.",
        ),
        (
            AdmissionStatus(Admission.DRAINING, None, None, "signal"),
            "Stopping after the running games, requested by signal.",
        ),
    ],
)
def test_whether_games_begin(admission: AdmissionStatus, shown: str) -> None:
    lines = status_lines(replace(sample(), admission=admission, queue=(), last_error=None))
    assert lines[2] == shown
    assert lines[-1] == "last error: none"
    assert not any("waiting challenges" in line for line in lines)


@pytest.mark.parametrize(
    ("away", "full", "said"),
    [
        ("", "", "New games may start."),
        ("a", "", "New games may start at b and c; a is not connected."),
        ("ab", "", "New games may start at c; a and b are not connected."),
        ("", "a", "New games may start at b and c; all slots of a are taken."),
        ("a", "b", "New games may start at c; a is not connected and all slots of b are taken."),
        ("abc", "a", "No new game can start: a, b and c are not connected."),
        ("ab", "c", "No new game can start: a and b are not connected and all slots of c are taken."),
        ("", "abc", "New games can start when one ends: all slots are taken."),
    ],
)
def test_where_games_can_start(away: str, full: str, said: str) -> None:
    home = sample().accounts[0]
    accounts = (
        replace(home, name=name, link=None if name in away else home.link, is_full=name in full)
        for name in "abc"
    )
    assert admission_text(replace(sample(), accounts=tuple(accounts))) == said
    nobody = replace(sample(), accounts=())
    assert admission_text(nobody) == "No new game can start: no account is active."


def test_a_game_that_is_being_closed() -> None:
    game, joining = sample().games
    over = replace(game, key="over", is_over=True, our_turn=None)
    lines = status_lines(replace(sample(), games=(over, joining)))
    start = lines.index("games: 1")
    assert lines[start + 1 : start + 3] == [
        "  x (home): joining; no connection: HTTP 502 (7 failed attempts in 2 min, next try in 10 s)",
        "finished games whose records are being closed: 1",
    ]


def test_games_that_are_yet_to_be_judged() -> None:
    line = "finished games whose replies are yet to be judged: 12"
    assert line not in status_lines(sample())
    assert line in status_lines(replace(sample(), games_to_judge=12))


def test_health() -> None:
    well = replace(sample(), accounts=sample().accounts[:1])
    assert status_lines(well)[1] == "health: all is well"
    (account,) = well.accounts
    assert account.link is not None
    link = replace(account.link, is_up=False, up_since=None, trouble="cut off")
    down = replace(account, link=link, retry=RETRY)
    silent = DatabaseStatus("data/desdemona.db", None, "no answer in 2 s")
    lines = status_lines(replace(well, accounts=(down,), database=silent))
    assert lines[1] == "health: The database does not answer. home is not connected."
    assert lines[2] == "No new game can start: the database does not answer."
    assert lines[4].endswith("link: down: cut off (7 failed attempts in 2 min, next try in 10 s)")
    alarm = AlarmStatus(
        "disk", AlarmState.FIRING, AT, "The disk is full.", "0.8 GB are free", "Make room.", "", None
    )
    assert status_lines(replace(well, alarms=(alarm,)))[1] == "health: The disk is full."


def test_as_json() -> None:
    plain = json.loads(sample().json_text())
    assert plain == json.loads(json.dumps(plain))
    assert plain["at"] == "2026-01-02T03:04:05.000+00:00"
    assert plain["admission"]["state"] == "open"
    assert plain["accounts"][1]["link"] is None
    load = {"threads": 4, "busy": 2, "live": 1, "waiting": 3, "waiting_moves": 0, "is_full": False}
    assert plain["workers"] == load
