"""The profile `reference`, in a scripted session with the SDK's client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it ships no type hints
from mcp import Client, MCPError

from engine.engine import Engine
from engine.knowledge import Entity, KnowledgeGraph, Relation
from engine.mcp import reference_profile as reference
from engine.mcp.profiles import profile_of
from tests.mcp.support import Memory
from tests.support.engines import unchanged_by

pytestmark = pytest.mark.slow

MODES = ["2026-07-28", "legacy"]

ALICE = {"name": "Alice", "entityType": "person", "observations": ["likes tea", "says <hi> & „grüezi“"]}
BOB = {"name": "Bob", "entityType": "", "observations": []}
KNOWS = {"from": "Alice", "to": "Bob", "relationType": "knows"}
WORKS = {"from": "Bob", "to": "Bob", "relationType": "works for"}

SESSION: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("create_entities", {"entities": [ALICE, BOB, ALICE]}, {"entities": [ALICE, BOB]}),
    ("create_entities", {"entities": [BOB]}, {"entities": []}),
    ("create_relations", {"relations": [KNOWS, WORKS, KNOWS]}, {"relations": [KNOWS, WORKS]}),
    ("create_relations", {"relations": [KNOWS]}, {"relations": []}),
    (
        "add_observations",
        {
            "observations": [
                {"entityName": "Bob", "contents": ["sleeps", "barks"]},
                {"entityName": "Alice", "contents": ["likes tea"]},
            ]
        },
        {
            "results": [
                {"entityName": "Bob", "addedObservations": ["sleeps", "barks"]},
                {"entityName": "Alice", "addedObservations": []},
            ]
        },
    ),
    (
        "read_graph",
        {},
        {
            "entities": [ALICE, BOB | {"observations": ["sleeps", "barks"]}],
            "relations": [KNOWS, WORKS],
        },
    ),
    ("search_nodes", {"query": "TEA"}, {"entities": [ALICE], "relations": [KNOWS]}),
    ("search_nodes", {"query": "nowhere"}, {"entities": [], "relations": []}),
    ("open_nodes", {"names": ["Alice", "Carol"]}, {"entities": [ALICE], "relations": [KNOWS]}),
    (
        "delete_observations",
        {
            "deletions": [
                {"entityName": "Bob", "observations": ["barks", "flies"]},
                {"entityName": "Carol", "observations": ["sings"]},
            ]
        },
        {"success": True, "message": "Observations deleted successfully"},
    ),
    (
        "delete_observations",
        {"deletions": [{"entityName": "Bob", "observations": ["barks", "sleeps"]}]},
        {"success": True, "message": "Observations deleted successfully"},
    ),
    (
        "delete_observations",
        {"deletions": [{"entityName": "Alice", "observations": ["likes tea"]}]},
        {"success": True, "message": "Observations deleted successfully"},
    ),
    (
        "delete_relations",
        {"relations": [WORKS, KNOWS | {"relationType": "hates"}]},
        {"success": True, "message": "Relations deleted successfully"},
    ),
    (
        "delete_relations",
        {"relations": [KNOWS]},
        {"success": True, "message": "Relations deleted successfully"},
    ),
    (
        "delete_entities",
        {"entityNames": ["Alice", "Carol", "Dave"]},
        {"success": True, "message": "Entities deleted successfully"},
    ),
    (
        "delete_entities",
        {"entityNames": ["Bob"]},
        {"success": True, "message": "Entities deleted successfully"},
    ),
    ("read_graph", {}, {"entities": [], "relations": []}),
]
"""Tool, arguments, and the structured content of its answer."""


@pytest.fixture
def memory() -> Iterator[Memory]:
    """Return an empty memory behind the profile."""
    with Engine.open("memory:", actor="agent") as engine:
        yield Memory(engine, profile_of("reference"))


def expected_text(fields: dict[str, Any]) -> str:
    """Return the text for structured content: a message, its only list, or the whole content."""
    if "message" in fields:
        return str(fields["message"])
    value = next(iter(fields.values())) if len(fields) == 1 else fields
    return json.dumps(value, ensure_ascii=False, indent=2).replace("<", "\\u003c").replace(">", "\\u003e")


def called(memory: Memory, tool: str, mode: str = MODES[0], /, **arguments: Any) -> tuple[Any, str, bool]:
    """Return structured content, text, and whether the answer is an error."""

    async def question(client: Client) -> tuple[Any, str, bool]:
        result = await client.call_tool(tool, arguments)
        return result.structured_content, result.content[0].text, result.is_error  # type: ignore[union-attr]

    return memory.ask(question, mode)


@pytest.mark.parametrize("mode", MODES)
def test_a_session(memory: Memory, mode: str) -> None:
    """Every answer equals that of the reference server, in both forms and both protocol versions."""
    for tool, arguments, fields in SESSION:
        assert called(memory, tool, mode, **arguments) == (fields, expected_text(fields), False), tool


def test_the_tools_are_the_nine(memory: Memory) -> None:
    """The nine tools have their names, all arguments are required, and deleting tools are marked."""

    async def question(client: Client) -> list[Any]:
        return list((await client.list_tools()).tools)

    tools = memory.ask(question)
    assert [tool.name for tool in tools] == [
        "create_entities",
        "create_relations",
        "add_observations",
        "delete_entities",
        "delete_observations",
        "delete_relations",
        "read_graph",
        "search_nodes",
        "open_nodes",
    ]
    for schema in (tool.input_schema for tool in tools):
        assert list(schema.get("properties", ())) == schema.get("required", [])
    assert [tool.name for tool in tools if tool.annotations.destructive_hint] == [
        "delete_entities",
        "delete_observations",
        "delete_relations",
    ]
    assert [tool.name for tool in tools if tool.annotations.read_only_hint] == [
        "read_graph",
        "search_nodes",
        "open_nodes",
    ]


def test_answers_meet_their_schemas() -> None:
    """Every answer of the session matches the schema of its tool."""
    tools = {tool.name: tool for tool in reference.PROFILE.tools}
    for name, arguments, fields in SESSION:
        Draft202012Validator(tools[name].input).validate(arguments)
        Draft202012Validator(tools[name].output).validate(fields)


def test_the_resource_is_the_whole_graph(memory: Memory) -> None:
    """The resource is the same JSON as the text of `read_graph`."""
    called(memory, "create_entities", entities=[ALICE])

    async def question(client: Client) -> tuple[list[str], Any]:
        listed = [str(one.uri) for one in (await client.list_resources()).resources]
        return listed, (await client.read_resource("memory://knowledge-graph")).contents[0]

    listed, content = memory.ask(question)
    assert listed == ["memory://knowledge-graph"]
    assert content.mime_type == "application/json"
    assert content.text == called(memory, "read_graph")[1]


def test_the_answers_are_those_of_the_reference_server(memory: Memory) -> None:
    """In 24 calls, contents and texts are equal; only the wording of errors about arguments differs.

    The answers were recorded from version 2026.8.31 of the reference server.
    """
    calls = json.loads((Path(__file__).parent / "reference_answers.json").read_text(encoding="utf-8"))
    assert len(calls) == 24
    for one in calls:
        fields, text, is_error = called(memory, one["tool"], **one["arguments"])
        assert (fields, is_error) == (one["structured"], one["is_error"]), one
        if "Input validation error" in one["text"]:
            beginning = (
                f"MCP error -32602: Input validation error: Invalid arguments for tool {one['tool']}: "
            )
            assert text.startswith(beginning)
            assert one["text"].startswith(beginning)
        else:
            assert text.replace("\\u003c", "<").replace("\\u003e", ">") == one["text"], one


def test_a_missing_entity_is_an_error_that_names_it(memory: Memory) -> None:
    """The error is the reference server's text without structured content, and nothing is written."""
    called(memory, "create_entities", entities=[ALICE])
    given = {"observations": [{"entityName": "Bob", "contents": ["x"]}]}
    assert called(memory, "add_observations", **given) == (None, "Entity with name Bob not found", True)


