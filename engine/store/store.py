"""A store: a backend with a journal, the data derived from the journal, and the object that commits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol

from backends.base import Backend, Reader
from backends.errors import GuardFailed
from engine.base.errors import CorruptionError, EngineError
from engine.base.validation import label
from engine.followers.requests import Once, Seqs, stored_seqs
from engine.ledger.appender import Appender, Sources, head_guards
from engine.ledger.journal import Identity, read_entry, read_identity, read_log
from engine.ledger.layout import ERASING, INDEX_HEAD, cursor_key, journal_key, payload_key
from engine.ledger.records import read_counters
from engine.store.bulk import commit_many
from engine.store.commit import META, ClockBound, Commits
from engine.store.views import Views
from engine.text.analyzer import ANALYZER_NAME
from engine.text.analyzer_fingerprint import current_fingerprint
from proofs.events import Entry, EventKind, GenesisBody, GenesisDetail
from proofs.hashing import RULES, label_commitment

if TYPE_CHECKING:
    from engine.base.model import Receipt
    from engine.commands.transaction import Command

_OPENING = (
    *META,
    *(cursor_key(name) for name in ("index", "tags", "log", "names", "requests")),
    ERASING,
    INDEX_HEAD,
    journal_key(0),
    payload_key(0),
)
"""The rows that are read when a store is opened."""


class FamilySecrets(NamedTuple):
    """The secrets of a store that other stores may share, 32 bytes each.

    Stores with equal keys give equal atoms equal ids, equal predicates equal codes, and equal terms equal
    labels.
    """

    id_key: bytes
    label_key: bytes


class KeptStates(Protocol):
    """The past states of a store that are kept between queries (`engine.store.past_states`)."""

    def opened(self, rows: Reader, size: int) -> AbstractContextManager[Store]:
        """Open the store as it was when its journal had `size` events."""

    def forget(self) -> None:
        """Drop the states."""


class Store(Views):
    """An open store. It is safe to use from several threads."""

    def __init__(
        self,
        backend: Backend,
        sources: Sources | None = None,
        *,
        finish: bool = True,
        check: bool = True,
        resume: Callable[[Store], None] | None = None,
        secrets: FamilySecrets | None = None,
        ahead: float | None = None,
    ) -> None:
        """Open a store on a backend.

        Args:
            backend: The backend that holds the store, or in which a new store is created.
            sources: The functions that provide time and random bytes; None for a store that accepts no
                commands.
            finish: Update the records if they lack the latest events. If false, the update is postponed.
            check: Raise an error if the journal was written with a different analyzer, or if the state of
                the log does not match the headers.
            resume: Called once the store is open, to finish an interrupted erasure (`engine.erase.destroy`).
            secrets: The secrets that a new store shares with others. None for random ones.
            ahead: The seconds by which events may be ahead of the backend's clock; None for any time.

        Raises:
            CorruptionError: Stored rows are damaged.
            EngineError: The store was created with a different text analyzer, and `check` is set.
        """
        super().__init__(backend, check=check)
        self.past_states: KeptStates | None = None
        """The past states that are kept between queries. None if each query replays its own."""
        self.clock_bound = ClockBound(backend, ahead)
        self.commits = Commits(self, sources, self.clock_bound)
        backend.read_ahead(_OPENING)
        if sources is not None and _is_empty(backend):
            self._write_genesis(sources, secrets)
        with backend.snapshot() as rows:
            self.identity = read_identity(rows)
        if check:
            check_identity(self.identity, ANALYZER_NAME, current_fingerprint())
        if finish:
            with self.unless_unwritable():
                self.finish_records()
            with backend.snapshot() as rows:
                self.check_head(rows, read_log(rows))
        if resume is not None:
            resume(self)

    def _write_genesis(self, sources: Sources, secrets: FamilySecrets | None) -> None:
        log = read_log(self.backend)
        if log.size:
            return  # another process has just created the store
        appender = Appender(self.backend, log, "engine", sources)
        # The store id and the keys are salts for negative seqs, which no event has.
        id_key, label_key = secrets or FamilySecrets(sources.salts(-2), sources.salts(-3))
        body = GenesisBody(id_key, label_key, sources.salts(-4))
        detail = GenesisDetail(
            sources.salts(-1)[:16], ANALYZER_NAME, current_fingerprint(), label_commitment(label_key), RULES
        )
        appender.append(EventKind.GENESIS, None, detail, body)
        batch = appender.finish(read_counters(self.backend))
        self.clock_bound.check(log.time, read_log(batch.rows).time)
        try:
            self.backend.write(batch, guard=head_guards(self.backend, log), durable=True)
        except GuardFailed:
            return  # another process has just created the store
        self.recent.add(appender.entries)

    def commit(
        self,
        commands: Sequence[Command],
        actor: str,
        *,
        if_head: int | None = None,
        request: str | Once | None = None,
        pipeline: str | None = None,
    ) -> list[Receipt]:
        """Commit `commands` in one durable batch. Arguments, result and errors are those of `Commits.all`."""
        return self.commits.all(commands, actor, if_head=if_head, request=request, pipeline=pipeline)

    def commit_many(
        self,
        commands: Iterable[Command],
        actor: str,
        *,
        request: str | Once | None = None,
        pipeline: str | None = None,
    ) -> Iterator[Receipt]:
        """Commit any number of commands in batches (`engine.store.bulk.commit_many`)."""
        return commit_many(self.commits, commands, actor, request, pipeline)

    def recorded(self, actor: str, once: Once) -> list[Entry]:
        """Return the events of a key, without those whose payloads were destroyed."""
        with self.view(self.requests) as rows:
            seqs = Seqs(stored_seqs(rows, label(actor, "actor"), once.key), ())
            return [read_entry(rows, seq) for seq in seqs]


def check_identity(identity: Identity, name: str, fingerprint: bytes) -> None:
    """Check that this version can compute the roots of a store, and has its analyzer.

    Raises:
        EngineError: the roots depend on namespaces or groups that this version does not know; or the name or
            the fingerprint of the analyzer differs, so that a search would silently miss words.
    """
    if identity.rules != RULES:
        raise EngineError(
            f"the store has version {identity.rules} of the rules of roots; this version knows only {RULES}",
            hint="open it with the version of memroot that made it, or a later one",
        )
    if (identity.analyzer, identity.fingerprint) != (name, fingerprint):
        raise EngineError(
            f"the store was made with analyzer {identity.analyzer} {identity.fingerprint.hex()}, "
            f"but this installation has {name} {fingerprint.hex()}",
            hint="install the version of memroot and PyStemmer that the store was made with",
        )


def _is_empty(backend: Backend) -> bool:
    """Return True if the backend has no rows yet.

    Raises:
        CorruptionError: There are rows but no log state. No new journal may be started in such a store.
    """
    with backend.snapshot() as rows:
        if read_log(rows).size:
            return False
        if next(rows.scan(), None) is not None:
            raise CorruptionError("the store has rows but no log state", family="meta")
        return True
