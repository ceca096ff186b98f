"""memroot: an embedded, verifiable memory with one journal and one root. Begin with `Engine.open(url)`.

The file `__init__.pyi` lists all public names. Each name is loaded when it is first used, so that a program
that only adds an atom does not load the code for reading Markdown or for searching.
"""

from functools import cache
from importlib import import_module


def __getattr__(name: str) -> object:
    """Load a public name on first use. For `__all__`, return the list of all public names.

    Raises:
        AttributeError: there is no such public name.
    """
    if name == "__all__":
        return list(_modules())
    module = _modules().get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(module, __name__), name)
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return list(_modules())


@cache
def _modules() -> dict[str, str]:
    """Return the public names, each with the module that it is imported from, as `__init__.pyi` states them.

    In this file, an import is either one line `from MODULE import NAME as NAME`, or a line `from MODULE
    import (` followed by lines `NAME as NAME,`. Reading them takes 0.2 ms; Python's own parser takes 6 ms
    (measured).
    """
    from pathlib import Path

    modules, module = {}, ""
    for line in Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[:1] == ["from"]:
            module, words = words[1], words[3:]
        if words[1:2] == ["as"]:
            modules[words[0]] = module
    return modules
