"""JSON lines with repeated ids or shared sources, and files that were emptied."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.engine import Engine
from engine.files.ingest import parallel_reading
from engine.files.ingest.documents import Skipped, SourceFile
from engine.files.ingest.file_reading import read_file
from tests.files.ingest.folder import Folder, folder_of


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Folder]:
    """Return an empty folder with an empty store."""
    with folder_of(tmp_path) as folder:
        yield folder


def lines(*fields: Mapping[str, object]) -> str:
    """Return a JSON Lines file."""
    return "".join(json.dumps(line) + "\n" for line in fields)


def test_a_repeated_id_is_skipped_and_the_first_line_stands(notes: Folder) -> None:
    """A line with a repeated id is reported with the first line, and the others are ingested."""
    notes.write("c.jsonl", lines({"id": "X", "text": "one"}, {"id": "X", "text": "two"}, {"text": "three"}))
    notes.write("d.md", "Text.\n")
    report = notes.ingest()
    assert (report.added, notes.texts("c.jsonl")) == (3, ["one", "three"])
    assert report.skipped == (Skipped("notes/c.jsonl", "the id 'X' was already used at line 1", 2),)


@pytest.mark.parametrize("between", [0, 1200])
@pytest.mark.parametrize("second", [{"text": "two"}, {"text": "one", "tags": ["b"]}])
def test_a_repeated_id_makes_no_event_the_next_time(
    notes: Folder, between: int, second: dict[str, object]
) -> None:
    """Ingesting a file with a repeated id again appends no event."""
    others = [{"text": f"line {number}"} for number in range(between)]
    notes.write("c.jsonl", lines({"id": "X", "text": "one", "tags": ["a"]}, *others, {"id": "X", **second}))
    notes.ingest()
    assert not notes.ingest().changed


def test_an_id_repeated_in_another_file_is_skipped(notes: Folder) -> None:
    """An id that occurs in two files of the same source is read once."""
    notes.write("c.jsonl", lines({"id": "X", "source": "chat", "text": "one"}))
    notes.write("d.jsonl", lines({"text": "of d"}, {"id": "X", "source": "chat", "text": "two"}))
    report = notes.ingest()
    assert report.skipped == (Skipped("notes/d.jsonl", "the id 'X' was already used in an earlier file", 2),)
    assert not notes.ingest().changed


def test_an_id_of_another_source_is_another_id(notes: Folder) -> None:
    """The same id in two sources names two atoms."""
    notes.write("c.jsonl", lines(*({"id": "X", "source": name, "text": name} for name in "ab")))
    assert (notes.ingest().added, notes.ingest().skipped) == (2, ())


def test_the_same_text_of_one_source_in_two_files_is_one_atom(notes: Folder) -> None:
    """The same text of one source in two files is one atom, with a warning for the second file."""
    notes.write("c.jsonl", lines({"source": "chat", "text": "one"}))
    notes.write("d.jsonl", lines({"text": "of d"}, {"source": "chat", "text": "one"}))
    report = notes.ingest()
    assert (report.added, report.skipped, [item.line for item in report.warnings]) == (2, (), [2])
    assert not notes.ingest().changed


@pytest.mark.parametrize("text", ["Text.", "Other."])
def test_a_line_cannot_name_the_source_of_another_file(notes: Folder, text: str) -> None:
    """A line that names the source of another file is refused, as both would change the same atoms."""
    notes.write("a.md", "Text.\n")
    notes.write("c.jsonl", lines({"source": "notes/a.md", "text": text}))
    report = notes.ingest()
    assert (report.added, [item.line for item in report.skipped]) == (1, [1])
    assert not notes.ingest().changed


def test_prune_spares_what_lines_hold(notes: Folder) -> None:
    """With `prune`, a source that lines name is kept although it looks like a missing file."""
    notes.write("c.jsonl", lines({"source": "notes/talk", "text": "one"}))
    notes.write("d.md", "Text.\n")
    notes.ingest()
    assert not notes.ingest(prune=True).changed


@pytest.mark.parametrize("name", ["c.jsonl", "c.md"])
@pytest.mark.parametrize("prune", [False, True])
def test_an_emptied_file_ends_its_atoms(notes: Folder, name: str, prune: bool) -> None:
    """Emptying a file of any format tombstones its atoms."""
    notes.write(name, lines({"text": "one"}))
    notes.write("d.md", "Text.\n")
    notes.ingest()
    notes.write(name, "")
    report = notes.ingest(prune=prune)
    assert (report.tombstoned, notes.texts(name)) == (1, [])
    assert not notes.ingest(prune=prune).changed


def test_lines_that_now_name_a_source_leave_the_files_own(notes: Folder) -> None:
    """Lines that now name another source leave the atoms of the file's own source tombstoned."""
    notes.write("c.jsonl", lines({"text": "one"}))
    notes.ingest()
    notes.write("c.jsonl", lines({"text": "one", "source": "chat"}))
    report = notes.ingest()
    assert (report.added, report.tombstoned) == (1, 1)


