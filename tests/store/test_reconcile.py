"""The reconciler makes the memory match a source and does not undo the changes of other actors."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Add, EdgeType, Engine, State
from engine.base.errors import ConflictError, NotFoundError, RefusedError
from engine.base.validation import atom_id, show_id
from engine.commands import Command, Link, Revise, Revive, Tag, Tombstone, Unlink, Untag
from engine.commands.file_texts import atoms_of
from engine.commands.reconcile import (
    RetireAtom,
    RetireEdge,
    UpsertAtom,
    UpsertEdge,
    reconcile_edges,
)
from engine.commands.sequence import place
from engine.commands.sources import retire_others
from engine.ledger.records import default_id_of
from proofs.events import EventKind
from proofs.leaves import tag_identity
from tests.support.engines import engine_on

OURS = "robot"
SOURCE = "notes/a.md"
REFERENCES = EdgeType.REFERENCES

TAGS = st.lists(st.sampled_from(["a", "A", "b", "c"]), max_size=3).map(tuple)
WANTED = st.builds(
    Add,
    content=st.sampled_from(["one", "two", "three"]),
    title=st.sampled_from([None, "t", "u"]),
    kind=st.sampled_from(["note", "task"]),
    tags=TAGS,
    source=st.just(SOURCE),
    created=st.sampled_from([None, 7]),
    key=st.sampled_from(["k1", "k2", "k3"]),
)
SAID = st.lists(WANTED, max_size=4, unique_by=lambda one: one.key)
"""The content of a source at one time."""

LINKS = st.sets(st.tuples(st.sampled_from(["k1", "k2", "k3"]), st.sampled_from(["k1", "k2", "k3"])))

EVERY = [Add("x", source=SOURCE, key=key) for key in ("k1", "k2", "k3")]


def ids(engine: Engine) -> list[bytes]:
    """Return the ids of all atoms that can be wanted."""
    return [default_id_of(engine.store.identity.id_key, one) for one in EVERY]


def held(engine: Engine, said: list[Add], links: set[tuple[str, str]] = frozenset()) -> list[EventKind]:  # type: ignore[assignment]
    """Reconcile the memory with a source; return the kinds of the events that this took."""
    store = engine.store
    done: list[EventKind] = []

    def carry_out(commands: list[Command]) -> None:
        done.extend(event.kind for receipt in store.commit_many(commands, OURS) for event in receipt.events)

    atoms = [default_id_of(store.identity.id_key, one) for one in said]
    with store.view(store.tags) as rows:
        recorded = atoms_of(rows, SOURCE)
        known = [recorded[atom].sequence if atom in recorded else None for atom in atoms]
        commands: list[Command] = [
            UpsertAtom(replace(one, sequence=key)) for one, key in zip(said, place(known), strict=True)
        ]
        commands += retire_others(rows, OURS, SOURCE, set(atoms))
    carry_out(commands)
    for one, atom in zip(said, atoms, strict=True):
        others = [
            default_id_of(store.identity.id_key, replace(one, key=dst))
            for src, dst in links
            if src == one.key
        ]
        with store.view(store.tags) as rows:
            targets = sorted(other for other in others if other != atom)
            commands = list(reconcile_edges(rows, OURS, atom, REFERENCES, targets))
        carry_out(commands)
    return done


def by_hand(kind: str, atom: str, other: str) -> Command:
    """Return the command for one change that a person makes."""
    commands: dict[str, Command] = {
        "tag": Tag(atom, ["mine", "a"]),
        "untag": Untag(atom, ["b", "mine"]),
        "hide": Tombstone(atom, "wrong"),
        "show": Revive(atom),
        "write": Revise(atom, content="By hand."),
        "name": Revise(atom, title="By hand"),
        "link": Link(atom, REFERENCES, other),
        "unlink": Unlink(atom, REFERENCES, other),
    }
    return commands[kind]


HANDS = st.lists(
    st.tuples(
        st.sampled_from(["tag", "untag", "hide", "show", "write", "name", "link", "unlink"]),
        st.integers(0, 2),
        st.integers(0, 2),
    ),
    max_size=6,
)


def meddle(engine: Engine, hands: list[tuple[str, int, int]]) -> None:
    """Carry out a person's change as far as possible."""
    atoms = [show_id(atom) for atom in ids(engine)]
    for kind, at, to in hands:
        if at != to:
            with suppress(NotFoundError, ConflictError):  # not recorded yet, or hidden
                engine.apply([by_hand(kind, atoms[at], atoms[to])])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(SAID, LINKS, HANDS), max_size=3), SAID, LINKS)
def test_a_second_run_gives_no_events(
    before: list[tuple[list[Add], set[tuple[str, str]], list[tuple[str, int, int]]]],
    said: list[Add],
    links: set[tuple[str, str]],
) -> None:
    """A second run appends no event, whatever the source contained and whatever people changed before."""
    engine = engine_on()
    for earlier, joined, hands in before:
        held(engine, earlier, joined)
        meddle(engine, hands)
    held(engine, said, links)
    assert held(engine, said, links) == []


