"""Detects names that imitate our bots or roles that people trust.

Names consist of ASCII letters, digits, hyphens and underscores, so a small table of lookalikes among these
characters is enough.
"""

import re
from collections.abc import Iterable

TRUSTED_ROLES = (
    "admin", "administrator", "arena", "helpdesk", "lichess", "mod", "moderator", "official", "operator",
    "owner", "root", "security", "server", "staff", "support", "sysop", "system", "webmaster",
)  # fmt: skip
"""Roles that only the owner of the arena may claim."""

LEVEL_PREFIX, LIKE_PREFIX = "Level", "Like"
"""Prefixes of the names of bots that play at a level or as people of a rating do; this number follows."""

IGNORED_WORDS = ("account", "bot", "engine", "original", "real", "team", "the", "true")
"""Words to ignore when comparing names, in addition to `TRUSTED_ROLES`."""

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_PARTS = re.compile(r"[-_]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""The boundary between parts of a name: hyphens, underscores, or camel case."""
_LOOKALIKE_CHARACTERS = str.maketrans("0123456789i", "olzeasbtbgl")
_LOOKALIKE_PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"))


def imitated_name(name: str, own: Iterable[str] = ()) -> str | None:
    """The protected name that `name` or a part of it imitates, or None if there is none.

    Words like ``bot`` and ``real`` are ignored, as in ``desdemonabot`` or ``the-real-admin``.

    Args:
        name: The name.
        own: Names of our own accounts.
    """
    for core in _without_ignored_words(re.sub("[-_]", "", name.lower()), IGNORED_WORDS):
        rating = core[len(LIKE_PREFIX) :]
        if _shape(core[: len(LIKE_PREFIX)]) == _shape(LIKE_PREFIX) and re.fullmatch("[0-9]{3,4}", rating):
            return f"{LIKE_PREFIX}-{rating}"
        number = core[len(LEVEL_PREFIX) :]
        if _shape(core[: len(LEVEL_PREFIX)]) == _shape(LEVEL_PREFIX) and (
            number.isdecimal() or number in _NUMBERS
        ):
            return f"{LEVEL_PREFIX}-{number if number.isdecimal() else _NUMBERS.index(number)}"
    parts = {name, *_PARTS.split(name)}
    parts |= {part.rstrip("0123456789-_") for part in parts}
    words = [_shape(word) for word in (*IGNORED_WORDS, *TRUSTED_ROLES)]
    shapes = {core for part in parts for core in _without_ignored_words(_shape(part), words) if core}
    return next((each for each in (*own, *TRUSTED_ROLES) if _shape(each) in shapes), None)


def _without_ignored_words(text: str, words: Iterable[str]) -> list[str]:
    """The text, followed by its variants without ignored words at the beginning or end."""
    cores = [text]
    for each in cores:  # which grows
        for word in words:
            cores += {each.removeprefix(word), each.removesuffix(word)}.difference(cores)
    return cores


def _shape(name: str) -> str:
    """A key that is equal for names that look alike."""
    shape = re.sub("[-_]", "", name.lower()).translate(_LOOKALIKE_CHARACTERS)
    for pair, single in _LOOKALIKE_PAIRS:
        shape = shape.replace(pair, single)
    return shape
