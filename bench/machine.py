"""Where a run took place: without this its figures say little.

Question: on what machine, with what libraries and in what company were the figures taken?
Data: /proc, the libraries' own versions, and 200 small synced writes into the folder of the stores.
Seed: none. How: read once, before the first measurement.
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
_RIVALS: Final = ("trie", "pymerkle", "pycryptodome")
_FSYNCS: Final = 200
LOAD_MAX: Final = 0.5
"""A machine with more to do than this gives figures that are too low."""


def describe(folder: Path) -> dict[str, Any]:
    """The machine as it is now; `folder` is where the stores will be."""
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
    }


def file_system(folder: Path) -> str:
    """The kind of file system that `folder` is on, `unknown` where the system does not say."""
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
    """The median time to append 200 bytes to a file in `folder` and have them on the disk."""
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
    """The commit that is checked out, with `+` if files differ from it; empty outside a repository."""
    root = Path(__file__).resolve().parent
    try:
        shown = subprocess.run(
            ["git", "describe", "--always", "--dirty=+"], cwd=root, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return shown.stdout.strip()
