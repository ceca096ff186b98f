"""Links in files: find the atoms to which they lead, and connect the atoms.

A wiki link contains the name of a file, with or without its suffix. Folders of the file's path may come
before the name. Among several candidates, a file in the same folder is preferred, then the shortest path,
then the first path in byte order. A relative link is a path relative to the file that contains the link.
Names are compared in NFC, ignoring case. Links are only compared with the sources of atoms; no file is
opened.
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from backends.base import Reader
from engine.base.model import Direction
from engine.commands import Command
from engine.commands.file_texts import atoms_of
from engine.commands.new_ids import Planned
from engine.commands.reconcile import UpsertEdge, reconcile_edges
from engine.files.ingest.documents import PassedOver, Piece, Reference, Unresolved
from engine.files.ingest.folder_walk import FORMATS
from engine.followers.tags import values
from engine.ledger.layout import EDGE_FROM
from engine.ledger.queries import edges_at
from engine.ledger.records import id_of_key, read_atom
from engine.store.store import Store
from proofs.leaves import EdgeType, Group, State

_LINKS_BETWEEN: Final = 10_000
"""The number of texts with links between two reports of progress."""

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
        folder, targets, atoms = posixpath.dirname(source), self._found, []
        for link in links:
            key = link.kind, link.target, link.fragment, folder
            if key not in targets:
                targets[key] = self._resolve(link, folder)
            atoms.append(targets[key])
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
        target = self._by_path.get(caseless(joined))
        return [] if target is None else [target]

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


class _PendingLinks(NamedTuple):
    """The links of an atom."""

    source: str
    atom: bytes
    links: tuple[Reference, ...]
    is_new: bool
    """True if the atom was not recorded when its file was read."""


class RunLinks:
    """The links in the texts of an ingest. They are resolved when all files have been read.

    Args:
        store: The store.
        actor: The actor of ingests.
        lines: The atoms of the JSON lines of this ingest, read so far.
        passed_over: The entries of the folders that are not read.
    """

    def __init__(
        self, store: Store, actor: str, lines: Collection[bytes], passed_over: Sequence[PassedOver]
    ) -> None:
        self._store = store
        self._actor = actor
        self._id_key = store.identity.id_key
        self._lines = lines
        self._passed_over = passed_over
        self._had_edges = any(True for _ in store.backend.scan_prefix(EDGE_FROM))
        self._pending: list[_PendingLinks] = []
        self.read: dict[str, list[tuple[bytes, str | None]]] = {}
        """The source of each document that was read → its atoms as (id, title)."""
        self.unresolved: list[Unresolved] = []

    def add(self, rows: Reader, source: str, piece: Piece, planned: Planned) -> None:
        """Remember the links of a piece of a document."""
        atom, is_new = planned
        if piece.links or (not is_new and _has_references(rows, atom, self._actor)):
            self._pending.append(_PendingLinks(source, atom, piece.links, is_new))

    def add_line(self, source: str, piece: Piece, planned: Planned) -> None:
        """Remember the links of a JSON line. Whether its atom has links is looked up later."""
        atom, is_new = planned
        if piece.links or (self._had_edges and not is_new):
            self._pending.append(_PendingLinks(source, atom, piece.links, is_new))

    def commands(self, say: Callable[[str], object]) -> Iterator[Command]:
        """Yield the commands for links that start in the documents of this run and end in any document.

        `say` is called with a description of the progress.
        """
        targets = Targets(
            [*values(self._store.backend, Group.SOURCE), *self.read],
            lambda source: self.read.get(source) or self._live_atoms(source),
        )
        # A link to a picture or another file that is not ingested is not broken.
        aside = Targets([item.source for item in self._passed_over], lambda _: [(b"", None)])
        with self._store.backend.snapshot() as rows:
            # Most lines of a JSON Lines file have no links, and most of these had none before.
            pending = [
                one for one in self._pending if one.links or _has_references(rows, one.atom, self._actor)
            ]
        for number, (source, atom, links, is_new) in enumerate(pending):
            if number and not number % _LINKS_BETWEEN:
                say(f"linking: {number:,} of {len(pending):,}")
            by_id = any(link.kind == "id" for link in links)
            resolved = self._lines_named(links, source) if by_id else targets.resolve_all(links, source)
            self._note_unresolved(aside, source, links, resolved)
            others = dict.fromkeys(target for target in resolved if target is not None and target != atom)
            if is_new:
                # This run added the atom, so it had no edges, and looking for them would take a scan.
                for other in others:
                    yield UpsertEdge(atom, EdgeType.REFERENCES, other)
                continue
            # A new snapshot for each atom: in a snapshot older than the new edges, LevelDB took 2.5 ms per
            # atom to step over them.
            with self._store.backend.snapshot() as rows:
                commands = list(reconcile_edges(rows, self._actor, atom, EdgeType.REFERENCES, others))
            yield from commands

    def _lines_named(self, links: Sequence[Reference], source: str) -> list[bytes | None]:
        """Return the atoms of lines of a source, which are given by their ids; None for an unknown line."""
        atoms = [id_of_key(self._id_key, source, link.target) for link in links]
        return [atom if atom in self._lines or self._is_live(atom) else None for atom in atoms]

    def _is_live(self, atom: bytes) -> bool:
        record = read_atom(self._store.backend, atom)
        return record is not None and record.state is State.LIVE

    def _note_unresolved(
        self, aside: Targets, source: str, links: Sequence[Reference], resolved: Sequence[bytes | None]
    ) -> None:
        """Count and store the links that do not lead to an atom or to a file that was passed over."""
        missing = [link for link, atom in zip(links, resolved, strict=True) if atom is None]
        for link in missing:
            if link.kind == "id" or aside.resolve(link, source) is None:
                self.unresolved.append(Unresolved(source, link.spelling))

    def _live_atoms(self, source: str) -> Atoms:
        """Return the live atoms of a source that was not read as a document in this run."""
        with self._store.backend.snapshot() as rows:
            records = [record for record in atoms_of(rows, source).values() if record.state is State.LIVE]
        records.sort(key=lambda record: (record.sequence or 0, record.id))
        return [(record.id, record.title) for record in records]


def _has_references(rows: Reader, atom: bytes, actor: str) -> bool:
    """Return True if `atom` has a live outgoing edge `references` that `actor` created."""
    edges = edges_at(rows, atom, Direction.OUT, (bytes([EdgeType.REFERENCES]),))
    return any(edge.created_by == actor for edge in edges)
