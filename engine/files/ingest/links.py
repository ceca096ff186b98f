"""Resolve links to atoms.

A wiki link contains the name of a file, with or without its suffix. Folders of the file's path may come
before the name. Among several candidates, a file in the same folder is preferred, then the shortest path,
then the first path in byte order. A relative link is a path relative to the file that contains the link.
Names are compared in NFC, ignoring case. Links are only compared with the sources of atoms; no file is
opened.
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from engine.files.ingest.documents import Reference
from engine.files.ingest.walk import FORMATS

Atoms = Sequence[tuple[bytes, str | None]]
"""The atoms of a source as (id, title), in the order of the source."""


def caseless(name: str) -> str:
    """Return the case-folded form in which names are compared."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


class Targets:
    """The sources that links can refer to; `load` is called for a source only when a link refers to it."""

    def __init__(self, sources: Iterable[str], load: Callable[[str], Atoms]) -> None:
        """Index `sources`.

        If several sources differ only in case, links refer to the first one in byte order.
        """
        self._load = cache(load)
        # Many links of a folder are the same, and many names occur in several folders.
        self._found: dict[tuple[str, str, str | None, str], bytes | None] = {}
        self._candidates = cache(self._with_name)
        self._by_path: dict[str, str] = {}
        self._by_name: dict[str, list[tuple[str, str]]] = {}
        for source in sorted(set(sources), key=str.encode):
            path = caseless(source)
            bare = _without_suffix(path)
            self._by_path.setdefault(path, source)
            self._by_path.setdefault(bare, source)
            self._by_name.setdefault(posixpath.basename(bare), []).append((f"/{bare}", source))

    def resolve(self, link: Reference, source: str) -> bytes | None:
        """Return the atom that `link` in `source` refers to, or None if there is no such atom."""
        return self.resolve_all((link,), source)[0]

    def resolve_all(self, links: Iterable[Reference], source: str) -> list[bytes | None]:
        """Return the result of `resolve` for each of `links`, which must all be links in `source`."""
        folder, found, atoms = posixpath.dirname(source), self._found, []
        for link in links:
            key = link.kind, link.target, link.fragment, folder
            if key not in found:
                found[key] = self._resolve(link, folder)
            atoms.append(found[key])
        return atoms

    def _resolve(self, link: Reference, folder: str) -> bytes | None:
        """Return the atom that `link` in a file in `folder` refers to."""
        candidates = self._wiki if link.kind == "wiki" else self._relative
        atoms = next(filter(None, map(self._load, candidates(link.target, folder))), None)
        if atoms is None:
            return None
        if link.fragment is not None:
            heading = caseless(link.fragment.rsplit("#", 1)[-1].strip())
            for atom, title in atoms:
                if title is not None and caseless(title) == heading:
                    return atom
        return atoms[0][0]

    def _relative(self, path: str, folder: str) -> list[str]:
        joined = posixpath.normpath(posixpath.join(folder, path))
        found = self._by_path.get(caseless(joined))
        return [] if found is None else [found]

    def _wiki(self, name: str, folder: str) -> list[str]:
        """Return the sources that a name in a file in `folder` may refer to, the preferred one first."""
        candidates = self._candidates(name)
        if len(candidates) < 2:
            return candidates
        return sorted(
            candidates,
            key=lambda candidate: (
                posixpath.dirname(candidate) != folder,
                candidate.count("/"),
                len(candidate),
                candidate.encode(),
            ),
        )

    def _with_name(self, name: str) -> list[str]:
        """Return the sources that a name may refer to, regardless of the place of the link."""
        path = _without_suffix(caseless(name.strip().strip("/")))
        if "/" not in path:
            return [source for _, source in self._by_name.get(path, ())]
        candidates = self._by_name.get(path.rpartition("/")[2], ())
        return [source for spelling, source in candidates if spelling.endswith(f"/{path}")]


def _without_suffix(path: str) -> str:
    if "." not in path:
        return path
    stem, suffix = posixpath.splitext(path)
    return stem if suffix in FORMATS else path
