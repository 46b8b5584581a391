"""The controls on the page: each carries out one action, once, and says what came of it once."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.base.events import Clock, Proposal
from bot.dashboard.controls import ACTIONS
from tests.bot.dashboard.conftest import Opened
from tests.bot.dashboard.desk_samples import FakeActions

BY = {"by": "dashboard"}


@pytest.mark.parametrize(
    ("fields", "call"),
    [
        ({"action": "pause"}, ("pause", (None,), BY)),
        ({"action": "pause", "minutes": "15"}, ("pause", (15.0,), BY)),
        ({"action": "resume"}, ("resume", (), BY)),
        ({"action": "reload"}, ("reload", (), BY)),
        ({"action": "log", "level": "DEBUG"}, ("set_log_level", ("DEBUG",), BY)),
        ({"action": "say", "game": "g1", "text": "Hi!"}, ("say", ("g1", "Hi!"), {"account": None, **BY})),
        ({"action": "unblock", "name": "x", "account": "a"}, ("unblock", ("x",), {"account": "a", **BY})),
        (
            {
                "action": "challenge",
                "name": "x",
                "account": "",
                "variant": "othello",
                "clock": " 3+2 ",
                "rated": "rated",
            },
            (
                "begin_challenge",
                ("x", Proposal("othello", True, Clock(180, 2))),
                {"account": None, **BY},
            ),
        ),
        ({"action": "ack", "alarm": "disk"}, ("acknowledge", ("disk",), BY)),
        ({"action": "snooze", "alarm": "disk", "minutes": "60"}, ("snooze", ("disk", 60.0), BY)),
    ],
)
async def test_actions_that_do_not_ask(opened: Opened, fields: dict[str, str], call: Any) -> None:
    actions = FakeActions()
    async with opened(actions) as browser:
        status, location, _ = await browser.act(**fields, next="/dash/events")
        assert (status, location) == (303, "/dash/events")
        assert actions.calls == [call]


@pytest.mark.parametrize(
    ("fields", "call", "asks"),
    [
        ({"action": "drain"}, ("drain", (), BY), "Finish the running games and stop the program?"),
        ({"action": "abort", "game": "g1"}, ("abort", ("g1",), {"account": None, **BY}), "abort game g1?"),
        (
            {"action": "resign", "game": "g1", "account": "a"},
            ("resign", ("g1",), {"account": "a", **BY}),
            "Resign game g1?",
        ),
        (
            {"action": "block", "name": "<b>x{y}", "account": ""},
            ("block", ("<b>x{y}",), {"account": None, **BY}),
            "Play no more games with &lt;b&gt;x{y},",
        ),
    ],
)
async def test_actions_that_ask_first(opened: Opened, fields: dict[str, str], call: Any, asks: str) -> None:
    actions = FakeActions()
    async with opened(actions) as browser:
        status, _, page = await browser.act(**fields, next="/dash/events")
        assert status == 200
        assert asks in page
        assert actions.calls == []
        assert '<a class="button" href="/dash/events">' in page
        # The page's own form says yes.
        hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page)
        said_yes = {name: value.replace("&lt;", "<").replace("&gt;", ">") for name, value in hidden}
        status, location, _ = await browser.act(**said_yes)
        assert (status, location) == (303, "/dash/events")
        assert actions.calls == [call]


def test_which_actions_ask() -> None:
    asking = {name for name, action in ACTIONS.items() if action.question}
    assert asking == {"drain", "abort", "resign", "block"}
    assert all(bool(action.button) is bool(action.question) for action in ACTIONS.values())


async def test_what_came_of_it_is_shown_once(opened: Opened) -> None:
    async with opened(FakeActions()) as browser:
        await browser.act(action="resume")
        _, first = await browser.get("/dash")
        _, second = await browser.get("/dash")
        assert '<p class="said" role="status">resume: done</p>' in first
        assert "resume: done" not in second


async def test_refusals_are_shown_as_such(opened: Opened) -> None:
    actions = FakeActions()
    actions.refusal = "no game <b>é"
    async with opened(actions) as browser:
        status, location, _ = await browser.act(action="resume", next="https://evil.example/dash")
        assert (status, location) == (303, "/dash")
        _, page = await browser.get("/dash")
        assert '<p class="said bad" role="status">no game &lt;b&gt;é</p>' in page


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"action": "launch\x1b"}, "There is no action &#39;launch\\x1b&#39;."),
        ({}, "There is no action &#39;&#39;."),
        ({"action": "pause", "minutes": "ten"}, "minutes: &#39;ten&#39; is not a number"),
        ({"action": "snooze", "alarm": "disk"}, "minutes: &#39;&#39; is not a number"),
        ({"action": "challenge", "clock": "3+2", "rated": "yes"}, "rated: &#39;yes&#39; is neither"),
        (
            {"action": "challenge", "clock": "3", "rated": "casual"},
            "clock &#39;3&#39; is not of the form 3+2",
        ),
    ],
)
async def test_forms_that_make_no_sense(opened: Opened, fields: dict[str, str], says: str) -> None:
    actions = FakeActions()
    async with opened(actions) as browser:
        status, _, _ = await browser.act(**fields)
        assert status == 303
        _, page = await browser.get("/dash")
        assert says in page
        assert actions.calls == []


async def test_other_pages_may_not_act(opened: Opened) -> None:
    actions = FakeActions()
    async with opened(actions) as browser:
        status, _, _ = await browser.act(origin="https://evil.example", action="resume")
        assert status == 403
        async with browser.http.post(f"{browser.origin}/dash/do", data={"action": "resume"}) as answer:
            assert answer.status == 403
        assert (await browser.get("/dash/do"))[0] in (404, 405)
        assert actions.calls == []


async def test_without_the_token_nobody_acts(opened: Opened) -> None:
    actions = FakeActions()
    async with opened(actions, token="a" * 16) as browser:
        assert (await browser.act(action="resume"))[0] == 401
        assert actions.calls == []


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("multipart/form-data", b"action=resume", 415),
        ("text/plain", b"action=resume", 415),
        ("application/x-www-form-urlencoded", b"action=\xff", 400),
        ("application/x-www-form-urlencoded", b"a=&" * 60, 400),
        ("application/x-www-form-urlencoded", b"action=" + b"a" * 20_000, 413),
        ("application/x-www-form-urlencoded; charset=unknown", b"action=resume&x=%ED%A0%80", 303),
    ],
)
async def test_what_is_no_form_is_refused(
    opened: Opened, caplog: pytest.LogCaptureFixture, kind: str, body: bytes, status: int
) -> None:
    """With a word to its sender, and none in the log: anybody may send it."""
    async with opened(actions := FakeActions()) as browser:
        headers = {"Origin": browser.origin, "Content-Type": kind}
        async with browser.http.post(
            f"{browser.origin}/dash/do", data=body, headers=headers, allow_redirects=False
        ) as answer:
            assert answer.status == status
    assert len(actions.calls) == (status == 303)
    assert not caplog.records


async def test_a_form_that_never_arrives(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.dashboard.access.BODY_TIMEOUT_S", 0.0)

    async def endless() -> AsyncIterator[bytes]:
        yield b"action="
        await asyncio.Event().wait()

    async with opened(FakeActions()) as browser:
        headers = {"Origin": browser.origin, "Content-Type": "application/x-www-form-urlencoded"}
        async with browser.http.post(f"{browser.origin}/dash/do", data=endless(), headers=headers) as answer:
            assert answer.status == 408
