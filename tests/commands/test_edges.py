"""The rules for edges, each as a property."""

import struct
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base.errors import InvalidInputError, NotFoundError
from engine.base.model import Direction
from engine.base.validation import atom_id, show_id
from engine.commands import Add
from engine.engine import Engine
from engine.ledger.journal import read_header
from engine.ledger.layout import EDGE_FROM, EDGE_TO, edge_from_key, edge_to_key
from engine.ledger.queries import edges_at, recorded_type_code
from engine.ledger.records import decode_edge
from proofs.events import EventKind
from proofs.hashing import predicate_code
from proofs.leaves import EdgeType, State
from tests.support.engines import CountingReader, backend_of, engine_on, head_of, rows_of, unchanged_by

IDS = [show_id(bytes([number, *[0] * 14, 255 - number])) for number in (1, 2, 200, 3)]
REGISTERED = ("listens_on", "a.kind", "z")
KINDS = st.sampled_from([*EdgeType, *REGISTERED])
ENDS = st.tuples(st.sampled_from(IDS), st.sampled_from(IDS)).filter(lambda ends: ends[0] != ends[1])
EDGES = st.tuples(ENDS, KINDS)
WEIGHTS = st.floats(width=32, allow_nan=False, allow_infinity=False).filter(
    lambda w: w != 0 or str(w) == "0.0"
)
STEPS = st.lists(st.tuples(st.booleans(), EDGES), max_size=20)
few = settings(max_examples=40, deadline=None)


def atoms_and_types() -> Engine:
    """Return an engine with four atoms and three registered predicates."""
    engine = engine_on()
    engine.apply([Add(f"atom {number}", id=one) for number, one in enumerate(IDS)])
    for name in REGISTERED:
        engine.register_type(name)
    return engine


def after(steps: Sequence[tuple[bool, tuple[tuple[str, str], EdgeType | str]]]) -> Engine:
    """Return an engine on which edges were added (True) and removed (False)."""
    engine = atoms_and_types()
    for adds, ((src, dst), kind) in steps:
        if adds:
            engine.link(src, kind, dst)
        else:
            engine.unlink(src, kind, dst)
    return engine


@few
@given(EDGES, WEIGHTS, WEIGHTS)
def test_adding_a_live_edge_is_no_event(
    edge: tuple[tuple[str, str], EdgeType | str], first: float, other: float
) -> None:
    """Adding a live edge appends no event, whatever its weight and data."""
    engine = atoms_and_types()
    (src, dst), kind = edge
    assert engine.link(src, kind, dst, first).changed
    assert unchanged_by(engine, lambda: engine.link(src, kind, dst, other, b"\x01"))


@few
@given(EDGES, WEIGHTS, st.binary(max_size=40))
def test_weight_and_data_come_back_exactly(
    edge: tuple[tuple[str, str], EdgeType | str], weight: float, raw: bytes
) -> None:
    """Every binary32 weight and every CBOR item is returned unchanged, from both rows."""
    engine = atoms_and_types()
    (src, dst), kind = edge
    data = bytes([0x58, len(raw)]) + raw if len(raw) > 23 else bytes([0x40 + len(raw)]) + raw
    engine.link(src, kind, dst, weight, data)
    kept = engine.get_edge(src, kind, dst)
    assert struct.pack(">f", kept.weight) == struct.pack(">f", weight)
    assert kept.data == data


@few
@given(EDGES, WEIGHTS)
def test_adding_a_tombstoned_edge_revives_it(
    edge: tuple[tuple[str, str], EdgeType | str], weight: float
) -> None:
    """Adding a removed edge revives it with the new weight; its creation stays and its tombstone is gone."""
    engine = atoms_and_types()
    (src, dst), kind = edge
    engine.link(src, kind, dst)
    created = engine.get_edge(src, kind, dst)
    removed = engine.unlink(src, kind, dst, "old")
    revived = engine.link(src, kind, dst, weight)
    assert read_header(backend_of(engine), revived.events[0].seq)[0].prev == removed.events[0].seq
    kept = engine.get_edge(src, kind, dst)
    assert [event.kind for event in revived.events] == [EventKind.EDGE_ADDED]
    assert (kept.created_at, kept.created_seq, kept.created_by) == (
        created.created_at,
        created.created_seq,
        "user",
    )
    assert (kept.state, kept.tombstone, kept.weight) == (State.LIVE, None, weight)


