"""The front answers exactly as the SDK does, or not at all."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, KNOWN_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from engine.mcp import front
from engine.mcp.definition import Profile
from engine.mcp.front import first_answer
from engine.mcp.lease import Lease
from engine.mcp.server import server_of
from engine.mcp.tools import PROFILE
from tests.mcp.support import INITIALIZE, discover

BARE = Profile("bare", "Nothing but tools.", PROFILE.tools)
UNKNOWN = ["1999-01-01", "2025-11-26", "2026-07-29", "2099-12-31", "", "latest", "2025-11-25 "]


class Lines:
    """One line in, then silence until there was an answer; what is written is kept."""

    def __init__(self, line: str) -> None:
        self._lines = [line]
        self._answered = anyio.Event()
        self.written: list[Any] = []

    async def readline(self) -> str:
        """The line; at its second call, the end, once there was an answer."""
        if self._lines:
            return self._lines.pop()
        await self._answered.wait()
        return ""

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        line = await self.readline()
        if not line:
            raise StopAsyncIteration
        return line

    async def write(self, text: str) -> None:
        """Keep what is written."""
        self.written.append(json.loads(text))
        self._answered.set()

    async def flush(self) -> None:
        """Nothing is held back."""


async def answered(server: Server[Any], message: dict[str, Any]) -> Any:
    """What the SDK's server answers to a first message over its own streams."""
    lines: Any = Lines(json.dumps(message) + "\n")
    with anyio.fail_after(30):
        async with stdio_server(lines, lines) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    return lines.written[0]


def by_sdk(profile: Profile, *messages: dict[str, Any]) -> list[Any]:
    """What the SDK answers to each of these as the first message of a client."""

    def never() -> Any:
        raise AssertionError("the store was asked for")

    async def run() -> list[Any]:
        server = server_of(profile, Lease(never))
        return [await answered(server, message) for message in messages]

    return anyio.run(run)


def initialize(version: Any, **more: Any) -> dict[str, Any]:
    """A handshake for this version."""
    return {**INITIALIZE, "params": {**INITIALIZE["params"], "protocolVersion": version, **more}}


@pytest.mark.parametrize("profile", [PROFILE, BARE], ids=lambda profile: profile.name)
def test_the_front_answers_as_the_sdk_for_every_version(profile: Profile) -> None:
    """Handshakes and discovery, of versions that are known and that are not, byte for byte the same JSON."""
    versions = [*KNOWN_PROTOCOL_VERSIONS, *UNKNOWN]
    messages = [make(version) for make in (initialize, discover) for version in versions]
    for message, expected in zip(messages, by_sdk(profile, *messages), strict=True):
        assert first_answer(profile, message) == expected, message


def test_the_front_knows_the_versions_that_the_sdk_knows() -> None:
    """A newer SDK with more of them is noticed here."""
    assert front.HANDSHAKE_VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS
    assert front.MODERN_VERSIONS == MODERN_PROTOCOL_VERSIONS


@pytest.mark.parametrize(
    "capabilities",
    [
        {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}, "url": {}}},
        {"roots": {}, "experimental": {"x": {"deep": [1, {"er": None}]}}, "extensions": {"a/b": {}}},
        {"tasks": {"list": {}, "cancel": {}, "requests": {"sampling": {"createMessage": {}}}}},
    ],
)
def test_what_clients_do_send_is_answered_at_once(capabilities: dict[str, Any]) -> None:
    """Capabilities of clients in use do not make the front silent, and the SDK agrees."""
    message = initialize("2025-11-25", capabilities=capabilities)
    assert first_answer(PROFILE, message) is not None
    assert first_answer(PROFILE, message) == by_sdk(PROFILE, message)[0]


VALUE = st.recursive(
    st.sampled_from([None, True, 5, 0.5, "", "x", "2025-11-25"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["listChanged", "form", "list", "x"]), inner, max_size=2)
    ),
    max_leaves=4,
)
CAPABILITIES = (
    st.dictionaries(
        st.sampled_from(
            ["roots", "sampling", "elicitation", "experimental", "extensions", "tasks", "logging", "other"]
        ),
        VALUE | st.just({}),
        max_size=3,
    )
    | st.dictionaries(
        st.sampled_from(["sampling", "elicitation", "tasks"]),
        st.dictionaries(
            st.sampled_from(["form", "url", "context", "tools", "list", "cancel", "requests"]),
            VALUE,
            min_size=1,
        ),
        min_size=1,
        max_size=2,
    )
    | VALUE
)
CLIENT = (
    st.fixed_dictionaries(
        {"name": st.just("x") | VALUE, "version": st.just("1") | VALUE},
        optional=dict.fromkeys(("title", "description", "websiteUrl", "icons", "other"), VALUE),
    )
    | VALUE
)
VERSION = st.sampled_from([*KNOWN_PROTOCOL_VERSIONS, *UNKNOWN]) | VALUE
META_KEYS = [
    front.VERSION_KEY,
    front.CAPABILITIES_KEY,
    front.CLIENT_KEY,
    "progressToken",
    "io.modelcontextprotocol/logLevel",
    "other",
]


@st.composite
def first_messages(draw: st.DrawFn) -> dict[str, Any]:
    """Requests that look like a client's first, whole or with something wrong in them."""
    meta = draw(st.dictionaries(st.sampled_from(META_KEYS), VALUE, max_size=2))
    if draw(st.booleans()):
        params: Any = {
            "protocolVersion": draw(VERSION),
            "capabilities": draw(CAPABILITIES),
            "clientInfo": draw(CLIENT),
        }
        method = "initialize"
    else:
        method, params = "server/discover", {}
        meta |= {front.VERSION_KEY: draw(VERSION), front.CAPABILITIES_KEY: draw(CAPABILITIES)}
        if draw(st.booleans()):
            meta[front.CLIENT_KEY] = draw(CLIENT)
    if meta:
        params["_meta"] = meta
    return {
        "jsonrpc": "2.0",
        "id": draw(st.sampled_from([0, 1, -5, "a", ""])),
        "method": method,
        "params": params,
    }


@settings(max_examples=60)
@given(st.lists(first_messages(), min_size=8, max_size=8))
def test_where_the_front_answers_the_sdk_answers_the_same(messages: list[dict[str, Any]]) -> None:
    """Whatever a client sends first: what cannot be foreseen is left to the SDK."""
    foretold = [first_answer(PROFILE, message) for message in messages]
    known = [message for message, answer in zip(messages, foretold, strict=True) if answer is not None]
    assert [answer for answer in foretold if answer is not None] == by_sdk(PROFILE, *known)


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        [INITIALIZE],
        {**INITIALIZE, "jsonrpc": "1.0"},
        {**INITIALIZE, "id": None},
        {**INITIALIZE, "id": True},
        {**INITIALIZE, "id": 1.5},
        {**INITIALIZE, "method": "ping"},
        {**INITIALIZE, "params": None},
        {name: value for name, value in INITIALIZE.items() if name != "id"},
    ],
)
def test_anything_else_is_left_to_the_sdk(message: Any) -> None:
    """Notifications, batches, other methods and other shapes."""
    assert first_answer(PROFILE, message) is None
