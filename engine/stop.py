"""The stop flag of a running search.

The flag lives in the C++ core, so that a search there can ask it without taking Python's lock; the
reference search asks the same object.
"""

from engine._native import StopFlag, Stopped

__all__ = ["StopFlag", "Stopped"]
