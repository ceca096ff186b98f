"""Import of conversations from ChatGPT and Claude."""

from __future__ import annotations

import json
import os
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from backends.memory import MemoryBackend
from engine.base.errors import InvalidInputError, NotFoundError
from engine.engine import Engine
from engine.exchange.other_programs.chat_exports import OTHER_BRANCH
from engine.exchange.other_programs.item_atoms import import_items
from engine.files.ingest.documents import ATOM_TOKENS
from engine.text.token_estimate import estimate_tokens
from tests.exchange.support import atoms_of, mangled, reasons, told, twice, written
from tests.support.engines import engine_on, refuses

pytestmark = pytest.mark.slow


def node(name: str, parent: str | None, children: list[str], text: str, role: str = "user") -> dict[str, Any]:
    """Return a message of ChatGPT with its node."""
    return {
        "id": name,
        "parent": parent,
        "children": children,
        "message": {
            "id": name,
            "author": {"role": role},
            "create_time": 1700000000.25,
            "content": {"content_type": "text", "parts": [text]},
        },
    }


def chat(*nodes: dict[str, Any], current: str | None = "d") -> dict[str, Any]:
    """Return a conversation of ChatGPT."""
    return {
        "title": "Kettles",
        "create_time": 1600000000,
        "conversation_id": "c1",
        "current_node": current,
        "mapping": {one["id"]: one for one in nodes},
    }


ROOT = {"id": "r", "parent": None, "children": ["a"], "message": None}
BRANCHED = chat(
    ROOT,
    node("a", "r", ["b", "c"], "How do I descale?"),
    node("b", "a", [], "Old answer.", "assistant"),
    node("c", "a", ["d"], "With vinegar.", "assistant"),
    node("d", "c", [], "Thanks!"),
)


def chain(length: int) -> dict[str, Any]:
    """Return a conversation in which each message answers the one before it."""
    names = [f"n{at}" for at in range(length)]
    nodes = [
        node(name, names[at - 1] if at else None, names[at + 1 : at + 2], f"message {name}")
        for at, name in enumerate(names)
    ]
    return chat(*nodes, current=names[-1])


TALK = {
    "uuid": "u1",
    "name": "Tea",
    "created_at": "2024-07-01T12:00:00Z",
    "chat_messages": [
        {
            "uuid": "m1",
            "sender": "human",
            "text": "Which tea?",
            "content": [{"type": "text", "text": "Which tea?"}],
        },
        {
            "uuid": "m2",
            "sender": "assistant",
            "text": "",
            "content": [{"type": "text", "text": "Green."}, {"type": "tool_use", "name": "x"}],
            "created_at": "2024-07-01T12:01:00Z",
            "attachments": [{"file_name": "teas.txt", "extracted_content": "Green, black."}],
        },
    ],
}


def test_the_current_branch_comes_first_and_the_others_are_marked(engine: Engine, tmp_path: Path) -> None:
    """Messages are atoms with their speaker; the current branch is first, and others have a tag."""
    done = twice(engine, "chatgpt", written(tmp_path, [BRANCHED]))
    assert (done.items, done.added, done.skipped) == (4, 4, ())
    found = atoms_of(engine)
    assert [atom.content for atom in found] == [
        "User: How do I descale?",
        "Assistant: With vinegar.",
        "User: Thanks!",
        "Assistant: Old answer.",
    ]
    assert [atom.tags for atom in found] == [(), (), (), (OTHER_BRANCH,)]
    assert {(atom.source, atom.title, atom.kind, atom.provenance) for atom in found} == {
        ("chatgpt/c1", "Kettles", "message", "external")
    }
    assert {atom.created for atom in found} == {1_700_000_000_250_000}


def test_a_conversation_that_went_on_adds_its_new_messages(engine: Engine, tmp_path: Path) -> None:
    """A longer conversation adds its new messages, and a changed message is revised."""
    import_items(engine.store, "chatgpt", written(tmp_path, [BRANCHED]))
    longer = json.loads(json.dumps(BRANCHED))
    longer["mapping"]["d"]["children"] = ["e"]
    longer["mapping"]["e"] = node("e", "d", [], "And tea?")
    longer["current_node"] = "e"
    longer["mapping"]["a"]["message"]["content"]["parts"] = ["How do I descale it?"]
    done = twice(engine, "chatgpt", written(tmp_path, [longer]))
    assert (done.added, done.revised) == (1, 1)
    assert told(engine)[0] == "User: How do I descale it?"
    assert told(engine)[3] == "User: And tea?"


