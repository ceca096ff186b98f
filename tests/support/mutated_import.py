"""Importing a changed source in place of a module."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: Path, source: Any) -> None:
        super().__init__(name, str(path))
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the mutant, never that of a cached module."""
        code: CodeType = compile(self._source, self.get_filename(fullname), "exec")
        return code


class _Finder(MetaPathFinder):
    def __init__(self, loader: _Loader) -> None:
        self._loader = loader

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the mutant's spec, or None for every other module."""
        if fullname != self._loader.name:
            return None
        return spec_from_file_location(fullname, self._loader.path, loader=self._loader)


def import_instead(name: str, path: Path, source: Any) -> None:
    """Make later imports of the module `name`, the file `path`, import the tree or text `source`."""
    sys.meta_path.insert(0, _Finder(_Loader(name, path, source)))
