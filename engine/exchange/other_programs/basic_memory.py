"""Import and export basic-memory, a folder of Markdown notes.

Observations are lines `- [category] text #tag (context)`, and relations `- type [[Target]] (context)`. Each
note becomes one source. The text of a note is split only at blank lines. Each observation and each relation
becomes a separate atom. Atoms contain the exact text of the file, so that an export can write the file again.
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
from engine.exchange.other_programs.item_atoms import LiveAtoms, live_atoms
from engine.exchange.other_programs.program_items import (
    ACTOR,
    Item,
    ItemRelation,
    ItemsExported,
    Omitted,
    check_readable,
)
from engine.files.ingest.documents import (
    ATOM_TOKENS,
    BadItemError,
    PassedOver,
    Skipped,
    SourceFile,
    open_regular,
)
from engine.files.ingest.field_values import checked_content, tag_of
from engine.files.ingest.file_reading import read_bytes, unreadable, utf8_text
from engine.files.ingest.folder_walk import find_files
from engine.files.ingest.markdown_metadata import Frontmatter, read_frontmatter
from engine.files.ingest.pieces import distinct_tags, file_title
from engine.followers.tags import day_of
from engine.knowledge.graph_encoding import predicate_of
from engine.ledger.entities import predicate
from engine.ledger.records import AtomRecord
from engine.store.store import Store
from engine.text.token_estimate import estimate_tokens

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


def read(path: Path) -> Iterator[Item | Omitted | Skipped]:
    """Yield the items of the notes in a folder, ordered by path; symbolic links are not followed."""
    check_readable(path, folder=True)
    for file in find_files([path], name=FORM):
        if isinstance(file, PassedOver):
            continue
        if isinstance(file, Skipped):
            yield file
        elif file.format != "markdown":
            yield Omitted(("files that are not Markdown",))
        else:
            try:
                yield from _note_items(_text(file), file.source)
            except BadItemError as error:
                yield Skipped(file.source, str(error))


def _text(file: SourceFile) -> str:
    """Return the text of a regular file, or raise `BadItemError`."""
    try:
        with open_regular(file.path) as stream:
            return utf8_text(read_bytes(stream, FILE_BYTES_MAX))
    except OSError as error:
        raise BadItemError(unreadable(error)) from None


@dataclass(slots=True)
class _Block:
    """Consecutive lines of a note that become an atom or a part of an atom."""

    line: int
    """The number of the first line, from 0."""
    lines: list[str] = field(default_factory=list)
    item: str = ""
    """The line of the observation or relation; empty for other text."""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def _note_items(text: str, path: str) -> Iterator[Item | Skipped]:
    front = read_frontmatter(text)
    if front.broken:
        yield Skipped(path, f"the frontmatter is kept as text: {front.broken}", 1, kept=True)
        front = Frontmatter()
    source = path.removesuffix(".markdown").removesuffix(".md")
    title = front.title or file_title(path)
    block = text[: front.end]
    first_line = block.count("\n") + 1
    seen: Counter[str] = Counter()
    made: list[Item] = []
    relations: list[ItemRelation] = []
    for piece in _split_note(text[front.end :]) or [_Block(0, [title or "untitled"])]:
        try:
            content = checked_content(piece.text)
        except BadItemError as error:
            yield Skipped(path, str(error), first_line + piece.line)
            continue
        kind, tags, relation = _attributes(piece.item, content)
        relations += relation
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
            reason = f"the frontmatter is over {_FIELDS_MAX:,} bytes long and is not kept for export"
            yield Skipped(path, reason, 1, kept=True)
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


def _split_note(body: str) -> list[_Block]:
    """Split a note into blocks, each for one atom: observations, relations, and the text between them."""
    made: list[_Block] = []
    run: list[_Block] = []
    for block in _blocks(body):
        if not is_item(block.lines[0]):
            run.append(block)
            continue
        block.item = block.lines[0]
        headings = []
        while run and all(map(_HEADING.match, run[-1].lines)):
            headings.append(run.pop())
        made += _join_blocks(run)
        run = []
        for heading in headings:  # a heading does not become a separate atom
            block = _Block(heading.line, [*heading.lines, *block.lines], block.item)
        made.append(block)
    return made + _join_blocks(run)


def is_item(line: str) -> bool:
    """Return True if a line is an observation or a relation."""
    observation = _OBSERVATION.match(line)
    return (observation is not None and observation[1].strip() not in _TASK) or _RELATION.fullmatch(
        line
    ) is not None


def _blocks(body: str) -> Iterator[_Block]:
    """Yield the paragraphs and fenced blocks of a note.

    An observation or relation is a separate block, together with the indented lines below it.
    """
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
        while not block.lines[-1].strip():  # blank lines in an unclosed fence
            block.lines.pop()
        yield block


def _join_blocks(run: list[_Block]) -> list[_Block]:
    """Join consecutive paragraphs up to the size of an atom."""
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


def _attributes(item: str, content: str) -> tuple[str, list[str], list[ItemRelation]]:
    """Return the kind, tags and relations of an atom; `item` is the line of an observation or relation."""
    links = [ItemRelation(LINKS_TO, _target(name)) for name in _LINK.findall(content)]
    if not item:
        return "note", [], [link for link in links if link.target]
    if (relation := _RELATION.fullmatch(item)) is not None:
        return (
            RELATION,
            [],
            [_relation(" ".join((relation[1] or relation[2] or "").split()) or LINKS_TO, relation[3])],
        )
    category = _OBSERVATION.match(item)
    words = [category[1].strip() if category else "", *_TAG.findall(content)]
    tags = [tag for word in words if (tag := tag_of(word)) is not None]
    return OBSERVATION, tags, [link for link in links if link.target]


def _relation(kind: str, target: str) -> ItemRelation:
    try:
        return ItemRelation(predicate(kind), _target(target))
    except InvalidInputError:
        name, data = predicate_of(kind)
        return ItemRelation(name, _target(target), data)


def _target(name: str) -> str:
    """Return the name of the note that a link refers to, without heading and alias."""
    return name.partition("|")[0].partition("#")[0].strip().removesuffix(".md")[:_NAME_MAX]


def write(store: Store, folder: Path) -> ItemsExported:
    """Write a note for each source; atoms without a source are written to one note for each day.

    A note that was imported from basic-memory has the same text as the original file, except for blank lines.
    Edges that were not imported are written as relations below the text.
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
    fields = atoms.fields(records[0], FORM) or {}
    front = fields.get(FRONTMATTER)
    body = ""
    for record in records:
        content = atoms.atom(record).content
        lines = content.split("\n")
        tight = body and is_item(lines[0]) and is_item(body.rsplit("\n", 1)[-1])
        body += ("\n" if tight else "\n\n" if body else "") + content
    relations = list(dict.fromkeys(_relations(atoms, name, records, paths, omitted)))
    if relations:
        body += "\n\n" + "\n".join(relations)
    if not isinstance(front, str):
        return f"{_front(name, records)}\n{body}\n"
    # A blank line first, so that a body that begins with `---` is not read back as frontmatter.
    between = "\n" if (front and not front.endswith("\n")) or (not front and body.startswith("---")) else ""
    return f"{front}{between}{body}\n"


def _front(name: str, records: list[AtomRecord]) -> str:
    """Return frontmatter for a note without stored frontmatter; strings are JSON, which is valid YAML."""
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
            if edge.created_by == ACTOR:
                continue
            if target is None or target == name:
                omitted["edges within a note" if target else "edges to atoms that are not live"] += 1
            else:
                yield f"- {edge.type} [[{target}]]"
