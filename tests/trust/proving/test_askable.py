"""Claims are possible about every term and tag that can exist, and about no others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base import validation
from engine.base.errors import InvalidInputError, RefusedError
from engine.engine import Engine
from engine.text.analyzer import index_terms
from engine.text.analyzer_fingerprint import probes
from proofs.claims import HasTag, NoneMentioning, NoneTagged
from proofs.errors import ProofError
from proofs.leaves import tag_identity


@pytest.mark.parametrize("text", list(probes()), ids=repr)
def test_every_term_of_the_probes_can_be_claimed(text: str) -> None:
    """Every term that the analyzer makes of the probes is a valid term for the verifier."""
    for term in index_terms(text):
        assert NoneMentioning(term).term == term


@pytest.mark.parametrize("words", [["event", "0"], ["event", "00"]])
def test_words_do_not_give_away_the_key_of_the_ids(words: list[str]) -> None:
    """Event 0 can only be claimed sealed, because its payload allows testing guesses of contents."""
    with Engine.open("memory:") as memory:
        with pytest.raises((RefusedError, InvalidInputError)):
            memory.prove([words])
        assert memory.prove([["event", "0", "sealed"]]).data


@given(st.text(max_size=60))
def test_every_term_of_any_text_can_be_claimed(text: str) -> None:
    """Every term that the analyzer makes of any text is a valid term for the verifier."""
    for term in index_terms(text):
        assert NoneMentioning(term).term == term


@given(st.text(max_size=40))
def test_every_tag_can_be_claimed(text: str) -> None:
    """The identity of every stored tag is a valid tag for the verifier."""
    try:
        identity = tag_identity(validation.tag(text))
    except InvalidInputError:
        return
    assert NoneTagged(identity).value == identity


@pytest.mark.parametrize("term", ["Kettle", "two words", "kettle ", "\u3000", ""])
def test_what_can_be_no_term_is_refused(term: str) -> None:
    """A text that cannot be a term is refused, because a proof of its absence would state nothing."""
    with pytest.raises(ProofError, match=r"^input: "):
        NoneMentioning(term)


@pytest.mark.parametrize("identity", ["Kitchen", "#kitchen", "two words", "kitchen\t", "", "a\0", "\x85"])
def test_what_can_be_no_tag_is_refused(identity: str) -> None:
    """A text that cannot be a tag is refused, in claims about all atoms and about one."""
    with pytest.raises(ProofError, match=r"^input: "):
        NoneTagged(identity)
    with pytest.raises(ProofError, match=r"^input: "):
        HasTag(b"\x01" * 16, identity)
