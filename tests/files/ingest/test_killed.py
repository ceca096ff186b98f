"""After a killed ingest, the store opens and verifies, and a second run reaches the same root."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import Engine
from tests.files.ingest.folder import fixed_clock, salt
from tests.support.children import start
from tests.support.leveldb import LEVELDB

pytestmark = pytest.mark.slow

CHILD = """
import sys
import engine.store.bulk
from engine import Engine
from tests.files.ingest.folder import fixed_clock, salt

engine.store.bulk.COMMIT_CHUNK = 5
with Engine.open(sys.argv[1], clock=fixed_clock, salts=salt) as memory:
    memory.ingest([sys.argv[2]], progress=lambda so_far: print(so_far.files, flush=True))
    print("done", flush=True)
    sys.stdin.read()
"""
FILES = 40


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of linked notes with two sections each."""
    folder = tmp_path_factory.mktemp("killed") / "notes"
    folder.mkdir()
    for number in range(FILES):
        text = (
            f"# One {number}\n\nSee [[n{(number * 7) % FILES}]] #tag{number % 3}\n\n# Two {number}\n\nText.\n"
        )
        (folder / f"n{number}.md").write_text(text)
    return folder


@pytest.fixture(scope="module")
def undisturbed(notes: Path) -> str:
    """Return the root of an uninterrupted ingest."""
    with Engine.open("memory:", clock=fixed_clock, salts=salt) as memory:
        memory.ingest([notes])
        return memory.root().root


@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
@pytest.mark.parametrize("after", ["1", "13", str(FILES), "done"])
def test_a_killed_ingest_continues_to_the_same_root(
    notes: Path, undisturbed: str, tmp_path: Path, scheme: str, after: str
) -> None:
    """After a kill, acknowledged events are stored, the store verifies, and a second run completes it."""
    url = f"{scheme}:{tmp_path / 'store'}"
    with start(CHILD, url, notes) as child:
        assert child.stdout is not None
        said = iter(child.stdout.readline, "")
        assert any(line.strip() == after for line in said)
        child.kill()
    with Engine.open(url, create=False, clock=fixed_clock, salts=salt) as memory:
        assert memory.verify().ok
        memory.ingest([notes])
        assert memory.root().root == undisturbed
        assert memory.verify(expect=undisturbed).ok
