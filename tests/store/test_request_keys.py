"""Request keys: a repeated call appends nothing and returns the receipts of the first time."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from backends import open_backend
from engine import Add, Engine, Revive, Tombstone
from engine.base.errors import ConflictError, InvalidInputError, LimitError, NotFoundError, RefusedError
from engine.commands import Command
from engine.store.maintenance import copy
from engine.store.request_keys import KEY_BYTES_MAX
from tests.query.recall.support import id_of
from tests.support.children import run_at_once
from tests.support.engines import backend_of, engine_on
from tests.support.postgresql import shared_server

pytestmark = pytest.mark.slow

A, B = id_of(1), id_of(2)


@pytest.fixture
def memory() -> Engine:
    """Return a memory with two atoms."""
    engine = engine_on()
    engine.apply([Add("the sea is calm", id=A), Add("a ship left the harbour", id=B, tags=["ship"])])
    return engine


CALLS: dict[str, Callable[[Engine], object]] = {
    "add": lambda one: one.add("a new text", tags=["x"], meta={"n": 1}),
    "add_once": lambda one: one.add("a new text about whales", once=True),
    "revise": lambda one: one.revise(A, "the sea is rough"),
    "tombstone": lambda one: one.tombstone(A, "wrong"),
    "tag": lambda one: one.tag(A, "red"),
    "untag": lambda one: one.untag(B, "ship"),
    "register_type": lambda one: one.register_type("near"),
    "link": lambda one: one.link(A, "references", B),
    "relate": lambda one: one.relate("Ann", "knows", "Bo", source=A),
    "merge": lambda one: one.merge(A, B, force=True),
    "supersede": lambda one: one.supersede(A, B),
    "revert": lambda one: one.revert(1),
    "checkpoint": lambda one: one.checkpoint(),
    "apply": lambda one: one.apply([Add("first"), Add("the sea is calm", id=A), Add("second")]),
    "apply_many": lambda one: list(one.apply_many([Add("first"), Add("second")])),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_repeated_call_returns_what_it_returned_and_appends_nothing(memory: Engine, name: str) -> None:
    """Each call returns the same value again, after other changes, in a new process, and after a rebuild."""
    call = CALLS[name]
    first = call(memory.acting_as("ann", request="key"))
    later = memory.add("changed since").id
    memory.tombstone(later)
    memory.register_type("later")
    memory.relate("Ann", "later", "Cy")
    size = memory.size
    for engine in (memory, engine_on(backend_of(memory))):
        assert call(engine.acting_as("ann", request="key")) == first
        engine.rebuild()
    assert memory.size == size
    assert memory.verify().ok


def test_a_key_belongs_to_an_actor(memory: Engine) -> None:
    """Another actor may use the same key for another call."""
    memory.acting_as("ann", request="key").tag(A, "red")
    assert memory.acting_as("bob", request="key").tag(A, "blue").changed


def test_a_key_is_refused_for_other_commands(memory: Engine) -> None:
    """The same key with other arguments, another call or a bulk call is a conflict."""
    acting = memory.acting_as("ann", request="key")
    acting.tag(A, "red")
    size = memory.size
    others: list[Callable[[], object]] = [
        lambda: acting.tag(A, "blue"),
        lambda: acting.tag(B, "red"),
        lambda: acting.add("new"),
        lambda: acting.revise(id_of(9), "unknown"),
        lambda: acting.apply([]),
        lambda: list(acting.apply_many([Add("new")])),
        lambda: acting.revert(1),
        acting.checkpoint,
        lambda: acting.erase(A, "unwanted"),
        lambda: acting.add("new", once=True),
    ]
    for other in others:
        with pytest.raises(ConflictError, match="the request key 'key' was used already"):
            other()
    assert memory.size == size


def test_a_call_that_changed_nothing_is_decided_again(memory: Engine) -> None:
    """Such a call has the same answer again; if others undid its wish meanwhile, it is carried out."""
    acting = memory.acting_as("ann", request="key")
    first = acting.revive(A)
    assert not first.changed
    assert acting.revive(A) == first
    memory.tombstone(A)
    assert acting.revive(A).changed


def test_a_failed_call_leaves_its_key_unused(memory: Engine) -> None:
    """A call that raised an error can be repeated once its cause is gone."""
    acting = memory.acting_as("ann", request="key")
    with pytest.raises(NotFoundError):
        acting.tag(id_of(3), "red")
    memory.add("third", id=id_of(3))
    assert acting.tag(id_of(3), "red").changed


def test_erasing_destroys_the_keys_of_the_atom(memory: Engine) -> None:
    """The repeated call is decided again: the erased content is refused."""
    acting = memory.acting_as("ann", request="key")
    memory.erase(acting.add("a secret").id, "asked", probe=False)
    with pytest.raises(RefusedError, match="erased"):
        acting.add("a secret")


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_a_call_of_which_a_part_was_erased_is_refused(memory: Engine, gone: int) -> None:
    """The rest of the call is not written twice, and no receipts are invented."""
    acting = memory.acting_as("ann", request="key")
    wanted = [Add("one secret"), Add("two secrets"), Add("three secrets")]
    receipts, size = acting.apply(wanted), memory.size
    memory.erase(receipts[gone].id, "asked", probe=False, remember=False)
    for engine in (memory, engine_on(backend_of(memory))):
        with pytest.raises(RefusedError, match="its receipts are not known any more"):
            engine.acting_as("ann", request="key").apply(wanted)
    assert memory.size == size + 1


def test_an_erasure_is_made_once(memory: Engine) -> None:
    """A repeated erasure has the same events, and does not erase an atom that was added again."""
    memory.link(A, "references", B)
    acting = memory.acting_as("ann", request="key")
    first = acting.erase(A, "asked")
    memory.add("the sea is back", id=A, force=True)
    again, size = acting.erase(A, "asked"), memory.size
    assert (again.events, again.edges, again.contents) == (first.events, 1, 1)
    assert memory.size == size
    assert memory.get(A).content == "the sea is back"
    with pytest.raises(ConflictError, match="other commands"):
        acting.erase(A, "another reason")


def test_copies_keep_the_keys(memory: Engine) -> None:
    """A copy of the memory answers the repeated call with the receipts of the original."""
    first = memory.acting_as("ann", request="key").add("new")
    with open_backend("memory:") as target:
        copy(backend_of(memory), target)
        with Engine(target) as other:
            assert other.acting_as("ann", request="key").add("new") == first


def test_a_bulk_continues_after_the_part_that_was_committed(memory: Engine) -> None:
    """A bulk call that was broken off after two batches commits only the rest when it is repeated."""
    lines = [Add(f"line {number}") for number in range(2500)]
    acting, size = memory.acting_as("ann", request="key"), memory.size
    first = list(islice(acting.apply_many(lines), 1001))
    assert memory.size == size + 2000
    memory.add("a note of somebody else")
    whole = list(acting.apply_many(lines))
    assert whole[:1001] == first
    assert memory.size == size + 2501
    assert list(acting.apply_many(lines)) == whole


def test_a_bulk_may_be_cut_in_other_places(memory: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of the first time are found although the repetition cuts the commands elsewhere."""
    acting, lines = memory.acting_as("ann", request="key"), [Add(f"line {number}") for number in range(20)]
    monkeypatch.setattr("engine.store.bulk.COMMIT_CHUNK", 4)
    first = list(acting.apply_many(lines[:10]))
    size = memory.size
    monkeypatch.setattr("engine.store.bulk.COMMIT_CHUNK", 100)
    assert list(acting.apply_many(lines))[:10] == first
    assert memory.size == size + 10


