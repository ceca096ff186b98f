"""The class `Engine`: all public methods of an open memory. The methods call the modules that do the work.

Most of these modules are imported when they are first used. A program that adds an atom or prints a root does
not need these modules. If all of them were imported at the top, loading this module would take 0.35 s instead
of 0.11 s (measured). Numpy and the Markdown parsers take most of that time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeGuard, Unpack
from weakref import WeakSet

from backends import open_backend
from backends.base import Backend, Snapshot
from engine.base import limits
from engine.base.basic_values import UNCHANGED, Direction, Unchanged
from engine.base.errors import InvalidInputError, raising_own_errors, translated
from engine.base.scopes import Scope, client_only, embedded_only, operation
from engine.base.validation import (
    atom_id,
    callback,
    instance,
    integer,
    label,
    optional_integer,
    several,
    show_id,
)
from engine.followers.requests import FIRST_MAX, Once
from engine.ledger.appender import Sources, random_salt
from engine.ledger.journal import read_entries, read_entry, read_log
from engine.ledger.layout import ERASING
from engine.ledger.queries import atom_of, get_record, resolve_id
from engine.query.filters import NO_FILTERS, FilterFields, Filters, narrowed
from engine.query.view import View
from engine.store.bulk import commit_parts
from engine.store.commit import AHEAD_SECONDS
from engine.store.past import AsOf, atom_record_at, history, history_item, size_at
from engine.store.replay import Progress, Stage, ignore_stage, no_progress
from engine.store.store import FamilySecrets, Store

if TYPE_CHECKING:
    from engine.base.model import Atom, Checkpoint, Edge, Held, HistoryItem, Receipt, Scalar
    from engine.clients.remote_engine import RemoteEngine
    from engine.commands.atoms import Add
    from engine.commands.concurrent import Concurrent
    from engine.commands.conflicts import Conflict
    from engine.commands.edges import TypeName
    from engine.commands.secrets.policy import SecretsPolicy
    from engine.commands.transaction import Command
    from engine.erase.erasure import Erasable, Erasure
    from engine.files.ingest.import_run import IngestProgress, IngestReport
    from engine.files.mirror.following_mirror import FollowingMirror
    from engine.files.mirror.mirror_report import MirrorCheck, MirrorReport, PullReport
    from engine.index.copies.duplicates import DuplicateGroup
    from engine.knowledge.dreaming.cycle import DreamReport
    from engine.knowledge.dreaming.dream_config import DreamConfig
    from engine.knowledge.tag_origins import TagOrigins, Tags
    from engine.query.context.windows import Context
    from engine.query.explore.explore_answers import Form as AnswerForm
    from engine.query.explore.explore_policy import Policy
    from engine.query.explore.explorer import Explorer
    from engine.query.explore.state import Exploration, Step
    from engine.query.file_pages import Page
    from engine.query.graph.bright import BrightGraph, BrightNode
    from engine.query.graph.domain_paths import AcrossGraph
    from engine.query.graph.find import Follow, Form, Found
    from engine.query.history.diff import Diff, Revertible
    from engine.query.history.recent import Added
    from engine.query.history.why import Origin
    from engine.query.recall.recall_answer import Recall
    from engine.query.recall.recall_config import RecallConfig
    from engine.query.source_list import SourceSummary
    from engine.store.revert import Undone
    from engine.store.status import Status
    from engine.sync.devices import SyncReport
    from engine.sync.family import SyncStatus
    from engine.sync.following_sync import FollowingSync
    from engine.trust.audit.verify import Report
    from engine.trust.notes.issue import CheckpointNote
    from engine.trust.proving.prove import Proof
    from proofs.basis import LogHead
    from proofs.claims import Claim
    from proofs.events import AtomBody
    from proofs.note import Checkpoint as NotedCheckpoint


def wall_clock() -> int:
    """Return the current time in µs since 1970, UTC."""
    return time.time_ns() // 1000


class Engine:
    """An open memory. Use it as a context manager. It is safe to use from several threads.

    Times are in µs since 1970, UTC; costs are in tokens (characters / 4); ids are UUIDs as text. Methods
    accept only whole ids; `resolve` expands a shortened id. The seq of an event is its number in the journal,
    counted from 0, and the head is the end of the journal.

    Commands return when their events are durable. A command that would change nothing appends no event. Every
    query reads one snapshot of the store, in which all data reflect the same events.

    Every method raises only errors of the `EngineError` family. These errors can occur at any time:

    * `InvalidInputError`: An argument is not valid. Nothing was written.
    * `BusyError`: Another process keeps the store locked, or other processes kept appending events.
    * `CorruptionError`: Stored bytes differ from the bytes that were written.
    * `SystemFailureError`: The system failed or refused an operation: the disk is full, access is denied, and
      so on.
    * `ClosedError`: The memory is closed.
    """

    # Opening and closing

    @raising_own_errors
    def __init__(
        self,
        backend: Backend,
        *,
        clock: Callable[[], int] = wall_clock,
        salts: Callable[[int], bytes] = random_salt,
        actor: str = "user",
        config: RecallConfig | None = None,
        secrets: SecretsPolicy | str | None = None,
        mirror: str | Path | None = None,
        family: FamilySecrets | None = None,
        sync: str | Path | None = None,
    ) -> None:
        """Open a memory on an open backend. `Engine.open` opens both the backend and the memory.

        Args:
            backend: The backend that holds the store, or in which a new store is created.
            clock: A function that returns the current time in µs since 1970, UTC. Each event records this
                time. By default, it is the clock of the machine, and a write that would be over five minutes
                ahead of the clock of the database, or of the machine if the store is in files, is refused.
            salts: A function that returns 32 random bytes for the event with a given seq.
            actor: The author that events record: 1 to 32 characters of `a-z`, `0-9`, `.`, `_` and `-`.
            config: The parameters of recall; None for the default values, which were chosen by measurement.
            secrets: How passwords and keys in text are treated before the text is written: `off`, `warn`,
                `redact` or `refuse`, or a policy (docs/secrets.md). None is the same as `off`.
            mirror: A folder that is kept up to date as a mirror after each write; None for no mirror. Edits
                in a page are written to the memory before the page is replaced, as by `mirror_pull`. A
                problem with the mirror does not make a write fail: see `mirror_problem`.
            family: The secrets that a new store shares with the other stores of its family, so that equal
                texts get equal ids in all of them; None for random ones. They do not change a store that
                exists.
            sync: A folder in which the devices of this memory meet: what is new there is read now, and each
                write is written there (docs/sync.md). None for no folder. A problem is only logged.

        Raises:
            InvalidInputError: An argument is not valid.
            BusyError: Another process keeps the store locked.
            CorruptionError: Bytes of the store are damaged.
        """
        self.actor = label(actor, "actor")
        self._tag_origins: TagOrigins | None = None
        self._once: Once | None = None
        """The request key of the calls, or None."""
        self._owner = True
        """True if closing this object closes the memory."""
        callback(clock, "clock")
        callback(salts, "salts")
        if config is not None:
            from engine.query.recall.recall_config import RecallConfig

            instance(config, RecallConfig, "config")
        # A program that gives a clock answers for its times.
        ahead = AHEAD_SECONDS if clock is wall_clock else None
        store = Store(backend, Sources(clock, salts), resume=_resume, secrets=family, ahead=ahead)
        self.view = View(store, config)
        """The object through which queries read the store, for internal use. Its methods can raise backend
        errors."""
        if secrets is not None:
            from engine.commands.secrets.filter import SecretFilter
            from engine.commands.secrets.policy import policy_of

            store.secret_filter = SecretFilter(policy_of(secrets, "secrets"))
        self._mirror: FollowingMirror | None = None
        if mirror is not None:
            from engine.files.mirror.following_mirror import FollowingMirror

            self._mirror = FollowingMirror(store, mirror)
        self._sync: FollowingSync | None = None
        if sync is not None and backend.unwritable is None:
            from engine.sync.following_sync import FollowingSync

            self._sync = FollowingSync(store, sync, self.actor, self.view.forget)

    @classmethod
    @embedded_only("a memory is named by the address")
    def open(
        cls,
        url: str,
        *,
        create: bool = True,
        memory: str | None = None,
        key: str | None = None,
        **options: Any,
    ) -> Self:
        """Open the store at `url`: `leveldb:PATH`, `sqlite:PATH`, `postgresql://…`, `memory:` or a path.

        Args:
            url: The location of the store. A bare path names a LevelDB folder, or a SQLite file if LevelDB is
                not available.
            create: Create a new store if no store exists.
            memory: The name of one of several memories at `url`; None if `url` is a single memory. Every
                named memory is a separate store.
            key: The passphrase or the recovery phrase of a sealed store; a new store is sealed under it. None
                for the one in ENGINE_KEY_FILE, from ENGINE_KEY_COMMAND, or from the keyring of the system.
            options: The keyword arguments of `Engine(...)`: clock, salts, actor, config, secrets, mirror,
                family, sync.

        Returns:
            The open memory, which the caller must close.

        Raises:
            InvalidInputError: `url` or another argument is not valid.
            NotFoundError: There is no store at `url` and `create` is false.
            LockedError: The store is sealed, and there is no key, or it is wrong.
            BusyError: Another process keeps the store locked.
            CorruptionError: Bytes of the store are damaged.
        """
        instance(url, str, "url")
        if key is not None:
            instance(key, str, "key")
        if memory is not None:
            from engine.store.named_places import memory_url

            url = memory_url(url, memory)
        backend = open_backend(url, create=create, key=key)
        try:
            return cls(backend, **options)
        except BaseException:
            backend.close()
            raise

    @classmethod
    @embedded_only("it is for clients")
    def connect(
        cls,
        url: str,
        *,
        memory: str | None = None,
        token: str | None = None,
        trust: str | Path | None = None,
        ca: str | Path | None = None,
        timeout: float = 60.0,
        retries: int = 4,
        deadline: float | None = None,
        encrypted: bool = True,
    ) -> RemoteEngine:
        """Connect to a memory on a service (`engine serve`). The result has the methods of `Memory`.

        An operation that is not available to clients raises a RefusedError. The attribute `proved` answers
        with proofs that the client verifies, and `prove` verifies before it returns (docs/remote.md).

        Args:
            url: `https://HOST`, or the whole address `https://HOST/v1/memories/NAME`.
            memory: The name of the memory; None for the name in `url`, or for the memory without a name.
            token: The token to send. Its name is the actor of all events.
            trust: The file in which the client keeps the newest checkpoint that it has verified. If the file
                exists, the memory must continue this checkpoint; otherwise the client trusts the first one.
                None keeps the checkpoint only as long as the result exists.
            ca: A file in PEM with the certificates of the only authorities to trust; None for the authorities
                that the system trusts.
            timeout: The time in seconds after which a connection on which nothing arrives counts as lost.
            retries: How often a request is repeated if its answer is lost or the service cannot do it now.
            deadline: The time in seconds within which a call and its repetitions must end; None for no bound
                except `timeout` and `retries`. For an export, only the beginning must be within this time.
            encrypted: If true, `http:` is refused, except to this machine.

        Returns:
            The connected memory, which the caller must close.

        Raises:
            InvalidInputError: An argument is not valid.
            RefusedError: The token would be sent without encryption.
            UnauthorizedError: The service does not know the token.
            ForbiddenError: The token does not permit reading this memory.
            NotFoundError: There is no such memory.
            SystemFailureError: The service cannot be reached, or its certificate is not trusted.
        """
        from engine.clients.remote_engine import connect

        return connect(
            url, memory=memory, token=token, trust=trust, ca=ca, timeout=timeout, retries=retries,
            deadline=deadline, encrypted=encrypted,
        )  # fmt: skip

    @property
    @embedded_only("it is for internal use")
    def store(self) -> Store:
        """The open store, for internal use. The methods of the store can also raise backend errors."""
        return self.view.store

    @property
    @client_only("`status` tells it")
    def read_only(self) -> str | None:
        """The reason why the store can only be read, such as `the file system is read-only`, or None.

        Queries, proofs, exports and verification work as usual. If derived data is behind the journal, the
        missing data is computed in a temporary copy of the store. Commands that would append an event are
        refused.
        """
        return self.store.backend.unwritable

    @client_only("the service keeps memories open")
    def close(self) -> None:
        """Wait for calls in progress, then release the store. Closing the memory again has no effect."""
        if not self._owner:
            return
        for following in (self._sync, self._mirror):  # what a sync reads is shown by the mirror
            if following is not None:
                following.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    @embedded_only("queries have a parameter of this name")
    def as_of(self, moment: AsOf) -> Iterator[Engine]:
        """Open the memory as it was at `moment`. The opened memory answers queries and refuses commands.

        The journal is replayed up to the moment: in memory or, for a long replay, in a temporary folder. For
        several queries about one moment, this is cheaper than passing `as_of=` to each query. The opened
        memory can be used until the end of the `with` block.

        Args:
            moment: The seq of the last event to include, or a datetime with a time zone.

        Yields:
            The past memory.

        Raises:
            NotFoundError: The journal has no event with that seq, or its first event is later than that time.
        """
        with ExitStack() as stack:
            with translated():  # errors of the caller's block are not translated
                view = stack.enter_context(self.view.at(moment))
            past = object.__new__(Engine)
            past.actor, past.view, past._mirror = self.actor, view, None
            past._once, past._owner, past._tag_origins, past._sync = None, True, None, None
            yield past

    @embedded_only("the token determines the actor")
    def acting_as(self, actor: str, *, request: str | None = None) -> Self:
        """Return the same open memory with another author and, if given, a request key for one call.

        A *request key* makes a call safe to repeat. Take the key from the program that sends the call, and
        use a new key for each call. If the call is repeated with the same actor, the same key and the same
        arguments, it appends no second event, and returns what it returned the first time, even if other
        calls changed the memory meanwhile. This holds across processes, restarts and copies of the memory,
        also if two processes send the call at the same time. Keys are kept as long as the journal, because
        every event of the call records its key.

        * A call that appended no event left nothing behind. If it is repeated, it is decided again.
        * `apply_many` and `revert` write in several batches. If they are broken off, repeat them with the
          same key: the batches that were written are only answered, and the call continues after them.
        * `erase` and `checkpoint` return the recorded events. The other values of an erasure are then 0.
        * `dream`, `ingest`, `mirror_pull` and `checkpoint_note` record no key. Repeated, they add only what
          is still missing.
        * Erasing an atom destroys the keys of its events, too. If a part of the content that a call concerned
          was erased, repeating the call is refused or decided again, as for a new key.
        * Queries and upkeep ignore the key.

        Args:
            actor: The author of the events: 1 to 32 characters of `a-z`, `0-9`, `.`, `_` and `-`.
            request: The request key, one line of at most 110 bytes, such as a UUID; None for no key.

        Returns:
            The memory, which shares everything else with this one. Closing it does not close the memory.

        Raises:
            InvalidInputError: `actor` or `request` is not valid.
            ConflictError: Raised by the calls, if the key was used with other commands. Nothing was written.
        """
        acting = copy(self)
        acting.actor = label(actor, "actor")
        acting._once = None
        if request is not None:
            from engine.store.request_keys import once_of

            acting._once = once_of(request)
        acting._owner = False
        return acting

    @contextmanager
    def _searching(
        self, moment: AsOf | None, filters: Filters = NO_FILTERS
    ) -> Iterator[tuple[View, Snapshot]]:
        """Yield a view of the memory, now or at `moment`, and a snapshot with an up-to-date search index."""
        with self.view.at(moment) as view, view.searchable(filters) as rows:
            yield view, rows

    # Commands

    @operation(Scope.WRITE)
    def apply(
        self,
        commands: Iterable[Command],
        *,
        actor: str | None = None,
        if_head: int | None = None,
        request: str | None = None,
        pipeline: str | None = None,
    ) -> list[Receipt]:
        """Carry out `commands` in order, all of them or none, in one durable batch.

        Args:
            commands: Command objects, such as instances of `engine.Add` and `engine.Link`.
            actor: The author of the events; None for the memory's own actor.
            if_head: Carry out the commands only if the journal has exactly this number of events; None for
                any number.
            request: A key of at most 128 bytes, chosen by the caller, that identifies the request. Every
                event records the key. The key is only recorded: `acting_as` makes a call safe to repeat.
            pipeline: What made the events, such as a program and its version, in at most 256 bytes.
                Every event records the producer.

        Returns:
            One receipt for each command, in order.

        Raises:
            ConflictError: A command contradicts the recorded state, or the journal does not have `if_head`
                events.
            NotFoundError: A command names an atom that was never recorded.
            RefusedError: A command would bring back content that was erased.
            LimitError: The commands are too large to be written in one batch.
            InDoubtError: The write failed after it was sent to the backend, so it is unknown whether the
                events were stored. Reopen the store and repeat the call.
        """
        optional_integer(if_head, "if_head")
        checked = [command for command in several(commands, "commands") if _is_command(command)]
        with self._writing(now=False):
            return self.store.commit(
                checked, self._actor(actor), if_head=if_head, request=self._key(request), pipeline=pipeline
            )

    @client_only("`bulk` takes commands line by line")
    def apply_many(
        self,
        commands: Iterable[Command],
        *,
        actor: str | None = None,
        request: str | None = None,
        pipeline: str | None = None,
    ) -> Iterator[Receipt]:
        """Carry out any number of commands in batches of up to 1,000. Yield the receipts.

        Each batch is carried out completely or not at all. A batch with too many bytes is split in half. The
        indexes are updated every few batches and at the end, so they are up to date when the iterator ends.
        No command is carried out until the iterator is read.

        Args:
            commands: Command objects, such as instances of `engine.Add` and `engine.Link`.
            actor: The author of the events; None for the memory's own actor.
            request: As for `apply`.
            pipeline: As for `apply`.

        Yields:
            The receipt of each command, in order, once its batch is durable.

        Raises:
            ConflictError: A command contradicts the recorded state.
            NotFoundError: A command names an atom that was never recorded.
            RefusedError: A command would bring back content that was erased.
            InDoubtError: A write failed after it was sent to the backend, so it is unknown whether the events
                were stored. Reopen the store and repeat the call.
        """
        checked = filter(_is_command, several(commands, "commands"))
        with self._writing(), translated():
            yield from self.store.commit_many(
                checked, self._actor(actor), request=self._key(request), pipeline=pipeline
            )

    @embedded_only("`bulk` takes commands line by line")
    def apply_part(self, commands: Iterable[Command], first: int) -> list[Receipt]:
        """Carry out a part of a call that has too many commands to be passed at once.

        The part is one batch, or several if one would be too large. With a request key (`acting_as`), the
        parts of a call are numbered by their commands. A call that was broken off can be repeated from its
        first command on, also in parts of other sizes.

        Args:
            commands: Command objects, as for `apply_many`.
            first: The number of commands of the call in the parts before this one.

        Returns:
            One receipt for each command, in order.

        Raises:
            ConflictError: As for `apply`. The batches before the one with the failing command were written.
            NotFoundError: As for `apply`.
            RefusedError: As for `apply`.
            InDoubtError: As for `apply`.
        """
        checked = [command for command in several(commands, "commands") if _is_command(command)]
        number = integer(first, "first", FIRST_MAX)
        with self._writing(now=False):
            return list(commit_parts(self.store.commits, checked, self.actor, self._once, None, number))

    @contextmanager
    def _writing(self, *, now: bool = True) -> Iterator[None]:
        """Bring mirror and folder up to date when the block ends, or, without `now`, a short time later."""
        try:
            yield
        finally:
            for following in (self._sync, self._mirror):
                if following is not None:
                    following.after_write(now=now)

    def _actor(self, actor: str | None) -> str:
        return self.actor if actor is None else actor

    def _key(self, request: str | None) -> str | Once | None:
        """Return the request of a call: the argument of the call, or the key of `acting_as`."""
        if self._once is not None and request is not None:
            raise InvalidInputError("the memory has a request key already; do not give another one")
        return request if self._once is None else self._once

    def _apply_one(self, command: Command) -> Receipt:
        """Carry out a command as `apply` does, perhaps in one batch with commands of other threads."""
        if self._once is not None:
            return self.apply([command])[0]
        with self._writing(now=False):
            return self.store.commits.one(command, self.actor)

    @operation(Scope.WRITE)
    def add(
        self,
        content: str,
        *,
        title: str | None = None,
        kind: str = "note",
        tags: Iterable[str] = (),
        buckets: Iterable[str] = ("inbox",),
        source: str | None = None,
        sequence: int | None = None,
        provenance: str = "internal",
        trust: int | None = None,
        created: int | datetime | None = None,
        meta: Mapping[str, Scalar] | None = None,
        aliases: Iterable[str] | None = None,
        folder: str | None = None,
        occurrence: int | None = None,
        key: str | None = None,
        id: str | None = None,  # noqa: A002
        force: bool = False,
        once: bool = False,
    ) -> Receipt:
        """Add an atom. If the atom is already recorded, append no event. `receipt.id` is the id of the atom.

        Args:
            content: The text, at most 1 MiB of UTF-8.
            title: A heading, on one line.
            kind: The kind of the atom, a label such as `note`.
            tags: At most 256 tags, in any case, with or without `#`.
            buckets: The names of the coarse partitions (buckets) to which the atom belongs.
            source: The origin of the text, on one line, such as a file name.
            sequence: A number by which the atoms of one source are sorted. It distinguishes the ids of equal
                texts.
            provenance: `internal`, `external` or `quarantine`.
            trust: The degree of trust in the content, from 0 to 100.
            created: The time at which the text was written, in µs or as a datetime with a zone; None for the
                time of the event.
            meta: At most 32 values to store with the atom, as a mapping from names to booleans, numbers and
                texts.
            aliases: Other names of the thing that the atom describes.
            folder: The folder that the source belongs to.
            occurrence: The number of equal texts that come earlier in the source. If it is given, it
                distinguishes the ids of equal texts in place of `sequence`.
            key: A name for the atom, chosen by the caller and unique within the source. The id is derived
                from the source and this name.
            id: A UUID chosen by the caller. If neither `id` nor `key` is given, the id is derived from
                source, content, and `sequence` or `occurrence`.
            force: Also add content that was erased, or an atom that was erased.
            once: Do not add a text that another atom holds already, equal or nearly equal (`add_once`).
                Then `receipt.id` is the id of that atom, and `receipt.held` describes it.

        Returns:
            The receipt. It has no events if nothing changed.

        Raises:
            InvalidInputError: A field is not valid according to SPEC.md.
            ConflictError: An atom with the given id or key is already recorded and has different content.
            RefusedError: The atom or its content was erased, and `force` is not set.
        """
        from engine.commands.atoms import Add

        wanted = Add(
            content, title, kind, tags, buckets, source, sequence, provenance, trust, created,
            occurrence, key, id, force, meta, aliases, folder,
        )  # fmt: skip
        return self.add_once(wanted) if once else self._apply_one(wanted)

    @client_only("`add` has the parameter `once`")
    def add_once(self, command: Add, *, actor: str | None = None) -> Receipt:
        """Carry out `command` unless a live atom holds the text already. Nothing comes between the two steps.

        An atom holds the text if its content is equal, apart from white space and the case of the letters A
        to Z, or if the two are near-duplicates and neither a number nor a negation is in only one of them. It
        must be in a bucket of the new text. If the command gives the text a name or a place of its own (an
        id, a key, an occurrence or a sequence), or if the kind is `entity`, the text is added without a
        comparison.

        Args:
            command: The atom to add.
            actor: The author of the event; None for the memory's own actor.

        Returns:
            The receipt. If the text is held, `held` describes the atom, which gets the tags of the command.
            The only event is then that of tags that are new to the atom.

        Raises:
            InvalidInputError: A field is not valid according to SPEC.md.
            ConflictError: An atom with the given id or key is already recorded and has different content.
            RefusedError: The atom or its content was erased, and `force` is not set.
        """
        from engine.commands.atoms import Add
        from engine.ledger.entities import ENTITY

        instance(command, Add, "command")
        place = command.id, command.key, command.sequence, command.occurrence
        if any(one is not None for one in place) or command.kind == ENTITY:
            return self.apply([command], actor=actor)[0]
        from engine.index.copies.held_text import held
        from engine.store.add_unless_held import add_unless_held

        def held_text(body: AtomBody) -> tuple[Held | None, int]:
            with self.view.searchable() as rows:
                return held(rows, self.store.index.view(rows), body), read_log(rows).size

        with self._writing(now=False):
            return add_unless_held(self.store, command, held_text, self._actor(actor), self._once)

    @operation(Scope.WRITE)
    def revise(
        self,
        id: str,  # noqa: A002
        content: str | Unchanged = UNCHANGED,
        *,
        title: str | Unchanged | None = UNCHANGED,
        kind: str | Unchanged = UNCHANGED,
        tags: Iterable[str] | Unchanged = UNCHANGED,
        buckets: Iterable[str] | Unchanged = UNCHANGED,
        source: str | Unchanged | None = UNCHANGED,
        sequence: int | Unchanged | None = UNCHANGED,
        provenance: str | Unchanged = UNCHANGED,
        trust: int | Unchanged | None = UNCHANGED,
        created: int | datetime | Unchanged | None = UNCHANGED,
        meta: Mapping[str, Scalar] | Unchanged | None = UNCHANGED,
        aliases: Iterable[str] | Unchanged | None = UNCHANGED,
        folder: str | Unchanged | None = UNCHANGED,
        force: bool = False,
    ) -> Receipt:
        """Change an atom's content or fields. Omitted fields and the id do not change; the history is kept.

        The fields have the same meaning as in `add`.

        Args:
            id: The atom.
            content: The new text.
            title: As for `add`; None removes the title.
            kind: As for `add`.
            tags: The tags that replace all present tags.
            buckets: The buckets that replace all present buckets.
            source: As for `add`; None removes the source.
            sequence: As for `add`; None removes the number.
            provenance: As for `add`.
            trust: As for `add`; None removes the value.
            created: As for `add`; None keeps the recorded time.
            meta: The values that replace all present values; None removes all values.
            aliases: The other names that replace all present ones; None removes all other names.
            folder: As for `add`; None removes the folder.
            force: Also accept content that was erased.

        Returns:
            The receipt. It has no events if nothing changed.

        Raises:
            InvalidInputError: A field is not valid according to SPEC.md.
            NotFoundError: The atom was never recorded.
            ConflictError: The atom is tombstoned or erased.
            RefusedError: The content was erased, and `force` is not set.
        """
        from engine.commands.atoms import Revise

        return self._apply_one(
            Revise(
                id, content, title, kind, tags, buckets, source, sequence, provenance, trust, created,
                force, meta, aliases, folder,
            )
        )  # fmt: skip

    @operation(Scope.WRITE)
    def tombstone(self, id: str, reason: str = "") -> Receipt:  # noqa: A002
        """Hide an atom from every answer. The atom and its history stay in the journal.

        Args:
            id: The atom.
            reason: The reason, on one line, which the journal records.

        Raises:
            NotFoundError: The atom was never recorded.
        """
        from engine.commands.atoms import Tombstone

        return self._apply_one(Tombstone(id, reason))

    @operation(Scope.WRITE)
    def revive(self, id: str, reason: str = "", *, force: bool = False) -> Receipt:  # noqa: A002
        """Make a tombstoned atom live again.

        Args:
            id: The atom.
            reason: The reason, on one line, which the journal records.
            force: Revive the atom even if another atom with the same content was erased.

        Raises:
            NotFoundError: The atom was never recorded.
            RefusedError: The atom was erased; or another atom with the same content was erased, and `force`
                is not set.
        """
        from engine.commands.atoms import Revive

        return self._apply_one(Revive(id, reason, force))

    @operation(Scope.WRITE)
    def tag(self, id: str, *tags: str) -> Receipt:  # noqa: A002
        """Add tags to an atom.

        Args:
            id: The atom.
            tags: Tags in any case, with or without `#`.

        Raises:
            NotFoundError: The atom was never recorded.
            ConflictError: The atom is tombstoned or erased.
            LimitError: The atom would have more than 256 tags.
        """
        from engine.commands.atoms import Tag

        return self._apply_one(Tag(id, tags))

    @operation(Scope.WRITE)
    def untag(self, id: str, *tags: str) -> Receipt:  # noqa: A002
        """Remove tags from an atom.

        Args:
            id: The atom.
            tags: Tags in any case, with or without `#`.

        Raises:
            NotFoundError: The atom was never recorded.
            ConflictError: The atom is tombstoned or erased.
        """
        from engine.commands.atoms import Untag

        return self._apply_one(Untag(id, tags))

    @operation(Scope.WRITE)
    def register_type(self, name: str) -> Receipt:
        """Register a predicate, so that it can be used as an edge type.

        Args:
            name: A label: 1 to 32 characters of `a-z`, `0-9`, `.`, `_` and `-`.

        Raises:
            InvalidInputError: `name` is not a label.
            LimitError: All 32,768 codes for predicates are in use.
        """
        from engine.commands.edges import RegisterType

        return self._apply_one(RegisterType(name))

    @operation(Scope.WRITE)
    def link(self, src: str, type: TypeName, dst: str, weight: float = 1.0, data: bytes = b"") -> Receipt:  # noqa: A002
        """Add an edge between two atoms. A tombstoned edge is revived.

        Args:
            src: The atom at which the edge starts.
            type: An `EdgeType`, its name, or a registered predicate.
            dst: The atom at which the edge ends.
            weight: The weight of the edge, a number that fits in a 32-bit float.
            data: Data to store with the edge: canonical CBOR of at most 4 KiB.

        Raises:
            InvalidInputError: `src` and `dst` are the same atom, or `weight` or `data` is not valid.
            NotFoundError: One of the atoms was never recorded, or the predicate was never registered.
            ConflictError: One of the atoms is erased.
        """
        from engine.commands.edges import Link

        return self._apply_one(Link(src, type, dst, weight, data))

    @operation(Scope.WRITE)
    def unlink(self, src: str, type: TypeName, dst: str, reason: str = "") -> Receipt:  # noqa: A002
        """Hide an edge, which stays in the journal. If the edge is not live, append no event.

        Args:
            src: The atom at which the edge starts.
            type: An `EdgeType`, its name, or a registered predicate.
            dst: The atom at which the edge ends.
            reason: The reason, on one line, which the journal records.

        Raises:
            NotFoundError: The predicate was never registered.
        """
        from engine.commands.edges import Unlink

        return self._apply_one(Unlink(src, type, dst, reason))

    @operation(Scope.WRITE)
    def relate(
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002
        *,
        source: str | None = None,
        weight: float = 1.0,
        force: bool = False,
    ) -> Receipt:
        """Relate two entities by a predicate. Missing entities and predicates are created.

        Args:
            subject: A name, or the id of an entity.
            predicate: A predicate such as `works_at`.
            object: A name, or the id of an entity.
            source: The id of the atom that states the relation.
            weight: The weight of the edge, a number that fits in a 32-bit float.
            force: Also accept names that were erased.

        Raises:
            InvalidInputError: A name or the predicate is not valid, or `subject` and `object` are the same
                entity.
            NotFoundError: An entity given by its id, or the atom `source`, was never recorded.
            ConflictError: The atom `source` is hidden, or an atom that is not an entity has the key of one of
                the two entities.
            RefusedError: An entity or its name was erased, and `force` is not set.
        """
        from engine.commands.edges import Relate

        return self._apply_one(Relate(subject, predicate, object, source, weight, force))

    @operation(Scope.WRITE)
    def unrelate(self, subject: str, predicate: str, object: str, reason: str = "") -> Receipt:  # noqa: A002
        """Hide the edge that relates two entities. The edge stays in the journal.

        Args:
            subject: A name, or the id of an entity.
            predicate: The predicate of the relation.
            object: A name, or the id of an entity.
            reason: The reason, on one line, which the journal records.

        Raises:
            NotFoundError: An entity or the predicate was never recorded.
        """
        from engine.commands.edges import Unrelate

        return self._apply_one(Unrelate(subject, predicate, object, reason))

    @operation(Scope.WRITE)
    def merge(self, keep: str, other: str, *, force: bool = False) -> Receipt:
        """Merge the near-duplicate `other` into the atom `keep`; `other` is tombstoned.

        `keep` gets the tags, buckets and aliases of `other`. `unmerge` reverts the merge.

        Args:
            keep: The atom that stays live.
            other: The atom that is tombstoned.
            force: Also merge atoms that are not near-duplicates.

        Raises:
            NotFoundError: One of the atoms was never recorded.
            ConflictError: One of the atoms is tombstoned, or `other` supersedes `keep`.
            RefusedError: The atoms are not near-duplicates or are too short to compare, and `force` is not
                set.
        """
        from engine.commands.merge import Merge

        return self._apply_one(Merge(keep, other, force))

    @operation(Scope.WRITE)
    def unmerge(self, other: str, *, force: bool = False) -> Receipt:
        """Revive a merged atom and remove from the kept atom the values that the merge added.

        Args:
            other: The atom that was merged into a kept atom.
            force: Revive the atom even if another atom with the same content was erased.

        Raises:
            NotFoundError: The atom was never recorded.
            ConflictError: The atom is tombstoned, but not by a merge; or the kept atom is tombstoned.
            RefusedError: Another atom with the same content was erased, and `force` is not set.
        """
        from engine.commands.merge import Unmerge

        return self._apply_one(Unmerge(other, force))

    @operation(Scope.WRITE)
    def settle(self, file: str, hand: str, keep: str) -> Receipt:
        """Settle a conflict between a file and a change by hand, or between the devices that changed an atom.

        If both atoms are live, the atom that is not kept is merged into the kept atom; `unmerge` reverts
        this. If only one atom is live and `keep` names the other atom, the live atom is tombstoned.

        Args:
            file: The atom with the text of the file; for `device`, the atom that several devices changed.
            hand: The atom that was revised or tombstoned by hand; for `device`, the id of the device whose
                version is kept, or the beginning of it.
            keep: `file`, `hand`, `both` or `device`.

        Raises:
            InvalidInputError: `keep` is not one of these words.
            NotFoundError: One of the atoms was never recorded.
            ConflictError: There is no conflict between the two atoms.
        """
        from engine.commands.concurrent import KeepVersion
        from engine.commands.conflicts import Settle

        return self._apply_one(KeepVersion(file, hand) if keep == "device" else Settle(file, hand, keep))

    @operation(Scope.WRITE)
    def supersede(self, old: str, new: str, reason: str = "") -> Receipt:
        """Replace the atom `old` by `new`. `old` stays live, but recall no longer returns it by default.

        Args:
            old: The atom that is replaced.
            new: The atom that replaces it.
            reason: The reason, on one line, which the edge between them records.

        Raises:
            NotFoundError: One of the atoms was never recorded.
            ConflictError: One of the atoms is hidden, or `old` already supersedes `new`.
        """
        from engine.commands.merge import Supersede

        return self._apply_one(Supersede(old, new, reason))

    @operation(Scope.WRITE)
    def revert(
        self, start: AsOf, stop: AsOf | None = None, *, actor: str | None = None, dry_run: bool = False
    ) -> list[Undone]:
        """Revert a range of events by appending events with the opposite effect.

        The atom, edge or predicate that was changed last is reverted first. A value that a later event has
        changed again is not reverted; the result reports it.

        Args:
            start: The seq of the first event, or a time: the first event at this time or later.
            stop: The seq after the last event, or a time: only events before it; None for the head.
            actor: Revert only the events of this actor.
            dry_run: Only report the outcome for each atom, edge and predicate; append no events.

        Returns:
            The outcome for each atom, edge and predicate.

        Raises:
            NotFoundError: `start` or `stop` is greater than the number of events in the journal.
        """
        from engine.store.revert import revert

        with self._writing():
            return revert(
                self.store, start, stop, by=self.actor, actor=actor, dry_run=dry_run, once=self._once
            )

    @operation(Scope.READ)
    def revertible(
        self, start: AsOf, stop: AsOf | None = None, *, actor: str | None = None, limit: int = 100
    ) -> Revertible:
        """Return the changes that `revert` would make, without making them.

        Args:
            start: The seq of the first event, or a time, as for `revert`.
            stop: The seq after the last event, or a time, as for `revert`; None for the head.
            actor: Only the events of this actor.
            limit: The maximum number of atoms, edges and predicates, 1 to 1,000. The one that was changed
                last comes first.

        Returns:
            The number of events, the outcomes and the changes.

        Raises:
            NotFoundError: `start` or `stop` is greater than the number of events in the journal.
        """
        from engine.query.history.diff import revertible

        return revertible(self.store, start, stop, by=self.actor, actor=actor, limit=limit)

    @operation(Scope.ADMIN)
    def erase(
        self,
        ids: str | Sequence[str],
        reason: str,
        *,
        remember: bool = True,
        probe: bool = True,
        actor: str | None = None,
        progress: Stage = ignore_stage,
    ) -> Erasure:
        """Destroy the contents of atoms and of their edges irreversibly. Their history stays verifiable.

        Args:
            ids: The atom, or up to 10,000 atoms, such as those that `find` with `hidden` returns.
            reason: The reason. It stays in the journal, so it must not repeat the content.
            remember: Store a keyed hash of each version of the content, so that the content is refused when
                it is added again.
            probe: Search the files and the answers of all queries for the content, before and after the
                erasure.
            actor: The author of the events; None for the memory's own actor.
            progress: Called with the name of each stage when it begins.

        Returns:
            The receipt: the events, the amounts of destroyed data, and the result of the probe.

        Raises:
            NotFoundError: One of the atoms was never recorded. Nothing was erased.
            BusyError: A snapshot is open, so the files may still contain bytes of the content. No answer
                contains the content any more. To finish the erasure, repeat the call or reopen the store.
        """
        from engine.capture.served import forget
        from engine.erase.erasure import erase
        from engine.query.every_query import every_query

        by = label(self._actor(actor), "actor")
        callback(progress, "progress")
        with self._writing():
            erasure = erase(
                self.store, ids, reason, actor=by, queries=partial(every_query, self.view),
                forget=self.view.forget, remember=remember, probe=probe, progress=progress, once=self._once,
            )  # fmt: skip
        forget(self.store, [ids] if isinstance(ids, str) else ids)
        return erasure

    @operation(Scope.READ)
    def erasable(self, ids: str | Sequence[str]) -> Erasable:
        """Return the amounts of data that erasing atoms would destroy, without changing anything.

        Args:
            ids: The atom, or the atoms.

        Returns:
            The counts, which are all 0 for atoms that are already erased.

        Raises:
            NotFoundError: One of the atoms was never recorded.
        """
        from engine.erase.erasure import erasable

        return erasable(self.store, ids)

    @embedded_only("it reads files of the service's machine")
    def ingest(
        self,
        paths: Sequence[str | Path],
        *,
        name: str | None = None,
        root: str | Path | None = None,
        tags: Sequence[str] = (),
        buckets: Sequence[str] = ("inbox",),
        provenance: str = "internal",
        exclude: Sequence[str] = (),
        gitignore: bool = True,
        moved: bool = False,
        prune: bool = False,
        sure: bool = False,
        force: bool = False,
        dry_run: bool = False,
        progress: Callable[[IngestProgress], None] = lambda _: None,
    ) -> IngestReport:
        """Make the memory match the present content of files. The events have the actor `ingest`.

        If there are many files, child processes read files in advance. These processes end before this method
        returns.

        Args:
            paths: Files, and folders that contain files: Markdown, text, JSON Lines, and with the extra
                `files` also HTML, PDF and DOCX.
            name: The first part of the source of every atom, used instead of the name of the folder.
            root: A folder that contains all `paths`; the source of an atom is the path of the file relative
                to this folder.
            tags: Tags for every atom, in addition to the tags in the files.
            buckets: The buckets of new atoms.
            provenance: The provenance of new atoms.
            exclude: Patterns, in the syntax of `.gitignore`. Matching files and folders are left out.
            gitignore: Also leave out the files and folders that the `.gitignore` files in the folders
                exclude.
            moved: Accept that the folder of this name now has a different path than before.
            prune: Also tombstone atoms of files that are no longer in the folders, or are excluded now.
            sure: Prune even if none of the files that were ingested before exists now.
            force: Also ingest content that was erased. Otherwise such content is skipped and reported.
            dry_run: Only count the changes that would be made.
            progress: Called after each file.

        Returns:
            The counts of files and atoms, the skipped content, and warnings.

        Raises:
            NotFoundError: A path does not exist. Nothing was written.
            RefusedError: Files were ingested from a different folder of the same name, and `moved` is not
                set; or pruning would tombstone every atom of a folder. Nothing was written.
        """
        from engine.files.ingest.ingest_run import ingest

        callback(progress, "progress")
        with self._writing():
            return ingest(
                self.store, paths, name=name, root=root, tags=tags, buckets=buckets, provenance=provenance,
                exclude=several(exclude, "exclude"), gitignore=gitignore, moved=moved, prune=prune, sure=sure,
                force=force, dry_run=dry_run, progress=progress,
            )  # fmt: skip

    @operation(Scope.WRITE)
    def dream(
        self,
        *,
        budget: int | None = None,
        seconds: float | None = None,
        dry_run: bool = False,
        config: DreamConfig | None = None,
        stop: Callable[[], bool] = lambda: False,
        progress: Progress = no_progress,
    ) -> DreamReport:
        """Add tags to untagged atoms, collect names, and relate entities, as the actor `dreamer`.

        A run only adds tags, entities and edges. It never adds a tag, entity or edge that was removed. A
        second run over an unchanged memory adds nothing.

        Args:
            budget: The maximum number of atoms to read; None for no limit.
            seconds: The number of seconds after which no further step begins; None for no limit.
            dry_run: Only report the additions; write nothing.
            config: Limits that replace the default limits, which were chosen by measurement.
            stop: Called between steps of a few dozen atoms; the run ends when `stop` returns True.
            progress: Called with (atoms done, all atoms).

        Returns:
            The number of atoms read, the numbers of tags, entities and edges added, and the groups of
            near-duplicates.
        """
        from engine.knowledge.dreaming.cycle import dream

        callback(progress, "progress")
        with self._writing():
            return dream(
                self.store,
                budget=budget,
                seconds=seconds,
                dry_run=dry_run,
                config=config,
                stop=stop,
                progress=progress,
            )

    # Queries: single things

    @operation(Scope.READ)
    def resolve(self, id: str) -> str:  # noqa: A002
        """Return the full id of the atom for a shortened id.

        Args:
            id: The first hex digits of the atom's id, at least 4. No other id may begin with these digits.

        Raises:
            NotFoundError: No id of an atom begins with these digits.
            ConflictError: The ids of several atoms begin with these digits.
        """
        with self.store.view() as rows:
            return show_id(resolve_id(rows, id))

    @operation(Scope.READ)
    def page(self, name: str, *, as_of: AsOf | None = None) -> Page:
        """Return a page: the atoms from one ingested file, with their text, links and backlinks.

        Args:
            name: The path of the file, which may lack its first folders and its suffix; the title of the
                page; or an alias. Case is ignored.
            as_of: Return the page as it was at this moment.

        Raises:
            NotFoundError: There is no such page, or `as_of` is not in the journal.
            ConflictError: Several pages have this name; the message lists their sources.
        """
        from engine.query.file_pages import page_named

        with self.view.at(as_of) as view, view.store.view(view.store.tags, view.store.names) as rows:
            return page_named(rows, name)

    @operation(Scope.READ)
    def titles(self, ids: Iterable[str], *, as_of: AsOf | None = None) -> dict[str, str]:
        """Return the names of atoms in lists: the title of the page or of the atom, or the first words.

        Args:
            ids: The atoms. Atoms that were never recorded or are erased are left out.
            as_of: Return the titles of this moment.
        """
        from engine.query.atom_labels import shown_titles

        with self.view.at(as_of) as view, view.store.view() as rows:
            return shown_titles(rows, ids)

    @operation(Scope.READ)
    def get(self, id: str, *, as_of: AsOf | None = None) -> Atom:  # noqa: A002
        """Return an atom, whatever its state, as it is now or as it was at a moment.

        Args:
            id: The atom.
            as_of: Return the atom as it was at this moment.

        Raises:
            NotFoundError: The atom was never recorded, or had not been recorded at that moment.
        """
        with self.store.view() as rows:
            record = get_record(rows, atom_id(id))
            if as_of is not None:
                record = atom_record_at(rows, record, size_at(rows, as_of))
            return atom_of(rows, record)

    @operation(Scope.READ)
    def get_edge(
        self,
        src: str,
        type: TypeName,  # noqa: A002
        dst: str,
        *,
        as_of: AsOf | None = None,
    ) -> Edge:
        """Return an edge, which may be tombstoned.

        Args:
            src: The atom at which the edge starts.
            type: An `EdgeType`, its name, or a registered predicate.
            dst: The atom at which the edge ends.
            as_of: Return the edge as it was at this moment.

        Raises:
            NotFoundError: The edge was never recorded, or had not been recorded at that moment.
        """
        from engine.query.graph.find import get_edge

        with self.view.at(as_of) as view, view.store.view() as rows:
            return get_edge(rows, src, type, dst)

    @operation(Scope.READ)
    def edges(
        self,
        id: str,  # noqa: A002
        *,
        direction: Direction | str = Direction.OUT,
        types: Sequence[TypeName] = (),
        tombstoned: bool = False,
        limit: int = limits.RESULTS_MAX,
        after: tuple[str, str, str] | None = None,
        as_of: AsOf | None = None,
    ) -> list[Edge]:
        """Return the edges of an atom, sorted by type and then by the atom at the other end.

        Args:
            id: The atom.
            direction: `out`, `in` or `both`.
            types: Return only edges of these types. If empty, return edges of all types.
            tombstoned: Also return hidden edges.
            limit: The maximum number of edges, at most 10,000.
            after: The `place` of the last edge of an earlier call, to continue after it: its source, type and
                target. `engine.every` reads all edges in this way.
            as_of: Return the edges as they were at this moment.

        Raises:
            InvalidInputError: `after` is no edge of the atom.
            NotFoundError: The atom or a type was never recorded, or had not been recorded at that moment.
        """
        from engine.query.graph.find import get_edges

        with self.view.at(as_of) as view, view.store.view() as rows:
            return get_edges(
                rows, id, direction=direction, types=types, tombstoned=tombstoned, limit=limit, after=after
            )

    @operation(Scope.READ)
    def tags(self, *, as_of: AsOf | None = None) -> Tags:
        """Return the tags of the live atoms with their numbers of atoms: what people gave, what dreams found.

        Args:
            as_of: Count the tags of this moment.
        """
        with self.view.at(as_of) as view, view.store.view(view.store.tags) as rows:
            if self._tag_origins is None:
                from engine.knowledge.tag_origins import TagOrigins

                self._tag_origins = TagOrigins()
            return self._tag_origins.tags(rows)

    # Queries: questions

    @operation(Scope.READ)
    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        budget: int | None = None,
        filters: Filters = NO_FILTERS,
        explain: bool = False,
        per_page: int | None = None,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> Recall:
        """Return the live atoms that answer a question best.

        Args:
            query: The question, in words.
            limit: The maximum number of hits, 1 to 10,000. If neither `limit` nor `budget` is given, the
                limit is 10.
            budget: The maximum number of tokens for the full texts and the headings of all hits.
            filters: The conditions that an atom must meet.
            explain: Also report how much each ranking signal contributed to each hit, and the best atoms that
                are not among the hits.
            per_page: The maximum number of hits of one page, that is, of one ingested file; 0 for any number.
                None selects the number in the recall configuration, which is 2 by default.
            as_of: Query the memory as it was at this moment.
            narrow: Fields of `Filters` as keyword arguments, such as `tags=["people"]` or
                `since=datetime(...)`.

        Returns:
            The hits, the best first, and information about the answer as a whole.

        Raises:
            InvalidInputError: The query is blank or contains no searchable term, or a number is out of range.
            NotFoundError: The journal has no event with the seq `as_of`, or its first event is later than the
                time `as_of`.
        """
        from engine.query.recall.recall import recall

        wanted = narrowed(filters, narrow)
        with self._searching(as_of, wanted) as (view, rows):
            return recall(
                rows,
                view,
                query,
                limit=limit,
                budget=budget,
                filters=wanted,
                explain=explain,
                per_page=per_page,
            )

    @operation(Scope.READ)
    def context(
        self,
        query: str,
        *,
        budget: int = 2000,
        filters: Filters = NO_FILTERS,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> Context:
        """Return the passages that answer a question, with the text around them, for a prompt.

        Args:
            query: The question, in words.
            budget: The maximum number of tokens for the whole text, at least 16.
            filters: The conditions that every atom in the answer must meet. They also apply to an atom that
                is included only because it is next to a hit.
            as_of: Query the memory as it was at this moment.
            narrow: Fields of `Filters` as keyword arguments.

        Raises:
            InvalidInputError: The budget is too small, or the query contains no searchable term.
            NotFoundError: The journal has no event with the seq `as_of`, or its first event is later than the
                time `as_of`.
        """
        from engine.query.context.neighbours import context

        wanted = narrowed(filters, narrow)
        with self._searching(as_of, wanted) as (view, rows):
            return context(rows, view, query, budget, wanted)

    @operation(Scope.READ)
    def find(
        self,
        *,
        limit: int = 100,
        from_: str | None = None,
        follow: Follow | None = None,
        filters: Filters = NO_FILTERS,
        form: Form | str = "medium",
        mentions: Sequence[str] = (),
        hidden: bool = False,
        after: int | None = None,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> list[Found]:
        """Return the live atoms that pass `filters`: all, or only the atoms within a few edges of `from_`.

        Args:
            limit: The maximum number of atoms, 1 to 10,000.
            from_: The id of an atom. Only atoms that can be reached from this atom along edges are returned.
            follow: The types and directions of the edges to follow from `from_`, and the maximum number of
                steps. It requires `from_`.
            filters: The conditions that an atom must meet.
            form: `short` (id and title), `medium` (id, title and 200 characters) or `full` (also the atom).
            mentions: Names: only atoms that mention one of them, in their words or by an edge to the entity.
            hidden: Also return tombstoned atoms, and atoms of which only an earlier version passes.
            after: The `place` of the last result of an earlier call, to continue after it: its ordinal.
                `engine.every` reads all results in this way.
            as_of: Query the memory as it was at this moment.
            narrow: Fields of `Filters` as keyword arguments.

        Raises:
            NotFoundError: The atom `from_` or an edge type was never recorded.
            ConflictError: The walk from `from_` does not reach `after` any more.
        """
        from engine.query.graph.find import find

        wanted = narrowed(filters, narrow)
        with self.view.at(as_of) as view, view.filterable(wanted) as rows:
            return find(
                rows, from_=from_, follow=follow, filters=wanted, limit=limit, form=form, after=after,
                mentions=mentions, hidden=hidden,
            )  # fmt: skip

    @operation(Scope.READ)
    def duplicates(
        self, *, limit: int = 100, of: str | None = None, as_of: AsOf | None = None
    ) -> list[DuplicateGroup]:
        """Return groups of near-duplicate live atoms, each with the atom to keep. The memory is not changed.

        Args:
            limit: The maximum number of groups. Groups are sorted by the atom to keep, the oldest first.
            of: Return only the group of this atom.
            as_of: Return the groups of this moment.

        Raises:
            NotFoundError: The atom `of` was never recorded, or had not been recorded at that moment.
        """
        from engine.index.copies.duplicates import duplicates

        with self._searching(as_of) as (view, rows):
            return duplicates(rows, view.store.index, limit=limit, of=of)

    @operation(Scope.READ)
    def conflicts(self) -> list[Conflict]:
        """Return the conflicts that are not settled, sorted by source and position.

        A conflict arises if a text in a file changes and its atom was revised or tombstoned by hand. `ingest`
        then keeps both versions, and `settle` settles the conflict.
        """
        from engine.commands.conflicts import conflicts

        with self.store.view() as rows:
            return conflicts(rows)

    @operation(Scope.READ)
    def concurrent_edits(self) -> list[Concurrent]:
        """Return the conflicts between devices that are not settled, sorted by subject.

        A conflict arises if two devices change a text without knowing of each other. Every device shows the
        same version until `settle`, or a revision of the text, settles the conflict. An edit of a text that
        was erased on another device is lost, and is listed without its text.
        """
        from engine.commands.concurrent import concurrent

        with self.store.view(self.store.requests) as rows:
            return concurrent(rows)

    @operation(Scope.READ)
    def held_back(self, id: str) -> str | None:  # noqa: A002
        """Return the reason why a live atom is excluded from answers, or None if the atom is not excluded.

        An atom is excluded if it was superseded, or if it is a near-duplicate of a superseded atom.

        Args:
            id: The atom.

        Raises:
            NotFoundError: The atom was never recorded.
        """
        from engine.query.recall.superseded import held_back

        with self._searching(None) as (view, rows):
            return held_back(rows, view.store.index, resolve_id(rows, id))

    @operation(Scope.READ)
    def bright_nodes(
        self,
        query: str,
        *,
        limit: int = 10,
        filters: Filters = NO_FILTERS,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> tuple[BrightNode, ...]:
        """Return only the nodes of the graph that `structured_graph` returns.

        The arguments are the same as for `structured_graph`.
        """
        return self.structured_graph(query, limit=limit, filters=filters, as_of=as_of, **narrow).nodes

    @operation(Scope.READ)
    def structured_graph(
        self,
        query: str,
        *,
        limit: int = 10,
        filters: Filters = NO_FILTERS,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> BrightGraph:
        """Return the atoms most relevant to a question, the best first, and up to 200 relations between them.

        Args:
            query: The question, in words.
            limit: The maximum number of atoms, 1 to 50.
            filters: The conditions that an atom must meet.
            as_of: Query the memory as it was at this moment.
            narrow: Fields of `Filters` as keyword arguments.

        Raises:
            InvalidInputError: The query contains no searchable term, or `limit` is out of range.
        """
        from engine.query.graph.bright import structured_graph

        wanted = narrowed(filters, narrow)
        with self._searching(as_of, wanted) as (view, rows):
            return structured_graph(rows, view, query, limit, wanted)

    @operation(Scope.READ)
    def across(
        self,
        query: str,
        *,
        limit: int = 10,
        filters: Filters = NO_FILTERS,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> AcrossGraph:
        """Return paths between names of different domains, such as a person, a technology and a place.

        Each step of a path is a relation between two entities, or an atom that has both names. A name is an
        entity or a tag, so `relate`, `dream` and tags make the paths.

        Args:
            query: Names, or a question. Paths begin or end at the names in it; without names, at the names of
                the atoms that answer the question best.
            limit: The maximum number of paths, 1 to 50.
            filters: The conditions that an atom must meet to be evidence.
            as_of: Query the memory as it was at this moment.
            narrow: Fields of `Filters` as keyword arguments.

        Raises:
            InvalidInputError: The query contains no searchable term, or `limit` is out of range.
        """
        from engine.query.graph.across import across

        wanted = narrowed(filters, narrow)
        with self._searching(as_of, wanted) as (view, rows):
            return across(rows, view, query, limit, wanted)

    @embedded_only("it keeps a state between calls; `explore` runs a whole exploration")
    def explorer(self, *, form: AnswerForm | str = "text", spent: int = 0) -> Explorer:
        """Return an explorer: its methods recall hints, peek into atoms, expand them, and list neighbors.

        Every answer of the explorer states its cost in tokens.

        Args:
            form: The form of the answers, `text` or `json`. The cost of an answer is counted in this form.
            spent: The number of tokens spent earlier, which the explorer adds to the total cost.
        """
        from engine.query.explore.explorer import Explorer

        return Explorer(self.view, form=form, spent=spent)

    @operation(Scope.READ)
    def explore(
        self,
        query: str,
        *,
        policy: Policy | None = None,
        budget: int = 2000,
        steps: int = 10,
        filters: Filters = NO_FILTERS,
        on_step: Callable[[Step], None] | None = None,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> Exploration:
        """Search the memory step by step for atoms that answer a question (Memory Exploration).

        Args:
            query: The question, in words.
            policy: The object that chooses each step; None for a built-in policy, which needs no language
                model.
            budget: The maximum number of tokens for all answers together, at least 200.
            steps: The maximum number of steps, 1 to 10.
            filters: The conditions that an atom must meet to appear in a hint.
            on_step: Called with each step when it is done.
            as_of: Explore the memory as it was at this moment.
            narrow: Fields of `Filters` as keyword arguments.

        Raises:
            InvalidInputError: `budget` or `steps` is out of range, or the query contains no searchable term.
        """
        from engine.query.explore.loop import explore

        wanted = narrowed(filters, narrow)
        with self.view.at(as_of) as view:
            return explore(
                view, query, policy=policy, budget=budget, steps=steps, filters=wanted, on_step=on_step
            )

    # Queries: history

    @property
    @operation(Scope.READ)
    def size(self) -> int:
        """The number of events in the journal."""
        return read_log(self.store.backend).size

    @operation(Scope.READ)
    def history(self, id: str) -> list[HistoryItem]:  # noqa: A002
        """Return all events on an atom, the oldest first.

        Args:
            id: The atom.

        Raises:
            NotFoundError: The atom was never recorded.
        """
        with self.store.view() as rows:
            return history(rows, id)

    @operation(Scope.READ)
    def recent(
        self,
        *,
        limit: int = 10,
        offset: int = 0,
        filters: Filters = NO_FILTERS,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> list[Added]:
        """Return the live atoms that were added last, the newest first, each with the time and the actor.

        Args:
            limit: The maximum number of atoms, 1 to 10,000.
            offset: The number of atoms to skip.
            filters: The conditions that an atom must meet. Entities are left out unless `kinds` is given.
            as_of: Query the memory as it was at this moment.
            narrow: Fields of `Filters` as keyword arguments.
        """
        from engine.query.history.recent import recent

        wanted = narrowed(filters, narrow)
        with self.view.at(as_of) as view, view.filterable(wanted) as rows:
            return recent(rows, limit=limit, offset=offset, filters=wanted)

    @operation(Scope.READ)
    def sources(self, *, limit: int = 100, as_of: AsOf | None = None) -> list[SourceSummary]:
        """Return the sources of live atoms, the one that changed last first, each with its number of atoms.

        Args:
            limit: The maximum number of sources, 1 to 10,000.
            as_of: List the sources of this moment.
        """
        from engine.query.source_list import sources

        with self._searching(as_of) as (view, rows):
            return sources(rows, view.store.index.view(rows).facts, limit)

    @operation(Scope.READ)
    def log(self, start: int = 0, stop: int | None = None) -> Iterator[HistoryItem]:
        """Return an iterator over the events from `start` up to `stop`; events appended later are left out.

        Args:
            start: The seq of the first event.
            stop: The seq after the last event; None for the head.
        """
        start, size = integer(start, "start"), self.size
        return self._items(start, size if stop is None else min(integer(stop, "stop"), size))

    def _items(self, start: int, stop: int) -> Iterator[HistoryItem]:
        # Each part is read in its own snapshot, so that a slow caller keeps none open. Journal entries never
        # change.
        while start < stop:
            with translated(), self.store.view() as rows:
                entries = read_entries(rows, start, min(stop, start + limits.FOLLOW_EVENTS_MAX))
                items = [history_item(rows, entry) for entry in entries]
            yield from items
            start += len(items)

    @operation(Scope.READ)
    def diff(self, before: AsOf | str, after: AsOf | str | None = None) -> Diff:
        """Return the differences between the states of the memory at two moments.

        Args:
            before: The earlier moment: a seq, a datetime, or the text of a checkpoint note.
            after: The later moment, in the same form; None for the head.

        Raises:
            NotFoundError: The journal has no event with a given seq, or its first event is later than a given
                time.
            InvalidInputError: `after` is earlier than `before`.
        """
        from engine.query.history.diff import diff, sizes
        from engine.trust.notes.known_checkpoints import check_checkpoint

        with self.store.view() as rows:
            return diff(rows, *sizes(rows, before, after, check_checkpoint))

    @operation(Scope.READ)
    def why(self, id: str, *, as_of: AsOf | None = None) -> tuple[Origin, ...]:  # noqa: A002
        """Return the origins of an atom and of the atoms that it was derived from, at most 100 in total.

        Args:
            id: The atom.
            as_of: Return the origins as they were at this moment.

        Raises:
            NotFoundError: The atom was never recorded, or had not been recorded at that moment.
        """
        from engine.capture.served import shown
        from engine.query.history.why import why

        with self.view.at(as_of) as view, view.store.view() as rows:
            first, *others = why(rows, atom_id(id))
        return replace(first, shown=shown(self.store, first.id)), *others

    @operation(Scope.READ)
    def was_kept(self, seq: int, event_id: str) -> bool:
        """Return True if event `seq` has the id `event_id`, which means that the write in doubt was stored.

        Args:
            seq: The attribute `seq` of the `InDoubtError`.
            event_id: The attribute `event_id` of the same error.
        """
        with self.store.view() as rows:
            if integer(seq, "seq") >= read_log(rows).size:
                return False
            return read_entry(rows, seq).header.commitment.hex() == event_id

    @operation(Scope.READ)
    def status(self) -> Status:
        """Return counts of the store's content and the position of each follower. No follower is updated."""
        from engine.store.status import status
        from engine.trust.audit.scrub import read_scrub, scrub_file

        store = self.store
        with store.backend.snapshot() as rows:
            report = status(rows, store)
            scrub = read_scrub(scrub_file(store.backend.location), store.identity.store_id.hex())
        return replace(report, scrubbed_at=scrub.clean_at, scrubbed_events=scrub.clean_events)

    # Roots and proofs

    @operation(Scope.READ)
    def root(self, *, as_of: AsOf | None = None, state: bool = False) -> Checkpoint:
        """Return the overall root and the roots from which it is computed, now or at an earlier moment.

        Args:
            as_of: Return the roots as they were at this moment.
            state: Also return the digest of the state. After a full exchange, it is the same on all devices
                of a family, whose roots differ. All texts are read.

        Raises:
            NotFoundError: The journal has no event with that seq, or its first event is later than that time.
            RefusedError: Some content in the memory at that moment has been erased since.
        """
        with self.view.at(as_of) as view:
            store = view.store
            with store.view(*store.followers) as rows:
                found = store.roots(rows).as_checkpoint()
                if state:
                    from engine.sync.state_digest import state_digest

                    found = replace(found, state=state_digest(rows).hex())
                return found

    @operation(Scope.WRITE)
    def checkpoint(self) -> Receipt:
        """Record the present roots in the journal, unless the last event is a checkpoint already.

        Raises:
            ConflictError: Other processes kept appending events.
        """
        from engine.store.checkpoint import take_checkpoint

        with self._writing():
            return take_checkpoint(self.store, self.actor, self._once)[0]

    @operation(Scope.ADMIN)
    def checkpoint_note(
        self, *, key: str | Path | None = None, known: Sequence[NotedCheckpoint] = ()
    ) -> CheckpointNote:
        """Take a checkpoint, read the headers back, and return a note to be kept outside the store.

        Args:
            key: The path of the file with the signing key; None for an unsigned note.
            known: Earlier checkpoints. Before anything is written, this method checks that the store
                continues each of these checkpoints.

        Raises:
            InconsistentError: The store does not continue one of `known`, or the checkpoint that the key
                signed last.
            RefusedError: The key may not sign for this store.
            CorruptionError: The headers in the backend differ from the headers that were written.
        """
        from engine.store.checkpoint import take_checkpoint
        from engine.trust.notes.issue import issue

        with self._writing():
            return issue(self.store, lambda: take_checkpoint(self.store, self.actor), key=key, known=known)

    @operation(Scope.READ)
    def prove(
        self,
        claims: Iterable[Claim | Sequence[str]],
        *,
        as_of: AsOf | None = None,
        checkpoint: str | LogHead | None = None,
    ) -> Proof:
        """Return a proof of all `claims`. The proof can be verified without the store (`proofs.verify`).

        Args:
            claims: Claims, as objects of `proofs.claims` or as lists of the words that the command `engine
                prove` accepts.
            as_of: Prove the claims for the memory as it was at this moment. The journal is replayed up to the
                moment.
            checkpoint: A checkpoint note, or the log head from such a note. The proof then leads to this log
                head instead of the overall root.

        Raises:
            InvalidInputError: There are no claims, a claim occurs twice, or both `as_of` and `checkpoint` are
                given.
            RefusedError: A claim is false, or the checkpoint does not belong to this store's log.
            NotFoundError: A claim is about something that was never recorded.
        """
        from engine.trust.proving.prove import prove

        return prove(self.store, claims, as_of, checkpoint)

    @operation(Scope.ADMIN)
    def verify(self, *, expect: str | None = None, progress: Progress = no_progress) -> Report:
        """Replay the whole journal and report every stored row that differs from the replay.

        Args:
            expect: The overall root that the memory must have, as 64 hex digits; None for any root.
            progress: Called with (events replayed, all events).

        Returns:
            The report. The field `ok` is True if nothing differs.

        Raises:
            InvalidInputError: `expect` is not a root.
            EngineError: The store was made with a different version of the text analyzer.
        """
        from engine.trust.audit.verify import verify

        callback(progress, "progress")
        return verify(self.store.backend, expect=expect, progress=progress)

    # Upkeep and moving

    @property
    @embedded_only("the metrics of the service tell it")
    def behind(self) -> str | None:
        """The reason why derived data is behind the journal, or None.

        There is a reason if the last attempt to write derived data failed, for instance because the disk is
        full. Queries then compute the missing data in memory. These queries are slower, but their answers are
        complete.
        """
        problem = self.store.write_problem
        return None if problem is None else str(problem)

    @property
    @client_only("the service keeps no mirror")
    def mirror_problem(self) -> str | None:
        """The reason why the mirror that follows the writes is not up to date, or None.

        There is a reason if the last attempt to update the mirror failed. Later writes, and `close`, try
        again. The failure does not affect the memory itself.
        """
        return None if self._mirror is None else self._mirror.problem

    def _mirror_at_rest(self) -> AbstractContextManager[None]:
        """Return a context in which the mirror is not brought up to date in another thread."""
        return nullcontext() if self._mirror is None else self._mirror.at_rest()

    @operation(Scope.ADMIN)
    def catch_up(self) -> None:
        """Update all indexes and trees to the head of the journal, so that the next read need not do so."""
        self.store.follow()

    @operation(Scope.ADMIN)
    def rebuild(self, progress: Progress = no_progress) -> Checkpoint:
        """Rebuild all data that is derived from the journal. Return the root, which does not change.

        Args:
            progress: Called with (events done, all events).

        Raises:
            CorruptionError: The journal is damaged. Nothing was changed.
        """
        from engine.store.maintenance import rebuild

        callback(progress, "progress")
        with self.store.paused():
            return rebuild(self.store.backend, progress)

    @embedded_only("it writes files of the service's machine")
    def mirror(
        self,
        folder: str | Path,
        *,
        style: str | None = None,
        dry_run: bool = False,
        progress: Progress = no_progress,
    ) -> MirrorReport:
        """Write all live atoms as Markdown pages into `folder`, replacing the pages of an earlier mirror.

        Edited pages are moved to the folder `FOLDER.edited`. `mirror_pull` also reads edits from that folder.

        Args:
            folder: A new or empty folder, or an existing mirror of this store. The path of the folder may not
                contain a symbolic link.
            style: `plain` or `obsidian`; None for the style of the existing mirror, or plain.
            dry_run: Only count the changes that would be made.
            progress: Called with (atoms written, all atoms).

        Raises:
            RefusedError: The folder is not empty and not a mirror of this store, or no mirror may be created
                there. Nothing was written.
        """
        from engine.files.mirror.mirror_sync import mirror

        callback(progress, "progress")
        with self._mirror_at_rest():
            return mirror(self.store, folder, style=style, dry_run=dry_run, progress=progress)

    @embedded_only("it reads files of the service's machine")
    def mirror_pull(
        self, folder: str | Path, *, dry_run: bool = False, progress: Progress = no_progress
    ) -> PullReport:
        """Apply the edits in the pages of a mirror to the memory, then bring the mirror up to date.

        An edited text becomes a revision of its atom. If the atom was changed in the memory since the page
        was written, both texts are kept, and `conflicts` lists them. All other changes on a page are
        rejected. A page with a rejected change is kept in the folder `FOLDER.edited`.

        Args:
            folder: The mirror.
            dry_run: Only report the edits.
            progress: Called with (atoms written, all atoms) while the mirror is written.

        Returns:
            The edits, and the rejected changes.

        Raises:
            NotFoundError: There is no mirror.
            RefusedError: The folder is the mirror of a different store.
        """
        from engine.files.mirror.mirror_pull import pull

        callback(progress, "progress")
        with self._writing(), self._mirror_at_rest():
            return pull(self.store, folder, actor=self.actor, dry_run=dry_run, progress=progress)

    @embedded_only("it reads files of the service's machine")
    def check_mirror(self, folder: str | Path, *, progress: Progress = no_progress) -> MirrorCheck:
        """Compare the files of a mirror with the files as they were written, and with the present memory.

        Args:
            folder: The mirror.
            progress: Called with (atoms checked, all atoms).

        Raises:
            NotFoundError: There is no mirror.
        """
        from engine.files.mirror.mirror_check import check

        callback(progress, "progress")
        with self._mirror_at_rest():
            return check(self.store, folder, progress)

    @client_only("it is a stream of its own")
    def export(self, write: Callable[[bytes], object], *, progress: Progress = no_progress) -> Checkpoint:
        """Pass the whole journal to `write` as JSON Lines, part by part. Events appended later are left out.

        Args:
            write: Called with the bytes of each part.
            progress: Called with (events written, all events).

        Returns:
            The roots of the memory at the end of the exported journal.
        """
        from engine.exchange.backup import export_store

        callback(write, "write")
        callback(progress, "progress")
        return export_store(self.store, write, progress)

    @embedded_only("it writes files of the service's machine")
    def backup(
        self, path: str | Path, *, sealed: bool = False, progress: Progress = no_progress
    ) -> Checkpoint:
        """Write the journal to a file, replacing an earlier backup of the same store.

        Args:
            path: The file.
            sealed: Encrypt the file under the key of the store, which must be sealed. Otherwise everybody who
                can read the file can read the texts.
            progress: Called with (events written, all events).

        Returns:
            The roots of the memory at the end of the journal that was written.
        """
        from engine.exchange.backup import backup

        callback(progress, "progress")
        return backup(self.store, path, progress, sealed=sealed)

    # Devices

    @embedded_only("it reads and writes files of the service's machine")
    def sync(self, folder: str | Path | None = None, *, progress: Progress = no_progress) -> SyncReport:
        """Read what other devices put into the folder, and write what is new here (docs/sync.md).

        What is altered, cut or contradicts what was seen before is refused and named; the rest is done.

        Args:
            folder: The folder; None for the one that this device joined.
            progress: Called with (events read, all events to read).

        Raises:
            NotFoundError: This memory is not synchronised, or the folder is not there.
            ConflictError: Another copy of this memory writes to the folder with the same id.
        """
        from engine.sync.devices import sync

        callback(progress, "progress")
        with self._writing():
            return sync(self.store, folder, self.actor, self.view.forget, progress)

    @property
    @embedded_only("it reads and writes files of the service's machine")
    def synced(self) -> SyncReport | None:
        """What the last sync with the folder that this memory was opened with (`sync=`) did, or None."""
        return None if self._sync is None else self._sync.report

    @embedded_only("it writes files of the service's machine")
    def sync_init(self, folder: str | Path, *, name: str | None = None) -> str:
        """Make this memory the first device of a family that meets in `folder`, and write it there.

        Args:
            folder: A folder, which is made if it does not exist.
            name: The name of this device; None for the name of the machine.

        Returns:
            The phrase that each other device needs, once. Whoever has it and the folder can read everything.

        Raises:
            ConflictError: This memory is a device already, or the folder has devices already.
        """
        from engine.sync.setup import begin

        phrase = begin(self.store, folder, name)
        self.sync()
        return phrase

    @classmethod
    @embedded_only("a memory is named by the address")
    def sync_join(
        cls,
        url: str,
        folder: str | Path,
        phrase: str,
        *,
        name: str | None = None,
        take: bool = False,
        **options: Any,
    ) -> Self:
        """Open a new store at `url` as a device of the family in `folder`. `sync` then reads what is there.

        Args:
            url: The location of the new store.
            folder: The folder of the family.
            phrase: The phrase of the family.
            name: The name of this device; None for the name of the machine.
            take: Accept a store that is not empty. It is kept under another name, and the next sync adds its
                texts.
            options: As for `open`.

        Raises:
            InvalidInputError: The phrase is not valid.
            NotFoundError: No device in the folder has this phrase.
            RefusedError: The store is not empty.
        """
        from engine.sync.setup import join

        join(url, folder, lambda: phrase, name, wall_clock, take=take)
        return cls.open(url, **options)

    @embedded_only("it reads files of the service's machine")
    def sync_status(self, folder: str | Path | None = None) -> SyncStatus:
        """Return what `sync` would do, and the erasures that some devices have not carried out yet."""
        from engine.sync.family import status

        return status(self.store, folder)

    @embedded_only("it writes files of the service's machine")
    def sync_remove(self, device: str, folder: str | Path | None = None) -> str:
        """Remove a device from the family, and return the new phrase for devices that join later.

        What was read of its events stays. Its sub-folder is deleted, and the key of the family changes.

        Args:
            device: The name of the device, or the beginning of its id.
            folder: The folder; None for the one that this device joined.

        Raises:
            NotFoundError: There is no such device.
            ConflictError: A pack of the device is not in the folder yet.
        """
        from engine.sync.family import remove
        from engine.sync.syncing import opened

        with self._writing(), opened(self.store, folder, self.view.forget) as syncing:
            return remove(syncing, device, self.actor)


def _resume(store: Store) -> None:
    """Finish an interrupted erasure, if there is one."""
    if store.backend.get(ERASING) is not None:
        from engine.erase.destroy import resume

        resume(store)


def _is_command(value: object) -> TypeGuard[Command]:
    """Return True, or raise InvalidInputError if `value` is not a command."""
    # `isinstance` of a protocol compares its attributes, which takes 5 µs.
    if type(value) not in _COMMANDS:
        from engine.commands.transaction import Command

        instance(value, Command, "a command")
        _COMMANDS.add(type(value))
    return True


_COMMANDS: WeakSet[type] = WeakSet()
"""The types that are known to be types of commands."""
