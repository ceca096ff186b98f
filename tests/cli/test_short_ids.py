"""Shortened ids."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends import open_backend
from backends.base import Batch
from engine.base.errors import ConflictError, InvalidInputError, NotFoundError
from engine.base.validation import show_id
from engine.engine import Engine
from engine.ledger.layout import ATOM
from engine.ledger.queries import resolve_id
from engine.ledger.records import AtomRecord, encode_atom
from proofs.leaves import State

IDS = st.lists(
    st.builds(
        lambda head, rest: head + rest,
        st.sampled_from([b"\xab\xcd", b"\xab\xce", b"\xff\xff"]),
        st.binary(min_size=14, max_size=14),
    ),
    unique=True,
    max_size=6,
)


RECORD = AtomRecord(
    *(bytes(16), 0, State.ERASED, 1, 1, 1, 1, None, "note", (), (), None, None, None, "internal", None),
    *(0, 0, 0, "", ""),
)
ERASED = encode_atom(RECORD)


def resolved(ids: Sequence[bytes], given_id: str) -> bytes:
    """Return the id that `given_id` resolves to in a store with these ids."""
    with open_backend("memory:") as backend:
        batch = Batch()
        for atom in ids:
            batch.put(ATOM + atom, ERASED)
        batch.put(b"b", b"a row of another family")
        backend.write(batch)
        return resolve_id(backend, given_id)


@given(IDS, st.text("abcdef", min_size=4, max_size=8), st.integers(4, 31), st.data())
def test_a_beginning_stands_for_the_only_id_that_has_it(
    ids: list[bytes], other: str, digits: int, data: st.DataObject
) -> None:
    """A unique prefix resolves; an unknown one is not found; an ambiguous one is a conflict."""
    beginning = data.draw(st.sampled_from([other, *(atom.hex()[:digits] for atom in ids)]))
    matching = [atom for atom in ids if atom.hex().startswith(beginning)]
    if len(matching) == 1:
        assert resolved(ids, beginning) == matching[0]
        return
    with pytest.raises(ConflictError if matching else NotFoundError):
        resolved(ids, beginning)


def test_a_whole_id_stands_for_itself() -> None:
    """A whole id in its one spelling resolves to itself, recorded or not; other spellings are refused."""
    atom = bytes(range(16))
    assert resolved([], show_id(atom)) == atom
    for text in (atom.hex(), show_id(atom).upper(), f"{{{show_id(atom)}}}", f"urn:uuid:{show_id(atom)}"):
        with pytest.raises(InvalidInputError):
            resolved([atom], text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc",
        "----",
        "xyzw",
        "12 4",
        "１２３４",
        "0" * 33,
        "0" * 32,
        "abcd\n",
        "ABCD",
        "ab-cd",
        "abcdabcd-a-",
    ],
)
def test_what_cannot_begin_an_id_is_refused(text: str) -> None:
    """Fewer than four digits, other characters, too many digits, and the zero id are refused."""
    with pytest.raises(InvalidInputError):
        resolved([bytes(range(16))], text)


def test_a_conflict_lists_some_of_them() -> None:
    """The message lists five candidates and says that there are more."""
    ids = [b"\xab\xcd" + bytes([number]) * 14 for number in range(9)]
    with pytest.raises(ConflictError, match="and more") as caught:
        resolved(ids, "abcd")
    assert [f"{atom.hex()[:8]} (erased)" in str(caught.value) for atom in ids] == [True] * 5 + [False] * 4


def test_the_size_counts_events() -> None:
    """A new store has one event, and a command without effect adds none."""
    with Engine.open("memory:") as engine:
        assert engine.size == 1
        engine.add("One")
        engine.add("One")
        assert engine.size == 2


def test_tags_are_counted_over_live_atoms() -> None:
    """Tags that differ in case count as one; tombstoned atoms do not count; a revision counts once."""
    with Engine.open("memory:") as engine:
        first = engine.add("One", tags=["Tea", "gone"]).subject
        engine.add("Two", tags=["tea"])
        engine.revise(first, content="One, again")
        engine.tombstone(engine.add("Three", tags=["tea", "hidden"]).subject)
        engine.untag(first, "gone")
        assert engine.tags().people == {"tea": 2}
