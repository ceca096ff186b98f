"""Damaged rows of the index are rejected with an error that names the row."""

import pytest

from backends.base import Batch
from engine.base.errors import CorruptionError
from engine.followers import postings
from engine.followers.segments import SegmentName, decode_summary, parse_summary_key
from proofs.codec import pack, unpack
from tests.followers.support import World, Written, history, world_of

TEXTS: list[Written] = ["Anna: the sea", "ship"]
NAME = SegmentName(0, 0)
SEA = NAME.row_prefix + b"sea"
LENGTHS = NAME.row_prefix + b"\x00"
FACTS = NAME.row_prefix + b"\x00\x01"
GOOD = bytes([0, 0, 0, 2, 3, 1, 0, 4, 0, 3, 1])
"""Postings of documents 1 and 4, which have the term three times and once."""

BAD_POSTINGS = {
    "empty": b"",
    "only a head": GOOD[:5],
    "df 0": bytes(5),
    "df too large": bytes([0, 0, 0, 3]) + GOOD[4:],
    "df over the documents": (257).to_bytes(4, "big") + b"\x01" + bytes(3 * 257),
    "a byte too many": GOOD + b"\x01",
    "a byte too few": GOOD[:-1],
    "offsets equal": GOOD[:5] + bytes([4, 0, 4, 0]) + GOOD[9:],
    "offsets descending": GOOD[:5] + bytes([4, 0, 1, 0]) + GOOD[9:],
    "offset beyond the segment": GOOD[:7] + bytes([0, 1]) + GOOD[9:],
    "tf 0": GOOD[:-1] + b"\x00",
    "max tf too small": GOOD[:4] + b"\x02" + GOOD[5:],
    "max tf too large": GOOD[:4] + b"\x04" + GOOD[5:],
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


def test_good_postings() -> None:
    """The row from which the malformed rows are made is accepted."""
    offsets, tfs = postings.decode_postings(SEA, GOOD, 256)
    assert (offsets.tolist(), tfs.tolist()) == ([1, 4], [3, 1])


@pytest.mark.parametrize("case", BAD_POSTINGS)
def test_malformed_postings_are_refused_when_searched(case: str) -> None:
    """A search that reads a malformed row of a term fails with an error that names its key."""
    world = full_world()
    put(world, SEA, BAD_POSTINGS[case])
    put(world, NAME.row_prefix + b"\x01anna", BAD_POSTINGS[case])
    with pytest.raises(CorruptionError, match=r"i/seg/.*sea"):
        world.view().postings("sea")
    with pytest.raises(CorruptionError, match=r"i/seg/.*x01anna"):
        world.view().heads("anna")


@pytest.mark.parametrize("case", BAD_POSTINGS)
def test_malformed_postings_are_refused_when_merged(case: str) -> None:
    """A merge that reads a malformed row of a term fails with an error that names its key."""
    world = full_world()
    world.entries = history(TEXTS * 513)
    put(world, SEA, BAD_POSTINGS[case])
    with pytest.raises(CorruptionError, match=r"i/seg/.*sea"):
        world.follow(1022, 1026)


NO_TERMS = [
    *(b"\xff", b"a\xc3", b"x" * 65, b"\xed\xa0\x80", b"\x00\x02", b"\x00sea"),
    *(b"\x01", b"\x01\xff", b"\x01" + b"x" * 65, b"\x01\x01sea", b"\x01\x00"),
]


@pytest.mark.parametrize("term", NO_TERMS)
def test_rows_of_invalid_terms_are_rejected_when_merged(term: bytes) -> None:
    """A merge rejects a row key that does not end in a term of 1 to 64 bytes of UTF-8."""
    world = full_world()
    world.entries = history(TEXTS * 513)
    put(world, NAME.row_prefix + b"sea", None)
    put(world, NAME.row_prefix + term, GOOD)
    with pytest.raises(CorruptionError, match="does not end in a term"):
        world.follow(1022, 1026)


@pytest.mark.parametrize("value", [None, b"", bytes(5 + 512), b"\x00\x00\x01\x00\x00" + bytes(511)])
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


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"\x00\x00\x01\x00\x00" + bytes(32 * 256 - 1),
        b"\x00\x00\x01\x00\x00" + bytes(32 * 257),
        b"\x00\x00\x01\x00\x01" + bytes(32 * 256),
        b"\x00\x00\x01\x01\x00" + bytes(32 * 256),
        b"\x00\x00\x01\x00\x00" + bytes(8 * 256) + LATE.to_bytes(8, "little") + bytes(24 * 256 - 8),
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


@pytest.mark.parametrize("term", [b"sea", b"ship", b"the", b"\x01anna"])
def test_a_missing_row_is_noticed_when_merged(term: bytes) -> None:
    """A segment with fewer rows than its summary counts is not merged."""
    world = full_world()
    world.entries = history(TEXTS * 513)
    put(world, NAME.row_prefix + term, None)
    with pytest.raises(CorruptionError, match="does not match the rows"):
        world.follow(1022, 1026)


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