def test_a_part_without_events_is_not_decided_again(memory: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A first part that changed nothing stays without effect after a later part has changed its subject."""
    monkeypatch.setattr("engine.store.bulk.COMMIT_CHUNK", 1)

    memory.tombstone(A)
    acting = memory.acting_as("ann", request="key")
    wanted: list[Command] = [Tombstone(A), Revive(A)]
    first, size = list(acting.apply_many(wanted)), memory.size
    assert [one.changed for one in first] == [False, True]
    assert list(acting.apply_many(wanted)) == first
    assert memory.size == size


def test_a_long_revert_continues(memory: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A revert that was broken off after its first batch reverts the rest, and not its own events."""
    monkeypatch.setattr("engine.store.revert.SUBJECTS_AT_ONCE", 2)
    start = memory.size
    for number in range(5):
        memory.add(f"note {number}")
    acting, commit, made = memory.acting_as("ann", request="key"), memory.store.commit, []

    def failing(*given, **named):  # type: ignore[no-untyped-def]
        made.append(named)
        if len(made) == 2:
            raise LimitError("stop")
        return commit(*given, **named)

    monkeypatch.setattr(memory.store, "commit", failing)
    with pytest.raises(LimitError):
        acting.revert(start)
    monkeypatch.setattr(memory.store, "commit", commit)
    undone = acting.revert(start)
    assert [one.outcome for one in undone] == ["undone"] * 5
    assert memory.size == start + 10
    assert acting.revert(start) == undone


def test_keys_have_bounds(memory: Engine) -> None:
    """A key is one line of 1 to 110 bytes, and does not end like the name of a part."""
    for key in ("", "a\nb", "key#0+1000", 7):
        with pytest.raises(InvalidInputError):
            memory.acting_as("ann", request=key)  # type: ignore[arg-type]
    with pytest.raises(LimitError):
        memory.acting_as("ann", request="k" * (KEY_BYTES_MAX + 1))
    with pytest.raises(InvalidInputError):
        memory.acting_as("Ann Smith")
    assert memory.acting_as("ann", request="k" * KEY_BYTES_MAX).tag(A, "red").changed
    assert list(memory.acting_as("ann", request="é" * 55).apply_many([Add("new")]))


def test_an_expected_size_is_checked_for_a_key_that_was_not_used(memory: Engine) -> None:
    """With `if_head`, a new call is refused if the size differs; a repeated call is answered in any case."""
    size, acting = memory.size, memory.acting_as("ann", request="key")
    with pytest.raises(ConflictError, match="if_head"):
        acting.apply([Add("new")], if_head=size - 1)
    assert memory.size == size
    first = acting.apply([Add("new")], if_head=size)
    assert acting.apply([Add("new")], if_head=size) == first


@pytest.mark.parametrize("actor", ["Ann Smith", "", "a\nb", "\ud800", "a" * 33, 7])
def test_a_key_of_an_invalid_actor_is_refused(memory: Engine, actor: str) -> None:
    """An actor that no event can have is refused before a key is looked for."""
    with pytest.raises((InvalidInputError, LimitError), match="actor"):
        memory.acting_as("ann", request="key").apply([Add("new")], actor=actor)


def test_an_explicit_request_beside_a_key_is_refused(memory: Engine) -> None:
    """`apply(request=…)` cannot replace the key."""
    with pytest.raises(InvalidInputError, match="has a request key already"):
        memory.acting_as("ann", request="key").apply([Add("new")], request="other")


def test_a_key_that_looks_like_a_secret_is_refused() -> None:
    """The filter for secrets would make different keys equal; so such a key is not used."""
    engine = Engine(backend_of(engine_on()), secrets="redact")
    acting = engine.acting_as("ann", request="password=hunter2-Xk93jQ")
    with pytest.raises(RefusedError, match="looks like a secret"):
        acting.add("new")
    assert engine.acting_as("ann", request="0b1d6f9e-6c0e-4b7e-9b0d-1f6c2f0a7c11").add("new").changed


def test_redacted_texts_are_recognised() -> None:
    """A repeated call whose text has a secret is answered, although the journal has the redacted text."""
    engine = Engine(backend_of(engine_on()), secrets="redact")
    acting = engine.acting_as("ann", request="key")
    first = acting.add("the password is password=hunter2-Xk93jQ")
    assert first.changed
    assert acting.add("the password is password=hunter2-Xk93jQ") == first


def test_acting_as_shares_the_memory(memory: Engine) -> None:
    """The actor is recorded; closing what `acting_as` returned leaves the memory open."""
    with memory.acting_as("ann") as acting:
        seq = acting.tag(A, "red").events[0].seq
    assert next(iter(memory.log(seq))).actor == "ann"
    assert memory.actor == "user"
    assert memory.tag(A, "blue").changed


def test_a_long_journal_after_the_rows_is_read(memory: Engine) -> None:
    """A key is found when the follower lacks more events than are read one by one."""
    first = memory.acting_as("ann", request="key").add("new")
    list(memory.store.commit([Add(f"note {number}") for number in range(1500)], "user"))
    assert memory.acting_as("ann", request="key").add("new") == first
    assert engine_on(backend_of(memory)).acting_as("ann", request="key").add("new") == first


WRITER = """
import sys
from engine import Engine

with Engine.open(sys.argv[1]) as memory:
    print("open", flush=True)
    sys.stdin.readline()
    for number in range(20):
        acting = memory.acting_as("ann", request=f"key {number}")
        receipt = acting.relate(f"A{number}", "knows", f"B{number}")
        print(receipt.subject, *(event.event_id for event in receipt.events))
        acting.relate(f"A{number}", "knows", f"B{number}")
"""


def place(kind: str, folder: Path) -> str:
    """Return the URL of a new memory."""
    if kind == "postgresql":
        return shared_server().url.replace("postgresql", "postgresql+once", 1)
    return f"sqlite:{folder / 'store'}"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_processes_that_send_the_same_keys_at_once_get_the_same_receipts(kind: str, tmp_path: Path) -> None:
    """Two processes make the same twenty calls; each call is made once, and both print the same receipts."""
    url = place(kind, tmp_path)
    Engine.open(url).close()
    one, other = run_at_once(WRITER, (url,), (url,))
    assert one == other
    with Engine.open(url, create=False) as memory:
        assert memory.size == 1 + 20 * 3 + 1  # two entities and an edge each, and the predicate
        assert memory.verify().ok
