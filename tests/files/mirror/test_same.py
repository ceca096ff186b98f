"""A mirror depends only on the store."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends import open_backend
from engine import Add, Link, Relate, Revise, Revive, Tag, Tombstone, Unlink, Untag
from engine.base.errors import EngineError
from engine.commands import Command
from engine.engine import Engine
from engine.files.mirror import mirror_pages
from engine.files.mirror.following_mirror import update
from engine.store.maintenance import copy
from tests.files.mirror.parsing import listed, tree, whole
from tests.support.engines import engine_on

ATOMS = st.integers(0, 5)
TAGS = st.sampled_from(["Red", "red", "two words", "1984", "c++"])
OPS = st.one_of(
    st.tuples(
        st.just("add"),
        st.sampled_from(["a", "b\n# c", "x" * 400]),
        st.sampled_from([None, "s", "S"]),
        TAGS,
        st.sampled_from([("inbox",), ("inbox", "work")]),
    ),
    st.tuples(st.just("revise"), ATOMS, st.sampled_from(["new", "# newer"])),
    st.tuples(st.sampled_from(["tag", "untag"]), ATOMS, TAGS),
    st.tuples(st.sampled_from(["tombstone", "revive"]), ATOMS),
    st.tuples(st.sampled_from(["link", "unlink"]), ATOMS, ATOMS),
    st.tuples(st.just("relate"), st.sampled_from(["daemon", "socket"])),
)


def command(op: tuple[Any, ...], ids: Sequence[str]) -> Command | None:
    """Draw an operation on existing atoms, or None if there is no atom."""
    name, *rest = op
    if name == "add":
        return Add(rest[0], source=rest[1], tags=(rest[2],), buckets=rest[3])
    if name == "relate":
        return Relate(rest[0], "knows", "world")
    atoms = [arg for arg in rest if isinstance(arg, int)]
    if any(atom >= len(ids) for atom in atoms):
        return None
    here = [ids[atom] for atom in atoms]
    made: dict[str, Any] = {
        "revise": lambda: Revise(here[0], content=rest[1]),
        "tag": lambda: Tag(here[0], (rest[1],)),
        "untag": lambda: Untag(here[0], (rest[1],)),
        "tombstone": lambda: Tombstone(here[0]),
        "revive": lambda: Revive(here[0]),
        "link": lambda: Link(here[0], "references", here[1]),
        "unlink": lambda: Unlink(here[0], "references", here[1]),
    }
    return made[name]()  # type: ignore[no-any-return]


def play(engine: Engine, ops: Sequence[tuple[Any, ...]], after: Any = None) -> None:
    """Carry out operations, and call `after` after each one."""
    ids: list[str] = []
    for op in ops:
        wanted = command(op, ids)
        if wanted is None:
            continue
        try:
            receipt = engine.apply([wanted])[0]
        except EngineError:
            continue
        if op[0] == "add" and receipt.subject not in ids:
            ids.append(receipt.subject)
        if after:
            after()


@given(st.lists(OPS, max_size=10), st.sampled_from(["plain", "obsidian"]), st.sampled_from([2, 100]))
@settings(max_examples=120, deadline=None)
def test_a_kept_mirror_equals_a_fresh_one(ops: list[tuple[Any, ...]], style: str, atoms: int) -> None:
    """A mirror updated after each command equals a fresh mirror, byte for byte, also with small pages."""
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(mirror_pages, "PAGE_ATOMS_MAX", atoms)
        here = Path(os.path.realpath(name))
        often, once = engine_on(), engine_on()
        often.mirror(here / "often", style=style)
        play(often, ops, lambda: update(often.store, here / "often", actor="user"))
        play(once, ops)
        often.mirror(here / "often", style=style)
        once.mirror(here / "a b", style=style)
        assert tree(here / "often") == tree(here / "a b")
        assert listed(here) == ["a b", "often"]
        assert often.check_mirror(here / "often").findings == ()
        assert set(whole(here / "often")) == {atom.id for atom in once.find(limit=100)}


WORK = [
    ("add", "one", "s", "Red", ("inbox",)),
    ("add", "two", None, "1984", ("work",)),
    ("link", 0, 1),
    ("relate", "daemon"),
    ("tag", 1, "c++"),
]


@pytest.mark.parametrize("url", ["sqlite:{}/copy.db", "leveldb:{}/copy"])
def test_a_copy_on_another_backend_has_the_same_mirror(tmp_path: Path, url: str) -> None:
    """Stores on different backends have the same mirror."""
    if url.startswith("leveldb"):
        pytest.importorskip("plyvel", reason="NOT TESTED: plyvel is not installed")
    engine = engine_on()
    play(engine, WORK)
    engine.mirror(tmp_path / "m")
    with open_backend(url.format(tmp_path), create=True) as target:
        copy(engine.store.backend, target)
    with Engine.open(url.format(tmp_path)) as other:
        other.mirror(tmp_path / "n")
    assert tree(tmp_path / "m") == tree(tmp_path / "n")


def test_nothing_to_do_touches_nothing(tmp_path: Path) -> None:
    """If nothing changed, the folder, files and times of a mirror stay the same."""
    engine = engine_on()
    play(engine, WORK)
    engine.mirror(tmp_path / "m")
    before = {
        path: (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in [tmp_path / "m", *(tmp_path / "m").rglob("*")]
    }
    report = engine.mirror(tmp_path / "m")
    assert (report.changed, report.written, report.removed) == (False, 0, 0)
    assert before == {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in before}


def test_untouched_pages_keep_their_times(tmp_path: Path) -> None:
    """Only changed pages are written."""
    engine = engine_on()
    engine.add("one", source="a")
    engine.add("two", source="b")
    engine.mirror(tmp_path / "m")
    pages = sorted((tmp_path / "m").rglob("*.md"))
    before = {path: path.stat().st_mtime_ns for path in pages}
    engine.add("three", source="b")
    assert engine.mirror(tmp_path / "m").written == 1
    assert [path.stat().st_mtime_ns == before[path] for path in pages] == [True, False]


def test_a_folder_keeps_its_style(tmp_path: Path) -> None:
    """Without a style a mirror keeps its style, and with another one it is written again."""
    engine = engine_on()
    play(engine, WORK)
    engine.mirror(tmp_path / "m", style="obsidian")
    engine.add("three")
    assert engine.mirror(tmp_path / "m").style == "obsidian"
    engine.mirror(tmp_path / "m", style="plain")
    engine.mirror(tmp_path / "n", style="plain")
    assert tree(tmp_path / "m") == tree(tmp_path / "n")


def test_the_past_can_be_mirrored(tmp_path: Path) -> None:
    """A store opened at an earlier time can be mirrored, and its mirror is correct for that time."""
    engine = engine_on()
    engine.add("then")
    engine.mirror(tmp_path / "then")
    size = engine.size
    engine.add("now")
    with engine.as_of(size - 1) as past:
        past.mirror(tmp_path / "past")
    assert tree(tmp_path / "then") == tree(tmp_path / "past")
