"""The texts of a store in a mirror: as names of files and folders, and as Markdown on a page.

A name is a readable, sanitized text and a hash. User text never becomes a path: characters other than
letters, digits and hyphens are replaced. The hash keeps names distinct, even on file systems that ignore case
or normalize names.

On a page, a text is readable, exact, and never parsed as part of the page's structure. Plain prose is written
as it is. Any other content is put into a fence that is longer than all fences in it. Invisible characters,
and characters that change the writing direction, are written as their code points: `⟨U+202E⟩`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final

from blake3 import blake3

from engine.base import unicode14_table
from engine.base.characters import LAST, character_class

NAME_BYTES_MAX: Final = 120
"""The maximum length of a generated name, in bytes of UTF-8."""

STEM_BYTES_MAX: Final = 80
HASH_DIGITS: Final = 12

UNTAGGED: Final = "untagged"
ENTITIES: Final = "entities"

_NAME: Final = r"[^/\x00-\x1f.][^/\x00-\x1f]{0,119}"
PATH: Final = re.compile(rf"@{_NAME}/{_NAME}/{_NAME}\.md")
"""The pattern of the paths of pages. Files with other paths are never treated as pages."""

_CONTEXT: Final = "memroot 2026-11 mirror names"
_PLAIN: Final = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
_HASHED: Final = re.compile(rf".*_[0-9a-f]{{{HASH_DIGITS}}}")
_ASCII_OTHERS: Final = re.compile(r"[^0-9A-Za-z-]")
_PLAIN_MAX: Final = 60

SNIPPET_CHARS: Final = 80

_SNIPPET_SOURCE_CHARS: Final = 400

_INVISIBLE_CLASS: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
)

_INVISIBLE: Final = re.compile(f"[{_INVISIBLE_CLASS}]")

_ESCAPED: Final = re.compile(f"[{_INVISIBLE_CLASS}\u27e8]")

_ESCAPED_IN_LINE: Final = re.compile(f"[\t\n{_INVISIBLE_CLASS}\u27e8]|^ | $")

_MARKUP: Final = re.compile(r"[\\`*\[\]<>#|~^&]|%(?=%)|\$(?=\$)|=(?==)|\{(?=[{%])|_(?=_)")

_NOT_IN_ALIAS: Final = re.compile(r"[\\`*\[\]<>#|~^&%$={}]")

_BACKTICKS: Final = re.compile("`+")

# Everything that could begin a block, a tag, a link, HTML, an entity, a comment or a formula, and white space
# at the ends of lines, which editors strip. Each alternative has a bounded length, so matching is linear.
_NOT_PROSE: Final = re.compile(
    r"[\t<\[\]#^]|%%|\$\$|==|\{[{%]|&#?[0-9A-Za-z]{1,40};"
    r"|^(?:[^\S\n]|[-+*_=>`~:|]|[0-9]{1,9}[.)])"
    r"|[^\S\n]$",
    re.MULTILINE,
)


class MirrorNames:
    """The names in the mirror of one store.

    The hashes are keyed with a key derived from the store's secret, so that nobody without the secret can
    construct two sources that get the same name.
    """

    def __init__(self, id_key: bytes) -> None:
        self._key = blake3(id_key, derive_key_context=_CONTEXT).digest()

    def bucket(self, bucket: str) -> str:
        """Return the folder name of a bucket."""
        return "@" + self._short("bucket", bucket)

    def tag(self, tag: str) -> str:
        """Return the part of a folder name that represents the case-folded tag `tag`."""
        return self._short("tag", tag)

    def page(self, stem: str, *identity: str, number: int = 1) -> str:
        """Return the file name of page `number` of a bundle; the texts `identity` identify the bundle."""
        suffix = "" if number == 1 else f"_p{number}"
        return f"{safe(stem)}_{self.digest('page', *identity)}{suffix}.md"

    def digest(self, *parts: str) -> str:
        """Return the keyed hash of these texts in this order, 12 hexadecimal digits."""
        framed = b"".join(len(raw).to_bytes(4, "big") + raw for raw in map(str.encode, parts))
        return blake3(framed, key=self._key).hexdigest(HASH_DIGITS // 2)

    def _short(self, what: str, text: str) -> str:
        if len(text) <= _PLAIN_MAX and _PLAIN.fullmatch(text) and not _HASHED.fullmatch(text):
            return text
        return f"{safe(text)}_{self.digest(what, text)}"


def safe(text: str) -> str:
    """Return the first 80 bytes of `text` in NFC, with `_` for anything but letters, digits and hyphens.

    A letter is not separated from the marks that follow it.
    """
    # A letter in NFC can have fewer bytes than the same letter with separate marks, so more is read.
    start = text[: 4 * STEM_BYTES_MAX]
    name = (_ASCII_OTHERS if start.isascii() else _others()).sub("_", start)
    # Only characters of Unicode 14 remain, so all supported versions of Python compose them identically.
    name = unicodedata.normalize("NFC", name)
    size = len(name.encode()[:STEM_BYTES_MAX].decode(errors="ignore"))
    while size > 1 and size < len(name) and _marks().match(name[size]):
        size -= 1
    return "_" + name[1:size] if name.startswith("-") else name[:size]


@cache
def word_class() -> str:
    """Return the word characters of Unicode 14 as the part of a regular expression between `[` and `]`.

    The result does not depend on the version of Python.
    """
    tables = (unicode14_table.WORD, unicode14_table.GRAM, unicode14_table.MARK)
    return "".join(character_class(table, LAST) for table in tables)


@cache
def _marks() -> re.Pattern[str]:
    return re.compile(f"[{character_class(unicode14_table.MARK, LAST)}]")


@cache
def _others() -> re.Pattern[str]:
    return re.compile(f"[^-0-9A-Za-z{word_class()}]")


def make_visible(text: str) -> str:
    """Return `text` with invisible characters escaped, except line breaks and tabs; this is reversible."""
    return _ESCAPED.sub(_code_point, text)


def inline(text: str, also: str = "") -> str:
    """Return `text` on one line, with backslashes before Markdown characters; this is reversible.

    `also` is a further character to escape with a backslash.
    """
    line = _MARKUP.sub(r"\\\g<0>", _ESCAPED_IN_LINE.sub(_code_point, text))
    return line.replace(also, "\\" + also) if also else line


def snippet(title: str | None, content: str) -> str:
    """Return the title, or the beginning of the content, on one line of at most 80 characters, unescaped."""
    text = " ".join((title or "").split()) or " ".join(content[:_SNIPPET_SOURCE_CHARS].split())
    if len(text) <= SNIPPET_CHARS:
        return text
    cut = text[: SNIPPET_CHARS - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[SNIPPET_CHARS // 2 :] else cut) + "…"


def alias(text: str) -> str:
    """Return `text` without markup, for the name in an Obsidian link, in which backslashes do not escape."""
    return " ".join(_NOT_IN_ALIAS.sub(" ", _ESCAPED_IN_LINE.sub(_code_point, text)).split()) or "…"


def body(content: str) -> str:
    """Return the content as a Markdown block from which the exact content can be recovered.

    Plain prose is returned unchanged. Other content is fenced as `text`, or as `escaped` if it has characters
    that must be escaped.
    """
    if _INVISIBLE.search(content):
        return _fenced("escaped", make_visible(content))
    if content == content.strip() and not _NOT_PROSE.search(content):
        return content
    return _fenced("text", content)


def _fenced(info: str, text: str) -> str:
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
    return f"{fence}{info}\n{text}\n{fence}"


def yaml(text: str) -> str:
    """Return `text` as a double-quoted YAML scalar on one line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _ESCAPED_IN_LINE.sub(_yaml_escape, escaped) + '"'


def _yaml_escape(found: re.Match[str]) -> str:
    return found[0] if found[0] in {" ", "\u27e8"} else f"\\U{ord(found[0]):08X}"


def _code_point(found: re.Match[str]) -> str:
    return f"\u27e8U+{ord(found[0]):04X}\u27e9"
