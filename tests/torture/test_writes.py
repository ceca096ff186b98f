"""A bit that flips before it is written does not get under a checkpoint note."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.oracle import FOREIGN
from tests.torture.writes import OVER_BAD_DATA, VARIANTS, torture


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_note_is_issued_over_a_flipped_bit(variant: str, tmp_path: Path) -> None:
    """A note is refused, or a replay of the stored journal gives its roots."""
    counts, told = torture(variant, 1, 25, tmp_path)
    assert counts["trials"] == 25
    assert counts["noticed"] > 0
    assert (counts[OVER_BAD_DATA], counts[FOREIGN]) == (0, 0), told
