"""Paths between names of different domains."""

from __future__ import annotations

from math import log

import pytest

from engine import Add, Filters, Link, Relate, Supersede, Tag, Tombstone
from engine.base.errors import InvalidInputError
from engine.commands import Command
from engine.engine import Engine
from engine.query.graph.across import PATHS_MAX
from engine.query.graph.domain_paths import AcrossGraph, StepKind
from engine.query.graph.domains import Domain, domain_of, domains_in, read_text
from tests.query.recall.support import id_of, memory

TEXTS = (
    "Ada wrote the tide clock in Forth.",
    "Forth runs on the board in the harbour office.",
    "The harbour office of Bristol closes on Sundays.",
    "Nobody else in Bristol has met Ada.",
)


def story(*more: Command) -> list[Command]:
    """A memory of three texts, with relations between a person, a technology and a place."""
    adds: list[Command] = [Add(text, id=id_of(number)) for number, text in enumerate(TEXTS[:3])]
    return [
        *adds,
        Relate("Ada", "uses", "Forth", source=id_of(0)),
        Relate("Forth", "located_in", "Bristol", source=id_of(1), weight=0.5),
        *more,
    ]


def asked(made: list[Command], question: str = "Ada Bristol", **wanted: object) -> AcrossGraph:
    """The answer of a new memory to a question."""
    with memory(made) as engine:
        return engine.across(question, **wanted)  # type: ignore[arg-type]


def test_a_path_leads_from_a_person_over_a_technology_to_a_place() -> None:
    """Each step of a path has the relation and the atom that states it."""
    [path] = asked(story()).paths
    assert path.names == ("Ada", "Forth", "Bristol")
    assert path.domains == (Domain.PERSON, Domain.TECHNOLOGY, Domain.PLACE)
    assert [(step.kind, step.relation, step.forward) for step in path.steps] == [
        (StepKind.RELATION, "uses", True),
        (StepKind.RELATION, "located_in", True),
    ]
    assert [step.evidence.id for step in path.steps if step.evidence] == [id_of(0), id_of(1)]
    # Two of the three texts have the name in between.
    assert path.strength == round(0.5 * (1 - log(2) / log(4)), 6)


def test_a_path_can_lead_against_the_direction_of_a_relation() -> None:
    """A step that leads from the object to the subject is not `forward`."""
    [path] = asked(story(), "Bristol Ada").paths
    assert path.names == ("Bristol", "Forth", "Ada")
    assert [step.forward for step in path.steps] == [False, False]


def test_names_that_are_only_tags_are_joined_by_atoms() -> None:
    """Without relations, an atom with two tags joins the tags, and the strength is s / (1 + n)."""
    made: list[Command] = [
        Add("Repaired the boiler.", id=id_of(0), tags=("Ada", "bristol")),
        Add("Went home.", id=id_of(1), tags=("bristol",)),
        *(Add(f"Other text {number}.", id=id_of(number)) for number in range(2, 9)),
    ]
    [path] = asked(made).paths
    [step] = path.steps
    assert (path.names, step.kind, step.relation) == (("Ada", "Bristol"), StepKind.TOGETHER, None)
    assert (step.strength, step.evidence and step.evidence.id) == (0.5, id_of(0))


def test_an_entity_and_a_tag_with_its_name_are_one_name() -> None:
    """The node has the id of the entity, the tag, and the atoms of both."""
    made = story(Relate("Ada Quill", "knows", "Ada"), Tag(id_of(2), ("ada-quill",)))
    node = asked(made, "Ada Quill").nodes[0]
    assert (node.name, node.tag, node.atoms, node.given) == ("Ada Quill", "ada-quill", 1, True)
    assert node.id is not None


def test_a_capitalised_word_of_the_question_is_a_name_of_the_texts_with_it() -> None:
    """Words that nobody tagged are joined by the texts that contain them."""
    made: list[Command] = [Add(text, id=id_of(number)) for number, text in enumerate(TEXTS)]
    [path] = asked(made, "What links Ada with Bristol?").paths
    assert path.names == ("Ada", "Bristol")
    assert [step.evidence.id for step in path.steps if step.evidence] == [id_of(3)]


def test_a_longer_path_is_listed_only_if_it_is_stronger() -> None:
    """Of two paths between the same names, the short weak one and the long strong one are both listed."""
    both = asked(story(Relate("Ada", "visited", "Bristol", weight=0.1)), "Ada Bristol")
    assert [len(path.names) for path in both.paths] == [3, 2]
    short = asked(story(Relate("Ada", "visited", "Bristol")), "Ada Bristol")
    assert [len(path.names) for path in short.paths] == [2]


