"""The tags, names, mentions and relations that a dream adds."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from engine.commands import Add
from engine.knowledge.dreaming.dream_config import DreamConfig
from engine.query.filters import in_categories
from engine.text.language.categories import Category
from tests.knowledge.dreaming.support import EAGER, LETTERS, added, dreamt, left_in
from tests.support.engines import engine_on


def test_names_are_learned_and_become_entities() -> None:
    """Capitalised runs in several texts become entities."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        report = engine.dream(config=EAGER)
        assert set(report.entities) == {"Ada Lovelace", "Bristol", "Charles Babbage"}
        assert left_in(engine).entities == {"Ada Lovelace", "Bristol", "Charles Babbage"}


def test_texts_mention_their_names() -> None:
    """Every text has an edge `mentions` to exactly the entities whose names it contains."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        engine.dream(config=EAGER)
        left = left_in(engine)
        expected = {(text, "mentions", name) for text in LETTERS for name in left.entities if name in text}
        assert {edge for edge in left.edges if edge[1] == "mentions"} == expected


def test_a_name_is_spread_to_old_texts() -> None:
    """Texts that were read before a name was learned mention it afterwards."""
    with engine_on() as engine:
        added(engine, "The keys are with Grace Hopper.")
        engine.dream(config=EAGER)
        assert left_in(engine).entities == set()
        added(engine, "At noon Grace Hopper called the harbour.")
        engine.dream(config=EAGER)
        assert ("The keys are with Grace Hopper.", "mentions", "Grace Hopper") in left_in(engine).edges


def test_a_name_that_people_gave_is_spread_to_all_texts() -> None:
    """An entity that somebody added is found in older texts, in any spelling."""
    with engine_on() as engine:
        added(engine, "the unix socket was gone again", "who owns the unix socket", "nothing at all here")
        engine.dream(config=EAGER)
        engine.relate("daemon", "listens_on", "unix socket")
        engine.dream(config=EAGER)
        mentions = {edge[0] for edge in left_in(engine).edges if edge[1:] == ("mentions", "unix socket")}
        assert mentions == {"the unix socket was gone again", "who owns the unix socket"}


def test_names_that_stand_together_are_related() -> None:
    """Two names that share enough texts get one edge `related_to`."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        engine.dream(config=EAGER)
        related = {edge for edge in left_in(engine).edges if edge[1] == "related_to"}
        assert related == {("Ada Lovelace", "related_to", "Charles Babbage")}


