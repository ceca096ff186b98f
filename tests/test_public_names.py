"""The public names of `engine`, which are loaded when they are first used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import engine
import memroot

ROOT = Path(__file__).resolve().parents[1]


def stated() -> dict[str, str]:
    """The names in the stub, each with its module, as Python's parser reads them."""
    tree = ast.parse((ROOT / "engine" / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert len(imports) == len(tree.body)
    return {str(alias.asname): f"engine.{node.module}" for node in imports for alias in node.names}


def test_the_stub_lists_the_public_names() -> None:
    """`__all__` and `dir` have the names of the stub, and each is the object of its module."""
    names = stated()
    assert sorted(vars(engine)["__getattr__"]("__all__")) == sorted(dir(engine)) == sorted(names)
    for name, module in names.items():
        value = getattr(engine, name)
        assert value is getattr(sys.modules[module], name)


def test_the_package_that_is_installed_has_the_same_names() -> None:
    """`from memroot import NAME` gives the object that `engine` has under this name."""
    assert dir(memroot) == dir(engine)
    assert all(getattr(memroot, name) is getattr(engine, name) for name in stated())


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A name that is not public is refused as by any other module."""
    with pytest.raises(AttributeError, match="module 'engine' has no attribute 'Enginee'"):
        _ = engine.Enginee  # type: ignore[attr-defined]


def test_importing_the_package_loads_only_the_loader_of_names() -> None:
    """`import engine` loads no library, and of the project only the module that loads names on use."""
    code = "import sys; before = set(sys.modules); import engine; print(*sorted(set(sys.modules) - before))"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in ended.stdout.split()}
    assert loaded - sys.stdlib_module_names == {"engine"}
    assert {name for name in ended.stdout.split() if name.startswith("engine.")} == {
        "engine.base",
        "engine.base.lazy_names",
    }
