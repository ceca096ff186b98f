"""Sort keys of pieces always ascend, and as few of them as possible change."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from engine.commands.sequence import STEP, place

KNOWN = st.lists(st.none() | st.integers(0, 40) | st.integers(0, 1 << 40), max_size=12)


@given(KNOWN)
@example([3, 1, 2])
@example([0, 0])
def test_keys_ascend(known: list[int | None]) -> None:
    """Whatever the known keys are, the new keys are positive and strictly ascending."""
    keys = place(known)
    assert len(keys) == len(known)
    assert all(before < after for before, after in zip([0, *keys], keys, strict=False))


@given(st.integers(0, 20))
def test_new_pieces_are_spread_out(count: int) -> None:
    """A new file has the same gap after each piece."""
    assert place([None] * count) == [STEP * (position + 1) for position in range(count)]


@given(st.integers(1, 20), st.data())
def test_an_insertion_moves_nobody(count: int, data: st.DataObject) -> None:
    """Inserting one piece anywhere in a new file leaves every other key unchanged."""
    keys = place([None] * count)
    at = data.draw(st.integers(0, count))
    placed = place([*keys[:at], None, *keys[at:]])
    assert placed[:at] + placed[at + 1 :] == keys


@given(KNOWN)
def test_what_was_placed_stays(known: list[int | None]) -> None:
    """Placing the same keys again changes nothing."""
    keys = place(known)
    assert place(keys) == keys
