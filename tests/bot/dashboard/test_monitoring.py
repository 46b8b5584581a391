"""What other programs ask: health, readiness, metrics; and who may ask."""

import json
from dataclasses import replace

from prometheus_client.parser import text_string_to_metric_families

from bot.base.metrics import Metrics
from bot.control.status import DatabaseStatus
from tests.bot.dashboard.conftest import Opened
from tests.bot.dashboard.desk_samples import FakeActions, FakeWatch, firing_board, sample_status


async def test_health(opened: Opened) -> None:
    watch = FakeWatch()
    async with opened(FakeActions(), watch) as browser:
        assert await browser.get("/healthz") == (200, '{"ok": true}')
        watch.trouble = "the database could not be written for 61 s: /srv/secret.db is full"
        status, text = await browser.get("/healthz")
        assert (status, json.loads(text)) == (503, {"ok": False, "reason": "the database cannot be written"})


async def test_readiness(opened: Opened) -> None:
    actions = FakeActions()
    async with opened(actions) as browser:
        status, text = await browser.get("/readyz")
        assert status == 200
        said = json.loads(text)
        assert said["ok"] is True
        assert list(said["parts"]) == [
            "account lichess",
            "account playstrategy",
            "account arena",
            "database",
            "workers",
            "models",
        ]
        actions.now = replace(actions.now, database=DatabaseStatus("x", None, "no answer in 2 s"))
        actions.board = firing_board()
        status, text = await browser.get("/readyz")
        assert status == 503
        said = json.loads(text)
        assert said["parts"]["database"] == {"ok": False, "reason": "no answer in 2 s"}
        assert [alarm["name"] for alarm in said["alarms"]] == ["link_down", "backup_old"]


async def test_metrics(opened: Opened) -> None:
    metrics = Metrics()
    metrics.count_event("alarm")
    async with opened(FakeActions(sample_status()), metrics=metrics) as browser:
        status, text = await browser.get("/metrics")
        assert status == 200
        families = {family.name: family for family in text_string_to_metric_families(text)}
        assert families["desdemona_queue_length"].samples[0].value == 1
        assert {s.labels["game"] for s in families["desdemona_games_open"].samples} == {
            "chess",
            "othello",
            "xiangqi",
            "connect4",
        }
        assert "marta_k" not in text


async def test_a_token_opens_them_but_health_is_open(opened: Opened) -> None:
    token = "a" * 16
    async with opened(FakeActions(), token=token) as browser:
        assert (await browser.get("/healthz"))[0] == 200
        for path in ("/readyz", "/metrics"):
            assert (await browser.get(path))[0] == 401
            assert (await browser.get(path, Authorization=f"Bearer {token}"))[0] == 200
