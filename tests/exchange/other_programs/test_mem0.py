"""Import and export of mem0 files."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base.errors import InvalidInputError
from engine.engine import Engine
from engine.exchange.other_programs import export_items
from engine.exchange.other_programs.item_atoms import import_items
from tests.exchange.support import JSON, TEXT, atoms_of, mangled, reasons, told, twice, written
from tests.support import workloads
from tests.support.engines import after, engine_on

pytestmark = pytest.mark.slow

A_MEMORY = {
    "id": "m1",
    "memory": "Likes green tea.",
    "hash": "abc",
    "metadata": {"tags": ["tea"], "category": {"deep": [1, 2.5, None]}},
    "created_at": "2024-07-01T12:00:00-07:00",
    "updated_at": None,
    "user_id": "alice",
}


def exported(engine: Engine) -> list[dict[str, Any]]:
    """Return the memories of an export to mem0."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "out.json"
        done = export_items(engine.store, "mem0", file)
        found: list[dict[str, Any]] = json.loads(file.read_bytes())
        assert done.items == len(found)
        return found


def taken_in(value: Any) -> Engine:
    """Return a new store with the memories of a file."""
    engine = engine_on()
    with tempfile.TemporaryDirectory() as folder:
        assert import_items(engine.store, "mem0", written(Path(folder), value)).skipped == ()
    return engine


@pytest.mark.parametrize(
    "value", [[A_MEMORY], {"results": [A_MEMORY]}, {"memories": [A_MEMORY], "x": 1}, A_MEMORY], ids=range(4)
)
def test_every_form_of_the_file_is_taken(engine: Engine, tmp_path: Path, value: Any) -> None:
    """The result of `get_all`, the array for mem0's import and a single memory are read."""
    done = twice(engine, "mem0", written(tmp_path, value))
    assert (done.items, done.added, done.linked) == (1, 2, 1)
    (atom,) = atoms_of(engine)
    assert (atom.content, atom.key, atom.source) == ("Likes green tea.", "m1", "mem0/alice")
    assert (atom.kind, atom.tags, atom.created) == ("memory", ("tea",), 1_719_860_400_000_000)
    assert atom.provenance == "external"


@pytest.mark.parametrize(
    ("raw", "texts", "starts"),
    [
        (b'\xef\xbb\xbf [ {"text":"a]\\"}"} , {"text":"b"}\n]\n', ['a]"}', "b"], []),
        (b"[ ]", [], []),
        (b'[{"text":"a"},]', ["a"], ["not JSON"]),
        (b'[{"text":"a"},{"text":"b"', ["a"], ["the file ends inside this item"]),
        (b'[{"text":"a"},{"text":"b', ["a"], ["the file ends inside this item"]),
        (b'[{"text":"a"}] [', ["a"], ["there are more bytes"]),
        (b'[{"text":"a"}}', ["a"], ["there are more bytes"]),
        (b'[{"x":"' + b"y" * 80 + b'"},{"text":"a"}]', ["a"], ["the item is over 60 bytes long"]),
        (b'[{"text":tea},{"text":"a"}]', ["a"], ["not JSON"]),
    ],
)
def test_an_array_is_read_item_by_item(
    engine: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    raw: bytes,
    texts: list[str],
    starts: list[str],
) -> None:
    """Each element of an array is an item, whatever is around it; what is not whole is reported."""
    monkeypatch.setattr("engine.exchange.other_programs.program_items.ITEM_BYTES_MAX", 60)
    done = import_items(engine.store, "mem0", written(tmp_path, raw))
    assert [atom.content for atom in atoms_of(engine)] == texts
    assert [
        reason.partition(":")[0][: len(one)] for one, (_, reason) in zip(starts, reasons(done), strict=True)
    ] == starts


def test_an_empty_file_is_refused(engine: Engine, tmp_path: Path) -> None:
    """A file without bytes is refused before anything is written."""
    with pytest.raises(InvalidInputError, match="is empty"):
        import_items(engine.store, "mem0", written(tmp_path, b""))


def test_its_own_fields_come_back(engine: Engine, tmp_path: Path) -> None:
    """Fields that an atom cannot represent are stored outside of recall, and exported again."""
    twice(engine, "mem0", written(tmp_path, [A_MEMORY]))
    (found,) = exported(engine)
    metadata = found.pop("metadata")
    metadata.pop("memroot")
    assert found | {"metadata": metadata} == A_MEMORY
    assert engine.recall("deep category").hits == ()


def test_a_changed_memory_is_revised(engine: Engine, tmp_path: Path) -> None:
    """A changed text, tag or field is a revision, and tags that a person added are kept."""
    twice(engine, "mem0", written(tmp_path, [A_MEMORY]))
    engine.tag(atoms_of(engine)[0].id, "mine")
    changed = A_MEMORY | {"memory": "Likes black tea.", "metadata": {"tags": ["black"]}, "hash": "def"}
    done = twice(engine, "mem0", written(tmp_path, [changed]))
    assert (done.added, done.revised, done.linked, done.unlinked) == (0, 1, 1, 1)
    (atom,) = atoms_of(engine)
    assert (atom.content, atom.tags) == ("Likes black tea.", ("black", "mine"))
    assert exported(engine)[0]["hash"] == "def"
    engine.untag(atom.id, "black")
    done = twice(engine, "mem0", written(tmp_path, [changed | {"memory": "Likes tea."}]))
    assert atoms_of(engine)[0].tags == ("mine",)


