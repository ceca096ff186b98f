"""Import of the MCP memory server's file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Engine
from engine.base.errors import EngineError, InvalidInputError, NotFoundError
from engine.exchange.other_programs import mcp_memory as importing
from engine.exchange.other_programs.mcp_memory import import_file, read_file
from engine.files.ingest.documents import Skipped
from engine.knowledge import Entity, Knowledge, KnowledgeGraph, Observed, Relation, graph_values
from tests.exchange import support
from tests.knowledge.strategies import graphs
from tests.support.command_line import Cli
from tests.support.engines import engine_on, refuses

pytestmark = pytest.mark.slow

ALICE = {"type": "entity", "name": "Alice", "entityType": "person", "observations": ["likes tea", "is 7"]}
BOB = {"type": "entity", "name": "Bob", "entityType": "", "observations": []}
KNOWS = {"type": "relation", "from": "Alice", "to": "Bob", "relationType": "knows"}
GRAPH = Knowledge(
    (Entity("Alice", "person", ("likes tea", "is 7")), Entity("Bob")), (Relation("Alice", "knows", "Bob"),)
)


def text_of(*lines: dict[str, Any]) -> str:
    """Return the file as the server writes it, without a line end after the last line."""
    return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)


def lines_of(graph: Knowledge) -> list[dict[str, Any]]:
    """Return a graph as the lines of a file."""
    entities = [{"type": "entity"} | fields for fields in graph_values.entities_as_json(graph.entities)]
    return entities + [
        {"type": "relation"} | fields for fields in graph_values.relations_as_json(graph.relations)
    ]


def written(folder: Path, text: str | bytes) -> Path:
    """Write a file with the name that the server gives it."""
    return support.written(folder, text, "memory.jsonl")


def reasons(skipped: Iterable[Skipped]) -> list[tuple[int | None, str]]:
    """Return the line and reason of each skipped item."""
    return [(item.line, item.reason) for item in skipped]


A_FILE = text_of(ALICE, BOB, KNOWS)


@pytest.mark.parametrize(
    "text",
    [
        A_FILE,
        A_FILE + "\n",
        A_FILE.replace("\n", "\r\n"),
        A_FILE.replace("\n", ""),
        A_FILE.replace("\n", " \t"),
        A_FILE.replace("\n", "\n\n  \n"),
        "\ufeff" + A_FILE,
        text_of(KNOWS, BOB, ALICE).replace("\n", "\n\n") + "\n",
        A_FILE.replace('"name"', '"entityName"'),
        A_FILE.replace('"name"', '"id"'),
        A_FILE.replace('"from"', '"from_id"').replace('"to"', '"to_id"'),
        A_FILE.replace('"relationType"', '"relation_type"'),
        A_FILE.replace('"entityType": "", "observations": []', '"new": {"er": [1]}'),
    ],
)
def test_every_form_of_the_file_is_taken(engine: Engine, tmp_path: Path, text: str) -> None:
    """All forms of line ends, key names and orders, objects on one line and byte order marks are read."""
    report = import_file(engine.store, written(tmp_path, text))
    assert report.skipped == ()
    assert (report.entities, report.relations) == (2, 1)
    assert (report.new_entities, report.new_observations, report.new_relations) == (2, 2, 1)
    found = KnowledgeGraph(engine.store).read_graph()
    assert set(found.entities) == set(GRAPH.entities)
    assert found.relations == GRAPH.relations


def test_again_is_no_event(engine: Engine, tmp_path: Path) -> None:
    """A second import appends no event, and a longer file adds only what is new."""
    file = written(tmp_path, A_FILE)
    import_file(engine.store, file)
    size = engine.size
    assert not import_file(engine.store, file).changed
    assert engine.size == size
    KnowledgeGraph(engine.store).add_observations([Observed("Bob", ("sleeps",))])
    more = {**BOB, "entityType": "dog", "observations": ["barks"]}
    report = import_file(engine.store, written(tmp_path, text_of(ALICE, more, KNOWS)))
    assert (report.new_entities, report.new_observations, report.new_relations) == (0, 1, 0)
    assert KnowledgeGraph(engine.store).open_nodes(["Bob"]).entities == (
        Entity("Bob", "", ("sleeps", "barks")),
    )


def test_what_was_deleted_since_comes_back(engine: Engine, tmp_path: Path) -> None:
    """Items that were tombstoned after an import are revived by the next import."""
    file = written(tmp_path, A_FILE)
    import_file(engine.store, file)
    KnowledgeGraph(engine.store).delete_entities(["Alice"])
    report = import_file(engine.store, file)
    assert (report.new_entities, report.new_observations, report.new_relations) == (1, 2, 1)


def test_a_relation_of_something_that_is_no_entity_comes_in_and_goes_out(
    engine: Engine, tmp_path: Path
) -> None:
    """The memory server's files have such relations; they are kept, and the name is no entity."""
    file = written(tmp_path, text_of(ALICE, KNOWS | {"to": "Carol"}))
    report = import_file(engine.store, file)
    assert (report.new_entities, report.new_relations, report.skipped) == (1, 1, ())
    graph = KnowledgeGraph(engine.store).read_graph()
    assert [entity.name for entity in graph.entities] == ["Alice"]
    assert [relation.dst for relation in graph.relations] == ["Carol"]
    assert import_file(engine.store, file).new_relations == 0


