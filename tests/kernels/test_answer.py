"""The compiled functions that read the texts of answers give what their twins give."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from engine.query.recall.reading import WINDOW, proximity
from engine.query.snippets import Part, Snippets, words_to_terms
from engine.text.analyzer import index_terms
from engine.text.tokens import _estimate
from tests.kernels.native import native

WORDS = [
    "sea",
    "Seas",
    "ship-yard",
    "ADR-016",
    "camelCase",
    "don't",
    "C++",
    "c#",
    "a_b__c.d@e",
    "x" * 70,
    "mast,",
]
WEIGHTS = {"sea": 0.5, "ship": 1.0, "yard": 0.3, "adr-016": 1.1, "camel": 0.7, "c": 0.1}
PLAIN = st.text(st.characters(max_codepoint=127), max_size=60)
PIECES = st.one_of(st.sampled_from(WORDS), PLAIN)
TEXTS = st.lists(PIECES, max_size=40).flatmap(
    lambda words: st.sampled_from([" ", "\n", "\x1f ", ".", "_"]).map(lambda space: space.join(words))
)


@given(
    text=TEXTS,
    asked=st.lists(st.sampled_from(sorted(WEIGHTS)), unique=True),
    chars=st.one_of(st.integers(1, 60), st.sampled_from([200, 1 << 31])),
    cut=st.tuples(st.booleans(), st.booleans()),
)
@example(text="a" + "-b" * 40 + " c__d_ e++#", asked=["c"], chars=1, cut=(True, True))
def test_read_text(text: str, asked: list[str], chars: int, cut: tuple[bool, bool]) -> None:
    """The terms, the closeness of the question's terms and the snippet are those of the twins."""
    weights = {term: WEIGHTS[term] for term in asked}
    numbers = {term: number for number, term in enumerate(sorted(weights))}
    ordered = [weights[term] for term in sorted(weights)]
    terms, close, snippet = native().read_text(text, words_to_terms(), numbers, ordered, WINDOW, chars, cut)
    assert terms == index_terms(text)
    assert snippet == Snippets(weights, chars).within(Part(text, *cut))
    total = 0.0
    for weight in weights.values():
        total += weight
    assert (close / total if total else 0.0) == proximity(terms, weights)


def test_read_text_leaves_other_alphabets_to_its_twins() -> None:
    """A text with a character outside ASCII is not read."""
    assert native().read_text("sea é", words_to_terms(), {}, [], WINDOW, 200, (False, False)) is None
    assert native().read_text("sea \ud800", words_to_terms(), {}, [], WINDOW, 200, (False, False)) is None


def test_read_text_accepts_any_numbers() -> None:
    """A number without a weight is not an index out of bounds: the text is left to the twins."""
    assert native().read_text("sea", words_to_terms(), {"sea": 3}, [1.0], WINDOW, 200, (False, False)) is None


@given(st.one_of(st.text(max_size=200), TEXTS, st.text("aA1 \n\t.é界😀д\ud800", max_size=60)))
def test_estimate_tokens(text: str) -> None:
    """The estimate is that of the twin; a text with lone surrogates is left to it."""
    found = native().estimate_tokens(text)
    surrogates = any("\ud800" <= char <= "\udfff" for char in text)
    assert found == (None if surrogates else _estimate(text))
