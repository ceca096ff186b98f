"""Mutants of the verifier: each check is found in the source, and removed in turn.

A check is a refusal (`raise ProofError` or FormError), with each part of an `or` before it separately, or a
call whose only use is that it may refuse.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.mutated_import import import_instead

FOLDER: Final = Path(__file__).resolve().parents[2] / "proofs"
MODULES: Final = (
    "basis",
    "claims",
    "codec",
    "forms",
    "leaf_claims",
    "leaves",
    "list_claims",
    "log",
    "log_claims",
    "proof_file",
    "rows",
    "smt",
    "verifier",
)
"""The modules of `proofs` that a verification runs."""

ERRORS: Final = ("ProofError", "FormError", "_unsupported_header")
NO_CHECKS: Final = ("append", "extend", "update", "add", "byteswap", "frombytes", "__init__")
"""Methods that are called for their effect, so they are not checks."""


class Site(NamedTuple):
    """The place of a check in a module."""

    name: str
    """The module, the function and the check; it stays the same if lines move."""
    node: int
    """The index of the node in the walk over the module."""
    part: int
    """The part of an `or`; -1 for all of it."""


def sites(module: str) -> list[Site]:
    """Return every check of a module."""
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
    """Return the module without the check at `site`."""
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


def install(module: str, site: Site) -> None:
    """Make later imports of the module import the mutant; no module of the package may be imported yet."""
    assert not any(name.split(".")[0] == "proofs" for name in sys.modules), "too late: already imported"
    import_instead(f"proofs.{module}", FOLDER / f"{module}.py", mutated(module, site))
