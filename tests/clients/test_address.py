"""The addresses of services, and what they may not contain."""

from __future__ import annotations

import pytest

from engine import InvalidInputError, RefusedError
from engine.clients.service_address import parse_address

ADDRESSES = {
    ("https://host", None): "https://host/v1/memories/~",
    ("https://host/", "ana"): "https://host/v1/memories/ana",
    ("https://host/v1/memories/ana", None): "https://host/v1/memories/ana",
    ("https://host/v1/memories/ana/", "ana"): "https://host/v1/memories/ana",
    ("https://host:8443/behind/v1/memories", "ana"): "https://host:8443/behind/v1/memories/ana",
    ("https://host/behind", "ana"): "https://host/behind/v1/memories/ana",
    ("http://127.0.0.1:8765", None): "http://127.0.0.1:8765/v1/memories/~",
    ("http://[::1]:8765", None): "http://[::1]:8765/v1/memories/~",
}


@pytest.mark.parametrize(("given", "address"), ADDRESSES.items(), ids=str)
def test_an_address_names_a_service_and_a_memory(given: tuple[str, str | None], address: str) -> None:
    """The memory is in the address or beside it; without either, it is the memory without a name."""
    assert parse_address(*given).url == address


@pytest.mark.parametrize(
    ("url", "memory"),
    [
        ("host", None),
        ("ftp://host", None),
        ("https://", None),
        ("https://host:99999", None),
        ("https://[::1", None),
        ("https://host?token=secret", None),
        ("https://host#secret", None),
        ("https://user:secret@host", None),
        ("https://secret@host", None),
        ("https://host/v1/memories/ana", "ben"),
        ("https://host/v1/memories/ana/get", None),
        ("https://host", ".."),
        ("https://host", "A B"),
        ("https://host", ""),
    ],
)
def test_another_text_is_refused(url: str, memory: str | None) -> None:
    """What is not an address is refused, and no message repeats a password in it."""
    with pytest.raises(InvalidInputError) as refused:
        parse_address(url, memory)
    assert "secret" not in f"{refused.value} {refused.value.hint}"


def test_a_token_is_not_sent_without_encryption() -> None:
    """`http:` is for this machine only, unless the caller says otherwise."""
    with pytest.raises(RefusedError, match="could read the token"):
        parse_address("http://host", None)
    assert parse_address("http://host", None, encrypted=False).service == "http://host"
