"""The operations: which methods are offered, and what they accept and return."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.base.errors import InvalidInputError
from engine.base.json_text import encode
from engine.base.scopes import Scope, offers
from engine.clients.wire.json_calls import COMMANDS, encode_command
from engine.clients.wire.json_shapes import Schemas
from engine.clients.wire.operations import command_shape, operations, shape_of
from engine.engine import Engine
from engine.query.explore.explore_answers import VerbAnswer


@pytest.fixture(scope="module")
def memory() -> Engine:
    """A memory with two atoms, an edge and a page."""
    found = Engine.open("memory:")
    kettle = found.add("The kettle is descaled on Mondays.", tags=["kitchen"], meta={"at": 5, "time": "x"})
    tea = found.add("Tea needs the kettle.", title="Tea", source="tea.md", sequence=0, created=-1)
    found.link(tea.id, "references", kettle.id, data=b"\x42\x00\xff")
    found.tombstone(found.add("Gone.").id, "wrong")
    return found


def test_every_public_member_of_engine_is_offered_or_has_a_reason() -> None:
    """Each public member is marked as an operation, or its mark says why it is not an operation."""
    public = {name for name, _ in inspect.getmembers_static(Engine) if not name.startswith("_")}
    marks = offers(Engine)
    assert public == set(marks)
    assert {name for name, offer in marks.items() if not offer.reason} == set(operations())


def test_reading_operations_append_nothing(memory: Engine) -> None:
    """An operation of the scope read leaves the journal as it is."""
    before = memory.size
    for name, given_ in CALLS.items():
        found = operations()[name]
        if found.scope is Scope.READ:
            found.call(memory, found.arguments(_filled(memory, given_)))
    assert memory.size == before


CALLS: dict[str, dict[str, Any]] = {
    "across": {"query": "kettle"},
    "bright_nodes": {"query": "kettle"},
    "context": {"query": "kettle", "tags": ["kitchen"]},
    "diff": {"before": 0},
    "duplicates": {"as_of": 2},
    "edges": {"id": "TEA", "as_of": 3},
    "erasable": {"ids": "TEA"},
    "explore": {"query": "Who lives in Oslo, and what is descaled?"},
    "find": {"since": "2020-01-01", "form": "full"},
    "get": {"id": "TEA"},
    "get_edge": {"src": "TEA", "type": "references", "dst": "KETTLE"},
    "history": {"id": "TEA"},
    "recall": {"query": "kettle", "explain": True, "as_of": 2},
    "recent": {"limit": 5, "meta": {"at": 5}},
    "sources": {"limit": 5, "as_of": 2},
    "resolve": {"id": "TEA"},
    "revertible": {"start": 1, "actor": "user"},
    "root": {},
    "size": {},
    "status": {},
    "structured_graph": {"query": "kettle"},
    "tags": {},
    "titles": {"ids": ["TEA"], "as_of": 2},
    "why": {"id": "TEA"},
    "dream": {"dry_run": True},
    "revert": {"start": 1, "dry_run": True},
    "tag": {"id": "TEA", "tags": ["drink"]},
    "verify": {},
}


def _filled(memory: Engine, given_: Any) -> Any:
    tea = memory.find(sources=["tea.md"])[0].id
    (kettle,) = [one.id for one in memory.find(tags=["kitchen"])]
    text = json.dumps(given_).replace("TEA", tea).replace("KETTLE", kettle)
    return json.loads(text)


@pytest.mark.parametrize("name", CALLS)
def test_a_result_comes_back_from_json_unchanged(memory: Engine, name: str) -> None:
    """Encoding a result and decoding it gives an equal result."""
    found = operations()[name]
    result = found.call(memory, found.arguments(_filled(memory, CALLS[name])))
    sent = json.loads(json.dumps(found.encoded(result)))
    assert found.result.decode(sent, name) == result


def test_each_answer_of_a_step_keeps_its_class(memory: Engine) -> None:
    """The answers of all four verbs come back from JSON as equal instances of their classes."""
    explorer = memory.explorer()
    hints = explorer.explore_recall("kettle")
    node = hints.hints[0].id
    others = (explorer.explore_peek(node), explorer.explore_expand(node), explorer.explore_neighbors(node))
    for answer in (hints, *others):
        sent = json.loads(json.dumps(encode(answer)))
        assert shape_of(VerbAnswer).decode(sent, "answer") == answer


def test_every_operation_has_a_schema_and_a_summary() -> None:
    """The parameters and results of all operations can be described."""
    schemas: Schemas = {}
    for found in operations().values():
        found.result.schema(schemas)
        assert found.summary.endswith("."), found.name
        for parameter in found.parameters:
            parameter.shape.schema(schemas)
            assert parameter.about, f"{found.name}.{parameter.name}"


@pytest.mark.parametrize(
    ("name", "given_", "part"),
    [
        ("recall", {}, "needs the parameter query"),
        ("recall", {"query": 5}, "query must be a text, not an integer"),
        ("recall", {"query": "x", "limit": True}, "limit must be an integer, not true or false"),
        ("recall", {"query": "x", "limt": 3}, "has no parameter 'limt'"),
        ("recall", {"query": "x", "as_of": "yesterday"}, "as_of.*yesterday"),
        ("find", {"since": "tomorrow"}, "since 'tomorrow' is not a date or time"),
        ("find", {"tags": "kitchen"}, "tags must be an array, not 'kitchen'"),
        ("apply", {"commands": [{"add": {"content": "x", "colour": "red"}}]}, "has no field 'colour'"),
        ("apply", {"commands": [{"burn": {}}]}, "has no field 'burn'"),
        ("link", {"src": "a", "type": "references", "dst": "b", "data": "?"}, "data must be base64"),
    ],
)
def test_a_wrong_argument_is_named(name: str, given_: dict[str, Any], part: str) -> None:
    """The message says which argument is wrong, and what was expected."""
    with pytest.raises(InvalidInputError, match=part.replace("?", r"\?")):
        operations()[name].arguments(given_)


def test_a_query_string_is_read_by_the_types_of_the_parameters() -> None:
    """Numbers, truth values and lists are read from texts."""
    read = operations()["recall"].read_query(
        {"query": ["7"], "limit": ["7"], "explain": ["true"], "tags": ["a", "b"], "as_of": ["12"]}
    )
    assert read == {"query": "7", "limit": 7, "explain": True, "tags": ["a", "b"], "as_of": 12}


@given(
    st.builds(
        engine.Add,
        st.text(max_size=20),
        title=st.none() | st.text(max_size=5),
        tags=st.lists(st.text(max_size=5), max_size=3),
        created=st.none() | st.integers(-(10**18), 10**18),
        meta=st.none()
        | st.dictionaries(st.text(max_size=3), st.integers() | st.booleans() | st.text(max_size=3)),
    )
)
def test_a_command_comes_back_from_json(command: engine.Add) -> None:
    """Encoding a command and decoding it gives a command with the same meaning."""
    back = command_shape().decode(json.loads(json.dumps(encode_command(command))), "command")
    assert encode_command(back) == encode_command(command)


def test_every_public_command_has_a_name() -> None:
    """All commands that `engine` exports can be sent."""
    public = {
        name for name in dir(engine) if isinstance(getattr(engine, name), type)
        and getattr(engine, name).__module__.startswith("engine.commands.")
    }  # fmt: skip
    assert public - {"Command", "Conflict", "SecretsPolicy"} <= set(COMMANDS.values())
