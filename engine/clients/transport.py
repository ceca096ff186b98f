"""Requests to a service: connections, repeats, and errors. The token is in no message and in no log."""

from __future__ import annotations

import math
import random
import re
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from engine.base.errors import (
    ClosedError,
    EngineError,
    InDoubtError,
    InvalidInputError,
    LimitError,
    SystemFailureError,
    TooManyRequestsError,
    system_failure,
    translated,
)
from engine.base.json_text import JsonError, dumped, parse, parse_several
from engine.clients.service_address import Address
from engine.clients.wire.problem_details import error_of

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

RETRY_AFTER_MAX: Final = 60.0
"""The longest time in seconds that a client waits because the service asks for it (`Retry-After`)."""

ANSWER_BYTES_MAX: Final = 64 << 20
"""The largest answer that is read as a whole."""

REPEATED: Final = frozenset({"busy", "closed", "system", "too_many_requests"})
"""The codes of errors after which a request was certainly not carried out, and may succeed later."""

_SAYS_NOTHING: Final = REPEATED | {"unauthorized", "forbidden"}
"""The codes of errors that leave open whether an earlier request with the same key was carried out."""

_OK: Final = 200
_LOST: Final = frozenset({429, 502, 503, 504})
"""The statuses with which a proxy says that it cannot answer now."""

_PLAIN: Final = {"accept-encoding": "identity"}
_KEY: Final = re.compile("[!-~]{1,110}")
_TOKEN: Final = re.compile(r"[!-~]+")


