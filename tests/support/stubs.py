"""The types of `Memory`, `AsyncEngine` and `AsyncExplorer`, made from the sources of `Engine` and `Explorer`.

`python -m tests.support.stubs` rewrites the stubs in engine/memory and engine/clients/asynchronous.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from engine.base.scopes import offers
from engine.clients.asynchronous.async_engine import INTERNAL, READING
from engine.engine import Engine

ROOT: Final = Path(__file__).parents[2]

ASYNC_ENGINE: Final = """
# The types of `async_engine.py`, which `python -m tests.support.stubs` makes from `Engine`.
from collections.abc import Generator
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar

from engine.clients.asynchronous.async_explorer import AsyncExplorer
from engine.clients.asynchronous.worker_threads import Calls, Parts
from engine.base.model import Atom
from engine.memory.memory_protocol import Memory
from engine.clients.proved_answers import Proved
from proofs.note import Checkpoint as NotedCheckpoint
{imports}
_M = TypeVar("_M")

LOG_PART: Final = 256
COMMANDS_PART: Final = 1000
INTERNAL: Final[frozenset[str]]
READING: Final[frozenset[str]]

class Opening(Generic[_M]):
    def __await__(self) -> Generator[Any, Any, _M]: ...
    async def __aenter__(self) -> _M: ...
    async def __aexit__(self, *_: object) -> None: ...

class AsyncEngine:
    engine: Memory
    def __init__(self, engine: Memory, *, threads: int = 8) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    @property
    def actor(self) -> str: ...
    @property
    def proved(self) -> AsyncProved: ...
{methods}

class AsyncProved:
    def __init__(self, proved: Proved, calls: Calls) -> None: ...
    async def check(self) -> NotedCheckpoint: ...
    async def get(self, id: str) -> Atom: ...
    async def recall(self, query: str, **options: Any) -> tuple[Atom, ...]: ...
    async def tagged(self, tag: str) -> tuple[str, ...]: ...
    async def mentioning(self, word: str) -> tuple[str, ...]: ...
"""

MEMORY: Final = """
# The types of `memory_protocol.py`, which `python -m tests.support.stubs` makes from `Engine`.
from types import TracebackType
from typing import Protocol, Self, TypeGuard
{imports}
class Memory(Protocol):
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
{methods}

