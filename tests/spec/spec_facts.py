"""The documents of section 12, with heading, speaker and facts, computed without code of the engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from blake3 import blake3

Terms = Callable[[str], list[str]]
"""A function that returns the terms of a text, stop words included."""

M = 0x9E3779B97F4A7C15
WORD = '[^ :\uff1a!"#$%&()+,/;<=>?@[\\\\\\]^`{|}~\x00-\x1f\x7f-\x9f\u2028\u2029]+'
SPOKEN = re.compile(f"({WORD}(?: {WORD}){{0,3}})(?:: |\uff1a)")


class Document(NamedTuple):
    """The terms and facts of the content at an ordinal."""

    text: list[str]
    """The terms."""
    heading: list[str]
    """The terms."""
    facts: tuple[int, int, int, int]
    """The facts source, sequence, title and simhash."""


NO_DOCUMENT = Document([], [], (0, 0, 0, 0))
"""The document of an ordinal whose payload is erased."""


def document(body: Sequence[Any], terms: Terms, stop_words: frozenset[str]) -> Document:
    """Return the document of an atom's body."""
    content, title, source, sequence = body[0], body[1], body[5], body[6]
    text = terms(content if title is None else f"{title}\n{content}")
    heading = speaker(content) if title is None else title
    facts = (
        0 if source is None else number("source", source) or 1,
        0 if sequence is None else sequence + 1,
        0 if title is None else title_number(title, terms, stop_words),
        simhash(text),
    )
    return Document(text, terms(heading) if heading else [], facts)


def speaker(content: str) -> str:
    """Return the speaker of a content, or an empty text if it has none."""
    found = SPOKEN.match("".join(c for c in content[:48] if c != "*"))
    return found[1] if found and len(found[1]) <= 40 else ""


def number(role: str, text: str) -> int:
    """Return the first 8 bytes of H(role; text) as a little-endian number."""
    digest = blake3(text.encode(), derive_key_context=f"memroot 3 {role}").digest()
    return sum(digest[at] << 8 * at for at in range(8))


def phrase(terms: list[str]) -> int:
    """Apply the rule `phrase`: the sum of each h(term) times M to the number of terms after it."""
    summands = (number("term", term) * M**behind for behind, term in enumerate(reversed(terms)))
    return sum(summands) % (1 << 64) or 1


def title_number(title: str, terms: Terms, stop_words: frozenset[str]) -> int:
    """Return the fact `title`."""
    cut = re.fullmatch(r"(.+) \((?:(?! \().)*\)", title, re.DOTALL)
    found = terms(cut[1] if cut else title)
    return phrase(found) if set(found) - stop_words else 0


def simhash(terms: list[str]) -> int:
    """Return the fact `simhash`, computed from votes for each bit."""
    if len(set(terms)) < 4:
        return 0
    h = [number("term", term) for term in terms]
    votes = h + [(a * M + b) % (1 << 64) for a, b in pairwise(h)]
    columns = zip(*(f"{vote:064b}" for vote in votes), strict=True)
    return int("".join("1" if column.count("1") > len(votes) / 2 else "0" for column in columns), 2) or 1


def differing(a: int, b: int) -> int:
    """Return the number of bits in which two simhashes differ."""
    return sum(x != y for x, y in zip(f"{a:064b}", f"{b:064b}", strict=True))
