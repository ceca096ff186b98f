"""Every limit of `engine.base.limits`: limit − 1 and limit are accepted, and limit + 1 writes nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from backends.memory import MemoryBackend
from engine.base import limits
from engine.base.errors import InvalidInputError, LimitError
from engine.commands import Add, RegisterType
from engine.commands.facts import AppendFact, RecordForeignHead
from engine.engine import Engine
from engine.ledger.appender import Appender, Sources
from engine.ledger.journal import LogState, read_log, read_raw
from engine.ledger.layout import COUNTERS, journal_key, ordinal_key, payload_key
from engine.ledger.records import Counters, encode_counters
from proofs.events import AtomBody, AtomDetail, EventKind, ReasonBody
from tests.support.engines import BEGIN, backend_of, engine_on, put_rows, refuses, salt_of
from tests.support.workloads import commands, id_of

Attempt = Callable[[Engine, int], object]


def prepared() -> Engine:
    """Return an engine with two atoms."""
    engine = engine_on()
    engine.apply([Add("first atom", id=id_of(1), tags=["red"]), Add("second atom", id=id_of(2))])
    return engine


def cbor_string(size: int) -> bytes:
    """Return a CBOR byte string of `size` bytes, including its head of three bytes."""
    return b"\x59" + (size - 3).to_bytes(2, "big") + bytes(size - 3)


def nested(depth: int) -> bytes:
    """Return a number inside `depth` arrays."""
    return b"\x81" * depth + b"\x01"


ATTEMPTS: dict[str, tuple[str, Attempt]] = {
    "content": ("CONTENT_BYTES_MAX", lambda engine, n: engine.add("x" * n)),
    "content of é": ("CONTENT_BYTES_MAX", lambda engine, n: engine.add("x" * (n % 2) + "é" * (n // 2))),
    "revised content": ("CONTENT_BYTES_MAX", lambda engine, n: engine.revise(id_of(1), content="x" * n)),
    "title": ("TITLE_BYTES_MAX", lambda engine, n: engine.add("text", title="x" * n)),
    "revised title": ("TITLE_BYTES_MAX", lambda engine, n: engine.revise(id_of(1), title="x" * n)),
    "tag": ("TAG_BYTES_MAX", lambda engine, n: engine.tag(id_of(1), "x" * n)),
    "tag with a hyphen": ("TAG_BYTES_MAX", lambda engine, n: engine.add("text", tags=["-" + "x" * (n - 1)])),
    "tag of é": ("TAG_BYTES_MAX", lambda engine, n: engine.tag(id_of(1), "x" * (n % 2) + "é" * (n // 2))),
    "tags": ("TAGS_PER_ATOM_MAX", lambda engine, n: engine.add("text", tags=[f"t{i}" for i in range(n)])),
    "tags one by one": (
        "TAGS_PER_ATOM_MAX",
        lambda engine, n: engine.tag(id_of(1), *(f"t{i}" for i in range(n - 1))),
    ),
    "buckets": (
        "BUCKETS_PER_ATOM_MAX",
        lambda engine, n: engine.add("text", buckets=[f"b{i}" for i in range(n)]),
    ),
    "source": ("SOURCE_BYTES_MAX", lambda engine, n: engine.add("text", source="x" * n)),
    "key": ("KEY_BYTES_MAX", lambda engine, n: engine.add("text", key="x" * n)),
    "reason to hide": ("REASON_BYTES_MAX", lambda engine, n: engine.tombstone(id_of(1), "x" * n)),
    "reason to unlink": (
        "REASON_BYTES_MAX",
        lambda engine, n: engine.unlink(id_of(1), "part_of", id_of(2), "x" * n),
    ),
    "edge data": (
        "EDGE_DATA_BYTES_MAX",
        lambda engine, n: engine.link(id_of(1), "part_of", id_of(2), 1, cbor_string(n)),
    ),
    "depth of edge data": (
        "CBOR_DEPTH_MAX",
        lambda engine, n: engine.link(id_of(1), "part_of", id_of(2), 1, nested(n)),
    ),
    "combining run": ("COMBINING_RUN_MAX", lambda engine, n: engine.add("a" + "\u0301" * n + "b")),
    "combining run in a tag": (
        "COMBINING_RUN_MAX",
        lambda engine, n: engine.tag(id_of(1), "a" + "\u0316" * n),
    ),
    "combining run in a title": (
        "COMBINING_RUN_MAX",
        lambda engine, n: engine.add("text", title="a" + "\u0301" * n),
    ),
    "sequence": ("INTEGER_MAX", lambda engine, n: engine.add("text", sequence=n)),
    "created": ("CREATED_MAX", lambda engine, n: engine.add("text", created=n)),
    "aliases": ("ALIASES_MAX", lambda engine, n: engine.add("text", aliases=[f"a{i}" for i in range(n)])),
    "alias": ("ALIAS_BYTES_MAX", lambda engine, n: engine.add("text", aliases=["x" * n])),
    "folder": ("FOLDER_BYTES_MAX", lambda engine, n: engine.add("text", folder="x" * n)),
    "entries of meta": (
        "META_ENTRIES_MAX",
        lambda engine, n: engine.add("text", meta={f"k{i}": i for i in range(n)}),
    ),
    "text in meta": ("META_TEXT_BYTES_MAX", lambda engine, n: engine.add("text", meta={"k": "x" * n})),
    "revised meta": (
        "META_BYTES_MAX",
        # A head, five keys of two bytes, and five texts with heads of three.
        lambda engine, n: engine.revise(
            id_of(1), meta={f"{i}": "x" * ((n - 26) // 5 + (i < (n - 26) % 5)) for i in range(5)}
        ),
    ),
    "request": ("REQUEST_BYTES_MAX", lambda engine, n: engine.apply([Add("text")], request="x" * n)),
    "pipeline": ("PIPELINE_BYTES_MAX", lambda engine, n: engine.apply([Add("text")], pipeline="x" * n)),
    "fact": ("FACT_BYTES_MAX", lambda engine, n: engine.apply([AppendFact(40, None, bytes(n))])),
    "note of another store": (
        "NOTE_BYTES_MAX",
        lambda engine, n: engine.apply([RecordForeignHead(bytes(16), 1, bytes(32), None, "x" * n)]),
    ),
    "occurrence": ("INTEGER_MAX", lambda engine, n: engine.add("text", occurrence=n)),
    "trust": ("TRUST_MAX", lambda engine, n: engine.add("text", trust=n)),
    "entity name": ("NAME_BYTES_MAX", lambda engine, n: engine.relate("x" * n, "uses", "y")),
    "results of find": ("RESULTS_MAX", lambda engine, n: engine.find(limit=n)),
    "results of recall": ("RESULTS_MAX", lambda engine, n: engine.recall("atom", limit=n)),
    "query": ("QUERY_BYTES_MAX", lambda engine, n: engine.recall("atom " + "x" * (n - 5))),
}
LABELS: dict[str, Attempt] = {
    "kind": lambda engine, n: engine.add("text", kind="x" * n),
    "bucket": lambda engine, n: engine.add("text", buckets=["x" * n]),
    "predicate": lambda engine, n: engine.register_type("x" * n),
    "actor": lambda engine, n: engine.apply([Add("text")], actor="x" * n),
}
ELSEWHERE = {
    "LABEL_CHARS_MAX",
    "EVENT_BYTES_MAX",
    "BATCH_EVENTS_MAX",
    "BATCH_BYTES_MAX",
    "SEQ_MAX",
    "ORDINAL_MAX",
    "MAX_HOPS_CAP",  # tests/query/graph/test_find.py
    "FOLLOW_EVENTS_MAX",
    "FOLLOW_BYTES_MAX",
    "PROOF_BYTES_MAX",
    "BUNDLE_BYTES_MAX",
    "ERASED_CONTENTS_MAX",
    "CREATED_MIN",  # tests/reference/test_further.py
    "META_INTEGER_MAX",
    "RULES_MAX",  # tests/vectors/headers.json
    "NAMESPACES_MAX",  # tests/vectors/headers.json
    "META_KEY_BYTES_MAX",
}
"""Limits that other modules test."""


def test_every_limit_has_a_test() -> None:
    """Every limit has a test at limit − 1, limit and limit + 1."""
    names = {name for name, value in vars(limits).items() if name.isupper() and type(value) is int}
    assert names == {name for name, _ in ATTEMPTS.values()} | ELSEWHERE


@pytest.mark.parametrize("name", ATTEMPTS)
def test_a_limit_is_kept_up_to_itself_and_refused_beyond(name: str) -> None:
    """Values at limit − 1 and limit are stored and read back; limit + 1 is a LimitError without a write."""
    limit, attempt = ATTEMPTS[name]
    most: int = getattr(limits, limit)
    for size in (most - 1, most):
        engine = prepared()
        attempt(engine, size)
        assert engine.root() == engine.rebuild()
    engine = prepared()
    engine.catch_up()
    assert refuses(engine, LimitError, attempt, engine, most + 1)


@pytest.mark.parametrize("name", LABELS)
def test_a_label_has_at_most_32_characters(name: str) -> None:
    """Kinds, buckets, predicates and actors may have 31 and 32 characters, but not 33."""
    for size in (limits.LABEL_CHARS_MAX - 1, limits.LABEL_CHARS_MAX):
        engine = prepared()
        LABELS[name](engine, size)
        assert engine.root() == engine.rebuild()
    engine = prepared()
    assert refuses(engine, InvalidInputError, LABELS[name], engine, 33)


def test_a_batch_has_at_most_ten_thousand_events() -> None:
    """A batch of exactly 10,000 events is written; a batch of one more is refused as a whole."""
    made = [RegisterType(f"p{number}") for number in range(limits.BATCH_EVENTS_MAX + 1)]
    engine = engine_on()
    assert refuses(engine, LimitError, engine.apply, made)
    assert len(engine.apply(made[:-1])) == limits.BATCH_EVENTS_MAX
    assert read_log(backend_of(engine)).size == limits.BATCH_EVENTS_MAX + 1


def batch_of(total: int) -> list[Add]:
    """Return `Add` commands whose events have `total` bytes, headers and payloads together."""
    engine = engine_on()
    engine.add("x" * limits.CONTENT_BYTES_MAX, id=id_of(0))
    one = sum(len(backend_of(engine).get(key(1)) or b"") for key in (journal_key, payload_key))
    whole = limits.BATCH_BYTES_MAX // one
    made = [Add("x" * limits.CONTENT_BYTES_MAX, id=id_of(number)) for number in range(whole)]
    return [*made, Add("x" * (total - whole * one - (one - limits.CONTENT_BYTES_MAX)), id=id_of(whole))]


@pytest.mark.parametrize("over", [-1, 0, 1])
def test_a_batch_has_at_most_sixteen_mebibytes(over: int) -> None:
    """Batches of 16 MiB − 1 and 16 MiB are written; a batch of 16 MiB + 1 byte is refused as a whole."""
    engine, made = engine_on(), batch_of(limits.BATCH_BYTES_MAX + over)
    if over > 0:
        assert refuses(engine, LimitError, engine.apply, made)
        return
    engine.apply(made)
    rows = backend_of(engine)
    stored = sum(len(raw) for prefix in (b"j/", b"p/") for _, raw in rows.scan_prefix(prefix))
    genesis = sum(len(rows.get(key(0)) or b"") for key in (journal_key, payload_key))
    assert stored - genesis == limits.BATCH_BYTES_MAX + over


def appender(size: int = 0) -> Appender:
    """Return an appender on a journal of `size` events, which must be 0 or a power of two."""
    raw = size.to_bytes(8, "big") + bytes(32) * size.bit_count()
    return Appender(MemoryBackend(), LogState(None, 0, size, raw), "user", Sources(lambda: BEGIN, salt_of))


def append_text(to: Appender, size: int) -> None:
    """Append an atom with content of this length, bypassing the limit that validation checks."""
    body = AtomBody("x" * size, None, "note", (), (), None, None, "internal", None, None, 0)
    to.append(EventKind.ATOM_ADDED, None, AtomDetail(bytes([1] * 16), 0, None), body)
    to.settle()


def test_an_event_has_at_most_four_mebibytes() -> None:
    """Events of 4 MiB − 1 and 4 MiB are appended, and an event of 4 MiB + 1 is refused."""
    probe = appender()
    append_text(probe, 1 << 20)
    most = limits.EVENT_BYTES_MAX - (probe.bytes - (1 << 20))
    for size in (most - 1, most):
        append_text(appender(), size)
    refusing = appender()
    with pytest.raises(LimitError):
        append_text(refusing, most + 1)
    assert refusing.entries == []


def test_the_journal_ends_at_its_last_seq() -> None:
    """Event 2^53 − 1 can be appended, and no event after it."""
    last = appender(limits.SEQ_MAX)
    detail = AtomDetail(bytes([1] * 16), 0, None)
    last.append(EventKind.ATOM_TOMBSTONED, 5, detail, ReasonBody(""))
    with pytest.raises(LimitError):
        last.append(EventKind.ATOM_REVIVED, 5, detail, ReasonBody(""))


def test_the_store_ends_at_its_last_ordinal() -> None:
    """With 2^32 − 1 contents, adding is refused because an ordinal is a u32; existing atoms stay usable."""
    engine = prepared()
    row = encode_counters(Counters(limits.ORDINAL_MAX - 2, 0, 0))
    put_rows(backend_of(engine), {COUNTERS: row, ordinal_key(limits.ORDINAL_MAX - 3): bytes(16)})
    for text in ("last but one", "last"):
        engine.add(text)
    assert refuses(engine, LimitError, engine.add, "one more")
    assert refuses(engine, LimitError, engine.revise, id_of(1), title="new")
    assert engine.tombstone(id_of(1)).changed


@pytest.mark.parametrize("most", [1, 500, 100_000])
def test_reading_back_stops_after_the_event_that_passes_the_bytes(most: int) -> None:
    """FOLLOW_BYTES_MAX ends a read after the event that reaches it, and never before the first event."""
    engine = engine_on()
    engine.apply(commands(20))
    size = read_log(backend_of(engine)).size
    events = list(read_raw(backend_of(engine), 0, size, most))
    sizes = [len(event.header) + len(event.payload or b"") for event in events]
    assert sum(sizes[:-1]) < most
    assert len(events) == size or sum(sizes) >= most


TAG99 = b"\xd8\x63"


@pytest.mark.parametrize(
    "data",
    [
        (b"\x81" + TAG99) * 17 + b"\x01",
        b"\x81" * 8 + b"\xa1" + b"\x81" * 16 + b"\x01\x01",
        TAG99 * 17 + b"\x01",
    ],
    ids=["arrays in tags", "array as a key", "tags in tags"],
)
def test_no_wrapping_hides_depth(data: bytes) -> None:
    """The nesting depth also counts CBOR tags and map keys."""
    engine = prepared()
    with pytest.raises(InvalidInputError):
        engine.link(id_of(1), "part_of", id_of(2), 1, data)