def test_what_a_person_changed_or_hid_stays(engine: Engine, tmp_path: Path) -> None:
    """Atoms that a person revised or tombstoned are not changed."""
    file = written(tmp_path, [BRANCHED])
    import_items(engine.store, "chatgpt", file)
    first, second = atoms_of(engine)[:2]
    engine.revise(first.id, content="Mine.")
    engine.tombstone(second.id)
    assert not import_items(engine.store, "chatgpt", file).changed


def test_a_long_message_is_cut_and_each_piece_says_who_speaks(engine: Engine, tmp_path: Path) -> None:
    """A long message is split into pieces with the speaker, and surplus older pieces are tombstoned."""
    words = [f"Sentence number {number} of a long answer." for number in range(200)]
    long = chat(ROOT, node("a", "r", [], "\n\n".join(words), "assistant"), current="a")
    twice(engine, "chatgpt", written(tmp_path, [long]))
    pieces = told(engine)
    assert len(pieces) > 5
    assert all(piece.startswith("Assistant: ") for piece in pieces)
    assert all(estimate_tokens(piece) <= ATOM_TOKENS + 5 for piece in pieces)
    assert "\n\n".join(piece.removeprefix("Assistant: ") for piece in pieces) == "\n\n".join(words)
    short = chat(ROOT, node("a", "r", [], "Short.", "assistant"), current="a")
    done = twice(engine, "chatgpt", written(tmp_path, [short]))
    assert (done.revised, done.tombstoned) == (1, len(pieces) - 1)
    assert told(engine) == ["Assistant: Short."]


def test_what_is_no_text_is_counted(engine: Engine, tmp_path: Path) -> None:
    """Pictures, tool calls and unsupported fields are counted."""
    one = json.loads(json.dumps(BRANCHED)) | {"gizmo_id": "g"}
    one["mapping"]["a"]["message"]["content"]["parts"] += [{"content_type": "image_asset_pointer"}, 7]
    one["mapping"]["b"]["message"]["content"]["parts"] = [""]
    one["mapping"]["c"]["message"]["metadata"] = {"x": 1}
    done = twice(engine, "chatgpt", written(tmp_path, [one]))
    assert done.left == (
        ("conversation.gizmo_id", 1),
        ("message.metadata", 1),
        ("messages without text", 1),
        ("part of type image_asset_pointer", 1),
        ("part that is not text", 1),
    )


def test_bad_items_are_reported_and_the_rest_goes_in(engine: Engine, tmp_path: Path) -> None:
    """Invalid items are reported with their numbers, and the others are imported."""
    raw = b",".join(
        [
            b"[{}",
            b"7",
            b'{"a":1,"a":2}',
            b'{"mapping":NaN}',
            b'{"x":' + b"[" * 90 + b"]" * 90 + b"}",
            json.dumps(BRANCHED).encode(),
            b'"\\ud800"',
            b'{"mapping":{"a":',
        ]
    )
    done = twice(engine, "chatgpt", written(tmp_path, raw))
    assert [line for line, _ in reasons(done)] == [1, 2, 3, 4, 5, 7, 8]
    said = dict(reasons(done))
    assert said[3] == "the key 'a' occurs twice in an object"
    assert said[4] == "not JSON: NaN"
    assert said[5] == "nested more than 64 levels deep"
    assert said[8] == "the file ends inside this item"
    assert done.added == 4


def test_bad_messages_are_reported_and_the_rest_goes_in(engine: Engine, tmp_path: Path) -> None:
    """Invalid messages are reported with their ids, and the others are imported."""
    one = json.loads(json.dumps(BRANCHED))
    one["mapping"]["a"] = 7
    one["mapping"]["b"]["message"] = "text"
    one["mapping"]["c"]["message"]["content"]["parts"] = ["has a \0 in it"]
    done = twice(engine, "chatgpt", written(tmp_path, [one]))
    assert [line for line, _ in reasons(done)] == [1, 1, 1]
    assert told(engine) == ["User: Thanks!"]


