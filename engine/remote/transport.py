"""Requests to a service: connections, repeats, and errors. The token is in no message and in no log."""

from __future__ import annotations

import random
import re
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from engine.base.error_translation import system_failure
from engine.base.errors import (
    ClosedError,
    EngineError,
    InDoubtError,
    InvalidInputError,
    LimitError,
    SystemFailureError,
)
from engine.base.json_text import JsonError, dumped, parse, parse_several
from engine.remote.address import Address
from engine.wire.problems import error_of

if TYPE_CHECKING:
    import httpx2

TIMEOUT: Final = 60.0
"""The time in seconds after which a connection on which nothing arrives counts as lost, by default."""

CONNECT_TIMEOUT_MAX: Final = 10.0
RETRIES: Final = 4
"""How often a request is repeated, by default."""

DELAY: Final = 0.1
"""The time in seconds before the first repeat. It doubles with each further repeat."""

DELAY_MAX: Final = 5.0

ANSWER_BYTES_MAX: Final = 64 << 20
"""The largest answer that is read as a whole."""

REPEATED: Final = frozenset({"busy", "closed", "too_many_requests"})
"""The codes of errors after which a request was certainly not carried out, and may succeed later."""

_OK: Final = 200
_LOST: Final = frozenset({502, 504})
"""The statuses with which a proxy tells that it knows no answer."""

_KEY: Final = re.compile("[ -~]{1,110}")
_TOKEN: Final = re.compile(r"[!-~]+")


