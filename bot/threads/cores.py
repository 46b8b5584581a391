"""The number of CPU cores that this process may use."""

import math
import os
from collections.abc import Iterator
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUP = Path("/proc/self/cgroup")


def available_cores(cgroups: Path = _CGROUPS, own_cgroup: Path = _OWN_CGROUP) -> int:
    """Return how many cores the process's CPU affinity and the CPU limits of its container allow.

    Args:
        cgroups: Folder of Linux control groups, version 1 or 2.
        own_cgroup: The file that names this process's control groups.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([cores, *_cgroup_limits(cgroups, own_cgroup)]))


def _cgroup_limits(cgroups: Path, own_cgroup: Path) -> Iterator[int]:
    """The limits of the process's control group and of the groups that contain it, rounded up to cores."""
    try:
        groups = [line.split(":", 2) for line in own_cgroup.read_text().splitlines()]
    except OSError:  # not Linux
        return
    for _, controllers, group in groups:
        is_version_2 = not controllers
        if not is_version_2 and "cpu" not in controllers.split(","):
            continue
        top = cgroups if is_version_2 else cgroups / "cpu"
        names = ("cpu.max",) if is_version_2 else ("cpu.cfs_quota_us", "cpu.cfs_period_us")
        # A container sees its own group as the top, whatever the group's name.
        folder = top / group.lstrip("/")
        for each in (folder, *(parent for parent in folder.parents if parent.is_relative_to(top))):
            try:
                quota, period = " ".join((each / name).read_text() for name in names).split()
                if int(quota) > 0:
                    yield math.ceil(int(quota) / int(period))
            except (OSError, ValueError, ZeroDivisionError):  # no such file, or "max"
                continue
