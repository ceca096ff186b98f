"""The protocol `Memory`: what an open store (`Engine`) and a client (`RemoteEngine`) have in common.

Its members are those public members of `Engine` that are marked as operations or as methods of clients.
`memory_protocol.pyi` has their types.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import new_class
from typing import Any, Protocol, Self

from engine.base.scopes import offers
from engine.engine import Engine


def _members(body: dict[str, Any]) -> None:
    """Fill the body of the protocol."""
    for name, offer in offers(Engine).items():
        if offer.by_client:
            member = vars(Engine)[name]
            is_property = isinstance(member, property)
            body[name] = property(_declared(member.fget)) if is_property else _declared(member)
    body["__enter__"], body["__exit__"] = _declared(Engine.__enter__), _declared(Engine.__exit__)
    body["__doc__"] = (
        "A memory: an open store, or a client of a service. The docstrings are those of `Engine`."
    )
    body["__module__"] = __name__


def _declared(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method with the signature and the docstring of `method`, which does nothing."""

    @wraps(method)
    def declared(self: Self, *args: Any, **options: Any) -> Any:
        raise NotImplementedError(method.__name__)

    return declared


Memory = new_class("Memory", (Protocol,), exec_body=_members)


def is_memory(value: object) -> bool:
    """Return True if the class of `value` has all members of `Memory`. None of them is called."""
    kind = type(value)
    return all(hasattr(kind, name) for name, offer in offers(Engine).items() if offer.by_client)
