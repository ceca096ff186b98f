"""Tests of the rules on which modules may import each other, and which functions they may not use."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]

OURS = frozenset({"backends", "bench", "engine", "examples", "proofs", "tests"})
MAY_IMPORT = {
    "backends": {"backends"},
    "proofs": {"proofs"},
    "engine": {"engine", "backends", "proofs"},
    "examples": {"examples", "engine", "backends", "proofs"},
    "bench": {"bench", "engine", "backends", "proofs"},
    "tests": {"tests", "bench", "examples", "engine", "backends", "proofs"},
}
"""Package → the packages of this project that it may import."""
STARTED_BY_BOTH = {("bench", "tests.support.postgresql"), ("bench", "tests.support.chromium")}
"""Measurements start the PostgreSQL server and the browser as the tests do."""

PROOFS_MAY_IMPORT = sys.stdlib_module_names | {"blake3", "cbor2", "proofs"}
DREAMER = ("engine/knowledge/dreaming/", "tests/knowledge/dreaming/")
"""The folders of the only modules that may import spaCy, so that answers are the same with it and without."""
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
    | {"ssl", "subprocess", "tempfile", "threading", "urllib"}
)
"""Names that modules without input or output may not use; `proofs/__main__.py` may, to read the proof."""

NEVER_IMPORTED = frozenset({"pickle", "_pickle", "cloudpickle", "dill", "marshal", "shelve", "jsonpickle"})
NEVER_CALLED = frozenset(
    {"eval", "exec", "__import__", "yaml.load", "yaml.full_load", "yaml.unsafe_load", "os.system"}
)
SYNC_CALLS = frozenset({"os.fsync", "os.fdatasync", "os.sync"})
"""Functions that sync files. Only backends, tests that observe syncs and the benchmark may use them."""


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted names of all modules that a module imports, including imports inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def names_used(tree: ast.AST) -> Iterator[str]:
    """Yield the names (`eval`) and attributes of names (`os.fsync`) that a module uses or imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def faults(path: str, source: str) -> list[str]:
    """Return the violations of the rules in the module at `path`, which is relative to the project."""
    package = path.partition("/")[0]
    tree = ast.parse(source)
    found = []
    for module in imports(tree):
        top = module.split(".")[0]
        if not top:
            found.append(f"{path}: relative import {module}")
        if top in OURS and top not in MAY_IMPORT[package] and (package, module) not in STARTED_BY_BOTH:
            found.append(f"{path}: {package} may not import {module}")
        if top in NEVER_IMPORTED:
            found.append(f"{path}: nothing imports {module}")
        if top == "spacy" and not path.startswith(DREAMER):
            found.append(f"{path}: only the dreamer may import {module}")
        if package == "proofs" and top not in PROOFS_MAY_IMPORT:
            found.append(f"{path}: proofs is standalone and may not import {module}")
        if package == "proofs" and top in INPUT_OUTPUT and not path.endswith("/__main__.py"):
            found.append(f"{path}: proofs does no input or output and may not import {module}")
    forbidden = NEVER_CALLED if package in {"backends", "tests", "bench"} else NEVER_CALLED | SYNC_CALLS
    found += [f"{path}: may not use {name}" for name in names_used(tree) if name in forbidden]
    if package == "proofs" and not path.endswith("/__main__.py"):
        found += [
            f"{path}: proofs may not use {name}"
            for name in names_used(tree)
            if name in {"open", "print", "input"}
        ]
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
    "backend importing proofs": ("backends/x.py", "import proofs.log"),
    "proof importing the engine": ("proofs/x.py", "def f():\n    import engine"),
    "proof importing a backend": ("proofs/x.py", "from backends import base"),
    "proof importing a third party": ("proofs/x.py", "import numpy as np"),
    "proof opening files": ("proofs/x.py", "open('x')"),
    "proof importing sockets": ("proofs/x.py", "import socket"),
    "relative import": ("engine/cli/x.py", "from ..errors import EngineError"),
    "engine importing tests": ("engine/x.py", "from tests.support.shared_data import needs"),
    "engine importing bench": ("engine/x.py", "import bench.run"),
    "example importing tests": ("examples/x.py", "import tests"),
    "engine syncing files": ("engine/x.py", "import os\nos.fsync(3)"),
    "engine syncing files under another name": ("engine/x.py", "from os import fsync as keep"),
    "pickle": ("engine/x.py", "import pickle"),
    "pickle in a backend": ("backends/x.py", "from pickle import loads"),
    "eval": ("engine/x.py", "eval('1')"),
    "spaCy in an answer": ("engine/query/x.py", "def f():\n    import spacy.tokens"),
    "yaml.load": ("engine/x.py", "import yaml\nyaml.load('a')"),
}


@pytest.mark.parametrize("name", FAULTY)
def test_each_rule_finds_its_fault(name: str) -> None:
    """A module that breaks a rule is reported at least once."""
    assert faults(*FAULTY[name])


FAULTLESS = {
    "engine on proofs and backends": (
        "engine/x.py",
        "from backends.base import Batch\nfrom proofs.log import root_of",
    ),
    "proof on what it is made of": ("proofs/x.py", "import hashlib\nfrom blake3 import blake3\nimport cbor2"),
    "the proof command reading a file": ("proofs/__main__.py", "from pathlib import Path\nprint(open('x'))"),
    "backend syncing files": ("backends/x.py", "import os\nos.fsync(3)"),
    "spaCy in a dream": ("engine/knowledge/dreaming/x.py", "import spacy"),
    "safe YAML": ("engine/x.py", "import yaml\nyaml.safe_load('a')"),
}


@pytest.mark.parametrize("name", FAULTLESS)
def test_what_is_allowed_is_not_reported(name: str) -> None:
    """A module that follows the rules is not reported."""
    assert faults(*FAULTLESS[name]) == []
