"""The HTTP server on loopback: allowed and refused requests."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.mcp.support import INITIALIZE, TIMEOUT, Answer, arguments, call, environment, facts_of
from tests.support.command_line import Cli

pytestmark = pytest.mark.slow

TOKEN = "a-token-of-some-length-0123456789"  # noqa: S105  it guards an empty store for a second


class Served:
    """A server process that listens on a free port."""

    def __init__(self, store: Path, *more: str, **env: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *arguments(store, "--http", "0", *more)],
            env=environment(**env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        found = re.fullmatch(r"serving memory on (http://(.+):(\d+)/mcp)\n", line)
        assert found, line + self.process.stderr.read()
        self.url, self.port = found[1], int(found[3])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.communicate()

    def request(
        self, body: bytes | None = None, method: str = "POST", path: str = "/mcp", **headers: str | None
    ) -> tuple[int, dict[str, str], bytes]:
        """Send one request with these headers added; None omits a header."""
        usual: dict[str, str | None] = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        given = usual | {name.replace("_", "-"): value for name, value in headers.items()}
        raw = json.dumps(INITIALIZE).encode() if body is None else body
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in given.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(raw)))
            connection.endheaders(raw)
            answer = connection.getresponse()
            shown = {name.lower(): text for name, text in answer.getheaders()}
            return answer.status, shown, answer.read()
        finally:
            connection.close()

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str, str]:
        """Return the exit code and the remaining output."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode, out, err


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a token from the environment."""
    with Served(tmp_path_factory.mktemp("http") / "store", ENGINE_MCP_TOKEN=TOKEN) as server:
        yield server


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_a_client_with_the_token_is_served(served: Served, mode: str) -> None:
    """The SDK's client lists the tools, stores a text and finds it."""

    async def run() -> None:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=TIMEOUT) as connection,
            Client(streamable_http_client(served.url, http_client=connection), mode=mode) as client,
        ):
            assert len((await client.list_tools()).tools) == 14
            kept = Answer.of(await client.call_tool("remember", {"text": f"The kettle <b>of</b> {mode}."}))
            found = Answer.of(await client.call_tool("explore_expand", {"id": kept.fields["id"]}))
            assert f"  The kettle ‹b>of‹/b> {mode}." in found.text

    anyio.run(run)


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        f"Basic {TOKEN}",
        TOKEN,
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
    ],
)
def test_without_the_token_nobody_is_served(served: Served, given: str | None) -> None:
    """Without the token, the status is 401, and the body has no content of the memory."""
    status, headers, body = served.request(Authorization=given)
    assert status == 401
    assert headers["www-authenticate"].startswith("Bearer")
    assert body == b"A token is required"


@pytest.mark.parametrize(
    "host", ["evil.com", "evil.com:80", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.com", None]
)
def test_another_host_is_misdirected(served: Served, host: str | None) -> None:
    """Another Host header (DNS rebinding) gets status 421, and a missing Host header gets status 400."""
    assert served.request(Host=host)[0] == (421 if host else 400)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_the_names_of_this_machine_are_served(served: Served, host: str) -> None:
    """Loopback names with the port are served, and so are pages of the same origin."""
    name = f"{host}:{served.port}"
    assert served.request(Host=name, Origin=f"http://{name}")[0] == 200


@pytest.mark.parametrize(
    "origin",
    ["null", "http://evil", "https://127.0.0.1", "http://127.0.0.1", "http://127.0.0.1:1", "file://"],
)
def test_pages_of_elsewhere_are_forbidden(served: Served, origin: str) -> None:
    """Other origins get status 403, for preflight requests too, and no CORS header."""
    for method in ("POST", "OPTIONS"):
        status, headers, _ = served.request(method=method, Origin=origin)
        assert status == 403
        assert not [name for name in headers if name.startswith("access-control")]


def test_a_body_over_the_limit_is_refused(served: Served) -> None:
    """A body of more than 4 MiB gets status 413."""
    assert served.request(b'{"x": "' + b"y" * (4 << 20) + b'"}')[0] == 413


def test_idle_connections_do_not_keep_out_a_client_with_the_token(served: Served) -> None:
    """With 300 open connections that send nothing, a client with the token is served."""
    with ExitStack() as idle:
        for _ in range(300):
            idle.enter_context(socket.create_connection(("127.0.0.1", served.port), TIMEOUT))
        assert served.request()[0] == 200


def test_there_are_no_sessions_to_guess(served: Served) -> None:
    """No answer names a session, and a session header has no effect."""
    status, headers, body = served.request()
    assert status == 200
    assert "mcp-session-id" not in headers
    for guess in ("0" * 32, "admin", "a"):
        assert served.request(Mcp_Session_Id=guess)[::2] == (200, body)
        assert served.request(Mcp_Session_Id=guess, Authorization=None)[0] == 401


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/mcp", 405), ("DELETE", "/mcp", 405), ("POST", "/", 404), ("GET", "/../etc/passwd", 404)],
)
def test_nothing_else_is_served(served: Served, method: str, path: str, status: int) -> None:
    """Other paths and methods are refused."""
    assert served.request(method=method, path=path)[0] == status


