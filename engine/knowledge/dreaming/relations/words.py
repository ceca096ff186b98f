"""The word lists in `data/words.txt`."""

from __future__ import annotations

from typing import Final

from engine.text.language.wordlists import read_lists

WORDS: Final = {name: frozenset(listed) for name, listed in read_lists(__package__, "words.txt").items()}
"""The words of each list."""
