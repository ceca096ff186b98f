"""Host, Origin and proxies: who a request is for, and who sent it."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from engine.base.errors import InvalidInputError, RefusedError
from engine.service.listening import Settings, listening, network_of
from tests.service.raw import Served, serving, status_of


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """A server with one more name, one more name with a port, and one more origin."""
    settings = Settings(
        hosts=("Memory.example.com", "other.example.com:8443"), origins=("https://app.example.com",)
    )
    with serving(settings) as running:
        yield running


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:PORT", 200),
        ("localhost:PORT", 200),
        ("LOCALHOST:PORT", 200),
        ("[::1]:PORT", 200),
        ("memory.example.com", 200),
        ("memory.example.com:443", 200),
        ("MEMORY.example.com:PORT", 200),
        ("other.example.com:8443", 200),
        ("other.example.com", 421),
        ("other.example.com:443", 421),
        ("127.0.0.1", 421),
        ("127.0.0.1:1", 421),
        ("127.0.0.2:PORT", 421),
        ("evil.com:PORT", 421),
        ("evil.com", 421),
        ("memory.example.com.evil.com", 421),
        ("memory.example.com:", 421),
        ("memory.example.com:443:443", 421),
        ("memory.example.com@evil.com", 421),
        ("localhost:PORT,evil.com", 421),
        ("xn--mmory-e.example.com\xff", 421),
        ("", 421),
    ],
)
def test_only_expected_hosts_are_served(served: Served, host: str, status: int) -> None:
    """The names of this machine need the port; a further name is served with any port, unless it has one."""
    answer = served.request("/echo", "Host: " + host.replace("PORT", str(served.port)))
    assert status_of(answer) == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://127.0.0.1:PORT", 200),
        ("https://app.example.com", 200),
        ("https://127.0.0.1:PORT", 403),
        ("http://localhost:PORT", 403),
        ("http://127.0.0.1", 403),
        ("https://app.example.com:444", 403),
        ("https://app.example.com.evil.com", 403),
        ("http://app.example.com", 403),
        ("null", 403),
        ("", 403),
        ("file://", 403),
    ],
)
def test_only_pages_of_expected_origins_are_served(served: Served, origin: str, status: int) -> None:
    """Pages of this server and of the listed origins are served, others are not, whatever the method."""
    line = "Origin: " + origin.replace("PORT", str(served.port))
    for method in ("GET", "POST", "OPTIONS"):
        assert status_of(served.request("/echo", line, method=method)) == status


def test_a_browser_is_told_which_origins_may_use_the_server(served: Served) -> None:
    """Only a listed origin gets the headers of CORS, for its question beforehand and for the request."""
    ask = (
        "Origin: https://app.example.com",
        "Access-Control-Request-Method: POST",
        "Access-Control-Request-Headers: authorization, content-type, idempotency-key",
    )
    answers = [served.request("/echo", *ask, method="OPTIONS"), served.request("/echo", ask[0])]
    for answer in answers:
        assert status_of(answer) == 200
        assert b"access-control-allow-origin: https://app.example.com\r\n" in answer.lower()
        assert b"access-control-allow-credentials" not in answer.lower()
    own = served.request("/echo", f"Origin: http://127.0.0.1:{served.port}")
    assert b"access-control-allow-origin" not in own.lower()


def test_the_address_of_the_connection_is_a_name_of_the_server() -> None:
    """On all addresses, the address that a client uses is a valid Host: rebinding needs a name."""
    with serving(Settings(host="0.0.0.0", insecure=True)) as served:  # noqa: S104
        assert status_of(served.request("/echo", "Host: evil.com")) == 421
        assert status_of(served.request("/echo")) == 200


def said(answer: bytes) -> dict[str, Any]:
    """What the application says of a request."""
    found: dict[str, Any] = json.loads(answer[answer.index(b"{") : answer.rindex(b"}") + 1])
    return found


FORWARDED = ("X-Forwarded-For: 203.0.113.7, 198.51.100.9", "X-Forwarded-Proto: https")


def test_nobody_is_believed_who_is_not_named(served: Served) -> None:
    """Without a named proxy, the headers of a proxy have no effect."""
    found = said(served.request("/echo", *FORWARDED))
    assert (found["client"], found["scheme"]) == ("127.0.0.1", "http")


def test_a_named_proxy_is_believed() -> None:
    """The client is the last address that is not a proxy's; what a client wrote before it is ignored."""
    with serving(Settings(proxies=(network_of("127.0.0.0/8"),))) as served:
        found = said(served.request("/echo", *FORWARDED))
        assert (found["client"], found["scheme"]) == ("198.51.100.9", "https")


def test_a_named_proxy_is_believed_on_all_addresses() -> None:
    """A server for IPv6 and IPv4 knows the IPv4 address of the proxy."""
    if not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    with serving(Settings(host="::", proxies=(network_of("127.0.0.1"),))) as served:
        found = said(served.request("/echo", *FORWARDED))
        assert found["client"] == "198.51.100.9"


def test_behind_a_proxy_nobody_else_may_connect() -> None:
    """If a proxy ends TLS, a client that goes around it is refused: its token would not be encrypted."""
    address = own_address()
    settings = Settings(host="0.0.0.0", proxies=(network_of("203.0.113.7"),))  # noqa: S104
    with serving(settings) as served:
        assert status_of(served.request("/echo")) == 200  # this machine
        with socket.create_connection((address, served.port)) as connection:
            assert status_of(connection.recv(1 << 16)) == 503


def own_address() -> str:
    """Return an address of this machine that is not loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(("203.0.113.1", 9))  # sends nothing
        except OSError:
            pytest.skip("this machine has no address but loopback")
        return str(asking.getsockname()[0])


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104
def test_plain_http_is_refused_where_others_can_listen(host: str) -> None:
    """Off loopback, the server needs TLS, a proxy, or the explicit wish."""
    with (
        pytest.raises(RefusedError, match="plain HTTP would show them tokens"),
        listening(Settings(host=host)),
    ):
        pass


@pytest.mark.parametrize("host", ["256.0.0.1", "no such host", "", "evil\x00"])
def test_an_address_of_nothing_is_refused(host: str) -> None:
    """A host that this machine does not know is named in the error."""
    with pytest.raises(InvalidInputError, match="is not an address"), listening(Settings(host=host)):
        pass


@pytest.mark.parametrize("text", ["evil.com", "10.0.0.1/99", "10.0.0.1/8", "*", ""])
def test_a_proxy_is_an_address(text: str) -> None:
    """A proxy cannot be named by a name or by a pattern."""
    with pytest.raises(InvalidInputError, match="is not an address"):
        network_of(text)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(hosts=("https://memory.example.com",)),
        Settings(hosts=("*",)),
        Settings(hosts=("a b",)),
        Settings(origins=("app.example.com",)),
        Settings(origins=("https://app.example.com/",)),
        Settings(origins=("*",)),
    ],
)
def test_a_wrong_name_or_origin_is_refused(settings: Settings) -> None:
    """An entry that could never match, or would match everything, is an error."""
    with pytest.raises(InvalidInputError, match=r"is not an? (host name|origin)"), listening(settings):
        pass
