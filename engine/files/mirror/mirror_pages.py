"""Generate the pages of a mirror as bytes, in an order that depends only on the store.

The live atoms are processed source by source, and atoms without a source day by day. A bundle contains the
atoms of one source (or day), one bucket and one tag, on one or more pages. Each atom appears in full once: in
the bundle of its first bucket and first tag. The bundles of the atom's other buckets and tags contain only
the atom's heading, with a link. Therefore the folder of a tag lists all atoms with the tag, and no text is
repeated. Each entity has a separate page.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from backends.base import Reader
from engine.base.model import Direction
from engine.base.validation import show_id
from engine.files.mirror.mirror_text import ENTITIES, UNTAGGED, MirrorNames, body, snippet
from engine.files.mirror.page_style import (
    Bundle,
    StyleName,
    Target,
    edge_line,
    frame,
    reference,
    style_of,
)
from engine.followers.tags import LIVE, day_of, members, values
from engine.ledger.entities import ENTITY
from engine.ledger.journal import read_header, read_identity, read_log
from engine.ledger.layout import EDGE_FROM, payload_key
from engine.ledger.queries import bodies_of, body_of, edges_at, ids_at, records_of
from engine.ledger.records import AtomRecord, read_atom, read_counters, type_name
from engine.store.past import past_store
from engine.store.replay import Progress, no_progress
from engine.store.store import Store
from proofs.events import ERASING_KINDS
from proofs.leaves import Group, State, tag_identity

if TYPE_CHECKING:
    from pyroaring import BitMap

PAGE_ATOMS_MAX: Final = 100
"""The maximum number of atoms of a page (docs/mirror.md)."""

PAGE_BYTES_MAX: Final = 256 << 10
"""The maximum number of bytes of contents on a page; an atom with a larger content is alone on its page."""

EDGES_MAX: Final = 500
"""The maximum number of edges shown at one atom; if there are more, a last line says so."""

SEPARATOR: Final = "\n\n---\n\n"
"""The rule between two sections."""

_READ_ATOMS: Final = 1000
_READ_BODIES: Final = 16
"""The number of contents that are held in memory at the same time (at most 16 MiB)."""

NO_BUCKET: Final = ("inbox",)
"""The bucket in which an atom without buckets appears."""

_REFERENCE_BYTES: Final = 300
"""The approximate size of a reference in bytes, used to estimate the size of a page."""
_EDGE_BYTES: Final = 200
"""The approximate size of an edge in bytes, used to estimate the size of a page."""

_LABELS_CACHED: Final = 10_000


class BundleItem(NamedTuple):
    """An atom in a bundle. A page shows the items sorted by their fields."""

    unsequenced: bool
    sequence: int
    created_seq: int
    ordinal: int
    whole: bool
    bytes: int


class Section(NamedTuple):
    """The part of a page that shows one atom."""

    atom: str
    frame: str
    """The heading and the properties, up to the text."""
    content: str | None
    """The content of the atom, or None if the section only refers to another page."""
    text: str
    """The content as a Markdown block, or an empty string."""


class Page(NamedTuple):
    """A file of the mirror."""

    path: str
    data: bytes
    atoms: tuple[str, ...]
    """The ids of the atoms that appear in full on the page, in order."""
    refers: tuple[str, ...]
    """The ids of the atoms to whose pages this page refers, in order."""
    head: str
    """The beginning of the page, up to the first section."""
    sections: tuple[Section, ...]


class Renderer:
    """Renders single pages of one snapshot. A subclass knows on which page of its bundle each atom is."""

    def __init__(self, rows: Reader, style: StyleName) -> None:
        """Read the snapshot `rows`; its records and follower `tags` must be at the head."""
        self.rows = rows
        self.style = style_of(style, MirrorNames(read_identity(rows).id_key))
        self._linked = next(rows.scan_prefix(EDGE_FROM), None) is not None
        self._target = lru_cache(_LABELS_CACHED)(self._find_target)

    def number_of(self, record: AtomRecord, home: Bundle) -> int:
        """Return the number of the page in the bundle `home` that shows the atom in full."""
        raise NotImplementedError

    def bundles_of(self, record: AtomRecord) -> Iterator[Bundle]:
        """Yield the bundle in which an atom appears in full, then the bundles that refer to it."""
        day = ("day", day_of(record.created))
        group = day if record.source is None else ("source", record.source)
        tags: Sequence[str | None] = [tag_identity(tag) for tag in record.tags] or (None,)
        buckets = record.buckets or NO_BUCKET
        if record.kind == ENTITY:
            yield Bundle(buckets[0], None, "entity", "", show_id(record.id))
        for bucket in buckets:
            if record.tags or record.kind != ENTITY or bucket != buckets[0]:
                for tag in tags:
                    yield Bundle(bucket, tag, *group, "")

    def items_of(self, records: Sequence[AtomRecord]) -> Iterator[list[tuple[Bundle, BundleItem]]]:
        """Yield the bundles of each atom, and the atom's item in each of them; the first item is whole."""
        payloads = self.rows.multi_get([payload_key(record.payload_seq) for record in records])
        for record, payload in zip(records, payloads, strict=True):
            order = (record.sequence is None, record.sequence or 0, record.created_seq, record.ordinal)
            size = len(payload or b"") + self._edge_bytes(record)
            first, *others = self.bundles_of(record)
            items = [(first, BundleItem(*order, True, size))]
            items += [(other, BundleItem(*order, False, _REFERENCE_BYTES)) for other in others]
            yield items

    def home(self, record: AtomRecord) -> Bundle:
        """Return the bundle in which an atom appears in full."""
        return next(self.bundles_of(record))

    def _edge_bytes(self, record: AtomRecord) -> int:
        if not self._linked:
            return 0
        edges = islice(self.rows.scan_prefix(EDGE_FROM + record.id + b"/"), EDGES_MAX)
        return _EDGE_BYTES * sum(1 for _ in edges)

    def path(self, bundle: Bundle, number: int, title: str) -> str:
        """Return the path of page `number` of a bundle; the title of an entity is its name."""
        names = self.style.names
        if bundle.what == "entity":
            folder = ENTITIES
        else:
            folder = UNTAGGED if bundle.tag is None else self.style.tag_folder(bundle.tag)
        identity = (bundle.bucket, bundle.tag or "", bundle.what, bundle.title, bundle.atom)
        return f"{names.bucket(bundle.bucket)}/{folder}/{names.page(title, *identity, number=number)}"

    def render(self, bundle: Bundle, number: int, page: Sequence[BundleItem]) -> Page:
        """Return page `number` of a bundle with these items."""
        sections = []
        title = bundle.title
        for at in range(0, len(page), _READ_BODIES):
            items = page[at : at + _READ_BODIES]
            records = records_of(self.rows, ids_at(self.rows, [item.ordinal for item in items]))
            for item, record, event_body in zip(items, records, bodies_of(self.rows, records), strict=True):
                if bundle.what == "entity":
                    title = snippet(None, event_body.content)
                atom, content = show_id(record.id), event_body.content
                if item.whole:
                    edges, in_source = self._edges(record), bundle.what != "entity"
                    before = frame(self.style, record, content, edges, in_source=in_source)
                    sections.append(Section(atom, before, content, body(content)))
                else:
                    target = self._target_of(record, content)
                    sections.append(Section(atom, reference(self.style, target), None, ""))
        head = self.style.head(bundle, title, number) + "\n\n"
        text = head + SEPARATOR.join([one.frame + one.text for one in sections]) + "\n"
        atoms = tuple(one.atom for one in sections if one.content is not None)
        refers = tuple(one.atom for one in sections if one.content is None)
        return Page(self.path(bundle, number, title), text.encode(), atoms, refers, head, tuple(sections))

    def _edges(self, record: AtomRecord) -> list[str]:
        """Return a line for each edge to a live atom, and a last line if there are more than EDGES_MAX."""
        shown: list[str] = []
        if self._linked:
            for edge in edges_at(self.rows, record.id, Direction.OUT, ()):
                target = self._target(edge.dst)
                if target is not None:
                    if len(shown) == EDGES_MAX:
                        shown.append(f"- more: `engine edges {show_id(record.id)}` lists all edges")
                        break
                    shown.append(edge_line(self.style, type_name(self.rows, edge.type), target, edge.weight))
        return shown

    def _find_target(self, atom: bytes) -> Target | None:
        record = read_atom(self.rows, atom)
        if record is None or record.state is not State.LIVE:
            return None
        return self._target_of(record, body_of(self.rows, record).content)

    def _target_of(self, record: AtomRecord, content: str) -> Target:
        home = self.home(record)
        title = snippet(None, content) if home.what == "entity" else home.title
        path = self.path(home, self.number_of(record, home), title)
        return Target(path, record.id, snippet(record.title, content))


