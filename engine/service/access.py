"""Access control: the token of a request, the operations that it permits, and how often it may be used."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import Counter
from collections.abc import Callable
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
from engine.base.scopes import Scope
from engine.service.guard import END, TOKEN

if TYPE_CHECKING:
    from starlette.requests import Request


log: Final = logging.getLogger("engine.service")
_NAMES_MAX: Final = 10_000


class Grant(Protocol):
    """The rights of a token."""

    @property
    def name(self) -> str:
        """The name of the token. It is the actor of the events that are written with the token."""

    def allows(self, scope: Scope, memory: str) -> bool:
        """Return True if the token permits operations of this scope on a memory."""


class Tokens(Protocol):
    """The tokens that a service accepts."""

    def check(self, bearer: str) -> Grant | None:
        """Return the grant of a token, or None if there is no such token. The call may wait."""

    def is_known(self, bearer: str) -> bool:
        """Return True if the token was valid when it was checked last. The call never waits."""

    def kept(self, bearer: str) -> Grant | None:
        """Return the result of `check` if it is known without waiting; otherwise None."""


class Access:
    """The checks that each request passes before a memory is touched."""

    def __init__(self, tokens: Tokens, *, read_only: bool, rates: Rates | None = None) -> None:
        """Accept `tokens`, each for as many requests as `rates` permits."""
        self._tokens = tokens
        self._read_only = read_only
        self._rates = rates

    def grant_of(self, request: Request) -> Grant:
        """Return the grant of the token of a request.

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
        """Return the result of `grant_of` if it is known without waiting; otherwise None.

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
        """Return True unless the token of a request was valid at its last check. Never waits."""
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


class Rates:
    """A token bucket (https://en.wikipedia.org/wiki/Token_bucket) for the requests of each name.

    Any thread may use it.
    """

    def __init__(
        self,
        per_second: float,
        at_once: int,
        clock: Callable[[], float] = time.monotonic,
        *,
        running: int | None = None,
    ) -> None:
        """Allow each name `per_second` requests on average, and `at_once` after a pause.

        At most `running` requests of a name may run at the same time; None for no limit.
        """
        self._most_running = running
        self._running: Counter[str] = Counter()
        self._per_second = per_second
        self._at_once = at_once
        self._clock = clock
        self._full_at: dict[str, float] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._full_at)

    def begin(self, name: str) -> bool:
        """Note that a request runs until `end`. Return False if too many run already."""
        with self._lock:
            if self._most_running is not None and self._running[name] >= self._most_running:
                return False
            self._running[name] += 1
            return True

    def end(self, name: str) -> None:
        """Note that a request has ended."""
        with self._lock:
            self._running[name] -= 1
            if not self._running[name]:
                del self._running[name]

    def wait(self, name: str) -> int:
        """Count one request.

        Return 0 if it is allowed; otherwise the number of seconds until the next one is.
        """
        with self._lock:
            return self._counted(name, self._clock())

    def _counted(self, name: str, now: float) -> int:
        full_at = max(self._full_at.get(name, now), now)
        # The bucket misses `(full_at - now) * per_second` of its requests.
        missing = (full_at - now) * self._per_second
        if missing > self._at_once - 1:
            return max(math.ceil((missing - self._at_once + 1) / self._per_second), 1)
        if name not in self._full_at and len(self._full_at) >= _NAMES_MAX:
            # A bucket that is full again says the same as none.
            self._full_at = {other: full for other, full in self._full_at.items() if full > now}
        self._full_at[name] = full_at + 1 / self._per_second
        return 0
