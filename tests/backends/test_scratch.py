"""Temporary folders of killed processes are removed at the next start, those of living processes never."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from backends.files import remove_scratch, scratch_folder
from engine.engine import Engine

HOLDER: Final = """
import sys
from engine.engine import Engine

def wait(done, total):
    print("replaying", flush=True)
    sys.stdin.read()

with Engine.open(sys.argv[1]) as engine:
    engine.verify(progress=wait)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of temporary files of this process and those that it starts."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def verifying(tmp_path: Path, place: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process in the middle of a verification."""
    command = [sys.executable, "-c", HOLDER, f"sqlite:{tmp_path / 'other.db'}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"replaying\n"
        assert len(list(place.iterdir())) == 1
        yield process
        process.kill()


@pytest.mark.slow
def test_a_killed_verification_leaves_nothing_after_the_next_start(
    verifying: subprocess.Popen[bytes], place: Path, tmp_path: Path
) -> None:
    """The folder of a living process stays when a store is opened; it goes when the process was killed."""
    Engine.open(f"sqlite:{tmp_path / 'store.db'}").close()
    assert len(list(place.iterdir())) == 1
    verifying.send_signal(signal.SIGKILL)
    verifying.wait()
    assert len(list(place.iterdir())) == 1
    Engine.open(f"sqlite:{tmp_path / 'store.db'}").close()
    assert list(place.iterdir()) == []


def test_only_what_a_process_of_ours_left_is_removed(place: Path) -> None:
    """A folder with our name but without our mark stays, and so do files, links and other names."""
    (place / "memroot-scratch-0123456789abcdef").mkdir()
    (place / "memroot-scratch-0123456789abcdef" / "a file").touch()
    (place / "memroot-scratch-0123456789abcdee").touch()
    (place / "memroot-scratch-0123456789abcded").symlink_to(place)
    (place / "memroot-scratch-mine").mkdir()
    before = sorted(place.iterdir())
    with scratch_folder() as folder:
        remove_scratch()
        assert folder.is_dir()
    remove_scratch()
    assert sorted(place.iterdir()) == before


def test_a_folder_of_another_user_is_left_alone(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder where everybody may write, only what belongs to this user is removed."""
    left = place / "memroot-scratch-0123456789abcdef"
    left.mkdir()
    (left / "unfinished-store").touch()
    user = os.geteuid()
    monkeypatch.setattr("os.geteuid", lambda: user + 1)
    remove_scratch()
    assert left.exists()
    monkeypatch.undo()
    monkeypatch.setenv("TMPDIR", str(place))
    remove_scratch()
    assert not left.exists()
