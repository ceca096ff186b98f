"""The verifier with one of its checks taken out: each check found in the source, and each put out of action.

A check is a refusal (`raise ProofError`, or FormError below it), with each part of an `or` before it one by
one, or a call whose only use is that it may refuse.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).resolve().parents[2] / "proofs"
MODULES: Final = (
    "basis",
    "claims",
    "codec",
    "file",
    "forms",
    "heads",
    "index_table",
    "leaf_claims",
    "list_claims",
    "log_claims",
    "log_paths",
    "opening",
    "places",
    "strict_cbor",
    "rows",
    "sets",
    "subjects",
    "term_claims",
    "verifier",
)
"""Of `proofs`: what verifying runs through."""

ERRORS: Final = ("ProofError", "FormError", "_foreign")
NO_CHECKS: Final = ("append", "extend", "update", "add", "byteswap", "frombytes", "__init__")
"""Methods that are called for what they change."""


class Site(NamedTuple):
    """Where in a module something is put out of action."""

    name: str
    """The module, the function and the check: stays the same while lines move."""
    node: int
    """The place of the node in the walk over the module."""
    part: int
    """Which part of an `or`; -1 for all of it."""


def sites(module: str) -> list[Site]:
    """Every check of a module."""
    return list(_sites(module, _parsed(module)))


@cache
def _source(module: str) -> str:
    return (FOLDER / f"{module}.py").read_text(encoding="utf-8")


def _parsed(module: str) -> ast.Module:
    return ast.parse(_source(module))


def _sites(module: str, tree: ast.Module) -> Iterator[Site]:
    owners = {
        inner: owner.name
        for owner in ast.walk(tree)
        if isinstance(owner, ast.FunctionDef)
        for inner in ast.walk(owner)
    }
    guarded: set[ast.AST] = set()
    seen: dict[str, int] = {}

    def site(at: int, node: ast.AST, what: str, part: int = -1) -> Site:
        name = f"{module}.{owners.get(node, '')}: {what}"
        seen[name] = seen.get(name, 0) + 1
        return Site(name if seen[name] == 1 else f"{name} ({seen[name]})", at, part)

    for at, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.If) and any(_refuses(one) for one in node.body):
            guarded.update(one for one in node.body if _refuses(one))
            yield site(at, node, ast.unparse(node.test))
            if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.Or):
                for part, one in enumerate(node.test.values):
                    yield site(at, node, ast.unparse(one), part)
        elif isinstance(node, ast.Raise) and _refuses(node) and node not in guarded:
            yield site(at, node, "raise at the end")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not _changes(node.value):
            yield site(at, node, ast.unparse(node.value))


def _refuses(node: ast.AST) -> bool:
    if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
        return False
    return isinstance(node.exc.func, ast.Name) and node.exc.func.id in ERRORS


def _changes(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in NO_CHECKS


def mutated(module: str, site: Site) -> ast.Module:
    """The module without the check at `site`."""
    tree = _parsed(module)
    node = list(ast.walk(tree))[site.node]
    never = ast.Constant(False)
    if isinstance(node, ast.If) and site.part < 0:
        node.test = never
    elif isinstance(node, ast.If):
        assert isinstance(node.test, ast.BoolOp)
        node.test.values[site.part] = never
    else:
        _replace(tree, node)
    return ast.fix_missing_locations(tree)


def _replace(tree: ast.Module, node: ast.AST) -> None:
    for owner in ast.walk(tree):
        for name in ("body", "orelse", "handlers", "finalbody"):
            block = getattr(owner, name, None)
            if isinstance(block, list) and node in block:
                block[block.index(node)] = ast.Pass()


class _Loader(SourceFileLoader):
    def __init__(self, module: str, site: Site) -> None:
        super().__init__(f"proofs.{module}", str(FOLDER / f"{module}.py"))
        self._made = mutated(module, site)

    def get_code(self, fullname: str) -> CodeType:
        """The code of the mutant, never that of a cached module."""
        code: CodeType = compile(self._made, self.get_filename(fullname), "exec")
        return code


class _Finder(MetaPathFinder):
    def __init__(self, module: str, site: Site) -> None:
        self._loader = _Loader(module, site)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The mutant's spec; None for every other module."""
        if fullname != self._loader.name:
            return None
        return spec_from_file_location(fullname, self._loader.path, loader=self._loader)


def install(module: str, site: Site) -> None:
    """From now on, importing the module imports the mutant. In a process that has not imported any of it."""
    assert not any(name.split(".")[0] == "proofs" for name in sys.modules), "too late: already imported"
    sys.meta_path.insert(0, _Finder(module, site))
