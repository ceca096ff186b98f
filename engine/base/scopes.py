"""The scopes of tokens, and the marks that say which members of `Engine` a service and its clients offer.

Each public member of `Engine` has one of three marks. The operations of a service, the methods of a client,
and the protocol `Memory` are derived from these marks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from inspect import getmembers_static
from typing import Any, Final, NamedTuple, TypeVar

from engine.base.errors import raising_own_errors

Member = TypeVar("Member", bound=Callable[..., Any])

_MARK: Final = "__offer__"


class Scope(IntEnum):
    """The operations that a token permits. Each scope includes the scopes before it."""

    READ = 1
    """Query, verify answers, follow, export."""
    WRITE = 2
    """Append events."""
    ADMIN = 3
    """Destroy content, rebuild, sign; make, rename and delete memories."""


class Offer(NamedTuple):
    """Where a member of `Engine` is offered."""

    scope: Scope | None
    """The scope that a token needs; None if the member is not an operation of a service."""
    reason: str = ""
    """The reason why the member is not an operation."""
    by_client: bool = True
    """True if clients of a service have the member, too."""


def operation(scope: Scope) -> Callable[[Member], Member]:
    """Mark a method as an operation of a service, for tokens of this scope."""
    return _marked(Offer(scope))


def client_only(reason: str) -> Callable[[Member], Member]:
    """Mark a method that clients carry out in their own way, and say why it is not an operation."""
    return _marked(Offer(None, reason))


def embedded_only(reason: str) -> Callable[[Member], Member]:
    """Mark a method that only an open store has, and say why."""
    return _marked(Offer(None, reason, by_client=False))


def _marked(offer: Offer) -> Callable[[Member], Member]:
    """Mark a method. Errors of backend and system, also in its imports, become errors of the engine."""

    def mark(member: Member) -> Member:
        marked = raising_own_errors(member)
        setattr(marked, _MARK, offer)
        return marked

    return mark


def offers(kind: type) -> Mapping[str, Offer]:
    """Return the marks of the public members of a class by name, sorted. Unmarked members are left out."""
    return {
        name: offer
        for name, member in getmembers_static(kind)
        if not name.startswith("_") and (offer := _offer_of(member)) is not None
    }


def _offer_of(member: object) -> Offer | None:
    function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
    return getattr(function, _MARK, None)
