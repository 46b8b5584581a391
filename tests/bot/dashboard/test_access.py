"""Who may see the dashboard: names, origins, tokens and sessions."""

import pytest
from pydantic import SecretStr

from bot.base.config import DashboardConfig, is_loopback, read_dashboard_token
from bot.base.errors import ConfigError
from bot.dashboard.access import (
    COOKIE,
    LOGIN_RATE,
    SESSION_TTL_S,
    TOTAL_LOGIN_RATE,
    Access,
    safe_redirect_path,
)
from tests.bot.dashboard.conftest import TOKEN, OpenSite


async def test_another_name_for_this_machine_is_refused(open_site: OpenSite) -> None:
    async with open_site() as site:
        async with site.get("/dash/api/simple", headers={"Host": "evil.example"}) as refused:
            assert refused.status == 403
            assert "dashboard.public_url" in (await refused.json())["error"]
        async with site.get("/dash/api/simple", headers={"Host": "localhost:99"}) as answer:
            assert answer.status == 200
    assert site.load.times == 1


async def test_the_public_name_is_ours(open_site: OpenSite) -> None:
    async with open_site(public_url="https://bot.example/", token=SecretStr(TOKEN)) as site:
        async with site.get("/healthz", headers={"Host": "bot.example"}) as answer:
            assert answer.status == 200
        async with site.get("/healthz", headers={"Host": "other.example"}) as answer:
            assert answer.status == 403


LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({}, 200),
        ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403),
        ({"Sec-Fetch-Dest": "iframe"}, 403),
    ],
)
async def test_pages_of_other_sites_cannot_measure(
    open_site: OpenSite, change: dict[str, str], status: int
) -> None:
    async with open_site() as site:
        for path in ("/dash/api/simple", "/dash/static/dash.js", "/healthz"):
            async with site.get(path, headers={**LINK, **change}) as answer:
                assert answer.status == status, path
        assert site.load.times == (0 if status == 403 else 1)
        async with site.post("/dash/logout", headers={**LINK, "Origin": site.url}) as answer:
            assert answer.status == 403


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1:1"])
async def test_a_change_must_come_from_a_page_of_ours(open_site: OpenSite, origin: str | None) -> None:
    headers = {} if origin is None else {"Origin": origin}
    async with open_site() as site, site.post("/dash/logout", headers=headers) as answer:
        assert answer.status == 403
        assert "does not come from a page" in (await answer.json())["error"]


async def test_our_own_page_may_change_things(open_site: OpenSite) -> None:
    async with open_site() as site, site.post("/dash/logout", headers={"Origin": site.url}) as answer:
        assert answer.status == 303


async def test_without_a_session_a_page_leads_to_the_login(open_site: OpenSite) -> None:
    async with open_site(token=SecretStr(TOKEN)) as site:
        async with site.get("/dash?game=chess") as answer:
            assert answer.status == 303
            assert answer.headers["Location"] == "/dash/login?next=/dash?game=chess"
        async with site.session.get(f"{site.url}/dash?game=chess&opponent=a%26b%20%C3%A9") as answer:
            # All of it, as it was written, and nothing that would be a parameter of the login.
            assert 'name="next" value="/dash?game=chess&amp;opponent=a%26b%20%C3%A9"' in await answer.text()
        async with site.get("/dash/api/simple") as answer:
            assert answer.status == 401
        async with site.get("/dash/stream") as answer:
            assert answer.status in (303, 401)
        async with site.get("/healthz") as answer:
            assert answer.status == 200
    assert site.load.times == 0


async def test_the_right_token_opens_a_session(open_site: OpenSite) -> None:
    async with open_site(token=SecretStr(TOKEN)) as site:
        form = {"token": f" {TOKEN} ", "next": "/dash?game=chess"}
        async with site.post("/dash/login", data=form, headers={"Origin": site.url}) as answer:
            assert answer.status == 303
            assert answer.headers["Location"] == "/dash?game=chess"
            said = answer.headers["Set-Cookie"]
            assert "HttpOnly" in said
            assert "SameSite=Strict" in said
            assert TOKEN not in said
            copy = {"Cookie": f"{COOKIE}={answer.cookies[COOKIE].value}"}
        async with site.get("/dash?game=chess") as answer:
            assert answer.status == 200
            assert "Sign out" in await answer.text()
        async with site.post("/dash/logout", headers={"Origin": site.url}) as answer:
            assert answer.status == 303
        for headers in ({}, copy):
            async with site.get("/dash", headers=headers) as answer:
                assert answer.status == 303


@pytest.mark.parametrize("change", ["signature", "end", "rubbish", "empty"])
async def test_a_forged_session_opens_nothing(open_site: OpenSite, change: str) -> None:
    async with open_site(token=SecretStr(TOKEN)) as site:
        form = {"token": TOKEN}
        async with site.post("/dash/login", data=form, headers={"Origin": site.url}) as answer:
            ends, nonce, signature = answer.cookies[COOKIE].value.split(".")
        forged = {
            "signature": f"{ends}.{nonce}.{'0' * len(signature)}",
            "end": f"{int(ends) + 1}.{nonce}.{signature}",
            "rubbish": "\N{GREEK SMALL LETTER ALPHA}.1.2",
            "empty": "",
        }[change]
        site.session.cookie_jar.clear()
        async with site.get("/dash/api/simple", headers={"Cookie": f"{COOKIE}={forged}"}) as answer:
            assert answer.status == 401


