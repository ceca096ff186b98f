"""A server process on stdin and stdout: messages, start and end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from engine.engine import Engine
from engine.mcp.wire import LINE_BYTES_MAX
from tests.mcp.support import (
    INITIALIZE,
    INITIALIZED,
    TIMEOUT,
    Answer,
    Raw,
    call,
    connected,
    environment,
    facts_of,
)
from tests.support.shared_data import needs
from tests.support.soak import often

pytestmark = pytest.mark.slow

LIST: dict[str, Any] = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
HARMFUL = re.compile(rb"[<>\x00-\x1f\x7f]")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a path for a store."""
    return tmp_path / "store"


def fields(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the facts in the text of a raw answer."""
    assert "structuredContent" not in answer["result"]
    return facts_of(answer["result"]["content"][0]["text"])


def error_of(answer: dict[str, Any]) -> dict[str, str]:
    """Return the error in a raw answer."""
    return Answer(None, answer["result"]["content"][0]["text"], answer["result"]["isError"]).error


def test_options_for_people_put_nothing_beside_the_messages(store: Path) -> None:
    """With `--json`, stdout still has only JSON-RPC messages."""
    with Raw(store, "--json") as server:
        server.open()
        assert "result" in server.ask(LIST)
        assert server.end() == (0, b"", b"")


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_a_client_of_any_protocol_is_served(store: Path, mode: str) -> None:
    """The SDK's client lists the tools, stores a text and finds it, on a store created on demand."""

    async def run() -> None:
        async with connected(store, mode=mode) as client:
            assert not store.exists()
            assert len((await client.list_tools()).tools) == 14
            assert not store.exists()
            kept = Answer.of(await client.call_tool("remember", {"content": "The kettle is descaled."}))
            found = Answer.of(await client.call_tool("explore_recall", {"query": "kettle"}))
            assert f" {kept.fields['id'][:8]} The kettle" in found.text

    anyio.run(run)
    with Engine.open(str(store), create=False) as engine:
        assert engine.verify().ok


def test_the_sdk_is_never_imported(store: Path) -> None:
    """The process never imports the SDK, which takes most of a second."""
    with Raw(store, PYTHONPROFILEIMPORTTIME="1") as server:
        server.open()
        assert "result" in server.ask(LIST)
        assert "result" in server.ask(call(3, "status"))
        code, out, err = server.end()
    imported = {line.rsplit(b"|", 1)[1].strip().decode() for line in err.splitlines() if b"|" in line}
    assert (code, out) == (0, b"")
    assert "engine.mcp.dispatch" in imported
    assert not imported & {"mcp", "mcp_types", "anyio", "asyncio", "pydantic", "starlette", "jsonschema"}


def test_messages_that_come_before_the_first_answer_are_answered_in_turn(store: Path) -> None:
    """A client may send all messages at once and close its output; every request is answered."""
    with Raw(store) as server:
        server.send(INITIALIZE, INITIALIZED, LIST, call(3, "status"))
        code, out, err = server.end()
    assert (code, err) == (0, b"")
    assert {json.loads(line)["id"] for line in out.splitlines()} >= {1, 2}


def test_only_messages_are_written_to_stdout_and_all_of_them_are_utf8(store: Path) -> None:
    """In every locale, stdout has only UTF-8 messages without control characters."""
    text = "kettle é 茶 🫖 <b>bold</b> \x1b[31m \x7f \x9b \u202e end"
    with Raw(store, LC_ALL="C", LANG="C", PYTHONIOENCODING="cp1252", PYTHONUTF8="0") as server:
        server.open()
        server.send(call(5, "remember", content=text))
        raw = server.line()
        atom = fields(json.loads(raw))["id"]
        for number, asked in enumerate(
            [
                ("explore_recall", {"query": "kettle"}),
                ("explore_peek", {"id": atom}),
                ("explore_expand", {"id": atom}),
                ("recent", {"atom": atom}),
                ("explore_neighbors", {"node": "kettle <b>"}),
            ],
            start=10,
        ):
            server.send(call(number, asked[0], **asked[1]))
            raw = server.line()
            assert not HARMFUL.search(raw.removesuffix(b"\n"))
            assert not re.search("[\x80-\x9f\u2028\u2029\u202a-\u202e]", raw.decode())
            if asked[0] == "explore_expand":
                shown = json.loads(raw)["result"]["content"][0]["text"]
                assert "\n  kettle é 茶 🫖 ‹b>bold‹/b> \\x1b[31m" in shown
        code, out, _ = server.end()
    assert (code, out) == (0, b"")


@pytest.mark.parametrize("step", often(5, 1))
def test_naughty_strings_go_over_the_wire_one_line_each(store: Path, step: int) -> None:
    """A naughty string is one line of JSON and can be read again: every fifth, or all in a long run."""
    naughty = [
        text for text in json.loads(needs("vectors/strings/blns.json").read_text("utf-8")) if text.strip()
    ]
    with Raw(store) as server:
        server.open()
        for number, text in enumerate(naughty[::step], start=10):
            server.send(call(number, "remember", content=text))
            raw = server.line()
            assert not HARMFUL.search(raw.removesuffix(b"\n"))
            answer = json.loads(raw)
            assert answer["id"] == number
            if not answer["result"]["isError"]:
                atom = fields(answer)["id"]
                looked = server.ask(call(-number, "explore_expand", id=atom, budget=20000))
                assert looked["result"]["content"][0]["text"].startswith(f"[{atom[:8]}]\n")


@pytest.mark.parametrize(
    ("line", "given"),
    [
        (b"the message is not valid JSON", None),
        (b"[1, 2]", None),
        (b'"text"', None),
        (b"[" * 100_000, None),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "\xc0\xaf"}', None),
        (b'{"jsonrpc": "2.0", "id": 7, "method": 5}', 7),
        (b'{"jsonrpc": "1.0", "id": 7, "method": "tools/list"}', 7),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "\\ud800"}}', 7),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": 5}', 7),
        (b"x" * (LINE_BYTES_MAX + 10), None),
    ],
)
def test_what_is_no_message_is_answered_with_an_error(store: Path, line: bytes, given: int | None) -> None:
    """An invalid message gets an error, before and after the first valid one."""
    with Raw(store) as server:
        server.send(line)
        assert json.loads(server.line())["error"]["code"] in {-32700, -32600}
        server.open()
        server.send(line)
        answer = json.loads(server.line())
        assert answer["id"] == given
        assert answer["error"]["code"] in {-32700, -32600}
        assert len(server.ask(LIST)["result"]["tools"]) == 14


