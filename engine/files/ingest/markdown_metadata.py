"""What a Markdown file states about itself: its frontmatter, and the tags and links in its text.

The frontmatter is the YAML block at the start of the file, with the title, the aliases, the tags and the
date.

Only the node tree of PyYAML is used, never its constructors. Therefore YAML tags cannot create objects, and
the value of each scalar is its text in the file: `no` is not converted to a boolean, and `2021-06-04` in a
title is not converted to a date.

Tags and links have the syntax of Obsidian and CommonMark. A text is scanned once from left to right for the
characters that can begin a tag, a link or a code span. The end is searched for only within a fixed distance,
so the time is linear for any text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import unquote

import yaml

from engine.base.limits import ALIAS_BYTES_MAX, ALIASES_MAX, SOURCE_BYTES_MAX
from engine.files.ingest.documents import Reference
from engine.files.ingest.field_values import is_line, tag_of, title_of
from engine.files.ingest.written_dates import stated_time

FRONTMATTER_BYTES_MAX = 64 << 10
DATE_KEYS: Final = ("created", "date", "date created", "date_created", "created_at", "creation date")
"""The keys of the time of a page, the most preferred first."""
_DEPTH_MAX: Final = 16
_CLOSING: Final = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_OPENING: Final = re.compile(r"---[ \t]*\n")

Mark = tuple[int, str | Reference]
"""The offset of a tag or link in the text, and the tag (a string without `#`) or the link itself."""

_MARKS: Final = re.compile(r"[`\\#\[\]]")

_BACKTICKS: Final = re.compile("`+")

_TAG: Final = re.compile(r"[\w/-]*")

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")

_REACH: Final = 1024
"""The maximum length of `[[…]]` and of `(destination)`, in characters."""


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The values of the frontmatter block; empty if there is no block."""

    end: int = 0
    """The offset of the first character after the block."""
    title: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    """Other names of the page, at most `ALIASES_MAX`."""
    created: int | None = None
    broken: str | None = None
    """The reason why the block cannot be parsed, or None. An unparsable block is kept as content."""
    closing: int = 0
    """The offset of the closing fence."""


class _UnsupportedYamlError(yaml.YAMLError):
    """Raised if a frontmatter block is valid YAML but uses features that are not accepted."""


