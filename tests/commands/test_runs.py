"""Commands that are decided together give the rows, receipts and errors of commands decided one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st

from backends.memory import MemoryBackend
from engine import Add, Engine, Link, Revise, Revive, Tag, Tombstone
from engine.base.errors import EngineError
from engine.base.model import Receipt
from engine.commands.reconcile import UpsertAtom, UpsertEdge
from engine.commands.transaction import Command
from engine.secrets.policy import SecretsPolicy
from proofs.leaves import EdgeType

ERASED = "A text that was erased."
CONTENTS = ("one", "two", "Three, with ünïcödé", "four", ERASED, "five 🦉")
KEYS = ("key", "other")
IDS = tuple(f"{number:032x}" for number in (1, 2))


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
ENDS = (*map(bytes.fromhex, IDS), bytes(15) + b"\x09")
upserts = st.builds(UpsertAtom, adds | st.builds(Add, st.sampled_from(CONTENTS)), override=st.booleans())
edges = st.builds(
    UpsertEdge,
    src=st.sampled_from(ENDS),
    type=st.sampled_from((EdgeType.REFERENCES, EdgeType.REFERENCES, EdgeType.RELATED_TO, "causes")),
    dst=st.sampled_from(ENDS),
    data=st.just(b"") | st.sampled_from((b"", b"\x01", b"no CBOR")),
    override=st.booleans(),
)
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
    expected, done, receipts, _ = one_by_one(commands)
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


def test_request_and_origin() -> None:
    """Every event of a batch records the request and the origin."""
    engine = filled()
    commands = [Add("one"), Add("two", meta={"a": 1}, aliases=["x"]), Add("five", folder="f")]
    engine.apply(commands, request="req", origin="from")
    expected = filled()
    for command in commands:
        expected.apply([command], request="req", origin="from")
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
