"""A known checkpoint reveals that a store was rolled back, forked or replaced, and nothing else does."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backends.memory import MemoryBackend
from engine.base.errors import CorruptionError, InconsistentError
from engine.base.model import Receipt
from engine.engine import Engine
from engine.ledger.layout import journal_key
from engine.store.replay import replay
from engine.trust.notes.issue import issue
from engine.trust.notes.known_checkpoints import check_pair, read_history
from proofs.log import leaf_hash, root_of
from proofs.note import Checkpoint, Note, format_note, origin_of, parse_note
from tests.support.engines import copied_rows, engine_on, put_rows

SIZE = 12


@cache
def store(text: str = "Text") -> Engine:
    """Return a store of 12 events, all but the first two its own."""
    engine = engine_on()
    engine.add("Shared.")
    for number in range(2, SIZE):
        engine.add(f"{text} {number}.")
    return engine


def at(size: int, text: str = "Text") -> Checkpoint:
    """Return the checkpoint of the log of `size` events, computed from the definition."""
    rows = store(text).store.backend
    headers = [rows.get(journal_key(seq)) or b"" for seq in range(size)]
    return Checkpoint(
        origin_of(store(text).store.identity.store_id), size, root_of([*map(leaf_hash, headers)])
    )


@cache
def cut(size: int) -> MemoryBackend:
    """Return the store as it was when it had `size` events."""
    backend = MemoryBackend()
    replay(store().store.backend, backend, size)
    return backend


@given(st.integers(0, SIZE))
def test_a_store_has_every_checkpoint_it_ever_had(size: int) -> None:
    """The roots that are read back are those of the definition, and every earlier checkpoint is accepted."""
    history = read_history(store().store.backend, [size])
    assert history.roots[size] == at(size).root
    history.check(at(size))


@given(st.integers(0, SIZE), st.integers(0, SIZE))
@example(0, 5)
def test_two_notes_of_one_store_agree(old: int, new: int) -> None:
    """Only the store can tell that the later note continues the earlier one, unless that one is empty."""
    if new < old:
        with pytest.raises(
            InconsistentError,
            match=f"rollback: the log has {new} events, but the known checkpoint covers {old}",
        ):
            check_pair(at(old), at(new))
    else:
        assert check_pair(at(old), at(new)) == (old in {0, new})


@given(st.integers(1, SIZE), st.integers(1, SIZE))
def test_an_older_copy_is_a_rollback(have: int, known: int) -> None:
    """A store with fewer events than a known checkpoint is refused; checkpoints within it are accepted."""
    history = read_history(cut(have), [known])
    if known <= have:
        history.check(at(known))
    else:
        with pytest.raises(
            InconsistentError,
            match=f"rollback: the log has {have} events, but the known checkpoint covers {known}",
        ):
            history.check(at(known))


@given(st.integers(0, SIZE))
def test_a_fork_is_seen_from_its_first_event_on(size: int) -> None:
    """Checkpoints of the common beginning match both stores, and later ones show the fork with both sides."""
    history = read_history(store("Other").store.backend, [size])
    known = at(size)
    if size <= 2:
        history.check(known)
        return
    with pytest.raises(InconsistentError, match="equivocation" if size == SIZE else "fork") as caught:
        history.check(known)
    assert caught.value.known == known.text
    assert caught.value.found[-1] == at(SIZE, "Other").text
    assert at(size, "Other").text in caught.value.found


def test_the_same_size_and_two_roots_need_no_store() -> None:
    """Two notes of one size with different roots are an equivocation, which needs no store to detect."""
    with pytest.raises(InconsistentError, match="equivocation"):
        check_pair(at(SIZE), at(SIZE, "Other"))


def test_another_store_is_named_as_such() -> None:
    """A checkpoint of another origin is reported as another store, not as a rollback or fork."""
    known = at(5)._replace(origin=origin_of(bytes(16)))
    for check in (read_history(store().store.backend, [5]).check, lambda one: check_pair(one, at(5))):
        with pytest.raises(InconsistentError, match="another store"):
            check(known)


def test_a_store_taken_back_is_a_correct_store() -> None:
    """Without an outside checkpoint an older copy verifies, because nothing else is promised."""
    engine = engine_on()
    engine.add("Text.")
    old = copied_rows(engine.store.backend)
    note = engine.checkpoint_note()
    with engine_on(old) as back:
        assert back.verify().ok
        with pytest.raises(
            InconsistentError, match="rollback: the log has 2 events, but the known checkpoint covers 3"
        ):
            back.checkpoint_note(known=[parse_note(note.note.encode()).checkpoint])


@pytest.mark.parametrize("seq", [0, 1, SIZE - 1])
@pytest.mark.parametrize("lost", [True, False])
def test_a_damaged_header_is_damage_and_no_fork(seq: int, lost: bool) -> None:
    """Headers that the log state does not commit to are corruption, whatever the note contains."""
    broken = copied_rows(store().store.backend)
    raw = broken.get(journal_key(seq)) or b""
    put_rows(broken, {journal_key(seq): None if lost else raw[:-1] + bytes([raw[-1] ^ 1])})
    with pytest.raises(CorruptionError):
        read_history(broken, [SIZE])


def test_the_note_covers_the_checkpoint_event() -> None:
    """A note's size includes its checkpoint event, whose header has the overall root before it."""
    with engine_on() as engine:
        engine.add("Text.")
        root = engine.root().root
        note = engine.checkpoint_note()
        assert (note.size, note.seq, note.root, engine.size) == (3, 2, root, 3)
        assert note.log_root == engine.root().log_root
        last = Checkpoint(note.origin, 3, bytes.fromhex(note.log_root))
        assert note.note.encode() == format_note(Note(last))


def test_events_after_the_checkpoint_are_not_in_the_note() -> None:
    """If others write between checkpoint and note, the note still covers the log up to the checkpoint."""
    with engine_on() as engine:
        engine.add("Text.")

        def take() -> tuple[Receipt, int]:
            receipt = engine.checkpoint()
            engine.add("Later.")
            return receipt, receipt.events[0].seq + 1

        note = issue(engine.store, take)
        known = parse_note(note.note.encode()).checkpoint
        assert (note.size, engine.size, note.root) == (3, 4, engine.root(as_of=1).root)
        assert note.log_root == engine.root(as_of=2).log_root
        read_history(engine.store.backend, [3]).check(known)


def test_a_note_is_of_a_checkpoint_only() -> None:
    """It is corruption if the last event at the note's size is not a checkpoint."""
    with engine_on() as engine:
        receipt = engine.add("Text.")
        with pytest.raises(CorruptionError, match="event 1 is not the checkpoint"):
            issue(engine.store, lambda: (receipt, 2))
