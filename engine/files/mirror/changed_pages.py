"""Bring a mirror up to date after a few events: render only the pages on which something changed.

The manifest lists the atoms of each page, so the pages of a changed atom are known without reading the
others. Each bundle that has such an atom is divided into pages again, from the page before the first change.
If this moves an unchanged atom to another page, the links to it change, too. Such a change, and every other
unusual one, is left to a sync of the whole mirror (`mirror_sync`), which gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import Final, NamedTuple

from backends.base import Reader
from engine.base.errors import EngineError, InvalidInputError
from engine.base.model import Direction
from engine.base.validation import atom_id, show_id
from engine.files.mirror import mirror_disk
from engine.files.mirror.mirror_pages import BundleItem, Page, Renderer, split
from engine.files.mirror.mirror_place import (
    MANIFEST,
    Existing,
    ManifestText,
    MirrorPlace,
    decode_text,
    encode_text,
    manifest_line,
    page_in,
)
from engine.files.mirror.mirror_report import MirrorReport
from engine.files.mirror.mirror_sync import Build
from engine.files.mirror.mirror_text import PATH, snippet
from engine.files.mirror.old_mirror import NONE_APPLIED
from engine.files.mirror.page_style import Bundle, StyleName
from engine.followers.tags import LIVE, members
from engine.ledger.journal import read_header, read_log
from engine.ledger.queries import body_of, edges_at, records_of
from engine.ledger.records import AtomRecord, read_atom
from engine.store.store import Store
from proofs.events import ERASING_KINDS, AtomDetail, EdgeDetail
from proofs.leaves import Group, State

EVENTS_MAX: Final = 200
"""The number of events since the last update above which the whole mirror is synced."""

PAGES_MAX: Final = 40
"""The number of pages of one bundle, or with links to one atom, above which the whole mirror is synced."""

_SUFFIX: Final = re.compile(r"(?:_p[0-9]+)?\.md$")


class TooMuchError(Exception):
    """Raised if the whole mirror must be synced."""


class Placed(NamedTuple):
    """An atom on a page. Atoms of one bundle are sorted by their items, which are distinct."""

    item: BundleItem
    atom: bytes
    bundle: Bundle


def sync_changes(store: Store, place: MirrorPlace) -> MirrorReport | None:
    """Write the changed pages of the mirror at a locked place.

    Returns:
        A report that does not name foreign files; None if the whole mirror must be synced, because of what
        changed or because a page to replace was edited. Then nothing was written.
    """
    store_id = show_id(store.identity.store_id)
    is_there = mirror_disk.is_folder(mirror_disk.lstat(place.parent, place.name))
    if not is_there or mirror_disk.lstat(place.parent, place.new) is not None:
        return None
    with ExitStack() as stack:
        folder = stack.enter_context(mirror_disk.open_folder(place.name, place.parent))
        raw = mirror_disk.read(folder, MANIFEST) or b""
        try:
            old = decode_text(raw)
        except InvalidInputError:
            return None
        if old.head.store_id != store_id:
            return None
        rows = stack.enter_context(store.view(*store.followers))
        changes = ChangedPages(rows, old)
        try:
            pages, removed = changes.render_changed(read_log(rows).size)
            tags = changes.renamed_tags()
        except (TooMuchError, EngineError, KeyError, TypeError, ValueError):
            return None  # somebody may have changed the manifest; then the sync says so
        paths = [*removed, *(page.path for page in pages)]
        lines = dict.fromkeys(line for path in paths if (line := old.line(path)) is not None)
        was = dict(map(page_in, lines))
        for path, entry in was.items():
            if not PATH.fullmatch(path) or mirror_disk.digest(folder, path) != entry.sha256:
                return None
        roots = store.roots(rows)
        root = roots.as_checkpoint().root
        head = old.head._replace(size=roots.size, root=root, tags=tags)
        existing = Existing(folder, raw, old.head._replace(files=was))
        build = stack.enter_context(Build(place, existing, NONE_APPLIED, dry_run=False))
        for page in pages:
            build.add(page)
        kept = [line for line in old.lines if line not in lines]
        now = sorted(kept + [manifest_line(*listed) for listed in build.files.items()])
        set_aside = build.finish(encode_text(ManifestText(head, now)))
        return MirrorReport(
            folder=place.path,
            style=head.style,
            size=head.size,
            root=root,
            atoms=len(members(rows, LIVE)),
            pages=len(now),
            changed=build.changed,
            written=build.written,
            removed=len(removed),
            foreign=(),
            set_aside=set_aside,
        )


class ChangedPages(Renderer):
    """Renders the pages of a mirror that events changed. Methods raise TooMuchError."""

    def __init__(self, rows: Reader, old: ManifestText) -> None:
        """Compare the snapshot `rows`, whose followers must be at the head, with the manifest `old`."""
        super().__init__(rows, old.head.style)
        self._old = old
        self._touched: set[bytes] = set()
        """The atoms whose sections may have changed."""
        self._relabelled: set[bytes] = set()
        """The atoms of which links may have to change."""
        self._numbers: dict[bytes, int] = {}
        """The page of each touched atom in its home bundle."""

    def number_of(self, record: AtomRecord, home: Bundle) -> int:
        """Return the number of the page in the bundle `home` that shows the atom in full."""
        if record.id in self._numbers:
            return self._numbers[record.id]
        wanted = show_id(record.id).encode()
        pages = self._pages_of(self._stem(home, record))
        return next((number for number, line in pages.items() if wanted in line), 1)

    def render_changed(self, size: int) -> tuple[list[Page], list[str]]:
        """Return the pages that may differ from those of the mirror, and the paths of obsolete pages.

        `size` is the number of events of the store.
        """
        self._read_events(size)
        records = [record for atom in sorted(self._touched) if (record := read_atom(self.rows, atom))]
        former = [record for record in records if record.created_seq < self._old.head.size]
        arriving: dict[str, list[Placed]] = {}
        live = [record for record in records if record.state is State.LIVE]
        for stem, placed in self._placed(live):
            arriving.setdefault(stem, []).append(placed)
        wanted = [show_id(record.id).encode() for record in former]
        lines = self._old.lines if wanted else ()
        leaving = [page_in(line)[0] for line in lines if any(one in line for one in wanted)]
        divided: dict[str, list[Placed]] = {}
        removed: list[str] = []
        for stem in dict.fromkeys((*arriving, *(_SUFFIX.sub("", path) for path in leaving))):
            removed += self._divide(stem, arriving.get(stem, []), divided)
        for path in self._linking([record for record in former if record.id in self._relabelled]):
            if path not in divided:
                divided[path] = self._on_page(self._old.line(path) or b"")
        return [self._rendered(path, page) for path, page in divided.items()], removed

    def renamed_tags(self) -> dict[str, str]:
        """Return the tags that have a different name in the mirror, after the changed pages were rendered."""
        old = self._old.head
        if old.style is StyleName.OBSIDIAN and old.tags and self._relabelled:
            raise TooMuchError  # a tag has several names there if atoms write it differently
        tags = {**old.tags, **self.style.renamed}
        if not tags:
            return tags
        live = members(self.rows, LIVE)
        return {name: tag for name, tag in tags.items() if live & members(self.rows, (Group.TAG, tag))}

    def _read_events(self, size: int) -> None:
        start = self._old.head.size
        if not 0 <= size - start <= EVENTS_MAX:
            raise TooMuchError
        for seq in range(start, size):
            header = read_header(self.rows, seq)[0]
            if header.kind in ERASING_KINDS:
                raise TooMuchError
            if isinstance(header.detail, AtomDetail):
                self._touched.add(header.detail.id)
                self._relabelled.add(header.detail.id)
            elif isinstance(header.detail, EdgeDetail):
                self._touched.add(header.detail.src)

    def _placed(self, records: Sequence[AtomRecord]) -> Iterator[tuple[str, Placed]]:
        """Yield the atoms in each of their bundles, with the stem of the bundle's paths."""
        for record, items in zip(records, self.items_of(records), strict=True):
            for bundle, item in items:
                yield self._stem(bundle, record), Placed(item, record.id, bundle)

    def _stem(self, bundle: Bundle, record: AtomRecord) -> str:
        """Return the path of a bundle without the number of the page and the suffix."""
        is_entity = bundle.what == "entity"
        title = snippet(None, body_of(self.rows, record).content) if is_entity else bundle.title
        return self.path(bundle, 1, title).removesuffix(".md")

    def _pages_of(self, stem: str) -> dict[int, bytes]:
        """Return the pages of a bundle in the old mirror: number → line of the manifest."""
        pages: dict[int, bytes] = {}
        while (line := self._old.line(_path(stem, len(pages) + 1))) is not None:
            pages[len(pages) + 1] = line
        return pages

    def _on_page(self, line: bytes) -> list[Placed]:
        """Return the untouched atoms of a page of the old mirror, in order."""
        path, entry = page_in(line)
        atoms = [atom for atom in map(atom_id, (*entry.atoms, *entry.refers)) if atom not in self._touched]
        stem = _SUFFIX.sub("", path)
        return sorted(placed for one, placed in self._placed(records_of(self.rows, atoms)) if one == stem)

    def _divide(self, stem: str, arriving: Sequence[Placed], divided: dict[str, list[Placed]]) -> list[str]:
        """Divide a bundle into pages again, and add the changed pages to `divided`.

        Returns:
            The paths of the pages that no longer exist.
        """
        old = self._pages_of(stem)
        touched = [show_id(atom).encode() for atom in self._touched]
        changed = [number for number, line in old.items() if any(one in line for one in touched)]
        first = min(changed, default=len(old))
        kept: dict[int, list[Placed]] = {}
        for number in range(len(old), 0, -1):
            kept[number] = self._on_page(old[number])
            before_all = kept[number] and all(kept[number][0] < placed for placed in arriving)
            if len(kept) > PAGES_MAX:
                raise TooMuchError
            if number < first and before_all:
                break
        start = min(kept, default=1)
        where = {placed.atom: number for number, page in kept.items() for placed in page if placed.item.whole}
        by_item = {placed.item: placed for page in (*kept.values(), arriving) for placed in page}
        last = start - 1
        for last, items in enumerate(split(sorted(by_item)) if by_item else (), start):
            page = [by_item[item] for item in items]
            if any(where.get(placed.atom, last) != last for placed in page):
                raise TooMuchError
            self._numbers |= {one.atom: last for one in page if one.item.whole and one.atom in self._touched}
            if page != kept.get(last) or last in changed:
                divided[_path(stem, last)] = page
        return [_path(stem, number) for number in old if number > last]

    def _linking(self, records: Sequence[AtomRecord]) -> Iterator[str]:
        """Yield the paths of the pages that link to one of the atoms."""
        for record in records:
            edges = list(islice(edges_at(self.rows, record.id, Direction.IN, ()), PAGES_MAX + 1))
            if len(edges) > PAGES_MAX:
                raise TooMuchError
            for source in records_of(self.rows, [edge.src for edge in edges]):
                if source.state is State.LIVE:
                    home = self.home(source)
                    yield _path(self._stem(home, source), self.number_of(source, home))

    def _rendered(self, path: str, placed: Sequence[Placed]) -> Page:
        suffix = _SUFFIX.search(path)
        number = int(suffix[0][2:-3]) if suffix and suffix[0] != ".md" else 1
        return self.render(placed[0].bundle, number, [one.item for one in placed])


def _path(stem: str, number: int) -> str:
    return f"{stem}.md" if number == 1 else f"{stem}_p{number}.md"
