"""A month of a person's edits, drawn from a seed, and the laws that hold after each ingest.

The person edits, moves, splits and joins paragraphs, moves them from file to file, and renames, deletes and
restores files. Between the ingests, the person revises, tags, links, hides and merges atoms, settles
conflicts, and dreams.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from random import Random
from typing import Final, TypeVar

from engine import Engine, IngestReport
from engine.base.model import Atom, Direction
from engine.base.validation import atom_id
from engine.commands.conflicts import CONFLICTS_WITH
from engine.commands.words import dice
from engine.files.ingest.documents import Document, SourceFile
from engine.files.ingest.file_reading import read_file
from engine.files.ingest.folder_walk import find_files
from engine.files.mirror.following_mirror import update
from engine.ledger.journal import entries_back
from engine.ledger.layout import ATOM, PAYLOAD
from engine.ledger.queries import atom_of, get_record
from proofs.events import AtomBody, EventKind
from proofs.leaves import State, tag_identity

INGEST: Final = "ingest"
SYLLABLES: Final = ("ba", "de", "ki", "lo", "mu", "na", "po", "ri", "sa", "te", "vu", "zo")
SHORT: Final = ("Buy milk.", "To do", "See above.", "Call Anna Berg.")
LINK: Final = "related_to"
T = TypeVar("T")


class Impossible(Exception):
    """There is nothing with which to do this."""


@dataclass(eq=False)
class Paragraph:
    """A paragraph of a note, below a heading."""

    text: str
    heading: str
    changed: int = 0
    """The number of words that changed since the last ingest."""
    atom: str | None = None
    """The atom that must have the text as long as the match is clear; None if it is not known."""
    was: str | None = None
    """The content when the atom was looked up."""
    has_copies: bool = False
    """True if the text or a part of it was copied, split or joined: then the match is not clear."""

    def copied(self) -> Paragraph:
        """Return a copy."""
        self.has_copies = True
        return Paragraph(self.text, self.heading, has_copies=True)

    @property
    def content(self) -> str:
        """The text as it is in the file."""
        return f"# {self.heading}\n\n{self.text}"


class Note(list[Paragraph]):
    """The paragraphs of a file, and what its front matter states."""

    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def content(self) -> str:
        """The text of the file."""
        stated = f"---\naliases: [{', '.join(self.aliases)}]\ntags: [{', '.join(self.tags)}]\n---\n"
        text = "\n\n".join(one.content for one in self)
        return stated + text if self.aliases or self.tags else text


@dataclass
class Before:
    """What the memory held before an ingest."""

    atoms: dict[str, Atom]
    authors: dict[str, str]
    hidden: dict[str, str]
    """Atoms that are hidden by hand → the text that an ingest wrote last."""
    tags: dict[str, set[str]]
    """Live atom → the tags that a person added."""
    links: set[tuple[str, str]]
    conflicts: set[tuple[str, str]]


@dataclass
class Figures:
    """What happened in a month."""

    ingests: int = 0
    pinned: int = 0
    """The number of times that a paragraph was checked to have the atom that it had before."""
    actions: Counter[str] = field(default_factory=Counter)
    reports: Counter[str] = field(default_factory=Counter)


class Month:
    """A folder of notes, the engine, and a person who edits both."""

    def __init__(self, folder: Path, engine: Engine, seed: int) -> None:
        self.folder = folder
        self.engine = engine
        self.random = Random(seed)
        self.files: dict[str, Note] = {}
        self.deleted: list[tuple[str, Note]] = []
        self.links: set[tuple[str, str]] = set()
        self.tags: dict[str, set[str]] = {}
        self.untagged: set[str] = set()
        self.figures = Figures()
        self.numbers = iter(range(1 << 30))
        folder.mkdir()
        for _ in range(self.random.randint(2, 5)):
            self.new_file()

    # The person's day

    def live(self, days: int) -> None:
        """Live through a number of days: edits, changes by hand, and an ingest or several on each day."""
        self.ingest()
        for _ in range(days):
            for _ in range(self.random.choice((1, 1, 2, 3))):
                for _ in range(self.random.randint(0, 5)):
                    self.act(EDITS)
                for _ in range(self.random.randint(0, 3)):
                    self.act(CHANGES)
                self.ingest()

    def act(self, actions: tuple[str, ...]) -> None:
        """Do one of the named actions, if there is something to do it with."""
        name = self.random.choice(actions)
        with suppress(Impossible):
            getattr(self, name)()
            self.figures.actions[name] += 1

    def one_of(self, things: Sequence[T]) -> T:
        """Return one of these.

        Raises:
            Impossible: there are none.
        """
        if not things:
            raise Impossible
        return self.random.choice(things)

    def ingest(self) -> None:
        """Ingest the folder, and check every law."""
        self.write()
        before = self.before()
        prune = self.random.random() < 0.3
        report = self.engine.ingest([self.folder], prune=prune, sure=True)
        self.figures.ingests += 1
        for name in ("added", "revised", "tombstoned", "revived", "conflicts"):
            self.figures.reports[name] += getattr(report, name)
        self.check(before, report)
        size = self.engine.root().size
        again = self.engine.ingest([self.folder], prune=prune, sure=True)
        assert (self.engine.root().size, again.changed) == (size, False), "a repeated ingest wrote events"
        mirror = self.folder.with_name("mirror")
        update(self.engine.store, mirror, actor="user")
        assert self.engine.check_mirror(mirror).ok, "the mirror is not that of the store"

    # Edits of files

    def word(self) -> str:
        """Return a word."""
        return "".join(self.random.choices(SYLLABLES, k=self.random.randint(3, 5)))

    def paragraph(self) -> Paragraph:
        """Return a new paragraph: usually of many words that no other paragraph has."""
        text = " ".join(self.word() for _ in range(self.random.randint(14, 24)))
        if self.random.random() < 0.1:
            text = self.random.choice(SHORT)
        return Paragraph(text, self.random.choice(("Notes", "Log", self.word())))

    def any_file(self) -> str:
        """Return the name of a file."""
        return self.one_of(sorted(self.files))

    def any_paragraph(self) -> tuple[list[Paragraph], int]:
        """Return the paragraphs of a file, and the position of one of them."""
        paragraphs = self.files[self.any_file()]
        return paragraphs, self.one_of(range(len(paragraphs)))

    def new_name(self) -> str:
        """Return a file name that was never used."""
        folder = self.random.choice(("", "", "trees/", "trees/old/", "people/"))
        return f"{folder}{self.random.choice('abcxyz')}{next(self.numbers)}.md"

    def new_file(self) -> None:
        """Write a note."""
        self.files[self.new_name()] = Note(self.paragraph() for _ in range(self.random.randint(1, 6)))

    def state(self) -> None:
        """Add an alias to the front matter of a file, or replace its tag."""
        note = self.files[self.any_file()]
        if self.random.random() < 0.5:
            note.aliases = (*note.aliases, self.word())[:4]
        else:
            note.tags = (self.word(),)

    def edit_word(self) -> None:
        """Replace one word of a paragraph."""
        paragraphs, at = self.any_paragraph()
        paragraph = paragraphs[at]
        words = paragraph.text.split()
        words[self.random.randrange(len(words))] = self.word()
        paragraph.text = " ".join(words)
        paragraph.changed += 1
        if len(words) < 14 or paragraph.changed > 2:
            paragraph.atom = None

    def insert(self) -> None:
        """Write a new paragraph."""
        name = self.any_file()
        self.files[name].insert(self.random.randint(0, len(self.files[name])), self.paragraph())

    def remove(self) -> None:
        """Delete a paragraph."""
        paragraphs, at = self.any_paragraph()
        del paragraphs[at]

    def rewrite(self) -> None:
        """Write a paragraph anew."""
        paragraphs, at = self.any_paragraph()
        paragraphs[at] = self.paragraph()

    def split(self) -> None:
        """Split a paragraph in two."""
        paragraphs, at = self.any_paragraph()
        old, words = paragraphs[at], paragraphs[at].text.split()
        middle = self.random.randint(0, len(words))
        texts = [" ".join(part) for part in (words[:middle], words[middle:]) if part]
        paragraphs[at : at + 1] = [Paragraph(text, old.heading, has_copies=True) for text in texts]

    def join(self) -> None:
        """Join a paragraph with the next one."""
        paragraphs, at = self.any_paragraph()
        if at + 1 == len(paragraphs):
            raise Impossible
        one, other = paragraphs[at : at + 2]
        paragraphs[at : at + 2] = [Paragraph(f"{one.text} {other.text}", one.heading, has_copies=True)]

    def move(self) -> None:
        """Move a paragraph within its file."""
        paragraphs, at = self.any_paragraph()
        one = paragraphs.pop(at)
        paragraphs.insert(self.random.randint(0, len(paragraphs)), one)

    def move_to_file(self) -> None:
        """Move a paragraph to another file."""
        (paragraphs, at), name = self.any_paragraph(), self.any_file()
        if self.files[name] is paragraphs:
            raise Impossible
        one = paragraphs.pop(at)
        self.files[name].insert(self.random.randint(0, len(self.files[name])), one)

    def cut_and_paste_later(self) -> None:
        """Cut a paragraph, ingest, and paste it into any file."""
        paragraphs, at = self.any_paragraph()
        one = paragraphs.pop(at)
        self.ingest()
        self.files[self.any_file()].append(one)

    def copy(self) -> None:
        """Copy a paragraph."""
        (paragraphs, at), name = self.any_paragraph(), self.any_file()
        one = paragraphs[at]
        at = self.random.randint(0, len(self.files[name]))
        self.files[name].insert(at, one.copied())

    def rename(self) -> None:
        """Rename a file or move it to another folder."""
        name = self.any_file()
        self.files[self.new_name()] = self.files.pop(name)

    def rename_and_edit(self) -> None:
        """Rename a file and edit it at once."""
        self.rename()
        self.edit_word()

    def copy_file(self) -> None:
        """Copy a file."""
        note = self.files[self.any_file()]
        self.files[self.new_name()] = copy = Note(one.copied() for one in note)
        copy.aliases, copy.tags = note.aliases, note.tags

    def delete_file(self) -> None:
        """Delete a file."""
        name = self.any_file()
        self.deleted.append((name, self.files.pop(name)))

    def restore_file(self) -> None:
        """Restore a deleted file, under its old name or a new one."""
        name, paragraphs = self.deleted.pop(self.one_of(range(len(self.deleted))))
        name = self.random.choice((name, name, self.new_name()))
        if name in self.files:
            raise Impossible
        self.files[name] = paragraphs

    def write(self) -> None:
        """Make the files as they are in the model."""
        for path in sorted(self.folder.rglob("*.md")):
            path.unlink()
        for name, note in self.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(note.content)

    # Changes by hand

    def any_atom(self, state: State = State.LIVE) -> str:
        """Return the id of an atom in this state."""
        return self.one_of(sorted(id_ for id_, atom in self.atoms().items() if atom.state is state))

    def atoms(self) -> dict[str, Atom]:
        """Return all notes in any state: id → atom."""
        store = self.engine.store
        with store.view() as rows:
            ids = [key[len(ATOM) :] for key, _ in rows.scan_prefix(ATOM)]
            found = [atom_of(rows, get_record(rows, id_)) for id_ in ids]
        return {atom.id: atom for atom in found if atom.kind == "note"}

    def revise(self) -> None:
        """Revise an atom by hand."""
        atom = self.any_atom()
        self.engine.revise(atom, content=f"By hand: {' '.join(self.word() for _ in range(8))}")

    def tag(self) -> None:
        """Tag an atom."""
        atom = self.any_atom()
        name = self.word()
        self.engine.tag(atom, name)
        self.tags.setdefault(atom, set()).add(tag_identity(name))

    def untag(self) -> None:
        """Remove a tag."""
        atoms = self.atoms()
        tagged = sorted(id_ for id_, names in self.tags.items() if names and atoms[id_].state is State.LIVE)
        atom = self.one_of(tagged)
        name = self.random.choice(sorted(self.tags[atom]))
        self.engine.untag(atom, name)
        self.tags[atom].discard(name)
        self.untagged.add(name)

    def link(self) -> None:
        """Link two atoms."""
        src, dst = self.any_atom(), self.any_atom()
        if src == dst:
            raise Impossible
        self.engine.link(src, LINK, dst)
        self.links.add((src, dst))

    def unlink(self) -> None:
        """Remove a link."""
        src, dst = self.one_of(sorted(self.links))
        self.engine.unlink(src, LINK, dst)
        self.links.discard((src, dst))

    def hide(self) -> None:
        """Tombstone an atom."""
        atom = self.any_atom()
        self.engine.tombstone(atom, "by hand")

    def revive(self) -> None:
        """Revive an atom that is hidden."""
        self.engine.revive(self.any_atom(State.TOMBSTONED))

    def add(self) -> None:
        """Write an atom by hand, sometimes as a part of a file."""
        source = None if self.random.random() < 0.5 else f"{self.folder.name}/{self.any_file()}"
        self.engine.add(f"By hand: {' '.join(self.word() for _ in range(8))}", source=source)

    def merge(self) -> None:
        """Merge two atoms."""
        keep, other = self.any_atom(), self.any_atom()
        if keep == other:
            raise Impossible
        self.engine.merge(keep, other, force=True)
        self.tags.setdefault(keep, set()).update(self.tags.get(other, ()))

    def settle(self) -> None:
        """Settle a conflict."""
        one = self.one_of(self.engine.conflicts())
        sides = ("file", "hand", "both") if one.file.state is State.LIVE else ("hand", "both")
        keep = self.random.choice(sides)
        self.engine.settle(one.file.id, one.hand.id, keep)

    def dream(self) -> None:
        """Let the dreamer work."""
        self.engine.dream()

    # Laws

    def before(self) -> Before:
        """Return what the memory holds."""
        atoms = self.atoms()
        live = [id_ for id_, atom in atoms.items() if atom.state is State.LIVE]
        hidden = [id_ for id_, atom in atoms.items() if atom.state is State.TOMBSTONED]
        return Before(
            atoms=atoms,
            authors={id_: self.author(id_) for id_ in atoms},
            hidden={
                id_: self.given(id_)[-1]
                for id_ in hidden
                if self.hidden_by(id_) != INGEST and self.given(id_)
            },
            tags={id_: set(self.tags.get(id_, ())) for id_ in live},
            links=set(self.links),
            conflicts={(one.file.id, one.hand.id) for one in self.engine.conflicts()},
        )

    def events(self, atom: str) -> Iterator[tuple[EventKind, str, str | None]]:
        """Yield kind, actor and content of each event of an atom, newest first."""
        with self.engine.store.view() as rows:
            for header, body, _ in entries_back(rows, get_record(rows, atom_id(atom)).last_seq):
                yield header.kind, header.actor, body.content if isinstance(body, AtomBody) else None

    def author(self, atom: str) -> str:
        """Return who wrote the content of an atom."""
        written = [(actor, content) for _, actor, content in self.events(atom) if content is not None]
        same = takewhile(lambda one: one[1] == written[0][1], written)
        return [actor for actor, _ in same][-1]

    def given(self, atom: str) -> list[str]:
        """Return the contents that an ingest wrote for an atom, oldest first."""
        written = [content for _, actor, content in self.events(atom) if actor == INGEST]
        return [content for content in reversed(written) if content is not None]

    def hidden_by(self, atom: str) -> str:
        """Return who hid an atom."""
        return next(actor for kind, actor, _ in self.events(atom) if kind is EventKind.ATOM_TOMBSTONED)

    def pieces(self) -> dict[str, list[str]]:
        """Return the texts of each file: source → contents."""
        found: dict[str, list[str]] = {}
        for file in find_files([self.folder]):
            assert isinstance(file, SourceFile)
            for item in read_file(file):
                if isinstance(item, Document):
                    found[item.source] = [piece.content for piece in item.pieces]
        return found

    def check(self, before: Before, report: IngestReport) -> None:
        """Check every law after an ingest."""
        atoms, pieces = self.atoms(), self.pieces()
        self.check_live_texts(atoms, pieces)
        self.check_people(before, atoms)
        self.check_hidden(before, atoms, pieces)
        self.check_conflicts(before, atoms, report)
        self.check_joined(before, atoms)
        self.check_front(atoms)
        self.check_ids(before, atoms, pieces)
        self.check_paragraphs(before, atoms)

    def check_live_texts(self, atoms: dict[str, Atom], pieces: dict[str, list[str]]) -> None:
        """The live texts of ingest are those of the files, and a text is missing only if a person acted."""
        live: dict[str, Counter[str]] = {}
        explained: Counter[str] = Counter()
        for id_, atom in atoms.items():
            own = self.author(id_) == INGEST
            if atom.state is State.LIVE and own and atom.source is not None:
                live.setdefault(atom.source, Counter())[atom.content or ""] += 1
            elif atom.state is State.LIVE or self.hidden_by(id_) != INGEST:
                explained.update(set(self.given(id_)) | {atom.content or ""})
        missing: Counter[str] = Counter()
        for source, texts in pieces.items():
            wanted, there = Counter(texts), live.get(source, Counter())
            assert not there - wanted, f"{source} has texts that its file lost: {there - wanted}"
            missing += wanted - there
        assert not missing - explained, f"texts of files are not live: {missing - explained}"

    def check_people(self, before: Before, atoms: dict[str, Atom]) -> None:
        """What people wrote, tagged and linked stays."""
        for id_, old in before.atoms.items():
            if old.state is State.LIVE and before.authors[id_] != INGEST:
                now = atoms[id_]
                assert (now.state, now.content) == (State.LIVE, old.content), f"{id_} was written by hand"
            if atoms[id_].state is State.LIVE and old.state is State.LIVE:
                lost = before.tags[id_] - set(map(tag_identity, atoms[id_].tags))
                assert not lost, f"{id_} lost the tags {lost}"
        for src, dst in before.links:
            assert self.engine.get_edge(src, LINK, dst).state is State.LIVE, f"lost link {src} → {dst}"

    def check_hidden(self, before: Before, atoms: dict[str, Atom], pieces: dict[str, list[str]]) -> None:
        """What people hid stays hidden, and does not come back as another atom without a conflict."""
        texts = Counter(text for one in pieces.values() for text in one)
        open_ = {id_: text for id_, text in before.hidden.items() if not self.was_in_conflict(id_)}
        hidden = Counter(open_.values())
        was = Counter(atom.content for atom in before.atoms.values() if atom.state is State.LIVE)
        now = Counter(atom.content for atom in atoms.values() if atom.state is State.LIVE)
        for id_, text in before.hidden.items():
            assert atoms[id_].state is State.TOMBSTONED, f"{id_} was hidden by hand"
            if id_ in open_:
                most = max(was[text], texts[text] - hidden[text])
                assert now[text] <= most, f"the hidden text of {id_} came back: {text!r}"
                self.check_similar(before, atoms, id_, text, texts)

    def check_similar(
        self, before: Before, atoms: dict[str, Atom], hidden: str, text: str, texts: Counter[str]
    ) -> None:
        """A text like a hidden one, which is in no file now, is not added without a conflict."""
        words = Counter(text.split())
        if texts[text] or words.total() < 5:
            return
        sides = {one.file.id for one in self.engine.conflicts()}
        for id_, atom in atoms.items():
            if id_ not in before.atoms and atom.state is State.LIVE and id_ not in sides:
                score = dice(words, Counter((atom.content or "").split()))
                assert score < 0.75, f"{id_} is the hidden text of {hidden} with a few changes"

    def was_in_conflict(self, atom: str) -> bool:
        """Return True if an atom is or was the side of a person in a conflict."""
        edges = self.engine.edges(atom, direction=Direction.IN, tombstoned=True)
        return any(edge.type == CONFLICTS_WITH for edge in edges)

    def check_conflicts(self, before: Before, atoms: dict[str, Atom], report: IngestReport) -> None:
        """An ingest settles no conflict, reports each new one, and leaves both sides in one file."""
        now = {(one.file.id, one.hand.id) for one in self.engine.conflicts()}
        assert before.conflicts <= now, "an ingest settled a conflict"
        assert len(now - before.conflicts) == report.conflicts, "the report counts other conflicts"
        for file, hand in before.conflicts:
            if before.atoms[file].source == before.atoms[hand].source and atoms[hand].state is State.LIVE:
                assert atoms[file].source == atoms[hand].source, f"the file of {hand} was renamed without it"

    def check_joined(self, before: Before, atoms: dict[str, Atom]) -> None:
        """If a text with tags of a person is a part of another text now, this text has the tags."""
        new = [
            (id_, words_in(atom.content))
            for id_, atom in atoms.items()
            if atom.state is State.LIVE
            and (id_ not in before.atoms or before.atoms[id_].content != atom.content)
        ]
        for id_, tags in before.tags.items():
            if tags and atoms[id_].state is State.TOMBSTONED and self.hidden_by(id_) == INGEST:
                text = words_in((before.atoms[id_].content or "").partition("\n")[2])
                having = [other for other, words in new if " " in text and f" {text} " in f" {words} "]
                assert not having or any(
                    tags <= set(map(tag_identity, atoms[other].tags)) for other in having
                ), f"the tags {tags} of {id_} were lost in {having}"
                for other in having:
                    self.tags.setdefault(other, set()).update(
                        tags & set(map(tag_identity, atoms[other].tags))
                    )

    def check_front(self, atoms: dict[str, Atom]) -> None:
        """What the front matter of a file states is recorded, also if a person revised a text of the file."""
        for name, note in self.files.items():
            source = f"{self.folder.name}/{name}"
            own = {id_: atom for id_, atom in atoms.items() if atom.source == source}
            hidden = [id_ for id_, atom in own.items() if atom.state is not State.LIVE]
            if not note or any(self.hidden_by(id_) != INGEST for id_ in hidden):
                continue
            live = [atom for id_, atom in own.items() if id_ not in hidden]
            aliases = {alias for atom in live for alias in atom.aliases}
            assert aliases >= set(note.aliases), f"{source} lost an alias: {set(note.aliases) - aliases}"
            wanted = set(note.tags) - self.untagged
            for atom in live:
                if atom.sequence is not None and wanted:
                    tags = set(map(tag_identity, atom.tags))
                    assert tags >= wanted or self.author(atom.id) != INGEST, f"{atom.id} lacks {wanted}"

    def check_ids(self, before: Before, atoms: dict[str, Atom], pieces: dict[str, list[str]]) -> None:
        """As many atoms of a text stay live as there are copies of the text in the files."""
        texts = Counter(text for one in pieces.values() for text in one)
        touched = {
            text
            for id_, atom in before.atoms.items()
            if before.authors[id_] != INGEST or id_ in before.hidden
            for text in {*self.given(id_), atom.content}
        }
        own = {
            id_: atom.content
            for id_, atom in before.atoms.items()
            if atom.state is State.LIVE and before.authors[id_] == INGEST and atom.source is not None
        }
        was, kept = Counter(own.values()), Counter[str | None]()
        for id_, text in own.items():
            kept[text] += atoms[id_].state is State.LIVE
        for text, number in was.items():
            if text is not None and text not in touched:
                least = min(number, texts[text])
                assert kept[text] >= least, f"{kept[text]} of {least} atoms with the text {text!r} are live"

    def check_paragraphs(self, before: Before, atoms: dict[str, Atom]) -> None:
        """Each paragraph whose match is clear has the atom that it had. Take note of the atoms of all."""
        number = Counter(one.content for paragraphs in self.files.values() for one in paragraphs)
        owners: dict[tuple[str | None, str | None], list[str]] = {}
        for id_, atom in atoms.items():
            if atom.state is State.LIVE and self.author(id_) == INGEST:
                owners.setdefault((atom.source, atom.content), []).append(id_)
        for name, paragraphs in self.files.items():
            for one in paragraphs:
                found = owners.get((f"{self.folder.name}/{name}", one.content), [])
                clear = len(found) == number[one.content] == 1 and not one.has_copies
                was = None if one.atom is None else before.atoms[one.atom]
                # The match is not clear if a text was changed after its atom was pruned, or if its atom
                # continued another text while the text was in no file.
                if was and ((one.changed and was.state is not State.LIVE) or was.content != one.was):
                    one.atom = None
                if one.atom is not None and clear and self.is_untouched(one.atom):
                    assert found == [one.atom], f"{one.content!r} has the atom {found}, not {one.atom}"
                    self.figures.pinned += 1
                one.atom = found[0] if clear and self.is_untouched(found[0]) else None
                one.changed, one.was = 0, one.content

    def is_untouched(self, atom: str) -> bool:
        """Return True if only ingest wrote, hid and revived the atom."""
        changing = {
            EventKind.ATOM_ADDED,
            EventKind.ATOM_REVISED,
            EventKind.ATOM_TOMBSTONED,
            EventKind.ATOM_REVIVED,
        }
        return all(actor == INGEST for kind, actor, _ in self.events(atom) if kind in changing)

    def check_store(self) -> None:
        """The memory verifies, and is the same after a rebuild."""
        root, held = self.engine.root(), self.before()
        assert self.engine.verify(expect=root.root).ok
        assert self.engine.rebuild().root == root.root
        assert self.before() == held
        self.forget_a_word()

    def forget_a_word(self) -> None:
        """Erase every atom that ever had a word; afterwards no payload and no page of the mirror has it."""
        words = sorted({word for note in self.files.values() for one in note for word in one.text.split()})
        word = self.one_of(words)
        found = self.engine.find(mentions=[word], hidden=True, limit=10_000)
        receipt = self.engine.erase([one.id for one in found], "asked for", probe=False)
        assert len(receipt.ids) == len(found)
        with self.engine.store.view() as rows:
            texts = [payload.decode(errors="replace").casefold() for _, payload in rows.scan_prefix(PAYLOAD)]
        assert not any(word.casefold() in re.findall(r"\w+", text) for text in texts)
        mirror = self.folder.with_name("mirror")
        update(self.engine.store, mirror, actor="user")
        assert self.engine.check_mirror(mirror).ok
        assert self.engine.verify().ok


def words_in(text: str | None) -> str:
    """Return the words of a text, joined by single spaces."""
    return " ".join((text or "").split())


EDITS: Final = (
    *("edit_word",) * 5, *("insert",) * 3, *("move",) * 2, *("move_to_file",) * 4, *("rename",) * 2,
    "remove", "rewrite", "split", "join", "cut_and_paste_later", "copy", "rename_and_edit", "copy_file",
    "delete_file", "restore_file", "new_file", *("state",) * 2,
)  # fmt: skip
CHANGES: Final = (
    *("tag",) * 4, *("link",) * 2, *("revise",) * 3, *("hide",) * 2, *("settle",) * 2,
    "untag", "unlink", "revive", "add", "merge", "dream",
)  # fmt: skip
