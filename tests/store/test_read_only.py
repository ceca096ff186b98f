"""A store that cannot be written can be read, verified, proved from and exported, and stays as it is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from engine.engine import Engine
from tests.exchange.rescue.stores import digests
from tests.support.children import run
from tests.support.leveldb import needs_leveldb
from tests.support.read_only import WAYS, prefix_for

pytestmark = pytest.mark.slow

READ = """
import json, sys, tempfile
from backends import open_backend
from engine import Engine
from engine.base.errors import EngineError
from engine.trust.audit.verify import verify
from proofs.verifier import verify as check_proof

url, out, tempfile.tempdir = sys.argv[1:]
with Engine.open(url, create=False) as engine:
    status = engine.status()
    told = {"why": engine.read_only, "behind": status.events - min(status.followers.values())}
    told["hits"] = len(engine.recall("kettle", limit=20).hits)
    told["root"] = engine.root().root
    atom = engine.recall("kettle").hits[0].id
    told["content"] = engine.get(atom).content
    told["history"] = len(engine.history(atom))
    proof = engine.prove([["atom", atom]])
    told["proved"] = len(check_proof(proof.data, proof.basis, proof.claims))
    told["past"] = engine.root(as_of=3).size
    engine.backup(out)
    try:
        engine.add("one more")
    except EngineError as error:
        told["refused"] = [type(error).__name__, str(error), error.hint, error.exit_code]
with open_backend(url, create=False) as backend:
    told["verified"] = verify(backend, expect=told["root"]).ok
print(json.dumps(told))
"""


def made(url: str) -> None:
    """Create a store whose followers lack the last two events."""
    with Engine.open(url) as engine:
        for number in range(10):
            engine.add(f"the kettle number {number}")
        engine.catch_up()
        engine.add("the kettle that was added last")
        engine.add("another one")


def root_of(url: str) -> str:
    """Return the root of a store that can be written."""
    with Engine.open(url, create=False) as engine:
        return engine.root().root


@pytest.fixture
def folder(tmp_path: Path) -> Any:
    """A folder that becomes read-only; it can be removed afterwards."""
    folder = tmp_path / "folder"
    folder.mkdir()
    yield folder
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | 0o700)


@pytest.mark.parametrize(
    ("url", "way"),
    [
        pytest.param("leveldb", WAYS[0], marks=needs_leveldb),
        pytest.param("leveldb", WAYS[1], marks=needs_leveldb),
        ("sqlite", WAYS[0]),
        ("sqlite+name", WAYS[1]),
    ],
)
def test_a_store_that_cannot_be_written_is_read_in_every_way(
    tmp_path: Path, folder: Path, url: str, way: str
) -> None:
    """Queries, proofs, backup and verification work and see the last event; a command is refused.

    Nothing is left under TMPDIR afterwards.
    """
    made(f"{url}:{tmp_path / 'store'}")
    for path in tmp_path.glob("store*"):
        (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / path.name)
    expected = root_of(f"{url}:{tmp_path / 'store'}")
    prefix = prefix_for(way, folder)
    before = digests(folder)
    (tmp_path / "temporary").mkdir()
    code, out = run(
        READ, f"{url}:{folder / 'store'}", tmp_path / "backup", tmp_path / "temporary", prefix=prefix
    )
    assert code == 0, out
    told = json.loads(out)
    why = {"read-only disk": "the file system is read-only", "no permission": "the system denies access"}[way]
    assert told["why"] == why
    assert told["behind"] == 2
    assert told["root"] == expected
    assert told["verified"]
    assert told["proved"] == 1
    assert (told["hits"], told["content"][:10], told["history"], told["past"]) == (11, "the kettle", 1, 4)
    name, message, hint, exit_code = told["refused"]
    assert (name, exit_code) == ("SystemFailureError", 10)
    assert message == f"{folder / 'store'} cannot be written: {why}"
    assert hint
    assert digests(folder) == before
    assert (tmp_path / "backup").exists()
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.parametrize(
    ("scheme", "way"), [pytest.param("leveldb", WAYS[0], marks=needs_leveldb), ("sqlite", WAYS[0])]
)
def test_a_store_that_a_crash_left_is_read_where_it_cannot_be_written(
    tmp_path: Path, folder: Path, scheme: str, way: str
) -> None:
    """The rows in LevelDB's log and in SQLite's WAL are seen, although recovery cannot write them."""
    with Engine.open(f"{scheme}:{tmp_path / 'store'}") as engine:
        for number in range(10):
            engine.add(f"the kettle number {number}")
        for path in tmp_path.glob("store*"):
            if not path.name.endswith("-shm"):
                (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / path.name)
        expected = engine.root().root
    before = digests(folder)
    code, out = run(
        READ, f"{scheme}:{folder / 'store'}", tmp_path / "backup", tmp_path, prefix=prefix_for(way, folder)
    )
    assert code == 0, out
    told = json.loads(out)
    assert (told["root"], told["behind"], told["verified"]) == (expected, 11, True)
    assert digests(folder) == before


def test_the_command_line_says_that_the_store_is_read_only_and_behind(tmp_path: Path, folder: Path) -> None:
    """Commands that read print a note; `status` prints the reason and how far the followers are."""
    made(f"sqlite:{folder / 'store'}")
    prefix = prefix_for("read-only disk", folder)
    before = digests(folder)
    code = (
        "import sys; from engine.cli.main import main; sys.stderr = sys.stdout; sys.exit(main(sys.argv[1:]))"
    )
    ended, out = run(code, "root", "--store", f"sqlite:{folder / 'store'}", prefix=prefix)
    assert ended == 0
    assert "the store can only be read, because the file system is read-only" in out
    assert "derived data is 2 events behind, and is completed in a copy" in out
    ended, out = run(code, "status", "--store", f"sqlite:{folder / 'store'}", prefix=prefix)
    assert "read-only    the file system is read-only" in out
    assert "2 events behind" in out
    ended, out = run(code, "add", "more", "--store", f"sqlite:{folder / 'store'}", prefix=prefix)
    assert ended == 10
    assert "cannot be written: the file system is read-only" in out
    assert digests(folder) == before
