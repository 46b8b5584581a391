"""The checked-in stubs of the C++ modules against what was built."""

import re

import pytest

from tests.engine.native import stub


@pytest.mark.parametrize("module", stub.STUBS)
def test_stub_is_the_generated_one(module: str) -> None:
    """`make stub` writes it afresh."""
    assert stub.STUBS[module].read_text() == stub.generated(module)


@pytest.mark.parametrize("module", stub.STUBS)
def test_stub_is_precise(module: str) -> None:
    """Containers say what is in them, and no argument is just any object (see `nb::sig` in bindings.cpp)."""
    vague = re.compile(r"\b(?:list|tuple|dict|set)\b(?!\[)|\bobject\b|\bAny\b")
    for line in stub.STUBS[module].read_text().splitlines():
        if line.lstrip().startswith("def ") or re.match(r"\s*\w+: |\s*\) -> ", line):
            signature = re.sub(r"def \w+", "", line)
            assert not vague.search(signature), line
