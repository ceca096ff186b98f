"""The compiled functions that read the texts of answers give what their twins give."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from engine.query.prompt_text import hit_text
from engine.query.recall.signals.words import most_relevant
from engine.text.analyzer import CLIPPED_ENDINGS, STOP_WORDS, index_terms, stem_words, word_terms
from engine.text.language.snippets import WINDOW, Part, Snippets, proximity
from engine.text.simhash import near
from engine.text.token_estimate import _estimate
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
    "yards",
    "cs",
    "seaing",
    "Adrs",
]
WEIGHTS = {"sea": 0.5, "ship": 1.0, "yard": 0.3, "adr-016": 1.1, "camel": 0.7, "c": 0.1}
PLAIN = st.text(st.characters(max_codepoint=127), max_size=60)
LETTERS = st.text("aB é.ÀßİжЖΣς’‐\u00a0\u2028\u200b\u00ad½ñ…—", max_size=20)
PIECES = st.one_of(LETTERS, st.sampled_from(WORDS), PLAIN)
TEXTS = st.lists(PIECES, max_size=40).flatmap(
    lambda words: st.sampled_from([" ", "\n", "\x1f ", ".", "_"]).map(lambda space: space.join(words))
)


@cache
def terms() -> Any:
    """A table of words, which is empty before the first example."""
    return native().Terms(sorted(STOP_WORDS), sorted(CLIPPED_ENDINGS), stem_words, word_terms)


@given(
    text=TEXTS,
    asked=st.lists(st.sampled_from(sorted(WEIGHTS)), unique=True),
    chars=st.one_of(st.integers(1, 60), st.sampled_from([200, 1 << 31])),
    cut=st.tuples(st.booleans(), st.booleans()),
)
@example(text=f"sea{' x' * WINDOW} yard", asked=["sea", "yard"], chars=40, cut=(False, False))
@example(text=f"sea{' x' * (WINDOW - 1)} yard", asked=["sea", "yard"], chars=40, cut=(False, True))
@example(text="xSea yard", asked=["sea", "yard"], chars=40, cut=(False, False))
@example(text="aa bb cc dd ee sea xx yy zz ss", asked=["sea"], chars=25, cut=(False, False))
@example(text="a" + "-b" * 40 + " c__d_ e++#", asked=["c"], chars=1, cut=(True, True))
def test_read_texts(text: str, asked: list[str], chars: int, cut: tuple[bool, bool]) -> None:
    """The terms, the closeness of the question's terms and the snippet are those of the twins."""
    weights = {term: WEIGHTS[term] for term in asked}
    ordered = [weights[term] for term in sorted(weights)]
    total = 0.0
    for weight in weights.values():
        total += weight
    question = (sorted(weights), ordered, total, WINDOW, chars)
    found = native().read_texts(terms(), [text, "界", text], cut, len(text.encode()), *question, True)
    short = native().read_texts(terms(), [text], cut, len(text.encode()), *question, False)
    assert short == [(None, *found[0][1:])]
    assert found[1] is None
    assert found[0] == found[2]
    found_terms, close, snippet = found[0]
    assert found_terms == index_terms(text)
    assert close == proximity(found_terms, weights)
    assert snippet == Snippets(weights, chars).within(Part(text, *cut))


def test_read_texts_leaves_other_texts_to_its_twins() -> None:
    """Lone surrogates, long texts, and terms without weights are left to the twins."""
    question = (["sea"], [1.0], 1.0, WINDOW, 200)
    assert native().read_texts(terms(), ["sea \ud800", "a" * 12], (False, False), 11, *question, True) == [
        None,
        None,
    ]
    assert native().read_texts(terms(), ["sea"], (False, False), 8, ["sea"], [], 1.0, WINDOW, 200, True) == [
        None
    ]


