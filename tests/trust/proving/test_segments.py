"""Showing a term, or that it is not there, in indexes of several segments."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.memory import MemoryBackend
from engine.commands import Add, Tombstone
from engine.engine import Engine
from engine.followers.segments import BLOCK_ROWS, SegmentName
from engine.trust.proving.openings import IndexRows
from proofs.basis import Root
from proofs.claims import AtomsMentioning, AtomsTagged, Claim, NoneMentioning, NoneTagged
from proofs.index_table import read_index
from proofs.segments import SEGMENT_DOCUMENTS, segments_of
from proofs.verified import AllMentioning, AllTagged
from proofs.verifier import verify
from tests.support.engines import engine_on, rows_of
from tests.support.workloads import id_of
from tests.trust.proving.support import raw_id

SIZES = (0, 1, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4400)
"""Ordinals: no segment, the first ones, merged ones of two levels, and those with a tail and without."""
DEAD = (2, 300, 4099)


def word_of(number: int) -> str:
    """A word that is its own term, in the order of the numbers."""
    return "w" + "".join("bcdfghjkmp"[int(digit)] for digit in f"{number:04}")


def text_of(number: int) -> str:
    """A word of its own for each atom, and some that many have; all are their own terms."""
    return f"{word_of(number)} all{' tenth' if number % 10 == 0 else ''}{' dead' if number in DEAD else ''}"


@cache
def memory_of(size: int) -> Engine:
    """A store of so many atoms, some of which are dead."""
    engine = engine_on(MemoryBackend())
    if size:
        tags = {True: ["dead"], False: ["red"]}
        adds = [Add(text_of(n), id=id_of(n), tags=tags[n in DEAD]) for n in range(size)]
        assert len(list(engine.apply_many(adds))) == size
        engine.apply([Tombstone(id_of(n)) for n in DEAD if n < size])
    return engine


def shown(engine: Engine, claim: Claim) -> list[bytes]:
    """The ids that a proof of the claim lists, against the root that the engine says it has."""
    root = Root(engine.store.identity.store_id, bytes.fromhex(engine.root().root), engine.size)
    (fact,) = verify(engine.prove([claim]).data, root, [claim])
    return [atom.id for atom in fact.atoms] if isinstance(fact, AllMentioning | AllTagged) else []


@pytest.mark.parametrize("size", SIZES)
def test_the_table_has_the_segments_that_follow_from_the_size(size: int) -> None:
    """As many as 256, 1,024 and 4,096 ordinals make up, and the tail; the verifier takes it."""
    engine = memory_of(size)
    with engine.store.view(*engine.store.followers) as rows:
        index = IndexRows(engine.store.index, rows)
        table = index.table()
        starts = [segment.start for segment in segments_of(size)]
        assert index.starts() == starts + (
            [size - size % SEGMENT_DOCUMENTS] if size % SEGMENT_DOCUMENTS else []
        )
        assert read_index(table, engine.store.index.root(rows)).ordinals == index.ordinals == size


@pytest.mark.parametrize("size", SIZES)
def test_who_mentions_a_term_in_every_segment(size: int) -> None:
    """A term of all atoms, of some, of the first, the last and one between: exactly the live ones."""
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
    """Before the first term, between two, after the last, and one that only dead atoms have."""
    assert shown(memory_of(size), NoneMentioning(term)) == []


@pytest.mark.parametrize("size", SIZES[1:])
def test_who_has_a_tag(size: int) -> None:
    """The live atoms with a tag, none of the dead ones' tag, and none of a tag that nobody has."""
    engine = memory_of(size)
    live = [raw_id(number) for number in range(size) if number not in DEAD]
    assert shown(engine, AtomsTagged("red")) == live
    assert shown(engine, NoneTagged("dead")) == shown(engine, NoneTagged("unheard")) == []


def test_a_term_of_the_tail_only() -> None:
    """What is in no segment yet is shown from the tail, and absent from every segment."""
    engine = memory_of(4400)
    assert shown(engine, AtomsMentioning(word_of(4399))) == [raw_id(4399)]
    assert shown(memory_of(1), AtomsMentioning(word_of(0))) == [raw_id(0)]


def terms_of(engine: Engine, name: SegmentName) -> list[bytes]:
    """The keys of the rows of a segment, in their order."""
    rows = rows_of(engine.store.backend, "index")
    return sorted(key.removeprefix(name.row_prefix) for key in rows if key.startswith(name.row_prefix))


BIG = SegmentName(2, 0)


def on_borders() -> Iterator[bytes]:
    """The terms around every border of a block of rows, and what lies right before and behind each."""
    terms = terms_of(memory_of(4400), BIG)
    for validation in range(BLOCK_ROWS, len(terms), BLOCK_ROWS):
        for term in terms[validation - 1 : validation + 1]:
            yield from (term[:-1] + bytes([term[-1] - 1]) + b"~", term, term + b"!")
    yield from (terms[-1], terms[-1] + b"!")


def test_terms_on_the_borders_of_blocks() -> None:
    """The last row of a block and the first of the next, and the gaps around them: shown, and verified."""
    engine = memory_of(4400)
    there = set(terms_of(engine, BIG))
    tried = list(on_borders())
    assert len(tried) > 6 * (len(there) // BLOCK_ROWS)
    for term in tried:
        live = [raw_id(n) for n in range(4400) if term.decode() in text_of(n).split() and n not in DEAD]
        assert (term in there) is bool(live)
        claim = AtomsMentioning(term.decode()) if live else NoneMentioning(term.decode())
        assert shown(engine, claim) == live


def can_be_term(text: str) -> bool:
    """Whether a claim can be about it: no white space, and none of A to Z."""
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
    """Whatever the term is, that it is not there is proved exactly if no text has it."""
    live = [raw_id(n) for n in range(size) if term in text_of(n).split() and n not in DEAD]
    assert shown(memory_of(size), AtomsMentioning(term) if live else NoneMentioning(term)) == live
