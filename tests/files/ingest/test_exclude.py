"""What patterns and files named `.gitignore` leave out of an ingest, and what happens to its atoms."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from engine import State
from engine.base.errors import InvalidInputError, RefusedError
from engine.files.ingest.documents import PassedOver, Skipped, SourceFile
from engine.files.ingest.folder_walk import find_files
from tests.files.ingest.folder import Folder


def read(root: Path, *patterns: str, at: Path | None = None) -> list[str]:
    """Return the relative paths of the files that an ingest reads with these patterns."""
    found = find_files([at or root], root=root, exclude=patterns, gitignore=True)
    return [item.source.partition("/")[2] for item in found if isinstance(item, SourceFile)]


RULES = {
    ".gitignore": "# a comment\n*.tmp.md\n/top.md\nbuild/\n!keep.tmp.md\n\ndocs/**/old.md\nspace\\ .md\n",
    "sub/.gitignore": "/only.md\n!b.tmp.md\n",
    "build/.gitignore": "!*\n",
}
FILES = (
    *("a.md", "a.tmp.md", "keep.tmp.md", "top.md", "build/x.md", "docs/old.md", "docs/a/b/old.md"),
    *("sub/top.md", "sub/only.md", "sub/b.tmp.md", "sub/c.tmp.md", "sub/deep/only.md", "x/build/y.md"),
)


@pytest.mark.skipif(shutil.which("git") is None, reason="git decides what is right")
def test_a_gitignore_leaves_out_what_git_ignores(tmp_path: Path) -> None:
    """Nested files named `.gitignore` have the effect that they have in git."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    for name, rules in RULES.items():
        (tmp_path / name).write_text(rules)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    listed = subprocess.run(
        ["git", "-C", tmp_path, "ls-files", "--others", "--exclude-standard", "*.md"],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull},
    )
    assert sorted(read(tmp_path)) == sorted(listed.stdout.split())
    assert sorted(read(tmp_path, at=tmp_path / "sub")) == sorted(
        name for name in listed.stdout.split() if name.startswith("sub/")
    )


