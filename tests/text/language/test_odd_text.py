"""Tests of questions with unusual text."""

import pytest

from engine.text.analyzer import analyze_query
from engine.text.language.question import WORDS_MAX, analyze_question
from engine.text.language.question_model import Part

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "text",
    [
        "小明昨天去了哪里？",
        "彼女は東京で何をしましたか。",
        "где живёт моя сестра?",
        "أين تعيش سارة؟",
    ],
    ids=["Chinese", "Japanese", "Russian", "Arabic"],
)
def test_other_scripts_keep_every_term(text: str) -> None:
    """In scripts without known parts of speech, the first two levels have all terms."""
    question = analyze_question(text)
    assert question.terms == question.nouns == tuple(analyze_query(text)) != ()
    assert {word.part for word in question.words} == {Part.OTHER}
    assert len(question.entities) == 1


def test_a_foreign_word_in_an_english_question_is_kept() -> None:
    """A word of unknown part of speech is among the nouns."""
    assert analyze_question("When did 小明 go to Paris?").nouns == ("小明", "pari")


@pytest.mark.parametrize("text", ["who is the", "To be, or not to be", "what was it?"])
def test_stop_words_alone_are_searched_for(text: str) -> None:
    """A question of function words has terms, but neither nouns nor entities."""
    question = analyze_question(text)
    assert question.terms == tuple(analyze_query(text)) != ()
    assert (question.nouns, question.names, question.entities) == ((), (), ())


@pytest.mark.parametrize(
    "text", ["", " ", "?!...", "\u3002\u300c\u300d", "\x00\x1b", "\ud800", "\u00ad\u200b"]
)
def test_text_without_words_has_no_terms(text: str) -> None:
    """A text without words has no terms and raises no error."""
    question = analyze_question(text)
    assert (question.core, question.words, question.terms, question.entities) == (text, (), (), ())


def test_lone_surrogates_and_control_characters_separate() -> None:
    """Lone surrogates and control characters separate words."""
    question = analyze_question("What did\ud800Caroline\x00paint\x1b?")
    assert question.terms == ("carolin", "paint")
    assert question.names == ("carolin",)


def test_emoji_are_terms() -> None:
    """An emoji is searched for like a word of unknown part of speech."""
    question = analyze_question("the 🎉 party")
    assert question.nouns == ("🎉", "parti")


def test_only_the_first_words_of_a_long_text_have_parts_of_speech() -> None:
    """All of a long text is searched for, but only the first 2,000 words have parts of speech."""
    text = "The kettle boils. " * WORDS_MAX + "Finally Caroline arrives."
    question = analyze_question(text)
    assert len(question.words) == WORDS_MAX
    assert question.terms == ("kettl", "boil", "final", "carolin", "arriv")
    assert question.names == ()


@pytest.mark.parametrize(
    "unit",
    [
        "x",
        "a ",
        "1 ",
        "1/",
        "May 5 ",
        "\u0301",
        '"',
        "'a ",
        "Ab ",
        "a+",
        "@a",
        "a.",
        "a-",
        "🎉",
        "please ",
    ],
)
def test_64_kib_of_anything_are_analysed(unit: str) -> None:
    """Texts of the maximum query size are analysed, also regular ones."""
    text = unit * (65536 // len(unit.encode()))
    assert analyze_question(text, now=0).terms == tuple(analyze_query(analyze_question(text).core))