def test_bad_lines_are_reported_and_the_rest_goes_in(engine: Engine, tmp_path: Path) -> None:
    """Invalid lines are reported with number and reason, in the order of the file."""
    bad = [
        ({"type": "thing"}, "the type is 'thing'; it must be entity or relation"),
        ({"type": "entity", "observations": []}, "`name` is missing"),
        (ALICE | {"name": 7}, "`name` must be a string"),
        (ALICE | {"name": " "}, "an entity's name is blank"),
        (ALICE | {"name": "New", "observations": "text"}, "`observations` must be a list of strings"),
        (KNOWS | {"relationType": None}, "`relationType` is missing"),
        ([ALICE], "not a JSON object"),
    ]
    raw = ["{", '{"type":"entity","name":NaN}', "[" * 100_000, text_of(BOB) + "}"]
    told = [
        "not JSON: Expecting property name",
        "not JSON: NaN",
        "nested more than 64 levels deep",
        "not JSON: Expecting value",
    ]
    lines = [json.dumps(line) for line, _ in bad]
    report = import_file(
        engine.store, written(tmp_path, "\n".join([text_of(ALICE), *lines, *raw, text_of(KNOWS)]))
    )
    assert reasons(report.skipped[: len(bad)]) == [(at, reason) for at, (_, reason) in enumerate(bad, 2)]
    for item, line, beginning in zip(report.skipped[len(bad) :], range(9, 13), told, strict=True):
        assert item.line == line
        assert item.reason.startswith(beginning)
    assert KnowledgeGraph(engine.store).read_graph() == GRAPH


def test_an_observation_that_cannot_be_kept_is_reported_alone(engine: Engine, tmp_path: Path) -> None:
    """An invalid observation is reported, and the rest of its entity is imported."""
    line = ALICE | {"observations": ["likes tea", " ", 7, "\0", "is 7"]}
    report = import_file(engine.store, written(tmp_path, text_of(line)))
    assert [(item.line, item.reason.partition(":")[0]) for item in report.skipped] == [
        (1, "observation 2"),
        (1, "observation 3"),
        (1, "observation 4"),
    ]
    assert KnowledgeGraph(engine.store).read_graph().entities == GRAPH.entities[:1]


def test_a_line_that_is_too_long_is_reported(tmp_path: Path) -> None:
    """A line that is too long is skipped without being held in memory."""
    file = written(tmp_path, text_of(BOB, ALICE | {"observations": ["x" * 500]}, KNOWS))
    found = list(read_file(file, line_bytes_max=200))
    assert [item.line for item in found] == [1, 2, 3]
    assert isinstance(found[1], Skipped)
    assert found[1].reason == "the line is over 200 bytes long"


def test_files_that_cannot_be_read_are_refused(engine: Engine, tmp_path: Path) -> None:
    """Missing files, folders and other encodings are refused before anything is written."""
    good = A_FILE.encode()
    assert refuses(engine, NotFoundError, import_file, engine.store, tmp_path / "no")
    assert refuses(engine, InvalidInputError, import_file, engine.store, tmp_path)
    late = b"x" * ((1 << 20) - 1) + b"\xc3\xff" + good
    for raw in (A_FILE.encode("utf-16"), good + b"\n\xff", good + b"\n\xc3", late):
        assert refuses(engine, InvalidInputError, import_file, engine.store, written(tmp_path, raw))
    assert refuses(
        engine, InvalidInputError, import_file, engine.store, written(tmp_path, good), provenance="x"
    )


def test_a_dry_run_counts_and_writes_nothing(engine: Engine, tmp_path: Path) -> None:
    """A dry run reports the counts of the following import, including invalid lines."""
    KnowledgeGraph(engine.store).create_entities([Entity("Bob")])
    unknown = KNOWS | {"to": "Carol"}
    file = written(tmp_path, text_of(ALICE, KNOWS, unknown, BOB, ALICE, KNOWS) + "\n{")
    size = engine.size
    expected = import_file(engine.store, file, dry_run=True)
    assert engine.size == size
    assert (expected.new_entities, expected.new_observations, expected.new_relations) == (1, 2, 2)
    assert import_file(engine.store, file) == expected


def test_who_wrote_and_what_provenance(engine: Engine, tmp_path: Path) -> None:
    """The actor is `import`, and the default provenance is `internal`."""
    import_file(engine.store, written(tmp_path, text_of(BOB)))
    import_file(engine.store, written(tmp_path, text_of(ALICE)), provenance="external")
    assert {item.actor for item in engine.log(1)} == {"import"}
    found = {atom.content: atom.provenance for atom in map(engine.get, _atoms(engine))}
    assert found == {"Bob": "internal", "Alice": "external", "likes tea": "external", "is 7": "external"}