def test_bad_items_are_reported_and_the_rest_goes_in(engine: Engine, tmp_path: Path) -> None:
    """Invalid items are reported with their numbers."""
    bad: list[Any] = [
        7,
        {"id": "x"},
        {"memory": 7},
        {"memory": " "},
        {"id": 7, "memory": "a"},
        {"id": "x" * 600, "memory": "a"},
        {"id": "y", "memory": "a", "user_id": "two\nlines"},
        {"id": "z", "memory": "\ud800"},
        {"id": "z", "memory": "a", "metadata": {"memroot": {"trust": 900}}},
        A_MEMORY | {"memory": "Again."},
    ]
    done = twice(engine, "mem0", written(tmp_path, [A_MEMORY, *bad]))
    assert [line for line, _ in reasons(done)] == list(range(2, 12))
    assert "an earlier item has the same id" in reasons(done)[-1][1]
    assert told(engine) == ["Likes green tea."]


def test_fields_that_are_too_large_are_reported(engine: Engine, tmp_path: Path) -> None:
    """A memory with too many fields is imported without them and reported."""
    done = twice(engine, "mem0", written(tmp_path, [A_MEMORY | {"metadata": {"x": "y" * 5000}}]))
    assert done.left == (("fields", 1),)
    assert [item.line for item in done.warnings] == [1]
    assert told(engine) == ["Likes green tea."]


def test_numbers_that_no_float_holds_are_refused(engine: Engine, tmp_path: Path) -> None:
    """Numbers that no float can represent are refused, because the export would not be valid JSON."""
    done = twice(engine, "mem0", written(tmp_path, '[{"memory":"a","metadata":{"x":1e999}}]'))
    assert "too large" in reasons(done)[0][1]


MEMORIES = st.lists(
    st.fixed_dictionaries(
        {"memory": TEXT.filter(str.strip)},
        optional={
            "id": st.text("abc", min_size=1, max_size=3),
            "user_id": st.sampled_from(["alice", "bob", ""]),
            "metadata": JSON,
            "created_at": st.sampled_from(["2024-07-01", "2024-07-01T12:00:00.000001Z", "soon", 1700000000])
            | JSON,
            "hash": JSON,
        },
    ),
    max_size=5,
)


@given(memories=MEMORIES)
@settings(max_examples=100)
def test_a_memory_comes_out_as_it_went_in(memories: list[dict[str, Any]]) -> None:
    """Importing and exporting keeps all texts and fields in order, and repeating it gives the same file."""
    engine = engine_on()
    with tempfile.TemporaryDirectory() as folder:
        done = twice(engine, "mem0", written(Path(folder), memories))
    once = exported(engine)
    assert len(once) == len(memories) - len(done.skipped)
    bad = {line for line, _ in reasons(done)}
    kept = [memory for number, memory in enumerate(memories, 1) if number not in bad]
    for before, now in zip(kept, once, strict=True):
        assert now["memory"] == before["memory"]
        for name in before.keys() - {"metadata", "memory"}:
            assert now[name] == before[name] or name == "created_at"
        if isinstance(before.get("metadata"), dict):
            assert before["metadata"].items() <= now["metadata"].items()
    assert exported(taken_in(once)) == once


@given(seed=st.integers(0, 1 << 32), count=st.integers(3, 40))
@settings(max_examples=25)
def test_any_memory_goes_there_and_back(seed: int, count: int) -> None:
    """Exporting and importing any store gives the same file."""
    once = exported(after(workloads.commands(count, seed)))
    again = taken_in(once)
    assert exported(again) == once
    with tempfile.TemporaryDirectory() as folder:
        assert not import_items(again.store, "mem0", written(Path(folder), once)).changed


@given(value=mangled([A_MEMORY, {"text": "x", "metadata": {"memroot": {"kind": "note", "tags": ["a"]}}}]))
@settings(max_examples=150)
def test_wrong_types_anywhere_are_no_matter(value: Any) -> None:
    """Values of wrong types are reported, and raise no other exceptions than EngineError."""
    if not isinstance(value, list | dict):
        return
    engine = engine_on()
    with tempfile.TemporaryDirectory() as folder:
        twice(engine, "mem0", written(Path(folder), value))
    assert engine.verify().ok
    exported(engine)


def test_what_has_no_place_there_is_counted(tmp_path: Path) -> None:
    """Edges are not exported, and are counted."""
    engine = after(workloads.commands(60))
    done = export_items(engine.store, "mem0", tmp_path / "out.json")
    assert dict(done.left)["edges"] > 0
