"""The environments in which the adapters meet their frameworks: one for each, in `build/frameworks`.

Two frameworks may need different versions of the same package, so none of them is installed beside the
tests. An environment has what `pip install 'memroot[EXTRA]'` installs, and the tools of its tests. It is made
when it is first needed, and again when these requirements change.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.measuring import measured

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "frameworks"
TOOLS = {
    "langgraph": ["pytest>=8", "langgraph>=1,<2"],
    "langchain": ["pytest>=8", "langchain-tests>=1,<2"],
    "openai-agents": ["pytest>=8"],
}
"""Extra → what its tests need beside the extra."""

_OFFLINE = ("connection", "name resolution", "timed out", "from versions: none")
"""What pip says if it cannot reach the package index."""


def python_of(extra: str) -> Path:
    """Return the interpreter of an environment, which is made if it is not there; skip the test offline."""
    wanted = "\n".join(_requirements(extra))
    place = FOLDER / extra
    python, made = place / "bin" / "python", place / "requirements.txt"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / f"{extra}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several processes run the tests
        if not made.is_file() or made.read_text(encoding="utf-8") != wanted:
            made.unlink(missing_ok=True)
            _run(sys.executable, "-m", "venv", "--clear", str(place))
            _run(str(python), "-m", "pip", "install", *_QUIET, *wanted.splitlines())
            made.write_text(wanted, encoding="utf-8")
    return python


_QUIET = ("--quiet", "--disable-pip-version-check", "--no-compile", "--retries=1", "--timeout=30")


def _requirements(extra: str) -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"][extra], *TOOLS[extra]]


def _run(*words: str) -> None:
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode and any(word in done.stdout.lower() for word in _OFFLINE):
        pytest.skip(f"NOT TESTED: the packages of a framework cannot be had: {done.stdout.strip()[-300:]}")
    assert not done.returncode, done.stdout


def run(extra: str, folder: Path, *words: str) -> tuple[int, str]:
    """Run the interpreter of an environment in a folder; return the exit code and the merged output."""
    done = subprocess.run(
        [str(python_of(extra)), *words],
        cwd=folder,
        env={
            "HOME": str(folder),
            "LC_ALL": "C.UTF-8",
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            **measured(),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout
