"""Writing a journal as JSON Lines: everything a store is made from, readable without us."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

from backends.base import Reader
from engine.base import limits
from engine.base.errors import CorruptionError
from engine.base.model import Checkpoint
from engine.ledger.journal import read_identity, read_raw
from engine.ledger.roots import Roots
from engine.store.replay import Progress, no_progress
from engine.store.store import Store
from engine.transfer.journal_lines import Head, Tail, event_line, head_line, tail_line
from proofs.log import Frontier

Write = Callable[[bytes], object]
"""Takes the next bytes of an export."""


def export_store(store: Store, write: Write, progress: Progress = no_progress) -> Checkpoint:
    """Write all events of a store, as of one head, in its one canonical form; others may go on writing.

    Two exports of one store at one head are the same bytes. Memory is bounded by 16 MiB of events.

    Raises:
        CorruptionError: the journal is damaged; what was written has no last line.
        BusyError: other processes kept moving the head.
    """
    with store.view(*store.followers) as rows:
        roots = store.roots(rows)
        _export(rows, roots, write, progress)
    return roots.shown()


def _export(rows: Reader, roots: Roots, write: Write, progress: Progress) -> None:
    digest, frontier = sha256(), Frontier()

    def put(line: bytes) -> None:
        digest.update(line)
        write(line)

    put(head_line(Head(read_identity(rows), roots)))
    while frontier.size < roots.size:
        stop = min(roots.size, frontier.size + limits.FOLLOW_EVENTS_MAX)
        for event in read_raw(rows, frontier.size, stop):
            frontier.append(event.entry.leaf)
            put(event_line(event))
        progress(frontier.size, roots.size)
    if frontier.root() != roots.log:
        raise CorruptionError(
            f"the {roots.size} headers of the journal are not those that the log commits to",
            hint="`engine verify-root` names the first that differs",
            family="journal",
        )
    write(tail_line(Tail(roots.size, roots.log, digest.digest())))
