"""The distribution: what is in the source archive and the wheel, and that the installed wheel works.

The wheel is installed without its dependencies, which are found in the environment that runs the tests.
So these tests do not check that `pyproject.toml` names every dependency; the workflow `release` installs
the wheel with what it names. Nothing here uses the network.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest

from engine.base import __version__

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("backends", "engine", "memroot", "proofs")
CRATE = tuple(
    f"engine/kernels/{name}" for name in ("src/", ".cargo/", "Cargo.", "build_hook.py", "_native.abi3.so")
)
"""What is compiled and what compiles it, which a pure Python wheel does not have."""
SECONDS = 60


def run(arguments: Sequence[str | Path], folder: Path, stdin: str = "") -> str:
    """Run a program in `folder`, without the user's settings, and return what it prints."""
    ours = ("PYTHON", "ENGINE_", "XDG_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    ended = subprocess.run(
        arguments,
        cwd=folder,
        input=stdin,
        # Compiling the kernels takes half a minute; the wheel without them has everything else.
        env={**kept, "HOME": str(folder), "MEMROOT_KERNELS": "python"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def built(source: Path, target: Path, *options: str) -> list[Path]:
    """Build distributions of the project in `source`, and return them, sorted by name."""
    run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", target, *options, source], target.parent
    )
    return sorted(target.iterdir())


def names(wheel: Path) -> set[str]:
    """The names of the files in a wheel."""
    with ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the source archive, the wheel built from the source archive."""
    wheel, archive = built(ROOT, tmp_path_factory.mktemp("built") / "dist")
    return wheel, archive


@pytest.fixture(scope="module")
def installed(distributions: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment in which nothing but the wheel is installed."""
    place = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(place)
    python = place / "bin" / "python"
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "--disable-pip-version-check",
        "--quiet",
    ]
    run([*pip, "install", "--no-index", "--no-deps", distributions[0]], place)
    # Packages in a folder that a .pth file names are found after those of the environment itself, and
    # .pth files in that folder, such as the one of our editable install, are not read.
    (site,) = place.glob("lib/python*/site-packages")
    theirs = "".join(sysconfig.get_path(kind) + "\n" for kind in ("purelib", "platlib"))
    (site / "dependencies.pth").write_text(theirs, encoding="utf-8")
    return place / "bin"


def test_both_distributions_pass_the_check_of_the_index(distributions: tuple[Path, Path]) -> None:
    """`twine check --strict` has nothing to say about the metadata and the description."""
    run([sys.executable, "-m", "twine", "check", "--strict", *distributions], distributions[0].parent)


def test_the_wheel_holds_the_packages_and_nothing_else(distributions: tuple[Path, Path]) -> None:
    """Every file of the packages except the crate is in the wheel; no test, benchmark, example or page is."""
    ours = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    ours -= {name for name in ours if name.startswith(CRATE)}
    metadata = f"memroot-{__version__}.dist-info/"
    assert {name for name in names(distributions[0]) if not name.startswith(metadata)} == ours


def test_the_wheel_holds_type_information_and_word_lists(distributions: tuple[Path, Path]) -> None:
    """Type checkers find the markers and the public names, and the analyser finds its words."""
    wanted = {f"{package}/py.typed" for package in PACKAGES} | {"engine/__init__.pyi"}
    assert wanted <= names(distributions[0])
    assert {name for name in names(distributions[0]) if name.endswith(".txt") and "/data/" in name}


def test_a_wheel_from_the_checkout_holds_the_same_files(
    distributions: tuple[Path, Path], tmp_path: Path
) -> None:
    """Nothing that the wheel needs is missing from the source archive."""
    (wheel,) = built(ROOT, tmp_path / "dist", "--wheel")
    assert names(wheel) == names(distributions[0])


def test_the_source_archive_can_be_tested(distributions: tuple[Path, Path]) -> None:
    """It has the tests, the pages that they execute, and nothing of a virtual environment or a cache."""
    with tarfile.open(distributions[1]) as archive:
        held = {Path(*Path(name).parts[1:]) for name in archive.getnames()}
    assert {Path(name) for name in ("SPEC.md", "Makefile", "docs/cli.md", "tests/conftest.py")} <= held
    assert {path for path in held if {".venv", "__pycache__", ".git", "site"} & set(path.parts)} == set()


def test_the_installed_wheel_keeps_a_memory(installed: Path, tmp_path: Path) -> None:
    """Both names of the command run; add, recall, root and verify-root work, outside any checkout."""
    for name in ("engine", "memroot"):
        assert run([installed / name, "--version"], tmp_path) == f"{name} {__version__}\n"
    engine: list[str | Path] = [installed / "engine", "--store", "sqlite:notes.db", "--quiet"]
    atom = run([*engine, "add", "The kettle is descaled on Fridays.", "--tag", "kitchen"], tmp_path).strip()
    assert atom[:8] in run([*engine, "recall", "when is the kettle descaled?"], tmp_path)
    root = run([*engine, "root"], tmp_path).strip()
    assert f"root         {root}" in run([*engine, "verify-root", "--expect", root], tmp_path)


def test_the_installed_wheel_serves_clients(installed: Path, tmp_path: Path) -> None:
    """`memroot mcp`, which uvx and pipx run, answers; the entry for a client starts this installation."""
    printed = run([installed / "memroot", "mcp", "install", "cursor", "--print"], tmp_path)
    entry = json.loads(printed)["mcpServers"]["memory"]
    assert (entry["command"], entry["args"]) == (str(installed / "memroot"), ["mcp"])
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    answer = run([entry["command"], *entry["args"], "--store", "notes"], tmp_path, json.dumps(message) + "\n")
    assert json.loads(answer)["result"]["serverInfo"] == {"name": "memroot", "version": __version__}


def test_the_installed_wheel_verifies_a_proof(installed: Path, tmp_path: Path) -> None:
    """A proof that `engine prove` writes is verified by `python -m proofs`."""
    engine: list[str | Path] = [installed / "engine", "--store", "sqlite:notes.db", "--quiet"]
    run([*engine, "add", "The kettle is descaled on Fridays."], tmp_path)
    run([*engine, "prove", "no-term", "unicorn", "-o", "unicorn.memproof"], tmp_path)
    root = run([*engine, "root"], tmp_path).strip()
    verify: list[str | Path] = [installed / "python", "-m", "proofs", "unicorn.memproof"]
    shown = json.loads(run([*verify, "--root", root], tmp_path))
    assert shown["verified"] is True


def test_the_packages_are_imported_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """The environment of these tests uses the installed files, not those of the checkout."""
    places = f"import {', '.join(PACKAGES)}; print({', '.join(f'{name}.__file__' for name in PACKAGES)})"
    found = run([installed / "python", "-c", places], tmp_path).split()
    assert all(Path(file).is_relative_to(installed.parent) for file in found)
