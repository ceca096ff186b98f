"""The stdio server gives the same answers as the SDK's server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.server.stdio import stdio_server
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, KNOWN_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from engine.engine import Engine
from engine.mcp import mcp_protocol as protocol
from engine.mcp.dispatch import Dispatcher
from engine.mcp.memory_profile import PROFILE
from engine.mcp.profiles import profile_of
from engine.mcp.tool_definition import Profile
from engine.memory.lease import Lease
from engine.service.mcp_http import server_of
from tests.mcp.support import INITIALIZE, INITIALIZED, discover, piped

BARE = Profile("bare", "Nothing but tools.", PROFILE.tools)
UNKNOWN = ["1999-01-01", "2025-11-26", "2026-07-29", "2099-12-31", "", "latest", "2025-11-25 "]
ERAS = ["2025-11-25", "2026-07-28"]

Message = dict[str, Any]


class Lines:
    """The stdin and stdout of the SDK's server; a line is sent after the previous line is answered."""

    def __init__(self, messages: list[Message]) -> None:
        self._messages = list(messages)
        self._answered = anyio.Event()
        self._answered.set()
        self.answers: list[Message] = []

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        await self._answered.wait()
        if not self._messages:
            raise StopAsyncIteration
        message = self._messages.pop(0)
        if "id" in message:
            self._answered = anyio.Event()
        return json.dumps(message) + "\n"

    async def write(self, text: str) -> None:
        """Keep an answer."""
        self.answers.append(json.loads(text))
        self._answered.set()

    async def flush(self) -> None:
        """Nothing is held back."""


async def by_sdk(dispatcher: Dispatcher, messages: list[Message]) -> list[Message]:
    """What the SDK's server answers to one client."""
    server, lines = server_of(dispatcher), Lines(messages)
    files: Any = lines
    with anyio.fail_after(30):
        async with stdio_server(files, files) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    return lines.answers


async def by_pipe(dispatcher: Dispatcher, messages: list[Message]) -> list[Message]:
    """What the server over a pipe answers to one client."""
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter as adapter

    answers: list[Message] = []
    with anyio.fail_after(30):
        async with piped(dispatcher) as (incoming, outgoing), incoming, outgoing:
            for message in messages:
                await outgoing.send(SessionMessage(adapter.validate_python(message)))
                if "id" in message:
                    answer = await incoming.receive()
                    answers.append(json.loads(answer.message.model_dump_json(exclude_unset=True)))
    return answers


def both(dispatcher: Dispatcher, messages: list[Message]) -> Iterator[tuple[Message, Message, Message]]:
    """Return each request with the SDK's response and the stdio server's response."""
    asked = [message for message in messages if "id" in message]
    theirs = anyio.run(by_sdk, dispatcher, messages)
    ours = anyio.run(by_pipe, dispatcher, messages)
    return zip(asked, theirs, ours, strict=True)


def firsts(dispatcher: Dispatcher, messages: list[Message]) -> Iterator[tuple[Message, Message, Message]]:
    """Like `both`, but each request is the first message of a new client of the SDK's server."""

    async def each() -> list[Message]:
        return [answer for message in messages for answer in await by_sdk(dispatcher, [message])]

    return zip(messages, anyio.run(each), anyio.run(by_pipe, dispatcher, messages), strict=True)


def unused(profile: Profile) -> Dispatcher:
    """Return a profile on a store that must not be opened."""

    def never() -> Engine:
        raise AssertionError("the store was asked for")

    return Dispatcher(profile, Lease(never))


def initialize(version: Any, **more: Any) -> Message:
    """Return a handshake with this version."""
    return {**INITIALIZE, "params": {**INITIALIZE["params"], "protocolVersion": version, **more}}


def requests(era: str, *asked: tuple[str, Any]) -> list[Message]:
    """Return methods and params as a client of this protocol version sends them."""
    envelope = discover(era)["params"] if era in MODERN_PROTOCOL_VERSIONS else {}
    beginning = [] if envelope else [initialize(era), INITIALIZED]
    return beginning + [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, **envelope}}
        for number, (method, params) in enumerate(asked, start=10)
    ]


ASKED: list[tuple[str, Any]] = [
    ("tools/list", {}),
    ("tools/list", {"cursor": "x"}),
    ("tools/list", {"cursor": 5}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "explore", "arguments": {"query": "<b> {0}"}}),
    ("prompts/get", {"name": "remember", "arguments": {"content": "x", "more": "y"}}),
    ("prompts/get", {"name": "explore", "arguments": {"query": 5}}),
    ("prompts/get", {"name": "explore"}),
    ("prompts/get", {"name": "nothing"}),
    ("prompts/get", {}),
    ("resources/read", {"uri": "engine://memory/status"}),
    ("resources/read", {"uri": "engine://memory/checkpoint"}),
    ("resources/read", {"uri": "engine://memory/atom/ffffffff"}),
    ("resources/read", {"uri": "engine://memory/atom/x"}),
    ("resources/read", {"uri": "engine://memory/atom/"}),
    ("resources/read", {"uri": "file:///etc/passwd"}),
    ("resources/read", {"uri": 5}),
    ("tools/call", {"name": "explore_recall", "arguments": {"query": "kettle"}}),
    ("tools/call", {"name": "explore_recall", "arguments": {"query": "kettle", "filter": "as_of:2"}}),
    ("tools/call", {"name": "explore_peek", "arguments": {"id": "ffff"}}),
    ("tools/call", {"name": "explore_expand", "arguments": {"id": 5}}),
    ("tools/call", {"name": "explore_neighbors", "arguments": {"node": "#kitchen"}}),
    ("tools/call", {"name": "status", "arguments": {"claims": ["no-term tea"]}}),
    ("tools/call", {"name": "status"}),
    ("tools/call", {"name": "status", "arguments": None}),
    ("tools/call", {"name": "status", "arguments": {"x": 1}}),
    ("tools/call", {"name": "status", "arguments": []}),
    ("tools/call", {"name": "nothing"}),
    ("tools/call", {"name": 5}),
    ("tools/call", {}),
    ("server/discover", {}),
    ("logging/setLevel", {"level": "info"}),
    ("resources/subscribe", {"uri": "engine://memory/status"}),
    ("nothing/known", {}),
]


