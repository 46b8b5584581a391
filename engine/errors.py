"""The engine's exceptions, grouped by the caller's reaction.

::

    EngineFault
    +-- BadSettings         report to the person who chose the values; also a ValueError, for pydantic
    +-- RecordError         report the record of a decision as wrong, and conclude nothing from it
    +-- PrunedRecord        leave the decision as it is: the data needed was removed on purpose
    +-- EngineMismatch      leave the decision to the engine version that made it
    +-- IncompleteProfile   complete the decision (`engine.completion.complete`), then try again
    +-- DamagedFile         stop, and tell the operator which of the program's own files is damaged

Other modules define their own exceptions: `engine.game.BadPosition` and `IllegalMove` (refuse the input),
`engine.lookup.source.BadSource` and `engine.human.model.BadModel` (report to the person who named the file),
`engine.formats.record.BadGame` (skip the game), `engine.protocols.process.EngineError` (continue without the
program). A bare ValueError means that the caller has a bug: only the code that keeps one game from crashing
the program catches it.
"""


class EngineFault(Exception):
    """Base class of the errors in this module."""


class BadSettings(EngineFault, ValueError):
    """Settings are out of range or inconsistent; the message names them."""


class RecordError(EngineFault):
    """The record of a decision is wrong: it cannot be read, contradicts itself, or contradicts the result of
    repeating the search.  The message says where the error is."""


class PrunedRecord(EngineFault):
    """The record of a decision was pruned (`engine.pruning`), so its choice can no longer be recomputed."""


class EngineMismatch(EngineFault):
    """An engine version with a different search made the decision, so this version cannot complete it."""

    def __init__(self, made_by: str) -> None:
        """
        Args:
            made_by: The engine version that made the decision.
        """
        super().__init__(f"only engine {made_by}, which made the decision, can complete its profile")
        self.made_by = made_by


class DamagedFile(EngineFault):
    """One of the program's own files is missing or damaged; the message names it."""


class IncompleteProfile(EngineFault):
    """A move's profile lacks replies or scores that are needed."""
