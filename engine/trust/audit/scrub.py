"""Reading a whole store again, slowly and in pieces, so that damage is found while a good copy exists.

The first pass checks the events in order: headers against the log, payloads against their commitments. The
second pass reads every row, so that the backend checks its checksums, and compares records with the journal.
Each piece reads a new snapshot, so other commands can write between the pieces.

The progress is kept in a file beside the store (`scrub_file`), not in a row: a check must not change the
store, and a copy of the store on another disk must not contain the result for this disk.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

from backends import Location
from backends.base import Backend
from engine.base.errors import CorruptionError
from engine.base.outside_files import PRIVATE, replace_file
from engine.commands.evidence import Evidence
from engine.followers.log import check_log_state
from engine.ledger.heads import extended, leaf_hashes
from engine.ledger.journal import check_entries, read_identity, read_log
from engine.ledger.layout import ATOM, EDGE_FROM, journal_key
from engine.ledger.records import AtomRecord, EdgeRecord, decode_edge
from engine.trust.audit.comparison import check_record
from proofs.log import Frontier

EVENTS: Final = 2048
"""The number of events in one piece of the first pass."""

ROWS: Final = 4096
"""The number of rows in one piece of the second pass."""


@dataclass(frozen=True, slots=True)
class Scrub:
    """The progress of reading a store again."""

    store_id: str
    events: int = 0
    """The number of events that the pass over the journal has checked."""
    frontier: str = ""
    """The state of the log after these events, in hexadecimal."""
    key: str | None = None
    """The key of the next row of the second pass, in hexadecimal; None during the first pass."""
    rows: int = 0
    """The number of rows that the second pass has read."""
    clean_at: int | None = None
    """The time at which the last complete pass found no damage, in µs since 1970; None before such a pass."""
    clean_events: int = 0
    """The number of events of the journal that this pass covered."""


def scrub_file(location: Location | None) -> Path | None:
    """Return the path of the file in which the progress is kept, or None for a store that is not in a file.

    It is `PATH/scrub.json` for a LevelDB store, `PATH-scrub.json` for a SQLite store, and
    `PATH-scrub-NAME.json` for the memory NAME of a SQLite file.
    """
    place = None if location is None else location.file
    if location is None or place is None:
        return None
    if location.kind == "leveldb":
        return place / "scrub.json"
    name = f"-{location.memory}" if location.memory else ""
    return place.with_name(f"{place.name}-scrub{name}.json")


def read_scrub(file: Path | None, store_id: str) -> Scrub:
    """Return the progress in `file`.

    If the file is unreadable or belongs to another store, return the progress of a check that begins.
    """
    try:
        state = json.loads(file.read_bytes()) if file is not None else {}
        progress = Scrub(**state)
        bytes.fromhex(progress.frontier + (progress.key or ""))
        numbers = (progress.events, progress.rows, progress.clean_events, progress.clean_at or 0)
        if not all(isinstance(number, int) for number in numbers):
            return Scrub(store_id)
    except (OSError, ValueError, TypeError):
        return Scrub(store_id)
    return progress if progress.store_id == store_id else Scrub(store_id)


def write_scrub(file: Path | None, progress: Scrub) -> None:
    """Write the progress to `file`, durably.

    Raises:
        OSError: The file cannot be written.
    """
    if file is not None:
        replace_file(file, json.dumps(asdict(progress)).encode() + b"\n", PRIVATE)


def scrub_piece(backend: Backend, progress: Scrub) -> tuple[Scrub, bool]:
    """Check the next piece of the store. Return the new progress, and True if the whole store was read.

    Raises:
        CorruptionError: The piece contains damage.
    """
    if progress.key is None:
        return _events(backend, progress), False
    return _rows(backend, progress)


def store_id_of(backend: Backend) -> str:
    """Return the id of the store, in hexadecimal."""
    return read_identity(backend).store_id.hex()


def _events(backend: Backend, progress: Scrub) -> Scrub:
    with backend.snapshot() as rows:
        rows.from_store = True
        log = read_log(rows)
        if progress.events > log.size:  # an older copy of the store was put back
            progress = replace(progress, events=0, frontier="")
        start, stop = progress.events, min(log.size, progress.events + EVENTS)
        frontier = Frontier.from_bytes(bytes.fromhex(progress.frontier)) if start else Frontier()
        check_entries(rows, start, stop)
        headers = [raw for _, raw in rows.scan(journal_key(start), journal_key(stop))]
        if len(headers) != max(stop - start, 0):
            raise CorruptionError(f"headers are missing after event {start}", family="journal", seq=start)
        frontier = extended(frontier, leaf_hashes(headers))
        if stop < log.size:
            return replace(progress, events=stop, frontier=frontier.to_bytes().hex())
        if frontier != log.frontier:
            raise CorruptionError(
                f"the log does not commit to the {log.size} headers of the journal",
                hint="run `engine verify-root`",
                family="journal",
            )
        check_log_state(rows, log)
        return replace(progress, events=stop, frontier=frontier.to_bytes().hex(), key="", rows=0)


def _rows(backend: Backend, progress: Scrub) -> tuple[Scrub, bool]:
    with backend.snapshot() as rows:
        rows.from_store = True
        evidence = Evidence()
        current = evidence.move_to(rows, read_log(rows))
        count, last = 0, b""
        for key, value in islice(rows.scan(bytes.fromhex(progress.key or "")), ROWS):
            count, last = count + 1, key
            record: AtomRecord | EdgeRecord | None = None
            if current and key.startswith(ATOM):
                record = evidence.atom(key.removeprefix(ATOM))
            elif current and key.startswith(EDGE_FROM):
                record = evidence.edge(*decode_edge(value, f"edge record {key.hex()}")[:3])
            if record is not None:
                check_record(rows, record)
    total = progress.rows + count
    if count == ROWS:
        return replace(progress, key=(last + b"\0").hex(), rows=total), False
    now = time.time_ns() // 1000
    return Scrub(progress.store_id, rows=total, clean_at=now, clean_events=progress.events), True
