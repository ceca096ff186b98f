"""Commands of one transaction give the rows, receipts and errors of commands in transactions of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, cycle
from unittest.mock import patch
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.memory import MemoryBackend
from engine import Add, Engine, Link, RegisterType, Revise, Revive, Tag, Tombstone
from engine.base.errors import EngineError
from engine.base.model import Receipt
from engine.base.validation import atom_id
from engine.commands.look_ahead import look_ahead
from engine.commands.reconcile import UpsertAtom, UpsertEdge
from engine.commands.secrets.filter import SecretFilter
from engine.commands.secrets.policy import SecretsPolicy
from engine.commands.transaction import Command, Transaction, receipt
from engine.ledger import appender
from proofs.leaves import EdgeType, State

pytestmark = pytest.mark.slow

ERASED = "A text that was erased."
CONTENTS = ("one", "two", "Three, with ünïcödé", "four", ERASED, "five 🦉")
KEYS = ("key", "other")
IDS = tuple(str(UUID(int=number)) for number in (1, 2))


def filled() -> Engine:
    """Return a memory whose clock counts calls, with one erased and one recorded content."""
    times = count(1_600_000_000_000_000, 7)
    engine = Engine(MemoryBackend(), clock=lambda: next(times), salts=lambda seq: bytes([seq % 251]) * 32)
    engine.erase(engine.add(ERASED, id=IDS[1]).id, reason="test")
    engine.add("four")
    return engine


FOUR = filled().add("four").id
"""The default id of the recorded content. After a revision, that content gets a different id."""

adds = st.builds(
    Add,
    content=st.sampled_from(CONTENTS) | st.text(max_size=3),
    title=st.none() | st.sampled_from(("A title", "", "Ein Täg")),
    kind=st.sampled_from(("note", "fact", "Not a label")) | st.just("note"),
    tags=st.lists(st.sampled_from(("a", "B", "b", "c d", "ä", "#x")), max_size=3) | st.just(("a", "B")),
    buckets=st.sampled_from((("inbox",), ("b", "a"), ["a", "a"], ())),
    source=st.none() | st.sampled_from(("s.md", "ü.md")),
    sequence=st.none() | st.sampled_from((0, 23, 24, 1 << 40)),
    trust=st.none() | st.integers(0, 100),
    created=st.none() | st.integers(-5, 1 << 50),
    occurrence=st.integers(0, 1),
    key=st.none() | st.none() | st.sampled_from(KEYS),
    id=st.none() | st.none() | st.sampled_from((*IDS, "x")),
    force=st.booleans(),
    meta=st.none()
    | st.dictionaries(st.sampled_from(("a", "bb", "c")), st.sampled_from((1, -2, True, "t", 0.5))),
    aliases=st.none() | st.just(("Al", "Ünï")),
    folder=st.none() | st.just("notes"),
)
others = st.one_of(
    st.builds(Revise, st.sampled_from((*IDS, FOUR)), st.sampled_from(CONTENTS)),
    st.builds(Tag, st.sampled_from(IDS), st.just(("new",))),
    st.builds(Tombstone, st.sampled_from(IDS)),
    st.builds(Revive, st.sampled_from(IDS)),
    st.builds(Link, st.just(IDS[0]), st.just("references"), st.just(IDS[1])),
)
ENDS = (*map(atom_id, IDS), bytes(15) + b"\x09")
upserts = st.builds(UpsertAtom, adds | st.builds(Add, st.sampled_from(CONTENTS)), override=st.booleans())
edges = st.builds(
    UpsertEdge,
    src=st.sampled_from(ENDS),
    type=st.sampled_from((EdgeType.REFERENCES, EdgeType.REFERENCES, EdgeType.RELATED_TO, "causes")),
    dst=st.sampled_from(ENDS),
    data=st.just(b"") | st.sampled_from((b"", b"\x01", b"no CBOR")),
    override=st.booleans(),
)
plain = st.builds(Add, st.sampled_from(CONTENTS) | st.text("abc", min_size=1, max_size=2))
histories = st.lists(adds | adds | adds | upserts | upserts | edges | edges | edges | others, max_size=25)


def one_by_one(commands: Sequence[Command]) -> tuple[Engine, list[Command], list[Receipt], list[Command]]:
    """Return a memory after `commands`, the commands that did not fail, their receipts, and the others."""
    engine = filled()
    done, receipts, failed = [], [], []
    for command in commands:
        try:
            receipts += engine.apply([command])
            done.append(command)
        except EngineError:
            failed.append(command)
    return engine, done, receipts, failed


def rows(engine: Engine) -> dict[bytes, bytes]:
    """Return all rows of a memory."""
    return dict(engine.store.backend.scan())


@settings(max_examples=150, deadline=None)
@given(histories, st.lists(st.integers(0, 25), max_size=4))
def test_batches(commands: list[Command], cuts: list[int]) -> None:
    """The division of commands into batches changes neither the rows nor the receipts."""
    # A refused command may have asked the clock for a time, so the expected rows are those without it.
    _, done, _, _ = one_by_one(commands)
    expected, done, receipts, _ = one_by_one(done)
    engine = filled()
    found = []
    for begin, end in _parts(len(done), cuts):
        found += engine.apply(done[begin:end])
    assert found == receipts
    assert rows(engine) == rows(expected)


@settings(max_examples=100, deadline=None)
@given(histories)
def test_failing_batch(commands: list[Command]) -> None:
    """A batch that fails raises the error of its first failing command, and appends nothing."""
    _, done, _, failed = one_by_one(commands)
    for bad in failed[:3]:
        single, batched = filled(), filled()
        single.apply(done)
        before, error = rows(batched), error_of(single, [bad])
        if error is not None:
            assert error_of(batched, [*done, bad, *done]) == error
            assert rows(batched) == before


def error_of(engine: Engine, commands: Sequence[Command]) -> tuple[type, str] | None:
    """Return the type and the text of the error that `commands` raise, or None."""
    try:
        engine.apply(commands)
    except EngineError as error:
        return type(error), str(error)
    return None


@settings(max_examples=100, deadline=None)
@given(
    histories | st.lists(plain | upserts | edges | others, min_size=5, max_size=25),
    st.lists(st.integers(1, 8), min_size=1, max_size=5),
    st.booleans(),
)
def test_looking_ahead(commands: list[Command], spans: list[int], screened: bool) -> None:
    """However far a transaction looks ahead, with a filter for secrets or without, the rows are the same."""
    done = one_by_one(commands)[1]
    expected, engine = filled(), filled()
    for memory in (expected, engine) if screened else ():
        memory.store.secret_filter = SecretFilter(SecretsPolicy("redact"))
    receipts = [expected.apply([command])[0] for command in done]
    lengths = cycle(spans)

    def limited(tx: Transaction, commands: Sequence[Command], start: int) -> int:
        length = next(lengths)
        return 1 if length == 1 else look_ahead(tx, commands[: start + length], start)

    with patch("engine.commands.look_ahead.look_ahead", limited):
        assert engine.apply(done) == receipts
    assert rows(engine) == rows(expected)


def test_events_are_encoded_together() -> None:
    """The events of a transaction are one run, until a command reads a record that one of them changes."""
    adds: list[Command] = [Add(f"text {number}") for number in range(20)]
    links: list[Command] = [UpsertEdge(ENDS[0], EdgeType.REFERENCES, ENDS[1], b"", override=True)]
    first, second = (Add(name, id=IDS[at], force=True) for at, name in enumerate("ab"))
    cases: list[tuple[list[Command], list[int]]] = [
        (adds, [20]),
        ([*adds, Tag(FOUR, ["new"]), *adds[:3]], [21]),
        ([first, Tag(IDS[0], ["new"]), Tag(FOUR, ["new"])], [1, 2]),
        ([first, second, *links, *adds], [2, 21]),
        ([*adds, RegisterType("causes"), Tag(FOUR, ["new"])], [21, 1]),
    ]
    for made, runs in cases:
        for policy in (None, SecretsPolicy("redact")):
            engine = filled()
            engine.store.secret_filter = None if policy is None else SecretFilter(policy)
            with patch.object(appender, "encoded", wraps=appender.encoded) as encoded:
                engine.apply(made)
            assert [len(call.args[2]) for call in encoded.call_args_list] == runs


def test_reading_any_row_of_a_waiting_event_gives_its_value() -> None:
    """While events wait, a command reads the same rows as after they were encoded."""

    class Read:
        """A command that reads a row in several ways."""

        def __init__(self, key: bytes) -> None:
            self.key = key

        def decide(self, tx: Transaction) -> Receipt:
            value = tx.rows.get(self.key)
            assert value == tx.batch.rows[self.key]
            assert tx.rows.multi_get([self.key]) == [value]
            return receipt("", State.LIVE)

    made: list[Command] = [
        Add("one", id=IDS[0]),
        Add("two"),
        UpsertEdge(ENDS[0], EdgeType.REFERENCES, atom_id(FOUR)),
    ]
    for last in range(1, len(made) + 1):
        plain = filled()
        before = rows(plain)
        plain.apply(made[:last])
        for key, value in rows(plain).items():
            if before.get(key) != value and not key.startswith(b"meta/"):
                filled().apply([*made[:last], Read(key)])


def test_request_and_origin() -> None:
    """Every event of a batch records the request and the origin."""
    engine = filled()
    commands = [Add("one"), Add("two", meta={"a": 1}, aliases=["x"]), Add("five", folder="f")]
    engine.apply(commands, request="req", pipeline="from")
    expected = filled()
    for command in commands:
        expected.apply([command], request="req", pipeline="from")
    assert rows(engine) == rows(expected)


def test_screened_commands_are_filtered_in_batches() -> None:
    """With a filter for secrets, no secret of a batch is written."""
    secret = "AKIA" + "Q2W7E4R5T3Y6U2I7"
    engine = Engine(MemoryBackend(), secrets=SecretsPolicy("redact"))
    receipts = engine.apply([Add(f"one {secret}"), Add("two"), Add("three", title=secret)])
    assert not any(secret.encode() in value for value in rows(engine).values())
    assert len({receipt.id for receipt in receipts}) == 3


def test_subclasses_decide_themselves() -> None:
    """A subclass of a command is decided by its own method."""

    class Loud(Add):
        def decide(self, tx: object) -> Receipt:
            return Add(self.content.upper()).decide(tx)  # type: ignore[arg-type]

    engine = filled()
    receipts = engine.apply([Add("one"), Loud("two"), Add("three")])
    assert [engine.get(receipt.id).content for receipt in receipts] == ["one", "TWO", "three"]


def _parts(size: int, cuts: list[int]) -> Iterator[tuple[int, int]]:
    ends = [*sorted(cut for cut in cuts if cut < size), size]
    yield from zip([0, *ends], ends, strict=False)
