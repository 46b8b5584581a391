"""What the engine raises on purpose, sorted by what the one who catches it should do.

::

    EngineFault
    +-- BadSettings         tell whoever chose the values; a ValueError too, for pydantic
    +-- RecordError         report the record of a decision as wrong, and conclude nothing from it
    +-- EngineMismatch      leave the decision to the engine version that made it
    +-- IncompleteProfile   complete the decision first (`engine.players.complete`), then ask again

What one part alone knows stands in its own module: `engine.game.BadPosition` and `IllegalMove` (refuse what
was sent), `engine.lookup.source.BadSource` and `engine.human.model.BadModel` (tell who named the file),
`engine.formats.record.BadGame` (skip the game), `engine.process.EngineError` (do without the other program).
A bare ValueError is a mistake in the call: nobody catches it but where whole games are kept from crashing.
"""


class EngineFault(Exception):
    """Any of these errors."""


class BadSettings(EngineFault, ValueError):
    """Values of settings that are out of range or do not go together; the message names them."""


class RecordError(EngineFault):
    """The record of a decision does not hold: it cannot be read, contradicts itself, or contradicts what the
    same search finds.  The message says where.
    """


class EngineMismatch(EngineFault):
    """A decision was made by an engine version with another search, so ours can't complete its profile."""

    def __init__(self, made_by: str) -> None:
        """
        Args:
            made_by: The engine version that made the decision.
        """
        super().__init__(f"only engine {made_by}, which made the decision, can complete its profile")
        self.made_by = made_by


class IncompleteProfile(EngineFault):
    """A move's profile lacks replies or scores that are needed."""
