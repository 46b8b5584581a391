"""Records come back as they were, and damaged ones are told from others."""

import json
import zlib
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.bait_rule import forecast
from engine.completion import complete
from engine.decision import Candidate, Decision, DirectMove, ReplyProfile, VarietyDraw
from engine.errors import RecordError
from engine.figure_9 import expected_scale_centi
from engine.games import get_rules
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from storage.packing.dictionary import DICTIONARY
from storage.packing.records import COLUMNS, MAX_COMPRESSED_RECORD_BYTES, PLAIN, pack, pack_unreadable, unpack
from tests.storage.packing.test_columns import VALUES
from tests.storage.samples import decision, drawn_decision

RECORD = decision(quality=225.0).to_record()


def as_json(record: object) -> str:
    return json.dumps(record)


@pytest.mark.parametrize("player", ["trappy", "tempting", "strong", "standard"])
@pytest.mark.parametrize(("game", "depth"), [("othello", 4), ("chess", 3), ("xiangqi", 3), ("tictactoe", 4)])
def test_decisions_come_back_bit_for_bit(game: str, depth: int, player: str) -> None:
    rules, searcher = get_rules(game), make_searcher(game, 1)
    made = MoveChooser(strategy_named(player), rules, TrapParams(), searcher).choose(
        rules.initial(), Limits(depth), StopFlag()
    )
    for each in (made, complete(made, searcher, StopFlag())):
        packed = pack(each.to_record())
        assert packed[0] == COLUMNS
        assert as_json(unpack(packed)) == as_json(each.to_record())
        assert Decision.from_record(unpack(packed)) == each
    assert len(packed) < len(as_json(each.to_record())) / 3
    foreseen = forecast(each.chosen, expected_scale_centi(each)).to_record()
    assert as_json(unpack(pack(foreseen))) == as_json(foreseen)


SCORES = st.integers(-(2**31) + 1, 2**31 - 1)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
REPLIES = st.builds(
    ReplyProfile,
    reply=st.text(max_size=5),
    scores_centi=st.lists(SCORES, max_size=5).map(tuple),
    bound_centi=st.none() | SCORES,
    shallow_bound_centi=st.none() | NUMBERS,
    probability=st.none() | NUMBERS,
    least_centi=st.none() | SCORES,
)
CANDIDATES = st.builds(
    Candidate,
    move=st.text(max_size=5),
    raw_centi=SCORES,
    raw_is_bound=st.booleans(),
    adjusted_centi=NUMBERS,
    quality_centi=NUMBERS,
    trap=st.none() | st.text(max_size=5),
    replies=st.lists(REPLIES, max_size=5).map(tuple),
    complete=st.booleans(),
    value=st.none() | NUMBERS,
)


@given(st.lists(CANDIDATES, min_size=1, max_size=5), st.integers(0, 2**63 - 1), st.floats(0, 1e6))
def test_any_decision_comes_back(candidates: list[Candidate], nodes: int, time_s: float) -> None:
    made = replace(
        drawn_decision(trap=True),
        move=candidates[0].move,
        candidates=tuple(candidates),
        nodes=nodes,
        time_s=time_s,
        pick=DirectMove(3, 4, 100, False, "a book"),
        variety_draw=VarietyDraw(20, ("f5",), nodes),
    )
    packed = pack(made.to_record())
    assert packed[0] == COLUMNS
    assert as_json(unpack(packed)) == as_json(made.to_record())
    assert Decision.from_record(unpack(packed)) == made


@given(st.dictionaries(st.text(max_size=3), VALUES | st.lists(VALUES), max_size=5))
def test_any_object_comes_back(record: dict[str, Any]) -> None:
    assert as_json(unpack(pack(record))) == as_json(record)


def test_records_of_old_versions_come_back() -> None:
    old = {**RECORD, "params": {"assessment": "median", "threshold_centi": 100}}
    del old["search_mode"]
    assert as_json(unpack(pack(old))) == as_json(old)


def test_what_is_no_record_is_kept() -> None:
    for odd in (["not", "a", "record"], 5, None, "x"):
        assert pack(odd) == pack_unreadable(as_json(odd).encode())
        with pytest.raises(RecordError, match="not a JSON object"):
            unpack(pack(odd))
    assert unpack(pack({"a": "\ud800"})) == {"a": "\ud800"}
    assert pack({"a": "\ud800"})[0] == PLAIN
    with pytest.raises(TypeError, match="not JSON serializable"):
        pack({"a": object()})


def test_a_record_that_is_too_long_is_plain() -> None:
    long = {"a": "x" * MAX_COMPRESSED_RECORD_BYTES}
    assert pack(long)[0] == PLAIN
    assert unpack(pack(long)) == long
    assert pack({"a": "x" * (MAX_COMPRESSED_RECORD_BYTES - 100)})[0] == COLUMNS


