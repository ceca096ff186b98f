"""Damaged rows of the index are rejected with an error that names the row."""

import re

import pytest

from backends.base import Batch
from engine.base.errors import CorruptionError
from engine.index import packs
from engine.index.segments import SegmentName, decode_summary, parse_summary_key
from proofs.codec import pack, unpack
from tests.followers.support import KEYS, World, Written, history, world_of

pytestmark = pytest.mark.slow

TEXTS: list[Written] = ["Anna: the sea", "ship"]
NAME = SegmentName(0, 0)
LENGTHS = NAME.row_prefix + b"\x00"
FACTS = NAME.row_prefix + b"\x00\x01"
ANNA, SHIP, SEA, THE = (KEYS.label(0, term) for term in (b"anna", b"ship", b"sea", b"the"))
"""The names of the rows of these terms, ascending; that of the term of the heads is between SHIP and SEA."""

PACK = NAME.row_prefix + ANNA
"""The key of the only pack of the segment, which ends in its first name."""

OF_PACK = re.escape(repr(PACK))
OF_SEA = f"{OF_PACK}.*{re.escape(repr(SEA))}"

GOOD = b"\x05\x01\x03\x01\x02"
"""The entry of a term that documents 1 and 4 have, three times and once: 2 · df + 1, the bit of the first
posting, its frequency, and the gaps."""

BAD_ENTRIES = {
    "empty": b"",
    "only a head": GOOD[:1],
    "df 0": b"\x01" + GOOD[1:],
    "df 3": b"\x07" + GOOD[1:],
    "df over the documents": b"\x82\x04" + bytes(257),
    "a head that does not end": b"\x80\x80\x80\x00",
    "a head in more bytes than it needs": b"\x85\x00" + GOOD[1:],
    "a byte too many": GOOD + b"\x01",
    "a byte too few": GOOD[:-1],
    "no frequencies": GOOD[:1],
    "offset beyond the segment": GOOD[:3] + b"\x01\xff\x01",
    "a gap in more bytes than it needs": GOOD[:4] + b"\x82\x00",
    "a gap that does not end": GOOD[:4] + b"\x82",
    "a gap of four bytes": GOOD[:3] + b"\x81\x80\x80\x01\x02",
    "tf 0": b"\x05\x01\x00\x01\x02",
    "tf 1": b"\x05\x01\x01\x01\x02",
    "no tf is marked": b"\x05\x00\x01\x02",
    "a mark beyond the postings": b"\x05\x05\x03\x03\x01\x02",
    "fewer bits than postings": b"\xc0\x01" + b"\x01" + bytes(31),
    "too few bits": b"\x40" + b"\xff" * 4 + bytes(27),
    "too many bits": b"\x40" + b"\xff" * 4 + bytes(29),
}


def full_world() -> World:
    """Return a store with three segments of 256, one event before four of them are merged."""
    return world_of(TEXTS * 511)


def put(world: World, key: bytes, value: bytes | None) -> None:
    """Change a row without the follower."""
    batch = Batch()
    batch.rows[key] = value
    world.rows.write(batch)
    world.follower = world.fresh()


def with_entry(world: World, entry: bytes, name: bytes = SEA) -> None:
    """Put a pack in which a term has another entry, or which has one more term."""
    parts = packs.split(world.all_rows()[PACK])
    assert parts is not None
    entries = dict(zip(*parts, strict=True)) | {name: entry}
    ((_, value),) = packs.pack(sorted(entries), [entries[one] for one in sorted(entries)])
    put(world, PACK, value)


def test_good_postings() -> None:
    """The entry from which the malformed entries are made is accepted."""
    found = packs.decode_entries([GOOD], 256)
    assert found is not None
    assert [column.tolist() for column in found] == [[2], [1, 4], [3, 1]]
    world = full_world()
    with_entry(world, GOOD)
    (first, *_) = world.view().postings("sea")
    assert (first.offsets.tolist(), first.tfs.tolist()) == ([1, 4], [3, 1])


@pytest.mark.parametrize("case", BAD_ENTRIES)
def test_malformed_postings_are_refused_when_searched(case: str) -> None:
    """A search that reads a malformed entry of a term fails with an error that names the row and the term."""
    world = full_world()
    with_entry(world, BAD_ENTRIES[case])
    with pytest.raises(CorruptionError, match=OF_SEA):
        world.view().postings("sea")
    assert world.view().heads("anna")


