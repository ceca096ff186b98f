"""The atoms of a store that may be shown as neighbours of a hit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Add, Engine, Filters
from engine.base.errors import CorruptionError
from engine.base.validation import atom_id
from engine.followers import chunks
from engine.ledger.layout import TAGS
from engine.query.context.neighbours import SourceReader
from engine.query.context.passages import Passage
from engine.query.filters import NO_FILTERS
from proofs.leaves import Group
from tests.support.engines import backend_of, engine_on, put_rows

FAR = 4


def talk(turns: int, **fields: object) -> Engine:
    """A memory with a talk, recorded from its last turn to its first."""
    engine = engine_on()
    engine.apply(
        [
            Add(f"turn {turn}", source="talk", sequence=turn, **fields)  # type: ignore[arg-type]
            for turn in reversed(range(turns))
        ]
    )
    return engine


def ids_of(engine: Engine) -> dict[str, str]:
    """The id of every live atom, by content."""
    return {one.atom.content: one.id for one in engine.find(limit=10_000, form="full") if one.atom}


def beside(
    engine: Engine, *found: str, filters: Filters = NO_FILTERS, reach: int = FAR
) -> tuple[list[Passage], list[Passage]]:
    """The hits with these contents, and the atoms up to `reach` positions from them."""
    ids = ids_of(engine)
    with engine.store.view(*engine.store.followers) as rows:
        sources = SourceReader(rows, engine.store.index.view(rows), filters)
        hits = sources.passages({atom_id(ids[content]): 1.0 for content in found})
        places = [one.position for one in hits if one.position is not None]
        near = {position.offset(step): None for position in places for step in range(-reach, reach + 1)}
        passages = [sources.passage_at(position) for position in near if position not in places]
        return hits, [one for one in passages if one is not None]


def numbers(near: list[Passage]) -> dict[str, int]:
    """The position of each atom, by content."""
    return {one.content: one.position.number for one in near if one.position is not None}


def test_neighbours_stand_in_the_order_of_their_sequences() -> None:
    """Positions follow the sequences, not the order of recording."""
    hits, near = beside(talk(9), "turn 4", reach=2)
    assert numbers(hits) == {"turn 4": 4}
    assert numbers(near) == {"turn 2": 2, "turn 3": 3, "turn 5": 5, "turn 6": 6}


def test_atoms_of_one_sequence_stand_in_the_order_of_recording() -> None:
    """Atoms with the same sequence are ordered by recording."""
    engine = engine_on()
    engine.apply([Add(name, source="talk", sequence=7) for name in ("one", "two", "three")])
    assert numbers(beside(engine, "two")[1]) == {"one": 0, "three": 2}


def test_hits_are_no_neighbours_of_each_other() -> None:
    """Each atom is returned once, as a hit if it is one."""
    hits, near = beside(talk(4), "turn 1", "turn 2")
    assert [one.content for one in hits] == ["turn 1", "turn 2"]
    assert sorted(numbers(near)) == ["turn 0", "turn 3"]


def test_without_source_or_sequence_there_is_no_place() -> None:
    """An atom without source or sequence has no neighbours and is not one."""
    engine = talk(2)
    engine.apply([Add("alone"), Add("unordered", source="talk"), Add("nowhere", sequence=1)])
    hits, near = beside(engine, "alone", "unordered", "nowhere")
    assert [one.position for one in hits] == [None] * 3
    assert near == []
    assert sorted(numbers(beside(engine, "turn 0")[1])) == ["turn 1"]


def test_a_tombstoned_atom_is_not_there() -> None:
    """A tombstoned atom has no position until it is revived."""
    engine = talk(3)
    middle = ids_of(engine)["turn 1"]
    engine.tombstone(middle)
    assert numbers(beside(engine, "turn 0")[1]) == {"turn 2": 1}
    engine.revive(middle)
    assert numbers(beside(engine, "turn 0")[1]) == {"turn 1": 1, "turn 2": 2}


def test_a_revised_atom_stands_where_it_stood() -> None:
    """A revised atom keeps its position unless its sequence changes."""
    engine = talk(3)
    middle = ids_of(engine)["turn 1"]
    engine.revise(middle, content="turn one")
    assert numbers(beside(engine, "turn 0")[1]) == {"turn one": 1, "turn 2": 2}
    engine.revise(middle, sequence=9)
    assert numbers(beside(engine, "turn 0")[1]) == {"turn 2": 1, "turn one": 2}
    engine.revise(middle, source="elsewhere")
    assert numbers(beside(engine, "turn 0")[1]) == {"turn 2": 1}


@pytest.mark.parametrize(
    "filters",
    [
        Filters(without_tags=("private",)),
        Filters(buckets=("inbox",)),
        Filters(kinds=("note",)),
        Filters(provenances=("internal", "external")),
        Filters(until=1_000),
        Filters(categories=("technical",)),
    ],
)
def test_what_a_filter_excludes_is_not_given_and_not_skipped(filters: Filters) -> None:
    """An excluded neighbour is not shown but keeps its position."""
    engine = engine_on()
    engine.apply(
        [
            Add("a #Technical one", source="talk", sequence=0, tags=("technical",), created=1),
            Add(
                "a private one",
                source="talk",
                sequence=1,
                tags=("private", "emotional"),
                buckets=("diary",),
                kind="thought",
                provenance="quarantine",
                created=2_000,
            ),
            Add("another #Technical one", source="talk", sequence=2, tags=("technical",), created=1),
        ]
    )
    _, near = beside(engine, "a #Technical one", filters=filters)
    assert numbers(near) == {"another #Technical one": 2}


def test_a_category_is_asked_of_each_neighbour() -> None:
    """A neighbour without a category tag is categorised by its text."""
    engine = engine_on()
    texts = ("The server's database crashed.", "We walked home.", "The compiler reports an error.")
    engine.apply([Add(text, source="talk", sequence=number) for number, text in enumerate(texts)])
    _, near = beside(engine, texts[0], filters=Filters(categories=("technical",)))
    assert numbers(near) == {texts[2]: 2}


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 5)), min_size=1, max_size=12), st.data())
def test_places_are_those_of_the_sorted_source(atoms: list[tuple[str, int]], data: st.DataObject) -> None:
    """Positions are those of the live atoms sorted by sequence, then recording."""
    engine = engine_on()
    ids = [
        engine.add(f"text {number}", source=source, sequence=sequence).subject
        for number, (source, sequence) in enumerate(atoms)
    ]
    hidden = data.draw(st.sets(st.sampled_from(range(len(atoms))), max_size=len(atoms) - 1))
    for number in sorted(hidden):
        engine.tombstone(ids[number])
    live = [number for number in range(len(atoms)) if number not in hidden]
    one = data.draw(st.sampled_from(live))
    hits, near = beside(engine, f"text {one}", reach=len(atoms))
    line = sorted((n for n in live if atoms[n][0] == atoms[one][0]), key=lambda n: (atoms[n][1], n))
    assert numbers([*hits, *near]) == {f"text {number}": position for position, number in enumerate(line)}


@pytest.mark.parametrize("member", [True, False])
def test_a_set_that_is_wrong_about_an_atom_is_corruption(member: bool) -> None:
    """A source's set that contradicts the records raises CorruptionError."""
    engine = talk(2)
    engine.apply([Add("elsewhere", source="else", sequence=0)])
    ids = ids_of(engine)
    sets = backend_of(engine).scan_prefix(TAGS + bytes([Group.SOURCE]))
    key, before = next((key, raw) for key, raw in sets if raw.startswith(b"\x00\x04talk"))
    ordinal = engine.get(ids["elsewhere" if member else "turn 0"]).ordinal
    put_rows(backend_of(engine), {key: before[:6] + chunks.apply(before[6:], {ordinal: member}, key)})
    with pytest.raises(CorruptionError, match="source"):
        beside(engine, "turn 0")