def test_a_name_of_many_atoms_is_a_weak_link() -> None:
    """A path over a common name is weaker than the same path over a rare name, and is still found."""

    def strength(common: int) -> float:
        made: list[Command] = [Add(f"Text {number}.", id=id_of(number)) for number in range(30)]
        made += [Relate("Ada", "likes", "tea"), Relate("tea", "based_in", "Bristol")]
        made += [Tag(id_of(number), ("tea",)) for number in range(common)]
        return asked(made).paths[0].strength

    assert strength(1) == 1.0
    assert 0 < strength(20) < strength(5) < 1.0


def test_a_path_without_evidence_that_may_answer_is_not_shown() -> None:
    """Hidden and superseded texts, and texts that a filter excludes, are no evidence."""
    made: list[Command] = [
        Add("Ada lives in Bristol.", id=id_of(0), tags=("Ada", "Bristol")),
        Add("Ada has moved away.", id=id_of(1), tags=("Ada", "moved")),
    ]
    assert asked(made).paths
    assert not asked([*made, Tombstone(id_of(0))]).paths
    assert not asked([*made, Supersede(id_of(0), id_of(1))]).paths
    assert asked([*made, Supersede(id_of(0), id_of(1))], filters=Filters(superseded=True)).paths
    assert not asked(made, filters=Filters(tags=("moved",))).paths
    assert not asked(story(), filters=Filters(sources=("elsewhere",))).paths


@pytest.mark.parametrize(
    ("provenance", "strength"), [("internal", 0.5), ("external", 0.25), ("quarantine", 0.125)]
)
def test_external_evidence_is_weaker(provenance: str, strength: float) -> None:
    """The strength of a step is halved for an external text and quartered for one in quarantine."""
    made: list[Command] = [
        Add("Both.", id=id_of(0), tags=("Ada", "Bristol"), provenance=provenance),
        *(Add(f"Other text {number}.", id=id_of(number)) for number in range(1, 9)),
    ]
    [path] = asked(made).paths
    assert path.strength == strength
    assert path.steps[0].evidence is not None
    assert path.steps[0].evidence.provenance == provenance


def test_a_question_that_names_domains_only_starts_from_the_best_known_names() -> None:
    """Paths then join names of these domains, wherever in the memory they are."""
    graph = asked(story(), "what links a person with a place?")
    assert {path.domains[0] for path in graph.paths} | {path.domains[-1] for path in graph.paths} == {
        Domain.PERSON,
        Domain.PLACE,
    }


def test_a_time_is_only_an_end_of_paths() -> None:
    """Two names are not linked by the year of their texts."""
    made: list[Command] = [
        Add("Born then.", id=id_of(0), tags=("Ada", "2016")),
        Add("Built then.", id=id_of(1), tags=("Bristol", "2016")),
    ]
    paths = asked(made, "Ada, Bristol, 2016").paths
    assert {frozenset(path.names) for path in paths} == {
        frozenset({"Ada", "2016"}),
        frozenset({"Bristol", "2016"}),
    }


def test_a_page_is_a_name_of_the_texts_that_link_to_it() -> None:
    """A text with links to two pages joins the names of the pages, and so does a piece of one of them."""
    made: list[Command] = [
        Add("A harbour.", id=id_of(0), source="notes/Bristol.md", sequence=0),
        Add("A clockmaker.", id=id_of(1), source="notes/Ada Quill.md", sequence=0),
        Add("Both were closed.", id=id_of(2)),
    ]
    assert not asked(made, "Ada Quill, Bristol").paths
    one = [*made, Link(id_of(2), "references", id_of(0)), Link(id_of(2), "references", id_of(1))]
    for commands, evidence in ((one, id_of(2)), ([*made, Link(id_of(1), "references", id_of(0))], id_of(1))):
        [path] = asked(commands, "Ada Quill, Bristol").paths
        assert path.names == ("Ada Quill", "Bristol")
        assert [step.evidence.id for step in path.steps if step.evidence] == [evidence]


def test_a_word_for_a_domain_is_no_name() -> None:
    """In a question for places, the tag `places` is not meant; an entity with this name is."""
    made = story(Tag(id_of(2), ("places",)))
    assert "places" not in {node.name for node in asked(made, "which places know Ada?").nodes}
    made = story(Relate("Places", "knows", "Ada"))
    assert "Places" in {node.name for node in asked(made, "Places Ada").nodes}


