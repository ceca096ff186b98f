"""The findings of `check_mirror`."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from engine.base.errors import NotFoundError
from engine.engine import Engine
from engine.files.mirror.mirror_place import MANIFEST
from tests.support.engines import engine_on


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """Return a store of two atoms with a mirror in `m`."""
    found = engine_on()
    found.add("one", source="a")
    found.add("two", source="b")
    found.mirror(tmp_path / "m")
    return found


def findings(engine: Engine, folder: Path) -> list[tuple[str, str]]:
    """Return the verdict and path of each finding."""
    return [(finding.verdict.value, finding.path) for finding in engine.check_mirror(folder).findings]


def first_page(folder: Path) -> Path:
    """Return the path of one of the pages."""
    return min(folder.rglob("*.md"))


def test_a_mirror_that_is_right(engine: Engine, tmp_path: Path) -> None:
    """A correct mirror gives no findings, and the root of the store."""
    found = engine.check_mirror(tmp_path / "m")
    assert (found.ok, found.findings, found.behind, found.root) == (True, (), 0, engine.root().root)


def test_an_edited_page(engine: Engine, tmp_path: Path) -> None:
    """A page with an additional byte, or replaced by something else, is reported as edited."""
    page = first_page(tmp_path / "m")
    name = str(page.relative_to(tmp_path / "m"))
    page.write_text(page.read_text() + " ")
    assert findings(engine, tmp_path / "m") == [("edited", name)]
    page.unlink()
    page.symlink_to("elsewhere")
    assert findings(engine, tmp_path / "m") == [("edited", name)]
    page.unlink()
    engine.mirror(tmp_path / "m")
    page.rename(tmp_path / "same bytes")
    page.symlink_to(tmp_path / "same bytes")
    assert findings(engine, tmp_path / "m") == [("edited", name)]
    assert not engine.check_mirror(tmp_path / "m").ok


def test_a_missing_page(engine: Engine, tmp_path: Path) -> None:
    """A deleted page is reported as missing."""
    page = first_page(tmp_path / "m")
    page.unlink()
    assert findings(engine, tmp_path / "m") == [("missing", str(page.relative_to(tmp_path / "m")))]


def test_a_foreign_file(engine: Engine, tmp_path: Path) -> None:
    """Foreign files are reported, and the mirror is still correct."""
    (tmp_path / "m" / "note").write_text("x")
    (tmp_path / "m" / "folder").mkdir()
    assert findings(engine, tmp_path / "m") == [("foreign", "folder/"), ("foreign", "note")]
    assert engine.check_mirror(tmp_path / "m").ok


def test_a_stale_mirror(engine: Engine, tmp_path: Path) -> None:
    """A mirror of an earlier head is stale, and the finding gives the number of later events."""
    engine.add("three", source="a")
    engine.tombstone(engine.find(limit=1)[0].id)
    found = engine.check_mirror(tmp_path / "m")
    assert findings(engine, tmp_path / "m") == [("stale", "")]
    assert (found.ok, found.behind, found.root) == (False, 2, engine.root(as_of=found.size - 1).root)


def test_a_stale_mirror_of_what_was_erased(engine: Engine, tmp_path: Path) -> None:
    """After an erasure the old mirror is stale, not forged, and the next one lacks the content."""
    atom = engine.find(limit=1)[0].id
    engine.erase(atom, "asked for")
    (finding,) = engine.check_mirror(tmp_path / "m").findings
    assert finding.verdict == "stale"
    assert "erased" in finding.detail
    engine.mirror(tmp_path / "m")
    assert engine.check_mirror(tmp_path / "m").findings == ()
    assert atom not in "".join(path.read_text() for path in (tmp_path / "m").rglob("*") if path.is_file())
    engine.add("later")
    assert [finding.verdict.value for finding in engine.check_mirror(tmp_path / "m").findings] == ["stale"]


@pytest.mark.parametrize("moved_on", [False, True])
def test_a_page_that_was_forged(engine: Engine, tmp_path: Path, moved_on: bool) -> None:
    """A page that was edited together with the manifest is found by comparing with the store."""
    page = first_page(tmp_path / "m")
    name = str(page.relative_to(tmp_path / "m"))
    was = sha256(page.read_bytes()).hexdigest()
    page.write_text(page.read_text().replace("one", "won"))
    manifest = tmp_path / "m" / MANIFEST
    manifest.write_text(manifest.read_text().replace(was, sha256(page.read_bytes()).hexdigest()))
    if moved_on:
        engine.add("three")
    assert [found for found in findings(engine, tmp_path / "m") if found[0] != "stale"] == [("forged", name)]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("root", "0" * 64),
        ("size", 2),
        ("size", 99),
        ("size", "3"),
        ("tags", {"a": "b"}),
        ("style", "obsidian"),
        ("files", {}),
        ("files", {"../x": 1}),
        ("store_id", "00000000-0000-8000-8000-000000000001"),
        ("format", 2),
    ],
)
def test_a_manifest_that_was_forged(engine: Engine, tmp_path: Path, field: str, value: object) -> None:
    """A changed field of the manifest is found."""
    manifest = tmp_path / "m" / MANIFEST
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {field: value}))
    found = engine.check_mirror(tmp_path / "m")
    assert "forged" in {finding.verdict for finding in found.findings}
    assert not found.ok


def test_a_manifest_that_is_written_otherwise(engine: Engine, tmp_path: Path) -> None:
    """A manifest with the same values in other bytes is reported."""
    manifest = tmp_path / "m" / MANIFEST
    manifest.write_text(json.dumps(json.loads(manifest.read_text())))
    assert findings(engine, tmp_path / "m") == [("forged", MANIFEST)]


def test_a_run_that_was_cut_off(engine: Engine, tmp_path: Path) -> None:
    """The leftovers of an interrupted run are reported."""
    (tmp_path / ".m.mirror-new").mkdir()
    assert findings(engine, tmp_path / "m") == [("unfinished", ".m.mirror-new")]


def test_no_mirror(engine: Engine, tmp_path: Path) -> None:
    """Checking a missing folder, or one without a manifest, raises NotFoundError."""
    (tmp_path / "other").mkdir()
    for name in ("other", "nothing"):
        with pytest.raises(NotFoundError):
            engine.check_mirror(tmp_path / name)


def test_a_check_changes_nothing(engine: Engine, tmp_path: Path) -> None:
    """A check changes neither the folder nor the store."""
    size = engine.size
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    engine.check_mirror(tmp_path / "m")
    assert engine.size == size
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == times
