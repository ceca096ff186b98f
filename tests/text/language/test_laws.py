"""Properties that hold for the analysis of every text."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.text.analyzer import analyze_query
from engine.text.language.phrasing import _PREFIXES
from engine.text.language.question import ENTITIES_MAX, _analyzed, analyze_question
from engine.text.language.tokenizer import clean, split

SAMPLES = (
    "what when did is are tell me about please hi , . ? ! ' \" “ ” ( ) - – & / Caroline Melanie's went paint "
    "the a of and between from to since before two weeks ago last week May march 5 13 2023 2023-10-13 "
    "yesterday Friday 10:30 ADR-016 foo_bar C++ @a #b http://x.y/z a/b/c 小明 Анна 🎉 \ud800 \x00 \u0301 "
    "Dr. TV US i'm DON'T reading painted quickly ’s 's th"
)
WORDS = st.sampled_from(SAMPLES.split(" "))
TEXTS = st.one_of(
    st.lists(WORDS, max_size=14).map(" ".join),
    st.lists(WORDS, max_size=8).map("".join),
    st.text(st.characters(exclude_categories=()), max_size=60),
)
NOWS = st.one_of(st.none(), st.integers(-(1 << 70), 1 << 70), st.integers(0, 1 << 52))


@given(TEXTS, NOWS)
@example("a\ud800b", 0)
@example("before yesterday, from May to 5 March 2023", 1 << 63)
def test_levels_are_nested(text: str, now: int | None) -> None:
    """Names are among the nouns, nouns among the terms, and the terms are those of the core."""
    question = analyze_question(text, now=now)
    assert question.terms == tuple(analyze_query(question.core))
    assert set(question.names) <= set(question.nouns) <= set(question.terms)
    assert list(question.nouns) == [term for term in question.terms if term in question.nouns]


@given(TEXTS)
def test_the_core_is_a_part_of_the_text(text: str) -> None:
    """The core is a substring of the text, and is blank only if the text is blank."""
    question = analyze_question(text)
    assert question.core in text
    assert bool(question.core.strip()) == bool(text.strip())


@given(TEXTS)
def test_words_stand_in_the_core_in_order(text: str) -> None:
    """The words occur in the core in this order, with the terms of the analyzer."""
    question = analyze_question(text)
    at = 0
    for word in question.words:
        at = clean(question.core).index(word.text, at) + len(word.text)
        assert word.terms == tuple(analyze_query(word.text)) != ()


@given(TEXTS)
def test_entities_are_distinct_and_of_the_question(text: str) -> None:
    """Entities have distinct sets of terms of the question, and names precede nouns."""
    question = analyze_question(text)
    terms = [frozenset(entity.terms) for entity in question.entities]
    assert len(terms) == len(set(terms)) <= ENTITIES_MAX
    assert all(found and found <= set(question.terms) for found in terms)
    proper = [entity.proper for entity in question.entities]
    assert proper == sorted(proper, reverse=True)


@given(TEXTS, NOWS)
def test_times_have_both_ends_or_neither(text: str, now: int | None) -> None:
    """A time has both ends or neither; without `now`, no other times have an interval."""
    dated = analyze_question(text, now=now).times
    undated = analyze_question(text).times
    assert [time.text for time in dated] == [time.text for time in undated]
    for time, plain in zip(dated, undated, strict=True):
        assert time.text in text
        assert (time.start is None) == (time.end is None)
        assert time.start is None or time.end is None or time.start <= time.end
        assert plain.start is None or plain == time


@given(TEXTS)
def test_an_analysis_depends_on_the_text_alone(text: str) -> None:
    """A cached analysis equals a new one."""
    assert _analyzed(text).question == analyze_question(text)


@given(TEXTS)
def test_pieces_are_cut_from_the_text_in_order(text: str) -> None:
    """Pieces are ordered substrings without overlaps, and the text between them has no terms."""
    safe = clean(text)
    pieces = split(safe)
    ends = [0, *(piece.end for piece in pieces)]
    starts = [*(piece.start for piece in pieces), len(safe)]
    assert all(safe[piece.start : piece.end] == piece.text for piece in pieces)
    assert all(end <= start for end, start in zip(ends, starts, strict=True))
    assert all(analyze_query(safe[end:start]) == [] for end, start in zip(ends, starts, strict=True))


@pytest.mark.parametrize("pattern", _PREFIXES)
@settings(max_examples=40)
@given(st.data())
def test_a_prefix_has_one_of_its_beginnings(pattern: str, data: st.DataObject) -> None:
    """A text that a pattern matches has one of the beginnings listed for the pattern."""
    text = data.draw(st.from_regex(rf"\A(?:{pattern})"))
    assert text.startswith(tuple(_PREFIXES[pattern].split("|")))
