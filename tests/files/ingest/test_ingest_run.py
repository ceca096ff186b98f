"""Ingest into a store: the first time, again, and after files have changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine import Add
from engine.base.errors import InvalidInputError, NotFoundError, RefusedError
from tests.files.ingest.folder import Folder

NOTE = "---\ntags: [garden]\n---\n# Soil\n\nCompost feeds it. #worms\n\n# Water\n\nIn the morning.\n"


def test_a_folder_becomes_atoms_with_title_tags_source_and_order(notes: Folder) -> None:
    """Each section becomes an atom with its heading, tags, file and position."""
    notes.write("a.md", NOTE)
    report = notes.ingest()
    soil, water = notes.atoms("a.md")
    assert (report.files, report.pieces, report.added) == (1, 2, 2)
    assert (soil.title, soil.tags, soil.source) == ("Soil", ("garden", "worms"), "notes/a.md")
    assert (water.title, water.tags) == ("Water", ("garden",))
    assert soil.sequence is not None
    assert water.sequence is not None
    assert soil.sequence < water.sequence


def test_again_is_no_event_at_all(notes: Folder) -> None:
    """Ingesting an unchanged folder appends no event."""
    notes.write("a.md", NOTE + "\nSee [[b]].\n")
    notes.write("b.md", "# B\n\nBack to [a](a.md).\n")
    notes.ingest()
    size = notes.events()
    report = notes.ingest(prune=True)
    assert notes.events() == size
    assert not report.changed


SECTIONS = [f"# S{number}\n\nText {number}.\n\n" for number in range(5)]


@pytest.mark.parametrize(
    ("new", "changes", "titles"),
    [
        ([*SECTIONS[:4], "# S4\n\nAnother text.\n"], (0, 1, 0), "S0 S1 S2 S3 S4"),
        ([SECTIONS[0], "# New\n\nInserted.\n\n", *SECTIONS[1:]], (1, 0, 0), "S0 New S1 S2 S3 S4"),
        ([*SECTIONS[1:], SECTIONS[0]], (0, 1, 0), "S1 S2 S3 S4 S0"),
    ],
    ids=["a changed paragraph", "an inserted section", "sections that change places"],
)
def test_an_edit_changes_only_the_atoms_that_it_must(
    notes: Folder, new: list[str], changes: tuple[int, int, int], titles: str
) -> None:
    """A changed text revises its atom; an inserted one moves no other; the order is that of the file."""
    notes.write("a.md", "".join(SECTIONS))
    notes.ingest()
    before, size = {atom.title: atom.id for atom in notes.atoms("a.md")}, notes.events()
    notes.write("a.md", "".join(new))
    report = notes.ingest()
    after = {atom.title: atom.id for atom in notes.atoms("a.md")}
    assert (report.added, report.revised, report.tombstoned) == changes
    assert notes.events() == size + 1
    assert " ".join(str(title) for title in after) == titles
    assert before.items() <= after.items()


def test_a_text_that_comes_back_is_revived_not_added(notes: Folder) -> None:
    """A text that ingest tombstoned is revived when it returns."""
    notes.write("a.md", NOTE)
    notes.ingest()
    first = notes.atoms("a.md")[1].id
    notes.write("a.md", NOTE.partition("# Water")[0])
    notes.ingest()
    notes.write("a.md", NOTE)
    report = notes.ingest()
    assert (report.added, report.revived, report.tombstoned) == (0, 1, 0)
    assert notes.atoms("a.md")[1].id == first


@pytest.mark.parametrize("by_hand", ["tombstone", "revise", "add"])
def test_what_a_person_did_stays_so(notes: Folder, by_hand: str) -> None:
    """An atom that a person tombstoned, revised or added is not changed by another ingest of the file."""
    notes.write("a.md", NOTE)
    notes.ingest()
    atom = notes.atoms("a.md")[0].id
    if by_hand == "tombstone":
        notes.engine.tombstone(atom, "wrong")
    elif by_hand == "revise":
        notes.engine.revise(atom, content="Rewritten by hand.", title="Mine")
    else:
        atom = notes.engine.add("By hand.", source="notes/a.md").subject
    before = notes.engine.get(atom)
    assert not notes.ingest().changed
    assert notes.engine.get(atom) == before


def test_tags_follow_the_file_and_spare_those_of_others(notes: Folder) -> None:
    """Ingest removes and adds the tags of the file, and keeps tags that a person added."""
    notes.write("a.md", NOTE)
    notes.ingest()
    atom = notes.atoms("a.md")[0].id
    notes.engine.tag(atom, "mine")
    notes.write("a.md", NOTE.replace("tags: [garden]", "tags: [plot]"))
    notes.ingest()
    assert notes.engine.get(atom).tags == ("mine", "plot", "worms")


def test_equal_paragraphs_of_one_file_are_atoms_of_their_own(notes: Folder) -> None:
    """Equal paragraphs of a file are separate atoms, and ingesting them again appends no event."""
    notes.write("a.md", "# One\n\nSame.\n\n# One\n\nSame.\n")
    report = notes.ingest()
    assert report.added == 2
    assert not notes.ingest().changed


def test_prune_tombstones_what_is_gone_and_only_that(notes: Folder) -> None:
    """Atoms of a deleted file are tombstoned only with `prune`."""
    notes.write("a.md", NOTE)
    notes.write("b.md", "# B\n\nStays.\n")
    notes.ingest()
    notes.remove("a.md")
    assert not notes.ingest().changed
    report = notes.ingest(prune=True)
    assert (report.tombstoned, notes.texts("a.md"), len(notes.texts("b.md"))) == (2, [], 1)


def test_prune_spares_a_file_that_could_not_be_read(notes: Folder) -> None:
    """With `prune`, a file that cannot be read is reported, and its atoms are kept."""
    notes.write("a.md", NOTE)
    notes.ingest()
    (notes.path / "a.md").write_bytes(b"\xff\xfe\x00broken")
    report = notes.ingest(prune=True)
    assert report.tombstoned == 0
    assert [item.source for item in report.skipped] == ["notes/a.md"]
    assert len(notes.texts("a.md")) == 2


def test_dry_run_says_what_would_happen_and_writes_nothing(notes: Folder) -> None:
    """A dry run writes nothing and reports the counts of the following run."""
    notes.write("a.md", NOTE + "See [[b]].\n")
    notes.write("b.md", "# B\n\nText.\n")
    size = notes.events()
    planned = notes.ingest(dry_run=True)
    assert notes.events() == size
    assert planned == notes.ingest()


def test_json_lines_keep_key_source_sequence_and_time(notes: Folder) -> None:
    """A JSON line with a known id and another text is a revision."""
    line = '{"id": "D1:1", "text": "%s", "source": "chat", "seq": 7, "timestamp": "2023-05-08T13:56:00"}\n'
    notes.write("c.jsonl", line % "Good morning.")
    notes.ingest()
    hit = notes.engine.recall("morning").hits[0]
    notes.write("c.jsonl", line % "Good evening.")
    report = notes.ingest()
    atom = notes.engine.get(hit.id)
    assert (hit.key, hit.source, hit.sequence, hit.created) == ("D1:1", "chat", 7, 1_683_554_160_000_000)
    assert (report.added, report.revised) == (0, 1)
    assert (atom.content, atom.version) == ("Good evening.", 2)


def test_lines_that_name_their_source_are_never_tombstoned(notes: Folder) -> None:
    """Lines that name their source are not tombstoned when a newer file lacks them."""
    notes.write("c.jsonl", '{"text": "one", "source": "chat"}\n{"text": "two", "source": "chat"}\n')
    notes.ingest()
    notes.write("c.jsonl", '{"text": "three", "source": "chat"}\n')
    assert notes.ingest().tombstoned == 0


def test_lines_without_a_source_follow_their_file(notes: Folder) -> None:
    """Lines without a source are tombstoned when their file no longer contains them."""
    notes.write("c.jsonl", '{"text": "one"}\n{"text": "two"}\n')
    notes.ingest()
    notes.write("c.jsonl", '{"text": "two"}\n')
    assert notes.ingest().tombstoned == 1


def test_a_bad_line_is_reported_and_the_rest_goes_in(notes: Folder) -> None:
    """An invalid line is reported, and the other lines are ingested."""
    notes.write("c.jsonl", '{"text": "one"}\nnot json\n{"text": "two"}\n')
    report = notes.ingest()
    assert report.added == 2
    assert [(item.source, item.line) for item in report.skipped] == [("notes/c.jsonl", 2)]


def test_large_contents_are_committed_in_smaller_batches(notes: Folder) -> None:
    """Contents that are too large for one batch are committed in several."""
    big = [Add(f"{number} " + "x" * ((1 << 20) - 10)) for number in range(40)]
    receipts = list(notes.engine.apply_many(big))
    assert sum(receipt.changed for receipt in receipts) == 40


@pytest.mark.parametrize(
    ("paths", "options", "error"),
    [
        (["missing"], {}, NotFoundError),
        (["."], {"tags": ["\u202e"]}, InvalidInputError),
        (["."], {"buckets": ["UPPER"]}, InvalidInputError),
        (["."], {"provenance": "rumour"}, InvalidInputError),
        (["."], {"name": "a/b"}, InvalidInputError),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_written(
    notes: Folder, paths: list[str], options: dict[str, Any], error: type[Exception]
) -> None:
    """Wrong arguments raise an EngineError before anything is written."""
    notes.write("a.md", NOTE)
    size = notes.events()
    with pytest.raises(error):
        notes.engine.ingest([notes.path / path for path in paths], **options)
    assert notes.events() == size


def test_a_part_of_a_folder_gives_the_sources_of_the_whole(notes: Folder) -> None:
    """With `root`, ingesting a subfolder finds the atoms of an ingest of the whole folder."""
    notes.write("house/a.md", NOTE)
    notes.ingest()
    report = notes.engine.ingest([notes.path / "house"], root=notes.path, prune=True)
    assert not report.changed


def test_a_path_outside_the_root_is_refused(notes: Folder, tmp_path: Path) -> None:
    """A path outside `root` is refused."""
    (tmp_path / "b.md").write_text("B")
    with pytest.raises(InvalidInputError):
        notes.engine.ingest([tmp_path / "b.md"], root=notes.path)


def test_prune_refuses_another_folder_of_the_same_name(notes: Folder, tmp_path: Path) -> None:
    """With `prune`, a different folder of the same name is refused, and nothing is written."""
    notes.write("a.md", NOTE)
    notes.ingest()
    other = tmp_path / "other" / "notes"
    other.mkdir(parents=True)
    (other / "b.md").write_text("B")
    size = notes.events()
    with pytest.raises(RefusedError):
        notes.engine.ingest([other], prune=True)
    assert notes.events() == size


def test_a_broken_frontmatter_is_a_warning_not_a_loss(notes: Folder) -> None:
    """Broken frontmatter is ingested as text and reported as a warning."""
    notes.write("a.md", "---\ntags: [a\n---\nText.\n")
    report = notes.ingest()
    assert (len(report.skipped), [item.source for item in report.warnings]) == (0, ["notes/a.md"])


def test_prune_of_a_folder_whose_files_were_all_renamed_keeps_their_atoms(notes: Folder) -> None:
    """With `prune`, a folder with only renamed files asks to be sure; the atoms get the new names."""
    notes.write("a.md", NOTE)
    notes.ingest()
    notes.remove("a.md")
    notes.write("b.md", NOTE)
    with pytest.raises(RefusedError):
        notes.ingest(prune=True)
    report = notes.engine.ingest([notes.path], prune=True, sure=True)
    assert (report.added, report.tombstoned, report.revised, notes.texts("a.md")) == (0, 0, 2, [])


def test_an_atom_of_a_person_under_the_folder_s_name_is_no_obstacle(notes: Folder) -> None:
    """Atoms that a person added under the folder's name do not block `prune`."""
    notes.engine.add("Mine.", source="notes/old.md")
    notes.write("a.md", NOTE)
    assert notes.ingest(prune=True).added == 2


def test_a_long_file_says_what_is_done_with_it(notes: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a large file is read, and after every thousand of its texts, the progress names it."""
    monkeypatch.setattr("engine.files.ingest.ingest_run._LARGE_BYTES", 10_000)
    notes.write("long.md", "".join(f"# H{number}\n\nSee [[b]].\n\n" for number in range(2100)))
    notes.write("lines.jsonl", "".join(f'{{"text": "line {number}"}}\n' for number in range(1001)))
    notes.write("short.md", "Oak.")
    said: list[str] = []
    notes.engine.ingest([notes.path], progress=lambda at: said.append(at.activity))
    assert [text for text in said if text] == [
        "reading notes/lines.jsonl",
        "reading notes/lines.jsonl: line 1,000",
        "reading notes/long.md",
        "writing notes/long.md: 1,000 of 2,100",
        "writing notes/long.md: 2,000 of 2,100",
    ]
