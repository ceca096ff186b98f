"""The compiled functions on sets of ordinals give the rows of their twins, and leave errors to them."""

from __future__ import annotations

from array import array
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.base import Batch
from engine.base.errors import CorruptionError
from engine.followers import chunks, tags
from proofs.events import AtomBody, AtomDetail, Entry, EventKind, Header, Origin, TagsBody
from proofs.hashing import key_digest, value_digest
from proofs.labels import salted
from proofs.leaves import DENSE_BYTES, SPARSE_MAX
from proofs.limits import CREATED_MAX, CREATED_MIN, INTEGER_MAX
from tests.followers.support import KEYS, genesis_rows
from tests.kernels.native import native
from tests.ledger.support import Rows

NAMES = st.sampled_from(["Red", "red", "RED", "blue", "grün", "ß", ""])
TIMES = st.integers(0, INTEGER_MAX) | st.integers(0, 1 << 52)
CREATED = (
    st.none() | st.integers(CREATED_MIN, CREATED_MAX) | st.integers(CREATED_MIN, CREATED_MIN + (1 << 60))
)
ORIGINS = st.sampled_from([None, None, None, Origin(bytes(16), 3, 1, bytes(32), 5)])
BODIES = st.builds(
    AtomBody,
    st.just("text"),
    st.none(),
    NAMES,
    st.lists(NAMES, max_size=4).map(tuple),
    st.lists(NAMES, max_size=2).map(tuple),
    st.none() | NAMES,
    st.none(),
    NAMES,
    st.none(),
    CREATED,
    st.just(0),
)
LOW = st.integers(0, 0xFFFF)


@st.composite
def journals(draw: st.DrawFn) -> list[Entry]:
    """Return entries in which every added atom has a new ordinal, and the others are on earlier ordinals."""
    entries: list[Entry] = []
    ordinal = draw(st.sampled_from([0, 60_000, 65_530, 1 << 31]))
    for seq in range(draw(st.integers(1, 12))):
        kind, replaced, body = EventKind.ATOM_ADDED, None, draw(st.none() | BODIES)
        if seq and draw(st.booleans()):
            kind = draw(st.sampled_from([EventKind.TAGS_ADDED, EventKind.TAGS_REMOVED]))
            at = draw(st.sampled_from(entries)).header.detail
            assert isinstance(at, AtomDetail)
            detail = AtomDetail(bytes(16), at.ordinal, None)
            changed = TagsBody(tuple(draw(st.lists(NAMES, max_size=3))))
            entries.append(Entry(Header(seq, 0, kind, "me", bytes(32), None, detail), changed, bytes(32)))
            continue
        if draw(st.integers(0, 4)) == 0:
            kind, replaced = EventKind.ATOM_REVISED, ordinal
        elif draw(st.integers(0, 4)) == 0:
            kind = EventKind.VERSION_NOTED
        ordinal += draw(st.integers(1, 5))
        detail = AtomDetail(bytes(16), ordinal, replaced)
        header = Header(seq, draw(TIMES), kind, "me", bytes(32), None, detail, draw(ORIGINS))
        entries.append(Entry(header, body, bytes(32)))
    return entries


def followed(rows: Rows, entries: list[Entry]) -> dict[bytes, bytes | None]:
    """Return the rows that the follower writes."""
    batch = Batch()
    tags.TagsFollower().follow(entries, rows, batch)
    return batch.rows


@given(journals(), st.integers(0, 12))
def test_sets_and_pages_are_those_of_the_twin(entries: list[Entry], cut: int) -> None:
    """The rows are the same with and without kernels, entry by entry, and in one batch or in two."""
    rows = Rows(genesis_rows())
    for part in filter(None, (entries[:cut], entries[cut:])):
        with patch.object(tags, "NATIVE", None), patch.object(chunks, "NATIVE", None):
            expected = followed(rows, part)
        with patch.object(tags, "_added_members", lambda entries: ({}, {}, range(len(entries)))):
            assert followed(rows, part) == expected
        assert native() is not None
        assert followed(rows, part) == expected
        rows.rows.update({key: raw for key, raw in expected.items() if raw is not None})


