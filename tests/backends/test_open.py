"""Tests of opening by URL: the meaning of each form, and the errors."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import backends
from backends import open_backend, store_exists
from backends.errors import BackendBusy, BackendEnvironment, BackendMissing, BackendUnusable
from tests.backends.suite import batch_of
from tests.support.children import run
from tests.support.leveldb import LEVELDB, needs_leveldb


@pytest.mark.parametrize("scheme", ["memory", LEVELDB, "sqlite"])
def test_each_scheme_opens_its_kind(tmp_path: Path, scheme: str) -> None:
    """The scheme decides the kind of store."""
    url = "memory:" if scheme == "memory" else f"{scheme}:{tmp_path / 'store'}"
    with open_backend(url) as backend:
        assert backend.name == scheme


@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
def test_a_bare_path_opens_what_is_there(tmp_path: Path, scheme: str) -> None:
    """An existing store is recognised without a scheme, also through a symbolic link."""
    store, link = tmp_path / "store", tmp_path / "link"
    with open_backend(f"{scheme}:{store}") as backend:
        backend.write(batch_of([(b"a", b"1")]))
    link.symlink_to(store)
    for path in (store, link):
        assert store_exists(str(path))
        with open_backend(str(path), create=False) as backend:
            assert (backend.name, backend.get(b"a")) == (scheme, b"1")


@needs_leveldb
def test_a_new_bare_path_is_leveldb_where_plyvel_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new path becomes LevelDB, or SQLite without plyvel; `leveldb:` then names the package to install."""
    with open_backend(str(tmp_path / "one")) as backend:
        assert backend.name == "leveldb"
    monkeypatch.setattr(backends, "find_spec", lambda _: None)
    monkeypatch.setitem(sys.modules, "plyvel", None)
    with open_backend(str(tmp_path / "two")) as backend:
        assert backend.name == "sqlite"
    for url in (str(tmp_path / "one"), f"leveldb:{tmp_path / 'three'}"):
        with pytest.raises(BackendUnusable, match="memroot\\[leveldb\\]"):
            open_backend(url)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("redis:x", "use one of leveldb:, memory:, postgresql:, sqlite: or a plain path"),
        ("postgresql:host", "write postgresql://USER@HOST"),
        ("postgresql+A B://host/db", "invalid memory name"),
        ("redis+work:x", "use one of"),
        ("memory:x", "has no path"),
        ("leveldb:", "lacks the path"),
        ("sqlite:", "lacks the path"),
        ("", "not a valid path"),
        ("sqlite:a\0b", "not a valid path"),
        pytest.param("leveldb:a\0b", "not a valid path", marks=needs_leveldb),
        pytest.param("leveldb:" + "x" * 300, "cannot be used", marks=needs_leveldb),
        ("sqlite:" + "x" * 300, "cannot be used"),
        ("/dev/null/store", "cannot be used"),
        ("sqlite:/dev/null/store", "cannot be used"),
    ],
)
def test_a_url_that_cannot_work_is_refused(url: str, words: str) -> None:
    """A URL that cannot work raises BackendUnusable with the reason."""
    with pytest.raises(BackendUnusable, match=words):
        open_backend(url)


@pytest.mark.parametrize("scheme", [pytest.param("leveldb:", marks=needs_leveldb), "sqlite:", ""])
def test_nothing_is_made_unless_asked(tmp_path: Path, scheme: str) -> None:
    """Without `create` a missing path raises BackendMissing and nothing is created."""
    url = f"{scheme}{tmp_path / 'folder' / 'store'}"
    with pytest.raises(BackendMissing, match="no store"):
        open_backend(url, create=False)
    assert not store_exists(url)
    assert list(tmp_path.iterdir()) == []


@needs_leveldb
def test_an_empty_folder_becomes_a_store(tmp_path: Path) -> None:
    """An existing empty folder becomes a store; without `create` it is not one."""
    path = tmp_path / "store"
    path.mkdir()
    with pytest.raises(BackendMissing):
        open_backend(f"leveldb:{path}", create=False)
    with open_backend(f"leveldb:{path}"):
        assert sorted(entry.name for entry in path.iterdir()) == ["db", "lock"]


@needs_leveldb
def test_what_belongs_to_others_is_left_alone(tmp_path: Path) -> None:
    """A folder with files, a file, and a store without its lock file are refused and unchanged."""
    folder, file, store = tmp_path / "folder", tmp_path / "file", tmp_path / "store"
    folder.mkdir()
    (folder / "letter.txt").write_text("dear")
    file.write_text("hello")
    open_backend(f"leveldb:{store}").close()
    (store / "lock").unlink()
    for path, words in ((folder, "letter.txt"), (file, "is a file"), (store, "the file 'lock' in")):
        with pytest.raises(BackendUnusable, match=words):
            open_backend(f"leveldb:{path}")
        assert not store_exists(f"leveldb:{path}")
    with pytest.raises(BackendUnusable, match="is a folder"):
        open_backend(f"sqlite:{folder}")
    assert [entry.name for entry in folder.iterdir()] == ["letter.txt"]
    assert file.read_text() == "hello"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_place_is_refused(tmp_path: Path) -> None:
    """A folder without rights raises BackendEnvironment for both kinds."""
    tmp_path.chmod(0)
    try:
        for scheme in ("leveldb", "sqlite"):
            with pytest.raises(BackendEnvironment, match="denies access"):
                open_backend(f"{scheme}:{tmp_path / 'store'}")
    finally:
        tmp_path.chmod(0o700)


