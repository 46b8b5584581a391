import os
import subprocess
import sys
import time

from engine.protocols.process import processor_time_s

WORK = "sum(range(2_000_000)); print(flush=True); input()"


def test_of_this_process() -> None:
    before_s = time.process_time()
    told_s = processor_time_s(os.getpid())
    assert told_s is not None
    assert told_s >= before_s - 1e-6


def test_with_children_that_run_and_that_have_ended() -> None:
    """A program may be a script that leaves the work to another."""
    with subprocess.Popen(
        [sys.executable, "-c", WORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child_s, own_s = processor_time_s(child.pid), time.process_time()
        both_s = processor_time_s(os.getpid())
        child.communicate(b"\n")
    ended_s = processor_time_s(os.getpid())
    assert child_s is not None
    assert both_s is not None
    assert ended_s is not None
    assert child_s > 0
    assert both_s >= own_s + child_s - 1e-6
    ticks_s = 2 / os.sysconf("SC_CLK_TCK")  # the system counts ended children in whole ticks
    assert ended_s >= own_s + child_s - ticks_s


def test_of_a_process_that_is_gone() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert processor_time_s(child.pid) is None
