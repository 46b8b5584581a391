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

ROLES = ("account", "bot", "engine", "original", "real", "team", "the", "true")
"""Words that make nobody else of the name that they are joined to; nor do those of `TRUSTED`."""

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_PARTS = re.compile(r"[-_]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a part of a name ends: before a hyphen, or in camel case."""
_ALIKE = str.maketrans("0123456789i", "olzeasbtbgl")
_PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"))


def imitated(name: str, own: Iterable[str] = ()) -> str | None:
    """Whose name another one, or a part of it, looks like; None: nobody's.

    A name looks also like what is left of it without words for a role: ``desdemonabot``, ``the-real-admin``.

    Args:
        name: The name.
        own: Names of our own accounts.
    """
    for core in _cores(re.sub("[-_]", "", name.lower()), ROLES):
        number = core[len(LEVEL) :]
        if _shape(core[: len(LEVEL)]) == _shape(LEVEL) and (number.isdecimal() or number in _NUMBERS):
            return f"{LEVEL}-{number if number.isdecimal() else _NUMBERS.index(number)}"
    parts = {name, *_PARTS.split(name)}
    parts |= {part.rstrip("0123456789-_") for part in parts}
    words = [_shape(word) for word in (*ROLES, *TRUSTED)]
    shapes = {core for part in parts for core in _cores(_shape(part), words) if core}
    return next((each for each in (*own, *TRUSTED) if _shape(each) in shapes), None)


def _cores(text: str, words: Iterable[str]) -> list[str]:
    """A text, and what is left of it without such words in front and at the end."""
    found = [text]
    for each in found:  # which grows
        for word in words:
            found += {each.removeprefix(word), each.removesuffix(word)}.difference(found)
    return found


def _shape(name: str) -> str:
    """The same for names that look alike."""
    shape = re.sub("[-_]", "", name.lower()).translate(_ALIKE)
    for pair, single in _PAIRS:
        shape = shape.replace(pair, single)
    return shape
