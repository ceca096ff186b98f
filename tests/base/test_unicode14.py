"""Tests of the tables of Unicode 14.0, which make results independent of Python's own tables."""

import hashlib
import unicodedata

import pytest

from engine.base import unicode14, unicode14_table
from engine.text.analyzer import analyze_query, index_terms

EVERYTHING = "28ab1e3e4373b58bf87105f8b0b02774270921cce3d9a806ce10002d8d621402"


def test_the_table_is_the_output_of_its_script() -> None:
    """On a Python with Unicode 14.0, the script generates exactly the committed file."""
    if unicodedata.unidata_version != unicode14_table.UNICODE:
        pytest.skip(f"this Python has Unicode {unicodedata.unidata_version}; the table is made from 14.0")
    from pathlib import Path

    from tests.base.make_unicode14_table import table

    assert Path(unicode14_table.__file__).read_text(encoding="ascii") == table()


def test_the_number_of_assigned_code_points_is_that_of_unicode() -> None:
    """Unicode 14.0 assigns 144,697 characters, 65 controls and 137,468 private-use characters."""
    assigned = sum(map(unicode14.is_assigned, range(0x110000)))
    assert assigned == 144_697 + 65 + 137_468


@pytest.mark.parametrize(
    ("point", "assigned"),
    [
        (0, True),
        (0x41, True),
        (0x378, False),
        (0xD800, False),
        (0xE000, True),
        (0x1FAE8, False),
        (0x10FFFF, False),
    ],
)
def test_is_assigned(point: int, assigned: bool) -> None:
    """Letters, controls and private use are assigned; gaps, surrogates and later additions are not."""
    assert unicode14.is_assigned(point) is assigned


def test_ranges_are_ascending_and_do_not_overlap() -> None:
    """The ranges of a table are ascending with gaps between them, and only MARK overlaps with WORD."""
    seen: dict[int, str] = {}
    for name, table in zip(
        ("SEPARATED", "IGNORED", "GRAM", "WORD", "PICTOGRAPH"),
        [t for t in unicode14.TABLES if t is not unicode14_table.MARK],
        strict=True,
    ):
        last = -2
        for low, high in unicode14.ranges(table):
            assert last + 1 < low <= high
            last = high
            for point in (low, high):
                assert seen.setdefault(point, name) == name


def test_terms_are_equal_on_every_python() -> None:
    """Terms around each code point of the first two planes are equal on Python 3.11, 3.12 and 3.13."""
    digest = hashlib.sha256()
    for start in range(0, 0x20000, 128):
        points = map(chr, range(start, start + 128))
        text = " ".join(f"a{point}b {point}\u0301 Z{point}" for point in points)
        digest.update(repr((index_terms(text), analyze_query(text))).encode())
    assert digest.hexdigest() == EVERYTHING
