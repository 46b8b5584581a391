import json

import pytest

from bot.base.errors import AuthError, RefusedError, TransientError
from bot.servers.lichess_errors import MAX_RETRY_AFTER_S, RATE_LIMIT_WAIT_S, TooManyRequests, read_error


def test_refused_tokens() -> None:
    error = read_error(401, {}, '{"error":"No such token"}', "GET /api/account")
    assert isinstance(error, AuthError)
    assert str(error) == "GET /api/account: HTTP 401: No such token"


@pytest.mark.parametrize("status", [301, 400, 403, 404, 409, 413])
def test_refusals(status: int) -> None:
    error = read_error(status, {}, '{"error":"Not your turn, or game already over"}', "POST x")
    assert isinstance(error, RefusedError)
    assert error.status == status
    assert "Not your turn" in str(error)


@pytest.mark.parametrize(
    ("headers", "body", "wait_s"),
    [
        ({}, '{"error":"Too many requests"}', RATE_LIMIT_WAIT_S),
        ({}, "<html>slow down</html>", RATE_LIMIT_WAIT_S),
        ({}, '{"error":"x","ratelimit":{"key":"bot.vsBot.day","seconds":360}}', 360.0),
        ({}, '{"ratelimit":{"seconds":1e300}}', MAX_RETRY_AFTER_S),
        ({}, '{"ratelimit":{"seconds":1%s}}' % ("0" * 400), MAX_RETRY_AFTER_S),
        ({"Retry-After": "9999999"}, "", MAX_RETRY_AFTER_S),
        ({"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"}, "", MAX_RETRY_AFTER_S),
        ({"Retry-After": "Mon, 01 Jan 2024 00:00:00 +99999999999999999"}, "", RATE_LIMIT_WAIT_S),
        ({"Retry-After": "5"}, '{"ratelimit":{"seconds":7}}', 7.0),
        ({"Retry-After": "90"}, "<html>", 90.0),
        ({"Retry-After": "soon"}, "", RATE_LIMIT_WAIT_S),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, "", RATE_LIMIT_WAIT_S),
        ({}, '{"ratelimit":{"seconds":-1}}', RATE_LIMIT_WAIT_S),
        ({}, '{"ratelimit":{"seconds":true}}', RATE_LIMIT_WAIT_S),
        ({}, '{"ratelimit":[]}', RATE_LIMIT_WAIT_S),
        ({}, "[" * 100_000, RATE_LIMIT_WAIT_S),
    ],
)
def test_too_many_requests(headers: dict[str, str], body: str, wait_s: float) -> None:
    error = read_error(429, headers, body, "x")
    assert isinstance(error, TransientError)
    assert error.retry_after_s == wait_s


@pytest.mark.parametrize(
    ("limit", "asked_s", "retry_after_s", "quiet_s"),
    [
        ({"seconds": 5}, 5.0, 5.0, 5.0),
        ({"seconds": 300}, 300.0, 300.0, 300.0),
        ({"seconds": 7200}, 7200.0, MAX_RETRY_AFTER_S, MAX_RETRY_AFTER_S),
        ({"key": "bot.vsBot.day", "seconds": 7200}, 7200.0, MAX_RETRY_AFTER_S, RATE_LIMIT_WAIT_S),
        ({"key": "bot.vsBot.day", "seconds": 1e300}, 86_400.0, MAX_RETRY_AFTER_S, RATE_LIMIT_WAIT_S),
        ({"key": "bot.vsBot.day"}, RATE_LIMIT_WAIT_S, RATE_LIMIT_WAIT_S, RATE_LIMIT_WAIT_S),
        ({"key": "x", "seconds": 5}, 5.0, 5.0, 5.0),
    ],
)
def test_a_limit_of_one_kind_of_request_does_not_silence_the_others(
    limit: dict[str, object], asked_s: float, retry_after_s: float, quiet_s: float
) -> None:
    error = read_error(429, {}, json.dumps({"error": "x", "ratelimit": limit}), "x")
    assert isinstance(error, TooManyRequests)
    assert (error.asked_s, error.retry_after_s, error.quiet_s) == (asked_s, retry_after_s, quiet_s)


def test_server_trouble_is_transient_and_html_is_not_repeated() -> None:
    error = read_error(502, {}, "<html><h1>Bad gateway</h1></html>", "GET x")
    assert isinstance(error, TransientError)
    assert (str(error), error.retry_after_s) == ("GET x: HTTP 502", None)


def test_how_long_an_outage_lasts_is_not_for_the_server_to_say() -> None:
    error = read_error(503, {"Retry-After": "7200"}, "", "GET x")
    assert isinstance(error, TransientError)
    assert error.retry_after_s is None


@pytest.mark.parametrize("status", [302, 400, 401, 403, 404, 410])
@pytest.mark.parametrize(
    "body", ["", "<html>Attention Required!</html>", "404: Not Found", "{}", "[]", '{"error":""}']
)
def test_a_refusal_that_is_not_the_sites_own_is_transient(status: int, body: str) -> None:
    error = read_error(status, {"Retry-After": "7"}, body, "GET x")
    assert isinstance(error, TransientError)
    page = ": a web page instead of data; it may come from a proxy or the network's login page"
    said = f"GET x: HTTP {status}{page if '<html>' in body else ''}"
    assert (str(error), error.retry_after_s) == (said, None)


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("http://login.test:80/in?token=secret", ", a redirect to http://login.test"),
        ("/login", ""),
        ("http://[", ""),
    ],
)
def test_a_redirect_names_the_other_site(location: str, said: str) -> None:
    assert str(read_error(302, {"Location": location}, "", "GET x")) == f"GET x: HTTP 302{said}"


def test_a_servers_words_are_cut_and_forms_are_told() -> None:
    long = read_error(400, {}, json.dumps({"error": "x" * 5000}), "GET x")
    assert len(str(long)) < 300
    form = read_error(400, {}, '{"error":{"clock.limit":["Invalid"]}}', "GET x")
    assert "clock.limit" in str(form)


def test_the_token_is_blotted_out() -> None:
    assert str(read_error(400, {}, '{"error":"token s3cret?"}', "x", "s3cret")) == "x: HTTP 400: token ***?"


def test_a_secret_in_other_signs_is_blotted_out_too() -> None:
    body = '{"error": "bad token \\u006cip_SECRET"}'
    assert "lip_SECRET" not in str(read_error(400, {}, body, "GET /", "lip_SECRET"))
