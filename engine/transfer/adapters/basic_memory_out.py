"""Writing what is live as a folder of basic-memory's Markdown: a note for every source."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from blake3 import blake3

from engine.followers.tags import day_of
from engine.ledger.records import AtomRecord
from engine.store.store import Store
from engine.transfer.adapters.base import Exported
from engine.transfer.adapters.basic_memory import FORM, FRONTMATTER, is_item
from engine.transfer.adapters.holding import ACTOR
from engine.transfer.adapters.live import Live, live

_UNSAFE: Final = re.compile(r'[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069#^\[\]|:\\*"<>?%]')
_DEVICE: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_NAME_BYTES: Final = 100


def write(store: Store, folder: Path) -> Exported:
    """A note for every source; atoms without one are in a note for each day.

    A note that came from basic-memory says what its file said, but for blank lines. Edges that no import
    made are relations below the text.
    """
    left: Counter[str] = Counter()
    with live(store) as atoms:
        notes: dict[str, list[AtomRecord]] = defaultdict(list)
        for record in atoms.records():
            notes[_note_of(record)].append(record)
        names = _names(notes)
        places = {record.id: names[note] for note, records in notes.items() for record in records}
        for note, records in notes.items():
            file = folder / f"{names[note]}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            records.sort(key=lambda one: (one.sequence is None, one.sequence or 0, one.created_seq))
            file.write_bytes(_text(atoms, names[note], records, places, left).encode())
    return Exported.of(len(notes), left)


def _note_of(record: AtomRecord) -> str:
    source = record.source
    return f"unsourced/{day_of(record.created)}" if source is None else source.removeprefix(f"{FORM}/")


def _names(notes: Iterable[str]) -> dict[str, str]:
    """A path for each note, without its suffix: inside the folder whatever it is called; no two equal."""
    safe = {note: "/".join(map(_part, _plain(note).split("/"))) for note in notes}
    taken = Counter(name.casefold() for name in safe.values())
    folders = {str(parent).casefold() for name in safe.values() for parent in PurePosixPath(name).parents}
    return {
        note: name
        if taken[name.casefold()] == 1 and f"{name}.md".casefold() not in folders
        else f"{name}_{blake3(note.encode()).hexdigest(4)}"
        for note, name in safe.items()
    }


def _plain(note: str) -> str:
    """The name of a note that was a file when it was ingested, without the suffix it gets again."""
    return note.removesuffix(".markdown").removesuffix(".md")


def _part(part: str) -> str:
    text = _UNSAFE.sub("-", unicodedata.normalize("NFC", part)).strip(" .")
    text = text.encode()[:_NAME_BYTES].decode("utf-8", "ignore").rstrip(" .")
    return f"_{text}" if not text or _DEVICE.fullmatch(text) else text


def _text(
    atoms: Live, name: str, records: list[AtomRecord], places: dict[bytes, str], left: Counter[str]
) -> str:
    fields = atoms.fields(records[0], FORM) or {}
    front = fields.get(FRONTMATTER)
    body = ""
    for record in records:
        content = atoms.atom(record).content
        lines = content.split("\n")
        tight = body and is_item(lines[0]) and is_item(body.rsplit("\n", 1)[-1])
        body += ("\n" if tight else "\n\n" if body else "") + content
    relations = list(dict.fromkeys(_relations(atoms, name, records, places, left)))
    if relations:
        body += "\n\n" + "\n".join(relations)
    if not isinstance(front, str):
        return f"{_front(name, records)}\n{body}\n"
    # Without a line before it, what looks like frontmatter would be read as such; it was not, where it was.
    between = "\n" if (front and not front.endswith("\n")) or (not front and body.startswith("---")) else ""
    return f"{front}{between}{body}\n"


def _front(name: str, records: list[AtomRecord]) -> str:
    """Frontmatter for a note that never had any; texts as JSON, which YAML reads as it is."""
    tags = sorted({tag for record in records for tag in record.tags})
    listed = "".join(f"- {json.dumps(tag, ensure_ascii=False)}\n" for tag in tags)
    title = records[0].title or PurePosixPath(name).name
    return (
        f"---\ntitle: {json.dumps(title, ensure_ascii=False)}\ntype: note\n"
        + (f"tags:\n{listed}" if tags else "")
        + "---\n"
    )


def _relations(
    atoms: Live, name: str, records: list[AtomRecord], places: dict[bytes, str], left: Counter[str]
) -> Iterator[str]:
    for record in records:
        for edge in atoms.edges(record):
            target = places.get(bytes.fromhex(edge.dst.replace("-", "")))
            if edge.created_by == ACTOR:
                continue
            if target is None or target == name:
                left["edges within a note" if target else "edges to what is hidden"] += 1
            else:
                yield f"- {edge.type} [[{target}]]"
