"""The checked-in stub of the C++ core against the module that was built."""

import re

from tests.engine.native import stub


def test_stub_is_the_generated_one() -> None:
    """`make stub` writes it afresh."""
    assert stub.PATH.read_text() == stub.generated()


def test_stub_is_precise() -> None:
    """Containers say what is in them, and no argument is just any object (see `nb::sig` in bindings.cpp)."""
    vague = re.compile(r"\b(?:list|tuple|dict|set)\b(?!\[)|\bobject\b|\bAny\b")
    for line in stub.PATH.read_text().splitlines():
        if line.lstrip().startswith("def ") or re.match(r"\s*\w+: |\s*\) -> ", line):
            signature = re.sub(r"def \w+", "", line)
            assert not vague.search(signature), line
