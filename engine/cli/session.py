"""One run of the command line: what the global options say, and the store they name."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends import locate
from backends.base import Backend
from backends.files import real
from engine.base.error_translation import translated
from engine.base.errors import EngineError
from engine.cli.output import Failure, Output, receipt_data
from engine.front.opening import backend_opener, engine_opener, patiently
from engine.front.settings import MemorySetting, StoreSetting, find_memory, find_secrets, find_store
from engine.front.times import Moment

if TYPE_CHECKING:
    from engine.base.model import Receipt
    from engine.engine import Engine

DEFAULT_ACTOR = "user"
DEFAULT_WAIT = 2.0
"""Seconds that a command waits for a store that another process holds: several short ones may overlap."""


class Session:
    """The object behind every command, `ctx.obj`."""

    def __init__(self) -> None:
        self.out = Output()
        self.store: str | None = None
        self.memory: str | None = None
        self.actor = DEFAULT_ACTOR
        self.wait = DEFAULT_WAIT
        self.given: set[str] = set()
        """The global options that stand on the command line."""

    def option(self, name: str, value: Any) -> None:
        """Take over a global option; the last one given counts."""
        self.given.add(name)
        if name in {"json", "quiet", "plain"}:
            setattr(self.out, name, value)
        else:
            setattr(self, name, value)

    @property
    def setting(self) -> StoreSetting:
        """The store's URL and who named it; with a memory, the URL is that memory's."""
        return find_store(self.store, self.memory)

    @property
    def named(self) -> MemorySetting | None:
        """The memory that is meant and who named it, if it has a name."""
        return find_memory(self.store, self.memory)

    @contextmanager
    def engine(self, *, create: bool = False) -> Iterator[Engine]:
        """The store, open; it is made only if `create`."""
        with patiently(engine_opener(self.setting.url, self.actor, create=create), self.wait) as engine:
            try:
                yield engine
            finally:
                self._tell_secrets(engine)

    def place(self) -> Path | None:
        """Where the store is or would be, links followed; None: in memory."""
        with translated():
            _, path = locate(self.setting.url)
            return real(path) if path else None

    def masked(self, failure: Failure) -> Failure:
        """A failure that tells no secret, whatever it quotes, where the settings keep secrets out."""
        try:
            policy = find_secrets()[0]
        except EngineError:
            return failure  # the settings themselves are wrong, and the failure says so
        if policy is None:
            return failure
        from engine.secrets.filter import SecretFilter

        secret_filter = SecretFilter(policy)
        if self.out.command is not None:
            self.out.command = secret_filter.shown(self.out.command)  # perhaps it is none
        return replace(
            failure, message=secret_filter.shown(failure.message), hint=secret_filter.shown(failure.hint)
        )

    def _tell_secrets(self, engine: Engine) -> None:
        """Note how many secrets of which kinds were kept out, or written."""
        secret_filter = engine.store.secret_filter
        if secret_filter is not None and secret_filter.found:
            from engine.secrets.filter import summary

            done = "written all the same" if secret_filter.policy.mode == "warn" else "redacted"
            self.out.note(f"secrets {done}: {summary(secret_filter.found)}")

    @contextmanager
    def reading(self, as_of: Moment | None) -> Iterator[Engine]:
        """The store, open, as it is or as it was at the moment that `--as-of` names."""
        with self.engine() as engine, nullcontext(engine) if as_of is None else engine.as_of(as_of) as memory:
            yield memory

    @contextmanager
    def backend(self, url: str, *, create: bool = False) -> Iterator[Backend]:
        """A backend by itself, for what must not go through an engine that might heal what it finds."""
        with patiently(backend_opener(url, create=create), self.wait) as backend, translated():
            yield backend

    def done(self, receipt: Receipt, changed: str, same: str) -> int:
        """Answer with the receipt of one command, and note what came of it; returns the exit code."""
        self.out.note(changed if receipt.changed else same)
        return self.out.answer(receipt_data(receipt), [receipt.subject])

    @contextmanager
    def meter(self, what: str, unit: str) -> Iterator[Callable[[int, int], None]]:
        """A function to tell (done, total): a bar on a terminal, afterwards a line with the totals."""
        bar: Any = None
        last = 0
        started = time.perf_counter()

        def move(done: int, total: int) -> None:
            nonlocal bar, last
            last = done
            if bar is None and self.out.live:
                from engine.cli.terminal import Bar

                bar = Bar(what)
            if bar is not None:
                bar.move(done, total)

        try:
            yield move
        finally:
            if bar is not None:
                bar.close()
        seconds = time.perf_counter() - started
        rate = f", {last / seconds:,.0f}/s" if seconds else ""
        units = unit.removesuffix("s") if last == 1 else unit
        self.out.note(f"{what}: {last:,} {units} in {seconds:.1f} s{rate}")
