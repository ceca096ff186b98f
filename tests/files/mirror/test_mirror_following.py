"""A mirror that is named when a memory is opened follows the writes of the memory."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backends.memory import MemoryBackend
from engine import Add
from engine.base.errors import ConflictError
from engine.engine import Engine
from engine.files.mirror import following_mirror
from engine.files.mirror.following_mirror import update
from engine.files.mirror.mirror_pages import Page, Renderer
from engine.files.mirror.mirror_report import PullReport
from engine.store import following
from tests.files.mirror.parsing import listed, tree
from tests.files.mirror.test_mirror_pull import edited, page_with
from tests.support.engines import engine_on, salt_of, ticking


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Return a memory whose mirror follows without pauses."""
    monkeypatch.setattr(following, "PAUSE", 0)
    return opened(tmp_path)


def opened(tmp_path: Path) -> Engine:
    """Return a new memory with a mirror in the folder `m`."""
    return Engine(MemoryBackend(), clock=ticking(), salts=salt_of, mirror=tmp_path / "m")


def wrote(folder: Path) -> Path:
    """Return a folder with a note."""
    (folder / "notes").mkdir()
    (folder / "notes" / "a.md").write_text("# Oak\n\nThe oak is old. Ms Okafor planted it.\n")
    return folder / "notes"


WRITES: dict[str, Callable[[Engine, str, Path], object]] = {
    "add": lambda memory, one, _: memory.add("more"),
    "revise": lambda memory, one, _: memory.revise(one, "changed"),
    "tag": lambda memory, one, _: memory.tag(one, "oak"),
    "tombstone": lambda memory, one, _: memory.tombstone(one),
    "relate": lambda memory, one, _: memory.relate("Ann", "knows", "Bob"),
    "apply_many": lambda memory, one, _: list(memory.apply_many([Add("more")])),
    "ingest": lambda memory, one, folder: memory.ingest([wrote(folder)]),
    "dream": lambda memory, one, _: memory.dream(),
    "erase": lambda memory, one, _: memory.erase(one, "not ours"),
    "revert": lambda memory, one, _: memory.revert(1),
    "checkpoint": lambda memory, one, _: memory.checkpoint(),
}


@pytest.mark.parametrize("what", WRITES)
def test_it_follows_every_write(memory: Engine, tmp_path: Path, what: str) -> None:
    """When a write returns, the mirror shows it."""
    one = memory.add("The oak was planted by Ms Okafor in the garden of Ann Smith.").id
    size = memory.size
    WRITES[what](memory, one, tmp_path)
    assert memory.size > size
    assert memory.check_mirror(tmp_path / "m").ok
    assert memory.mirror_problem is None


def test_reading_writes_no_mirror(tmp_path: Path) -> None:
    """Opening, reading and closing a memory writes no mirror."""
    with opened(tmp_path) as memory:
        assert memory.find(limit=1) == []
    assert listed(tmp_path) == []


