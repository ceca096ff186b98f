"""Export of the knowledge graph as the file of the MCP memory server."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from engine.base.errors import RefusedError
from engine.engine import Engine
from engine.exchange.other_programs import export_items
from engine.exchange.other_programs.mcp_memory import import_file
from engine.knowledge import Entity, Knowledge, KnowledgeGraph, Relation
from tests.knowledge.strategies import graphs
from tests.support.engines import engine_on


def hold(graph: Knowledge) -> Engine:
    """Return a store with a graph."""
    engine = engine_on()
    KnowledgeGraph(engine.store).create_entities(graph.entities)
    KnowledgeGraph(engine.store).create_relations(graph.relations)
    return engine


@given(graph=graphs())
@settings(max_examples=60)
def test_a_graph_goes_there_and_back(graph: Knowledge) -> None:
    """Importing an exported graph into a new store gives the same graph and the same file."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        export_items(hold(graph).store, "mcp-memory", place / "a")
        again = engine_on()
        assert import_file(again.store, place / "a").skipped == ()
        assert KnowledgeGraph(again.store).read_graph() == graph
        export_items(again.store, "mcp-memory", place / "b")
        assert (place / "a").read_bytes() == (place / "b").read_bytes()


def test_the_file_is_what_the_server_writes(tmp_path: Path) -> None:
    """The file has the server's order of keys, entities first, and no line end after the last line."""
    graph = Knowledge((Entity("A", "b", ("ü",)), Entity("C")), (Relation("A", "d", "C"),))
    engine = hold(graph)
    done = export_items(engine.store, "mcp-memory", tmp_path / "m")
    assert (tmp_path / "m").read_text("utf-8") == (
        '{"type":"entity","name":"A","entityType":"b","observations":["ü"]}\n'
        '{"type":"entity","name":"C","entityType":"","observations":[]}\n'
        '{"type":"relation","from":"A","to":"C","relationType":"d"}'
    )
    assert (done.items, done.left) == (3, ())
    with pytest.raises(RefusedError):
        export_items(engine.store, "mcp-memory", tmp_path / "m")


def test_what_is_no_part_of_the_graph_is_counted(tmp_path: Path) -> None:
    """Atoms that are not part of the graph are counted by kind."""
    engine = hold(Knowledge((Entity("A", "b", ("c",)),), (Relation("A", "is", "A"),)))
    engine.add("A note.")
    assert export_items(engine.store, "mcp-memory", tmp_path / "m").left == (("atoms of kind note", 1),)
