"""How many cores there are for us: by affinity and by the limits of a container."""

import os
from pathlib import Path

import pytest

from bot.threads.cores import available_cores
from bot.threads.search_pool import SearchPool
from tests.code_map import ROOT, sources

SLICE = "system.slice/desdemona.service"


@pytest.fixture(autouse=True)
def _eight_of_sixteen_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))


@pytest.mark.parametrize(
    ("own", "files", "cores"),
    [
        ("0::/", {}, 8),
        ("0::/", {"cpu.max": "max 100000\n"}, 8),
        ("0::/", {"cpu.max": "200000 100000\n"}, 2),
        ("0::/", {"cpu.max": "250000 100000\n"}, 3),
        ("0::/", {"cpu.max": "10000 100000\n"}, 1),
        ("0::/", {"cpu.max": "1600000 100000\n"}, 8),
        ("0::/docker/1234", {"cpu.max": "200000 100000\n"}, 2),
        (f"0::/{SLICE}", {f"{SLICE}/cpu.max": "300000 100000\n"}, 3),
        (f"0::/{SLICE}", {f"{SLICE}/cpu.max": "max 100000\n", "system.slice/cpu.max": "400000 100000\n"}, 4),
        (f"0::/{SLICE}", {"other.slice/cpu.max": "100000 100000\n"}, 8),
        ("3:cpu,cpuacct:/x", {"cpu/cpu.cfs_quota_us": "200000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 2),
        ("3:cpu:/x", {"cpu/x/cpu.cfs_quota_us": "300000\n", "cpu/x/cpu.cfs_period_us": "100000\n"}, 3),
        ("3:cpu:/", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 8),
        ("3:cpuset:/", {"cpu/cpu.cfs_quota_us": "100000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 8),
        ("0::/", {"cpu.max": "nonsense"}, 8),
        ("0::/", {"cpu.max": "100000 0\n"}, 8),
    ],
)
def test_affinity_and_the_limits_of_each_control_group(
    tmp_path: Path, own: str, files: dict[str, str], cores: int
) -> None:
    (tmp_path / "own").write_text(f"2:memory:/\n{own}\n")
    for name, text in files.items():
        path = tmp_path / "cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert available_cores(tmp_path / "cgroup", tmp_path / "own") == cores


def test_without_control_groups_or_affinity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert available_cores(tmp_path, tmp_path / "none") == 8
    monkeypatch.delattr(os, "sched_getaffinity")
    assert available_cores(tmp_path, tmp_path / "none") == 16
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cores(tmp_path, tmp_path / "none") == 1


async def test_a_pool_has_a_thread_for_each_core_that_it_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
    async with SearchPool(0, 1) as pool:
        assert pool.load.threads == 1


def test_nothing_else_counts_cores() -> None:
    counting = ("cpu_count(", "sched_getaffinity(", "hardware_concurrency(")
    here = {Path("bot/threads/cores.py"), Path("tests/bot/threads/test_cores.py")}
    texts = {path: (ROOT / path).read_text() for path in sources() if path not in here}
    assert {str(path) for path, text in texts.items() if any(call in text for call in counting)} == set()
