"""Stores as they lie on the disk: folders, or files where LevelDB is missing."""

import shutil
from pathlib import Path


def copy_store(source: Path, target: Path) -> None:
    """Copy a closed store, whichever kind it is."""
    if source.is_dir():
        shutil.copytree(source, target)
        return
    for path in source.parent.glob(f"{source.name}*"):
        shutil.copy(path, target.with_name(target.name + path.name.removeprefix(source.name)))
