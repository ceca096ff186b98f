"""Events with an origin: what a store records of the events of another store."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import ConflictError
from engine.base.validation import show_id
from engine.engine import Engine
from engine.ledger.journal import read_header
from engine.text.analyzer import STOP_WORDS, index_terms
from engine.trust.audit.verify import verify
from proofs.events import (
    AtomBody,
    AtomNotedBody,
    Body,
    EdgeBody,
    EdgeDetail,
    EdgeNotedBody,
    ErasedBody,
    EventKind,
    Origin,
    ReasonBody,
    TagsBody,
)
from tests.spec.spec_naive import all_roots
from tests.spec.spec_rows import all_rows
from tests.support.engines import BEGIN, backend_of, engine_on, fresh_rows
from tests.support.pulled import Pulled, TakenIn
from tests.vectors.example import rows_of

K = EventKind
ATOMS = [bytes([number]) * 16 for number in range(1, 5)]
TAGS = st.lists(st.sampled_from(["red", "Red", "RED", "blue"]), min_size=1, max_size=1).map(tuple)
TEXTS = st.sampled_from(["The pump runs.", "The pump stands still.", "The pump: gone"])
REASONS = st.sampled_from(["", "why"])
TIMES = st.integers(BEGIN - 90_000_000_000, BEGIN + 90_000_000_000)
VERSIONS = st.builds(
    lambda text, tags, created: AtomBody(
        text, None, "note", tags, ("inbox",), "a/b.md", None, "internal", None, created, 0
    ),
    TEXTS,
    TAGS,
    st.none() | TIMES,
)
WEIGHTS = st.just(b"\x3f\x80\0\0")
ON_ATOMS: dict[EventKind, st.SearchStrategy[Body]] = {
    **dict.fromkeys((K.ATOM_ADDED, K.ATOM_REVISED, K.VERSION_NOTED), VERSIONS),
    **dict.fromkeys((K.TAGS_ADDED, K.TAGS_REMOVED), TAGS.map(TagsBody)),
    **dict.fromkeys((K.ATOM_TOMBSTONED, K.ATOM_REVIVED), REASONS.map(ReasonBody)),
    K.ATOM_NOTED: st.builds(AtomNotedBody, st.none() | REASONS, TAGS | st.just(())),
    K.ERASED: st.just(ErasedBody("there", ())),
}
ON_EDGES: dict[EventKind, st.SearchStrategy[Body]] = {
    K.EDGE_ADDED: WEIGHTS.map(lambda weight: EdgeBody(weight, b"")),
    **dict.fromkeys((K.EDGE_REMOVED, K.EDGE_ERASED), REASONS.map(ReasonBody)),
    K.EDGE_NOTED: st.builds(
        EdgeNotedBody, st.none() | WEIGHTS, st.none() | st.just(b""), st.none() | REASONS
    ),
}


@st.composite
def events(draw: st.DrawFn) -> Pulled:
    """Return one event with an origin. Edges are between two atoms that are there from the beginning."""
    kind = draw(st.sampled_from([*ON_ATOMS, *ON_ATOMS, *ON_EDGES]))
    subject: bytes | EdgeDetail = draw(st.sampled_from(ATOMS))
    if kind is K.ERASED:
        subject = draw(st.sampled_from(ATOMS[2:]))
    elif kind in ON_EDGES:
        subject = EdgeDetail(ATOMS[0], draw(st.sampled_from([b"\x01", b"\x06"])), ATOMS[1])
    body = draw((ON_ATOMS | ON_EDGES)[kind])
    origin = Origin(bytes(16), draw(st.integers(0, 9)), int(kind), bytes(32), draw(TIMES))
    return Pulled(TakenIn(kind, subject, body), origin)


def store_after(made: list[Pulled]) -> Engine:
    """Return a store with two atoms and those of the events that are possible in turn."""
    engine = engine_on()
    for atom in ATOMS[:2]:
        engine.add(f"text {atom[0]}", id=show_id(atom), tags=["Red"])
    for one in made:
        with suppress(ConflictError):
            engine.apply([one])
    return engine


@given(st.lists(events(), max_size=12))
def test_the_rows_and_roots_are_those_of_the_specification(made: list[Pulled]) -> None:
    """Each row and each root follows from the page, also after events that only another store can write."""
    engine = store_after(made)
    root = engine.root()
    journal = rows_of(engine.store.backend)
    found = all_roots(journal, index_terms, frozenset(STOP_WORDS))
    assert found["overall"].hex() == root.root
    stored = dict(engine.store.backend.scan())
    assert all_rows(journal, index_terms, frozenset(STOP_WORDS)) == stored


@given(st.lists(events(), max_size=12))
def test_a_rebuild_gives_the_same_rows(made: list[Pulled]) -> None:
    """All events at once give the rows that they gave one by one, and the audit finds nothing wrong."""
    engine = store_after(made)
    engine.catch_up()
    backend = backend_of(engine)
    assert verify(backend).ok
    assert fresh_rows(backend) == dict(backend.scan())


def test_an_origin_is_in_the_header() -> None:
    """The origin is kept with the header, so it is there when the payload is destroyed."""
    engine = engine_on()
    origin = Origin(bytes(16), 3, 1, bytes(32), BEGIN)
    (made,) = engine.apply([Pulled(TakenIn(K.ATOM_ADDED, ATOMS[0], _text()), origin)])
    with engine.store.view() as rows:
        assert read_header(rows, made.events[0].seq)[0].origin == origin
    engine.erase(made.subject, "gone", probe=False)
    with engine.store.view() as rows:
        assert read_header(rows, made.events[0].seq)[0].origin == origin


def _text() -> AtomBody:
    return AtomBody("text", None, "note", (), ("inbox",), None, None, "internal", None, None, 0)
