"""Near copies: short texts that differ in a few words."""

from __future__ import annotations

from random import Random

import pytest

from engine import Add, Engine, Supersede
from engine.index.copies.near_copies import comparable, near_copies, near_copies_of
from tests.query.recall.support import fillers, id_of
from tests.support.command_line import Cli, bare, cli, surroundings
from tests.support.engines import engine_on

__all__ = ["bare", "cli", "surroundings"]

LAMP = "We keep the spare lamp oil behind the ladder"
PARAFFIN = LAMP.replace("lamp", "paraffin")
VOCABULARY = [f"{first}{second}{third}" for first in "bdfgk" for second in "aeiou" for third in "lmnprst"]


def pairs(engine: Engine) -> list[tuple[int, int]]:
    """The near copies of a memory, as pairs of ordinals."""
    with engine.view.searchable() as rows:
        return sorted(near_copies(rows, engine.store.index.view(rows)))


def groups(engine: Engine) -> list[set[str]]:
    """The ids of the atoms of each group."""
    return [{group.keep.id, *(other.id for other in group.others)} for group in engine.duplicates()]


def test_a_near_copy_is_proposed_with_its_differences() -> None:
    """The group has both atoms, the similarity and the words that differ."""
    with engine_on() as engine:
        engine.apply([Add(LAMP, id=id_of(1)), *fillers(20), Add(PARAFFIN, id=id_of(2))])
        (group,) = engine.duplicates()
        (other,) = group.others
    assert (group.keep.id, other.id) == (id_of(1), id_of(2))
    assert (other.similarity, other.edits) == (0.889, ("lamp → paraffin",))
    assert other.distance >= 3


@pytest.mark.parametrize("count", [0, 300])
def test_one_group_equals_the_group_in_the_whole_list(count: int) -> None:
    """The group of each of its atoms is the same, in the tail of the index and in segments."""
    with engine_on() as engine:
        third = PARAFFIN.replace("spare", "iron")
        engine.apply([Add(text, id=id_of(at)) for at, text in enumerate((LAMP, PARAFFIN, LAMP + "."))])
        engine.apply(fillers(count))
        engine.apply([Add(third, id=id_of(3))])
        whole = {id_of(at) for at in range(4)}
        assert groups(engine) == [whole]
        for one in whole:
            (group,) = engine.duplicates(of=one)
            assert {group.keep.id, *(other.id for other in group.others)} == whole


def test_titles_do_not_hide_a_near_copy() -> None:
    """Contents are compared without titles."""
    with engine_on() as engine:
        engine.apply(
            [Add(LAMP, title="Stores in the shed"), Add(PARAFFIN, title="What is behind it, and why")]
        )
        engine.apply([Add(LAMP, title="A copy under another title", source="shed.md")])
        assert pairs(engine) == [(0, 1), (0, 2), (1, 2)]


def test_a_correction_is_no_copy_of_the_text_that_it_supersedes() -> None:
    """Superseded atoms are not compared."""
    with engine_on() as engine:
        engine.apply(
            [Add(LAMP, id=id_of(1)), Add(PARAFFIN, id=id_of(2)), Supersede(id_of(1), id_of(2), "wrong")]
        )
        assert engine.duplicates() == []
        assert engine.duplicates(of=id_of(2)) == []


def test_random_edits_are_caught_and_nothing_else() -> None:
    """Of texts with one word replaced, inserted or removed, all pairs are found, and no other pair."""
    random = Random(11)
    texts = [" ".join(random.sample(VOCABULARY, random.choice((8, 12, 20, 40)))) for _ in range(300)]
    copies = []
    for text in texts[:60]:
        words = text.split()
        at, kind = random.randrange(len(words)), random.randrange(3)
        words[at : at + (kind != 1)] = [] if kind == 2 else ["yonder"]
        copies.append(" ".join(words))
    with engine_on() as engine:
        engine.apply(map(Add, texts + copies))
        assert pairs(engine) == [(at, 300 + at) for at in range(60)]
        with engine.view.searchable() as rows:
            index = engine.store.index.view(rows)
            for at, text in enumerate(copies):
                found = near_copies_of(rows, index, text, comparable(rows))
                assert at in [ordinal for ordinal, _ in found]


def test_many_similar_texts_are_compared_with_few_others() -> None:
    """A thousand copies of a form, which share all their rare words, do not make half a million pairs."""
    with engine_on() as engine:
        engine.apply(
            [
                Add(f"The form about the {VOCABULARY[at % 175]} boat lists rope, tar and oil {at}")
                for at in range(1000)
            ]
        )
        assert pairs(engine) == []


def test_near_copies_are_not_merged(cli: Cli) -> None:
    """`engine duplicates --merge` leaves near copies alone, and `engine merge --force` merges them."""
    first = cli("add", LAMP).out.strip()
    added = cli("add", PARAFFIN)
    second = added.out.strip()
    assert "says nearly the same" in added.err
    assert "89% of the words; lamp → paraffin" in cli("duplicates").out
    assert cli("duplicates", "--merge", "--yes", "--json").data[0]["merged"] == []
    assert cli("merge", first, second).code
    assert cli("merge", first, second, "--force").out.strip() == first


def test_a_text_that_only_adds_fillers_is_held() -> None:
    """`once` stores a text with another word, and does not store one with another filler."""
    with engine_on() as engine:
        first = engine.add(LAMP).id
        held = engine.add(LAMP.replace("We keep", "We still keep"), once=True)
        assert held.held is not None
        assert (held.id, held.held.equal) == (first, False)
        assert engine.add(PARAFFIN, once=True).held is None
