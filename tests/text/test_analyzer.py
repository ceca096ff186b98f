"""Tests of the analyzer."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.analyzer import (
    CACHED_CHARS_MAX,
    STOP_WORDS,
    TERM_BYTES_MAX,
    TEXT_CHARS_MAX,
    AnalyzedTerm,
    analyze_query,
    index_terms,
    tokens,
)
from engine.text.analyzer_fingerprint import fingerprint
from tests.support.shared_data import needs

pytestmark = pytest.mark.slow

FINGERPRINT = "ddcc3680a9bd65fa835700ecc831376df1f97a4281b41e847cae06c6142e78da"

ANYTHING = st.text(st.characters(exclude_categories=()), max_size=60)
"""Texts of any code points, including lone surrogates and unassigned ones."""

PIECES = st.text(
    st.one_of(
        st.sampled_from("aBzZ09 _-.'@+#sSt’‐\u0301\u0323\u200d\u200bé語猫がกขิ한🚀\u00ad\ud800\u0378"),
        st.characters(exclude_categories=()),
    ),
    max_size=40,
)
"""Texts of pieces to which many rules apply."""


def test_the_fingerprint_is_the_one_of_memroot_1() -> None:
    """The fingerprint of the analyzer memroot-1 never changes."""
    assert fingerprint().hex() == FINGERPRINT


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The foxes were running", "the fox were run"),
        ("ADR-016", "adr-016 adr 016"),
        ("adr_016", "adr_016 adr 016"),
        ("snake_case foo__bar __init__", "snake_case snake case foo__bar foo bar init"),
        ("camelCase HTTPServer", "camelcas camel case httpserver http server"),
        ("URLs PDFs URLsList", "url pdfs pdf urlslist url list"),
        ("OpenAI iPhone15", "openai open ai iphone15 i phone 15"),
        ("foo.bar v1.2.3", "foo.bar foo bar v1.2.3 v1 v 1 2 3"),
        ("3.14 2023-05-08", "3.14 3 14 2023-05-08 2023 05 08"),
        ("sha256 10km a1b2c3", "sha256 sha 256 10km 10 km a1b2c3"),
        ("C++ C# notepad++ page#part", "c++ c c# c notepad++ notepad page part"),
        ("a.b@c.org", "a.b@c.org a.b a b c.org c org"),
        ("https://x.org/a-b?c=1#d", "https x.org x org a-b a b c 1 d"),
        ("don't DON’T it's Anna’s we'll O'Brien", "don't don't it anna we o'brien o brien"),
        ("dogs' 'quoted' wait...what", "dog quot wait what"),
        ("state-of-the-art", "state-of-the-art state of the art"),
        ("and/or a--b -x-", "and or a b x"),
        ("", ""),
        ("?! ... -- ©", ""),
    ],
)
def test_words_and_identifiers(text: str, terms: str) -> None:
    """A word gives its stem; an identifier gives itself as a whole and then its parts."""
    assert index_terms(text) == terms.split()


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("中文分词", "中 中文 文 文分 分 分词 词"),
        ("水", "水"),
        ("猫が好き", "猫 猫が が好 好 好き"),
        ("コンピ", "コン ンピ"),
        ("第3章", "第 3 章"),
        ("한국어 글", "한국 국어 글"),
        ("ภาษา", "ภา าษ ษา"),
        ("บ้าน", "บ้า าน"),
        ("𠮷野家", "𠮷 𠮷野 野 野家 家"),
        ("Привет, мир", "привет мир"),
        ("हिन्दी", "हिन्दी"),
        ("🚀👍🏽 🇫🇷", "🚀 👍 🇫 🇷"),
    ],
)
def test_other_scripts(text: str, terms: str) -> None:
    """Scripts without spaces give pairs of letters, Han also single letters; other scripts give words."""
    assert index_terms(text) == terms.split()


def test_a_query_of_han_has_pairs_only() -> None:
    """A query has a single Han letter only if the letter is isolated."""
    assert analyze_query("中文分词 水") == ["中文", "文分", "分词", "水"]


def test_stop_words_are_marked_terms() -> None:
    """Stop words are marked terms that do not count for lengths and are omitted from queries."""
    assert tokens("to the sea") == [
        AnalyzedTerm("to", True),
        AnalyzedTerm("the", True),
        AnalyzedTerm("sea", False),
    ]
    assert analyze_query("to the sea") == ["sea"]


def test_a_query_of_stop_words_keeps_them() -> None:
    """A query that consists of stop words keeps each of them once."""
    assert analyze_query("To be, or not to be") == ["to", "be", "or", "not"]


def test_stop_words_are_casefolded_ascii_terms() -> None:
    """Each stop word has itself as its only term, so all stop words are recognised by their terms."""
    assert all(index_terms(word) == [word] for word in STOP_WORDS)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("cafe\u0301", "café"),
        ("A\u030a", "Å"),
        ("\u212b", "Å"),
        ("STRASSE", "straße"),
        ("ﬁnding", "finding"),
        ("ΟΔΟΣ", "οδος"),
        ("\u212aelvin", "kelvin"),
        ("soft\u00adhy\u00adphen", "softhyphen"),
        ("zero\u200djoin\u2060er\ufeff", "zerojoiner"),
        ("\u202eevil\u202c", "evil"),
        ("ta\U000e0067g", "tag"),
        ("heart\ufe0f", "heart"),
        ("ADR\u2011016", "ADR-016"),
        ("zero\u200bwidth", "zero width"),
        ("un\u0378assigned", "un assigned"),
        ("new\U0001fae8emoji", "new emoji"),
        ("lone\ud800surrogate", "lone surrogate"),
        ("nul\x00byte", "nul byte"),
    ],
)
def test_spellings_with_equal_terms(text: str, same: str) -> None:
    """Normal form, case, invisible characters and unassigned code points do not change the terms."""
    assert index_terms(text) == index_terms(same) != []


@pytest.mark.parametrize(("text", "other"), [("ＡＤＲ", "ADR"), ("раураl", "paypal"), ("①", "1")])
def test_lookalikes_with_different_terms(text: str, other: str) -> None:
    """Compatibility forms and look-alikes of other scripts are different terms: only NFC is applied."""
    assert index_terms(text) != index_terms(other)


@pytest.mark.parametrize("marks", ["\u0301", "\u0301\u0323", "\u0e48", "\u20dd"])
def test_a_run_of_marks_is_cut_at_thirty(marks: str) -> None:
    """Only the first 30 marks of a run of combining marks are read."""
    run = (marks * 250_000)[:250_000]
    assert index_terms(f"e{run}x y") == index_terms(f"e{run[:30]}x y")


@pytest.mark.parametrize(
    "word", ["a." * 200_000, "aB" * 200_000, "_" * 400_000, "é-" * 200_000, "a@" * 200_000]
)
def test_long_identifiers_are_read_piece_by_piece(word: str) -> None:
    """A text that is one very long identifier has terms within the size limit, or none."""
    assert all(len(term.encode()) <= TERM_BYTES_MAX for term in index_terms(word))


def test_characters_beyond_the_limit_are_not_read() -> None:
    """Characters beyond the limit give no terms."""
    assert index_terms("a " * (TEXT_CHARS_MAX // 2) + "beyond")[-1] == "a"


@pytest.mark.parametrize(("letter", "kept"), [("x", 64), ("é", 32), ("ก", 2), ("ж", 32)])
def test_long_terms_are_cut_between_characters(letter: str, kept: int) -> None:
    """A term has at most 64 bytes of UTF-8 and ends with a complete character, also in queries."""
    long = letter * 100
    assert index_terms(long)[0] == letter * kept == analyze_query(long)[0]


@given(PIECES)
def test_any_text_has_terms_within_the_limits(text: str) -> None:
    """Analysis never raises, and each term is 1 to 64 bytes of valid UTF-8 without spaces or NUL."""
    for term in index_terms(text):
        assert 0 < len(term.encode()) <= TERM_BYTES_MAX
        assert not set(term) & set(" \x00\n")


@given(PIECES)
def test_query_terms_are_among_the_terms_of_the_text(text: str) -> None:
    """The query terms of a text are among its terms, and a text with terms has query terms."""
    asked = analyze_query(text)
    assert set(asked) <= set(index_terms(text))
    assert len(set(asked)) == len(asked)
    assert bool(asked) == bool(index_terms(text))


@pytest.mark.parametrize("text", ["\u01f0", "J\u030c", "\u1fe4", "\u0390x"])
def test_terms_are_in_normal_form(text: str) -> None:
    """Letters that casefolding decomposes are composed again."""
    [term] = index_terms(text)
    assert unicodedata.is_normalized("NFC", term)


@given(PIECES, PIECES)
def test_a_space_separates(first: str, second: str) -> None:
    """Two texts joined by a space have the terms of both, whether they are ASCII or not."""
    assert index_terms(f"{first} {second}") == index_terms(first) + index_terms(second)


@given(st.text(st.characters(codec="ascii"), max_size=60))
def test_the_ascii_path_equals_the_general_path(text: str) -> None:
    """The fast path for ASCII gives the same terms as the general path."""
    assert index_terms(f"{text} é") == [*index_terms(text), "é"]


@given(
    st.text(
        st.characters(exclude_categories=["Cs", "Cn", "M"]) | st.sampled_from("\u0301\u0323\u0e48"),
        max_size=30,
    )
)
def test_normal_forms_of_a_text_have_equal_terms(text: str) -> None:
    """Canonically equivalent texts have equal terms."""
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert index_terms(composed) == index_terms(decomposed)


@given(PIECES)
def test_a_term_with_digits_or_joiners_finds_itself(text: str) -> None:
    """An ASCII term with digits or joiners is among its own terms."""
    for term in index_terms(text):
        if term.isascii() and not term.isalpha() and len(term) < TERM_BYTES_MAX:
            assert term in index_terms(term)


@given(ANYTHING)
def test_the_cache_changes_nothing(text: str) -> None:
    """A cached word has the same terms as at the first analysis."""
    assert index_terms(text) == index_terms(text)
    long = "A-" * CACHED_CHARS_MAX
    assert index_terms(f"{long} {text}") == index_terms(long) + index_terms(text)


def test_naughty_strings() -> None:
    """All strings of the Big List of Naughty Strings have an analysis and can be used as queries."""
    strings = json.loads(needs("vectors/strings/blns.json").read_text(encoding="utf-8"))
    assert len(strings) > 500
    for text in strings:
        assert set(analyze_query(text)) <= set(index_terms(text))
