"""Read the title, aliases, tags and date from the YAML block at the start of a Markdown file.

Only the node tree of PyYAML is used, never its constructors. Therefore YAML tags cannot create objects, and
the value of each scalar is its text in the file: `no` is not converted to a boolean, and `2021-06-04` in a
title is not converted to a date.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Final

import yaml

from engine.base.limits import ALIAS_BYTES_MAX, ALIASES_MAX
from engine.files.ingest.field_values import created_from_text, is_line, tag_of, title_of

FRONTMATTER_BYTES_MAX = 64 << 10
_DEPTH_MAX: Final = 16
_CLOSING: Final = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_OPENING: Final = re.compile(r"---[ \t]*\n")


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
    separated by commas or spaces); `aliases` and `alias` (a list, or names separated by commas); `created`
    and `date` (ISO 8601, a year or a month). Of `created` and `date`, the first valid value is used. A block
    is broken if it is over 64 KiB, is not a mapping of simple keys, or repeats a key.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return Frontmatter()
    found = Frontmatter(end=min(closing.end() + 1, len(text)), closing=closing.start())
    block = text[opening.end() : closing.start()]
    if len(block.encode()) > FRONTMATTER_BYTES_MAX:
        return replace(found, broken=f"the block is over {FRONTMATTER_BYTES_MAX} bytes long")
    try:
        fields = _fields(block)
    except yaml.MarkedYAMLError as error:
        return replace(found, broken=str(error.problem or error.context))
    except (yaml.YAMLError, RecursionError) as error:
        return replace(found, broken=str(error).partition("\n")[0])
    tags = [*_tags(fields.get("tags")), *_tags(fields.get("tag"))]
    aliases = [*_aliases(fields.get("aliases")), *_aliases(fields.get("alias"))]
    dates = (created_from_text(_scalar(fields.get(key))) for key in ("created", "date"))
    return replace(
        found,
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
