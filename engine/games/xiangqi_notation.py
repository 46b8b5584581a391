"""Xiangqi moves as people and other programs write them; legality is left to `engine.games.xiangqi`.

* World Xiangqi Federation: ``C2=5``, ``R+-1``, ``17+1``. A piece or place, a direction, a number.
* Chinese: ``炮二平五``, ``前車退1``, in traditional or simplified characters. The same parts, with the same
  meaning; either side's numbers may be Chinese numerals or digits, of any width.
* Coordinates: ``h3e3`` with ranks counted from 1 or from 0, ``H2-E2`` (ICCS, always from 0), and the
  algebraic ``Che3`` or ``Ch3-e3``.

Files in names are counted from the mover's right. Boards and moves are those of `engine.games.xiangqi`.
"""

import re
import unicodedata
from itertools import chain

FILES = 9

_KINDS = {
    sign: kind
    for kind, signs in {
        "P": "PpSs兵卒",
        "A": "AaGg仕士",
        "B": "BbEeMm相象",
        "N": "NnHh馬马傌",
        "C": "Cc炮砲包",
        "R": "Rr車车俥伡",
        "K": "Kk帥帅將将",
    }.items()
    for sign in signs
}
_WXF_LETTERS = dict(zip("PABNCRK", "PAEHCRK", strict=True))
_CHARACTERS = dict(zip("PABNCRKpabncrk", "兵仕相馬炮車帥卒士象馬炮車將", strict=True))
_NUMERALS = "一二三四五六七八九"
_NUMBERS = {sign: number for signs in (_NUMERALS, "123456789") for number, sign in enumerate(signs, start=1)}
_DIRECTIONS = dict.fromkeys("+進进", 1) | dict.fromkeys("=.平", 0) | dict.fromkeys("-退", -1)
_FRONT, _MIDDLE, _REAR = "+前", ".中", "-後后"
_PLACE_LETTERS = dict(zip("abcde", range(1, 6), strict=True))
"""Soldiers by number, as some programs write them: ``Pa+1``."""
_SLANTED = {"A": {1: 1}, "B": {2: 2}, "N": {1: 2, 2: 1}}
"""For pieces whose names give the target file: ranks crossed, by the number of files crossed."""

_ICCS = re.compile(r"([A-I])([0-9])-([A-I])([0-9])", re.IGNORECASE | re.ASCII)
_COORDINATES = re.compile(r"([A-I])([0-9]|10)([A-I])([0-9]|10)", re.IGNORECASE | re.ASCII)
_ALGEBRAIC = re.compile(r"([KAGBEMNHRCPS]?)([a-i]?)([0-9]|10)??[x-]?([a-i])([0-9]|10)[+#]{0,2}", re.ASCII)


def wxf_name(board: str, side: int, move: int) -> str:
    """The name of a legal move in the notation of the World Xiangqi Federation: ``C2=5``, ``H8+7``, ``R+-1``.

    ``+`` means a move forwards; the target file or the number of ranks follows. Of two pieces on one file, a
    leading ``+`` names the front one; soldiers still ambiguous are numbered from the front: ``17+1``.
    """
    start, target = move & 127, move >> 7
    letter, file, column, crowded_files = _who(board, side, start)
    if len(column) == 1:
        who = f"{letter}{file}"
    elif crowded_files == 1 and len(column) == 2:
        who = f"{letter}{'+-'[column.index(start)]}"
    else:
        who = f"{column.index(start) + 1}{file}"
    direction, number = _way(side, start, target)
    return f"{who}{'=+-'[direction]}{number}"


def chinese_name(board: str, side: int, move: int) -> str:
    """The name of a legal move in traditional characters, red's numbers as numerals: ``炮二平五``.

    Of three soldiers on one file, ``中兵`` is the middle one, of more ``二兵`` the second; where two files
    have several, the file replaces the piece: ``前七進一``.
    """
    start, target = move & 127, move >> 7
    _, file, column, crowded_files = _who(board, side, start)
    numbers = _NUMERALS if side == 0 else "123456789"
    character = _CHARACTERS[board[start]]
    if len(column) == 1:
        who = f"{character}{numbers[file - 1]}"
    else:
        index, last = column.index(start), len(column) - 1
        place = "前" if index == 0 else "後" if index == last else "中" if last == 2 else _NUMERALS[index]
        who = f"{place}{character if crowded_files == 1 else numbers[file - 1]}"
    direction, number = _way(side, start, target)
    return f"{who}{'平進退'[direction]}{numbers[number - 1]}"


def read_move(board: str, side: int, text: str, first_rank: int = 1) -> list[int]:
    """Every move that a text can mean; the legal one is meant, if only one is legal.

    Args:
        side: The side to move.
        text: The move in any of this module's notations.
        first_rank: The number of red's home rank in coordinates, 0 or 1.
    """
    text = unicodedata.normalize("NFKC", text)  # full-width digits and signs
    if match := _ICCS.fullmatch(text):
        return _between(match, 0)
    if match := _COORDINATES.fullmatch(text):
        return _between(match, first_rank)
    if match := _ALGEBRAIC.fullmatch(text):
        return _algebraic(board, side, match, first_rank)
    if len(text) not in (4, 5) or text[-2] not in _DIRECTIONS or text[-1] not in _NUMBERS:
        return []
    direction, number = _DIRECTIONS[text[-2]], _NUMBERS[text[-1]]
    targets = (
        (start, _target(board, side, start, direction, number)) for start in _starts(board, side, text[:-2])
    )
    return [start | target << 7 for start, target in targets if target is not None]