@pytest.mark.parametrize("case", BAD_ENTRIES)
def test_malformed_postings_are_refused_when_merged(case: str) -> None:
    """A merge that reads a malformed entry of a term fails with an error that names the row and the term."""
    world = full_world()
    world.entries = history(TEXTS * 513)
    with_entry(world, BAD_ENTRIES[case])
    with pytest.raises(CorruptionError, match=OF_SEA):
        world.follow(1022, 1026)


BAD_PACKS = {
    "missing": None,
    "empty": b"",
    "only a number": b"\x04",
    "lengths are cut": b"\x04\x01\x02",
    "sizes are cut": b"\x01\x03\x04\x01",
    "terms are cut": b"\x01\x10\x10\x01\x00" + ANNA[:-1],
    "no entry": b"\x00\x10" + ANNA,
    "entries are cut": b"\x01\x10\x10\x09\x00" + ANNA + SHIP + b"\x02",
}


@pytest.mark.parametrize("case", BAD_PACKS)
def test_malformed_packs_are_refused(case: str) -> None:
    """A search and a merge that read a malformed pack fail with an error that names its row."""
    world = full_world()
    world.entries = history(TEXTS * 513)
    put(world, PACK, BAD_PACKS[case])
    with pytest.raises(CorruptionError, match=f"{OF_PACK}|i/sum"):
        world.follow(1022, 1026)
    with pytest.raises(CorruptionError, match=OF_PACK):
        world.view().heads("anna")


@pytest.mark.parametrize("order", [(ANNA, SEA, SHIP), (ANNA, SEA, SEA), (SHIP, SEA)])
def test_terms_of_a_pack_in_another_order_are_refused(order: tuple[bytes, ...]) -> None:
    """A merge refuses a pack whose terms do not ascend, or whose first term is not the end of its key."""
    world = full_world()
    world.entries = history(TEXTS * 513)
    ((_, value),) = packs.pack(order, [GOOD] * len(order))
    put(world, PACK, value)
    with pytest.raises(CorruptionError, match=OF_PACK):
        world.follow(1022, 1026)


NO_NAMES = [b"\xff", b"\x00\x02", b"\xff" * 15, b"\xff" * 17, b"\x7f" + b"\xff" * 15, b"\x01sea"]


@pytest.mark.parametrize("name", NO_NAMES)
def test_rows_of_invalid_names_are_rejected_when_merged(name: bytes) -> None:
    """A merge rejects a row key that does not end in a label: 16 bytes, of which the first is 128 or more."""
    world = full_world()
    world.entries = history(TEXTS * 513)
    ((first, value),) = packs.pack([name], [GOOD])
    put(world, PACK, None)
    put(world, NAME.row_prefix + first, value)
    with pytest.raises(CorruptionError, match="does not end in the label of a term"):
        world.follow(1022, 1026)


LONG = b"\x03" + b"\x00\x00\x01" + bytes(3 * 255)
LISTED = b"\x11\x02\x00\x00\x00" + (3).to_bytes(8, "little") + (7).to_bytes(8, "little")
BAD_COLUMNS = [
    None,
    b"",
    b"\x02" + bytes(511),
    b"\x02" + bytes(513),
    b"\x09" + bytes(9 * 256),
    b"\x13" + bytes(4 + 8 + 3 * 256),
    b"\x10" + bytes(4),
    LISTED + bytes(255),
    LISTED + b"\x02" * 256,
]


@pytest.mark.parametrize("value", [*BAD_COLUMNS, LONG])
def test_malformed_lengths_are_refused(value: bytes | None) -> None:
    """Missing or malformed lengths are rejected by searches and merges."""
    world = full_world()
    world.entries = history(TEXTS * 513)
    put(world, LENGTHS, value)
    with pytest.raises(CorruptionError, match=r"i/seg/.*x00"):
        world.view().norms(0.9, 0.4)
    with pytest.raises(CorruptionError, match=r"i/seg/.*x00"):
        world.follow(1022, 1026)


LATE = (1 << 63) + 1
ZEROS = b"\x00"
BAD_SEQUENCES = b"\x10\x01\x00\x00\x00" + LATE.to_bytes(8, "little")