class Transport:
    """The connections to a service. It may be used by several threads, which share the connections."""

    def __init__(
        self,
        address: Address,
        client: httpx2.Client,
        *,
        retries: int = RETRIES,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.address = address
        self._client, self._retries, self._sleep = client, retries, sleep
        self._closed = False

    def call(
        self,
        operation: str,
        body: dict[str, Any],
        *,
        key: str | None = None,
        lines: bool = False,
    ) -> Any:
        """Call an operation, and return the JSON value of the answer.

        Args:
            operation: The name of the operation.
            body: The arguments.
            key: The request key, with which a call that writes can be repeated; None for a call that does not
                write.
            lines: True if the answer is a sequence of JSON values. They are returned as a list.

        Raises:
            EngineError: The error that the service answered.
            SystemFailureError: The service cannot be reached. Nothing was written.
            InDoubtError: The answer was lost, also when the call was repeated.
            InvalidInputError: The key cannot be sent.
        """
        if key is not None and not _KEY.fullmatch(key):
            raise InvalidInputError("a client sends only keys of 1 to 110 visible ASCII characters")
        content = dumped(body).encode()
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                return self._once(operation, content, key, lines)
            except _LostError as lost:
                # A query that takes too long is not sent again: it would only keep the service busier.
                if last or (lost.timed_out and key is None):
                    raise self._failure(operation, lost, key) from lost
                self._sleep(_delay(attempt))
            except EngineError as error:
                if last or error.code not in REPEATED:
                    raise
                self._sleep(max(_delay(attempt), min(float(getattr(error, "seconds", 0)), DELAY_MAX)))
        raise AssertionError("unreachable")

    def _once(self, operation: str, content: bytes, key: str | None, lines: bool) -> Any:
        headers = {"content-type": "application/json", "accept-encoding": "identity"}
        if key is not None:
            headers["idempotency-key"] = key
        with self._sent("POST", operation, content=content, headers=headers) as response:
            answer = b""
            for part in response.iter_raw():
                answer += part
                if len(answer) > ANSWER_BYTES_MAX:
                    raise LimitError(f"the answer has more than {ANSWER_BYTES_MAX:,} bytes")
            return _value(answer, response.status_code, lines=lines)

    def stream(self, path: str) -> Iterator[bytes]:
        """Yield the parts of a long answer to a GET request."""
        try:
            with self._sent("GET", path, headers={"accept-encoding": "identity"}) as response:
                if response.status_code != _OK:
                    _value(response.read(), response.status_code)
                yield from response.iter_raw()
        except _LostError as lost:
            raise self._failure(path, lost, None) from lost

    @contextmanager
    def _sent(self, method: str, path: str, **options: Any) -> Iterator[httpx2.Response]:
        import httpx2

        if self._closed:
            raise ClosedError("the connection to the service is closed")
        try:
            with self._client.stream(method, f"{self.address.url}/{path}", **options) as response:
                yield response
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            if isinstance(_first_cause(error), ssl.SSLError):
                raise SystemFailureError(
                    f"the certificate of {self.address.service} is not trusted: {error}",
                    hint="give ca=FILE with the certificate of the authority that signed it",
                ) from error
            raise _LostError(str(error), was_sent=False) from error
        except httpx2.TransportError as error:
            timed_out = isinstance(error, httpx2.TimeoutException)
            problem = str(error) or type(error).__name__
            raise _LostError(problem, was_sent=True, timed_out=timed_out) from error

    def _failure(self, what: str, lost: _LostError, key: str | None) -> EngineError:
        if key is None or not lost.was_sent:
            return SystemFailureError(
                f"{self.address.service} cannot be reached: {lost}", hint="check the address, and try again"
            )
        return InDoubtError(
            f"the answer to {what} was lost, so it is not known whether it was carried out: {lost}",
            hint=f"`apply` with request={key!r} repeats it safely"
            if what == "apply"
            else "repeat it: a call that would change nothing appends no event",
        )

    def close(self) -> None:
        """Close the connections. Repeating has no effect."""
        self._closed = True
        self._client.close()


class _LostError(Exception):
    """No answer arrived. `was_sent` is False if the request certainly did not reach the service."""

    def __init__(self, message: str, *, was_sent: bool, timed_out: bool = False) -> None:
        super().__init__(message)
        self.was_sent, self.timed_out = was_sent, timed_out


def _value(answer: bytes, status: int, *, lines: bool = False) -> Any:
    """Return the JSON value of a successful answer, or raise the error that the answer describes."""
    try:
        if lines and status == _OK:
            return list(parse_several(answer, bytes_max=ANSWER_BYTES_MAX))
        value = parse(answer, bytes_max=ANSWER_BYTES_MAX) if answer else None
    except JsonError as error:
        if status in _LOST:
            raise _LostError(f"status {status}", was_sent=True) from None
        if status != _OK:
            raise error_of(None, status) from None
        raise EngineError(f"the answer of the service is not JSON: {error}") from None
    if status == _OK:
        return value
    answered = error_of(value, status)
    if status in _LOST and type(answered) is EngineError:
        raise _LostError(f"status {status}", was_sent=True)
    if isinstance(answered, InDoubtError):
        raise _LostError(str(answered), was_sent=True)
    raise answered


def _first_cause(error: BaseException) -> BaseException:
    before = error.__cause__ or error.__context__
    return error if before is None else _first_cause(before)


def _delay(attempt: int) -> float:
    """Return the time to wait, with a random part, so that clients do not return all at once."""
    return min(DELAY * 2.0**attempt, DELAY_MAX) * random.uniform(0.5, 1)  # noqa: S311  no secret


def client_for(
    address: Address, token: str | None, *, ca: str | Path | None = None, timeout: float = TIMEOUT
) -> httpx2.Client:
    """Return the connections to a service.

    Args:
        address: The address. To a service on this machine, no proxy is used.
        token: The token to send; None for none.
        ca: A file with the certificates of the authorities to trust, in PEM; None for those of the system.
        timeout: The time in seconds after which a connection on which nothing arrives counts as lost.

    Raises:
        InvalidInputError: The token or the time is not valid.
        SystemFailureError: The file of certificates cannot be read.
    """
    import httpx2

    if token is not None and (not isinstance(token, str) or not _TOKEN.fullmatch(token)):
        raise InvalidInputError("the token is not a text of visible ASCII characters")
    if type(timeout) not in (int, float) or not 0 < timeout < 86_400:
        raise InvalidInputError("timeout must be a number of seconds, more than 0 and less than a day")

    def bearer(request: httpx2.Request) -> httpx2.Request:
        if token is not None:
            request.headers["authorization"] = f"Bearer {token}"
        return request

    return httpx2.Client(
        auth=bearer,
        verify=_context(ca),
        timeout=httpx2.Timeout(timeout, connect=min(timeout, CONNECT_TIMEOUT_MAX)),
        trust_env=not address.is_loopback,
        follow_redirects=False,  # the token is for this address only
    )


def _context(ca: str | Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=None if ca is None else str(ca))
    except (ssl.SSLError, ValueError) as error:
        raise InvalidInputError(f"{ca} does not contain certificates in PEM: {error}") from error
    except OSError as error:
        raise system_failure(error, f"{ca} cannot be read") from error
