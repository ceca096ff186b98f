"""Random histories: atoms that are added, linked, revised, tagged, hidden and shown again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from engine import Add, Link, Revise, Revive, Tag, Tombstone, Untag
from engine.commands import Command
from engine.engine import Engine
from proofs.events import Scalar
from tests.query.recall.support import id_of
from tests.support.engines import BEGIN

ATOMS_MAX = 10
DAY = 86_400 * 1_000_000

WORDS = ("kettle", "tea", "went", "Anna", "garage", "copper", "Monday", "ADR-016", "日本語", "the")
TAGS = ("home", "green-tea", "kettle", "technical", "ADR-016")
SOURCES = (None, "talk/1", "talk/2", "notes.md")
METAS: tuple[Mapping[str, Scalar] | None, ...] = (None, {"n": 1}, {"n": True, "room": "hall"})
TITLES = (None, None, "Anna", "Copper Kettle", "the garage (home)")

QUESTIONS = (
    "kettle",
    "Where did Anna go on Monday?",
    "Can you tell me about the copper kettle in the garage, please?",
    "green tea",
    "What do Anna and Boris know of ADR-016?",
    "日本語 tea",
    "the",
)

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
labelled = st.one_of(texts, texts.map("Anna: {}".format))
questions = st.sampled_from(QUESTIONS)


@st.composite
def histories(draw: st.DrawFn, *, most: int = ATOMS_MAX) -> list[Command]:
    """Command sequences that succeed no matter how they are split into commits."""
    count = draw(st.integers(1, most))
    ids = [id_of(number) for number in range(1, count + 1)]
    commands: list[Command] = [
        Add(
            draw(labelled),
            id=one,
            title=draw(st.sampled_from(TITLES)),
            tags=draw(st.lists(st.sampled_from(TAGS), max_size=2)),
            source=draw(st.sampled_from(SOURCES)),
            sequence=draw(st.one_of(st.none(), st.integers(0, 5), st.just(2**50))),
            kind=draw(st.sampled_from(("note", "turn"))),
            buckets=[draw(st.sampled_from(("inbox", "work")))],
            provenance=draw(st.sampled_from(("internal", "external", "quarantine"))),
            trust=draw(st.sampled_from((None, 0, 100))),
            created=draw(st.sampled_from((None, BEGIN - 3 * DAY, BEGIN - DAY))),
            meta=draw(st.sampled_from(METAS)),
        )
        for one in ids
    ]
    pairs = st.tuples(st.sampled_from(ids), st.sampled_from(ids)).filter(lambda pair: pair[0] != pair[1])
    if count > 1:
        commands += [Link(one, "references", other) for one, other in draw(st.lists(pairs, max_size=4))]
    some = st.lists(st.sampled_from(ids), max_size=4)
    commands += draw(st.lists(_changes(ids), max_size=4))
    hidden = draw(some)
    shown = draw(some)
    commands += [*map(Tombstone, hidden), *map(Revive, shown)]
    live = [one for one in ids if one not in hidden or one in shown]
    return [*commands, *draw(st.lists(_changes(live), max_size=4))] if live else commands


def _changes(ids: Sequence[str]) -> st.SearchStrategy[Command]:
    """A change of one of these atoms, none of which is hidden."""
    one = st.sampled_from(ids)
    return st.one_of(
        st.builds(lambda which, content: Revise(which, content=content), one, labelled),
        st.builds(lambda which, tag: Tag(which, [tag]), one, st.sampled_from(TAGS)),
        st.builds(lambda which, tag: Untag(which, [tag]), one, st.sampled_from(TAGS)),
    )


def live_contents(engine: Engine) -> dict[str, str]:
    """The contents of the live atoms, by id."""
    found = engine.find(limit=10_000, form="full")
    return {one.id: one.atom.content for one in found if one.atom is not None}