def test_patterns_of_the_caller_come_last(tmp_path: Path) -> None:
    """A pattern leaves out files and folders at any depth, and can include what a `.gitignore` excludes."""
    for name in ("a.md", "b.md", "drafts/c.md", "x/drafts/d.md", "x/e.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / ".gitignore").write_text("b.md\n")
    assert read(tmp_path, "drafts/", "!b.md") == ["a.md", "b.md", "x/e.md"]
    assert read(tmp_path, "/drafts/") == ["a.md", "x/drafts/d.md", "x/e.md"]


def test_excluded_entries_are_listed_once(tmp_path: Path) -> None:
    """An excluded folder is one entry of the report, and its files are not."""
    (tmp_path / "n" / "drafts" / "deep").mkdir(parents=True)
    (tmp_path / "n" / "drafts" / "deep" / "a.md").write_text("x")
    assert list(find_files([tmp_path / "n"], exclude=["drafts/"])) == [
        PassedOver("n/drafts", "excluded", is_folder=True)
    ]


def test_a_file_that_is_named_is_read(notes: Folder) -> None:
    """No pattern excludes a file that the caller names."""
    notes.write("a.md", "Oak.")
    notes.write(".gitignore", "*.md")
    assert notes.engine.ingest([notes.path / "a.md"], exclude=["*.md"]).added == 1


@pytest.mark.parametrize("pattern", ["!", "a\\", "*a*a*a*a*b", "**/a/**/b/**/c/**/d/**/e"])
def test_an_invalid_or_costly_pattern_is_refused(notes: Folder, pattern: str) -> None:
    """An invalid pattern is refused before anything is written."""
    notes.write("a.md", "Oak.")
    with pytest.raises(InvalidInputError, match="the pattern"):
        notes.engine.ingest([notes.path], exclude=[pattern])
    with pytest.raises(InvalidInputError):
        notes.engine.ingest([notes.path], exclude="*.md")
    assert notes.events() == 1


def test_a_line_of_a_gitignore_that_cannot_be_used_is_reported(notes: Folder) -> None:
    """The other lines are used, and the report names the line."""
    notes.write("a.md", "Oak.")
    notes.write("b.md", "Ash.")
    notes.write(".gitignore", "!\nb.md\n" + "*a" * 40 + "\n")
    report = notes.ingest()
    assert (report.files, report.skipped) == (1, ())
    assert [(one.source, one.reason.partition(" of")[0]) for one in report.warnings] == [
        ("notes/.gitignore", "line 1"),
        ("notes/.gitignore", "line 3"),
    ]


def test_a_gitignore_that_is_a_link_or_a_pipe_is_not_opened(notes: Folder, tmp_path: Path) -> None:
    """Nothing outside the folder is read, and a pipe does not block."""
    (tmp_path / "rules").write_text("*")
    (notes.path / ".gitignore").symlink_to(tmp_path / "rules")
    notes.write("sub/a.md", "Oak.")
    os.mkfifo(notes.path / "sub" / ".gitignore")
    report = notes.ingest()
    assert report.added == 1
    assert [one.source for one in report.warnings] == ["notes/.gitignore", "notes/sub/.gitignore"]


def test_an_exclusion_alone_hides_nothing(notes: Folder) -> None:
    """The atoms of files that are excluded now stay, and the report counts the files."""
    notes.write("a.md", "Oak.")
    notes.write("drafts/b.md", "Ash.")
    notes.ingest()
    report = notes.engine.ingest([notes.path], exclude=["drafts/"])
    assert (report.changed, report.excluded) == (False, ("notes/drafts/b.md",))
    assert notes.texts("drafts/b.md") == ["Ash."]


def test_pruning_hides_what_is_excluded_and_a_later_ingest_brings_it_back(notes: Folder) -> None:
    """With `prune`, atoms of excluded files are tombstoned with that reason; later they are revived."""
    notes.write("a.md", "Oak.")
    notes.write("drafts/b.md", "Ash.")
    notes.ingest()
    (ash,) = notes.atoms("drafts/b.md")
    report = notes.engine.ingest([notes.path], exclude=["drafts/"], prune=True)
    assert (report.tombstoned, report.excluded) == (1, ())
    hidden = notes.engine.get(ash.id)
    assert hidden.tombstone is not None
    assert (hidden.state, hidden.tombstone.reason) == (State.TOMBSTONED, "the file is excluded")
    assert notes.engine.ingest([notes.path], exclude=["drafts/"]).excluded == ()
    assert notes.ingest().revived == 1


def test_pruning_with_a_pattern_that_excludes_everything_is_refused(notes: Folder) -> None:
    """Pruning everything needs `sure`, whatever the cause."""
    notes.write("a.md", "Oak.")
    notes.ingest()
    with pytest.raises(RefusedError):
        notes.engine.ingest([notes.path], exclude=["*"], prune=True)
    assert notes.texts("a.md") == ["Oak."]


def test_an_excluded_file_is_not_taken_for_a_renamed_one(notes: Folder) -> None:
    """A new file with the text of an excluded file gets an atom of its own."""
    notes.write("a.md", "The oak beside the gate.")
    notes.ingest()
    (oak,) = notes.atoms("a.md")
    notes.write("b.md", "The oak beside the gate.")
    notes.engine.ingest([notes.path], exclude=["a.md"])
    assert [atom.id for atom in notes.atoms("a.md")] == [oak.id]
    assert [atom.id for atom in notes.atoms("b.md")] != [oak.id]


def test_no_file_of_git_is_read_without_its_rules(notes: Folder) -> None:
    """With `gitignore=False`, excluded files are read."""
    notes.write("a.md", "Oak.")
    notes.write(".gitignore", "a.md")
    assert notes.ingest().added == 0
    assert notes.engine.ingest([notes.path], gitignore=False).added == 1


def test_a_gitignore_is_not_counted_as_hidden(notes: Folder) -> None:
    """A `.gitignore` is not listed, because it was used."""
    notes.write(".gitignore", "b.md")
    notes.write("a.md", "Oak.")
    assert not any(isinstance(item, (PassedOver, Skipped)) for item in find_files([notes.path]))
