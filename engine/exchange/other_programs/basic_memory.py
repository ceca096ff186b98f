"""Export to basic-memory, a folder of Markdown notes. An ingest reads such a folder, like other notes."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from blake3 import blake3

from engine.exchange.other_programs.item_atoms import LiveAtoms, live_atoms
from engine.exchange.other_programs.program_items import ItemsExported
from engine.followers.tags import day_of
from engine.ledger.records import AtomRecord
from engine.store.store import Store

FORM: Final = "basic-memory"
"""The first component of the sources of notes from basic-memory."""

_UNSAFE: Final = re.compile(r'[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069#^\[\]|:\\*"<>?%]')
_DEVICE: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_NAME_BYTES: Final = 100


def write(store: Store, folder: Path) -> ItemsExported:
    """Write a note for each source; atoms without a source are written to one note for each day.

    The texts of a note are separated by blank lines. Edges to other notes are written as relations below the
    text.
    """
    omitted: Counter[str] = Counter()
    with live_atoms(store) as atoms:
        notes: dict[str, list[AtomRecord]] = defaultdict(list)
        for record in atoms.records():
            notes[_note_of(record)].append(record)
        names = _names(notes)
        paths = {record.id: names[note] for note, records in notes.items() for record in records}
        for note, records in notes.items():
            file = folder / f"{names[note]}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            records.sort(key=lambda one: (one.sequence is None, one.sequence or 0, one.created_seq))
            file.write_bytes(_note_text(atoms, names[note], records, paths, omitted).encode())
    return ItemsExported.of(len(notes), omitted)


def _note_of(record: AtomRecord) -> str:
    source = record.source
    return f"unsourced/{day_of(record.created)}" if source is None else source.removeprefix(f"{FORM}/")


def _names(notes: Iterable[str]) -> dict[str, str]:
    """Return a unique path without suffix for each note; no name of a note leads outside the folder."""
    safe = {note: "/".join(map(_part, _without_suffix(note).split("/"))) for note in notes}
    taken = Counter(name.casefold() for name in safe.values())
    folders = {str(parent).casefold() for name in safe.values() for parent in PurePosixPath(name).parents}
    return {
        note: name
        if taken[name.casefold()] == 1 and f"{name}.md".casefold() not in folders
        else f"{name}_{blake3(note.encode()).hexdigest(4)}"
        for note, name in safe.items()
    }


def _without_suffix(note: str) -> str:
    """Return the name of a note without the suffix `.md` or `.markdown`; the export adds the suffix `.md`."""
    return note.removesuffix(".markdown").removesuffix(".md")


def _part(part: str) -> str:
    text = _UNSAFE.sub("-", unicodedata.normalize("NFC", part)).strip(" .")
    text = text.encode()[:_NAME_BYTES].decode("utf-8", "ignore").rstrip(" .")
    return f"_{text}" if not text or _DEVICE.fullmatch(text) else text


def _note_text(
    atoms: LiveAtoms, name: str, records: list[AtomRecord], paths: dict[bytes, str], omitted: Counter[str]
) -> str:
    body = "\n\n".join(atoms.atom(record).content for record in records)
    present = set(body.split("\n"))
    relations = dict.fromkeys(_relations(atoms, name, records, paths, omitted))
    new = "\n".join(line for line in relations if line not in present)
    return f"{_front(name, records)}\n{body}\n" + (f"\n{new}\n" if new else "")


def _front(name: str, records: list[AtomRecord]) -> str:
    """Return the frontmatter of a note; strings are JSON, which is valid YAML."""
    tags = sorted({tag for record in records for tag in record.tags})
    listed = "".join(f"- {json.dumps(tag, ensure_ascii=False)}\n" for tag in tags)
    title = records[0].title or PurePosixPath(name).name
    return (
        f"---\ntitle: {json.dumps(title, ensure_ascii=False)}\ntype: note\n"
        + (f"tags:\n{listed}" if tags else "")
        + "---\n"
    )


def _relations(
    atoms: LiveAtoms, name: str, records: list[AtomRecord], paths: dict[bytes, str], omitted: Counter[str]
) -> Iterator[str]:
    for record in records:
        for edge in atoms.edges(record):
            target = paths.get(bytes.fromhex(edge.dst.replace("-", "")))
            if target is None or target == name:
                omitted["edges within a note" if target else "edges to atoms that are not live"] += 1
            else:
                yield f"- {edge.type} [[{target}]]"
