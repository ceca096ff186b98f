"""The properties in which a kernel and its twin must agree, as functions of bytes that a fuzzer chooses."""

from __future__ import annotations

import inspect
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.test_hostile import FUNCTIONS, test_hostile_values_do_no_harm

FOLDER: Final = Path(__file__).resolve().parents[1]

KEPT: Final = Path(__file__).with_name("kept")
"""For each property a file with the inputs that reached different code, each in a line of base64."""

KEPT_BYTES_MAX: Final = 4000
"""The inputs that are kept for a property have at most this size in all."""

HOSTILE: Final = "hostile"
"""Instead of a module: any values that the types of the kernel allow; the kernel may return anything."""


def names() -> list[str]:
    """Return the names (MODULE:FUNCTION) of all properties that need nothing but examples."""
    found = []
    for path in sorted(FOLDER.glob("test_*.py")):
        module = import_module(f"tests.kernels.{path.stem}")
        for name, test in vars(module).items():
            if hasattr(test, "hypothesis") and not inspect.signature(test).parameters:
                found.append(f"{path.stem}:{name}")
    return found + [f"{HOSTILE}:{name}" for name in FUNCTIONS]


def kept(name: str) -> list[bytes]:
    """Return the inputs that are kept for a property."""
    path = KEPT / f"{name.replace(':', '-')}.txt"
    return [b64decode(line) for line in path.read_text().splitlines()] if path.exists() else []


def keep(name: str, inputs: Sequence[bytes]) -> None:
    """Keep the first of these inputs, up to the limit but at least one, in place of those kept before."""
    fitting = sum(end <= KEPT_BYTES_MAX for end in accumulate(map(len, inputs)))
    lines = [b64encode(raw).decode() + "\n" for raw in inputs[: max(fitting, 1)]]
    KEPT.mkdir(exist_ok=True)
    (KEPT / f"{name.replace(':', '-')}.txt").write_text("".join(lines))


def prepared(name: str) -> Callable[[bytes], Any]:
    """Return a property as a function of bytes. It raises what the test raises."""
    module, _, function = name.partition(":")
    if module == HOSTILE:
        return _hostile(function)
    test: Any = getattr(import_module(f"tests.kernels.{module}"), function)
    return test.hypothesis.fuzz_one_input  # type: ignore[no-any-return]


def _hostile(kernel: str) -> Callable[[bytes], Any]:
    test: Any = test_hostile_values_do_no_harm
    inner = test.hypothesis.inner_test

    @given(data=st.data())
    def called(data: st.DataObject) -> None:
        inner(name=kernel, data=data)

    return called.hypothesis.fuzz_one_input  # type: ignore[attr-defined, no-any-return]
