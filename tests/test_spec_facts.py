"""Labels and facts of SPEC.md section 12: its tables and the engine against code that knows only the page."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.followers.columns import HEAD_MARK, document_of, title_hash
from engine.text import simhash
from engine.text.analyzer import index_terms
from engine.text.labels import label_of
from proofs.events import AtomBody
from tests import spec_facts as naive
from tests.spec_page import stop_words, table
from tests.text.many import fingerprints

LABELS = [(row[at], "" if row[at + 1] == "none" else row[at + 1]) for row in table("labels") for at in (0, 2)]
FINGERPRINTS = [(text, terms.split(), int(hexed, 16)) for _, text, terms, hexed in table("fingerprints")]
DISTANCES = [row[at : at + 3] for row in table("distances") for at in (0, 3, 6)]
TITLES = [(title, int(hexed, 16)) for title, hexed in table("titles")]


@pytest.mark.parametrize(("content", "label"), LABELS)
def test_labels_of_the_page_follow_from_its_rule(content: str, label: str) -> None:
    """Each label that the page shows is what its rule and the engine find."""
    assert naive.label(content) == label
    assert (label_of(content) or "") == label


def test_vectors_are_numbered() -> None:
    """The texts of the page have fingerprints under their numbers, twelve or more."""
    numbers = [int(number) for number, *_ in table("fingerprints")]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 12


@pytest.mark.parametrize(("text", "terms", "expected"), FINGERPRINTS)
def test_fingerprints_of_the_page_follow_from_its_rule(text: str, terms: list[str], expected: int) -> None:
    """Each fingerprint that the page shows is what its rule and the engine give for the terms of the text."""
    assert index_terms(text) == terms
    assert naive.fingerprint(terms) == expected
    assert simhash.fingerprint(terms) == expected
    assert fingerprints([terms]).tolist() == [expected]


@pytest.mark.parametrize(("texts", "bits", "near"), DISTANCES)
def test_distances_of_the_page_are_those_of_its_fingerprints(texts: str, bits: str, near: str) -> None:
    """Fingerprints of the page differ in as many bits as it says, and are near where it says so."""
    one, other = (FINGERPRINTS[int(number) - 1][2] for number in texts.split(","))
    assert naive.differing(one, other) == simhash.distance(one, other) == int(bits)
    assert simhash.near(one, other) == (near == "yes")


@pytest.mark.parametrize(("title", "expected"), TITLES)
def test_titles_of_the_page_follow_from_its_rule(title: str, expected: int) -> None:
    """Each number of a title that the page shows is what its rule and the engine give."""
    assert naive.title_number(title, index_terms, stop_words()) == expected
    assert title_hash(title) == expected


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
def test_labels_of_any_content_follow_from_the_page(content: str) -> None:
    """The rule of the page finds the label that the engine finds, or none where it finds none."""
    assert naive.label(content) == (label_of(content) or "")


def test_characters_of_labels_are_those_of_the_page() -> None:
    """Each code point up to U+FFFF is one that a label may have, or not, as the page says."""
    points = [point for point in range(0x10000) if not 0xD800 <= point < 0xE000]
    for content in (f"a{chr(point)}b: c" for point in points):
        assert naive.label(content) == (label_of(content) or ""), repr(content)


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
    """The rule of the page gives the number that the engine gives to a title."""
    assert naive.title_number(title, index_terms, stop_words()) == title_hash(title)


@given(st.lists(st.sampled_from([*"abcdefgh", "not", "the", "東京", "🚀", "é"]), max_size=150))
def test_fingerprints_of_any_terms_follow_from_the_page(terms: list[str]) -> None:
    """The rule of the page gives the fingerprint that the engine gives, and phrases their number."""
    assert naive.fingerprint(terms) == simhash.fingerprint(terms)
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
    """Terms, head and facts of a body are those of the page's rules, on the whole text as the page has it."""
    body = AtomBody(content, title, "note", (), (), source, sequence, "internal", None, None, 0)
    found, expected = document_of(body), naive.document(body, index_terms, stop_words())
    assert list(found.terms) == expected.text + [HEAD_MARK + term for term in expected.head]
    assert (found.source, found.sequence, found.title) == expected.facts[:3]
