"""Access control: the token of a request, the operations that it permits, and how often it may be used.

`engine.service.tokens` makes tokens and looks them up in their table. Here are the grants that were looked up
a moment ago, so that a busy client waits for no table.
"""

from __future__ import annotations

import logging
import math
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from engine.base.errors import (
    BusyError,
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


UNNAMED: Final = "~"
"""The name of the memory without a name, in patterns and in addresses of the service."""

ALL: Final = "*"
"""The pattern of all memories, including the memory without a name."""

KEPT_SECONDS: Final = 2.0
"""The time, in seconds, for which a grant is used before the table is read again. A revoked token is refused
after this time at the latest.
"""

KEPT_MAX: Final = 1024
"""The maximum number of grants that are kept in memory."""

LOOKUPS_MAX: Final = 4
"""The maximum number of unknown tokens that are looked up at the same time. So wrong tokens cannot use up the
connections to the database."""

LOOKUP_SECONDS: Final = 5.0
"""The time, in seconds, that an unknown token waits for the lookups of others."""

log: Final = logging.getLogger("engine.service")
_NAMES_MAX: Final = 10_000
_TOKEN: Final = re.compile(r"mr_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class Grant:
    """The rights of the holder of a token."""

    name: str
    """The name of the token: the actor of its events."""
    scope: Scope
    memories: tuple[str, ...]
    """The patterns of the memories."""

    def allows(self, scope: Scope, memory: str) -> bool:
        """Return True if an operation of this scope on this memory is allowed.

        Args:
            scope: The scope that the operation needs.
            memory: The name of the memory, or `~` for the memory without a name.
        """
        return self.scope >= scope and any(_covers(pattern, memory) for pattern in self.memories)


def _covers(pattern: str, memory: str) -> bool:
    """Return True if a pattern covers a memory. Only `~` and `*` cover the memory without a name."""
    if pattern in (ALL, memory):
        return True
    return memory != UNNAMED and fnmatchcase(memory, pattern)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A grant in memory."""

    grant: Grant
    expires: int
    """The time from which the token is refused, in µs since 1970 UTC; 0 for never."""
    until: float
    """The time of the monotonic clock until which the table is not read again."""


class GrantCache:
    """The grants of tokens. The object may be used by several threads at once.

    A grant is kept in memory for KEPT_SECONDS, so a busy token costs one lookup in that time. A text that
    does not have the form of a token is refused without a lookup. A wrong token costs one lookup; at most
    LOOKUPS_MAX of these run at the same time.

    Args:
        find: Looks up the hash of a token, and returns its grant and the time from which it is refused, in µs
            since 1970 UTC (0 for never), or None. It may wait.
        clock: The current time, in seconds since 1970 UTC.
        monotonic: The clock for the age of grants, in seconds.
    """

    def __init__(
        self,
        find: Callable[[bytes], tuple[Grant, int] | None],
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._find, self._clock, self._monotonic = find, clock, monotonic
        self._kept: dict[bytes, _Entry] = {}
        self._keeping = threading.Lock()
        self._unknown = threading.BoundedSemaphore(LOOKUPS_MAX)

    def check(self, bearer: str) -> Grant | None:
        """Return the grant of a token, or None if the token is wrong, revoked, expired or damaged.

        Args:
            bearer: The token, as the client sent it.

        Raises:
            EngineError: the table cannot be read. Nothing is allowed then.
        """
        digest = digest_of(bearer)
        return None if digest is None else self._granted(self._fresh(digest) or self._looked_up(digest))

    def kept(self, bearer: str) -> Grant | None:
        """Return the result of `check` if it is known without the table; otherwise None. Never waits."""
        digest = digest_of(bearer)
        return None if digest is None else self._granted(self._fresh(digest))

    def is_known(self, bearer: str) -> bool:
        """Return True if the token was valid at its last check. Never waits."""
        return digest_of(bearer) in self._kept

    def _fresh(self, digest: bytes) -> _Entry | None:
        """Return the grant in memory, unless the table must be asked again."""
        entry = self._kept.get(digest)
        return None if entry is None or self._monotonic() >= entry.until else entry

    def _granted(self, kept: _Entry | None) -> Grant | None:
        """Return a grant that was found, unless it has expired."""
        return None if kept is None or 0 < kept.expires <= self._now() else kept.grant

    def _looked_up(self, digest: bytes) -> _Entry | None:
        """Ask the table for a hash, and keep what it says."""
        until, is_cached = self._monotonic() + KEPT_SECONDS, digest in self._kept
        if not is_cached and not self._unknown.acquire(timeout=LOOKUP_SECONDS):
            raise BusyError("too many unknown tokens are being looked up", hint="repeat the request")
        try:
            grant = self._find(digest)
        finally:
            if not is_cached:
                self._unknown.release()
        return self._keep(digest, None if grant is None else _Entry(*grant, until))

    def _keep(self, digest: bytes, found: _Entry | None) -> _Entry | None:
        """Keep what the table says about a hash. A grant for ever never makes room for another."""
        with self._keeping:
            self._kept.pop(digest, None)
            if found is not None:
                passing = [other for other, entry in self._kept.items() if entry.until < math.inf]
                for other in passing[: max(len(self._kept) + 1 - KEPT_MAX, 0)]:
                    del self._kept[other]
                self._kept[digest] = found
        return found

    def _keep_for_ever(self, bearer: str, grant: Grant) -> None:
        """Accept a token as long as this object exists."""
        self._keep(sha256(bearer.encode()).digest(), _Entry(grant, 0, math.inf))

    def _forget(self, name: str) -> None:
        """Look up the tokens of this name again before they are accepted."""
        with self._keeping:
            for digest, entry in list(self._kept.items()):
                if entry.grant.name == name and entry.until < math.inf:
                    del self._kept[digest]

    def _now(self) -> int:
        """Return the time in µs since 1970 UTC."""
        return int(self._clock() * 1_000_000)


def digest_of(bearer: object) -> bytes | None:
    """Return the hash of a token, or None if the text does not have the form of a token."""
    if not isinstance(bearer, str) or not _TOKEN.fullmatch(bearer):
        return None
    return sha256(bearer.encode()).digest()


class Access:
    """The checks that each request passes before a memory is touched."""

    def __init__(self, tokens: GrantCache, *, read_only: bool, rates: Rates | None = None) -> None:
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
            raise _unauthorized()
        return self._counted(request, grant)

    def kept_grant_of(self, request: Request) -> Grant | None:
        """Return the result of `grant_of` if it is known without waiting; otherwise None.

        Raises:
            UnauthorizedError: There is no token.
            TooManyRequestsError: The token was used too often.
        """
        bearer = _bearer(request)
        if bearer is None:
            raise _unauthorized()
        grant = self._tokens.kept(bearer)
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

    def scope_on(self, grant: Grant, memory: str) -> Scope | None:
        """Return the largest scope that a token has on a memory of this service; None without any."""
        most = Scope.READ if self._read_only else Scope.ADMIN
        return next((one for one in reversed(Scope) if one <= most and grant.allows(one, memory)), None)


def _unauthorized() -> UnauthorizedError:
    return UnauthorizedError(
        "this request needs a valid token", hint="send the header `Authorization: Bearer TOKEN`"
    )


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
