"""The settings of a server: address, encryption, proxies, allowed names, and limits."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from engine.base.errors import InvalidInputError, RefusedError

LOOPBACK: Final = "127.0.0.1"

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAME: Final = re.compile(r"(?:[A-Za-z0-9_.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_ORIGIN: Final = re.compile(r"[a-z][a-z0-9+.-]{0,31}://[A-Za-z0-9_.:\[\]-]{1,270}")


@dataclass(frozen=True)
class Limits:
    """The limits for every client. Times are in seconds and are checked twice a second."""

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


BODY_BYTES_A_SECOND: Final = 64 << 10
"""A body that arrives faster than this is never too slow."""


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


def address_of(text: str) -> Address:
    """Return an address of a connection; an IPv4 address is never shown as a part of IPv6."""
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
