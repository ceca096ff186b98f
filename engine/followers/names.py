"""The follower `names`: rows that map names to atoms. No root covers these rows (SPEC: Names).

    n/e ‖ label[8]    the atoms with this name: the name of a page's file, the title stated in it, or an alias
    n/p ‖ label[8]    the atoms with an alias that has these terms; `title_hash` computes their hash
    n/a               the number of rows n/p; this row is missing if the number is 0

A value is a list of ascending ordinals, u32 big-endian. As in the index, ordinals of earlier versions of an
atom stay, so each result is intersected with the live ordinals. Erasing an atom removes all its ordinals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Final

from backends.base import Batch, Reader
from engine.base.characters import is_assigned
from engine.base.errors import CorruptionError
from engine.followers.base import Follower
from engine.followers.membership import joining_and_erased
from engine.ledger.entities import entity_identity
from engine.ledger.journal import identity_for, read_identity
from engine.ledger.layout import NAMES
from engine.ledger.records import Lookup
from engine.text.simhash import title_hash
from proofs.events import AtomBody, Entry
from proofs.labels import label_of

PAGE_SUFFIXES: Final = (".md", ".markdown", ".txt", ".text", ".html", ".htm", ".pdf", ".docx")
"""The file name suffixes of pages."""
PAGE: Final = "page"
"""The key in an atom's meta under which the title stated in the page's file is recorded."""

_EXACT: Final = NAMES + b"e"
_PHRASE: Final = NAMES + b"p"
_COUNT: Final = NAMES + b"a"
_ORDINAL_BYTES: Final = 4
_LABEL_BYTES: Final = 8
_EXACT_GROUP: Final = 16
_PHRASE_GROUP: Final = 17
"""The numbers that stand for the two kinds of names among the numbers of groups in a label."""


def is_page(source: str | None) -> bool:
    """Return True if a page can have this source: a path in a folder, with a suffix in `PAGE_SUFFIXES`."""
    return source is not None and "/" in source and source[source.rfind(".") :].lower() in PAGE_SUFFIXES


def page_name(source: str) -> str:
    """Return the name of a page's file without its suffix."""
    name = source[source.rfind("/") + 1 :]
    dot = name.rfind(".")
    # As in `posixpath.splitext`, which takes longer, dots at the beginning do not begin a suffix.
    return name[:dot] if name[: max(0, dot)].strip(".") else name


def page_title(body: AtomBody) -> str | None:
    """Return the title of an atom's page: the title that the file states, or else the name of the file."""
    if body.source is None or not is_page(body.source):
        return None
    stated = None if body.meta is None else body.meta.get(PAGE)
    return stated if isinstance(stated, str) else page_name(body.source)


def name_identity(name: str) -> str:
    """Return the form in which names are compared: caseless, with words joined by single spaces.

    A name with a character that Unicode 14 does not have is not changed, because its caseless form depends on
    the version of Python.
    """
    return entity_identity(name) if name.isascii() or all(map(is_assigned, map(ord, name))) else name


class NamesFollower(Follower):
    """Maintains the rows that map the names of pages, and aliases, to atoms."""

    name = "names"
    version = 1
    prefixes = (NAMES,)

    def follow(self, entries: Sequence[Entry], rows: Reader, batch: Batch) -> None:
        """Add ordinals of new atom versions to the rows of the atoms' names; remove ordinals of erased atoms.

        Raises:
            CorruptionError: a row is malformed.
        """
        label_key = identity_for(entries, rows).label_key
        joining, erased = joining_and_erased(entries, rows, partial(_keys, label_key))
        if not joining and not erased:
            return
        before = dict(zip(joining, rows.multi_get(list(joining)), strict=True))
        if erased:
            before |= {key: raw for key, raw in rows.scan_prefix(NAMES) if key != _COUNT}
        phrases = 0
        for key, raw in before.items():
            after = _joined(raw or b"", joining.get(key, ()), erased, key)
            if after != (raw or b""):
                batch.rows[key] = after or None
            phrases += (bool(after) - bool(raw)) if key.startswith(_PHRASE) else 0
        if phrases:
            count = int.from_bytes(rows.get(_COUNT) or b"", "big") + phrases
            batch.rows[_COUNT] = count.to_bytes(8, "big") if count else None


def _keys(label_key: bytes, body: AtomBody, ordinal: int) -> Iterable[bytes]:
    """Return the key of each row to which an atom with this body belongs. No key is repeated."""
    del ordinal
    of_file = _file_keys(label_key, body.source)
    if body.aliases is None and (body.meta is None or not of_file):
        return of_file
    names = dict.fromkeys(of_file)
    stated = None if body.meta is None else body.meta.get(PAGE)
    if names and isinstance(stated, str):
        names.setdefault(_exact_key(label_key, stated))
    for alias in body.aliases or ():
        names.setdefault(_exact_key(label_key, alias))
        if phrase := title_hash(alias):
            names.setdefault(_phrase_key(label_key, phrase))
    return names


@lru_cache(1024)
def _file_keys(label_key: bytes, source: str | None) -> tuple[bytes, ...]:
    """Return the key for the name of the file, if a page can have this source."""
    if source is None or not is_page(source):
        return ()
    return (_exact_key(label_key, page_name(source)),)


def _exact_key(label_key: bytes, name: str) -> bytes:
    return _EXACT + label_of(label_key, _EXACT_GROUP, name_identity(name).encode())[:_LABEL_BYTES]


def _phrase_key(label_key: bytes, phrase: int) -> bytes:
    return _PHRASE + label_of(label_key, _PHRASE_GROUP, phrase.to_bytes(8, "big"))[:_LABEL_BYTES]


def _joined(raw: bytes, joining: Iterable[int], erased: set[int], key: bytes) -> bytes:
    """Return the row after adding the ordinals in `joining` and removing the ordinals in `erased`."""
    if not erased and not raw:
        return _packed(sorted(set(joining)))
    return _packed(sorted({*_ordinals(raw, key), *joining} - erased))


def _packed(ordinals: Iterable[int]) -> bytes:
    return b"".join(ordinal.to_bytes(_ORDINAL_BYTES, "big") for ordinal in ordinals)


def _ordinals(raw: bytes, key: bytes) -> list[int]:
    if len(raw) % _ORDINAL_BYTES:
        raise CorruptionError(f"the row {key.hex()} of the names has {len(raw)} bytes", family="names")
    return [int.from_bytes(raw[at : at + _ORDINAL_BYTES], "big") for at in range(0, len(raw), _ORDINAL_BYTES)]


def named(rows: Lookup, name: str) -> list[int]:
    """Return the ordinals of the atoms whose page or alias has this name, whether or not they are live.

    Raises:
        CorruptionError: a row is malformed.
    """
    key = _exact_key(read_identity(rows).label_key, name)
    return _ordinals(rows.get(key) or b"", key)


def has_aliases(rows: Lookup) -> bool:
    """Return True if at least one atom has had an alias."""
    return rows.get(_COUNT) is not None


def aliased(rows: Reader, phrases: Sequence[int]) -> Mapping[int, list[int]]:
    """Return the aliases among `phrases` (hashes of terms), each with the ordinals of its atoms.

    Raises:
        CorruptionError: a row is malformed.
    """
    keys = list(map(partial(_phrase_key, read_identity(rows).label_key), phrases))
    lookups = zip(phrases, keys, rows.multi_get(keys), strict=True)
    return {phrase: _ordinals(raw, key) for phrase, key, raw in lookups if raw}
