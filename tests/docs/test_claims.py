"""The pages call each claim of a paper what the experiment that tests it calls it."""

import ast
from collections.abc import Iterator

import pytest

from tests.docs.pages import DOCS, ROOT

PAGES = "".join((DOCS / "research" / name).read_text() for name in ("papers.md", "slides.md"))
PLACES = {"PaperClaim": 0, "_claim": 0, "Idea": 2}
"""Which argument of a call is the claim's text; texts with placeholders are left out."""


def claims() -> Iterator[str]:
    for path in sorted((ROOT / "lab" / "experiments").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PLACES:
                match node.args[PLACES[node.func.id] :]:
                    case [ast.Constant(str(text)), *_]:
                        yield text


CLAIMS = sorted(set(claims()))


def test_claims_are_found() -> None:
    assert len(CLAIMS) >= 33
    assert "In chess, pruning reduces 35 branches to 6" in CLAIMS
    assert "Figure 5 is continuous at M/4 and 2M: 0.2 M and 0.25 M" in CLAIMS


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_pages_have_the_claims_words(claim: str) -> None:
    assert f"| {claim} |" in PAGES
