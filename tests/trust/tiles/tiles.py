"""Logs to export, and the files of an export."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from backends.base import Backend
from backends.memory import MemoryBackend
from engine.ledger.journal import encode_log
from engine.ledger.layout import LOG
from engine.trust.tiles import LogExport, export
from proofs.log import Frontier
from proofs.note import Checkpoint, Note, Signature, format_note, origin_of
from tests.support.engines import backend_of, engine_on, put_rows
from tests.support.workloads import commands
from tests.trust.tiles.support import leaves, log_of

STORE_ID = b"sixteen byte id "
SIGNED = (Signature("memroot.test/key", b"1234", b"a signature"),)


def synthetic(size: int, followed: int | None = None) -> MemoryBackend:
    """Return a log of synthetic headers with its log state."""
    store = log_of(size, size if followed is None else followed)
    frontier = Frontier()
    frontier.extend(leaves(size))
    put_rows(store, {LOG: encode_log(0, frontier.to_bytes())})
    return store


@cache
def real_store() -> Backend:
    """Return a store of 300 commands, which must not be changed."""
    engine = engine_on()
    engine.apply(commands(300, seed=31))
    engine.catch_up()
    return backend_of(engine)


def put_out(store: Backend, folder: Path, given: bytes | None = None) -> LogExport:
    """Export a synthetic log."""
    return export(store, STORE_ID, folder, given)


def files_of(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder by its path, without links and files that are too large to read."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 20
    }


def note_at(size: int, *, at: int | None = None, **changes: object) -> bytes:
    """Return a signed checkpoint of the synthetic log at a size, with the size `at` in its text."""
    frontier = Frontier()
    frontier.extend(leaves(size))
    checkpoint = Checkpoint(origin_of(STORE_ID), at or size, frontier.root())._replace(**changes)  # type: ignore[arg-type]
    return format_note(Note(checkpoint, SIGNED))
