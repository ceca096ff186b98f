"""Import rules of the servers and of `engine.memory`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.test_imports import imports

ENGINE = Path(__file__).resolve().parents[2] / "engine"


@pytest.mark.parametrize(("package", "barred"), [("mcp", "cli"), ("memory", "cli"), ("memory", "mcp")])
def test_nothing_imports_the_command_line(package: str, barred: str) -> None:
    """The servers do not import the command line, and `engine.memory` imports neither."""
    modules = sorted((ENGINE / package).rglob("*.py"))
    assert modules
    found = [
        f"{module.name}: {name}"
        for module in modules
        for name in imports(ast.parse(module.read_text(encoding="utf-8")))
        if name.startswith(f"engine.{barred}")
    ]
    assert found == []