def test_what_leaves_is_escaped(served: Served) -> None:
    """Answers are escaped as over a pipe: no markup and no control characters."""
    message = json.dumps(call(5, "remember", text="a <script> \x9b\u202e")).encode()
    status, headers, body = served.request(message, Mcp_Protocol_Version="2025-11-25")
    assert status == 200
    assert headers["content-length"] == str(len(body))
    atom = facts_of(json.loads(body)["result"]["content"][0]["text"])["id"]
    message = json.dumps(call(6, "explore_expand", id=atom)).encode()
    body = served.request(message, Mcp_Protocol_Version="2025-11-25")[2]
    assert "  a ‹script> \\x9b\\u202e" in json.loads(body)["result"]["content"][0]["text"]
    assert not re.search("[<>\x80-\x9f\u202a-\u202e]", body.decode())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nothing",
        b"[]",
        b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"\\ud800"}',
        b"\xff\xfe",
    ],
)
def test_what_is_no_message_is_refused(served: Served, body: bytes) -> None:
    """An invalid message gets status 400 with a reason, and the server continues."""
    assert served.request(body)[0] == 400
    assert served.request()[0] == 200


def test_a_new_token_is_shown_once_and_taken(tmp_path: Path) -> None:
    """If no token is given, a long random token is printed once and accepted."""
    with Served(tmp_path / "store", "--quiet") as server:
        assert server.process.stderr is not None
        token = server.process.stderr.readline().removeprefix("token (shown only once): ").strip()
        assert len(token) >= 40
        assert server.request(Authorization=f"Bearer {token}")[0] == 200
        assert server.request()[0] == 401
        assert server.end() == (0, "", "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server(tmp_path: Path, number: signal.Signals) -> None:
    """A signal ends the server with exit code 0 and no output; the log says nothing of headers."""
    asked = json.dumps(call(2, "status")).encode()
    with Served(tmp_path / "store", ENGINE_MCP_TOKEN=TOKEN) as server:
        assert server.request(asked, Mcp_Protocol_Version="2025-11-25")[0] == 200
        assert server.request(Host="evil\x9b2J")[0] == 421
        assert server.end(number) == (0, "", "")


Refused = Callable[..., tuple[int, str]]


@pytest.fixture
def refused(bare: Cli, monkeypatch: pytest.MonkeyPatch) -> Refused:
    """A function that returns the exit code and message of a server that does not start."""

    def run(store: Path, *more: str, **env: str) -> tuple[int, str]:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        ended = bare("mcp", "--store", str(store), *more)
        return ended.code, ended.err

    return run


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.com", ""])  # noqa: S104  it is refused
def test_no_other_address_is_listened_on(refused: Refused, tmp_path: Path, host: str) -> None:
    """Any address other than loopback is refused."""
    code, message = refused(tmp_path, "--http", "0", "--host", host, ENGINE_MCP_TOKEN=TOKEN)
    assert code == 7
    assert "is not a loopback address" in message


@pytest.mark.parametrize("token", ["", "short", "with spaces in it, long", "é" * 40])
def test_a_weak_token_is_refused_without_being_shown(refused: Refused, tmp_path: Path, token: str) -> None:
    """A token that is too short or has invalid characters is refused and not printed."""
    code, message = refused(tmp_path, "--http", "0", ENGINE_MCP_TOKEN=token)
    assert code == 7
    assert not token or token not in message


def test_the_token_comes_from_a_file_that_nobody_else_can_read(refused: Refused, tmp_path: Path) -> None:
    """A token file that others can read is refused; a private token file is used."""
    file = tmp_path / "token"
    file.write_text(TOKEN + "\n")
    file.chmod(0o644)
    code, message = refused(tmp_path / "store", "--http", "0", "--token-file", str(file))
    assert (code, "other users can read" in message) == (7, True)
    file.chmod(0o600)
    with Served(tmp_path / "store", "--token-file", str(file)) as server:
        assert server.request()[0] == 200
        assert server.end()[0] == 0


def test_a_port_that_is_taken_is_said_to_be(refused: Refused, tmp_path: Path) -> None:
    """A port in use is named in the error, without a traceback."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, message = refused(tmp_path, "--http", str(port), ENGINE_MCP_TOKEN=TOKEN)
    assert code == 1
    assert str(port) in message


def test_options_of_http_alone_are_refused_without_it(refused: Refused, tmp_path: Path) -> None:
    """HTTP options are refused without --http, which would ignore the token."""
    assert refused(tmp_path, "--host", "localhost")[0] == 2
