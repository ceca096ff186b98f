"""The engine: the one object a program holds. Thin: each method says what it promises and hands on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeGuard, Unpack

from backends import open_backend
from backends.base import Backend
from engine.base.error_translation import translated
from engine.base.errors import ConflictError
from engine.base.model import Checkpoint, Receipt
from engine.base.validation import instance, label, optional_integer, several
from engine.commands import (
    Command,
)
from engine.commands.checkpoint import TakeCheckpoint
from engine.ledger.journal import Sources
from engine.query.recall.config import RecallConfig
from engine.shorthands import Shorthands
from engine.store import maintenance
from engine.store.replay import Progress, no_progress
from engine.store.store import Store
from engine.trust.audit.verify import Report, verify

if TYPE_CHECKING:
    from engine.arguments import EraseOptions, IngestOptions
    from engine.erase.receipt import Erasure
    from engine.knowledge.dreaming.arguments import DreamOptions
    from engine.knowledge.dreaming.report import DreamReport
    from engine.query.history.revert import Undone
    from engine.secrets.policy import SecretsPolicy
    from engine.transfer.ingest.run import IngestReport
    from engine.trust.notes.issue import CheckpointNote
    from proofs.note import Checkpoint as NotedCheckpoint

CHECKPOINT_LOSSES = 3
"""How often the roots are worked out again because the head moved, before the other writers must wait."""


def wall_clock() -> int:
    """The time now, in µs UTC."""
    return time.time_ns() // 1000


def random_salt(seq: int) -> bytes:
    """32 random bytes, whatever the event."""
    del seq
    return os.urandom(32)


def _is_command(given: object) -> TypeGuard[Command]:
    """True; anything else is an InvalidInputError."""
    instance(given, Command, "a command")
    return True


class Engine(Shorthands):
    """An open memory: what `Reading` answers, and commands.

    Use it as a context manager; it is safe to use from several threads.

    Every method raises errors of the `EngineError` family only. Commands return when their events
    are durable; a command that finds everything as it wants it appends nothing.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        clock: Callable[[], int] = wall_clock,
        salts: Callable[[int], bytes] = random_salt,
        actor: str = "user",
        config: RecallConfig | None = None,
        secrets: SecretsPolicy | str | None = None,
    ) -> None:
        """Open a memory on a backend that is open already; `Engine.open` opens both.

        `secrets` says what becomes of passwords and keys in what is written (docs/secrets.md).
        """
        self.actor = label(actor, "actor")
        with translated():
            super().__init__(Store(backend, Sources(clock, salts)), config or RecallConfig())
        if secrets is not None:
            from engine.secrets.filter import Gate
            from engine.secrets.policy import policy_of

            self.store.gate = Gate(policy_of(secrets, "secrets"))

    @classmethod
    def open(cls, url: str, *, create: bool = True, memory: str | None = None, **options: Any) -> Self:
        """Open the store at `url`: `leveldb:PATH`, `sqlite:PATH`, `memory:` or a bare path.

        Args:
            url: Where the store is; a bare path is a LevelDB folder, or SQLite where that is missing.
            create: Make a new store where there is none.
            memory: The name of one of the memories that `url` holds, each a store of its own.
            options: As for `Engine(...)`: clock, salts, actor, config, secrets.

        Raises:
            NotFoundError: no store is there and `create` is false.
            BusyError: another owner holds it.
            CorruptionError: its bytes are damaged.
        """
        instance(url, str, "url")
        if memory is not None:
            from engine.store.named_places import memory_url

            url = memory_url(url, memory)
        with translated():
            backend = open_backend(url, create=create)
        try:
            return cls(backend, **options)
        except BaseException:
            backend.close()
            raise

    def close(self) -> None:
        """Release the store, waiting for calls in flight; closing twice is allowed."""
        with translated():
            self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Commands

    def apply(
        self,
        commands: Iterable[Command],
        *,
        actor: str | None = None,
        if_head: int | None = None,
        request: str | None = None,
        origin: str | None = None,
    ) -> list[Receipt]:
        """Carry out `commands` in order, all of them or none, in one durable batch.

        `request`, a client's own key of what it asked for, and `origin`, what made the events, are recorded
        with each of them.

        Raises:
            InvalidInputError: one of them breaks a rule.
            ConflictError: one contradicts what is recorded, or the head is not `if_head` events.
            InDoubtError: writing failed after it was sent; reopen and repeat.
        """
        optional_integer(if_head, "if_head")
        wanted = [command for command in several(commands, "commands") if _is_command(command)]
        with translated():
            said = {"request": request, "origin": origin}
            return self.store.commit(wanted, actor or self.actor, if_head=if_head, **said)

    def apply_many(
        self,
        commands: Iterable[Command],
        *,
        actor: str | None = None,
        request: str | None = None,
        origin: str | None = None,
    ) -> Iterator[Receipt]:
        """Carry out any number of commands, up to a thousand to a batch, yielding receipts once durable.

        Each batch is all or nothing; one too large in bytes is halved. The followers come along every
        few batches, so that nothing is left to catch up at the end. `request` and `origin`: see `apply`.
        """
        wanted = filter(_is_command, several(commands, "commands"))
        with translated():
            yield from self.store.commit_many(wanted, actor or self.actor, request=request, origin=origin)

    def revert(
        self, start: int, stop: int | None = None, *, actor: str | None = None, dry_run: bool = False
    ) -> list[Undone]:
        """Take back the events from `start` up to (not with) `stop`, of one actor if that is said."""
        from engine.query.history.revert import revert

        return revert(self, start, stop, actor=actor, dry_run=dry_run)

    def ingest(self, paths: Sequence[str | Path], **options: Unpack[IngestOptions]) -> IngestReport:
        """Have the memory hold what these files and folders say now.

        Args:
            paths: Markdown, text and JSON-lines files, and folders of them.
            options: Those of `engine.transfer.ingest.run.ingest`.

        Raises:
            NotFoundError: a path is not there; nothing was written.
        """
        from engine.transfer.ingest.run import ingest  # parsers of Markdown and YAML: not for every program

        with translated():
            return ingest(self, paths, **options)

    def dream(self, **options: Unpack[DreamOptions]) -> DreamReport:
        """Have untagged atoms tagged, names learned and spread, entities related, by the actor `dreamer`.

        Adds only, and nothing that somebody took away; a second run over the same memory adds nothing.

        Args:
            options: `DreamOptions`; without any, all there is to do is done.
        """
        from engine.knowledge.dreaming.cycle import dream

        return dream(self, **options)

    def checkpoint(self) -> Receipt:
        """Have the roots of everything so far in the journal; no event where they are the last one.

        Raises:
            ConflictError: other processes kept moving the head.
        """
        return self._checkpoint()[0]

    def checkpoint_note(
        self, *, key: str | Path | None = None, known: Sequence[NotedCheckpoint] = ()
    ) -> CheckpointNote:
        """As `checkpoint`, and the text that is to be kept outside the store, for its log read back.

        Args:
            key: The file of a key to sign with.
            known: Checkpoints of this store that it must be found to continue first.

        Raises:
            InconsistentError: it does not continue one of `known`, or what the key signed last.
            RefusedError: the key may not sign for this store.
            CorruptionError: the headers in the backend are not those that were written.
        """
        from engine.trust.notes.issue import issue  # files and keys: not for every program

        with translated():
            return issue(self.store, self._checkpoint, key=key, known=known)

    def _checkpoint(self) -> tuple[Receipt, int]:
        """The receipt, and the size of the log with the checkpoint event."""
        for attempt in range(CHECKPOINT_LOSSES + 1):
            alone = self.store.alone() if attempt == CHECKPOINT_LOSSES else nullcontext()
            with translated(), alone:
                with self.store.view(*self.store.followers) as rows:
                    roots = self.store.roots(rows)
                command = TakeCheckpoint(roots.size, roots.overall, roots.namespaces)
                with suppress(ConflictError):
                    receipt = self.apply([command], if_head=roots.size)[0]
                    return receipt, roots.size + len(receipt.events)
        raise ConflictError("other writers kept moving the head", hint="try again")

    def erase(self, id: str, reason: str, **options: Unpack[EraseOptions]) -> Erasure:  # noqa: A002
        """Have the content of an atom destroyed for good, with its edges; its history stays verifiable.

        Args:
            id: The atom.
            reason: Why; it stays, so it must not say what.
            options: Those of `engine.erase.run.erase`.

        Raises:
            BusyError: a snapshot was kept open, so old bytes may be left in the files; erase it again.
        """
        from engine.erase.run import erase

        return erase(self, id, reason, **options)

    # Upkeep

    def catch_up(self) -> None:
        """Bring every follower to the head now, instead of before the next read."""
        with translated():
            self.store.follow()

    def verify(self, *, expect: str | None = None, progress: Progress = no_progress) -> Report:
        """Whether everything stored is exactly what the journal gives, by replaying all of it.

        Args:
            expect: An overall root, 64 hex digits, that the head must have.
            progress: Told how many of all events are replayed.
        """
        with translated():
            return verify(self.store.backend, expect=expect, progress=progress)

    def rebuild(self, progress: Progress = no_progress) -> Checkpoint:
        """Make everything but the journal anew from it; returns the root, the same as before."""
        with translated(), self.store.paused():
            return maintenance.rebuild(self.store.backend, progress)