def test_a_name_and_a_phrase_and_a_category_become_tags() -> None:
    """A text is tagged with its names, its rare phrases, and its categories."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        engine.dream(config=replace(EAGER, tags_min=9))
        tags = left_in(engine).tags[LETTERS[1]]
        assert {"Ada-Lovelace", "Charles-Babbage", "tide-clock", "Relationship"} <= tags


def test_a_text_with_enough_tags_gets_no_phrases() -> None:
    """A phrase becomes a tag only if the text has too few tags and names."""
    texts = ("the tide clock is late", "a tide clock for sale", "one more tide clock")
    with engine_on() as engine:
        ids = added(engine, *texts)
        engine.tag(ids[0], "mine")
        engine.dream(config=EAGER)
        tags = left_in(engine).tags
        assert [("tide-clock" in tags[text]) for text in texts] == [False, True, True]


def test_a_category_of_most_texts_is_a_tag_that_recall_does_not_follow() -> None:
    """Each category of a text becomes a tag, and a category of over a tenth of all texts joins no texts."""
    with engine_on() as engine:
        added(engine, *(f"Yesterday the kettle leaked because of rust, part {n}." for n in range(30)))
        added(engine, *(f"The bread is on the table number {n}." for n in range(30)))
        engine.dream(config=EAGER)
        assert {name: count for name, count in engine.tags().dreamer.items() if name in set(Category)} == {
            "causal": 30,
            "temporal": 30,
        }
        assert not {"causal", "temporal"} & {one.tag for one in engine.recall("rust leaked part 7").bridges}


def test_a_phrase_that_only_one_text_would_get_is_no_tag() -> None:
    """A phrase is not a tag if the other texts with it need no phrase."""
    with engine_on() as engine:
        ids = added(engine, "the tide clock is late", "a tide clock for sale")
        engine.tag(ids[0], "mine")
        engine.dream(config=EAGER)
        assert "tide-clock" not in engine.tags().people | engine.tags().dreamer


def test_a_name_learned_in_one_cycle_is_spread_in_the_next() -> None:
    """A round continues with older texts that have a newly learned name."""
    with engine_on() as engine:
        added(engine, "The keys are with Grace Hopper.", *(f"plain text {number}" for number in range(9)))
        engine.dream(config=EAGER)
        added(engine, "At noon Grace Hopper called the harbour.")
        assert engine.dream(budget=1, config=EAGER).entities == ("Grace Hopper",)
        assert engine.dream(config=EAGER).mentions == 2


def test_a_filter_by_category_returns_the_same_texts_after_a_dream() -> None:
    """A text gets the tags of all its categories, or of none if somebody gave it a category."""
    texts = [*LETTERS, *(f"Yesterday the kettle leaked because of rust, part {n}." for n in range(30))]
    texts.append("Yesterday somebody in Bristol was paid by a bank.")
    with engine_on() as engine:
        ids = added(engine, *texts)
        marked = engine.add("The bank lent Ada Lovelace money.", tags=["Technical"]).subject

        def belongs(atom: str, category: Category) -> bool:
            found = engine.get(atom)
            body = Add(found.content, found.title).body()
            return in_categories(body, found.tags, (category.value,))

        pairs = [(atom, category) for atom in (*ids, marked) for category in Category]
        before = [belongs(*pair) for pair in pairs]
        engine.dream(config=EAGER)
        assert [belongs(*pair) for pair in pairs] == before
        assert "Relationship" in left_in(engine).tags[LETTERS[1]]


def test_a_revised_text_is_looked_at_again() -> None:
    """A revised text is tagged by its new content."""
    with engine_on() as engine:
        atom, *_ = added(engine, "Nothing of note.", *LETTERS)
        engine.dream(config=EAGER)
        engine.revise(atom, content="Back in Bristol the harbour was full.")
        engine.dream(config=EAGER)
        assert "Bristol" in engine.get(atom).tags


def test_a_text_that_came_back_is_looked_at() -> None:
    """A text that was hidden during a dream is tagged after its revival."""
    with engine_on() as engine:
        atom, *_ = added(engine, "Back in Bristol the harbour was full.", *LETTERS)
        engine.tombstone(atom)
        engine.dream(config=EAGER)
        engine.revive(atom)
        engine.dream(config=EAGER)
        assert "Bristol" in engine.get(atom).tags


def test_contents_stay_as_they_are() -> None:
    """A dream does not change contents or other fields."""
    with engine_on() as engine:
        ids = added(engine, *LETTERS, source="letters", provenance="internal", trust=7)
        before = [engine.get(atom) for atom in ids]
        engine.dream(config=EAGER)
        for old, new in zip(before, map(engine.get, ids), strict=True):
            assert (old.content, old.version, old.source, old.buckets) == (
                new.content,
                new.version,
                new.source,
                new.buckets,
            )
            assert set(old.tags) <= set(new.tags)


def test_all_events_are_the_dreamers_and_only_add() -> None:
    """All events are by `dreamer` and add a tag, an entity, a predicate or an edge."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        size = engine.size
        engine.dream(config=EAGER)
        new = list(engine.log(size))
        assert new == dreamt(engine)
        kinds = {item.kind.name for item in new}
        assert kinds == {"TAGS_ADDED", "ATOM_ADDED", "EDGE_TYPE_REGISTERED", "EDGE_ADDED"}


