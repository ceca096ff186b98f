"""The address of a memory on a service."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from engine.base.errors import InvalidInputError, RefusedError
from engine.base.validation import instance, quoted

UNNAMED: Final = "~"
"""The name in addresses of the memory without a name."""

_MEMORIES: Final = "/v1/memories"
_NAME: Final = re.compile(r"~|[a-z0-9_-][a-z0-9._-]{0,31}")


class Address(NamedTuple):
    """The address of a memory: `https://HOST/v1/memories/NAME`."""

    service: str
    """The address of the service, without a slash at the end."""
    memory: str
    is_loopback: bool
    """True if the service is on this machine."""

    @property
    def url(self) -> str:
        """The whole address."""
        return f"{self.service}{_MEMORIES}/{self.memory}"


def parse_address(url: str, memory: str | None, *, encrypted: bool = True) -> Address:
    """Return the address that `url` and `memory` name.

    Args:
        url: `https://HOST`, or the whole address of a memory. A path before `/v1` is kept.
        memory: The name of the memory; None for the name in `url`, or for the memory without a name.
        encrypted: Refuse `http:` unless the service is on this machine.

    Raises:
        InvalidInputError: `url` is not the address of a service, or `memory` is not a name.
        RefusedError: The token would be sent without encryption.
    """
    parts = _split(url)
    path, separator, name = parts.path.rstrip("/").partition(_MEMORIES)
    name = name.removeprefix("/")
    if separator and name and memory not in (None, name):
        raise InvalidInputError(f"the address names the memory {quoted(name)}, not {quoted(memory)}")
    memory_name = memory if memory is not None else name or UNNAMED
    if not isinstance(memory_name, str) or not _NAME.fullmatch(memory_name):
        raise InvalidInputError(
            f"{quoted(memory_name)} is not the name of a memory",
            hint="give memory=NAME, or https://HOST alone",
        )
    local = is_loopback(parts.hostname or "")
    if parts.scheme == "http" and encrypted and not local:
        raise RefusedError(
            "over http: everybody on the way could read the token and the texts",
            hint="use https:, or encrypted=False in a network that you trust",
        )
    return Address(f"{parts.scheme}://{parts.netloc}{path}", memory_name, local)


def _split(url: str) -> SplitResult:
    """Return the parts of a URL. No message repeats the URL, because it may contain a password."""
    instance(url, str, "url")
    hint = "give an address such as https://HOST/v1/memories/NAME"
    try:
        parts = urlsplit(url)
        is_complete = parts.scheme in {"http", "https"} and bool(parts.hostname)
        parts.port  # noqa: B018  it is checked when it is read
    except ValueError:
        raise InvalidInputError("the address of the service is not a URL", hint=hint) from None
    if not is_complete:
        raise InvalidInputError("the address of the service must begin with https://", hint=hint)
    if "@" in parts.netloc:
        raise InvalidInputError("the address contains a user or a password", hint="give token=TOKEN instead")
    if parts.query or parts.fragment:
        raise InvalidInputError("the address contains a query or a fragment", hint=hint)
    return parts


def is_loopback(host: str) -> bool:
    """Return True if `host` is a loopback address or `localhost`. No other name is looked up."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
