"""Proofs of terms and of their absence, in indexes with several segments."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import cache, partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.memory import MemoryBackend
from engine.commands import Add, Tombstone
from engine.engine import Engine
from engine.index.postings import COLUMN_ROWS
from engine.index.segments import BLOCK_ROWS, SegmentName
from engine.trust.proving.index_witnesses import IndexRows
from proofs.basis import Root
from proofs.claims import AtomsMentioning, AtomsTagged, Claim, NoneMentioning, NoneTagged
from proofs.labels import TERMS, label_of
from proofs.leaves import SEGMENT_DOCUMENTS, segments_of
from proofs.limits import ORDINAL_MAX
from proofs.list_claims import read_index
from proofs.verified import AllMentioning, AllTagged
from proofs.verifier import verify
from tests.support.engines import engine_on
from tests.support.workloads import id_of
from tests.trust.proving.support import raw_id

pytestmark = pytest.mark.slow

SIZES = (0, 1, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4400)
"""Numbers of ordinals: no segment, first ones, merged ones of two levels, with and without a tail."""
DEAD = (2, 300, 4099)


def word_of(number: int) -> str:
    """Return a word that is its own term; the words are in the order of the numbers."""
    return "w" + "".join("bcdfghjkmp"[int(digit)] for digit in f"{number:04}")


def text_of(number: int) -> str:
    """Return a text of one unique word and some common ones, each its own term."""
    return f"{word_of(number)} all{' tenth' if number % 10 == 0 else ''}{' dead' if number in DEAD else ''}"


@cache
def memory_of(size: int) -> Engine:
    """Return a store of this many atoms, some of which are dead."""
    engine = engine_on(MemoryBackend())
    if size:
        tags = {True: ["dead"], False: ["red"]}
        adds = [Add(text_of(n), id=id_of(n), tags=tags[n in DEAD]) for n in range(size)]
        assert len(list(engine.apply_many(adds))) == size
        engine.apply([Tombstone(id_of(n)) for n in DEAD if n < size])
    return engine


def shown(engine: Engine, claim: Claim) -> list[bytes]:
    """Return the ids that a proof of the claim lists, verified against the engine's root."""
    root = Root(engine.store.identity.store_id, bytes.fromhex(engine.root().root), engine.size)
    (fact,) = verify(engine.prove([claim]).data, root, [claim])
    return [atom.id for atom in fact.atoms] if isinstance(fact, AllMentioning | AllTagged) else []


@pytest.mark.parametrize("size", SIZES)
def test_the_table_has_the_segments_that_follow_from_the_size(size: int) -> None:
    """The table has the segments of 256, 1,024 and 4,096 ordinals and the tail; the verifier accepts it."""
    engine = memory_of(size)
    with engine.store.view(*engine.store.followers) as rows:
        index = IndexRows(engine.store.index, rows)
        table = index.table()
        parts = [(segment.start, segment.end) for segment in segments_of(size)]
        parts += [(size - size % SEGMENT_DOCUMENTS, size)] if size % SEGMENT_DOCUMENTS else []
        for first, last in ((0, ORDINAL_MAX), (255, 256), (300, 300)):
            expected = [start for start, end in parts if start <= last and first < end]
            assert index.entries(b"all", first, last)[1] == expected
        root = engine.store.index.root(rows, engine.size)
        assert read_index(table, root).ordinals == index.ordinals == size


@pytest.mark.parametrize("size", SIZES)
def test_who_mentions_a_term_in_every_segment(size: int) -> None:
    """A proof lists exactly the live atoms with a term, whether all, some or one atom has it."""
    engine = memory_of(size)
    live = [number for number in range(size) if number not in DEAD]
    lists = {"all": live, "tenth": [number for number in live if number % 10 == 0]}
    lists |= {word_of(number): [number] for number in live[:1] + live[-1:] + live[len(live) // 2 :][:1]}
    for term, numbers in lists.items():
        if numbers:
            assert shown(engine, AtomsMentioning(term)) == [raw_id(number) for number in numbers]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "term", ["!", "\xa1", "a", "alm", "w", "wbbbba", "wpppp", "zzz", "\U0010ffff", "dead"]
)
def test_nobody_mentions_a_term(size: int, term: str) -> None:
    """Absence is proved before the first term, between two, after the last, and for terms of dead atoms."""
    assert shown(memory_of(size), NoneMentioning(term)) == []


@pytest.mark.parametrize("size", SIZES[1:])
def test_who_has_a_tag(size: int) -> None:
    """A proof lists exactly the live atoms with a tag, and none for tags of dead or of no atoms."""
    engine = memory_of(size)
    live = [raw_id(number) for number in range(size) if number not in DEAD]
    assert shown(engine, AtomsTagged("red")) == live
    assert shown(engine, NoneTagged("dead")) == shown(engine, NoneTagged("unheard")) == []


def test_a_term_of_the_tail_only() -> None:
    """A term of the tail is shown from there, and shown to be absent from every segment."""
    engine = memory_of(4400)
    assert shown(engine, AtomsMentioning(word_of(4399))) == [raw_id(4399)]
    assert shown(memory_of(1), AtomsMentioning(word_of(0))) == [raw_id(0)]


BIG = SegmentName(2, 0)


def on_borders(engine: Engine) -> Iterator[str]:
    """Return the terms around every border of a block of BIG, and absent ones whose labels are there, too."""
    label = partial(label_of, engine.store.identity.label_key, TERMS)
    there = {label(term.encode()): term for n in range(BIG.size) for term in text_of(n).split()}
    names = sorted(there)
    # The rows of lengths and facts precede the rows of terms.
    borders = range(BLOCK_ROWS - len(COLUMN_ROWS), len(names), BLOCK_ROWS)
    for border in borders:
        yield from (there[name] for name in names[border - 1 : border + 1])
    wanted = {0, *borders, len(names)}
    for term in (f"absent{number}" for number in range(30_000)):
        if bisect_left(names, label(term.encode())) in wanted:
            yield term


def test_terms_on_the_borders_of_blocks() -> None:
    """Terms at the borders of blocks, and the gaps around them, are shown and verified."""
    engine = memory_of(4400)
    tried = list(on_borders(engine))
    assert sum(term.startswith("absent") for term in tried) > BIG.size // BLOCK_ROWS
    for term in tried:
        live = [raw_id(n) for n in range(4400) if term in text_of(n).split() and n not in DEAD]
        claim = AtomsMentioning(term) if live else NoneMentioning(term)
        assert shown(engine, claim) == live


def can_be_term(text: str) -> bool:
    """Return True if a claim can be about the text: it has no white space and none of A to Z."""
    return text.split() == [text] and not any("A" <= letter <= "Z" for letter in text)


@settings(deadline=None, max_examples=40)
@given(
    term=st.text(
        st.characters(codec="utf-8", min_codepoint=33, exclude_categories=("Cc", "Cs")),
        min_size=1,
        max_size=16,
    ).filter(can_be_term),
    size=st.sampled_from(SIZES),
)
def test_any_term_is_there_or_not(term: str, size: int) -> None:
    """The absence of any term is proved exactly if no text has it."""
    live = [raw_id(n) for n in range(size) if term in text_of(n).split() and n not in DEAD]
    assert shown(memory_of(size), AtomsMentioning(term) if live else NoneMentioning(term)) == live