@pytest.mark.parametrize(
    ("stored", "complaint"),
    [
        (None, "not a packed record: None"),
        (7, "not a packed record: 7"),
        (b"", "not a packed record: b''"),
        (pack_unreadable(b"{"), "not JSON: "),
        ("{}", "not a packed record: '{}'"),
        (pack_unreadable(b"{\xff"), "not JSON: 'utf-8' codec can't decode"),
        (b"\x02...", "packed in format 2, which this version does not know"),
        (b'{"a": 1}', "packed in format 123, which"),
        (b"\x01", "not a packed record: its compressed contents are incomplete"),
        (pack(RECORD)[:-9], "incomplete"),
        (pack(RECORD) + b"x", "or followed by other data"),
        (b"\x01\x00\x00\x00\x00" + pack(RECORD)[5:], "its checksum does not match"),
        (b"\x01\x00\x00\x00\x00\xff\xff", "not a packed record: Error -3"),
    ],
)
def test_damage_is_named(stored: object, complaint: str) -> None:
    with pytest.raises(RecordError, match=complaint):
        unpack(stored)


def packed_from(contents: bytes) -> bytes:
    """Any contents, as if they were those of a record."""
    compressor = zlib.compressobj(9, wbits=-15, zdict=DICTIONARY)
    packed = compressor.compress(contents) + compressor.flush()
    return b"\x01" + zlib.crc32(contents).to_bytes(4, "little") + packed


@pytest.mark.parametrize(
    ("contents", "complaint"),
    [
        (bytes(MAX_COMPRESSED_RECORD_BYTES + 1), "its contents have more than 1048576 bytes"),
        (bytes(200 * MAX_COMPRESSED_RECORD_BYTES), "its contents have more than 1048576 bytes"),
        (b"\x02[]\x02[]", "it has no names"),
        (b'\x07{"a":1}\x05["a"]\x01i\x01\x00', "a value occurs twice"),
        (b'\x02{}\x05["a"]\x01i\x01\x00', "'a'"),
        (b"\x02{}\x02[]x", "trailing bytes after"),
        (b"\x02{}\x01" + b"5", "not iterable"),
        (b'\x0a{"a":null}\x05["a"]\x01' + b"l\x01\x02" * 300_000, "recursion"),
        (b"\xa0\x8d\x06" + b"[" * 100_000, "recursion"),
    ],
)
def test_forged_contents_are_refused(contents: bytes, complaint: str) -> None:
    with pytest.raises(RecordError, match=complaint):
        unpack(packed_from(contents))


@given(st.binary(max_size=300))
@settings(max_examples=150)
def test_random_bytes_are_refused(data: bytes) -> None:
    for stored in (data, bytes((COLUMNS,)) + data, pack_unreadable(data)):
        with pytest.raises(RecordError):
            unpack(stored)


CONTENTS = zlib.decompressobj(wbits=-15, zdict=DICTIONARY).decompress(pack(RECORD)[5:])


@given(st.integers(0, len(CONTENTS) - 1), st.integers(0, 255), st.integers(0, 3))
@settings(max_examples=150)
def test_changed_contents_are_a_record_or_refused(at: int, byte: int, cut: int) -> None:
    """Behind a checksum that fits: nothing but the typed error."""
    changed = CONTENTS[:at] + bytes((byte,)) + CONTENTS[at + 1 + cut :]
    with suppress(RecordError):
        assert isinstance(unpack(packed_from(changed)), dict)


def test_a_changed_byte_is_noticed() -> None:
    packed = pack(RECORD)
    for at in range(len(packed) - 1):  # bits of the last one are padding
        with pytest.raises(RecordError):
            unpack(packed[:at] + bytes((packed[at] ^ 0x10,)) + packed[at + 1 :])


def test_what_was_packed_long_ago_can_be_unpacked() -> None:
    """Format 1 never changes, and neither does its dictionary."""
    assert zlib.crc32(DICTIONARY) == GOLDEN_DICTIONARY
    old = Decision.from_record(unpack(bytes.fromhex(GOLDEN)))
    assert old == Decision.from_record(json.loads(as_json(RECORD)))


GOLDEN_DICTIONARY = 4097745842
GOLDEN = (
    "01d6e32d2e7bc48c3f5be3ee780e9b1c9d668a2f3f9b10959d8d8c4d903333a85780afa0c5ccd086039d9559e8912d18198a"
    "b953c0cd4b607325d52c933180a14224099407b244a34d408520983004869fa12190150bca280c0c870e82f2520e50191b6b"
    "891066726704a5640686620e606b06d8be4933c961045a96c9942212109e22c290a20394646260051a92047603538a195331"
    "2ba811640600"
)