class Pages(Renderer):
    """The pages of the atoms in one snapshot; can be iterated once.

    Memory use is a few bytes for each atom of the store, a few hundred bytes for each atom of the largest
    source, and one page.
    """

    def __init__(self, rows: Reader, style: StyleName, progress: Progress = no_progress) -> None:
        """Prepare the pages of the snapshot `rows`; its records and follower `tags` must be at the head."""
        super().__init__(rows, style)
        self._progress = progress
        self._live = members(rows, LIVE)
        self.atoms = len(self._live)
        self._page_of = array("L", bytes(array("L").itemsize * read_counters(rows).next_ordinal))

    def __iter__(self) -> Iterator[Page]:
        self._assign()
        done = 0
        for bundle, number, page in self._bundles():
            made = self.render(bundle, number, page)
            done += len(made.atoms)
            self._progress(done, self.atoms)
            yield made

    def only(self, paths: Collection[str]) -> Iterator[Page]:
        """Yield the pages with these paths, as the iteration over all pages would yield them."""
        self._assign()
        for bundle, number, page in self._bundles():
            # The name of an entity's page depends on the content.
            if bundle.what == "entity" or self.path(bundle, number, bundle.title) in paths:
                made = self.render(bundle, number, page)
                if made.path in paths:
                    yield made

    def number_of(self, record: AtomRecord, home: Bundle) -> int:
        """Return the number of the page in the bundle `home` that shows the atom in full."""
        return self._page_of[record.ordinal]

    def _assign(self) -> None:
        """Assign all atoms to pages first, because a link names the page of its target."""
        for _, number, page in self._bundles():
            for item in page:
                if item.whole:
                    self._page_of[item.ordinal] = number

    def _groups(self) -> Iterator[BitMap]:
        """Yield the atoms of each source, then the atoms without a source, day by day."""
        remaining = self._live.copy()
        for group in (Group.SOURCE, Group.DAY):
            for title in values(self.rows, group):
                in_group = remaining & members(self.rows, (group, title))
                if in_group:
                    remaining -= in_group
                    yield in_group

    def _bundles(self) -> Iterator[tuple[Bundle, int, list[BundleItem]]]:
        """Yield the pages of all bundles with their numbers, source by source."""
        for group in self._groups():
            bundles = self._bundled(group)
            for bundle in sorted(bundles, key=_order):
                for number, page in enumerate(split(sorted(bundles.pop(bundle))), 1):
                    yield bundle, number, page

    def _bundled(self, group: BitMap) -> dict[Bundle, list[BundleItem]]:
        bundles: dict[Bundle, list[BundleItem]] = {}
        ordinals = iter(group)
        while chunk := list(islice(ordinals, _READ_ATOMS)):
            for items in self.items_of(records_of(self.rows, ids_at(self.rows, chunk))):
                for bundle, item in items:
                    bundles.setdefault(bundle, []).append(item)
        return bundles