def test_many_writes_are_one_sync(memory: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`apply_many` updates the mirror once."""
    calls = []

    def counted(*args: Any, **options: Any) -> PullReport:
        calls.append(args)
        return update(*args, **options)

    monkeypatch.setattr(following_mirror, "update", counted)
    list(memory.apply_many(Add(f"text {number}") for number in range(2500)))
    assert (len(calls), memory.check_mirror(tmp_path / "m").ok) == (1, True)


def test_a_burst_of_writes_is_shown_when_the_memory_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writes during the pause after a sync are shown at the latest when the memory is closed."""
    monkeypatch.setattr(following, "PAUSE", 1e9)
    backend = MemoryBackend()
    memory = Engine(backend, mirror=tmp_path / "m")
    memory.add("one")
    for number in range(20):
        memory.add(f"text {number}")
    assert memory.check_mirror(tmp_path / "m").behind == 20
    assert memory._mirror is not None
    memory._mirror.close()
    assert memory.check_mirror(tmp_path / "m").ok


def test_a_burst_of_writes_is_shown_after_the_pause(memory: Engine, tmp_path: Path) -> None:
    """Writes of several threads are all shown, without a further write."""
    memory.add("one")
    threads = [threading.Thread(target=memory.add, args=(f"text {number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert memory._mirror is not None
    while True:
        with memory._mirror.at_rest():
            timer = memory._mirror._timer
        if timer is None:
            break
        timer.join()
    assert memory.check_mirror(tmp_path / "m").ok


def test_a_failing_mirror_does_not_fail_the_write(
    memory: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """If the mirror cannot be written, the write is acknowledged, and the reason is reported."""
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "precious").write_text("x")
    one = memory.add("one").id
    assert memory.get(one).content == "one"
    assert "not a mirror" in str(memory.mirror_problem)
    assert "could not be brought up to date" in caplog.text
    assert tree(tmp_path / "m") == {"precious": b"x"}
    (tmp_path / "m" / "precious").unlink()
    memory.add("two")
    assert (memory.mirror_problem, memory.check_mirror(tmp_path / "m").ok) == (None, True)


def test_an_error_of_the_write_stays_an_error(memory: Engine, tmp_path: Path) -> None:
    """A write that fails raises its own error, and the mirror shows the earlier writes."""
    one = memory.add("one").id
    memory.tombstone(one)
    with pytest.raises(ConflictError):
        memory.revise(one, "two")
    assert memory.check_mirror(tmp_path / "m").ok


def test_edits_of_people_are_taken(memory: Engine, tmp_path: Path) -> None:
    """An edit in a page is not replaced by the next write: it is taken, as a change by a person."""
    one = memory.add("The oak is old.", title="Oak").id
    edited(page_with(tmp_path / "m", "The oak"), "The oak is old.", "The oak is very old.")
    list(memory.apply_many([Add("more")], actor="agent"))
    assert memory.get(one).content == "The oak is very old."
    assert memory.history(one)[-1].actor == "user"
    assert memory.check_mirror(tmp_path / "m").ok


def test_edits_that_cannot_be_taken_are_reported_once(
    memory: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An edit that cannot be applied is kept, and is reported in one warning."""
    memory.add("The oak is old.", title="Oak")
    edited(page_with(tmp_path / "m", "The oak"), "- title: Oak", "- title: Ash")
    memory.add("more")
    memory.add("and more")
    assert caplog.text.count("cannot be applied") == 1
    assert "- title: Ash" in page_with(tmp_path / "m.edited", "Ash").read_text()


def test_the_past_has_no_mirror(memory: Engine, tmp_path: Path) -> None:
    """A memory as it was earlier leaves the mirror alone."""
    memory.add("one")
    memory.add("two")
    before = tree(tmp_path)
    with memory.as_of(1) as past:
        assert past.mirror_problem is None
    assert tree(tmp_path) == before


def test_an_engine_without_a_mirror_has_no_problem() -> None:
    """Without a mirror, `mirror_problem` is None."""
    assert engine_on().mirror_problem is None


def test_a_small_change_renders_only_its_pages(memory: Engine, tmp_path: Path) -> None:
    """After one write to a large mirror, only the pages that it changed are rendered."""
    adds = [Add(f"text {number}", source=f"s{number % 40}") for number in range(400)]
    ids = [receipt.id for receipt in memory.apply_many(adds)]
    rendered: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        render = Renderer.render

        def counted(*args: Any) -> Page:
            page = render(*args)
            rendered.append(page.path)
            return page

        patch.setattr(Renderer, "render", counted)
        memory.add("one more", source="s7")
        memory.link(ids[1], "references", ids[2])
        memory.tombstone(ids[3])
    assert [path.split("/")[-1].split("_")[0] for path in rendered] == ["s7", "s1", "s3"]
    assert memory.check_mirror(tmp_path / "m").ok
