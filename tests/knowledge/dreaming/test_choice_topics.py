"""The phrases and words that become tags of texts without names."""

from __future__ import annotations

from tests.knowledge.dreaming.support import EAGER, added, left_in
from tests.support.engines import engine_on


def tags_of(*texts: str) -> list[frozenset[str]]:
    """The tags of each text after a dream."""
    with engine_on() as engine:
        added(engine, *texts)
        engine.dream(config=EAGER)
        return [left_in(engine).tags[text] for text in texts]


def test_words_that_belong_together_become_a_tag() -> None:
    """Two words that texts use together are the tag of these texts."""
    found = tags_of("the oat milk is sour", "more oat milk please", "and the rent", "and a letter")
    assert ["oat-milk" in tags for tags in found] == [True, True, False, False]


def test_words_that_meet_by_chance_are_no_phrase() -> None:
    """Two words that each occur in most texts are not a phrase where they happen to be adjacent."""
    apart = [f"the kettle is {word} and so is the lamp" for word in ("here", "there", "mine", "yours")]
    found = tags_of("a kettle lamp", "one kettle lamp", *apart)
    assert not any("kettle-lamp" in tags for tags in found)


def test_a_word_alone_is_no_topic() -> None:
    """A rare word that two texts share is not a tag: most such words say nothing of the subject."""
    found = tags_of("so much pottery again", "is it pottery then", "so it is", "then again")
    assert not any("pottery" in tags for tags in found)


def test_an_adjective_needs_a_close_noun() -> None:
    """Two words of which the first is a common adjective are a tag only if they hardly occur apart."""
    close = tags_of("the social media again", "more social media", "and rent", "a letter")
    apart = tags_of(
        "a big kettle here", "one big kettle", "a big lamp", "the big door", "a kettle", "no", "so"
    )
    assert any("social-media" in tags for tags in close)
    assert not any("big-kettle" in tags for tags in apart)
