"""The spaCy pipeline that questions go through: a trained one if one is installed, else our rules.

Loaded on first use, once a process, because it takes half a second and more. Nothing is ever
downloaded: a trained pipeline is one that pip has installed, known by its entry point. One that does
not load is named, with the reason, in the name of the pipeline that took its place.
"""

from __future__ import annotations

import threading
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.language import components
from engine.language.times import Mark

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from spacy.language import Language
    from spacy.tokens import Doc

ENTRY_POINTS: Final = "spacy_models"
"""The entry points by which spaCy's trained pipelines make themselves known."""
RULES_NAME: Final = "blank en, memroot rules 1"
_PREFERRED: Final = ("en_core_web_sm", "en_core_web_md", "en_core_web_lg", "en_core_web_trf")
"""The small one first: the others cost many times its time for the same parts of speech."""
_NOT_NEEDED: Final = ("parser", "lemmatizer")
"""Parts of trained pipelines that say nothing that is asked for here."""
_NO_NAMES: Final = frozenset({"CARDINAL", "DATE", "MONEY", "ORDINAL", "PERCENT", "QUANTITY", "TIME"})
"""Kinds of entities that are no names."""
_REASON_CHARS: Final = 200
_KEPT_WORDS: Final = 10_000
"""spaCy keeps every word it has met, some 200 bytes each; after so many, new ones are forgotten again.

Forgetting all of them every time was measured at 80 µs a question.
"""


class Token(NamedTuple):
    """What stands at `text[start:end]`, and its universal part of speech; empty if it has none."""

    start: int
    end: int
    part: str


class Tagged(NamedTuple):
    """What a pipeline says of a text."""

    tokens: list[Token]
    entities: list[tuple[int, int]]
    """Where the names stand that it recognised as such."""
    times: tuple[Mark, ...]
    pipeline: str


class _Loaded(NamedTuple):
    language: Language
    name: str
    ours: bool


# Guards loading, and the vocabulary, which grows and shrinks with every text.
_LOCK: Final = threading.Lock()


def pipeline_name() -> str:
    """What analyses questions here, with its version: `en_core_web_sm 3.8.0`, `blank en, memroot rules 1`.

    spaCy is loaded only if a trained pipeline is installed: whether it works shows in nothing else.

    Raises:
        ImportError: spaCy is not installed, or needed and cannot be imported.
    """
    if find_spec("spacy") is None:
        raise ImportError("spaCy is not installed; it comes with memroot: pip install memroot")
    if _installed() is None:
        return RULES_NAME
    with _LOCK:
        return _load().name


def tag(text: str) -> Tagged:
    """The tokens, names and times of `text`, which has no lone surrogate.

    Safe in any thread; one text is analysed at a time.

    Raises:
        ImportError: spaCy cannot be imported.
    """
    with _LOCK:
        loaded = _load()
        if not loaded.ours or len(loaded.language.vocab.strings) < _KEPT_WORDS:
            return _read(loaded.language(text), loaded.name)
        # Only with our own components is it known that none of them keeps something of a text.
        with loaded.language.memory_zone():
            return _read(loaded.language(text), loaded.name)


def _read(doc: Doc, name: str) -> Tagged:
    return Tagged(
        [Token(token.idx, token.idx + len(token.text), token.pos_) for token in doc],
        [(entity.start_char, entity.end_char) for entity in doc.ents if entity.label_ not in _NO_NAMES],
        doc.user_data[components.TIMES],
        name,
    )


def _installed() -> EntryPoint | None:
    """The trained pipeline to use: English ones first, of those the smallest, then by name."""
    from importlib.metadata import entry_points  # slow to import

    return min(entry_points(group=ENTRY_POINTS), key=_order, default=None)


def _order(entry: EntryPoint) -> tuple[int, bool, str, str]:
    known = _PREFERRED.index(entry.name) if entry.name in _PREFERRED else len(_PREFERRED)
    return known, not entry.name.startswith("en_"), entry.name, entry.value


@cache
def _load() -> _Loaded:
    """The pipeline of this process. Called under the lock."""
    components.register()
    entry = _installed()
    if entry is None:
        return _Loaded(components.rules(), RULES_NAME, ours=True)
    name = f"{entry.name} {entry.dist.version if entry.dist else ''}".strip()
    try:
        language: Language = entry.load().load(exclude=list(_NOT_NEEDED))
        language.add_pipe(components.TIMES, last=True)
    except Exception as error:  # noqa: BLE001  a package of others: it may raise whatever it likes
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:_REASON_CHARS]
        return _Loaded(components.rules(), f"{RULES_NAME} ({name} does not load: {reason})", ours=True)
    return _Loaded(language, name, ours=False)
