"""Copies of stores on disk, which are folders (LevelDB) or files (SQLite)."""

import shutil
from pathlib import Path


def copy_store(source: Path, target: Path) -> None:
    """Copy a closed store, which is a folder or a file."""
    if source.is_dir():
        shutil.copytree(source, target)
        return
    for path in source.parent.glob(f"{source.name}*"):
        shutil.copy(path, target.with_name(target.name + path.name.removeprefix(source.name)))
