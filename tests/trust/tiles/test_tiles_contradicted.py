"""Stores that do not continue the log in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.base import Backend
from backends.memory import MemoryBackend
from engine.base.errors import CorruptionError, InconsistentError
from engine.engine import Engine
from engine.ledger.journal import read_identity, read_log
from engine.ledger.layout import journal_key
from engine.trust.notes.known_checkpoints import read_history
from engine.trust.tiles import LogExport, export
from proofs.events import CheckpointBody, CheckpointDetail, EventKind
from proofs.hashing import NAMESPACES
from proofs.note import Checkpoint, Note, format_note, origin_of, parse_note
from tests.support.engines import backend_of, copied_rows, engine_on, forge, put_rows, ticking
from tests.support.workloads import commands
from tests.trust.tiles.tiles import files_of, real_store


def put(store: Backend, folder: Path) -> LogExport:
    """Export a store."""
    return export(store, read_identity(store).store_id, folder)


def grown(events: int, mark: int = 0) -> MemoryBackend:
    """Return the store with more events, which depend on `mark`."""
    store = copied_rows(real_store())
    root = bytes([mark]) * 32
    named = tuple((name, root) for name in NAMESPACES)
    for _ in range(events):
        forge(store, EventKind.CHECKPOINT, CheckpointDetail(root), CheckpointBody(named))
    return store


def of_another_store() -> Backend:
    """Return a store with another id."""
    return backend_of(Engine(MemoryBackend(), clock=ticking(), salts=lambda seq: bytes([seq % 251]) * 32))


@pytest.mark.parametrize("name", ["checkpoint", ".checkpoint"])
@pytest.mark.parametrize(
    ("there", "here", "problem"),
    [
        (grown(2), grown(2, mark=1), "equivocation"),
        (grown(2), grown(5, mark=1), "fork"),
        (grown(5), grown(2), "rollback"),
        (grown(5), grown(2, mark=1), "rollback"),
        (grown(2), of_another_store(), "another store"),
    ],
)
def test_a_store_that_contradicts_the_folder_is_told_so(
    there: Backend, here: Backend, problem: str, name: str, tmp_path: Path
) -> None:
    """The error has both sides of the contradiction, also if the folder is that of a killed run."""
    put(there, tmp_path)
    (tmp_path / "checkpoint").rename(tmp_path / name)
    before = files_of(tmp_path)
    with pytest.raises(InconsistentError, match=f"^{problem}") as caught:
        put(here, tmp_path)
    assert caught.value.known == parse_note(before[name]).checkpoint.text
    put(here, tmp_path.parent / f"{tmp_path.name} of the other")
    other = parse_note((tmp_path.parent / f"{tmp_path.name} of the other" / "checkpoint").read_bytes())
    assert caught.value.found[-1] == other.checkpoint.text
    assert files_of(tmp_path) == before


def test_a_store_that_goes_on_from_the_folder_is_no_contradiction(tmp_path: Path) -> None:
    """A store with the same first events and more of them is accepted."""
    put(grown(2), tmp_path)
    assert put(grown(5), tmp_path).new == 3


def test_a_damaged_header_is_damage_and_no_fork(tmp_path: Path) -> None:
    """Headers that the log state does not commit to are corruption, not a fork.

    The damaged header is below a row of the follower, which hides it from the root of the head.
    """
    engine = engine_on()
    engine.apply(commands(400, seed=31))
    engine.catch_up()
    store = copied_rows(backend_of(engine))
    assert read_log(store).size > 256
    note = export_at(store, 200, tmp_path)
    put_rows(store, {journal_key(199): b"damaged"})
    with pytest.raises(CorruptionError, match="the log does not commit to the"):
        put(store, tmp_path)
    assert (tmp_path / "checkpoint").read_bytes() == note


def export_at(store: Backend, size: int, folder: Path) -> bytes:
    """Export the first `size` events of a store, and return the checkpoint."""
    root = read_history(store, {size}).roots[size]
    store_id = read_identity(store).store_id
    note = format_note(Note(Checkpoint(origin_of(store_id), size, root)))
    export(store, store_id, folder, note)
    return note
