"""The class `RemoteEngine`: a memory on a service, whose methods are made from the operations."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NoReturn, Self

from engine.base import limits
from engine.base.errors import EngineError, InvalidInputError, LimitError, RefusedError
from engine.base.model import Checkpoint, HistoryItem, Receipt
from engine.base.scopes import offers
from engine.base.validation import callback, instance, integer, several
from engine.clients.proved_answers import Proved
from engine.clients.service_address import parse_address
from engine.clients.transport import RETRIES, TIMEOUT, Transport, client_for, seconds
from engine.clients.verified_proofs import Prover, Trusted
from engine.clients.wire.json_calls import Operation, sent
from engine.clients.wire.operations import operations
from engine.commands.atoms import Add
from engine.commands.transaction import Command
from engine.engine import Engine
from engine.exchange.journal_lines import LineError, read_head
from engine.memory.memory_protocol import Memory
from engine.store.past import AsOf
from engine.store.replay import Progress, no_progress
from engine.trust.proving.prove import Proof
from proofs.basis import LogHead
from proofs.claims import Claim

BATCH: Final = 1000
"""The number of commands that `apply_many` sends at once."""

KEY_BYTES: Final = 12

_EMBEDDED_ONLY: Final = {
    "view": "it is for internal use",
    **{name: offer.reason for name, offer in offers(Engine).items() if not offer.by_client},
}
"""Attributes that only an open store has, each with the reason."""


class _EmbeddedOnlyError(RefusedError, AttributeError):
    """Only an open store has this member, so `hasattr` of a client returns False."""


class RemoteEngine(Memory):
    """A memory on a service, with the methods of `Memory`. `Engine.connect` returns it.

    The service checks all arguments, and its errors are raised as the same classes. An operation that is not
    available to clients raises a RefusedError that says what to do instead: the actor of all events is the
    name of the token.

    If an answer is lost, or the service cannot do something now, the call is sent again. A call that writes
    carries a request key, by which the service recognizes it, so nothing is recorded twice.
    `apply(request=…)` sets the key.

    `proved` answers with proofs that the client verifies. `prove` also verifies before it returns.
    """

    def __init__(self, transport: Transport, trusted: Trusted) -> None:
        self._transport = transport
        self._prover = Prover(self._result, trusted)
        self.proved = Proved(self, self._prover)
        """Answers that the client verifies."""
        self._read_only: str | None = self.status().read_only

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse an attribute that only an open store has."""
        if name == "actor":
            raise _EmbeddedOnlyError(
                "a client does not know its actor, because the actor is the name of the token",
                hint="the events of `log` show it",
            )
        reason = _EMBEDDED_ONLY.get(name)
        if reason is not None:
            raise _refused(name, reason)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def _call(self, operation: Operation, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        body, request = sent(operation, args, options)
        key = None if operation.is_read else _key(request)
        return self._decoded(operation, self._transport.call(operation.name, body, key=key))

    def _result(self, name: str, **arguments: Any) -> Any:
        """Call an operation whose result the client changes before it returns the result."""
        operation = operations()[name]
        return self._decoded(operation, self._transport.call(name, arguments))

    @staticmethod
    def _decoded(operation: Operation, answer: Any) -> Any:
        try:
            return operation.result.decode(answer, "the answer")
        except InvalidInputError as error:
            raise EngineError(
                f"this version cannot read the service's answer to {operation.name}: {error}",
                hint="use the same version of memroot on both sides",
            ) from error

    def close(self) -> None:
        """Close the connections to the service. Closing again has no effect."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def read_only(self) -> str | None:
        """The reason why the store can only be read, as it was when the client connected, or None."""
        return self._read_only

    @property
    def size(self) -> int:
        """The number of events in the journal."""
        count: int = self._result("size")
        return count

    @property
    def mirror_problem(self) -> str | None:
        """None: a client has no mirror."""
        return None

    def apply_many(
        self,
        commands: Iterable[Command],
        *,
        actor: str | None = None,
        request: str | None = None,
        pipeline: str | None = None,
    ) -> Iterator[Receipt]:
        """Carry out any number of commands in batches of up to 1,000, as `Engine.apply_many` does."""
        if actor is not None:
            raise _refused("acting_as", _EMBEDDED_ONLY["acting_as"])
        remaining: Iterator[Any] = iter(several(commands, "commands"))
        done = 0
        prefix = _key(request)
        while chunk := list(islice(remaining, BATCH)):
            yield from self._apply_parts(chunk, prefix, done, pipeline)
            done += len(chunk)

    def _apply_parts(
        self, commands: list[Command], prefix: str, done: int, pipeline: str | None
    ) -> Iterator[Receipt]:
        try:
            yield from self.apply(commands, request=f"{prefix}.{done}", pipeline=pipeline)
            return
        except LimitError:
            if len(commands) == 1:
                raise
        half = len(commands) // 2
        yield from self._apply_parts(commands[:half], prefix, done, pipeline)
        yield from self._apply_parts(commands[half:], prefix, done + half, pipeline)

    def add_once(self, command: Add, *, actor: str | None = None) -> Receipt:
        """Carry out `command` unless a live atom holds the text already, as `Engine.add_once` does."""
        instance(command, Add, "command")
        if actor is not None:
            raise _refused("acting_as", _EMBEDDED_ONLY["acting_as"])
        options = {name: getattr(command, name) for name in command.__dataclass_fields__}
        return self.add(options.pop("content"), **options, once=True)

    def log(self, start: int = 0, stop: int | None = None) -> Iterator[HistoryItem]:
        """Return an iterator over the events from `start` up to `stop`, as `Engine.log` does."""
        start, size = integer(start, "start"), self.size
        return self._events(start, size if stop is None else min(integer(stop, "stop"), size))

    def _events(self, start: int, stop: int) -> Iterator[HistoryItem]:
        operation = operations()["log"]
        while start < stop:
            end = min(stop, start + limits.FOLLOW_EVENTS_MAX)
            lines = self._transport.call("log", {"start": start, "stop": end}, lines=True)
            items = [self._decoded(operation, line) for line in lines]
            if [item.seq for item in items] != list(range(start, end)):
                raise EngineError(f"the service did not send the events {start} to {end - 1}")
            yield from items
            start = end

    def export(self, write: Callable[[bytes], object], *, progress: Progress = no_progress) -> Checkpoint:
        """Pass the whole journal to `write` as JSON Lines, part by part, as `Engine.export` does."""
        callback(write, "write")
        if progress is not no_progress:
            raise RefusedError("a client cannot report the progress of an export", hint="leave progress out")
        first, lines = b"", 0
        for part in self._transport.stream("export"):
            write(part)
            if not lines:
                first += part
            lines += part.count(b"\n")
        try:
            roots = read_head(first.partition(b"\n")[0] + b"\n").roots
        except LineError as error:
            raise EngineError(f"the service sent no export: {error}") from error
        # A line at the beginning and one at the end are not events.
        if lines != roots.size + 2:
            raise EngineError(f"the export broke off after {lines} lines", hint="export again")
        return roots.as_checkpoint()

    def prove(
        self,
        claims: Iterable[Claim | Sequence[str]],
        *,
        as_of: AsOf | None = None,
        checkpoint: str | LogHead | None = None,
    ) -> Proof:
        """Return a proof of all `claims`, as `Engine.prove` does, once the client has verified it.

        A proof about the present also shows that the log begins with the checkpoint that the client keeps;
        this claim comes last. After a proof about an earlier moment, the client asks for a proof that the
        log continues the log of that moment.

        Raises:
            VerificationError: The proof does not show the claims.
            InconsistentError: The log does not continue the checkpoint that the client keeps.
            InvalidInputError: As for `Engine.prove`.
            RefusedError: As for `Engine.prove`, or a claim cannot be sent.
            NotFoundError: As for `Engine.prove`.
        """
        wanted = self._prover.parsed(claims)
        if as_of is not None and checkpoint is not None:
            raise InvalidInputError(
                "as_of and checkpoint cannot be combined: the checkpoint already determines the moment"
            )
        if as_of is not None:
            moment = sent(operations()["root"], (), {"as_of": as_of}).body["as_of"]
            return self._prover.show_at(wanted, as_of, moment).proof
        if checkpoint is not None:
            return self._prover.show_to(wanted, checkpoint).proof
        return self._prover.show(wanted).proof


def connect(
    url: str,
    *,
    memory: str | None = None,
    token: str | None = None,
    trust: str | Path | None = None,
    ca: str | Path | None = None,
    timeout: float = TIMEOUT,
    retries: int = RETRIES,
    deadline: float | None = None,
    encrypted: bool = True,
) -> RemoteEngine:
    """Return a memory on a service. `Engine.connect` describes the arguments."""
    address = parse_address(url, memory, encrypted=encrypted)
    trusted = Trusted(trust)
    retries, deadline = (
        integer(retries, "retries"),
        None if deadline is None else seconds(deadline, "deadline"),
    )
    client = client_for(address, token, ca=ca, timeout=timeout)
    try:
        return RemoteEngine(Transport(address, client, retries=retries, deadline=deadline), trusted)
    except BaseException:
        client.close()
        raise


def _key(request: str | None) -> str:
    return secrets.token_hex(KEY_BYTES) if request is None else request


def _refused(name: str, reason: str) -> _EmbeddedOnlyError:
    return _EmbeddedOnlyError(
        f"a client cannot use {name}: {reason}", hint="open the store itself with Engine.open"
    )


def _calling(operation: Operation) -> Any:
    @wraps(getattr(Engine, operation.name))
    def call(self: RemoteEngine, *args: Any, **options: Any) -> Any:
        return self._call(operation, args, options)

    return call


def _complete() -> None:
    """Give `RemoteEngine` a method for each operation that it does not define itself."""
    for name, operation in operations().items():
        if name not in vars(RemoteEngine):
            setattr(RemoteEngine, name, _calling(operation))


_complete()
