"""What the questions of the shared data are taken apart into."""

import json
from pathlib import Path

import pytest

from engine.language.question import Part, analyze_question
from engine.text.words import STOP_WORDS
from tests.shared import needs

SPEAKERS = {
    "conv-26": {"carolin", "melani"},
    "conv-30": {"jon", "gina"},
    "conv-41": {"john", "maria"},
    "conv-42": {"joanna", "nate"},
    "conv-43": {"john", "tim"},
}


def questions(folder: Path) -> list[str]:
    """The questions of one data set."""
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["query"] for line in lines]


@pytest.mark.parametrize("conversation", sorted(SPEAKERS))
def test_the_speakers_of_a_conversation_are_names(conversation: str) -> None:
    """Wherever a speaker is asked about, in whatever form, the name is found as one."""
    folder = needs(f"data/locomo-dev/{conversation}")
    missed = [
        text
        for text in questions(folder)
        for found in [analyze_question(text)]
        if not SPEAKERS[conversation] & set(found.terms) <= set(found.names)
    ]
    assert missed == []


@pytest.mark.parametrize("data", [*(f"locomo-dev/{name}" for name in sorted(SPEAKERS)), "hotpotqa-sample"])
def test_question_words_are_no_names(data: str) -> None:
    """No function word is a name, whatever its capital, but where it is one in capitals, as US is."""
    named = {
        word.text
        for text in questions(needs(f"data/{data}"))
        for word in analyze_question(text).words
        if word.part is Part.PROPER and word.text.lower() in STOP_WORDS and not word.text.isupper()
    }
    assert named == set()


@pytest.mark.parametrize("data", [*(f"locomo-dev/{name}" for name in sorted(SPEAKERS)), "hotpotqa-sample"])
def test_a_plain_question_is_all_core(data: str) -> None:
    """Nothing is taken off a question that has nothing around it."""
    texts = questions(needs(f"data/{data}"))
    assert [text for text in texts if analyze_question(text).core != text] == []
