"""Names of folders and files in a mirror: a readable, sanitized text and a hash.

User text never becomes a path. Characters other than letters, digits and hyphens are replaced. The hash keeps
names distinct, even on file systems that ignore case or normalize names.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final

from blake3 import blake3

from engine.base import unicode14_table
from engine.base.unicode14 import LAST, character_class

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
