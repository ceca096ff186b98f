"""Who may call what: the token of a request, and what it permits."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from engine.base.errors import (
    EngineError,
    ForbiddenError,
    RefusedError,
    SystemFailureError,
    TooManyRequestsError,
    UnauthorizedError,
)
from engine.base.scope import Scope
from engine.service.rates import Rates
from engine.service.request_state import END, TOKEN

if TYPE_CHECKING:
    from starlette.requests import Request

log: Final = logging.getLogger("engine.service")


class Grant(Protocol):
    """What a token permits."""

    @property
    def name(self) -> str:
        """The name of the token, which is the actor of the events that it causes."""

    def allows(self, scope: Scope, memory: str) -> bool:
        """Return True if the token permits operations of this scope on a memory."""


class Tokens(Protocol):
    """The tokens that a service accepts."""

    def check(self, bearer: str) -> Grant | None:
        """Return what a token permits, or None if there is no such token. The call may wait."""

    def is_known(self, bearer: str) -> bool:
        """Return True if the token was valid when it was checked last. The call never waits."""

    def kept(self, bearer: str) -> Grant | None:
        """Return what `check` returns if it is known without waiting; otherwise None."""


class Access:
    """The checks that each request passes before a memory is touched."""

    def __init__(self, tokens: Tokens, *, read_only: bool, rates: Rates | None = None) -> None:
        """Accept `tokens`, each for as many requests as `rates` permits."""
        self._tokens = tokens
        self._read_only = read_only
        self._rates = rates

    def grant_of(self, request: Request) -> Grant:
        """Return what the token of a request permits.

        Raises:
            UnauthorizedError: There is no valid token.
            SystemFailureError: The tokens cannot be read, so nothing is permitted.
            TooManyRequestsError: The token was used too often.
        """
        grant = self._checked(request)
        if grant is None:
            raise UnauthorizedError(
                "this request needs a valid token", hint="send the header `Authorization: Bearer TOKEN`"
            )
        return self._counted(request, grant)

    def kept_grant_of(self, request: Request) -> Grant | None:
        """Return what `grant_of` returns if it is known without waiting; otherwise None.

        Raises:
            TooManyRequestsError: The token was used too often.
        """
        bearer = _bearer(request)
        grant = None if bearer is None else self._tokens.kept(bearer)
        return None if grant is None else self._counted(request, grant)

    def _counted(self, request: Request, grant: Grant) -> Grant:
        """Count a request of a valid token."""
        # From now on, the server treats the connection as that of a known client.
        request.scope["state"][TOKEN] = grant.name
        if self._rates is not None:
            _count(self._rates, grant.name, request.scope["state"])
        return grant

    def is_stranger(self, request: Request) -> bool:
        """Return True unless the token of a request was valid when it was checked last. Never waits."""
        bearer = _bearer(request)
        return bearer is None or not self._tokens.is_known(bearer)

    def _checked(self, request: Request) -> Grant | None:
        bearer = _bearer(request)
        if bearer is None:
            return None
        try:
            return self._tokens.check(bearer)
        except EngineError as error:
            # Whoever asks may be a stranger, and the message names the store.
            log.warning("tokens cannot be checked: %s", error)
            raise SystemFailureError("tokens cannot be checked now", hint="try again later") from None

    def still_permits(self, request: Request, scope: Scope, memory: str) -> bool:
        """Return True if the token of a request that still runs is valid and permits this operation.

        If the tokens cannot be read, the answer is False: the client asks again, and is told why. The
        question does not count as a request.
        """
        try:
            grant = self._checked(request)
        except SystemFailureError:
            return False
        return grant is not None and grant.allows(scope, memory)

    def is_kept(self, request: Request, scope: Scope, memory: str) -> bool:
        """Return True if `still_permits` is known to return True. The call never waits."""
        bearer = _bearer(request)
        grant = None if bearer is None else self._tokens.kept(bearer)
        return grant is not None and grant.allows(scope, memory)

    def require(self, grant: Grant, scope: Scope, memory: str) -> None:
        """Check that an operation is permitted.

        Raises:
            ForbiddenError: The token does not permit it.
            RefusedError: The service is read-only.
        """
        if not grant.allows(scope, memory):
            raise ForbiddenError(
                f"the token does not permit operations of the scope {scope.name.lower()} on this memory",
                hint="ask for a token with this scope",
            )
        if self._read_only and scope is not Scope.READ:
            raise RefusedError("this service is read-only", hint="start `engine serve` with --write")


def _bearer(request: Request) -> str | None:
    """Return the token that a request carries, or None."""
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    return bearer.strip() if scheme.lower() == "bearer" else None


def _count(rates: Rates, name: str, state: dict[str, Any]) -> None:
    """Count a request of a token. The server calls `state[END]` when the request has ended.

    Raises:
        TooManyRequestsError: The token was used too often, or too many of its requests run.
    """
    if END in state:  # a stream checks its token now and then
        return
    if seconds := rates.wait(name):
        raise TooManyRequestsError("the token was used for too many requests", seconds=seconds)
    if not rates.begin(name):
        raise TooManyRequestsError("too many requests of the token run at the same time")
    state[END] = partial(rates.end, name)