@settings(max_examples=60, deadline=None)
@given(SAID, LINKS, SAID, LINKS)
def test_what_nobody_else_touched_is_as_it_is_wanted(
    earlier: list[Add], joined: set[tuple[str, str]], said: list[Add], links: set[tuple[str, str]]
) -> None:
    """Fields, tags, order and edges that nobody else changed match the latest source."""
    engine = engine_on()
    held(engine, earlier, joined)
    held(engine, said, links)
    live = []
    for one in EVERY:
        atom = default_id_of(engine.store.identity.id_key, one)
        wanted = next((other for other in said if other.key == one.key), None)
        if wanted is None:
            with engine.store.view() as rows:
                assert rows.get(b"a/" + atom) is None or engine.get(show_id(atom)).state is State.TOMBSTONED
            continue
        found = engine.get(show_id(atom))
        live.append((found.sequence, wanted.key))
        assert (found.state, found.content, found.title, found.kind) == (
            State.LIVE,
            wanted.content,
            wanted.title,
            wanted.kind,
        )
        assert set(map(tag_identity, found.tags)) == set(map(tag_identity, wanted.tags))
        targets = {edge.dst for edge in engine.edges(found.id)}
        there = {one.key for one in [*said, *earlier]}
        assert targets == {
            show_id(default_id_of(engine.store.identity.id_key, replace(one, key=dst)))
            for src, dst in links
            if src == wanted.key != dst and dst in there
        }
    assert [key for _, key in sorted(live, key=lambda pair: pair[0] or 0)] == [one.key for one in said]


@settings(max_examples=60, deadline=None)
@given(SAID, LINKS, HANDS, st.lists(st.tuples(SAID, LINKS), min_size=1, max_size=3))
def test_nothing_that_was_done_by_hand_is_undone(
    earlier: list[Add],
    joined: set[tuple[str, str]],
    hands: list[tuple[str, int, int]],
    later: list[tuple[list[Add], set[tuple[str, str]]]],
) -> None:
    """A person's tombstones, texts, tags and edges survive every later run."""
    engine = engine_on()
    held(engine, earlier, joined)
    start = engine.size
    meddle(engine, hands)
    done = list(engine.log(start))
    for said, links in later:
        held(engine, said, links)
    last: dict[tuple[str, ...], tuple[EventKind, object]] = {}
    for item in done:
        tags = item.detail.get("tags")
        if item.kind in {EventKind.TAGS_ADDED, EventKind.TAGS_REMOVED} and isinstance(tags, list):
            last |= {(item.subject, tag_identity(tag)): (item.kind, tag) for tag in tags}
        else:
            last[item.subject,] = item.kind, item.detail
    for (subject, *tag), (kind, detail) in last.items():
        if " " in subject:
            src, _, dst = subject.split()
            edges = {edge.dst for edge in engine.edges(src)}
            assert (dst in edges) == (kind is EventKind.EDGE_ADDED)
            continue
        atom = engine.get(subject)
        if tag:
            assert (tag[0] in map(tag_identity, atom.tags)) == (kind is EventKind.TAGS_ADDED)
        elif kind is EventKind.ATOM_TOMBSTONED:
            assert atom.state is State.TOMBSTONED
        elif kind is EventKind.ATOM_REVISED and isinstance(detail, dict):
            assert (atom.content, atom.title) == (detail["content"], detail.get("title"))


@settings(max_examples=40, deadline=None)
@given(SAID, st.randoms(use_true_random=False), HANDS)
def test_the_order_of_commands_on_different_atoms_does_not_matter(
    said: list[Add], random: object, hands: list[tuple[str, int, int]]
) -> None:
    """Commands on different atoms give the same result in any order."""
    shuffled = list(said)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    found = []
    for order in (said, shuffled):
        engine = engine_on()
        engine.store.commit(EVERY, OURS)
        meddle(engine, hands)
        engine.store.commit([UpsertAtom(one) for one in order], OURS)
        atoms = [engine.get(show_id(atom)) for atom in ids(engine)]
        found.append([(atom.state, atom.content, atom.title, sorted(atom.tags)) for atom in atoms])
    assert found[0] == found[1]


def test_what_is_asked_for_by_name_comes_back_whoever_hid_it() -> None:
    """With `override`, others' tombstones, texts and removed edges are replaced; their tags stay."""
    engine = engine_on()
    first, second, _ = ids(engine)
    engine.store.commit(EVERY, OURS)
    engine.apply([Tag(show_id(first), ["mine"]), Revise(show_id(first), content="By hand.")])
    engine.apply([Tombstone(show_id(first)), Link(show_id(first), REFERENCES, show_id(second))])
    engine.apply([Unlink(show_id(first), REFERENCES, show_id(second))])
    plain: list[Command] = [UpsertAtom(EVERY[0]), UpsertEdge(first, REFERENCES, second)]
    assert not any(receipt.changed for receipt in engine.store.commit(plain, OURS))
    engine.store.commit(
        [UpsertAtom(EVERY[0], override=True), UpsertEdge(first, REFERENCES, second, override=True)], OURS
    )
    atom = engine.get(show_id(first))
    assert (atom.state, atom.content, atom.tags) == (State.LIVE, "x", ("mine",))
    assert len(engine.edges(show_id(first))) == 1


