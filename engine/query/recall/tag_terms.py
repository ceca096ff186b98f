"""The terms of tags, kept from one question to the next.

A question looks at some hundred tags that begin like one of its words. Finding their terms was a third of the
work for a question about a collection of abstracts (measured).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from engine.text.analyzer import analyze_query

TAGS_KEPT: Final = 8_192
"""The number of tags whose terms are kept, those that were asked for last. They take about 2 MB."""

_AS_SPACES: Final = str.maketrans("-_/", "   ")


@lru_cache(TAGS_KEPT)
def tag_terms(tag: str) -> tuple[str, ...]:
    """Return the distinct terms of a tag. Hyphens, underscores and slashes separate its words.

    The result depends on the tag alone, so it holds for every memory and every state.
    """
    return tuple(analyze_query(tag.translate(_AS_SPACES)))
