"""Describe the machine of a run. Without this description, the figures mean little.

Question: on what machine, with what libraries and under what load were the figures taken?
Data: /proc, the versions of the libraries, and 200 small synced writes in the folder of the stores.
Seed: none. How: the description is made once, before the first measurement.
"""

from __future__ import annotations

import os
import platform
import sqlite3
import subprocess
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

_LIBRARIES: Final = ("memroot", "blake3", "cbor2", "numpy", "plyvel", "pyroaring", "PyStemmer")
_RIVALS: Final = ("tantivy", "plugmem", "trie", "pymerkle", "pycryptodome")
_FSYNCS: Final = 200
LOAD_MAX: Final = 0.5
"""The highest load at which figures are reliable. Above this load, rates are too low and times are too
long."""


def describe(folder: Path) -> dict[str, Any]:
    """Return a description of the machine and its current load; `folder` is the folder for the stores."""
    load = os.getloadavg()[0]
    return {
        "cpu": _proc_field("/proc/cpuinfo", "model name") or platform.processor() or "unknown",
        "cores": os.cpu_count(),
        "ram_mb": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1_000_000,
        "system": platform.platform(),
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in _LIBRARIES}
        | {name: version(name) for name in _RIVALS if _is_installed(name)}
        | {"sqlite": sqlite3.sqlite_version},
        "commit": _commit(),
        "file_system": file_system(folder),
        "fsync_us": round(fsync_seconds(folder) * 1e6),
        "load": round(load, 2),
        "busy": load > LOAD_MAX,
        "kernels": kernels(),
    }


def file_system(folder: Path) -> str:
    """Return the type of the file system of `folder`, or `unknown`."""
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return "unknown"
    at, best, kind = str(folder.resolve()), "", "unknown"
    for line in mounts.read_text(encoding="utf-8").splitlines():
        _, point, found, *_ = line.split(" ")
        if (at == point or at.startswith(point.rstrip("/") + "/")) and len(point) >= len(best):
            best, kind = point, found
    return kind


def fsync_seconds(folder: Path) -> float:
    """Return the median time to append 200 bytes to a file in `folder` and sync them to disk."""
    path = folder / "fsync"
    took = []
    with path.open("wb", buffering=0) as stream:
        for _ in range(_FSYNCS):
            begin = time.perf_counter()
            stream.write(bytes(200))
            os.fsync(stream.fileno())
            took.append(time.perf_counter() - begin)
    path.unlink()
    return sorted(took)[_FSYNCS // 2]


def kernels() -> str:
    """Return the kernels that memroot uses by default: `native` or `python`."""
    from engine.base.native import NATIVE

    return "python" if NATIVE is None else "native"


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def _proc_field(path: str, name: str) -> str:
    file = Path(path)
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith(name):
                return line.partition(":")[2].strip()
    return ""


def _commit() -> str:
    """Return the current commit, with `+` if files differ from it, or "" outside a repository."""
    root = Path(__file__).resolve().parent
    try:
        shown = subprocess.run(
            ["git", "describe", "--always", "--dirty=+"], cwd=root, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return shown.stdout.strip()
