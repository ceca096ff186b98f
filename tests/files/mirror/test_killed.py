"""A run that is killed at any disk operation leaves complete pages, and the next run finishes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from engine.engine import Engine
from engine.files.mirror import mirror_disk
from tests.files.mirror.parsing import listed, tree
from tests.support.engines import engine_on

pytestmark = pytest.mark.slow

KILLED, FAILED = 9, 1
OPERATIONS = ("mkdir", "rename", "unlink", "rmdir", "write", "fchmod", "fsync", "open")


def before() -> Engine:
    """Return a store in its first mirrored state."""
    engine = engine_on()
    engine.add("kept", source="a")
    engine.add("goes", source="b", tags=["x"])
    return engine


def after() -> Engine:
    """Return the same store with one page more, one less, and one changed."""
    engine = before()
    engine.tombstone(engine.find(limit=9)[1].id)
    engine.add("comes", source="c", tags=["y"])
    engine.add("more", source="a2", tags=["z"])
    return engine


def killed_at(number: int, run: Callable[[], Any]) -> bool:
    """Run in a child process that dies before its `number`-th operation; return True if it died."""
    child = os.fork()
    if child == 0:
        code = FAILED
        try:
            _arm(number)
            run()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in {0, KILLED}
    return code == KILLED


def _arm(number: int) -> None:
    done = 0

    def counted(real: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            nonlocal done
            if name != "open" or (len(args) > 1 and args[1] & os.O_CREAT):
                done += 1
                if done == number:
                    if name == "write":
                        real(args[0], bytes(args[1])[: len(args[1]) // 2])
                    os._exit(KILLED)
            return real(*args, **options)

        return call

    for name in OPERATIONS:
        setattr(os, name, counted(getattr(os, name), name))
    mirror_disk.move = counted(mirror_disk.move, "move")


def killed_anywhere(place: Path, start: Path | None, run: Callable[[], Any]) -> Iterator[int]:
    """Kill a run before each of its operations in turn, each time over a copy of `start`; yield numbers."""
    for number in count(1):
        shutil.rmtree(place.parent, ignore_errors=True)
        place.parent.mkdir()
        if start is not None:
            shutil.copytree(start, place, symlinks=True)
        going = killed_at(number, run)
        yield number
        if not going:
            return


def test_killed_anywhere_each_page_stands_whole(tmp_path: Path) -> None:
    """After a kill, each page is as before or as after the run, and the next run gives a fresh mirror."""
    after().mirror(tmp_path / "fresh")
    start, place = tmp_path / "start", tmp_path / "place" / "m"
    before().mirror(start)
    (start / "mine.txt").write_text("mine")
    (start / ".obsidian").mkdir()
    (start / ".obsidian" / "app.json").write_text("{}")
    old, new = tree(start), tree(tmp_path / "fresh")
    number = 0
    for number in killed_anywhere(place, start, lambda: after().mirror(place)):
        found = tree(place)
        assert all(content in (old.get(path), new.get(path)) for path, content in found.items()), number
        assert set(found) >= set(old) & set(new), number
        (place.parent / "canary").write_text("canary")
        after().mirror(place)
        found = tree(place)
        assert found.pop("mine.txt") == b"mine"
        assert found.pop(".obsidian/app.json") == b"{}"
        assert found == new, number
        assert listed(place.parent) == ["canary", "m"], number
    assert number > 25


def test_killed_anywhere_no_edit_is_lost(tmp_path: Path) -> None:
    """After a kill at any operation, an edited page that the run replaces is set aside exactly once."""
    start, place = tmp_path / "start", tmp_path / "place" / "m"
    before().mirror(start)
    pages = sorted(start.rglob("*.md"))
    for page in pages:
        page.write_text(f"mine, of {page.name}")
    wanted = sorted(f"mine, of {page.name}" for page in pages)
    for number in killed_anywhere(place, start, lambda: after().mirror(place)):
        after().mirror(place)
        mine = sorted(path.read_text() for path in (place.parent / "m.edited").rglob("*.md"))
        assert mine == wanted, number
        assert listed(place.parent) == ["m", "m.edited"], number
        assert after().check_mirror(place).ok


@pytest.mark.parametrize("empty", [True, False], ids=["empty folder", "new folder"])
def test_killed_anywhere_the_first_mirror_is_made_by_the_next_run(tmp_path: Path, empty: bool) -> None:
    """A killed first run leaves no mirror, and the next run makes it."""
    before().mirror(tmp_path / "fresh")
    place = tmp_path / "place" / "m"
    (tmp_path / "empty").mkdir()
    start = tmp_path / "empty" if empty else None
    for number in killed_anywhere(place, start, lambda: before().mirror(place)):
        there = tree(place) if place.exists() else {}
        assert there in ({}, tree(tmp_path / "fresh")), number
        before().mirror(place)
        assert tree(place) == tree(tmp_path / "fresh")
        assert listed(place.parent) == ["m"], number


def test_a_run_that_was_killed_while_tidying_up_after_one_is_ended_too(tmp_path: Path) -> None:
    """After kills at any two operations, the third run gives a fresh mirror."""
    after().mirror(tmp_path / "fresh")
    before().mirror(tmp_path / "start")
    (tmp_path / "start" / "mine.txt").write_text("mine")
    place = tmp_path / "place" / "m"
    for first in range(3, 31, 6):
        for second in range(1, 31, 6):
            shutil.rmtree(tmp_path / "place", ignore_errors=True)
            (tmp_path / "place").mkdir()
            shutil.copytree(tmp_path / "start", place)
            killed_at(first, lambda: after().mirror(place))
            killed_at(second, lambda: after().mirror(place))
            after().mirror(place)
            found = tree(place)
            assert found.pop("mine.txt") == b"mine"
            assert found == tree(tmp_path / "fresh"), (first, second)
            assert listed(place.parent) == ["m"], (first, second)
