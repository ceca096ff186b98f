"""The addresses by which a machine reaches itself only."""

from __future__ import annotations

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Return True if `host` is a loopback address or `localhost`. No other name is looked up."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
