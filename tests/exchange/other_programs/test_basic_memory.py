"""Export as basic-memory notes, which an ingest reads again."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.base.errors import InvalidInputError, RefusedError
from engine.commands import Add
from engine.engine import Engine
from engine.exchange.other_programs import export_items
from tests.exchange.support import atoms_of
from tests.support import workloads
from tests.support.engines import after, engine_on

KETTLE = """---
title: Kettle
tags: [kitchen]
---

# Kettle

Stands on the [[Stove]].

## Observations
- [method] Descale with vinegar #chores (monthly)

## Relations
- stands on [[Stove#top|it]] (always)
"""


def texts(place: Path) -> dict[str, str]:
    """Return the texts of the notes in a folder."""
    return {
        str(file.relative_to(place).with_suffix("")): file.read_bytes().decode()
        for file in sorted(place.rglob("*.md"))
    }


def test_notes_that_were_ingested_come_out_and_go_in_again(engine: Engine, tmp_path: Path) -> None:
    """An exported note has each line of the ingested note, and an ingest and export of it give the same."""
    place = tmp_path / "in" / "things"
    place.mkdir(parents=True)
    (place / "kettle.md").write_text(KETTLE)
    (place / "Stove.md").write_text("# Stove\n\nHot.\n")
    engine.ingest([tmp_path / "in"], name="basic-memory")
    export_items(engine.store, "basic-memory", tmp_path / "out")
    out = texts(tmp_path / "out")
    assert out.keys() == {"things/kettle", "things/Stove"}
    lines = out["things/kettle"].split("\n")
    assert set(KETTLE.partition("---\n\n")[2].split("\n")) <= set(lines)
    assert {"- references [[things/Stove]]", '- "kitchen"', '- "chores"'} <= set(lines)
    again = engine_on()
    again.ingest([tmp_path / "out"], name="basic-memory")
    export_items(again.store, "basic-memory", tmp_path / "again")
    assert texts(tmp_path / "again") == out


HOSTILE = [
    "../../evil",
    "/abs/path",
    "a/../../b",
    "..",
    ".",
    "a//b",
    "C:\\windows",
    "con",
    "nul.txt",
    ".hidden",
    "a" * 500,
    "é" * 250,
    "x/" * 200,
    "a?b",
    "a*b",
    "A?B",
    "\u202eevil",
    "basic-memory/../up",
    "a.md",
    "a.md/b",
    "~",
]


def test_no_source_leads_out_of_the_folder(tmp_path: Path) -> None:
    """For any source, its note is a file of its own inside the folder."""
    engine = after([Add(f"text {at}", source=source) for at, source in enumerate(HOSTILE)])
    (tmp_path / "deep" / "er").mkdir(parents=True)
    done = export_items(engine.store, "basic-memory", tmp_path / "deep" / "er" / "out")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == done.items == len(HOSTILE)
    assert all(path.is_relative_to(tmp_path / "deep" / "er" / "out") for path in files)
    assert sorted(path.read_text().split("\n\n")[-1] for path in files) == sorted(
        f"text {at}\n" for at in range(len(HOSTILE))
    )


def test_what_is_no_new_folder_is_refused(engine: Engine, tmp_path: Path) -> None:
    """An export to an existing path is refused before anything is written."""
    (tmp_path / "file").write_text("x")
    for name in ("file", "."):
        with pytest.raises(RefusedError):
            export_items(engine.store, "basic-memory", tmp_path / name)
    with pytest.raises(InvalidInputError):
        export_items(engine.store, "basic-memory", "-")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_any_memory_can_be_read_as_notes(tmp_path: Path) -> None:
    """Any store can be exported as notes, with edges as relations, and ingested from them."""
    engine = after(workloads.commands(60))
    done = export_items(engine.store, "basic-memory", tmp_path / "out")
    out = texts(tmp_path / "out")
    assert len(out) == done.items
    contents = "\n".join(out.values())
    assert all(atom.content in contents for atom in atoms_of(engine))
    assert engine_on().ingest([tmp_path / "out"]).skipped == ()


def test_a_file_that_was_ingested_gets_its_own_name_back(engine: Engine, tmp_path: Path) -> None:
    """An ingested file keeps its name, and a source that differs only in suffix gets another one."""
    for source in ("notes/a.md", "notes/b.markdown", "notes/c.txt", "notes/d", "notes/d.md"):
        engine.add(f"of {source}", source=source)
    export_items(engine.store, "basic-memory", tmp_path / "out")
    names = sorted(file.name for file in (tmp_path / "out" / "notes").iterdir())
    assert names[:3] == ["a.md", "b.md", "c.txt.md"]
    assert [name[:2] for name in names[3:]] == ["d_", "d_"]
