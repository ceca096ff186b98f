"""Imports of erased content, and explorations of the past before an erasure."""

from __future__ import annotations

import json
from pathlib import Path

from engine.commands import Add
from engine.engine import Engine
from engine.exchange.other_programs.item_atoms import import_items
from engine.exchange.other_programs.mcp_memory import import_file
from tests.support.engines import engine_on
from tests.support.workloads import id_of

GONE = "The clinic code is ZQXW-7782."


def erased() -> Engine:
    """Return an engine in which one text was erased and another one was not."""
    engine = engine_on()
    engine.apply([Add(GONE, id=id_of(1)), Add("The kettle is descaled on Mondays.", id=id_of(2))])
    engine.erase(id_of(1), "not ours", probe=False)
    return engine


def test_an_imported_item_that_was_erased_is_reported_and_the_rest_goes_in(tmp_path: Path) -> None:
    """An import skips and reports an erased item under any id, and imports the others."""
    file = tmp_path / "mem0.json"
    items = [{"id": "1", "memory": GONE}, {"id": "2", "memory": "Tea is green."}]
    file.write_text(json.dumps({"results": items}))
    engine = erased()
    report = import_items(engine.store, "mem0", file)
    assert (report.added, len(report.skipped)) == (1, 1)
    assert "erased" in report.skipped[0].reason
    assert engine.recall("clinic code").hits == ()


def test_an_imported_observation_that_was_erased_is_reported(tmp_path: Path) -> None:
    """An import skips and reports an erased observation or entity, and imports the others."""
    file = tmp_path / "memory.jsonl"
    lines = [
        {"type": "entity", "name": "Clinic", "entityType": "", "observations": [GONE, "It is closed."]},
        {"type": "entity", "name": GONE, "entityType": "", "observations": []},
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    report = import_file(erased().store, file)
    assert (report.new_entities, report.new_observations, len(report.skipped)) == (1, 1, 2)


def test_the_past_before_an_erasure_can_be_explored_without_a_root() -> None:
    """Explorations of an earlier time use the remaining content and return no overall root."""
    engine = erased()
    with engine.as_of(2) as past:
        answer = past.explorer().explore_recall("kettle")
    assert [hint.id for hint in answer.hints] == [id_of(2)]
    assert answer.root == ""
