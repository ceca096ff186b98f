"""The answer of an exploration: sentences that answer the question, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from engine import Add, Engine
from engine.commands import Command
from engine.query.explore.quotes import QUOTE_CHARS, QUOTES_MAX, Quote, text_of_quotes
from tests.query.explore.doing import explored, memories
from tests.query.explore.support import obeyed, wrong_with_text
from tests.query.recall.histories import questions
from tests.query.recall.support import fillers, id_of, memory

SOCKET = Add(
    "The daemon listens on a Unix socket. Authentication is left to the permissions of the file: only its "
    "owner may open the socket. Backups run at three.",
    id=id_of(1),
    title="Socket of the daemon",
)
CHAT = [
    Add("Anna: I went to a pottery class in Leeds yesterday.", id=id_of(1), source="chat", sequence=1),
    Add("Boris: Wow, how was it?", id=id_of(2), source="chat", sequence=2),
    Add("Boris: Anna, I bought a green canoe last week!", id=id_of(3), source="chat", sequence=3),
    Add("Anna: Boris told me that he sold his car.", id=id_of(4), source="chat", sequence=4),
]


def answer(engine: Engine, question: str) -> list[str]:
    """The sentences that answer a question."""
    return [quote.text for quote in engine.explore(question).answer]


def answered(commands: list[Command], question: str) -> list[str]:
    """The sentences of a new memory that answer a question."""
    with memory([*commands, *fillers(30)]) as engine:
        return answer(engine, question)


def test_the_sentence_that_answers_is_quoted_with_its_atom() -> None:
    """Sentences of the atom that answers are quoted in the order of its text, and name the atom."""
    with memory([SOCKET, *fillers(30)]) as engine:
        quote = engine.explore("How does the daemon handle authentication?").answer[-1]
    assert (quote.id, quote.title) == (id_of(1), "Socket of the daemon")
    sentence = "Authentication is left to the permissions of the file: only its owner may open the socket."
    assert quote.text == sentence
    assert str(quote) == f"[00000000, 2020-09-13] | Socket of the daemon\n  {sentence}\n"


@pytest.mark.parametrize(
    "question",
    [
        "When did the daemon buy a trombone?",
        "Who is Zanzibar Daemon?",
        "Why was the xylophone in Zanzibar?",
        "Where does the giraffe of the owner sleep?",
    ],
)
def test_a_question_about_something_never_mentioned_has_no_answer(question: str) -> None:
    """Texts with the question's other words are not handed out as an answer."""
    assert answered([SOCKET], question) == []


def test_in_a_conversation_i_is_the_speaker() -> None:
    """A question about one speaker is not answered by what the other speaker says about himself."""
    assert answered([*CHAT], "When did Boris buy a canoe?") == ["Anna, I bought a green canoe last week!"]
    assert answered([*CHAT], "When did Anna buy a green canoe?") == []
    assert answered([*CHAT], "Did Boris sell his car?") == ["Boris told me that he sold his car."]


def test_the_speaker_is_the_title_of_a_quote() -> None:
    """A quote of a conversation says who speaks."""
    with memory([*CHAT, *fillers(30)]) as engine:
        [quote] = engine.explore("Where did Anna go to a pottery class?").answer
    assert (quote.title, quote.text) == ("Anna", "I went to a pottery class in Leeds yesterday.")


def test_headings_and_lists_of_links_do_not_answer() -> None:
    """A sentence is preferred to a heading, and to a line with nothing but links."""
    text = "# The samovar of Anna\n\n- [[samovar]] [[Anna]]\n\nThe samovar of Anna is made of copper."
    assert answered([Add(text)], "What is the samovar of Anna made of?") == [
        "The samovar of Anna is made of copper."
    ]


def test_a_long_sentence_is_cut_around_the_words_of_the_question() -> None:
    """The quote has the question's words and is marked as cut."""
    text = "it lies in a folder and " * 40 + "the samovar of Anna is copper and " + "so on and " * 60
    [quote] = answered([Add(text)], "samovar of Anna")
    assert "samovar of Anna is copper" in quote
    assert quote.startswith("…")
    assert len(quote) <= QUOTE_CHARS


def test_the_whole_text_of_a_read_atom_answers() -> None:
    """A sentence that the context shows only in part is quoted as a whole."""
    text = "Nothing is said here. " * 60 + "The samovar is descaled on Mondays. " + "It is blue. " * 60
    [quote, *_] = answered([Add(text)], "When is the samovar descaled?")
    assert quote == "The samovar is descaled on Mondays."


def test_an_exploration_without_texts_has_no_answer() -> None:
    """If the policy reads nothing, nothing is quoted."""
    assert explored("ANSWER").answer == ()


@settings(max_examples=30, deadline=None)
@given(memories(), questions)
def test_quotes_are_parts_of_their_atoms_and_forge_nothing(commands: list[Command], query: str) -> None:
    """For any memory, each quote is in its atom's text, and its lines cannot be taken for ours."""
    with memory(commands) as engine:
        found = engine.explore(query)
        texts = {quote.id: " ".join(engine.get(quote.id).content.split()) for quote in found.answer}
    assert len(found.answer) <= QUOTES_MAX
    for quote in found.answer:
        whole = quote.text.strip("…")
        if not obeyed(texts[quote.id]):
            assert whole in texts[quote.id]
    assert wrong_with_text(text_of_quotes(found.answer)) == []


def test_quotes_of_one_atom_share_a_heading() -> None:
    """The heading is shown once, with the mark."""
    quotes = [Quote(text, id_of(1), "Tea", None, None, 0) for text in ("One.", "Two.")]
    assert text_of_quotes(quotes, "answer ") == "[answer 00000000] | Tea\n  One.\n  Two.\n"
