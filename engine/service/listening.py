"""Where a server listens, and its limits: the settings, the listening socket and its encryption."""

from __future__ import annotations

import ipaddress
import os
import re
import resource
import socket
import ssl
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from engine.base.errors import EngineError, InvalidInputError, NotFoundError, RefusedError, system_failure

LOOPBACK: Final = "127.0.0.1"
BODY_BYTES_A_SECOND: Final = 64 << 10
"""A body that arrives faster than this is never too slow."""

_OTHER_FILES: Final = 128
"""The files that the process needs besides its connections: stores, threads, the interpreter's own."""

_QUEUE: Final = 4096
"""The connections that may wait to be taken. If the queue is full, a client tries again after a second."""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_NAME: Final = re.compile(r"(?:[A-Za-z0-9_.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_ORIGIN: Final = re.compile(r"[a-z][a-z0-9+.-]{0,31}://[A-Za-z0-9_.:\[\]-]{1,270}")


@dataclass(frozen=True)
class Limits:
    """The limits for every client. Times are in seconds."""

    connections: int = 1_000
    """The maximum number of simultaneous connections."""

    connections_of_peer: int = 250
    """The maximum number of simultaneous connections from one address. A named proxy may have more."""

    head_bytes: int = 16 << 10
    """The maximum size of the request line and the headers."""

    body_bytes: int = 16 << 20
    """The maximum size of a request's body."""

    bulk_bytes: int = 1 << 30
    """The maximum size of the body of a bulk request, which is carried out while it arrives."""

    head_seconds: float = 10
    """The time for the TLS handshake, and the time for the headers of a request."""

    body_seconds: float = 30
    """The time for the body, plus one second for each `BODY_BYTES_A_SECOND` received.

    Time in which the application is not ready to read does not count.
    """

    answer_seconds: float = 120
    """The time that the application has to begin its answer after it has the request."""

    write_seconds: float = 20
    """The time in which a client must read about 48 KiB, if that much waits to be sent."""

    idle_seconds: float = 15
    """The time that a connection without a request stays open."""

    proxy_idle_seconds: float = 90
    """The same for a connection of a named proxy, which should close it first."""

    stop_seconds: int = 10
    """The time that running requests have after SIGTERM."""

    requests_per_second: float = 50
    """The requests of one token, on average, in a second."""

    requests_at_once: int = 100
    """The requests that one token may send at once if it was quiet before."""

    requests_running: int = 100
    """The requests of one token that may run at the same time, streams of events among them."""


@dataclass(frozen=True)
class Settings:
    """The addresses at which a server listens, and the clients that it answers."""

    host: str = LOOPBACK
    """The address, or a name of it."""

    port: int = 0
    """The port; 0 chooses a free port."""

    certificate: Path | None = None
    """The file with the certificate and its chain (PEM). Without it, the server speaks plain HTTP."""

    key: Path | None = None
    """The file with the private key (PEM). If None, the key is in the file of the certificate."""

    proxies: tuple[Network, ...] = ()
    """The addresses of the proxies whose headers X-Forwarded-For and X-Forwarded-Proto are trusted."""

    insecure: bool = False
    """True to allow plain HTTP on an address that other machines can reach."""

    hosts: tuple[str, ...] = ()
    """Further names that the header Host may contain, with or without a port."""

    origins: tuple[str, ...] = ()
    """Further origins whose pages may use the server."""

    limits: Limits = field(default_factory=Limits)


def checked(settings: Settings) -> Settings:
    """Return the settings if they agree with each other.

    Raises:
        InvalidInputError: a key without a certificate, an invalid host name, or an invalid origin.
    """
    if settings.key is not None and settings.certificate is None:
        raise InvalidInputError("a key is given without a certificate", hint="give --certificate FILE, too")
    for host in settings.hosts:
        if not _NAME.fullmatch(host):
            raise InvalidInputError(
                f"{host!a} is not a host name", hint="write it as in an address: memory.example.com"
            )
    for origin in settings.origins:
        if not _ORIGIN.fullmatch(origin):
            raise InvalidInputError(
                f"{origin!a} is not an origin",
                hint="write scheme, host and port only: https://app.example.com",
            )
    return settings


def refuse_plain_http(settings: Settings, address: str) -> None:
    """Raise RefusedError if tokens would cross a network without encryption."""
    if ipaddress.ip_address(address).is_loopback or settings.certificate is not None:
        return
    if settings.proxies or settings.insecure:
        return
    raise RefusedError(
        f"other machines can reach {address}, and plain HTTP would show them tokens and texts",
        hint="give --certificate and --key, or --behind-proxy ADDRESS for a proxy with TLS; "
        "--insecure serves plain HTTP all the same",
    )


def network_of(text: str) -> Network:
    """Return the address or network that `text` names, such as 10.0.0.5 or 10.0.0.0/24.

    Raises:
        InvalidInputError: `text` is neither.
    """
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        raise InvalidInputError(
            f"{text!a} is not an address", hint="give an address such as 10.0.0.5, or a network"
        ) from None


class Encryption:
    """A certificate and its key, which can be renewed while the server runs."""

    def __init__(self, certificate: Path, key: Path | None) -> None:
        """Load both files."""
        self._files: Final = (certificate, certificate if key is None else key)
        self.context: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.context.set_alpn_protocols(["http/1.1"])
        self._loaded = self._state()
        self._load(self.context)

    def _state(self) -> tuple[int, ...]:
        """Return a value that changes when a file is replaced or rewritten.

        A missing file counts as unchanged.
        """
        try:
            states = [file.stat() for file in self._files]
        except OSError:
            return ()
        return tuple(number for one in states for number in (one.st_mtime_ns, one.st_ino, one.st_size))

    def renew(self) -> None:
        """Load the files again if they have changed, for new connections. If that fails, nothing changes.

        Raises:
            EngineError: the new files cannot be used. This is raised once for each change.
        """
        state = self._state()
        if state in (self._loaded, ()):
            return
        self._loaded = state
        # A context that fails half-way has the certificate of one file and the key of the other.
        self._load(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
        self._load(self.context)

    def _load(self, context: ssl.SSLContext) -> None:
        certificate, key = self._files
        _check_readable(certificate)
        _check_readable(key)
        _refuse_open_key(key)

        def no_password() -> str:
            raise InvalidInputError(
                f"the private key in {key} is encrypted", hint="decrypt it with `openssl pkey`, and chmod 600"
            )

        try:
            context.load_cert_chain(certificate, key, no_password)
        except ssl.SSLError as error:
            raise InvalidInputError(
                f"{_reason(error)}: {certificate}" + (f" and {key}" if key != certificate else ""),
                hint="give the PEM file of the certificate with its chain, and of its private key",
            ) from None


class Listener:
    """A socket that accepts connections, and the facts about it that clients need."""

    def __init__(self, settings: Settings, bound: socket.socket, encryption: Encryption | None) -> None:
        self.settings: Final = settings
        self.socket: Final = bound
        self.encryption: Final = encryption
        self.port: Final[int] = bound.getsockname()[1]

    @property
    def tls(self) -> ssl.SSLContext | None:
        """The context for TLS, or None for plain HTTP."""
        return None if self.encryption is None else self.encryption.context

    @property
    def url(self) -> str:
        """The address to show, without a path: `http://127.0.0.1:8765`."""
        return f"{self.scheme}://{self.name}"

    @property
    def scheme(self) -> str:
        """`https` or `http`."""
        return "http" if self.tls is None else "https"

    @property
    def name(self) -> str:
        """Host and port as in a URL."""
        host = self.settings.host
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"


@contextmanager
def listening(settings: Settings) -> Iterator[Listener]:
    """Listen on the address of the settings. Connections queue from now on.

    Raises:
        RefusedError: plain HTTP on an address that other machines can reach, or a private key that others
            can read.
        InvalidInputError: the settings, the certificate or the key are invalid.
        NotFoundError: a file does not exist.
        EngineError: the address is not available.
    """
    checked(settings)
    family, address = _resolved(settings.host, settings.port)
    refuse_plain_http(settings, address[0].partition("%")[0])
    encryption = None if settings.certificate is None else Encryption(settings.certificate, settings.key)
    _allow_files(settings.limits.connections)
    with _bound(family, address) as bound:
        yield Listener(settings, bound, encryption)


def _resolved(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    try:
        addresses = socket.getaddrinfo(
            host or " ", port, family=_family(host), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError):
        raise InvalidInputError(
            f"{host!a} is not an address of this machine",
            hint="give an address such as 127.0.0.1, or 0.0.0.0 for all addresses",
        ) from None
    family, _, _, _, address = addresses[0]
    return family, (str(address[0]), int(address[1]))


def _family(host: str) -> socket.AddressFamily:
    """Return the family of addresses for `host`. A name such as localhost means its IPv4 address."""
    return socket.AF_INET6 if ":" in host else socket.AF_INET


@contextmanager
def _bound(family: socket.AddressFamily, address: tuple[str, int]) -> Iterator[socket.socket]:
    # Only if the protocol is named does asyncio send the parts of an answer without waiting for the client in
    # between. Before, each answer on an open connection took 40 ms (Nagle's algorithm, delayed confirmation).
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as bound:
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            bound.listen(_QUEUE)
        except OSError as error:
            raise EngineError(
                f"cannot listen on port {address[1]} of {address[0]}: {error.strerror}",
                hint="choose another port, or 0",
            ) from error
        bound.setblocking(False)
        yield bound


def _allow_files(connections: int) -> None:
    """Raise the limit of open files as far as this process may, and refuse to start if that is not enough."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections + _OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise RefusedError(
            f"{connections} connections need {needed} open files, and the system allows this process {hard}",
            hint="raise the limit (`ulimit -Hn`); `engine serve` also has --connections",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def _reason(error: ssl.SSLError) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return "the private key does not belong to the certificate"
    return "there is no certificate with its private key in PEM"


def _check_readable(file: Path) -> None:
    try:
        with file.open("rb") as opened:
            opened.read(1)
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {file}") from None
    except IsADirectoryError:
        raise InvalidInputError(f"{file} is a folder, not a file") from None
    except OSError as error:
        raise system_failure(error, f"{file} cannot be read") from error


def _refuse_open_key(file: Path) -> None:
    """Raise RefusedError if others can read a private key. A group may read a key that belongs to root."""
    state = file.stat()
    allowed = stat.S_IRWXU | stat.S_IRGRP if state.st_uid == 0 and os.geteuid() != 0 else stat.S_IRWXU
    if stat.S_IMODE(state.st_mode) & ~allowed:
        raise RefusedError(f"other users can read the private key in {file}", hint=f"run `chmod 600 {file}`")
