"""Tests of the rules on which modules may import each other that the linters do not state."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]

OURS = frozenset({"backends", "bench", "engine", "examples", "memroot", "proofs", "tests"})
MAY_IMPORT = {
    "backends": {"backends"},
    "proofs": {"proofs"},
    "engine": {"engine", "backends", "proofs"},
    "memroot": {"engine"},
    "examples": {"examples", "engine", "backends", "memroot", "proofs"},
    "bench": {"bench", "engine", "backends", "proofs"},
}
"""Package → the packages of this project that it may import."""
STARTED_BY_BOTH = {("bench", "tests.support.postgresql"), ("bench", "tests.support.chromium")}
"""Measurements start the PostgreSQL server and the browser as the tests do."""

PROOFS_MAY_IMPORT = sys.stdlib_module_names | {"blake3", "cbor2", "proofs"}
DREAMER = "engine/knowledge/dreaming/"
"""The folder of the only modules that may import spaCy, so that answers are the same with it and without."""
INPUT_OUTPUT = frozenset(
    {
        "asyncio",
        "fileinput",
        "http",
        "io",
        "mmap",
        "multiprocessing",
        "os",
        "pathlib",
        "shutil",
        "socket",
        "sqlite3",
    }
    | {"ssl", "subprocess", "tempfile", "threading", "urllib", "open", "print", "input"}
)
"""Names that modules without input or output may not use; `proofs/__main__.py` may, to read the proof."""


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted names of all modules that a module imports, including imports inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def faults(path: str, source: str) -> list[str]:
    """Return the violations of the rules in the module at `path`, which is relative to the project."""
    package = path.partition("/")[0]
    tree = ast.parse(source)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    found = [f"{path}: nothing may use {name}" for name in used & {"__import__"}]
    for name in imports(tree):
        top = name.split(".")[0]
        used.add(top)
        if top in OURS and top not in MAY_IMPORT[package] and (package, name) not in STARTED_BY_BOTH:
            found.append(f"{path}: {package} may not import {name}")
        if top == "spacy" and not path.startswith(DREAMER):
            found.append(f"{path}: only the dreamer may import {name}")
        if package == "proofs" and top not in PROOFS_MAY_IMPORT:
            found.append(f"{path}: proofs is standalone and may not import {name}")
    if package == "proofs" and not path.endswith("/__main__.py"):
        found += [f"{path}: proofs does no input or output: {name}" for name in used & INPUT_OUTPUT]
    return found


@pytest.mark.parametrize("package", sorted(MAY_IMPORT))
def test_every_module_keeps_to_its_side(package: str) -> None:
    """No module of the package breaks a rule."""
    modules = sorted((ROOT / package).rglob("*.py"))
    found = [
        fault
        for module in modules
        for fault in faults(module.relative_to(ROOT).as_posix(), module.read_text(encoding="utf-8"))
    ]
    assert found == []


FAULTY = {
    "backend importing the engine": ("backends/x.py", "from engine.base.errors import EngineError"),
    "proof importing the engine": ("proofs/x.py", "def f():\n    import engine"),
    "proof importing a third party": ("proofs/x.py", "import numpy as np"),
    "proof opening files": ("proofs/x.py", "open('x')"),
    "proof importing sockets": ("proofs/x.py", "import socket"),
    "engine importing tests": ("engine/x.py", "from tests.support.shared_data import needs"),
    "import by name": ("engine/x.py", "__import__('os')"),
    "spaCy in an answer": ("engine/query/x.py", "def f():\n    import spacy.tokens"),
}


@pytest.mark.parametrize("name", FAULTY)
def test_each_rule_finds_its_fault(name: str) -> None:
    """A module that breaks a rule is reported at least once."""
    assert faults(*FAULTY[name])


FAULTLESS = {
    "proof on what it is made of": ("proofs/x.py", "import hashlib\nfrom blake3 import blake3\nimport cbor2"),
    "the proof command reading a file": ("proofs/__main__.py", "from pathlib import Path\nprint(open('x'))"),
    "spaCy in a dream": ("engine/knowledge/dreaming/x.py", "import spacy"),
}


@pytest.mark.parametrize("name", FAULTLESS)
def test_what_is_allowed_is_not_reported(name: str) -> None:
    """A module that follows the rules is not reported."""
    assert faults(*FAULTLESS[name]) == []
