"""Import and export of basic-memory notes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base.errors import InvalidInputError, NotFoundError, RefusedError
from engine.commands import Add
from engine.engine import Engine
from engine.exchange.other_programs import export_items
from engine.exchange.other_programs.basic_memory import is_item
from engine.exchange.other_programs.item_atoms import import_items
from tests.exchange.support import LINE, TEXT, atoms_of, told, twice
from tests.support import workloads
from tests.support.engines import after, engine_on, refuses

KETTLE = """---
title: Kettle
type: note
tags: [kitchen]
permalink: things/kettle
own: [1, {deep: yes}]
---

# Kettle

Stands on the [[Stove]].

## Observations
- [method] Descale with vinegar #chores (monthly)
- [fact] Holds 1.7 l
  of water

- [ ] a task
- [x] another
- [link](https://example.com)

## Relations
- stands on [[Stove#top|it]] (always)
- "goes well with" [[Tea Pot]]

```text
- [not] an observation


- no [[Relation]]
```
"""


@pytest.fixture
def engine() -> Engine:
    """Return an empty store."""
    return engine_on()


def folder_of(place: Path, notes: dict[str, str]) -> Path:
    """Return a folder of notes."""
    for name, text in notes.items():
        file = place / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    place.mkdir(exist_ok=True)
    return place


def texts(place: Path) -> dict[str, str]:
    """Return the texts of the notes in a folder."""
    return {
        str(file.relative_to(place).with_suffix("")): file.read_bytes().decode()
        for file in sorted(place.rglob("*.md"))
    }


def test_a_note_becomes_its_text_its_observations_and_its_relations(engine: Engine, tmp_path: Path) -> None:
    """Each observation, relation and text is an atom, and headings belong to the text below them."""
    notes = {"things/kettle": KETTLE, "Stove": "# Stove\n\nHot.\n"}
    done = twice(engine, "basic-memory", folder_of(tmp_path / "in", notes))
    found = [atom for atom in atoms_of(engine) if atom.source == "basic-memory/things/kettle"]
    assert [(atom.kind, atom.content) for atom in found] == [
        ("note", "# Kettle\n\nStands on the [[Stove]]."),
        ("observation", "## Observations\n- [method] Descale with vinegar #chores (monthly)"),
        ("observation", "- [fact] Holds 1.7 l\n  of water"),
        ("note", "- [ ] a task\n- [x] another\n- [link](https://example.com)"),
        ("relation", "## Relations\n- stands on [[Stove#top|it]] (always)"),
        ("relation", '- "goes well with" [[Tea Pot]]'),
        ("note", "```text\n- [not] an observation\n\n\n- no [[Relation]]\n```"),
    ]
    assert found[1].tags == ("chores", "kitchen", "method")
    assert {atom.title for atom in found} == {"Kettle"}
    stove = next(atom for atom in atoms_of(engine) if atom.source == "basic-memory/Stove")
    edges = {edge.type for edge in engine.edges(found[0].id) if edge.dst == stove.id}
    assert edges == {"links_to", "stands_on"}
    assert done.unresolved == 2


def test_a_note_comes_out_as_it_went_in(engine: Engine, tmp_path: Path) -> None:
    """An exported note equals the imported one, except for blank lines."""
    notes = {"things/kettle": KETTLE, "Stove": "# Stove\n\nHot.\n"}
    twice(engine, "basic-memory", folder_of(tmp_path / "in", notes))
    export_items(engine.store, "basic-memory", tmp_path / "out")
    out = texts(tmp_path / "out")
    assert out.keys() == notes.keys()
    assert out["Stove"] == notes["Stove"]
    assert [line for line in out["things/kettle"].split("\n") if line] == [
        line for line in KETTLE.split("\n") if line
    ]
    assert out["things/kettle"].startswith(KETTLE[: KETTLE.index("# Kettle") - 1])


def test_what_a_note_says_no_more_is_hidden(engine: Engine, tmp_path: Path) -> None:
    """Text that a note no longer has is tombstoned, and revived when it returns."""
    place = folder_of(tmp_path / "in", {"a": "- [x1] one\n- [x2] two\n", "b": "text\n"})
    twice(engine, "basic-memory", place)
    folder_of(place, {"a": "- [x2] two\n- [x3] three\n"})
    done = twice(engine, "basic-memory", place)
    assert (done.added, done.tombstoned) == (1, 1)
    assert told(engine) == ["- [x2] two", "- [x3] three", "text"]
    folder_of(place, {"a": "- [x1] one\n"})
    done = twice(engine, "basic-memory", place)
    assert (done.revived, done.tombstoned) == (1, 2)
    (place / "b.md").unlink()
    assert not import_items(engine.store, "basic-memory", place).changed


LINES = st.one_of(
    LINE,
    LINE.map(lambda text: f"- [cat] {text}x #tag"),
    LINE.map(lambda text: f"- type [[{text}x]]"),
    st.sampled_from(
        ["", "", "# Head", "## Sub", "```", "~~~", "---", "- [ ] task", "  indented", "[[a]] text"]
    ),
    st.sampled_from(["title: x", "tags: [a, b]", "- rel [[b]]", "- [o] same", "- [o] same"]),
    st.integers(50, 300).map(lambda count: "many words " * count),
)
NOTES = st.dictionaries(
    st.sampled_from(["a", "b", "sub/c", "sub/a"]), st.lists(LINES, max_size=14).map("\n".join), max_size=3
)


@given(notes=NOTES)
@settings(max_examples=120, deadline=None)
def test_out_and_in_again_is_the_same(notes: dict[str, str]) -> None:
    """For any notes, each line is exported in its place, and further exports are the same."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        engine, other = engine_on(), engine_on()
        twice(engine, "basic-memory", folder_of(place / "in", notes))
        export_items(engine.store, "basic-memory", place / "out")
        out = texts(place / "out")
        for note, text in notes.items():
            if text.strip():
                assert [line for line in out[note].split("\n") if line.strip()] == [
                    line for line in text.split("\n") if line.strip()
                ]
        assert not import_items(engine.store, "basic-memory", place / "out").changed
        import_items(other.store, "basic-memory", place / "out")
        export_items(other.store, "basic-memory", place / "again")
        assert texts(place / "again") == out


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


def test_no_link_leads_into_another_folder(engine: Engine, tmp_path: Path) -> None:
    """A link in the folder is not followed, and the target of a note's link is never opened."""
    (tmp_path / "secret.md").write_text("secret")
    place = folder_of(tmp_path / "in", {"a": "- rel [[../secret]]\n- rel [[/etc/passwd]]\n[[secret]]\n"})
    (place / "link.md").symlink_to(tmp_path / "secret.md")
    done = twice(engine, "basic-memory", place)
    assert [item.source for item in done.skipped] == ["basic-memory/link.md"]
    assert done.unresolved == 3
    assert not any(text == "secret" for text in told(engine))


def test_files_that_cannot_be_read_are_reported(engine: Engine, tmp_path: Path) -> None:
    """Notes with other encodings, NUL or broken frontmatter are reported, and the others imported."""
    place = folder_of(tmp_path / "in", {"good": "text\n", "front": "---\na: [\n---\ntext\n", "nul": "a\0b\n"})
    (place / "latin.md").write_bytes(b"caf\xe9")
    (place / "other.txt").write_text("x")
    done = twice(engine, "basic-memory", place)
    assert [item.source for item in done.skipped] == ["basic-memory/latin.md", "basic-memory/nul.md"]
    assert [item.source for item in done.warnings] == ["basic-memory/front.md"]
    assert done.left == (("files that are not Markdown", 1),)
    assert "text" in told(engine)


def test_a_nul_costs_only_the_text_around_it(engine: Engine, tmp_path: Path) -> None:
    """A paragraph with a NUL is reported with its line, and the other paragraphs are imported."""
    done = twice(engine, "basic-memory", folder_of(tmp_path / "in", {"a": "- [x1] one\n\na\0b\n"}))
    assert [(item.source, item.line) for item in done.skipped] == [("basic-memory/a.md", 3)]
    assert told(engine) == ["- [x1] one"]


def test_what_is_no_folder_is_refused(engine: Engine, tmp_path: Path) -> None:
    """An import of a file, or an export to an existing path, is refused before anything is written."""
    (tmp_path / "file").write_text("x")
    assert refuses(engine, NotFoundError, import_items, engine.store, "basic-memory", tmp_path / "no")
    assert refuses(engine, InvalidInputError, import_items, engine.store, "basic-memory", tmp_path / "file")
    for name in ("file", "."):
        with pytest.raises(RefusedError):
            export_items(engine.store, "basic-memory", tmp_path / name)
    with pytest.raises(InvalidInputError):
        export_items(engine.store, "basic-memory", "-")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_any_memory_can_be_read_as_notes(tmp_path: Path) -> None:
    """Any store can be exported as notes, with edges that people made as relations."""
    engine = after(workloads.commands(60))
    done = export_items(engine.store, "basic-memory", tmp_path / "out")
    out = texts(tmp_path / "out")
    assert len(out) == done.items
    contents = "\n".join(out.values())
    assert all(atom.content in contents for atom in atoms_of(engine))
    with Engine.open("memory:") as again:
        taken = import_items(again.store, "basic-memory", tmp_path / "out")
        assert (taken.skipped, taken.unresolved) == ((), 0)


@given(line=TEXT)
@settings(max_examples=200)
def test_items_are_told_from_text(line: str) -> None:
    """Only lines in the form of list items are observations or relations."""
    assert not is_item(line) or line.startswith("- ")


@pytest.mark.parametrize(
    ("line", "item"),
    [
        ("- [a] b", True),
        ("- [a b] c #d (e)", True),
        ("- [[X]]", True),
        ("- rel [[X]]", True),
        ('- "two words" [[X]] (why)', True),
        ("- [ ] b", False),
        ("- [x] b", False),
        ("- [a](b)", False),
        ("- [a]", False),
        ("* [a] b", False),
        ("- text [[X]] text", False),
        ("  - [a] b", False),
    ],
)
def test_what_is_an_item(line: str, item: bool) -> None:
    """Lines are recognised as items by the rules of basic-memory."""
    assert is_item(line) is item


def test_many_tries_of_a_pattern_take_no_time() -> None:
    """Matching long incomplete lines takes linear time."""
    for part in ("- [", "- a ", '- "', '"', "- [[", "- [[a]] (", "a", "("):
        assert not is_item("- " + part * 200_000)


def test_a_file_that_was_ingested_gets_its_own_name_back(engine: Engine, tmp_path: Path) -> None:
    """An ingested file keeps its name, and a source that differs only in suffix gets another one."""
    for source in ("notes/a.md", "notes/b.markdown", "notes/c.txt", "notes/d", "notes/d.md"):
        engine.add(f"of {source}", source=source)
    export_items(engine.store, "basic-memory", tmp_path / "out")
    names = sorted(file.name for file in (tmp_path / "out" / "notes").iterdir())
    assert names[:3] == ["a.md", "b.md", "c.txt.md"]
    assert [name[:2] for name in names[3:]] == ["d_", "d_"]