def test_a_text_that_nobody_wrote_is_reported(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A huge message and an item over the limit are reported."""
    monkeypatch.setattr("engine.exchange.other_programs.program_items.TEXT_CHARS_MAX", 1000)
    giant = chat(ROOT, node("a", "r", [], "x" * 1001), current="a")
    done = twice(engine, "chatgpt", written(tmp_path, [giant]))
    assert "1,001 characters" in reasons(done)[0][1]


@pytest.mark.parametrize(
    "raw", [b"", b"hello", b"PK\x03\x04", b"\xff\xfe[\0"], ids=["empty", "text", "zip", "utf-16"]
)
def test_what_is_no_json_is_refused_whole(engine: Engine, tmp_path: Path, raw: bytes) -> None:
    """A file that is not JSON is refused before anything is written."""
    file = written(tmp_path, raw)
    for form in ("chatgpt", "claude", "mem0"):
        assert refuses(engine, InvalidInputError, import_items, engine.store, form, file)
        assert refuses(engine, NotFoundError, import_items, engine.store, form, tmp_path / "no")
        assert refuses(engine, InvalidInputError, import_items, engine.store, form, tmp_path)
        assert refuses(engine, InvalidInputError, import_items, engine.store, form, file, provenance="x")
    assert refuses(engine, InvalidInputError, import_items, engine.store, "nothing", file)


@given(value=mangled([BRANCHED]))
@settings(max_examples=150)
def test_wrong_types_anywhere_are_no_matter_for_chatgpt(value: Any) -> None:
    """Values of wrong types in ChatGPT's export are reported, and raise only EngineError."""
    _import_any("chatgpt", value)


@given(
    value=mangled([TALK, {"conversations_memory": "Likes tea.", "project_memories": {"p": "Builds a shed."}}])
)
@settings(max_examples=150)
def test_wrong_types_anywhere_are_no_matter_for_claude(value: Any) -> None:
    """Values of wrong types in Claude's export are reported, and raise only EngineError."""
    _import_any("claude", value)


def _import_any(form: str, value: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = written(Path(folder), value)
        engine = engine_on()
        if not isinstance(value, list | dict):
            assert refuses(engine, InvalidInputError, import_items, engine.store, form, file)
            return
        twice(engine, form, file)
        assert engine.verify().ok


def test_a_talk_with_claude(engine: Engine, tmp_path: Path) -> None:
    """Claude's messages are in order, with the texts of attachments; other blocks are counted."""
    done = twice(engine, "claude", written(tmp_path, [TALK]))
    found = atoms_of(engine)
    assert [atom.content for atom in found] == [
        "User: Which tea?",
        "Assistant: Green.",
        "Attachment: Green, black.",
    ]
    assert [atom.title for atom in found] == ["Tea", "Tea", "teas.txt"]
    assert {atom.source for atom in found} == {"claude/u1"}
    assert [atom.created for atom in found[:2]] == [1_719_835_200_000_000, 1_719_835_260_000_000]
    assert done.left == (("block of type tool_use", 1),)


def test_what_claude_remembers(engine: Engine, tmp_path: Path) -> None:
    """`memories.json` gives the memories of all conversations and of each project."""
    value = [
        {"conversations_memory": "Likes tea.", "project_memories": {"p1": "Builds a shed."}, "account": "x"}
    ]
    done = twice(engine, "claude", written(tmp_path, value))
    assert told(engine) == ["Likes tea.", "Builds a shed."]
    assert [atom.key for atom in atoms_of(engine)] == ["conversations", "project/p1"]
    assert done.left == (("account", 1),)


def test_a_long_chain_is_looked_up_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import asks the store for the rows of many messages at once, not once for each message."""
    engine, get, calls = engine_on(), MemoryBackend.get, count()

    def counted(rows: MemoryBackend, key: bytes) -> bytes | None:
        next(calls)
        return get(rows, key)

    monkeypatch.setattr(MemoryBackend, "get", counted)
    report = import_items(engine.store, "chatgpt", written(tmp_path, [chain(300)]))
    assert report.added == 300
    assert next(calls) < 100


def test_a_fifo_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    """An export must be a regular file; nothing waits for a program that writes to a FIFO."""
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(InvalidInputError, match="not a regular file"):
        import_items(engine_on().store, "chatgpt", tmp_path / "fifo")
