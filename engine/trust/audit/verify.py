"""Verification: checking that all rows of a store follow from its journal (SPEC: Verification).

Only the rows of the journal itself are trusted, and only after their hashes have been checked. The events are
replayed into a temporary store on disk, by the same code that processes new events, and every row of the two
stores is compared. The rows of each follower are compared after the last event that the follower has
processed: an update of the follower before the comparison could repair a difference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from backends.base import Backend, Reader, prefix_end
from engine.base import limits
from engine.base.errors import CorruptionError, EngineError, InvalidInputError
from engine.base.process import without_collection
from engine.base.validation import quoted
from engine.followers.base import Follower, check_cursor, read_cursor
from engine.followers.log import header_runs, is_damaged_state
from engine.ledger.heads import extended, leaf_hashes
from engine.ledger.journal import Identity, RawEntry, read_log, read_raw
from engine.ledger.layout import (
    CURSOR,
    DREAM,
    ERASING,
    ERASURE,
    JOURNAL,
    LOG,
    PAYLOAD,
    cursor_key,
    family_of,
    journal_key,
    payload_key,
)
from engine.store.replay import Progress, append, no_progress, scratch_backend
from engine.store.store import Store, check_identity
from engine.store.views import Roots, projections
from engine.text.analyzer import ANALYZER_NAME
from engine.text.analyzer_fingerprint import fingerprint
from engine.trust.audit.chain import check_chain
from engine.trust.audit.comparison import (
    NO_CURSOR,
    DestroyedPayloads,
    Difference,
    ErasuresFromHeaders,
    ReplayBackend,
    Unchecked,
    compare_prefix,
    stray_rows,
)
from proofs.events import ERASING_KINDS, CheckpointBody, CheckpointDetail, Entry, EventKind
from proofs.hashing import NAMESPACES
from proofs.log import Frontier


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a verification. The roots in it are computed from the journal alone."""

    ok: bool
    size: int
    """The number of events that were replayed."""
    root: str
    """The overall root, as 64 hex digits; empty if the replay of the journal failed."""
    roots: dict[str, str]
    """Name → root, for the log and for each namespace."""
    checkpoints: int
    """The number of checkpoints whose recorded roots equal the roots computed in the replay."""
    rows: int
    """The number of rows that were compared."""
    differences: tuple[Difference, ...]
    """At most 20 differences. The first difference may have caused the others, so start with it."""
    unchecked: tuple[Unchecked, ...] = ()
    """The checkpoints that can no longer be verified completely, because content was erased after them."""


_ROOT = re.compile("[0-9a-fA-F]{64}")
REPORTED_MAX = 20
"""The maximum number of differences in a report.

The first difference alone makes the verification fail; the others may show a pattern.
"""


def verify(backend: Backend, *, expect: str | None = None, progress: Progress = no_progress) -> Report:
    """Replay the journal and compare every row. The store is read in one snapshot and is not changed.

    Args:
        backend: The backend of a store. Either this process has the store open, or no process uses it.
        expect: The overall root that the store must have, as 64 hex digits; None for any root.
        progress: Called with (events replayed, all events).

    Raises:
        InvalidInputError: `expect` is not a root.
        EngineError: The store was created with a different text analyzer, and the name of that analyzer is
            covered by the log.
    """
    if expect is not None and not (isinstance(expect, str) and _ROOT.fullmatch(expect)):
        raise InvalidInputError(f"expect must be a root of 64 hex digits, not {quoted(expect)}")
    with backend.snapshot() as rows, scratch_backend(on_disk=True) as scratch:
        rows.from_store = True
        work = _Verification(rows, scratch)
        try:
            roots = work.run(progress)
        except CorruptionError as error:
            family = error.family or "journal"
            if family == "payload" and not work.log_agrees:
                family = "journal"  # the header's commitment was changed, not the payload
            work.differ(Difference(family, "", error.seq, str(error)), first=True)
            roots = None
        if roots and expect is not None and roots.overall.hex() != expect.lower():
            work.differ(Difference("root", "", None, f"the root is {roots.overall.hex()}, not {expect}"))
        return work.report(roots)


