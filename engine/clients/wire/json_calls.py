"""Calls of the methods of `Engine` as JSON: requests, the calls that a service makes, and results."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engine.base.errors import InvalidInputError, RefusedError
from engine.base.json_text import encode
from engine.base.model import UNCHANGED
from engine.base.scopes import Scope
from engine.base.validation import quoted
from engine.clients.wire import json_shapes as shapes
from engine.engine import Engine
from engine.query.filters import NO_FILTERS, Filters
from proofs.basis import LogHead, Root

if TYPE_CHECKING:
    from engine.trust.proving.prove import Proof

COMMANDS: Final = {
    "add": "Add",
    "revise": "Revise",
    "tombstone": "Tombstone",
    "revive": "Revive",
    "tag": "Tag",
    "untag": "Untag",
    "register_type": "RegisterType",
    "link": "Link",
    "unlink": "Unlink",
    "relate": "Relate",
    "unrelate": "Unrelate",
    "merge": "Merge",
    "unmerge": "Unmerge",
    "settle": "Settle",
    "supersede": "Supersede",
}
"""The name of a command in JSON → the name of its class in `engine.commands`."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an operation."""

    name: str
    shape: shapes.Shape
    required: bool
    about: str
    """The description from the docstring of the method."""
    spread: bool = False
    """True if the method takes the items of the list as positional arguments."""
    of_commands: bool = False
    """True if the items of the list are commands."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of `Engine` as a service offers it."""

    name: str
    scope: Scope
    parameters: tuple[Parameter, ...]
    result: shapes.Shape
    streams: bool
    """True if the result is a sequence of JSON values, one on each line."""
    summary: str
    about: str
    """The description from the docstring of the method, without the summary."""

    @property
    def is_read(self) -> bool:
        """True if the operation changes nothing, so that it can also be called by GET."""
        return self.scope is Scope.READ

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keyword arguments for JSON values.

        Raises:
            InvalidInputError: A value is not valid, a parameter is missing, or there is no such parameter.
        """
        by_name = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if name not in by_name:
                raise InvalidInputError(f"{self.name} has no parameter {quoted(name)}", hint=self._hint())
        for parameter in self.parameters:
            if parameter.required and parameter.name not in given:
                problem = f"{self.name} needs the parameter {parameter.name}"
                raise InvalidInputError(problem, hint=self._hint())
        return {name: by_name[name].shape.decode(value, name) for name, value in given.items()}

    def read_query(self, texts: Mapping[str, list[str]]) -> dict[str, Any]:
        """Return the JSON values for the names and texts of a query string.

        Raises:
            InvalidInputError: A text is not valid, or there is no such parameter.
        """
        by_name = {parameter.name: parameter for parameter in self.parameters}
        for name in texts:
            if name not in by_name:
                raise InvalidInputError(f"{self.name} has no parameter {quoted(name)}", hint=self._hint())
        return {name: by_name[name].shape.read(text, name) for name, text in texts.items()}

    def call(self, memory: Engine, arguments: Mapping[str, Any]) -> Any:
        """Call the method, and return its result.

        Raises:
            EngineError: The method raised it.
        """
        if self.name == "size":
            return memory.size
        spread = [parameter.name for parameter in self.parameters if parameter.spread]
        if not spread:
            return getattr(memory, self.name)(**arguments)
        (name,) = spread
        first = [arguments[one.name] for one in self.parameters if not one.spread]
        return getattr(memory, self.name)(*first, *arguments[name])

    def encoded(self, result: Any) -> Any:
        """Return a result, or one item of a result that streams, as JSON."""
        return encode(SentProof.of(result) if self.name == "prove" else result)

    def _hint(self) -> str:
        names = ", ".join(parameter.name for parameter in self.parameters)
        return f"the parameters are {names}" if names else "it has no parameters"


class Sent(NamedTuple):
    """The request that is sent for a call."""

    body: dict[str, Any]
    request: str | None
    """The key of the request that the caller gave, or None."""


def sent(operation: Operation, args: tuple[Any, ...], options: Mapping[str, Any]) -> Sent:
    """Return the request for a call of a method.

    Raises:
        TypeError: The method does not accept these arguments.
        RefusedError: An argument cannot be sent, such as a function.
        InvalidInputError: A value has no JSON form.
    """
    signature = inspect.signature(getattr(Engine, operation.name))
    given = signature.bind(None, *args, **options).arguments
    given.pop("self")
    for name, parameter in signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            given |= given.pop(name, {})
        elif name in given and given[name] is parameter.default:
            del given[name]
    given = _filters(given.pop("filters", NO_FILTERS)) | given
    request = given.pop("request", None)
    by_name = {parameter.name: parameter for parameter in operation.parameters}
    for name in given:
        if name not in by_name:
            raise _unknown(operation, name, signature)
    return Sent({name: _encoded(value, by_name[name]) for name, value in given.items()}, request)


def _filters(filters: object) -> dict[str, Any]:
    """Return the fields of `filters` that set a condition."""
    if not isinstance(filters, Filters):
        raise InvalidInputError(f"filters must be Filters, not {type(filters).__name__}")
    return {
        one.name: value
        for one in fields(Filters)
        if (value := getattr(filters, one.name)) != getattr(NO_FILTERS, one.name)
    }


def _unknown(operation: Operation, name: str, signature: inspect.Signature) -> Exception:
    if name == "actor":
        return RefusedError(
            "a client cannot choose the actor: it is the name of the token", hint="use another token"
        )
    if name in signature.parameters:
        return RefusedError(
            f"a client cannot pass {name} to {operation.name}", hint="leave it out, or work on the server"
        )
    return InvalidInputError(f"{name} is neither an argument nor a field of Filters")


def _encoded(value: Any, parameter: Parameter) -> Any:
    name = parameter.name
    if parameter.of_commands:
        return [_encoded_command(command) for command in value]
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Collection)):
        value = list(value)
    _check_zone(name, value)
    try:
        # The keys of `meta` are the caller's own. Other integers need no field: the service takes µs.
        return encode(value, name if name == "meta" else "")
    except TypeError as error:
        raise InvalidInputError(f"{name} cannot be sent: {error}") from error


def _encoded_command(command: Any) -> dict[str, Any]:
    if is_dataclass(command):
        for one in fields(command):
            _check_zone(one.name, getattr(command, one.name))
    try:
        return encode_command(command)
    except TypeError as error:
        raise InvalidInputError(f"a command cannot be sent: {error}") from error


def _check_zone(name: str, value: object) -> None:
    """Refuse a datetime without a time zone, which the service would read as UTC."""
    if isinstance(value, datetime) and value.tzinfo is None:
        raise InvalidInputError(f"{name} is a datetime without a time zone")


def encode_command(command: Any) -> dict[str, Any]:
    """Return a command as JSON.

    Raises:
        TypeError: There is no such command.
    """
    name = _BY_CLASS.get(type(command).__name__)
    if name is None:
        raise TypeError(f"{type(command).__name__} is not a command that can be sent")
    values = {one.name: getattr(command, one.name) for one in fields(command)}
    return {name: {key: encode(value, key) for key, value in values.items() if value is not UNCHANGED}}


_BY_CLASS: Final = {kind: name for name, kind in COMMANDS.items()}


@dataclass(frozen=True, slots=True)
class SentProof:
    """A proof, and the root or log head to which it leads.

    A receiver verifies the proof against a root that it trusts for another reason.
    """

    data: bytes
    """The proof in the form in which it is written to a file."""
    basis: str
    """`root` for an overall root, or `log` for a log head."""
    store_id: str
    """The id of the store, as 32 hex digits."""
    root: str
    """The overall root or the root of the log, as 64 hex digits."""
    size: int
    """The number of events in the journal in the state that the proof is about."""
    replayed: int
    """The number of events that were replayed to make the proof; 0 if no replay was needed."""

    @classmethod
    def of(cls, proof: Proof) -> SentProof:
        """Return a proof in the form in which it is sent."""
        basis = proof.basis
        kind = "log" if isinstance(basis, LogHead) else "root"
        return cls(
            proof.data, kind, basis.store_id.hex(), basis.root.hex(), proof.size, replayed=proof.replayed
        )

    def claimed_basis(self) -> Root | LogHead:
        """Return the basis that the sender names. To trust this basis is to trust the sender."""
        store_id, root = bytes.fromhex(self.store_id), bytes.fromhex(self.root)
        if self.basis == "log":
            return LogHead(store_id, self.size, root)
        return Root(store_id, root, self.size)
