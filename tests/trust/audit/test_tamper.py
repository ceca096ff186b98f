"""Rows changed from outside: `verify` finds each change and names the family of rows."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from engine.base.errors import CorruptionError, EngineError
from engine.base.validation import show_id
from engine.commands import RegisterType
from engine.commands.facts import AppendFact
from engine.engine import Engine
from engine.followers.base import Follower, void_cursor
from engine.ledger.journal import read_header, read_log
from engine.ledger.layout import ATOM, CURSOR, FAMILIES, LOG, cursor_key, family_of, journal_key, payload_key
from engine.ledger.records import type_name
from engine.store.views import projections
from engine.trust.audit.verify import Report, verify
from proofs.codec import encode_header
from tests.support.engines import backend_of, copied_rows, engine_on, put_rows, rows_of
from tests.support.faults import Fault, FaultBackend
from tests.support.workloads import commands, id_of

pytestmark = pytest.mark.slow

Rows = dict[bytes, bytes]
Changes = dict[bytes, bytes | None]


def whole_store() -> Engine:
    """Return a store with rows in every family."""
    engine = engine_on()
    made = commands(80, seed=11)
    engine.apply(made[:40])
    for number in (90, 91):
        engine.add(f"to be erased {number}", id=id_of(number), tags=["red"])
        engine.link(id_of(0), "references", id_of(number))
        engine.erase(id_of(number), "asked for")
    for number in range(92, 98):
        engine.add(f"with meta {number}", id=id_of(number), meta={"parity": number % 2, "number": number})
    for number in range(98, 104):
        keyed = engine.acting_as(engine.actor, request=f"call-{number}")
        keyed.add(f"with a request key {number}", id=id_of(number))
    engine.apply([AppendFact(40, id_of(number), b"early") for number in (110, 111)])
    engine.register_type("far")
    engine.checkpoint()
    engine.apply(made[40:])
    engine.apply([RegisterType(f"type-{number}") for number in range(512 - engine.size)])
    engine.catch_up()
    return engine


ENGINE = whole_store()
STORE = backend_of(ENGINE)
ROOT = ENGINE.root().root


def verified(changes: Changes, expect: str | None = None) -> Report:
    """Return the report of `verify` on the store with `changes`."""
    store = copied_rows(STORE)
    put_rows(store, changes)
    return verify(store, expect=expect)


def families(report: Report) -> set[str]:
    """Return the families that a report names."""
    return {difference.family for difference in report.differences}


def one_byte(rows: Rows, chosen: random.Random) -> Changes:
    """Flip one bit in the value of one row."""
    key = chosen.choice(sorted(rows))
    value = bytearray(rows[key])
    value[chosen.randrange(len(value))] ^= 1 << chosen.randrange(8)
    return {key: bytes(value)}


def one_row_less(rows: Rows, chosen: random.Random) -> Changes:
    """Delete a row that is not the last of its family."""
    return {chosen.choice(sorted(rows)[:-1]): None}


def one_row_more(rows: Rows, chosen: random.Random) -> Changes:
    """Add a row whose key is another row's key with one more byte, and with that row's value."""
    key = chosen.choice(sorted(rows))
    return {key + bytes([chosen.randrange(256)]): rows[key]}


def two_swapped(rows: Rows, chosen: random.Random) -> Changes:
    """Swap the values of two rows that differ."""
    first = chosen.choice(sorted(rows))
    second = chosen.choice([key for key in sorted(rows) if rows[key] != rows[first]])
    return {first: rows[second], second: rows[first]}


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(more, marks=pytest.mark.soak) for more in (2, 3))])
@pytest.mark.parametrize("change", [one_byte, one_row_less, one_row_more, two_swapped])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_changed_row_is_found_and_its_family_named(
    family: str, change: Callable[[Rows, random.Random], Changes], seed: int
) -> None:
    """A flipped bit, a deleted row, an added row and two swapped values are found with their family."""
    changes = change(rows_of(STORE, family), random.Random(f"{family} {seed}"))
    report = verified(changes)
    assert not report.ok
    # Where a cursor is gone, it is the rows it vouched for that are named.
    cursor_gone = any(key.startswith(CURSOR) and value is None for key, value in changes.items())
    assert cursor_gone or family in families(report), report.differences


@pytest.mark.parametrize("follower", projections(), ids=lambda one: one.name)
def test_a_changed_cursor_is_found_or_its_rows_are_computed_again(follower: Follower) -> None:
    """A changed or deleted cursor is found, or no row is believed that does not follow from the journal.

    It is found unless its rows are void by it: it is gone, void or of an older version. The store here has no
    names, requests and entries of meta, whose cursors vouch for no row.
    """
    engine = engine_on()
    engine.apply(commands(6, seed=16))
    engine.catch_up()
    key, root = cursor_key(follower.name), engine.root().root
    value = backend_of(engine).get(key)
    assert value is not None
    chosen = random.Random(follower.name)
    bits = [*range(16), *(chosen.randrange(8 * len(value)) for _ in range(8))]
    flipped = [
        (int.from_bytes(value, "big") ^ 1 << 8 * len(value) - 1 - bit).to_bytes(len(value), "big")
        for bit in bits
    ]
    for changed in (None, b"", void_cursor(), *flipped):
        store = copied_rows(backend_of(engine))
        put_rows(store, {key: changed})
        if not verify(store).ok:
            continue
        assert changed is None or changed[1] < follower.version
        assert engine_on(store).root().root == root
        assert verify(store).ok


@pytest.mark.parametrize("prefix", FAMILIES.values(), ids=list(FAMILIES))
def test_a_row_of_our_prefix_that_nobody_writes_is_found(prefix: bytes) -> None:
    """A row under the prefix of a family, but of an unknown form, is found."""
    report = verified({prefix + b"intruder/row": b"\x80"})
    assert not report.ok
    assert family_of(prefix) in families(report)


@pytest.mark.parametrize("key", [b"\x00", b"A", b"e/", b"e/other", b"meta", b"y/", b"zzz", b"\xff\xff"])
def test_a_row_of_no_family_is_found(key: bytes) -> None:
    """A row under an unknown prefix is found."""
    report = verified({key: b""})
    assert not report.ok
    assert families(report) == {"unknown"}


def test_an_untouched_store_verifies() -> None:
    """An unchanged store verifies with its own root, all events and the checkpoint, without a write."""
    store = copied_rows(STORE)
    report = verify(store, expect=ROOT.upper())
    assert report.ok, report.differences
    assert (report.root, report.size, report.checkpoints) == (ROOT, read_log(STORE).size, 1)
    assert dict(store.scan()) == dict(STORE.scan())


def test_a_new_store_verifies() -> None:
    """A store with only its genesis event verifies, before and after its followers ran."""
    engine = engine_on()
    assert verify(backend_of(engine)).differences == ()
    engine.catch_up()
    assert verify(backend_of(engine)).differences == ()


def test_followers_may_lag_or_never_have_run() -> None:
    """A store verifies if its followers lag by different distances or have no rows yet."""
    engine = engine_on()
    for number, command in enumerate(commands(30, seed=12)):
        engine.apply([command])
        if number == 3:
            assert verify(backend_of(engine)).ok
        if number in (5, 10):
            engine.store.follow(engine.store.followers[number // 10])
    report = verify(backend_of(engine))
    assert report.ok, report.differences


def test_a_store_with_segments_is_compared_row_by_row() -> None:
    """One flipped bit in a segment's row, among thousands of rows, is found."""
    engine = engine_on()
    engine.apply(commands(700, seed=13))
    engine.catch_up()
    store = backend_of(engine)
    segment = {key: value for key, value in rows_of(store, "index").items() if key.startswith(b"i/seg/")}
    put_rows(store, one_byte(segment, random.Random(1)))
    report = verify(store)
    assert families(report) == {"index"}
    assert len(report.differences) == 1


