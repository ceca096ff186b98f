"""Pages: files as atoms, found by path, title or alias.

A page consists of the live atoms of one file, which are called its pieces. The links from a page are the
links from all its pieces, and its backlinks are the links to any of its pieces (docs/pages.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from backends.base import Reader
from engine.base import limits
from engine.base.errors import ConflictError, NotFoundError
from engine.base.model import Direction
from engine.base.validation import line, quoted, show_id
from engine.followers.names import is_page, name_identity, named, page_name, page_title
from engine.followers.tags import LIVE, members
from engine.ledger.queries import (
    bodies_of,
    edges_at,
    far_end,
    ids_at,
    records_of,
)
from engine.ledger.records import AtomRecord, EdgeRecord, read_atom, type_name
from engine.query.atom_labels import title_of
from proofs.leaves import Group, State

SHOWN: Final = 5
"""The largest number of sources that the error message for an ambiguous name lists."""

LINKS_MAX: Final = 1000
"""The largest number of links, and of backlinks, that a page lists."""


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link between a page and another atom."""

    type: str
    """The type of the edge."""
    id: str
    """The atom at the other end."""
    title: str
    """The title of the other page. If the other atom is not on a page, its title or the first words of its
    text."""
    source: str | None
    """The source of the other atom."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page: the atoms from one file, as one text. A list is empty if it has no items."""

    title: str
    """The title that the file states, or the name of the file without its suffix."""
    source: str
    """The path of the file, which begins with the name of its folder."""
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    """The tags of all pieces, each once."""
    created: int
    """The time of the first piece, in µs since 1970, UTC; negative before 1970."""
    ids: tuple[str, ...]
    """The ids of the pieces, in the order of the file."""
    text: str
    """The texts of the pieces, separated by blank lines."""
    links: tuple[PageLink, ...]
    """The links to atoms outside the page, at most `LINKS_MAX`."""
    backlinks: tuple[PageLink, ...]
    """The links to the page from atoms outside it, at most `LINKS_MAX`."""


class Pieces(NamedTuple):
    """The pieces of a page, in the order of the file; never empty."""

    source: str
    records: tuple[AtomRecord, ...]


def pieces_named(rows: Reader, name: str) -> Pieces | None:
    """Return the pieces of the page with this path, title or alias; None if there is no such page.

    `rows` is a snapshot with the followers `tags` and `names` at the head. In a path, the first folders and
    the suffix may be omitted. A page whose file name or stated title is the name is preferred to a page with
    the name as an alias. The comparison of names ignores case, but a path with the same case is preferred.

    Raises:
        InvalidInputError: the name has more than one line.
        ConflictError: several pages have this name; the message lists their sources.
    """
    name = line(name, "page", limits.QUERY_BYTES_MAX).strip()
    if is_page(name) and (pieces := pieces_of(rows, name)) is not None:
        return pieces
    for sources in _candidates(rows, name):
        if len(sources) > 1:
            listed = ", ".join(map(quoted, sorted(sources)[:SHOWN]))
            more = " and more" if len(sources) > SHOWN else ""
            raise ConflictError(
                f"{len(sources)} pages are named {quoted(name)}: {listed}{more}",
                hint="give one of these paths",
            )
        if sources:
            return pieces_of(rows, sources[0])
    return None


def pieces_of(rows: Reader, source: str) -> Pieces | None:
    """Return the live pieces of a source, or None if it has none."""
    ordinals = members(rows, (Group.SOURCE, source)) & members(rows, LIVE)
    records = records_of(rows, ids_at(rows, list(ordinals)))
    records.sort(key=lambda record: (record.sequence or 0, record.id))
    return Pieces(source, tuple(records)) if records else None


