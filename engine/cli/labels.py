"""The ids and names of atoms in lists. Ids are short unless --full or --json is given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from engine.base.error_translation import translated
from engine.cli.session import Session

if TYPE_CHECKING:
    from engine.engine import Engine
    from engine.query.labels import Label


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
    from engine.query.labels import labels_of

    with translated(), memory.store.view() as rows:
        return Labels(labels_of(rows, atoms), full=session.full)