def test_another_root_than_expected_is_named() -> None:
    """`expect` is compared with the recomputed root."""
    report = verified({}, expect="00" * 32)
    assert families(report) == {"root"}


@pytest.mark.parametrize("what", ["header", "payload", "both", "everything"])
def test_a_truncated_journal_is_found(what: str) -> None:
    """A missing last event, header or payload is found."""
    last = read_log(STORE).size - 1
    gone = {"header": [journal_key], "payload": [payload_key]}.get(what, [journal_key, payload_key])
    seqs = range(last + 1) if what == "everything" else [last]
    assert not verified({key(seq): None for key in gone for seq in seqs}).ok


def test_an_older_copy_is_found_by_its_root_only() -> None:
    """An older copy of a store verifies, unless a later root is expected."""
    engine = engine_on()
    engine.apply(commands(20, seed=14))
    older = copied_rows(backend_of(engine))
    engine.add("later")
    assert verify(older).ok
    assert not verify(older, expect=engine.root().root).ok


def test_a_payload_of_another_event_is_not_served() -> None:
    """`get` raises CorruptionError if an atom's payload is not what its header commits to."""
    engine = engine_on(copied_rows(STORE))
    seqs = [engine.get(id_of(number)).payload_seq for number in (0, 1)]
    raw = [STORE.get(payload_key(seq)) for seq in seqs]
    put_rows(backend_of(engine), {payload_key(seqs[0]): raw[1], payload_key(seqs[1]): raw[0]})
    with pytest.raises(CorruptionError) as caught:
        engine.get(id_of(0))
    assert (caught.value.family, caught.value.seq) == ("payload", seqs[0])


