"""One run of the command line: what the global options say, and the store they name."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from engine.base.errors import EngineError
from engine.cli.output import Failure, Output
from engine.cli.settings import Named, Setting, find_memory, find_secrets, find_store

if TYPE_CHECKING:
    from backends.base import Backend
    from engine.engine import Engine

Opened = TypeVar("Opened")

DEFAULT_ACTOR = "user"
DEFAULT_WAIT = 2.0
"""Seconds that a command waits for a store that another process holds: several short ones may overlap."""
POLL_SECONDS = 0.02


class Session:
    """The object behind every command, `ctx.obj`."""

    def __init__(self) -> None:
        self.out = Output()
        self.store: str | None = None
        self.memory: str | None = None
        self.actor = DEFAULT_ACTOR
        self.wait = DEFAULT_WAIT

    def option(self, name: str, value: Any) -> None:
        """Take over a global option; the last one given counts."""
        if name in {"json", "quiet", "plain"}:
            setattr(self.out, name, value)
        else:
            setattr(self, name, value)

    @property
    def setting(self) -> Setting:
        """The store's URL and who named it; with a memory, the URL is that memory's."""
        return find_store(self.store, self.memory)

    @property
    def named(self) -> Named | None:
        """The memory that is meant and who named it, if it has a name."""
        return find_memory(self.store, self.memory)

    @contextmanager
    def engine(self, *, create: bool = False) -> Iterator[Engine]:
        """The store, open; it is made only if `create`."""
        from engine.engine import Engine

        url, policy = self.setting.url, find_secrets()[0]

        def opened() -> Engine:
            return Engine.open(url, create=create, actor=self.actor, secrets=policy)

        with patiently(opened, self.wait) as engine:
            try:
                yield engine
            finally:
                self._tell_secrets(engine)

    def masked(self, failure: Failure) -> Failure:
        """A failure that tells no secret, whatever it quotes, where the settings keep secrets out."""
        try:
            policy = find_secrets()[0]
        except EngineError:
            return failure  # the settings themselves are wrong, and the failure says so
        if policy is None:
            return failure
        from engine.secrets.filter import Gate

        gate = Gate(policy)
        if self.out.command is not None:
            self.out.command = gate.shown(self.out.command)  # perhaps it is none
        return replace(failure, message=gate.shown(failure.message), hint=gate.shown(failure.hint))

    def _tell_secrets(self, engine: Engine) -> None:
        """Note how many secrets of which kinds were kept out, or written."""
        gate = engine.store.gate
        if gate is not None and gate.found:
            from engine.secrets.filter import summary

            done = "written all the same" if gate.policy.mode == "warn" else "redacted"
            self.out.note(f"secrets {done}: {summary(gate.found)}")

    @contextmanager
    def reading(self, as_of: str | None) -> Iterator[Engine]:
        """The store, open, as it is or as it was at the moment that `--as-of` names."""
        from engine.cli.values import moment

        then = moment(as_of)
        with self.engine() as engine:
            if then is None:
                yield engine
                return
            with engine.as_of(then) as past:
                yield past

    @contextmanager
    def backend(self, url: str, *, create: bool = False) -> Iterator[Backend]:
        """A backend by itself, for what must not go through an engine that might heal what it finds."""
        from backends import open_backend
        from engine.base.error_translation import translated

        def opened() -> Backend:
            with translated():
                return open_backend(url, create=create)

        with patiently(opened, self.wait) as backend, translated():
            yield backend

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


def patiently(open_it: Callable[[], Opened], seconds: float) -> Opened:
    """What `open_it` opens, trying for `seconds` while another process holds it.

    Raises:
        BusyError: it is still held.
    """
    from engine.base.errors import BusyError, InvalidInputError

    if not seconds >= 0:
        raise InvalidInputError(f"--wait {seconds} is no number of seconds")
    deadline = time.monotonic() + seconds
    while True:
        try:
            return open_it()
        except BusyError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(POLL_SECONDS)
