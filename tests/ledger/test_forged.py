"""Forged journals: the hashes and commitments are right, but no command would append the events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from engine.base.validation import atom_id
from engine.ledger.journal import read_header, read_identity, read_log
from engine.ledger.layout import journal_key
from engine.text.analyzer import ANALYZER_NAME
from engine.text.analyzer_fingerprint import fingerprint
from engine.trust.audit.verify import verify
from proofs.codec import encode_header
from proofs.events import (
    AtomBody,
    AtomDetail,
    AtomNotedBody,
    Body,
    CheckpointBody,
    CheckpointDetail,
    Detail,
    EdgeBody,
    EdgeDetail,
    EdgeNotedBody,
    ErasedBody,
    EventKind,
    FactBody,
    FactDetail,
    ForeignHeadBody,
    ForeignHeadDetail,
    GenesisBody,
    GenesisDetail,
    Origin,
    ReasonBody,
    TagsBody,
    TypeBody,
    TypeDetail,
)
from proofs.hashing import label_commitment, predicate_code
from tests.support.engines import BEGIN, backend_of, copied_rows, engine_on, forge, head_of, put_rows, rows_of
from tests.support.workloads import id_of

LIVE, HIDDEN, OTHER, NEW = (atom_id(id_of(number)) for number in range(4))
WHY = ReasonBody("")
ONE = EdgeBody(b"\x3f\x80\x00\x00", b"")


def atom_body(**fields: Any) -> AtomBody:
    """Return a body that a command could have made, with `fields` replaced."""
    plain = AtomBody("text", None, "note", (), ("inbox",), None, None, "internal", None, None, 0)
    return plain._replace(**fields)


ENGINE = engine_on()
for _number in range(3):
    ENGINE.add(f"text {_number}", id=id_of(_number), tags=["red"])
ENGINE.tombstone(id_of(1))
ENGINE.register_type("near")
ENGINE.link(id_of(0), "near", id_of(2))
ENGINE.catch_up()
STORE = backend_of(ENGINE)
SIZE = read_log(STORE).size
LAST = {LIVE: 1, HIDDEN: 4, OTHER: 3, b"edge": 6}
ID_KEY = read_identity(STORE).id_key
NEAR, FAR = predicate_code(ID_KEY, "near"), predicate_code(ID_KEY, "far")


@dataclass(frozen=True)
class Forgery:
    """An event to append, and the seq that it claims for the previous event on its subject."""

    kind: EventKind
    detail: Detail
    body: Body
    prev: int | None = None
    origin: Origin | None = None


K = EventKind
THERE = Origin(bytes(16), 5, 1, bytes(32), BEGIN)
HERE = Origin(read_identity(STORE).store_id, SIZE, 1, bytes(32), BEGIN)
NEXT = AtomDetail(NEW, 3, None)
FORGERIES = {
    "tombstone of an unknown atom": Forgery(K.ATOM_TOMBSTONED, AtomDetail(NEW, 0, None), WHY),
    "revival of an unknown atom": Forgery(K.ATOM_REVIVED, AtomDetail(NEW, 0, None), WHY),
    "revision of an unknown atom": Forgery(K.ATOM_REVISED, AtomDetail(NEW, 3, 0), atom_body()),
    "tags on an unknown atom": Forgery(K.TAGS_ADDED, AtomDetail(NEW, 0, None), TagsBody(("red",))),
    "removal of an unknown edge": Forgery(K.EDGE_REMOVED, EdgeDetail(OTHER, b"\x06", LIVE), WHY),
    "second add": Forgery(K.ATOM_ADDED, AtomDetail(LIVE, 3, None), atom_body(), LAST[LIVE]),
    "second add without prev": Forgery(K.ATOM_ADDED, AtomDetail(LIVE, 3, None), atom_body()),
    "skipped ordinal": Forgery(K.ATOM_ADDED, AtomDetail(NEW, 4, None), atom_body()),
    "repeated ordinal": Forgery(K.ATOM_ADDED, AtomDetail(NEW, 2, None), atom_body()),
    "revision that replaces another": Forgery(
        K.ATOM_REVISED, AtomDetail(LIVE, 3, 2), atom_body(), LAST[LIVE]
    ),
    "wrong ordinal of a tag": Forgery(K.TAGS_ADDED, AtomDetail(LIVE, 2, None), TagsBody(("b",)), LAST[LIVE]),
    "wrong prev": Forgery(K.ATOM_TOMBSTONED, AtomDetail(LIVE, 0, None), WHY, 2),
    "no prev": Forgery(K.ATOM_TOMBSTONED, AtomDetail(LIVE, 0, None), WHY),
    "prev of a new atom": Forgery(K.ATOM_ADDED, NEXT, atom_body(), 1),
    "second tombstone": Forgery(K.ATOM_TOMBSTONED, AtomDetail(HIDDEN, 1, None), WHY, LAST[HIDDEN]),
    "revival of a live atom": Forgery(K.ATOM_REVIVED, AtomDetail(LIVE, 0, None), WHY, LAST[LIVE]),
    "tags on a hidden atom": Forgery(
        K.TAGS_ADDED, AtomDetail(HIDDEN, 1, None), TagsBody(("b",)), LAST[HIDDEN]
    ),
    "revision of a hidden atom": Forgery(K.ATOM_REVISED, AtomDetail(HIDDEN, 3, 1), atom_body(), LAST[HIDDEN]),
    "second add of an edge": Forgery(K.EDGE_ADDED, EdgeDetail(LIVE, NEAR, OTHER), ONE, LAST[b"edge"]),
    "edge to itself": Forgery(K.EDGE_ADDED, EdgeDetail(LIVE, b"\x06", LIVE), ONE),
    "edge to an unknown atom": Forgery(K.EDGE_ADDED, EdgeDetail(LIVE, b"\x06", NEW), ONE),
    "edge of an unknown type": Forgery(K.EDGE_ADDED, EdgeDetail(LIVE, FAR, OTHER), ONE),
    "edge of a built-in type there is not": Forgery(K.EDGE_ADDED, EdgeDetail(LIVE, b"\x7f", OTHER), ONE),
    "edge that weighs NaN": Forgery(
        K.EDGE_ADDED, EdgeDetail(LIVE, b"\x06", OTHER), EdgeBody(b"\x7f\xc0\0\0", b"")
    ),
    "code of another name": Forgery(K.EDGE_TYPE_REGISTERED, TypeDetail(FAR), TypeBody("farther")),
    "code of another id key": Forgery(
        K.EDGE_TYPE_REGISTERED, TypeDetail(predicate_code(bytes(32), "far")), TypeBody("far")
    ),
    "second registration": Forgery(K.EDGE_TYPE_REGISTERED, TypeDetail(NEAR), TypeBody("near")),
    "built-in type name": Forgery(
        K.EDGE_TYPE_REGISTERED, TypeDetail(predicate_code(ID_KEY, "part_of")), TypeBody("part_of")
    ),
    "second genesis": Forgery(
        K.GENESIS,
        GenesisDetail(bytes(16), ANALYZER_NAME, fingerprint(), label_commitment(bytes(32)), 1),
        GenesisBody(bytes(32), bytes(32), bytes(32)),
    ),
    "head of this store": Forgery(
        K.FOREIGN_HEAD,
        ForeignHeadDetail(read_identity(STORE).store_id, 1, bytes(32), None),
        ForeignHeadBody(None),
    ),
    "event of this store as one of another": Forgery(K.ATOM_ADDED, NEXT, atom_body(), None, HERE),
    "lost version of an unknown atom": Forgery(K.VERSION_NOTED, NEXT, atom_body(), None, THERE),
    "lost version with the current ordinal": Forgery(
        K.VERSION_NOTED, AtomDetail(LIVE, 0), atom_body(), LAST[LIVE], THERE
    ),
    "statement about an unknown atom": Forgery(K.ATOM_NOTED, NEXT, AtomNotedBody(None, ()), None, THERE),
    "statement about an unknown edge": Forgery(
        K.EDGE_NOTED, EdgeDetail(OTHER, b"\x06", LIVE), EdgeNotedBody(None, None, None), None, THERE
    ),
    "second add of another store": Forgery(K.ATOM_ADDED, AtomDetail(LIVE, 3), atom_body(), LAST[LIVE], THERE),
    "revival of a live atom by another store": Forgery(
        K.ATOM_REVIVED, AtomDetail(LIVE, 0), WHY, LAST[LIVE], THERE
    ),
    "erasure of an unknown atom with a known ordinal": Forgery(
        K.ERASED, AtomDetail(NEW, 2), ErasedBody("", ()), None, THERE
    ),
    "erasure of an unknown atom here": Forgery(K.ERASED, NEXT, ErasedBody("", ())),
    "fact without prev": Forgery(K.FACT_40, FactDetail(LIVE), FactBody(b"data")),
    "fact with a wrong prev": Forgery(K.FACT_40, FactDetail(LIVE), FactBody(b"data"), LAST[OTHER]),
    "fact on a new atom with prev": Forgery(K.FACT_40, FactDetail(NEW), FactBody(b"data"), 1),
    "fact on no atom": Forgery(K.FACT_40, FactDetail(bytes(16)), FactBody(b"data")),
    "zero atom id": Forgery(K.ATOM_ADDED, AtomDetail(bytes(16), 3, None), atom_body()),
    "blank content": Forgery(K.ATOM_ADDED, NEXT, atom_body(content=" ")),
    "content with NUL": Forgery(K.ATOM_ADDED, NEXT, atom_body(content="a\x00")),
    "unknown provenance": Forgery(K.ATOM_ADDED, NEXT, atom_body(provenance="heaven")),
    "kind that is no label": Forgery(K.ATOM_ADDED, NEXT, atom_body(kind="Not A Label")),
    "unsorted tags": Forgery(K.ATOM_ADDED, NEXT, atom_body(tags=("b", "a"))),
    "one tag twice": Forgery(K.TAGS_ADDED, AtomDetail(LIVE, 0, None), TagsBody(("b", "B")), LAST[LIVE]),
    "tag that is there": Forgery(K.TAGS_ADDED, AtomDetail(LIVE, 0, None), TagsBody(("red",)), LAST[LIVE]),
    "tag that is not there": Forgery(K.TAGS_REMOVED, AtomDetail(LIVE, 0, None), TagsBody(("b",)), LAST[LIVE]),
    "no tags": Forgery(K.TAGS_ADDED, AtomDetail(LIVE, 0, None), TagsBody(()), LAST[LIVE]),
}
ONLY_BODIES = {
    "edge that weighs NaN",
    "blank content",
    "content with NUL",
    "unknown provenance",
    "kind that is no label",
    "unsorted tags",
    "one tag twice",
    "tag that is there",
    "tag that is not there",
    "no tags",
}
"""Events that are wrong only in the payload; `verify` opens payloads but does not check these rules."""


@pytest.mark.parametrize("name", [name for name in FORGERIES if name not in ONLY_BODIES])
def test_an_impossible_event_is_rejected(name: str) -> None:
    """`verify` fails and names the journal and the seq of the event."""
    store, forgery = copied_rows(STORE), FORGERIES[name]
    forge(store, forgery.kind, forgery.detail, forgery.body, prev=forgery.prev, origin=forgery.origin)
    report = verify(store)
    assert not report.ok
    assert ("journal", SIZE) in {(difference.family, difference.seq) for difference in report.differences}


@pytest.mark.parametrize("name", sorted(FORGERIES))
def test_no_forged_event_crashes_the_engine(name: str) -> None:
    """Whatever the journal contains, `verify` returns a report and does not raise."""
    store, forgery = copied_rows(STORE), FORGERIES[name]
    forge(store, forgery.kind, forgery.detail, forgery.body, prev=forgery.prev, origin=forgery.origin)
    assert verify(store).size in (0, SIZE, SIZE + 1)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in FORGERIES
        if ("unknown atom" in name or "second add" in name) and not {"edge", "erasure"} & set(name.split())
    ],
)
def test_an_event_on_an_unknown_subject_changes_no_record(name: str) -> None:
    """The fold ignores events on unknown subjects, and a second add of the same atom."""
    store, forgery = copied_rows(STORE), FORGERIES[name]
    before = rows_of(store, "atoms", "ordinals", "edges-from", "edges-to")
    forge(store, forgery.kind, forgery.detail, forgery.body, prev=forgery.prev, origin=forgery.origin)
    engine_on(store)
    assert rows_of(store, "atoms", "ordinals", "edges-from", "edges-to") == before


def test_a_valid_forged_event_is_accepted() -> None:
    """A valid event that the forging tools append passes `verify`."""
    store = copied_rows(STORE)
    forge(store, K.ATOM_ADDED, NEXT, atom_body())
    forge(store, K.EDGE_ADDED, EdgeDetail(LIVE, b"\x06", NEW), ONE)
    forge(store, K.EDGE_TYPE_REGISTERED, TypeDetail(FAR), TypeBody("far"))
    forge(store, K.EDGE_ADDED, EdgeDetail(LIVE, FAR, NEW), ONE)
    forge(store, K.FOREIGN_HEAD, ForeignHeadDetail(bytes(16), 1, bytes(32), None), ForeignHeadBody(None))
    forge(store, K.FACT_40, FactDetail(LIVE), FactBody(b"data"), prev=LAST[LIVE])
    forge(store, K.FACT_40, FactDetail(None), FactBody(b""))
    report = verify(store)
    assert report.ok, report.differences


def test_events_of_another_store_are_followed_by_its_head() -> None:
    """After events with an origin comes a further one, or the head of the store that they are from."""
    store = copied_rows(STORE)
    forge(store, K.ATOM_ADDED, NEXT, atom_body(), origin=THERE)
    forge(store, K.TAGS_ADDED, AtomDetail(NEW, 3), TagsBody(("b",)), prev=SIZE, origin=THERE)
    assert verify(store).ok
    other = copied_rows(store)
    forge(other, K.FACT_40, FactDetail(None), FactBody(b""))
    assert {difference.seq for difference in verify(other).differences} == {SIZE + 2}
    forge(store, K.FOREIGN_HEAD, ForeignHeadDetail(bytes(16), 6, bytes(32), None), ForeignHeadBody(None))
    forge(store, K.FACT_40, FactDetail(None), FactBody(b""))
    assert verify(store).ok


def test_an_event_with_an_earlier_time_is_rejected() -> None:
    """An event with an earlier time than the previous one fails `verify`."""
    store = copied_rows(STORE)
    forge(store, K.ATOM_ADDED, NEXT, atom_body(), time=BEGIN)
    header = read_header(store, SIZE)[0]
    assert verify(store).ok
    put_rows(store, {journal_key(SIZE): encode_header(header._replace(time=BEGIN - 1))})
    report = verify(store)
    assert {difference.seq for difference in report.differences} >= {SIZE}


@pytest.mark.parametrize("wrong", ["root", "namespace", "further namespace", "none"])
def test_a_wrong_checkpoint_is_refused(wrong: str) -> None:
    """A checkpoint without all the roots of the events before it fails `verify`."""
    with head_of(ENGINE) as rows:
        roots = ENGINE.store.roots(rows)
    store = copied_rows(STORE)
    detail = CheckpointDetail(bytes(32) if wrong == "root" else roots.overall)
    named = roots.named_roots
    if wrong == "namespace":
        named = (("atoms", bytes(32)), *named[1:])
    if wrong == "further namespace":
        named = (*named, ("zones", bytes(32)))
    forge(store, K.CHECKPOINT, detail, CheckpointBody(named))
    report = verify(store)
    assert report.ok is (wrong == "none")
    assert report.checkpoints == (wrong == "none")
    assert {difference.seq for difference in report.differences} == (set() if wrong == "none" else {SIZE})


@pytest.mark.parametrize(
    "names", [(), ("atoms", "edges"), ("atoms", "edges", "tags"), ("edges", "atoms", "index", "tags")]
)
def test_a_checkpoint_needs_four_roots_even_after_an_erasure(names: tuple[str, ...]) -> None:
    """A checkpoint body needs the four roots in order, even if they cannot be recomputed after an erasure."""
    engine = engine_on(copied_rows(STORE))
    with head_of(engine) as rows:
        roots = engine.store.roots(rows)
    named = tuple((name, bytes(32)) for name in names)
    forge(backend_of(engine), K.CHECKPOINT, CheckpointDetail(roots.overall), CheckpointBody(named))
    report = verify(backend_of(engine))
    assert not report.ok
    assert f"payload {SIZE}: field 0 is malformed" in report.differences[0].problem


def test_a_checkpoint_after_a_checkpoint_is_rejected() -> None:
    """A checkpoint directly after another checkpoint fails `verify`."""
    engine = engine_on(copied_rows(STORE))
    engine.checkpoint()
    with head_of(engine) as rows:
        roots = engine.store.roots(rows)
    forge(
        backend_of(engine), K.CHECKPOINT, CheckpointDetail(roots.overall), CheckpointBody(roots.named_roots)
    )
    assert not verify(backend_of(engine)).ok
