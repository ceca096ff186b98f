"""basic-memory: a folder of Markdown notes.

Observations are `- [category] text #tag (context)`, relations `- type [[Target]] (context)`. A note is one
source. Its text is cut between blank lines only, every observation and every relation is an atom of its
own, and what each atom says is what stands in the file, so that the file can be written again.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Final

from blake3 import blake3

from engine.base.errors import InvalidInputError
from engine.base.limits import CONTENT_BYTES_MAX, EDGE_DATA_BYTES_MAX, TAGS_PER_ATOM_MAX
from engine.commands.sequence import STEP
from engine.followers.tags import day_of
from engine.knowledge.forms import predicate_of
from engine.ledger.entities import predicate
from engine.ledger.records import AtomRecord
from engine.store.store import Store
from engine.text.tokens import estimate_tokens
from engine.transfer.ingest.documents import ATOM_TOKENS, BadItemError, Skipped, SourceFile
from engine.transfer.ingest.field_values import checked_content, tag_of
from engine.transfer.ingest.frontmatter import Frontmatter, read_frontmatter
from engine.transfer.ingest.pieces import distinct_tags, file_title
from engine.transfer.ingest.read import open_regular
from engine.transfer.ingest.walk import find_files
from engine.transfer.other_programs.base import (
    ACTOR,
    Exported,
    Item,
    Left,
    Relation,
    check_readable,
)
from engine.transfer.other_programs.live import Live, live

FORM: Final = "basic-memory"
FRONTMATTER: Final = "frontmatter"
OBSERVATION: Final = "observation"
RELATION: Final = "relation"
LINKS_TO: Final = "links_to"

FILE_BYTES_MAX: Final = 16 << 20
_FIELDS_MAX: Final = EDGE_DATA_BYTES_MAX - 32
_NAME_MAX: Final = 512

_FENCE: Final = re.compile(r" {0,3}(```|~~~)")
_HEADING: Final = re.compile(r"#{1,6}(?:\s|$)")
_OBSERVATION: Final = re.compile(r"- \[([^\[\]()]{1,100})\] +\S")
_TASK: Final = frozenset({"", "x", "X", "-", "/"})
_RELATION: Final = re.compile(
    r'- (?:"([^"\[\]]{1,200})" *|([^"\[\]]{0,200}))\[\[([^\[\]]{1,512})\]\](?: *\(.*\))? *'
)
_LINK: Final = re.compile(r"\[\[([^\[\]\n]{1,512})\]\]")
_TAG: Final = re.compile(r"(?:^|\s)#([^\s#()\[\]]{1,256})")
_PERMALINK: Final = re.compile(r"^permalink:[ \t]*(\S+)[ \t]*$", re.MULTILINE)

_UNSAFE: Final = re.compile(r'[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069#^\[\]|:\\*"<>?%]')
_DEVICE: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_NAME_BYTES: Final = 100


def read(path: Path) -> Iterator[Item | Left | Skipped]:
    """The notes of a folder, in the order of their paths. No link is followed out of it."""
    check_readable(path, folder=True)
    for found in find_files([path], name=FORM):
        if isinstance(found, Skipped):
            yield found
        elif found.format != "markdown":
            yield Left(("files that are no Markdown",))
        else:
            try:
                yield from _note(_text(found), found.source)
            except BadItemError as error:
                yield Skipped(found.source, str(error))


def _text(found: SourceFile) -> str:
    """The text of a regular file; raises `BadItemError`."""
    try:
        with open_regular(found.path) as stream:
            raw = stream.read(FILE_BYTES_MAX + 1)
        text = raw.decode()
    except OSError as error:
        raise BadItemError(f"cannot be read: {(error.strerror or 'failed').lower()}") from None
    except UnicodeDecodeError as error:
        raise BadItemError(f"not UTF-8 at byte {error.start}") from None
    if len(raw) > FILE_BYTES_MAX:
        raise BadItemError(f"over {FILE_BYTES_MAX:,} bytes long")
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


@dataclass(slots=True)
class _Block:
    """Lines that belong together, and where they begin."""

    line: int
    lines: list[str] = field(default_factory=list)
    item: str = ""
    """The line that makes it an observation or a relation."""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def _note(text: str, path: str) -> Iterator[Item | Skipped]:
    front = read_frontmatter(text)
    if front.broken:
        yield Skipped(path, f"frontmatter kept as text: {front.broken}", 1, kept=True)
        front = Frontmatter()
    source = path.removesuffix(".markdown").removesuffix(".md")
    title = front.title or file_title(path)
    block = text[: front.end]
    first_line = block.count("\n") + 1
    seen: Counter[str] = Counter()
    made: list[Item] = []
    relations: list[Relation] = []
    for piece in pieces(text[front.end :]) or [_Block(0, [title or "untitled"])]:
        try:
            content = checked_content(piece.text)
        except BadItemError as error:
            yield Skipped(path, str(error), first_line + piece.line)
            continue
        kind, tags, found = _read(piece.item, content)
        relations += found
        item = Item(
            where=path,
            at=first_line + piece.line,
            source=source,
            key=None,
            pieces=(content,),
            title=title,
            kind=kind,
            tags=distinct_tags((*front.tags, *tags))[:TAGS_PER_ATOM_MAX],
            sequence=(len(made) + 1) * STEP,
            created=front.created,
            occurrence=seen[content],
            whole=True,
        )
        seen[content] += 1
        made.append(item)
    if made:
        fields = _fields(block)
        if not fields:
            yield Skipped(path, f"frontmatter of over {_FIELDS_MAX:,} bytes is not kept whole", 1, kept=True)
        names = (source.partition("/")[2], source.rpartition("/")[2], title or "", *_PERMALINK.findall(block))
        made[0] = replace(
            made[0],
            fields=fields,
            relations=tuple(dict.fromkeys(relations)),
            names=tuple(name for name in dict.fromkeys(names) if name),
        )
    yield from made


def _fields(block: str) -> str:
    text = json.dumps({FRONTMATTER: block}, ensure_ascii=False)
    return text if len(text.encode()) <= _FIELDS_MAX else ""


def pieces(body: str) -> list[_Block]:
    """The atoms of a note, in order: list items that say something of their own, and runs of text between."""
    made: list[_Block] = []
    run: list[_Block] = []
    for block in _blocks(body):
        if not is_item(block.lines[0]):
            run.append(block)
            continue
        block.item = block.lines[0]
        before = []
        while run and all(map(_HEADING.match, run[-1].lines)):
            before.append(run.pop())
        made += _packed(run)
        run = []
        for heading in before:  # a heading is no atom by itself
            block = _Block(heading.line, [*heading.lines, *block.lines], block.item)
        made.append(block)
    return made + _packed(run)


def is_item(line: str) -> bool:
    """Whether a line is an observation or a relation."""
    found = _OBSERVATION.match(line)
    return (found is not None and found[1].strip() not in _TASK) or _RELATION.fullmatch(line) is not None


def _blocks(body: str) -> Iterator[_Block]:
    """Paragraphs, fences whole; every item is one of its own, with the indented lines below it."""
    block: _Block | None = None
    fence = ""
    for number, line in enumerate(body.split("\n")):
        blank = not line.strip() and not fence
        in_item = block is not None and is_item(block.lines[0])
        ends = blank or (not fence and (is_item(line) or (in_item and not line.startswith((" ", "\t")))))
        if block is not None and ends:
            yield block
            block = None
        if not blank:
            block = block or _Block(number)
            block.lines.append(line)
        mark = _FENCE.match(line)
        if mark is not None and fence in {"", mark[1]}:
            fence = "" if fence else mark[1]
    if block is not None:
        while not block.lines[-1].strip():  # of a fence without an end
            block.lines.pop()
        yield block


def _packed(run: list[_Block]) -> list[_Block]:
    """Paragraphs together while they have the size of an atom."""
    made: list[_Block] = []
    cost = 0
    for block in run:
        more = estimate_tokens(block.text)
        if (
            made
            and cost + more <= ATOM_TOKENS
            and len(made[-1].text) + len(block.text) < CONTENT_BYTES_MAX // 4
        ):
            made[-1].lines += ["", *block.lines]
            cost += more
        else:
            made.append(_Block(block.line, list(block.lines)))
            cost = more
    return made


def _read(item: str, content: str) -> tuple[str, list[str], list[Relation]]:
    """Kind, tags and relations of an atom."""
    links = [Relation(LINKS_TO, _target(name)) for name in _LINK.findall(content)]
    if not item:
        return "note", [], [link for link in links if link.target]
    if (found := _RELATION.fullmatch(item)) is not None:
        return RELATION, [], [_relation(" ".join((found[1] or found[2] or "").split()) or LINKS_TO, found[3])]
    category = _OBSERVATION.match(item)
    words = [category[1].strip() if category else "", *_TAG.findall(content)]
    tags = [tag for word in words if (tag := tag_of(word)) is not None]
    return OBSERVATION, tags, [link for link in links if link.target]


def _relation(kind: str, target: str) -> Relation:
    try:
        return Relation(predicate(kind), _target(target))
    except InvalidInputError:
        name, data = predicate_of(kind)
        return Relation(name, _target(target), data)


def _target(name: str) -> str:
    """The note that a link names, without heading and alias."""
    return name.partition("|")[0].partition("#")[0].strip().removesuffix(".md")[:_NAME_MAX]


def write(store: Store, folder: Path) -> Exported:
    """Write a note for every source; atoms without one are in a note for each day.

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
            file.write_bytes(_written(atoms, names[note], records, places, left).encode())
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


def _written(
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