def test_a_record_of_another_atom_is_not_served() -> None:
    """`get` raises CorruptionError if another atom's record is stored under the key."""
    engine = engine_on(copied_rows(STORE))
    atom, other = sorted(rows_of(STORE, "atoms"))[:2]
    put_rows(backend_of(engine), {atom: STORE.get(other)})
    with pytest.raises(CorruptionError):
        engine.get(show_id(atom[len(ATOM) :]))


def test_a_damaged_name_of_an_edge_type_is_not_served() -> None:
    """A name of an edge type that is not UTF-8 is an error that names its family."""
    store = copied_rows(STORE)
    key = next(iter(rows_of(STORE, "types-by-code")))
    put_rows(store, {key: b"\xe5far"})
    with pytest.raises(CorruptionError, match="name of edge type") as caught:
        type_name(store, key.removeprefix(FAMILIES["types-by-code"]))
    assert caught.value.family == "types-by-code"


@pytest.mark.parametrize("lost", [LOG, journal_key(0), payload_key(0)])
def test_opening_a_damaged_store_overwrites_nothing(lost: bytes) -> None:
    """Opening without log state or genesis raises CorruptionError and leaves every row as it is."""
    store = copied_rows(STORE)
    put_rows(store, {lost: None})
    before = dict(store.scan())
    with pytest.raises(CorruptionError):
        engine_on(store)
    assert dict(store.scan()) == before


def test_an_older_log_state_never_overwrites_events() -> None:
    """With an older log state, no command overwrites the events beyond it."""
    engine = engine_on(copied_rows(STORE))
    older = STORE.get(LOG)
    engine.apply(commands(90, seed=11)[80:])
    put_rows(backend_of(engine), {LOG: older})
    journal = rows_of(backend_of(engine), "journal", "payload")
    with pytest.raises(EngineError):
        engine.add("one more")
    with pytest.raises(EngineError):
        engine_on(backend_of(engine)).add("one more")
    assert rows_of(backend_of(engine), "journal", "payload") == journal


@pytest.mark.parametrize("at", [1, 2, 3, 4, 5])
def test_an_interrupted_rebuild_is_reported_and_finished(at: int) -> None:
    """A rebuild that was killed is reported as unfinished, and opening the store finishes it."""
    store = copied_rows(STORE)
    engine = engine_on(FaultBackend(store, Fault("after", at, mode="crash")))
    with pytest.raises(EngineError):
        engine.rebuild()
    report = verify(store)
    assert not report.ok
    for difference in report.differences:
        assert "the next read of the store rebuilds it" in difference.problem or difference.family == "meta"
    assert engine_on(store).root().root == ROOT
    assert verify(store).ok
    assert dict(store.scan()) == dict(STORE.scan())


def test_a_rebuild_heals_every_projection() -> None:
    """A rebuild restores every changed row of the projections."""
    store, chosen = copied_rows(STORE), random.Random(5)
    engine = engine_on(store)
    changes: Changes = {}
    for family in sorted(set(FAMILIES) - {"journal", "payload", "meta"}):
        for change in (one_byte, one_row_less, one_row_more):
            changes |= change(rows_of(STORE, family), chosen)
    put_rows(store, changes)
    assert engine.rebuild().root == ROOT
    assert dict(store.scan()) == dict(STORE.scan())


@pytest.mark.parametrize("damage", ["undecodable", "another time"])
def test_a_rebuild_of_a_damaged_journal_is_refused(damage: str) -> None:
    """`rebuild` raises CorruptionError for a changed header, and leaves the journal as it is."""
    store = copied_rows(STORE)
    header = read_header(store, 5)[0]
    wrong = b"\x80" if damage == "undecodable" else encode_header(header._replace(time=header.time + 1))
    put_rows(store, {journal_key(5): wrong})
    journal = rows_of(store, "journal", "payload")
    with pytest.raises(CorruptionError):
        engine_on(store).rebuild()
    assert rows_of(store, "journal", "payload") == journal


def test_differences_are_bounded_and_the_first_comes_first() -> None:
    """A report lists at most twenty differences, the first one first."""
    changes: dict[bytes, Any] = {key: value + b"\x00" for key, value in rows_of(STORE, "atoms").items()}
    report = verified(changes)
    assert 0 < len(report.differences) <= 20
    assert report.differences[0].key == min(changes).hex()
