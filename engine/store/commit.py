"""What a commit is: commands are decided, and their events are written, in one guarded and durable batch.

command ── decide ──▶ events ── append ──▶ journal + records     one guarded, durable batch
                                               └──▶ followers    caught up before a read

Single commands of several threads are written together, because the sync of a batch takes most of its time.
While one thread writes, the commands of the others gather. The next batch has all of them. Measured with
SQLite: one add took 5.6 ms, of which 4.7 ms were the write; in batches of 32, one add took 0.3 ms.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from backends.base import Backend, Guard, Snapshot
from backends.errors import BackendError, BackendInDoubt, GuardFailed
from engine.base import limits
from engine.base.errors import (
    BusyError,
    ConflictError,
    EngineError,
    InDoubtError,
    RefusedError,
)
from engine.base.times import shown_time
from engine.commands.evidence import Evidence
from engine.followers.base import is_current
from engine.followers.requests import KeysBehind, Once
from engine.followers.trees import TreesFollower
from engine.ledger.appender import RECORDS_NAME, Sources, head_guards
from engine.ledger.journal import read_log
from engine.ledger.layout import COUNTERS, LOG, cursor_key
from proofs.events import AtomBody, Entry

if TYPE_CHECKING:
    from engine.base.model import Receipt
    from engine.commands.transaction import Command, Transaction
    from engine.store.request_keys import RequestKeys
    from engine.store.views import Views


class Recent:
    """A cache of the last events that this process committed, so that followers need not read them back.

    The cached events are decoded. The cache has at most 24,576 events, whose contents have about 16 million
    characters at most. The oldest events are dropped.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[Entry] = []
        self._chars = 0

    def add(self, entries: Sequence[Entry]) -> None:
        """Add `entries` to the cache.

        First drop the cached events if they do not directly precede `entries`. At the end, drop the oldest
        events that exceed the bounds of the cache.
        """
        with self._lock:
            cached = self._entries
            if cached and cached[-1].header.seq + 1 != entries[0].header.seq:
                self._drop(len(cached))
            cached.extend(entries)
            self._chars += _chars_in(entries)
            if len(cached) > 3 * limits.FOLLOW_EVENTS_MAX:
                # More than `evidence.PENDING_MAX` events stay, so the trees find here all that they lack.
                self._drop(len(cached) - 11 * limits.FOLLOW_EVENTS_MAX // 4)
            while self._chars > limits.FOLLOW_BYTES_MAX:
                self._drop(len(cached) // 2 + 1)

    def clear(self) -> None:
        """Drop all cached events. This is called when every follower has read them."""
        with self._lock:
            self._drop(len(self._entries))

    def _drop(self, count: int) -> None:
        if count == len(self._entries):
            self._chars = 0
        else:
            self._chars -= _chars_in(self._entries[:count])
        del self._entries[:count]

    def get(self, start: int, stop: int) -> list[Entry]:
        """Return the events `start` to `stop` − 1, or an empty list if one of them is not in the cache."""
        with self._lock:
            cached = self._entries
            if not cached or start < cached[0].header.seq or stop > cached[-1].header.seq + 1:
                return []
            first = cached[0].header.seq
            return cached[start - first : stop - first]


def _chars_in(entries: Sequence[Entry]) -> int:
    """Return the total number of characters in the contents of `entries`."""
    return sum([len(body.content) for _, body, _ in entries if type(body) is AtomBody])


COMMIT_RETRIES_MAX = 3
"""The number of attempts to commit without locking out other processes. An attempt fails if another process
appends an event meanwhile. After the last failure, other processes are locked out."""

CROWDED_COMMITS = 16
"""The number of commits that lock out other processes at once, after one whose events had to be decided anew.

While several processes write, most attempts without the lock are lost. Measured with 8 processes that write
one memory in PostgreSQL: an add took 14 ms of CPU in these processes without this rule, and 6 ms with it.
"""

_NO_WAIT = nullcontext()

AHEAD_SECONDS: Final = 300.0
"""The time by which an event may be ahead of the clock of the database or machine, by default."""

_SECOND: Final = 1_000_000

META: Final = (LOG, cursor_key(RECORDS_NAME), cursor_key(TreesFollower.name), COUNTERS)
"""The rows that every commit reads."""


class Wanted(NamedTuple):
    """The arguments of `Commits.all`."""

    commands: Sequence[Command]
    actor: str
    if_head: int | None
    request: str | Once | None
    pipeline: str | None


class ClockBound:
    """Compares the times of events with the clock of a backend.

    The time of an event is never before the time of the previous one. So one event from the future would put
    all later events there, and a question about the present would not see them. No stored byte depends on the
    clock of the backend: a batch is written as it is, or it is refused.
    """

    def __init__(self, backend: Backend, seconds: float | None) -> None:
        """Allow events to be ahead by `seconds`; None for any time."""
        self._backend = backend
        self._seconds = seconds
        self._offset: int | None = None
        """The clock less the monotonic clock of this process, when the clock was read."""

    def check(self, previous: int, latest: int) -> None:
        """Check the times of the last event before a batch and of its last event, in µs since 1970, UTC.

        Raises:
            RefusedError: The batch would be too far ahead of the clock.
        """
        if self._seconds is None:
            return
        allowed = latest - int(self._seconds * _SECOND)
        if self._offset is not None and allowed <= self._offset + _monotonic():
            return
        now = self._backend.clock()  # asked only if its last answer does not settle the question
        self._offset = now - _monotonic()
        if allowed <= now:
            return
        ahead = f"{(latest - now) // _SECOND:,} seconds ahead of {self._backend.clock_of}"
        if latest > previous:
            raise RefusedError(f"the clock of this process is {ahead}", hint="set the clock of its machine")
        raise RefusedError(
            f"the last event is from {shown_time(previous)}, {ahead}",
            hint="if a clock was wrong earlier, see docs/durability.md, `A clock that was wrong`",
        )


def _monotonic() -> int:
    return time.monotonic_ns() // 1000


class Commits:
    """Commits commands to one store. It is safe to use from several threads."""

    def __init__(self, store: Views, sources: Sources | None, clock_bound: ClockBound) -> None:
        """Begin with a store, and with the sources of its events; None if it accepts no commands."""
        self.store = store
        self._clock_bound = clock_bound
        self._sources = sources
        self._together = GroupCommit()
        self._evidence = Evidence(store.trees)
        self._nothing_destroyed_at: bytes | None = None
        """The log row of a state in which no content had ever been erased, or None if no such state is known.
        The row commits to the whole journal."""
        self._crowded = 0
        """The number of the next commits that lock out other processes before they decide."""
        self._request_keys: RequestKeys | None = None
        self._written: tuple[Guard, Guard] | None = None
        """The guards that are satisfied until another process writes."""

    def one(self, command: Command, actor: str) -> Receipt:
        """Commit a command as `all` does, perhaps in one batch with commands of other threads.

        Do not call this method inside `Store.paused` or `Store.exclusive`: it can wait for a thread that
        waits for them.
        """
        return self._together.commit(command, actor, self.all)

    def all(
        self,
        commands: Sequence[Command],
        actor: str,
        *,
        if_head: int | None = None,
        request: str | Once | None = None,
        pipeline: str | None = None,
    ) -> list[Receipt]:
        """Decide `commands` in order and append all of their events, or no event, in one durable batch.

        Args:
            commands: The requested changes.
            actor: The author of the events.
            if_head: Commit only if the journal has exactly this number of events; None for no such condition.
            request: A key, chosen by the client, that identifies the request. Every event records the key. If
                it is a `Once` and the actor has used the key already, nothing is appended, and the receipts
                are those of the first time.
            pipeline: What made the events, such as a program and its version.

        Raises:
            InvalidInputError: `request` or `pipeline` is empty or contains a control character.
            LimitError: `request` has more than 128 bytes, or `pipeline` more than 256.
            RefusedError: The store was opened at a past moment.
            ConflictError: The journal does not have `if_head` events, or the key was used with other
                commands.
            InDoubtError: The write failed after it was sent to the backend, so it is unknown whether the
                events were stored.
            BusyError: Other processes kept appending events before this process could.
        """
        store, sources = self.store, self._sources
        wanted = Wanted(commands, actor, if_head, request, pipeline)
        if sources is None:
            raise RefusedError(
                "the past cannot be changed: a memory opened at a past moment accepts no commands"
            )
        try:
            with store.write_lock:
                for attempt in range(COMMIT_RETRIES_MAX if self._crowded else 0, 2 * COMMIT_RETRIES_MAX):
                    waiting = store.backend.exclusive() if attempt >= COMMIT_RETRIES_MAX else _NO_WAIT
                    with waiting, store.backend.snapshot() as rows:
                        # Commands check missing rows themselves.
                        rows.confirm_missing = False
                        try:
                            receipts = self._attempt(rows, sources, wanted)
                        except KeysBehind:
                            store.follow(store.requests)
                            receipts = None
                    if receipts is not None:
                        self._crowded = max(0, self._crowded - 1)
                        return receipts
                raise BusyError("other processes keep writing to this store", hint="try again")
        except EngineError as error:
            # A message may quote a secret.
            if store.secret_filter is not None:
                store.secret_filter.mask(error)
            raise

    def _attempt(self, rows: Snapshot, sources: Sources, wanted: Wanted) -> list[Receipt] | None:
        """Decide the commands against `rows` and write the events; return None if the caller must try again.

        Raises:
            KeysBehind: The follower of the keys must be updated first.
        """
        # A process that only reads does not load the modules of the commands.
        from engine.commands.transaction import Transaction
        from engine.store.views import look_ahead

        store = self.store
        # Four single reads would take three times as long (measured).
        meta = dict(zip(META, rows.multi_get(META), strict=True))
        log = read_log(meta, rows)
        request, if_head = wanted.request, wanted.if_head
        guards = head_guards(meta, log)
        if guards != self._written:
            if not is_current(rows, log, store.records, guards[1].expected):
                store.finish_records()
                return None
            store.check_head(rows, log)
        screen = None if store.secret_filter is None else store.secret_filter.screen()
        if not self._evidence.move_to(rows, log, meta):
            store.follow(store.trees)
            return None
        if isinstance(request, Once):
            from engine.store.repeated import answer
            from engine.store.request_keys import RequestKeys

            self._request_keys = self._request_keys or RequestKeys()
            receipts = answer(store, self._request_keys, self._evidence, rows, log, wanted, request)
            if receipts is not None:
                return receipts
            request = request.request
        if if_head is not None and log.size != if_head:
            raise ConflictError(f"the journal has {log.size} events, not {if_head} as if_head requires")
        tx = Transaction(
            rows,
            log,
            self._evidence,
            store.identity.id_key,
            sources,
            wanted.actor,
            screen,
            request=request,
            pipeline=wanted.pipeline,
            destroyed=False if log.row == self._nothing_destroyed_at else None,
        )
        receipts = tx.decide(wanted.commands, None if len(wanted.commands) == 1 else look_ahead())
        if tx.events:
            if not self._write(tx, guards, log.time):
                return None
            if store.secret_filter is not None:
                store.secret_filter.count(screen)
        return receipts

    def _write(self, tx: Transaction, guard: Sequence[Guard], previous: int) -> bool:
        # A crash before this write leaves the store unchanged. After a crash later on, the events and their
        # records are stored, and the followers are updated by the next read.
        store, batch = self.store, tx.finish()
        log = read_log(batch.rows)
        self._clock_bound.check(previous, log.time)
        try:
            store.backend.write(batch, guard=guard, durable=True)
        except GuardFailed:
            self._crowded = CROWDED_COMMITS
            return False
        except BackendInDoubt as error:
            first = tx.entries[0].header
            event_id = first.commitment.hex()
            raise InDoubtError(str(error), seq=first.seq, event_id=event_id, hint=error.hint) from error
        store.recent.add(tx.entries)
        self._nothing_destroyed_at = batch.rows[LOG] if tx.nothing_destroyed else None
        self._evidence.note(tx.entries, batch.rows[COUNTERS] or b"", tx.counters)
        store.checked_log = log.row
        self._written = head_guards(batch.rows, log)
        return True


TOGETHER_MAX: Final = 64
"""The maximum number of commands in a batch of several threads."""

Commit = Callable[[Sequence["Command"], str], "list[Receipt]"]


@dataclass(slots=True, eq=False)
class _Wish:
    """A command of a thread that waits, and what became of it."""

    command: Command
    actor: str
    receipt: Receipt | None = None
    alone: bool = False
    """True if nothing of a batch with this command was written, so that it is committed by itself."""
    error: EngineError | None = None
    """The error that the thread must raise."""

    @property
    def decided(self) -> bool:
        """True if another thread has written, or tried to write, a batch with this command."""
        return self.receipt is not None or self.alone or self.error is not None


class GroupCommit:
    """Commits single commands of several threads together; a command without company is its own batch."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[_Wish] = []
        self._writing = False

    def commit(self, command: Command, actor: str, write: Commit) -> Receipt:
        """Commit a command, and return its receipt when it is durable.

        A batch is written with `write`, which appends all events or none.

        The commands of a batch are decided in the order in which they came. If one of them is refused,
        nothing of the batch is written, and each thread commits its own command by itself. So a thread gets
        only the errors of its own command.

        Raises:
            BackendError, EngineError: As for a commit of this command alone.
            InDoubtError: It is unknown whether the batch with this command was stored.
        """
        wish = _Wish(command, actor)
        with self._changed:
            self._waiting.append(wish)
            try:
                self._changed.wait_for(lambda: wish.decided or not self._writing)
            except BaseException:
                # An interrupted call must not be carried out later.
                if wish in self._waiting:
                    self._waiting.remove(wish)
                raise
            group = [] if wish.decided else self._next(wish)
        if group:
            try:
                _write(group, write)
            finally:
                self._end(group)
        if wish.error is not None:
            raise wish.error
        if wish.receipt is None:
            (wish.receipt,) = write([command], actor)
        return wish.receipt

    def _next(self, first: _Wish) -> list[_Wish]:
        """Begin to write, and return the next batch: the first commands that have the actor of `first`."""
        self._writing = True
        others = [one for one in self._waiting if one.actor == first.actor and one is not first]
        group = [first, *others[: TOGETHER_MAX - 1]]
        self._waiting = [one for one in self._waiting if one not in group]
        return group

    def _end(self, group: list[_Wish]) -> None:
        """Let the other threads continue. Only an interrupted write has left commands undecided."""
        with self._changed:
            for one in group:
                if not one.decided:
                    one.error = InDoubtError("the write was interrupted")
            self._writing = False
            self._changed.notify_all()


def _write(group: list[_Wish], write: Commit) -> None:
    """Commit the commands of a batch, and note what became of each."""
    try:
        receipts = write([one.command for one in group], group[0].actor)
    except InDoubtError as error:
        for one in group:
            # An exception of its own for each thread: raising one sets its traceback.
            one.error = InDoubtError(str(error), seq=error.seq, event_id=error.event_id, hint=error.hint)
        raise
    except (BackendError, EngineError):
        # Nothing was written: a write whose effect is unknown is an InDoubtError.
        if len(group) == 1:
            raise
        for one in group:
            one.alone = True
    else:
        for one, receipt in zip(group, receipts, strict=True):
            one.receipt = receipt
