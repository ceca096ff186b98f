"""Foreign and edited files in a mirror are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.base.errors import EngineError
from engine.engine import Engine
from engine.files.mirror import mirror_disk
from tests.files.mirror.parsing import listed, refused, tree


def test_links_inside_lead_nowhere(engine: Engine, tmp_path: Path) -> None:
    """A page or folder that was replaced by a link is set aside, and the link's target is not changed."""
    outside = tmp_path / "outside"
    engine.mirror(tmp_path / "m")
    (tmp_path / "m" / "@inbox").rename(outside)
    (tmp_path / "m" / "@inbox").symlink_to(outside)
    before = tree(outside)
    engine.mirror(tmp_path / "m")
    assert tree(outside) == before
    engine.mirror(tmp_path / "fresh")
    assert set(tree(tmp_path / "fresh")) <= set(tree(tmp_path / "m"))
    assert not (tmp_path / "m" / "@inbox").is_symlink()
    page = next((tmp_path / "m").rglob("*.md"))
    (tmp_path / "canary").write_text("canary")
    page.unlink()
    page.symlink_to(tmp_path / "canary")
    report = engine.mirror(tmp_path / "m")
    assert (tmp_path / "canary").read_text() == "canary"
    assert not page.is_symlink()
    assert [path for path, _ in report.set_aside] == [str(page.relative_to(tmp_path / "m"))]


def test_an_edited_page_is_set_aside(engine: Engine, tmp_path: Path) -> None:
    """An edited page is kept in a numbered folder beside the mirror, and reported."""
    engine.mirror(tmp_path / "m")
    page = next((tmp_path / "m").rglob("*.md"))
    path = page.relative_to(tmp_path / "m")
    for number in (1, 2):
        page.write_text(f"mine {number}")
        report = engine.mirror(tmp_path / "m")
        aside = tmp_path / "m.edited" / str(number) / path
        assert report.set_aside == ((str(path), str(aside)),)
        assert aside.read_text() == f"mine {number}"
    engine.mirror(tmp_path / "fresh")
    assert page.read_bytes() == (tmp_path / "fresh" / page.relative_to(tmp_path / "m")).read_bytes()


def test_an_edited_page_of_a_hidden_atom_is_set_aside(engine: Engine, tmp_path: Path) -> None:
    """An edited page is also set aside if the page itself no longer exists."""
    gone = engine.add("gone", source="gone").subject
    engine.mirror(tmp_path / "m")
    page = next(path for path in (tmp_path / "m").rglob("*.md") if path.name.startswith("gone"))
    page.write_text("mine")
    engine.tombstone(gone)
    engine.mirror(tmp_path / "m")
    assert not page.exists()
    assert (tmp_path / "m.edited" / "1" / page.relative_to(tmp_path / "m")).read_text() == "mine"


def test_foreign_files_stay(engine: Engine, tmp_path: Path) -> None:
    """Foreign files, folders and links stay in place and are reported."""
    engine.mirror(tmp_path / "m")
    inside = next((tmp_path / "m").rglob("*.md")).parent
    (inside / "note.md").write_text("note")
    (tmp_path / "m" / ".obsidian" / "deep").mkdir(parents=True)
    (tmp_path / "m" / ".obsidian" / "deep" / "app.json").write_text("{}")
    (tmp_path / "m" / "empty").mkdir()
    (tmp_path / "m" / "link").symlink_to("nowhere")
    engine.add("three", source="s")
    report = engine.mirror(tmp_path / "m")
    assert report.foreign == (
        ".obsidian/",
        str((inside / "note.md").relative_to(tmp_path / "m")),
        "empty/",
        "link",
    )
    assert (inside / "note.md").read_text() == "note"
    assert (tmp_path / "m" / ".obsidian" / "deep" / "app.json").read_text() == "{}"
    assert (tmp_path / "m" / "empty").is_dir()
    assert (tmp_path / "m" / "link").is_symlink()
    assert listed(tmp_path) == ["m"]


def test_a_foreign_folder_where_ours_is_to_be_is_joined(engine: Engine, tmp_path: Path) -> None:
    """A foreign note in the folder of a tag stays there while the tag is removed and added again."""
    engine.mirror(tmp_path / "m")
    atom = engine.find(limit=1)[0].id
    tagged = tmp_path / "m" / "@inbox" / "#t"
    (tagged / "note").write_text("note")
    engine.untag(atom, "t")
    engine.mirror(tmp_path / "m")
    assert listed(tagged) == ["note"]
    engine.tag(atom, "t")
    engine.mirror(tmp_path / "m")
    assert len(listed(tagged)) == 2
    assert (tagged / "note").read_text() == "note"


def test_a_failure_leaves_the_old_mirror(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is an error, and leaves the folder unchanged with nothing beside it."""
    engine.mirror(tmp_path / "m")
    before = tree(tmp_path)
    engine.add("three", source="s")

    def full(folder: int, name: str, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(mirror_disk, "write", full)
        refused(engine, tmp_path / "m", EngineError)
    assert (tree(tmp_path), listed(tmp_path)) == (before, ["m"])
    engine.mirror(tmp_path / "m")
    assert listed(tmp_path) == ["m"]


def test_a_dry_run_writes_nothing(engine: Engine, tmp_path: Path) -> None:
    """A dry run counts the pages that a run would write and set aside."""
    report = engine.mirror(tmp_path / "m", dry_run=True)
    assert (report.changed, report.written, listed(tmp_path)) == (True, 2, [])
    engine.mirror(tmp_path / "m")
    page = next((tmp_path / "m").rglob("*.md"))
    page.write_text("mine")
    before = tree(tmp_path)
    report = engine.mirror(tmp_path / "m", dry_run=True)
    assert (report.written, report.set_aside) == (1, ((str(page.relative_to(tmp_path / "m")), ""),))
    assert tree(tmp_path) == before
