"""Tests of the rules that find out whose words a question asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.language.question import analyze_question
from engine.text.language.question_targets import is_by, labels_wanted
from engine.text.speaker_labels import label_of


def wanted(question: str, *lines: str) -> list[str]:
    """The lines whose labels name the speaker that the question asks for."""
    labels = labels_wanted(analyze_question(question))
    return [line for line in lines if is_by(label_of(line), labels)]


YOU, USER, MARIA = "Assistant: take the train", "User: I like trains", "Maria Lopez: trains, trains!"


@pytest.mark.parametrize(
    "question",
    [
        "Which hotel did you recommend?",
        "What have you suggested for my knee?",
        "Can you remind me what you told me about the visa?",
        "What was the seventh job in the list you've just provided?",
        "What advice did you give me about running?",
        "What was your first recommendation for the trip?",
        "What did the assistant say about tea?",
        "the hotel recommended by you",
    ],
)
def test_you_is_the_assistant(question: str) -> None:
    """A question about what "you" said asks for the words of the assistant."""
    assert wanted(question, YOU, USER, MARIA) == [YOU]


@pytest.mark.parametrize(
    "question",
    [
        "What did I tell you about my sister?",
        "Do you remember what I said about the rent?",
        "What have I ever mentioned about fish?",
        "What did the user ask?",
    ],
)
def test_i_am_the_user(question: str) -> None:
    """A question about what "I" said asks for the words of the user."""
    assert wanted(question, YOU, USER, MARIA) == [USER]


@pytest.mark.parametrize(
    "question",
    [
        "What did Maria say about the trip?",
        "What does Maria Lopez suggest?",
        "Which book did Maria recommend to Tim?",
        "the recipe shared by Maria",
        "According to Maria, who won?",
        "What was Maria's advice?",
    ],
)
def test_a_name_is_the_speaker_with_that_name(question: str) -> None:
    """A question about what a person said asks for the words of this person."""
    assert wanted(question, YOU, USER, MARIA, "Tim: hello") == [MARIA]


@pytest.mark.parametrize(
    "question",
    [
        "Can you tell me where Maria lives?",
        "Could you please recommend a hotel?",
        "What did she say?",
        "What was Maria's problem, as mentioned on Monday?",
        "Where did you put the kettle?",
        "say",
        "recommended by",
        "according to",
        "",
    ],
)
def test_other_questions_ask_for_nobody_s_words(question: str) -> None:
    """A request, a pronoun or another verb names no speaker."""
    assert wanted(question, YOU, USER, MARIA) == []


def test_a_line_without_a_label_is_by_nobody() -> None:
    """A text without a label is not by the wanted speaker, even if it begins with the name."""
    assert wanted("What did Maria say?", "Maria said so", "maria: so it is") == ["maria: so it is"]


@given(st.text())
def test_every_question_is_read(question: str) -> None:
    """No text makes the rules fail."""
    labels = labels_wanted(analyze_question(question))
    assert not is_by(None, labels)
