"""Tests of the analysis of the questions in the shared data."""

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from engine.text.analyzer import STOP_WORDS
from engine.text.language.question import analyze_question
from engine.text.language.question_model import Part
from tests.support.shared_data import needs

SPEAKERS = {
    "conv-26": {"carolin", "melani"},
    "conv-30": {"jon", "gina"},
    "conv-41": {"john", "maria"},
    "conv-42": {"joanna", "nate"},
    "conv-43": {"john", "tim"},
}

NOW = 1_700_000_000_000_000
"""14 November 2023, in µs UTC."""
ANALYSES = {
    "cacm": "e48393c34057aa2b03f28a605695f65bed4309decd17fca12999fd21e6803979",
    "hotpotqa-sample": "4941908017d9aeb2f7e03b530c5b05f609b098e9e6aeb2a804985d0fecd70695",
    "locomo-dev/conv-26": "fa3d4207db56ba0ee34e51cfe34e85a6f17a9de7e1659d5d10734503371148ca",
    "locomo-dev/conv-30": "8bc1fce126f5b6b02b5b7c98da35370197b151d1776cab834b8f1733b14905de",
    "locomo-dev/conv-41": "cabff3d7ce577d531e4851617c75b64db508076e03df7d386ecb59d9eb5dd809",
    "locomo-dev/conv-42": "714c8df618f430c85b84b5cae0fb28268821e8a31f01f25a78ae41e04766e340",
    "locomo-dev/conv-43": "e58a4dc63a7d81a984295932792e1d0a1e3ca11bdd9c54f06da7f236ea59a804",
    "npl": "34cd4a88dc5432ae65d740892463790fa1d5d285dba990922ac63fced4d6ba66",
}
"""Data set → SHA-256 over the analyses of its questions, as `memroot rules 3` makes them."""


def questions(folder: Path) -> list[str]:
    """Return the questions of one data set."""
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["query"] for line in lines]


def digest_of(data: str) -> str:
    """Return the SHA-256 over the analyses of all questions of a data set."""
    digest = sha256()
    for text in questions(needs(f"data/{data}")):
        digest.update(ascii(analyze_question(text, now=NOW)).encode())
    return digest.hexdigest()


@pytest.mark.parametrize("conversation", sorted(SPEAKERS))
def test_the_speakers_of_a_conversation_are_names(conversation: str) -> None:
    """A speaker who is mentioned in a question is always found as a name."""
    folder = needs(f"data/locomo-dev/{conversation}")
    missed = [
        text
        for text in questions(folder)
        for found in [analyze_question(text)]
        if not SPEAKERS[conversation] & set(found.terms) <= set(found.names)
    ]
    assert missed == []


@pytest.mark.parametrize("data", [*(f"locomo-dev/{name}" for name in sorted(SPEAKERS)), "hotpotqa-sample"])
def test_question_words_are_not_names(data: str) -> None:
    """A function word is a name only if it is all capitals, such as US."""
    named = {
        word.text
        for text in questions(needs(f"data/{data}"))
        for word in analyze_question(text).words
        if word.part is Part.PROPER and word.text.lower() in STOP_WORDS and not word.text.isupper()
    }
    assert named == set()


@pytest.mark.parametrize("data", [*(f"locomo-dev/{name}" for name in sorted(SPEAKERS)), "hotpotqa-sample"])
def test_the_core_of_a_plain_question_is_the_whole_text(data: str) -> None:
    """The core of a question without additional phrases is the entire text."""
    texts = questions(needs(f"data/{data}"))
    assert [text for text in texts if analyze_question(text).core != text] == []


@pytest.mark.parametrize("data", ANALYSES)
def test_the_analyses_are_those_of_these_rules(data: str) -> None:
    """The analyses have these digests; a change of the rules needs a new number in `model.RULES`."""
    assert digest_of(data) == ANALYSES[data]


def test_the_analyses_are_the_same_without_spacy() -> None:
    """In a Python in which spaCy cannot be imported, all analyses are the same."""
    for data in ANALYSES:
        needs(f"data/{data}")
    program = (
        "import sys; sys.modules['spacy'] = None\n"
        "from tests.text.language.test_shared_questions import ANALYSES, digest_of\n"
        "print({data: digest_of(data) for data in ANALYSES} == ANALYSES)"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert printed.stdout == "True\n"
