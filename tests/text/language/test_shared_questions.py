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
    "cacm": "37beda32aa012474fa6178a0da8ec148cd445a8d04d42664251dfed45343a2c8",
    "hotpotqa-sample": "9ce3c2fa4f39587d71764637626d2ba7feb7baa09275cf433899cb6c320177b0",
    "locomo-dev/conv-26": "b76141888e732a20b8d616b8602858b27234d99693a4e101505466555ad03de5",
    "locomo-dev/conv-30": "fe5f51a644b0419cba54094148a60ded188ec9cec22f017e6034156a75ef6d2c",
    "locomo-dev/conv-41": "6f4a73077539ebd956b30032235d1539bd57152e63f117f37348bd336ab784fb",
    "locomo-dev/conv-42": "6f7599c70e354f852e47b1fde2ca0f89882a92cefe4682fcd32b8c362e985343",
    "locomo-dev/conv-43": "3afc97f137355adc61441b84399828458f28082d814fcee698ad2f42830858a1",
    "npl": "b73d40e561bccb28ed1f4f871d84fa33b033e260a4bd3b0c6e7cbee08d9596f9",
}
"""Data set → SHA-256 over the analyses of its questions, as `memroot rules 2` makes them."""


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
