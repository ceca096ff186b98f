"""What sentences state, without a trained model."""

from __future__ import annotations

import pytest

from tests.knowledge.dreaming.relations.support import Triple, stated


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("Rob is married to Jade.", ("Rob", "married_to", "Jade")),
        ("Dory is the daughter of Rob.", ("Rob", "parent_of", "Dory")),
        ("The daemon listens on the unix socket.", ("daemon", "listens_on", "unix socket")),
        ("Wilma and Rob got married in May.", ("Wilma", "married_to", "Rob")),
        ("Desmond's son Kit plays the cello.", ("Desmond", "parent_of", "Kit")),
        ("Anna is a friend of Imogen Vale.", ("Anna", "friend_of", "Imogen Vale")),
        ("Tom leads the platform team.", ("Tom", "manages", "platform team")),
        ("Greg has worked at Hobday Marine since 2015.", ("Greg", "works_at", "Hobday Marine")),
        ("Sam studies law at Leeds University.", ("Sam", "studies_at", "Leeds University")),
        ("Rosa lives in Porto now.", ("Rosa", "lives_in", "Porto")),
        ("Theo was born on 3 March 2016 in Bristol.", ("Theo", "born_in", "Bristol")),
        ("Ghent is in Belgium.", ("Ghent", "located_in", "Belgium")),
        ("The storage team is part of Infrastructure.", ("storage team", "part_of", "Infrastructure")),
        ("Marion is a member of the choir.", ("Marion", "member_of", "choir")),
        ("The payments repo belongs to Jo.", ("Jo", "owns", "payments repo")),
        ("The parser was written by Grace Okafor.", ("Grace Okafor", "created", "parser")),
        ("The scheduler uses Redis.", ("scheduler", "uses", "Redis")),
        ("The worker depends heavily on Postgres.", ("worker", "depends_on", "Postgres")),
        ("atlas-db is hosted on AWS.", ("atlas-db", "runs_on", "AWS")),
        ("The hub connects to the boiler.", ("hub", "connects_to", "boiler")),
        ("We replaced Jenkins with Buildkite.", ("Buildkite", "replaces", "Jenkins")),
        ("Otter depends on Grafana for the panels.", ("Otter", "depends_on", "Grafana")),
        ("William Herschel lived in Bath in 1781.", ("William Herschel", "lives_in", "Bath")),
        ("Rob has a sister called Anna.", ("Anna", "sibling_of", "Rob")),
        ("Started Longitude by Dava Sobel.", ("Dava Sobel", "created", "Longitude")),
        ("Gareth owns a narrowboat called Merlin.", ("Gareth", "owns", "Merlin")),
        ("Our CTO, Lena Fischer, founded Acme.", ("Lena Fischer", "created", "Acme")),
        ("Lena Fischer, who keeps bees, lives in Zurich.", ("Lena Fischer", "lives_in", "Zurich")),
        ("Heavy rain caused the flooding.", ("Heavy rain", "causes", "flooding")),
        ("The frost led to the loss of the harvest.", ("frost", "causes", "loss of the harvest")),
        ("Rob founded the town of Wexley in 1801.", ("Rob", "created", "Wexley")),
        ("Moodle runs on the VM called heron.", ("Moodle", "runs_on", "heron")),
        ("Caddy listens on 443 here.", ("Caddy", "listens_on", "443")),
        ("The bookshop belongs to Anna Pike.", ("Anna Pike", "owns", "bookshop")),
        ("Anna teaches maths at Leeds Grammar School.", ("Anna", "works_at", "Leeds Grammar School")),
        ("Wexley became part of Leeds in 1811.", ("Wexley", "part_of", "Leeds")),
        ("In old age Anna Haas lived in Leeds.", ("Anna Haas", "lives_in", "Leeds")),
        ("The Otter, 140 tons, owned by Anna, sank.", ("Anna", "owns", "Otter")),
        ("Kestrel itself runs on Linux.", ("Kestrel", "runs_on", "Linux")),
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
        "is rob still at work with jade or does he live in Leeds",
        "If Rob had married Jade, we would know.",
        "I hope the daemon listens on the unix socket.",
        "Maybe the scheduler uses Redis.",
        "We no longer use Kafka.",
        "The gateway will replace the proxy next year.",
        "Nobody thinks that the scheduler uses Redis.",
        "Hamid used to work at Bosch.",
        "The scheduler could use Redis or Kafka.",
        "She wants to work at Acme.",
        "Rob's ex wife Jade came.",
        "Hamid worked at Bosch until 2019.",
        "Replace the proxy with a gateway.",
        "Difficult times are part of life.",
    ],
)
def test_doubt_states_nothing(text: str) -> None:
    """What is denied, asked, supposed, hoped or past is no relation."""
    assert stated(text) == set()


def test_two_verbs_share_a_subject() -> None:
    """A verb after `and` has the subject of the first verb."""
    assert stated("The soil sensor runs on a Raspberry Pi and connects to the hut router.") == {
        ("soil sensor", "runs_on", "Raspberry Pi"),
        ("soil sensor", "connects_to", "hut router"),
    }


def test_lists_state_a_relation_for_each_name() -> None:
    """Names joined by `and` each have the relation."""
    assert stated("Ana and Luis work at the Porto office.") == {
        ("Ana", "works_at", "Porto office"),
        ("Luis", "works_at", "Porto office"),
    }


def test_a_pronoun_means_the_only_person() -> None:
    """A pronoun stands for a name only if the text names one person before it."""
    assert stated("Theo came home. His mother, Ellie Farrow, was late.") == {
        ("Ellie Farrow", "parent_of", "Theo")
    }
    assert stated("Theo saw Kit. His mother, Ellie Farrow, was late.") == set()


def test_a_month_is_no_person() -> None:
    """A name that is used as a month cannot be what a pronoun means."""
    assert stated("Benny started last August. He lives in Leeds.") == {("Benny", "lives_in", "Leeds")}


def test_the_speaker_of_a_line_is_the_writer() -> None:
    """`My sister` is the sister of the person whose name begins the line."""
    assert stated("Rob: my sister Anna came to tea.") == {("Anna", "sibling_of", "Rob")}


def test_an_unknown_writer_has_no_relations() -> None:
    """Without a name for the writer, nothing is added for `I` and `my`."""
    assert stated("My sister Anna came to tea, and I work at Acme.") == set()


def test_code_and_addresses_state_nothing() -> None:
    """A block of code is not read."""
    assert stated("See below.\n```\nRob is married to Jade.\n```\n") == set()