def test_empty_lines_are_passed_over(store: Path) -> None:
    """Empty lines are ignored."""
    with Raw(store) as server:
        server.send(b"", b"  ", b"\r")
        server.open()
        server.send(b"")
        assert "result" in server.ask(LIST)


@pytest.mark.parametrize("called", [False, True])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_cleanly(store: Path, number: signal.Signals, called: bool) -> None:
    """A signal gives exit code 0 and an empty stderr, and the store is closed and valid."""
    with Raw(store) as server:
        server.open()
        if called:
            server.ask(call(3, "remember", content="kept"))
        server.process.send_signal(number)
        assert server.process.wait(10) == 0
        assert server.end()[1:] == (b"", b"")
    with Engine.open(str(store)) as engine:
        assert engine.status().live_atoms == int(called)


def test_the_end_of_the_input_ends_the_server(store: Path) -> None:
    """The end of the input ends the server, even before the first message."""
    with Raw(store) as server:
        assert server.end() == (0, b"", b"")
    with Raw(store) as server:
        server.open()
        server.ask(call(3, "remember", content="kept"))
        assert server.end() == (0, b"", b"")
    with Engine.open(str(store)) as engine:
        assert engine.status().live_atoms == 1


def test_what_was_asked_before_the_input_ended_is_done_and_answered(store: Path) -> None:
    """A client may send a request and end the input at once, however long the server takes to begin."""
    slow = "import engine.mcp.stdio as stdio, engine.cli.main as cli; stdio.SIGNAL_SECONDS = 0; cli.main()"
    asked = [INITIALIZE, INITIALIZED, call(3, "remember", content="kept")]
    done = subprocess.run(
        [sys.executable, "-c", slow, "mcp", "--store", str(store)],
        input=b"".join(json.dumps(message).encode() + b"\n" for message in asked),
        env=environment(),
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 3]
    with Engine.open(str(store)) as engine:
        assert engine.status().live_atoms == 1


def test_a_client_that_goes_without_a_word_leaves_no_traceback(store: Path) -> None:
    """A closed output ends the server without a traceback."""
    with Raw(store) as server:
        server.open()
        assert server.process.stdout is not None
        server.process.stdout.close()
        server.send(LIST)
        assert server.process.wait(10) == 0
        assert server.process.stderr is not None
        assert server.process.stderr.read() == b""