def test_a_relation_may_name_an_entity_that_was_not_created(memory: Memory) -> None:
    """Its ends are no entities, but exploration finds them; creating one adds it to the graph."""
    assert called(memory, "create_relations", relations=[KNOWS])[0] == {"relations": [KNOWS]}
    assert called(memory, "read_graph")[0] == {"entities": [], "relations": [KNOWS]}
    assert called(memory, "open_nodes", names=["Alice"])[0] == {"entities": [], "relations": []}
    [triple] = memory.engine.explorer().explore_neighbors("Alice").triples
    assert (triple.subject, triple.predicate, triple.object) == ("Alice", "knows", "Bob")
    assert called(memory, "create_entities", entities=[BOB])[0] == {"entities": [BOB]}
    assert called(memory, "read_graph")[0] == {"entities": [BOB], "relations": [KNOWS]}
    called(memory, "delete_entities", entityNames=["Alice"])
    assert called(memory, "read_graph")[0] == {"entities": [BOB], "relations": []}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("create_entities", {"entities": [BOB | {"name": ""}]}),
        ("create_entities", {"entities": [BOB, ALICE | {"observations": [" "]}]}),
        ("create_entities", {"entities": [{"name": "Bob"}]}),
        ("create_entities", {"entities": "Bob"}),
        ("create_relations", {"relations": [KNOWS | {"to": None}]}),
        ("search_nodes", {"query": "x" * 2049}),
        ("search_nodes", {}),
    ],
)
def test_what_cannot_be_is_an_error(memory: Memory, tool: str, arguments: dict[str, Any]) -> None:
    """Invalid values are errors, and nothing is written."""

    def call() -> None:
        assert called(memory, tool, **arguments)[2]

    assert unchanged_by(memory.engine, call)


