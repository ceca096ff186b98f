"""Speakers and facts of section 12, in the vectors and in the engine, agree with code written from SPEC."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.index.columns import HEAD_MARK, document_of
from engine.text import simhash
from engine.text.analyzer import index_terms
from engine.text.simhash import title_hash
from engine.text.speaker_labels import label_of
from proofs.events import AtomBody
from tests.spec import spec_facts as naive
from tests.spec.spec_page import sentences, stop_words, vectors
from tests.text.many import fingerprints

VECTORS = vectors("facts")


@pytest.mark.parametrize(("content", "speaker"), VECTORS["speakers"])
def test_speakers_of_the_vectors_follow_from_the_page(content: str, speaker: str | None) -> None:
    """The rule of section 12 and the engine find each speaker of the vectors."""
    assert (naive.speaker(content) or None) == speaker
    assert label_of(content) == speaker


@pytest.mark.parametrize(("text", "terms", "hexed"), VECTORS["simhashes"])
def test_simhashes_of_the_vectors_follow_from_the_page(text: str, terms: list[str], hexed: str) -> None:
    """The rule of section 12 and the engine compute each simhash of the vectors from its terms."""
    expected = int(hexed, 16)
    assert index_terms(text) == terms
    assert naive.simhash(terms) == expected
    assert simhash.fingerprint(terms) == expected
    assert fingerprints([terms]).tolist() == [expected]


@pytest.mark.parametrize(("one", "other", "bits", "near"), VECTORS["distances"])
def test_distances_of_the_vectors_are_those_of_their_simhashes(
    one: int, other: int, bits: int, near: bool
) -> None:
    """The listed simhashes differ in as many bits as the file states, and are near where it states so."""
    first, second = (int(VECTORS["simhashes"][at][2], 16) for at in (one, other))
    assert naive.differing(first, second) == simhash.distance(first, second) == bits
    assert simhash.near(first, second) == near


@pytest.mark.parametrize(("title", "hexed"), VECTORS["titles"])
def test_titles_of_the_vectors_follow_from_the_page(title: str, hexed: str) -> None:
    """The rule of section 12 and the engine compute each title number of the vectors."""
    assert naive.title_number(title, index_terms, stop_words()) == int(hexed, 16)
    assert title_hash(title) == int(hexed, 16)


def test_the_speakers_that_the_page_names_are_right() -> None:
    """The two contents in the text of section 12 have a speaker, or none, as the text states."""
    listed = dict(VECTORS["speakers"])
    for content, speaker in (("Caroline: Hey Mel!", "Caroline"), ("At 10:30 Anna: hello", None)):
        assert f"`{content}`" in sentences()
        assert listed[content] == speaker


_WORDS = ("Anna", "李", "é", "x" * 12, "u\u0308", "-", "'", ".")
_SIGNS = (" ", " ", "  ", "*", "**", ":", ": ", "：", *"()#|`\\]^~!\n\t\x7f\x85\u2028\u3000")
_LINES = st.lists(st.sampled_from([*_WORDS, *_SIGNS]), max_size=12).map("".join)


@given(_LINES | st.text(max_size=60))
@example("x" * 40 + ": y")
@example("x" * 41 + ": y")
@example("x" * 40 + "******: y")
@example("x" * 40 + "*******: y")
@example("x" * 40 + "*******：y")
@example("x" * 40 + "********：y")
@example("a b c d: e")
def test_speakers_of_any_content_follow_from_the_page(content: str) -> None:
    """The rule of the page and the engine find the same speaker, or both find none."""
    assert naive.speaker(content) == (label_of(content) or "")


def test_characters_of_speakers_are_those_of_the_page() -> None:
    """The page and the engine allow the same code points up to U+FFFF in speakers."""
    points = [point for point in range(0x10000) if not 0xD800 <= point < 0xE000]
    for content in (f"a{chr(point)}b: c" for point in points):
        assert naive.speaker(content) == (label_of(content) or ""), repr(content)


_TITLES = st.lists(
    st.sampled_from(["The", "Who", "sea", "(", ")", " ", " (", "（", "band", "Q3", "東京"]), max_size=8
)


@given(_TITLES.map("".join))
@example("sea (band)")
@example("sea (Q3) (band)")
@example(" (band)")
@example("(band) (sea")
@example("sea(band)")
def test_numbers_of_any_title_follow_from_the_page(title: str) -> None:
    """The rule of the page and the engine give the same number to a title."""
    assert naive.title_number(title, index_terms, stop_words()) == title_hash(title)


@given(st.lists(st.sampled_from([*"abcdefgh", "not", "the", "東京", "🚀", "é"]), max_size=150))
def test_simhashes_of_any_terms_follow_from_the_page(terms: list[str]) -> None:
    """The rules of the page and the engine give the same simhash and the same phrase numbers."""
    assert naive.simhash(terms) == simhash.fingerprint(terms)
    assert not terms or naive.phrase(terms) == simhash.phrase_hash(terms)


_PIECES = (*"a日ก🚀é*\n\u0301\u200d\u0378-'#+", " ", "the", "Anna: ", "ship's", "\u0301" * 30, "x" * 70)
_TEXTS = st.lists(st.sampled_from(_PIECES), max_size=8).map("".join)


@given(
    content=_TEXTS | st.text(max_size=30),
    title=st.none() | _TEXTS | st.text(max_size=20),
    source=st.none() | st.sampled_from(["", "a.md", "é"]),
    sequence=st.none() | st.integers(0, (1 << 63) - 1),
)
def test_documents_of_any_body_follow_from_the_page(
    content: str, title: str | None, source: str | None, sequence: int | None
) -> None:
    """The engine gives a body the terms, heading and facts that the rules of the page give."""
    body = AtomBody(content, title, "note", (), (), source, sequence, "internal", None, None, 0)
    found, expected = document_of(body), naive.document(body, index_terms, stop_words())
    assert list(found.terms) == expected.text + [HEAD_MARK + term for term in expected.heading]
    assert (found.source, found.sequence, found.title) == expected.facts[:3]
