"""Translatable sentences: an English key with placeholders, and the placeholders' values.

The server builds each sentence once. The arena's page looks up the key in the catalogue of the reader's
language and fills in the placeholders (`sayMade` in bot/arena/static/common/language.js); the dashboard and
the terminal fill in the English key directly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from bot.base.rounding import percent
from bot.text.chinese_names import with_chinese_names

MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class ShareText:
    """A share from 0 to 1, shown as a percentage; a positive share below 0.01 becomes ``under 1 %``."""

    share: float

    def __str__(self) -> str:
        return "under 1 %" if 0 < self.share < 0.01 else percent(self.share)


@dataclass(frozen=True, slots=True)
class ScoreText:
    """A score (`engine.game.Game.score_text`) or a cost in the game's unit, written as in the language."""

    text: str

    def __str__(self) -> str:
        if self.text.startswith("#"):
            way, moves = ("mated", self.text[2:]) if self.text[1:2] == "-" else ("mate", self.text[1:])
            return f"{way} in {moves}"
        return self.text.replace("-", MINUS, 1) if self.text.startswith("-") else self.text


@dataclass(frozen=True, slots=True)
class MoveText:
    """The name of a move, which is written as the language requires."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class WhoText:
    """A player of the game; the arena's page substitutes the name that it displays."""

    role: Literal["bot", "person"]
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class BracketText:
    """Words in brackets after another word, including the space before the opening bracket."""

    inside: "TextPart"

    def __str__(self) -> str:
        return f" ({self.inside})"


@dataclass(frozen=True, slots=True)
class ListText:
    """A list in words: ``2, 3 and 5``."""

    items: Sequence["TextPart"]

    def __str__(self) -> str:
        texts = [str(each) for each in self.items]
        return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


@dataclass(frozen=True, slots=True)
class JoinedText:
    """Consecutive sentences, or parts separated by commas; empty ones are omitted."""

    parts: Sequence["TextPart"]
    is_list: bool = False
    """Whether commas separate the parts."""

    def __str__(self) -> str:
        return (", " if self.is_list else " ").join(filter(None, (str(each) for each in self.parts)))


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence."""

    key: str
    """English, with the names of placeholders in braces."""
    arguments: Mapping[str, "TextPart"] = field(default_factory=dict)
    you: str = ""
    """Key to use if the player is the reader; empty to use the normal key."""
    is_capital: bool = False
    """Whether to capitalise the first letter."""
    one: str = ""
    """Key to use if the placeholder ``n`` is 1; empty if the sentence has no count."""
    you_one: str = ""
    """Key to use if ``n`` is 1 and the player is the reader."""

    def __str__(self) -> str:
        key = self.one if self.one and self.arguments.get("n") == 1 else self.key
        text = key.format_map({name: str(each) for name, each in self.arguments.items()})
        return text[:1].upper() + text[1:] if self.is_capital else text

    @property
    def _keys(self) -> str:
        return self.key + self.you + self.one + ("{n}" if self.one else "")

    def to_json(self) -> dict[str, Any]:
        """Convert to JSON for the arena's page, which translates the sentence and fills it in."""
        fields: dict[str, Any] = {"key": self.key}
        used = {name: part_json(each) for name, each in self.arguments.items() if f"{{{name}}}" in self._keys}
        if used:
            fields["places"] = used
        if self.you:
            fields["you"] = self.you
        if self.one:
            fields["one"] = self.one
        if self.you_one:
            fields["you_one"] = self.you_one
        if self.is_capital:
            fields["capital"] = True
        return fields


TextPart = (
    str | int | ShareText | ScoreText | MoveText | WhoText | BracketText | ListText | JoinedText | Sentence
)
"""The type of a placeholder's value."""


def part_json(place: TextPart) -> Any:
    """Convert a placeholder's value to plain JSON values."""
    match place:
        case str() | int():
            return place
        case Sentence():
            return place.to_json()
        case ShareText(share):
            return {"share": share}
        case ScoreText(text):
            return {"score": text}
        case MoveText(name):
            return with_chinese_names({"move": name})
        case WhoText(role):
            return {"who": role}
        case BracketText(inside):
            return {"brackets": part_json(inside)}
        case ListText(items):
            return {"list": [part_json(each) for each in items]}
        case JoinedText(parts, is_list):
            return {"commas" if is_list else "all": [part_json(each) for each in parts]}
