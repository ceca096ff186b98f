"""The YAML block at the head of a Markdown file: title, tags and date, and nothing else.

Only the node tree of PyYAML is used, never its constructors: every scalar stays the text that was
written (`no` is a word, `2021-06-04` a name if it is a title), and no tag can build anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Final

import yaml

from engine.transfer.ingest.checks import created_of_text, tag_of, title_of

FRONTMATTER_BYTES_MAX = 64 << 10
_DEPTH_MAX: Final = 16
_CLOSING: Final = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_OPENING: Final = re.compile(r"---[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """What the block says; everything empty where there is none."""

    end: int = 0
    """The offset of the first character after the block."""
    title: str | None = None
    tags: tuple[str, ...] = ()
    created: int | None = None
    broken: str | None = None
    """Why the block could not be read; its text is content then."""
    closing: int = 0
    """The offset of the closing fence."""


class _RefusedError(yaml.YAMLError):
    """Valid YAML that is not accepted here."""


class _Loader(yaml.SafeLoader):
    """Composes nodes of bounded depth; refuses anchors and aliases (a few bytes can stand for gigabytes)."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """One node and what is under it; raises `_RefusedError`."""
        event: object = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "anchor", None) is not None:
            raise _RefusedError("anchors and aliases are not accepted")
        if self.depth >= _DEPTH_MAX:
            raise _RefusedError(f"nested deeper than {_DEPTH_MAX}")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def read_frontmatter(text: str) -> Frontmatter:
    """The frontmatter of `text`, a decoded file.

    It starts in the first line with `---` and ends with the next line that is `---` or `...`; without
    such a line there is none. Used are `title`, `tags` and `tag` (a list, or words parted by commas
    or spaces), `created` and `date` (ISO 8601, the first that can be read). A block over 64 KiB, one
    that is not a mapping of simple keys, and one that repeats a key are broken.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return Frontmatter()
    found = Frontmatter(end=min(closing.end() + 1, len(text)), closing=closing.start())
    block = text[opening.end() : closing.start()]
    if len(block.encode()) > FRONTMATTER_BYTES_MAX:
        return replace(found, broken=f"it is over {FRONTMATTER_BYTES_MAX} bytes long")
    try:
        fields = _fields(block)
    except yaml.MarkedYAMLError as error:
        return replace(found, broken=str(error.problem or error.context))
    except (yaml.YAMLError, RecursionError) as error:
        return replace(found, broken=str(error).partition("\n")[0])
    tags = [*_words(fields.get("tags")), *_words(fields.get("tag"))]
    dates = (created_of_text(_scalar(fields.get(key))) for key in ("created", "date"))
    return replace(
        found,
        title=title_of(_scalar(fields.get("title"))),
        tags=tuple(tags),
        created=next((date for date in dates if date is not None), None),
    )


def _fields(block: str) -> dict[str, yaml.Node]:
    """The top level of the mapping; raises `yaml.YAMLError`."""
    loader = _Loader(block)
    try:
        node: Any = loader.get_single_node()
    finally:
        loader.dispose()
    if node is None:
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise _RefusedError("it is not a mapping of keys to values")
    fields: dict[str, yaml.Node] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _RefusedError("a key is not a word")
        if key.value in fields:
            raise _RefusedError(f"the key {key.value!r} is there twice")
        fields[key.value] = value
    return fields


def _scalar(node: yaml.Node | None) -> str:
    """The text of a scalar as written; empty for anything else."""
    return node.value if isinstance(node, yaml.ScalarNode) else ""


def _words(node: yaml.Node | None) -> list[str]:
    """The tags of a list, or of words parted by commas or white space."""
    if isinstance(node, yaml.SequenceNode):
        words = [_scalar(item) for item in node.value]
    else:
        words = _scalar(node).replace(",", " ").split()
    return [tag for word in words if (tag := tag_of(word)) is not None]
