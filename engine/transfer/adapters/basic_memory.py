"""basic-memory: a folder of Markdown notes.

Observations are `- [category] text #tag (context)`, relations `- type [[Target]] (context)`. A note is one
source. Its text is cut between blank lines only, every observation and every relation is an atom of its
own, and what each atom says is what stands in the file, so that the file can be written again.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from engine.base.errors import InvalidInputError
from engine.base.limits import CONTENT_BYTES_MAX, EDGE_DATA_BYTES_MAX, TAGS_PER_ATOM_MAX
from engine.commands.sequence import STEP
from engine.knowledge.forms import predicate_of
from engine.ledger.entities import predicate
from engine.text.tokens import estimate_tokens
from engine.transfer.adapters.base import BadItemError, Item, Left, Relation, check_readable, checked_content
from engine.transfer.ingest.checks import tag_of
from engine.transfer.ingest.documents import ATOM_TOKENS, Found, Skipped
from engine.transfer.ingest.frontmatter import Frontmatter, read_frontmatter
from engine.transfer.ingest.pieces import distinct, stem
from engine.transfer.ingest.walk import find_files

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


def _text(found: Found) -> str:
    """The text of a regular file; raises `BadItemError`."""
    try:
        descriptor = os.open(found.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise BadItemError("not a regular file")
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
    title = front.title or stem(path)
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
            tags=distinct((*front.tags, *tags))[:TAGS_PER_ATOM_MAX],
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
