"""Tests of the irregular forms of words, which the stemmer does not unify."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.analyzer import STOP_WORDS, analyze_query
from engine.text.language.lexicon import FORMS
from engine.text.language.parts_of_speech import forms_of

GROUPS = [group for groups in FORMS.values() for group in groups]
TERMS = sorted({term for group in GROUPS for term in analyze_query(group)})


@pytest.mark.parametrize(
    ("word", "others"),
    [
        ("go", "goe gone went"),
        ("went", "go goe gone"),
        ("child", "children"),
        ("children", "child"),
        ("bought", "buy"),
        ("lay", "laid lain lie"),
        ("kettle", ""),
        ("", ""),
        ("the", ""),
        ("was", ""),
    ],
)
def test_forms_of_a_word(word: str, others: str) -> None:
    """An irregular form gives its other forms as sorted terms, and other words give none."""
    assert forms_of(" ".join(analyze_query(word))) == tuple(others.split())


@pytest.mark.parametrize("group", GROUPS)
def test_every_form_of_the_table_is_needed(group: str) -> None:
    """The forms in an entry have different terms, and none is a stop word."""
    terms = analyze_query(group)
    assert len(terms) == len(group.split()) >= 2
    assert not set(terms) & STOP_WORDS


@given(st.sampled_from(TERMS))
def test_forms_are_mutual(term: str) -> None:
    """If a word is a form of another, the reverse also holds, and no word is a form of itself."""
    others = forms_of(term)
    assert term not in others
    assert list(others) == sorted(set(others))
    assert all(term in forms_of(other) for other in others)


@given(st.text(max_size=20))
def test_any_text_is_accepted(text: str) -> None:
    """Any text is accepted, and all forms are terms of the table."""
    assert set(forms_of(text)) <= set(TERMS)
