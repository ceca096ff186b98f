"""Which files of the project a call passes: those with a function that the call runs, imports aside."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("engine", "backends", "proofs")
ASIDE = frozenset({"<module>", "on_tick"})
"""Code that is not followed: what an import runs, and what a server does at regular times."""


class Following:
    """Notes the functions of the project that run in a `with` block.

    It follows the thread that enters the block, and the threads that begin in the block.
    """

    def __init__(self) -> None:
        self._folders = tuple(f"{ROOT / package}/" for package in PACKAGES)
        self._passed: dict[str, dict[str, None]] = {}
        self._aside = threading.local()

    def __enter__(self) -> Self:
        self._before = sys.getprofile()
        threading.setprofile(self._follow)
        sys.setprofile(self._follow)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._before)
        threading.setprofile(self._before)

    def _follow(self, frame: FrameType, event: str, _: Any) -> None:
        code, depth = frame.f_code, getattr(self._aside, "depth", 0)
        if code.co_name in ASIDE:
            self._aside.depth = depth + {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not depth and code.co_filename.startswith(self._folders):
            path = str(Path(code.co_filename).relative_to(ROOT))
            self._passed.setdefault(path, {})[getattr(code, "co_qualname", code.co_name)] = None

    def forget(self) -> None:
        """Forget the functions that ran before."""
        self._passed.clear()

    def functions(self) -> dict[str, list[str]]:
        """Return the functions that ran in each file. The paths are relative to the project and sorted."""
        return {path: list(self._passed[path]) for path in sorted(self._passed)}


def functions_passed(call: Callable[[], object]) -> dict[str, list[str]]:
    """Run `call`, and return the functions that it ran in each file of the project (`Following`)."""
    with Following() as following:
        call()
    return following.functions()


def files_passed(call: Callable[[], object]) -> list[str]:
    """Run `call`, and return the files of the project that it passed, sorted."""
    return list(functions_passed(call))
