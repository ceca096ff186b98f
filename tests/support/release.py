"""Check what a release uploads: `python -m tests.support.release dist`. Uses the standard library only."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from zipfile import ZipFile

EXTENSION = "engine/kernels/_native.abi3.so"
PLATFORMS = (
    ("manylinux", "x86_64"),
    ("manylinux", "aarch64"),
    ("musllinux", "x86_64"),
    ("musllinux", "aarch64"),
    ("macosx", "x86_64"),
    ("macosx", "arm64"),
)
"""The platforms for which there is a wheel."""


def faults(folder: Path) -> list[str]:
    """Return what is wrong with the distributions in `folder`, or an empty list."""
    names = sorted(path.name for path in folder.iterdir())
    wheels = [name for name in names if name.endswith(".whl")]
    found = [
        f"there are {len(fitting)} wheels for {system} on {machine}"
        for system, machine in PLATFORMS
        if len(fitting := list(_of(wheels, system, machine))) != 1
    ]
    if len(wheels) > len(PLATFORMS):
        found.append(f"there are {len(wheels)} wheels, of which some are for no known platform")
    if sum(name.endswith(".tar.gz") for name in names) != 1 or len(names) != len(wheels) + 1:
        found.append(f"there is not exactly one source distribution beside the wheels: {', '.join(names)}")
    return found + [f"{name} has no extension" for name in wheels if not _has_extension(folder / name)]


def _of(wheels: Iterable[str], system: str, machine: str) -> Iterable[str]:
    """Yield the wheels with the stable interface of Python 3.11 for a platform."""
    for name in wheels:
        *_, python, interface, platforms = name.removesuffix(".whl").split("-")
        first = platforms.split(".")[0]
        if (python, interface) == ("cp311", "abi3") and first.startswith(system) and first.endswith(machine):
            yield name


def _has_extension(wheel: Path) -> bool:
    with ZipFile(wheel) as archive:
        return EXTENSION in archive.namelist()


if __name__ == "__main__":
    sys.exit("\n".join(faults(Path(sys.argv[1]))) or None)
