"""Generate or load the data for the measurements.

Question: none; nothing is measured in this module.
Data: generated texts; Markdown files made of the same words; and the shared garden (7,772 Markdown files) if
    it is available. A generated text has 40 words and three of 200 tags; a new source begins after every 20
    texts. The words are drawn from 20,000 made-up words, and their frequencies follow Zipf's law. Questions
    about shared data are in `bench.retrieval.sets`.
Seed: an argument of every generator. The same seed gives the same texts on every machine.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

VOCABULARY_WORDS: Final = 20_000
TEXT_WORDS: Final = 40
QUESTION_WORDS: Final = 6
TAGS: Final = 200
TAGS_PER_TEXT: Final = 3
TEXTS_PER_SOURCE: Final = 20

SHARED: Final = Path(os.environ.get("MEMROOT_SHARED", Path(__file__).resolve().parents[2] / "shared"))
"""The folder of the shared data. The folder may be missing."""
LOCOMO: Final = SHARED / "data" / "locomo-dev"
HOTPOTQA: Final = SHARED / "data" / "hotpotqa-sample"
CACM: Final = SHARED / "data" / "cacm"
NPL: Final = SHARED / "data" / "npl"
FURTHER_SETS: Final = {name: SHARED / "data" / name for name in ("assistant-chats", "cisi", "adi", "time")}
"""Name → folder of the other sets of questions."""

_ONSETS: Final = ("b", "br", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "v")
_VOWELS: Final = ("a", "e", "i", "o", "u", "ai", "ou")
_CODAS: Final = ("", "", "n", "r", "s", "l")


class Text(NamedTuple):
    """A text with its attributes, as it is added to memroot and to the rival."""

    content: str
    tags: tuple[str, ...]
    source: str
    sequence: int


class Words:
    """A generator of random words from a made-up vocabulary. The word of rank r has the weight 1 / r."""

    def __init__(self, seed: int, stream: str) -> None:
        """Create the vocabulary. Each `stream` gives an independent series of random words."""
        makers = Random(f"{seed}/vocabulary")
        found: dict[str, None] = {}
        while len(found) < VOCABULARY_WORDS:
            syllables = makers.choice((1, 2, 2, 3, 3, 4))
            word = "".join(makers.choice(_ONSETS) + makers.choice(_VOWELS) for _ in range(syllables))
            found[word + makers.choice(_CODAS)] = None
        self._vocabulary = list(found)
        self._weights = list(accumulate(1 / rank for rank in range(1, VOCABULARY_WORDS + 1)))
        self.random = Random(f"{seed}/{stream}")

    def draw(self, count: int) -> list[str]:
        """Return `count` words."""
        return self.random.choices(self._vocabulary, cum_weights=self._weights, k=count)


def texts(count: int, seed: int) -> Iterator[Text]:
    """Yield `count` texts of 40 words."""
    words = Words(seed, "texts")
    tags = [f"tag-{number}" for number in range(TAGS)]
    weights = list(accumulate(1 / rank for rank in range(1, TAGS + 1)))
    for number in range(count):
        drawn = words.random.choices(tags, cum_weights=weights, k=TAGS_PER_TEXT)
        source, position = divmod(number, TEXTS_PER_SOURCE)
        content = " ".join(words.draw(TEXT_WORDS))
        yield Text(content, tuple(dict.fromkeys(drawn)), f"notes/source-{source:06}.md", position)


def questions(count: int, seed: int) -> list[str]:
    """Return `count` questions of six different words, drawn from the same distribution as the texts."""
    words = Words(seed, "questions")
    drawn = []
    for _ in range(count):
        chosen: dict[str, None] = {}
        while len(chosen) < QUESTION_WORDS:
            chosen.update(dict.fromkeys(words.draw(1)))
        drawn.append(" ".join(chosen))
    return drawn


def write_markdown(folder: Path, files: int, seed: int) -> Path:
    """Write `files` Markdown files, each with front matter, three sections and two links; return `folder`."""
    words = Words(seed, "markdown")
    folder.mkdir(parents=True)
    for number in range(files):
        parts = [f"---\ntags: [tag-{number % TAGS}]\n---\n# Note {number}\n"]
        for section in range(3):
            linked = words.random.randrange(files)
            body = " ".join(words.draw(TEXT_WORDS * 2))
            link = f" See [[note-{linked:06}]]." if section else ""
            parts.append(f"## Part {section}\n\n{body}.{link}\n")
        (folder / f"note-{number:06}.md").write_text("\n".join(parts), encoding="utf-8")
    return folder


def unpack_garden(folder: Path) -> Path | None:
    """Unpack the shared garden (a set of notes) into `folder` if necessary. Return None if it is missing."""
    packed = SHARED / "data" / "garden.tar.gz"
    if not packed.exists():
        return None
    if not folder.exists():
        with tarfile.open(packed) as archive:
            archive.extractall(folder, filter="data")
    return folder