def _order(bundle: Bundle) -> tuple[str, bool, str, str, str]:
    return bundle.bucket, bundle.tag is not None, bundle.tag or "", bundle.what, bundle.atom


def split(items: Sequence[BundleItem]) -> Iterator[list[BundleItem]]:
    """Split the items of a bundle into pages."""
    page: list[BundleItem] = []
    size = 0
    for item in items:
        if page and (len(page) == PAGE_ATOMS_MAX or size + item.bytes > PAGE_BYTES_MAX):
            yield page
            page, size = [], 0
        page.append(item)
        size += item.bytes
    yield page


@contextmanager
def store_at(store: Store, rows: Reader, size: int) -> Iterator[tuple[Store, Reader]]:
    """Yield the store as it was after `size` events, and a snapshot with all followers at that event."""
    if read_log(rows).size == size:
        with store.view(*store.followers) as now:
            if read_log(now).size == size:
                yield store, now
                return
    with past_store(rows, size) as past, past.view(*past.followers) as then:
        yield past, then


def erased_since(rows: Reader, start: int, stop: int) -> int | None:
    """Return the first event at or after `start` that destroyed content, or None.

    The states of the store before this event cannot be rebuilt.
    """
    return next((seq for seq in range(start, stop) if read_header(rows, seq)[0].kind in ERASING_KINDS), None)