class Transport:
    """The connections to a service. It may be used by several threads, which share the connections."""

    def __init__(
        self,
        address: Address,
        client: httpx2.Client,
        *,
        retries: int = RETRIES,
        deadline: float | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.address, self._url = address, address.url
        self.retries, self.deadline, self.sleep, self.clock = retries, deadline, sleep, clock
        self._client = client
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

        If no answer arrives, or the service cannot carry out the call now, the call is repeated.

        Args:
            operation: The name of the operation.
            body: The arguments.
            key: The request key, with which a call that writes can be repeated; None for a call that does not
                write.
            lines: True if the answer is a sequence of JSON values. They are returned as a list.

        Raises:
            EngineError: The error that the service answered.
            SystemFailureError: The service cannot be reached. Nothing was written.
            InDoubtError: An answer was lost, and no repetition of the call was answered.
            InvalidInputError: The key cannot be sent.
        """
        if key is not None and not _KEY.fullmatch(key):
            raise InvalidInputError(
                "a client sends only keys of 1 to 110 visible ASCII characters, and no spaces"
            )
        content = dumped(body).encode()
        attempts = _Attempts(self, operation, key)
        while True:
            try:
                return self._once(operation, content, key, lines, attempts)
            except (_LostError, _AnsweredError) as failed:
                attempts.failed(failed)

    def _once(self, operation: str, content: bytes, key: str | None, lines: bool, attempts: _Attempts) -> Any:
        headers = _PLAIN | {"content-type": "application/json"}
        if key is not None:
            headers["idempotency-key"] = key
        with self._sent("POST", operation, attempts.left(), content=content, headers=headers) as response:
            answer = b""
            for part in response.iter_raw():
                answer += part
                if len(answer) > ANSWER_BYTES_MAX:
                    raise LimitError(f"the answer has more than {ANSWER_BYTES_MAX:,} bytes")
                if attempts.left() <= 0:
                    raise _LostError("the deadline has passed", was_sent=True)
            return _value(answer, response, lines=lines)

    def stream(self, path: str) -> Iterator[bytes]:
        """Yield the parts of a long answer to a GET request. The deadline is for the first part only.

        Raises:
            EngineError: The error that the service answered.
            SystemFailureError: The service cannot be reached, or the answer broke off.
        """
        attempts, begun = _Attempts(self, path, None), False
        while True:
            try:
                with self._sent("GET", path, attempts.left(), headers=_PLAIN) as response:
                    if response.status_code != _OK:
                        _value(response.read(), response)
                    for part in response.iter_raw():
                        begun = True
                        yield part
                return
            except (_LostError, _AnsweredError) as failed:
                if begun:
                    raise SystemFailureError(
                        f"the answer to {path} broke off: {failed}", hint="repeat the call"
                    ) from failed
                attempts.failed(failed)

    @contextmanager
    def _sent(self, method: str, path: str, seconds: float, **options: Any) -> Iterator[httpx2.Response]:
        """Send a request. Each step of it may take `seconds`, and at most as long as the client permits."""
        import httpx2

        if self._closed:
            raise ClosedError("the connection to the service is closed")
        if seconds < math.inf:
            steps = self._client.timeout.as_dict().items()
            least = max(seconds, 0.001)
            options["timeout"] = httpx2.Timeout(**{step: min(most or least, least) for step, most in steps})
        try:
            with self._client.stream(method, f"{self._url}/{path}", **options) as response:
                yield response
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            if isinstance(_first_cause(error), ssl.SSLError):
                raise SystemFailureError(
                    f"the certificate of {self.address.service} is not trusted: {error}",
                    hint="give ca=FILE with the certificate of the authority that signed it",
                ) from error
            raise _LostError(str(error), was_sent=False) from error
        except httpx2.TransportError as error:
            raise _LostError(str(error) or type(error).__name__, was_sent=True) from error

    def close(self) -> None:
        """Close the connections. Repeating has no effect."""
        self._closed = True
        self._client.close()


class _LostError(Exception):
    """No answer arrived. `was_sent` is False if the request certainly did not reach the service."""

    def __init__(self, message: str, *, was_sent: bool, pause: float = 0) -> None:
        super().__init__(message)
        self.was_sent, self.pause = was_sent, pause


class _AnsweredError(Exception):
    """The service answered with an error. `pause` is the time in seconds that it asks to wait."""

    def __init__(self, error: EngineError, pause: float) -> None:
        super().__init__(str(error))
        self.error, self.pause = error, pause


class _Attempts:
    """The attempts of one call, within its deadline.

    Args:
        transport: The connections for the attempts.
        what: The name of the operation, or the path.
        key: The request key of a call that writes; None for a query.
    """

    def __init__(self, transport: Transport, what: str, key: str | None) -> None:
        self._transport, self._what, self._key = transport, what, key
        self._end = math.inf if transport.deadline is None else transport.clock() + transport.deadline
        self._failures = 0
        self._lost: _LostError | None = None
        """The loss after which it is not known whether the call was carried out."""

    def left(self) -> float:
        """Return the time in seconds until the deadline, or infinity without a deadline."""
        return self._end - self._transport.clock()

    def failed(self, failed: _LostError | _AnsweredError) -> None:
        """Wait until the next attempt.

        Raises:
            EngineError: The error of the call, if there is no further attempt.
        """
        if isinstance(failed, _LostError) and failed.was_sent and self._key is not None:
            self._lost = failed
        pause = max(_delay(self._failures), failed.pause)
        self._failures += 1
        is_repeated = isinstance(failed, _LostError) or failed.error.code in REPEATED
        is_late = failed.pause > RETRY_AFTER_MAX or pause >= self.left()
        if not is_repeated or is_late or self._failures > self._transport.retries:
            raise self.failure(failed) from failed
        self._transport.sleep(pause)

    def failure(self, failed: _LostError | _AnsweredError) -> EngineError:
        """Return the error of the call if its last attempt failed in this way."""
        says_nothing = isinstance(failed, _LostError) or failed.error.code in _SAYS_NOTHING
        if self._lost is not None and says_nothing:
            return InDoubtError(
                f"the answer to {self._what} was lost, so it is not known whether it was carried out: "
                f"{self._lost}",
                hint=f"`apply` with request={self._key!r} repeats it safely"
                if self._what == "apply"
                else "repeat it: a call that would change nothing appends no event",
            )
        if isinstance(failed, _AnsweredError):
            return failed.error
        return SystemFailureError(
            f"{self._transport.address.service} cannot be reached: {failed}",
            hint="check the address, and try again",
        )


def _value(answer: bytes, response: httpx2.Response, *, lines: bool = False) -> Any:
    """Return the JSON value of a successful answer, or raise the error that the answer describes."""
    status, pause = response.status_code, _pause(response.headers.get("retry-after"))
    try:
        if lines and status == _OK:
            return list(parse_several(answer, bytes_max=ANSWER_BYTES_MAX))
        value = parse(answer, bytes_max=ANSWER_BYTES_MAX) if answer else None
    except JsonError as error:
        if status in _LOST:
            raise _LostError(f"status {status}", was_sent=True, pause=pause) from None
        if status != _OK:
            raise error_of(None, status) from None
        raise EngineError(f"the answer of the service is not JSON: {error}") from None
    if status == _OK:
        return value
    answered = error_of(value, status)
    if status in _LOST and type(answered) is EngineError:
        raise _LostError(f"status {status}", was_sent=True, pause=pause)
    if isinstance(answered, InDoubtError):
        raise _LostError(str(answered), was_sent=True, pause=pause)
    if isinstance(answered, TooManyRequestsError):
        answered = TooManyRequestsError(str(answered), hint=answered.hint, seconds=max(1, math.ceil(pause)))
    raise _AnsweredError(answered, pause)


def _pause(header: str | None) -> float:
    """Return the time in seconds that the header `Retry-After` asks for: a number of seconds, or a date."""
    text = header or ""
    if text.isascii() and text.isdecimal():
        return float(text[:9])
    try:
        return max(parsedate_to_datetime(text).timestamp() - time.time(), 0)
    except (ValueError, OverflowError):
        return 0


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
        address: The address. No proxy is used for a service on this machine.
        token: The token to send; None for none.
        ca: A file with the certificates of the authorities to trust, in PEM; None for those of the system.
        timeout: The time in seconds after which a connection on which nothing arrives counts as lost.

    Raises:
        InvalidInputError: The token or the time is not valid.
        SystemFailureError: The file of certificates cannot be read, or the extra `remote` is not installed.
    """
    with translated():
        import httpx2

    if token is not None and (not isinstance(token, str) or not _TOKEN.fullmatch(token)):
        raise InvalidInputError("the token is not a text of visible ASCII characters")
    seconds(timeout, "timeout")

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


def seconds(value: object, name: str) -> float:
    """Return `value` if it is a time in seconds.

    Raises:
        InvalidInputError: It is not a number, or is not more than 0 and less than a day.
    """
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value < 86_400:
        raise InvalidInputError(f"{name} must be a number of seconds, more than 0 and less than a day")
    return value


def _context(ca: str | Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=None if ca is None else str(ca))
    except (ssl.SSLError, ValueError) as error:
        raise InvalidInputError(f"{ca} does not contain certificates in PEM: {error}") from error
    except OSError as error:
        raise system_failure(error, f"{ca} cannot be read") from error
