"""The function `rescue`: a new store from the longest valid journal in a damaged store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends import Batch, locate, open_backend, store_exists
from backends.base import Backend
from backends.salvage import Salvage, salvaged
from engine.base import limits
from engine.base.errors import CorruptionError, InvalidInputError, VerificationError, translated
from engine.exchange.journal_import import CheckedReplay, batches
from engine.exchange.rescue.rescue_headers import Headers, choose_headers
from engine.exchange.rescue.rescued_journal import Contents, Written, choose_contents, write_journal
from engine.files.atomic_output import new_store
from engine.ledger.journal import RawEntry, read_raw
from engine.ledger.layout import CURSOR, ERASING, JOURNAL, LOG, PAYLOAD, SUBTREE, decode_header, journal_key
from engine.store import maintenance
from engine.store.replay import Progress, no_progress, scratch_backend
from engine.store.views import Roots
from engine.trust.audit.verify import verify
from proofs.events import Header

if TYPE_CHECKING:
    from backends.sealed.seal import Seal

LISTED_MAX = 20
"""The maximum number of events in each list of a report."""

_PREFIXES = (JOURNAL, PAYLOAD, LOG, SUBTREE, CURSOR, ERASING)


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading the damaged store in one of several ways."""

    way: str
    rows: int
    """The number of rows of the journal and the log that were read."""
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rescued:
    """The findings in a damaged store, and the content of the new store."""

    backend: str
    """The kind of the damaged store."""
    readings: tuple[Reading, ...]
    found: int
    """The number of events whose headers were found."""
    recorded: int
    """The number of events that the store is known to have had."""
    events: int
    """The number of events of the damaged store, counted from the first, that the new store contains."""
    last_event: int
    """The time of the last event in the new store, in µs since 1970, UTC."""
    proved: int
    """The number of events, counted from the first, that a hash proves: a state of the log that was found in
    the damaged store covers them."""
    lost: int
    """The number of known events of the damaged store that the new store does not have."""
    reason: str
    """The reason for the end of the journal; empty if no later event is known."""
    lost_contents: tuple[int, ...]
    """At most 20 events whose headers were found, but whose contents are missing or damaged."""
    contents_lost: int
    """The number of all these events."""
    erased: tuple[str, ...]
    """At most 20 atoms that the new journal erases at its end, because one of their contents is missing."""
    atoms_erased: int
    """The number of all these atoms."""
    size: int
    """The number of events in the new store: `events`, and the erasing events at the end."""
    root: str
    """The overall root of the new store, recomputed from its journal."""

    @property
    def complete(self) -> bool:
        """True unless an event or a content of the damaged store is known to be lost."""
        return not self.lost and not self.contents_lost


def rescue(
    source: str,
    target: str,
    progress: Progress = no_progress,
    *,
    erase_lost: bool = False,
    unconfirmed: bool = False,
) -> Rescued:
    """Make a new store from the longest valid journal in a damaged store.

    The damaged store is only read. It may be of any kind, and may be undamaged. Every event is checked as in
    an import, all derived data is computed again, and the new store is verified before it gets its name. If
    this function fails or is killed, there is no new store.

    Args:
        source: The URL of the damaged store. No process may have it open for writing.
        target: The URL of the new store. It must not exist yet.
        progress: Called with the number of events processed and the number of all events.
        erase_lost: Keep the events after an event whose content is lost. At its end, the new journal erases
            the atom or edge of that event, and records that the content was lost.
        unconfirmed: Keep events even if the hashes of the log show that one of their headers was changed, but
            not which header. The new store then has another history, and another root.

    Raises:
        InvalidInputError: there is something at `target`, or a URL is not valid.
        NotFoundError: there is nothing at `source`.
        BusyError: another process has the damaged store open.
        CorruptionError: not even the first event is left.
    """
    with translated():
        _check_target(target)
        with salvaged(source, _PREFIXES) as salvage:
            choice = _choose(salvage, erase_lost=erase_lost, unconfirmed=unconfirmed)
            return _write(salvage, choice, target, progress)


@dataclass
class _Choice:
    """The journal that was chosen."""

    headers: Headers
    contents: Contents
    erase_lost: bool
    end: int
    """The maximum number of events to keep."""
    least: int = 0
    """The number of events, if the backend's library found a whole journal; otherwise 0."""

    def known(self, kept: int) -> int:
        """Return the number of events that the damaged store is known to have had; `kept` of them are kept.

        If the backend's library found a whole journal, the last commit may never have been acknowledged. All
        earlier commits were acknowledged.
        """
        headers = self.headers
        if not 0 < self.least <= kept:
            return max(headers.recorded, headers.last + 1)
        return max([kept, *[size for size in headers.states if size > kept][:-1]])

    @property
    def whole(self) -> bool:
        """True if a state of the log proves all headers that were found, and no content is lost."""
        headers = self.headers
        sizes = {headers.size, headers.proved, headers.recorded, headers.last + 1}
        return len(sizes) == 1 and self.contents.end(headers.size, erase_lost=False) == headers.size

    def reason_at(self, size: int) -> str:
        """Return the reason why the journal ends after `size` events; empty if no later event is known."""
        if size == self.headers.size:
            return self.headers.problem
        problem = f"the commit after event {size - 1} is not complete, and may never have been acknowledged"
        return self.contents.problem_at(size) or problem


