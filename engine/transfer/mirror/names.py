"""Names of folders and files in a mirror: text that a person can read, made safe, and a hash.

A text never becomes a path: what is no letter or digit is replaced, and the hash of what the name stands
for keeps two names apart, also where case or normalisation makes no difference.
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
"""The longest name that is ever made, in UTF-8."""

STEM_BYTES_MAX: Final = 80
HASH_DIGITS: Final = 12

UNTAGGED: Final = "untagged"
ENTITIES: Final = "entities"

_NAME: Final = r"[^/\x00-\x1f.][^/\x00-\x1f]{0,119}"
PATH: Final = re.compile(rf"@{_NAME}/{_NAME}/{_NAME}\.md")
"""What every path of a page looks like; nothing else in a folder is ever taken for ours."""

_CONTEXT: Final = "memroot 2026-11 mirror names"
_PLAIN: Final = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
_HASHED: Final = re.compile(rf".*_[0-9a-f]{{{HASH_DIGITS}}}")
_ASCII_OTHERS: Final = re.compile(r"[^0-9A-Za-z-]")
_PLAIN_MAX: Final = 60


class Names:
    """The names in the mirror of one store.

    The hashes are keyed with a key derived from the store's own secret, so that nobody outside can look for
    two sources of one name beforehand.
    """

    def __init__(self, id_key: bytes) -> None:
        self._key = blake3(id_key, derive_key_context=_CONTEXT).digest()

    def bucket(self, bucket: str) -> str:
        """The folder of a bucket."""
        return "@" + self._short("bucket", bucket)

    def tag(self, tag: str) -> str:
        """A tag, by its caseless form, as the rest of a folder's name."""
        return self._short("tag", tag)

    def page(self, stem: str, *what: str, number: int = 1) -> str:
        """The file of page `number` of the bundle that the texts `what` tell from all others."""
        more = "" if number == 1 else f"_p{number}"
        return f"{safe(stem)}_{self.digest('page', *what)}{more}.md"

    def digest(self, *parts: str) -> str:
        """12 hexadecimal digits that stand for these texts, in this order."""
        framed = b"".join(len(raw).to_bytes(4, "big") + raw for raw in map(str.encode, parts))
        return blake3(framed, key=self._key).hexdigest(HASH_DIGITS // 2)

    def _short(self, what: str, text: str) -> str:
        if len(text) <= _PLAIN_MAX and _PLAIN.fullmatch(text) and not _HASHED.fullmatch(text):
            return text
        return f"{safe(text)}_{self.digest(what, text)}"


def safe(text: str) -> str:
    """`text` in NFC with `_` for all but letters, digits and hyphens, its last 80 bytes."""
    kept = (_ASCII_OTHERS if text.isascii() else _others()).sub("_", text[-STEM_BYTES_MAX:])
    # What is left has been assigned for long, so every Python composes it alike.
    kept = unicodedata.normalize("NFC", kept)
    while len(kept.encode()) > STEM_BYTES_MAX:
        kept = kept[1:]
    return "_" + kept[1:] if kept.startswith("-") else kept


@cache
def word_class() -> str:
    """The characters of words in Unicode 14, whatever Python knows, as the inside of a `[…]`."""
    tables = (unicode14_table.WORD, unicode14_table.GRAM, unicode14_table.MARK)
    return "".join(character_class(table, LAST) for table in tables)


@cache
def _others() -> re.Pattern[str]:
    return re.compile(f"[^-0-9A-Za-z{word_class()}]")