def _atoms(engine: Engine) -> list[str]:
    return [item.subject for item in engine.log() if item.kind.name == "ATOM_ADDED"]


@given(graph=graphs(), end=st.sampled_from(["", "\n", "\r\n"]), escaped=st.booleans())
@settings(max_examples=80)
def test_a_graph_comes_out_as_it_went_in(graph: Knowledge, end: str, escaped: bool) -> None:
    """Exporting and importing any graph gives the same graph in the same order."""
    text = (end or "\n").join(json.dumps(line, ensure_ascii=escaped) for line in lines_of(graph)) + end
    engine = engine_on()
    with tempfile.TemporaryDirectory() as folder:
        file = written(Path(folder), text)
        expected = import_file(engine.store, file, dry_run=True)
        assert import_file(engine.store, file) == expected
    assert expected.skipped == ()
    assert KnowledgeGraph(engine.store).read_graph() == graph


@given(graph=graphs())
@settings(max_examples=20)
def test_batches_make_no_difference(graph: Knowledge) -> None:
    """Small batches and commands give the same graph."""
    engine = engine_on()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(importing, "BATCH_CHARS", 9000)
        patch.setattr(importing, "OBSERVATIONS_MAX", 2)
        import_file(engine.store, written(Path(folder), text_of(*lines_of(graph))))
    assert KnowledgeGraph(engine.store).read_graph() == graph


def test_an_entity_with_more_observations_than_a_batch_holds(engine: Engine, tmp_path: Path) -> None:
    """An entity with more observations than a batch is imported in pieces, in order."""
    observations = [f"text {number}" for number in range(6_000)]
    report = import_file(engine.store, written(tmp_path, text_of(BOB | {"observations": observations})))
    assert (report.new_entities, report.new_observations) == (1, 6_000)
    assert list(KnowledgeGraph(engine.store).read_graph().entities[0].observations) == observations


def test_an_import_that_broke_off_is_continued(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupted import leaves valid data, and a second import completes it."""
    monkeypatch.setattr(importing, "BATCH_CHARS", 1)
    real, calls = engine.store.commit, 0

    def failing(*args: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise EngineError("the disk is full")
        return real(*args, **named)

    monkeypatch.setattr(engine.store, "commit", failing)
    file = written(tmp_path, A_FILE)
    with pytest.raises(EngineError, match="full"):
        import_file(engine.store, file)
    assert KnowledgeGraph(engine.store).read_graph().entities == GRAPH.entities[:1]
    import_file(engine.store, file)
    assert KnowledgeGraph(engine.store).read_graph() == GRAPH


def test_the_command_reports_and_makes_the_store(cli: Cli, surroundings: Path) -> None:
    """The command creates no store for a dry run or a bad file, and lists invalid lines."""
    written(surroundings, A_FILE)
    assert cli("import", "mcp-memory", "memory.jsonl", "--dry-run", "--json").data["new_entities"] == 2
    assert cli("import", "mcp-memory", "no.jsonl").code == 3
    assert cli("import", "chest", "memory.jsonl").code == 2
    assert not (surroundings / "store").exists()
    result = cli("import", "mcp-memory", "memory.jsonl")
    assert result.out.splitlines() == [
        "entities     2 read, 2 new",
        "observed     2 observations new",
        "relations    1 read, 1 new",
    ]
    written(surroundings, A_FILE + "\n\x1b{")
    result = cli("import", "mcp-memory", "memory.jsonl")
    assert result.code == 8
    assert "skipped memory.jsonl:4: not JSON" in result.err
    envelope = cli("import", "mcp-memory", "memory.jsonl", "--json").envelope
    assert (envelope["status"], envelope["error"]["code"]) == ("error", "partial_import")
    assert [item["line"] for item in envelope["data"]["skipped"]] == [4]


def test_an_erased_relation_of_a_thing_to_itself_is_skipped(tmp_path: Path) -> None:
    """An erased relation of an entity to itself is reported, and the others are imported."""
    itself = {"type": "relation", "from": "Alice", "to": "Alice", "relationType": "likes"}
    file = tmp_path / "memory.jsonl"
    file.write_text("\n".join(map(json.dumps, [ALICE, itself])), encoding="utf-8")
    engine = engine_on()
    import_file(engine.store, file)
    (said,) = (
        found
        for found in engine.find(form="full")
        if found.atom and "likes" in found.atom.content and found.atom.kind not in {"entity", "observation"}
    )
    engine.erase(said.id, "asked for")
    bob = {"type": "entity", "name": "Bob", "entityType": "person", "observations": []}
    knows = {"type": "relation", "from": "Alice", "to": "Bob", "relationType": "knows"}
    file.write_text("\n".join(map(json.dumps, [ALICE, bob, itself, knows])), encoding="utf-8")
    report = import_file(engine.store, file)
    assert report.new_relations == 1
    assert [skipped.line for skipped in report.skipped] == [3]
