"""Which files of the project a call passes: those with a function that the call runs, imports aside."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("engine", "backends", "proofs")


def functions_passed(call: Callable[[], object]) -> dict[str, list[str]]:
    """Run `call`, and return the functions that it ran in each file of the project.

    The paths are relative to the folder of the project and sorted. Only the calling thread is followed. Code
    that runs while a module is imported does not count.
    """
    folders = tuple(f"{ROOT / package}/" for package in PACKAGES)
    passed: dict[str, dict[str, None]] = {}
    importing = 0

    def follow(frame: FrameType, event: str, _: Any) -> None:
        nonlocal importing
        code = frame.f_code
        if code.co_name == "<module>":
            importing += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not importing and code.co_filename.startswith(folders):
            path = str(Path(code.co_filename).relative_to(ROOT))
            passed.setdefault(path, {})[getattr(code, "co_qualname", code.co_name)] = None

    before = sys.getprofile()
    sys.setprofile(follow)
    try:
        call()
    finally:
        sys.setprofile(before)
    return {path: list(passed[path]) for path in sorted(passed)}


def files_passed(call: Callable[[], object]) -> list[str]:
    """Run `call`, and return the files of the project that it passed, sorted (`functions_passed`)."""
    return list(functions_passed(call))
