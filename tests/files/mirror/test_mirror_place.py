"""The folders in which a mirror may be written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.base.errors import BusyError, InvalidInputError, NotFoundError, RefusedError
from engine.engine import Engine
from engine.files.mirror import mirror_disk
from engine.files.mirror import mirror_place as place
from engine.files.mirror.mirror_place import MANIFEST
from tests.files.mirror.parsing import listed, refused, tree


def test_a_new_and_an_empty_folder_are_taken(engine: Engine, tmp_path: Path) -> None:
    """A missing folder is created, and an empty one is filled and keeps its mode."""
    (tmp_path / "empty").mkdir(mode=0o700)
    engine.mirror(tmp_path / "empty")
    engine.mirror(str(tmp_path / "new"))
    assert tree(tmp_path / "empty") == tree(tmp_path / "new")
    assert (tmp_path / "empty").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("path", ["", "a\0b", "\udcff/x" + "\ud800"])
def test_what_is_no_path_is_refused(engine: Engine, path: str) -> None:
    """An empty path, a NUL and a lone surrogate are input errors."""
    refused(engine, path, InvalidInputError)


@pytest.mark.parametrize("path", ["/", "//", "/..", ".", "..", "~", "/proc", "/dev"])
def test_places_of_others_are_refused(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """The root, the current folder and its parents, the home folder and mount points are refused."""
    (tmp_path / "home").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "here")
    refused(engine, Path(path).expanduser() if path == "~" else path)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["here", "home"]


def test_a_folder_with_a_mount_in_it_is_refused(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mirror with a file system mounted in it or at it is refused, as it cannot be moved."""
    engine.mirror(tmp_path / "m")
    before = tree(tmp_path)
    engine.add("three")
    for mounted in ("m", "m/deep/er"):
        monkeypatch.setattr(place, "_mounts", lambda mounted=mounted: {str(tmp_path / mounted)})
        with pytest.raises(RefusedError, match="mounted"):
            engine.mirror(tmp_path / "m")
    assert tree(tmp_path) == before
    monkeypatch.setattr(place, "_mounts", lambda: {"/", str(tmp_path), str(tmp_path / "m2")})
    engine.mirror(tmp_path / "m")


def test_a_folder_with_files_and_no_manifest_is_refused(engine: Engine, tmp_path: Path) -> None:
    """A folder with files but without a valid manifest is refused and not changed."""
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "precious").write_text("x")
    refused(engine, tmp_path / "m")
    for text in ("", "{}", '{"format": 3}', "[]", '{"format": 2, "store_id": "x"}'):
        (tmp_path / "m" / MANIFEST).write_text(text)
        refused(engine, tmp_path / "m")
    assert (tmp_path / "m" / "precious").read_text() == "x"
    assert listed(tmp_path) == ["m"]


@pytest.mark.parametrize(
    "path", ["../canary", "/canary", "@a/../../canary", "@a/b/../c.md", "@a/.b/c.md", "canary", "@a//c.md"]
)
def test_a_manifest_that_names_other_files_is_refused(engine: Engine, tmp_path: Path, path: str) -> None:
    """A manifest with paths that are not paths of pages is refused, and nothing is removed."""
    engine.mirror(tmp_path / "m")
    manifest = tmp_path / "m" / MANIFEST
    text = manifest.read_text()
    manifest.write_text(
        text.replace('"files": {', f'"files": {{\n"{path}": {{"sha256": "{"0" * 64}", "atoms": []}},', 1)
    )
    before = tree(tmp_path)
    refused(engine, tmp_path / "m")
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"format": 2', '"format": 3'),
        ('"size": ', '"size": 1.'),
        ('"size": ', '"size": -'),
        ('"root": "', '"root": "g'),
        ('"store_id": "', '"store_id": "\\u001b'),
        ('"style": "plain"', '"style": ["plain"]'),
        ('"tags": {}', '"tags": []'),
        ('"atoms": ["', '"atoms": "["'),
        ('"sha256": ', '"sha": '),
        ('"files": {', '"files" : {'),
    ],
)
def test_a_manifest_of_another_form_is_refused(engine: Engine, tmp_path: Path, old: str, new: str) -> None:
    """A manifest that the engine would not write is refused, and the mirror is not changed."""
    engine.mirror(tmp_path / "m")
    manifest = tmp_path / "m" / MANIFEST
    text = manifest.read_text()
    assert old in text
    manifest.write_text(text.replace(old, new, 1))
    before = tree(tmp_path)
    refused(engine, tmp_path / "m")
    assert tree(tmp_path) == before


