"""The first page: what it shows of the running program, and to whom it gives which buttons."""

import json
import re
from dataclasses import replace
from datetime import timedelta

from bot.alarms.evaluator import AlarmEvaluator
from bot.alarms.samples import HealthSample
from bot.base.metrics import MetricTotals
from bot.base.reconnect import RetryStatus
from bot.control.status import Admission, AdmissionStatus
from bot.views.board_cards import board_card, clock_text
from tests.bot.dashboard.conftest import Opened
from tests.bot.dashboard.desk_samples import NOW, FakeActions, firing_board, live_game, sample_status


async def test_the_page_of_a_busy_program(opened: Opened) -> None:
    async with opened(FakeActions()) as browser:
        status, page = await browser.get("/dash")
        assert status == 200
        assert "All is well.</span> <em>Four games</em> are on, two traps are armed." in page
        assert page.count('<article class="card trap-card"') == 4
        assert page.count('class="board"') == 4
        assert "Nxe5 is the bait: 44 % likely, costs 29 % of the game." in page
        assert re.search("grandpa_joe.*chess at arena", page)
        assert "Declined today: 6 (tooFast: 4; variant: 2)." in page
        assert "New games may start." in page
        assert "style=" not in page  # the security policy forbids it
        assert 'class="strip"' not in page


async def test_what_is_not_connected(opened: Opened) -> None:
    retry = RetryStatus(1234, NOW - timedelta(hours=3), "<HTTP 502>", NOW + timedelta(seconds=9))
    busy = sample_status()
    accounts = (replace(busy.accounts[0], link=None, retry=retry), *busy.accounts[1:])
    games = (live_game("chess", retry=replace(retry, attempts=2, next_at=NOW)),)
    async with opened(FakeActions(replace(busy, accounts=accounts, games=games))) as browser:
        page = re.sub(r"<[^>]*>|\s+", " ", (await browser.get("/dash"))[1])
        text = re.sub(" +", " ", page)
        head = "Not connected Connection Failed attempts Since Next try Last error"
        assert (
            f"{head} lichess 1,234 3 h ago in 9 s &lt;HTTP 502&gt; lichess, game chess1234 2 3 h ago now "
            in text
        )
        assert "New games may start at playstrategy and arena; lichess is not connected." in text
        status = json.loads((await browser.get("/dash/api/now"))[1])["status"]
        assert status["accounts"][0]["retry"]["attempts"] == 1234
    async with opened(FakeActions()) as browser:
        assert "Not connected" not in (await browser.get("/dash"))[1]


async def test_a_game_that_is_being_closed_is_not_on(opened: Opened) -> None:
    over = live_game("othello", our_turn=None, is_over=True)
    async with opened(FakeActions(sample_status(games=(live_game("chess"), over)))) as browser:
        page = (await browser.get("/dash"))[1]
        assert "<em>One game</em> is on; one is being closed." in page
        assert page.count('<article class="card trap-card"') == 1
        assert page.count("Say, resign, block") == 1
        assert "1 game is over and being closed" in page


async def test_buttons_follow_the_state(opened: Opened) -> None:
    def offered(page: str) -> set[str]:
        wanted = ("pause", "resume", "drain")
        return {name for name in wanted if f'name="action" value="{name}"' in page}

    actions = FakeActions()
    async with opened(actions) as browser:
        assert offered((await browser.get("/dash"))[1]) == {"pause", "drain"}
        # The same page, although nothing has changed in the database.
        paused = AdmissionStatus(Admission.PAUSED, NOW, NOW + timedelta(minutes=5), "dashboard")
        actions.now = sample_status(admission=paused)
        page = (await browser.get("/dash"))[1]
        assert offered(page) == {"resume", "drain"}
        assert "Paused by dashboard 0 s ago, for another 5 min." in page
        actions.now = sample_status(admission=AdmissionStatus(Admission.DRAINING))
        assert offered((await browser.get("/dash"))[1]) == set()


async def test_an_alarm_is_on_every_page(opened: Opened) -> None:
    actions = FakeActions(board=firing_board())
    async with opened(actions) as browser:
        for path in ("/dash", "/dash/events", "/dash/works", "/dash/ratings"):
            page = (await browser.get(path))[1]
            assert "<strong>A link is down.</strong> lichess: the stream ended" in page
        assert "A link is down. One more alarm fires." in (await browser.get("/dash"))[1]
        actions.board.acknowledge("link_down", "dashboard")
        page = (await browser.get("/dash/events"))[1]
        assert 'class="strip"' in page
        assert "acknowledged by dashboard" in page
        assert page.count('name="action" value="ack"') == 1
        assert page.count('name="action" value="snooze"') == 2
        assert "<code>desdemona check</code>" in page
        actions.board.acknowledge("backup_old", "dashboard")
        assert 'class="strip"' not in (await browser.get("/dash/works"))[1]


async def test_a_warning_is_not_on_every_page(opened: Opened) -> None:
    board = AlarmEvaluator()
    for at_s, tally in ((0.0, MetricTotals()), (60.0, MetricTotals(commits=341, slow_commits=26))):
        board.evaluate(HealthSample(at_s, tally))
    async with opened(FakeActions(board=board)) as browser:
        assert 'class="strip"' not in (await browser.get("/dash/works"))[1]
        page = (await browser.get("/dash/events"))[1]
        assert '<span class="lead-warn">The database is slow.</span>' in page
        assert "26 of 341 commits in 5 minutes took more than 0.25 s" in page
        assert '<span class="lead-warn">The database is slow.</span> <em>' in (await browser.get("/dash"))[1]


async def test_names_stay_texts(opened: Opened) -> None:
    evil = live_game("othello", opponent='<img src=x onerror="alert(1)">', account='"><script>')
    async with opened(FakeActions(sample_status(games=(evil,)))) as browser:
        page = (await browser.get("/dash"))[1]
        assert "<img src=x" not in page
        assert '"><script>' not in page


async def test_json_has_the_status(opened: Opened) -> None:
    async with opened(FakeActions()) as browser:
        async with browser.http.get(f"{browser.origin}/dash/api/now") as answer:
            said = await answer.json()
        assert said["status"]["games"][0]["bait"]["reply"] == "Nxe5"
        assert len(said["days"]) == 14
        async with browser.http.get(f"{browser.origin}/dash/api/events") as answer:
            assert (await answer.json())["alarms"] == []


def test_cards() -> None:
    playing = live_game("chess", their_clock_s=59.0, our_clock_s=3723.0)
    unseen = replace(playing, game="", position="", opponent="", strategy="")
    late = replace(playing, our_turn=True, overdue_s=12.0)
    first, joining, slow = map(board_card, (playing, replace(unseen, our_turn=None), late))
    theirs, ours = first.clocks
    assert theirs is not None
    assert (theirs.text, theirs.is_running, theirs.is_low) == ("0:59", True, True)
    assert ours is not None
    assert (ours.text, ours.is_running, ours.is_low) == ("1:02:03", False, False)
    assert (first.tag[1], joining.tag) == ("trap", ("", ""))
    assert (joining.said, joining.board, joining.name) == (
        (("Joining the game.", "saying"),),
        None,
        "somebody",
    )
    assert slow.said == (("Our move. The move is 12 s late.", "saying late"),)
    assert clock_text(-1) == "0:00"