@pytest.mark.parametrize("era", ERAS)
def test_a_pipe_answers_as_the_sdk(era: str) -> None:
    """Every method, with valid and invalid params, gives the same results and errors."""
    with Engine.open("memory:") as engine:
        engine.add("The kettle is descaled.", title="Kettle", tags=["kitchen"])
        engine.checkpoint()
        dispatcher = Dispatcher(PROFILE, Lease(lambda: engine))
        for request, theirs, ours in both(dispatcher, requests(era, *ASKED, ("ping", {}))):
            assert ours == theirs, request


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("profile", [BARE, profile_of("reference", read_only=True)], ids=lambda one: one.name)
def test_methods_of_what_is_not_offered_are_not_found(profile: Profile, era: str) -> None:
    """Without resources or prompts, their methods are unknown, as in the SDK."""
    asked = [("prompts/list", {}), ("prompts/get", {"name": "x"}), ("resources/templates/list", {})]
    for _, theirs, ours in both(unused(profile), requests(era, *asked)):
        assert ours == theirs


def test_a_pipe_serves_whoever_asks_properly() -> None:
    """Requests without a handshake, or of both eras, are answered.

    The server remembers nothing that a request could contradict.
    The SDK's server does the same over HTTP. Over a pipe, the SDK's server refuses both.
    """
    asked: tuple[str, Any] = ("prompts/list", {})
    first, _, of_one_era = requests(ERAS[0], asked)
    [of_another] = requests(ERAS[1], asked)
    [plain] = anyio.run(by_pipe, unused(PROFILE), [of_one_era])
    shaken, enveloped = anyio.run(by_pipe, unused(PROFILE), [first, of_another])
    assert "result" in shaken
    assert enveloped["result"].items() >= plain["result"].items()
    assert enveloped["result"]["resultType"] == "complete"


@pytest.mark.parametrize("version", [5, None, "2025-11-25", "2031-01-01"])
def test_an_envelope_that_is_wrong_is_refused(version: Any) -> None:
    """An invalid envelope gets the SDK's error code."""
    broken = requests(ERAS[1], ("tools/list", {}))[0]
    broken["params"] = {"_meta": {protocol.VERSION_KEY: version}}
    for _, theirs, ours in firsts(unused(PROFILE), [broken, discover(version)]):
        assert ours["error"]["code"] == theirs["error"]["code"]
        assert ours["error"].get("data") == theirs["error"].get("data")


@pytest.mark.parametrize("profile", [PROFILE, BARE], ids=lambda profile: profile.name)
def test_versions_are_negotiated_as_by_the_sdk(profile: Profile) -> None:
    """Handshake and discovery agree for known and unknown versions."""
    versions = [*KNOWN_PROTOCOL_VERSIONS, *UNKNOWN]
    messages = [make(version) for make in (initialize, discover) for version in versions]
    for message, theirs, ours in firsts(unused(profile), messages):
        assert ours == theirs, message


def test_the_versions_are_those_of_the_sdk() -> None:
    """The supported versions are those of the SDK."""
    assert protocol.HANDSHAKE_VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS
    assert protocol.ENVELOPE_VERSIONS == MODERN_PROTOCOL_VERSIONS


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
        st.sampled_from(["roots", "sampling", "elicitation", "experimental", "extensions", "tasks", "other"]),
        VALUE | st.just({}),
        max_size=3,
    )
    | VALUE
)
CLIENT = (
    st.fixed_dictionaries(
        {"name": st.just("x") | VALUE, "version": st.just("1") | VALUE},
        optional=dict.fromkeys(("title", "websiteUrl", "icons", "other"), VALUE),
    )
    | VALUE
)
VERSION = st.sampled_from([*KNOWN_PROTOCOL_VERSIONS, *UNKNOWN]) | VALUE
META = st.dictionaries(st.sampled_from(["progressToken", protocol.CLIENT_KEY, "other"]), VALUE, max_size=2)


@st.composite
def first_messages(draw: st.DrawFn) -> Message:
    """Return valid and invalid first requests of a client."""
    if draw(st.booleans()):
        client = {"capabilities": draw(CAPABILITIES), "clientInfo": draw(CLIENT)}
        return initialize(draw(VERSION), **client, _meta=draw(META))
    more = {protocol.CAPABILITIES_KEY: draw(CAPABILITIES)} | draw(META)
    if draw(st.booleans()):
        more[protocol.CLIENT_KEY] = draw(CLIENT)
    return discover(draw(VERSION), **more)


@settings(max_examples=40)
@given(st.lists(first_messages(), min_size=8, max_size=8))
def test_what_the_sdk_takes_is_taken_and_answered_alike(messages: list[Message]) -> None:
    """Every request that the SDK accepts is accepted with the same answer."""
    for message, theirs, ours in firsts(unused(PROFILE), messages):
        if "result" in theirs or "error" in ours:
            for answer in (theirs, ours):
                answer.get("error", {}).pop("message", None)
            assert ours == theirs, message