@needs_leveldb
def test_one_handle_a_process_whatever_the_path(tmp_path: Path) -> None:
    """A second LevelDB handle in the same process is refused, also through a link; SQLite allows it."""
    store, link = tmp_path / "store", tmp_path / "link"
    link.symlink_to(store)
    with open_backend(f"leveldb:{store}"), pytest.raises(BackendBusy, match="this process"):
        open_backend(f"leveldb:{link}")
    with (
        open_backend(f"sqlite:{tmp_path / 'file'}") as one,
        open_backend(f"sqlite:{tmp_path / 'file'}") as two,
    ):
        one.write(batch_of([(b"a", b"1")]))
        assert two.get(b"a") == b"1"


@needs_leveldb
def test_leftovers_of_dead_builders_are_removed_and_live_ones_kept(tmp_path: Path) -> None:
    """Creating a store removes the leftovers of killed builders and keeps folders of running ones."""
    from backends.files import MARKER, staging

    for dead in (tmp_path / ".store.new-0123456789abcdef", tmp_path / ".store.new-0123456789abcdee"):
        (dead / "half").mkdir(parents=True)
        (dead / "half" / "file").write_text("x")
        (dead / MARKER).touch()
    (tmp_path / ".store.new-0123456789abcded").mkdir()
    with staging(tmp_path / "store") as live:
        (live / "half").write_text("x")
        with open_backend(f"leveldb:{tmp_path / 'store'}"):
            assert sorted(tmp_path.iterdir()) == sorted([live, tmp_path / "store"])


@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
@pytest.mark.parametrize(
    ("name", "marked"),
    [
        (".zz.new-mydocs", False),
        (".zz.new-mydocs", True),
        (".zz.new-0123456789abcdef", False),
        (".zz.new-0123456789ABCDEF", True),
        (".zz.new-0123456789abcdef0", True),
        (".zz.new-0123456789abcdef\n", True),
        (".zz.new-", True),
    ],
)
def test_folders_that_only_look_like_leftovers_are_kept(
    tmp_path: Path, scheme: str, name: str, marked: bool
) -> None:
    """Creating a store keeps folders that lack the exact name or the marker of a leftover."""
    from backends.files import MARKER

    theirs = tmp_path / name
    theirs.mkdir()
    (theirs / "letter.txt").write_text("dear")
    if marked:
        (theirs / MARKER).touch()
    open_backend(f"{scheme}:{tmp_path / 'zz'}").close()
    assert (theirs / "letter.txt").read_text() == "dear"


@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
def test_links_among_leftovers_are_not_followed(tmp_path: Path, scheme: str) -> None:
    """A link named like a leftover stays; links inside a leftover are removed and their targets stay."""
    from backends.files import MARKER

    theirs, dead = tmp_path / "theirs", tmp_path / ".zz.new-0123456789abcdef"
    for folder in (theirs, dead):
        folder.mkdir()
        (folder / "letter.txt").write_text("dear")
        (folder / MARKER).touch()
    (dead / "link").symlink_to(theirs)
    link, file, odd = (tmp_path / f".zz.new-{digit * 16}" for digit in "123")
    link.symlink_to(theirs)
    file.touch()
    odd.mkdir()
    (odd / MARKER).symlink_to(theirs / MARKER)
    open_backend(f"{scheme}:{tmp_path / 'zz'}").close()
    assert sorted(entry.name for entry in theirs.iterdir()) == ["letter.txt", MARKER]
    assert sorted(tmp_path.iterdir()) == sorted([theirs, link, file, odd, tmp_path / "zz"])


def test_libraries_are_loaded_only_when_used() -> None:
    """Importing the package loads neither plyvel, sqlite3 nor sortedcontainers."""
    code = "import sys, backends; print(sorted({'plyvel', 'sqlite3', 'sortedcontainers'} & set(sys.modules)))"
    assert run(code) == (0, "[]\n")


def test_backends_import_nothing_else_of_ours() -> None:
    """Opening any store imports neither engine nor proofs."""
    code = """
import sys, backends
backends.open_backend("memory:").close()
import backends.leveldb.leveldb_backend, backends.sqlite.sqlite_backend
print(sorted({name.partition(".")[0] for name in sys.modules} & {"engine", "proofs"}))
"""
    assert run(code) == (0, "[]\n")
