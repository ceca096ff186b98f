"""`engine watch` in a process of its own, while files change."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from engine import Engine
from engine.base.errors import BusyError
from tests.capture.samples import claude_file, claude_line
from tests.support.command_line import Cli

pytestmark = pytest.mark.slow

PROGRAM = "import sys; from engine.cli.main import main; sys.exit(main(sys.argv[1:]))"
SECONDS_MAX = 60


class Watching:
    """A process that watches the folder `notes`, and what it printed."""

    def __init__(self, process: subprocess.Popen[str], here: Path) -> None:
        self._process = process
        self.here = here
        self.notes = here / "notes"

    def batch(self) -> dict[str, Any]:
        """Wait for the next line of the process, and return it."""
        assert self._process.stdout is not None
        return dict(json.loads(self._process.stdout.readline()))

    def batches_until(self, done: Callable[[], bool]) -> list[dict[str, Any]]:
        """Return the next lines, up to one after which `done` is true."""
        found = [self.batch()]
        while not done():
            found.append(self.batch())
        return found

    def texts(self) -> set[str]:
        """Return the live texts of the store, which the process has closed, or will close soon."""
        for _ in range(SECONDS_MAX * 10):
            try:
                with Engine.open(str(self.here / "store"), create=False) as memory:
                    return {memory.get(found.id).content or "" for found in memory.find(limit=100)}
            except BusyError:
                time.sleep(0.1)
        raise AssertionError("the store stays in use")

    def interrupt(self) -> tuple[int, str, str]:
        """Send Ctrl-C; return the exit code, and the rest of the output."""
        self._process.send_signal(signal.SIGINT)
        out, err = self._process.communicate(timeout=SECONDS_MAX)
        return self._process.returncode, out, err


@contextmanager
def watching_in(here: Path, *words: str) -> Iterator[Watching]:
    """Run `engine --json` with these words in a process of its own, in the folder `here`."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "--json", *words],
        cwd=here,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )
    try:
        yield Watching(process, here)
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def watching(surroundings: Path) -> Callable[..., Any]:
    """Return a function that starts to watch the folder `notes` with some options."""

    def started(*options: str) -> AbstractContextManager[Watching]:
        return watching_in(surroundings, "--store", "store", "watch", "notes", *options)

    (surroundings / "notes").mkdir()
    return started


def test_files_are_ingested_as_they_change(watching: Callable[..., Any]) -> None:
    """Added, edited, renamed and removed files: the store follows, and atoms keep their ids."""
    with watching() as run:
        (run.notes / "a.md").write_text("# Oak\n\nThe oak beside the gate. [[b]]\n")
        first = run.batch()
        assert (first["event"], first["batch"], first["files"]) == ("batch", 1, 1)
        (run.notes / "a.md").write_text("# Oak\n\nThe oak beside the well. [[b]]\n")
        edited = run.batch()
        assert (edited["revised"], edited["added"], edited["files"]) == (1, 0, 1)
        (run.notes / "b.md").write_text("An ash.")
        added = run.batch()
        assert (added["added"], added["linked"], added["unresolved_links"]) == (1, 1, 0)
        (run.notes / "b.md").rename(run.notes / "c.md")
        renamed = run.batch()
        assert (renamed["revised"], renamed["added"], renamed["tombstoned"]) == (1, 0, 0)
        (run.notes / "c.md").unlink()
        assert run.batch()["tombstoned"] == 0
        assert run.texts() == {"# Oak\n\nThe oak beside the well. [[b]]", "An ash."}
        code, out, err = run.interrupt()
        assert (code, json.loads(out)["event"], "Traceback" in err) == (0, "stopped", False)


def test_what_is_removed_is_hidden_only_if_asked(watching: Callable[..., Any]) -> None:
    """With --prune, the atoms of a removed folder are tombstoned."""
    with watching("--prune") as run:
        (run.notes / "sub").mkdir()
        (run.notes / "sub" / "a.md").write_text("An oak.")
        (run.notes / "b.md").write_text("An ash.")
        run.batches_until(lambda: run.texts() == {"An oak.", "An ash."})
        (run.notes / "sub" / "a.md").unlink()
        (run.notes / "sub").rmdir()
        run.batches_until(lambda: run.texts() == {"An ash."})


def test_files_of_editors_and_files_that_vanish_change_nothing(watching: Callable[..., Any]) -> None:
    """Swap files, excluded files, and files that are gone at once cause no batch."""
    (Path("notes") / "a.md").write_text("An oak.")
    with watching("--exclude", "drafts/") as run:
        run.batch()
        (run.notes / "drafts").mkdir()
        for name in (".a.md.swp", "4913", "a.md~", "~$a.docx", ".#a.md", "drafts/b.md", "c.png"):
            (run.notes / name).write_text("x")
            (run.notes / name).write_text("y")
        (run.notes / "gone.md").write_text("x")
        (run.notes / "gone.md").unlink()
        time.sleep(0.2)
        (run.notes / "new.md.tmp").write_text("An oak, edited.")
        (run.notes / "new.md.tmp").replace(run.notes / "a.md")
        edited = run.batch()
        assert (edited["batch"], edited["files"], edited["revised"]) == (2, 1, 1)
        assert run.texts() == {"An oak, edited."}


def test_changes_wait_while_the_store_is_in_use(watching: Callable[..., Any]) -> None:
    """Another process may keep the store; the changes are ingested afterwards."""
    with watching() as run:
        run.batch()
        run.texts()
        with Engine.open(str(run.here / "store")):
            (run.notes / "a.md").write_text("An oak.")
            time.sleep(4)  # longer than the process waits for the store
        assert run.batch()["added"] == 1


def test_a_folder_that_is_not_there_is_an_error(cli: Cli, surroundings: Path) -> None:
    """A missing folder is an error, and creates no store."""
    assert cli("watch", "nowhere").code == 3
    assert not (surroundings / "store").exists()


def test_without_the_library_the_extra_is_named(
    cli: Cli, surroundings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the extra, and nothing is ingested."""
    (surroundings / "notes").mkdir()
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    result = cli("watch", "notes")
    assert (result.code, "pip install 'memroot[watch]'" in result.err) == (10, True)
    assert not (surroundings / "store").exists()


def test_sessions_are_taken_in_as_they_are_written(
    surroundings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --sessions, the turns of a client without hooks go into the store while it writes them."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(surroundings))
    claude_file(surroundings, [claude_line("user", "Buy the oak.", "u1")])
    with watching_in(surroundings, "--store", "store", "watch", "--sessions", "claude-code") as run:
        assert run.batch()["items"] == 2
        lines = [claude_line("user", "Buy the oak.", "u1"), claude_line("user", "Buy the ash.", "u2")]
        claude_file(surroundings, lines)
        run.batches_until(lambda: "User: Buy the ash." in run.texts())
        code, out, err = run.interrupt()
        assert (code, json.loads(out.splitlines()[-1])["event"], "Traceback" in err) == (0, "stopped", False)