@given(st.one_of(st.text(max_size=200), TEXTS, st.text("aA1 \n\t.é界😀д\ud800", max_size=60)))
@example("aaaaaaa AAAA 111 Aaaaaaaa" + " " * 17 + "\n. \t.")
def test_estimate_tokens(text: str) -> None:
    """The estimate is that of the twin; a text with lone surrogates is left to it."""
    found = native().estimate_tokens(text)
    surrogates = any("\ud800" <= char <= "\udfff" for char in text)
    assert found == (None if surrogates else _estimate(text))


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 1 << 63, 0x0123456789ABCDEF]), st.lists(st.integers(0, 63), max_size=4))
    ),
    st.integers(0, 12),
)
def test_near_earlier(made: list[tuple[int, list[int]]], start: int) -> None:
    """The fingerprints that are near an earlier one are those that a comparison of all pairs finds."""
    numbers = [number ^ sum(1 << bit for bit in set(bits)) for number, bits in made]
    found = native().near_earlier(np.array(numbers, np.uint64).tobytes(), start)
    assert found == [any(near(one, numbers[at]) for one in numbers[:at]) for at in range(start, len(numbers))]


@given(
    st.lists(st.tuples(TEXTS | st.text("abcx yz", max_size=20), st.floats(0, 1)), max_size=5),
    st.lists(st.sampled_from(["a", "b", "q", "sea", "adr-016"]), max_size=2),
    st.integers(1, 12),
)
@example([("the sea a the", 0.5), ("sea a b b", 0.25), ("c", 0.25)], ["b"], 3)
def test_most_relevant(some: list[tuple[str, float]], known: list[str], most: int) -> None:
    """The most relevant terms, their order and their relevance are those of the twins."""
    texts, shares = [text for text, _ in some], [share for _, share in some]
    found = native().most_relevant(terms(), texts, shares, known, most)
    assert found == most_relevant(list(map(index_terms, texts)), shares, known, most)


def test_most_relevant_leaves_other_texts_to_its_twins() -> None:
    """Lone surrogates, other scripts, and texts without a share are left to the twins."""
    for texts, shares in ((["sea", "\ud800"], [0.5, 0.5]), (["界"], [1.0]), (["sea"], []), (["sea"], [-1.0])):
        assert native().most_relevant(terms(), texts, shares, [], 5) is None


@given(
    st.lists(st.sampled_from(["dying", "die", "lying", "oing", "O", "syed", "sied", "Sea", "ski", "skies"])),
    st.lists(st.sampled_from(["die", "o", "lie", "sea", "ski", "sky", "si", "syed"]), unique=True),
)
def test_read_texts_finds_all_words_with_a_term_of_the_question(words: list[str], asked: list[str]) -> None:
    """Words whose stems begin with other letters are found, too."""
    question = (sorted(asked), [1.0] * len(asked), float(len(asked)), WINDOW, 8)
    text = " ".join(words)
    ((_, *whole),) = native().read_texts(terms(), [text], (False, False), 1 << 16, *question, True)
    ((_, *short),) = native().read_texts(terms(), [text], (False, False), 1 << 16, *question, False)
    assert short == whole


@given(st.lists(st.lists(PIECES, max_size=12).map(" ".join), max_size=6))
def test_texts_with_new_words_are_read_together(texts: list[str]) -> None:
    """Each of several texts is read as if it were alone, whether its words are new or not."""
    asked = (sorted(WEIGHTS), [WEIGHTS[term] for term in sorted(WEIGHTS)], sum(WEIGHTS.values()), WINDOW, 40)
    new = native().Terms(sorted(STOP_WORDS), sorted(CLIPPED_ENDINGS), stem_words, word_terms)
    together = native().read_texts(new, texts, (False, False), 1 << 16, *asked, True)
    alone = [native().read_texts(terms(), [text], (False, False), 1 << 16, *asked, True)[0] for text in texts]
    assert together == alone


@given(
    st.none() | st.text("ab |Z\n¦0", max_size=8),
    st.none() | st.text("ab |Z\t.0", max_size=8),
    st.none() | st.integers(0, 1 << 62),
    TEXTS,
)
@example(" ", " ", 3, " a ")
@example("b", " ", None, "   ")
@example("b", None, None, "…a b…")
def test_hit_tokens(title: str | None, source: str | None, sequence: int | None, content: str) -> None:
    """The tokens of an atom for a prompt are those of its whole text, unless the kernel declines."""
    found = native().hit_tokens(title, source, sequence, "1f0c2a3b", content)
    expected = _estimate(hit_text(title, source, sequence, "1f0c2a3b", content))
    assert found == expected or found is None
    shown = content.replace("…", "")
    plain = shown.isascii() and shown.isprintable() and "|" not in (source or "")
    assert found == expected or not plain or not f"{title}{source}".isprintable() or "¦" in (title or "")
