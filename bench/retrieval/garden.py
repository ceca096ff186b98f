"""Generate questions from the links of a real knowledge garden.

Question: does the text around a link to a note find the note, with and without the note's name?
Data: the shared garden (7,772 Markdown files), split into atoms by memroot's own ingest. Seed: the seed for
    the choice of links and for memroot's salts.
How: a question consists of up to 12 content words within 120 characters of a link `[[X]]` in an atom. The
    category `named` keeps the words of the link; `context` removes them everywhere. The relevant atoms are
    the citing atom and all atoms of the note X, which has at most 6 atoms. By the second judgement, the
    citing atom is not relevant. Two questions never use the same atom or link to the same note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from bench.data import unpack_garden
from bench.retrieval.ours import open_store
from bench.retrieval.sets import Document, Memory, Question, QuestionSet
from engine.base.model import Atom
from engine.base.validation import atom_id, show_id
from engine.files.ingest.documents import Reference
from engine.files.ingest.ingest_links import Targets
from engine.text.analyzer import STOP_WORDS
from proofs.events import EventKind
from proofs.leaves import State

QUESTIONS: Final = 300
AROUND_CHARS: Final = 120
WORDS_MAX: Final = 12
WORDS_MIN: Final = 4
"""The minimum number of content words of a question; links with fewer words around them are skipped."""
NOTE_ATOMS_MAX: Final = 6
WORD_CHARS_MIN: Final = 3

_LINK: Final = re.compile(r"\[\[([^\[\]|#\n]{2,80})\]\]")
_WEB: Final = re.compile(r"https?://\S+")
_FIRST: Final = re.compile(r"\A\S+")
_LAST: Final = re.compile(r"\S+\Z")
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


class LinkContext(NamedTuple):
    """A link from an atom to a note, with the text around it."""

    atom: str
    before: str
    shown: str
    after: str
    source: str
    """The source of the note."""


def garden(work: Path, seed: int) -> QuestionSet | None:
    """Return the set, or None if the shared garden is not available; its store is kept in `work`."""
    files = unpack_garden(work / "garden-files")
    if files is None:
        return None
    with open_store(work / "store-garden", [files], seed) as engine:
        added = (item.subject for item in engine.log() if item.kind is EventKind.ATOM_ADDED)
        atoms = [atom for atom in map(engine.get, added) if atom.state is State.LIVE]
    documents = tuple(Document(atom.id, atom.title, atom.content) for atom in atoms)
    memory = Memory("garden", files, documents, tuple(questions(atoms, seed)))
    return QuestionSet("garden", "R@10", (memory,), second="the linked note alone as the answer")


def questions(atoms: Sequence[Atom], seed: int, count: int = QUESTIONS) -> Iterator[Question]:
    """Yield at most `count` questions about `atoms`, chosen by the seed, with alternating categories."""
    notes: dict[str, list[Atom]] = {}
    for atom in atoms:
        notes.setdefault(atom.source or "", []).append(atom)
    links = list(_links(atoms, notes))
    Random(f"{seed}/garden").shuffle(links)
    seen: set[str] = set()
    made = 0
    for link in links:
        category = ("context", "named")[made % 2]
        words = words_around(link, named=category == "named")
        if made == count:
            return
        if words and seen.isdisjoint((link.atom, link.source)):
            seen |= {link.atom, link.source}
            made += 1
            note = frozenset(atom.id for atom in notes[link.source])
            yield Question(" ".join(words), category, note | {link.atom}, note)


def _links(atoms: Sequence[Atom], notes: dict[str, list[Atom]]) -> Iterator[LinkContext]:
    """Yield the links to other notes that have few enough atoms, in the order of the citing atoms."""
    targets = Targets(notes, lambda source: [(atom_id(atom.id), atom.title) for atom in notes[source]])
    sources = {atom.id: atom.source for atom in atoms}
    for atom in atoms:
        for found in _LINK.finditer(atom.content):
            target = targets.resolve(Reference(found[1], None, "wiki"), atom.source or "")
            source = sources[show_id(target)] if target is not None else None
            if source is None or source == atom.source or len(notes[source]) > NOTE_ATOMS_MAX:
                continue
            start, end = found.span()
            before = atom.content[max(0, start - AROUND_CHARS) : start]
            after = atom.content[end : end + AROUND_CHARS]
            # At a cut, the first or last word may be incomplete.
            before = _FIRST.sub("", before) if start > AROUND_CHARS else before
            after = _LAST.sub("", after) if len(atom.content) > end + AROUND_CHARS else after
            yield LinkContext(atom.id, before, found[1], after, source)


def words_around(link: LinkContext, *, named: bool) -> list[str]:
    """Return the content words nearest to a link, in the order of the text, or [] if there are too few.

    Args:
        link: The link with the text around it.
        named: True to keep the words of the link itself, False to remove them everywhere.
    """
    name = _content_words(link.shown)
    left_out = {word.casefold() for word in name}
    before = [word for word in _content_words(link.before) if word.casefold() not in left_out]
    after = [word for word in _content_words(link.after) if word.casefold() not in left_out]
    if len(before) + len(after) < WORDS_MIN:
        return []
    room = WORDS_MAX - (min(len(name), WORDS_MAX) if named else 0)
    nearest = [side for pair in zip_longest(reversed(before), after) for side in enumerate(pair)]
    chosen = [side for side, word in nearest if word is not None][:room]
    lead = before[len(before) - chosen.count(0) :]
    return [*lead, *(name[:WORDS_MAX] if named else ()), *after[: chosen.count(1)]]


def _content_words(text: str) -> list[str]:
    """Return the words of a text without URLs, stop words, numbers and words of one or two letters."""
    words = _WORD.findall(_WEB.sub(" ", text))
    return [
        word
        for word in words
        if len(word) >= WORD_CHARS_MIN and not word.isdigit() and word.casefold() not in STOP_WORDS
    ]
