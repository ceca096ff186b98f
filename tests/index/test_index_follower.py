"""Tests of the rows of the index and of its root."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.base import Batch
from backends.memory import MemoryBackend
from engine.base.errors import CorruptionError
from engine.index.index_follower import IndexFollower
from engine.index.segments import segments_of
from engine.ledger.layout import INDEX_SUMMARIES, tree_prefix
from engine.ledger.paged_tree import PagedTree
from proofs.codec import pack, unpack
from proofs.hashing import EMPTY, key_digest, value_digest
from tests.followers.support import (
    World,
    Written,
    body,
    entry,
    history,
    plain_rows,
    plain_segment,
    plain_sizes,
    world_of,
)
from tests.support.engines import put_rows

pytestmark = [pytest.mark.twins, pytest.mark.slow]

ROOT_OF_300 = "7076e75d0e6a38e610de3531f0ed40ee5d9ea7b9f14b8c1d32352d39ddaa71af"
ROWS_ROOT = "89d2701821c716d74980e6ef7c4d32308fdee6b950a160d798c9bf0a37dd9c4c"

WORDS = ("the", "sea", "ship", "ADR-016", "is", "running", "猫が", "x" * 80, "café", "of")
TITLES = (None, None, "The sea", "The sea (band)", "ADR-016 running", "of the")


def texts_of(count: int, seed: int = 1) -> list[Written]:
    """Return short documents, some with a source, a title or a label, some destroyed, some without terms."""
    chosen = random.Random(seed)
    texts: list[Written] = []
    for number in range(count):
        words = chosen.choices(WORDS, k=chosen.randrange(8))
        speaker = chosen.choice(("", "", "Anna: ", "**Anna Sea:** "))
        source = chosen.choice((None, "a.md", "b.md"))
        sequence = chosen.choice((None, 0, number, (1 << 63) - 1))
        text = body(speaker + " ".join(words), chosen.choice(TITLES), source, sequence)
        texts.append(None if number % 17 == 5 else text)
    return texts


def tree_rows(texts: list[Written]) -> dict[bytes, bytes]:
    """Return the rows of the `index` tree, built with one update in an empty store."""
    leaves: dict[bytes, bytes | None] = {}
    for level, start, size in plain_sizes(len(texts)):
        name = bytes([level]) + start.to_bytes(4, "big")
        summary = plain_segment(name, texts[start : start + size])[1]
        leaves[key_digest("index", name)] = value_digest("index", summary)
    rows, batch = MemoryBackend(), Batch()
    if leaves:
        PagedTree("index").update(rows, batch, leaves)
    rows.write(batch)
    return dict(rows.scan())


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 1023, 1024, 1300, 4096, 4400])
def test_rows_are_those_that_the_spec_defines(count: int) -> None:
    """After a single batch the store has exactly the rows that SPEC defines."""
    texts = texts_of(count)
    assert world_of(texts).all_rows() == plain_rows(texts) | tree_rows(texts)


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_rows_do_not_depend_on_batches_and_restarts(data: st.DataObject) -> None:
    """Batch sizes, lost batches, restarts and a second process do not affect the rows and the root."""
    count = data.draw(st.integers(0, 1400))
    between = data.draw(st.integers(0, 1))
    texts = texts_of(count, seed=count)
    world = World(history(texts, between))
    others = [world.follower, world.fresh()]
    at = 0
    while at < len(world.entries):
        size = data.draw(st.sampled_from([1, 2, 100, 255, 256, 257, 600, 1100]))
        world.follower = data.draw(st.sampled_from([*others, world.fresh()]))
        if data.draw(st.booleans()):
            world.follow(at, at + data.draw(st.sampled_from([1, 300, 1000])), lost=True)
        if data.draw(st.booleans()):
            world.root()
        world.follow(at, at + size)
        at += size
    assert world.all_rows() == plain_rows(texts, between) | tree_rows(texts)
    at_once = World(world.entries)
    at_once.follow(0, len(world.entries))
    roots = {world.root(follower) for follower in (*others, world.fresh())}
    assert roots == {at_once.root()}


def test_adding_one_by_one_equals_a_bulk_add() -> None:
    """Documents that are added one by one give the same segments as a bulk add."""
    texts = texts_of(1100)
    world = World(history(texts))
    for number in range(len(texts)):
        world.follow(number, number + 1)
    assert world.all_rows() == world_of(texts).all_rows()


@pytest.mark.parametrize("seed", [1, 2])
def test_merging_gives_the_same_segments_as_building(seed: int) -> None:
    """A segment of 4,096 is the same if built from small or medium segments or from documents."""
    texts = texts_of(4500)
    world, chosen = World(history(texts)), random.Random(seed)
    at = 0
    while at < len(texts):
        size = chosen.choice([100, 256, 700, 1500])
        world.follow(at, at + size)
        at += size
    assert world.all_rows() == world_of(texts).all_rows()


def test_bulk_work_writes_no_temporary_segments() -> None:
    """A batch that completes a large segment does not write the small segments that it replaces."""
    world = World(history(texts_of(1024)))
    batch = Batch()
    world.follower.follow(world.entries, world.rows, batch)
    assert {key[6:7] for key in batch.rows if key.startswith(b"i/seg/")} == {b"\x01"}
    assert None not in batch.rows.values()


@given(st.integers(0, 1 << 32))
def test_segments_are_a_function_of_the_count(count: int) -> None:
    """Segments are aligned and without gaps, the largest first, and leave a tail of less than 256."""
    names = segments_of(min(count, 3 << 20))
    assert [(name.level, name.start, name.size) for name in names] == plain_sizes(min(count, 3 << 20))
    assert all(name.start % name.size == 0 for name in names)


def test_a_segment_once_complete_stays_or_is_merged_whole() -> None:
    """Each segment of N ordinals is inside one segment of any larger N."""
    for small, large in [(256, 1024), (1280, 4096), (3840, 4095), (65_280, 65_536), (70_000, 140_000)]:
        for name in segments_of(small):
            assert any(big.start <= name.start and name.end <= big.end for big in segments_of(large))


def test_the_tail_and_the_count_are_leaves_of_the_root() -> None:
    """The root has the leaves of the stored segments, one for the tail and one for N."""
    texts = texts_of(300)
    world = world_of(texts)
    tree, batch = PagedTree("index"), Batch()
    key = b"\xff" + (256).to_bytes(4, "big")
    summary = plain_segment(key, texts[256:])[1]
    leaves = {
        key_digest("index", key): value_digest("index", summary),
        key_digest("index", b"\xfe"): value_digest("index", pack([300])),
    }
    assert world.root() == tree.update(world.rows, batch, leaves)
    assert summary == pack([41, *unpack(summary, "it")[1:]])


def test_without_a_tail_the_root_still_has_a_leaf_for_the_count() -> None:
    """Without a tail the root has the leaves of the segments and one for N."""
    world = world_of(texts_of(256))
    summary = plain_segment(bytes(5), texts_of(256))[1]
    leaves = {
        key_digest("index", bytes(5)): value_digest("index", summary),
        key_digest("index", b"\xfe"): value_digest("index", pack([256])),
    }
    assert world.root() == PagedTree("index").update(MemoryBackend(), Batch(), leaves)


def test_the_root_of_an_empty_index() -> None:
    """An index without ordinals has the root of the empty tree and no rows."""
    world = world_of([])
    assert world.root() == EMPTY
    assert world.all_rows() == {}


def test_a_summary_that_is_not_in_the_tree_is_an_error() -> None:
    """If the summary row of a segment differs from the leaf of the segment, the root is refused."""
    world = world_of(texts_of(300))
    key, raw = next(world.rows.scan_prefix(INDEX_SUMMARIES))
    documents, length, *rest = unpack(raw, "it")
    put_rows(world.rows, {key: pack([documents, length - 1, *rest])})
    with pytest.raises(CorruptionError, match="summaries"):
        world.root()


def test_golden_roots() -> None:
    """The roots of a fixed history never change in this format."""
    texts = [f"ADR-{number:03} the ship number {number} sails, café 猫が" for number in range(300)]
    bodies = [
        body(text, ("The ship (band)", None)[number % 2], "sea.md", number)
        for number, text in enumerate(texts)
    ]
    bodies[5:10] = [body(f"Anna: {text}") for text in texts[5:10]]
    world = world_of(bodies)
    assert world.root().hex() == ROOT_OF_300
    assert world.follower.tail(world.rows).summary.root.hex() == ROWS_ROOT


def test_the_tail_has_the_rows_of_a_segment() -> None:
    """The tail has the rows that it would have as a segment."""
    texts = texts_of(400)
    tail = world_of(texts).follower.tail(World([]).rows)
    assert tail.documents == ()
    world = world_of(texts)
    tail = world.follower.tail(world.rows)
    assert dict(tail.rows) == plain_segment(b"", texts[256:])[0]


def test_only_the_tail_is_read_back() -> None:
    """After reopening, only the events of the tail are read, and only once."""
    world = world_of(texts_of(600))
    world.follower = world.fresh()
    for _ in range(2):
        world.view()
        world.root()
    assert world.loads == 600 - 512


def test_a_lost_batch_does_not_invalidate_the_cached_tail() -> None:
    """After a batch that was not written, the previous tail is still cached."""
    world = World(history(texts_of(20)))
    world.follow(0, 10)
    world.follow(10, 20, lost=True)
    world.follow(10, 20)
    assert world.loads == 0


def test_another_history_of_equal_length_is_noticed() -> None:
    """A cached tail is not used for another history with the same number of ordinals."""
    world = World(history(["one", "two"]))
    world.follow(0, 2, lost=True)
    other = [entry(0, 0, body("three")), entry(5, 1, body("four"))]
    batch = Batch()
    IndexFollower(lambda rows, start, seqs: []).follow(other, world.rows, batch)
    world.rows.write(batch)
    world.entries = [other[0]] * 5 + [other[1]]
    assert world.view().df("four") == 1
    assert world.view().df("two") == 0


def test_events_that_give_no_ordinal_change_nothing() -> None:
    """A batch of events that assign no ordinal puts no row except the seal of the tree."""
    world = World(history(["sea"], between=3))
    world.follow(0, 1)
    batch = Batch()
    world.follower.follow(world.entries[1:], world.rows, batch)
    assert list(batch.rows) == [tree_prefix("index") + b"\xff"]


def test_ordinals_must_follow_one_another() -> None:
    """An entry that does not assign the next ordinal is rejected with an error that names it."""
    world = World(history(["sea"]))
    with pytest.raises(CorruptionError, match="event 0 does not assign the next ordinal, 0"):
        world.follower.follow([entry(0, 3, body("ship"))], world.rows, Batch())


def test_frequencies_and_lengths_are_clamped() -> None:
    """A term frequency over 255 and a length over 65,535 are stored as these limits."""
    world = world_of([body("sea " * 299 + "the " * 70_000, "sea"), body("ship " * 70_000, "ship " * 300)])
    assert [postings.tfs.tolist() for postings in world.view().postings("sea")] == [[255]]
    assert [postings.tfs.tolist() for postings in world.view().heads("ship")] == [[255]]
    assert world.view().lengths_at(np.arange(2)).tolist() == [300, 65_535]


def test_stop_words_are_found_and_do_not_lengthen() -> None:
    """Stop words are indexed but do not count for the length of a document."""
    view = world_of(["the sea and the ship"]).view()
    assert view.df("the") == 1
    assert view.lengths_at(np.arange(1)).tolist() == [2]