def _choose(salvage: Salvage, *, erase_lost: bool, unconfirmed: bool) -> _Choice:
    """Read the store in every way, and choose a journal.

    The library of a backend finds whole commits only. If it finds a whole journal, events that were found in
    other ways are kept only in whole commits, too: a commit that was never acknowledged may be torn.
    """
    least = 0
    choice = None
    while (way := salvage.read_on()) is not None:
        headers = choose_headers(salvage.found, unconfirmed=unconfirmed)
        contents = choose_contents(salvage.found, headers)
        end = contents.end(headers.size, erase_lost=erase_lost)
        choice = _Choice(headers, contents, erase_lost, end)
        if way.own and choice.whole:
            least = end
        choice.least = least
        if 0 < least < end:
            choice.end = max([least, *(size for size in headers.boundaries if size <= end)])
    if choice is None:
        raise CorruptionError("the store cannot be read in any way")
    return choice


def _write(salvage: Salvage, choice: _Choice, target: str, progress: Progress) -> Rescued:
    """Write the chosen journal to a new store. End it before the first event that is not valid."""
    end, reason = choice.end, choice.reason_at(choice.end)
    while end:
        try:
            with scratch_backend(on_disk=True) as rows, _new_target(target, salvage.seal) as backend:
                written = write_journal(salvage.found, choice.headers, choice.contents, end, rows)
                roots = _replayed(rows, backend, written.size, progress)
                last = decode_header(rows.get(journal_key(end - 1)) or b"", end - 1)
            return _report(salvage, choice, reason, last, written, roots)
        except _Rejected as error:
            end, reason = min(error.seq or 0, end - 1), str(error)
    raise CorruptionError(
        f"no event can be rescued: {reason or 'no header was found'}",
        hint="restore a backup or a copy of the store; `--unconfirmed` keeps headers that may have changed",
        family="journal",
        seq=0,
    )


class _Rejected(CorruptionError):
    """Raised if an event is not valid at its place."""


def _replayed(rows: Backend, target: Backend, end: int, progress: Progress) -> Roots:
    """Rebuild the first `end` events in `target`, and verify the result."""
    run = CheckedReplay(target, lambda seq, reason: _Rejected(f"event {seq} is not valid: {reason}", seq=seq))
    for events in batches(_events(rows, end)):
        run.step(events)
        progress(run.size, end)
    _, roots = run.finish()
    target.write(Batch(), durable=True)
    report = verify(target, expect=roots.overall.hex())
    if not report.ok:
        raise VerificationError(f"the new store does not verify: {report.differences[0].problem}")
    return roots


def _events(rows: Backend, end: int) -> Iterator[RawEntry]:
    """Yield the events before `end`; an event that does not decode is rejected."""
    at = 0
    while at < end:
        try:
            for event in read_raw(rows, at, min(end, at + limits.FOLLOW_EVENTS_MAX)):
                yield event
                at += 1
        except CorruptionError as error:
            raise _Rejected(str(error), seq=at) from error


def _check_target(url: str) -> None:
    location = locate(url)
    if location.kind == "memory":
        raise InvalidInputError(
            "a store in memory would be lost at the end of the command", hint="name a new store"
        )
    place = location.file
    if store_exists(url) or not (location.shared or place is None or not place.exists()):
        raise InvalidInputError(f"{place or url} already exists", hint="name a new store")


@contextmanager
def _new_target(url: str, seal: Seal | None) -> Iterator[Backend]:
    """Open an empty backend that becomes the store at `url` when the block ends without an error.

    What is rescued from a sealed store is sealed under the same key.
    """
    if not locate(url).shared:
        with new_store(url, key=seal) as backend:
            yield backend
        return
    # A store that shares a file or a database with others cannot be renamed, so it is copied.
    with scratch_backend(on_disk=True) as scratch:
        yield scratch
        with open_backend(url, key=seal) as target:
            maintenance.copy(scratch, target)


def _report(
    salvage: Salvage, choice: _Choice, reason: str, last: Header, written: Written, roots: Roots
) -> Rescued:
    headers, contents, events = choice.headers, choice.contents, last.seq + 1
    recorded = choice.known(events)
    lost_contents = [one.seq for one in contents.missing if one.erased is None and one.seq < recorded]
    return Rescued(
        backend=salvage.backend,
        readings=tuple(Reading(way.name, way.count, tuple(way.problems)) for way in salvage.ways),
        found=headers.found,
        recorded=recorded,
        events=events,
        last_event=last.time,
        proved=min(headers.proved, events),
        lost=max(recorded - events, 0),
        reason=reason or ("" if recorded <= events else f"the header of event {events} is missing"),
        lost_contents=tuple(lost_contents[:LISTED_MAX]),
        contents_lost=len(lost_contents),
        erased=written.erased[:LISTED_MAX],
        atoms_erased=len(written.erased),
        size=roots.size,
        root=roots.overall.hex(),
    )
