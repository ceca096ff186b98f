"""Verification of stores with erased atoms: which payloads may be missing, and which must be."""

from __future__ import annotations

import pytest

from backends.base import Backend
from engine.base.errors import CorruptionError
from engine.engine import Engine
from engine.ledger.layout import (
    DESTROYED,
    ERASING,
    ERASURE,
    encode_seq,
    erasure_key,
    journal_key,
    payload_key,
)
from engine.store.maintenance import rebuild
from engine.trust.audit.comparison import Unchecked
from engine.trust.audit.verify import verify
from proofs.events import AtomDetail, EdgeDetail, ErasedBody, EventKind, ReasonBody
from proofs.leaves import State
from tests.erase.support import erased, rows_made, size_of, small
from tests.support.engines import backend_of, copied_rows, engine_on, flip_last_bit, forge, put_rows, rows_of
from tests.support.workloads import id_of

ONE = id_of(1)


def families(backend: Backend) -> set[str]:
    """Return the families that a verification names, or an empty set if it succeeds."""
    report = verify(backend)
    assert report.ok is not bool(report.differences)
    return {difference.family for difference in report.differences}


def test_a_payload_that_survived_is_found() -> None:
    """Restoring a destroyed payload of an atom or edge is reported as a difference with its event."""
    before, engine = small(), erased()
    gone = set(rows_of(backend_of(before), "payload")) - set(rows_of(backend_of(engine), "payload"))
    assert len(gone) == 8
    for key in sorted(gone):
        store = copied_rows(backend_of(engine))
        put_rows(store, {key: backend_of(before).get(key)})
        report = verify(store)
        assert not report.ok
        found = report.differences[0]
        assert (found.family, found.key) == ("payload", key.hex())
        assert "destroyed" in found.problem


def test_a_rebuild_takes_no_payload_that_survived() -> None:
    """A rebuild refuses a restored payload before it drops any row, and names the event."""
    before, engine = small(), erased()
    gone = set(rows_of(backend_of(before), "payload")) - set(rows_of(backend_of(engine), "payload"))
    for key in sorted(gone):
        store = copied_rows(backend_of(engine))
        put_rows(store, {key: backend_of(before).get(key)})
        rows = dict(store.scan())
        with pytest.raises(CorruptionError, match="destroyed it"):
            rebuild(store)
        assert dict(store.scan()) == rows


def test_a_payload_that_nothing_destroyed_is_missed() -> None:
    """Removing any remaining payload, also that of an erasing event, is reported as a difference."""
    engine = erased()
    for key in rows_of(backend_of(engine), "payload"):
        store = copied_rows(backend_of(engine))
        put_rows(store, {key: None})
        assert families(store) == {"payload"}


def test_a_payload_cannot_be_explained_away() -> None:
    """A row that claims an erasure without a header for it is reported as a difference."""
    engine = small()
    engine.catch_up()
    seq = engine.get(id_of(2)).payload_seq
    for erases in (size_of(engine) - 1, size_of(engine), 1 << 40):
        store = copied_rows(backend_of(engine))
        key = erasure_key(bytes.fromhex(id_of(2).replace("-", "")))
        put_rows(store, {payload_key(seq): None, key: encode_seq(erases)})
        assert not verify(store).ok
        with pytest.raises(CorruptionError):
            engine_on(store).get(id_of(2))
        if erases < size_of(engine):
            with pytest.raises(CorruptionError, match="payload"):
                rebuild(store)


def test_rows_about_what_was_erased_are_made_anew_from_headers() -> None:
    """Verification names lost, changed or invented rows about erasures, and a rebuild corrects them."""
    engine = erased()
    rows = rows_made(engine)
    key = next(iter(rows_of(backend_of(engine), "erasures")))
    changes: list[dict[bytes, bytes | None]] = [{key: None}, {key: encode_seq(1)}]
    changes.append({ERASURE + bytes(16): encode_seq(3)})
    for change in changes:
        store = copied_rows(backend_of(engine))
        put_rows(store, change)
        assert families(store) == {"erasures"}
        rebuild(store)
        assert verify(store).ok
        assert rows_made(engine_on(store)) == rows


def test_hashes_of_contents_are_made_anew() -> None:
    """A rebuild recomputes the rows with hashes of contents from the payloads of the erasing events."""
    engine = erased()
    rows = rows_made(engine)
    assert sum(key.startswith(DESTROYED) for key in rows) == 2
    put_rows(backend_of(engine), {key: None for key in rows if key.startswith(DESTROYED)})
    assert families(backend_of(engine)) == {"destroyed"}
    engine.rebuild()
    assert rows_made(engine) == rows


