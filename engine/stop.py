"""The stop flag of a running search.

The flag lives in the C++ core, so that a search there can check it without taking the GIL; the reference
search checks the same object.
"""

from engine._native import StopFlag, Stopped

__all__ = ["StopFlag", "Stopped"]
