"""What sentences state, without a trained model."""

from __future__ import annotations

from functools import partial

import pytest

from tests.knowledge.dreaming.relation_support import Triple, stated


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("Rob is married to Jade.", ("Rob", "married_to", "Jade")),
        ("Dory is the daughter of Rob.", ("Rob", "parent_of", "Dory")),
        ("Wilma and Rob are friends.", ("Wilma", "friend_of", "Rob")),
        ("Desmond's son Kit plays the cello.", ("Desmond", "parent_of", "Kit")),
        ("Anna is a friend of Imogen Vale.", ("Anna", "friend_of", "Imogen Vale")),
        ("Greg has worked at Hobday Marine since 2015.", ("Greg", "works_at", "Hobday Marine")),
        ("Sam graduated from Leeds University.", ("Sam", "studies_at", "Leeds University")),
        ("Rosa lives in Porto now.", ("Rosa", "lives_in", "Porto")),
        ("Theo was born on 3 March 2016 in Bristol.", ("Theo", "born_in", "Bristol")),
        ("Ghent is a city in Belgium.", ("Ghent", "located_in", "Belgium")),
        ("Heron is part of Infrastructure.", ("Heron", "part_of", "Infrastructure")),
        ("Marion is a member of the Tidal Choir.", ("Marion", "member_of", "Tidal Choir")),
        ("The Salt Orchard was written by Imogen Vale.", ("Imogen Vale", "created", "Salt Orchard")),
        ("Rereading \"The Salt Orchard\" by Imogen Vale.", ("Imogen Vale", "created", "The Salt Orchard")),
        ("Otter depends heavily on Grafana for the panels.", ("Otter", "depends_on", "Grafana")),
        ("atlas-db is hosted on AWS, and Heron uses Redis.", ("Heron", "uses", "Redis")),
        ("Gareth owns a narrowboat called Merlin.", ("Gareth", "owns", "Merlin")),
        ("Lena Fischer, who keeps bees, lives in Zurich.", ("Lena Fischer", "lives_in", "Zurich")),
        ("Rob: I met this amazing woman, Jean, at the shop.", ("Rob", "knows", "Jean")),
        ("Rob: my sister Anna came to tea.", ("Anna", "sibling_of", "Rob")),
        ("Rob: It was my daughter Sara's birthday.", ("Rob", "parent_of", "Sara")),
        ("Rob: we got another cat named Bailey too.", ("Rob", "owns", "Bailey")),
        ("Rob: My favorite book is Middlemarch.", ("Rob", "likes", "Middlemarch")),
        ("Rob: Just watched \"Little Women\", loved it.", ("Rob", "watched", "Little Women")),
        ("Rob: Took a short trip last week to Rome.", ("Rob", "visited", "Rome")),
        ("Rob: I went to a Harry Potter conference.", ("Rob", "visited", "Harry Potter conference")),
    ],
)  # fmt: skip
def test_a_sentence_states_a_relation(text: str, triple: Triple) -> None:
    """Each predicate is found in a plain sentence."""
    assert stated(text) == {triple}


@pytest.mark.parametrize(
    "text",
    [
        "Kit isn't married to Saskia.",
        "Is Rob married to Jade?",
        "If Rob had married Jade, we would know.",
        "I hope Otter depends on Grafana.",
        "Maybe Heron uses Redis.",
        "Rob: We no longer use Kafka.",
        "Heron will replace Plover next year.",
        "Hamid used to work at Bosch.",
        "Hamid worked at Bosch until 2019.",
        "Rob: I lost my job at Bosch.",
        "Rob: I want to go to Rome.",
        "Rob: I would love to visit Rome.",
        "Rob: Hey Jade, my favorite treat is tart.",
    ],
)
def test_doubt_states_nothing(text: str) -> None:
    """What is denied, asked, supposed, hoped or past is no relation."""
    assert stated(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "The daemon listens on the unix socket.",
        "The film was directed by somebody from Leeds.",
        "Heavy rain caused the flooding.",
        "Rob: my sister came to tea.",
    ],
)
def test_a_common_noun_is_no_end(text: str) -> None:
    """What has no name at one end states nothing."""
    assert stated(text) == set()


def test_a_noun_stands_for_the_page() -> None:
    """On a page with a title, `it` and `the film` are the page; `she` is the page of a person."""
    film = partial(stated, title="Complicity", source="films")
    assert film("The film was directed by Gavin Millar.") == {("Gavin Millar", "created", "Complicity")}
    assert film("It was written by Iain Banks.") == {("Iain Banks", "created", "Complicity")}
    assert film("She was born in Kent.") == set()
    person = partial(stated, title="Ayesha Quraishi", source="people")
    assert person("She was born in Kent.") == {("Ayesha Quraishi", "born_in", "Kent")}


def test_two_verbs_share_a_subject() -> None:
    """A verb after `and` has the subject of the first verb."""
    assert stated("Otter runs on Debian and depends on Grafana.") == {
        ("Otter", "runs_on", "Debian"),
        ("Otter", "depends_on", "Grafana"),
    }


def test_lists_state_a_relation_for_each_name() -> None:
    """Names joined by `and` each have the relation; a place after a comma is no item of a list."""
    assert stated("Ana and Luis work at Hobday Marine.") == {
        ("Ana", "works_at", "Hobday Marine"),
        ("Luis", "works_at", "Hobday Marine"),
    }
    assert stated("Rob: I flew to Paris, France.") == {("Rob", "visited", "Paris")}


def test_an_unknown_writer_has_no_relations() -> None:
    """Without a name for the writer, nothing is added for `I` and `my`."""
    assert stated("My sister Anna came to tea, and I work at Acme.") == set()


def test_code_and_addresses_state_nothing() -> None:
    """A block of code is not read."""
    assert stated("See below.\n```\nRob is married to Jade.\n```\n") == set()