def chunk_of(members: list[int]) -> bytes:
    """Return the stored chunk of some members."""
    return chunks.apply(b"", dict.fromkeys(members, True), b"key")


MEMBERS = st.lists(LOW, unique=True, max_size=40).map(sorted) | st.builds(
    lambda start, count: list(range(start, start + count)), st.integers(0, 20_000), st.integers(4090, 4100)
)
STORED = (
    MEMBERS.map(chunk_of)
    | st.none()
    | st.binary(max_size=12)
    | st.sampled_from([bytes(DENSE_BYTES), b"\xff" * DENSE_BYTES, bytes(2 * SPARSE_MAX + 2)])
)


@given(st.lists(st.tuples(STORED, MEMBERS), max_size=5))
def test_members_join_chunks(cases: list[tuple[bytes | None, list[int]]]) -> None:
    """The chunks after members have joined are those of the twin; if one is damaged, all are declined."""
    before = {bytes([at]): stored for at, (stored, _) in enumerate(cases)}
    joining = {bytes([at]): array("H", members).tobytes() for at, (_, members) in enumerate(cases)}
    got = native().extended_chunks(list(before.values()), list(joining.values()))
    try:
        with patch.object(chunks, "NATIVE", None):
            expected = chunks.extend(before, joining)
    except CorruptionError:
        assert got is None
    else:
        assert got == list(expected.values())


@given(
    st.sampled_from(["atoms", "tags"]), st.lists(st.tuples(st.binary(max_size=90), st.binary(max_size=3000)))
)
def test_digests_of_leaves(namespace: str, leaves: list[tuple[bytes, bytes]]) -> None:
    """The digests of keys and salted values of any length are those of the twin."""
    keys, values = [key for key, _ in leaves], [value for _, value in leaves]
    expected = {
        key_digest(namespace, key): value_digest(namespace, salted(KEYS.rows, namespace, key, value))
        for key, value in leaves
    }
    assert native().salted_leaves(namespace, KEYS.rows, keys, values) == expected


def test_ordinals_that_do_not_ascend_are_declined() -> None:
    """Atoms whose ordinals repeat or descend, as in a forged journal, are left to the twin."""
    body = AtomBody("text", None, "note", (), (), None, None, "internal", None, None, 0)

    def added(ordinal: int) -> Entry:
        detail = AtomDetail(bytes(16), ordinal, None)
        return Entry(Header(1, 0, EventKind.ATOM_ADDED, "me", bytes(32), None, detail), body, bytes(32))

    assert native().added_members([added(1), added(1)]) is None
    assert native().added_members([added(2), added(1)]) is None
    found, _, rest = native().added_members([added(1), added(2)])
    assert (found[b"\x01\x00\x00\x00"], rest) == (b"\x01\x00\x02\x00", [])


DAY = 86_400_000_000


@pytest.mark.parametrize("day", [-719_162, -1, 0, 59, 11_016, 47_540, 2_932_896, 2_932_897, 90_000_000])
@pytest.mark.parametrize("step", [-1, 0, DAY - 1])
def test_days_are_those_of_the_twin(day: int, step: int) -> None:
    """The first and last moments of days, from the year 1 to after 9999, give the day of the twin."""
    time = max(day * DAY + step, CREATED_MIN)
    body = AtomBody("text", None, "note", (), (), None, None, "internal", None, time, 0)
    header = Header(1, 0, EventKind.ATOM_ADDED, "me", bytes(32), None, AtomDetail(bytes(16), 1, None))
    found, _, _ = native().added_members([Entry(header, body, bytes(32))])
    assert b"\x07" + tags.day_of(time).encode() + b"\x00\x00\x00" in found
