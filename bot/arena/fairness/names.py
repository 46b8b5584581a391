"""Names that look like somebody else's: those of our own bots, and of people who are to be trusted.

Names consist of ASCII letters, digits, hyphens and underscores, so a small table of what looks alike among
these is enough.
"""

import re
from collections.abc import Iterable

TRUSTED = (
    "admin", "administrator", "arena", "helpdesk", "lichess", "mod", "moderator", "official", "operator",
    "owner", "root", "security", "server", "staff", "support", "sysop", "system", "webmaster",
)  # fmt: skip
"""Who only the owner of the arena may be."""

LEVEL = "Level"
"""With a number: a bot that plays at a level, perhaps from the next start on."""

_ALIKE = str.maketrans("0123456789i", "olzeasbtbgl")
_NUMBERED = re.compile(r"(.+?)[-_]*(\d+)[-_]*")
_PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"))


def imitated(name: str, own: Iterable[str] = ()) -> str | None:
    """Whose name another one, or a part of it, looks like; None: nobody's.

    Args:
        name: The name.
        own: Names of our own accounts.
    """
    numbered = _NUMBERED.fullmatch(name)
    if numbered and _shape(numbered[1]) == _shape(LEVEL):
        return f"{LEVEL}-{numbered[2]}"
    parts = {name, *re.split("[-_]", name)}
    parts |= {part.rstrip("0123456789-_") for part in parts}
    shapes = {_shape(part) for part in parts if part}
    return next((each for each in (*own, *TRUSTED) if _shape(each) in shapes), None)


def _shape(name: str) -> str:
    """The same for names that look alike."""
    shape = re.sub("[-_]", "", name.lower()).translate(_ALIKE)
    for pair, single in _PAIRS:
        shape = shape.replace(pair, single)
    return shape
