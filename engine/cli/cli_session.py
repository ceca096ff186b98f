"""The session of a command: the global options, and access to the store."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from backends import locate
from backends.base import Backend
from engine.base.errors import EngineError, RefusedError, translated
from engine.base.times import Moment
from engine.cli.cli_output import Failure, Output, counted, receipt_data
from engine.memory.memory_settings import (
    MemorySetting,
    StoreSetting,
    find_memory,
    find_mirror,
    find_secrets,
    find_store,
    find_sync,
)
from engine.memory.open_memory import backend_opener, engine_opener, retry_while_busy

if TYPE_CHECKING:
    from backends.sealed.seal import Seal
    from engine.base.model import Receipt
    from engine.commands.secrets.policy import SecretsPolicy
    from engine.engine import Engine

DEFAULT_ACTOR = "user"
REFUSED_SHOWN = 20
"""The maximum number of changes to a mirror that are shown as refused."""
DEFAULT_WAIT = 2.0
"""The seconds to wait for a store that is in use, long enough for a few short commands to finish."""


class Move(Protocol):
    """A function that shows the progress of a command."""

    def __call__(self, done: int, total: int, activity: str = "", /) -> None:
        """Show that `done` of `total` things are done; `activity` names a part that takes a long time."""


class Session:
    """The state that every command receives as Click's `ctx.obj`."""

    def __init__(self) -> None:
        self.out = Output()
        self.store: str | None = None
        self.memory: str | None = None
        self.actor = DEFAULT_ACTOR
        self.wait = DEFAULT_WAIT
        self.full = False
        """Print whole ids, and every line of a long report."""
        self.mirrored: int | None = None
        """The number of events when this command last tried to update the mirror in the settings."""
        self.given: set[str] = set()
        """The global options given on the command line."""

    def option(self, name: str, value: Any) -> None:
        """Set a global option; the last value given wins."""
        self.given.add(name)
        if name in {"json", "quiet", "plain"}:
            setattr(self.out, name, value)
        else:
            setattr(self, name, value)

    @property
    def setting(self) -> StoreSetting:
        """The URL of the store or of the named memory, and the setting that the URL comes from."""
        return find_store(self.store, self.memory)

    @property
    def named(self) -> MemorySetting | None:
        """The named memory, and the setting that names it; None if no setting names a memory."""
        return find_memory(self.store, self.memory)

    @contextmanager
    def engine(
        self, *, create: bool = False, secrets: SecretsPolicy | str | None = None, synced: bool = True
    ) -> Iterator[Engine]:
        """Open the store until the `with` block ends; create a missing store only with `create`.

        `secrets` is a policy to use in place of the policy in the settings. Unless `synced` is false, the
        folder of the devices that the settings name is read first, and written at the end.
        """
        folder = find_sync(self.store, self.memory) if synced else None
        opener = engine_opener(self.setting.url, self.actor, create=create, secrets=secrets, sync=folder)
        with retry_while_busy(opener, self.wait) as engine:
            if engine.read_only is not None:
                self._tell_read_only(engine)
            read = engine.synced.read if engine.synced else 0
            size = engine.size - read  # the mirror shows what was read, too
            try:
                try:
                    yield engine
                except EngineError:
                    self.mirror_writes(engine, size)
                    raise
                self.mirror_writes(engine, size)
            finally:
                self._tell_secrets(engine)
                if engine.behind is not None:
                    self.out.note(f"derived data is behind and was computed in memory: {engine.behind}")

    def mirror_writes(self, engine: Engine, size: int) -> None:
        """Update the mirror in the settings if the store now has more than `size` events."""
        try:
            now = engine.size
        except EngineError:
            return  # the store is closed or damaged, which the command reports
        if now > size and now != self.mirrored and (failure := self.update_mirror(engine)) is not None:
            hint = f" ({failure.hint})" if failure.hint else ""
            self.out.note(f"{failure.message}{hint}; `engine status` says how far it is behind")

    def update_mirror(self, engine: Engine, *, edits: bool = False) -> Failure | None:
        """Update the mirror that the settings name; return the failure, if any.

        The store already contains the command's changes, and the next write tries to update the mirror again.
        If another process is writing the mirror, this waits as long as for a store that is in use. With
        `edits`, the edits in all pages are applied, not only those in pages that the update replaces.
        """
        folder = find_mirror(self.store, self.memory)
        if folder is None:
            return None
        from engine.files.mirror.following_mirror import update

        try:
            self.keep_apart(str(folder))
            with translated():
                report = update(engine.store, folder, actor=self.actor, everything=edits, wait=self.wait)
        except EngineError as error:
            message = f"the store is written, but its mirror could not be updated: {error}"
            return replace(Failure.of(error), message=message)
        finally:
            self.mirrored = engine.size
        if report.edits:
            self.out.note(f"{counted(len(report.edits), 'edited text')} applied from the mirror")
        for change in report.refused[:REFUSED_SHOWN]:
            self.out.note(f"not applied from {change.page}: {change.reason}; the page is kept: {change.kept}")
        return None

    def keep_apart(self, folder: str) -> None:
        """Check that the store is not inside the folder.

        Raises:
            RefusedError: the store is inside the folder.
        """
        store = self.place()
        if store is not None:
            place = Path(os.path.abspath(folder))  # noqa: PTH100  as the mirror itself reads it
            if place == store or place in store.parents:
                raise RefusedError(
                    f"the store {store} is inside the folder {folder}",
                    hint="choose a folder that does not contain the store",
                )

    def place(self) -> Path | None:
        """The real path of the store, or None for a store that is not in a file. It need not exist."""
        with translated():
            return locate(self.setting.url).file

    def masked(self, failure: Failure) -> Failure:
        """Return the failure, with secrets masked if the settings turn the secret filter on."""
        try:
            policy = find_secrets()[0]
        except EngineError:
            return failure  # the settings are invalid, which the failure reports
        if policy is None:
            return failure
        from engine.commands.secrets.filter import SecretFilter

        secret_filter = SecretFilter(policy)
        if self.out.command is not None:
            self.out.command = secret_filter.shown(self.out.command)  # it may be unknown text
        return replace(
            failure, message=secret_filter.shown(failure.message), hint=secret_filter.shown(failure.hint)
        )

    def tell_readable(self, engine: Engine, what: str) -> None:
        """Print a note that something written from a sealed store is not sealed."""
        if engine.store.backend.seal is not None:
            self.out.note(f"{what} is not sealed: everybody who can read it can read the texts")

    def _tell_read_only(self, engine: Engine) -> None:
        """Print a note that the store can only be read, and how far its derived data is behind."""
        status = engine.status()
        behind = status.events - min(status.followers.values())
        missing = f"; derived data is {behind:,} events behind, and is completed in a copy" if behind else ""
        self.out.note(f"the store can only be read, because {engine.read_only}{missing}")

    def _tell_secrets(self, engine: Engine) -> None:
        """Print a note with the number and kinds of the secrets that were found."""
        secret_filter = engine.store.secret_filter
        if secret_filter is not None and secret_filter.found:
            from engine.commands.secrets.filter import summary

            done = (
                "written, because the mode is `warn`" if secret_filter.policy.mode == "warn" else "redacted"
            )
            self.out.note(f"secrets {done}: {summary(secret_filter.found)}")

    @contextmanager
    def reading(self, as_of: Moment | None) -> Iterator[Engine]:
        """Open the store for reading, in the current state or in the state that `--as-of` names."""
        with self.engine() as engine, nullcontext(engine) if as_of is None else engine.as_of(as_of) as memory:
            yield memory

    @contextmanager
    def backend(self, url: str, *, create: bool = False, key: str | Seal | None = None) -> Iterator[Backend]:
        """Open only the backend, for commands that must read the rows without any repair."""
        with (
            retry_while_busy(backend_opener(url, create=create, key=key), self.wait) as backend,
            translated(),
        ):
            yield backend

    def done(self, receipt: Receipt, changed: str, same: str) -> int:
        """Print the receipt of one command and a note about its effect; return the exit code."""
        self.out.note(changed if receipt.changed else same)
        return self.out.answer(receipt_data(receipt), [receipt.subject])

    @contextmanager
    def meter(self, what: str, unit: str) -> Iterator[Move]:
        """Yield a function (done, total) that shows a progress bar; print the totals at the end.

        The function accepts a third argument, which names a part of the work that takes a long time.
        """
        bar: Any = None
        last = 0
        started = time.perf_counter()

        def move(done: int, total: int, activity: str = "") -> None:
            nonlocal bar, last
            last = done
            if bar is None and self.out.live:
                from engine.cli.terminal import Bar

                bar = Bar()
            if bar is not None:
                bar.move(done, total, activity or what)

        try:
            yield move
        finally:
            if bar is not None:
                bar.close()
        seconds = time.perf_counter() - started
        rate = f", {last / seconds:,.0f}/s" if seconds else ""
        units = unit.removesuffix("s") if last == 1 else unit
        self.out.note(f"{what}: {last:,} {units} in {seconds:.1f} s{rate}")