def is_memory(value: object) -> TypeGuard[Memory]: ...
"""

ASYNC_EXPLORER: Final = """
# The types of `async_explorer.py`, which `python -m tests.support.stubs` makes from `Explorer`.
from engine.clients.asynchronous.worker_threads import Calls
from engine.query.explore.explorer import Explorer
{imports}
class AsyncExplorer:
    def __init__(self, explorer: Explorer, calls: Calls) -> None: ...
    @property
    def total(self) -> int: ...
{methods}
"""

BODY: Final[tuple[ast.stmt, ...]] = (ast.Expr(ast.Constant(...)),)

OWN: Final = {
    "open": "Opening[Self]",
    "connect": "Opening[Self]",
    "acting_as": "Self",
    "as_of": "AbstractAsyncContextManager[AsyncEngine]",
    "explorer": "AsyncExplorer",
}
"""The methods whose result has a type of its own here."""


def stubs() -> dict[Path, str]:
    """Return the stubs, each with the path of its file."""
    folder, explorer = ROOT / "engine" / "clients" / "asynchronous", "engine/query/explore/explorer.py"
    return {
        ROOT / "engine" / "memory" / "memory_protocol.pyi": _protocol(),
        folder / "async_engine.pyi": _stub(ASYNC_ENGINE, "engine/engine.py", "Engine"),
        folder / "async_explorer.pyi": _stub(ASYNC_EXPLORER, explorer, "Explorer", "explore_"),
    }


def _protocol() -> str:
    shared = {name for name, offer in offers(Engine).items() if offer.by_client}
    module, methods = _methods("engine/engine.py", "Engine")
    return _filled(MEMORY, module, [_declared(each) for each in methods if each.name in shared])


def _stub(form: str, source: str, name: str, prefix: str = "") -> str:
    module, methods = _methods(source, name)
    wanted = [each for each in methods if each.name.startswith(prefix) and each.name not in INTERNAL]
    return _filled(form, module, [_made(each) for each in wanted])


def _methods(source: str, name: str) -> tuple[ast.Module, list[ast.FunctionDef]]:
    """Return a module, and the public methods of one of its classes in the order of their names."""
    module = ast.parse((ROOT / source).read_text(encoding="utf-8"))
    (found,) = (each for each in module.body if isinstance(each, ast.ClassDef) and each.name == name)
    methods = [each for each in found.body if isinstance(each, ast.FunctionDef) and each.name[0] != "_"]
    return module, sorted(methods, key=lambda each: each.name)


def _filled(form: str, module: ast.Module, methods: Sequence[ast.FunctionDef | ast.AsyncFunctionDef]) -> str:
    imports = _imports(module, {name for each in methods for name in _names(each)} - set(_names(form)))
    lines = ["    " + line for each in methods for line in ast.unparse(each).splitlines()]
    return _formatted(form.format(imports="\n".join(imports), methods="\n".join(lines)))


def _declared(method: ast.FunctionDef) -> ast.FunctionDef:
    """Return the signature of `method`."""
    _leave_out_values(method.args)
    decorators = [each for each in method.decorator_list if ast.unparse(each) == "property"]
    made = ast.FunctionDef(method.name, method.args, list(BODY), decorators, method.returns)
    return ast.fix_missing_locations(made)


def _made(method: ast.FunctionDef) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """Return the signature of the method that awaits `method`."""
    name, result = method.name, ast.unparse(method.returns or ast.Constant(None))
    decorators = [each for each in method.decorator_list if ast.unparse(each) in ("property", "classmethod")]
    args = method.args
    _leave_out_values(args)
    if name in ("connect", "open"):
        args.kwonlyargs.append(ast.arg("threads", ast.Name("int")))
        args.kw_defaults.append(ast.Constant(8))
    if name in READING:
        decorators = []
    plain = bool(decorators) or name in ("acting_as", "as_of") or result.startswith("Iterator[")
    result = OWN.get(name, result.replace("Iterator[", "Parts["))
    kind = ast.FunctionDef if plain else ast.AsyncFunctionDef
    made = kind(name, args, list(BODY), list(decorators), ast.parse(result, mode="eval").body)
    return ast.fix_missing_locations(made)


def _leave_out_values(args: ast.arguments) -> None:
    """Write `...` in place of defaults that are not plain."""
    for defaults in (args.defaults, args.kw_defaults):
        for at, value in enumerate(defaults):
            if value is not None and not _is_plain(value):
                defaults[at] = ast.Constant(...)


def _is_plain(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple):
        return all(map(_is_plain, value.elts))
    return isinstance(value, ast.Constant)


def _names(code: ast.AST | str) -> Iterator[str]:
    """Yield the names that code uses or imports. Lines with a place to fill in are left out."""
    if isinstance(code, str):
        code = ast.parse("\n".join(line for line in code.splitlines() if not line.startswith("{")))
    for node in ast.walk(code):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)


def _imports(module: ast.Module, names: set[str]) -> Iterator[str]:
    """Yield the imports of `names`, as the module states them."""
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) in names:
                    yield f"from {node.module} import {ast.unparse(alias)}"


def _formatted(text: str) -> str:
    """Return the text as ruff sorts and lays it out."""
    for arguments in (["check", "--select", "I,F401", "--fix"], ["format"]):
        command = [sys.executable, "-m", "ruff", *arguments, "--quiet", "--stdin-filename", "stub.pyi", "-"]
        done = subprocess.run(command, input=text, capture_output=True, check=True, text=True, cwd=ROOT)
        text = done.stdout
    return text


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