def _candidates(rows: Reader, name: str) -> Iterator[list[str]]:
    """Yield lists of sources of pages with this name. Lists with closer matches come first."""
    path = name.strip("/")
    base = page_name(path) if is_page(f"/{path}") else path.rpartition("/")[2]
    titles = _titles(rows, base)
    ending = f"/{name_identity(path[: len(path) - len(path.rpartition('/')[2])] + base)}"
    by_path = [one for one in titles if f"/{name_identity(_bare(one))}".endswith(ending)]
    yield [one for one in by_path if f"/{_bare(one)}".endswith(f"/{path}") or one.endswith(f"/{path}")]
    yield by_path
    if base != name:
        titles = _titles(rows, name)
    yield [one for one, title in titles.items() if name_identity(title) == name_identity(name)]
    yield list(titles)


def _bare(source: str) -> str:
    """Return a source without its suffix."""
    return source[: source.rfind(".")]


def _titles(rows: Reader, name: str) -> dict[str, str]:
    """Return the sources of the live pages with this name, each with the title of the page."""
    live = members(rows, LIVE)
    ordinals = [one for one in named(rows, name) if one in live]
    first: dict[str, AtomRecord] = {}
    for record in records_of(rows, ids_at(rows, ordinals)):
        if record.source is not None and is_page(record.source):
            first.setdefault(record.source, record)
    bodies = bodies_of(rows, list(first.values()))
    return {source: page_title(body) or "" for source, body in zip(first, bodies, strict=True)}


def page_at(rows: Reader, found: Pieces) -> Page:
    """Return a page with its text, its links and its backlinks."""
    bodies = bodies_of(rows, found.records)
    tags = {tag.casefold(): tag for record in reversed(found.records) for tag in reversed(record.tags)}
    return Page(
        title=page_title(bodies[0]) or page_name(found.source),
        source=found.source,
        aliases=tuple(dict.fromkeys(alias for body in bodies for alias in body.aliases or ())),
        tags=tuple(reversed(tags.values())),
        created=found.records[0].created,
        ids=tuple(show_id(record.id) for record in found.records),
        text="\n\n".join(body.content for body in bodies),
        links=_sorted(_links(rows, found, Direction.OUT)),
        backlinks=_sorted(_links(rows, found, Direction.IN)),
    )


def edges_of_pieces(
    rows: Reader, found: Pieces, direction: Direction, codes: Sequence[bytes] = ()
) -> Iterator[tuple[AtomRecord, EdgeRecord, AtomRecord]]:
    """Yield (piece, edge, other atom) for each live edge between the page and a live atom outside it.

    `codes` are the types of the edges; empty for all types.
    """
    atoms = {record.id for record in found.records}
    for record in found.records:
        for edge in edges_at(rows, record.id, direction, codes):
            other_id = far_end(edge, record.id)
            other = None if other_id in atoms else read_atom(rows, other_id)
            if other is not None and other.state is State.LIVE:
                yield record, edge, other


def _links(rows: Reader, found: Pieces, direction: Direction) -> Iterator[PageLink]:
    """Yield one link for each pair of a link type and a page or atom at the other end."""
    seen: set[tuple[bytes, str | bytes]] = set()
    for _, edge, other in edges_of_pieces(rows, found, direction):
        other_end = other.source if other.source is not None and is_page(other.source) else other.id
        if (edge.type, other_end) not in seen and len(seen) < LINKS_MAX:
            seen.add((edge.type, other_end))
            yield PageLink(type_name(rows, edge.type), show_id(other.id), title_of(rows, other), other.source)


def _sorted(links: Iterable[PageLink]) -> tuple[PageLink, ...]:
    """Return links, sorted by type and title. Edges are sorted by ids, and ids differ between stores."""
    return tuple(sorted(links, key=lambda link: (link.type, link.title, link.source or "", link.id)))


def page_named(rows: Reader, name: str) -> Page:
    """Return the page with this path, title or alias (`pieces_named`).

    Raises:
        InvalidInputError: the name has more than one line.
        NotFoundError: there is no such page.
        ConflictError: several pages have this name; the message lists their sources.
    """
    pieces = pieces_named(rows, name)
    if pieces is None:
        raise NotFoundError(
            f"no page has the path, title or alias {quoted(name)}",
            hint="search for its words with `engine recall`",
        )
    return page_at(rows, pieces)
