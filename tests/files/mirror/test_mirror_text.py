"""File names in a mirror show the beginning of a title or source."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from engine.files.mirror.mirror_text import NAME_BYTES_MAX, STEM_BYTES_MAX, MirrorNames, safe

NAMES = MirrorNames(bytes(32))
LONG = "The parts of a long title that a person reads first are at its beginning, not at its end, as a rule"


def test_a_long_name_is_cut_at_its_end() -> None:
    """The beginning of a long title stays readable, and the hash distinguishes equal beginnings."""
    one, other = NAMES.page(LONG + " 1", "one"), NAMES.page(LONG + " 2", "other")
    assert one.startswith("The_parts_of_a_long_title_that_a_person_reads_first_are_at_its_beginning")
    assert one != other


def test_a_letter_keeps_its_marks() -> None:
    """A letter whose marks do not fit is left out as a whole."""
    letter = "e" + "\u0316" * 4
    name = safe("x" * 75 + letter + "tail")
    assert name == "x" * 75


def test_a_letter_of_several_bytes_is_not_divided() -> None:
    """A name is cut between two letters, even if the limit is inside of one of them."""
    assert safe("x" + "\u00e9" * 60) == "x" + "\u00e9" * 39


@given(st.text(max_size=400))
def test_every_name_fits(text: str) -> None:
    """Every name is in NFC, contains no separator, and fits in a file name."""
    stem, name = safe(text), NAMES.page(text, text, number=1_000_000)
    assert len(stem.encode()) <= STEM_BYTES_MAX
    assert len(name.encode()) <= NAME_BYTES_MAX
    assert unicodedata.is_normalized("NFC", stem)
    assert not set("/\\.\0\n") & set(stem)
