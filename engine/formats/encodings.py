"""Decides the encoding of a text file and turns its bytes into lines.  No I/O."""

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain

from engine.formats.record import MAX_GAME_TEXT_LENGTH, BadGame

_UTF16_BOMS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_SAMPLE_BYTES = 4096
_BOM = "\ufeff"
_COMMON_LEADS = {"gb18030": range(0xB0, 0xD8), "cp950": range(0xA4, 0xC7)}
"""The first bytes of each encoding's more common characters."""
_LEAST_CHINESE_SHARE = 0.5
_KNOWN_CHARACTERS = frozenset(
    # Moves of xiangqi, numbers, words of tournaments, places, family names; simplified and traditional.
    "兵卒仕士相象馬马傌車车俥炮砲包帥帅將将前中後后進进退平一二三四五六七八九十０１２３４５６７８９"
    "年月日第届屆杯賽赛全國国象棋个個人錦锦标標联聯團团体體大師师特級级冠軍军公開开邀請请男女子組组隊队對对"
    "局先勝胜負负和輪轮甲乙丙丁紅红黑方北京上海天津重慶庆廣广東东西南山河湖江浙蘇苏安徽福建吉林遼辽寧宁龍龙"
    "川雲云貴贵州陝陕甘肅肃青新疆內内蒙古港澳台臺灣湾香門门火車電电腦脑網网王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐"
    "孙孫胡朱高郭罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧肖程曹袁邓鄧许許傅沈曾彭吕呂卢盧蒋蔣蔡贾賈魏薛叶葉余潘杜戴夏"
    "钟鐘汪田任姜范石姚谭譚廖邹鄒熊金陆陸郝孔白崔康毛邱秦史顾顧侯邵孟万萬段雷钱錢汤湯尹黎易常武乔喬贺賀赖賴文"
)


def text_lines(blocks: Iterable[bytes]) -> Iterator[str]:
    """Yield a file's lines as text; each ends with ``\\n``, except perhaps the last.

    A line ends with LF, CR or both; byte order marks at its beginning are removed.  UTF-16 is recognised at
    the beginning of the file.  Otherwise a line is UTF-8 if it can be; all other lines are in the encoding
    that `legacy_encoding` finds.

    Args:
        blocks: The file's bytes, cut anywhere.

    Raises:
        BadGame: A line is longer than `MAX_GAME_TEXT_LENGTH`.
    """
    blocks = iter(blocks)
    first = next(blocks, b"")
    blocks = chain([first], blocks)
    if (utf16 := _utf16(first)) is not None:
        blocks = (text.encode() for text in codecs.iterdecode(blocks, utf16, "replace"))
    rest, legacy = b"", ""
    for block in chain(blocks, [None]):
        data = rest + (block or b"")
        if block is not None:
            # The CR at the end may be half of a line end.
            cut = max(data.rfind(b"\n"), data.rfind(b"\r", 0, -1)) + 1
            data, rest = data[:cut], data[cut:]
        lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        try:
            texts = b"\n".join(lines).decode().split("\n")
        except UnicodeDecodeError:
            legacy = legacy or legacy_encoding(b"\n".join(line for line in lines if not _is_utf8(line)))
            texts = [line.decode() if _is_utf8(line) else line.decode(legacy, "replace") for line in lines]
        yield from (f"{text.lstrip(_BOM)}\n" for text in texts[:-1])
        if texts[-1]:
            yield texts[-1].lstrip(_BOM)
        if len(rest) > MAX_GAME_TEXT_LENGTH:
            raise BadGame(f"more than {MAX_GAME_TEXT_LENGTH} bytes without a line break")


def legacy_encoding(sample: bytes) -> str:
    """The encoding of lines that are not UTF-8: Python's name of a codec in which ASCII stands for itself.

    Args:
        sample: Lines of a file that are not UTF-8; each holds a byte above 127.
    """
    shares = {encoding: _chinese_share(sample, encoding) for encoding in _COMMON_LEADS}
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] >= _LEAST_CHINESE_SHARE else "latin-1"


def _chinese_share(sample: bytes, encoding: str) -> float:
    """How far a text reads as Chinese in this encoding, from 0 to 2.

    In the wrong encoding, Chinese turns into rare characters.  So do words with accents, whose second bytes
    are ASCII letters.
    """
    known = common = high = count = 0
    for sign in sample.decode(encoding, "replace"):
        if sign.isascii():
            continue
        code = sign.encode(encoding, "replace")
        count += 1
        known += sign in _KNOWN_CHARACTERS
        common += len(code) == 2 and code[0] in _COMMON_LEADS[encoding]
        high += code[-1] > 127
    is_likely = count and known >= 0.1 * count and high >= 0.3 * count
    return (known + common) / count if is_likely else 0.0


def decode(data: bytes) -> str:
    """Decode a text of unknown encoding; see `text_lines`.

    Raises:
        BadGame: A line is longer than `MAX_GAME_TEXT_LENGTH`.
    """
    return "".join(text_lines([data]))


def _utf16(head: bytes) -> str | None:
    """The kind of UTF-16 in which a file begins; None if it begins in another encoding."""
    if head[:2] in _UTF16_BOMS:
        return _UTF16_BOMS[head[:2]]
    sample = head[:_SAMPLE_BYTES]
    for zeros, encoding in ((sample[1::2].count(0), "utf-16-le"), (sample[::2].count(0), "utf-16-be")):
        # Without a mark: half of the bytes of tags and moves are zero, whatever the names between them.
        if zeros == sample.count(0) and zeros * 4 > len(sample):
            return encoding
    return None


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