class _Loader(yaml.SafeLoader):
    """A loader that limits nesting, and refuses anchors and aliases because they can expand to gigabytes."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Compose a node and its children; raise `_UnsupportedYamlError` if one of them is not accepted."""
        event: object = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "anchor", None) is not None:
            raise _UnsupportedYamlError("anchors and aliases are not accepted")
        if self.depth >= _DEPTH_MAX:
            raise _UnsupportedYamlError(f"the block is nested deeper than {_DEPTH_MAX} levels")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def read_frontmatter(text: str) -> Frontmatter:
    """Return the frontmatter of `text`, a decoded file.

    The block starts with `---` in the first line and ends with the next line that is `---` or `...`. If there
    is no such end, there is no frontmatter. These keys are used: `title`; `tags` and `tag` (a list, or words
    separated by commas or spaces); `aliases` and `alias` (a list, or names separated by commas); and
    `DATE_KEYS` (`stated_time`), of which the first valid value is used. A block is broken if it is over
    64 KiB, is not a mapping of simple keys, or repeats a key.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return Frontmatter()
    frontmatter = Frontmatter(end=min(closing.end() + 1, len(text)), closing=closing.start())
    block = text[opening.end() : closing.start()]
    if len(block.encode()) > FRONTMATTER_BYTES_MAX:
        return replace(frontmatter, broken=f"the block is over {FRONTMATTER_BYTES_MAX} bytes long")
    try:
        fields = _fields(block)
    except yaml.MarkedYAMLError as error:
        return replace(frontmatter, broken=str(error.problem or error.context))
    except (yaml.YAMLError, RecursionError) as error:
        return replace(frontmatter, broken=str(error).partition("\n")[0])
    tags = [*_tags(fields.get("tags")), *_tags(fields.get("tag"))]
    aliases = [*_aliases(fields.get("aliases")), *_aliases(fields.get("alias"))]
    dates = (stated_time(_scalar(fields.get(key))) for key in DATE_KEYS)
    return replace(
        frontmatter,
        title=title_of(_scalar(fields.get("title"))),
        tags=tuple(tags),
        aliases=tuple(dict.fromkeys(aliases))[:ALIASES_MAX],
        created=next((date for date in dates if date is not None), None),
    )


def _fields(block: str) -> dict[str, yaml.Node]:
    """Return the top level of the mapping; raise `yaml.YAMLError` if the block is broken."""
    loader = _Loader(block)
    try:
        node: Any = loader.get_single_node()
    finally:
        loader.dispose()
    if node is None:
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise _UnsupportedYamlError("the block is not a mapping of keys to values")
    fields: dict[str, yaml.Node] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _UnsupportedYamlError("a key is not a simple scalar")
        if key.value in fields:
            raise _UnsupportedYamlError(f"the key {key.value!r} occurs twice")
        fields[key.value] = value
    return fields


def _scalar(node: yaml.Node | None) -> str:
    """Return the text of a scalar as written, or "" if the node is not a scalar."""
    return node.value if isinstance(node, yaml.ScalarNode) else ""


def _tags(node: yaml.Node | None) -> list[str]:
    """Return the tags of a list, or of a scalar with words separated by commas or white space."""
    if isinstance(node, yaml.SequenceNode):
        words = [_scalar(item) for item in node.value]
    else:
        words = _scalar(node).replace(",", " ").split()
    return [tag for word in words if (tag := tag_of(word)) is not None]


def _aliases(node: yaml.Node | None) -> list[str]:
    """Return the names in a list, or in a scalar with names separated by commas."""
    if isinstance(node, yaml.SequenceNode):
        names = [_scalar(item) for item in node.value if not _is_null(item)]
    else:
        names = [] if node is None or _is_null(node) else _scalar(node).split(",")
    lines = (" ".join(name.split()) for name in names)
    return [line for line in lines if line and is_line(line, ALIAS_BYTES_MAX)]


def _is_null(node: yaml.Node) -> bool:
    """Return True if the value is null. A list without items is often written as null."""
    return isinstance(node, yaml.ScalarNode) and node.style is None and node.value in {"", "~", "null"}


def marks(text: str, start: int, end: int) -> Iterator[Mark]:
    """Yield the tags and links of the paragraph `text[start:end]`, in order.

    Code spans and escaped characters contain no tags or links. A tag begins with `#`, at the start or
    after white space. Letters and digits of any script, `_`, `-` and `/` follow. They must include a letter
    or a digit, and must not all be digits. A nested tag such as `a/b` is one tag. Links are `[[page]]`,
    `[[page#heading|shown]]`, embeds such as `![[page]]`, and `[shown](relative/path.md#heading)`. URLs with a
    scheme, absolute paths, and links to the same page are ignored. `isalnum` depends on the Unicode version
    of the running Python. That is acceptable, because the tags and links are journaled and never extracted
    again.
    """
    closing = _code_ends(text, start, end)
    done, brackets = start, 0
    for match in _MARKS.finditer(text, start, end):
        at = match.start()
        if at < done:
            continue
        char = text[at]
        mark: Mark | None = None
        if char == "`":
            # If the first of several backticks is escaped, the others begin one character later and open no
            # code span.
            done = closing.get(at, at + 1)
        elif char == "\\":
            done = at + 2
        elif char == "#":
            done, mark = _tag(text, at, start, end)
        elif text.startswith("[[", at):
            done, mark = _wiki(text, at, end)
            brackets += done == at + 1
        elif char == "[":
            brackets += 1
        elif brackets:
            brackets -= 1
            done, mark = _relative(text, at, end)
        if mark is not None:
            yield mark


def without_markup(text: str) -> str:
    """Return the heading `text` without emphasis and backticks, and with each link replaced by its label."""
    out: list[str] = []
    done = 0
    for match in re.finditer(r"[`*\[\]]|__|~~|==", text):
        at = match.start()
        if at < done:
            continue
        out.append(text[done:at])
        done = match.end()
        if text.startswith("[[", at):
            close = text.find("]]", at, at + _REACH)
            shown = text[at + 2 : max(close, at + 2)]
            if shown and "[" not in shown:
                out.append(shown.rpartition("|")[2])
                done = close + 2
        elif text.startswith("](", at):
            close = text.find(")", at, at + _REACH)
            done = close + 1 if close > 0 else done
    out.append(text[done:])
    return "".join(out)


def _code_ends(text: str, start: int, end: int) -> dict[int, int]:
    """Map each sequence of backticks to the end of the code span that it opens.

    A sequence that opens no code span is mapped to its own end.
    """
    ends: dict[int, int] = {}
    next_of_length: dict[int, int] = {}
    for match in reversed(list(_BACKTICKS.finditer(text, start, end))):
        length = match.end() - match.start()
        ends[match.start()] = next_of_length.get(length, match.end())
        next_of_length[length] = match.end()
    return ends


def _tag(text: str, at: int, start: int, end: int) -> tuple[int, Mark | None]:
    """Return the offset where the scan continues, and the tag whose `#` is at offset `at`, or None."""
    stop = _word_end(text, at + 1, end)
    if at > start and not text[at - 1].isspace():
        return stop, None
    tag = tag_of(text[at + 1 : stop])
    if tag is None or tag.isdigit() or not any(char.isalnum() for char in tag):
        return stop, None
    return stop, (at, tag)


def _word_end(text: str, at: int, end: int) -> int:
    """Return the offset of the first character that does not belong to the tag.

    Combining vowel signs and accents belong to the letter before them.
    """
    while True:
        match = _TAG.match(text, at, end)
        at = match.end() if match else at
        if at >= end or text[at] < "\x80" or unicodedata.category(text[at])[0] != "M":
            return at
        at += 1


def _wiki(text: str, at: int, end: int) -> tuple[int, Mark | None]:
    """Return the offset where the scan continues, and the link whose `[[` is at offset `at`, or None."""
    close = text.find("]]", at + 2, min(end, at + _REACH))
    inner = text[at + 2 : close] if close > 0 else "["
    if "[" in inner or "\n" in inner:
        return at + 1, None
    page = inner.partition("|")[0].removesuffix("\\")
    mark = "#" if "#" in page else "^"
    target, separator, fragment = page.partition(mark)
    fragment = fragment.strip() if mark == "#" else mark + fragment.strip()
    return close + 2, _link(at, target, fragment if separator else "", "wiki")


def _relative(text: str, at: int, end: int) -> tuple[int, Mark | None]:
    """Return the offset where the scan continues, and a relative link or None.

    The label of the link ends with the `]` at offset `at`.
    """
    if not text.startswith("](", at) or at + 2 >= end:
        return at + 1, None
    begin, stop = at + 2, min(end, at + 2 + _REACH)
    if text[begin] == "<":
        close = text.find(">", begin, stop)
        destination = text[begin + 1 : close] if close > 0 and "\n" not in text[begin:close] else ""
    else:
        close = _destination_end(text, begin, stop)
        destination = text[begin:close]
    if not destination or close >= end:
        return at + 2, None
    if destination[0] in "/\\#" or _SCHEME.match(destination):
        return close, None
    target, _, fragment = destination.partition("#")
    return close, _link(at, unquote(target), unquote(fragment), "relative")


def _destination_end(text: str, at: int, stop: int) -> int:
    """Return the offset of the first white space or unpaired `)` at or after offset `at`."""
    depth = 0
    while at < stop and not text[at].isspace():
        depth += (text[at] == "(") - (text[at] == ")")
        if depth < 0:
            break
        at += 1
    return at


def _link(at: int, target: str, fragment: str, kind: str) -> Mark | None:
    """Return the link with its offset `at`, or None if the link names no page or cannot be stored."""
    target, fragment = target.strip(), fragment.strip()
    if not target or not (is_line(target, SOURCE_BYTES_MAX) and is_line(fragment, SOURCE_BYTES_MAX)):
        return None
    return at, Reference(target, fragment or None, "wiki" if kind == "wiki" else "relative")
