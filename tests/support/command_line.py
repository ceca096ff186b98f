"""Run the command line with settings, a store and streams that belong to one test."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine.cli.main import main


@dataclass(frozen=True)
class Result:
    """The exit code and the output of one run of the command line."""

    code: int
    out: str
    err: str

    @property
    def envelope(self) -> dict[str, Any]:
        """The JSON object on stdout. Stdout must contain nothing else."""
        assert self.out.endswith("}\n"), self.out
        found = json.loads(self.out)
        assert list(found) == ["status", "command", "duration_ms", "namespace", "count", "data", "error"]
        return dict(found)

    @property
    def data(self) -> Any:
        """The field `data` of the output of a successful run in JSON mode."""
        assert self.code == 0, self.err
        assert self.envelope["status"] == "success"
        assert self.envelope["error"] is None
        return self.envelope["data"]


Cli = Callable[..., Result]


@pytest.fixture
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder as the current folder, from which none of the user's settings are found."""
    for name in ("STORE", "MEMORY", "SECRETS", "DEBUG"):
        monkeypatch.delenv(f"ENGINE_{name}", raising=False)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


@pytest.fixture
def bare(surroundings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """A function that runs the command line in this process, without a store in the environment."""

    def run(*args: str, stdin: bytes = b"") -> Result:
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        code = main(args)
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture
def cli(bare: Cli, surroundings: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A function like `bare`, with ENGINE_STORE set to the URL of a store that does not exist yet."""
    monkeypatch.setenv("ENGINE_STORE", str(surroundings / "store"))
    return bare


@pytest.fixture
def pair(cli: Cli) -> tuple[str, str]:
    """The ids of two atoms; the first atom has a tag and a title."""
    first = cli(
        "add", "The kettle is descaled on Mondays.", "--title", "Kettle", "-t", "Kitchen", "-t", "chores"
    )
    second = cli("add", "Tea needs a clean kettle.", "--source", "tea.md")
    return first.out.strip(), second.out.strip()