@pytest.mark.parametrize(
    "value",
    [
        *[None if one is None else 3 * ZEROS + one for one in BAD_COLUMNS],
        3 * ZEROS,
        5 * ZEROS,
        ZEROS + BAD_SEQUENCES + 2 * ZEROS,
    ],
)
def test_malformed_facts_are_refused(value: bytes | None) -> None:
    """Missing or malformed facts, or a sequence out of range, are rejected by searches and merges."""
    world = full_world()
    world.entries = history(TEXTS * 513)
    put(world, FACTS, value)
    with pytest.raises(CorruptionError, match=r"i/seg/.*x00.x01"):
        _ = world.view().facts
    with pytest.raises(CorruptionError, match=r"i/seg/.*x00.x01"):
        world.follow(1022, 1026)


@pytest.mark.parametrize("name", [SEA, SHIP, THE])
def test_a_missing_term_is_noticed_when_merged(name: bytes) -> None:
    """A segment with fewer terms than its summary counts is not merged."""
    world = full_world()
    world.entries = history(TEXTS * 513)
    terms, entries = packs.split(world.all_rows()[PACK]) or ([], [])
    left = {one: entry for one, entry in zip(terms, entries, strict=True) if one != name}
    ((_, value),) = packs.pack(list(left), list(left.values()))
    put(world, PACK, value)
    with pytest.raises(CorruptionError, match="does not match the rows"):
        world.follow(1022, 1026)


@pytest.mark.parametrize("raw", [None, b"", bytes(33), bytes(34), bytes(32) + b"\x00\x03\x01\x02\x05\x00"])
def test_a_malformed_row_of_blocks_is_refused_when_searched(raw: bytes | None) -> None:
    """A search fails if the row of blocks is missing, or does not name the stored rows."""
    world = full_world()
    put(world, NAME.blocks_key, raw)
    with pytest.raises(CorruptionError, match="i/blk/"):
        world.view().postings("sea")


@pytest.mark.parametrize("cut", [0, 1, 10])
def test_a_truncated_summary_is_rejected(cut: int) -> None:
    """A truncated summary row is rejected with an error that names it."""
    world = full_world()
    raw = world.all_rows()[NAME.summary_key]
    put(world, NAME.summary_key, raw[:cut])
    with pytest.raises(CorruptionError, match="i/sum/"):
        world.view()


def test_a_summary_of_more_documents_than_ordinals_is_refused() -> None:
    """A summary with more documents than its segment has ordinals is rejected."""
    raw = full_world().all_rows()[NAME.summary_key]
    _, total, rows, root = unpack(raw, "it")
    larger = pack([257, total, rows, root])
    assert decode_summary(NAME, raw).documents == 256
    assert decode_summary(SegmentName(1, 0), larger).documents == 257
    with pytest.raises(CorruptionError, match="256 ordinals"):
        decode_summary(NAME, larger)


@pytest.mark.parametrize(
    "tail", [b"", b"\x00\x00\x00\x00", b"\x05\x00\x00\x00\x00", b"\x01\x00\x00\x01\x00", bytes(6)]
)
def test_an_impossible_summary_key_is_rejected(tail: bytes) -> None:
    """A summary key with an unknown level, or a start that the segment size does not divide, is rejected."""
    with pytest.raises(CorruptionError, match="does not belong to any possible segment"):
        parse_summary_key(b"i/sum/" + tail)


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        (b"i/head", b"", "i/head"),
        (b"i/head", bytes(36), "i/head"),
        (b"i/head", bytes(35), "i/head"),
        (b"i/head", (2000).to_bytes(4, "big") + bytes(32), "i/sum/|i/doc/"),
        (b"i/head", (300).to_bytes(4, "big") + bytes(32), "i/sum/|i/doc/"),
        (b"i/doc/" + (1000).to_bytes(4, "big"), None, "i/doc/.*missing"),
        (b"i/doc/" + (1000).to_bytes(4, "big"), bytes(7), "i/doc/.*8 bytes"),
        (NAME.summary_key, None, "i/sum/.*missing"),
        (b"i/sum/" + SegmentName(0, 4096).key, b"", "i/sum/"),
    ],
)
def test_rows_that_contradict_each_other_are_refused(key: bytes, value: bytes | None, named: str) -> None:
    """A head, document rows and segments that do not match are rejected."""
    world = full_world()
    put(world, key, value)
    with pytest.raises(CorruptionError, match=named):
        world.view()