def test_what_changes_with_the_text_is_one_event() -> None:
    """Tags that change together with the text are part of the revision and need no events of their own."""
    engine = engine_on()
    wanted = Add("one", tags=("a", "b"), source=SOURCE, key="k1")
    assert held(engine, [wanted]) == [EventKind.ATOM_ADDED]
    assert held(engine, [replace(wanted, content="two", tags=("b", "c"))]) == [EventKind.ATOM_REVISED]
    assert held(engine, [replace(wanted, content="two", tags=("c",))]) == [EventKind.TAGS_REMOVED]
    assert engine.get(show_id(ids(engine)[0])).tags == ("c",)


def test_a_tag_that_was_named_since_the_text_was_written_goes_when_it_is_named_no_more() -> None:
    """A tag that the source no longer has is removed, even if it was added after the text was written."""
    engine = engine_on()
    wanted = Add("one", tags=("a",), source=SOURCE, key="k1")
    for tags in (("a",), ("a", "b"), ("a",)):
        held(engine, [replace(wanted, tags=tags)])
    assert engine.get(show_id(ids(engine)[0])).tags == ("a",)


def test_other_data_of_an_edge_of_ours_takes_the_place_of_what_was_there() -> None:
    """New data replaces that of an edge by the same actor, but not that of a person's edge."""
    engine = engine_on()
    first, second, third = ids(engine)
    engine.store.commit(EVERY, OURS)
    engine.apply([Link(show_id(first), REFERENCES, show_id(third), data=b"\x01")])
    for data in (b"\x02", b"\x03"):
        edges = [UpsertEdge(first, REFERENCES, other, data) for other in (second, third)]
        engine.store.commit(edges, OURS)
    assert [
        engine.get_edge(show_id(first), REFERENCES, show_id(other)).data for other in (second, third)
    ] == [
        b"\x03",
        b"\x01",
    ]


def test_what_was_erased_is_said_to_be_and_stays_away() -> None:
    """Erased content is reported and not added again without `force`; with `override` it is an error."""
    engine = engine_on()
    engine.store.commit(EVERY[:1], OURS)
    engine.erase(show_id(ids(engine)[0]), "private")
    receipt = engine.store.commit([UpsertAtom(EVERY[0])], OURS)[0]
    assert (receipt.state, receipt.events) == (State.ERASED, ())
    with pytest.raises(RefusedError):
        engine.store.commit([UpsertAtom(EVERY[0], override=True)], OURS)
    assert engine.store.commit([UpsertAtom(replace(EVERY[0], force=True))], OURS)[0].changed


def test_only_what_the_actor_said_last_is_ended() -> None:
    """Atoms and edges that other actors wrote or changed last are not hidden."""
    engine = engine_on()
    first, second, third = ids(engine)
    engine.store.commit([*EVERY, UpsertEdge(first, REFERENCES, second)], OURS)
    mine = atom_id(engine.add("mine", source=SOURCE).subject)
    engine.apply(
        [Revise(show_id(second), content="By hand."), Link(show_id(first), REFERENCES, show_id(third))]
    )
    ends: list[Command] = [RetireAtom(atom) for atom in (second, mine)]
    assert not any(receipt.changed for receipt in engine.store.commit(ends, OURS))
    assert not engine.store.commit([RetireEdge(first, REFERENCES, third)], OURS)[0].changed
    assert engine.store.commit([RetireEdge(first, REFERENCES, second)], OURS)[0].changed
    with engine.store.view(engine.store.tags) as rows:
        ended = [
            command.atom
            for command in retire_others(rows, OURS, SOURCE, {first})
            if isinstance(command, RetireAtom)
        ]
    assert ended == [third]


def test_tags_of_a_person_stay_and_those_they_took_off_stay_off() -> None:
    """Tags that a person added stay, and tags that a person removed are not added again."""
    engine = engine_on()
    wanted, atom = Add("one", tags=("a", "b"), source=SOURCE, key="k1"), show_id(ids(engine)[0])
    held(engine, [wanted])
    engine.apply([Tag(atom, ["mine"]), Untag(atom, ["b"])])
    for content, tags, expected in (
        ("one", ("b", "c"), {"mine", "c"}),
        ("two", ("b", "d"), {"mine", "d"}),
        ("two", (), {"mine"}),
    ):
        held(engine, [replace(wanted, content=content, tags=tags)])
        assert set(engine.get(atom).tags) == expected
