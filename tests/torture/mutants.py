"""Mutants of the code that commits and follows: one check, call, guard or promise is removed in each.

`python -m pytest -p tests.torture.mutated` tests the mutant that MEMROOT_MUTANT names (`MODULE:NUMBER`).
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
MODULES: Final = (
    "engine.store.bulk",
    "engine.store.commit",
    "engine.store.store",
    "engine.store.views",
    "engine.followers.base",
    "engine.followers.records",
    "engine.store.maintenance",
    "engine.erase.destroy",
)
"""The modules through which each commit and each update of a follower goes."""


class Site(NamedTuple):
    """The place of a mutation."""

    name: str
    """The function, what is changed and how; it stays the same if lines move."""
    node: int
    """The index of the node in the walk over the module."""
    how: str
    """`never`, `always`, `no call`, `no guard` or `not durable`."""


@cache
def source_of(module: str) -> str:
    """Return the text of a module."""
    return (ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")


def sites(module: str) -> list[Site]:
    """Return the places of a module that can be changed."""
    tree = ast.parse(source_of(module))
    owners = {
        inner: owner.name
        for owner in ast.walk(tree)
        if isinstance(owner, ast.FunctionDef)
        for inner in ast.walk(owner)
    }
    found = []
    seen: dict[str, int] = {}
    for at, node in enumerate(ast.walk(tree)):
        if node not in owners:
            continue
        for how in _ways(node):
            what = ast.unparse(node.test if isinstance(node, ast.If) else node).partition("\n")[0]
            name = f"{owners[node]}: {what}: {how}"
            seen[name] = seen.get(name, 0) + 1
            found.append(Site(name if seen[name] == 1 else f"{name} ({seen[name]})", at, how))
    return found


def _ways(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.If):
        yield "never"
        yield "always"
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "no call"
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg == "guard":
                yield "no guard"
            if keyword.arg == "durable" and isinstance(keyword.value, ast.Constant) and keyword.value.value:
                yield "not durable"


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
    if isinstance(node, ast.If):
        node.test = ast.Constant(site.how == "always")
    elif isinstance(node, ast.Expr):
        node.value = ast.Constant(None)
    else:
        assert isinstance(node, ast.Call)
        for keyword in node.keywords:
            if keyword.arg == "guard" and site.how == "no guard":
                keyword.value = ast.Constant(None)
            if keyword.arg == "durable" and site.how == "not durable":
                keyword.value = ast.Constant(False)
    return ast.fix_missing_locations(tree)


def install(module: str, number: int) -> None:
    """Make later imports of the module import the mutant; the module must not be imported yet."""
    assert module not in sys.modules, "too late: already imported"
    import_instead(module, ROOT / f"{module.replace('.', '/')}.py", mutated(module, sites(module)[number]))
