"""The methods of `Engine` that a service offers, described by the methods' own type hints and docstrings."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from engine.base.errors import InvalidInputError
from engine.base.scope import Scope
from engine.base.validation import quoted
from engine.engine import Engine
from engine.remote.wire import shapes
from engine.remote.wire.commands import command_shape
from engine.remote.wire.docstrings import described
from engine.remote.wire.encoding import encode
from engine.remote.wire.hints import record_of, shape_of
from engine.remote.wire.proving import SentProof

_SCOPES: Final = {
    Scope.READ: (
        "across bright_nodes conflicts context diff duplicates edges erasable explore find get get_edge "
        "held_back history log page prove recall recent resolve revertible root size status "
        "structured_graph tags titles was_kept why"
    ),
    Scope.WRITE: (
        "add apply checkpoint dream link merge register_type relate revert revise revive settle supersede "
        "tag tombstone unlink unmerge unrelate untag"
    ),
    Scope.ADMIN: "catch_up checkpoint_note erase rebuild verify",
}

NOT_OFFERED: Final = {
    "open": "a memory is named by the address",
    "connect": "it is for clients",
    "store": "it is for internal use",
    "view": "it is for internal use",
    "close": "the service keeps memories open",
    "read_only": "`status` tells it",
    "acting_as": "the token determines the actor",
    "as_of": "queries have a parameter of this name",
    "apply_many": "`bulk` takes commands line by line",
    "apply_part": "`bulk` takes commands line by line",
    "add_once": "`add` has the parameter `once`",
    "explorer": "it keeps a state between calls; `explore` runs a whole exploration",
    "ingest": "it reads files of the service's machine",
    "mirror": "it writes files of the service's machine",
    "mirror_pull": "it reads files of the service's machine",
    "check_mirror": "it reads files of the service's machine",
    "mirror_problem": "the service keeps no mirror",
    "backup": "it writes files of the service's machine",
    "export": "it is a stream of its own",
    "behind": "the metrics of the service tell it",
}
"""The other public members of `Engine`, each with the reason why it is not an operation."""

_REPLACED: Final[dict[tuple[str, str], Any]] = {
    ("prove", "claims"): list[list[str]],
    ("prove", "checkpoint"): str | None,
}
"""(Operation, parameter) → the type hint that is used instead of the parameter's own."""

_LEFT_OUT: Final = frozenset({"self", "actor", "request", "filters"})
"""Parameters that the token, the headers and the fields of `Filters` replace."""

_NOT_SENT: Final = frozenset(
    {
        ("explore", "policy"),  # an object of the caller
        ("checkpoint_note", "key"),  # a file of the service's machine
        ("checkpoint_note", "known"),  # the caller compares the note itself
    }
)
"""(Operation, parameter) → left out, as are all parameters that are functions."""


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
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if name not in known:
                raise InvalidInputError(f"{self.name} has no parameter {quoted(name)}", hint=self._hint())
        for parameter in self.parameters:
            if parameter.required and parameter.name not in given:
                problem = f"{self.name} needs the parameter {parameter.name}"
                raise InvalidInputError(problem, hint=self._hint())
        return {name: known[name].shape.decode(value, name) for name, value in given.items()}

    def read_query(self, texts: Mapping[str, list[str]]) -> dict[str, Any]:
        """Return the JSON values for the names and texts of a query string.

        Raises:
            InvalidInputError: A text is not valid, or there is no such parameter.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in texts:
            if name not in known:
                raise InvalidInputError(f"{self.name} has no parameter {quoted(name)}", hint=self._hint())
        return {name: known[name].shape.read(found, name) for name, found in texts.items()}

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


@cache
def operations() -> Mapping[str, Operation]:
    """Return all operations by name, sorted."""
    found = {name: _operation(name, scope) for scope, names in _SCOPES.items() for name in names.split()}
    return dict(sorted(found.items()))


def _operation(name: str, scope: Scope) -> Operation:
    member = inspect.getattr_static(Engine, name)
    method: Any = member.fget if isinstance(member, property) else member
    hints = typing.get_type_hints(method, _namespace())
    text = described(inspect.getdoc(method) or "")
    parameters = [
        made
        for one in inspect.signature(method).parameters.values()
        if not _is_left_out(name, one.name, hints.get(one.name))
        for made in _parameters(name, one, hints, text.arguments)
    ]
    result = hints["return"]
    streams = typing.get_origin(result) is typing.get_origin(typing.Iterator[int])
    if streams:
        (result,) = typing.get_args(result)
    shape = record_of(SentProof) if name == "prove" else shape_of(result)
    return Operation(name, scope, tuple(parameters), shape, streams, text.summary, text.about)


def _is_left_out(operation: str, name: str, hint: Any) -> bool:
    is_function = Callable in (typing.get_origin(part) for part in (hint, *typing.get_args(hint)))
    if (
        operation in {"revert", "revertible"} and name == "actor"
    ):  # it selects events, and is not their author
        return False
    return name in _LEFT_OUT or (operation, name) in _NOT_SENT or is_function


def _parameters(
    operation: str, one: inspect.Parameter, hints: Mapping[str, Any], about: Mapping[str, str]
) -> list[Parameter]:
    """Return the parameters for a parameter of a method: several for `**narrow`, otherwise one."""
    hint = _REPLACED.get((operation, one.name), hints[one.name])
    if one.kind is inspect.Parameter.VAR_KEYWORD:
        fields = typing.get_type_hints(typing.get_args(hint)[0])
        return [
            Parameter(name, shape_of(inner, name, given=True), False, _FILTERS[name])
            for name, inner in fields.items()
        ]
    text = about.get(one.name) or _shared_texts()[one.name]
    if one.kind is inspect.Parameter.VAR_POSITIONAL:
        return [Parameter(one.name, shape_of(list[hint], given=True), True, text, spread=True)]  # type: ignore[valid-type]
    if (operation, one.name) == ("apply", "commands"):
        return [Parameter(one.name, shapes.ListOf(command_shape(), list), True, text)]
    shape = shape_of(hint, one.name, given=True)
    return [Parameter(one.name, shape, one.default is inspect.Parameter.empty, text)]


_FILTERS: Final = {
    "tags": "Only atoms that have all of these tags.",
    "without_tags": "Only atoms that have none of these tags.",
    "buckets": "Only atoms in one of these buckets.",
    "sources": "Only atoms of one of these sources. A source that ends in `*` stands for all that begin so.",
    "kinds": "Only atoms of one of these kinds.",
    "provenances": "Only atoms of one of these provenances.",
    "since": "Only atoms that were created at this time or later: ISO 8601, or µs since 1970, UTC.",
    "until": "Only atoms that were created before this time: ISO 8601, or µs since 1970, UTC.",
    "categories": "Only atoms of one of these categories.",
    "superseded": "If true, superseded atoms can be returned, too.",
    "meta": "Only atoms whose meta has these keys with these values. A value may be a list of values.",
}


@cache
def _shared_texts() -> Mapping[str, str]:
    """Return the descriptions for methods whose docstrings refer to those of `recall` and `link`."""
    return {
        name: text
        for method in (Engine.link, Engine.recall)
        for name, text in described(inspect.getdoc(method) or "").arguments.items()
    }


def _namespace() -> dict[str, Any]:
    """Return the names in the type hints of `Engine`."""
    from engine import engine as module
    from engine.remote.wire import named_types

    return vars(typing) | vars(module) | vars(named_types)
