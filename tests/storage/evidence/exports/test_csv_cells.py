import csv
import io

import pytest

from storage.evidence.exports.csv_cells import cell, cells, text_of

FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\tA", "\rA", "\nA", "\uff1d1", "'=1", "''-1")
HARMLESS = ("", "Anna", "a=b", "'tis", "''", " =1", "e2-e4")


@pytest.mark.parametrize("text", [*FORMULAS, *HARMLESS])
def test_no_text_is_a_formula_and_none_is_lost(text: str) -> None:
    file = io.StringIO(newline="")
    csv.writer(file).writerow(cells([text, 1]))
    ((read, _),) = csv.reader(io.StringIO(file.getvalue(), newline=""))
    assert read == (f"'{text}" if text in FORMULAS else text)
    assert text_of(read) == text


def test_numbers_stay() -> None:
    assert cells([-1, -0.5, None, True]) == [-1, -0.5, None, True]
    assert isinstance(cell(-1), int)