def test_a_server_that_only_reads_never_makes_a_store(store: Path) -> None:
    """With --read-only, a call on a missing store returns an error; once the store exists, calls succeed."""
    with Raw(store, "--read-only") as server:
        server.open()
        assert len(server.ask(LIST)["result"]["tools"]) == 9
        error = error_of(server.ask(call(3, "status")))
        assert error["code"] == "not_found"
        assert error["hint"]
        assert not store.exists()
        with Engine.open(str(store)) as engine:
            engine.add("kettle")
        assert fields(server.ask(call(4, "status")))["live_atoms"] == 1
        assert error_of(server.ask(call(5, "remember", content="x")))["code"] == "refused"
        assert server.end() == (0, b"", b"")


@pytest.mark.parametrize("kind", ["leveldb", "sqlite"])
def test_a_damaged_store_is_an_error_of_the_call(tmp_path: Path, kind: str) -> None:
    """A damaged store gives an error with a code and a hint, and the tools are still listed."""
    if kind == "leveldb":
        pytest.importorskip("plyvel", reason="NOT TESTED: plyvel is not installed")
    place = tmp_path / "store"
    with Engine.open(f"{kind}:{place}") as engine:
        for number in range(50):
            engine.add(f"text {number}")
    [file] = [place] if place.is_file() else sorted(place.rglob("MANIFEST-*"))
    file.write_bytes(os.urandom(4096))
    with Raw(f"{kind}:{place}") as server:
        server.open()
        error = error_of(server.ask(call(3, "status")))
        assert error["code"] in {"corrupt", "invalid"}
        assert len(server.ask(LIST)["result"]["tools"]) == 14
        code, _, err = server.end()
    assert code == 0
    assert b"Traceback" not in err


def test_every_tool_takes_each_of_its_arguments(store: Path) -> None:
    """The SDK's client calls every tool with all of its arguments, and no call fails."""
    with Engine.open(str(store)) as engine:
        atom = engine.add("The kettle is descaled on Mondays.", title="Kettle", tags=["tea"]).subject
        other = engine.add("The daemon uses the kettle.").subject
        engine.link(atom, "references", other)
        seq = engine.size - 1
    past = f"tag:tea -tag:old bucket:inbox after:2000-01-01 provenance:internal as_of:{seq}"
    calls: list[tuple[str, dict[str, Any]]] = [
        ("recall", {"query": "kettle", "filter": past, "budget": 100}),
        ("recent", {"limit": 1, "offset": 0, "filter": past, "budget": 100}),
        ("recent", {"atom": atom, "filter": f"as_of:{seq}"}),
        ("find", {"from": atom, "follow": "references", "direction": "both", "hops": 2, "offset": 0}),
        ("find", {"query": "kettle", "limit": 2, "filter": past, "budget": 100}),
        ("explore", {"query": "kettle", "steps": 3, "filter": past, "budget": 300}),
        ("explore_recall", {"query": "kettle", "limit": 2, "filter": past, "budget": 100}),
        ("explore_peek", {"id": atom, "query": "kettle", "filter": past, "budget": 100}),
        ("explore_expand", {"id": atom, "offset": 4, "filter": past, "budget": 100}),
        ("explore_neighbors", {"node": atom, "direction": "out", "types": "references", "offset": 0}),
        ("explore_neighbors", {"node": atom, "filter": past, "budget": 100}),
        ("status", {"claims": [f"atom {atom}"], "filter": f"as_of:{seq}", "budget": 4000}),
        (
            "remember",
            {
                "content": "Tea.",
                "title": "Tea",
                "tags": ["tea"],
                "source": "tea.md",
                "sequence": 3,
                "kind": "fact",
                "key": "tea",
                "provenance": "external",
                "meta": ["project=atlas"],
                "again": True,
            },
        ),
        ("find", {"filter": "meta.project:atlas"}),
        ("find", {"query": "kettle", "across": True}),
        ("relate", {"subject": "a", "predicate": "is", "object": "b", "source": atom}),
        ("tag", {"id": atom, "add": ["new"], "remove": ["tea"]}),
        ("revise", {"id": atom, "content": "It broke.", "title": "Broken", "tags": ["old"]}),
        ("forget", {"id": atom, "reason": "it broke", "instead": other}),
    ]

    async def run() -> None:
        async with connected(store) as client:
            unused = {
                (tool.name, name)
                for tool in (await client.list_tools()).tools
                for name in tool.input_schema["properties"]
            }
            for tool, given in calls:
                answer = Answer.of(await client.call_tool(tool, given))
                assert not answer.is_error, (tool, answer.text)
                unused -= {(tool, name) for name in given}
            assert not unused

    anyio.run(run)
