"""Tests of the version of the rules, of their imports and of their word lists."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.text.analyzer import STOP_WORDS
from engine.text.language import question
from engine.text.language.lexicon import read_lists
from engine.text.language.question import analyze_question
from engine.text.language.question_model import RULES

LISTS = [
    (file, name)
    for file in ("words.txt", "function_words.txt", "forms.txt")
    for name in read_lists("engine.text.language", file)
]


def test_every_analysis_names_the_rules() -> None:
    """An analysis has the name of the rules."""
    assert analyze_question("What did Caroline research?").pipeline == RULES


def test_an_analysis_loads_nothing_slow() -> None:
    """An analysis loads neither a language library nor numpy."""
    program = (
        "import sys; from engine.text.language.question import analyze_question as a;"
        " a('When did Anna leave?');"
        "print(sorted({'spacy', 'numpy', 'tempfile', 'importlib.resources'} & set(sys.modules)))"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert printed.stdout == "[]\n"


def test_the_analyzer_does_not_import_the_language_rules() -> None:
    """The analyzer and the modules next to it do not import `engine.text.language`."""
    program = (
        "import sys; from engine.text import analyzer_fingerprint, simhash, speaker_labels, token_estimate;"
        "analyzer_fingerprint.fingerprint();"
        "print([one for one in sys.modules if one.startswith('engine.text.language')])"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert printed.stdout == "[]\n"


def test_concurrent_analyses_equal_sequential_ones() -> None:
    """Concurrent analyses in many threads equal sequential ones."""
    texts = [f"What did Caroline{i} paint in May 20{i:02} at {'x' * i}?" for i in range(40)]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(analyze_question, texts))
    question._cached.cache_clear()
    assert together == [analyze_question(text) for text in texts]


@pytest.mark.parametrize(("file", "name"), LISTS)
def test_word_lists_are_sorted(file: str, name: str) -> None:
    """The entries of each word list are sorted, unique, and without surrounding spaces."""
    entries = read_lists("engine.text.language", file)[name]
    assert entries == sorted(set(entries)) != []
    assert all(entry == " ".join(entry.split()) for entry in entries)


def test_each_function_word_has_one_part_of_speech() -> None:
    """Each function word has exactly one part of speech."""
    listed = [
        word for words in read_lists("engine.text.language", "function_words.txt").values() for word in words
    ]
    assert len(listed) == len(set(listed)) > len(STOP_WORDS)


def test_a_missing_word_list_is_an_error() -> None:
    """A missing word list raises FileNotFoundError."""
    with pytest.raises(FileNotFoundError):
        read_lists("engine.text.language", "nothing.txt")
