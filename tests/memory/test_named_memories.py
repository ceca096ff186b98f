"""Creating, renaming and deleting memories."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import Engine, memories
from engine.base.errors import BusyError, ConflictError, NotFoundError
from engine.memory.named_memories import create, delete, described, rename
from engine.store.named_places import root_of
from tests.memory.named.support import ROOTS, begin, root_url
from tests.support.leveldb import needs_leveldb

WORDS = "the-words-that-must-go"


@pytest.fixture(params=ROOTS)
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a root with the memories `home`, with one atom, and `work`, with two."""
    url = root_url(request.param, tmp_path)
    for name, texts in (("home", ["tea"]), ("work", [WORDS, "more"])):
        begin(request.param, url, name)
        with Engine.open(url, memory=name) as memory:
            for text in texts:
                memory.add(text)
    return url


def contents(url: str, name: str) -> set[str]:
    """Return the contents of the atoms of a memory."""
    with Engine.open(url, memory=name, create=False) as memory:
        return {memory.get(one.id).content for one in memory.find(limit=100)}


def test_create_is_idempotent(root: str) -> None:
    """Creating an existing memory changes nothing, and `create` returns whether it created one."""
    assert not create(root, "work")
    assert create(root, "third")
    assert memories(root) == ["home", "third", "work"]
    assert contents(root, "work") == {WORDS, "more"}


def test_rename_keeps_everything(root: str) -> None:
    """A renamed memory has its root, store id and atoms under the new name, and the old name is free."""
    with Engine.open(root, memory="work") as memory:
        before = memory.root()
    rename(root, "work", "office")
    assert memories(root) == ["home", "office"]
    with Engine.open(root, memory="office", create=False) as memory:
        assert memory.root() == before
        assert memory.verify().ok
    assert create(root, "work")
    assert contents(root, "work") == set()
    assert contents(root, "office") == {WORDS, "more"}


def test_rename_refuses_a_name_that_is_taken(root: str) -> None:
    """Renaming to an existing name is refused, and both memories stay as they are."""
    with pytest.raises(ConflictError):
        rename(root, "work", "home")
    assert contents(root, "home") == {"tea"}
    assert contents(root, "work") == {WORDS, "more"}


def test_a_memory_in_use_is_neither_renamed_nor_deleted(root: str) -> None:
    """An open memory can be neither renamed nor deleted, while another memory of the root can."""
    with Engine.open(root, memory="work") as memory:
        with pytest.raises(BusyError):
            rename(root, "work", "office")
        with pytest.raises(BusyError):
            delete(root, "work")
        rename(root, "home", "flat")
        memory.add("still writing")
    assert memories(root) == ["flat", "work"]
    assert contents(root, "work") == {WORDS, "more", "still writing"}


def test_what_is_not_there_is_not_found(root: str) -> None:
    """Renaming or deleting a missing memory raises an error that names the existing ones."""
    with pytest.raises(NotFoundError) as caught:
        rename(root, "wrok", "office")
    assert "home, work" in caught.value.hint
    with pytest.raises(NotFoundError):
        delete(root, "wrok")


def test_delete_takes_one_memory_and_leaves_the_other(root: str, tmp_path: Path) -> None:
    """No file contains the text of a deleted memory, and the other memory is unchanged."""
    with Engine.open(root, memory="home") as home:
        before = home.root()
    removed = delete(root, "work")
    assert removed.memory.live_atoms == 2
    assert removed.cleared
    assert memories(root) == ["home"]
    with Engine.open(root, memory="home", create=False) as home:
        assert home.root() == before
        assert home.verify().ok
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert [file for file in files if WORDS.encode() in file.read_bytes()] == []
    assert contents(root, "home") == {"tea"}
    create(root, "work")
    assert contents(root, "work") == set()


def test_a_dry_run_of_delete_deletes_nothing(root: str) -> None:
    """With `dry_run`, `delete` reports what it would delete and deletes nothing."""
    would = delete(root, "work", dry_run=True)
    assert (would.memory.name, would.memory.live_atoms, would.memory.events) == ("work", 2, 3)
    assert contents(root, "work") == {WORDS, "more"}


def test_described_tells_what_is_there(root: str) -> None:
    """`described` returns the name, live atoms, events and root that the open memory has."""
    found = described(root_of(root), "work")
    with Engine.open(root, memory="work", create=False) as memory:
        assert (found.state, found.root) == ("usable", memory.root().root)
        assert (found.live_atoms, found.events) == (2, memory.size)
    assert found.bytes > len(WORDS)


def test_foreign_files_are_kept_and_told(tmp_path: Path) -> None:
    """Foreign files in a LevelDB memory's folder survive its deletion, and so do the targets of links."""
    pytest.importorskip("plyvel")
    url, outside = str(tmp_path / "root"), tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    create(url, "work")
    entry = tmp_path / "root" / "work"
    (entry / "notes.txt").write_text("mine")
    (entry / "db" / "mine.txt").write_text("mine, too")
    (entry / "link").symlink_to(outside)
    (entry / "db" / "mine.ldb").symlink_to(outside / "precious")
    removed = delete(url, "work")
    assert sorted(Path(path).name for path in removed.kept) == ["kept", "link", "notes.txt"]
    assert sorted(path.name for path in (entry / "kept").iterdir()) == ["mine.ldb", "mine.txt"]
    assert (entry / "notes.txt").read_text() == "mine"
    assert (entry / "kept" / "mine.txt").read_text() == "mine, too"
    assert (outside / "precious").read_text() == "precious"
    assert memories(url) == []
    assert {path.name for path in entry.iterdir()} == {"kept", "link", "notes.txt"}


@needs_leveldb
def test_other_things_in_the_root_are_left_alone(root: str, tmp_path: Path) -> None:
    """Other files and folders in the root are not listed, and block only a memory of the same name."""
    folder = Path(root_of(root).path).parent / "memories"
    folder.mkdir(exist_ok=True)
    (folder / "readme").write_text("about")
    (folder / "drawer").mkdir()
    delete(root, "work")
    assert memories(root) == ["home"]
    assert (folder / "readme").read_text() == "about"
    assert (folder / "drawer").is_dir()
    if not root.startswith("sqlite:"):
        with pytest.raises(ConflictError):
            rename(root, "home", "readme")
        with pytest.raises(ConflictError):
            rename(root, "home", "drawer")


def test_a_file_that_holds_memories_is_not_deleted_as_one(tmp_path: Path) -> None:
    """A SQLite file with named memories of its own cannot be deleted as one memory of a folder."""
    from engine.base.errors import InvalidInputError

    url = str(tmp_path / "root")
    Engine.open(f"sqlite:{url}/many").close()
    Engine.open(f"sqlite:{url}/many", memory="inner").close()
    with pytest.raises(InvalidInputError, match="inner"):
        delete(url, "many")
    assert memories(f"sqlite:{url}/many") == ["inner"]