def test_checkpoints_from_before_are_counted_apart() -> None:
    """Checkpoints that cover erased content are checked as far as headers go and named; others in full."""
    engine = engine_on()
    engine.add("first", id=id_of(2))
    engine.checkpoint()
    engine.add("secret one", id=ONE)
    engine.checkpoint()
    second = engine.size - 1
    engine.add("third", id=id_of(3))
    engine.erase(ONE, "asked for")
    erasing = engine.size - 1
    engine.checkpoint()
    engine.add("fourth", id=id_of(4))
    engine.checkpoint()
    report = verify(backend_of(engine))
    assert report.ok, report.differences
    assert report.checkpoints == 3
    assert report.unchecked == (Unchecked(second, erasing),)


def test_a_checkpoint_that_cannot_be_checked_in_full_is_not_believed_either() -> None:
    """A checkpoint whose payload or commitment was changed is a difference."""
    engine = small()
    engine.checkpoint()
    seq = engine.size - 1
    engine.erase(ONE, "asked for")
    for kind in ("tags", "atoms"):
        store = copied_rows(backend_of(engine))
        flip_last_bit(store, payload_key(seq) if kind == "tags" else journal_key(seq))
        report = verify(store)
        assert not report.ok
        assert not report.unchecked


def forged(prev: int | None, detail: AtomDetail | EdgeDetail, kind: EventKind) -> set[str]:
    """Return the findings of a verification with such an event after the small history."""
    engine = small()
    engine.catch_up()
    body = ErasedBody("x", ()) if kind is EventKind.ERASED else ReasonBody("x")
    forge(backend_of(engine), kind, detail, body, prev=prev)
    return {f"{one.family}: {one.problem}" for one in verify(backend_of(engine)).differences}


def test_an_atom_cannot_be_erased_before_its_edges() -> None:
    """An event that erases an atom with an unerased edge, live or tombstoned, is reported."""
    engine = small()
    record = engine.get(ONE)
    atom = bytes.fromhex(ONE.replace("-", ""))
    found = forged(record.last_seq, AtomDetail(atom, record.ordinal, None), EventKind.ERASED)
    assert "journal: event erases an atom before its edges" in found


@pytest.mark.parametrize("prev", [None, 1, 7])
def test_an_erasing_event_that_names_another_one_before_it_is_found(prev: int | None) -> None:
    """An erasing event whose `prev` is not the last event of the subject is reported."""
    engine = small()
    record = engine.get(id_of(3))
    atom = bytes.fromhex(id_of(3).replace("-", ""))
    found = forged(prev, AtomDetail(atom, record.ordinal, None), EventKind.ERASED)
    assert (
        "journal: event does not name the previous event on its subject" in found or prev == record.last_seq
    )


def test_nothing_but_an_add_may_follow_an_erasure() -> None:
    """Any event except an add after the erasure of an atom is reported."""
    for kind in (EventKind.ATOM_REVIVED, EventKind.ATOM_TOMBSTONED, EventKind.ERASED):
        engine = erased()
        engine.catch_up()
        shown = engine.get(ONE)
        assert shown.state is State.ERASED
        detail = AtomDetail(bytes.fromhex(ONE.replace("-", "")), shown.ordinal, None)
        body = ErasedBody("x", ()) if kind is EventKind.ERASED else ReasonBody("x")
        forge(backend_of(engine), kind, detail, body, prev=shown.last_seq)
        assert any("not allowed" in one.problem for one in verify(backend_of(engine)).differences)


def test_an_edge_cannot_be_added_at_an_erased_atom() -> None:
    """An added edge at an erased atom is reported."""
    from proofs.events import EdgeBody

    engine = erased()
    engine.catch_up()
    ends = [bytes.fromhex(id_of(number).replace("-", "")) for number in (2, 1)]
    forge(
        backend_of(engine), EventKind.EDGE_ADDED, EdgeDetail(ends[0], b"\1", ends[1]), EdgeBody(bytes(4), b"")
    )
    assert any(
        "joins an atom that is erased" in one.problem for one in verify(backend_of(engine)).differences
    )


def test_a_row_that_says_that_an_erasure_goes_on_is_a_difference() -> None:
    """A leftover or invented row of a pending erasure is reported as a difference."""
    engine = erased()
    engine.catch_up()
    put_rows(backend_of(engine), {ERASING: b"\x80"})
    assert families(backend_of(engine)) == {"meta"}
    with pytest.raises(CorruptionError):
        Engine(backend_of(engine))
