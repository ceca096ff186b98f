"""Proofs are verified with only Python, blake3, cbor2 and the folder `proofs`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from proofs.basis import Root
from proofs.claim_words import words_of
from tests.trust.proving.support import every_claim, filled, log_head

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
NEEDED = ("blake3", "cbor2", "proofs")
MISSING = ("engine", "backends", "tests", "numpy", "cryptography", "plyvel", "pyroaring", "click")
ENGINE = filled()
CLAIMS = every_claim(ENGINE)


class Machine(NamedTuple):
    """A separate Python, and an empty folder."""

    python: Path
    here: Path

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run its Python, isolated from the user's folders and settings."""
        return subprocess.run(
            [self.python, "-I", *words],
            cwd=self.here,
            env={"PATH": os.defpath, "HOME": str(self.here)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Return a new virtual environment without pip, into which three packages were copied."""
    folder = tmp_path_factory.mktemp("machine")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = folder / "venv" / "lib" / version / "site-packages"
    for name in NEEDED:
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        copied(Path(spec.origin), name, packages)
    (folder / "here").mkdir()
    return Machine(folder / "venv" / "bin" / "python", folder / "here")


def copied(origin: Path, name: str, packages: Path) -> None:
    """Copy a package or module with the extension beside it, but without compiled Python files."""
    if origin.name != "__init__.py":
        shutil.copy(origin, packages)
        return
    shutil.copytree(origin.parent, packages / name, ignore=shutil.ignore_patterns("__pycache__"))
    for extension in origin.parent.parent.glob(f"_{name}*.so"):
        shutil.copy(extension, packages)


def verified(machine: Machine, *words: str) -> tuple[int, Any]:
    """Return exit code and answer of `python -m proofs verify` on the machine."""
    done = machine.run("-m", "proofs", "verify", *words)
    assert done.stderr == ""
    assert done.stdout.isascii()
    return done.returncode, json.loads(done.stdout)


def trusting(basis: Root) -> Sequence[str]:
    """Return the options that name an overall root."""
    return ("--root", basis.root.hex(), "--store", str(UUID(bytes=basis.store_id)))


def test_nothing_else_is_there(machine: Machine) -> None:
    """Only `proofs` and its libraries can be imported on the machine."""
    for name in MISSING:
        assert "ModuleNotFoundError" in machine.run("-c", f"import {name}").stderr, name
    done = machine.run("-c", "import proofs, blake3, cbor2; print(proofs.__file__)")
    assert Path(done.stdout.strip()).is_relative_to(machine.python.parents[1]), done.stderr


def test_each_claim_is_verified(machine: Machine) -> None:
    """The proof of each claim verifies in an empty folder with the words that the engine prints."""
    for claim in CLAIMS:
        proof = ENGINE.prove([claim])
        assert isinstance(proof.basis, Root)
        (machine.here / "one.proof").write_bytes(proof.data)
        code, answer = verified(machine, "one.proof", *trusting(proof.basis), "--", *words_of(claim))
        assert (code, answer["verified"]) == (0, True)
        assert [one["claim"] for one in answer["shown"]] == [" ".join(words_of(claim))]
        assert answer["basis"]["size"] == ENGINE.size


def test_a_bundle_is_verified_against_a_checkpoint_note(machine: Machine) -> None:
    """A proof of a list of claims verifies against the text of a checkpoint note."""
    note = ENGINE.checkpoint_note()
    proof = ENGINE.prove(CLAIMS, checkpoint=log_head(ENGINE))
    (machine.here / "all.proof").write_bytes(proof.data)
    (machine.here / "at.checkpoint").write_bytes(note.note.encode())
    (machine.here / "claims.txt").write_text("".join(" ".join(words_of(claim)) + "\n" for claim in CLAIMS))
    code, answer = verified(machine, "all.proof", "--checkpoint", "at.checkpoint", "--claims", "claims.txt")
    assert (code, len(answer["shown"])) == (0, len(CLAIMS))


def test_an_envelope_is_verified_alone(machine: Machine) -> None:
    """One file shows every claim in it, in an empty folder and without any argument."""
    proof = ENGINE.prove(CLAIMS)
    (machine.here / "all.memproof").write_bytes(proof.envelope())
    done = machine.run("-m", "proofs", "all.memproof")
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert [one["claim"] for one in answer["shown"]] == [" ".join(words_of(claim)) for claim in CLAIMS]
    assert proof.basis.root.hex() in answer["compare"]


def test_another_claim_or_root_is_refused(machine: Machine) -> None:
    """A claim that the proof does not show, or another root, exits with 4 and a reason."""
    proof = ENGINE.prove([CLAIMS[0]])
    assert isinstance(proof.basis, Root)
    (machine.here / "one.proof").write_bytes(proof.data)
    words = words_of(CLAIMS[0])
    code, answer = verified(machine, "one.proof", *trusting(Root(proof.basis.store_id, bytes(32))), *words)
    assert (code, answer["verified"], answer["reason"]) == (4, False, "root")
    code, answer = verified(machine, "one.proof", *trusting(proof.basis), *words_of(CLAIMS[1]))
    assert (code, answer["verified"]) == (4, False)


def test_what_is_loaded_is_little(machine: Machine) -> None:
    """Verifying loads only the three packages and the standard library."""
    proof = ENGINE.prove(CLAIMS)
    (machine.here / "all.proof").write_bytes(proof.data)
    code = (
        "import sys\n"
        "from proofs.__main__ import main\n"
        "import proofs.verifier, proofs.note\n"
        "tops = {name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names\n"
        "print(*sorted(top for top in tops if not top.startswith('_')))\n"
    )
    done = machine.run("-c", code)
    assert done.stdout.split() == ["blake3", "cbor2", "proofs"], done.stderr


def test_the_package_imports_none_of_ours() -> None:
    """No module of the package imports another of the project's packages, or other libraries than the two."""
    allowed = sys.stdlib_module_names | set(NEEDED)
    for module in sorted((ROOT / "proofs").glob("*.py")):
        for line in module.read_text(encoding="utf-8").splitlines():
            words = line.split()
            if words[:1] in (["import"], ["from"]) and len(words) > 1 and not line.startswith("from . "):
                assert words[1].partition(".")[0] in allowed, f"{module.name}: {line}"