def test_a_file_that_breaks_off_ends_nothing(notes: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that cannot be read to its end tombstones no atom."""
    notes.write("c.jsonl", lines({"text": "one"}, {"text": "two"}))
    notes.ingest()

    def broken(file: SourceFile, **options: object) -> Iterator[object]:
        del options
        yield next(iter(read_file(file)))
        yield Skipped(file.source, "the file cannot be read: input/output error")

    monkeypatch.setattr(parallel_reading, "read_file", broken)
    assert not notes.ingest().changed


LINE = st.fixed_dictionaries(
    {"text": st.sampled_from(["one", "two"])},
    optional={
        "id": st.sampled_from(["X", "Y"]),
        "source": st.sampled_from(["chat", "notes/c.jsonl", "notes/e.md"]),
        "tags": st.sampled_from([["a"], ["b"]]),
        "seq": st.integers(1, 2),
    },
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(files=st.lists(st.lists(LINE, max_size=5), min_size=2, max_size=2), prune=st.booleans())
def test_again_is_no_event_whatever_the_lines(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[dict[str, object]]], prune: bool
) -> None:
    """For any lines, a second ingest appends no event, and a dry run reports the counts of the run."""
    with folder_of(tmp_path_factory.mktemp("law")) as notes:
        notes.write("e.md", "one [[c]] [[d]]\n")
        for name, fields in zip("cd", files, strict=True):
            notes.write(f"{name}.jsonl", lines(*fields))
        planned = notes.ingest(prune=prune, dry_run=True)
        assert planned == notes.ingest(prune=prune)
        assert not notes.ingest(prune=prune).changed


def test_a_revision_takes_no_tag_of_a_person_with_it(tmp_path: Path) -> None:
    """A revision by a changed line keeps tags that a person added."""
    file = tmp_path / "items.jsonl"
    engine = Engine.open("memory:")
    for text in ("one", "two", "two", "three", "three"):
        file.write_text(json.dumps({"id": "1", "text": text, "tags": ["theirs"]}) + "\n")
        engine.ingest([file])
        (found,) = engine.find(limit=9)
        if text == "one":
            engine.tag(found.id, "Mine")
        assert [tag for tag in engine.get(found.id).tags if tag != "theirs"] == ["Mine"]
    file.write_text(json.dumps({"id": "1", "text": "three"}) + "\n")
    engine.ingest([file])
    assert engine.get(found.id).tags == ("Mine",), "what the file named and names no more is taken off"


def links_of(notes: Folder, key: str) -> list[str | None]:
    """Return the keys of the atoms to which the atom with this key links."""
    atoms = {atom.key: atom.id for atom in notes.atoms("c.jsonl")}
    names = {atom: name for name, atom in atoms.items()}
    return [names[edge.dst] for edge in notes.engine.edges(atoms[key]) if edge.src == atoms[key]]


def test_lines_are_linked_by_their_ids(notes: Folder) -> None:
    """A line may link to earlier and later lines of its source; other ids are reported as unresolved."""
    other = {"id": "D", "source": "other", "text": "four"}
    notes.write(
        "c.jsonl",
        lines(
            {"id": "A", "text": "one", "links": ["B"]},
            {"id": "B", "text": "two", "links": ["A", "A", "B", "D", "E"]},
            other,
        ),
    )
    report = notes.ingest()
    assert (links_of(notes, "A"), links_of(notes, "B")) == (["B"], ["A"])
    assert [one.target for one in report.unresolved] == ["D", "E"]
    assert not notes.ingest().changed


def test_links_of_a_line_follow_the_file(notes: Folder) -> None:
    """When a line gains or loses links, its edges are added and hidden."""
    first, second, third = ({"id": name, "text": f"text {name}"} for name in "ABC")
    notes.write("c.jsonl", lines({**first, "links": ["B"]}, second, third))
    notes.ingest()
    notes.write("c.jsonl", lines({**first, "links": ["C"]}, {**second, "links": ["A"]}, third))
    report = notes.ingest()
    assert (report.linked, report.unlinked) == (2, 1)
    notes.write("c.jsonl", lines(first, second, third))
    assert notes.ingest().unlinked == 2
    assert not notes.ingest().changed
