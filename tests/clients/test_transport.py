"""Lost answers, busy services, certificates and tokens: what the client repeats, raises and never shows."""

from __future__ import annotations

import http.server
import json
import logging
import ssl
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import (
    Add,
    BusyError,
    ClosedError,
    Engine,
    EngineError,
    InDoubtError,
    InvalidInputError,
    SystemFailureError,
)
from engine.base.errors import TooManyRequestsError, UnauthorizedError
from engine.clients.service_address import parse_address
from engine.clients.transport import DELAY_MAX, Transport
from engine.knowledge.tag_origins import Tags
from tests.clients.support import Forward, Middle, answered, connected, honest, new_store, operation_of

TOKEN = "mr_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"  # noqa: S105  no service knows it


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Return the URL of a new store."""
    return new_store(tmp_path / "memory.db")


def failing(operation: str, times: int, fail: Callable[[httpx2.Request, Forward], httpx2.Response]) -> Middle:
    """Return what answers the first `times` calls of an operation with `fail`."""
    left = [times]

    def middle(request: httpx2.Request, forward: Forward) -> httpx2.Response:
        if operation_of(request) != operation or not left[0]:
            return forward(request)
        left[0] -= 1
        return fail(request, forward)

    return middle


def lost(request: httpx2.Request, forward: Forward) -> httpx2.Response:
    """Carry out the request, and lose the answer."""
    forward(request)
    raise httpx2.ReadError("connection reset", request=request)


def unreachable(request: httpx2.Request, forward: Forward) -> httpx2.Response:
    """Refuse the connection."""
    raise httpx2.ConnectError("connection refused", request=request)


def busy(request: httpx2.Request, forward: Forward) -> httpx2.Response:
    """Answer that the store is busy."""
    return answered(503, b'{"code":"busy","detail":"another process keeps the store locked"}')


def test_a_command_whose_answer_was_lost_is_repeated_with_its_key(url: str) -> None:
    """The repeated request has the key of the first one, and nothing is recorded twice."""
    keys = []

    def noted(request: httpx2.Request, forward: Forward) -> httpx2.Response:
        keys.append(request.headers["idempotency-key"])
        return lost(request, forward)

    with connected(url, middle=failing("apply", 2, noted)) as remote, Engine.open(url) as local:
        remote.apply([Add("one"), Add("two")])
        assert local.size == 3
    assert len(keys) == 2
    assert len(set(keys)) == 1


def test_the_key_of_the_caller_is_sent(url: str) -> None:
    """`request` is the key, and each event records it."""
    with connected(url) as remote, Engine.open(url) as local:
        remote.apply([Add("one")], request="order-7")
        assert local.history(next(iter(local.find())).id)[0].detail["request"] == "order-7"
        for key in ("", "order 7", "zwei\n", "ü", "x" * 111):
            with pytest.raises(InvalidInputError):
                remote.apply([Add("two")], request=key)
        assert local.size == 2


def test_a_revert_is_repeated_and_reverts_once(url: str) -> None:
    """A revert whose answer was lost is not reverted by its repetition."""
    with connected(url, middle=failing("revert", 2, lost)) as remote, Engine.open(url) as local:
        added = remote.add("one")
        remote.revert(1)
        assert local.get(added.id).tombstone is not None
        assert local.size == 3


def test_a_call_whose_answer_stays_lost_is_in_doubt(url: str) -> None:
    """If no repetition is answered, the error says that it is not known whether the call was carried out."""
    with connected(url, middle=failing("apply", 9, lost), retries=1) as remote, Engine.open(url) as local:
        with pytest.raises(InDoubtError, match="the answer to apply was lost") as doubt:
            remote.apply([Add("one")])
        assert local.size == 2
        assert "request=" in doubt.value.hint


def test_a_service_that_cannot_be_reached_is_tried_again(url: str) -> None:
    """Every call is repeated while the connection is refused, and then fails with the address."""
    waits: list[float] = []
    with connected(url, middle=failing("revert", 3, unreachable), slept=waits.append) as remote:
        assert remote.revert(1) == []
        assert len(waits) == 3
        assert all(0 < wait <= DELAY_MAX for wait in waits)
    with (
        pytest.raises(SystemFailureError, match="http://testserver cannot be reached"),
        connected(url, middle=unreachable, retries=1),
    ):
        raise AssertionError


def unable(request: httpx2.Request, forward: Forward) -> httpx2.Response:
    """Answer that the system failed."""
    return answered(503, b'{"code":"system","detail":"the service cannot do this now"}')


def overloaded(request: httpx2.Request, forward: Forward) -> httpx2.Response:
    """Answer as a proxy whose service does not answer."""
    return answered(503, b"<html>no upstream</html>")


def test_a_service_that_is_busy_or_fails_is_tried_again(url: str) -> None:
    """A request that the service did not carry out is repeated; in the end the error is raised."""
    for middle, error in ((busy, BusyError), (unable, SystemFailureError)):
        with connected(url, middle=failing("add", 2, middle)) as remote:
            assert remote.add(middle.__name__).changed
        with connected(url, middle=failing("tags", 2, middle)) as remote:
            assert remote.tags() == Tags({}, {})
        with connected(url, middle=failing("add", 9, middle), retries=2) as remote, pytest.raises(error):
            remote.add("two")


def test_a_proxy_without_an_answer_is_asked_again(url: str) -> None:
    """A proxy does not know whether the service carried the call out, so the call is repeated."""
    with connected(url, middle=failing("add", 2, overloaded)) as remote:
        assert remote.add("one").changed
    with connected(url, middle=failing("add", 9, overloaded)) as remote, pytest.raises(InDoubtError):
        remote.add("two")


def test_an_export_that_has_not_begun_is_repeated(url: str) -> None:
    """An export is repeated if no part of it has arrived."""
    with connected(url, middle=failing("export", 2, unable)) as remote:
        assert remote.export(lambda _: None).size == 1


@pytest.mark.parametrize("then", [busy, unable, unreachable])
def test_the_doubt_about_an_earlier_attempt_stays(url: str, then: Middle) -> None:
    """After a lost answer, an error that says nothing about the first attempt does not end the doubt."""
    faults = iter([lost, then, then])

    def fail(request: httpx2.Request, forward: Forward) -> httpx2.Response:
        return next(faults)(request, forward)

    with connected(url, middle=failing("add", 3, fail), retries=2) as remote, Engine.open(url) as local:
        with pytest.raises(InDoubtError, match="connection reset"):
            remote.add("one")
        assert local.size == 2


@pytest.mark.parametrize(
    ("header", "least"),
    [("7", 7), ("0", 0), ("60", 60), ("soon", 0), ("-1", 0), (None, 0), ("", 0), ("date", 20)],
)
def test_a_service_says_how_long_to_wait(url: str, header: str | None, least: float) -> None:
    """The pause before a repetition is at least as long as `Retry-After` says, in seconds or as a date."""
    sent = (
        format_datetime(datetime.now(UTC) + timedelta(seconds=22), usegmt=True)
        if header == "date"
        else header
    )
    waits: list[float] = []

    def later(request: httpx2.Request, forward: Forward) -> httpx2.Response:
        return answered(429, b'{"code":"too_many_requests","detail":"too many"}', sent)

    with connected(url, middle=failing("tags", 1, later), slept=waits.append) as remote:
        assert remote.tags() == Tags({}, {})
    assert len(waits) == 1
    assert max(least, 0.01) <= waits[0] <= max(least + 2, DELAY_MAX)


def test_a_service_that_asks_to_wait_long_is_not_waited_for(url: str) -> None:
    """The error is raised at once, and says how long the service asks to wait."""

    def later(request: httpx2.Request, forward: Forward) -> httpx2.Response:
        return answered(429, b'{"code":"too_many_requests","detail":"too many"}', "61")

    waits: list[float] = []
    with (
        connected(url, middle=failing("tags", 1, later), slept=waits.append) as remote,
        pytest.raises(TooManyRequestsError) as refused,
    ):
        remote.tags()
    assert (waits, refused.value.seconds) == ([], 61)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>"),
        (200, b'"text"'),
        (200, b"{}"),
        (200, b""),
        (302, b""),
        (404, b"<html>"),
        (500, b"{}"),
        (502, b"<html>"),
    ],
    ids=str,
)
def test_an_answer_of_another_program_is_an_error(url: str, status: int, body: bytes) -> None:
    """Whatever answers at the address, the client raises an EngineError."""

    def other(request: httpx2.Request, forward: Forward) -> httpx2.Response:
        return answered(status, body)

    with connected(url, middle=failing("get", 99, other)) as remote, pytest.raises(EngineError):
        remote.get("00000000-0000-8000-8000-000000000001")


def test_an_endless_answer_is_cut_off(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that is too large is not read to its end."""
    monkeypatch.setattr("engine.clients.transport.ANSWER_BYTES_MAX", 1000)
    read: list[None] = []

    def endless() -> Iterator[bytes]:
        while True:
            read.append(None)
            yield b" " * 100

    class Endless(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            return endless()

    def other(request: httpx2.Request, forward: Forward) -> httpx2.Response:
        return httpx2.Response(200, stream=Endless())

    with connected(url, middle=failing("tags", 1, other)) as remote:
        with pytest.raises(EngineError, match="more than 1,000 bytes"):
            remote.tags()
        assert len(read) == 11


def test_a_broken_export_is_an_error(url: str) -> None:
    """An export without its last lines is not taken for the journal."""

    def cut(request: httpx2.Request, forward: Forward) -> httpx2.Response:
        return answered(200, b"".join(forward(request).read().splitlines(keepends=True)[:-1]))

    with (
        connected(url, middle=failing("export", 1, cut)) as remote,
        pytest.raises(EngineError, match="broke off"),
    ):
        remote.export(lambda _: None)


def test_events_that_are_missing_in_the_log_are_an_error(url: str) -> None:
    """`log` yields each event once, or raises an error."""

    def cut(request: httpx2.Request, forward: Forward) -> httpx2.Response:
        return answered(200, forward(request).read().partition(b"\n")[0])

    with connected(url, middle=failing("log", 1, cut)) as remote:
        remote.add("one")
        with pytest.raises(EngineError, match="did not send the events 0 to 1"):
            list(remote.log())


def test_a_closed_client_refuses_calls(url: str) -> None:
    """After `close`, every call is a ClosedError; closing again has no effect."""
    with connected(url) as remote:
        remote.close()
        remote.close()
        with pytest.raises(ClosedError):
            remote.tags()


class Echo(http.server.BaseHTTPRequestHandler):
    """Answers each request with the status of a memory, or refuses the token."""

    protocol_version = "HTTP/1.1"
    tokens: list[str | None]
    connections: set[tuple[str, int]]

    def do_POST(self) -> None:
        """Note the token and the connection."""
        self.rfile.read(int(self.headers["content-length"]))
        self.tokens.append(self.headers["authorization"])
        self.connections.add(self.client_address)
        if self.path.endswith("/tags"):
            status, answer = 401, REFUSED
        elif self.path.endswith("/conflicts"):
            status, answer = 307, {}
        else:
            status, answer = 200, STATUS
        body = json.dumps(answer).encode()
        self.send_response(status)
        if status == 307:
            self.send_header("location", "/v1/memories/~/status")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing."""


REFUSED: dict[str, object] = {"code": "unauthorized", "detail": "this request needs a valid token"}

STATUS: dict[str, object] = {
    "version": "0.1.0",
    "store_id": "00000000-0000-8000-8000-000000000001",
    "backend": "sqlite",
    "events": 1,
    "contents": 0,
    "live_atoms": 0,
    "conflicts": 0,
    "followers": {},
    "analyzer": "",
    "last_event": "2026-01-01T00:00:00Z",
    "read_only": None,
    "file_bytes": None,
    "scrubbed_at": None,
    "scrubbed_events": 0,
}


@contextmanager
def serving(certificate: Path | None = None) -> Iterator[tuple[str, type[Echo]]]:
    """Serve `Echo` on this machine, with TLS if there is a certificate. Yield the address and the handler."""
    handler = type("Handler", (Echo,), {"tokens": [], "connections": set()})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    scheme = "http"
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"{scheme}://127.0.0.1:{server.server_port}", handler
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a key and a certificate for this machine that nobody trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "memroot test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "certificate.pem"
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, *form) + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: Path) -> None:
    """No token is sent to a service whose certificate is not trusted, and the request is not repeated."""
    with serving(certificate) as (url, handler):
        with pytest.raises(SystemFailureError, match="is not trusted") as refused:
            Engine.connect(url, token=TOKEN)
        assert "ca=FILE" in refused.value.hint
        assert handler.tokens == []


def test_the_authority_of_the_caller_is_trusted(certificate: Path) -> None:
    """With `ca`, the certificates of that file vouch for the service."""
    with serving(certificate) as (url, handler), Engine.connect(url, token=TOKEN, ca=certificate) as remote:
        assert remote.status().events == 1
        assert handler.tokens == [f"Bearer {TOKEN}"] * 2


def test_a_file_without_certificates_is_refused(tmp_path: Path) -> None:
    """A missing file and a file of another kind are errors before anything is sent."""
    (tmp_path / "other").write_text("none", encoding="ascii")
    with pytest.raises(InvalidInputError, match="certificates"):
        Engine.connect("https://127.0.0.1:1", ca=tmp_path / "other")
    with pytest.raises(EngineError, match="cannot be read"):
        Engine.connect("https://127.0.0.1:1", ca=tmp_path / "missing")


def test_connections_are_used_again() -> None:
    """All requests of one thread use one connection."""
    with serving() as (url, handler):
        with Engine.connect(url, token=TOKEN) as remote:
            for _ in range(5):
                remote.status()
        assert len(handler.connections) == 1
        assert len(handler.tokens) == 6


def test_a_redirect_is_not_followed() -> None:
    """The token goes to the address that the caller gave, and nowhere else."""
    with serving() as (url, handler), Engine.connect(url, token=TOKEN) as remote:
        with pytest.raises(EngineError, match="307"):
            remote.conflicts()
        assert len(handler.tokens) == 2


def test_the_token_is_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    """The token is in no error, no traceback, no representation and no log, whatever fails."""
    caplog.set_level(logging.DEBUG)
    shown = []
    with serving() as (url, _), Engine.connect(url, token=TOKEN) as remote:
        shown += [repr(remote), repr(vars(remote)), repr(vars(remote._transport))]
        with pytest.raises(UnauthorizedError) as refused:
            remote.tags()
        shown.append("".join(traceback.format_exception(refused.value)))
        with pytest.raises(EngineError) as failed:
            remote.root()
        shown.append("".join(traceback.format_exception(failed.value)))
    with pytest.raises(SystemFailureError) as unreached:
        Engine.connect("http://127.0.0.1:1", token=TOKEN, retries=0)
    shown.append("".join(traceback.format_exception(unreached.value)))
    for wrong in (f"{TOKEN}\n", f"{TOKEN} x", f"{TOKEN}ü", ""):
        with pytest.raises(InvalidInputError) as invalid:
            Engine.connect("https://host", token=wrong)
        shown.append("".join(traceback.format_exception(invalid.value)))
    assert caplog.records
    assert TOKEN not in "".join(shown) + caplog.text


FAULTS: dict[str, Middle] = {"lost": lost, "unreachable": unreachable, "busy": busy, "answered": honest}


@settings(max_examples=20)
@given(st.lists(st.sampled_from(sorted(FAULTS)), max_size=20))
def test_any_order_of_faults_records_each_call_once(faults: list[str]) -> None:
    """Whatever is lost and refused, what was acknowledged is recorded once, and nothing is recorded twice."""
    left = list(faults)

    def faulty(request: httpx2.Request, forward: Forward) -> httpx2.Response:
        if operation_of(request) not in {"add", "tag"}:
            return forward(request)
        return FAULTS[left.pop() if left else "answered"](request, forward)

    with TemporaryDirectory() as folder:
        url = new_store(Path(folder) / "memory.db")
        with connected(url, middle=faulty, retries=2) as remote, Engine.open(url) as local:
            acknowledged = []
            for number in range(4):
                try:
                    acknowledged.append(remote.add(f"text {number}").events[0])
                except (BusyError, InDoubtError, SystemFailureError):
                    continue
            events = {event.seq: event.event_id for event in local.log(1)}
            assert all(events[one.seq] == one.event_id for one in acknowledged)
            contents = [local.get(found.id).content for found in local.find()]
            assert len(events) == len(contents) == len(set(contents))


class Silence:
    """A service that never answers, and the time that passes with it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.now = 1000.0

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        """Let the time pass until the client gives up."""
        self.asked.append(operation_of(request))
        self.sleep(request.extensions["timeout"]["read"])
        raise httpx2.ReadTimeout("timed out", request=request)

    def sleep(self, seconds: float) -> None:
        """Let the time pass."""
        self.now += seconds

    @contextmanager
    def asked_for(self, **options: Any) -> Iterator[Transport]:
        """Yield the connections to the service."""
        client = httpx2.Client(transport=httpx2.MockTransport(self.answer), timeout=60)
        transport = Transport(
            parse_address("https://host", None), client, sleep=self.sleep, clock=lambda: self.now, **options
        )
        yield transport
        transport.close()


def test_a_service_that_never_answers_is_given_up() -> None:
    """After the time-out, a query and a command are sent again, as often as the caller permits."""
    silence = Silence()
    with silence.asked_for(retries=1) as transport:
        with pytest.raises(SystemFailureError, match="timed out"):
            transport.call("tags", {})
        with pytest.raises(InDoubtError, match="timed out"):
            transport.call("add", {}, key="k")
    assert silence.asked == ["tags", "tags", "add", "add"]


def test_a_call_ends_at_the_deadline() -> None:
    """Attempts and pauses together take at most the time that the caller gives."""
    silence = Silence()
    with silence.asked_for(deadline=150) as transport:
        for key, error in ((None, SystemFailureError), ("k", InDoubtError)):
            began = silence.now
            with pytest.raises(error, match="timed out"):
                transport.call("add", {}, key=key)
            assert silence.now - began <= 150
    assert silence.asked == ["add"] * 6
