"""The ids and names of atoms in lists, and pages. Ids are short unless --full or --json is given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from engine.base.errors import InvalidInputError, NotFoundError, translated
from engine.base.times import Moment, shown_time
from engine.cli.cli_session import Session
from engine.cli.shown_parts import Shown, line

if TYPE_CHECKING:
    from engine.engine import Engine
    from engine.query.atom_labels import Label
    from engine.query.file_pages import Page, PageLink


ID_CHARS = 36


class Labels:
    """The labels of the atoms in a list."""

    def __init__(self, found: Mapping[str, Label], *, full: bool) -> None:
        self._found = found
        self._full = full

    def id(self, atom: str) -> str:
        """Return the short id of an atom. With `full`, or if there is no such atom, return the given text."""
        return atom if self._full or atom not in self._found else self._found[atom].id

    def name(self, atom: str) -> str:
        """Return the name of an atom; it is empty if the atom is erased or was never recorded."""
        return self._found[atom].name if atom in self._found else ""

    def hidden(self, atom: str) -> str:
        """Return the state of an atom in lower case, or an empty text if the atom is live."""
        state = self._found[atom].state.name.lower() if atom in self._found else ""
        return "" if state == "live" else state

    def subject(self, text: str) -> str:
        """Return the subject of an event: an atom, or an edge as its two ends with its type between them."""
        src, *kind = text.split(" ")
        if not kind:
            return self.id(text)
        dst = kind.pop()
        return " ".join([self.id(src), *kind, self.id(dst), self.name(dst)]).rstrip()


def ids_in(subjects: Iterable[str]) -> Iterator[str]:
    """Yield the ids of the atoms in the subjects of events (`Labels.subject`)."""
    for subject in subjects:
        yield from (word for word in subject.split(" ") if len(word) == ID_CHARS and word.count("-") == 4)


def labels(session: Session, memory: Engine, atoms: Iterable[str]) -> Labels:
    """Return the labels of the atoms with these whole ids. With --json, read nothing."""
    if session.out.json:
        return Labels({}, full=True)
    from engine.query.atom_labels import labels_of

    with translated(), memory.store.view() as rows:
        return Labels(labels_of(rows, atoms), full=session.full)


_DIGITS = re.compile("(?=.*[0-9])[0-9A-Fa-f-]+")
"""A text of these characters, with a digit, is meant as an id if no page has this name."""


def page_of(memory: Engine, given: str, as_of: Moment | None = None) -> Page | None:
    """Return the page with this path, title or alias; None if `given` is the id of an atom.

    Raises:
        NotFoundError: there is neither such an atom nor such a page.
        ConflictError: several pages have this name, or several ids begin with these digits.
    """
    try:
        memory.resolve(given)
    except (InvalidInputError, NotFoundError) as error:
        try:
            return memory.page(given, as_of=as_of)
        except NotFoundError:
            if _DIGITS.fullmatch(given):
                raise error from None
            raise
    return None


def page_lines(page: Page, named: Labels) -> Iterator[Shown]:
    """Yield the lines that show a page."""
    yield line("title", page.title)
    yield line("page", page.source)
    for alias in page.aliases:
        yield line("alias", alias)
    if page.tags:
        yield line("tags", " ".join(f"#{tag}" for tag in page.tags))
    yield line("created", shown_time(page.created))
    yield line("pieces", " ".join(map(named.id, page.ids)))
    for link in page.links:
        yield line("link", _link(link, named))
    for link in page.backlinks:
        yield line("backlink", _link(link, named))
    yield ""
    yield page.text


def _link(link: PageLink, named: Labels) -> str:
    where = link.source or named.id(link.id)
    return f"{link.title} ({where})" if link.type == "references" else f"{link.type} {link.title} ({where})"


def names_of_devices(memory: Engine, devices: Iterable[str | None]) -> dict[str, str]:
    """Return the names of devices by their ids, if there is a device among `devices` at all."""
    if not any(devices):
        return {}
    from engine.sync.devices import device_names

    return device_names(memory.store.identity)