def test_removing_a_missing_edge_is_no_event() -> None:
    """Removing an edge that was never added, or is removed already, appends no event."""
    engine = atoms_and_types()
    assert unchanged_by(engine, lambda: engine.unlink(IDS[0], EdgeType.PART_OF, IDS[1]))
    engine.link(IDS[0], "part_of", IDS[1])
    engine.unlink(IDS[0], "part_of", IDS[1])
    assert unchanged_by(engine, lambda: engine.unlink(IDS[0], EdgeType.PART_OF, IDS[1], "again"))


def test_removing_an_edge_of_unknown_ends_is_no_event() -> None:
    """Removing an edge between atoms that were never recorded appends no event."""
    engine = engine_on()
    assert not engine.unlink(IDS[0], EdgeType.PART_OF, IDS[1]).changed


@pytest.mark.parametrize("kind", [EdgeType.RELATED_TO, "z"])
def test_a_removed_edge_is_kept_with_its_tombstone(kind: EdgeType | str) -> None:
    """`get_edge` returns a removed edge with the time, reason and actor of its removal."""
    engine = atoms_and_types()
    engine.link(IDS[0], kind, IDS[1], 0.5, b"\x01")
    before = len(rows_of(backend_of(engine), "edges-from", "edges-to"))
    engine.unlink(IDS[0], kind, IDS[1], "superseded")
    edge = engine.get_edge(IDS[0], kind, IDS[1])
    assert edge.tombstone is not None
    assert (edge.state, edge.tombstone.reason, edge.tombstone.by) == (State.TOMBSTONED, "superseded", "user")
    assert (edge.weight, edge.data) == (0.5, b"\x01")
    assert len(rows_of(backend_of(engine), "edges-from", "edges-to")) == before


def test_an_edge_never_added_is_not_found() -> None:
    """`get_edge` raises NotFoundError for an edge that was never recorded."""
    engine = atoms_and_types()
    with pytest.raises(NotFoundError):
        engine.get_edge(IDS[0], "z", IDS[1])


@few
@given(STEPS)
def test_both_directions_are_there_and_byte_identical(
    steps: list[tuple[bool, tuple[tuple[str, str], EdgeType | str]]],
) -> None:
    """After any additions and removals, each forward row has a backward row with the same bytes."""
    backend = backend_of(after(steps))
    forward, backward = rows_of(backend, "edges-from"), rows_of(backend, "edges-to")
    expected = {}
    for key, raw in forward.items():
        edge = decode_edge(raw)
        assert key == edge_from_key(edge.src, edge.type, edge.dst)
        expected[edge_to_key(edge.src, edge.type, edge.dst)] = raw
    assert backward == expected


@few
@given(
    STEPS, st.sampled_from(IDS), st.sampled_from(list(Direction)), st.booleans(), st.sets(KINDS, max_size=2)
)
def test_iteration_is_in_order_and_skips_the_removed(
    steps: list[tuple[bool, tuple[tuple[str, str], EdgeType | str]]],
    at: str,
    direction: Direction,
    tombstoned: bool,
    kinds: set[EdgeType | str],
) -> None:
    """`edges` returns the given types in the order of (type, other end), removed edges only on request."""
    engine = after(steps)
    codes = {
        name: recorded_type_code(backend_of(engine), name) or b""
        for name in [*REGISTERED, *(k.name.lower() for k in EdgeType)]
    }
    live: dict[tuple[str, str, str], bool] = {}
    for adds, ((src, dst), kind) in steps:
        key = src, kind.name.lower() if isinstance(kind, EdgeType) else kind, dst
        if adds or key in live:
            live[key] = adds
    wanted = {kind.name.lower() if isinstance(kind, EdgeType) else kind for kind in kinds}
    expected = []
    for (src, kind, dst), there in live.items():
        if (there or tombstoned) and (not wanted or kind in wanted):
            if src == at and direction is not Direction.IN:
                expected.append((codes[kind], atom_id(dst), 0, (src, kind, dst)))
            if dst == at and direction is not Direction.OUT:
                expected.append((codes[kind], atom_id(src), 1, (src, kind, dst)))
    found = engine.edges(at, direction=direction, types=list(kinds), tombstoned=tombstoned)
    assert [(edge.src, edge.type, edge.dst) for edge in found] == [row[3] for row in sorted(expected)]