# --- Names -------------------------------------------------------------------------------------------


def _file(side: int, square: int) -> int:
    """The file as the side counts it, from 1 on its right."""
    return FILES - square % FILES if side == 0 else square % FILES + 1


def _columns(board: str, side: int, kind: str) -> dict[int, list[int]]:
    """The squares of a side's pieces of one kind by file, the front one first, files from the right."""
    piece = kind if side == 0 else kind.lower()
    columns: dict[int, list[int]] = {}
    squares = [square for square, found in enumerate(board) if found == piece]
    for square in reversed(squares) if side == 0 else squares:
        columns.setdefault(_file(side, square), []).append(square)
    return dict(sorted(columns.items()))


def _who(board: str, side: int, start: int) -> tuple[str, int, list[int], int]:
    """A piece's letter, its file, all such pieces on it if names must tell them apart, and how many files
    have several."""
    kind, file = board[start].upper(), _file(side, start)
    columns = _columns(board, side, kind)
    # Two advisors or elephants on one file never need it: what one can do, the other cannot.
    column = [start] if kind in "AB" else columns[file]
    return _WXF_LETTERS[kind], file, column, sum(len(squares) > 1 for squares in columns.values())


def _way(side: int, start: int, target: int) -> tuple[int, int]:
    """Direction (1 forwards, 0 sideways, -1 backwards) and number of a move's name."""
    ranks = (target // FILES - start // FILES) * (1 if side == 0 else -1)
    number = abs(ranks) if target % FILES == start % FILES else _file(side, target)
    return (ranks > 0) - (ranks < 0), number


def _starts(board: str, side: int, who: str) -> list[int]:
    """The squares that a name's first part can mean: ``炮二``, ``前炮``, ``炮前``, ``前七``, ``前兵七``."""
    if len(who) == 2 and who[0] in _KINDS and who[1] in _NUMBERS:
        return _columns(board, side, _KINDS[who[0]]).get(_NUMBERS[who[1]], [])
    place, rest = (who[1], who[0] + who[2:]) if who[0] in _KINDS else (who[0], who[1:])
    kinds = [_KINDS[sign] for sign in rest if sign in _KINDS]
    files = [_NUMBERS[sign] for sign in rest if sign in _NUMBERS]
    if len(kinds) > 1 or len(files) > 1 or len(kinds) + len(files) < len(rest):
        return []
    columns = _columns(board, side, kinds[0] if kinds else "P")
    if files:
        groups = [columns.get(files[0], [])]
    else:  # some also say "the front one" of two pieces on different files
        groups = [group for group in columns.values() if len(group) > 1] or [list(chain(*columns.values()))]
    if number := _NUMBERS.get(place) or _PLACE_LETTERS.get(place):
        return list(chain(*groups))[number - 1 : number]
    return [square for group in groups for square in group if place in _places(side, square, group)]


def _places(side: int, square: int, group: list[int]) -> str:
    """Signs for a piece's place among others."""
    ranks = [other // FILES * (1 if side == 0 else -1) for other in group]
    rank = square // FILES * (1 if side == 0 else -1)
    ends = (_FRONT if rank == max(ranks) else "") + (_REAR if rank == min(ranks) else "")
    return ends or _MIDDLE


def _target(board: str, side: int, start: int, direction: int, number: int) -> int | None:
    """The square that the second part of a name means; None if the piece cannot move so on any board."""
    file, rank = start % FILES, start // FILES
    forward = direction if side == 0 else -direction
    slant = _SLANTED.get(board[start].upper())
    if slant is None and direction:
        rank += forward * number
    else:
        to_file = FILES - number if side == 0 else number - 1
        rank += forward * (slant or {}).get(abs(to_file - file), 0)
        if (slant is not None and rank == start // FILES) or to_file == file:
            return None
        file = to_file
    return FILES * rank + file if 0 <= rank * FILES < len(board) else None


# --- Coordinates -------------------------------------------------------------------------------------


def _square(file: str, rank: str, first_rank: int) -> int:
    """The square; -1 if it is not on the board."""
    number = int(rank) - first_rank
    return FILES * number + "abcdefghi".index(file.lower()) if 0 <= number <= FILES else -1


def _between(match: re.Match[str], first_rank: int) -> list[int]:
    start, target = (_square(match[i], match[i + 1], first_rank) for i in (1, 3))
    return [] if min(start, target) < 0 else [start | target << 7]


def _algebraic(board: str, side: int, match: re.Match[str], first_rank: int) -> list[int]:
    letter, file, rank, to_file, to_rank = match.groups()
    target = _square(to_file, to_rank, first_rank)
    starts = [
        square
        for column in _columns(board, side, _KINDS[letter or "P"]).values()
        for square in column
        if (not file or square % FILES == "abcdefghi".index(file))
        and (not rank or square // FILES == int(rank) - first_rank)
    ]
    return [] if target < 0 else [start | target << 7 for start in starts]