async def test_a_session_ends(open_site: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_site(token=SecretStr(TOKEN)) as site:
        now = [1_800_000_000.0]
        monkeypatch.setattr("bot.dashboard.access.Access._now", lambda _: now[0])
        async with site.post("/dash/login", data={"token": TOKEN}, headers={"Origin": site.url}) as answer:
            cookie = answer.cookies[COOKIE].value
        site.session.cookie_jar.clear()
        for later, status in ((SESSION_TTL_S - 1, 200), (SESSION_TTL_S, 401)):
            now[0] = 1_800_000_000.0 + later
            async with site.get("/dash/api/simple", headers={"Cookie": f"{COOKIE}={cookie}"}) as answer:
                assert answer.status == status


async def test_a_program_sends_the_token_in_a_header(open_site: OpenSite) -> None:
    async with open_site(token=SecretStr(TOKEN)) as site:
        for token, status in ((TOKEN, 200), (TOKEN[:-1], 401)):
            headers = {"Authorization": f"Bearer {token}"}
            async with site.get("/dash/api/simple", headers=headers) as answer:
                assert answer.status == status


@pytest.mark.parametrize("header", ["x", "Basic YTpi", f"Bearer {TOKEN[:-1]}"])
async def test_no_header_but_the_token_stands_for_a_page_of_ours(open_site: OpenSite, header: str) -> None:
    """A session's cookie goes with requests of any page, whatever else they have."""
    async with open_site(token=SecretStr(TOKEN)) as site:
        async with site.post("/dash/login", data={"token": TOKEN}, headers={"Origin": site.url}) as answer:
            assert answer.status == 303
        for sent, status in ((header, 403), (f"Bearer {TOKEN}", 303)):
            async with site.post("/dash/logout", headers={"Authorization": sent}) as answer:
                assert answer.status == status


async def test_tokens_cannot_be_tried_for_long(open_site: OpenSite) -> None:
    async with open_site(token=SecretStr(TOKEN)) as site:
        found = []
        for _ in range(int(LOGIN_RATE.burst) + 1):
            async with site.post("/dash/login", data={"token": "x"}, headers={"Origin": site.url}) as answer:
                found.append(answer.status)
                assert "Sign in" in await answer.text()
        assert found == [403] * int(LOGIN_RATE.burst) + [429]
        async with site.post("/dash/login", data={"token": TOKEN}, headers={"Origin": site.url}) as answer:
            assert answer.status == 429  # nor can the right one, for a while
        site.clock.now += 1 / LOGIN_RATE.per_s
        async with site.post("/dash/login", data={"token": TOKEN}, headers={"Origin": site.url}) as answer:
            assert answer.status == 303
    assert TOTAL_LOGIN_RATE.burst > LOGIN_RATE.burst


@pytest.mark.parametrize(
    ("settings", "token", "message"),
    [
        ({"host": "0.0.0.0"}, "", "dashboard.host: 0.0.0.0 is not a loopback address"),
        ({"public_url": "https://x.example"}, "", "dashboard.public_url: a page for other machines"),
        ({}, "short", "dashboard.token: a token needs at least 16 characters"),
        ({}, "no UTF-8 in the environment: \udcff", "dashboard.token: contains characters that cannot"),
    ],
)
def test_settings_that_would_let_others_in_are_refused(
    settings: dict[str, str], token: str, message: str
) -> None:
    with pytest.raises(ConfigError) as found:
        read_dashboard_token(DashboardConfig.model_validate({**settings, "token": token}))

    assert str(found.value).startswith(message)


def test_with_a_token_any_address_will_do() -> None:
    config = DashboardConfig(host="0.0.0.0", token=SecretStr(TOKEN))
    assert Access(config, read_dashboard_token(config)).needs_token


@pytest.mark.parametrize(
    ("host", "is_own"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("0.0.0.0", False),
     ("::", False), ("192.168.1.5", False), ("bot.example", False)],
)  # fmt: skip
def test_only_loopback_addresses_are_this_machines_own(host: str, is_own: bool) -> None:
    assert is_loopback(host) is is_own


@pytest.mark.parametrize(
    ("link", "where"),
    [("/dash/works?game=chess", "/dash/works?game=chess"), ("/dash?x=1", "/dash?x=1"), ("/dash", "/dash"),
     ("https://evil.example", "/dash"), ("//evil.example", "/dash"), ("/dashing", "/dash"), ("", "/dash"),
     ("/dash/a\r\nX-Evil: 1", "/dash"), ("/dash/\0", "/dash"), ("/dash?\ud800", "/dash"),
     ("/dash\n", "/dash")],
)  # fmt: skip
def test_the_login_leads_to_pages_of_ours_only(link: str, where: str) -> None:
    assert safe_redirect_path(link) == where
