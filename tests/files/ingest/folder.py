"""A folder of notes to change and ingest repeatedly, with an engine with fixed time and salts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from backends.memory import MemoryBackend
from engine import Engine, IngestReport
from engine.base.model import Atom
from engine.followers.tags import members
from engine.ledger.queries import atom_of, record_at
from proofs.leaves import Group


def salt(seq: int) -> bytes:
    """Return the same 32 bytes for the same seq in all processes."""
    return sha256(str(seq).encode()).digest()


def fixed_clock() -> int:
    """Return a constant time."""
    return 1_700_000_000_000_000


class Folder:
    """Notes on disk and the store that they are ingested into."""

    def __init__(self, path: Path, engine: Engine) -> None:
        self.path = path
        self.engine = engine

    def write(self, name: str, text: str) -> None:
        """Create or replace a file."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def remove(self, name: str) -> None:
        """Delete a file."""
        (self.path / name).unlink()

    def ingest(self, *, prune: bool = False, dry_run: bool = False) -> IngestReport:
        """Ingest the folder in its current state."""
        return self.engine.ingest([self.path], prune=prune, dry_run=dry_run)

    def events(self) -> int:
        """Return the size of the journal."""
        return self.engine.root().size

    def atoms(self, name: str) -> list[Atom]:
        """Return the live atoms of a file in its order."""
        store = self.engine.store
        with store.view(store.tags) as rows:
            found = members(rows, (Group.SOURCE, f"{self.path.name}/{name}")) & members(
                rows, (Group.LIVE, "")
            )
            atoms = [atom_of(rows, record_at(rows, ordinal)) for ordinal in found]
        return sorted(atoms, key=lambda atom: atom.sequence or 0)

    def texts(self, name: str) -> list[str]:
        """Return the contents of the live atoms of a file in its order."""
        return [atom.content for atom in self.atoms(name)]


@contextmanager
def folder_of(path: Path) -> Iterator[Folder]:
    """Return an empty folder `notes` under `path` with an empty store."""
    notes = path / "notes"
    notes.mkdir()
    with Engine(MemoryBackend(), clock=fixed_clock, salts=salt) as engine:
        yield Folder(notes, engine)


def note(*texts: str) -> str:
    """Return a note in which each text is a section."""
    return "".join(f"# Section\n\n{text}\n\n" for text in texts)


OAK = "The oak beside the gate was planted in the year of the flood."
ASH = "An ash grows faster than most people think, above all in wet ground."
ELM = "Elms died everywhere; the last one stands behind the church."
FIR = "Firs were brought here by the man who built the mill and the dam."


def id_of(notes: Folder, name: str, word: str) -> str:
    """Return the id of the only live atom of a file that contains `word`."""
    (atom,) = [atom for atom in notes.atoms(name) if word in atom.content]
    return atom.id


def planted(notes: Folder, **files: str) -> str:
    """Ingest `a.md` with an oak and an ash, and other files by name. Return the id of the oak."""
    for name, text in ({"a": note(OAK, ASH)} | files).items():
        notes.write(f"{name}.md", text)
    notes.ingest()
    return id_of(notes, "a.md", "oak")
