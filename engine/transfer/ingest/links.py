"""From a link's text to the atom it means.

A wiki link names a file without its suffix, or the end of its path; among several, the one in the
same folder wins, then the shortest path, then the first by bytes. A relative link is a path from the
file it stands in. Names meet caselessly, in NFC. Nothing here opens a path: sources are data.
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from engine.transfer.ingest.documents import Reference
from engine.transfer.ingest.walk import FORMATS

Atoms = Sequence[tuple[bytes, str | None]]
"""The atoms of a source as (id, title), in their order."""


def caseless(name: str) -> str:
    """The form in which names are compared."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


class Targets:
    """All sources that links may mean; what is in one is only asked for when a link means it."""

    def __init__(self, sources: Iterable[str], load: Callable[[str], Atoms]) -> None:
        """`sources` in any order; of two that differ in case only, the first by bytes is meant."""
        self._load = cache(load)
        self._by_path: dict[str, str] = {}
        self._by_name: dict[str, list[str]] = {}
        for source in sorted(set(sources), key=str.encode):
            path = caseless(source)
            for spelling in (path, _without_suffix(path)):
                self._by_path.setdefault(spelling, source)
            self._by_name.setdefault(posixpath.basename(_without_suffix(path)), []).append(source)

    def resolve(self, link: Reference, source: str) -> bytes | None:
        """The atom that `link`, standing in `source`, means; None where there is none."""
        means = self._wiki if link.kind == "wiki" else self._relative
        atoms = next(filter(None, map(self._load, means(link.target, source))), None)
        if atoms is None:
            return None
        if link.fragment is not None:
            heading = caseless(link.fragment.rsplit("#", 1)[-1].strip())
            for atom, title in atoms:
                if title is not None and caseless(title) == heading:
                    return atom
        return atoms[0][0]

    def _relative(self, path: str, source: str) -> list[str]:
        joined = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        found = self._by_path.get(caseless(joined))
        return [] if found is None else [found]

    def _wiki(self, name: str, source: str) -> list[str]:
        """The sources a name may mean, the likeliest first."""
        wanted = _without_suffix(caseless(name.strip().strip("/")))
        folder = posixpath.dirname(source)
        candidates = [
            candidate
            for candidate in self._by_name.get(posixpath.basename(wanted), ())
            if f"/{_without_suffix(caseless(candidate))}".endswith(f"/{wanted}")
        ]
        return sorted(
            candidates,
            key=lambda candidate: (
                posixpath.dirname(candidate) != folder,
                candidate.count("/"),
                len(candidate),
                candidate.encode(),
            ),
        )


def _without_suffix(path: str) -> str:
    stem, suffix = posixpath.splitext(path)
    return stem if suffix in FORMATS else path
