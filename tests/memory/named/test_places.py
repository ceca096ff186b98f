"""The valid names of memories, and the valid roots."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends import locate
from backends.databases import memory_name
from backends.errors import BackendUnusable
from engine import Engine, memories
from engine.base.errors import EngineError, InvalidInputError, NotFoundError
from engine.base.validation import label
from engine.store.named_places import memory_url

pytestmark = pytest.mark.slow

HOSTILE = (
    "",
    ".",
    "..",
    ".hidden",
    "../up",
    "a/b",
    "/etc",
    "a\\b",
    "A",
    "é",
    "a b",
    "a\n",
    "a\x00",
    "x" * 33,
    "rows; DROP TABLE rows",
    "'",
    '"',
    "a:b",
    "%2e%2e",
    "~",
    "db",
    "lock",
    "work-wal",
    "work-shm",
    "work-lock",
    "work-journal",
)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_hostile_name_makes_nothing(tmp_path: Path, kind: str, name: str) -> None:
    """A name that could be a path, a statement or a file of the store is refused and creates nothing."""
    root = tmp_path / "root"
    with pytest.raises(InvalidInputError):
        Engine.open(f"sqlite:{root}" if kind == "file" else str(root), memory=name)
    assert list(tmp_path.iterdir()) == []


@given(st.text(max_size=40))
def test_a_name_is_a_label_without_a_dot_in_front(name: str) -> None:
    """An accepted name is a label (SPEC) that does not begin with a dot and is not a file name of a store."""
    try:
        memory_name(name)
    except BackendUnusable:
        return
    assert label(name, "name") == name
    assert not name.startswith(".")
    assert name not in {"db", "lock"}


@pytest.mark.parametrize("value", [None, 3, b"work", ["work"]])
def test_a_name_is_a_text(tmp_path: Path, value: object) -> None:
    """A name that is not text is refused."""
    with pytest.raises(InvalidInputError):
        memory_url(str(tmp_path), value)  # type: ignore[arg-type]  # that is the point


def test_the_url_of_a_memory_in_a_file_says_both() -> None:
    """`sqlite+NAME:PATH` names one memory of the file and is the result of `memory_url`."""
    assert memory_url("sqlite:a.db", "work") == "sqlite+work:a.db"
    assert locate("sqlite+work:a.db").memory == "work"
    assert locate("sqlite:a.db").memory is None


@pytest.mark.parametrize("url", ["sqlite+Work:a.db", "sqlite+:a.db", "sqlite+../x:a.db", "sqlite+work:"])
def test_a_url_with_a_bad_memory_is_refused(url: str) -> None:
    """A URL with an invalid memory name, or without a path, is refused."""
    with pytest.raises(BackendUnusable):
        locate(url)


def test_a_store_s_own_folder_is_no_root(tmp_path: Path) -> None:
    """The folder of a LevelDB store is refused as a root."""
    pytest.importorskip("plyvel")
    Engine.open(f"leveldb:{tmp_path / 'store'}").close()
    with pytest.raises(InvalidInputError, match="a store itself"):
        Engine.open(str(tmp_path / "store"), memory="work")


@pytest.mark.parametrize("url", ["memory:", "sqlite+work:a.db"])
def test_what_is_one_store_holds_no_memories(url: str) -> None:
    """A store in memory, and one memory of a file, are refused as roots."""
    with pytest.raises(InvalidInputError):
        memories(url)


def test_a_link_is_no_memory(tmp_path: Path) -> None:
    """A symbolic link in the root is neither listed nor opened."""
    Engine.open(f"sqlite:{tmp_path / 'outside'}").close()
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "work").symlink_to(tmp_path / "outside")
    assert memories(str(tmp_path / "root")) == []
    with pytest.raises(InvalidInputError, match="symbolic link"):
        Engine.open(str(tmp_path / "root"), memory="work")


def test_a_root_that_is_not_there_has_no_memories(tmp_path: Path) -> None:
    """Listing a missing root returns no memories and creates nothing."""
    for url in (str(tmp_path / "none"), f"sqlite:{tmp_path / 'none.db'}"):
        assert memories(url) == []
        with pytest.raises(NotFoundError):
            Engine.open(url, memory="work", create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_memory_is_not_made_by_looking(tmp_path: Path) -> None:
    """Opening a missing memory without `create` creates neither a table nor a lock file."""
    url = f"sqlite:{tmp_path / 'a.db'}"
    Engine.open(url, memory="work").close()
    with pytest.raises(NotFoundError):
        Engine.open(url, memory="home", create=False)
    assert memories(url) == ["work"]
    assert not (tmp_path / "a.db-use-home").exists()


def test_a_file_of_memories_alone_has_no_store_without_a_name(tmp_path: Path) -> None:
    """Opening such a file without a name raises an error that names its memories."""
    url = f"sqlite:{tmp_path / 'a.db'}"
    Engine.open(url, memory="work").close()
    with pytest.raises(NotFoundError, match="its memories are work"):
        Engine.open(url, create=False)
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        assert database.execute("SELECT count(*) FROM rows WHERE key > x''").fetchone() == (0,)


def test_a_number_is_never_used_again(tmp_path: Path) -> None:
    """A memory that is created after a deletion gets a table of another name."""
    from backends.sqlite.sqlite_memories import delete_memory

    path = tmp_path / "a.db"
    for _ in range(3):
        Engine.open(f"sqlite:{path}", memory="work").close()
        delete_memory(str(path), "work")
    Engine.open(f"sqlite:{path}", memory="work").close()
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT number, name FROM memories").fetchall() == [(4, "work")]


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """A SQLite file of another program is refused as a root."""
    with closing(sqlite3.connect(tmp_path / "other.db")) as other, other:
        other.execute("CREATE TABLE t (x)")
    before = (tmp_path / "other.db").read_bytes()
    with pytest.raises(EngineError):
        memories(f"sqlite:{tmp_path / 'other.db'}")
    assert (tmp_path / "other.db").read_bytes() == before
