"""Questions about several subjects: each gets its share of the hits and of the budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

import pytest

from engine import Add, Hit
from engine.query.prompt_text import tokens_of
from tests.query.recall.support import ask, fillers, keys, memory, named

DONE = [
    "painted",
    "repaired",
    "sold",
    "bought",
    "found",
    "lost",
    "carried",
    "opened",
    "closed",
    "moved",
    "cleaned",
    "drew",
    "watched",
    "fed",
]
THINGS = [
    "fence",
    "kettle",
    "ladder",
    "garden",
    "bicycle",
    "letter",
    "window",
    "table",
    "boat",
    "lamp",
    "basket",
    "violin",
    "map",
    "shed",
]
PLACES = [
    "harbour",
    "market",
    "station",
    "village",
    "kitchen",
    "attic",
    "workshop",
    "library",
    "meadow",
    "cellar",
]
NAMES = [
    "Anna",
    "Boris",
    "Clara",
    "Dmitri",
    "Elena",
    "Farid",
    "Greta",
    "Hugo",
    "Ines",
    "Jonas",
    "Kira",
    "Lukas",
    "Mira",
    "Nadia",
    "Oskar",
]
FORMS = (
    "What do {}, {} and {} do?",
    "Tell me about {}, {} and {}.",
    "{}, {}, {}",
    "How are {}, {} and {} related?",
    "What did {} and {} do with {} at the market?",
)


def sentence(draw: Random, subject: str) -> str:
    """A sentence about a subject, of 9 to 41 words."""
    text = f"{subject} {draw.choice(DONE)} the {draw.choice(THINGS)} near the {draw.choice(PLACES)}"
    for _ in range(draw.randrange(5)):
        text += f" and {draw.choice(DONE)} a {draw.choice(THINGS)} in the {draw.choice(PLACES)}"
    return text


def rob() -> list[Add]:
    """60 long texts on Rob, 60 short texts on events, and 3 texts on life."""
    draw = Random("rob")
    return [
        *(Add(f"{sentence(draw, 'Rob')} and {sentence(draw, 'went on and')} {at}") for at in range(60)),
        *(
            Add(f"The chain of events: the {draw.choice(THINGS)} was {draw.choice(DONE)} {at}")
            for at in range(60)
        ),
        *(Add(f"Life is like a {draw.choice(THINGS)} in the {draw.choice(PLACES)} {at}") for at in range(3)),
    ]


def three_of_many(trial: int) -> tuple[list[str], str, list[Add]]:
    """Three names, a question about them, and a memory with 5 to 60 texts on each and much else."""
    draw = Random(f"trial {trial}")
    names = draw.sample(NAMES, 3)
    about = [sentence(draw, name) for name in names for _ in range(draw.choice((5, 6, 8, 12, 20, 40, 60)))]
    about += [
        sentence(draw, draw.choice(("He", "She", "Somebody", "Uncle"))) for _ in range(draw.choice((60, 200)))
    ]
    draw.shuffle(about)
    return names, FORMS[trial % len(FORMS)].format(*names), list(map(Add, about))


def counts(hits: Sequence[Hit], *words: str) -> Counter[str]:
    """For each word, the number of hits that contain it."""
    return Counter({word: sum(word in (hit.content or hit.snippet) for hit in hits) for word in words})


def test_a_question_about_a_person_events_and_life_finds_all_three() -> None:
    """No text is about all three subjects, so they share the hits, although "events" match more words."""
    found = counts(ask(rob(), "chain of events in Rob's life").hits, "Rob", "events", "Life")
    assert min(found.values()) == 3


@pytest.mark.parametrize("question", ["rob events life", "Rob, events, life", "life, events and Rob"])
def test_keywords_are_subjects(question: str) -> None:
    """Each of several keywords is a subject, with or without commas."""
    found = counts(ask(rob(), question).hits, "Rob", "events", "Life")
    assert min(found.values()) > 0


def missing(trials: int) -> list[int]:
    """The trials in which a name has too few of ten hits: less than three in a list of names, else none."""
    bad = []
    for trial in range(trials):
        names, question, atoms = three_of_many(trial)
        hits = ask(atoms, question).hits
        assert len(hits) == 10
        if min(counts(hits, *names).values()) < (1 if "market" in question else 3):
            bad.append(trial)
    return bad


def test_none_of_three_names_is_missing() -> None:
    """Of three names in a question, each gets its share of ten hits."""
    assert missing(10) == []


@pytest.mark.soak
def test_none_of_three_names_is_missing_in_many_memories() -> None:
    """The same, in 200 generated memories."""
    assert missing(200) == []


def test_as_many_hits_as_there_are_atoms_are_enough() -> None:
    """A subject with a single atom gets one hit, and the other subject gets the other places."""
    atoms = [
        *(Add(f"Anna, so Anna said, was on sheet{at}") for at in range(30)),
        named("rare", f"Boris {'went on ' * 9}"),
    ]
    found = ask([*atoms, *fillers(100)], "What do Anna and Boris like?")
    assert "rare" in keys(found.hits)
    assert counts(found.hits, "Anna")["Anna"] == 9


def test_the_places_are_shared_however_far_the_question_was_simplified() -> None:
    """If ten atoms cover half of a question, the question is not split, and yet its subjects have shares."""
    atoms = [Add(f"Anna, so Anna said, was on sheet{at}") for at in range(30)]
    atoms += [Add(f"Boris {'went on ' * (at + 9)}") for at in range(12)]
    found = ask([*atoms, *fillers(60)], "Anna and Boris")
    assert found.entities == ()
    assert counts(found.hits, "Anna", "Boris") == {"Anna": 5, "Boris": 5}


def test_a_subject_that_the_memory_does_not_know_gets_no_place() -> None:
    """Places are not kept for a name that no atom contains."""
    atoms = [Add(f"Anna, so Anna said, was on sheet{at}") for at in range(30)]
    assert counts(ask(atoms, "What do Anna and Boris like?").hits, "Anna")["Anna"] == 10


def test_a_description_of_one_topic_has_no_subjects() -> None:
    """A question with many entities keeps no places for each of them."""
    atoms = [Add(f"Anna has a kettle with lids, handles, spouts and whistles, sheet{at}") for at in range(30)]
    with memory([*atoms, Add("colours"), *fillers(60)]) as engine:
        assert engine.recall("Anna, kettle and colours").subjects
        long = "the kettle of Anna has lids under handles, near spouts of whistles in colours"
        assert engine.recall(long).subjects == ()


def test_the_hits_are_ordered_by_score_whoever_they_are_about() -> None:
    """A hit that got its place as a share stands where its score puts it."""
    for trial in range(3):
        _, question, atoms = three_of_many(trial)
        scores = [hit.score for hit in ask(atoms, question).hits]
        assert scores == sorted(scores, reverse=True)


def long_texts() -> list[Add]:
    """Ten long texts on Anna, which match best, and one long text on each of two others."""
    anna = [Add(f"Anna Anna Anna {at} {'went to the market and came back ' * 40}") for at in range(10)]
    return [*anna, *(Add(f"{name} {'stayed at home for years ' * 60}") for name in ("Boris", "Clara"))]


@pytest.mark.parametrize("budget", [150, 400, 1000, 2000])
def test_each_subject_has_its_share_of_the_budget(budget: int) -> None:
    """The best text of each subject is shown, cut to the tokens that the others leave."""
    found = ask(long_texts(), "What do Anna, Boris and Clara do?", budget=budget)
    assert min(counts(found.hits, "Anna", "Boris", "Clara").values()) > 0
    assert found.tokens <= budget
    if budget < 1000:
        assert all(hit.tokens <= budget // 2 for hit in found.hits)


def test_a_short_text_leaves_its_part_of_the_budget_to_the_others() -> None:
    """Only what a subject needs is kept for it."""
    atoms = [*long_texts()[:10], Add("Boris slept"), Add("Clara sang")]
    found = ask(atoms, "What do Anna, Boris and Clara do?", budget=300)
    (anna,) = (hit for hit in found.hits if "Anna" in (hit.content or ""))
    assert anna.tokens > 200


def test_a_context_shows_each_subject() -> None:
    """The windows of a context show a text about each subject, if the budget has room for one of each."""
    with memory(long_texts()) as engine:
        text = engine.context("What do Anna, Boris and Clara do?", budget=700).text
    assert tokens_of(text) <= 700
    assert min(counts_in(text, "Anna", "Boris", "Clara")) > 0


def counts_in(text: str, *words: str) -> list[int]:
    """How often each word occurs in a text."""
    return [text.count(word) for word in words]