def test_the_mirror_of_another_store_is_refused(engine: Engine, tmp_path: Path) -> None:
    """The mirror of another store is refused."""
    with Engine.open("memory:") as other:
        other.mirror(tmp_path / "m")
    before = tree(tmp_path)
    refused(engine, tmp_path / "m")
    assert tree(tmp_path) == before


def test_links_on_the_way_are_refused(engine: Engine, tmp_path: Path) -> None:
    """A symbolic link as the folder or as a parent, also a broken one, is refused."""
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("nowhere")
    for path in ("link", "link/deep", "link/deep/new", "dangling"):
        refused(engine, tmp_path / path)
    assert list((tmp_path / "real" / "deep").iterdir()) == []


def test_a_file_and_a_missing_parent_are_refused(engine: Engine, tmp_path: Path) -> None:
    """A file, and a folder whose parent does not exist, are refused."""
    (tmp_path / "file").write_text("x")
    refused(engine, tmp_path / "file")
    refused(engine, tmp_path / "file" / "m")
    refused(engine, tmp_path / "no" / "m", NotFoundError)
    assert listed(tmp_path) == ["file"]


def test_a_folder_in_a_store_is_refused(tmp_path: Path) -> None:
    """A folder inside a store is refused."""
    pytest.importorskip("plyvel", reason="NOT TESTED: plyvel is not installed")
    with Engine.open(f"leveldb:{tmp_path}/store") as engine:
        refused(engine, tmp_path / "store" / "m")


def test_a_folder_replaced_meanwhile_is_left(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that was replaced during the run is refused and not changed."""
    engine.mirror(tmp_path / "m")
    engine.add("three")
    settle = mirror_disk.sync

    def replaced(folder: int, paths: Sequence[str], *, folders: bool = True) -> None:
        settle(folder, paths, folders=folders)
        (tmp_path / "m").rename(tmp_path / "was")
        (tmp_path / "m").mkdir()
        (tmp_path / "m" / "precious").write_text("x")

    monkeypatch.setattr(mirror_disk, "sync", replaced)
    refused(engine, tmp_path / "m")
    assert tree(tmp_path / "m") == {"precious": b"x"}
    assert listed(tmp_path) == ["m", "was"]


def test_a_parent_replaced_meanwhile_leads_nowhere(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the parent is renamed during the run, the opened folder is written to."""
    (tmp_path / "parent").mkdir()
    (tmp_path / "other").mkdir()
    settle = mirror_disk.sync

    def replaced(folder: int, paths: Sequence[str], *, folders: bool = True) -> None:
        settle(folder, paths, folders=folders)
        (tmp_path / "parent").rename(tmp_path / "moved")
        (tmp_path / "parent").symlink_to("other")

    monkeypatch.setattr(mirror_disk, "sync", replaced)
    engine.mirror(tmp_path / "parent" / "m")
    assert listed(tmp_path / "other") == []
    assert listed(tmp_path / "moved") == ["m"]


def test_what_stands_beside_and_is_not_ours_is_refused(engine: Engine, tmp_path: Path) -> None:
    """A folder beside the mirror with the name of a leftover but other contents is refused."""
    name = ".m.mirror-new"
    engine.mirror(tmp_path / "m")
    (tmp_path / name).mkdir()
    (tmp_path / name / "precious").write_text("x")
    before = tree(tmp_path)
    engine.add("three")
    refused(engine, tmp_path / "m")
    assert tree(tmp_path) == before


def test_two_runs_at_once_are_one(engine: Engine, tmp_path: Path) -> None:
    """A second run in the same parent folder raises BusyError."""
    with place.place_at(tmp_path / "m", lock=True):
        refused(engine, tmp_path / "m", BusyError)