def test_capitalised_words_side_by_side_are_one_name_only_if_a_text_has_them_so() -> None:
    """Names that the question lists without commas are looked up one by one."""
    made: list[Command] = [Add(text, id=id_of(number)) for number, text in enumerate(TEXTS)]
    assert [node.name for node in asked(made, "Ada Bristol").nodes] == ["Ada", "Bristol"]


def test_equal_memories_give_equal_answers() -> None:
    """The order in which relations and tags were added does not matter."""
    made = story()
    turned = [*made[:3], *made[:2:-1]]
    one, other = asked(made, "Ada, Forth, Bristol"), asked(turned, "Ada, Forth, Bristol")
    assert one.paths == other.paths
    assert len(one.paths) == 3


def test_the_number_of_paths_is_bounded() -> None:
    """At most `limit` paths are returned, the rest is counted, and a limit above 50 is an error."""
    made = story(*(Relate("Ada", "visited", name) for name in ("Leeds", "Paris", "Lisbon", "Rome")))
    graph = asked(made, "Ada", limit=2)
    assert (len(graph.paths), graph.omitted) == (2, len(asked(made, "Ada").paths) - 2)
    for limit in (0, PATHS_MAX + 1):
        with pytest.raises(InvalidInputError):
            asked(made, limit=limit)


def test_the_past_is_asked_as_it_was() -> None:
    """With `as_of`, relations that were added later are not steps."""
    with memory(story()) as engine:
        before = engine.size - 1
        engine.relate("Ada", "born_in", "Bristol")
        assert len(engine.across("Ada Bristol").paths[0].names) == 2
        assert len(engine.across("Ada Bristol", as_of=before).paths[0].names) == 3


@pytest.mark.parametrize(
    ("name", "domain"),
    [
        ("Anna", Domain.PERSON),
        ("Charles Babbage", Domain.PERSON),
        ("Lisbon", Domain.PLACE),
        ("Acme Ltd", Domain.ORGANISATION),
        ("SQLite", Domain.TECHNOLOGY),
        ("asyncio.Queue", Domain.TECHNOLOGY),
        ("2026-03-01", Domain.TIME),
        ("Christmas", Domain.TIME),
        ("tide clock", Domain.THING),
        ("Harbour Lane", Domain.PLACE),
        ("harbour-lane", Domain.THING),
    ],
)
def test_word_lists_and_forms_tell_the_domain_of_a_name(name: str, domain: Domain) -> None:
    """Given names, places, companies, programs and dates are told apart without any text."""
    assert domain_of(name, None, (), (), ()) is domain


def test_what_is_known_of_a_name_outweighs_the_lists() -> None:
    """The type of an entity counts more than its relations, and these count more than word lists."""
    assert domain_of("Paris", None, (), (), ()) is Domain.PLACE
    assert domain_of("Paris", None, ("married_to", "works_at"), (), ()) is Domain.PERSON
    assert domain_of("Paris", "software project", ("married_to",), (), ()) is Domain.TECHNOLOGY


def test_texts_tell_the_domain_of_an_unknown_name() -> None:
    """A name that texts use as a person or a place is one."""
    person = [read_text("Dr Zyxel and Professor Quorn left.", None)]
    place = [read_text("We stayed in Quorn.", None)]
    code = [read_text("Quorn caches the parsed JSON in Redis.", None)]
    assert domain_of("Quorn", None, (), (), person) is Domain.PERSON
    assert domain_of("Quorn", None, (), (), place) is Domain.PLACE
    assert domain_of("Quorn", None, (), (), code) is Domain.TECHNOLOGY


def test_a_question_names_domains_by_words() -> None:
    """Singular and plural words for domains are recognised."""
    assert domains_in("Which people use a tool in which cities?") == {
        Domain.PERSON,
        Domain.TECHNOLOGY,
        Domain.PLACE,
    }
    assert domains_in("Rob and Jade") == frozenset()


def test_links_between_texts_are_no_steps() -> None:
    """Edges between two texts do not join names."""
    with Engine.open("memory:") as engine:
        engine.apply([*story()[:3], Link(id_of(0), "references", id_of(2))])
        assert engine.across("Forth, Sundays").paths == ()


def test_a_question_of_many_names_is_answered() -> None:
    """More names than can be ends of paths are no error."""
    names = [f"Name{number}x" for number in range(40)]
    made: list[Command] = [Add(name, id=id_of(number)) for number, name in enumerate(names)]
    assert len(asked(made, ", ".join(names)).nodes) <= 24
