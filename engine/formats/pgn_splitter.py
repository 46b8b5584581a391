"""Cuts a PGN file into games, damaged ones included; nothing of one game reaches the next.

A game ends where the next one's tags begin, or after its result.  If a comment has no end, the next tag line
after an empty line begins a new game, so that at most one game is lost.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from engine.formats.record import MAX_GAME_TEXT_LENGTH, clean

_RESULT_TEXT = r"(?!0-0\b)(?:1/2(?:-1/2)?|[0-9]{1,3}-[0-9]{1,3}|\*)(?=[\s{}();\[$]|$)"
TOKEN = re.compile(
    rf"""
    (?P<comment>\{{[^}}]*\}}?) | (?P<line_comment>;) | (?P<open>\() | (?P<close>\)) | (?P<bracket>\[)
    | \$[0-9]* | (?P<result>{_RESULT_TEXT}) | (?P<number>[0-9]+(?:\.+|(?=\s|$))) | (?P<word>[^\s{{}}();\[$]+)
    """,
    re.VERBOSE,
)
"""A token of the movetext, named by its group; NAGs have none."""
_COMMENT = re.compile(r"\{[^}]*\}")
_SPECIAL = re.compile(r"[{;()\[]")
_RESULT = re.compile(rf"(?<!\S){_RESULT_TEXT}")
_NAME = r"\[\s*([A-Za-z0-9_][A-Za-z0-9_+#=:-]*)\s+"
_TAG_BEGIN = re.compile(rf'\s*{_NAME}"')
_TAG = re.compile(rf'\s*{_NAME}"((?:[^"\\]|\\.)*)"\s*\]')
_TAG_WITH_QUOTES = re.compile(rf'\s*{_NAME}"(.*?)"\s*\](?=\s*(?:{_NAME}"|$))')
"""A tag whose value holds quotes without the backslash that should precede them."""
_BROKEN_TAG = re.compile(r"\s*\[\s*[A-Za-z]")
_TAG_WITHIN = re.compile(r'\[\s*[A-Z][A-Za-z]+\s+"')
_ROSTER = frozenset({"Event", "Site", "Date", "Round", "White", "Black", "Red", "Result"})
_NUMBER = re.compile(r"(?<!\S)[0-9]+\.")
_MOVE_LIKE = re.compile(r"[A-Ia-i][0-9]|[Oo0]-[Oo0]|[平进退進]")
_SIGNS = str.maketrans(
    dict(zip("♔♕♖♗♘♚♛♜♝♞", "KQRBN" * 2, strict=True))
    | dict.fromkeys("♙♟", "")
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
    | {"½": "1/2", "…": "...", "\u00d7": "x", "†": "+", "‡": "#"}
)


@dataclass(frozen=True, slots=True)
class NumberedText:
    """Text of a file, for instance text that belongs to no game."""

    line: int
    """Number of its first line in the file, from 1."""
    text: str


@dataclass(slots=True)
class PgnText:
    """The text of one game, as cut from a file."""

    line: int
    """Number of the game's first line in the file, from 1."""
    tags: dict[str, str] = field(default_factory=dict)
    lines: list[NumberedText] = field(default_factory=list)
    """The movetext's lines, without empty lines, escaped lines and comments that begin with a semicolon."""
    damage: str = ""
    """Why the game is not whole; empty if it is."""
    skipped: list[NumberedText] = field(default_factory=list)
    """Text within the game that cannot be used: broken tags, variations without an end."""

    @property
    def movetext(self) -> str:
        """Main line, variations and comments."""
        return "\n".join(line.text for line in self.lines)


def split(lines: Iterable[str]) -> Iterator[PgnText | NumberedText]:
    """Cut a file's lines into the texts of its games; also yield text between them that belongs to none."""
    splitter = _Splitter()
    for line in lines:
        yield from splitter.add(line)
    yield from splitter.end()


def is_tag(line: str) -> bool:
    """Whether a line begins with a tag, ``[Name "value"]``."""
    return _TAG.match(line) is not None


def plain_signs(text: str) -> str:
    """Replace figurines, dashes and other printed signs by the characters that PGN uses."""
    return text if text.isascii() else text.translate(_SIGNS)


class _Splitter:
    def __init__(self) -> None:
        self._number = 0
        self._is_after_blank = True
        self._begin()

    def _begin(self) -> None:
        self._game = PgnText(max(1, self._number))
        self._length = 0
        self._open_comment = 0
        """Number of the line in which a comment began; 0 outside comments."""
        self._depth = 0
        self._variation = 0, 0
        """Where the outermost variation began: index of the game's line, and column."""
        self._has_moves = self._is_game = False
        self._result_line = 0
        """Number of the line with the result; 0 before the result."""

    def add(self, line: str) -> Iterator[PgnText | NumberedText]:
        """Read the next line; yield what ends before it or in it."""
        self._number += 1
        # Ctrl-Z ended files of MS-DOS, and files were joined as they were.
        line = line.rstrip("\n").replace("\x1a", " ").lstrip("\ufeff")
        if not line.strip():
            self._is_after_blank = True
            return
        is_after_blank, self._is_after_blank = self._is_after_blank, False
        if self._open_comment:
            if is_after_blank and is_tag(line):
                yield from self.end()
        elif line.startswith("%"):
            return
        is_rest = False
        while line:
            if not self._open_comment and _TAG_BEGIN.match(line):
                line, ended = self._add_tag(line, is_after_blank)
                line = line.lstrip("] \t")
            elif self._is_broken_tag(line):
                ended = self.end() if self._has_moves else []
                self._game.skipped += [NumberedText(self._number, line)] if self._has_room(line) else []
                line = ""
            else:
                line, ended = self._add_movetext(line, is_after_blank, is_rest=is_rest)
                is_rest = True
            yield from ended
            is_after_blank = False

    def end(self) -> list[PgnText | NumberedText]:
        """End the current game, and begin the next in the current line."""
        game = self._game
        if self._open_comment:
            self._damage(f"the comment that begins in line {self._open_comment} has no end")
        if not game.tags and not self._is_game:
            self._begin()
            return [*game.lines, *game.skipped]
        if self._depth and not game.damage:
            index, column = self._variation
            first, *others = game.lines[index:]
            lost = "\n".join([first.text[column:], *(each.text for each in others)])
            game.skipped.append(NumberedText(first.line, lost))
        self._begin()
        return [game]

    def _add_tag(self, line: str, is_after_blank: bool) -> tuple[str, list[PgnText | NumberedText]]:
        """Read the tag with which the text begins; return the rest, and what ended before the tag."""
        ended: list[PgnText | NumberedText] = []
        begin = _TAG_BEGIN.match(line)
        assert begin is not None  # noqa: S101
        tags, name = self._game.tags, begin[1]
        is_repeated = name in tags and (is_after_blank or name in _ROSTER or name == next(iter(tags)))
        if self._has_moves or is_repeated:
            ended = self.end()
        match = _TAG.match(line)
        if match is None:
            match = _TAG_WITH_QUOTES.match(line)
            within = _TAG_WITHIN.search(line, begin.end(), match.end(2) if match else len(line))
            if within is not None:
                self._damage(f"cut off in line {self._number}, where another game begins")
                return line[within.start() :], ended + self.end()
        text = line if match is None else match[0]
        if self._has_room(text):
            if match is None:
                self._game.skipped.append(NumberedText(self._number, text))
            else:
                self._game.tags[name] = clean(re.sub(r"\\(.)", r"\1", match[2]))
        return line[len(text) :], ended

    def _add_movetext(
        self, line: str, is_after_blank: bool, *, is_rest: bool
    ) -> tuple[str, list[PgnText | NumberedText]]:
        """Read movetext until another game begins; return the rest, and what ended before the rest.

        Args:
            line: The line, or what an earlier call has returned of it.
            is_after_blank: Whether the line before it is empty.
            is_rest: Whether an earlier call has read the line; what reads all of it is then not repeated,
                because one line may hold many games.
        """
        line = line if is_rest else plain_signs(line)
        at = 0
        if self._open_comment:
            at = line.find("}") + 1
            if not at:
                self._keep(line)
                return "", []
            self._open_comment = 0
        elif not is_rest and self._is_plain(line, is_after_blank):
            self._keep(line)
            return "", []
        is_first = True  # of the line's tokens, comments apart
        for token in TOKEN.finditer(line, at):
            kind = token.lastgroup
            if kind == "comment":
                if not token[0].endswith("}"):
                    self._open_comment = self._number
            elif kind == "line_comment":
                line = line[: token.start()]
                break
            elif kind == "open":
                if not self._depth:
                    self._variation = len(self._game.lines), token.start()
                self._depth += 1
                self._has_moves = True
            elif kind == "close":
                self._depth = max(0, self._depth - 1)
            elif kind == "bracket":
                if tag := _TAG_BEGIN.match(line, token.start()):
                    return self._cut_at_tag(line, token.start(), tag[1])
            elif self._depth or kind is None:
                continue
            elif self._begins_game(token, is_first, is_after_blank):
                return self._cut(line, token.start())
            elif kind == "result":
                self._result_line = self._number
                self._has_moves = self._is_game = True
            else:
                is_prose = kind == "word" and _MOVE_LIKE.search(token[0]) is None
                self._has_moves |= not (is_prose and self._game.tags)
                self._is_game |= kind == "word" and not is_prose
                if kind == "number" and self._result_line != self._number:
                    self._result_line = 0
            is_first = False
        self._keep(line)
        return "", []

    def _is_plain(self, line: str, is_after_blank: bool) -> bool:
        """Read a line of the main line in which nothing begins and no game ends before the line does.

        This is only for speed: reading each token takes longer.

        Returns:
            False if the line is another; nothing has changed.
        """
        if self._depth or self._result_line or (is_after_blank and self._has_moves):
            return False
        if line.rfind("{") > line.rfind("}"):  # a comment without an end; many would be searched for it
            return False
        text = _COMMENT.sub(" ", line)
        if _SPECIAL.search(text):
            return False
        result = _RESULT.search(text)
        if result is not None and text[result.end() :].strip():
            return False
        if result is not None:
            self._result_line = self._number
        is_prose = result is None and not _NUMBER.search(text) and not _MOVE_LIKE.search(text)
        self._has_moves |= not text.isspace() and not (is_prose and self._game.tags)
        self._is_game = self._is_game or result is not None or _MOVE_LIKE.search(text) is not None
        return True

    def _is_broken_tag(self, line: str) -> bool:
        """Whether a line among tags, or after a game's result, begins like a tag and is none."""
        is_in_movetext = self._open_comment or self._depth or (self._has_moves and not self._result_line)
        return not is_in_movetext and _BROKEN_TAG.match(line) is not None and not _TAG_WITHIN.search(line)

    def _begins_game(self, token: re.Match[str], is_first: bool, is_after_blank: bool) -> bool:
        """Whether a token of the main line begins a game without tags."""
        if token["number"] and token[0].rstrip(".") == "1" and not token[0].startswith("1.."):
            return bool(self._result_line) or (is_first and is_after_blank and self._has_moves)
        if not self._result_line or self._result_line == self._number or token["result"]:
            return False
        return is_after_blank or token["word"] is not None

    def _cut(self, line: str, at: int) -> tuple[str, list[PgnText | NumberedText]]:
        self._keep(line[:at])
        return line[at:], self.end()

    def _cut_at_tag(self, line: str, at: int, name: str) -> tuple[str, list[PgnText | NumberedText]]:
        game = self._game
        if not self._is_game and not game.lines and name not in game.tags:
            # Within the tags, or before the first.
            game.skipped.append(NumberedText(self._number, line[:at]))
            self._has_moves, self._depth = False, 0
            return line[at:], []
        if not self._result_line and (game.tags or self._is_game):
            self._damage(f"cut off in line {self._number}, where another game begins")
        return self._cut(line, at)

    def _keep(self, text: str) -> None:
        if text.strip() and self._has_room(text):
            self._game.lines.append(NumberedText(self._number, text))

    def _has_room(self, text: str) -> bool:
        self._length += len(text) + 1
        if self._length <= MAX_GAME_TEXT_LENGTH:
            return True
        self._damage(f"more than {MAX_GAME_TEXT_LENGTH} characters, and no game ends")
        self._game.lines.clear()
        return False

    def _damage(self, why: str) -> None:
        self._game.damage = self._game.damage or why
        self._is_game = True