def test_the_report_counts_the_events() -> None:
    """The counts of the report agree with the journal."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        report = engine.dream(config=EAGER)
        events = dreamt(engine)
        given = [item.detail["tags"] for item in events if item.kind.name == "TAGS_ADDED"]
        tags = [tag for some in given if isinstance(some, list) for tag in some]
        edges = [item for item in events if item.kind.name == "EDGE_ADDED"]
        assert report.tags == len(tags)
        assert report.tagged == len({item.subject for item in events if item.kind.name == "TAGS_ADDED"})
        assert report.mentions + report.relations == len(edges)
        assert report.looked_at == len(LETTERS)


def test_near_duplicates_are_listed_and_not_merged() -> None:
    """Near-duplicates are in the report and stay live."""
    text = "The kettle in the kitchen is descaled with citric acid on the first Monday of the month"
    with engine_on() as engine:
        ids = added(engine, text, text + ".")
        report = engine.dream(config=EAGER)
        assert [[one.id for one in (group.keep, *group.others)] for group in report.duplicates] == [ids]
        assert len(engine.find(limit=10)) == 2


def test_a_name_that_is_everywhere_leads_nowhere() -> None:
    """A name in too many texts gets no entity and no tag."""
    config = DreamConfig(hub_min=5, hub_share=0.1, name_atoms_min=2)
    with engine_on() as engine:
        added(engine, *(f"Note {number} by Ada Lovelace on the harbour." for number in range(9)))
        engine.dream(config=config)
        left = left_in(engine)
        assert not left.entities
        assert not any("Ada-Lovelace" in tags for tags in left.tags.values())


def test_words_that_only_begin_sentences_are_no_names() -> None:
    """A capital letter at the start of a sentence, or on a stop word, is not a name."""
    with engine_on() as engine:
        added(
            engine,
            "Kettles boil. Thanks, Table 3.",
            "Kettles hiss. Thanks, Table 4.",
            "Kettles rust, kettles go.",
        )
        engine.dream(config=EAGER)
        assert left_in(engine).entities == set()


def test_a_word_that_only_begins_sentences_is_no_name() -> None:
    """A word that never occurs within a sentence is not a name."""
    with engine_on() as engine:
        added(engine, "Flurbs boil.", "Flurbs hiss at night.", "Flurbs are red.")
        engine.dream(config=EAGER)
        assert left_in(engine).entities == set()


def test_a_word_that_is_mostly_in_small_letters_is_no_name() -> None:
    """A word that is mostly in lower case is not a name."""
    with engine_on() as engine:
        added(engine, "see the Flurb there", "this Flurb is red", "a flurb", "one flurb", "no flurb")
        engine.dream(config=EAGER)
        assert left_in(engine).entities == set()


def test_a_part_of_a_name_is_no_name_by_itself() -> None:
    """A word that only occurs within a longer name is not a name."""
    with engine_on() as engine:
        added(engine, "Grand Harlow met here.", "we saw Grand Harlow", "so Grand Harlow sang")
        engine.dream(config=EAGER)
        assert left_in(engine).entities == {"Grand Harlow"}


def test_an_atom_has_no_more_tags_than_the_limit() -> None:
    """The dreamer adds tags only up to the limit, which counts the tags of others, but no categories."""
    config = DreamConfig(name_atoms_min=2, tags_per_atom=3, tags_min=9)
    with engine_on() as engine:
        ids = added(engine, *LETTERS)
        engine.tag(ids[2], "mine", "too")
        engine.dream(config=config)
        counts = [len(set(map(str.lower, engine.get(atom).tags)) - set(Category)) for atom in ids]
        assert max(counts) == 3
        assert {"mine", "too"} < set(engine.get(ids[2]).tags)


def test_mentions_are_bounded_for_each_text() -> None:
    """A text with many known names mentions only the rarest ones."""
    config = DreamConfig(name_atoms_min=2, mentions_per_atom=3)
    names = [f"{first} {last}" for first in ("Ada", "Grace", "Joan") for last in ("Stone", "Brook", "Field")]
    with engine_on() as engine:
        crowd = f"Present were {', '.join(names)}."
        added(engine, crowd, *(f"Of these {one} met {other}." for one, other in combinations(names, 2)))
        engine.dream(config=config)
        mentioned = [edge for edge in left_in(engine).edges if edge[:2] == (crowd, "mentions")]
        assert len(mentioned) == 3


def test_what_people_gave_and_what_dreams_found_are_told_apart() -> None:
    """`tags` counts a tag for the dreamer on the atoms that have it only because a dream found it."""
    with engine_on() as engine:
        ids = added(engine, *(f"Yesterday the kettle leaked because of rust, part {n}." for n in range(12)))
        engine.tag(ids[0], "Causal")
        engine.dream(config=EAGER)
        found = engine.tags()
        assert (found.people, found.dreamer["causal"]) == ({"causal": 1}, 11)
        engine.revise(ids[1], content="Yesterday the kettle leaked because of old rust, part 1.")
        engine.untag(ids[2], "causal")
        engine.tag(ids[2], "causal")
        engine.tombstone(ids[3])
        found = engine.tags()
        assert (found.people["causal"], found.dreamer["causal"]) == (2, 9)
        engine.erase(ids[4], "asked for", probe=False)
        assert engine.tags().dreamer["causal"] == 8
        assert engine.tags(as_of=0).people == {}
