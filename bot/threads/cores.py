"""The number of CPU cores that this process may use."""

import math
import os
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")


def available_cores(cgroup: Path = _CGROUP) -> int:
    """Return the number of cores that the process's CPU affinity and its container's CPU limit allow.

    Args:
        cgroup: Folder of the control group, version 1 or 2, as a container sees it.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = ((cgroup / "cpu.max",), (cgroup / "cpu/cpu.cfs_quota_us", cgroup / "cpu/cpu.cfs_period_us"))
    for files in limits:
        try:
            quota, period = " ".join(file.read_text() for file in files).split()
            if int(quota) > 0:
                cores = min(cores, math.ceil(int(quota) / int(period)))
        except (OSError, ValueError, ZeroDivisionError):  # "max": no limit
            continue
    return max(1, cores)
