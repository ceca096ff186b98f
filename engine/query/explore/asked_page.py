"""Find the page that a question asks for by its name: `what is a kettle?` asks for the page `Kettle`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.base import limits
from engine.base.errors import ConflictError, InvalidInputError
from engine.query.explore.scope import Scope
from engine.query.file_pages import Pieces, pieces_named

_ASKING: Final = frozenset(
    {
        *(
            "what",
            "what's",
            "whats",
            "who",
            "who's",
            "is",
            "are",
            "was",
            "were",
            "does",
            "do",
            "did",
            "a",
            "an",
        ),
        *(
            "the",
            "mean",
            "means",
            "meant",
            "by",
            "meaning",
            "definition",
            "of",
            "define",
            "explain",
            "describe",
        ),
    }
)
"""The English words around the name in a question that asks what or who something is."""

NAME_WORDS_MAX: Final = 8

WORD_CHARS_MIN: Final = 3
"""The length of the shortest plural of an acronym. Shorter words are looked up only as they are."""

_MARKS: Final = "?!.,;:\"'()“”‘’«»…？！。"


def asked_page(scope: Scope, core: str) -> Pieces | None:
    """Return the page whose title, file name or alias a question asks for; None if there is not exactly one.

    The question consists of a name alone, or asks in English what or who something is. A word of the name may
    have an `s` at its end that the word in the question lacks, and vice versa.

    Args:
        scope: The memory.
        core: The question without phrases such as "tell me about".
    """
    for name in _names(core):
        try:
            found = pieces_named(scope.rows, name)
        except (ConflictError, InvalidInputError):
            continue  # several pages have the name, or a word has a character that no name can have
        if found is not None:
            return found
    return None


def _names(core: str) -> Iterator[str]:
    """Yield the names that the question may ask for, the longest first."""
    words = " ".join(core.split())[: limits.QUERY_BYTES_MAX].strip(_MARKS).split()
    end = len(words)
    while end and words[end - 1].casefold() in _ASKING:
        end -= 1
    for start in range(len(words)):
        if 0 < end - start <= NAME_WORDS_MAX:
            yield from _in_numbers([word.strip(_MARKS) for word in words[start:end]])
        if words[start].strip(_MARKS).casefold() not in _ASKING:
            return


def _in_numbers(words: list[str]) -> Iterator[str]:
    """Yield a name, then the name with one of its words in the other number."""
    yield " ".join(words)
    for at, word in reversed(list(enumerate(words))):
        if len(word) >= WORD_CHARS_MIN:
            other = word[:-1] if word[-1] in "sS" else f"{word}s"
            yield " ".join([*words[:at], other, *words[at + 1 :]])
