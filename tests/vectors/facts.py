"""Speakers, simhashes, distances and title numbers of texts."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Final

from engine.text import simhash
from engine.text.analyzer import index_terms
from engine.text.simhash import title_hash
from engine.text.speaker_labels import label_of

CONTENTS: Final = (
    "Caroline: Hey Mel!",
    "**Dr. O'Neil-Smith:** hello",
    "田中：おはよう",
    "one two three four: five",
    "one two three four five: six",
    "Anna:hello",
    "http://example.org: hello",
    "At 10:30 Anna: hello",
    "C++: a language",
    "Note (draft): hello",
)
_LONG: Final = (
    "A store is an ordered map that holds a journal and everything made{} it. {} only grows; all other rows "
    "follow from it by fixed rules, and can be deleted and made {}byte for byte the same."
)
TEXTS: Final = (
    "Yes.",
    "Thank you, Anna!",
    "Thank you all, Anna!",
    "👍👍👍👍👍",
    "🚀🎉👍🔥",
    "The daemon listens on port 8080.",
    "the DAEMON listens, on port 8080!",
    "The daemon does not listen on port 8080.",
    "On port 8080 listens the daemon.",
    "東京都に住んでいます。",
    "東京都に住んでいません。",
    "Écoute: l'été, daemon!",
    "C++ and snake_case, see ADR-016",
    _LONG.format(" from", "The journal", "again, "),
    _LONG.format("", "The journal", "again, "),
    _LONG.format(" from", "journal", "again, "),
    _LONG.format(" from", "The journal", ""),
)
TITLES: Final = (
    "ADR-016",
    "Mercury",
    "Mercury (planet)",
    "Mercury (element) (disambiguation)",
    "The Who",
    "The Who (band)",
    "(untitled)",
    "東京都",
)


def facts() -> dict[str, Any]:
    """Return the contents of `facts.json`."""
    terms = [index_terms(text) for text in TEXTS]
    hashes = [simhash.fingerprint(found) for found in terms]
    return {
        "speakers": [[content, label_of(content)] for content in CONTENTS],
        "simhashes": [
            [text, found, f"{value:016x}"] for text, found, value in zip(TEXTS, terms, hashes, strict=True)
        ],
        "distances": [
            [
                one,
                other,
                simhash.distance(hashes[one], hashes[other]),
                simhash.near(hashes[one], hashes[other]),
            ]
            for one, other in combinations(range(len(TEXTS)), 2)
        ],
        "titles": [[title, f"{title_hash(title):016x}"] for title in TITLES],
    }
