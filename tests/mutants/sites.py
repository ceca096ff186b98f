"""Mutants: one check, call, guard or promise of a module is removed in each.

`python -m pytest -p tests.mutants.plugin` tests the mutant that MEMROOT_MUTANT names (`MODULE:NUMBER`).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.mutated_import import import_instead

ROOT: Final = Path(__file__).resolve().parents[2]
REFUSALS: Final = ("ProofError", "FormError", "_unsupported_header")
"""What the verifier raises, in one way or another, to refuse a proof."""


class Site(NamedTuple):
    """The place of a mutation."""

    name: str
    """The function, what is changed and how; it stays the same if lines move."""
    node: int
    """The index of the node in the walk over the module."""
    how: str
    """`never`, `always`, `no call`, `no raise`, `no guard` or `not durable`."""
    part: int | None = None
    """The part of an `or` that is never true; None for the whole."""


@cache
def source_of(module: str) -> str:
    """Return the text of a module."""
    return (ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")


def sites(module: str) -> list[Site]:
    """Return the places of a module that can be changed. In the verifier, only refusals and calls are."""
    tree = ast.parse(source_of(module))
    owners = {
        inner: owner.name
        for owner in ast.walk(tree)
        if isinstance(owner, ast.FunctionDef)
        for inner in ast.walk(owner)
    }
    guarded = {inner for node in ast.walk(tree) if isinstance(node, ast.If) for inner in node.body}
    found = []
    seen: dict[str, int] = {}
    for at, node in enumerate(ast.walk(tree)):
        if node not in owners:
            continue
        ways = _ways(node)
        if module.startswith("proofs."):
            ways = _ways_of_refusals(node, guarded=node in guarded)
        for changed, how, part in ways:
            what = ast.unparse(changed).partition("\n")[0]
            name = f"{owners[node]}: {what}: {how}"
            seen[name] = seen.get(name, 0) + 1
            found.append(Site(name if seen[name] == 1 else f"{name} ({seen[name]})", at, how, part))
    return found


Ways = Iterator[tuple[ast.AST, str, int | None]]
"""What is changed, how, and which part of it."""


def _ways(node: ast.AST) -> Ways:
    if isinstance(node, ast.If):
        yield node.test, "never", None
        yield node.test, "always", None
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield node, "no call", None
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg == "guard":
                yield node, "no guard", None
            if keyword.arg == "durable" and isinstance(keyword.value, ast.Constant) and keyword.value.value:
                yield node, "not durable", None


def _ways_of_refusals(node: ast.AST, *, guarded: bool) -> Ways:
    if isinstance(node, ast.If) and any(map(_refuses, node.body)):
        yield node.test, "never", None
        if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.Or):
            for part, one in enumerate(node.test.values):
                yield one, "never", part
    elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and _refuses(node) and not guarded:
        yield node.exc.func, "no raise", None
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield node, "no call", None


def _refuses(node: ast.AST) -> bool:
    """Return True if a statement raises a refusal."""
    if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
        return False
    return isinstance(node.exc.func, ast.Name) and node.exc.func.id in REFUSALS


def lines_of(module: str, site: Site) -> tuple[int, int]:
    """Return the first and the last line of what is changed at `site`: of an `if`, of its condition."""
    node: ast.AST = list(ast.walk(ast.parse(source_of(module))))[site.node]
    changed = node.test if isinstance(node, ast.If) else node
    assert isinstance(changed, ast.expr | ast.stmt)
    return getattr(node, "lineno", changed.lineno), changed.end_lineno or changed.lineno


def mutated(module: str, site: Site) -> ast.Module:
    """Return the module with the change at `site`."""
    tree = ast.parse(source_of(module))
    node = list(ast.walk(tree))[site.node]
    if isinstance(node, ast.If) and site.part is not None:
        assert isinstance(node.test, ast.BoolOp)
        node.test.values[site.part] = ast.Constant(False)
    elif isinstance(node, ast.If):
        node.test = ast.Constant(site.how == "always")
    elif isinstance(node, ast.Expr):
        node.value = ast.Constant(None)
    elif isinstance(node, ast.Raise):
        _leave_out(tree, node)
    else:
        assert isinstance(node, ast.Call)
        for keyword in node.keywords:
            if keyword.arg == "guard" and site.how == "no guard":
                keyword.value = ast.Constant(None)
            if keyword.arg == "durable" and site.how == "not durable":
                keyword.value = ast.Constant(False)
    return ast.fix_missing_locations(tree)


def _leave_out(tree: ast.Module, statement: ast.stmt) -> None:
    for owner in ast.walk(tree):
        for _, block in ast.iter_fields(owner):
            if isinstance(block, list) and statement in block:
                block[block.index(statement)] = ast.Pass()


def install(module: str, number: int) -> None:
    """Make later imports of the module import the mutant; the module must not be imported yet."""
    assert module not in sys.modules, "too late: already imported"
    import_instead(module, ROOT / f"{module.replace('.', '/')}.py", mutated(module, sites(module)[number]))
