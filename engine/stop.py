"""The stop flag of a running search.

The flag is implemented in the C++ core, so that the core's searches can check it without the GIL; the
reference search checks the same object.
"""

from engine._native import StopFlag, Stopped

__all__ = ["StopFlag", "Stopped"]
