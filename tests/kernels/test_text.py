"""The compiled analyzer gives the terms of its twin."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from engine.text.analyzer import TEXT_CHARS_MAX, index_terms
from engine.text.identifiers import stem_words
from engine.text.probes import probes
from engine.text.words import CLIPPED_ENDINGS, STOP_WORDS
from tests.kernels.native import native

HOSTILE = st.text(alphabet="aAbBsSeEtThH019-._'@+#~ \n\0", max_size=60)
PROSE = st.lists(
    st.sampled_from(
        [
            "the",
            "Running",
            "ADR-016",
            "don't",
            "Anna's",
            "x@y.org",
            "C++",
            "PDFs",
            "aBcD",
            "__init__",
            "sha256",
        ]
    )
).map(" ".join)


def terms_of(texts: list[str]) -> list[list[str] | None]:
    """Return the terms that the compiled analyzer with an empty table gives for each text."""
    module = native()
    table = module.Terms(sorted(STOP_WORDS), sorted(CLIPPED_ENDINGS), stem_words)
    first: list[list[str] | None] = module.index_terms_many(table, texts)
    # The second time, the table has all words.
    assert module.index_terms_many(table, texts) == first
    return first


@given(st.lists(st.one_of(HOSTILE, PROSE, st.text(max_size=20)), max_size=12), st.sampled_from([1, 90]))
@example([*probes()], 1)
@example(["a" * (TEXT_CHARS_MAX - 1) + " b c", "x-" * 40, "ing" * 60, "aB" * 9, "\ud800", "café"], 1)
def test_terms(texts: list[str], times: int) -> None:
    """ASCII texts have the terms of the twin, also when there are enough texts for several threads.

    Other texts are declined.
    """
    expected = [index_terms(text) if text.isascii() else None for text in texts]
    assert terms_of(texts * times) == expected * times