class _Verification:
    def __init__(self, rows: Reader, scratch: Backend) -> None:
        self._rows = rows
        self._by_headers = ErasuresFromHeaders(rows)
        self._scratch = ReplayBackend(scratch, rows)
        self._replayed: Store | None = None
        self._due: list[tuple[int, Follower]] = []
        self._differences: list[Difference] = []
        self._checkpoints = 0
        self._unchecked: list[Unchecked] = []
        self._compared = 0
        self._size = self._payloads = 0
        self._destroyed = DestroyedPayloads(rows)
        self.log_agrees = False
        self._head: bytes | None = None

    def run(self, progress: Progress) -> Roots:
        stop = self._journal_end()
        if self._rows.get(ERASING) is not None:
            problem = "an erasure is not finished; opening the store finishes it"
            self.differ(Difference("meta", ERASING.hex(), None, problem))
        self.log_agrees = self._headers_agree(stop)
        for follower in projections():
            self._plan(follower, stop)
        self._compare_due()
        while self._size < stop:
            with without_collection():
                self._step(min([stop, *(size for size, _ in self._due)]))
            progress(self._size, stop)
        self._check_journal_keys()
        self._compare(ERASURE)
        self._check_meta()
        owned = [prefix for follower in projections() for prefix in follower.prefixes]
        for stray in stray_rows(self._rows, (JOURNAL, PAYLOAD, ERASURE, LOG, CURSOR, DREAM, ERASING, *owned)):
            self.differ(stray)
        if self._replayed is None:
            raise CorruptionError("the journal is empty", family="journal", seq=0)
        self._replayed.follow()
        return self._replayed.roots(self._scratch)

    def _journal_end(self) -> int:
        # Count the rows of the journal, because the log state itself has yet to be verified.
        last = next(self._rows.scan_prefix(JOURNAL, reverse=True), None)
        if last is None:
            return 0
        seq = int.from_bytes(last[0][len(JOURNAL) :], "big")
        if last[0] != journal_key(seq & (1 << 64) - 1):
            raise CorruptionError(f"the key of journal row {last[0].hex()} is not a seq", family="journal")
        return seq + 1

    def _headers_agree(self, stop: int) -> bool:
        """Return True if the log state commits to exactly the stored headers. Do not check their content."""
        frontier = Frontier()
        for start, headers in header_runs(self._rows, stop):
            frontier = extended(frontier, leaf_hashes(headers))
            self._by_headers.note(start, headers)
        try:
            stored = read_log(self._rows).frontier
        except CorruptionError:
            return False
        if stored != frontier and not is_damaged_state(stored, frontier):
            problem = "the headers are not those that the log state commits to"
            self.differ(Difference("journal", "", None, problem))
        return stored == frontier

    def _plan(self, follower: Follower, stop: int) -> None:
        """Arrange to compare the follower's rows after the last event that the follower has processed."""
        key = cursor_key(follower.name).hex()
        try:
            cursor = read_cursor(self._rows, follower.name)
            if cursor is not None:
                check_cursor(self._rows, follower.name, cursor, stop)
        except CorruptionError as error:
            if error.family:
                raise
            self.differ(Difference("meta", key, None, str(error)))
            return
        if cursor is None:
            # Either the follower never ran and has no rows, or an interrupted rebuild made its cursor void.
            for prefix in follower.prefixes:
                for row, _ in self._rows.scan_prefix(prefix):
                    self.differ(Difference(family_of(row), row.hex(), None, NO_CURSOR))
                    break
            if follower.name == "records":
                self.differ(
                    Difference("meta", key, None, "the cursor of the follower `records` is missing or void")
                )
        elif cursor.version > follower.version:
            problem = f"rows of {follower.name} have version {cursor.version}, not {follower.version}"
            self.differ(Difference("meta", key, None, problem))
        elif cursor.version == follower.version:
            self._due.append((cursor.size, follower))
        # Rows of an older version are void: nothing reads them, and the next update replaces them.

    def _step(self, boundary: int) -> None:
        events = self._next_events(min(boundary, self._size + limits.FOLLOW_EVENTS_MAX))
        entries = [event.entry for event in events]
        with self._scratch.snapshot() as before:
            if problem := check_chain(entries, before):
                self.differ(problem)
        if entries[0].header.kind is EventKind.CHECKPOINT:
            self._check_checkpoint(entries[0])
        self._head = append(self._scratch, events, self._head, journal=False)
        for event in events:
            if event.erased is not None or event.entry.header.kind in ERASING_KINDS:
                for difference in self._destroyed.follow(event):
                    self.differ(difference)
        self._payloads += sum(event.payload is not None for event in events)
        if self._replayed is None:
            self._replayed = Store(self._scratch, None, check=False)
            self._check_identity(self._replayed.identity)
        self._replayed.recent.add(entries)
        self._replayed.follow_together(*self._replayed.followers)
        self._size += len(events)
        self._compare_due()

    def _check_identity(self, identity: Identity) -> None:
        """Raise EngineError if the genesis header is undamaged and this version cannot replay the store."""
        try:
            check_identity(identity, ANALYZER_NAME, fingerprint())
        except EngineError:
            if self.log_agrees:
                raise
            problem = "the genesis names an analyzer or rules that the log does not commit to"
            self.differ(Difference("journal", journal_key(0).hex(), 0, problem))

    def _next_events(self, stop: int) -> list[RawEntry]:
        """Return the next events to replay, up to `stop` or the next checkpoint."""
        events: list[RawEntry] = []
        for event in read_raw(self._by_headers, self._size, stop):
            if events and event.entry.header.kind is EventKind.CHECKPOINT:
                break
            events.append(event)
        return events

    def _check_checkpoint(self, entry: Entry) -> None:
        if self._replayed is None:
            return
        self._replayed.follow()
        roots = self._replayed.roots(self._scratch)
        detail, body = entry.header.detail, entry.body
        seq = entry.header.seq
        erased = self._destroyed.by
        if erased is not None and isinstance(body, CheckpointBody):
            # Content that was erased since is not in index and tags: take their roots from the checkpoint.
            roots = roots.claimed_by(body.roots)
        right = isinstance(detail, CheckpointDetail) and detail.root == roots.overall
        if right and isinstance(body, CheckpointBody) and body.roots == roots.named_roots:
            if erased is not None:
                self._unchecked.append(Unchecked(seq, erased))
            else:
                self._checkpoints += 1
            return
        found = detail.root.hex() if isinstance(detail, CheckpointDetail) else ""
        problem = f"the checkpoint has the root {found}, but a replay has {roots.overall.hex()}"
        self.differ(Difference("journal", journal_key(seq).hex(), seq, problem))

    def _compare_due(self) -> None:
        due = [follower for size, follower in self._due if size == self._size]
        if due and self._replayed is not None:
            self._replayed.follow()
        for follower in due:
            for prefix in follower.prefixes:
                self._compare(prefix)
        self._due = [(size, follower) for size, follower in self._due if size > self._size]

    def _compare(self, prefix: bytes) -> None:
        for difference in compare_prefix(self._rows, self._scratch, prefix):
            self._compared += 1
            if difference is not None:
                self.differ(difference)

    def _check_journal_keys(self) -> None:
        """Report rows whose keys only look like keys of headers or payloads. All others were replayed."""
        self._compared += self._size + self._payloads
        for prefix, after in ((JOURNAL, journal_key(self._size)), (PAYLOAD, payload_key(self._size))):
            for start, end in ((prefix, prefix + bytes(8)), (after, prefix_end(prefix))):
                for key, _ in self._rows.scan(start, end):
                    self._compared += 1
                    problem = "row does not follow from the journal"
                    self.differ(Difference(family_of(key), key.hex(), None, problem))

    def _check_meta(self) -> None:
        if self._rows.get(LOG) != self._scratch.get(LOG):
            self.differ(Difference("meta", LOG.hex(), None, "the log state does not match the journal"))
        cursors = {cursor_key(follower.name) for follower in projections()}
        for key, _ in self._rows.scan_prefix(CURSOR):
            if key not in cursors:
                self.differ(
                    Difference("meta", key.hex(), None, "the row is the cursor of an unknown follower")
                )
        for only in (DREAM, LOG):
            for key, _ in self._rows.scan_prefix(only):
                if key != only:
                    self.differ(
                        Difference("meta", key.hex(), None, "row does not belong to any version of memroot")
                    )

    def differ(self, difference: Difference, *, first: bool = False) -> None:
        """Add a difference to the report: at the beginning if `first` is set, otherwise at the end."""
        if first:
            self._differences.insert(0, difference)
        elif len(self._differences) < REPORTED_MAX:
            self._differences.append(difference)

    def report(self, roots: Roots | None) -> Report:
        named = zip(("log", *NAMESPACES), (roots.log, *roots.namespaces), strict=True) if roots else ()
        return Report(
            ok=not self._differences,
            size=self._size,
            root=roots.overall.hex() if roots else "",
            roots={name: root.hex() for name, root in named},
            checkpoints=self._checkpoints,
            rows=self._compared,
            differences=tuple(self._differences),
            unchecked=tuple(self._unchecked),
        )