def test_answers_have_a_bound(memory: Memory) -> None:
    """An answer over the bound is an error with a hint; a smaller answer is complete."""
    entities = [Entity(f"entity {at}", "thing", ("a few words " * 10,)) for at in range(600)]
    KnowledgeGraph(memory.engine.store).create_entities(entities)
    KnowledgeGraph(memory.engine.store).create_relations(
        [Relation("entity 7", f"knows {at}", f"entity {at}") for at in range(9)]
    )
    for tool, arguments, hint in (
        ("read_graph", {}, "search_nodes or open_nodes"),
        ("search_nodes", {"query": "few"}, "less common"),
        ("open_nodes", {"names": [entity.name for entity in entities]}, "fewer"),
    ):
        fields, text, is_error = called(memory, tool, **arguments)
        assert (fields, is_error) == (None, True)
        assert text.startswith("the answer would cost more than 20,000 tokens; ")
        assert hint in text
    found = called(memory, "search_nodes", query="entity 599")[0]
    assert [entity["name"] for entity in found["entities"]] == ["entity 599"]
    assert len(called(memory, "open_nodes", names=["entity 7"])[0]["relations"]) == 9

    async def resource(client: Client) -> None:
        with pytest.raises(MCPError, match="20,000 tokens"):
            await client.read_resource("memory://knowledge-graph")

    memory.ask(resource)


def test_the_bound_counts_the_layout_too(memory: Memory) -> None:
    """The bound counts the indentation of the JSON, too."""
    KnowledgeGraph(memory.engine.store).create_entities([Entity(f"e{at}") for at in range(1_000)])
    assert KnowledgeGraph(memory.engine.store).read_graph().entities
    assert called(memory, "read_graph")[2]


def test_reading_only() -> None:
    """With --read-only, only the three reading tools are listed."""
    tools = profile_of("reference", read_only=True).tools
    assert [tool.name for tool in tools] == ["read_graph", "search_nodes", "open_nodes"]
