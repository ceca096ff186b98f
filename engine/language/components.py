"""The components of our own spaCy pipeline, and its tokenizer. The rules are in the modules they call.

Nothing here imports spaCy before `register` is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from engine.language.lexicon import function_words
from engine.language.morphology import tag_open
from engine.language.names import find_names
from engine.language.pieces import is_word, plain, split
from engine.language.times import find_times

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

FUNCTION_WORDS: Final = "memroot_function_words"
NAMES: Final = "memroot_names"
MORPHOLOGY: Final = "memroot_morphology"
TIMES: Final = "memroot_times"
"""The component that finds times, and the key in `Doc.user_data` under which it puts them."""
_TOKENIZER: Final = "memroot.words.1"


def register() -> None:
    """Make the components known to spaCy; again is harmless."""
    from spacy.language import Language
    from spacy.util import registry

    Language.component(FUNCTION_WORDS, assigns=["token.pos"], func=_tag_function_words)
    Language.component(NAMES, assigns=["token.pos"], func=_tag_names)
    Language.component(MORPHOLOGY, assigns=["token.pos"], requires=["token.pos"], func=_tag_open_words)
    Language.component(TIMES, func=_mark_times)
    registry.tokenizers.register(_TOKENIZER, func=_tokenizer)


def rules() -> Language:
    """`spacy.blank("en")` with the words of `pieces` as its tokens, and our components."""
    import spacy

    language = spacy.blank("en", config={"nlp": {"tokenizer": {"@tokenizers": _TOKENIZER}}})
    for component in (FUNCTION_WORDS, NAMES, MORPHOLOGY, TIMES):
        language.add_pipe(component)
    return language


def _tokenizer() -> Callable[[Language], Callable[[str], Doc]]:
    return lambda language: _Tokenizer(language.vocab)


class _Tokenizer:
    """Cuts a text as `pieces.split` does; what is left out becomes tokens of white space."""

    def __init__(self, vocab: Vocab) -> None:
        self.vocab = vocab

    def __call__(self, text: str) -> Doc:
        from spacy.tokens import Doc

        words: list[str] = []
        spaces: list[bool] = []
        at = 0
        for start, end in [*((piece.start, piece.end) for piece in split(text)), (len(text), len(text))]:
            gap = text[at:start]
            if gap[:1] == " " and words:
                spaces[-1] = True
                gap = gap[1:]
            for token in (gap, text[start:end]):
                if token:
                    words.append(token)
                    spaces.append(False)
            at = end
        return Doc(self.vocab, words=words, spaces=spaces)


def _tag_function_words(doc: Doc) -> Doc:
    known = function_words()
    for token in doc:
        text = token.text
        if not is_word(text):
            token.pos_ = "SPACE" if text.isspace() else "PUNCT"
        elif part := known.get(plain(text)):
            token.pos_ = part
    return doc


def _tag_names(doc: Doc) -> Doc:
    for i in find_names([token.text for token in doc]):
        doc[i].pos_ = "PROPN"
    return doc


def _tag_open_words(doc: Doc) -> Doc:
    tokens = [token for token in doc if token.pos_ != "SPACE"]
    parts = [token.pos_ for token in tokens]
    tag_open([plain(token.text) for token in tokens], parts)
    for token, part in zip(tokens, parts, strict=True):
        token.pos_ = part
    return doc


def _mark_times(doc: Doc) -> Doc:
    doc.user_data[TIMES] = find_times(doc.text)
    return doc
