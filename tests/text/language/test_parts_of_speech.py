"""Tests of the parts of speech."""

import pytest

from engine.text.language.question import analyze_question
from engine.text.language.question_model import Part

LETTERS = {
    "P": Part.PROPER,
    "N": Part.NOUN,
    "#": Part.NUMBER,
    "T": Part.TIME,
    "V": Part.VERB,
    "A": Part.ADJECTIVE,
    "R": Part.ADVERB,
    "F": Part.FUNCTION,
    "?": Part.OTHER,
}


def assert_parts(written: str) -> None:
    """Assert that the words of a text have the parts of speech written after them, as in `paint/V`."""
    pairs = [word.rpartition("/") for word in written.split()]
    text = " ".join(word or part for word, _, part in pairs)
    found = {word.text: word.part for word in analyze_question(text).words}
    expected = {word: LETTERS[part] for word, _, part in pairs if word}
    assert {word: found[word] for word in expected} == expected


@pytest.mark.parametrize(
    "written",
    [
        "What/F did/F Caroline/P research/V",
        "When did Melanie/P paint/V a sunrise/N",
        "What paint/N did the/F old/A neighbours/N use/V for/F her painting/N",
        "How/F did Caroline's son/N handle/V the accident/N",
        "Would Melanie/P likely/R enjoy/V the song/N",
        "Which song/N motivates/V Caroline/P to/F be courageous/A",
        "her finished/A screenplay/N",
        "What book is Gina/P currently/R reading/V",
        "the poetry/N that John/P attended/V",
        "Who/F wrote/V the hand-painted/A book/N",
        "two/# dogs/N and 12/# cats/N on the 3rd/# floor/N",
        "What kind/N of books/N did she/F read/V",
        "When did he apply/V to the agency/N",
        "Did they go/V to the festival/N last/T week/T",
    ],
)
def test_lists_endings_and_adjacent_words_determine_the_part(written: str) -> None:
    """The part of speech depends on the word before: a verb after "did", a noun after an article."""
    assert_parts(written)


@pytest.mark.parametrize(
    "written",
    [
        "What/F does Melanie/P like",
        "Is/F Oscar/P here",
        "Are/F Frozen/P and Paris/P nice",
        "Caroline/P went where",
        "Homer's/P Odyssey/P",
        "Compare/N Paris/P with Rome/P",
        "Mark/P King/P sings",
        "Big/P Hero/P films",
        "Boiler/N pressure/N",
        "Dogs/N are what",
        "According/F to John/P",
        "I/F met Anna/P in New/P York/P",
        "The/F NASA/P report/N on TV/N",
        "Where is it? Does/F Puneet/P know",
        "Где/? Анна/P",
    ],
)
def test_a_capitalised_word_is_a_name_except_known_words_at_the_start(written: str) -> None:
    """A capitalised word is a name, except known words at the start of a sentence."""
    assert_parts(written)


def test_a_text_in_capitals_has_no_names() -> None:
    """A text that is all capitals, or has none, has nouns but no names."""
    for text in ("WHAT DID CAROLINE RESEARCH?", "what did caroline research?"):
        question = analyze_question(text)
        assert (question.nouns, question.names) == (("carolin",), ())


def test_two_acronyms_are_names() -> None:
    """A few words in capitals are names."""
    assert analyze_question("NASA ESA").names == ("nasa", "esa")


def test_in_a_title_known_words_are_not_names() -> None:
    """In a title where Every Word Has a Capital, words of the lists are not names."""
    question = analyze_question("What Did Caroline Research In Paris?")
    assert (question.names, question.terms) == (("carolin", "pari"), ("carolin", "research", "pari"))


@pytest.mark.parametrize(
    "identifier",
    [
        "ADR-016",
        "foo_bar",
        "camelCase",
        "v1.2.3",
        "C++",
        "C#",
        "x.py",
        "@alice",
        "#tag",
        "alice@example.org",
        "/usr/lib/x.py",
        "~/notes",
        "src/engine/text",
        "C:\\Users\\bob",
        "https://example.org/a-b?c=1#d",
    ],
)
def test_an_identifier_is_one_name(identifier: str) -> None:
    """An identifier is one word and a name in any text, with all its terms."""
    question = analyze_question(f"what about {identifier}, then?")
    assert [word.text for word in question.words if word.part is Part.PROPER] == [identifier]
    assert set(question.names) >= set(question.words[2].terms) - {"c"}
    assert question.entities[0].text == identifier


@pytest.mark.parametrize(
    "quoted", ['"nothing is impossible"', "'nothing is impossible'", "«nothing is impossible»"]
)
def test_the_words_of_a_quotation_are_names(quoted: str) -> None:
    """All words of a quotation that are not stop words are names."""
    question = analyze_question(f"did she read {quoted} twice?")
    assert question.names == ("noth", "imposs")
    assert question.entities[0].text == "nothing is impossible"


def test_an_apostrophe_does_not_open_a_quotation() -> None:
    """An apostrophe in a possessive or a contraction does not open a quotation."""
    assert analyze_question("the dogs' bowl and the cats' toys don't rock 'n roll").names == ()


@pytest.mark.parametrize("word", ["10km", "18th", "4-letter", "3.14", "1000"])
def test_a_number_with_letters_is_a_number(word: str) -> None:
    """A measure or an ordinal number is not an identifier."""
    assert_parts(f"about {word}/# there")
