"""Files that other processes read ahead give the same items and the same events."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Engine
from engine.files.ingest import parallel_reading
from engine.files.ingest.documents import READY, Item, Skipped, SourceFile, decode_items, encode_items, send
from engine.files.ingest.file_reading import read_file
from engine.files.ingest.folder_walk import find_files
from engine.files.ingest.markdown import parse_markdown
from engine.files.ingest.parallel_reading import reading
from tests.files.ingest.folder import fixed_clock, salt

pytestmark = pytest.mark.slow

Processes = list[subprocess.Popen[bytes]]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Return a folder with good and bad files of all formats."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(30):
        text = f"---\ncreated: 2021-06-{number + 1:02}\n---\n# N{number} é\n\nSee [[n{number // 2}#N3]]. #t\n"
        (folder / f"n{number}.md").write_text(text)
    (folder / "lines.jsonl").write_text('{"text": "one", "id": "a"}\n{"text": 1}\n')
    (folder / "n5b.md").write_bytes(b"\xff\xfe")
    (folder / "n5c.md").write_text("---\n: [\n---\ntext\n")
    (folder / "plain.txt").write_text("First.\n\nSecond.\n")
    (folder / "empty.md").write_text("")
    return folder


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Processes:
    """Return the processes that read ahead; from now on, they are started for any number of files."""
    processes: Processes = []
    start = parallel_reading._started

    def recorded(files: list[SourceFile]) -> subprocess.Popen[bytes] | None:
        process = start(files)
        processes.extend([process] if process else [])
        return process

    monkeypatch.setattr(parallel_reading, "FILES_MIN", 1)
    monkeypatch.setattr(parallel_reading, "_has_cores", lambda: True)
    monkeypatch.setattr(parallel_reading, "_started", recorded)
    return processes


def _found(folder: Path) -> list[SourceFile]:
    return [item for item in find_files([folder]) if isinstance(item, SourceFile)]


def _here(folder: Path) -> list[list[Item]]:
    return [list(read_file(file)) for file in _found(folder)]


def _ahead(folder: Path, each: Callable[[int], None] = lambda _: None) -> list[list[Item]]:
    items = []
    with reading(_found(folder), None) as read:
        for number, file in enumerate(_found(folder)):
            items.append(list(read(file)))
            each(number)
    return items


def test_other_processes_give_the_same_items(notes: Path, started: Processes) -> None:
    """Documents, lines and reports are the same, and the processes have ended."""
    assert _ahead(notes) == _here(notes)
    assert [process.poll() is not None for process in started] == [True, True]


def test_an_ingest_gives_the_same_events_either_way(
    notes: Path, started: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report and the root do not depend on the process that reads the files."""
    results = []
    for least in (1, 10**9):
        monkeypatch.setattr(parallel_reading, "FILES_MIN", least)
        with Engine.open("memory:", clock=fixed_clock, salts=salt) as memory:
            results.append((memory.ingest([notes]), memory.ingest([notes]), memory.root()))
    assert results[0] == results[1]
    assert len(started) == 4


def test_a_killed_process_does_not_matter(notes: Path, started: Processes) -> None:
    """If the process dies, the rest of the files is read in this process."""

    def kill(number: int) -> None:
        if number == 3:
            started[0].kill()

    assert _ahead(notes, kill) == _here(notes)


def test_no_process_is_left_behind_after_an_error(notes: Path, started: Processes) -> None:
    """If the caller raises before all files are read, the processes have ended when the error arrives."""

    def stop(number: int) -> None:
        if number == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        _ahead(notes, stop)
    assert [process.poll() is not None for process in started] == [True, True]


@pytest.mark.parametrize("name", ["", "/nowhere/python3", "/bin/sh"])
def test_where_no_interpreter_can_be_started_files_are_read_here(
    notes: Path, started: Processes, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Without a Python interpreter, no process is started."""
    monkeypatch.setattr(sys, "executable", name)
    assert _ahead(notes) == _here(notes)
    assert started == []


def test_a_program_that_is_not_the_reader_is_not_believed(
    notes: Path, started: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the process writes something else, the files are read in this process."""
    monkeypatch.setattr(
        parallel_reading, "_PROGRAM", "import sys; sys.stdin.buffer.read(); print('hello' * 99)"
    )
    assert _ahead(notes) == _here(notes)
    assert len(started) == 2


def test_a_file_that_the_process_failed_to_read_is_read_again(notes: Path) -> None:
    """A null message makes this process read the file, so that an error is raised here."""
    output = io.BytesIO()
    output.write(READY)
    send(output, None)
    send(output, encode_items([Skipped("s", "reason", 3, kept=True)]))
    output.seek(0)
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.stdout = output
    reader = parallel_reading._Ahead(process)
    first, second = _found(notes)[2:4]
    assert list(reader.read(first)) == list(read_file(first))
    assert list(reader.read(second)) == [Skipped("s", "reason", 3, kept=True)]
    reader.end()


def test_few_files_are_read_in_this_process(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting a process does not pay for a small folder."""
    monkeypatch.setattr(parallel_reading, "_started", lambda _: pytest.fail("a process was started"))
    assert _ahead(notes) == _here(notes)


@given(st.lists(st.sampled_from(["# A", "[[b#c]] #d", "- [x](y.md)", "", "text ü"]), max_size=9))
def test_items_survive_the_way_between_the_processes(lines: list[str]) -> None:
    """Encoding and decoding a document gives an equal document."""
    document, skipped = parse_markdown("\n".join(lines), "s/f.md")
    assert decode_items(encode_items([*skipped, document])) == [*skipped, document]
