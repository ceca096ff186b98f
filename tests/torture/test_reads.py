"""A read that returns something else leads to an error, never to an event that breaks the journal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.faults import Kind
from tests.torture.oracle import FOREIGN
from tests.torture.reads import BROKEN_JOURNAL, KINDS, torture

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", KINDS)
def test_no_write_rests_on_a_wrong_read(kind: Kind, tmp_path: Path) -> None:
    """After a flipped bit, a value of another time or row, or a missing row, the journal is still valid."""
    counts, told = torture(kind, 1, 25, tmp_path)
    assert counts["trials"] == 25
    assert (counts[BROKEN_JOURNAL], counts[FOREIGN]) == (0, 0), told