@pytest.mark.parametrize("kind", [EdgeType.REFERENCES, "a.kind"])
@pytest.mark.parametrize("direction", [Direction.OUT, Direction.IN])
def test_one_type_scans_its_own_prefix_only(kind: EdgeType | str, direction: Direction) -> None:
    """With one type given, the scan reads no row of another type, source or direction."""
    engine = atoms_and_types()
    for src in IDS:
        for dst in IDS:
            for each in (*EdgeType, *REGISTERED):
                if src != dst:
                    engine.link(src, each, dst)
    at = atom_id(IDS[0])
    with head_of(engine) as rows:
        code = bytes([kind]) if isinstance(kind, EdgeType) else recorded_type_code(rows, kind)
        assert code is not None
        reader = CountingReader(rows)
        found = list(edges_at(reader, at, direction, [code]))
    prefix = (EDGE_FROM if direction is Direction.OUT else EDGE_TO) + at + b"/" + code + b"/"
    assert len(found) == len(reader.scanned) == 3
    assert all(key.startswith(prefix) for key in reader.scanned)


def test_keys_are_in_the_order_of_type_and_id() -> None:
    """Keys are ordered by (type, id): built-in types first, then predicates in the order of their codes."""
    engine = atoms_and_types()
    id_key = engine.store.identity.id_key
    kinds = [*EdgeType, *sorted(REGISTERED, key=lambda name: predicate_code(id_key, name))]
    for dst in (IDS[2], IDS[1], IDS[3]):
        for kind in reversed(kinds):
            engine.link(IDS[0], kind, dst)
    shown = [(edge.type, edge.dst) for edge in engine.edges(IDS[0])]
    names = [kind.name.lower() if isinstance(kind, EdgeType) else kind for kind in kinds]
    assert shown == [(name, dst) for name in names for dst in sorted(IDS[1:])]


def test_the_code_of_a_predicate_follows_from_its_name() -> None:
    """The code is a hash of the name under the id key; registering it again appends no event."""
    engine = atoms_and_types()
    codes = [recorded_type_code(backend_of(engine), name) for name in REGISTERED]
    assert codes == [predicate_code(engine.store.identity.id_key, name) for name in REGISTERED]
    assert all(code is not None and len(code) == 8 and code[0] >= 0x80 for code in codes)
    assert recorded_type_code(backend_of(engine), "never.registered") is None
    assert unchanged_by(engine, lambda: [engine.register_type(name) for name in REGISTERED])


def test_a_built_in_type_needs_no_registering() -> None:
    """Registering a built-in name appends no event; its code stays one byte."""
    engine = engine_on()
    assert not engine.register_type("part_of").changed
    assert recorded_type_code(backend_of(engine), "part_of") == b"\x05"


def test_the_numbers_of_the_built_in_types_are_fixed() -> None:
    """The numbers of the built-in types are those of the format and never change."""
    names = ["RELATED_TO", "DERIVED_FROM", "CONTRADICTS", "SUPERSEDES", "PART_OF", "REFERENCES"]
    assert [kind.name for kind in EdgeType][:6] == names
    assert [int(kind) for kind in EdgeType][:6] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("src", "dst"), [(IDS[0], IDS[0]), (show_id(bytes(16)), IDS[0]), (IDS[0], show_id(bytes(16)))]
)
@pytest.mark.parametrize("verb", ["link", "unlink"])
def test_self_edges_and_zero_ids_are_rejected(src: str, dst: str, verb: str) -> None:
    """An edge from an atom to itself, or with a zero id, is refused and writes nothing."""
    engine = atoms_and_types()
    with pytest.raises(InvalidInputError):
        unchanged_by(engine, lambda: getattr(engine, verb)(src, EdgeType.PART_OF, dst))
    assert not rows_of(backend_of(engine), "edges-from")


def test_an_edge_to_an_unknown_atom_is_rejected() -> None:
    """An edge is refused if one of its atoms was never recorded."""
    engine = atoms_and_types()
    with pytest.raises(NotFoundError):
        engine.link(IDS[0], "z", show_id(bytes([9] * 16)))


def test_an_unknown_type_is_rejected_and_named() -> None:
    """An edge with an unregistered predicate is refused, and the error names the predicate."""
    engine = atoms_and_types()
    with pytest.raises(NotFoundError, match="'hears'"):
        engine.link(IDS[0], "hears", IDS[1])


def test_edges_of_a_tombstoned_atom_are_kept() -> None:
    """Tombstoning an atom leaves its edges as they are, and they are found again after a revival."""
    engine = atoms_and_types()
    engine.link(IDS[0], "z", IDS[1])
    engine.tombstone(IDS[1])
    assert [edge.dst for edge in engine.edges(IDS[0])] == [IDS[1]]
    assert engine.get_edge(IDS[0], "z", IDS[1]).state is State.LIVE
